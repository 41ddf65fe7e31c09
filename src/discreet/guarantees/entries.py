"""What stands in a ledger: entries, each chained to the one before it by a hash."""

from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any

from discreet.canonical import canonical_json, read_json
from discreet.errors import LedgerError
from discreet.exact import exact_text

_SUMS = {"limit", "spent"}
_PARTS: dict[str, set[str]] = {
    "created": _SUMS | {"accountant", "adjacency", "population", "unit"},
    "limit": _SUMS | {"reason"},
    "charge": _SUMS | {"label", "request", "unit", "cost", "mechanism"},
    "release": _SUMS | {"charge", "release", "digest"},
}


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
    if not isinstance(body, dict) or not _PARTS.get(str(body.get("kind")), {""}) <= set(body):
        raise LedgerError(f"Entry {row.sequence} of the ledger cannot be read: it was edited.")
    return Entry(int(row.sequence), body, str(row.previous), str(row.digest))
