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
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, text
from sqlalchemy.exc import SQLAlchemyError

from discreet.canonical import canonical_json, read_json
from discreet.errors import BudgetError, DeclarationError, DocumentError, LedgerError, PublishError
from discreet.exact import Exact, exact_text, positive, probability
from discreet.failpoints import reached
from discreet.guarantees.guarantee import Adjacency, Guarantee
from discreet.guarantees.unit import RECORD

_GENESIS = "0" * 64
_SCHEMA = """CREATE TABLE entries (
    sequence INTEGER PRIMARY KEY, body TEXT NOT NULL, previous TEXT NOT NULL, digest TEXT NOT NULL UNIQUE)"""


@dataclass(frozen=True)
class Budget:
    """An amount of privacy budget."""

    epsilon: Fraction
    delta: Fraction

    def __add__(self, other: "Budget") -> "Budget":
        return Budget(self.epsilon + other.epsilon, self.delta + other.delta)

    def __sub__(self, other: "Budget") -> "Budget":
        return Budget(self.epsilon - other.epsilon, self.delta - other.delta)

    def covers(self, other: "Budget") -> bool:
        """Tell whether another amount fits into this one."""
        return other.epsilon <= self.epsilon and other.delta <= self.delta

    def __repr__(self) -> str:
        return f"Budget(epsilon={exact_text(self.epsilon)}, delta={exact_text(self.delta)})"

    def document(self) -> dict[str, str]:
        """Return the budget as it is written down."""
        return {"epsilon": exact_text(self.epsilon), "delta": exact_text(self.delta)}

    @classmethod
    def read(cls, document: dict[str, str]) -> "Budget":
        """Read what `document` wrote, however many digits a sum has."""
        return cls(Fraction(document["epsilon"]), Fraction(document["delta"]))


@dataclass(frozen=True)
class Entry:
    """One line of a ledger: what happened, and the hash that chains it to the line before."""

    sequence: int
    body: dict[str, Any]
    previous: str
    digest: str

    @property
    def kind(self) -> str:
        """Return what happened: 'created', 'limit', 'charge' or 'release'."""
        return str(self.body["kind"])

    def expected_digest(self) -> str:
        """Return the hash that this entry should have."""
        return _digest(self.sequence, canonical_json(self.body), self.previous)


@dataclass(frozen=True)
class Charge:
    """The receipt of a charge: its number in the ledger and the hash of its entry, the chain's head at that moment."""

    sequence: int
    head: str


def _digest(sequence: int, body: str, previous: str) -> str:
    return sha256(f"{previous}\n{sequence}\n{body}".encode()).hexdigest()


class Ledger:
    """A limit on the privacy that may be spent on one population, and all that has been spent so far.

    Create it once with `Ledger.create`, open it afterwards with `Ledger.open`. A new ledger is a new budget: whoever
    may create ledgers for the same people may spend more on them than any one of these allows.
    """

    def __init__(self, path: Path, engine: Engine) -> None:
        self.path = path
        self._engine = engine

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r}, spent={self.spent!r}, limit={self.limit!r})"

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
            rows = connection.execute(text("SELECT sequence, body, previous, digest FROM entries ORDER BY sequence"))
            return [_entry(row) for row in rows]

    def charge(
        self,
        guarantee: Guarantee,
        label: str,
        mechanism: dict[str, Any],
        request: str | None = None,
        unit: str = RECORD,
    ) -> Charge | str:
        """Commit a charge, or refuse it. The mechanism's document and the request's name are written down with it.

        If a release is on record for the same request, its text is returned instead and nothing is charged.
        """
        cost = Budget(guarantee.epsilon, guarantee.delta)
        with self._writing() as connection:
            reached("charge-begun")
            head = _head(connection)
            limit, spent = Budget.read(head.body["limit"]), Budget.read(head.body["spent"])
            created = _entry(connection.execute(text(_SELECT + " ORDER BY sequence LIMIT 1")).one())
            kept, asked = (created.body["adjacency"], created.body["unit"]), (guarantee.adjacency.value, unit)
            if kept != asked:
                raise PublishError(
                    f"Cannot publish {label!r}: this ledger protects {kept[1]!r} ({kept[0]}), the release would "
                    f"protect {asked[1]!r} ({asked[0]}). Nothing was published and nothing was charged."
                )
            if request is not None and (answer := _answer(connection, request, label, mechanism)) is not None:
                return answer
            if not limit.covers(spent + cost):
                raise BudgetError(_refusal(label, cost, spent, limit, self.path))
            body = {
                "kind": "charge",
                "label": label,
                "request": request,
                "cost": cost.document(),
                "mechanism": mechanism,
            }
            body |= {"limit": limit.document(), "spent": (spent + cost).document()}
            entry = _append(connection, head, body)
            reached("charge-written")
        return Charge(entry.sequence, entry.digest)

    def record(self, charge: Charge, release: str) -> None:
        """Write down the release that a charge paid for: its text, which is public, and the digest of it."""
        with self._writing() as connection:
            reached("record-begun")
            head = _head(connection)
            body = {"kind": "release", "charge": charge.sequence, "release": release, "digest": digest_of(release)}
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
        if not reason.strip():
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
        for number, entry in enumerate(self.entries(), start=1):
            if entry.sequence != number or entry.previous != previous or entry.digest != entry.expected_digest():
                raise LedgerError(f"The chain of {str(self.path)!r} is broken at entry {number}: it was edited.")
            if entry.kind == "charge":
                spent = spent + Budget.read(entry.body["cost"])
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
        except DocumentError:
            problem = "an entry is not readable"
        if problem:
            raise LedgerError(f"Cannot use the ledger {str(self.path)!r}: {problem}. Nothing was published.")


_SELECT = "SELECT sequence, body, previous, digest FROM entries"


def digest_of(release: str) -> str:
    """Return the fingerprint of a release's canonical text."""
    return sha256(release.encode()).hexdigest()


def _refusal(label: str, cost: Budget, spent: Budget, limit: Budget, path: Path) -> str:
    left = limit - spent
    by_epsilon = cost.epsilon > left.epsilon
    name = "epsilon" if by_epsilon else "delta"
    need, gone, most, rest = (exact_text(getattr(budget, name)) for budget in (cost, spent, limit, left))
    advice = f"Lower {name} to {rest} or less, or ask" if getattr(left, name) > 0 else "Ask"
    return (
        f"Cannot publish {label!r}: it needs {name} = {need}, but {gone} of {most} is already spent ({path}). "
        f"Nothing was published and nothing was charged. {advice} the data owner to raise the limit."
    )


def _answer(connection: Connection, request: str, label: str, mechanism: dict[str, Any]) -> str | None:
    """Return the release on record for a request; refuse if that was asked with other words."""
    entries = [_entry(row) for row in connection.execute(text(_SELECT + " ORDER BY sequence"))]
    charges = {e.sequence: e.body for e in entries if e.kind == "charge" and e.body["request"] == request}
    for entry in entries:
        if entry.kind == "release" and entry.body["charge"] in charges:
            asked = charges[entry.body["charge"]]
            if (asked["label"], asked["mechanism"]) != (label, mechanism):
                raise PublishError(
                    f"Cannot publish {label!r}: request {request!r} was already answered for another label or by "
                    "another mechanism. Nothing was published and nothing was charged."
                )
            return str(entry.body["release"])
    return None


def _append(connection: Connection, head: Entry | None, body: dict[str, Any]) -> Entry:
    sequence, previous = (head.sequence + 1, head.digest) if head else (1, _GENESIS)
    written = canonical_json(body)
    digest = _digest(sequence, written, previous)
    row = {"sequence": sequence, "body": written, "previous": previous, "digest": digest}
    connection.execute(text("INSERT INTO entries VALUES (:sequence, :body, :previous, :digest)"), row)
    return Entry(sequence, body, previous, digest)


def _head(connection: Connection) -> Entry:
    row = connection.execute(text(_SELECT + " ORDER BY sequence DESC LIMIT 1")).one_or_none()
    if row is None:
        return Entry(0, {}, "", _GENESIS)
    entry = _entry(row)
    if entry.digest != entry.expected_digest():
        raise LedgerError(f"The newest entry of the ledger, {entry.sequence}, was edited. Nothing was charged.")
    return entry


def _entry(row: Any) -> Entry:
    return Entry(int(row.sequence), read_json(row.body), str(row.previous), str(row.digest))


def _engine(path: Path) -> Engine:
    """Return an engine that opens a fresh connection for every transaction, so that forked processes share none.

    The journal is SQLite's own and lives beside the file only while a transaction runs, so the file alone is the
    ledger; synchronous=EXTRA puts every commit on the disk, and the directory with it, before `charge` returns.
    """
    engine = create_engine(URL.create("sqlite", database=str(path)), poolclass=NullPool, connect_args={"timeout": 60})

    @event.listens_for(engine, "connect")
    def _configure(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # this library says itself when a transaction begins
        connection.execute("PRAGMA synchronous=EXTRA")

    return engine
