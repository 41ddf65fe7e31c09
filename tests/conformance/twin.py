"""The slow twin: what one value means, in the most obvious way, written without looking at the library.

Nothing here knows of engines, types of columns or other records. A value and a declaration go in, a small whole number
comes out.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import discreet as dc

FARTHEST = 2**53 - 1
DAY_ZERO = date(1970, 1, 1)


def text(value: Any) -> str | None:
    """Return the text that a value is compared by."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return {True: "true", False: "false"}[value]
    if isinstance(value, int | float | Decimal):
        known = number(value)
        if known is None:
            return None
        return str(int(known)) if known == int(known) else repr(known)
    if isinstance(value, datetime):
        at_midnight = value.tzinfo is None and value.time() == datetime.min.time()
        return value.date().isoformat() if at_midnight else None
    return value.isoformat() if isinstance(value, date) else None


def number(value: Any) -> float | None:
    """Return the number that a value stands for in bands and sums."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return None
    shape = r"[-+]?[0-9]{1,16}(\.[0-9]{0,30})?([eE][-+]?[0-9]{1,2}|[eE]-[0-9]{3})?"
    if isinstance(value, str) and not re.fullmatch(shape, value):
        return None
    try:
        known = float(value)
    except OverflowError:
        return None
    return known if math.isfinite(known) and abs(known) <= FARTHEST else None


def day(value: Any) -> int | None:
    """Return the day that a value stands for, counted from 1970-01-01."""
    if isinstance(value, datetime):
        return (value.astimezone(UTC).date() if value.tzinfo else value.date()).toordinal() - DAY_ZERO.toordinal()
    if isinstance(value, date):
        return value.toordinal() - DAY_ZERO.toordinal()
    pattern = r"([0-9]{4}-[0-9]{2}-[0-9]{2})([ T]([0-9]{2}):([0-9]{2})(:([0-9]{2})(\.[0-9]{1,9})?)?)?(.*)"
    found = re.fullmatch(pattern, value, re.DOTALL) if isinstance(value, str) else None
    try:
        if found is None or (found[8] and not found[2]):
            return None
        if not found[8]:
            return date.fromisoformat(found[1]).toordinal() - DAY_ZERO.toordinal()
        written = datetime.fromisoformat(f"{found[1]}T{found[3]}:{found[4]}") - _ahead_of_utc(found[8])
        return written.toordinal() - DAY_ZERO.toordinal() if int(found[6] or 0) <= 60 else None
    except (ValueError, OverflowError):
        return None


def _ahead_of_utc(zone: str) -> timedelta:
    """Return how far a zone is ahead of UTC; the standard's basic and extended forms, and hours alone."""
    if zone == "Z":
        return timedelta(0)
    found = re.fullmatch("([-+])([0-9]{2})(:?([0-9]{2}))?", zone)
    if found is None or int(found[2]) > 23 or int(found[4] or 0) > 59:
        raise ValueError("no zone")
    return int(f"{found[1]}1") * timedelta(hours=int(found[2]), minutes=int(found[4] or 0))


def level_place(value: Any, levels: Sequence[Any]) -> int:
    """Return the place of the level that a value means; one place further if it means none."""
    own = text(value)
    for place, level in enumerate(levels):
        if isinstance(level, bool):
            texts = {str(level), str(level).lower(), str(level).upper()}
        else:
            texts = {str(level)} | ({f"{level}.0"} if re.fullmatch("-?[0-9]+", str(level)) else set())
        if own in texts:
            return place
    return len(levels)


def band_place(position: float | None, edges: Sequence[float]) -> int:
    """Return the band in which a position lies, the last one with its upper edge; one further if it lies in none."""
    bands = len(edges) - 1
    for place in range(bands):
        if position is not None and edges[place] <= position < edges[place + 1]:
            return place
    return bands - 1 if position == edges[-1] else bands


def whole(position: float | None, low: float, high: float, missing: float, grid: int) -> int:
    """Return the place of a number between its bounds on the grid -M, ..., M."""
    usable = missing if position is None else position
    clipped = min(max(usable, low), high)
    return max(-grid, min(grid, math.floor((clipped - low) * (2 * grid / (high - low)) + 0.5) - grid))


@dataclass(frozen=True)
class Use:
    """One way to use a column x: its declaration, and the place of every value by the slow way."""

    declared: dc.Column
    place: Callable[[Any], int]


FEW: tuple[str | int, ...] = ("a", 1, -7, "city7", False, "0.5", "2026-01-01")
MANY: tuple[str | int, ...] = (
    *(f"city{number}" for number in range(60)), "A", "á", "ß", "SS", "i", "Σ", "ﬁ", "日本", "😀", "-", ".", "1e",
    "1_000", "None", "NaN", "N/A", "a,b", 'a"b', "'", ";", "\\", "%s", "city7 ", " city7", "0.1", 2**53 - 1,
    1 - 2**53, 0, "a" * 300, "a" * 1_000, "",
)  # fmt: skip
AGES = (0, 18, 65, 120)
DAYS = ("2026-01-01", "2026-07-01", "2026-12-31")
DAY_EDGES = [date.fromisoformat(edge).toordinal() - DAY_ZERO.toordinal() for edge in DAYS]


def uses() -> dict[str, Use]:
    """Return every way to use a column: few levels, many levels, bands of numbers, bands of days."""
    edges: Any = DAYS
    return {
        "few levels": Use(dc.Column("x", FEW, outside="?"), lambda value: level_place(value, FEW)),
        "many levels": Use(dc.Column("x", MANY, outside="?"), lambda value: level_place(value, MANY)),
        "bands": Use(dc.Column.banded("x", AGES, outside="?"), lambda value: band_place(number(value), AGES)),
        "days": Use(dc.Column.banded("x", edges, outside="?"), lambda value: band_place(day(value), DAY_EDGES)),
    }


GRID = 1024
AGE_BOUNDS, AGE_MISSING = (-1.5, 120.0), 30.0
DAY_BOUNDS, DAY_MISSING = (float(DAY_EDGES[0]), float(DAY_EDGES[-1])), float(DAY_EDGES[1])


def age_whole(value: Any) -> int:
    """Return the whole number of a value among numbers between bounds."""
    return whole(number(value), *AGE_BOUNDS, AGE_MISSING, GRID)


def day_whole(value: Any) -> int:
    """Return the whole number of a value among days between bounds."""
    return whole(day(value), *DAY_BOUNDS, DAY_MISSING, GRID)
