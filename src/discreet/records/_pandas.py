"""Frames of pandas. Columns of Python objects are processed value by value, categories once for each category."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Floats
from discreet.records._batch_source import BatchSource
from discreet.records._columns import Column
from discreet.records._lists import codes_of_objects
from discreet.records._moments import numbers_of
from discreet.records._source import Batch
from discreet.records._statistics import Codes
from discreet.records._typed_arrays import Kind, Values, codes_of, days_of_moments, numbers_of_values

if TYPE_CHECKING:
    import pandas

_TICKS = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_ROWS = 2**16  # records whose codes stay in the fastest memory


class PandasSource(BatchSource):
    """Records in a frame of pandas."""

    def __init__(self, frame: "pandas.DataFrame") -> None:
        self._frame = frame

    def names(self) -> list[str]:
        return [name for name in self._frame.columns if isinstance(name, str)]

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        columns = {name: self._frame[name] for name in names}
        entries = _Entries()
        for start in range(0, len(self._frame), _ROWS):
            yield _PandasBatch({name: series.iloc[start : start + _ROWS] for name, series in columns.items()}, entries)


class _Entries:
    """What the categories of a frame mean, computed once for all slices; a missing value has the last index."""

    def __init__(self) -> None:
        self._codes: dict[Column, Codes] = {}
        self._numbers: dict[tuple[str, bool], Floats] = {}

    def codes(self, series: "pandas.Series", column: Column) -> Codes:
        if column not in self._codes:
            self._codes[column] = np.append(codes_of_objects(_objects(series.cat.categories), column), column.home)
        return np.asarray(np.take(self._codes[column], series.array.codes))  # a missing value has the index -1

    def numbers(self, series: "pandas.Series", name: str, dates: bool) -> Floats:
        if (name, dates) not in self._numbers:
            self._numbers[name, dates] = np.append(numbers_of(_objects(series.cat.categories), dates), np.nan)
        return np.asarray(np.take(self._numbers[name, dates], series.array.codes))


class _PandasBatch(Batch):
    def __init__(self, columns: dict[str, "pandas.Series"], entries: _Entries) -> None:
        self._columns, self._entries = columns, entries

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def codes(self, column: Column) -> Codes:
        series = self._columns[column.name]
        if _has_categories(series):
            return self._entries.codes(series, column)
        if _is_arrow(series):
            from discreet.records._arrow import arrow_codes

            return arrow_codes(series.array.__arrow_array__(), column)
        if _holds_objects(series):
            return codes_of_objects(_objects(series), column)
        return codes_of(_values(series), column)

    def numbers(self, name: str, dates: bool) -> Floats:
        series = self._columns[name]
        if _has_categories(series):
            return self._entries.numbers(series, name, dates)
        if _is_arrow(series):
            from discreet.records._arrow import arrow_numbers

            return arrow_numbers(series.array.__arrow_array__(), dates)
        if _holds_objects(series):
            return numbers_of(_objects(series), dates)
        return numbers_of_values(_values(series), dates)

    def values(self, name: str, indices: NDArray[np.intp]) -> Sequence[object]:
        return _objects(self._columns[name].iloc[indices])


def _objects(series: "pandas.Series") -> list[object]:
    return list(series.astype(object).tolist())


def _has_categories(series: "pandas.Series") -> bool:
    return hasattr(series.dtype, "categories")


def _is_arrow(series: "pandas.Series") -> bool:
    return hasattr(series.dtype, "pyarrow_dtype") or getattr(series.dtype, "storage", "").startswith("pyarrow")


def _holds_objects(series: "pandas.Series") -> bool:
    return series.dtype == object or getattr(series.dtype, "storage", "") == "python"


def _values(series: "pandas.Series") -> Values:
    """Return a column of numbers, truth values or moments as an array of NumPy; its type was fixed by the column."""
    if hasattr(series.dtype, "subtype") and hasattr(series, "sparse"):
        series = series.sparse.to_dense()
    kind = getattr(series.dtype, "numpy_dtype", series.dtype)
    letter = getattr(kind, "kind", "O")
    known = series.notna().to_numpy()
    if letter == "b":
        return Values(Kind.TRUTH, series.to_numpy(dtype=bool, na_value=False), known)
    if letter in "iu":
        return Values(Kind.WHOLE, series.to_numpy(dtype=kind, na_value=0), known)
    if letter == "f":
        return Values(Kind.NUMBER, series.to_numpy(dtype=np.float64, na_value=np.nan), known)
    if letter == "c":
        values = series.to_numpy()
        return Values(Kind.NUMBER, values.real.astype(np.float64), known & (values.imag == 0))
    if letter == "M":
        ticks = series.array.asi8
        return days_of_moments(ticks, _TICKS[series.dt.unit], known, series.dt.tz is not None)
    return Values(Kind.OTHER, np.zeros(len(series), dtype=np.uint8))
