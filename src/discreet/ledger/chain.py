"""The entries of a ledger in one transaction: fetch one by its number, find one by an index, append one.

Nothing here reads more than a few entries, however long the chain is, except `stream`, which gives all of them.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, text

from discreet.canonical import canonical_json
from discreet.errors import LedgerError
from discreet.ledger.entries import GENESIS, Entry, chain_digest, linked_to, read_entry
from discreet.ledger.places import TABLE, TABLE_1

_AT_ONCE = 1000  # rows that a stream fetches together


def now() -> str:
    """Return the present moment as it is written into a ledger: universal time, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Chain:
    """The chain as one transaction sees it."""

    def __init__(self, connection: Connection, table: str) -> None:
        self._connection = connection
        self._table = table

    @property
    def is_old(self) -> bool:
        """Tell whether version 0.1 wrote this ledger, and nobody has upgraded it yet."""
        return self._table == TABLE_1

    def newest(self) -> Entry:
        """Return the newest entry, which must fit its own hash; where there is none, one of number 0."""
        entry = self._first("ORDER BY sequence DESC LIMIT 1")
        if entry is None:
            return Entry(0, {}, "", GENESIS)
        if entry.digest != entry.expected_digest():
            raise LedgerError(f"The newest entry of the ledger, {entry.sequence}, was edited. Nothing was charged.")
        return entry

    def at(self, sequence: int) -> Entry:
        """Return the entry of this number."""
        entry = self.find(sequence)
        if entry is None:
            raise LedgerError(f"The ledger holds no entry {sequence}: it was cut or edited.")
        return entry

    def find(self, sequence: int) -> Entry | None:
        """Return the entry of this number, or nothing if there is none."""
        return self._first("WHERE sequence = :sequence", sequence=sequence)

    def birth(self) -> Entry:
        """Return the entry that declares what the ledger is: 'upgraded' where there is one, else 'created'."""
        if not self.is_old and (upgraded := self._first("WHERE kind = 'upgraded' ORDER BY sequence DESC LIMIT 1")):
            return upgraded
        return self.at(1)

    def asked(self, request: str) -> Entry | None:
        """Return the newest charge that was asked for under a name."""
        return self._first("WHERE request = :request ORDER BY sequence DESC LIMIT 1", request=request)

    def outcome(self, charge: int) -> Entry | None:
        """Return what became of a charge: its release, or that it was abandoned; nothing while it is open."""
        if not self.is_old:
            return self._first("WHERE charge = :charge LIMIT 1", charge=charge)
        return next((entry for entry in self.stream(charge) if entry.charge == charge), None)

    def stream(self, after: int = 0) -> Iterator[Entry]:
        """Give all entries behind a number, oldest first."""
        statement = text(f"{self._select} WHERE sequence > :after ORDER BY sequence LIMIT {_AT_ONCE}")
        while rows := self._connection.execute(statement, {"after": after}).all():
            yield from map(read_entry, rows)
            after = int(rows[-1].sequence)

    def indexed(self, after: int = 0) -> Iterator[tuple[str, str | None, int | None]]:
        """Give what the indexes say of every entry: kind, request, charge."""
        columns = f"SELECT sequence, kind, request, charge FROM {self._table}"
        statement = text(f"{columns} WHERE sequence > :after ORDER BY sequence LIMIT {_AT_ONCE}")
        while rows := self._connection.execute(statement, {"after": after}).all():
            yield from ((row.kind, row.request, row.charge) for row in rows)
            after = int(rows[-1].sequence)

    def append(self, head: Entry, body: dict[str, Any]) -> Entry:
        """Write an entry behind the newest one, linked to an earlier one."""
        sequence = head.sequence + 1
        earlier = linked_to(sequence)
        link = {"sequence": earlier, "digest": self.at(earlier).digest if earlier else GENESIS}
        whole = body | {"link": link}
        written = canonical_json(whole)
        entry = Entry(sequence, whole, head.digest, chain_digest(sequence, written, head.digest))
        self.insert(entry, written)
        return entry

    def insert(self, entry: Entry, written: str) -> None:
        """Write an entry as it is."""
        row = {"sequence": entry.sequence, "body": written, "previous": entry.previous, "digest": entry.digest}
        row |= {"kind": entry.kind, "request": entry.request, "charge": entry.charge}
        values = ", ".join(f":{name}" for name in row)
        self._connection.execute(text(f"INSERT INTO {TABLE} ({', '.join(row)}) VALUES ({values})"), row)

    @property
    def _select(self) -> str:
        return f"SELECT sequence, body, previous, digest FROM {self._table}"

    def _first(self, condition: str, **values: Any) -> Entry | None:
        row = self._connection.execute(text(f"{self._select} {condition}"), values).one_or_none()
        return None if row is None else read_entry(row)
