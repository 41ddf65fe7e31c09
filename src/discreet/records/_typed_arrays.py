"""Codes and numbers of arrays of one type: whole numbers, floats, truth values, days and moments.

An array of one type is safe where the type was declared before the records came (a column of a table). Each value is
compared with declared values of the same type, and nothing depends on the other values.
"""

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Floats
from discreet.records._columns import Column
from discreet.records._statistics import Codes, code_dtype
from discreet.records._values import FIRST_DAY, LARGEST_WHOLE, LAST_DAY, MINUTES, day_of, text_of

Array = NDArray[np.generic]
"""An array of any one type."""

Known = NDArray[np.bool_] | None
"""Which values are known; None means all."""

_WIDEST = 2**20  # longest range of whole numbers that is looked up in a list


class Kind(Enum):
    """What the values of an array are."""

    TRUTH = "truth values"
    WHOLE = "whole numbers"
    NUMBER = "numbers"
    DAY = "days from 1970-01-01"
    OTHER = "anything else, of which nothing is declared"


@dataclass(frozen=True)
class Values:
    """An array of one type. `known` is false at missing values; `midnight` is true where a moment is a mere day."""

    kind: Kind
    array: Array
    known: Known = None
    midnight: Known = None


def codes_of(values: Values, column: Column) -> Codes:
    """Return the code of every value."""
    if column.edges:
        return banded(numbers_of_values(values, column.dates), column)
    if values.kind is Kind.TRUTH:
        truths = np.array([column.codes.get(text, column.home) for text in ("false", "true")], dtype=code_dtype(column))
        codes = truths[values.array.astype(np.uint8)]
    elif values.kind is Kind.OTHER:
        codes = np.full(len(values.array), column.home, dtype=code_dtype(column))
    else:
        codes = _matched(values.array, literals(column, values.kind), column)
    for known in (values.known, values.midnight):
        codes = codes if known is None else np.where(known, codes, codes.dtype.type(column.home))
    return codes


def literals(column: Column, kind: Kind) -> dict[float, int]:
    """Return the values of a kind that mean a level of a column, and the indices of these levels."""
    meant = {text: _meant(text, kind) for text in column.codes}
    return {value: column.codes[text] for text, value in meant.items() if value is not None}


def _meant(text: str, kind: Kind) -> int | float | None:
    """Return the value that this text uniquely denotes."""
    if kind is Kind.DAY:
        return day_of(text) if len(text) == 10 else None
    try:
        number = float(text)
    except ValueError:
        return None
    if text_of(number) != text:
        return None
    return number if kind is Kind.NUMBER else int(number) if number.is_integer() else None


def _matched(array: Array, meant: dict[float, int], column: Column) -> Codes:
    if not meant:
        return np.full(len(array), column.home, dtype=code_dtype(column))
    low, high = int(min(meant)), int(max(meant))
    if array.dtype.kind in "iu" and high - low < _WIDEST:
        listed = np.full(high - low + 3, column.home, dtype=code_dtype(column))
        listed[np.array(list(meant)) - low + 1] = list(meant.values())
        near = np.clip(array, *_within(array.dtype, low - 1, high + 1)).astype(np.int64)
        return np.asarray(listed[np.clip(near, low - 1, high + 1) - (low - 1)])
    ordered = np.array(sorted(meant))
    codes = np.array([meant[value] for value in ordered.tolist()], dtype=code_dtype(column))
    indices = np.minimum(np.searchsorted(ordered, array), len(ordered) - 1)
    return np.where(ordered[indices] == array, codes[indices], codes.dtype.type(column.home))


def _within(kind: np.dtype[np.generic], low: int, high: int) -> tuple[int, int]:
    """Return bounds that an array of whole numbers can be compared with."""
    ends = np.iinfo(kind.name)
    return min(max(low, int(ends.min)), int(ends.max)), max(min(high, int(ends.max)), int(ends.min))


def banded(numbers: Floats, column: Column) -> Codes:
    """Return the band of every number; NaN is outside."""
    edges = np.array(column.edges)
    indices = np.minimum(np.searchsorted(edges, numbers, side="right"), len(edges) - 1) - 1
    with np.errstate(invalid="ignore"):
        inside = (numbers >= edges[0]) & (numbers <= edges[-1]) & (np.abs(numbers) <= LARGEST_WHOLE)
    return np.where(inside, indices, column.home).astype(code_dtype(column))


def numbers_of_values(values: Values, dates: bool) -> Floats:
    """Return every number, or day, as a float; NaN for anything else."""
    wanted = (Kind.DAY,) if dates else (Kind.WHOLE, Kind.NUMBER)
    if values.kind not in wanted:
        return np.full(len(values.array), np.nan)
    with np.errstate(all="ignore"):
        numbers = values.array.astype(np.float64)
    return numbers if values.known is None else np.where(values.known, numbers, np.nan)


def days_of_moments(ticks: Codes, ticks_per_day: int, known: Known, has_zone: bool) -> Values:
    """Return the days of moments that are counted in ticks from 1970-01-01."""
    days = np.floor_divide(ticks, ticks_per_day)
    midnight = np.zeros(len(days), dtype=bool) if has_zone else np.remainder(ticks, ticks_per_day) == 0
    return days_within(days, known, midnight)


def days_within(days: NDArray[np.integer], known: Known, midnight: Known = None) -> Values:
    """Return days; those before the year 1 or after 9999 are missing values."""
    within = (days >= FIRST_DAY) & (days <= LAST_DAY)
    return Values(Kind.DAY, days, within if known is None else within & known, midnight)


def days_of_dates(years: Codes, months: Codes, days: Codes, later: Codes | int = 0) -> Values:
    """Return the days of calendar dates, or `later` days after; dates that do not exist are missing values."""
    year, month = years.astype(np.int64), np.clip(months.astype(np.int64), 1, 12)
    starts = ((year - 1970) * 12 + month - 1).astype("datetime64[M]")
    first = starts.astype("datetime64[D]").astype(np.int64)
    length = (starts + 1).astype("datetime64[D]").astype(np.int64) - first
    known = (month == months) & (days >= 1) & (days <= length) & (year >= 1)
    return days_within(first + days - 1 + later, known)


def days_to_utc(hours: Codes, minutes: Codes, sign: Codes, hours_ahead: Codes, minutes_ahead: Codes) -> Codes:
    """Return how many days later, -1 to 1, a time is in UTC, from how far its zone is ahead (1) or behind (-1)."""
    return (60 * hours + minutes - sign * (60 * hours_ahead + minutes_ahead)) // MINUTES
