"""Files read by an engine: Parquet, Arrow and DuckDB, opened without guessing and without the engine's messages."""

import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import SourceError
from discreet.records.arrow import ArrowSource
from discreet.records.batches import opened_in_silence
from discreet.records.engine import EngineSource
from discreet.records.expressions import identifier, literal

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_PARQUET = "read_parquet([{}], hive_partitioning = false, utf8_validation = 'replace')"


def parquet_file(place: Path, _: str | None, __: str | None) -> EngineSource:
    """Open a Parquet file, whatever characters its name contains."""
    plain = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in _literal(place))
    table = _PARQUET.format(literal(plain))
    return opened_in_silence(place, lambda: EngineSource.of_table(_quiet(_database().cursor()), table))


def _literal(place: Path) -> str:
    """Return the full path; refuse one that DuckDB would misread, because it treats a backslash as a separator."""
    if os.sep != "\\" and "\\" in str(place.absolute()):
        raise SourceError(
            f"DuckDB cannot open {str(place)!r}, because its path contains a backslash. Nothing was read. Rename or "
            "move the file."
        )
    return str(place.absolute())


def arrow_file(place: Path, _: str | None, __: str | None) -> ArrowSource:
    """Open an Arrow file."""
    try:
        from pyarrow import dataset
    except ImportError:
        raise SourceError("Arrow files need the package pyarrow: pip install pyarrow.") from None
    return ArrowSource(
        opened_in_silence(place, lambda: dataset.dataset([str(place.absolute())], format="ipc", partitioning=None))
    )


def duckdb_file(place: Path, table: str | None, _: str | None) -> EngineSource:
    """Open a table of a DuckDB file."""
    import duckdb  # slow to import

    path = _literal(place)
    connection = opened_in_silence(place, lambda: _quiet(duckdb.connect(path, read_only=True)))
    tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
    tables += [
        name for (name,) in connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    ]
    chosen = table or (tables[0] if len(tables) == 1 else "")
    if chosen not in tables:
        raise SourceError(
            f"State which table of {place.name!r} to read; its tables are: {', '.join(map(repr, tables)) or 'none'}."
        )
    return opened_in_silence(place, lambda: EngineSource.of_table(connection, identifier(chosen)))


@cache
def _database() -> "DuckDBPyConnection":
    """Return one empty database in memory; every file that is read gets its own connection to it."""
    import duckdb  # slow to import

    return duckdb.connect()


def _quiet(connection: "DuckDBPyConnection") -> "DuckDBPyConnection":
    """Return a connection that shows no progress on the screen."""
    return connection.execute("SET enable_progress_bar = false")
