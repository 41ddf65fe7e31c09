"""Tables of counts from codes, with several tables counted as margins of one.

Families of columns that are small together are counted together: one table over all their columns, of which each
family's table is a margin. Which families go together depends on their declared sizes alone. Codes are placed by NumPy;
there is no loop over records or groups.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Counts
from discreet.records.columns import Column

Codes = NDArray[np.integer]

MOST_TOGETHER = 2**13
"""The most cells of a table that is counted for the sake of several families: it should stay in the fastest memory."""


@dataclass(frozen=True)
class Cluster:
    """Columns that are counted together, and the places of the families whose tables are margins of that table."""

    columns: tuple[Column, ...]
    members: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of levels of each column."""
        return tuple(len(column.levels) for column in self.columns)


def clusters(families: Sequence[Sequence[Column]], most: int = MOST_TOGETHER) -> list[Cluster]:
    """Put families together as long as all their columns give at most so many cells; a large family stays alone.

    The largest families choose first, and each joins the table that grows least by it.
    """
    order = sorted(range(len(families)), key=lambda place: -_cells(families[place]))
    found: list[tuple[dict[Column, None], list[int]]] = []
    for place in order:
        family = dict.fromkeys(families[place])
        costs = [(_cells(columns | family) / _cells(columns), number) for number, (columns, _) in enumerate(found)]
        fitting = [cost for cost in costs if cost[0] == 1 or cost[0] * _cells(found[cost[1]][0]) <= most]
        if fitting:
            columns, members = found[min(fitting)[1]]
            columns |= family
            members.append(place)
        else:
            found.append((family, [place]))
    return [Cluster(tuple(columns), tuple(members)) for columns, members in found]


def _cells(columns: Iterable[Column]) -> int:
    return prod(len(column.levels) for column in columns)


def margins(
    families: Sequence[Sequence[Column]], together: Sequence[Cluster], tables: Sequence[Counts]
) -> list[Counts]:
    """Return the table of each family, its axes in the order of its columns."""
    found: dict[int, Counts] = {}
    for cluster, flat in zip(together, tables, strict=True):
        table = flat.reshape(cluster.shape)
        for place in cluster.members:
            family = families[place]
            summed = table.sum(axis=tuple(i for i, column in enumerate(cluster.columns) if column not in family))
            left = [column for column in cluster.columns if column in family]
            found[place] = np.ascontiguousarray(summed.transpose([left.index(column) for column in family]))
    return [found[place] for place in range(len(families))]


def count_codes(codes: Mapping[Column, Codes], cluster: Cluster) -> Counts:
    """Count records by the codes of a cluster's columns."""
    first, *others = cluster.columns
    cells = codes[first]
    for column in others:
        cells = cells.astype(np.intp) * len(column.levels) + codes[column]
    return np.bincount(cells, minlength=prod(cluster.shape))


def code_kind(column: Column) -> np.dtype[Any]:
    """Return the smallest type that holds all codes of a column."""
    return np.dtype(np.min_scalar_type(len(column.levels)))
