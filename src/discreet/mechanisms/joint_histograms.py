"""JointHistograms: one shared radius for the tables of all maximal families.

Replacing one record moves at most one unit in every table at once, so with d(u) = ||u||_1 / 2 on tables that sum to
zero the largest of the distances is at most 1, and

    P(u) ~ e^(-epsilon max_f d(u_f)),   every u_f of sum zero,

is pure epsilon-differentially private by the triangle inequality, and tight. All tables share one budget instead of
splitting it. That is good where they have similar sizes; a small table beside a large one gets the noise of the large.
"""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from math import comb, exp, inf, log, prod

import numpy as np

from discreet.certificates import PrivacyLoss
from discreet.errors import DeclarationError
from discreet.exact import Exact
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.network_counts import (
    Counts,
    Floats,
    NetworkCounts,
    RadiusLaw,
    given_row_total,
)
from discreet.models.network import Network
from discreet.randomness import RandomBits, composition, subset, uniform_below

MOST_FREE_CELLS = 5000  # the law of the radius takes about the cube of this many steps
_RADII = 400  # points over 24 standard deviations of the radius: the mean of a smooth function is exact to rounding


@dataclass(frozen=True, init=False, repr=False)
class JointHistograms(NetworkCounts):
    """All maximal family tables with one radius: pure epsilon-DP under replacement of one record, totals kept.

    >>> chain = Network.from_edges("a -> b -> c", levels=dict.fromkeys("abc", ("no", "yes")))
    >>> JointHistograms(chain, size=100, epsilon=1).length
    8
    """

    def __init__(self, model: Network, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        if (why := joint_refusal(model)) is not None:
            raise DeclarationError(f"JointHistograms is not for this network: {why}. Take FamilyHistograms.")

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, by the triangle inequality."""
        return Guarantee(self.epsilon, reason="noise of norm max_f ||u_f||_1/2 on family tables (triangle inequality)")

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss of the worst pure epsilon mechanism."""
        return PrivacyLoss.worst_case(self.epsilon)

    @property
    def rho(self) -> Fraction:
        """Return epsilon^2 / 2 (Bun and Steinke, 2016)."""
        return self.epsilon**2 / 2

    @property
    def tables(self) -> tuple[int, ...]:
        """Return the number of cells of each maximal family."""
        return tuple(prod(self.model.shape(family)) for family in self.model.maximal_families)

    @property
    def radius(self) -> RadiusLaw:
        """Return the law of the shared radius: P(r) ~ e^(-epsilon r) prod_f V_f(r)."""
        return _radius(self.epsilon, tuple(sorted(self.tables)))

    @property
    def reach(self) -> float:
        """Return the mean radius in the limit of small epsilon: (M + 1) / epsilon, M = sum_f (m_f - 1)."""
        return float((sum(self.tables) - len(self.tables) + 1) / self.epsilon)

    @property
    def tied(self) -> list[slice]:
        """Return the cells of each table: they sum to the public size."""
        ends = np.cumsum([0, *self.tables])
        return [slice(int(start), int(end)) for start, end in pairwise(ends)]

    def noise(self, rows: int, bits: RandomBits) -> Counts:
        """Draw the radius, then every table uniform within it."""
        radii = self.radius.sample(rows, bits)
        drawn = [point_within(int(radius), cells, bits) for radius in radii for cells in self.tables]
        return np.concatenate(drawn).reshape(rows, self.length) if drawn else np.zeros((0, self.length), dtype=np.int64)

    def log_noise(self, noise: Counts) -> Floats:
        """Return -epsilon max_f d(u_f) - log Z; -infinity if a table does not sum to zero."""
        flat = [table.reshape(*noise.shape[:-1], -1) for table in self.model.split(noise)]
        distances = np.stack([np.abs(table).sum(axis=-1) for table in flat]).max(axis=0) / 2
        balanced = np.stack([table.sum(axis=-1) == 0 for table in flat]).all(axis=0)
        return np.where(balanced, -float(self.epsilon) * distances - self.radius.log_normaliser, -inf)

    def count_sd(self) -> float:
        """Return the standard deviation of a cell given its row total, for the noisiest table."""
        levels = [self.model.shape(family)[-1] for family in self.model.maximal_families]
        different = set(zip(self.tables, levels, strict=True))
        return max(given_row_total(self.cell_variance(cells), cells, count) for cells, count in different)

    def cell_variance(self, cells: int) -> float:
        """Return sum_r P(r) S(r) / V(r), S(r) the sum of u_1^2 within r; over equal steps if there are many radii."""
        mean, variance = self.radius.moments()
        width = 12 * variance**0.5 + 40 / float(self.epsilon)
        low, high = max(0, int(mean - width)), int(mean + width)
        radii = range(low, high + 1, max(1, (high - low) // _RADII))
        kinds = {kind: self.tables.count(kind) for kind in set(self.tables)}
        logs = [sum(n * log(within(r, m)) for m, n in kinds.items()) - float(self.epsilon) * r for r in radii]
        weights = [exp(value - max(logs)) for value in logs]
        means = [float(Fraction(_sum_of_squares_within(r, cells), within(r, cells))) for r in radii]
        return float(np.dot(weights, means) / sum(weights))

    def check_output(self, output: Counts) -> None:
        """Refuse an output that this mechanism cannot have given."""
        super().check_output(output)
        self._check_totals(output)


def joint_refusal(network: Network) -> str | None:
    """Tell why JointHistograms does not fit a network, or nothing if it does."""
    free = network.cells - len(network.maximal_families)
    if free > MOST_FREE_CELLS:
        return f"its tables have {free} free cells, and at most {MOST_FREE_CELLS} are allowed"
    return None


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


def _sum_of_squares_within(radius: int, cells: int) -> int:
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
def _radius(epsilon: Fraction, tables: tuple[int, ...]) -> RadiusLaw:
    degree = sum(tables) - len(tables)
    kinds = {kind: tables.count(kind) for kind in set(tables)}
    return RadiusLaw(epsilon, [prod(within(r, m) ** n for m, n in kinds.items()) for r in range(degree + 1)])
