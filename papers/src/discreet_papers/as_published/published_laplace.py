"""The papers' Laplace mechanisms, with the guarantee that they really give.

Continuous Laplace noise of scale b = sensitivity/epsilon is added to all counts, or to all but the last, which then is
what is left of the total; the sums are made whole numbers by rounding, by the floor, or by cutting the noise towards
zero, and one variant is clamped to [0, n]. Seen from outside this is integer noise of an exact, closed law, and so it
is drawn: no continuous number is ever made. One record moves `moved` noisy counts by one each. Rounding and floor act
on the noisy count, so they cost nothing: the loss is at most moved/b, which is attained, epsilon moved/sensitivity.
Cutting the noise itself towards zero is another matter: it doubles P(0), and each moved count costs ln 2 more.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import ClassVar

import numpy as np
from flint import ctx
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats, NumbersT
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, ball, exact_text, positive, whole
from discreet.choices._adjacent_pairs import dominating_loss
from discreet.mechanism import Measurement, Model, OutputSpace, Part, Sized
from discreet.noise import MARGIN
from discreet.noise.randomness._samplers import RandomBits
from discreet.privacy import Evidence, Guarantee, PrivacyLoss, pure_rho, window
from discreet.tables import Categories
from discreet.tables._mechanisms import TableCells
from discreet_papers.as_published.rounded_noise import CutTowardsZero, Floored, Rounded, WholeLaplace

_LEAST_RATE, _MOST_RATE = Fraction(1, 10**6), Fraction(10**4)
_FARTHEST = 10**6  # outputs this many scales beyond the possible counts are not read: their probability is e^-1000000


@dataclass(frozen=True, eq=False)
class ClampedMeasurement(Measurement):
    """z = A k + u moved into [0, `highest`]: what lies outside is published as the nearer end."""

    noise: Rounded
    highest: int

    def log_terms(self, numbers: ArrayLike, places: ArrayLike | None = None) -> Floats:
        """Return log P of single values, at both ends that of all that is clamped there."""
        values = self.values if places is None else self.values[np.asarray(places)]
        return clamped_terms(self.noise, values, np.asarray(numbers), self.highest)

    def log_likelihood(self, counts: ArrayLike) -> Floats:
        """Return log P(values | counts) for rows of counts."""
        return np.asarray(self.log_terms(self.of.apply(np.asarray(counts))).sum(axis=-1))


def clamped_terms(noise: Rounded, values: Counts, numbers: Counts | Floats, highest: int) -> Floats:
    """Return log P(value | number), at 0 and `highest` that of all that is clamped there, and -inf outside."""
    inner = noise.log_terms(values - numbers)
    low, high = noise.log_at_least(numbers), noise.log_at_least(highest - numbers)
    ends = np.where(values == 0, low, np.where(values == highest, high, inner))
    return np.where((values >= 0) & (values <= highest), ends, -np.inf)


@dataclass(frozen=True)
class FirstCells(TableCells):
    """The first cells of a table of categories, where the last one is what is left of the public number of records."""

    count: int

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return the cells that are measured."""
        return (self.count,)

    @property
    def tables(self) -> tuple[tuple[str, ...], ...] | None:
        """Return all columns if all cells are measured."""
        return super().tables if self.count == len(self.model.cells) else None

    @property
    def parts(self) -> tuple[Part, ...] | None:
        """Return the whole table if all of its cells are measured; otherwise there is no table."""
        return super().parts if self.count == len(self.model.cells) else None

    def apply(self, counts: NumbersT) -> NumbersT:
        """Return the first counts."""
        return np.asarray(counts)[..., : self.count]

    def transpose(self, values: NumbersT) -> NumbersT:
        """Return the numbers, and nothing for the cells that are not measured."""
        rest = np.zeros((*values.shape[:-1], len(self.model.cells) - self.count), dtype=values.dtype)
        return np.concatenate([values, rest], axis=-1)

    def changes(self) -> tuple[Counts, ...]:
        """Return a unit that moves between two cells, or one that appears in a single measured cell."""
        if self.count > 1:
            return super().changes()
        return (np.ones(1, dtype=np.int64),)


@dataclass(frozen=True, init=False, repr=False)
class PublishedLaplace(Sized[Categories]):
    """Laplace noise of scale sensitivity/epsilon on the first `noisy_cells` counts, all or all but the last."""

    model: Categories
    size: int
    epsilon: Fraction
    sensitivity: int
    noisy_cells: int
    each_costs: ClassVar[Fraction] = Fraction(0)
    """What a moved count costs beyond the nominal epsilon, rounded up."""

    def __init__(self, model: Categories, size: int, epsilon: Exact, sensitivity: int, noisy_cells: int) -> None:
        if not isinstance(model, Categories):
            raise DeclarationError(
                f"{type(self).__name__} publishes the counts of a Categories model; got a {type(model).__name__}."
            )
        cells = len(model.cells)
        values = {
            "model": model,
            "size": whole(size, "size"),
            "epsilon": positive(epsilon, "epsilon"),
            "sensitivity": whole(sensitivity, "sensitivity", most=max(2, cells)),
            "noisy_cells": whole(noisy_cells, "noisy_cells", least=cells - 1, most=cells),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if not _LEAST_RATE <= self.rate <= _MOST_RATE:
            raise DeclarationError(
                f"epsilon/sensitivity must lie between {exact_text(_LEAST_RATE)} and {exact_text(_MOST_RATE)}; "
                f"got {exact_text(self.rate)}."
            )

    @classmethod
    def candidate_mechanisms(cls, model: Model, size: int, epsilon: Fraction, delta: Fraction) -> Iterator[Sized]:
        """Yield noise on all counts but one, whose total is known, with the scale that costs epsilon."""
        if isinstance(model, Categories):
            moved = min(2, len(model.cells) - 1)
            if (left := epsilon - moved * cls.each_costs) > 0:
                yield cls(model, size, left, moved, len(model.cells) - 1)

    @property
    def rate(self) -> Fraction:
        """Return 1/b = epsilon/sensitivity."""
        return self.epsilon / self.sensitivity

    @property
    def moved(self) -> int:
        """Return how many noisy counts one record can change: two, or the single one that has noise."""
        return min(2, self.noisy_cells)

    @cached_property
    def quantities(self) -> FirstCells:
        """Return the counts that get noise."""
        return FirstCells(self.model, self.noisy_cells)

    @property
    @abstractmethod
    def noise(self) -> WholeLaplace:
        """Return the law of the noise of each noisy count."""

    @property
    def pure_epsilon(self) -> Fraction:
        """Return the largest loss over all neighbours, computed from quantities and noise."""
        return Fraction(max(self.noise.privacy_loss(change).epsilon for change in self.quantities.changes()))

    @property
    def space(self) -> OutputSpace:
        """Return counts not too far from the possible ones; they add up to the size if one of them has no noise."""
        return OutputSpace(len(self.model.cells), self._why_impossible, "counts")

    @property
    def claim(self) -> Guarantee:
        """Return pure epsilon, as the papers state it."""
        return Guarantee(self.epsilon, evidence=Evidence.CLAIMED, reason="nominal epsilon of the papers' Laplace noise")

    @property
    def guarantee(self) -> Guarantee:
        """Return the pure epsilon that this scale gives."""
        reason = f"Laplace noise of scale {self.sensitivity}/epsilon, one record moves {self.moved} noisy counts by 1"
        return Guarantee(self.pure_epsilon, reason=reason)

    @property
    def rho(self) -> Fraction:
        """Return the cost under zero-concentrated privacy: that of each moved count alone, added up."""
        return self.moved * pure_rho(self.pure_epsilon / self.moved)

    def privacy_loss(self) -> PrivacyLoss:
        """Return the worst loss that pure epsilon allows."""
        with ctx.workprec(128):
            at_zero = float((ball(self.pure_epsilon) / 2).tanh().upper())
        return dominating_loss((Fraction(0), self.pure_epsilon), (at_zero, 0.0))

    def log_noise(self, noise: Counts) -> Floats:
        """Return log P(noise) of whole-number noise, number by number."""
        return self.noise.log_terms(noise)

    def finished(self, noisy: Counts) -> Counts:
        """Return what is done to noisy counts at last: nothing."""
        return noisy

    def log_cells(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | count) of noisy cells, cell by cell."""
        return self.log_noise(output - counts)

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        table = self.model.counts(counts)
        if (table.sum(axis=-1) != self.size).any():
            raise DeclarationError(f"The counts must add up to the public size {self.size}.")
        inside = table[..., : self.noisy_cells]
        drawn = self.finished(inside + self.noise.draw(inside.size, bits).reshape(inside.shape))
        if self.noisy_cells == table.shape[-1]:
            return drawn
        return np.concatenate([drawn, self.size - drawn.sum(axis=-1, keepdims=True)], axis=-1)

    def log_prob(self, output: Counts, counts: Counts) -> Floats:
        outputs, tables = np.broadcast_arrays(np.asarray(output), np.asarray(counts))
        cells = slice(0, self.noisy_cells)
        logs = self.log_cells(outputs[..., cells], tables[..., cells]).sum(axis=-1)
        if self.noisy_cells == outputs.shape[-1]:
            return np.asarray(logs)
        return np.where(outputs.sum(axis=-1) == self.size, logs, -np.inf)

    def evidence(self, output: Counts) -> tuple[Measurement, ...]:
        """Return the noisy counts as a measurement; the last count, if it has no noise of its own, tells no more."""
        return (Measurement(self.quantities, np.asarray(output)[: self.noisy_cells], self.noise),)

    def measured(self, counts: Counts) -> Counts:
        """Return what would be published without noise: the counts themselves."""
        return counts

    @property
    def _margin(self) -> int:
        """Return how far beyond the possible counts outputs are considered: what lies there is below e^-40."""
        return ceil(MARGIN / self.rate) + 2

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        cells = len(self.model.cells)
        return window(counts, self._margin, most, [slice(0, cells)] if self.noisy_cells < cells else [])

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Yield what a twin of other cells has instead: noise on all of them, or on all but the last."""
        cells = int(model.contributions(2)[0].shape[1])
        fewer = len(self.model.cells) - cells
        yield {"noisy_cells": self.noisy_cells - fewer, "sensitivity": min(self.sensitivity, max(2, cells))}

    def _why_impossible(self, output: Counts) -> str | None:
        cells = len(self.model.cells)
        if any(abs(int(value)) > cells * (self.size + _FARTHEST * (1 + 1 / self.rate)) for value in output):
            return "The output holds counts too large to be read."
        if self.noisy_cells < cells and sum(int(value) for value in output) != self.size:
            return f"The output must add up to the size {self.size}; it adds up to {int(output.sum())}."
        return None


class RoundedLaplace(PublishedLaplace, kind="RoundedLaplace", version=2):
    """Laplace noise rounded to the nearest whole number, as on the poster: P(|U| >= j) = e^(-(j - 1/2)/b)."""

    @cached_property
    def noise(self) -> Rounded:
        return Rounded(self.rate, self.noisy_cells)


class FlooredLaplace(PublishedLaplace, kind="FlooredLaplace", version=2):
    """The floor of noisy counts, as in the text of the later notes: it shifts counts by -1/2 on average."""

    @cached_property
    def noise(self) -> Floored:
        return Floored(self.rate, self.noisy_cells)


class TruncatedLaplace(PublishedLaplace, kind="TruncatedLaplace", version=2):
    """Noise truncated towards zero, as in the tables of the later notes: P(|U| = j) = e^(-j/b) - e^(-(j+1)/b).

    P(0)/P(1) = 2 e^(1/b), so a moved count costs 1/b + ln 2, however small epsilon is.
    """

    each_costs = Fraction(693148, 1000000)  # above ln 2

    @cached_property
    def noise(self) -> CutTowardsZero:
        return CutTowardsZero(self.rate, self.noisy_cells)

    @property
    def guarantee(self) -> Guarantee:
        reason = f"noise cut towards zero, P(0)/P(1) = 2 e^(1/b), one record moves {self.moved} noisy counts by 1"
        return Guarantee(self.pure_epsilon, reason=reason)


class ClampedLaplace(RoundedLaplace, kind="ClampedLaplace", version=2):
    """Rounded, then clamped to [0, n], as in algorithm 1 of Zhang, Rubinstein and Dimitrakakis (2016)."""

    @property
    def _margin(self) -> int:
        """Return 0: nothing lies beyond the possible counts."""
        return 0

    def finished(self, noisy: Counts) -> Counts:
        """Return counts moved into [0, n]."""
        return np.asarray(np.clip(noisy, 0, self.size))

    def log_cells(self, output: Counts, counts: Counts) -> Floats:
        """Return log P; at 0 and n, that of everything clamped there, and -inf outside."""
        return clamped_terms(self.noise, output, counts, self.size)

    def evidence(self, output: Counts) -> tuple[Measurement, ...]:
        return (ClampedMeasurement(self.quantities, np.asarray(output)[: self.noisy_cells], self.noise, self.size),)

    def _why_impossible(self, output: Counts) -> str | None:
        if (words := super()._why_impossible(output)) is not None:
            return words
        inside = all(0 <= int(value) <= self.size for value in output[: self.noisy_cells])
        return None if inside else f"Clamped counts must lie between 0 and {self.size}."
