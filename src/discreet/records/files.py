"""Tables in files: CSV, Parquet, Arrow and DuckDB, read where they lie.

A path means one file, whatever characters its name contains; several files are given as a list. Nothing is guessed from
the records or from folders, because a guess would let one record, or somebody else's file, change what another one
means. The first line of a CSV file is never shown: in a file without a header, it is a record.
"""

import gzip
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

from discreet.errors import SourceError
from discreet.records.batches import opened_in_silence
from discreet.records.databases import arrow_file, duckdb_file, parquet_file
from discreet.records.delimited import DelimitedSource
from discreet.records.several import SeveralSource
from discreet.records.source import Source


def read(path: str | Path | Sequence[str | Path], table: str | None = None, separator: str | None = None) -> Source:
    """Open a file of records: .csv, .tsv (also .gz), .parquet, .arrow, .feather, .duckdb or .db; or a list of files.

    `table` names the table if a DuckDB file has several. `separator` is by default a comma for .csv, a tab for .tsv.
    """
    if isinstance(path, str | Path):
        return _one(Path(path), table, separator)
    if not isinstance(path, Sequence) or not path or not all(isinstance(each, str | Path) for each in path):
        raise SourceError("Records are read from the path of a file, or from a list of paths. Nothing was read.")
    places = [Path(each) for each in path]
    sources = [_one(place, table, separator) for place in places]
    if len({(found.st_dev, found.st_ino) for found in map(os.stat, places)}) < len(places):
        raise SourceError(
            "The list of files contains the same file twice, perhaps under two names (a link), so its records would "
            "be counted twice. Nothing was counted. List each file once."
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
        raise SourceError(f"{place.name!r} was not read: its name must end with one of {known}.")
    return opener(place, table, separator)


def _delimited(place: Path, _: str | None, separator: str | None) -> DelimitedSource:
    is_zipped = place.name.lower().endswith(".gz")
    mark = separator or ("\t" if place.name.lower().removesuffix(".gz").endswith(".tsv") else ",")
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0':
        raise SourceError(f"The separator of a CSV file must be one character, not a quote or line end; got {mark!r}.")
    if not place.stat().st_size:
        raise SourceError(f"{place.name!r} is empty: it needs at least a header with the names of the columns.")
    opened = partial(_bytes_of, place, is_zipped)
    opened_in_silence(place, lambda: _first_byte(opened))
    return DelimitedSource(opened, mark, place.name)


def _bytes_of(place: Path, is_zipped: bool) -> BinaryIO:
    return cast(BinaryIO, gzip.open(place, "rb")) if is_zipped else place.open("rb")


def _first_byte(opened: Callable[[], BinaryIO]) -> bytes:
    with opened() as file:
        return file.read(1)


_OPENERS: dict[tuple[str, ...], Callable[[Path, str | None, str | None], Source]] = {
    (".csv", ".tsv", ".txt"): _delimited,
    (".parquet", ".pq"): parquet_file,
    (".arrow", ".feather", ".ipc"): arrow_file,
    (".duckdb", ".ddb", ".db"): duckdb_file,
}
