"""Where a ledger lies: a SQLite file or a PostgreSQL database, behind the same few statements.

A place opens transactions. To write means to be alone: SQLite takes its write lock at once (BEGIN IMMEDIATE),
PostgreSQL an advisory lock of the ledger's own that the transaction holds to its end. Statements after the lock see all
that was committed before it, so a charge is decided on the newest entry, and there is nothing to try again. (Under
READ COMMITTED without such a lock two charges read the same sum and both fit; SERIALIZABLE would be right as well, but
most of many racing charges would be thrown back.)
"""

import os
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, make_url, text
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from discreet.errors import DeclarationError, DocumentError, LedgerError

TABLE = "ledger_entries"
TABLE_1 = "entries"
"""The name of the table in files of version 0.1, which must not open what later versions write."""

_COLUMNS = """sequence BIGINT PRIMARY KEY, body TEXT NOT NULL, previous TEXT NOT NULL, digest TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL, request TEXT, charge BIGINT"""
_INDEXES = (
    f"CREATE INDEX {TABLE}_by_request ON {TABLE} (request, sequence)",
    f"CREATE INDEX {TABLE}_by_charge ON {TABLE} (charge)",
)
_WAIT = 60  # seconds for the lock
_APPEND_ONLY = """CREATE OR REPLACE FUNCTION {schema}.refuse_change() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'a ledger is only ever appended to'; END $$"""
_TRIGGERS = (
    f"CREATE TRIGGER append_only BEFORE UPDATE OR DELETE ON {TABLE} FOR EACH ROW "
    "EXECUTE FUNCTION {schema}.refuse_change()",
    f"CREATE TRIGGER never_emptied BEFORE TRUNCATE ON {TABLE} FOR EACH STATEMENT "
    "EXECUTE FUNCTION {schema}.refuse_change()",
)
_SQLITE_TRIGGERS = tuple(
    f"CREATE TRIGGER no_{verb.lower()} BEFORE {verb} ON {TABLE} "
    "BEGIN SELECT RAISE(ABORT, 'a ledger is only ever appended to'); END"
    for verb in ("UPDATE", "DELETE")
)


class Place(ABC):
    """Where the entries of one ledger are kept."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    @abstractmethod
    def address(self) -> str:
        """Return what `Ledger.open` takes to come back here."""

    def __str__(self) -> str:
        """Return the place in words, without any password."""
        return self.address

    @abstractmethod
    def create(self) -> None:
        """Make room for a new ledger, where there must be none yet."""

    @abstractmethod
    def is_there(self) -> bool:
        """Tell whether there is something at this place."""

    @abstractmethod
    def table(self, connection: Connection) -> str:
        """Return the name of the table of entries, which tells the form of the ledger."""

    @abstractmethod
    def make_table(self, connection: Connection) -> None:
        """Create the table of entries, which may be appended to and never changed."""

    @abstractmethod
    def _begin(self, connection: Connection, alone: bool) -> None: ...

    def reading(self) -> AbstractContextManager[Connection]:
        """Begin to read."""
        return self._transaction(alone=False)

    def writing(self) -> AbstractContextManager[Connection]:
        """Be alone from the first read to the commit."""
        return self._transaction(alone=True)

    @contextmanager
    def _transaction(self, alone: bool) -> Iterator[Connection]:
        problem = ""
        try:
            with self._engine.begin() as connection:
                self._begin(connection, alone)
                yield connection
        except SQLAlchemyError as error:
            problem = _in_words(error)
        except (DocumentError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, DeclarationError):
                raise
            problem = "an entry is not readable"
        if problem:
            unsure = " If the connection broke in the middle of a charge, the charge may stand." if alone else ""
            raise LedgerError(f"Cannot use the ledger {str(self)!r}: {problem}. Nothing was published.{unsure}")


class SQLiteFile(Place):
    """A ledger in one SQLite file. The journal lies beside it only while a transaction runs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        super().__init__(_sqlite_engine(path))

    @property
    def address(self) -> str:
        """Return the path."""
        return str(self.path)

    def is_there(self) -> bool:
        """Tell whether the file exists."""
        return self.path.is_file()

    def create(self) -> None:
        """Create the file, readable and writable by its owner only."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            raise LedgerError(
                f"{self.address!r} exists already. Nothing was changed. Open it with Ledger.open, or choose another "
                "name; mind that a new ledger is a new budget."
            ) from None
        except OSError as problem:
            raise LedgerError(f"Cannot create a ledger at {self.address!r}: {problem.strerror}.") from None

    def table(self, connection: Connection) -> str:
        """Return the name of the table of entries."""
        found = connection.execute(text("SELECT name FROM sqlite_master WHERE type = 'table'")).scalars().all()
        return TABLE if TABLE in found or TABLE_1 not in found else TABLE_1

    def make_table(self, connection: Connection) -> None:
        """Create the table; its triggers stop accidents, not an owner of the file who means to change it."""
        for statement in (f"CREATE TABLE {TABLE} ({_COLUMNS})", *_INDEXES, *_SQLITE_TRIGGERS):
            connection.execute(text(statement))

    def _begin(self, connection: Connection, alone: bool) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE" if alone else "BEGIN")


class PostgresDatabase(Place):
    """A ledger in one schema of a PostgreSQL database: `postgresql://user@host/database?schema=name`."""

    def __init__(self, url: URL) -> None:
        self.schema = str(url.query.get("schema", "discreet"))
        if not self.schema.replace("_", "a").isalnum() or not self.schema.isascii() or self.schema[0].isdigit():
            raise DeclarationError(f"A schema is named by letters, digits and '_'; got {self.schema!r}.")
        self.url = url
        plain = url.difference_update_query(["schema"]).set(drivername="postgresql+psycopg")
        options = {"connect_timeout": _WAIT, "options": f"-c search_path={self.schema} -c lock_timeout={_WAIT}s"}
        try:
            engine = create_engine(plain, poolclass=NullPool, connect_args=options)
        except ImportError:
            raise LedgerError(
                'A ledger in PostgreSQL needs another package: pip install "discreet[postgres]".'
            ) from None
        super().__init__(engine)
        self._lock = int.from_bytes(sha256(f"discreet ledger {self.schema}".encode()).digest()[:8], signed=True)

    @property
    def address(self) -> str:
        """Return the URL, with its password."""
        return self.url.render_as_string(hide_password=False)

    def __str__(self) -> str:
        return self.url.render_as_string(hide_password=True)

    def is_there(self) -> bool:
        """Tell whether the schema holds a ledger."""
        with self.reading() as connection:
            return connection.execute(text("SELECT to_regclass(:name)"), {"name": self._qualified}).scalar() is not None

    @property
    def _qualified(self) -> str:
        return f"{self.schema}.{TABLE}"

    def create(self) -> None:
        """Create the schema if there is none; refuse one that holds a ledger."""
        if self.is_there():
            raise LedgerError(
                f"{str(self)!r} holds a ledger already. Nothing was changed. Open it with Ledger.open, or choose "
                "another schema; mind that a new ledger is a new budget."
            )

    def table(self, connection: Connection) -> str:
        """Return the name of the table of entries; version 0.1 had no ledgers in PostgreSQL."""
        del connection
        return TABLE

    def make_table(self, connection: Connection) -> None:
        """Create the schema, the table and the triggers that refuse to change or delete, to every role."""
        triggers = [_APPEND_ONLY, *_TRIGGERS]
        statements = [f"CREATE SCHEMA IF NOT EXISTS {self.schema}", f"CREATE TABLE {TABLE} ({_COLUMNS})", *_INDEXES]
        for statement in statements + [trigger.format(schema=self.schema) for trigger in triggers]:
            connection.execute(text(statement))

    def grant(self, role: str) -> None:
        """Let a role of the database publish: read and append, nothing else."""
        name = '"' + role.replace('"', '""') + '"'
        with self.writing() as connection:
            for statement in (
                f"REVOKE ALL ON {TABLE} FROM {name}",
                f"GRANT USAGE ON SCHEMA {self.schema} TO {name}",
                f"GRANT SELECT, INSERT ON {TABLE} TO {name}",
            ):
                connection.exec_driver_sql(statement)

    def _begin(self, connection: Connection, alone: bool) -> None:
        if not alone:
            connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
            return
        connection.execute(text("SET LOCAL synchronous_commit = on"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": self._lock})


def place_of(where: str | os.PathLike[str]) -> Place:
    """Return the place that a path or a URL names."""
    written = os.fspath(where)
    if "://" not in written:
        return SQLiteFile(Path(written))
    try:
        url = make_url(written)
    except (ArgumentError, ValueError):
        url = None
    if url is None or url.get_backend_name() not in ("postgresql", "postgres"):
        kind = written.split("://")[0]
        raise DeclarationError(
            f"A ledger lies in a file or at 'postgresql://user@host/database'; got an address of the kind {kind!r}."
        )
    return PostgresDatabase(url)


def _sqlite_engine(path: Path) -> Engine:
    """Return an engine that opens a fresh connection for every transaction, so that forked processes share none.

    synchronous=EXTRA puts every commit on the disk, and the directory with it, before a charge is confirmed.
    """
    address = f"file:{quote(str(path.absolute()))}?mode=rw"  # never creates a file: a lost ledger is not begun anew

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(address, uri=True, timeout=_WAIT)
        connection.isolation_level = None  # this library says itself when a transaction begins
        connection.execute("PRAGMA synchronous=EXTRA")
        return connection

    return create_engine("sqlite://", creator=connect, poolclass=NullPool)


def _in_words(error: SQLAlchemyError) -> str:
    """Return what a database says, in one line; none of our statements holds anything that is secret."""
    cause: Any = getattr(error, "orig", None)
    return type(error).__name__ if cause is None else str(cause).strip().split("\n")[0].rstrip(".")
