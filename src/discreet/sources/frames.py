"""Frames of any engine, counted inside the engine.

One expression, written with narwhals, maps every record to its cell and counts the cells where the data live: pandas,
polars, pyarrow, DuckDB, ibis and Spark. Only the table of counts comes back. The engine's own errors may quote records,
so they are never passed on.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from discreet.columns import LARGEST_WHOLE, Column, Level, spellings, text_of
from discreet.errors import SourceError
from discreet.sources.lists import require_columns

_CELL, _RECORDS = "discreet_cell", "discreet_records"


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
        with suppress(Exception):  # an engine's words may quote records: they must not be shown or chained
            schema = dict(self._frame.collect_schema())
        if schema is not None:
            require_columns({column.name for family in families for column in family}, schema)
            with suppress(Exception):
                counted = [self._count(family, schema) for family in families]
        if counted is None:
            raise SourceError(
                "The engine that holds the data failed to count them; its message is withheld because it may quote "
                "records. Nothing was counted. `discreet` read only the declared columns."
            )
        return counted

    def _count(self, family: Sequence[Column], schema: dict[str, Any]) -> NDArray[np.int64]:
        shape = tuple(len(column.levels) for column in family)
        frame, cell = self._frame, nw.lit(0)
        for column in family:
            if isinstance(schema[column.name], nw.Object):
                frame, code = _with_codes_of_objects(frame, column)
            else:
                code = _code(column, schema[column.name])
            cell = cell * len(column.levels) + code
        cells = frame.with_columns(cell.alias(_CELL))  # not select: a constant expression would give one row
        counts = cells.group_by(_CELL).agg(nw.len().alias(_RECORDS))
        table = np.zeros(shape, dtype=np.int64)
        for place, records in _rows(counts):
            table.flat[int(place)] = int(records)
        return table


def _rows(counts: Any) -> list[tuple[Any, ...]]:
    """Fetch a small table of counts with the engine's own means, so that no further package is needed."""
    native = counts.to_native()
    if counts.implementation.is_duckdb():
        return list(native.fetchall())
    if counts.implementation.is_spark_like():
        return [tuple(row) for row in native.collect()]
    return list(counts.lazy().collect().rows())


def _with_codes_of_objects(frame: Any, column: Column) -> tuple[Any, nw.Expr]:
    """Map a column of Python objects, which are in memory already, one by one."""
    name = f"discreet_{column.name}"
    codes = [column.code(value) for value in frame.get_column(column.name).to_list()]
    series = nw.new_series(name, codes, nw.Int64, backend=frame.implementation)
    return frame.with_columns(series), nw.col(name)


def _code(column: Column, kind: Any) -> nw.Expr:
    """Return the expression that maps a record to the place of its level. It depends on the column's type alone."""
    value = nw.col(column.name)
    if kind.is_float():
        value = value.cast(nw.Float64)
    if not kind.is_numeric() and not isinstance(kind, nw.Boolean):
        value = nw.lit(None, dtype=nw.String) if kind.is_nested() else value.cast(nw.String)
    code = nw.lit(column.levels.index(column.outside))
    for place, level in enumerate(column.levels):
        for wanted in _literals(level, kind):
            code = nw.when((value == wanted).fill_null(False)).then(nw.lit(place)).otherwise(code)
    return code


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
