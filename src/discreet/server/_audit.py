"""The audit log: who did what and when. Lines are only added, each with the hash of the one before (hash chain).

It holds names of accounts, ids and labels, never a value of a record, a password or a token. Whoever may write to the
database could forge the whole chain; a hash that somebody else has kept reveals that.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256

from sqlalchemy import Connection, insert, select

from discreet._core.documents import canonical_json
from discreet.server._schema import Queue, QueueError, audit, in_order

FIRST = "0" * 64
LONGEST = 600
NOBODY, PUBLISHER = "-", "(publisher)"


@dataclass(frozen=True)
class LogLine:
    """One line of the log."""

    sequence: int
    at: float
    account: str
    what: str
    about: str
    previous: str
    digest: str

    def document(self) -> dict[str, object]:
        """Return all of it by name."""
        return asdict(self)


def digest_of(sequence: int, at: float, account: str, what: str, about: str, previous: str) -> str:
    """Return the hash of a line, which covers the hash of the line before it and everything that the line says."""
    return sha256(canonical_json([previous, sequence, at, account, what, about]).encode()).hexdigest()


def note(connection: Connection, at: float, account: str, what: str, about: str = "") -> None:
    """Add a line, in the same transaction as what it records: either both are written or neither is."""
    in_order(connection)
    newest = connection.execute(select(audit.c.sequence, audit.c.digest).order_by(audit.c.sequence.desc()).limit(1))
    head = newest.one_or_none()
    sequence, previous = (1, FIRST) if head is None else (head.sequence + 1, head.digest)
    account, about, at = account[:100], about[:LONGEST], round(at, 3)
    digest = digest_of(sequence, at, account, what, about, previous)
    values = {"sequence": sequence, "at": at, "account": account, "what": what, "about": about}
    connection.execute(insert(audit).values(**values, previous=previous, digest=digest))


def lines(queue: Queue, most: int = 200, before: int | None = None) -> list[LogLine]:
    """Return the newest lines, newest first; with `before`, those with lower numbers."""
    wanted = select(audit).order_by(audit.c.sequence.desc()).limit(most)
    wanted = wanted if before is None else wanted.where(audit.c.sequence < before)
    with queue.read_transaction() as connection:
        return [LogLine(**row._mapping) for row in connection.execute(wanted)]


def check(queue: Queue) -> int:
    """Check the whole chain and return its length; refuse a chain that was altered."""
    with queue.read_transaction() as connection:
        found: Sequence[LogLine] = [
            LogLine(**row._mapping) for row in connection.execute(select(audit).order_by(audit.c.sequence))
        ]
    previous = FIRST
    for number, line in enumerate(found, start=1):
        own = digest_of(line.sequence, line.at, line.account, line.what, line.about, line.previous)
        if (line.sequence, line.previous, line.digest) != (number, previous, own):
            raise QueueError(f"Line {line.sequence} of the audit log has been altered since it was written.")
        previous = line.digest
    return len(found)
