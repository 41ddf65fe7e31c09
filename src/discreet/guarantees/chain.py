"""The file of a ledger: entries in SQLite, each chained by a hash to the one before, every write under one lock.

The journal is SQLite's own and lives beside the file only while a transaction runs, so the file alone is the ledger.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import msgspec

from discreet.documents import canonical_json, read_json
from discreet.errors import DeclarationError, DocumentError, LedgerError
from discreet.guarantees.entries import PARTS, Body, Sums

if TYPE_CHECKING:
    from sqlalchemy import Connection, CursorResult, Engine, Row

POINTS = (
    "charge-begun",  # the ledger is locked, nothing is written
    "charge-written",  # the charge is written but not yet committed
    "charged",  # the charge is committed, nothing is drawn
    "drawn",  # the output is drawn, nothing is recorded
    "record-begun",  # the ledger is locked again
    "record-written",  # the release is written but not yet committed
    "recorded",  # the release is recorded but not yet returned
)

action: Callable[[str], None] | None = None
"""What tests do at each of them, to show that a crash there loses nothing. In ordinary use nothing is done."""

GENESIS = "0" * 64
_SELECT = "SELECT sequence, body, previous, digest FROM entries"
_SCHEMA = """CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY, body TEXT NOT NULL, previous TEXT NOT NULL, digest TEXT NOT NULL UNIQUE)"""


def reached(point: str) -> None:
    """Say that a point was reached."""
    if action is not None:
        action(point)


@dataclass(frozen=True)
class Entry:
    """One line of a ledger: what happened, and the hash that chains it to the line before."""

    sequence: int
    body: Body
    previous: str
    digest: str

    @property
    def kind(self) -> str:
        """Return what happened: 'created', 'limit', 'charge' or 'release'."""
        return self.body["kind"]

    @property
    def sums(self) -> Sums:
        """Return what every entry repeats."""
        return {"limit": self.body["limit"], "shares": self.body["shares"], "spent": self.body["spent"]}

    @property
    def paid(self) -> list[tuple[str, object]]:
        """Return what a charge paid for, by label and mechanism's document: one release, or all parts of a plan."""
        document = self.body["mechanism"]
        parts = document.get("parts")
        if document.get("kind") != "Plan" or not isinstance(parts, list):
            return [(self.body["label"], document)]
        return [(part["label"], part["mechanism"]) for part in parts]

    def expected_digest(self) -> str:
        """Return the hash that this entry should have."""
        return chain_digest(self.sequence, canonical_json(self.body), self.previous)


@dataclass(frozen=True)
class Receipt:
    """The receipt of a charge: its number in the ledger and the hash of its entry, the chain's head at that moment."""

    sequence: int
    head: str


def chain_digest(sequence: int, body: str, previous: str) -> str:
    """Return the hash of an entry: of the entry before it, its number and its body."""
    return sha256(f"{previous}\n{sequence}\n{body}".encode()).hexdigest()


def digest_of(release: str) -> str:
    """Return the fingerprint of a release's canonical text."""
    return sha256(release.encode()).hexdigest()


def read_entry(row: "Row[tuple[int, str, str, str]]") -> Entry:
    """Read a row of the file; refuse what was not written by this library."""
    found = read_json(row.body)
    parts = PARTS.get(str(found.get("kind"))) if isinstance(found, dict) else None
    if isinstance(found, dict) and parts is not None and set(found) == parts | {"kind"}:
        with suppress(msgspec.ValidationError):
            return Entry(int(row.sequence), msgspec.convert(found, Body), str(row.previous), str(row.digest))
    raise LedgerError(
        f"Entry {row.sequence} of the ledger cannot be read: it was edited, or written by a later version of "
        "discreet. Nothing was charged."
    )


class Chain:
    """The entries of one ledger file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = _engine(path)

    def reading(self) -> AbstractContextManager["Connection"]:
        """Begin to read."""
        return self._transaction("BEGIN")

    def writing(self) -> AbstractContextManager["Connection"]:
        """Hold the write lock from the first read to the commit."""
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator["Connection"]:
        from sqlalchemy.exc import SQLAlchemyError

        problem = ""
        try:
            with self._engine.begin() as connection:
                connection.exec_driver_sql(begin)
                yield connection
        except SQLAlchemyError as error:
            problem = type(error).__name__ if not hasattr(error, "orig") else str(error.orig)
        except (DocumentError, ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, DeclarationError):
                raise
            problem = "an entry is not readable"
        if problem:
            raise LedgerError(f"Cannot use the ledger {str(self.path)!r}: {problem}. Nothing was published.")


def begin(connection: "Connection", body: Body) -> None:
    """Write the first entry of a new ledger."""
    _run(connection, _SCHEMA)
    append(connection, None, body)


def append(connection: "Connection", head: Entry | None, body: Body) -> Entry:
    """Write an entry behind the newest one."""
    sequence, previous = (head.sequence + 1, head.digest) if head else (1, GENESIS)
    written = canonical_json(body)
    digest = chain_digest(sequence, written, previous)
    row = {"sequence": sequence, "body": written, "previous": previous, "digest": digest}
    _run(connection, "INSERT INTO entries VALUES (:sequence, :body, :previous, :digest)", row)
    return Entry(sequence, body, previous, digest)


def newest(connection: "Connection") -> Entry:
    """Return the newest entry, which must fit its own hash."""
    row = _run(connection, _SELECT + " ORDER BY sequence DESC LIMIT 1").one_or_none()
    if row is None:
        return Entry(0, {}, "", GENESIS)
    entry = read_entry(row)
    if entry.digest != entry.expected_digest():
        raise LedgerError(f"The newest entry of the ledger, {entry.sequence}, was edited. Nothing was charged.")
    return entry


def oldest(connection: "Connection") -> Entry:
    """Return the entry with which the ledger was created."""
    return read_entry(_run(connection, _SELECT + " ORDER BY sequence LIMIT 1").one())


def everything(connection: "Connection") -> list[Entry]:
    """Return all entries, oldest first."""
    return [read_entry(row) for row in _run(connection, _SELECT + " ORDER BY sequence")]


def _run(
    connection: "Connection", statement: str, values: Mapping[str, object] | None = None
) -> "CursorResult[tuple[int, str, str, str]]":
    from sqlalchemy import text

    return connection.execute(text(statement), values)


def _engine(path: Path) -> "Engine":
    """Return an engine that opens a fresh connection for every transaction, so that forked processes share none.

    synchronous=EXTRA puts every commit on the disk, and the directory with it, before a charge is confirmed.
    """
    from sqlalchemy import NullPool, create_engine

    address = f"file:{quote(str(path.absolute()))}?mode=rw"  # never creates a file: a lost ledger is not begun anew

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(address, uri=True, timeout=60)
        connection.isolation_level = None  # this library says itself when a transaction begins
        connection.execute("PRAGMA synchronous=EXTRA")
        return connection

    return create_engine("sqlite://", creator=connect, poolclass=NullPool)
