"""Which mechanism to use: all that can be published under one guarantee, ranked by what a reader will learn.

Mechanisms compete at the same stated (epsilon, delta). Those with a parameter that their guarantee leaves open get the
best one of a few; those whose own guarantee is better than what is asked keep it. The order is that of the expected log
score of the noise-aware reading, in nats beyond the prior: it rewards narrow intervals and coverage together, which the
Hellinger distance of the papers does not. That distance is listed too, with its floor where there are few tables.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import overload

from discreet.errors import DeclarationError, DiscreetError
from discreet.exact import Exact, positive, probability, whole
from discreet.mechanisms import Mechanism
from discreet.models import Categories
from discreet.models.model import Model
from discreet.models.modelled_table import ModelledTable
from discreet.models.numbers import BoundedNumber
from discreet.models.readable_family import ReadableFamily
from discreet.planning.accuracy import accuracy
from discreet.planning.compare_numbers import NumberRanking, compare_numbers
from discreet.planning.compare_programs import STUDIES as PROGRAM_STUDIES
from discreet.planning.compare_programs import ProgramRanking, compare_programs
from discreet.planning.distance_accuracy import distance_accuracy
from discreet.planning.exact_accuracy import ExactAccuracy, WrittenOut, possible_outputs
from discreet.planning.number_accuracy import STUDIES
from discreet.planning.optimum import can_optimise, optimum
from discreet.planning.rankings import Contender, Standings, aligned, check_publishable
from discreet.progress import shown
from discreet.reading import why_not_exact

LITTLE, SMALL_SHARE = 0.2, 0.1


@dataclass(frozen=True)
class Ranked(Contender):
    """A mechanism, its accuracy, and a warning if it hardly depends on the data."""

    accuracy: ExactAccuracy
    warning: str = ""

    def figures(self) -> dict[str, object]:
        return {**self.accuracy.document(), "warning": self.warning}


@dataclass(frozen=True)
class Ranking(Standings[Ranked]):
    """Mechanisms for one model, size and guarantee, the best one first.

    `floor` is a lower bound for the expected Hellinger distance of every private mechanism whose output is read as a
    posterior of n records; it is known where there are few possible tables of counts.
    """

    floor: float | None = None

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table: name, log score, its share of what exact counts tell, width, Hellinger distances."""
        return [_row(entry) for entry in self.entries]

    @property
    def headings(self) -> tuple[str, ...]:
        return "mechanism", "log score", "share", f"{self.best.accuracy.level:.0%} width", "Hellinger", "remapped"

    def remarks(self) -> list[str]:
        """Say what exact counts would tell, which floor holds for all mechanisms, and what to keep in mind."""
        known = self.best.accuracy
        exact_counts = (
            f"Exact counts: log score {known.non_private_log_score:.4f}, width {known.non_private_width:.4f}."
        )
        floor = [] if self.floor is None else [floor_in_words(self.floor)]
        return [exact_counts, *floor, *(f"{entry.name}: {entry.warning}" for entry in self.entries if entry.warning)]

    def __str__(self) -> str:
        rows = [("", *self.headings[1:]), *self.rows()]
        return "\n".join([self.stated, *aligned(rows), *self.remarks()])

    def document(self) -> dict[str, object]:
        return {**super().document(), "floor": self.floor}


def floor_in_words(floor: float) -> str:
    """Say what the floor is."""
    return (
        f"No private mechanism whose output is read as a posterior of n records can have a distance below {floor:.6f}."
    )


@overload
def compare(
    model: Categories, size: int, epsilon: Exact, delta: Exact = 0, level: float = 0.9, repeats: int = 100
) -> Ranking: ...


@overload
def compare(
    model: BoundedNumber, size: int, epsilon: Exact, delta: Exact = 0, level: float = 0.9, repeats: int = STUDIES
) -> NumberRanking: ...


@overload
def compare(
    model: ReadableFamily, size: int, epsilon: Exact, delta: Exact = 0, level: float = 0.9, repeats: int | None = None
) -> ProgramRanking: ...


def compare(
    model: Model, size: int, epsilon: Exact, delta: Exact = 0, level: float = 0.9, repeats: int | None = None
) -> Ranking | NumberRanking | ProgramRanking:
    """Rank all mechanisms that may publish a histogram, a number, or a program's table, under (epsilon, delta).

    Figures are exact sums where all outputs of a mechanism can be listed; otherwise `repeats` studies are simulated.
    Mechanisms for a number are ranked by the expected width of intervals, those for a program or a family by the
    posterior standard deviation.
    """
    if isinstance(model, ModelledTable | ReadableFamily):
        return compare_programs(model, size, epsilon, delta, PROGRAM_STUDIES if repeats is None else repeats)
    if isinstance(model, BoundedNumber):
        return compare_numbers(model, size, epsilon, delta, level, STUDIES if repeats is None else repeats)
    if not isinstance(model, Categories):
        raise DeclarationError(
            "compare ranks mechanisms for tables of categories (Categories) and for numbers (NumberSums, NumberTable); "
            f"got a {type(model).__name__}."
        )
    repeats = 100 if repeats is None else repeats
    asked = positive(epsilon, "epsilon"), probability(delta, "delta")
    entries, left_out = [], {}
    known = Mechanism.registered()
    for kind, made in shown(known.items(), "Comparing mechanisms", len(known)):
        try:
            if made.accepts_model(model) and (found := _best(made.competitors(model, whole(size, "size"), *asked))):
                check_publishable(found, *asked)
                entries.append(_ranked(kind, found, level, repeats))
        except DiscreetError as problem:
            left_out[kind] = str(problem)
    entries.sort(key=lambda entry: -entry.accuracy.log_score)
    floor = optimum(model, size, *asked).floor if can_optimise(model, size) else None
    return Ranking(size, *asked, tuple(entries), left_out, floor)


def _best(mechanisms: Iterator[Mechanism]) -> Mechanism | None:
    """Return the mechanism whose release tells most; if that cannot be computed, the first one, if any."""
    first = next(mechanisms, None)
    if first is None or first.free_parameter is None or possible_outputs(first) is None:
        return first
    return max([first, *mechanisms], key=_information)


def _information(mechanism: Mechanism) -> float:
    outputs = possible_outputs(mechanism)
    return -inf if outputs is None else WrittenOut(mechanism, outputs).information()


def _ranked(kind: str, mechanism: Mechanism, level: float, repeats: int) -> Ranked:
    if why_not_exact(mechanism) is not None and possible_outputs(mechanism) is None:
        known = distance_accuracy(mechanism, repeats)
        words = known.warning or f"expected Hellinger distance {known.hellinger:.4f}"
        raise DeclarationError(f"No log score: there are too many tables for an exact reading; {words}.")
    found, chosen = accuracy(mechanism, level, repeats), mechanism.free_parameter
    name = kind if chosen is None else f"{kind}({chosen}={float(getattr(mechanism, chosen)):.4g})"
    return Ranked(name, mechanism, found, _warning(found))


def _warning(found: ExactAccuracy) -> str:
    """Say that the output law is nearly the same for all data, if it is."""
    if found.share < SMALL_SHARE:
        return f"its output hardly depends on the data: it tells {found.share:.1%} of what exact counts tell"
    if found.log_score < LITTLE:
        return f"it tells {found.log_score:.2g} nats: what is read from it is mostly the prior"
    return ""


def _row(entry: Ranked) -> tuple[str, ...]:
    found = entry.accuracy
    score = f"{found.log_score:.4f}" + (f" +- {found.errors['log_score']:.2g}" if found.errors else "")
    remapped = "-" if found.remapped_hellinger is None else f"{found.remapped_hellinger:.4f}"
    return entry.name, score, f"{found.share:.1%}", f"{found.width:.4f}", f"{found.hellinger:.4f}", remapped
