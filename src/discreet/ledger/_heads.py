"""Heads, and witnesses who keep them: how a cut tail or a restored backup is noticed.

A head is the number and hash of a ledger's newest entry: it stands for the whole chain up to there. Somebody else who
keeps heads, a notary, another office, a folder that the ledger's holder cannot write to, is a witness. An honest ledger
only grows, so every earlier head is found in today's chain; a few steps along its back links prove that, from today's
newest entry.
"""

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

from discreet._core.documents import Document, canonical_json, convert, read_json
from discreet._core.errors import DocumentError, LedgerError, VerificationError
from discreet.ledger._chain import now
from discreet.ledger._ledger import Ledger
from discreet.ledger._signatures import PublicKey, Signature, SigningKey

KIND = "ledger head"
ENDING = ".head.json"


class _HeadSignature(msgspec.Struct, forbid_unknown_fields=True):
    algorithm: Literal["Ed25519"]
    key: str
    value: str


class _Head(msgspec.Struct, forbid_unknown_fields=True):
    kind: Literal["ledger head"]
    ledger: str
    sequence: int
    digest: str
    spent: dict[str, str]
    limit: dict[str, str]
    at: str
    signatures: list[_HeadSignature] = []


@dataclass(frozen=True)
class Head:
    """The newest entry of a ledger at some time (its head), for a witness to keep."""

    ledger: str
    sequence: int
    digest: str
    spent: dict[str, str]
    limit: dict[str, str]
    at: str
    signatures: tuple[Signature, ...] = ()

    @classmethod
    def of(cls, ledger: Ledger) -> "Head":
        """Return the head of a ledger now."""
        entry = ledger.head
        carried = entry.carried
        return cls(carried["ledger"], entry.sequence, entry.digest, carried["spent"], carried["limit"], now())

    @classmethod
    def from_json(cls, text: str | bytes) -> "Head":
        """Read a head, strictly."""
        try:
            read = convert(read_json(text.decode() if isinstance(text, bytes) else text), _Head)
        except UnicodeDecodeError:
            raise DocumentError("The head of a ledger must be encoded in UTF-8; this document is not.") from None
        hexadecimal = ((read.ledger, 32), (read.digest, 64))
        signed = [each for signature in read.signatures for each in ((signature.key, 64), (signature.value, 128))]
        if not all(re.fullmatch(f"[0-9a-f]{{{size}}}", value) for value, size in (*hexadecimal, *signed)):
            raise DocumentError(
                "The head of a ledger names the ledger and the hash of an entry; this document does not."
            )
        signatures = tuple(Signature(each.algorithm, each.key, each.value) for each in read.signatures)
        return cls(read.ledger, read.sequence, read.digest, read.spent, read.limit, read.at, signatures)

    def document(self) -> Document:
        """Return all but the signatures."""
        return {
            "kind": KIND, "ledger": self.ledger, "sequence": self.sequence, "digest": self.digest,
            "spent": self.spent, "limit": self.limit, "at": self.at,
        }  # fmt: skip

    def unsigned(self) -> str:
        """Return the canonical text that may be signed."""
        return canonical_json(self.document())

    def signed(self, key: SigningKey) -> "Head":
        """Return the head with a signature."""
        return replace(self, signatures=(*self.signatures, key.sign(self.unsigned())))

    def to_json(self) -> str:
        """Return the one canonical text."""
        written = [{"algorithm": each.algorithm, "key": each.key, "value": each.value} for each in self.signatures]
        return canonical_json(self.document() | ({"signatures": written} if written else {}))

    def file(self, folder: Path) -> Path:
        """File the head in a witness's folder, never overwriting another one."""
        path = folder / f"{self.ledger[:16]}-{self.sequence:012d}-{self.at.replace(':', '')}{ENDING}"
        try:
            descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
        except FileExistsError:
            raise LedgerError(f"{str(path)!r} has already been filed. Nothing was written.") from None
        except OSError as problem:
            raise LedgerError(f"Cannot file the head in {str(folder)!r}: {problem.strerror}.") from None
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(self.to_json() + "\n")
            file.flush()
            os.fsync(file.fileno())
        return path


def heads_in(folder: Path) -> list[Head]:
    """Return all heads that a witness keeps, of any ledger."""
    if not folder.is_dir():
        raise LedgerError(f"There is no witness folder {str(folder)!r}. Nothing was checked.")
    return [_filed(path) for path in sorted(folder.glob(f"*{ENDING}"))]


def _filed(path: Path) -> Head:
    try:
        return Head.from_json(path.read_bytes())
    except OSError as problem:
        words = f"{problem.strerror}."
    except DocumentError as problem:
        words = str(problem)
    raise DocumentError(f"{str(path)!r} cannot be read as the head of a ledger. Nothing was checked. {words}")


def check_witness(ledger: Ledger, folder: Path, key: PublicKey | None = None) -> list[Head]:
    """Check that every head of a ledger that a witness keeps is in its present chain; return them, the latest last.

    With a key, each must be signed with it. A ledger that the witness has never seen is refused: it may be another one.
    """
    own = sorted((head for head in heads_in(folder) if head.ledger == ledger.id), key=lambda head: head.sequence)
    if not own:
        raise LedgerError(
            f"The witness {str(folder)!r} has no head of this ledger, {ledger.id}. Either "
            "none was ever filed there, or this is not the ledger that it appears to be."
        )
    for head in own:
        if key is not None:
            key.require(f"The head of {head.at}", head.unsigned(), head.signatures)
        if not ledger.stands_on(head.sequence, head.digest):
            raise VerificationError(
                f"On {head.at} this ledger had an entry {head.sequence} that it does not have now: its end was cut "
                "off, an older copy was put back, or its entries were rewritten. Do not trust it."
            )
    return own
