"""SQL for DuckDB that turns a value into a whole number by looking at this value alone, and cannot fail.

Types fall into a few kinds: texts, whole numbers, other numbers, truth values, days and moments. Values of any other
type (bytes, lists, durations) count as undeclared.
"""

import re
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.records._columns import Column
from discreet.records._values import (
    BEFORE_ZONE,
    DAY,
    FIRST_DAY,
    LARGEST_WHOLE,
    LAST_DAY,
    MINUTES,
    MOMENT,
    NUMBER,
    day_of,
    float_text,
)

_WIDEST = 2**16  # longest range of whole numbers that is grouped as it is

_NARROW = ("TINYINT", "SMALLINT", "UTINYINT", "USMALLINT")  # differences of declared levels may not fit into these
_WHOLE = ("INTEGER", "BIGINT", "UINTEGER")
_HUGE = ("HUGEINT", "UHUGEINT", "UBIGINT")
_MOMENTS = ("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
ZONED = "TIMESTAMP WITH TIME ZONE"
_ZONED_NS = "TIMESTAMPTZ_NS"
UNHELD = ("WITH TIME ZONE", _ZONED_NS)
"""Words in the names of types that the backend's package for Python does not hand out as they are."""
_DAY_NS = 86_400_000_000_000
_HELD = (
    "VARCHAR",
    "BOOLEAN",
    "FLOAT",
    "DOUBLE",
    "DATE",
    "BLOB",
    "UUID",
    *_NARROW,
    *_WHOLE,
    *_HUGE,
    *_MOMENTS,
    _ZONED_NS,
)
_UNSIGNED = {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER", 8: "UBIGINT"}
GIVEN = "\x01"  # no declared name or level has control characters


@dataclass(frozen=True)
class CodeExpression:
    """An expression for a whole number in 0 .. len(levels) - 1, or null, and the index of the level of each number.

    `given` is an expression that is computed first, once for each record; GIVEN stands for it.
    """

    sql: str
    levels: NDArray[np.intp]
    home: int
    given: str = ""

    @property
    def dtype(self) -> np.dtype[np.integer]:
        """Return the smallest type that holds the numbers, and one more for null."""
        return np.dtype(np.min_scalar_type(len(self.levels)))

    @property
    def small(self) -> str:
        """Return the expression in its smallest type."""
        return f"({self.sql})::{_UNSIGNED[self.dtype.itemsize]}"

    @property
    def gap(self) -> int:
        """Return the number that stands for null: one more than the last, or directly the index of its level."""
        return self.home if self._are_places else len(self.levels)

    @cached_property
    def _are_places(self) -> bool:
        """Return whether the numbers already are indices of levels."""
        return len(self.levels) > self.home and bool((self.levels == np.arange(len(self.levels))).all())

    def placed(self, numbers: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the index of the level of each number."""
        return numbers if self._are_places else np.take(self._places, numbers)

    @cached_property
    def _places(self) -> NDArray[np.integer]:
        """Return the indices of the levels, and that of the level for outside values at the end, for null."""
        return np.append(self.levels, self.home).astype(np.min_scalar_type(max(self.home, *self.levels, 1)))


def coded(column: Column, sql_type: str) -> CodeExpression:
    """Return how a column of a type of DuckDB becomes codes."""
    if column.edges:
        return _banded(column, sql_type)
    value, sort = _plain(identifier(column.name), sql_type)
    if sort == "text":
        return _looked_up(column, value, column.codes)
    if sort == "truth":
        truths = [column.codes.get(text, column.home) for text in ("false", "true")]
        return CodeExpression(f"{value}::UTINYINT", np.array(truths), column.home)
    if sort in ("whole", "day"):
        meant = {whole: index for text, index in column.codes.items() if (whole := _whole(text, sort)) is not None}
        return _ranged(column, value, meant)
    if sort == "number":
        numbers = {n: index for text, index in column.codes.items() if (n := number_text(text)) is not None}
        return _numbered(column, value, numbers)
    return CodeExpression(value, np.zeros(0, dtype=np.intp), column.home)


def is_held(sql_type: str) -> bool:
    """Return whether the backend holds every value of a type as another library's frame hands it over.

    A moment with a zone, or a duration, is counted in microseconds from then on, and one that is too far stops the
    backend; so does one inside a list.
    """
    return sql_type in _HELD or (sql_type.startswith(("ENUM(", "DECIMAL(")) and not sql_type.endswith("]"))


def _nothing_of(value: str, sql_type: str) -> str:
    """Return an expression that is null for every value, and still reads it if the backend holds all of them.

    If a query needs no column, the backend reads the first one of the frame, which nobody has looked at.
    """
    if not is_held(sql_type):
        return "NULL::INTEGER"
    return f"TRY_CAST(CASE WHEN {value} IS NULL THEN 'gap' ELSE 'value' END AS INTEGER)"


def number(name: str, dates: bool, sql_type: str) -> str:
    """Return an expression for the number, or the day, of a value as a float; null for anything else."""
    return _number(identifier(name), dates, sql_type)


def id_bytes(name: str, sql_type: str) -> str:
    """Return an expression for the bytes of the text of an id, which distinguish ids; null for anything else."""
    value, sort = _plain(identifier(name), sql_type)
    if sql_type == "UUID":
        return f"encode({identifier(name)}::VARCHAR)"
    if sort == "text":
        return f"CASE WHEN octet_length(encode({value})) > 0 THEN encode({value}) END"
    if sort == "truth":
        return f"encode(({value})::VARCHAR)"
    if sort == "day":
        return f"encode((DATE '1970-01-01' + ({value})::INTEGER)::VARCHAR)"
    if sort == "whole":
        return f"CASE WHEN {value} BETWEEN -{LARGEST_WHOLE} AND {LARGEST_WHOLE} THEN encode(({value})::VARCHAR) END"
    if sort == "number":
        is_whole = f"abs({value}) <= {LARGEST_WHOLE} AND {value} = floor({value})"
        return f"CASE WHEN {is_whole} THEN encode(TRY_CAST({value} AS BIGINT)::VARCHAR) END"
    return "NULL::BLOB"


def steps(value: str, bounds: tuple[float, float], step: float) -> str:
    """Return an expression for the whole number of steps of a number between its bounds; null for anything else."""
    low, high = bounds
    clipped = f"greatest(least({value}, {high!r}::DOUBLE), {low!r}::DOUBLE)"
    whole = f"floor({clipped} / {step!r}::DOUBLE + 0.5::DOUBLE)::BIGINT"
    return f"CASE WHEN abs({value}) <= {LARGEST_WHOLE}::DOUBLE THEN {whole} END"


def placed(value: str, bounds: tuple[float, float], missing: float | None, unit: int) -> str:
    """Return an expression for the position of a number between its bounds, 0 to `unit`, by the steps of `moments`.

    It is a whole number held in a float. Anything but a number has the position of `missing`, or is null if that is
    None. Every step increases with the number, so a number between the bounds has a position between theirs, and one
    beyond them has that of its bound. Backends compare faster than they take a minimum, so most records are only
    compared.
    """
    low, high = bounds
    scale = float(np.float64(unit) / (high - low))
    last = float(np.floor((np.float64(high) - low) * scale + 0.5))

    def steps(number: str) -> str:
        above = f"({number} - ({low!r}::DOUBLE))" if low else number
        found = f"floor({above} * {scale!r}::DOUBLE + 0.5::DOUBLE)"
        return found if last <= unit else f"least({found}, {unit}::DOUBLE)"

    inside = f"WHEN {value} BETWEEN {low!r}::DOUBLE AND {high!r}::DOUBLE THEN {steps(value)}"
    end = f"(CASE WHEN {value} > {high!r}::DOUBLE THEN {unit}::DOUBLE ELSE 0::DOUBLE END)"
    beyond = f"WHEN abs({value}) <= {LARGEST_WHOLE}::DOUBLE THEN {end}"
    gap = "" if missing is None else f" ELSE {steps(f'{missing!r}::DOUBLE')}"
    return f"CASE {inside} {beyond}{gap} END"


def identifier(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _plain(value: str, sql_type: str) -> tuple[str, str]:
    """Return an expression and the kind of its values."""
    if sql_type == "VARCHAR":
        return value, "text"
    if sql_type.startswith("ENUM("):
        return f"{value}::VARCHAR", "text"
    if sql_type == "BOOLEAN":
        return value, "truth"
    if sql_type in _NARROW:
        return f"{value}::INTEGER", "whole"
    if sql_type in _WHOLE:
        return value, "whole"
    if sql_type in _HUGE:
        return f"TRY_CAST({value} AS BIGINT)", "whole"
    if sql_type in ("FLOAT", "DOUBLE") or sql_type.startswith("DECIMAL"):
        return _double(value, sql_type), "number"
    if sql_type == "DATE":
        return _day_number(value, "DATE"), "day"
    if sql_type in _MOMENTS:
        moment = f"TRY_CAST({value} AS TIMESTAMP)"
        midnight = f"CASE WHEN {moment} = date_trunc('day', {moment}) THEN {moment} END"
        exact = (
            f"CASE WHEN epoch_ns({value}) % 1000 = 0 THEN {midnight} END" if sql_type == "TIMESTAMP_NS" else midnight
        )
        return _day_number(exact, "TIMESTAMP"), "day"
    return _nothing_of(value, sql_type), "nothing"


def _double(value: str, sql_type: str) -> str:
    wide = sql_type.startswith("DECIMAL") and int(re.findall(r"\d+", sql_type)[0]) > 15
    return f"TRY_CAST({value}::VARCHAR AS DOUBLE)" if wide else f"{value}::DOUBLE"


def _day_number(value: str, sql_type: str) -> str:
    """Return the days from 1970-01-01 to a date or moment between the years 1 and 9999."""
    last = date.max.isoformat() + (" 23:59:59.999999" if sql_type == "TIMESTAMP" else "")
    within = f"{value} BETWEEN {sql_type} '{date.min.isoformat()}' AND {sql_type} '{last}'"
    return f"CASE WHEN {within} THEN ({value})::DATE - DATE '1970-01-01' END"


def _days_to_utc(text: str) -> str:
    """Return how many days later, -1 to 1, a text that is a time with a zone is in UTC; null for any other text."""
    zone = f"rpad(replace(regexp_replace(substr({text}, 17), '{BEFORE_ZONE}', ''), ':', ''), 5, '0')"
    parts = ((text, 12, 60), (text, 15, 1), (zone, 2, 60), (zone, 4, 1))
    hours, minutes, *ahead = (f"TRY_CAST(substr({part}, {index}, 2) AS BIGINT) * {n}" for part, index, n in parts)
    sign = f"CASE WHEN {zone} LIKE '-%' THEN -1 ELSE 1 END"
    return f"floor(({hours} + {minutes} - {sign} * ({ahead[0]} + {ahead[1]})) / {MINUTES}::DOUBLE)::BIGINT"


def _within(days: str) -> str:
    """Return days that lie between the years 1 and 9999."""
    return f"CASE WHEN {days} BETWEEN {FIRST_DAY} AND {LAST_DAY} THEN {days} END"


def _number(value: str, dates: bool, sql_type: str) -> str:
    if dates:
        return f"({_any_day(value, sql_type)})::DOUBLE"
    plain, sort = _plain(value, sql_type)
    if sort == "text":
        return f"CASE WHEN regexp_full_match({plain}, '{NUMBER}') THEN TRY_CAST({plain} AS DOUBLE) END"
    return f"({plain if sort in ('whole', 'number') else _nothing_of(value, sql_type)})::DOUBLE"


def _any_day(value: str, sql_type: str) -> str:
    if sql_type == "VARCHAR" or sql_type.startswith("ENUM("):
        text = value if sql_type == "VARCHAR" else f"{value}::VARCHAR"
        day = f"TRY_CAST(left({text}, 10) AS DATE)"
        local = _day_number(f"CASE WHEN regexp_full_match({text}, '{DAY}') THEN {day} END", "DATE")
        utc_day = _day_number(f"CASE WHEN regexp_full_match({text}, '{MOMENT}') THEN {day} END", "DATE")
        return f"coalesce({local}, {_within(f'({utc_day}) + {_days_to_utc(text)}')})"
    if sql_type == "DATE":
        return _day_number(value, "DATE")
    if sql_type in _MOMENTS:
        return _day_number(f"TRY_CAST({value} AS TIMESTAMP)", "TIMESTAMP")
    if sql_type == ZONED:
        utc = f"CASE WHEN isfinite({value}) THEN make_timestamp(epoch_us({value})) END"
        return _day_number(f"({utc})", "TIMESTAMP")
    if sql_type == _ZONED_NS:
        ticks = f"epoch_ns({value})"
        return f"{ticks} // {_DAY_NS} - ({ticks} % {_DAY_NS} < 0)::BIGINT"  # quotients are cut towards zero
    return _nothing_of(value, sql_type)


def _banded(column: Column, sql_type: str) -> CodeExpression:
    """Return the band of a number, by bisection of the edges."""
    low, high = max(column.edges[0], -float(LARGEST_WHOLE)), min(column.edges[-1], float(LARGEST_WHOLE))
    search = _search(column.edges[1:-1], 0)
    sql = f"CASE WHEN {GIVEN} BETWEEN {low!r}::DOUBLE AND {high!r}::DOUBLE THEN {search} END"
    return CodeExpression(
        sql, np.arange(len(column.edges) - 1), column.home, number(column.name, column.dates, sql_type)
    )


def _search(edges: tuple[float, ...], below: int) -> str:
    if not edges:
        return str(below)
    middle = len(edges) // 2
    left, right = _search(edges[:middle], below), _search(edges[middle + 1 :], below + middle + 1)
    return f"CASE WHEN {GIVEN} < {edges[middle]!r}::DOUBLE THEN {left} ELSE {right} END"


def _looked_up(column: Column, value: str, codes: dict[str, int]) -> CodeExpression:
    """Return the index of a text in a declared enumeration."""
    texts = ", ".join(map(literal, codes))
    sql = f"enum_code(TRY_CAST({value} AS ENUM({texts})))"
    return CodeExpression(sql, np.array(list(codes.values()), dtype=np.intp), column.home)


def _ranged(column: Column, value: str, meant: dict[int, int]) -> CodeExpression:
    """Return the index of a whole number in a declared range, with one more at both ends."""
    if not meant:
        return CodeExpression(_nothing_of(value, "BIGINT"), np.zeros(0, dtype=np.intp), column.home)
    low, high = min(meant) - 1, max(meant) + 1
    if high - low > _WIDEST + 4 * len(meant):
        return _looked_up(column, f"({value})::VARCHAR", {str(whole): index for whole, index in meant.items()})
    levels = np.full(high - low + 1, column.home, dtype=np.intp)
    levels[np.array(list(meant)) - low] = list(meant.values())
    return CodeExpression(f"greatest({low}, least({value}, {high})) - ({low})", levels, column.home)


def _numbered(column: Column, value: str, meant: dict[float, int]) -> CodeExpression:
    """Return the index of a number that may have a fraction: between two neighbouring declared ones."""
    if all(declared.is_integer() for declared in meant):
        inside = f"abs({value}) <= {LARGEST_WHOLE} AND {value} = floor({value})"
        whole = f"CASE WHEN {inside} THEN TRY_CAST({value} AS BIGINT) END"
        return _ranged(column, whole, {int(declared): index for declared, index in meant.items()})
    rising = tuple(sorted(meant))
    below = f"CASE WHEN {GIVEN} >= {rising[0]!r}::DOUBLE THEN {_search(rising[1:], 0)} END"
    matches = f"[{', '.join(f'{declared!r}::DOUBLE' for declared in rising)}]"
    sql = f"CASE WHEN list_contains({matches}, {GIVEN}) THEN {below} END"
    return CodeExpression(sql, np.array([meant[declared] for declared in rising], dtype=np.intp), column.home, value)


def _whole(text: str, sort: str) -> int | None:
    """Return the whole number, or the day, that this text uniquely denotes."""
    if sort == "day":
        day = day_of(text)
        return day if len(text) == 10 else None
    found = number_text(text)
    return int(found) if found is not None and found.is_integer() else None


def number_text(text: str) -> float | None:
    """Return the number that this text uniquely denotes."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if float_text(found) == text else None
