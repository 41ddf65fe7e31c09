"""A witness: heads of a ledger, filed outside it, so that a cut tail or an old copy put back is noticed.

A head says: at this moment the ledger of this name had so many entries, and the newest had this hash. It may be signed.
Filed where the ledger's keeper cannot quietly change it, it proves later whether today's chain still begins with what
was there then.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.canonical import canonical_json, read_json
from discreet.errors import DocumentError, LedgerError
from discreet.ledger.ledger import Ledger
from discreet.signatures import PublicKey, Signature, SigningKey

HEAD = "ledger head"
_PARTS = {"ledger": str, "sequence": int, "digest": str, "time": str}


@dataclass(frozen=True)
class Head:
    """How far a ledger had come at one moment."""

    ledger: str
    sequence: int
    digest: str
    time: str
    signature: Signature | None = None

    @classmethod
    def of(cls, ledger: Ledger, key: SigningKey | None = None) -> "Head":
        """Return the head of a ledger as it is now, signed if a key is given."""
        newest = ledger.head
        if not newest.body.get("ledger"):
            raise LedgerError(f"{ledger!r} was written by version 0.1 and has no name yet. Upgrade it first.")
        head = cls(str(newest.body["ledger"]), newest.sequence, newest.digest, newest.time)
        return head if key is None else replace(head, signature=key.sign(HEAD, head.facts))

    @property
    def facts(self) -> dict[str, Any]:
        """Return what a signature covers."""
        return {name: getattr(self, name) for name in _PARTS}

    def to_json(self) -> str:
        """Return the canonical text of this head."""
        signed = {} if self.signature is None else {"signature": self.signature.document()}
        return canonical_json({"head": self.facts} | signed)

    @classmethod
    def from_json(cls, text: str) -> "Head":
        """Read a head, strictly."""
        read = read_json(text)
        facts = read.get("head") if isinstance(read, dict) and set(read) <= {"head", "signature"} else None
        if not isinstance(facts, dict) or {name: type(value) for name, value in facts.items()} != _PARTS:
            raise DocumentError("This is not the head of a ledger.")
        return cls(**facts, signature=Signature.read(read["signature"]) if "signature" in read else None)

    def file(self, folder: Path) -> Path:
        """Write this head into a folder, under a name of its own; an earlier one is never written over."""
        place = folder / f"{self.ledger}-{self.sequence:012d}.json"
        try:
            with place.open("x", encoding="utf-8") as file:
                file.write(self.to_json() + "\n")
        except FileExistsError:
            if _filed_digest(place) != self.digest:
                raise LedgerError(
                    f"{str(place)!r} holds another head of the same number: the ledger was rolled back and went on."
                ) from None
        except OSError as problem:
            raise LedgerError(f"Cannot file the head at {str(place)!r}: {problem.strerror}.") from None
        return place


def _filed_digest(place: Path) -> str:
    """Return the hash that a filed head states."""
    return Head.from_json(place.read_text(encoding="utf-8")).digest


def check_witness(ledger: Ledger, folder: Path, key: PublicKey | None = None) -> int:
    """Prove that every filed head of this ledger is a beginning of today's chain; return how many there are.

    With a key, every head must be signed by it.
    """
    count = 0
    for head in _filed(folder, ledger.identity):
        count += 1
        if key is not None:
            if head.signature is None:
                raise LedgerError(f"The head of entry {head.sequence} in {str(folder)!r} is not signed.")
            key.check(head.signature, HEAD, head.facts)
        entry = ledger.entry(head.sequence)
        if entry is None:
            raise LedgerError(
                f"A witness saw entry {head.sequence} at {head.time}, and the ledger now ends at entry "
                f"{ledger.head.sequence}: its end was cut off, or an older copy was put back."
            )
        if entry.digest != head.digest:
            raise LedgerError(
                f"A witness saw another entry {head.sequence} at {head.time} than the ledger now holds: an older copy "
                "was put back and went on, or the chain was written anew."
            )
    if not count:
        raise LedgerError(f"{str(folder)!r} holds no head of this ledger: nothing can be proved by it.")
    return count


def _filed(folder: Path, identity: str) -> Iterator[Head]:
    for place in sorted(folder.glob("*.json")):
        try:
            head = Head.from_json(place.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, DocumentError):
            raise LedgerError(f"{str(place)!r} is not the head of a ledger. Nothing was checked against it.") from None
        if head.ledger == identity:
            yield head
