"""What stands in a ledger: entries, each chained to the one before it, and linked to one much earlier, by hashes.

Entry n carries the hash of entry n - 1 and, in its body, that of entry n - j, where j is the largest power of two that
divides n. Whoever knows the newest hash can follow these links back to any entry in a few steps (about log^2 n), and so
be sure that it stands in the chain as it was written, without reading all that came between.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from discreet.canonical import canonical_json, read_json
from discreet.errors import LedgerError

GENESIS = "0" * 64
FORMAT = 2
"""The form of entries that this version writes. Version 0.1 wrote form 1, which had no number."""

STATE = ("ledger", "limit", "declared", "shares", "spent", "rows", "period")
"""What every entry carries on from the one before it: the state of the ledger after it."""

_STATE_1 = {"limit", "shares", "spent"}
_PARTS_1: dict[str, set[str]] = {
    "created": _STATE_1 | {"accountant", "adjacency", "declared", "groups", "population", "unit"},
    "limit": _STATE_1 | {"declared", "reason"},
    "charge": _STATE_1 | {"label", "request", "unit", "rows", "group", "data", "cost", "guarantee", "rho", "mechanism"},
    "release": _STATE_1 | {"charge", "releases", "digests"},
}
_COMMON = {"kind", "time", "link", *STATE}
_BIRTH = {"format", "accountant", "adjacency", "groups", "population", "unit", "per"}
_PARTS_2: dict[str, set[str]] = {
    "created": _COMMON | _BIRTH,
    "upgraded": _COMMON | _BIRTH,
    "limit": _COMMON | {"reason"},
    "table": _COMMON | {"data", "reason"},
    "charge": _COMMON
    | {"label", "request", "until", "unit", "unit_rows", "group", "data", "cost", "guarantee", "rho", "mechanism"},
    "release": _COMMON | {"charge", "releases", "digests"},
    "abandoned": _COMMON | {"charge", "reason"},
}


@dataclass(frozen=True)
class Entry:
    """One line of a ledger: what happened, and the hash that chains it to the line before."""

    sequence: int
    body: dict[str, Any]
    previous: str
    digest: str

    @property
    def kind(self) -> str:
        """Return what happened: 'created', 'upgraded', 'limit', 'table', 'charge', 'release' or 'abandoned'."""
        return str(self.body["kind"])

    @property
    def time(self) -> str:
        """Return when it was written, in universal time; version 0.1 wrote no times."""
        return str(self.body.get("time", ""))

    @property
    def charge(self) -> int | None:
        """Return the number of the charge that a release or an abandonment belongs to."""
        return None if "charge" not in self.body else int(self.body["charge"])

    @property
    def request(self) -> str | None:
        """Return the name under which a charge was asked for, if it was given one."""
        found = self.body.get("request")
        return None if found is None else str(found)

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


def linked_to(sequence: int) -> int:
    """Return the number of the earlier entry that an entry is linked to: its own less its largest power of two.

    >>> [linked_to(sequence) for sequence in (1, 2, 3, 4, 6, 8, 12, 100)]
    [0, 0, 2, 0, 4, 0, 8, 96]
    """
    return sequence - (sequence & -sequence)


def follow(newest: Entry, sequence: int, at: Callable[[int], Entry]) -> Entry:
    """Follow hashes back from the newest entry to one of this number, and return it; refuse where they do not fit.

    `at` fetches an entry by its number. Entries of version 0.1 have no links; they are followed one by one.
    """
    here = newest
    while here.sequence > sequence:
        if here.digest != here.expected_digest():
            raise LedgerError(f"The chain of the ledger is broken at entry {here.sequence}: it was edited.")
        before: dict[str, Any] = {"sequence": here.sequence - 1, "digest": here.previous}
        link = here.body.get("link", before)
        chosen = link if link["sequence"] >= sequence else before
        there = at(int(chosen["sequence"]))
        if there.digest != chosen["digest"]:
            raise LedgerError(f"The chain of the ledger is broken at entry {there.sequence}: it was edited.")
        here = there
    if here.digest != here.expected_digest():
        raise LedgerError(f"The chain of the ledger is broken at entry {here.sequence}: it was edited.")
    return here


def read_entry(row: Any) -> Entry:
    """Read a row of the ledger's table; refuse what was not written by this library."""
    body = read_json(row.body)
    if not isinstance(body, dict) or not _is_known(body):
        raise LedgerError(f"Entry {row.sequence} of the ledger cannot be read: it was edited.")
    return Entry(int(row.sequence), body, str(row.previous), str(row.digest))


def _is_known(body: dict[str, Any]) -> bool:
    parts = _PARTS_2 if "link" in body else _PARTS_1
    return parts.get(str(body.get("kind")), {""}) <= set(body)
