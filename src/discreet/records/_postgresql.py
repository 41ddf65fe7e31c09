"""Tables and views of PostgreSQL: read as text, in one snapshot, and counted here like a file of delimited text.

The database sends the columns that are asked for (COPY ... TO STDOUT) in a transaction that may only read and that sees
one state of the table however many passes there are. Each value is written by a cast that cannot fail: which cast
depends on the column's declared type alone. A gap is written as a control character, which no declared level contains.
So a value means what it means everywhere else, whatever collation, time zone or style of dates the server is set to.
What has no plain meaning (arrays, times without a day, composite types) counts as missing.

Tables of declared levels are grouped by the server, byte by byte of what it would send: it sends each different record
once, and how often it is there. Which level a value has is still decided here. Everything else is streamed.

A password belongs into a password file (PGPASSFILE) or the environment, not into an address.
"""

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, BinaryIO, cast
from urllib.parse import urlsplit
from weakref import finalize

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import SourceError
from discreet.records._batch_source import BatchSource
from discreet.records._columns import Column
from discreet.records._delimited import DelimitedSource
from discreet.records._matches import MISSING
from discreet.records._source import Batch, in_silence
from discreet.records._statistics import Cluster, Codes, cells_of, clusters, margins
from discreet.records._typed_arrays import Kind, Values, codes_of
from discreet.records._values import LARGEST_WHOLE

if TYPE_CHECKING:
    from psycopg import Connection

GAP = "\x01"
"""What stands for a missing value: no level may contain it, and it is no number and no day."""
_ENCODINGS = ("UTF8", "LATIN1", "SQL_ASCII")
"""Encodings of a database whose every text can be sent: others have letters that would stop the count."""
_SETTINGS = {
    "DateStyle": "ISO, YMD", "TimeZone": "UTC", "extra_float_digits": "1", "client_encoding": "UTF8",
    "statement_timeout": "0", "row_security": "on", "bytea_output": "hex",
}  # fmt: skip
_FLOATS = ("float4", "float8", "numeric")
"""Types of numbers that a server writes in several ways: they are compared as numbers."""
_PLAIN = ("int2", "int4", "int8", "float8", "date")
_TEXT = ("text", "varchar", "bpchar", "name", "citext", "uuid", "bool")
_COUNT = "\x01count"  # no column of a table has such a name that it could be taken for
_COLUMNS = """SELECT a.attname, b.typname, b.typtype FROM pg_attribute a
JOIN LATERAL (
    WITH RECURSIVE chain AS (
        SELECT t.* FROM pg_type t WHERE t.oid = a.atttypid
        UNION ALL SELECT t.* FROM pg_type t JOIN chain ON chain.typtype = 'd' AND t.oid = chain.typbasetype
    ) SELECT typname, typtype FROM chain WHERE typtype <> 'd'
) b ON true WHERE a.attrelid = %s::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""


def written_as(column: str, kind: str, is_enum: bool = False) -> str:
    """Return the text of SQL by which a value of a type is written, or is missing; it cannot fail on any value.

    >>> written_as('"age"', "int4"), written_as('"ward"', "varchar")
    ('"age"', '"ward"::text')
    """
    if kind in _PLAIN:
        return column
    if kind in _TEXT or is_enum:
        return f"{column}::text"
    if kind == "float4":
        return f"{column}::float8"
    if kind == "numeric":
        small = f"{column} <> 0 AND abs({column}) < 1e-300"
        near = f"CASE WHEN {small} THEN sign({column})::float8 * 1e-300::float8 ELSE {column}::float8 END"
        return f"CASE WHEN abs({column}) < 1e300 THEN {near} END"
    if kind == "timestamp":
        return f"CASE WHEN {column} = date_trunc('day', {column}) THEN {column}::date::text ELSE {_moment(column)} END"
    if kind == "timestamptz":
        return f"{_moment(f'''({column} AT TIME ZONE 'UTC')''')} || 'Z'"
    return "NULL::text"


def _moment(value: str) -> str:
    """Return how a time of a day is written: with nine digits of a second, as no level is."""
    return f"{value}::date::text || ' ' || to_char({value}, 'HH24:MI:SS.US') || '000'"


class PostgresqlSource(BatchSource):
    """Records in a table or view of a PostgreSQL server, `postgresql://user@host/database`."""

    def __init__(self, address: str, table: str) -> None:
        parts = urlsplit(address)
        if parts.password is not None or "password=" in parts.query:
            raise SourceError(
                "The address of a server must not contain a password, because studies are public. Nothing was read. "
                "Put it into a password file (PGPASSFILE) or into the variable PGPASSWORD."
            )
        self._address, self._table = address, table
        self.place = f"{parts.scheme}://{parts.netloc}{parts.path}"
        self._connection: Connection | None = None
        self._columns: dict[str, str] = {}
        self._floats: set[str] = set()
        self._open()

    def names(self) -> list[str]:
        return list(self._columns)

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Yield the records as the server sends them."""
        return self._sent(names, [self._columns[name] for name in names])

    def _count(self, families: Sequence[Sequence[Column]], columns: list[Column]) -> list[Counts]:
        if any(column.edges for column in columns):
            return super()._count(families, columns)  # a number may have as many values as there are records
        together = clusters(families)
        return margins(families, together, [self._grouped(cluster) for cluster in together])

    def _grouped(self, cluster: Cluster) -> Counts:
        """Return how many records each cell has, of different records and how often each is there."""
        table = np.zeros(prod(cluster.shape), dtype=np.int64)
        names = list(dict.fromkeys(column.name for column in cluster.columns))
        exact = [f'({self._columns[name]})::text COLLATE "C"' for name in names]
        by = f"GROUP BY {', '.join(str(place) for place in range(1, len(names) + 1))}"
        for batch in self._sent([*names, _COUNT], [*exact, "count(*)"], by):
            cells = cells_of({column: batch.codes(column) for column in cluster.columns}, cluster)
            np.add.at(table, cells, batch.numbers(_COUNT, False).astype(np.int64))
        return table

    def _sent(self, names: Sequence[str], values: Sequence[str], by: str = "") -> Iterator[Batch]:
        """Yield what the server sends of these values of SQL, under these names."""
        listed = ", ".join(f"{value} AS c{number}" for number, value in enumerate(values))
        copy = f"COPY (SELECT {listed} FROM {self._relation} {by}) TO STDOUT (FORMAT csv, NULL '{GAP}')"
        head = ",".join(f"c{number}" for number in range(len(names))).encode() + b"\n"
        streams = [io.BytesIO(head), cast(BinaryIO, _Copy(self._open(), copy, head))]
        lines = DelimitedSource(lambda: streams.pop(0), ",", self._table)
        places = {name: f"c{number}" for number, name in enumerate(names)}
        for batch in lines.batches(list(places.values())):
            yield _Named(batch, places, self._floats)

    def _open(self) -> "Connection":
        """Return a connection with a snapshot of the table, in which all passes look."""
        if self._connection is not None and not self._connection.closed:
            return self._connection
        if self._columns:
            raise SourceError("The connection to the server was lost. Nothing was counted and nothing was charged.")
        self._connection = _connected(self._address, self.place)
        finalize(self, self._connection.close)
        found: list[tuple[str, str, str]] = []
        with in_silence():
            known = self._connection.execute("SELECT to_regclass(%s)::oid, to_regclass(%s)::text", (self._table,) * 2)
            ((oid, relation),) = known.fetchall()
            if oid is not None:
                self._relation = str(relation)
                found = self._connection.execute(_COLUMNS, (oid,)).fetchall()
        if not found:
            raise SourceError(
                f"There is no table or view {self._table!r} at {self.place!r} that this role can see. Nothing was "
                "read. Name it as in SQL, such as hospital.visits."
            )
        self._floats = {name for name, kind, _ in found if kind in _FLOATS}
        quoted = [(name, '"' + name.replace('"', '""') + '"', kind, form) for name, kind, form in found]
        self._columns = {name: written_as(column, kind, form == "e") for name, column, kind, form in quoted}
        return self._connection


def _connected(address: str, place: str) -> "Connection":
    """Return a connection that may only read, and sees one state of the database."""
    try:
        import psycopg
    except ImportError:
        raise SourceError(
            'Tables of PostgreSQL need the package psycopg: pip install "discreet[postgresql]".'
        ) from None
    words, connection = "", None
    try:
        connection = psycopg.connect(address, application_name="discreet", connect_timeout=30)
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        for name, value in _SETTINGS.items():
            connection.execute("SELECT set_config(%s, %s, false)", (name, value))
        ((encoding,),) = connection.execute("SHOW server_encoding").fetchall()
    except (psycopg.Error, UnicodeError) as problem:  # no record was read, so there is none in its words
        words = str(problem).strip().partition("\n")[0] or type(problem).__name__
    if words or connection is None:
        raise SourceError(f"Cannot read from {place!r}: {words}. Nothing was counted and nothing was charged.")
    if encoding not in _ENCODINGS:
        connection.close()
        raise SourceError(
            f"The database at {place!r} keeps texts in {encoding}, some letters of which cannot be sent, so that one "
            f"record could stop the count. Nothing was counted. Encodings that can are {', '.join(_ENCODINGS)}."
        )
    return connection


class _Copy(io.RawIOBase):
    """What the server sends of a COPY, behind a line of names, as a file that is read once."""

    def __init__(self, connection: "Connection", statement: str, head: bytes) -> None:
        self._connection, self._statement, self._rest = connection, statement, head
        self._is_begun = self._is_done = False

    def read(self, size: int = -1) -> bytes:
        """Return about so many bytes; none at the end."""
        parts, wanted = [self._rest], size - len(self._rest)
        if not self._is_begun:
            self._begin()
        take = self._connection.pgconn.get_copy_data
        while wanted > 0 and not self._is_done:
            length, data = take(0)
            if length > 0:
                parts.append(bytes(data))
                wanted -= length
            elif length == -1:
                self._finish()
            else:
                raise OSError  # whoever called drops this
        found = b"".join(parts)
        self._rest = found[size:]
        return found[:size]

    def _begin(self) -> None:
        from psycopg.pq import ExecStatus

        self._is_begun = True
        result = self._connection.pgconn.exec_(self._statement.encode())
        if result.status != ExecStatus.COPY_OUT:
            raise OSError

    def _finish(self) -> None:
        from psycopg.pq import ExecStatus

        self._is_done, pgconn = True, self._connection.pgconn
        while (result := pgconn.get_result()) is not None:
            if result.status != ExecStatus.COMMAND_OK:
                raise OSError

    def close(self) -> None:
        """End the connection if the table was not read to its end: what is still to come would be taken for more."""
        if self._is_begun and not self._is_done:
            self._connection.close()
        super().close()


class _Named(Batch):
    """The records of a block, by the names of their columns."""

    def __init__(self, batch: Batch, places: dict[str, str], floats: set[str]) -> None:
        self._batch, self._places, self._floats = batch, places, floats

    def __len__(self) -> int:
        return len(self._batch)

    def codes(self, column: Column) -> Codes:
        if column.name in self._floats:
            found = self.numbers(column.name, False)
            known = np.abs(found) <= LARGEST_WHOLE  # NaN is not <= anything
            return codes_of(Values(Kind.NUMBER, np.where(known, found, 0), known), column)
        return self._batch.codes(column.renamed(self._places[column.name]))

    def numbers(self, name: str, dates: bool) -> Floats:
        return self._batch.numbers(self._places[name], dates)

    def values(self, name: str, indices: NDArray[np.intp]) -> Sequence[object]:
        return [None if each == GAP else each for each in self._batch.values(self._places[name], indices)]

    def frequencies(self, name: str, indices: NDArray[np.intp]) -> Counter[str]:
        found = self._batch.frequencies(self._places[name], indices)
        if gaps := found.pop(GAP, 0):
            found[MISSING] += gaps
        return found
