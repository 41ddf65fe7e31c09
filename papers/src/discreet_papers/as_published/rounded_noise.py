"""Continuous Laplace noise made whole, as the papers do it: by rounding, by the floor, or by cutting towards zero.

Seen from outside this is integer noise of an exact, closed law, and so it is drawn: no continuous number is ever made.
With rate r = 1/b, rounding and floor act on the noisy number, so they cost nothing: a number that moves by c costs at
most r c. Cutting the noise itself towards zero doubles P(0), and each number that moves costs ln 2 more.
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import ball
from discreet.choices._pair_bound import rounded_up
from discreet.noise import Noise
from discreet.noise._structure import Product, Structure
from discreet.noise.randomness._samplers import RandomBits, bernoulli_exponential, geometric
from discreet.privacy import PrivacyLoss


@dataclass(frozen=True)
class WholeLaplace(Noise):
    """Independent noise of one rate on `numbers` numbers, made whole."""

    rate: Fraction
    numbers: int

    @property
    def blocks(self) -> tuple[int, ...]:
        return (self.numbers,)

    @cached_property
    def structure(self) -> Structure:
        return Product(self.blocks, self.log_terms)

    @abstractmethod
    def log_terms(self, noise: ArrayLike, places: ArrayLike | None = None) -> Floats:
        """Return log P of single numbers."""

    @abstractmethod
    def draw(self, count: int, bits: RandomBits) -> Counts:
        """Draw independent numbers."""

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        return self.draw(rows * self.numbers, bits).reshape(rows, self.numbers)

    def log_kernel(self, noise: ArrayLike) -> Floats:
        return np.asarray(self.log_terms(noise).sum(axis=-1))

    @property
    def log_normaliser(self) -> float:
        """Return 0: the kernel is the probability itself."""
        return 0.0

    @cached_property
    def variance(self) -> Floats:
        """Return the variance, summed until what is left is below e^-60."""
        steps = np.arange(-int(60 / float(self.rate)) - 60, int(60 / float(self.rate)) + 61)
        chances = np.exp(self.log_terms(steps, 0))
        mean = chances @ steps
        return np.full(self.numbers, float(chances @ np.square(steps - mean)))

    @property
    def decay_length(self) -> Floats:
        """Return how many units of noise cost a factor e."""
        return np.full(self.numbers, 1 / float(self.rate))

    @property
    def information(self) -> Floats:
        """Return r^2."""
        return np.full(self.numbers, float(self.rate) ** 2)

    def slope(self, noise: ArrayLike) -> Floats:
        """Return -r tanh(u / w), w = max(1, 0.1/r)."""
        rate = float(self.rate)
        return np.asarray(-rate * np.tanh(np.asarray(noise) / max(1, 0.1 / rate)))

    def _costs(self, change: ArrayLike) -> list[Fraction]:
        """Return the largest loss of each number that moves."""
        return [self.rate * abs(int(step)) for step in np.asarray(change) if step]

    def _epsilon(self, change: Counts) -> Fraction:
        """Return the sum of r |c| over the numbers that move."""
        return sum(self._costs(change), Fraction(0))

    def _rho(self, change: Counts) -> Fraction:
        """Return half the sum of the numbers' squared costs: each is pure (Bun and Steinke, 2016)."""
        return sum((cost**2 for cost in self._costs(change)), Fraction(0)) / 2

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the worst loss that the norm allows, which is above the exact one."""
        norm = self._epsilon(change)
        return PrivacyLoss.worst_case(norm) if norm else PrivacyLoss((Fraction(0),), (1.0,))


def _signed(sizes: Counts, bits: RandomBits) -> Counts:
    return np.asarray(np.where(bits.words(len(sizes)) >> np.uint64(63) == 1, -sizes, sizes))


class Rounded(WholeLaplace):
    """Laplace noise rounded to the nearest whole number: P(|U| >= j) = e^(-(j - 1/2) r)."""

    def log_terms(self, noise: ArrayLike, places: ArrayLike | None = None) -> Floats:
        """Return log(1 - e^(-r/2)) at 0, else -(|u| - 1/2) r + log((1 - e^-r)/2)."""
        rate, far = float(self.rate), np.abs(np.asarray(noise))
        beside = -(far - 0.5) * rate + np.log(-np.expm1(-rate) / 2)
        return np.asarray(np.where(far == 0, np.log(-np.expm1(-rate / 2)), beside))

    def log_at_least(self, steps: ArrayLike) -> Floats:
        """Return log P(U >= j), j >= 0; at j = 0 it is (1 + P(U = 0))/2."""
        rate, far = float(self.rate), np.asarray(steps)
        tail = -(np.maximum(far, 1) - 0.5) * rate - np.log(2.0)
        return np.asarray(np.where(far > 0, tail, np.log1p(-np.exp(-rate / 2) / 2)))

    def draw(self, count: int, bits: RandomBits) -> Counts:
        """Draw whether noise is beyond 1/2, how far beyond, and its sign."""
        beyond = bernoulli_exponential(self.rate / 2, np.ones(count, dtype=np.int64), bits)
        return _signed(beyond * (1 + geometric(self.rate, count, bits)), bits)


class Floored(WholeLaplace):
    """The floor of Laplace noise, which shifts numbers by -1/2 on average."""

    def log_terms(self, noise: ArrayLike, places: ArrayLike | None = None) -> Floats:
        """Return -v r + log((1 - e^-r)/2), v = u for u >= 0 and -u - 1 below."""
        rate, values = float(self.rate), np.asarray(noise)
        return np.asarray(-np.where(values >= 0, values, -values - 1) * rate + np.log(-np.expm1(-rate) / 2))

    def draw(self, count: int, bits: RandomBits) -> Counts:
        """Draw a geometric number g and return g or -1 - g."""
        sizes = geometric(self.rate, count, bits)
        return np.where(bits.words(count) >> np.uint64(63) == 1, -1 - sizes, sizes)


class CutTowardsZero(WholeLaplace):
    """Laplace noise truncated towards zero: P(|U| = j) = e^(-j r) - e^(-(j+1) r), so P(0)/P(1) = 2 e^r."""

    def _costs(self, change: ArrayLike) -> list[Fraction]:
        with ctx.workprec(128):
            return [rounded_up(ball(cost) + arb(2).log()) for cost in super()._costs(change)]

    def _epsilon(self, change: Counts) -> Fraction:
        """Return the sum of r |c| + ln 2 over the numbers that move, rounded up once."""
        costs = super()._costs(change)
        with ctx.workprec(128):
            return rounded_up(ball(sum(costs, Fraction(0))) + len(costs) * arb(2).log())

    def log_terms(self, noise: ArrayLike, places: ArrayLike | None = None) -> Floats:
        """Return log(1 - e^-r) at 0, else -|u| r + log((1 - e^-r)/2)."""
        rate, far = float(self.rate), np.abs(np.asarray(noise))
        return np.asarray(-far * rate + np.log(-np.expm1(-rate)) - np.where(far == 0, 0.0, np.log(2.0)))

    def draw(self, count: int, bits: RandomBits) -> Counts:
        return _signed(geometric(self.rate, count, bits), bits)
