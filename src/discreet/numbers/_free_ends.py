"""Noise on the ends of sums that is tied to nothing, because no number of records is public: its laws at the rate 1.

D(r) = (1 - r) u - r v is what a mean is read from (`inference._ratios`), u and v being the noise of both ends.

Independent Laplace noise (LaplaceEnds), with A = 1 - r and B = r:

    P(D > x) = (A^2 e^(-x/A) - B^2 e^(-x/B)) / (2 (A^2 - B^2)),       (2 + x/A) e^(-x/A) / 4 where A = B.

A cube (CubeEnds) of the radius R ~ Gamma(4), with uniform V_1, V_2, V_3 in [-1, 1]: u = R (V_1 + V_2) / 2,
v = R (V_1 - V_2) / 2, and R (V_1 +- V_3) / 2 for squares. So D(r) = R T / 2 with T = c V_1 + V_2, c = |1 - 2 r|, and

    P(T > t) = (1 - t) / 2 for t <= 1 - c,   (1 + c - t)^2 / (8 c) up to 1 + c,
    P(R T > y) = E P(T > y / R),

in which moments of R beyond y / (1 -+ c) are incomplete Gamma functions. Both are continuous: a record is 65,536 steps.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from scipy.fft import irfft, rfft
from scipy.special import gammaincinv

from discreet._core.arrays import Floats
from discreet.inference import PairNoise, Quantiles
from discreet.mathematics.distributions import CountDistribution, tails
from discreet.noise import MARGIN

_SEED = 26
_RATIOS = 129
_FARTHEST = 80.0  # no quantile at the rate 1 lies beyond
_HALVINGS = 60
_STEPS = 32  # of a grid of noise, in 1 / rate
_LEAST = 1e-250


@dataclass(frozen=True)
class FreeEnds(ABC):
    """Noise on both ends of positions and of squares, which fall like e^(-rate x) for each record."""

    rate: float

    @abstractmethod
    def drawn(self, draws: int) -> tuple[PairNoise, PairNoise]:
        """Return draws of the noise of the ends of positions, and jointly of squares."""

    def quantiles(self, level: float) -> Quantiles:
        """Return the quantiles of D(r) at the rate 1, over the rate: exact, and those of every group."""
        ratios, far = _quantiles(type(self).tail, tails(level)[0])
        return Quantiles(ratios, -far / self.rate, far / self.rate)

    @staticmethod
    @abstractmethod
    def tail(ratio: Floats, distance: Floats) -> Floats:
        """Return P(D(r) > x) at the rate 1, for x >= 0."""


@dataclass(frozen=True)
class LaplaceEnds(FreeEnds):
    """Independent Laplace noise, of another rate for squares."""

    square_rate: float

    def drawn(self, draws: int) -> tuple[PairNoise, PairNoise]:
        """Return the quantiles of Laplace numbers, each in an order of its own."""
        generator, ranks = np.random.default_rng(_SEED), (np.arange(draws) + 0.5) / draws
        single = np.where(ranks < 0.5, np.log(2 * ranks), -np.log(2 * (1 - ranks)))
        first, second, third, fourth = (generator.permutation(single) for _ in range(4))
        return PairNoise(first / self.rate, second / self.rate), PairNoise(
            third / self.square_rate, fourth / self.square_rate
        )

    @staticmethod
    def tail(ratio: Floats, distance: Floats) -> Floats:
        large, small = np.maximum(ratio, 1 - ratio), np.minimum(ratio, 1 - ratio)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inner = np.where(small > 0, np.exp(-distance / np.where(small > 0, small, 1)), 0.0)
            apart = large**2 * np.exp(-distance / large) - small**2 * inner
            unlike = apart / (2 * (large**2 - small**2))
        alike = (2 + distance / large) * np.exp(-distance / large) / 4
        return np.asarray(np.where(large - small < 1e-9, alike, unlike))


@dataclass(frozen=True)
class CubeEnds(FreeEnds):
    """Noise of the maximum norm on the number of records and on both signed sums."""

    def drawn(self, draws: int) -> tuple[PairNoise, PairNoise]:
        """Return radii by their quantiles and uniform numbers, each in an order of its own."""
        generator, ranks = np.random.default_rng(_SEED), (np.arange(draws) + 0.5) / draws
        radius = gammaincinv(4.0, generator.permutation(ranks)) / (2 * self.rate)
        number, near, far = (radius * (2 * generator.permutation(ranks) - 1) for _ in range(3))
        return PairNoise(number + near, number - near), PairNoise(number + far, number - far)

    @staticmethod
    def tail(ratio: Floats, distance: Floats) -> Floats:
        tilt = np.maximum(np.abs(1 - 2 * ratio), 1e-6)
        most, far = 1 + tilt, 2 * distance
        near, end = far / most, far / np.maximum(1 - tilt, 1e-12)
        outer = [_beyond(power, near) - _beyond(power, end) for power in (3, 2, 1)]
        bent = (most**2 * outer[0] - 2 * most * far * outer[1] + far**2 * outer[2]) / (48 * tilt)
        return np.asarray(bent + (_beyond(3, end) - far * _beyond(2, end)) / 12)


def _beyond(power: int, least: Floats) -> Floats:
    """Return the integral of x^k e^-x from `least` on: k! e^-t sum_(j <= k) t^j / j!."""
    total, term = np.ones_like(least), np.ones_like(least)
    for step in range(1, power + 1):
        term = term * least / step
        total = total + term
    factorial = float(np.prod(np.arange(1, power + 1)))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(least > 700, 0.0, factorial * np.exp(-np.minimum(least, 700)) * total))


Tail = Callable[[Floats, Floats], Floats]


@lru_cache(maxsize=32)
def _quantiles(tail: Tail, share: float) -> tuple[Floats, Floats]:
    """Return ratios, and where so much of D(r) lies beyond, by halving."""
    ratios = np.linspace(0, 1, _RATIOS)
    low, high = np.zeros(_RATIOS), np.full(_RATIOS, _FARTHEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_short = tail(ratios, middle) > share
        low, high = np.where(is_short, middle, low), np.where(is_short, high, middle)
    return ratios, high


class NumberNoise(Protocol):
    """The noise of a published number of records."""

    def log_density(self, distance: Floats) -> Floats:
        """Return the log density at these values, up to a constant."""

    @property
    def reach(self) -> float:
        """Return how far it may reach."""


@dataclass(frozen=True)
class SummedNoise:
    """The noise of a sum: so many Laplace numbers and so many single numbers of cubes of three, all of one rate."""

    rate: float
    laplace: int = 0
    cubes: int = 0

    def log_density(self, distance: Floats) -> Floats:
        """Return the log density of the noise at these values, up to a constant; beyond a grid by its slope."""
        grid, logs = _summed(self.laplace, self.cubes)
        far = np.abs(distance) * self.rate
        return np.asarray(np.interp(far, grid, logs) - np.maximum(far - grid[-1], 0))

    @property
    def reach(self) -> float:
        """Return how far the noise may reach."""
        return float(_summed(self.laplace, self.cubes)[0][-1] / self.rate)


@lru_cache(maxsize=16)
def _summed(laplace: int, cubes: int) -> tuple[Floats, Floats]:
    """Return a grid from 0 on and the log density there: products of transforms.

    One number of a cube of three has the density (1 + |x| + x^2 / 2) e^-|x| / 6.
    """
    reach = MARGIN + 12 * np.sqrt(2 * laplace + 20 / 3 * cubes)
    half = int(reach * _STEPS)
    steps = np.arange(half + 1) / _STEPS
    transform = np.ones(half + 1)
    for density, times in ((np.exp(-steps), laplace), ((1 + steps + steps**2 / 2) * np.exp(-steps), cubes)):
        around = np.concatenate([density, density[-2:0:-1]])
        transform = transform * (rfft(around / around.sum()).real) ** times
    density = irfft(transform, 2 * half)[: half + 1]
    known = density > 1e-14 * density[0]
    last = int(np.argmin(known)) if not known.all() else half + 1
    return steps[:last], np.log(np.maximum(density[:last], _LEAST))


def number_behind(noisy: Sequence[tuple[float, NumberNoise]]) -> CountDistribution:
    """Return the distribution of a whole number from noisy values of it, flat on 0, 1, 2, ... beforehand."""
    values = [value for value, _ in noisy]
    reach = max(noise.reach for _, noise in noisy) + 2
    counts = np.arange(max(0, int(min(values) - reach)), max(0, int(max(values))) + int(reach) + 2)
    logs = np.zeros(len(counts))
    for value, noise in noisy:
        logs += noise.log_density(np.asarray(value - counts, dtype=np.float64))
    weights = np.exp(logs - logs.max())
    (kept,) = np.nonzero(weights > 1e-13 * weights.sum())
    inner = slice(int(kept[0]), int(kept[-1]) + 1)
    return CountDistribution(int(counts[kept[0]]), weights[inner] / weights[inner].sum(), np.inf)
