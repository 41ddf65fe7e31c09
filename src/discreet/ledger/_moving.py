"""Moving a ledger: the same chain goes on elsewhere, and is closed where it was, so that nothing is spent twice.

The last entry of the old place, `moved`, says where the ledger goes; nothing is written behind it there. The new place
holds all entries with their texts and hashes, that one too, and then `arrived`, behind which charges go on. So every
release and every head that was given away is found in the new chain. The old place is closed first and the new one
opened then: a crash in between leaves no place to charge, and the same command finishes what it began.
"""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from discreet._core.errors import LedgerError
from discreet.ledger._chain import Chain, Entry, append, now, run
from discreet.ledger._check import check_rows
from discreet.ledger._entries import Body
from discreet.ledger._schema import COLUMNS, INSERT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Row

_AT_A_TIME = 1000  # rows that are copied together


def moved(source: Chain, target: Chain) -> None:
    """Move a ledger to a place where none is, after a check of all of it."""
    with source.read_transaction() as connection:
        _require_here(source.latest(connection), target)
    made = False
    try:
        with target.making() as there:
            made = True
            with source.write_transaction() as here:  # committed first
                head = source.latest(here)
                _require_here(head, target)
                if head.kind != "moved":
                    head = append(here, head, _passed_on(head, {"kind": "moved", "to": _named(target)}))
                check_rows(_copied(here, there, target), source.place)
            target.seen = append(there, head, _passed_on(head, {"kind": "arrived"}))
    except BaseException:
        if made and isinstance(target.place, Path):
            target.place.unlink(missing_ok=True)  # it holds nothing, and would be in the way of a second attempt
        raise


def _named(target: Chain) -> str:
    """Return where a ledger goes, as it is written down: without a password."""
    return target.place if isinstance(target.place, str) else target.address


def _require_here(head: Entry, target: Chain) -> None:
    """Refuse a ledger that has gone elsewhere already."""
    carried = head.carried
    if head.kind == "moved" and head.body["to"] != _named(target):
        raise LedgerError(
            f"The ledger {carried['ledger']} has already been moved to {head.body['to']!r}. Nothing was changed. If "
            "that move was not completed, move it to the same place again."
        )


def _passed_on(head: Entry, body: Body) -> Body:
    return {**head.carried, **body, "at": now(), "nonce": secrets.token_hex(16)}


def _copied(here: "Connection", there: "Connection", target: Chain) -> "Iterator[Row[tuple[int, str, str, str]]]":
    """Yield all rows, oldest first, each after it was written to the new place."""
    from sqlalchemy import text

    after = 0
    while True:
        some = f"SELECT * FROM entries WHERE sequence > :after ORDER BY sequence LIMIT {_AT_A_TIME}"
        rows = list(run(here, some, {"after": after}))
        if not rows:
            return
        with target.in_words():
            there.execute(text(INSERT), [{name: getattr(row, name) for name in COLUMNS} for row in rows])
        yield from rows
        after = rows[-1].sequence
