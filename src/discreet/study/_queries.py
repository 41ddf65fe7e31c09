"""Queries of a study: declared questions of a third party, each answered from a draw of a posterior that is paid for.

Algorithm 1 of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014), with an end: draws of a question are numbered, a
fresh one is charged to the ledger, and whatever is asked of one that was made before is free. A query names its kind
and the question whose draws answer it; it is checked before anything is charged.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from discreet._core.errors import DeclarationError, meant
from discreet.inference import Observed
from discreet.ledger import Ledger
from discreet.mechanism import written_name
from discreet.publishing import PublishedDraw, Query, QueryError, check_query, publish
from discreet.release import Release
from discreet.study._file import QUERY_KEYS, DeclaredQuery
from discreet.study._keys import Maker
from discreet.study._questions import Question

if TYPE_CHECKING:
    from discreet.study._study import Study

KINDS: dict[str, type[Query]] = {written_name(kind.__name__): kind for kind in Query.__args__}
"""The kinds of queries by the names that studies write: "mean", "probability", ..."""


@dataclass(frozen=True)
class DeclaredAsk:
    """A query of a study: what is asked, and the question whose draws answer."""

    name: str
    label: str
    question: str
    query: Query


def read_query(name: str, declared: DeclaredQuery, questions: Mapping[str, Question]) -> DeclaredAsk:
    """Return the query that is declared; it must be one that the question's draws can answer."""
    try:
        if declared.of not in questions:
            raise DeclarationError(
                f"`of` must name a question of the study; got {declared.of!r}.{meant(declared.of, questions)}"
            )
        if declared.kind not in KINDS:
            known = ", ".join(map(repr, KINDS))
            raise DeclarationError(f"kind must be one of {known}; got {declared.kind!r}.{meant(declared.kind, KINDS)}")
        maker: Maker[Query] = Maker(f"a query of kind {declared.kind!r}", KINDS[declared.kind], {})
        query = maker.made(declared.further, QUERY_KEYS)
        check_draws(questions[declared.of])
        check_query(query, questions[declared.of].model)
    except (DeclarationError, QueryError) as problem:
        raise DeclarationError(f"queries.{name}: {problem}") from None
    return DeclaredAsk(name, declared.label or name, declared.of, query)


def check_draws(question: Question) -> None:
    """Refuse a question that is not published by single draws from a posterior."""
    drawn = Observed.before(question.mechanism).draw
    if drawn is None or drawn.number != 1:
        raise DeclarationError(
            f"queries are answered from draws of a posterior, one at a time, and {question.name!r} is published by "
            f"{type(question.mechanism).__name__}{'' if drawn is None else f' with draws = {drawn.number}'}. Name a "
            "mechanism that draws, such as PosteriorSampling.tempered, with draws = 1."
        )


class Draws:
    """The numbered draws of one question of a study."""

    def __init__(self, study: "Study", question: Question, of: str, data: str) -> None:
        check_draws(question)
        self._study, self._question, self._of, self._data = study, question, of, data

    def _request(self, number: int) -> str:
        return f"draw {number} {self._of}"

    @property
    def made(self) -> int:
        """Return how many draws were paid for."""
        if not self._study.has_ledger:
            return 0
        ledger = Ledger.open(self._study.ledger_place)
        return next(number for number in count() if not ledger.is_answered(self._request(number + 1)))

    def fresh(self) -> tuple[int, PublishedDraw]:
        """Pay for the next draw, and return its number and the draw; refused when the budget is gone."""
        number = self.made + 1
        return number, PublishedDraw(self._published(number))

    def known(self, number: int) -> PublishedDraw:
        """Return a draw that was paid for, free of charge."""
        if not 1 <= number <= self.made:
            made = self.made
            raise DeclarationError(
                f"There is no draw {number} of {self._question.name!r}: {made} {'was' if made == 1 else 'were'} made. "
                "Nothing was drawn and nothing was charged. Ask without --draw for a fresh one, which is charged."
            )
        return PublishedDraw(self._published(number))

    def _published(self, number: int) -> Release[Any]:
        question = self._question
        label = f"{question.label}, draw {number}"
        return publish(
            question.mechanism, self._study.fitting_statistics(question), self._study.ledger(), label,
            unit=self._study.unit, request=self._request(number), data=self._data, reading=question.reading,
        )  # fmt: skip
