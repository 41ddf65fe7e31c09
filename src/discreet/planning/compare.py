"""Which mechanism to use: all that can be published under one guarantee, ranked by what a reader will learn.

Mechanisms compete at the same stated (epsilon, delta). Those with a parameter that their guarantee leaves open get the
best one of a few; those whose own guarantee is better than what is asked keep it. The order is that of the expected log
score of the noise-aware reading, in nats beyond the prior: it counts width and coverage at once, which the Hellinger
distance of the papers does not. That distance stands beside, with the floor under it where there are few tables.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.errors import DeclarationError, DiscreetError
from discreet.exact import Exact, exact_text, positive, probability, whole
from discreet.guarantees import Evidence
from discreet.mechanisms import (
    DiscreteGaussianCounts,
    DiscreteGaussianHistogram,
    DiscreteLaplaceCounts,
    GeometricHistogram,
    Mechanism,
    with_fields,
)
from discreet.mechanisms.hellinger import HellingerGlobal, HellingerReciprocal, HellingerSmooth, HellingerSmoothProved
from discreet.mechanisms.hellinger_calibrated import HellingerCalibrated
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.posterior_sampling import PosteriorSampling
from discreet.mechanisms.published_laplace import ClampedLaplace, FlooredLaplace, RoundedLaplace, TruncatedLaplace
from discreet.models import Categories
from discreet.planning.accuracy import accuracy
from discreet.planning.distance_accuracy import DistanceAccuracy
from discreet.planning.exact_accuracy import ExactAccuracy, WrittenOut, possible_outputs
from discreet.planning.optimum import can_optimise, optimum

SMOOTHINGS = ("0", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "100")
"""Values from which the smoothing of a calibrated Hellinger mechanism is chosen; 100 means local sensitivity."""
LIPSCHITZ = ("0.25", "0.5", "1", "2")
"""Values from which the Lipschitz constant of a reciprocal sensitivity is chosen."""
LITTLE, SMALL_SHARE = 0.2, 0.1
_GRID_BITS = 9  # of a drawn proportion: finer than any posterior that is drawn from here is wide
_LOG_TWO = Fraction(693148, 1000000)  # above ln 2


@dataclass(frozen=True)
class Ranked:
    """A mechanism, its accuracy, and a warning if it hardly depends on the data."""

    name: str
    mechanism: Mechanism
    accuracy: ExactAccuracy
    warning: str = ""

    def document(self) -> dict[str, Any]:
        """Return name, guarantee, figures and warning."""
        guarantee = self.mechanism.guarantee
        stated = {"epsilon": exact_text(guarantee.epsilon), "delta": exact_text(guarantee.delta)}
        return {"name": self.name, "guarantee": stated, **self.accuracy.document(), "warning": self.warning}


@dataclass(frozen=True)
class Ranking:
    """Mechanisms for one model, size and guarantee, the best one first.

    `floor` is a bound below which no private mechanism can have its expected Hellinger distance, if its output is read
    as a posterior of n records; it is known where there are few tables of counts. `left_out` says why others are not
    here.
    """

    size: int
    epsilon: Fraction
    delta: Fraction
    entries: tuple[Ranked, ...]
    floor: float | None
    left_out: dict[str, str]

    @property
    def best(self) -> Ranked:
        """Return the first of the ranking."""
        return self.entries[0]

    def named(self, name: str) -> Ranked:
        """Return the entry of a mechanism by its name."""
        for entry in self.entries:
            if entry.name == name:
                return entry
        raise DeclarationError(f"There is no {name!r} in this ranking; there are {[e.name for e in self.entries]}.")

    def rows(self) -> list[tuple[str, ...]]:
        """Return the table: name, log score, its share of what exact counts tell, width, Hellinger distances."""
        return [_row(entry) for entry in self.entries]

    def __str__(self) -> str:
        known = self.best.accuracy
        title = f"{self.size} records, epsilon = {exact_text(self.epsilon)}, delta = {exact_text(self.delta)}"
        rows = [("", "log score", "share", f"{known.level:.0%} width", "Hellinger", "remapped"), *self.rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [
            row[0].ljust(widths[0]) + "".join(f"  {cell:>{w}}" for cell, w in zip(row[1:], widths[1:], strict=True))
            for row in rows
        ]
        exact_counts = (
            f"Exact counts: log score {known.non_private_log_score:.4f}, width {known.non_private_width:.4f}."
        )
        floor = [] if self.floor is None else [floor_in_words(self.floor)]
        warnings = [f"{entry.name}: {entry.warning}" for entry in self.entries if entry.warning]
        return "\n".join([title, *lines, exact_counts, *floor, *warnings])

    def document(self) -> dict[str, Any]:
        """Return the whole ranking as a document."""
        return {
            "size": self.size,
            "epsilon": exact_text(self.epsilon),
            "delta": exact_text(self.delta),
            "floor": self.floor,
            "entries": [entry.document() for entry in self.entries],
            "left_out": dict(self.left_out),
        }


def floor_in_words(floor: float) -> str:
    """Say what the floor is."""
    return f"No private mechanism whose output is read as a posterior of n records has a distance below {floor:.6f}."


def compare(
    model: Categories, size: int, epsilon: Exact, delta: Exact = 0, level: float = 0.9, repeats: int = 100
) -> Ranking:
    """Rank all mechanisms that may publish a histogram of this model under (epsilon, delta).

    Figures are exact sums where mechanisms can be written out; otherwise `repeats` studies are made up.
    """
    if not isinstance(model, Categories):
        raise DeclarationError(f"compare ranks mechanisms for Categories; got a {type(model).__name__}.")
    asked = positive(epsilon, "epsilon"), probability(delta, "delta")
    entries, left_out = [], {}
    for kind, build in _candidates(model, whole(size, "size"), *asked):
        try:
            mechanism = build()
            _check_publishable(mechanism, *asked)
            entries.append(_ranked(kind, mechanism, _read(accuracy(mechanism, level, repeats))))
        except DiscreetError as problem:
            left_out[kind] = str(problem)
    entries.sort(key=lambda entry: -entry.accuracy.log_score)
    floor = optimum(model, size, *asked).floor if can_optimise(model, size) else None
    return Ranking(size, *asked, tuple(entries), floor, left_out)


def _candidates(
    model: Categories, size: int, epsilon: Fraction, delta: Fraction
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Give the mechanisms by name, each as something that makes it: some are refused for large tables."""
    cells = len(model.cells)
    moved = min(2, cells - 1)  # with noise on all counts but one, a record moves so many noisy ones
    simple: tuple[Any, ...] = (GeometricHistogram, DiscreteLaplaceCounts, HellingerGlobal, PermuteAndFlip)
    laplace: tuple[Any, ...] = (RoundedLaplace, FlooredLaplace, ClampedLaplace)
    approximate: tuple[Any, ...] = (
        DiscreteGaussianHistogram, DiscreteGaussianCounts, HellingerSmooth, HellingerSmoothProved
    )  # fmt: skip
    yield from ((kind.__name__, partial(kind, model, size, epsilon)) for kind in simple)
    yield from ((kind.__name__, partial(kind, model, size, epsilon, moved, cells - 1)) for kind in laplace)
    if epsilon > moved * _LOG_TWO:
        yield "TruncatedLaplace", partial(TruncatedLaplace, model, size, epsilon - moved * _LOG_TWO, moved, cells - 1)
    yield "HellingerReciprocal", lambda: _best(HellingerReciprocal(model, size, epsilon, L) for L in LIPSCHITZ)
    yield (
        "HellingerCalibrated",
        lambda: _best(HellingerCalibrated(model, size, epsilon, delta, smoothing) for smoothing in SMOOTHINGS),
    )
    if delta:
        yield from ((kind.__name__, partial(kind, model, size, epsilon, delta)) for kind in approximate)
        draw = partial(PosteriorSampling.tempered, model, size=size, epsilon=epsilon, delta=delta)
    else:
        draw = partial(_truncated_draw, model, size, epsilon)
    yield "PosteriorSampling", lambda: _coarse(draw())


def _truncated_draw(model: Categories, size: int, epsilon: Fraction) -> PosteriorSampling:
    if len(model.cells) > 2:
        raise DeclarationError("Truncated draws of three or more cells are not read. With a delta, tempered ones are.")
    return PosteriorSampling.truncated(model, size=size, epsilon=epsilon)


def _coarse(mechanism: Any) -> Any:
    """Return a draw of two cells on a grid that can be written out."""
    return with_fields(mechanism, grid_bits=_GRID_BITS) if mechanism.sticks == 1 else mechanism


def _best(mechanisms: Iterator[Any]) -> Any:
    """Return the mechanism whose release tells most; the first one if that cannot be written out."""
    first = next(mechanisms)
    if possible_outputs(first) is None:
        return first
    return max([first, *mechanisms], key=lambda m: WrittenOut(m, m.tables.all).information())


def _check_publishable(mechanism: Mechanism, epsilon: Fraction, delta: Fraction) -> None:
    guarantee = mechanism.guarantee
    if guarantee.evidence is Evidence.CLAIMED or guarantee.epsilon > epsilon or guarantee.delta > delta:
        raise DeclarationError(f"What is known about it is not enough: {guarantee!r}.")


def _read(found: ExactAccuracy | DistanceAccuracy) -> ExactAccuracy:
    """Return figures that have a log score, or say what is known without one."""
    if isinstance(found, DistanceAccuracy):
        known = f"expected Hellinger distance {found.hellinger:.4f}"
        raise DeclarationError(f"No log score: there are too many tables to read it; {found.warning or known}.")
    return found


def _ranked(kind: str, mechanism: Any, found: ExactAccuracy) -> Ranked:
    chosen = {"HellingerCalibrated": "smoothing", "HellingerReciprocal": "lipschitz", "PosteriorSampling": "power"}
    name = f"{kind}({chosen[kind]}={float(getattr(mechanism, chosen[kind])):.4g})" if kind in chosen else kind
    return Ranked(name, mechanism, found, _warning(found))


def _warning(found: ExactAccuracy) -> str:
    """Say that the output law is nearly the same for all data, if it is."""
    if found.share < SMALL_SHARE:
        return f"nearly the same output law for all data: it tells {found.share:.1%} of what exact counts tell"
    if found.log_score < LITTLE:
        return f"it tells {found.log_score:.2g} nats: what is read from it is mostly the prior"
    return ""


def _row(entry: Ranked) -> tuple[str, ...]:
    found = entry.accuracy
    score = f"{found.log_score:.4f}" + (f" +- {found.errors['log_score']:.2g}" if found.errors else "")
    remapped = "-" if found.remapped_hellinger is None else f"{found.remapped_hellinger:.4f}"
    return entry.name, score, f"{found.share:.1%}", f"{found.width:.4f}", f"{found.hellinger:.4f}", remapped
