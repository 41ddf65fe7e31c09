"""One radius for several tables that sum to zero: P(u) ~ e^(-r max_f d(u_f)), d(u) = ||u||_1 / 2.

Replacing a record moves at most one unit in every table at once, so the norm is a whole number that changes by -1, 0 or
1, and so does the loss in units of r. It is +r where some table that moves has d(u_f) = max_f d(u_f) and
u_i <= 0 <= u_j in the two cells between which its unit moves:

    p = sum_R q^R [prod V_f(R) - prod (V_f(R) - W_f(R))] / sum_R q^R [prod V_f(R) - prod V_f(R - 1)],

where V counts the points within R and W those at R with these two signs. p rises with every table that moves.
"""

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from math import comb, exp, log, prod

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike
from scipy.special import softmax

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import ball
from discreet.noise._noise import Noise
from discreet.noise._radius import RadiusDistribution, differences
from discreet.noise._structure import SharedRadius, Structure, TotalPreserving
from discreet.noise._zero_sum_laplace import balanced_rows, by_block, starts
from discreet.noise.randomness import RandomBits, composition, subset, uniform_below
from discreet.privacy import PrivacyLoss, stated

_RADII = 400  # points over 24 standard deviations of the radius: the mean of a smooth function is exact to rounding


@dataclass(frozen=True)
class SharedRadiusLaplace(Noise):
    """Noise on tables that sum to zero, with one radius for all: P(u) ~ e^(-rate max_f ||u_f||_1 / 2).

    >>> SharedRadiusLaplace(Fraction(1), (2, 3)).privacy_loss([1, -1, 0, 1, -1]).epsilon
    Fraction(1, 1)
    """

    rate: Fraction
    sizes: tuple[int, ...]

    @property
    def blocks(self) -> tuple[int, ...]:
        return self.sizes

    @cached_property
    def structure(self) -> Structure:
        return TotalPreserving(SharedRadius(self.sizes, float(self.rate)))

    @property
    def radius(self) -> RadiusDistribution:
        """Return the distribution of the shared radius: P(R) ~ e^(-r R) prod_f V_f(R)."""
        return _radius(self.rate, tuple(sorted(self.sizes)))

    def distances(self, noise: ArrayLike) -> Floats:
        """Return d(u_f) of each table of each row."""
        return np.asarray(np.add.reduceat(np.abs(np.asarray(noise)), starts(self.sizes), axis=-1) / 2)

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return -r max_f d(u_f), or -inf if a table does not sum to zero."""
        values = np.asarray(noise)
        logs = -float(self.rate) * self.distances(values).max(axis=-1)
        return np.where(balanced_rows(values, self.sizes), logs, -np.inf)

    @cached_property
    def log_normaliser(self) -> float:
        """Return log sum_u e^(-r max_f d(u_f))."""
        return self.radius.log_normaliser

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw the radius, then every table uniform within it."""
        radii = self.radius.sample(rows, bits)
        drawn = [point_within(int(radius), cells, bits) for radius in radii for cells in self.sizes]
        return np.concatenate(drawn).reshape(rows, self.length) if drawn else np.zeros((0, self.length), dtype=np.int64)

    @cached_property
    def variance(self) -> Floats:
        different = {cells: self.cell_variance(cells) for cells in set(self.sizes)}
        return np.repeat([different[cells] for cells in self.sizes], self.sizes)

    def cell_variance(self, cells: int) -> float:
        """Return sum_R P(R) S(R) / V(R), S(R) the sum of u_1^2 within R; over equal steps if there are many radii."""
        mean, variance = self.radius.moments()
        width = 12 * variance**0.5 + 40 / float(self.rate)
        low, high = max(0, int(mean - width)), int(mean + width)
        radii = range(low, high + 1, max(1, (high - low) // _RADII))
        kinds = Counter(self.sizes)
        logs = [sum(n * log(within(r, m)) for m, n in kinds.items()) - float(self.rate) * r for r in radii]
        weights = [exp(value - max(logs)) for value in logs]
        means = [float(Fraction(sum_of_squares_within(r, cells), within(r, cells))) for r in radii]
        return float(np.dot(weights, means) / sum(weights))

    @property
    def decay_length(self) -> Floats:
        """Return the mean radius in the limit of small rates: (M + 1) / r, M = sum_f (m_f - 1)."""
        return np.full(self.length, (self.length - len(self.sizes) + 1) / float(self.rate))

    @property
    def information(self) -> Floats:
        """Return r^2 / 4 times the share of a table's free cells, about the chance that it decides."""
        free = np.array(self.sizes) - 1
        return np.repeat(float(self.rate) ** 2 / 4 * free / free.sum(), self.sizes)

    def slope(self, noise: ArrayLike) -> Floats:
        """Return -(r/2) w_f tanh(u / w), w_f the soft maximum of the tables' r d(u_f)."""
        values, rate = np.asarray(noise, dtype=float), float(self.rate)
        chances = np.repeat(softmax(rate * self.distances(values), axis=-1), self.sizes, axis=-1)
        return np.asarray(-rate / 2 * chances * np.tanh(values / max(1, 0.2 / rate)))

    def _units(self, change: ArrayLike) -> list[int]:
        return [int(np.abs(piece).sum()) // 2 for piece in by_block(np.asarray(change), self.sizes)]

    def _epsilon(self, change: Counts) -> Fraction:
        """Return r max_f d(c_f)."""
        return self.rate * max(self._units(change))

    def _rho(self, change: Counts) -> Fraction:
        return self._curve(change).sharp_rho

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the exact loss if one unit moves in some tables; for other changes, the worst of their norm."""
        units = self._units(change)
        if not any(units):
            return PrivacyLoss((Fraction(0),), (1.0,))
        if max(units) > 1:
            return PrivacyLoss.worst_case(self._epsilon(change))
        pairs = list(zip(self.sizes, units, strict=True))
        moved, still = (tuple(sorted(m for m, unit in pairs if unit == wanted)) for wanted in (1, 0))
        return _loss(self.rate, moved, still)


@lru_cache(maxsize=32)
def _loss(rate: Fraction, moved: tuple[int, ...], still: tuple[int, ...]) -> PrivacyLoss:
    degree = sum(moved) + sum(still) - len(moved) - len(still)
    values = []
    for r in range(degree + 1):
        rest = prod(within(r, m) ** n for m, n in Counter(still).items())
        tables = Counter(moved).items()
        all_points = prod(within(r, m) ** n for m, n in tables)
        others = prod((within(r, m) - with_signs(r, m)) ** n for m, n in tables)
        values.append(rest * (all_points - others))
    with ctx.workprec(256):
        q = (-ball(rate)).exp()
        above = sum((start * q**j for j, start in enumerate(differences(values))), arb(0))
        up = above / (1 - q) / _radius(rate, tuple(sorted(moved + still))).weight
        return stated([(rate, up), (Fraction(0), 1 - up - up * q), (-rate, up * q)])


def with_signs(radius: int, cells: int) -> int:
    """Return W_m(R) = sum_k C(m-2, k) C(R+k, k) C(R, m-2-k): points with d(u) = R and u_i <= 0 <= u_j for two cells.

    k of the other cells are >= 0 and the rest below zero: parts of R among k + 1 cells, and parts of R of at least one
    among m - 2 - k cells beside the one that may be zero.
    """
    free = cells - 2
    return sum(comb(free, k) * comb(radius + k, k) * comb(radius, free - k) for k in range(free + 1))


@lru_cache(maxsize=2**16)
def within(radius: int, cells: int) -> int:
    """Return V_m(r) = sum_i C(m-1, i)^2 C(r-i+m-1, m-1): sum-zero vectors of m whole numbers with d(u) <= r."""
    free, total = cells - 1, 0
    square, other = 1, comb(radius + free, free)
    for i in range(min(free, radius) + 1):  # each pair of factors from the one before
        total += square * other
        square = square * (free - i) ** 2 // (i + 1) ** 2
        other = other * (radius - i) // (radius - i + free)
    return total


def point_within(radius: int, cells: int, bits: RandomBits) -> Counts:
    """Draw a uniform sum-zero vector with d(u) <= r: its distance by the exact counts V, then a point there."""
    rank = int(uniform_below(within(radius, cells), 1, bits)[0])
    distance = bisect_right(range(radius + 1), rank, key=lambda r: within(r, cells))
    return point_at(distance, cells, bits)


def point_at(distance: int, cells: int, bits: RandomBits) -> Counts:
    """Draw a uniform sum-zero vector with d(u) = k.

    s cells are positive with weight C(m, s) C(k-1, s-1) C(k+m-s-1, m-s-1); they get k in parts >= 1, the others -k in
    parts <= 0.
    """
    drawn = np.zeros(cells, dtype=np.int64)
    if distance == 0:
        return drawn
    edges = _positive_edges(distance, cells)
    positive = 1 + bisect_right(edges, int(uniform_below(edges[-1], 1, bits)[0]))
    rises = np.zeros(cells, dtype=np.bool_)
    rises[subset(positive, cells, bits)] = True
    drawn[rises] = 1 + composition(distance - positive, positive, bits)
    drawn[~rises] = -composition(distance, cells - positive, bits)
    return drawn


@lru_cache(maxsize=2**12)
def _positive_edges(distance: int, cells: int) -> list[int]:
    """Return the cumulative weights of the number s = 1, 2, ... of positive cells."""
    most = min(distance, cells - 1)
    weights = (
        comb(cells, s) * comb(distance - 1, s - 1) * comb(distance + cells - s - 1, cells - s - 1)
        for s in range(1, most + 1)
    )
    return list(accumulate(weights))


def sum_of_squares_within(radius: int, cells: int) -> int:
    """Return the sum of u_1^2 over all sum-zero vectors with d(u) <= r.

    Its generating function is 2 (m-1) x [sum_i C(m-1,i)^2 x^i - sum_i C(m-1,i) C(m-1,i+2) x^(i+1)] / (1-x)^(m+2).
    """
    free = cells - 1
    total = 0
    for i in range(min(free, radius - 1) + 1):
        weight = comb(free, i) ** 2 - (comb(free, i - 1) * comb(free, i + 1) if i else 0)
        total += weight * comb(radius - 1 - i + cells + 1, cells + 1)
    return 2 * free * total


@lru_cache(maxsize=8)
def _radius(rate: Fraction, tables: tuple[int, ...]) -> RadiusDistribution:
    degree = sum(tables) - len(tables)
    kinds = Counter(tables)
    return RadiusDistribution(rate, [prod(within(r, m) ** n for m, n in kinds.items()) for r in range(degree + 1)])
