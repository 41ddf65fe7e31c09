"""Queries that a fresh draw of the posterior answers: the keys of [queries.NAME] in a study, without `of`.

{"kind": "mean"}
{"kind": "probability", "event": "fall=yes"}
{"kind": "conditional-expectation", "values": {"fall=no": 0, "fall=yes": 1}, "given": "ward=North"}
{"kind": "predictive", "event": "fall=yes", "records": 100}
"""

from collections.abc import Mapping
from typing import cast

import numpy as np

from discreet._core.errors import DeclarationError
from discreet.inference import Observed
from discreet.mathematics.distributions import CountDistribution
from discreet.publishing import PublishedDraw, Query, QueryError, check_query
from discreet.release import Release
from discreet.study import KINDS, Maker, Question

MOST_RECORDS = 10_000
"""The most further records that a predictive query may ask about: its answer has a probability for each number."""


def read_query(written: object) -> Query:
    """Read a query with the parser of study files, or refuse it in words."""
    kind = written.get("kind") if isinstance(written, dict) else None
    if not isinstance(written, dict) or not isinstance(kind, str) or kind not in KINDS:
        raise DeclarationError(f"A query needs a kind, one of {', '.join(KINDS)}, and the keys of that kind.")
    records = written.get("records")
    if isinstance(records, int) and records > MOST_RECORDS:
        raise DeclarationError(f"A query may be about at most {MOST_RECORDS} further records; got {records}.")
    maker: Maker[Query] = Maker(f"A query of kind {kind!r}", KINDS[kind], {})
    return maker.made({key: value for key, value in written.items() if key != "kind"})


def require_draw(question: Question, query: Query) -> None:
    """Refuse a query that no draw can answer, or that makes no sense, before anything is charged."""
    draw = Observed.before(question.mechanism).draw
    if draw is None or draw.number != 1:
        raise DeclarationError(
            "A query is answered from a fresh draw: name a mechanism that draws from the posterior, such as "
            "'PosteriorSampling.tempered', with one draw."
        )
    try:
        check_query(query, question.model)
    except QueryError as problem:
        raise DeclarationError(str(problem)) from None


def answer_of(release: Release, query: object) -> object:
    """Return the answer that a published draw gives, as plain numbers."""
    return plain(PublishedDraw(release).answer(cast(Query, query)))


def plain(answer: object) -> object:
    """Return an answer as JSON can hold it."""
    if isinstance(answer, CountDistribution):
        return {"mean": float(answer.mean), "least": answer.first, "probabilities": answer.probabilities.tolist()}
    if isinstance(answer, Mapping):
        return {_name(name): plain(value) for name, value in answer.items()}
    if isinstance(answer, np.ndarray):
        return answer.tolist()
    if isinstance(answer, list | tuple):
        return [plain(each) for each in answer]
    return float(cast(float, answer))


def _name(cell: object) -> str:
    return ", ".join(map(str, cell)) if isinstance(cell, tuple) else str(cell)
