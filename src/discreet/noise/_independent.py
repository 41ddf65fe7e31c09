"""Several laws of noise side by side, independent of each other: probabilities multiply, losses add."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import ctx
from numpy.typing import ArrayLike, NDArray

from discreet._core.arrays import Counts, Floats
from discreet.noise._noise import Noise, pieces_of, simulated_noise
from discreet.noise._structure import Independent, Structure
from discreet.noise._zero_sum_laplace import by_block
from discreet.noise.randomness import RandomBits
from discreet.privacy import PrivacyLoss, added, atoms_of


@dataclass(frozen=True)
class SideBySide(Noise):
    """Independent laws side by side: the numbers of each follow those of the one before."""

    laws: tuple[Noise, ...]

    @cached_property
    def structure(self) -> Structure:
        return Independent(tuple(law.structure for law in self.laws))

    @property
    def blocks(self) -> tuple[int, ...]:
        return tuple(size for law in self.laws for size in law.blocks)

    @property
    def _lengths(self) -> list[int]:
        return [law.length for law in self.laws]

    def _parts(self, values: ArrayLike) -> list[tuple[Noise, NDArray[np.generic]]]:
        return list(zip(self.laws, by_block(np.asarray(values), self._lengths), strict=True))

    def _joined(self, each: Callable[[Noise], Floats]) -> Floats:
        return np.concatenate([each(law) for law in self.laws])

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw the numbers of one law after those of another."""
        return np.concatenate([law.sample(rows, bits) for law in self.laws], axis=1)

    def log_kernel(self, noise: ArrayLike) -> Floats:
        return np.asarray(sum(law.log_kernel(own) for law, own in self._parts(noise)))

    @cached_property
    def log_normaliser(self) -> float:
        return sum(law.log_normaliser for law in self.laws)

    @cached_property
    def variance(self) -> Floats:
        return self._joined(lambda law: law.variance)

    @property
    def decay_length(self) -> Floats:
        return self._joined(lambda law: law.decay_length)

    @property
    def information(self) -> Floats:
        return self._joined(lambda law: law.information)

    def slope(self, noise: ArrayLike) -> Floats:
        return np.concatenate([law.slope(own) for law, own in self._parts(noise)], axis=-1)

    def simulate(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows by seeded floats, for readers."""
        return np.concatenate([simulated_noise(law, rows, generator) for law in self.laws], axis=1)

    def _epsilon(self, change: Counts) -> Fraction | float:
        return sum((law.privacy_loss(own).epsilon for law, own in self._parts(change)), Fraction(0))

    def _rho(self, change: Counts) -> Fraction:
        return sum((law.privacy_loss(own).rho for law, own in self._parts(change)), Fraction(0))

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the loss of all laws together: independent losses add."""
        losses = [law.privacy_loss(own).curve for law, own in self._parts(change) if np.any(own)]
        if len(losses) == 1:
            return losses[0]
        with ctx.workprec(192):
            return added([(atoms_of(loss), 1) for loss in losses], sum(loss.beyond for loss in losses))

    def pieces(self, lengths: Sequence[int]) -> tuple[Noise, ...] | None:
        """Return the laws of pieces, each inside one law or made of whole ones."""
        found: list[Noise] = []
        wanted = list(lengths)
        for law in self.laws:
            own: list[int] = []
            while wanted and sum(own) < law.length:
                own.append(wanted.pop(0))
            inside = pieces_of(law, own)
            if inside is None:
                return None
            found.extend(inside)
        return tuple(found)

    def marginal(self, groups: Sequence[int]) -> Noise | None:
        """Return the laws of their sums side by side, if every sum lies inside one law."""
        found: list[Noise] = []
        first = 0
        for law, own in self._parts(np.asarray(groups)):
            summed = law.marginal((own - first).tolist()) if own.min() >= first else None
            if summed is None:
                return None
            found.append(summed)
            first += summed.length
        return SideBySide(tuple(found))
