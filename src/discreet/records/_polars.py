"""Frames of polars, eager or lazy: texts become codes by a cast to a declared enumeration, which compares bytes."""

from collections.abc import Iterator, Sequence
from operator import attrgetter, methodcaller
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Floats
from discreet.records._batch_source import BatchSource
from discreet.records._columns import Column
from discreet.records._lists import codes_of_objects
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
    import polars

_TICKS = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_ROWS = 2**18


class PolarsSource(BatchSource):
    """Records in a frame of polars."""

    def __init__(self, frame: "polars.DataFrame | polars.LazyFrame") -> None:
        self._frame = frame

    def names(self) -> list[str]:
        return list(self._frame.collect_schema())

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        chosen = self._frame.select(_polars().selectors.by_name(*names))  # others may be patterns
        if hasattr(chosen, "collect_batches"):
            slices = chosen.collect_batches(chunk_size=_ROWS, maintain_order=False)
        else:
            slices = (chosen.collect() if hasattr(chosen, "collect") else chosen).iter_slices(_ROWS)
        for part in slices:
            yield _PolarsBatch(part)


class _PolarsBatch(Batch):
    def __init__(self, frame: "polars.DataFrame") -> None:
        self._frame = frame

    def __len__(self) -> int:
        return int(self._frame.height)

    def _series(self, name: str) -> "polars.Series":
        """Return a column under a name that is no pattern; polars asks for it by its name."""
        return self._frame.get_column(name).alias("x")

    def codes(self, column: Column) -> Codes:
        series = self._series(column.name)
        kind = str(series.dtype.base_type())
        if kind == "Object":
            return codes_of_objects(series.to_list(), column)
        if kind not in _TEXTS:
            return codes_of(_values(series), column)
        if column.edges:
            return banded(self.numbers(column.name, column.dates), column)
        texts = _categories(series) if kind != "String" else list(column.codes)
        indices = np.array([*map(column.code, texts), column.home], dtype=code_dtype(column))
        return np.take(indices, _places(series if kind != "String" else _enumerated(series, texts), len(texts)))

    def numbers(self, name: str, dates: bool) -> Floats:
        series = self._series(name)
        kind = str(series.dtype.base_type())
        if kind == "Object":
            return numbers_of(series.to_list(), dates)
        if kind not in _TEXTS:
            return numbers_of_values(_values(series), dates)
        texts = series.cast(_polars().String)
        return numbers_of_values(_days_of_texts(texts), True) if dates else _numbers_of_texts(texts)

    def values(self, name: str, indices: NDArray[np.intp]) -> Sequence[object]:
        return _python(self._series(name).gather(indices))


def _python(series: "polars.Series") -> list[object]:
    """Return values as Python has them; a day or moment that Python cannot hold by the name of its type."""
    if str(series.dtype.base_type()) not in ("Date", "Datetime"):
        return list(series.to_list())
    near = _values(series).known
    plain = series if getattr(series.dtype, "time_zone", None) is None else series.dt.convert_time_zone("UTC")
    held = plain.zip_with(_polars().Series(near), _polars().Series([None], dtype=plain.dtype)).to_list()
    gaps = series.is_null().to_list()
    return [f"({series.dtype})" if value is None and not gap else value for value, gap in zip(held, gaps, strict=True)]


_TEXTS = ("String", "Categorical", "Enum")


def _polars() -> ModuleType:
    import polars

    return polars


def _enumerated(series: "polars.Series", texts: list[str]) -> "polars.Series":
    """Return texts as members of a declared enumeration; any other text becomes a missing value."""
    return series.cast(_polars().Enum(texts), strict=False)


def _categories(series: "polars.Series") -> list[str]:
    """Return the text of every category, by its index."""
    pl = _polars()
    dtype: object = series.dtype
    if hasattr(dtype, "categories") and str(series.dtype.base_type()) == "Enum":
        return list(dtype.categories.to_list())
    if pl.__version__.startswith("1."):
        return list(methodcaller("get_categories")(series.cat).to_list())
    last = series.to_physical().max()
    indices = pl.Series(range(last + 1 if isinstance(last, int) else 0), dtype=series.to_physical().dtype)
    return list(indices.cat.to(series.dtype).cast(pl.String).to_list())


def _places(series: "polars.Series", gap: int) -> NDArray[np.integer]:
    """Return the index of each category; that of a missing value is one more than the last."""
    indices = series.to_physical()
    if not indices.null_count():
        return np.asarray(indices.to_numpy())
    fits = gap <= np.iinfo(str(indices.dtype).lower()).max
    return np.asarray((indices if fits else indices.cast(_polars().UInt32)).fill_null(gap).to_numpy())


def _values(series: "polars.Series") -> Values:
    """Return a series that holds no texts as an array of NumPy."""
    pl, kind = _polars(), series.dtype
    known = series.is_not_null().to_numpy() if series.null_count() else None
    if kind == pl.Boolean:
        return Values(Kind.TRUTH, series.fill_null(False).to_numpy(), known)
    if kind in (pl.Int128, getattr(pl, "UInt128", pl.Int128)):
        series = series.cast(pl.Int64, strict=False)
        return Values(Kind.WHOLE, series.fill_null(0).to_numpy(), series.is_not_null().to_numpy())
    if kind.is_integer():
        return Values(Kind.WHOLE, series.fill_null(0).to_numpy(), known)
    if kind.is_decimal():
        return Values(Kind.NUMBER, numbers_of(series.to_list(), dates=False))
    if kind.is_float():
        return Values(Kind.NUMBER, series.cast(pl.Float64).fill_null(0.0).to_numpy(), known)
    if kind == pl.Date:
        return days_within(series.cast(pl.Int32).fill_null(0).to_numpy(), known)
    if kind == pl.Datetime:
        ticks = series.cast(pl.Int64).fill_null(0).to_numpy()
        unit, zone = attrgetter("time_unit", "time_zone")(kind)
        return days_of_moments(ticks, _TICKS[unit], known, zone is not None)
    return Values(Kind.OTHER, np.zeros(len(series), dtype=np.uint8))


def _numbers_of_texts(texts: "polars.Series") -> Floats:
    pl = _polars()
    fits = texts.str.contains(NUMBER).fill_null(False) & ~texts.str.contains("[^-+.0-9eE]").fill_null(True)
    numbers = texts.zip_with(fits, pl.Series([None], dtype=pl.String)).str.strip_prefix("+").cast(pl.Float64)
    return np.asarray(numbers.fill_null(np.nan).to_numpy())


def _days_of_texts(texts: "polars.Series") -> Values:
    pl = _polars()
    plain = ~texts.str.contains("[^-+0-9 T:.Z]").fill_null(True)
    has_zone = texts.str.contains(MOMENT).fill_null(False) & plain
    fits = (texts.str.contains(DAY).fill_null(False) & plain) | has_zone
    dates, moments = (texts.zip_with(wanted, pl.Series([NO_MOMENT])) for wanted in (fits, has_zone))
    zone = moments.str.slice(16).str.replace(BEFORE_ZONE, "").str.replace(":", "", literal=True).str.pad_end(5, "0")

    def whole(texts: "polars.Series", start: int, end: int) -> Codes:
        return np.asarray(texts.str.slice(start, end - start).cast(pl.Int64).to_numpy())

    sign = np.where(zone.str.starts_with("-").to_numpy(), -1, 1)
    later = days_to_utc(whole(moments, 11, 13), whole(moments, 14, 16), sign, whole(zone, 1, 3), whole(zone, 3, 5))
    return days_of_dates(whole(dates, 0, 4), whole(dates, 5, 7), whole(dates, 8, 10), later)
