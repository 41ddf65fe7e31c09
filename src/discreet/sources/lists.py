"""The plainest source: a mapping from column names to lists of values."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.columns import Column
from discreet.errors import SourceError


class ListSource:
    """Records held as lists, one for each column.

    >>> source = ListSource({"smoker": ["no", "yes", None, "no"]})
    >>> source
    ListSource(<1 column>)
    """

    def __init__(self, values: Mapping[str, Sequence[Any]]) -> None:
        self._values = values

    def __repr__(self) -> str:
        return f"ListSource(<{len(self._values)} column{'s' * (len(self._values) != 1)}>)"

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[NDArray[np.int64]]:
        """Return one table of counts for each family of columns, its axes in the order of the columns."""
        names = {column.name for family in families for column in family}
        require_columns(names, self._values)
        length_of([self._values[name] for name in names])
        return [self._count(family) for family in families]

    def _count(self, family: Sequence[Column]) -> NDArray[np.int64]:
        shape = tuple(len(column.levels) for column in family)
        codes = [[column.code(value) for value in self._values[column.name]] for column in family]
        table = np.zeros(shape, dtype=np.int64)
        np.add.at(table, tuple(np.array(code, dtype=np.int64) for code in codes), 1)
        return table


def length_of(columns: Sequence[Any]) -> int:
    """Return the number of records; refuse columns that are no lists or differ in length, without quoting them."""
    if any(isinstance(column, str | bytes) or not hasattr(column, "__len__") for column in columns):
        raise SourceError("Each column must be a list of values, one for each record; nothing was counted.")
    if len({len(column) for column in columns}) > 1:
        raise SourceError("The columns must have one value for each record: their lengths differ.")
    return len(columns[0]) if columns else 0


def require_columns(wanted: set[str], present: Mapping[str, Any]) -> None:
    """Refuse if a declared column is missing.

    The names that are there are not shown: in a table read without its header they are a record.
    """
    missing = sorted(wanted - set(present))
    if missing:
        raise SourceError(
            f"The data have no column {', '.join(map(repr, missing))}. Nothing was counted. Check the declared names "
            "against the table's header; the names that are there are not shown, they might be a record."
        )
