"""Neighbouring data sets, listed: every pair of statistics that one replaced record can turn into each other.

All statistics here are sums over records. What one record can add to them is a list of rows, its contributions; take
any sum of n - 1 of these for the other records, add one row or another, and a pair of neighbours is found.
"""

from dataclasses import dataclass
from math import comb

import numpy as np

from discreet._core.arrays import Counts


@dataclass(frozen=True, eq=False)
class DataSets:
    """Statistics of data sets (`tables`, one row each) and pairs of neighbours among them, each pair once.

    `complete` says whether these are all pairs; otherwise the other records were chosen, see `neighbouring`.
    """

    tables: Counts
    pairs: Counts
    complete: bool


def number_of_tables(size: int, cells: int, most: int) -> int:
    """Return how many tables of counts there are, C(size + cells - 1, cells - 1), or a number above `most`."""
    few = min(size, cells - 1)
    if few > most.bit_length():  # C(n, k) >= 2^k for k <= n/2
        return most + 1
    return comb(size + cells - 1, few)


def number_of_pairs(contributions: int, size: int, most: int) -> int:
    """Return a bound on the pairs of neighbours (other records times pairs of rows), or a number above `most`."""
    return number_of_tables(size - 1, contributions, most) * max(1, contributions * (contributions - 1) // 2)


def neighbouring(contributions: Counts, size: int, most: int) -> DataSets:
    """Return all pairs of neighbours among `size` records, or as many other records as `most` pairs allow.

    If there are too many, the other n - 1 records are all alike: the first row, the last, and rows in between.
    """
    rows = len(contributions)
    complete = number_of_pairs(rows, size, most) <= most
    others = _sums(contributions, size - 1) if complete else _alike(contributions, size - 1, most)
    tables = np.unique((others[:, None] + contributions).reshape(-1, contributions.shape[1]), axis=0)
    index = {row.tobytes(): number for number, row in enumerate(tables)}
    first, second = np.triu_indices(rows, 1)
    numbers = np.array([[index[row.tobytes()] for row in other + contributions] for other in others])
    pairs = np.sort(np.stack([numbers[:, first], numbers[:, second]], axis=-1).reshape(-1, 2), axis=1)
    return DataSets(tables, np.unique(pairs, axis=0), complete)


def _sums(contributions: Counts, records: int) -> Counts:
    """Return all different sums of this many rows."""
    found = np.zeros((1, contributions.shape[1]), dtype=np.int64)
    for _ in range(records):
        found = np.unique((found[:, None] + contributions).reshape(-1, contributions.shape[1]), axis=0)
    return found


def _alike(contributions: Counts, records: int, most: int) -> Counts:
    """Return sums of equal rows, for as many rows as leave no more than `most` pairs, but at least one."""
    rows = len(contributions)
    number = min(rows, max(1, 2 * most // max(1, rows * (rows - 1))))
    chosen = np.unique(np.linspace(0, rows - 1, number).astype(np.int64))
    return np.asarray(contributions[chosen] * records)
