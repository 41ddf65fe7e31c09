"""Signatures: who issued a release or a ledger's head, by Ed25519 over its canonical text.

A signature says that whoever holds the private key signed this very text. A release and a head are different texts, so
a signature of one is none of the other. Whose key it is, the public key's file says in words; that these are true must
be known from elsewhere: take the file from its owner.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from discreet._core.errors import DeclarationError, DocumentError, SecretError, VerificationError
from discreet.records import is_text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

ALGORITHM = "Ed25519"
_OWNER = "Key of: "
_MISSING = "Signatures need the library cryptography: pip install 'discreet[signatures]'. Nothing was done."


@dataclass(frozen=True)
class Signature:
    """A signature of a document's canonical text: the public key and the value, in hexadecimal digits."""

    algorithm: str
    key: str
    value: str


@dataclass(frozen=True)
class PublicKey:
    """A key that checks signatures, and the name of its owner as stated in its file."""

    key: str
    owner: str

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "PublicKey":
        """Read a public key's file."""
        owner, text = _read(Path(path), "a public key")
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
            from cryptography.hazmat.primitives.serialization import load_pem_public_key

            found = load_pem_public_key(text.encode())
        except ImportError:
            raise DeclarationError(_MISSING) from None
        except ValueError:
            found = None
        if not isinstance(found, Ed25519PublicKey):
            raise DocumentError(
                f"{str(path)!r} is not a public key written by `discreet key new`. Nothing was checked."
            )
        return cls(found.public_bytes_raw().hex(), owner)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key into a file that must not exist yet."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        text = _public(self.key).public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        _write(Path(path), self.owner, text, 0o644)

    def signed(self, text: str, signatures: tuple[Signature, ...]) -> bool:
        """Return whether one of the signatures is this key's, of this very text."""
        from cryptography.exceptions import InvalidSignature

        for each in signatures:
            if each.key == self.key:
                try:
                    _public(each.key).verify(bytes.fromhex(each.value), text.encode())
                except (InvalidSignature, ValueError):
                    continue
                return True
        return False

    def require(self, what: str, text: str, signatures: tuple[Signature, ...]) -> str:
        """Say who signed a text; refuse one that this key did not sign."""
        if self.signed(text, signatures):
            return f"looked up: signed by {self.owner!r}, key {self.key[:16]}..."
        if not signatures:
            raise VerificationError(
                f"{what} is unsigned: nobody vouches for who issued it. What it promises can be checked without a key."
            )
        mine = any(each.key == self.key for each in signatures)
        why = "the signature is of another text" if mine else f"it is signed by key {signatures[0].key[:16]}..."
        raise VerificationError(f"{what} was not issued by {self.owner!r} (key {self.key[:16]}...): {why}.")


class SigningKey:
    """A private key. It is kept in a file of its owner alone, and never shown, logged, pickled or written elsewhere."""

    def __init__(self, private: "Ed25519PrivateKey", owner: str) -> None:
        self._private = private
        self.public = PublicKey(private.public_key().public_bytes_raw().hex(), owner)

    def __repr__(self) -> str:
        return f"<signing key of {self.public.owner!r}, public part {self.public.key[:16]}...>"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise SecretError("A signing key cannot be copied, stored or sent: open its file instead.")

    @classmethod
    def new(cls, owner: str) -> "SigningKey":
        """Create a key for an owner, from the operating system's secure random bits."""
        if not isinstance(owner, str) or not owner.strip() or not is_text(owner) or len(owner) > 200:
            raise DeclarationError("The owner of a key must be named in 1 to 200 printable characters.")
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        except ImportError:
            raise DeclarationError(_MISSING) from None
        return cls(Ed25519PrivateKey.generate(), owner.strip())

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "SigningKey":
        """Read a private key from its file, which only its owner may be able to read."""
        target = Path(path)
        owner, text = _read(target, "a private key")
        if "PRIVATE KEY" in text and stat.S_IMODE(target.stat().st_mode) & 0o077:
            raise DeclarationError(
                f"The private key {str(path)!r} can be read by others. Nothing was signed. Run `chmod 600 {path}`, "
                "and consider whether someone may have read it."
            )
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            from cryptography.hazmat.primitives.serialization import load_pem_private_key

            found = load_pem_private_key(text.encode(), password=None)
        except ImportError:
            raise DeclarationError(_MISSING) from None
        except (ValueError, TypeError):
            found = None
        if not isinstance(found, Ed25519PrivateKey):
            raise DocumentError(
                f"{str(path)!r} is not a private key written by `discreet key new`. Nothing was signed."
            )
        return cls(found, owner)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the key into a file that must not exist yet, for its owner alone (mode 0600)."""
        from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

        text = self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
        _write(Path(path), self.public.owner, text, 0o600)

    def sign(self, text: str) -> Signature:
        """Sign a canonical text."""
        return Signature(ALGORITHM, self.public.key, self._private.sign(text.encode()).hex())


def issuers(signatures: tuple[Signature, ...]) -> str:
    """Say whose keys a document names, when nobody looked whether the signatures are theirs."""
    if not signatures:
        return "It is unsigned: nobody vouches for who issued it."
    keys = ", ".join(f"{each.key[:16]}..." for each in signatures)
    return f"It names {keys} as its issuer's key, which was not checked. Pass the issuer's public key with --key."


def _public(key: str) -> "Ed25519PublicKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    return Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))


def _read(path: Path, what: str) -> tuple[str, str]:
    """Return whose key a file holds, and the key."""
    try:
        first, _, text = path.read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        raise DocumentError(f"There is no file {str(path)!r} to read {what} from. Nothing was done.") from None
    if not first.startswith(_OWNER) or not is_text(first):
        raise DocumentError(f"{str(path)!r} does not say whose key it holds. Use {what} written by `discreet key new`.")
    return first.removeprefix(_OWNER), text


def _write(path: Path, owner: str, text: str, mode: int) -> None:
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
    except FileExistsError:
        raise DeclarationError(f"{str(path)!r} already exists. Nothing was written: a key is never replaced.") from None
    except OSError as problem:
        raise DeclarationError(f"Cannot write {str(path)!r}: {problem.strerror}.") from None
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f"{_OWNER}{owner}\n{text}")
        file.flush()
        os.fsync(file.fileno())
