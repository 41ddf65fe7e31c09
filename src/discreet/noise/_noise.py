"""Noise: how whole numbers that do not depend on any secret are drawn, and how likely each of them is.

What is published is z = A k + u: public sums A k of the secret counts, plus noise u. The distribution of u alone
decides how much z reveals: if the measured numbers move by c, every output changes its probability by

    loss(u) = ln P(u) - ln P(u - c),

so guarantee, privacy loss and zCDP parameter are computed from the distribution and the possible c, sampling and
likelihood from the distribution alone. Numbers of one block are alike: exchanging them does not change the
distribution.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.noise._structure import Structure, generator_of, preserved
from discreet.noise.randomness import RandomBits
from discreet.privacy import PrivacyLoss

MARGIN = 45.0
"""Nats: what is e^-45 of the largest is negligible, so windows reach that far beyond noisy numbers to begin with."""


DRAWN_NUMBER = 5e3
"""About how many operations it takes to draw one whole number exactly, from random bits, if nothing is rejected."""


@dataclass(frozen=True)
class Operations:
    """About how many operations noise takes; see `inference.CostEstimate`."""

    draw: float
    """To draw one row."""
    distribution: float = 0.0
    """To compute the normaliser and the privacy loss, where they are no closed forms."""


class Noise(ABC):
    """A distribution of noise, P(u) = e^(log_kernel(u) - log_normaliser), on rows of `length` whole numbers."""

    @property
    @abstractmethod
    def structure(self) -> Structure:
        """Return how the kernel is made: what solvers match on."""

    @property
    @abstractmethod
    def blocks(self) -> tuple[int, ...]:
        """Return how many numbers each block of like numbers has, in the order of the numbers."""

    @property
    def length(self) -> int:
        """Return how many numbers a row of noise has."""
        return sum(self.blocks)

    @property
    def operations(self) -> Operations:
        """Return about what drawing one row takes, and the distribution itself where it is no closed form."""
        return Operations(DRAWN_NUMBER * self.length)

    @abstractmethod
    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw rows of noise, exactly."""

    @abstractmethod
    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return the log of the unnormalised probability of each row of noise (last axis); real numbers are allowed.

        It is -inf for impossible noise, such as a block that should sum to zero and does not.
        """

    @property
    @abstractmethod
    def log_normaliser(self) -> float:
        """Return the log of the kernel's sum over all whole numbers."""

    def log_prob(self, noise: ArrayLike) -> Floats:
        """Return log P of each row of noise."""
        return self.log_kernel(noise) - self.log_normaliser

    @property
    @abstractmethod
    def variance(self) -> Floats:
        """Return the variance of each number's noise."""

    @property
    @abstractmethod
    def decay_length(self) -> Floats:
        """Return for each number a length such that within `MARGIN` of it the log kernel falls by that or more.

        For a distribution with a shared radius it is at least the mean radius for small rates.
        """

    @abstractmethod
    def slope(self, noise: ArrayLike) -> Floats:
        """Return a smooth approximation of the derivative of `log_kernel` by each number, for rows of real noise."""

    def privacy_loss(self, change: ArrayLike) -> "ChangeLoss":
        """Return what it costs if the measured numbers move by `change`; nothing is computed until it is asked for."""
        return ChangeLoss(self, np.asarray(change))

    @abstractmethod
    def _epsilon(self, change: Counts) -> Fraction | float:
        """Return `ChangeLoss.epsilon` of a change that moves no total that is kept."""

    @abstractmethod
    def _rho(self, change: Counts) -> Fraction:
        """Return `ChangeLoss.rho` of a change that moves no total that is kept."""

    @abstractmethod
    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return `ChangeLoss.curve` of a change that moves no total that is kept."""

    def marginal(self, groups: Sequence[int]) -> "Noise | None":
        """Return the distribution of the noise of sums, or None if it has no simple form.

        `groups` gives, for each number, the sum that it belongs to: 0, 1, ...
        """
        return None


@dataclass(frozen=True, eq=False)
class ChangeLoss:
    """The privacy loss if the measured numbers move by a change c: loss(u) = ln P(u) - ln P(u - c).

    Where a total moves that the noise keeps, no output hides it: epsilon is infinite, and there is no rho and no curve.
    """

    noise: Noise
    change: Counts

    @cached_property
    def is_hidden(self) -> bool:
        """Return whether the change moves no total that the noise keeps; otherwise no output hides it."""
        keeps = preserved(self.noise.structure)
        if not any(keeps):
            return True
        totals = np.add.reduceat(self.change, np.cumsum([0, *self.noise.blocks[:-1]]))
        return not np.any(totals[np.asarray(keeps)])

    @cached_property
    def epsilon(self) -> Fraction | float:
        """Return the largest loss, exactly; infinite if it is unbounded."""
        return self.noise._epsilon(self.change) if self.is_hidden else inf

    @cached_property
    def rho(self) -> Fraction:
        """Return a zCDP parameter: the sum of those of independent parts."""
        return self.noise._rho(self._hidden)

    @cached_property
    def curve(self) -> PrivacyLoss:
        """Return the distribution of the loss: exact, or an upper bound where stated.

        It is unchanged if numbers of a block are exchanged, or signs are changed where the noise has no constraint, and
        it does not grow if numbers move less or whole blocks do not move.
        """
        return self.noise._curve(self._hidden)

    @property
    def _hidden(self) -> Counts:
        if not self.is_hidden:
            raise DeclarationError(
                f"{type(self.noise).__name__} noise keeps the totals of its blocks, so it cannot hide a change that "
                "moves one of them: the privacy loss would be infinite. Use noise that does not sum to zero there."
            )
        return self.change


@runtime_checkable
class Divisible(Protocol):
    """Noise whose blocks are independent, so that consecutive blocks have noise of their own."""

    def pieces(self, lengths: Sequence[int], /) -> tuple[Noise, ...] | None:
        """Return the noise of consecutive pieces of these lengths, if they are independent; else None."""


def pieces_of(noise: Noise, lengths: Sequence[int]) -> tuple[Noise, ...] | None:
    """Return the noise of consecutive pieces of these lengths, if they are independent; else None."""
    if isinstance(noise, Divisible):
        return noise.pieces(lengths)
    return (noise,) if tuple(lengths) == (noise.length,) else None


@runtime_checkable
class HasInformation(Protocol):
    """Noise that tells another amount about its location than its variance does."""

    @property
    def information(self) -> Floats:
        """Return about how much Fisher information each number has about its location."""


def information_of(noise: Noise) -> Floats:
    """Return about how much Fisher information each number has about its location: 1 / variance if nothing is known."""
    return noise.information if isinstance(noise, HasInformation) else 1 / np.maximum(noise.variance, 1e-300)


@runtime_checkable
class SimulatesNoise(Protocol):
    """Noise that draws itself by seeded floats."""

    def simulate(self, rows: int, generator: np.random.Generator, /) -> Floats:
        """Draw rows of real numbers with about the kernel as density: for a reader's sampler, never for publishing."""


def simulated_noise(noise: Noise | SimulatesNoise, rows: int, generator: np.random.Generator) -> Floats:
    """Draw rows of noise by seeded floats, by itself or by its generator: for readers, never for publishing."""
    if isinstance(noise, SimulatesNoise):
        return noise.simulate(rows, generator)
    if (made := generator_of(noise.structure)) is not None:
        return made.from_normals(made.draw_normals(rows, generator))
    raise DeclarationError(f"{type(noise).__name__} noise is read through its density, not through a generator.")
