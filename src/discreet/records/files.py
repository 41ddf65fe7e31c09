"""Tables in files: CSV, Parquet, Arrow and DuckDB, read where they lie.

A path means one file, whatever letters its name has; several files are a declared list. Nothing is guessed from the
records or from folders, because a guess lets one record, or somebody else's file, change what another one means. The
first line of a CSV file is never shown: in a file without a header it is a record.
"""

import gzip
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

import duckdb

from discreet.errors import SourceError
from discreet.records.arrow import ArrowSource
from discreet.records.delimited import DelimitedSource
from discreet.records.engine import EngineSource
from discreet.records.expressions import identifier, literal
from discreet.records.several import SeveralSource
from discreet.records.source import Source

Found = TypeVar("Found")
_PARQUET = "read_parquet([{}], hive_partitioning = false, utf8_validation = 'replace')"


def read(path: str | Path | Sequence[str | Path], table: str | None = None, separator: str | None = None) -> Source:
    """Open a file of records: .csv, .tsv (also .gz), .parquet, .arrow, .feather, .duckdb or .db; or a list of files.

    `table` names the table of a DuckDB file that holds several. `separator` is a comma for .csv and a tab for .tsv.
    """
    if isinstance(path, str | Path):
        return _one(Path(path), table, separator)
    if not isinstance(path, Sequence) or not path or not all(isinstance(each, str | Path) for each in path):
        raise SourceError("Records are read from the path of a file, or from a list of such paths. Nothing was read.")
    places = [Path(each) for each in path]
    sources = [_one(place, table, separator) for place in places]
    if len({(found.st_dev, found.st_ino) for found in map(os.stat, places)}) < len(places):
        raise SourceError(
            "The list of files names a file twice, perhaps by two names (a link): its records would be counted twice. "
            "Nothing was counted."
        )
    return SeveralSource(sources)


def _one(place: Path, table: str | None, separator: str | None) -> Source:
    is_there = False
    with suppress(OSError):  # a name may be too long for the system
        is_there = place.is_file()
    if not is_there:
        raise SourceError(f"There is no file {str(place)!r}. Nothing was read.")
    name = place.name.lower().removesuffix(".gz")
    opener = next((opener for endings, opener in _OPENERS.items() if name.endswith(endings)), None)
    if opener is None:
        known = ", ".join(ending for endings in _OPENERS for ending in endings)
        raise SourceError(f"Cannot tell what kind of file {place.name!r} is. Its name must end with one of {known}.")
    return opener(place, table, separator)


def _delimited(place: Path, _: str | None, separator: str | None) -> DelimitedSource:
    is_zipped = place.name.lower().endswith(".gz")
    mark = separator or ("\t" if place.name.lower().removesuffix(".gz").endswith(".tsv") else ",")
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0':
        raise SourceError(f"The separator of a CSV file is one character, and no quote or line end; got {mark!r}.")
    if not place.stat().st_size:
        raise SourceError(f"{place.name!r} is empty: it has not even a first line with the names of the columns.")
    opened = partial(_bytes_of, place, is_zipped)
    _opened(place, lambda: _first_byte(opened))
    return DelimitedSource(opened, mark, place.name)


def _bytes_of(place: Path, is_zipped: bool) -> BinaryIO:
    return cast(BinaryIO, gzip.open(place, "rb")) if is_zipped else place.open("rb")


def _first_byte(opened: Callable[[], BinaryIO]) -> bytes:
    with opened() as file:
        return file.read(1)


def _parquet(place: Path, _: str | None, __: str | None) -> EngineSource:
    plain = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in _literal(place))
    table = _PARQUET.format(literal(plain))
    return _opened(place, lambda: EngineSource.of_table(_quiet(_database().cursor()), table))


def _literal(place: Path) -> str:
    """Return a whole path; refuse one that DuckDB would take for another, because a backslash is a folder to it."""
    if os.sep != "\\" and "\\" in str(place.absolute()):
        raise SourceError(f"DuckDB cannot open {str(place)!r}: no backslash may be in the path. Nothing was read.")
    return str(place.absolute())


def _arrow(place: Path, _: str | None, __: str | None) -> ArrowSource:
    try:
        from pyarrow import dataset
    except ImportError:
        raise SourceError("Arrow files need the package pyarrow: pip install pyarrow.") from None
    return ArrowSource(
        _opened(place, lambda: dataset.dataset([str(place.absolute())], format="ipc", partitioning=None))
    )


def _duckdb(place: Path, table: str | None, _: str | None) -> EngineSource:
    path = _literal(place)
    connection = _opened(place, lambda: _quiet(duckdb.connect(path, read_only=True)))
    tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
    tables += [
        name for (name,) in connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    ]
    chosen = table or (tables[0] if len(tables) == 1 else "")
    if chosen not in tables:
        raise SourceError(
            f"Say which table of {place.name!r} to read; there are {', '.join(map(repr, tables)) or 'none'}."
        )
    return _opened(place, lambda: EngineSource.of_table(connection, identifier(chosen)))


@cache
def _database() -> duckdb.DuckDBPyConnection:
    """Return one data base in memory, with nothing in it; every file that is read gets a connection of its own."""
    return duckdb.connect()


def _quiet(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Return a connection that shows no progress on the screen."""
    return connection.execute("SET enable_progress_bar = false")


def _opened(place: Path, work: Callable[[], Found]) -> Found:
    found: Found | None = None
    with suppress(Exception):  # the engine's words may quote records
        found = work()
    if found is None:
        raise SourceError(f"{place.name!r} cannot be read as what its name says. The engine's words are withheld.")
    return found


_OPENERS: dict[tuple[str, ...], Callable[[Path, str | None, str | None], Source]] = {
    (".csv", ".tsv", ".txt"): _delimited,
    (".parquet", ".pq"): _parquet,
    (".arrow", ".feather", ".ipc"): _arrow,
    (".duckdb", ".ddb", ".db"): _duckdb,
}
