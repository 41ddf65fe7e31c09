"""Ratios of noisy sums, read by inverting a test: which ratios are not contradicted by what was published.

A unit is divided between two ends, so that a record with the share x adds x to the first and 1 - x to the second. Over
some records let r be the mean share: A = sum x and B = sum (1 - x) have (1 - r) A - r B = 0. Of what was published,
a = A + u and b = B + v,

    D(r) = (1 - r) a - r b = (1 - r) u - r v,

whose distribution is that of the noise alone, whatever the records are. So the ratios r at which D(r) lies between the
quantiles of that distribution hold the true one with the stated probability: for every table, and without a prior. For
the mean share in the population that records come from, D(r) has besides the deviation of a sum of independent shares
around r.

The distribution is known through public draws of noise, whose quantiles are taken by rank.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from discreet._core.arrays import Floats
from discreet.mathematics.distributions import tails
from discreet.noise import laplace_density

DRAWS = 8191
"""How many draws of noise represent a distribution; with this many, a rank is a round share."""
_RATIOS = 129  # ratios at which quantiles are computed; they hardly bend in between


class Ratio(NamedTuple):
    """What is known about a ratio: the best guess, an interval, and how far its ends may be off, None after draws."""

    point: float
    low: float
    high: float
    error: float | None = None


@dataclass(frozen=True, eq=False)
class PairNoise:
    """Draws of the noise (u, v) of two ends."""

    first: Floats
    second: Floats

    def at(self, ratio: float) -> Floats:
        """Return draws of (1 - r) u - r v."""
        return np.asarray((1 - ratio) * self.first - ratio * self.second)

    @property
    def size(self) -> int:
        """Return how many draws there are."""
        return len(self.first)


Deviation = Callable[[float], Floats]
"""For a ratio, draws of how far a sum of shares lies from its expectation."""


@dataclass(frozen=True, eq=False)
class Quantiles:
    """The quantiles of D(r) at some ratios."""

    ratios: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(
        cls, noise: PairNoise, level: float, deviation: Deviation | None = None, ratios: Floats | None = None
    ) -> "Quantiles":
        """Return the quantiles of the noise, or of noise and deviation together."""
        at = np.linspace(0, 1, _RATIOS) if ratios is None else ratios
        rank = int(tails(level)[0] * (noise.size + 1)) or 1  # the smallest rank that errs on the safe side
        ends = []
        for ratio in at:
            drawn = noise.at(float(ratio)) + (0.0 if deviation is None else deviation(float(ratio)))
            sorted_ = np.partition(drawn, (rank - 1, noise.size - rank))
            ends.append((sorted_[rank - 1], sorted_[noise.size - rank]))
        low, high = np.array(ends).T
        return cls(np.asarray(at), low, high)

    def interval(self, first: float, second: float) -> Ratio:
        """Return the ratios that a and b do not contradict, as the hull of them all.

        Noise may take an end below 0, where the true one is not. Then D(r) is moved to where it would be with that end
        at 0 and the same a + b. So intervals hold more ratios, never fewer: farther out than noise should reach, no
        ratio would be left, and an interval must not be shorter because noise was large.
        """
        distance = (1 - self.ratios) * first - self.ratios * second - min(first, 0.0) + min(second, 0.0)
        point = float(np.clip(first / (first + second), 0, 1)) if first + second > 0 else 0.5
        above, below = distance - self.high, distance - self.low  # accepted where the first is <= 0 <= the second
        if first + second <= 0:  # noise hides whether there are any records
            return Ratio(point, 0.0, 1.0)
        low = 0.0 if above[0] <= 0 else _first_crossing(self.ratios, above)
        high = 1.0 if below[-1] >= 0 else 1 - _first_crossing(1 - self.ratios[::-1], -below[::-1])
        return Ratio(min(max(point, low), high), low, max(low, high))


def _first_crossing(points: Floats, heights: Floats) -> float:
    """Return where heights, the first of which is above zero, come down to it for the first time."""
    down = np.flatnonzero(heights <= 0)
    if not down.size:
        return float(points[-1])
    end = int(down[0])
    start = end - 1
    share = heights[start] / (heights[start] - heights[end])
    return float(points[start] + share * (points[end] - points[start]))


@lru_cache(maxsize=16)
def pair_noise(cells: int, rate: float, seed: int, draws: int = DRAWS) -> PairNoise:
    """Draw the noise of two of some cells that sum to zero, P(u) ~ e^(-rate ||u||_1), as real numbers.

    With s = u + v: s has the density of two Laplace numbers times that of the sum of all others at -s, and given s the
    density of u is flat between 0 and s and falls like e^(-2 rate d) at the distance d outside.
    """
    if cells == 2:  # one number: its quantiles themselves, and no draws
        ranks = (np.arange(draws) + 0.5) / draws
        single = np.where(ranks < 0.5, np.log(2 * ranks), -np.log(2 * (1 - ranks))) / (2 * rate)
        return PairNoise(single, -single)
    generator = np.random.default_rng(seed)
    values, two, others = laplace_density(2, cells - 2)
    weights = np.cumsum(two * others)
    indices = np.searchsorted(weights, generator.random(draws) * weights[-1])
    sums = values[indices] + (generator.random(draws) - 0.5) * (values[1] - values[0])
    inside = generator.random(draws) * (np.abs(sums) + 1) < np.abs(sums)
    far, side = generator.exponential(0.5, draws), generator.random(draws) < 0.5
    between = generator.random(draws) * sums
    low, high = np.minimum(0, sums), np.maximum(0, sums)
    first = np.where(inside, between, np.where(side, low - far, high + far))
    return PairNoise(first / rate, (sums - first) / rate)
