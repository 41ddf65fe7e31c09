"""What somebody who may write a ledger's file can do to it: take the triggers away, edit rows, hash them all anew."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from discreet._core.documents import canonical_json
from discreet.ledger import Entry
from discreet.ledger._chain import GENESIS, chain_digest, linked


def edit(path: Path, *statements: str) -> None:
    """Run statements of SQL on a ledger's file, without the triggers that forbid them."""
    with sqlite3.connect(path) as connection:
        for trigger in ("changed", "deleted"):
            connection.execute(f"DROP TRIGGER IF EXISTS entries_are_never_{trigger}")
        for statement in statements:
            connection.execute(statement)
    connection.close()


def hash_anew(path: Path, entries: list[Entry], changed: Callable[[Entry], Any]) -> None:
    """Write all entries anew with other bodies, all hashes, links and columns as they should be."""
    edit(path, "DELETE FROM entries")
    digests = {0: GENESIS}
    with sqlite3.connect(path) as connection:
        for entry in entries:
            number, body = entry.sequence, dict(changed(entry))
            if "back" in body:
                body["back"] = [digests[each] for each in linked(number)]
            text = canonical_json(body)
            digests[number] = chain_digest(number, text, digests[number - 1])
            request, charge = (body.get(name) for name in ("request", "charge"))
            spent = canonical_json(body.get("spent"))
            row = (number, request, charge, spent, digests[number - 1], digests[number], text)
            connection.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    connection.close()
