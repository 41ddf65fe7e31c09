"""What a single value means: one text, one number, one day, whatever type a program gave it.

A single record can change the type of a whole column in some programs (a missing value turns integers into floats).
What a value means must not depend on that, and no value may make a run fail: whatever goes wrong inside an odd object,
it means nothing.
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
"""Texts that are read as numbers. Every backend reads them alike, and none fails on them.

A number that a program wrote as text is the number that it was: floats go down to 5e-324. Larger exponents would be of
numbers beyond 2^53.
"""

DAY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?)?$"
"""Texts whose first ten letters are read as a day, if there is such a day."""

MOMENT = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[ T](?:[01][0-9]|2[0-3]):[0-5][0-9](?::(?:[0-5][0-9]|60)(?:\.[0-9]{1,9})?)?"
    r"(?:Z|[-+](?:[01][0-9]|2[0-3])(?::?[0-5][0-9])?)$"
)
"""Texts that are read as a time with its zone: Z, or less than a day ahead of UTC or behind it. They have a day in UTC.

Every backend finds the parts at the same offsets: the day in the first ten letters, hours and minutes at 11 and 14, and
after these, without seconds (`BEFORE_ZONE`), colons, and filled with zeros, the zone: Z0000, +0530. Of a local time the
day is as it is written, so its hours are not looked at.
"""

BEFORE_ZONE = r"^[:.0-9]*"
"""Seconds of a time and their fraction: what stands after hours and minutes, before the zone."""

NO_MOMENT = "0000-00-00T00:00Z"
"""A text with the parts of a time, on a day that does not exist."""

MINUTES = 1440
"""Minutes of a day."""

FIRST_DAY, LAST_DAY = date.min.toordinal() - 719163, date.max.toordinal() - 719163
"""The days 0001-01-01 and 9999-12-31, counted from 1970-01-01."""

_NUMBER, _DAY, _MOMENT, _BEFORE_ZONE = map(re.compile, (NUMBER, DAY, MOMENT, BEFORE_ZONE))


def text_of(value: object) -> str | None:
    """Return a canonical string for a value: 1, 1.0 and '1' are the same, a day is 2026-01-31, missing is None."""
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
    """Return the canonical string of a float; None if it is too large to differ from its neighbours."""
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
        day = _day_of_text(str.__str__(value)) if isinstance(value, str) else _day(value)
    return day


def _day_of_text(text: str) -> int | None:
    """Return the day that a text says; of a time with a zone, the day in UTC: floor of (minutes - those ahead) / 1440.

    >>> day_of("2026-01-31T23:30:00-01:00"), day_of("2026-02-01"), day_of("2026-01-31 23:30 Z")
    (20485, 20485, None)
    """
    has_zone = _MOMENT.fullmatch(text) is not None
    if not has_zone and not _DAY.fullmatch(text):
        return None
    day = date.fromisoformat(text[:10]).toordinal() - 719163
    if has_zone:
        zone = _BEFORE_ZONE.sub("", text[16:]).replace(":", "").ljust(5, "0")
        ahead = (60 * int(zone[1:3]) + int(zone[3:5])) * (-1 if zone[0] == "-" else 1)
        day += (60 * int(text[11:13]) + int(text[14:16]) - ahead) // MINUTES
    return day if FIRST_DAY <= day <= LAST_DAY else None


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
    """Return whether a value is a day and no moment within it; a moment with a zone has no day of its own."""
    if isinstance(value, datetime):
        fraction = (value.hour, value.minute, value.second, value.microsecond, getattr(value, "nanosecond", 0))
        return value.tzinfo is None and not any(fraction)
    if isinstance(value, np.datetime64):
        return bool(value == value.astype("datetime64[D]"))
    return isinstance(value, date)
