"""The plainest source: a mapping from column names to lists of values, each considered by itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from operator import methodcaller
from typing import cast

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Floats
from discreet._core.errors import SourceError
from discreet.records._batch_source import BatchSource
from discreet.records._columns import Column
from discreet.records._moments import numbers_of
from discreet.records._source import Batch
from discreet.records._statistics import Codes


class ListSource(BatchSource):
    """Records held as lists, one for each column.

    >>> source = ListSource({"smoker": ["no", "yes", None, "no"]})
    >>> source
    ListSource(<1 column>)
    """

    def __init__(self, values: Mapping[str, Sequence[object]]) -> None:
        self._values = values

    def __repr__(self) -> str:
        return f"ListSource(<{len(self._values)} column{'s' * (len(self._values) != 1)}>)"

    def names(self) -> list[str]:
        return list(self._values)

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        columns = {name: _listed(self._values[name]) for name in names}
        yield _Lists(columns, length_of(list(columns.values())))


class _Lists(Batch):
    def __init__(self, columns: Mapping[str, Sequence[object]], size: int) -> None:
        self._columns, self._size = columns, size

    def __len__(self) -> int:
        return self._size

    def codes(self, column: Column) -> Codes:
        return codes_of_objects(self._columns[column.name], column)

    def numbers(self, name: str, dates: bool) -> Floats:
        return numbers_of(self._columns[name], dates)

    def values(self, name: str, indices: NDArray[np.intp]) -> Sequence[object]:
        column = self._columns[name]
        return [column[index] for index in indices.tolist()]


class _Homes(dict[object, int]):
    """The codes of texts; every other text gets the `outside` code."""

    def __init__(self, column: Column) -> None:
        super().__init__(column.codes.items())
        self._home = column.home

    def __missing__(self, _: object) -> int:
        return self._home


def codes_of_objects(values: Sequence[object], column: Column) -> Codes:
    """Return the code of every object. Plain texts are looked up; anything else is interpreted one by one."""
    dtype = np.min_scalar_type(len(column.levels))
    if column.edges:
        return np.fromiter(map(column.code, values), dtype=dtype, count=len(values))
    homes = _Homes(column)
    look: Callable[[object], int] = homes.__getitem__
    code = column.code
    if set(map(type, values)) == {str}:  # the usual case, with the same result: `code` of a text is this look-up
        return np.fromiter(map(look, values), dtype=dtype, count=len(values))
    coded = (look(value) if type(value) is str else code(value) for value in values)
    return np.fromiter(coded, dtype=dtype, count=len(values))


def _listed(column: object) -> Sequence[object]:
    """Return a column as Python objects; refuse an array whose type one record may have forced on all others."""
    if isinstance(column, np.ndarray) and not is_stable(column.dtype):
        raise SourceError(
            f"Arrays of type {column.dtype} are not accepted, because one record of another type would change what "
            "all the others mean. Nothing was counted. Pass a list, a frame, or an array of integers, 64-bit "
            "floats, strings or objects."
        )
    is_array = hasattr(column, "tolist") and (hasattr(column, "iloc") or isinstance(column, np.ndarray))
    listed = methodcaller("tolist")(column) if is_array else column
    return cast(Sequence[object], listed)  # anything else is refused by its length, or means nothing


def is_stable(dtype: np.dtype[np.generic]) -> bool:
    """Return whether values of an array of this type mean the same beside a text, a missing value or a number.

    Truth values, bytes, short floats, complex numbers, moments and durations do not: NumPy gives all values of an array
    the type of the oddest among them.
    """
    return dtype.kind in "OiuU" or dtype == np.float64


def length_of(columns: Sequence[Sized]) -> int:
    """Return the number of records; refuse columns that are not lists or differ in length, without quoting them."""
    if any(isinstance(c, str | bytes) or not hasattr(c, "__len__") or hasattr(c, "to_pylist") for c in columns):
        raise SourceError("Each column must be a list with one value for each record. Nothing was counted.")
    if len({len(column) for column in columns}) > 1:
        raise SourceError(
            "The columns must all have one value for each record, but their lengths differ. Nothing was counted."
        )
    return len(columns[0]) if columns else 0
