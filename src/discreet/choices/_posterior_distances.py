"""Hellinger distances between all posteriors that n records can give, row by row and never all at once.

The posteriors are Dirichlet(alpha + k) for the tables k of n records. With two cells they lie on a line. There
BC(x, x + o) is a product of ratios of neighbours,

    g(a, b + 1) - g(a, b) = ln r((a + b)/2) + ln(1 + (a - b)/(2b))/2,    g(a, b) = ln of one cell's affinity,

so a running sum outward from r = x gives a row with nothing to cancel, and it stops where BC < 1e-17: beyond, H = 1 to
the last digit. A row has about sqrt(78 n) such points on either side, so all rows take about n^1.5 steps.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet.mathematics import log_affinities, log_r
from discreet.privacy import all_tables

_NO_AFFINITY = -39.2  # ln 1e-17
_ROWS = 64  # of a block, which shares one width
_AT_ONCE = 4_000_000  # distances held in memory together
UNIT = 2.0**-53


@dataclass(frozen=True, eq=False)
class Block:
    """Rows x = start, start + 1, ... of distances H(x, x + o), o = -width, ..., width; NaN where x + o is no count."""

    start: int
    width: int
    distances: Floats


def line_blocks(alpha: Floats, size: int, last: int | None = None) -> Iterator[Block]:
    """Yield the rows 0, ..., last (default: all) in blocks; a block begins with the last row of the one before."""
    tables, width, last = _tables_of_r(alpha, size), 16, size if last is None else last
    for start in range(0, last, _ROWS):
        rows = np.arange(start, min(start + _ROWS, last) + 1)
        width, logs = _wide_enough(alpha, size, tables, rows, width + width // 8 + 8)  # the next may be a bit wider
        yield Block(start, width, np.sqrt(-np.expm1(logs)))


def line_rows(alpha: Floats, size: int, rows: Counts) -> Floats:
    """Return H(x, r) for some x (rows) and all r = 0, ..., n (columns)."""
    width, logs = _wide_enough(alpha, size, _tables_of_r(alpha, size), rows, 16)
    found = np.ones((len(rows), size + 1 + 2 * width))
    columns = rows[:, None] + np.arange(2 * width + 1)
    np.put_along_axis(found, columns, np.sqrt(-np.expm1(logs)), axis=1)
    return found[:, width : width + size + 1]


def _tables_of_r(alpha: Floats, size: int) -> list[Floats]:
    return [log_r(value + np.arange(2 * size + 1) / 2) for value in alpha]


def _wide_enough(
    alpha: Floats, size: int, tables: list[Floats], rows: Counts, width: int
) -> tuple[int, NDArray[np.float64]]:
    """Widen the block until BC is nothing at both ends of all its rows; return ln BC and the least width for it."""
    while True:
        width = min(width, size)
        up = _outward(alpha, tables, rows, size, width)
        down = _outward(alpha[::-1], tables[::-1], size - rows, size, width)
        needed = max(int((side > _NO_AFFINITY).sum(axis=1).max()) for side in (up, down)) + 1
        if needed <= width or width == size:
            needed = min(needed, width)
            middle = np.zeros((len(rows), 1))
            return needed, np.hstack([down[:, needed - 1 :: -1], middle, up[:, :needed]])
        width = max(2 * width, needed)


def _outward(alpha: Floats, tables: list[Floats], counts: Counts, size: int, width: int) -> Floats:
    """Return ln BC after o = 1, ..., width records moved from the second cell to the first; NaN beyond the last.

    Both steps' logarithms are taken at once: the argument of log1p is a sum of terms of one sign.
    """
    o = np.arange(1, width + 1)
    left = size - counts[:, None] - o
    up, down = alpha[0] + (counts[:, None] + o - 1), alpha[1] + np.maximum(left, 0)
    change = -((o - 1) * down + o * up) / (up * (2 * down + o))
    rows, columns = np.nonzero(change < -0.5)  # near -1 its digits are in the ratio itself
    one, two, step = up[rows, columns], down[rows, columns], o[columns]
    steps = np.log1p(np.maximum(change, -0.5))
    steps[rows, columns] = np.log((2 * one - step + 1) / (2 * one) * (2 * two / (2 * two + step)))
    steps *= 0.5
    steps += _diagonals(tables[0], 2 * counts, width) - _diagonals(tables[1][::-1], 2 * counts + 1, width)
    steps[left < 0] = np.nan
    return np.asarray(np.cumsum(steps, axis=1))


def _diagonals(table: Floats, at: Counts, width: int) -> Floats:
    """Return rows table[at], table[at + 1], ..., with zeros beyond the end."""
    low, high = int(at.min()), int(at.max())
    part = np.zeros(high - low + width)
    known = table[low : high + width]
    part[: len(known)] = known
    return np.asarray(sliding_window_view(part, width)[at - low])


def log_normaliser(logs: Floats) -> Floats:
    """Return log sum e^logs of each row as a column; the largest weight, 1, is at H = 0."""
    return np.asarray(np.log(np.exp(logs).sum(axis=1, keepdims=True)))


def line_error(width: int) -> float:
    """Return a bound on the relative error of H in a block: running sums of `width` terms of one sign."""
    return (2 * width + 64) * UNIT


def line_log_probs(block: Block, scales: Floats, size: int) -> tuple[Floats, Floats, Floats]:
    """Return for a block's rows log P(x + o | x) (-inf where there is none), log P of far candidates, and log Z.

    P(r | x) = e^(-c(x) H(x, r)) / Z(x), and H = 1 outside the block.
    """
    scale = scales[block.start : block.start + len(block.distances), None]
    logs = np.where(np.isnan(block.distances), -np.inf, -scale * block.distances)
    inside = np.isfinite(logs).sum(axis=1)
    sums = np.exp(logs).sum(axis=1) + (size + 1 - inside) * np.exp(-scale[:, 0])
    normalisers = np.log(sums)
    return logs - normalisers[:, None], -scale[:, 0] - normalisers, normalisers


def line_log_normalisers(alpha: Floats, size: int, scales: Floats) -> Floats:
    """Return log Z(x) = log sum_r e^(-c(x) H(x, r)) for all tables (x, n - x) of two cells."""
    found = np.empty(size + 1)
    for block in line_blocks(alpha, size):
        found[block.start : block.start + len(block.distances)] = line_log_probs(block, scales, size)[2]
    return found


@dataclass(frozen=True, eq=False)
class Tables:
    """All tables of n records in m cells, in the order of `compositions`, and distances between their posteriors."""

    alpha: Floats
    size: int

    @cached_property
    def all(self) -> Counts:
        """Return every table."""
        return all_tables(self.size, len(self.alpha))

    @cached_property
    def _logs(self) -> dict[float, Floats]:
        """Return ln of one cell's affinity for all pairs of counts, for each prior parameter."""
        counts = np.arange(self.size + 1.0)
        gaps = counts - counts[:, None]
        priors = set(self.alpha.tolist())
        return {prior: log_affinities(prior + counts[:, None], prior + counts, gaps) for prior in priors}

    def distances(self, tables: Counts) -> Floats:
        """Return H(x, r) for some tables x (rows) and all tables r (columns)."""
        if len(self.alpha) == 2:
            return line_rows(self.alpha, self.size, tables[:, 0])
        logs = np.zeros((len(tables), len(self.all)))
        for cell, value in enumerate(self.alpha.tolist()):
            logs += self._logs[value][tables[:, cell]][:, self.all[:, cell]]
        return np.asarray(np.sqrt(-np.expm1(logs)))

    def indices(self, tables: Counts) -> Counts:
        """Return where tables stand in the list of all."""
        return np.searchsorted(self._keys, self._key(tables))

    @cached_property
    def _keys(self) -> Counts:
        return self._key(self.all)

    def _key(self, tables: Counts) -> Counts:
        """Return a number for each table that grows in the order of the list."""
        return np.asarray(tables[:, :-1] @ (self.size + 1) ** np.arange(len(self.alpha) - 2, -1, -1))

    def canonical(self, tables: Counts) -> Counts:
        """Return the tables with counts sorted among cells of equal prior, which changes no distance."""
        found = tables.copy()
        for value in set(self.alpha.tolist()):
            cells = np.flatnonzero(self.alpha == value)
            found[:, cells] = np.sort(tables[:, cells], axis=1)
        return found

    @cached_property
    def representatives(self) -> tuple[Counts, Counts]:
        """Return one table of each class of `canonical`, and for every table the index of its class."""
        indices, inverse = np.unique(self.indices(self.canonical(self.all)), return_inverse=True)
        return self.all[indices], inverse

    def log_normalisers(self, tables: Counts, scales: Floats) -> Floats:
        """Return log sum_r e^(-c H(x, r)) for some tables x with their scales c."""
        step, found = max(1, _AT_ONCE // len(self.all)), np.empty(len(tables))
        for start in range(0, len(tables), step):
            part = slice(start, start + step)
            found[part] = log_normaliser(-scales[part, None] * self.distances(tables[part]))[:, 0]
        return found
