"""Queries of a fresh draw (algorithm 1 of paper 002), written as objects of JSON and read as declared questions.

{"mean": true}
{"probability": "fall=yes"}                    {"probability": "fall=yes", "given": "ward=North"}
{"expectation": {"no": 0, "yes": 1}}           {"expectation": {...}, "given": "ward=North"}
{"predictive": "fall=yes", "records": 100}
"""

from collections.abc import Callable, Mapping
from typing import cast

import numpy as np

from discreet.errors import DeclarationError, DiscreetError
from discreet.mathematics.distributions import CountDistribution
from discreet.reading.case import Observed
from discreet.releases import Release
from discreet.session import (
    ConditionalExpectation,
    ConditionalProbability,
    Draw,
    Expectation,
    Mean,
    Predictive,
    Probability,
    Query,
)
from discreet.study import Question

_SHAPES: Mapping[frozenset[str], Callable[..., Query]] = {
    frozenset({"mean"}): lambda mean: Mean(),
    frozenset({"probability"}): lambda probability: Probability(probability),
    frozenset({"probability", "given"}): lambda probability, given: ConditionalProbability(probability, given),
    frozenset({"expectation"}): lambda expectation: Expectation(expectation),
    frozenset({"expectation", "given"}): lambda expectation, given: ConditionalExpectation(expectation, given),
    frozenset({"predictive", "records"}): lambda predictive, records: Predictive(predictive, records),
}
_MOST_RECORDS = 10_000


def read_query(written: object) -> Query:
    """Read a query, or refuse it in words."""
    make = _SHAPES.get(frozenset(written)) if isinstance(written, dict) else None
    if make is None or not isinstance(written, dict) or not all(_fits(*each) for each in written.items()):
        raise DeclarationError(
            "A query is {mean: true}, {probability: EVENT}, {expectation: {EVENT: NUMBER}}, each of the last two with "
            f"given: EVENT if wanted, or {{predictive: EVENT, records: 1 to {_MOST_RECORDS}}}. An event is a text such "
            "as 'ward=North, fall=yes'."
        )
    return make(**written)


def _fits(name: object, value: object) -> bool:
    if name == "mean":
        return value is True
    if name == "records":
        return type(value) is int and 1 <= value <= _MOST_RECORDS
    if name == "expectation":
        return isinstance(value, dict) and all(type(each) in (int, float) for each in value.values())
    return isinstance(value, str) and len(value) <= 500


def require_draw(question: Question, query: Query) -> None:
    """Refuse a query of what draws nothing, or that makes no sense: before anything is charged."""
    draw = Observed.before(question.mechanism).draw
    if draw is None or draw.number != 1:
        raise DeclarationError(
            "A query is answered from a fresh draw: name a mechanism that draws from the posterior, such as "
            "'PosteriorSampling.tempered', with one draw."
        )
    try:
        query.answer(question.model, question.model.even_parameters())
    except DiscreetError as problem:
        raise DeclarationError(f"The query cannot be answered: {problem}") from None
    except Exception as problem:  # noqa: BLE001 - a query may fail in any way; no record is near
        raise DeclarationError(f"The query cannot be answered: it fails with {type(problem).__name__}.") from None


def answer_of(release: Release, query: object) -> object:
    """Return the answer that a published draw gives, as plain numbers."""
    return plain(Draw(release).answer(cast(Query, query)))


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
