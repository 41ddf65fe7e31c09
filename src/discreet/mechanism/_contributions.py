"""What one record can add to the statistics of a model: the rows from which all data sets are formed.

Statistics are sums over records, so every row gives every data set. Where there are too many kinds
of records, some are chosen that differ in one variable, in half of them and in all, and it is said that they are some.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from discreet._core.arrays import Counts, Floats


def one_for_each(cells: int, most: int) -> tuple[Counts, bool]:
    """Return one unit for each cell: of many cells the first, the last and some between."""
    chosen = np.unique(np.linspace(0, cells - 1, min(cells, most)).astype(np.int64))
    rows = np.zeros((len(chosen), cells), dtype=np.int64)
    rows[np.arange(len(chosen)), chosen] = 1
    return rows, len(chosen) == cells


def all_or_some(levels: Sequence[int], most: int) -> tuple[Counts, bool]:
    """Return all records as rows of numbers of levels, or some of them if there are more than `most`.

    Some: every variable at its first level, every variable at its last, and each variable alone, the first j and every
    other one moved from the first level to the last.
    """
    if prod(levels) <= most:
        return np.array(list(np.ndindex(*levels)), dtype=np.int64), True
    number, last = len(levels), np.array(levels, dtype=np.int64) - 1
    moved = [np.zeros(number), np.ones(number), np.arange(number) % 2, 1 - np.arange(number) % 2]
    moved += [np.arange(number) < j for j in np.unique(np.linspace(1, number, min(number, most // 4)).astype(int))]
    moved += [np.arange(number) == j for j in np.unique(np.linspace(0, number - 1, min(number, most // 4)).astype(int))]
    rows = np.unique(np.array(moved, dtype=np.int64)[:most] * last, axis=0)
    return rows, False


def neighbouring_tables(alpha: Floats, size: int, generator: np.random.Generator) -> list[tuple[Counts, Counts]]:
    """Return pairs of tables that differ by one record: corners, beside corners, edges, balanced, and three drawn."""
    cells, ranks = len(alpha), [int(index) for index in np.argsort(alpha, kind="stable")]
    low, high = ranks[0], ranks[-1]
    middle = ranks[1] if cells > 2 else low
    first, last = (np.where(np.arange(cells) == index, size, 0) for index in (high, low))
    beside = _moved(first, high, low)
    starts = [(first, high, low), (last, low, high)]
    starts += [(beside, high, middle)] if size > 1 else []
    starts += [(beside, low, middle)] if cells > 2 else []
    even = np.full(cells, size // cells) + (np.arange(cells) < size % cells)
    starts.append((even, int(even.argmax()), low if even.argmax() != low else high))
    for theta in generator.dirichlet(alpha, size=3):
        table = generator.multinomial(size, theta)
        giver = int(generator.choice(np.flatnonzero(table)))
        starts.append((table, giver, int(generator.choice(np.delete(np.arange(cells), giver)))))
    return [(table, _moved(table, giver, taker)) for table, giver, taker in starts]


def _moved(table: Counts, giver: int, taker: int) -> Counts:
    moved = table.astype(np.int64)
    moved[giver] -= 1
    moved[taker] += 1
    return moved
