"""Tables of Arrow, in memory or in files, batch by batch; entries of dictionaries are coded once each."""

from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Floats
from discreet._core.errors import SourceError
from discreet.records._batch_source import BatchSource
from discreet.records._columns import Column
from discreet.records._moments import numbers_of
from discreet.records._source import Batch
from discreet.records._statistics import Codes, code_dtype
from discreet.records._typed_arrays import (
    Kind,
    Values,
    banded,
    codes_of,
    days_of_dates,
    days_of_moments,
    days_to_utc,
    days_within,
    numbers_of_values,
)
from discreet.records._values import BEFORE_ZONE, DAY, MOMENT, NO_MOMENT, NUMBER

if TYPE_CHECKING:
    import pyarrow
    import pyarrow.dataset

Entry = TypeVar("Entry", bound=np.generic)

_TICKS = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_ROWS = 2**18


class ArrowSource(BatchSource):
    """Records in a table of pyarrow, or in a data set of Arrow files."""

    def __init__(self, table: "pyarrow.Table | pyarrow.dataset.Dataset") -> None:
        self._table = table

    def names(self) -> list[str]:
        return list(self._table.schema.names)

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Yield the batches of the table."""
        if hasattr(self._table, "scanner"):
            found = self._table.to_batches(columns=list(names))
        else:
            found = self._table.select(list(names)).to_batches(max_chunksize=_ROWS)
        for batch in found:
            yield ArrowBatch(dict(zip(names, batch.columns, strict=True)), batch.num_rows)


class ArrowBatch(Batch):
    """Some arrays of Arrow."""

    def __init__(self, columns: dict[str, "pyarrow.Array"], size: int) -> None:
        self._columns, self._size = columns, size

    def __len__(self) -> int:
        return self._size

    def codes(self, column: Column) -> Codes:
        return arrow_codes(self._columns[column.name], column)

    def numbers(self, name: str, dates: bool) -> Floats:
        return arrow_numbers(self._columns[name], dates)

    def values(self, name: str, indices: NDArray[np.intp]) -> Sequence[object]:
        array = _plain(self._columns[name])
        return [_python(array[index]) for index in indices.tolist()]


def _python(scalar: "pyarrow.Scalar") -> object:
    """Return one value as a Python object; what Python cannot hold (a day after 9999), by the name of its type."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return scalar.as_buffer().to_pybytes().decode("utf-8", "replace")
    except Exception:  # noqa: BLE001 - for the data holder's eyes only, who shall see the others
        return f"({scalar.type})"


def arrow_codes(array: "pyarrow.Array", column: Column) -> Codes:
    """Return the code of every value of an array of Arrow."""
    types = _pyarrow().types
    array = _plain(array)
    if types.is_dictionary(array.type):
        return _coded(array, arrow_codes(array.dictionary, column), column.home)
    if not _is_text(array.type):
        return codes_of(_values(array), column)
    if column.edges:
        return banded(arrow_numbers(array, column.dates), column)
    pa = _pyarrow()
    spellings = pa.array(list(column.codes), type=array.type)
    found = pa.compute.index_in(array, value_set=spellings)
    indices = np.append(np.array(list(column.codes.values())), column.home).astype(code_dtype(column))
    return np.asarray(indices[found.fill_null(len(indices) - 1).to_numpy(zero_copy_only=False)])


def arrow_numbers(array: "pyarrow.Array", dates: bool) -> Floats:
    """Return the number, or the day, of every value of an array of Arrow."""
    array = _plain(array)
    if _pyarrow().types.is_dictionary(array.type):
        return _coded(array, arrow_numbers(array.dictionary, dates), np.nan)
    if not _is_text(array.type):
        return numbers_of_values(_values(array), dates)
    return numbers_of_values(_days_of_texts(array), True) if dates else _numbers_of_texts(array)


def _coded(array: "pyarrow.Array", of_entries: NDArray[Entry], gap: float) -> NDArray[Entry]:
    """Return the code of the dictionary entry at each index."""
    entries = np.append(of_entries, np.array([gap], dtype=of_entries.dtype))
    indices = array.indices.cast(_pyarrow().int64()).fill_null(-1)
    return np.asarray(entries[indices.to_numpy(zero_copy_only=False)])


def _pyarrow() -> ModuleType:
    try:
        import pyarrow
        import pyarrow.compute
    except ImportError:
        raise SourceError("Tables of Arrow need the package pyarrow: pip install pyarrow.") from None
    found: ModuleType = pyarrow
    return found


def _plain(array: "pyarrow.Array") -> "pyarrow.Array":
    """Return an array without chunks, runs and views."""
    pa = _pyarrow()
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        array = array if isinstance(array, pa.Array) else pa.concat_arrays(array.chunks)
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_run_end_encoded(array.type):
        array = pa.compute.run_end_decode(array)
    return array.cast(pa.large_string()) if pa.types.is_string_view(array.type) else array


def _is_text(arrow_type: "pyarrow.DataType") -> bool:
    types = _pyarrow().types
    return bool(types.is_string(arrow_type) or types.is_large_string(arrow_type))


def _values(array: "pyarrow.Array") -> Values:
    """Return an array that holds no texts as an array of NumPy."""
    pa = _pyarrow()
    arrow_type, types = array.type, pa.types
    known = array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None
    if types.is_boolean(arrow_type):
        return Values(Kind.TRUTH, _filled(array, False), known)
    if types.is_integer(arrow_type):
        return Values(Kind.WHOLE, _filled(array, 0), known)
    if types.is_floating(arrow_type):
        return Values(Kind.NUMBER, _filled(array.cast(pa.float64()), 0.0), known)
    if types.is_decimal(arrow_type):
        return Values(Kind.NUMBER, numbers_of(array.to_pylist(), dates=False))
    if types.is_date32(arrow_type):
        return days_within(_filled(array.view(pa.int32()), 0), known)
    if types.is_date64(arrow_type) or types.is_timestamp(arrow_type):
        unit = "ms" if types.is_date64(arrow_type) else arrow_type.unit
        has_zone = types.is_timestamp(arrow_type) and arrow_type.tz is not None
        ticks = _filled(array.view(pa.int64()), 0)
        return days_of_moments(ticks, _TICKS[unit], known, has_zone)
    return Values(Kind.OTHER, np.zeros(len(array), dtype=np.uint8))


def _filled(array: "pyarrow.Array", gap: float) -> Codes:
    return np.asarray(array.fill_null(gap).to_numpy(zero_copy_only=False))


def _numbers_of_texts(array: "pyarrow.Array") -> Floats:
    pa = _pyarrow()
    compute = pa.compute
    fits = compute.match_substring_regex(_ascii(array), pattern=NUMBER)
    texts = compute.if_else(fits, array, pa.scalar(None, array.type))
    numbers = compute.ascii_ltrim(texts, characters="+").cast(pa.float64())
    return np.asarray(numbers.fill_null(np.nan).to_numpy(zero_copy_only=False))


def _days_of_texts(array: "pyarrow.Array") -> Values:
    pa = _pyarrow()
    compute = pa.compute
    has_zone = compute.match_substring_regex(_ascii(array), pattern=MOMENT)
    fits = compute.or_(compute.match_substring_regex(_ascii(array), pattern=DAY), has_zone)
    texts, moments = (
        compute.if_else(wanted, array, pa.scalar(NO_MOMENT, array.type)).fill_null(NO_MOMENT)
        for wanted in (fits, has_zone)
    )
    zone = compute.replace_substring_regex(
        compute.utf8_slice_codeunits(moments, 16), pattern=BEFORE_ZONE, replacement=""
    )
    zone = compute.utf8_rpad(compute.replace_substring(zone, pattern=":", replacement=""), 5, "0")

    def whole(texts: "pyarrow.Array", start: int, end: int) -> Codes:
        digits = compute.utf8_slice_codeunits(texts, start, end)
        return np.asarray(digits.cast(pa.int64()).to_numpy(zero_copy_only=False))

    sign = np.where(compute.starts_with(zone, "-").to_numpy(zero_copy_only=False), -1, 1)
    later = days_to_utc(whole(moments, 11, 13), whole(moments, 14, 16), sign, whole(zone, 1, 3), whole(zone, 3, 5))
    return days_of_dates(whole(texts, 0, 4), whole(texts, 5, 7), whole(texts, 8, 10), later)


def _ascii(array: "pyarrow.Array") -> "pyarrow.Array":
    """Return texts as bytes, so that invalid text can be handled as well."""
    pa = _pyarrow()
    return array.view(pa.large_binary() if pa.types.is_large_string(array.type) else pa.binary())
