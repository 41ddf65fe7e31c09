"""Tables in files: CSV, Parquet, Arrow and DuckDB, read by DuckDB where they lie.

A CSV file is UTF-8 text; that is a property of the file, and a file that is not is refused. It is read with the header
that its first line gives; nothing is guessed from the records, because a guess lets one record change what another one
means. The first line is never shown: in a file without a header it is a record.
"""

import csv
import gzip
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import duckdb

from discreet.errors import SourceError
from discreet.sources.frames import FrameSource

_CSV = """SELECT * FROM read_csv($path, auto_detect = false, header = true, delim = $separator, quote = '"',
          escape = '"', columns = $columns, null_padding = true, strict_mode = false, parallel = false)"""


def read(path: str | Path, table: str | None = None, separator: str | None = None) -> FrameSource:
    """Open a file of records: .csv, .tsv (also .gz), .parquet, .arrow, .feather, .duckdb or .db.

    `table` names the table of a DuckDB file that holds several. `separator` is a comma for .csv and a tab for .tsv.
    """
    place = Path(path)
    if not place.is_file():
        raise SourceError(f"There is no file {str(place)!r}. Nothing was read.")
    name = place.name.lower().removesuffix(".gz")
    opener = next((opener for endings, opener in _OPENERS.items() if name.endswith(endings)), None)
    if opener is None:
        known = ", ".join(ending for endings in _OPENERS for ending in endings)
        raise SourceError(f"Cannot tell what kind of file {place.name!r} is. Its name must end with one of {known}.")
    return FrameSource(opener(place, table, separator))


def _csv(place: Path, _: str | None, separator: str | None) -> Any:
    mark = separator or ("\t" if ".tsv" in place.suffixes else ",")
    if len(mark) != 1:
        raise SourceError(f"The separator of a CSV file is one character; got {mark!r}.")
    if not place.stat().st_size:
        raise SourceError(f"{place.name!r} is empty: it has not even a first line with the names of the columns.")
    names = _header(place, mark)
    columns = dict.fromkeys(names, "VARCHAR")
    return _opened(place, lambda: _relation(_CSV, {"path": str(place), "separator": mark, "columns": columns}))


def _header(place: Path, separator: str) -> list[str]:
    """Return the names in the first line of a CSV file."""
    names: list[str] = []
    with suppress(Exception):  # whatever is wrong, the words about it might quote the line
        opener = gzip.open if place.suffix == ".gz" else open
        with opener(place, "rb") as lines:  # the first line alone: what the others hold does not matter here
            names = next(csv.reader([lines.readline().decode("utf-8-sig")], delimiter=separator))
    if not names or len(set(names)) < len(names) or not all(name.strip() for name in names):
        raise SourceError(
            f"The first line of {place.name!r} does not name each column once, or is not UTF-8. It is not shown, it "
            "might be a record. Nothing was read. Write a header into the file."
        )
    return names


def _parquet(place: Path, _: str | None, __: str | None) -> Any:
    return _opened(place, lambda: _relation("SELECT * FROM read_parquet($path)", {"path": str(place)}))


def _arrow(place: Path, _: str | None, __: str | None) -> Any:
    try:
        from pyarrow import dataset
    except ImportError:
        raise SourceError("Arrow files need the package pyarrow: pip install pyarrow.") from None
    return _opened(place, lambda: _database().cursor().from_arrow(dataset.dataset(place, format="ipc")))


def _duckdb(place: Path, table: str | None, _: str | None) -> Any:
    connection = _opened(place, lambda: duckdb.connect(str(place), read_only=True))
    tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
    tables += [
        name for (name,) in connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    ]
    chosen = table or (tables[0] if len(tables) == 1 else "")
    if chosen not in tables:
        raise SourceError(
            f"Say which table of {place.name!r} to read; there are {', '.join(map(repr, tables)) or 'none'}."
        )
    quoted = chosen.replace('"', '""')
    return connection.sql(f'SELECT * FROM "{quoted}"')


@cache
def _database() -> Any:
    """Return one data base in memory, with nothing in it; every file that is read gets a cursor of its own."""
    return duckdb.connect()


def _relation(query: str, parameters: dict[str, Any]) -> Any:
    return _database().cursor().sql(query, params=parameters)


def _opened(place: Path, work: Callable[[], Any]) -> Any:
    found = None
    with suppress(Exception):  # the engine's words may quote records
        found = work()
    if found is None:
        raise SourceError(f"{place.name!r} cannot be read as what its name says. The engine's words are withheld.")
    return found


_OPENERS: dict[tuple[str, ...], Callable[[Path, str | None, str | None], Any]] = {
    (".csv", ".tsv", ".txt"): _csv,
    (".parquet", ".pq"): _parquet,
    (".arrow", ".feather", ".ipc"): _arrow,
    (".duckdb", ".ddb", ".db"): _duckdb,
}
