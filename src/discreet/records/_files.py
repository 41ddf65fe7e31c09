"""Tables in files: CSV, Parquet, Arrow and DuckDB, read where they lie.

A path means one file, whatever characters its name contains; several files are given as a list. Nothing is guessed from
the records or from folders, because a guess would let one record, or somebody else's file, change what another one
means. The first line of a CSV file is never shown: in a file without a header, it is a record.

Parquet, Arrow and DuckDB are opened by their backends, without the messages of these. Several tables of the same
columns are counted one after the other as if they were one.
"""

import gzip
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np

from discreet._core.arrays import Counts
from discreet._core.errors import SourceError
from discreet.records._arrow import ArrowSource
from discreet.records._columns import Column
from discreet.records._delimited import DelimitedSource
from discreet.records._derived import derived_source
from discreet.records._duckdb import DuckdbSource
from discreet.records._duckdb_sql import identifier, literal
from discreet.records._grouped_sums import GroupPlan, added
from discreet.records._matches import ColumnMatch
from discreet.records._moments import MomentPlan, Wholes
from discreet.records._persons import IdPlan, IdRows, ids_in
from discreet.records._source import Source, opened_in_silence, whole_rows
from discreet.records._weights import WeightPlan, sum_weights

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from discreet.records._derived import Derived
    from discreet.records._expressions import Raw
    from discreet.records._source import Batch


class SeveralSource:
    """Records in a declared list of files, each with its own names of columns."""

    def __init__(self, sources: Sequence["Source"]) -> None:
        self._sources = tuple(sources)

    def __repr__(self) -> str:
        return f"SeveralSource(<{len(self._sources)} tables>)"

    def names(self) -> list[str]:
        """Return the names of the columns that all tables have."""
        first, *others = (source.names() for source in self._sources)
        return [name for name in first if all(name in names for names in others)]

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[Counts]:
        """Return one table of counts for each family of columns."""
        counted = [source.count_families(families) for source in self._sources]
        return [sum(tables[1:], tables[0]) for tables in zip(*counted, strict=True)]

    def sum_moments(self, plan: MomentPlan) -> tuple[Wholes, int]:
        """Return the sum of every product of the plan, and the number of records."""
        parts = [source.sum_moments(plan) for source in self._sources]
        records = sum(size for _, size in parts)
        if records > plan.most_records:
            raise SourceError(f"At most {plan.most_records} records can be summed with a grid of {plan.grid}.")
        return sum((sums for sums, _ in parts[1:]), parts[0][0]), records

    def whole_rows(self, plan: MomentPlan) -> Wholes:
        """Return the whole numbers of every record, the constant last."""
        return np.concatenate([whole_rows(source, plan) for source in self._sources])

    def sum_groups(self, plan: GroupPlan) -> tuple[Wholes, int]:
        """Return the sums of a number in every group, and the number of records."""
        return added([source.sum_groups(plan) for source in self._sources])

    def count_places(self, plan: GroupPlan) -> tuple[Wholes, int]:
        """Return how many records of every group lie at each position, then how many have no value; and all."""
        return added([source.count_places(plan) for source in self._sources])

    def sum_weights(self, plan: WeightPlan) -> tuple[Wholes, int]:
        """Return weighted sums of a number in every group, and the number of records."""
        return added([sum_weights(source, plan) for source in self._sources])

    def id_rows(self, plan: IdPlan) -> IdRows:
        """Return what the rows of each id add up to; a person may have rows in several tables."""
        return IdRows.together([ids_in(source, plan) for source in self._sources])

    def stored(self, raws: "Sequence[Raw]", also: Sequence[str]) -> Iterator["Batch"]:
        """Yield all records with what derived columns are made of, and with further columns as they are."""
        for source in self._sources:
            yield from source.stored(raws, also)

    def with_derived(self, derived: "Derived") -> "Source":
        """Return the same records with derived columns beside the stored ones."""
        return SeveralSource([derived_source(source, derived) for source in self._sources])

    def open_quote(self) -> str | None:
        """Say in which record of a file of text a quote is never closed, if there is one: for the data holder only."""
        found = (source.open_quote() for source in self._sources if hasattr(source, "open_quote"))
        return next((where for where in found if where is not None), None)

    def match(self, columns: Sequence[Column], most: int = 5) -> list[ColumnMatch]:
        """Return how the records match each column; rare undeclared values of each table may be left out."""
        first, *others = (source.match(columns, 100 * most) for source in self._sources)
        for other in others:
            first = [each.added(more) for each, more in zip(first, other, strict=True)]
        return [match.first(most) for match in first]


_PARQUET = "read_parquet([{}], hive_partitioning = false, utf8_validation = 'replace')"


def parquet_file(path: Path, _: str | None, __: str | None) -> DuckdbSource:
    """Open a Parquet file, whatever characters its name contains."""
    plain = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in _literal(path))
    table = _PARQUET.format(literal(plain))
    return opened_in_silence(path, lambda: DuckdbSource.of_table(_quiet(_database().cursor()), table))


def _literal(path: Path) -> str:
    """Return the full path; refuse one that DuckDB would misread, because it treats a backslash as a separator."""
    if os.sep != "\\" and "\\" in str(path.absolute()):
        raise SourceError(
            f"DuckDB cannot open {str(path)!r}, because its path contains a backslash. Nothing was read. Rename or "
            "move the file."
        )
    return str(path.absolute())


def arrow_file(path: Path, _: str | None, __: str | None) -> ArrowSource:
    """Open an Arrow file."""
    try:
        from pyarrow import dataset
    except ImportError:
        raise SourceError("Arrow files need the package pyarrow: pip install pyarrow.") from None
    return ArrowSource(
        opened_in_silence(path, lambda: dataset.dataset([str(path.absolute())], format="ipc", partitioning=None))
    )


def duckdb_file(path: Path, table: str | None, _: str | None) -> DuckdbSource:
    """Open a table of a DuckDB file."""
    import duckdb  # slow to import

    literal = _literal(path)
    connection = opened_in_silence(path, lambda: _quiet(duckdb.connect(literal, read_only=True)))
    tables = [name for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()]
    tables += [
        name for (name,) in connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    ]
    chosen = table or (tables[0] if len(tables) == 1 else "")
    if chosen not in tables:
        raise SourceError(
            f"State which table of {path.name!r} to read; its tables are: {', '.join(map(repr, tables)) or 'none'}."
        )
    return opened_in_silence(path, lambda: DuckdbSource.of_table(connection, identifier(chosen)))


@cache
def _database() -> "DuckDBPyConnection":
    """Return one empty database in memory; every file that is read gets its own connection to it."""
    import duckdb  # slow to import

    return duckdb.connect()


def _quiet(connection: "DuckDBPyConnection") -> "DuckDBPyConnection":
    """Return a connection that shows no progress on the screen."""
    return connection.execute("SET enable_progress_bar = false")


def read(path: str | Path | Sequence[str | Path], table: str | None = None, separator: str | None = None) -> Source:
    r"""Open a file of records: .csv, .tsv (also .gz), .parquet, .arrow, .feather, .duckdb or .db; or a list of files.

    >>> import discreet as dc
    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp(), "coins.csv")
    >>> _ = file.write_text("coin\nheads\ntails\nheads\n")
    >>> coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> coin.statistics(dc.read(file))
    Statistics(<2 secret values>)

    Args:
        path: one file, several of the same form, or the address of a server: postgresql://user@host/database,
            or sc://host:port for Spark.
        table: which table, if a DuckDB file has several.
        separator: the character between fields; by default a comma for .csv, a tab for .tsv.

    Returns:
        a source that can be counted and summed, and never returns a row.

    Raises:
        SourceError: if the file cannot be read. Messages do not quote it.
    """
    if isinstance(path, str) and "://" in path:
        from discreet.records._servers import connect  # few need a server

        return connect(path, table)
    if isinstance(path, str | Path):
        return _one(Path(path), table, separator)
    if not isinstance(path, Sequence) or not path or not all(isinstance(each, str | Path) for each in path):
        raise SourceError("Records are read from the path of a file, or from a list of paths. Nothing was read.")
    paths = [Path(each) for each in path]
    sources = [_one(path, table, separator) for path in paths]
    if len({(found.st_dev, found.st_ino) for found in map(os.stat, paths)}) < len(paths):
        raise SourceError(
            "The list of files contains the same file twice, perhaps under two names (a link), so its records would "
            "be counted twice. Nothing was counted. List each file once."
        )
    return SeveralSource(sources)


def _one(path: Path, table: str | None, separator: str | None) -> Source:
    is_there = False
    with suppress(OSError):  # a name may be too long for the system
        is_there = path.is_file()
    if not is_there:
        with suppress(OSError):
            if path.is_dir():
                raise SourceError(f"{str(path)!r} is a folder. Name a file of records in it. Nothing was read.")
        raise SourceError(f"There is no file {str(path)!r}. Nothing was read.")
    name = path.name.lower().removesuffix(".gz")
    opener = next((opener for endings, opener in _OPENERS.items() if name.endswith(endings)), None)
    if opener is None:
        known = ", ".join(ending for endings in _OPENERS for ending in endings)
        raise SourceError(f"{path.name!r} was not read: its name must end with one of {known}.")
    return opener(path, table, separator)


def _delimited(path: Path, _: str | None, separator: str | None) -> DelimitedSource:
    is_zipped = path.name.lower().endswith(".gz")
    mark = separator or ("\t" if path.name.lower().removesuffix(".gz").endswith(".tsv") else ",")
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0':
        raise SourceError(f"The separator of a CSV file must be one character, not a quote or line end; got {mark!r}.")
    if not path.stat().st_size:
        raise SourceError(f"{path.name!r} is empty: it needs at least a header with the names of the columns.")
    opened = partial(_bytes_of, path, is_zipped)
    opened_in_silence(path, lambda: _first_byte(opened))
    return DelimitedSource(opened, mark, path.name)


def _bytes_of(path: Path, is_zipped: bool) -> BinaryIO:
    return cast(BinaryIO, gzip.open(path, "rb")) if is_zipped else path.open("rb")


def _first_byte(opened: Callable[[], BinaryIO]) -> bytes:
    with opened() as file:
        return file.read(1)


_OPENERS: dict[tuple[str, ...], Callable[[Path, str | None, str | None], Source]] = {
    (".csv", ".tsv", ".txt"): _delimited,
    (".parquet", ".pq"): parquet_file,
    (".arrow", ".feather", ".ipc"): arrow_file,
    (".duckdb", ".ddb", ".db"): duckdb_file,
}
