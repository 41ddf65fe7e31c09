"""What stands in a ledger: entries, each chained to the one before it by a hash."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from discreet.canonical import canonical_json, read_json
from discreet.errors import LedgerError

_SUMS = {"limit", "shares", "spent"}
_PARTS: dict[str, set[str]] = {
    "created": _SUMS | {"accountant", "adjacency", "declared", "groups", "population", "unit"},
    "limit": _SUMS | {"declared", "reason"},
    "charge": _SUMS | {"label", "request", "unit", "rows", "group", "data", "cost", "guarantee", "rho", "mechanism"},
    "release": _SUMS | {"charge", "releases", "digests"},
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
        """Return what happened: 'created', 'limit', 'charge' or 'release'."""
        return str(self.body["kind"])

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


def read_entry(row: Any) -> Entry:
    """Read a row of the file; refuse what was not written by this library."""
    body = read_json(row.body)
    parts = _PARTS.get(str(body.get("kind"))) if isinstance(body, dict) else None
    if parts is None or set(body) != parts | {"kind"}:
        raise LedgerError(
            f"Entry {row.sequence} of the ledger cannot be read: it was edited, or written by a later version of "
            "discreet. Nothing was charged."
        )
    return Entry(int(row.sequence), body, str(row.previous), str(row.digest))
