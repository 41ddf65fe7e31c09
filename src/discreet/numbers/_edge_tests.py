"""Tests at the edges of a table of numbers: on which side of each edge a quantile lies.

C_j records lie below the edge x_j, and z_j = C_j + U_j was published, where the distribution of U_j does not depend on
the records. The r-th smallest of n records, r = ceil(p n), is below x_j exactly if C_j >= r. So "the quantile is at
least x_j" may be claimed if P(U_j <= z_j - r) <= a/2, and "it is below x_j" if P(U_j >= z_j - r + 1) <= a/2. At both
edges of the true cell a wrong claim has probability a/2 at most, so the cells rejected by neither test form a
confidence set of level 1 - a or more: for all records, without a prior, and without a correction for the number of
edges, as only two of them can go wrong. For the population the same is done with Bin(n, p) + U_j in place of p n + U_j,
as Bin(n, G) + U_j rises with the share G below the edge.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, sqrt

import numpy as np
from scipy.special import bdtr

from discreet._core.arrays import Counts, Floats
from discreet.inference import PairNoise, Quantiles, Ratio
from discreet.mathematics.distributions import ROUNDED, Share, tails
from discreet.noise import PrefixSumNoise

_MARGIN = 1e-12  # probability of tails beyond which distributions are cut off
_TRIM = 1e-13  # counts of smaller probabilities have no say in the share of a population
_SEED = 23

Tails = tuple[Floats, Floats]
"""For every inner edge: how well the quantile could be below it, and at or above it."""


class EdgeTests(ABC):
    """What is known about the records of one group below every edge."""

    below: Floats
    """The published numbers below every inner edge."""

    @property
    @abstractmethod
    def total(self) -> float:
        """Return how many records have a value, as it is known or was published."""

    @abstractmethod
    def tails(self, share: Fraction, sampled: bool) -> Tails:
        """Return the tails of both tests at every inner edge, for the records or for the population."""

    @abstractmethod
    def share_below(self, edge: int, level: float, sampled: bool) -> Ratio:
        """Return the share of values below an inner edge, 1, 2, ..."""

    @abstractmethod
    def share_of(self, cell: int, level: float, sampled: bool) -> Ratio:
        """Return the share of values in one cell."""

    def cells_left(self, share: Fraction, level: float, sampled: bool) -> tuple[int, int]:
        """Return the first and the last cell that a quantile may be in: the hull of those that no claim excludes."""
        least, (low, high) = tails(level)[0], self.tails(share, sampled)
        is_above, is_below = low + _MARGIN <= least, high + _MARGIN <= least
        first = int(np.argmin(is_above)) if not is_above.all() else len(low)
        last = len(high) - int(np.argmin(is_below[::-1])) if not is_below.all() else 0
        return min(first, last), max(first, last)

    @cached_property
    def fitted(self) -> Floats:
        """Return the rising numbers nearest to what was published below each edge, from 0 to the total."""
        from scipy.optimize import isotonic_regression  # slow to import

        total = max(self.total, 1.0)
        inner = np.clip(isotonic_regression(self.below).x, 0, total)
        return np.concatenate([[0.0], inner, [total]])

    def point(self, share: Fraction, edges: Floats) -> float:
        """Return the quantile of the fitted numbers, linear inside a cell; the middle of a flat stretch."""
        wanted = float(share) * self.fitted[-1]
        first = int(np.searchsorted(self.fitted, wanted, side="left"))
        last = int(np.searchsorted(self.fitted, wanted, side="right"))
        if first < last:  # exactly met at one edge or along several
            return float((edges[first] + edges[min(last - 1, len(edges) - 1)]) / 2)
        low, high = self.fitted[first - 1], self.fitted[first]
        return float(edges[first - 1] + (edges[first] - edges[first - 1]) * (wanted - low) / (high - low))


@dataclass(eq=False)
class ExactTests(EdgeTests):
    """All records have a value and their number is public: the distribution of every cut is known exactly."""

    values: Counts
    size: int
    cut: Callable[[int], PrefixSumNoise]
    single: Callable[[int], PrefixSumNoise]

    def __post_init__(self) -> None:
        self.below = np.cumsum(self.values)[:-1].astype(float)

    @property
    def total(self) -> float:
        return float(self.size)

    def tails(self, share: Fraction, sampled: bool) -> Tails:
        rank = max(1, ceil(share * self.size))
        z = np.cumsum(self.values)[:-1]
        widest = self.cut(1).half
        low, high = np.zeros(len(z)), np.zeros(len(z))
        spread = 9 * sqrt(self.size * share * (1 - share)) + 2 if sampled else 0.0
        away = z - rank
        low[away > 0], high[away <= 0] = 1.0, 1.0  # farther than any noise goes
        near = np.flatnonzero(np.abs(away) <= widest + spread).tolist()
        distributions = [self.cut(index + 1) for index in near]
        reach = max(
            (
                abs(int(away[index])) + distribution.half
                for index, distribution in zip(near, distributions, strict=True)
            ),
            default=0,
        )
        sums = BinomialSums(self.size, share, rank, reach) if sampled else None
        for index, distribution in zip(near, distributions, strict=True):
            if sums is not None:
                low[index], high[index] = sums.tails(distribution, int(z[index]))
            else:
                low[index], high[index] = (
                    float(distribution.at_most(away[index])),
                    float(distribution.at_least(away[index] + 1)),
                )
        return low, high

    def share_below(self, edge: int, level: float, sampled: bool) -> Ratio:
        return share_interval(self.cut(edge), int(np.cumsum(self.values)[edge - 1]), self.size, level, sampled)

    def share_of(self, cell: int, level: float, sampled: bool) -> Ratio:
        return share_interval(self.single(cell), int(self.values[cell]), self.size, level, sampled)


class BinomialSums:
    """P(Bin(n, p) <= k) for all k within `reach` of some number, computed once for the tests at all edges."""

    def __init__(self, size: int, share: Fraction, around: int, reach: int) -> None:
        self._first = around - reach - 1
        counts = np.arange(self._first, around + reach + 1)
        inside = bdtr(np.clip(counts, 0, size).astype(float), size, float(share))
        self._below = np.where(counts < 0, 0.0, inside)

    def tails(self, distribution: PrefixSumNoise, noisy: int) -> tuple[float, float]:
        """Return P(Bin(n, p) + U <= z) and P(Bin(n, p) + U >= z) for U of this distribution, which is symmetric."""
        start = noisy - distribution.half - self._first
        below = self._below[start - 1 : start + len(distribution.chances)]
        return float(distribution.chances @ below[1:]), float(distribution.chances @ (1 - below[:-1]))


def share_interval(distribution: PrefixSumNoise, noisy: int, size: int, level: float, sampled: bool) -> Ratio:
    """Return a share from its noisy sum: shifted noise among the records, a Beta mixture opened to 0 and 1 besides."""
    low, high = tails(level)
    point = float(np.clip(noisy / size, 0, 1))
    if not sampled:
        ends = np.clip([noisy - distribution.quantile(high), noisy - distribution.quantile(low)], 0, size) / size
        return Ratio(point, float(ends[0]), float(ends[1]), ROUNDED)
    share = population_share(distribution, noisy, size)
    found = share.interval(level)
    return Ratio(min(max(point, found.low), found.high), found.low, found.high, share.numerical_error(level))


def population_share(distribution: PrefixSumNoise, noisy: int, size: int) -> Share:
    """Return the distribution of a share of the population under a uniform prior, given its own noisy sum."""
    first, last = max(0, noisy - distribution.half), min(size, noisy + distribution.half)
    counts = np.arange(first, last + 1) if first <= last else np.array([0 if noisy < 0 else size])
    weights = distribution.at(noisy - counts)
    total = float(weights.sum())
    weights = weights / total if total > 0 else np.full(len(counts), 1 / len(counts))
    kept = weights > _TRIM
    lost = float(weights[~kept].sum()) + (_MARGIN / total if total > 0 else 1.0)
    counts, weights = counts[kept], weights[kept] / weights[kept].sum()
    shapes = np.asarray([1.0 + counts, 1.0 + size - counts], dtype=np.float64)
    return Share(weights, shapes[0], shapes[1], weight_error=lost)


@dataclass(eq=False)
class DrawnTests(EdgeTests):
    """The number of records with a value is not public: shares are ratios, read through draws of all noise.

    `noise` has a row for every draw and a column for every cell of the group.
    """

    values: Counts | Floats
    noise: Floats
    size: float
    """The largest number of records that is possible."""

    def __post_init__(self) -> None:
        self.below = np.cumsum(self.values)[:-1].astype(float)

    @property
    def total(self) -> float:
        return float(min(self.values.sum(), self.size))

    @cached_property
    def _sums(self) -> Floats:
        return np.asfortranarray(np.cumsum(self.noise, axis=1))  # asked for edge by edge

    @cached_property
    def _normals(self) -> Floats:
        return np.random.default_rng(_SEED).standard_normal(len(self.noise))

    def pair(self, weights: Floats) -> tuple[PairNoise, float, float]:
        """Return the noise and the published numbers of cells that are divided between two ends by weights."""
        first, all_ = self.noise @ weights, self._sums[:, -1]
        whole = float(self.values @ weights)
        return PairNoise(first, all_ - first), whole, float(self.values.sum()) - whole

    def _deviation(self, ratio: float, noise: PairNoise) -> Floats:
        """Return draws of how far a count of records with one chance lies from its expectation."""
        counts = np.clip(self.values.sum() - noise.first - noise.second, 1.0, self.size)
        return np.asarray(np.sqrt(counts * ratio * (1 - ratio)) * self._normals)

    def tails(self, share: Fraction, sampled: bool) -> Tails:
        ratio, total = float(share), float(self.values.sum())
        low, high = [], []
        for index, noisy in enumerate(self.below):
            first = self._sums[:, index]
            pair = PairNoise(first, self._sums[:, -1] - first)
            drawn = pair.at(ratio) + (self._deviation(ratio, pair) if sampled else 0.0)
            distance = (1 - ratio) * noisy - ratio * (total - noisy)
            low.append(1 + int((drawn <= distance).sum()))
            high.append(1 + int((drawn >= distance).sum()))
        return np.array(low) / (len(self.noise) + 1), np.array(high) / (len(self.noise) + 1)

    def share_below(self, edge: int, level: float, sampled: bool) -> Ratio:
        return self._share((np.arange(len(self.values)) < edge).astype(float), level, sampled)

    def share_of(self, cell: int, level: float, sampled: bool) -> Ratio:
        return self._share((np.arange(len(self.values)) == cell).astype(float), level, sampled)

    def _share(self, weights: Floats, level: float, sampled: bool) -> Ratio:
        noise, first, second = self.pair(weights)
        deviation = (lambda ratio: self._deviation(ratio, noise)) if sampled else None
        return Quantiles.of(noise, level, deviation).interval(first, second)
