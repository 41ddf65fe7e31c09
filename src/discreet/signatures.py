"""Signatures: who issued a document, by Ed25519 over its canonical text.

A signature stands beside what it signs, never inside it. It covers a line that says what kind of document it is, so
that the signature of a ledger's head can never pass for that of a release. Keys are files: the private one is readable
by its owner only and is never written into a document, a log or a message; the public one may be given to anybody.
"""

import os
from base64 import b64decode, b64encode
from binascii import Error as EncodingError
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from discreet.canonical import canonical_json
from discreet.errors import DeclarationError, DocumentError, MissingPackageError, VerificationError

_LONGEST_NAME = 200


@dataclass(frozen=True)
class Signature:
    """Who signed, by which key (its fingerprint), and the signature itself, in base64."""

    issuer: str
    key: str
    value: str

    def document(self) -> dict[str, str]:
        """Return the signature as it stands in a document."""
        return {"issuer": self.issuer, "key": self.key, "value": self.value}

    @classmethod
    def read(cls, document: Any) -> "Signature":
        """Read a signature; refuse what is not one."""
        if not isinstance(document, dict) or set(document) != {"issuer", "key", "value"}:
            raise DocumentError("A signature has an issuer, a key and a value.")
        if not all(isinstance(part, str) for part in document.values()):
            raise DocumentError("A signature's issuer, key and value are texts.")
        return cls(**document)


class SigningKey:
    """The private key of somebody who issues releases. Its text never shows the key."""

    def __init__(self, issuer: str, secret: Any) -> None:
        self.issuer = issuer
        self._secret = secret

    def __repr__(self) -> str:
        return f"<signing key of {self.issuer!r}, fingerprint {self.public.fingerprint[:16]}...>"

    def __reduce__(self) -> Any:
        raise TypeError("A signing key is not copied or pickled: read it from its file.")

    @property
    def public(self) -> "PublicKey":
        """Return the key by which everybody can check signatures of this one."""
        return PublicKey(self.issuer, self._secret.public_key().public_bytes_raw())

    @classmethod
    def create(cls, folder: str | os.PathLike[str], issuer: str) -> "SigningKey":
        """Draw a new key and write its two files, `<name>.key` for its owner only and `<name>.pub` for everybody."""
        named = _issuer(issuer)
        private = _ed25519().Ed25519PrivateKey.generate()
        key, stem = cls(named, private), Path(folder)
        _write(stem.with_suffix(".key"), _text("private", named, private.private_bytes_raw()), 0o600)
        _write(stem.with_suffix(".pub"), _text("public", named, key.public.raw), 0o644)
        return key

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "SigningKey":
        """Read a private key; a file that others may read is refused."""
        place = Path(path)
        issuer, raw = _read(place, "private")
        if os.name == "posix" and place.stat().st_mode & 0o077:
            raise DeclarationError(
                f"{str(place)!r} can be read by others. Nothing was signed. Make it private first: chmod 600 {place}"
            )
        return cls(issuer, _ed25519().Ed25519PrivateKey.from_private_bytes(raw))

    def sign(self, kind: str, document: Mapping[str, Any]) -> Signature:
        """Sign the canonical text of a document of this kind."""
        value = self._secret.sign(_message(kind, document))
        return Signature(self.issuer, self.public.fingerprint, b64encode(value).decode())


@dataclass(frozen=True)
class PublicKey:
    """The public key of somebody who issues releases."""

    issuer: str
    raw: bytes

    @property
    def fingerprint(self) -> str:
        """Return the hash by which a key is named."""
        return sha256(self.raw).hexdigest()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "PublicKey":
        """Read a public key."""
        return cls(*_read(Path(path), "public"))

    def check(self, signature: Signature, kind: str, document: Mapping[str, Any]) -> str:
        """Return in words who issued a document; raise if this key did not sign it."""
        if signature.key != self.fingerprint:
            raise VerificationError(
                f"It is signed by another key, {signature.key[:16]}..., not by that of {self.issuer!r}, "
                f"{self.fingerprint[:16]}.... Do not take it for theirs."
            )
        edwards = _ed25519()
        try:
            value = b64decode(signature.value, validate=True)
            edwards.Ed25519PublicKey.from_public_bytes(self.raw).verify(value, _message(kind, document))
        except (edwards.InvalidSignature, EncodingError, ValueError):
            pass
        else:
            return f"issued by {self.issuer!r} (key {self.fingerprint[:16]}...)"
        raise VerificationError(
            f"The signature does not fit the document: either it was edited, or {self.issuer!r} never signed it."
        )


def _message(kind: str, document: Mapping[str, Any]) -> bytes:
    return f"discreet {kind}\n{canonical_json(document)}".encode()


def _issuer(name: str) -> str:
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise DeclarationError(f"An issuer has a name of 1 to {_LONGEST_NAME} printable characters.")
    return name


def _text(which: str, issuer: str, raw: bytes) -> str:
    return f"discreet {which} key 1\n{issuer}\n{b64encode(raw).decode()}\n"


def _write(place: Path, text: str, mode: int) -> None:
    try:
        descriptor = os.open(place, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    except FileExistsError:
        raise DeclarationError(f"{str(place)!r} exists already. No key was written over it.") from None
    except OSError as problem:
        raise DeclarationError(f"Cannot write {str(place)!r}: {problem.strerror}. No key was made.") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)


def _read(place: Path, which: str) -> tuple[str, bytes]:
    try:
        lines = place.read_text(encoding="utf-8").splitlines()
        raw = b64decode(lines[2], validate=True)
    except OSError as problem:
        raise DeclarationError(f"Cannot read the key {str(place)!r}: {problem.strerror}.") from None
    except (ValueError, IndexError, EncodingError):
        lines, raw = [""], b""
    if lines[0] != f"discreet {which} key 1" or len(raw) != 32 or len(lines) != 3:
        raise DeclarationError(f"{str(place)!r} is not a {which} key of discreet. Make one with: discreet key new NAME")
    return _issuer(lines[1]), raw


def _ed25519() -> Any:
    """Return what signs and checks, and the exception that it raises."""
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise MissingPackageError("Signatures", "sign") from None
    return _Ed25519(ed25519.Ed25519PrivateKey, ed25519.Ed25519PublicKey, InvalidSignature)


@dataclass(frozen=True)
class _Ed25519:
    """The parts of the package `cryptography` that are used here."""

    Ed25519PrivateKey: Any
    Ed25519PublicKey: Any
    InvalidSignature: type[Exception]
