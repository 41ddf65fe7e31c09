"""Requests: one name, one charge and one release, however many ask at once and whatever crashes.

A request's state is what the chain says of it: a charge, then a release or the note that it was abandoned. Whoever
answers a request holds its name while charging, drawing and recording; others who ask under that name wait, and are
given the recorded release. The operating system, or the server, frees the name when its holder dies. So a charge
without a release, found by somebody who holds the name, belongs to nobody any more: its output was never seen. That is
written down, it can no longer be recorded, and asking is a new charge.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from discreet._core.documents import digest_of
from discreet._core.errors import LedgerError, PublishError
from discreet.ledger import _chain as chains
from discreet.ledger._chain import Chain, Entry, append, now, read_entry, run
from discreet.ledger._entries import Body
from discreet.ledger._schema import SELECT

if TYPE_CHECKING:
    from sqlalchemy import Connection

_MOST_DIFFERENCES, _LONGEST_SHOWN = 3, 60


def state_of(chain: Chain, connection: "Connection", head: Entry, request: str, asked_for: Body) -> list[str] | Entry:
    """Return the releases on record for a request, or else the entry behind which its charge belongs.

    Refuse a request that was answered for other words.
    """
    charges = charges_of(chain, connection, request)
    for charge in charges:
        if (released := released_by(chain, connection, charge)) is not None:
            recorded = {part: charge.body.get(part) for part in asked_for}
            if recorded != asked_for:
                raise PublishError(
                    f"Cannot publish {asked_for['label']!r}: request {request!r} was already answered for something "
                    f"else: {differences(recorded, asked_for)}. Nothing was published and nothing was charged. Give "
                    "the question a new name to ask it as a new one, which is charged, or ask it as it was."
                )
            return released
    if not charges or chain.outcome(connection, charges[-1].sequence) is not None:
        return head
    given_up: Body = {"kind": "abandoned", "charge": charges[-1].sequence, "at": now()}
    return append(connection, head, {**head.carried, **given_up})


def differences(recorded: object, asked: object) -> str:
    """Say in which parts two documents differ: their names, what was recorded and what is asked now."""
    found = list(_parts_that_differ("", recorded, asked))
    lines = list(dict.fromkeys(f"{name} was {_short(old)} and is now {_short(new)}" for name, old, new in found))
    more = len(lines) - _MOST_DIFFERENCES
    return "; ".join(lines[:_MOST_DIFFERENCES]) + (f"; and {more} more" if more > 0 else "")


def _parts_that_differ(name: str, old: object, new: object) -> Iterator[tuple[str, object, object]]:
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        for part in dict.fromkeys((*new, *old)):
            yield from _parts_that_differ(part, old.get(part), new.get(part))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            yield from _parts_that_differ(name, one, other)
    else:
        yield name, old, new


def _short(value: object) -> str:
    text = "nothing" if value is None else str(value) if isinstance(value, int) else repr(value)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def is_answered(chain: Chain, connection: "Connection", request: str) -> Entry | None:
    """Return the charge of a request whose releases are on record, or None."""
    charges = charges_of(chain, connection, request)
    return next((each for each in charges if released_by(chain, connection, each) is not None), None)


def charges_of(chain: Chain, connection: "Connection", request: str) -> list[Entry]:
    """Return the charges that were made under a name, oldest first."""
    found = run(connection, f"{SELECT} WHERE request = :request ORDER BY sequence", {"request": request})
    return [entry for entry in map(read_entry, found) if entry.kind == "charge" and entry.body["request"] == request]


def released_by(chain: Chain, connection: "Connection", charge: Entry) -> list[str] | None:
    """Return the recorded releases that a charge paid for."""
    outcome = chain.outcome(connection, charge.sequence)
    return None if outcome is None or outcome.kind != "release" else list(map(str, outcome.body["releases"]))


@contextmanager
def held_in_file(place: Path, request: str) -> Iterator[None]:
    """Hold a request's name on this machine: a lock on a file beside the ledger, which ends with the process."""
    path = place.with_name(f"{place.name}.{digest_of(request)[:16]}.asked")
    started = time.monotonic()
    while (descriptor := _locked(path, place)) is None:
        if time.monotonic() - started > chains.LONGEST_WAIT:
            raise PublishError(waited_too_long(request, chains.LONGEST_WAIT))
        time.sleep(0.005)
    try:
        yield
    finally:
        with suppress(FileNotFoundError):
            path.unlink()
        os.close(descriptor)


def _locked(path: Path, place: Path) -> int | None:
    """Return the descriptor of a locked file, or None if somebody else has the lock."""
    try:
        import fcntl

        descriptor = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except ImportError:
        raise PublishError("Requests need file locks, which this system does not have. Nothing was charged.") from None
    except OSError as problem:
        raise LedgerError(
            f"Cannot lock a request beside {str(place)!r}: {problem.strerror}. Nothing was published and nothing was "
            "charged."
        ) from None
    with suppress(BlockingIOError, FileNotFoundError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), path.stat()):  # not one that was removed in the meantime
            return descriptor
    os.close(descriptor)
    return None


def waited_too_long(request: str, seconds: float) -> str:
    """Say that somebody else is answering a request."""
    return (
        f"Another process is answering the request {request!r} and has not finished within {seconds:g} seconds. "
        "Nothing was published and nothing was charged. Ask again later: the same request gets the same release."
    )
