"""The plainest source: a mapping from column names to lists of values, each looked at by itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import SourceError
from discreet.records.batches import Batch, BatchSource
from discreet.records.columns import Column
from discreet.records.moments import Floats, numbers_of
from discreet.records.tables import Codes


class ListSource(BatchSource):
    """Records held as lists, one for each column.

    >>> source = ListSource({"smoker": ["no", "yes", None, "no"]})
    >>> source
    ListSource(<1 column>)
    """

    def __init__(self, values: Mapping[str, Sequence[Any]]) -> None:
        self._values = values

    def __repr__(self) -> str:
        return f"ListSource(<{len(self._values)} column{'s' * (len(self._values) != 1)}>)"

    def names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._values)

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Give all records at once."""
        columns = {name: self._values[name] for name in names}
        yield _Lists(columns, length_of(list(columns.values())))


class _Lists(Batch):
    def __init__(self, columns: Mapping[str, Sequence[Any]], size: int) -> None:
        self._columns, self._size = columns, size

    def __len__(self) -> int:
        return self._size

    def codes(self, column: Column) -> Codes:
        return codes_of_objects(self._columns[column.name], column)

    def numbers(self, name: str, dates: bool) -> Floats:
        return numbers_of(self._columns[name], dates)

    def values(self, name: str, places: NDArray[np.intp]) -> Sequence[Any]:
        column = self._columns[name]
        return [column[place] for place in places.tolist()]


class _Homes(dict[Any, int]):
    """The codes of texts; every other text is at home."""

    def __init__(self, column: Column) -> None:
        super().__init__(column.codes)
        self._home = column.home

    def __missing__(self, _: Any) -> int:
        return self._home


def codes_of_objects(values: Sequence[Any], column: Column) -> Codes:
    """Return the code of every object. Plain texts are looked up; anything else is asked by itself what it means."""
    kind = np.min_scalar_type(len(column.levels))
    if column.edges:
        return np.fromiter(map(column.code, values), dtype=kind, count=len(values))
    homes = _Homes(column)
    look: Callable[[Any], int] = homes.__getitem__
    code = column.code
    if set(map(type, values)) == {str}:  # the usual case, and no other result: `code` of a text is this look-up
        return np.fromiter(map(look, values), dtype=kind, count=len(values))
    coded = (look(value) if type(value) is str else code(value) for value in values)
    return np.fromiter(coded, dtype=kind, count=len(values))


def length_of(columns: Sequence[Any]) -> int:
    """Return the number of records; refuse columns that are no lists or differ in length, without quoting them."""
    if any(isinstance(column, str | bytes) or not hasattr(column, "__len__") for column in columns):
        raise SourceError("Each column must be a list of values, one for each record; nothing was counted.")
    if len({len(column) for column in columns}) > 1:
        raise SourceError("The columns must have one value for each record: their lengths differ.")
    return len(columns[0]) if columns else 0
