"""Frames of pandas, polars, Arrow, DuckDB, ibis and Spark, each made a source by the package that it comes from."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from discreet._core.errors import SourceError
from discreet.records._arrow import ArrowBatch, ArrowSource
from discreet.records._duckdb import DuckdbSource
from discreet.records._lists import ListSource
from discreet.records._pandas import PandasSource
from discreet.records._polars import PolarsSource
from discreet.records._source import Batch, Source, in_silence

if TYPE_CHECKING:
    import ibis
    import polars
    from duckdb import DuckDBPyRelation
    from pyspark.sql import DataFrame


def source_of(data: object) -> Source:
    """Return a source for a frame of any backend, or for a mapping from names to lists."""
    if isinstance(data, Mapping):
        return ListSource(data)
    source: Source | None = None
    with in_silence():
        source = _of_frame(data)
    if source is None:
        raise SourceError(
            f"Cannot count records in a {type(data).__name__}. Pass a pandas, polars, pyarrow, DuckDB, ibis or Spark "
            "frame whose column names all differ, or a mapping from column names to lists."
        )
    return source


def _of_frame(data: object) -> Source | None:
    """Return the source for a frame, recognised by the package it comes from; nothing is imported for that."""
    package = type(data).__module__.partition(".")[0]
    source: Source | None = None
    if package in ("duckdb", "_duckdb"):
        is_table = hasattr(data, "columns") and hasattr(data, "types")
        source = DuckdbSource(cast("DuckDBPyRelation", data)) if is_table else None
    elif package == "pandas":
        source = PandasSource(data) if hasattr(data, "columns") and data.columns.is_unique else None
    elif package == "polars":
        source = PolarsSource(cast("polars.DataFrame", data)) if hasattr(data, "collect_schema") else None
    elif package == "pyarrow":
        source = ArrowSource(data) if hasattr(data, "select") or hasattr(data, "scanner") else None
    elif package == "ibis":
        source = _of_ibis(data)
    elif package == "pyspark":
        from discreet.records._spark import SparkSource

        source = SparkSource(cast("DataFrame", data))
    if source is None or len(set(source.names())) < len(source.names()):
        return None
    return source


def _of_ibis(table: "ibis.Table") -> Source:
    """Return a relation if ibis uses DuckDB; from any other backend, records come in batches of Arrow."""
    import ibis

    backend = table.get_backend() if hasattr(table, "get_backend") else ibis.get_backend(table)
    if backend.name == "duckdb":
        backend._run_pre_execute_hooks(table)
        relation = backend.con.sql(ibis.to_sql(table, dialect="duckdb"))
        return DuckdbSource(relation, holds_moments=_are_fine(table))
    return _IbisSource(table)


def _are_fine(table: "ibis.Table") -> bool:
    """Return whether DuckDB can hold all values of tables in memory: with a zone, moments are microseconds."""
    from ibis.expr.operations import InMemoryTable

    types = [each for found in table.op().find(InMemoryTable) for each in found.schema.types]
    moments = [each for each in types if each.is_timestamp() and each.timezone]
    fine = all(each.scale is None or each.scale >= 6 for each in moments)
    return fine and not any(each.is_interval() or each.is_nested() for each in types)


class _IbisSource(ArrowSource):
    def names(self) -> list[str]:
        return list(self._table.columns)

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        if self._table.get_backend().name == "sqlite":
            raise SourceError(
                "SQLite allows values of any type in any column, so a single record could make the count fail. "
                "Nothing was counted. Copy the table into a DuckDB or Parquet file, where each column has one type."
            )
        for batch in self._table.select(*names).to_pyarrow_batches():
            yield ArrowBatch(dict(zip(names, batch.columns, strict=True)), batch.num_rows)


def columns_of_frame(frame: object) -> dict[str, list[object]]:
    """Return the columns of a frame in memory as lists: for a reader's own rows, never for records."""
    import narwhals as nw
    from narwhals.typing import IntoDataFrame

    try:
        columns: dict[str, list[object]] = nw.from_native(cast(IntoDataFrame, frame), eager_only=True).to_dict(
            as_series=False
        )
    except TypeError:
        raise SourceError(
            f"Rows must be a mapping from column names to lists, or a frame in memory; got a {type(frame).__name__}."
        ) from None
    return columns
