"""The slow and certain way: compare a mechanism on every pair of neighbouring data sets.

Only the mechanism's stated likelihood is used, so an error in a proof or a formula would show here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Enumeration:
    """What was found by comparing all neighbours on a set of outputs.

    `epsilon` is the largest |ln P/Q| found, at `worst_pair`. `delta_at` gives the largest hockey-stick divergence on
    these outputs, with all the probability that lies outside them counted as if it were lost.
    """

    epsilon: float
    worst_pair: tuple[tuple[int, ...], tuple[int, ...]]
    pairs: int
    outputs: int
    log_laws: NDArray[np.float64]
    neighbours: NDArray[np.int64]

    def delta_at(self, epsilon: float) -> float:
        """Return an upper bound on delta(epsilon) over all pairs, both ways."""
        laws = np.exp(self.log_laws)
        missing = np.maximum(0.0, 1 - laws.sum(axis=1))
        first, second = self.neighbours.T
        gaps = np.maximum(0.0, laws[first] - np.exp(epsilon) * laws[second]).sum(axis=1)
        return float(min(1.0, (gaps + missing[first]).max()))


def enumerate_neighbours(
    log_likelihood: Callable[[Counts, Counts], NDArray[np.float64]], size: int, cells: int, outputs: Counts
) -> Enumeration:
    """Compare all neighbouring counts of `size` records in `cells` cells on the given outputs (rows)."""
    tables = np.array(list(compositions(size, cells)))
    log_laws = np.stack([log_likelihood(outputs, table) for table in tables])
    neighbours = np.array(list(_neighbours(tables)))
    losses = np.abs(log_laws[neighbours[:, 0]] - log_laws[neighbours[:, 1]]).max(axis=1)
    worst = int(losses.argmax())
    first, second = (tuple(int(count) for count in tables[place]) for place in neighbours[worst])
    return Enumeration(float(losses[worst]), (first, second), len(neighbours), len(outputs), log_laws, neighbours)


def number_of_tables(size: int, cells: int, most: int) -> int:
    """Return how many tables of counts there are, C(size + cells - 1, cells - 1), or a number above `most`."""
    few = min(size, cells - 1)
    if few > most.bit_length():  # C(n, k) >= 2^k for k <= n/2
        return most + 1
    return comb(size + cells - 1, few)


def compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Give every way to write a total as an ordered sum of numbers >= 0.

    >>> list(compositions(2, 2))
    [(0, 2), (1, 1), (2, 0)]
    """
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def _neighbours(tables: Counts) -> Iterator[tuple[int, int]]:
    """Give all ordered pairs of tables that differ by one record moved from one cell to another."""
    places = {tuple(table): place for place, table in enumerate(tables.tolist())}
    for table, place in places.items():
        for giver in range(len(table)):
            for taker in range(len(table)):
                if giver != taker and table[giver] > 0:
                    moved = list(table)
                    moved[giver], moved[taker] = moved[giver] - 1, moved[taker] + 1
                    yield place, places[tuple(moved)]
