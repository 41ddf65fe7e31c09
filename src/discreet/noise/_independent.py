"""Independent noises, concatenated: probabilities multiply, losses add."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import ctx
from numpy.typing import ArrayLike, NDArray

from discreet._core.arrays import Counts, Floats
from discreet.noise._noise import Noise, information_of, pieces_of, simulated_noise
from discreet.noise._structure import Independent, Structure
from discreet.noise._zero_sum_laplace import by_block
from discreet.noise.randomness import RandomBits
from discreet.privacy import PrivacyLoss, added, atoms_of


@dataclass(frozen=True)
class SideBySide(Noise):
    """Independent noises: the numbers of each follow those of the one before."""

    parts: tuple[Noise, ...]

    @cached_property
    def structure(self) -> Structure:
        return Independent(tuple(part.structure for part in self.parts))

    @property
    def blocks(self) -> tuple[int, ...]:
        return tuple(size for part in self.parts for size in part.blocks)

    @property
    def _lengths(self) -> list[int]:
        return [part.length for part in self.parts]

    def _parts(self, values: ArrayLike) -> list[tuple[Noise, NDArray[np.generic]]]:
        return list(zip(self.parts, by_block(np.asarray(values), self._lengths), strict=True))

    def _joined(self, each: Callable[[Noise], Floats]) -> Floats:
        return np.concatenate([each(part) for part in self.parts])

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw the numbers of one distribution after those of another."""
        return np.concatenate([part.sample(rows, bits) for part in self.parts], axis=1)

    def log_kernel(self, noise: ArrayLike) -> Floats:
        return np.asarray(sum(part.log_kernel(piece) for part, piece in self._parts(noise)))

    @cached_property
    def log_normaliser(self) -> float:
        return sum(part.log_normaliser for part in self.parts)

    @cached_property
    def variance(self) -> Floats:
        return self._joined(lambda part: part.variance)

    @property
    def decay_length(self) -> Floats:
        return self._joined(lambda part: part.decay_length)

    @property
    def information(self) -> Floats:
        """Return that of each part."""
        return self._joined(information_of)

    def slope(self, noise: ArrayLike) -> Floats:
        return np.concatenate([part.slope(piece) for part, piece in self._parts(noise)], axis=-1)

    def simulate(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows by seeded floats, for readers."""
        return np.concatenate([simulated_noise(part, rows, generator) for part in self.parts], axis=1)

    def _epsilon(self, change: Counts) -> Fraction | float:
        return sum((part.privacy_loss(piece).epsilon for part, piece in self._parts(change)), Fraction(0))

    def _rho(self, change: Counts) -> Fraction:
        return sum((part.privacy_loss(piece).rho for part, piece in self._parts(change)), Fraction(0))

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the loss of all distributions together: independent losses add."""
        losses = [part.privacy_loss(piece).curve for part, piece in self._parts(change) if np.any(piece)]
        if len(losses) == 1:
            return losses[0]
        with ctx.workprec(192):
            return added([(atoms_of(loss), 1) for loss in losses], sum(loss.beyond for loss in losses))

    def pieces(self, lengths: Sequence[int]) -> tuple[Noise, ...] | None:
        """Return the distributions of pieces, each inside one distribution or made of whole ones."""
        found: list[Noise] = []
        wanted = list(lengths)
        for part in self.parts:
            piece: list[int] = []
            while wanted and sum(piece) < part.length:
                piece.append(wanted.pop(0))
            inside = pieces_of(part, piece)
            if inside is None:
                return None
            found.extend(inside)
        return tuple(found)

    def marginal(self, groups: Sequence[int]) -> Noise | None:
        """Return the distributions of their sums side by side, if every sum lies inside one distribution."""
        found: list[Noise] = []
        first = 0
        for part, piece in self._parts(np.asarray(groups)):
            summed = part.marginal((piece - first).tolist()) if piece.min() >= first else None
            if summed is None:
                return None
            found.append(summed)
            first += summed.length
        return SideBySide(tuple(found))
