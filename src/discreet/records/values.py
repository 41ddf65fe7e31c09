"""What a single value means: one text, one number, one day, whatever type a program gave it.

A single record can change the type of a whole column in some programs (a gap turns integers into floats). What a value
means must not depend on that, and no value may make a run fail: whatever goes wrong inside an odd object, it means
nothing.
"""

import math
import re
from contextlib import suppress
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Real

import numpy as np

LARGEST_WHOLE = 2**53 - 1
"""Whole numbers up to here mean the same as integers and as floats; 2^53 is also what 2^53 + 1 becomes."""

NUMBER = r"^[-+]?[0-9]{1,16}(?:\.[0-9]{0,30})?(?:[eE][-+]?[0-9]{1,2}|[eE]-[0-9]{3})?$"
"""Texts that are read as numbers. Every engine reads them alike, and none fails on them.

A number that a program wrote as text is the number that it was: floats go down to 5e-324. Larger exponents would be of
numbers beyond 2^53.
"""

DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)?$"
"""Texts whose first ten letters are read as a day, if there is such a day."""

FIRST_DAY, LAST_DAY = date.min.toordinal() - 719163, date.max.toordinal() - 719163
"""The days 0001-01-01 and 9999-12-31, counted from 1970-01-01."""

_NUMBER, _DAY = re.compile(NUMBER), re.compile(DAY)


def text_of(value: object) -> str | None:
    """Return a canonical string for a value: 1, 1.0 and '1' are the same, a day is 2026-01-31, a gap is None."""
    text = None
    with suppress(Exception):  # what an odd object raises may quote it
        text = _text(value)
    return text


def _text(value: object) -> str | None:
    if isinstance(value, str):
        return str.__str__(value)
    value = _real(value)
    if isinstance(value, bool | np.bool_) or type(value).__name__ == "bool_":
        return "true" if value else "false"
    if isinstance(value, Real | Decimal):
        return float_text(float(value))
    day = _day(value) if _is_midnight(value) else None
    return None if day is None else date.fromordinal(day + 719163).isoformat()


def float_text(number: float) -> str | None:
    """Return the canonical string of a float; None if it is too large to be told from its neighbours."""
    if not abs(number) <= LARGEST_WHOLE:  # also when it is NaN
        return None
    return str(int(number)) if number.is_integer() else repr(number)


def _real(value: object) -> object:
    """Return 1 for 1 + 0i: one complex number in a column makes all others complex."""
    return value.real if isinstance(value, complex | np.complexfloating) and value.imag == 0 else value


def number_of(value: object) -> float | None:
    """Return the number that a value means, or None. Truth values and days are no numbers."""
    number = math.nan
    with suppress(Exception):
        if isinstance(value, str):
            text = str.__str__(value)
            number = float(text) if _NUMBER.fullmatch(text) else math.nan
        elif not isinstance(value, bool) and isinstance(real := _real(value), Real | Decimal):
            number = float(real)
    return number if abs(number) <= LARGEST_WHOLE else None


def day_of(value: object) -> int | None:
    """Return the day of a date, a moment (with a zone: its day in UTC) or a text, counted from 1970-01-01, or None."""
    day = None
    with suppress(Exception):
        if isinstance(value, str):
            text = str.__str__(value)
            day = date.fromisoformat(text[:10]).toordinal() - 719163 if _DAY.fullmatch(text) else None
        else:
            day = _day(value)
    return day


def _day(value: object) -> int | None:
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).toordinal() - 719163
    if isinstance(value, date):
        return value.toordinal() - 719163
    if isinstance(value, np.datetime64):
        day = int(value.astype("datetime64[D]").astype(np.int64))
        return day if FIRST_DAY <= day <= LAST_DAY else None
    return None


def _is_midnight(value: object) -> bool:
    """Tell whether a value is a day and no moment within it; a moment with a zone has no day of its own."""
    if isinstance(value, datetime):
        fraction = (value.hour, value.minute, value.second, value.microsecond, getattr(value, "nanosecond", 0))
        return value.tzinfo is None and not any(fraction)
    if isinstance(value, np.datetime64):
        return bool(value == value.astype("datetime64[D]"))
    return isinstance(value, date)
