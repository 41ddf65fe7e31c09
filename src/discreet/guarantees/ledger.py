"""The ledger: how much privacy has been spent, written down before it is spent.

A ledger is a chain of entries in one SQLite file. Each entry carries the hash of the one before it, so an entry that
is edited, removed or reordered no longer fits its neighbours. There is no secret key: whoever may write the file can
rehash it, cut off its tail or put an older copy back. That can be noticed only from outside: every release carries
the number and hash of its charge, and `verify(release, ledger=...)` looks for them.

The limit is enforced by basic composition: epsilons add and deltas add. That is a valid filter even when each
question depends on earlier answers. A charge is committed to disk before anything is drawn, inside a transaction that
holds the write lock from the first read, so any number of processes may share a ledger; a crash may waste budget,
never overspend.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, NullPool, create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from discreet.canonical import canonical_json
from discreet.columns import is_text
from discreet.errors import BudgetError, DeclarationError, DocumentError, LedgerError, PublishError
from discreet.exact import Exact, exact_text, positive, probability
from discreet.failpoints import reached
from discreet.guarantees.entries import Budget, Entry, Receipt, chain_digest, digest_of, read_entry
from discreet.guarantees.guarantee import Adjacency, Guarantee
from discreet.guarantees.unit import RECORD

_GENESIS = "0" * 64
_FINEST = 10**400  # the largest denominator of a sum; SQLite and JSON have no limit, patience has
_SCHEMA = """CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY, body TEXT NOT NULL, previous TEXT NOT NULL, digest TEXT NOT NULL UNIQUE)"""


class Ledger:
    """A limit on the privacy that may be spent on one population, and all that has been spent so far.

    Create it once with `Ledger.create`, open it afterwards with `Ledger.open`. A new ledger is a new budget: whoever
    may create ledgers for the same people may spend more on them than any one of these allows.
    """

    def __init__(self, path: Path, engine: Engine) -> None:
        self.path = path
        self._engine = engine

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        epsilon: Exact,
        delta: Exact = 0,
        population: str = "",
        unit: str = RECORD,
    ) -> "Ledger":
        """Create a ledger with a limit, in a file that must not exist yet."""
        limit = Budget(positive(epsilon, "epsilon"), probability(delta, "delta"))
        if not is_text(f"{population}{unit}"):
            raise DeclarationError("The population and the unit must be proper texts.")
        place = Path(path)
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            raise LedgerError(
                f"{str(place)!r} exists already. Nothing was changed. Open it with Ledger.open, or choose another "
                "name; mind that a new ledger is a new budget."
            ) from None
        except OSError as problem:
            raise LedgerError(f"Cannot create a ledger at {str(place)!r}: {problem.strerror}.") from None
        ledger = cls(place, _engine(place))
        body = {
            "kind": "created",
            "accountant": "basic",
            "adjacency": Adjacency.REPLACE_ONE.value,
            "population": str(population),
            "unit": str(unit),
            "limit": limit.document(),
            "spent": Budget(Fraction(0), Fraction(0)).document(),
        }
        with ledger._writing() as connection:
            connection.execute(text(_SCHEMA))
            _append(connection, None, body)
        return ledger

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Ledger":
        """Open a ledger that was created before."""
        place = Path(path)
        if not place.is_file():
            raise LedgerError(f"There is no ledger at {str(place)!r}. Create one with Ledger.create.")
        ledger = cls(place, _engine(place))
        if ledger.head.sequence < 1:
            raise LedgerError(f"{str(place)!r} holds no entry: it is not a ledger.")
        return ledger

    @property
    def head(self) -> Entry:
        """Return the newest entry."""
        with self._reading() as connection:
            return _head(connection)

    @property
    def limit(self) -> Budget:
        """Return how much may be spent in all."""
        return Budget.read(self.head.body["limit"])

    @property
    def spent(self) -> Budget:
        """Return how much has been spent."""
        return Budget.read(self.head.body["spent"])

    @property
    def remaining(self) -> Budget:
        """Return how much may still be spent."""
        body = self.head.body
        return Budget.read(body["limit"]) - Budget.read(body["spent"])

    def entries(self) -> list[Entry]:
        """Return all entries, oldest first, as they stand in the file."""
        with self._reading() as connection:
            return _all(connection)

    def charge(
        self,
        guarantee: Guarantee,
        label: str,
        mechanism: dict[str, Any],
        request: str | None = None,
        unit: str = RECORD,
        rows: int = 1,
    ) -> Receipt | str:
        """Commit a charge, or refuse it. The mechanism's document and the request's name are written down with it.

        If a release is on record for the same request, its text is returned instead and nothing is charged.
        """
        cost = Budget(guarantee.epsilon, guarantee.delta)
        with self._writing() as connection:
            reached("charge-begun")
            head = _head(connection)
            limit, spent = Budget.read(head.body["limit"]), Budget.read(head.body["spent"])
            created = read_entry(connection.execute(text(_SELECT + " ORDER BY sequence LIMIT 1")).one())
            asked_for = {"label": label, "mechanism": mechanism, "unit": unit, "cost": cost.document()}
            kept, asked = (created.body["adjacency"], created.body["unit"]), (guarantee.adjacency.value, unit)
            if kept != asked:
                raise PublishError(
                    f"Cannot publish {label!r}: this ledger protects {kept[1]!r} ({kept[0]}), the release would "
                    f"protect {asked[1]!r} ({asked[0]}). Nothing was published and nothing was charged."
                )
            if request is not None and (answer := _answer(connection, request, asked_for)) is not None:
                return answer
            if not limit.covers(spent + cost):
                raise BudgetError(_refusal(label, cost, spent, limit, self.path, rows))
            if (spent + cost).epsilon.denominator > _FINEST or (spent + cost).delta.denominator > _FINEST:
                raise PublishError(f"Cannot publish {label!r}: the sum would need too many digits. Use round numbers.")
            body = {
                "kind": "charge",
                "label": label,
                "request": request,
                "unit": unit,
                "cost": cost.document(),
                "mechanism": mechanism,
            }
            body |= {"limit": limit.document(), "spent": (spent + cost).document()}
            entry = _append(connection, head, body)
            reached("charge-written")
        return Receipt(entry.sequence, entry.digest)

    def record(self, receipt: Receipt, release: str) -> None:
        """Write down the release that a charge paid for: its text, which is public, and the digest of it. Once only."""
        with self._writing() as connection:
            reached("record-begun")
            head = _head(connection)
            entries = _all(connection)
            paid = any((e.kind, e.sequence, e.digest) == ("charge", receipt.sequence, receipt.head) for e in entries)
            if not paid or any(e.kind == "release" and e.body["charge"] == receipt.sequence for e in entries):
                raise LedgerError(f"Entry {receipt.sequence} is no charge that still waits for its release.")
            body = {"kind": "release", "charge": receipt.sequence, "release": release, "digest": digest_of(release)}
            _append(connection, head, body | {part: head.body[part] for part in ("limit", "spent")})
            reached("record-written")

    def release(self, sequence: int) -> str | None:
        """Return the recorded release that was paid for by the charge of this number, if it came to be recorded."""
        found = (e for e in self.entries() if e.kind == "release" and e.body["charge"] == sequence)
        return next((str(entry.body["release"]) for entry in found), None)

    def change_limit(self, epsilon: Exact, delta: Exact | None = None, reason: str = "") -> None:
        """Set a new limit. The change is an entry of its own, with a reason, for everyone to see.

        Delta stays as it is if it is left out.
        """
        if not isinstance(reason, str) or not reason.strip() or not is_text(reason):
            raise DeclarationError("A change of the limit needs a reason; it is written into the ledger.")
        with self._writing() as connection:
            head = _head(connection)
            kept = Budget.read(head.body["limit"]).delta if delta is None else probability(delta, "delta")
            limit = Budget(positive(epsilon, "epsilon"), kept)
            body = {"kind": "limit", "reason": reason, "limit": limit.document(), "spent": head.body["spent"]}
            _append(connection, head, body)

    def check(self) -> None:
        """Recompute the whole chain and all sums; raise if any entry is not what was once written."""
        previous, spent = _GENESIS, Budget(Fraction(0), Fraction(0))
        limit: Budget | None = None
        charges: set[int] = set()
        answered: set[int] = set()
        for number, entry in enumerate(self.entries(), start=1):
            if entry.sequence != number or entry.previous != previous or entry.digest != entry.expected_digest():
                raise LedgerError(f"The chain of {str(self.path)!r} is broken at entry {number}: it was edited.")
            if entry.kind == "charge":
                spent = spent + Budget.read(entry.body["cost"])
                charges.add(number)
            if entry.kind == "release":
                charge, written = entry.body["charge"], entry.body["release"]
                if charge not in charges - answered or entry.body["digest"] != digest_of(str(written)):
                    raise LedgerError(
                        f"Entry {number} of {str(self.path)!r} records a release that no charge paid for."
                    )
                answered.add(charge)
            if entry.kind in ("created", "limit"):
                limit = Budget.read(entry.body["limit"])
            sums = Budget.read(entry.body["limit"]), Budget.read(entry.body["spent"])
            if sums != (limit, spent) or (entry.kind == "charge" and not sums[0].covers(spent)):
                raise LedgerError(f"The sums of {str(self.path)!r} do not add up at entry {number}.")
            previous = entry.digest

    def _reading(self) -> AbstractContextManager[Connection]:
        return self._transaction("BEGIN")

    def _writing(self) -> AbstractContextManager[Connection]:
        """Hold the write lock from the first read to the commit."""
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        problem = ""
        try:
            with self._engine.begin() as connection:
                connection.exec_driver_sql(begin)
                yield connection
        except SQLAlchemyError as error:
            problem = type(error).__name__ if not hasattr(error, "orig") else str(error.orig)
        except (DocumentError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, DeclarationError):
                raise
            problem = "an entry is not readable"
        if problem:
            raise LedgerError(f"Cannot use the ledger {str(self.path)!r}: {problem}. Nothing was published.")


_SELECT = "SELECT sequence, body, previous, digest FROM entries"


def _refusal(label: str, cost: Budget, spent: Budget, limit: Budget, path: Path, rows: int) -> str:
    left = limit - spent
    by_epsilon = cost.epsilon > left.epsilon
    name = "epsilon" if by_epsilon else "delta"
    need, gone, most, rest = (exact_text(getattr(budget, name)) for budget in (cost, spent, limit, left))
    most_each = f"{exact_text(left.epsilon / rows)} or less for each of {rows} rows"
    lower = f"Lower epsilon to {most_each}" if by_epsilon and rows > 1 else f"Lower {name} to {rest} or less"
    advice = f"{lower}, or ask" if getattr(left, name) > 0 else "Ask"
    return (
        f"Cannot publish {label!r}: it needs {name} = {need}, but {gone} of {most} is already spent ({path}). "
        f"Nothing was published and nothing was charged. {advice} the data owner to raise the limit."
    )


def _answer(connection: Connection, request: str, asked_for: dict[str, Any]) -> str | None:
    """Return the release on record for a request; refuse if that was asked with other words."""
    entries = _all(connection)
    charges = {e.sequence: e.body for e in entries if e.kind == "charge" and e.body["request"] == request}
    for entry in entries:
        if entry.kind == "release" and entry.body["charge"] in charges:
            before = charges[entry.body["charge"]]
            if {part: before[part] for part in asked_for} != asked_for:
                raise PublishError(
                    f"Cannot publish {asked_for['label']!r}: request {request!r} was already answered for another "
                    "label, unit or mechanism. Nothing was published and nothing was charged."
                )
            return str(entry.body["release"])
    return None


def _append(connection: Connection, head: Entry | None, body: dict[str, Any]) -> Entry:
    sequence, previous = (head.sequence + 1, head.digest) if head else (1, _GENESIS)
    written = canonical_json(body)
    digest = chain_digest(sequence, written, previous)
    row = {"sequence": sequence, "body": written, "previous": previous, "digest": digest}
    connection.execute(text("INSERT INTO entries VALUES (:sequence, :body, :previous, :digest)"), row)
    return Entry(sequence, body, previous, digest)


def _head(connection: Connection) -> Entry:
    row = connection.execute(text(_SELECT + " ORDER BY sequence DESC LIMIT 1")).one_or_none()
    if row is None:
        return Entry(0, {}, "", _GENESIS)
    entry = read_entry(row)
    if entry.digest != entry.expected_digest():
        raise LedgerError(f"The newest entry of the ledger, {entry.sequence}, was edited. Nothing was charged.")
    return entry


def _all(connection: Connection) -> list[Entry]:
    return [read_entry(row) for row in connection.execute(text(_SELECT + " ORDER BY sequence"))]


def _engine(path: Path) -> Engine:
    """Return an engine that opens a fresh connection for every transaction, so that forked processes share none.

    The journal is SQLite's own and lives beside the file only while a transaction runs, so the file alone is the
    ledger; synchronous=EXTRA puts every commit on the disk, and the directory with it, before `charge` returns.
    """
    address = f"file:{quote(str(path.absolute()))}?mode=rw"  # never creates a file: a lost ledger is not begun anew

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(address, uri=True, timeout=60)
        connection.isolation_level = None  # this library says itself when a transaction begins
        connection.execute("PRAGMA synchronous=EXTRA")
        return connection

    return create_engine("sqlite://", creator=connect, poolclass=NullPool)
