"""All mechanisms for a small table under one guarantee, ranked by exact sums, with the floor of the Hellinger distance.

The order is that of the expected log score of the noise-aware reading, in nats beyond the prior.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf

from discreet._core.errors import DeclarationError, DiscreetError
from discreet._core.exact import Exact, positive, probability, whole
from discreet.inference import why_not_exact
from discreet.mechanism import Sized
from discreet.planning._candidates import candidate_mechanisms, free_parameter
from discreet.privacy import Evidence
from discreet.tables import Categories
from discreet_papers.exact_sums.accuracy import accuracy
from discreet_papers.exact_sums.distance_accuracy import distance_accuracy
from discreet_papers.exact_sums.exact_accuracy import ExactAccuracy, WrittenOut, possible_outputs
from discreet_papers.optimum import can_optimise, optimum


@dataclass(frozen=True)
class Summed:
    """A mechanism by its name, and its figures."""

    name: str
    mechanism: Sized
    accuracy: ExactAccuracy


@dataclass(frozen=True)
class ExactRanking:
    """Mechanisms for one table, size and guarantee, the best one first; `left_out` says why others are not here.

    `floor` is a lower bound for the expected Hellinger distance of every private mechanism whose output is read as a
    posterior of n records; it is known where there are few possible tables of counts.
    """

    entries: tuple[Summed, ...]
    left_out: dict[str, str]
    floor: float | None

    def named(self, name: str) -> Summed:
        """Return the entry of a mechanism by its name."""
        return next(entry for entry in self.entries if entry.name == name)


def exact_ranking(
    model: Categories, size: int, epsilon: Exact, delta: Exact = 0, level: float = 0.9, repeats: int = 100
) -> ExactRanking:
    """Rank mechanisms for a table; where outputs cannot be listed, `repeats` studies are simulated."""
    asked = positive(epsilon, "epsilon"), probability(delta, "delta")
    entries, left_out = list[Summed](), dict[str, str]()
    for kind, made in Sized.registered().items():
        try:
            if made.accepts_model(model) and (
                found := _best(candidate_mechanisms(made, model, whole(size, "size"), *asked))
            ):
                promised = found.guarantee
                if promised.evidence is Evidence.CLAIMED or promised.epsilon > asked[0] or promised.delta > asked[1]:
                    raise DeclarationError(f"Its guarantee is not sufficient: {promised!r}.")
                entries.append(_summed(kind, found, level, repeats))
        except DiscreetError as problem:
            left_out[kind] = str(problem)
    entries.sort(key=lambda entry: -entry.accuracy.log_score)
    floor = optimum(model, size, *asked).floor if can_optimise(model, size) else None
    return ExactRanking(tuple(entries), left_out, floor)


def _best(mechanisms: Iterator[Sized]) -> Sized | None:
    """Return the mechanism whose release tells most; if that cannot be computed, the first one, if any."""
    first = next(mechanisms, None)
    if first is None or free_parameter(first) is None or possible_outputs(first) is None:
        return first
    return max([first, *mechanisms], key=_information)


def _information(mechanism: Sized) -> float:
    outputs = possible_outputs(mechanism)
    return -inf if outputs is None else WrittenOut(mechanism, outputs).information()


def _summed(kind: str, mechanism: Sized, level: float, repeats: int) -> Summed:
    if why_not_exact(mechanism) is not None and possible_outputs(mechanism) is None:
        known = distance_accuracy(mechanism, repeats)
        words = known.warning or f"expected Hellinger distance {known.hellinger:.4f}"
        raise DeclarationError(f"No log score: there are too many tables for an exact reading; {words}.")
    free = free_parameter(mechanism)
    name = kind if free is None else f"{kind}({free}={float(getattr(mechanism, free)):.4g})"
    return Summed(name, mechanism, accuracy(mechanism, level, repeats))
