"""Frames of any engine, counted inside the engine.

One expression, written with narwhals, maps every record to its cell and counts the cells where the data live: pandas,
polars, pyarrow, DuckDB, ibis and Spark. Only the table of counts comes back. The engine's own errors may quote records,
so they are never passed on.
"""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import pairwise
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from discreet.columns import LARGEST_WHOLE, NUMBER, Column, Level, spellings, text_of
from discreet.errors import SourceError
from discreet.sources.lists import require_columns


class FrameSource:
    """Records in a frame that narwhals understands."""

    def __init__(self, frame: Any) -> None:
        try:
            self._frame: Any = nw.from_native(frame)
        except TypeError:
            self._frame = None
        if self._frame is None:  # raised here so that no exception that may hold the records is chained
            raise SourceError(
                f"Cannot count records in a {type(frame).__name__}. Give a pandas, polars, pyarrow, DuckDB, ibis or "
                "Spark frame, or a mapping from column names to lists."
            )

    def __repr__(self) -> str:
        return "FrameSource(<a frame>)"

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[NDArray[np.int64]]:
        """Return one table of counts for each family of columns, its axes in the order of the columns."""
        counted: list[NDArray[np.int64]] | None = None
        schema: dict[str, Any] | None = None
        with _in_silence():
            schema = dict(self._frame.collect_schema())
        if schema is not None:
            require_columns({column.name for family in families for column in family}, schema)
            with _in_silence():
                counted = self._count(families, schema)
        if counted is None:
            raise SourceError(
                "The engine that holds the data failed to count them; its message is withheld because it may quote "
                "records. Nothing was counted. `discreet` read only the declared columns."
            )
        return counted

    def _count(self, families: Sequence[Sequence[Column]], schema: dict[str, Any]) -> list[NDArray[np.int64]]:
        """Map every record to its cell in each family, one whole number for each, and count these in one pass."""
        frame = self._frame
        codes: dict[Column, nw.Expr] = {}
        for number, column in enumerate({column for family in families for column in family}):
            if isinstance(schema[column.name], nw.Object):
                frame, codes[column] = _with_codes_of_objects(frame, column, f"discreet_object_{number}")
            else:
                codes[column] = _code(column, schema[column.name])
        names = [f"discreet_family_{number}" for number in range(len(families))]
        cells = [_cell(family, codes).alias(name) for family, name in zip(families, names, strict=True)]
        coded = frame.with_columns(*cells).select(*names)  # not select alone: a constant would give a single row
        tables = [np.zeros(tuple(len(column.levels) for column in family), dtype=np.int64) for family in families]
        for number, place, records in _counts(coded, names):
            tables[number].flat[place] = records
        return tables


@contextmanager
def _in_silence() -> Iterator[None]:
    """Let an engine work without a word: its errors and warnings may quote records. They are dropped, not chained."""
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _cell(family: Sequence[Column], codes: dict[Column, nw.Expr]) -> nw.Expr:
    cell = nw.lit(0)
    for column in family:
        cell = cell * len(column.levels) + codes[column]
    return cell


def _counts(coded: Any, names: list[str]) -> Iterator[tuple[int, int, int]]:
    """Give (family, cell, records) for every cell that occurs, counted with the engine's own means."""
    if coded.implementation.is_duckdb():
        yield from _pivoted(coded.to_native().query("coded", _grouping_sets("coded", names)).fetchall())
    elif coded.implementation.is_pyspark():
        native = coded.to_native()
        yield from _pivoted(native.sparkSession.sql(_grouping_sets("{coded}", names), coded=native).collect())
    else:
        for number, name in enumerate(names):
            counts = coded.group_by(name).agg(nw.len().alias("discreet_records")).lazy().collect()
            for place, records in counts.rows():
                yield number, int(place), int(records)


def _grouping_sets(table: str, names: list[str]) -> str:
    sets = ", ".join(f"({name})" for name in names)
    return f"SELECT {', '.join(names)}, count(*) FROM {table} GROUP BY GROUPING SETS ({sets})"


def _pivoted(rows: Iterable[Sequence[Any]]) -> Iterator[tuple[int, int, int]]:
    """Read rows of grouping sets: the one family that a row counts is the one that is not null."""
    for *cells, records in rows:
        ((number, place),) = ((number, place) for number, place in enumerate(cells) if place is not None)
        yield number, int(place), int(records)


def _with_codes_of_objects(frame: Any, column: Column, name: str) -> tuple[Any, nw.Expr]:
    """Map a column of Python objects, which are in memory already, one by one."""
    codes = [column.code(value) for value in frame.get_column(column.name).to_list()]
    series = nw.new_series(name, codes, nw.Int64, backend=frame.implementation)
    return frame.with_columns(series), nw.col(name)


def _code(column: Column, kind: Any) -> nw.Expr:
    """Return the expression that maps a record to the place of its level. It depends on the column's type alone."""
    code = nw.lit(column.levels.index(column.outside))
    if column.edges:
        number = _number(column.name, kind)
        for place, (low, high) in enumerate(pairwise(column.edges)):
            last = place == len(column.edges) - 2
            inside = (number >= low) & ((number <= high) if last else (number < high))
            code = nw.when(inside.fill_null(False)).then(nw.lit(place)).otherwise(code)
        return code
    value = nw.col(column.name)
    if kind.is_float():
        value = value.cast(nw.Float64)
    if not kind.is_numeric() and not isinstance(kind, nw.Boolean):
        value = nw.lit(None, dtype=nw.String) if kind.is_nested() else value.cast(nw.String)
    for place, level in enumerate(column.levels):
        for wanted in _literals(level, kind):
            code = nw.when((value == wanted).fill_null(False)).then(nw.lit(place)).otherwise(code)
    return code


def _number(name: str, kind: Any) -> nw.Expr:
    """Return a column as numbers: texts are looked at first, so that no cast can fail; what is no number is null."""
    value = nw.col(name)
    if kind.is_numeric():
        return value.cast(nw.Float64)
    if isinstance(kind, nw.String | nw.Categorical | nw.Enum):
        text = value.cast(nw.String)
        return nw.when(text.str.contains(NUMBER)).then(text).otherwise(nw.lit(None, dtype=nw.String)).cast(nw.Float64)
    return nw.lit(None, dtype=nw.Float64)


def _literals(level: Level, kind: Any) -> list[Any]:
    """Return the values of a column of this type that mean a level."""
    text = str(text_of(level))
    if isinstance(kind, nw.Boolean):
        return [text == "true"] if text in ("true", "false") else []
    if kind.is_numeric():
        return _numbers(text)
    return list(spellings(level))


def _numbers(text: str) -> list[Any]:
    for read in (int, float):
        try:
            number = read(text)
        except (ValueError, OverflowError):
            continue
        return [number] if text_of(number) == text and abs(number) <= LARGEST_WHOLE else []
    return []
