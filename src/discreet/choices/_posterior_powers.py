"""Powers of the affinity of posteriors, as products over cells: BC(x, r)^K = prod_i phi_i(r_i)^K.

phi_i(r) = Gamma((a + b)/2) / sqrt(Gamma(a) Gamma(b)) with a = alpha_i + x_i and b = alpha_i + r is 1 at r = x_i and
falls on both sides, so beyond some r its power does not count any more. On tables r of the same total every factor may
be multiplied by e^(theta (r_i - x_i)) without changing the product; theta is chosen so that independent counts with
these weights have the right total on average. Cells of equal prior and count share their tables.
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, inf, isinf, log, sqrt

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.mathematics import STIRLING

_LARGE = 32.0  # from here on five terms of Stirling's series are exact to double precision
_NEAR = 0.3
_NEAR_ZERO = 0.1  # of the variance: what the square of an expected total may be
_MOST_TURNS = 200  # never reached: an interval of floats is halved away before


@dataclass(frozen=True, eq=False)
class CellPowers:
    """For one class of cells: the changes r - x = start, start + 1, ..., and ln of phi(r)^K e^(theta (r - x))."""

    start: int
    logs: Floats

    @property
    def changes(self) -> Counts:
        """Return r - x for every entry."""
        return np.arange(self.start, self.start + len(self.logs))

    def tilted(self, theta: float) -> "CellPowers":
        """Return the logarithms with theta (r - x) added."""
        return CellPowers(self.start, self.logs + theta * self.changes) if theta else self


@dataclass(frozen=True, eq=False)
class Balanced:
    """Tilted tables of each class, ln of their sums, the tilt theta, and the deviation of the total change."""

    tables: list[CellPowers]
    log_sums: list[float]
    theta: float
    deviation: float


class PosteriorPowers:
    """Powers of BC(x, r) for one table x, down to e^-floor: factors below that are left out.

    `cell_class` says for every cell which class of equal prior and count it belongs to, `sizes` how many cells a class
    has, `largest` a cell of the largest parameter.
    """

    def __init__(self, alpha: Floats, counts: Counts, floor: float) -> None:
        self.floor, self.total, self.cells = floor, int(counts.sum()), len(counts)
        codes = np.lexsort((counts, alpha))
        new = np.ones(len(codes), dtype=np.bool_)
        new[1:] = (np.diff(alpha[codes]) != 0) | (np.diff(counts[codes]) != 0)
        self.cell_class = np.empty(len(codes), dtype=np.int64)
        self.cell_class[codes] = np.cumsum(new) - 1
        self.sizes = np.bincount(self.cell_class)
        self.priors, self.counts = alpha[codes[new]], counts[codes[new]]
        self.largest = int(np.argmax(alpha + counts))

    @cached_property
    def _first_powers(self) -> list[CellPowers]:
        """Return the tables of K = 1, on a range that holds all factors above e^-floor.

        ln phi <= -d^2 / (4 (a + b)) for a change d = b - a, which is below -floor from two roots of a square on.
        """
        found = []
        for prior, count in zip(self.priors.tolist(), self.counts.tolist(), strict=True):
            reach = 2 * sqrt(self.floor**2 + 2 * self.floor * (prior + count))
            least = max(-count, -ceil(reach - 2 * self.floor))
            most = min(self.total - count, ceil(reach + 2 * self.floor))
            changes = np.arange(least, most + 1)
            found.append(CellPowers(least, cell_log_affinities(prior, count, changes)))
        return found

    def at(self, power: float) -> list[CellPowers]:
        """Return the tables of phi^K without tilt, one for each class."""
        return [self._cut(cell, power) for cell in self._first_powers]

    def _cut(self, cell: CellPowers, power: float) -> CellPowers:
        peak, edge = -cell.start, -self.floor / power
        first = int(np.searchsorted(cell.logs[: peak + 1], edge))
        last = peak + int(np.searchsorted(-cell.logs[peak:], -edge, side="right"))
        return CellPowers(cell.start + first, power * cell.logs[first:last])

    def log_affinities(self, changes: Counts) -> Floats:
        """Return ln BC(x, r) for rows of changes r - x; -inf beyond the floor."""
        logs = np.zeros(len(changes))
        for cell, group in enumerate(self.cell_class):
            table = self._first_powers[group]
            indices = changes[:, cell] - table.start
            inside = (indices >= 0) & (indices < len(table.logs))
            logs += np.where(inside, table.logs[np.where(inside, indices, 0)], -np.inf)
        return logs

    def balanced(self, tables: list[CellPowers]) -> "Balanced":
        """Tilt tables until the expected total is within a fraction of its deviation.

        The expected total is the derivative of sum_i ln sum_r phi_i^K e^(theta (r - x_i)), which is convex in theta, so
        it rises with theta: Newton's method and halving take turns in an interval around its zero.
        """
        theta, low, high = 0.0, -inf, inf
        for turn in range(_MOST_TURNS + 1):
            tilted = [table.tilted(theta) for table in tables]
            sums, mean, variance = self._moments(tilted)
            if mean * mean <= _NEAR_ZERO * variance or turn == _MOST_TURNS:
                break
            low, high = (theta, high) if mean < 0 else (low, theta)
            theta = _next_tilt(theta, mean, variance, (low, high), turn)
        return Balanced(tilted, sums, theta, sqrt(variance))

    def _moments(self, tables: list[CellPowers]) -> tuple[list[float], float, float]:
        """Return ln of each table's sum, and mean and variance of the total change of independent counts."""
        sums, mean, variance = [], 0.0, 0.0
        for table, cells in zip(tables, self.sizes, strict=True):
            largest, changes = float(table.logs.max()), table.changes.astype(float)
            weights = np.exp(table.logs - largest)
            total = float(weights.sum())
            first, second = float(weights @ changes) / total, float(weights @ (changes * changes)) / total
            sums.append(largest + log(total))
            mean, variance = mean + int(cells) * first, variance + int(cells) * max(0.0, second - first * first)
        return sums, mean, variance


def _next_tilt(theta: float, mean: float, variance: float, interval: tuple[float, float], turn: int) -> float:
    """Return where to look for the zero next: a step by Newton or half of the interval; if it has one end, outwards."""
    low, high = interval
    farthest = 2.0 ** (1 + turn)
    newton = theta - mean / max(variance, abs(mean) / farthest)
    if isinf(high - low) or (turn % 2 == 0 and low < newton < high):
        return newton
    return (low + high) / 2


def cell_log_affinities(prior: float, count: int, changes: Counts) -> Floats:
    """Return ln phi of counts that differ from `count` by rising whole numbers, as `log_affinities` does, in less time.

    Small arguments are first moved up: ln phi(a, b) = ln phi(a + 32, b + 32) + (1/2) sum_{k < 32} ln(1 - x_k^2),
    x_k = |b - a|/(a + b + 2k).
    """
    first, second = prior + count, np.asarray(prior + (count + changes), dtype=np.float64)
    if first < _LARGE:
        return _log_affinities_small(first, second, changes)
    small = int(np.searchsorted(second, _LARGE))
    parts = zip((_log_affinities_small, _log_affinities_large), (slice(small), slice(small, None)), strict=True)
    return np.concatenate([part(first, second[index], changes[index]) for part, index in parts])


def _log_affinities_small(first: float, second: Floats, changes: Counts) -> Floats:
    steps = np.arange(_LARGE)
    ones, others = first + steps, second[:, None] + steps
    totals = ones + others
    x = np.abs(changes)[:, None] / totals
    with np.errstate(divide="ignore"):  # 1 - x^2 may be rounded to 0 where the other form is taken
        logs = np.where(x < _NEAR, np.log1p(-x * x), np.log(4 * (ones / totals) * (others / totals)))
    return np.asarray(_log_affinities_large(first + _LARGE, second + _LARGE, changes) + logs.sum(axis=1) / 2)


def _log_affinities_large(first: float, second: Floats, changes: Counts) -> Floats:
    """Return -(c g(x) - ln(1 - x^2)/2)/2 + s(c) - (s(a) + s(b))/2, c = (a + b)/2, x = |b - a|/(a + b).

    g(x) = ln(1 - x^2) + 2 x atanh x = sum_k x^(2k)/(k (2k - 1)). Changes of at least 1 make ln phi as large as the
    terms of Stirling's remainder s, so these may be subtracted as they are.
    """
    total = first + second
    x = np.abs(changes) / total
    square = x * x
    series = square * np.polyval([1 / (k * (2 * k - 1)) for k in range(15, 0, -1)], square)
    logs, far = np.log1p(-square), np.flatnonzero(x > _NEAR)
    logs[far] = np.log(4 * (first / total[far]) * (second[far] / total[far]))
    series[far] = logs[far] + x[far] * np.abs(np.log(second[far] / first))
    remainders = _remainder(total / 2) - (_remainder(np.array([first])) + _remainder(second)) / 2
    return np.asarray((logs / 2 - total / 2 * series) / 2 + remainders)


def _remainder(z: Floats) -> Floats:
    return np.asarray(np.polyval(STIRLING[4::-1], 1 / (z * z)) / z)
