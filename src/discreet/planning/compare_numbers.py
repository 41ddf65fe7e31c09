"""Which mechanism to use for a number: all that can publish it under one guarantee, by how wide intervals will be.

Numbers are read by tests without a prior, so no log score is known; what a reader gets is an interval. Mechanisms are
ranked by the mean width in the population, on the same made-up studies. A mechanism under a metric competes at its
ordinary epsilon, which it promises for any change whatever; what it also promises for each unit is listed beside it.
"""

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import DeclarationError, DiscreetError
from discreet.exact import Exact, positive, probability, whole
from discreet.mechanisms import Mechanism
from discreet.models.numbers import BoundedNumber
from discreet.planning.number_accuracy import STUDIES, NumberWidths, expected_widths
from discreet.planning.rankings import Contender, Standings, aligned, check_publishable
from discreet.reading import why_unreadable


@dataclass(frozen=True)
class RankedNumber(Contender):
    """A mechanism, how wide its intervals will be, and what else it promises."""

    widths: NumberWidths
    besides: str = ""

    def figures(self) -> dict[str, object]:
        return {**self.widths.document(), "besides": self.besides}


@dataclass(frozen=True)
class NumberRanking(Standings[RankedNumber]):
    """Mechanisms for one number, size and guarantee, the one with the narrowest intervals first."""

    studies: int = STUDIES

    @property
    def headings(self) -> tuple[str, ...]:
        known = self.best.widths
        return "mechanism", f"{known.level:.0%} width, these records", "population", "with exact numbers"

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table: name, both widths, and that of exact numbers."""
        figures = [(e.widths.records, e.widths.population, e.widths.exact_population) for e in self.entries]
        return [(e.name, *(f"{each:.4g}" for each in own)) for e, own in zip(self.entries, figures, strict=True)]

    def remarks(self) -> list[str]:
        """Say in which unit widths are, what else is promised, and what is missing."""
        words = [f"Widths are in {self.best.widths.unit}, means over {self.studies} made-up studies."]
        words += [f"{entry.name} also promises: {entry.besides}" for entry in self.entries if entry.besides]
        return words + [f"Left out: {name}: {why}" for name, why in self.left_out.items()]

    def __str__(self) -> str:
        return "\n".join([self.stated, *aligned([self.headings, *self.rows()]), *self.remarks()])


def compare_numbers(
    model: BoundedNumber, size: int, epsilon: Exact, delta: Exact = 0, level: float = 0.9, studies: int = STUDIES
) -> NumberRanking:
    """Rank all mechanisms that may publish a number under (epsilon, delta) by the widths of their intervals."""
    asked = positive(epsilon, "epsilon"), probability(delta, "delta")
    entries, left_out = [], {}
    for kind, made in Mechanism.registered().items():
        try:
            if not made.accepts_model(model):
                continue
            if (found := next(made.competitors(model, whole(size, "size"), *asked), None)) is None:
                raise DeclarationError("It needs more settings than model, size and epsilon.")
            entries.append(_ranked(kind, found, *asked, level, studies))
        except DiscreetError as problem:
            left_out[kind] = str(problem)
    entries.sort(key=lambda entry: (entry.widths.population or entry.widths.records, entry.name))
    return NumberRanking(size, *asked, tuple(entries), left_out, studies)


def _ranked(
    kind: str, mechanism: Mechanism, epsilon: Fraction, delta: Fraction, level: float, studies: int
) -> RankedNumber:
    check_publishable(mechanism, epsilon, delta)
    if (why := why_unreadable(mechanism)) is not None:
        raise DeclarationError(f"It cannot be read: {why}.")
    metric = mechanism.guarantee.metric
    return RankedNumber(
        kind, mechanism, expected_widths(mechanism, level, studies), "" if metric is None else metric.words
    )
