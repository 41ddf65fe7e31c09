"""The chain of a ledger: entries that are only appended, each with the hash of the one before, under one lock.

It lies in one SQLite file, with a journal beside it only while a transaction runs, or on a server (`postgresql`).
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import quote

import msgspec

from discreet._core.documents import canonical_json, read_json
from discreet._core.errors import DeclarationError, DocumentError, LedgerError
from discreet.ledger._entries import CARRIED, OPTIONAL_PARTS, PARTS, Body, Carried
from discreet.ledger._schema import IN_A_FILE, INSERT, NEWEST, SELECT

if TYPE_CHECKING:
    from sqlalchemy import Connection, CursorResult, Engine, Row

    Found = tuple[int, str, str, str]

action: Callable[[str], None] | None = None
"""What tests do at each of the points, to show that a crash there loses nothing. In ordinary use nothing is done."""

GENESIS, LONGEST_WAIT = "0" * 64, 60.0  # seconds that a charge waits for the lock
MET, UNSENT = "the newest entry that a transaction met", "entries that a server is sent together with the commit"


POINTS = "charge-begun", "charge-written", "charged", "drawn", "record-begun", "record-written", "recorded"
"""Points at which tests let a publication crash: the ledger is locked, nothing is written; the charge is written; it is
committed, nothing is drawn; the output is drawn; the ledger is locked again; the release is written; it is recorded but
not yet returned."""
UNREADABLE = (
    "Entry {} of the ledger cannot be read: it was edited, or written by a later version of discreet. Nothing was "
    "charged."
)


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
    def carried(self) -> Carried:
        """Return what the next entry carries on from this one."""
        return cast(Carried, {part: value for part, value in self.body.items() if part in CARRIED})

    @property
    def kind(self) -> str:
        """Return its kind: 'created', 'charge', 'release', 'abandoned', 'limit', 'moved', 'arrived'."""
        return self.body["kind"]


def chain_digest(sequence: int, body: str, previous: str) -> str:
    """Return the hash of an entry: of the entry before it, its number and its body."""
    return sha256(f"{previous}\n{sequence}\n{body}".encode()).hexdigest()


def now() -> str:
    """Return the time by this machine's clock, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_entry(row: "Row[Found]") -> Entry:
    """Read a row; refuse what was not written by this library."""
    body = found if isinstance(found := read_json(row.body), dict) else {}
    kind = str(body.get("kind"))
    parts = PARTS.get(kind)
    if parts is not None and set(body) - OPTIONAL_PARTS.get(kind, set()) == parts | {"kind"}:
        with suppress(msgspec.ValidationError):
            return Entry(int(row.sequence), msgspec.convert(body, Body), str(row.previous), str(row.digest))
    raise LedgerError(UNREADABLE.format(row.sequence))


class Chain:
    """The entries of one ledger file; on a server, of one ledger there."""

    place: str | Path

    def __init__(self, path: Path) -> None:
        self.place = path
        self.seen: Entry | None = None  # the newest entry that this process knows to be committed
        self.created: Body = {}  # what the first entry declares, once it has been read
        self._files = _opened_anew(path)

    @staticmethod
    def at(place: str | os.PathLike[str]) -> "Chain":
        """Return the chain at a place: a file, or a server's address."""
        if not isinstance(place, str | os.PathLike):
            raise DeclarationError("A ledger is a file or on a server: pass a path, or postgresql://...")
        if not isinstance(place, str) or "://" not in place:
            return Chain(Path(place))
        from discreet.ledger._postgresql import ServerChain  # which is one of these

        return ServerChain(place)

    @contextmanager
    def making(self) -> Iterator["Connection"]:
        """Make the file, which must not exist yet, and its table, for entries to be written in one transaction."""
        try:
            os.close(os.open(self.place, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except (OSError, ValueError) as problem:
            raise not_made(self.place, problem) from None
        with self.write_transaction() as connection:
            for statement in IN_A_FILE:
                run(connection, statement)
            yield connection

    def latest(self, connection: "Connection") -> Entry:
        """Return the newest entry; refuse a ledger that has gone back behind what this process has seen of it."""
        head, known = self._newest(connection), self.seen
        if known and known.digest != head.digest and not self._holds(connection, known):
            raise went_back(self.place, known.sequence)
        connection.info[MET] = head
        return head

    def _holds(self, connection: "Connection", known: Entry) -> bool:
        """Return whether an entry is still there."""
        return digests_at(connection, [known.sequence]) == [known.digest]

    def _newest(self, connection: "Connection") -> Entry:
        return newest(connection)

    def outcome(self, connection: "Connection", sequence: int) -> Entry | None:
        """Return what became of a charge: its release, or that it was abandoned; None if it is still waited for."""
        found = run(connection, f"{SELECT} WHERE charge = :charge LIMIT 1", {"charge": sequence}).one_or_none()
        return None if found is None else read_entry(found)

    def write_transaction(self) -> AbstractContextManager["Connection"]:
        """Hold the write lock from the first read to the commit."""
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator["Connection"]:
        """Begin a transaction. SQLite waits for the lock in growing steps, so that whoever is at work stays at work."""
        with self.in_words(), self._files.begin() as connection:
            connection.exec_driver_sql("PRAGMA synchronous = EXTRA")  # on the disk, before a charge is confirmed
            connection.exec_driver_sql(begin)
            info = connection.info
            yield connection
        self.seen = info.pop(MET, self.seen)

    @contextmanager
    def in_words(self) -> Iterator[None]:
        """Say in words what a database or an entry refuses."""
        from sqlalchemy.exc import SQLAlchemyError

        problem = ""
        try:
            yield
        except (SQLAlchemyError, DocumentError, ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, DeclarationError):
                raise
            problem = str(getattr(error, "orig", "an entry cannot be read")).strip().split("\n")[0].rstrip(".")
        if problem:
            raise LedgerError(f"Cannot use the ledger {str(self.place)!r}: {problem}. Nothing was published.")

    def read_transaction(self) -> AbstractContextManager["Connection"]:
        """Begin to read."""
        return self._transaction("BEGIN")

    @property
    def address(self) -> str:
        """Return where it can be opened again."""
        return str(Path(self.place).absolute())

    def exists(self) -> bool:
        """Return whether a ledger is there."""
        return Path(self.place).is_file()

    def require(self) -> None:
        """Refuse a place where no ledger is."""
        if not self.exists():
            raise LedgerError(
                f"There is no ledger at {str(self.place)!r}. Check the path: a ledger is created once, when the first "
                "release is published (in Python: with Ledger.create), and kept for good."
            )

    def holding(self, request: str) -> AbstractContextManager[None]:
        """Hold a request's name until it is answered."""
        from discreet.ledger._requests import held_in_file  # it imports this module

        return held_in_file(Path(self.place), request)


def append(connection: "Connection", head: Entry | None, body: Body) -> Entry:
    """Write an entry behind the newest one, with hashes of earlier ones: the rounder its number, the more."""
    sequence, previous = (head.sequence + 1, head.digest) if head else (1, GENESIS)
    if head and head.kind == "moved" and body["kind"] != "arrived":
        raise moved_away(head.body["to"])
    last_but_one = (
        [head.previous] if head and head.sequence % 2 and sequence > 2 else []
    )  # two before: the newest holds it
    whole: Body = {**body, "back": last_but_one + digests_at(connection, linked(sequence)[1:])}
    written = canonical_json(whole)
    digest = chain_digest(sequence, written, previous)
    row = {
        "sequence": sequence, "request": body.get("request"), "charge": body.get("charge"),
        "spent": canonical_json(body["spent"]), "previous": previous, "digest": digest, "body": written,
    }  # fmt: skip
    if connection.dialect.name == "sqlite":
        run(connection, INSERT, row)
    else:
        connection.info.setdefault(UNSENT, []).append(row)
    return Entry(sequence, whole, previous, digest)


def linked(sequence: int) -> list[int]:
    """Return the earlier entries whose hashes an entry holds: 2, 4, 8, ... before it, if that divides its number."""
    steps = (2**power for power in range(1, sequence.bit_length()))
    return [sequence - step for step in steps if sequence % step == 0 and sequence > step]


def newest(connection: "Connection") -> Entry:
    """Return the newest entry."""
    return read_newest(run(connection, NEWEST).one_or_none())


def read_newest(row: "Row[Found] | None") -> Entry:
    """Return the newest entry, which must fit its own hash."""
    if row is None:
        return Entry(0, {}, "", GENESIS)
    if row.digest != chain_digest(row.sequence, row.body, row.previous):
        raise LedgerError(f"The newest entry of the ledger, {row.sequence}, was edited. Nothing was charged.")
    return read_entry(row)


def entry_at(connection: "Connection", sequence: int) -> Entry:
    """Return an entry by its number."""
    row = run(connection, f"{SELECT} WHERE sequence = :sequence", {"sequence": sequence}).one_or_none()
    if row is None:
        raise LedgerError(f"Entry {sequence} of the ledger is missing: it was removed. Nothing was charged.")
    return read_entry(row)


def digests_at(connection: "Connection", numbers: list[int]) -> list[str]:
    """Return the hashes of entries by their numbers, in one question; that of nothing for none."""
    some = f"SELECT sequence, digest FROM entries WHERE sequence IN ({', '.join(map(str, numbers))})"
    found = {row.sequence: str(row.digest) for row in run(connection, some)} if numbers else {}
    return [found.get(number, GENESIS) for number in numbers]


def run(connection: "Connection", statement: str, values: Mapping[str, object] | None = None) -> "CursorResult[Found]":
    """Run a statement of SQL with named values, `:name`."""
    if connection.dialect.name == "sqlite":
        return connection.exec_driver_sql(statement, values)
    from discreet.ledger._postgresql import run_there  # it imports this module

    return run_there(connection, statement, values)


def _opened_anew(path: Path) -> "Engine":
    """Return an engine that opens the file for every transaction: processes share none, a replaced one is noticed."""
    from sqlalchemy import URL, NullPool, create_engine

    made_before = {"mode": "rw", "uri": "true", "timeout": f"{LONGEST_WAIT:.0f}"}  # a lost ledger is not begun anew
    address = URL.create("sqlite", database=f"file:{quote(str(path.absolute()))}", query=made_before)
    return create_engine(address, poolclass=NullPool, isolation_level="AUTOCOMMIT")


def not_made(place: str | Path, problem: OSError | ValueError) -> LedgerError:
    """Say why there is no new ledger."""
    if isinstance(problem, FileExistsError):
        return LedgerError(
            f"{str(place)!r} already exists. Nothing was changed. Open it with Ledger.open, or choose another name; "
            "keep in mind that a new ledger is a new budget."
        )
    why = problem.strerror if isinstance(problem, OSError) else "this is not a file name"
    return LedgerError(f"Cannot create a ledger at {str(place)!r}: {why}.")


def went_back(place: str | Path, sequence: int) -> LedgerError:
    """Say that a ledger has lost what it had."""
    return LedgerError(
        f"The ledger {str(place)!r} no longer has the entry {sequence} that it had before: its end was cut off, or "
        "it was replaced by an older copy. Nothing was charged."
    )


def moved_away(place: str) -> LedgerError:
    """Say that a ledger goes on elsewhere."""
    return LedgerError(
        f"This ledger was moved to {place!r} and is closed here: it can be read and verified, and releases already "
        "paid for can be fetched again. Nothing was charged. Use the ledger there."
    )
