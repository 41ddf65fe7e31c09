"""The queue: one database between front and publisher, in a file of its own or on a PostgreSQL server.

It holds questions, releases, accounts and the audit log. It holds no records, and of secrets only their hashes: Argon2
for passwords, SHA-256 for sessions, tokens and links, which are long and random. Lines of the audit log can only be
added; database triggers make sure of that.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Float,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    create_engine,
    event,
    inspect,
)
from sqlalchemy.exc import SQLAlchemyError

from discreet._core.errors import DeclarationError, DiscreetError

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection
    from sqlalchemy.pool import ConnectionPoolEntry

metadata = MetaData()

facts = Table("facts", metadata, Column("name", String(40), primary_key=True), Column("document", Text, nullable=False))
"""What the publisher tells the front: the declarations, the budget, and that it is running."""

questions = Table(
    "questions",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("account", String(100), nullable=False),
    Column("key", String(200)),
    Column("declaration", Text, nullable=False),
    Column("canonical", String(64), nullable=False, default="", index=True),
    Column("label", Text, nullable=False),
    Column("mechanism", String(100), nullable=False),
    Column("epsilon", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("state", String(20), nullable=False, index=True),
    Column("words", Text, nullable=False, default=""),
    Column("asked_at", Float, nullable=False),
    Column("decided_by", String(100)),
    Column("decided_at", Float),
    Column("begun_at", Float),
    Column("visible_at", Float),
    Column("release", String(64)),
    Column("answer", Text),
    Column("is_charged", Integer, nullable=False, default=0),
    Column("is_overrun", Integer, nullable=False, default=0),
    Column("reason", Text, nullable=False, default=""),
    UniqueConstraint("account", "key"),
    sqlite_autoincrement=True,
)

releases = Table(
    "releases",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("number", Integer, nullable=False),
    Column("label", Text, nullable=False),
    Column("mechanism", String(100), nullable=False),
    Column("epsilon", Text, nullable=False),
    Column("delta", Text, nullable=False),
    Column("visible_at", Float, nullable=False),
    Column("document", Text, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("role", String(20), nullable=False),
    Column("password", Text),
    Column("is_closed", Integer, nullable=False, default=0),
    Column("made_at", Float, nullable=False),
)

attempts = Table(
    "attempts",
    metadata,
    Column("account", String(100), primary_key=True),
    Column("address", String(100), primary_key=True),
    Column("failures", Integer, nullable=False, default=0),
    Column("locked_until", Float, nullable=False, default=0.0),
    Column("at", Float, nullable=False, default=0.0),
)
"""Wrong passwords since the last right one: from each address that signed in before, and from all others together."""

links = Table(
    "links",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("account", String(100), nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("used_at", Float),
)

sessions = Table(
    "sessions",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("account", String(100), nullable=False, index=True),
    Column("guard", String(64), nullable=False),
    Column("made_at", Float, nullable=False),
    Column("seen_at", Float, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("account", String(100), nullable=False),
    Column("name", String(100), nullable=False),
    Column("scopes", String(100), nullable=False),
    Column("made_at", Float, nullable=False),
    Column("expires_at", Float, nullable=False),
    Column("revoked_at", Float),
)

audit = Table(
    "audit",
    metadata,
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("at", Float, nullable=False),
    Column("account", String(100), nullable=False),
    Column("what", String(60), nullable=False),
    Column("about", Text, nullable=False),
    Column("previous", String(64), nullable=False),
    Column("digest", String(64), nullable=False),
)

_KEPT_IN_A_FILE = tuple(
    f"CREATE TRIGGER IF NOT EXISTS audit_is_kept_{event.lower()} BEFORE {event} ON audit "
    "BEGIN SELECT RAISE(ABORT, 'lines of the audit log are never changed or deleted'); END"
    for event in ("UPDATE", "DELETE")
)
_KEPT_ON_A_SERVER = (
    "CREATE OR REPLACE FUNCTION audit_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$ "
    "BEGIN RAISE EXCEPTION 'lines of the audit log are never changed or deleted'; END $$",
    "DROP TRIGGER IF EXISTS audit_is_kept ON audit",
    "CREATE TRIGGER audit_is_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit "
    "FOR EACH STATEMENT EXECUTE FUNCTION audit_is_kept()",
)

FRONT_RIGHTS = {
    "facts": "SELECT",
    "releases": "SELECT",
    "questions": "SELECT, INSERT, UPDATE",
    "accounts": "SELECT, INSERT, UPDATE",
    "attempts": "SELECT, INSERT, UPDATE, DELETE",
    "links": "SELECT, INSERT, UPDATE",
    "sessions": "SELECT, INSERT, UPDATE, DELETE",
    "tokens": "SELECT, INSERT, UPDATE",
    "audit": "SELECT, INSERT",
}
"""All that the front's role may do on a database server; it may do nothing in the schema of a ledger."""

_LOCKS = 1_147_758  # the advisory lock of writers whose order matters: those of the audit log


class QueueError(DiscreetError):
    """The queue cannot be used."""


class Queue:
    """The database between front and publisher."""

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.place = str(place)
        self.is_file = "://" not in self.place
        self.engine: Engine = _file(Path(self.place)) if self.is_file else _server(self.place)

    @property
    def shown(self) -> str:
        """Return where it is, without a password."""
        return self.place if self.is_file else self.engine.url.render_as_string(hide_password=True)

    def create(self, front: str | None = None) -> None:
        """Create missing tables; on a server, grant the front's role its rights and no others."""
        with self.write_transaction() as connection:
            metadata.create_all(connection)
            for statement in _KEPT_IN_A_FILE if self.is_file else _KEPT_ON_A_SERVER:
                connection.exec_driver_sql(statement)
            for table, rights in FRONT_RIGHTS.items() if front is not None and not self.is_file else ():
                role = connection.dialect.identifier_preparer.quote_identifier(str(front))
                connection.exec_driver_sql(f"REVOKE ALL ON {table} FROM {role}")
                connection.exec_driver_sql(f"GRANT {rights} ON {table} TO {role}")
            if front is not None and not self.is_file:
                connection.exec_driver_sql(f"GRANT USAGE ON SEQUENCE questions_number_seq TO {role}")

    def require(self) -> None:
        """Refuse a place where there is no queue."""
        with self.read_transaction() as connection:
            if not inspect(connection).has_table("questions"):
                raise QueueError(f"There is no queue at {self.shown!r}. Start the publisher first: it creates one.")

    @contextmanager
    def write_transaction(self) -> Iterator[Connection]:
        """Open a transaction that may write; in a file, it locks out all other writers from the start."""
        with self._in_words(), self.engine.begin() as connection:
            if self.is_file:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            yield connection

    @contextmanager
    def read_transaction(self) -> Iterator[Connection]:
        """Open a transaction that only reads."""
        with self._in_words(), self.engine.begin() as connection:
            if self.is_file:
                connection.exec_driver_sql("BEGIN")
            yield connection

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        problem = ""
        try:
            yield
        except SQLAlchemyError as error:
            problem = type(error).__name__  # its message quotes what was to be written
        if problem:
            raise QueueError(f"The queue could not be used just now ({problem}). Nothing was changed. Try again.")


def in_order(connection: Connection) -> None:
    """On a server, wait for other writers whose order matters; in a file, there is only one writer at a time anyway."""
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCKS})")


def _file(path: Path) -> Engine:
    if not path.parent.is_dir():
        raise DeclarationError(f"There is no folder {str(path.parent)!r} for the queue. Nothing was done.")
    if not path.exists():
        path.touch(mode=0o660)  # as the umask allows; a group could not write to a file that SQLite creates
    engine = create_engine(f"sqlite:///{path.absolute()}", connect_args={"timeout": 30, "check_same_thread": False})

    @event.listens_for(engine, "connect")
    def connected(connection: "DBAPIConnection", _: "ConnectionPoolEntry") -> None:
        connection.isolation_level = None  # transactions are begun explicitly, below
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.close()

    return engine


def _server(address: str) -> Engine:
    parts = urlsplit(address)
    if parts.scheme not in ("postgresql", "postgres"):
        raise DeclarationError(
            "A queue is a file, or a database on a PostgreSQL server: pass a path, or postgresql://..."
        )
    asked = dict(parse_qsl(parts.query))
    schema = asked.pop("schema", None)
    options = {} if schema is None else {"options": f"-csearch_path={schema}"}
    url = f"postgresql+psycopg://{parts.netloc}{parts.path}"
    found = {**asked, **options}
    return create_engine(f"{url}?{urlencode(found)}" if found else url, pool_pre_ping=True)
