"""Counting: codes become tables of counts, and these secret statistics, all that a mechanism ever sees of the records.

Families of columns that are small together are counted together: one table over all their columns, of which each
family's table is a margin. Which families go together depends on their declared sizes alone. Codes are placed by NumPy;
there is no loop over records or groups.

Statistics show no value when printed and cannot be pickled, copied, compared, iterated or written as JSON by accident.
Only `publish` opens them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, NoReturn, final

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts
from discreet._core.errors import SecretError
from discreet.records._columns import Column

if TYPE_CHECKING:
    from discreet.records._derived import Derivation
    from discreet.records._where import Where

Codes = NDArray[np.integer]

MOST_TOGETHER = 2**13
"""The most cells of a table counted for several families together: it should stay in the fastest memory."""


@dataclass(frozen=True)
class Cluster:
    """Columns that are counted together, and the indices of the families whose tables are margins of that table."""

    columns: tuple[Column, ...]
    members: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of levels of each column."""
        return tuple(len(column.levels) for column in self.columns)


def clusters(families: Sequence[Sequence[Column]], most: int = MOST_TOGETHER) -> list[Cluster]:
    """Group families while their columns give at most this many cells; a large family stays alone.

    The largest families choose first, and each joins the table that it enlarges least.
    """
    order = sorted(range(len(families)), key=lambda index: -_cells(families[index]))
    found: list[tuple[dict[Column, None], list[int]]] = []
    for index in order:
        family = dict.fromkeys(families[index])
        costs = [(_cells(columns | family) / _cells(columns), number) for number, (columns, _) in enumerate(found)]
        fitting = [cost for cost in costs if cost[0] == 1 or cost[0] * _cells(found[cost[1]][0]) <= most]
        if fitting:
            columns, members = found[min(fitting)[1]]
            columns |= family
            members.append(index)
        else:
            found.append((family, [index]))
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
        for index in cluster.members:
            family = families[index]
            summed = table.sum(axis=tuple(i for i, column in enumerate(cluster.columns) if column not in family))
            left = [column for column in cluster.columns if column in family]
            found[index] = np.ascontiguousarray(summed.transpose([left.index(column) for column in family]))
    return [found[index] for index in range(len(families))]


def count_codes(codes: Mapping[Column, Codes], cluster: Cluster) -> Counts:
    """Count records by the codes of a cluster's columns."""
    return np.bincount(cells_of(codes, cluster), minlength=prod(cluster.shape))


def cells_of(codes: Mapping[Column, Codes], cluster: Cluster) -> Codes:
    """Return the cell of every record, by the codes of a cluster's columns."""
    first, *others = cluster.columns
    cells = codes[first]
    if others:
        cells = cells.astype(_cell_kind(prod(cluster.shape)))  # the smaller, the faster
    for column in others:
        cells *= len(column.levels)
        cells += codes[column].astype(cells.dtype, copy=False)
    return cells


def _cell_kind(cells: int) -> np.dtype[np.integer]:
    """Return a type that holds every cell's index and that NumPy can count by."""
    return np.dtype(np.min_scalar_type(cells) if cells < 2**32 else np.int64)


def code_dtype(column: Column) -> np.dtype[np.integer]:
    """Return the smallest type that holds all codes of a column."""
    return np.dtype(np.min_scalar_type(len(column.levels)))


@final
class Statistics:
    """The secret sufficient statistics of a model: integers, and the number of records that they were counted from.

    >>> import numpy as np
    >>> Statistics("a model", np.array([600, 400, 200]), records=1200)
    Statistics(<3 secret values>)
    """

    __slots__ = ("_records", "_values", "derived", "model", "where")

    def __init__(self, model: object, values: NDArray[np.int64], records: int) -> None:
        self.model = model
        self.where: Where | None = None  # public: which of the records were counted, if not all
        self.derived: Derivation | None = None  # public: how columns of theirs are derived, if any are
        self._values = np.asarray(values, dtype=np.int64)
        self._records = int(records)

    def describes(self, model: object, size: int) -> bool:
        """Return whether these are statistics of this model from `size` records. Both are public facts."""
        return bool(self.model == model) and self._records == size

    def open_for_publishing(self) -> NDArray[np.int64]:
        """Return the secret values. Only `publish` may call this, which a test checks for the whole library."""
        return self._values.copy()

    def __repr__(self) -> str:
        return f"Statistics(<{self._values.size} secret values>)"

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise SecretError(
            "Statistics are secret: they cannot be compared, copied, stored or converted. Publish them under a "
            "guarantee with discreet.publish(mechanism, statistics, ledger=..., label=...)."
        )

    __reduce_ex__ = __reduce__ = __getstate__ = __copy__ = __deepcopy__ = _refuse
    __iter__ = __len__ = __getitem__ = __bool__ = __int__ = __float__ = __index__ = _refuse
    __array__ = __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __add__ = __radd__ = __sub__ = __rsub__ = _refuse
    __hash__ = None  # type: ignore[assignment]
