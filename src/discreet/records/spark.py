"""Frames of Spark, counted inside the engine.

One expression for each column, written with narwhals, turns declared values into the places of their levels (or, where
there are many levels, empties all other values); the engine groups by these and counts. Only the few groups come back.
Which expression is used depends on the column's declared type alone, never on a record, and no expression can fail on a
value: types that are not texts, numbers or truth values count as undeclared throughout.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from discreet.errors import SourceError
from discreet.records.batches import require_columns
from discreet.records.columns import Column, spellings
from discreet.records.moments import CONSTANT, Measure, MomentPlan, Wholes
from discreet.records.silence import in_silence
from discreet.records.values import LARGEST_WHOLE, NUMBER, number_of, text_of

_FEW = 50  # texts of levels; beyond, nested conditions grow too deep for some engines


class SparkSource:
    """Records in a frame of Spark."""

    def __init__(self, frame: Any) -> None:
        self._frame: Any = None
        with in_silence():
            self._frame = nw.from_native(frame)
        if self._frame is None:
            raise SourceError(
                f"Cannot count records in a {type(frame).__name__}. Give a pandas, polars, pyarrow, DuckDB, ibis or "
                "Spark frame with different column names, or a mapping from column names to lists."
            )

    def __repr__(self) -> str:
        return "SparkSource(<a frame>)"

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[NDArray[np.int64]]:
        """Return one table of counts for each family of columns, its axes in the order of the columns."""
        counted: list[NDArray[np.int64]] | None = None
        schema = self._schema
        require_columns({column.name for family in families for column in family}, list(schema))
        with in_silence():
            counted = self._count(families, schema)
        if counted is None:
            raise SourceError(
                "The engine that holds the data failed to count them; its message is withheld because it may quote "
                "records. Nothing was counted."
            )
        return counted

    def names(self) -> list[str]:
        """Return the names of the columns, for the data holder; no record is read."""
        return list(self._schema)

    def strangers(self, column: Column, most: int = 5) -> list[tuple[str, int]]:
        """Return the most frequent values that no level declares, and how often: for the data holder's eyes only."""
        found: list[tuple[str, int]] | None = None
        require_columns({column.name}, list(self._schema))
        with in_silence():
            counts = self._frame.group_by(column.name).agg(nw.len().alias(self._unused(1)[0]))
            rows = sorted(_rows(counts), key=lambda row: -int(row[1]))
            home, declared = column.levels.index(column.outside), set(spellings(column.outside))
            odd = ((v, int(k)) for v, k in rows if column.code(v) == home and text_of(v) not in declared)
            found = [("(missing)" if value is None else str(value), k) for value, k in islice(odd, most)]
        if found is None:
            raise SourceError("The engine that holds the data failed to look for undeclared values.")
        return found

    @cached_property
    def _schema(self) -> dict[str, Any]:
        schema: dict[str, Any] | None = None
        with in_silence():
            schema = dict(self._frame.collect_schema())
        if schema is None:
            raise SourceError("The engine that holds the data could not say which columns there are. Nothing was read.")
        return schema

    def _unused(self, count: int) -> list[str]:
        """Return names that no column has."""
        taken, names = set(self._schema), (f"discreet_{number}" for number in range(10**9))
        return list(islice((name for name in names if name not in taken), count))

    def _count(self, families: Sequence[Sequence[Column]], schema: dict[str, Any]) -> list[NDArray[np.int64]]:
        columns = list(dict.fromkeys(column for family in families for column in family))
        names = dict(zip(columns, self._unused(len(columns)), strict=True))
        frame, values, coded = self._frame, [], set()
        for column, name in names.items():
            if _has_few(column):
                values.append(_code(column, schema[column.name], frame.implementation).alias(name))
                coded.add(column)
            else:
                values.append(_declared_value(column, schema[column.name], frame.implementation).alias(name))
        # not select alone: a constant expression would give a single row
        kept = frame.with_columns(*values).select(*names.values())
        tables = [np.zeros(tuple(len(column.levels) for column in family), dtype=np.int64) for family in families]
        for number, cell, records in _groups(kept, [[names[column] for column in family] for family in families]):
            family = families[number]
            place = tuple(_place(c, value, c in coded) for c, value in zip(family, cell, strict=True))
            tables[number][place] += int(records)
        return tables

    def sum_moments(self, plan: MomentPlan) -> tuple[Wholes, int]:
        """Return the sum of every product of the plan, and the number of records."""
        found: tuple[list[int], int] | None = None
        schema = self._schema
        require_columns({factor.column for factor in plan.factors}, list(schema))
        with in_silence():
            found = self._sums(plan, schema)
        if found is None:
            raise SourceError("The engine that holds the data failed to sum them. Nothing was summed.")
        if found[1] > plan.most_records:
            raise SourceError(f"At most {plan.most_records} records can be summed with a grid of {plan.grid}.")
        return np.array(found[0], dtype=np.int64), found[1]

    def _sums(self, plan: MomentPlan, schema: dict[str, Any]) -> tuple[list[int], int]:
        """Turn every column into whole numbers and sum their products, all inside the engine."""
        *names, records = self._unused(len(plan.factors) + 1)
        frame, expressions = self._frame, []
        for factor, name in zip(plan.factors, names, strict=True):
            kind, grid = schema[factor.column], plan.grid
            if isinstance(factor, Measure):
                expressions.append(_measured(factor, kind, frame.implementation, grid).alias(name))
            else:
                has = _code(factor.declared, kind, frame.implementation) == factor.place
                wholes = nw.when(has).then(nw.lit(grid, nw.Int64)).otherwise(nw.lit(0, nw.Int64))
                expressions.append(wholes.alias(name))
        whole = frame.with_columns(*expressions).select(*names)
        sums = [
            _product(i, j, names, plan.grid).sum().alias(f"{records}_{k}") for k, (i, j) in enumerate(plan.products)
        ]
        (row,) = _rows(whole.select(nw.len().alias(records), *sums))
        return [int(value or 0) for value in row[1:]], int(row[0])


def _groups(kept: Any, families: list[list[str]]) -> Iterator[tuple[int, Sequence[Any], int]]:
    """Give (family, values, records) for every combination that occurs, counted with the engine's own means."""
    native = kept.to_native()
    query = native.sparkSession.sql(_grouping_sets("{kept}", families), kept=native)
    yield from _told_apart(query.collect(), families)


def _grouping_sets(table: str, families: list[list[str]]) -> str:
    """Return one query that counts all families in one pass, and marks for each row which columns it groups by."""
    names = list(dict.fromkeys(name for family in families for name in family))
    marks = ", ".join(f"grouping({name})" for name in names)
    different = dict.fromkeys(tuple(sorted(family)) for family in families)  # a set given twice would be counted twice
    sets = ", ".join(f"({', '.join(family)})" for family in different)
    return f"SELECT {', '.join(names)}, {marks}, count(*) FROM {table} GROUP BY GROUPING SETS ({sets})"


def _told_apart(rows: Iterable[Sequence[Any]], families: list[list[str]]) -> Iterator[tuple[int, Sequence[Any], int]]:
    """Give each row of grouping sets to the families that group by the columns that it groups by."""
    names = list(dict.fromkeys(name for family in families for name in family))
    place = {name: number for number, name in enumerate(names)}
    owners: dict[tuple[int, ...], list[int]] = {}
    for number, family in enumerate(families):
        owners.setdefault(tuple(int(name not in family) for name in names), []).append(number)
    for row in rows:
        for number in owners[tuple(map(int, row[len(names) : 2 * len(names)]))]:
            yield number, [row[place[name]] for name in families[number]], int(row[-1])


def _rows(counts: Any) -> list[Sequence[Any]]:
    """Fetch a small table with the engine's own means, so that no further package is needed."""
    return list(counts.to_native().collect())


def _place(column: Column, value: Any, is_code: bool) -> int:
    """Return the place of the level that a group's value means."""
    if is_code:
        return int(value)
    if not column.edges:
        return column.code(value)
    home, last = column.levels.index(column.outside), len(column.edges)
    passed = int(number_of(value) or 0)
    return home if passed in (0, last + 1) else min(passed, last - 1) - 1


def _has_few(column: Column) -> bool:
    return not column.edges and len(column.codes) <= _FEW


def _code(column: Column, kind: Any, engine: nw.Implementation) -> nw.Expr:
    """Return the expression for the place of a level: with few levels engines count small whole numbers fastest."""
    value = nw.col(column.name)
    if kind.is_numeric() and not kind.is_integer():
        value = value.cast(nw.Float64)
    if isinstance(kind, nw.Categorical | nw.Enum):
        value = value.cast(nw.String)
    code = nw.lit(column.levels.index(column.outside), nw.Int8)
    for literal in _literals(column, kind):
        is_it = (value == literal).fill_null(False) if engine.is_pandas_like() else value == literal
        code = nw.when(is_it).then(nw.lit(column.code(literal), nw.Int8)).otherwise(code)
    return code


def _declared_value(column: Column, kind: Any, engine: nw.Implementation) -> nw.Expr:
    """Return the expression that keeps declared values and empties all others; for bands, how many edges are passed."""
    if column.edges:
        return _edges_passed(column, kind, engine)
    literals = _literals(column, kind)
    if not literals:
        return nw.lit(spellings(column.outside)[0])
    value = _value(column.name, kind, engine)
    return nw.when(value.is_in(literals)).then(value).otherwise(nw.lit(None))


def _value(name: str, kind: Any, engine: nw.Implementation) -> nw.Expr:
    """Return a column as text, 64-bit integers, 64-bit floats or truth values. No value can make it fail."""
    value = nw.col(name)
    if kind.is_integer() and engine.is_pandas_like():
        return value  # NumPy compares integers of all kinds as they are, and has no gaps among them
    if kind.is_integer():
        near = value <= LARGEST_WHOLE
        near = near if kind.is_unsigned_integer() else near & (value >= -LARGEST_WHOLE)
        return nw.when(near).then(value).otherwise(nw.lit(None)).cast(nw.Int64)
    if kind.is_numeric():
        return value.cast(nw.Float64)
    return value if isinstance(kind, nw.Boolean) else value.cast(nw.String)


def _literals(column: Column, kind: Any) -> list[Any]:
    """Return the values of a column of this type that mean one of its levels."""
    texts = [text for level in column.levels for text in spellings(level)]
    if isinstance(kind, nw.Boolean):
        return [text == "true" for text in texts if text in ("true", "false")]
    if kind.is_integer():
        return [number for text in texts if (number := _number(text)) is not None and isinstance(number, int)]
    if kind.is_numeric():
        return [float(number) for text in texts if (number := _number(text)) is not None]
    return texts if isinstance(kind, nw.String | nw.Categorical | nw.Enum) else []


def _number(text: str) -> int | float | None:
    """Return the number of which this is the one text."""
    for read in (int, float):
        try:
            number = read(text)
        except (ValueError, OverflowError):
            continue
        if text_of(number) == text:
            return number
    return None


def _number_texts(value: nw.Expr) -> nw.Expr:
    """Empty all texts that are no numbers, so that a cast cannot fail.

    Letters that no number has are asked for as well: in some engines $ also stands before a last newline.
    """
    fits = nw.when(value.str.contains(NUMBER)).then(value).otherwise(nw.lit(None))
    return nw.when(value.str.contains("[^-+.0-9eE]")).then(nw.lit(None)).otherwise(fits)


def _edges_passed(column: Column, kind: Any, engine: nw.Implementation) -> nw.Expr:
    """Return how many edges a number has reached, and one more if it lies beyond the last; 0 or null if it has none."""
    is_text = isinstance(kind, nw.String | nw.Categorical | nw.Enum)
    if not is_text and not kind.is_numeric():
        return nw.lit(0)
    value = _value(column.name, kind, engine)
    if is_text:
        value = _number_texts(value).cast(nw.Float64)
    edges: Sequence[float] = column.edges
    last = edges[-1]
    if kind.is_integer():  # whole numbers are compared with whole numbers
        edges, last = [math.ceil(edge) for edge in edges], math.floor(last)
    return nw.sum_horizontal(*((value >= edge).cast(nw.Int64) for edge in edges), (value > last).cast(nw.Int64))


def _product(first: int, second: int, names: list[str], grid: int) -> nw.Expr:
    if second == CONSTANT:
        return nw.col(names[first]) * grid
    return nw.col(names[first]) * nw.col(names[second])


def _measured(measure: Measure, kind: Any, engine: nw.Implementation, grid: int) -> nw.Expr:
    """Return the expression of `whole_numbers`: the same steps in the same order."""
    is_text = isinstance(kind, nw.String | nw.Categorical | nw.Enum)
    if not is_text and not kind.is_numeric():  # dates, truth values, lists: no numbers throughout
        value = nw.lit(measure.missing, nw.Float64)
    else:
        value = _value(measure.column, kind, engine)
        value = _number_texts(value) if is_text else value
        value = value if kind.is_integer() else value.cast(nw.Float64)  # whole numbers are compared as they are
        near = value <= LARGEST_WHOLE
        near = near if kind.is_unsigned_integer() else near & (value >= -LARGEST_WHOLE)
        near = near.fill_null(False) if engine.is_pandas_like() else near
        value = value.cast(nw.Float64)
        value = nw.when(near).then(value).otherwise(nw.lit(measure.missing, nw.Float64))
    clipped = _between(value, measure.low, measure.high)
    places = ((clipped - measure.low) * _scale(measure, grid) + 0.5).floor() - grid
    return _between(places, -grid, grid).cast(nw.Int64)


def _between(value: nw.Expr, low: float, high: float) -> nw.Expr:
    """Clamp by asking what lies within, not what lies beyond: not-a-number is `high` in every engine."""
    lowered = nw.when(value <= high).then(value).otherwise(nw.lit(high, nw.Float64))
    return nw.when(lowered >= low).then(lowered).otherwise(nw.lit(low, nw.Float64))


def _scale(measure: Measure, grid: int) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(2 * grid) / (measure.high - measure.low))
