"""A chain as it is asked for and opened, and what it says when it cannot be used."""

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.errors import LedgerError

if TYPE_CHECKING:
    from sqlalchemy import Connection

POINTS = "charge-begun", "charge-written", "charged", "drawn", "record-begun", "record-written", "recorded"
"""Points at which tests let a publication crash: the ledger is locked, nothing is written; the charge is written; it is
committed, nothing is drawn; the output is drawn; the ledger is locked again; the release is written; it is recorded but
not yet returned."""

UNREADABLE = (
    "Entry {} of the ledger cannot be read: it was edited, or written by a later version of discreet. Nothing was "
    "charged."
)


class ChainFace(ABC):
    """Where a chain lies, and how it is held; a file, unless a subclass says otherwise."""

    place: str | Path

    @abstractmethod
    def _transaction(self, begin: str) -> AbstractContextManager["Connection"]:
        """Begin a transaction."""

    def reading(self) -> AbstractContextManager["Connection"]:
        """Begin to read."""
        return self._transaction("BEGIN")

    @property
    def address(self) -> str:
        """Return where it can be opened again."""
        return str(Path(self.place).absolute())

    def exists(self) -> bool:
        """Tell whether a ledger is there."""
        return Path(self.place).is_file()

    def require(self) -> None:
        """Refuse a place where no ledger is."""
        if not self.exists():
            raise LedgerError(f"There is no ledger at {str(self.place)!r}. Create one with Ledger.create.")

    def holding(self, request: str) -> AbstractContextManager[None]:
        """Hold a request's name until it is answered."""
        from discreet.guarantees.requests import held_in_file  # it imports this module

        return held_in_file(Path(self.place), request)


def not_made(place: str | Path, problem: OSError | ValueError) -> LedgerError:
    """Say why there is no new ledger."""
    if isinstance(problem, FileExistsError):
        return LedgerError(
            f"{str(place)!r} already exists. Nothing was changed. Open it with Ledger.open, or choose another name; "
            "keep in mind that a new ledger is a new budget."
        )
    why = problem.strerror if isinstance(problem, OSError) else "this is not a file name"
    return LedgerError(f"Cannot create a ledger at {str(place)!r}: {why}.")


def went_back(place: str | Path, sequence: int) -> LedgerError:
    """Say that a ledger has lost what it had."""
    return LedgerError(
        f"The ledger {str(place)!r} no longer has the entry {sequence} that it had before: its end was cut off, or "
        "it was replaced by an older copy. Nothing was charged."
    )


def moved_away(place: str) -> LedgerError:
    """Say that a ledger goes on elsewhere."""
    return LedgerError(
        f"This ledger was moved to {place!r} and is closed here: it can be read and verified, and releases already "
        "paid for can be fetched again. Nothing was charged. Use the ledger there."
    )
