"""From version 0.1 to the present form: the old chain is copied as it is, and one entry behind it says what changed.

Old entries keep their numbers and hashes, so the receipts of old releases stay good. The table gets another name:
version 0.1, which would add entries without links, no longer finds it.
"""

import secrets

from sqlalchemy import text

from discreet.canonical import canonical_json
from discreet.errors import LedgerError
from discreet.ledger.chain import Chain, now
from discreet.ledger.checking import check_chain
from discreet.ledger.entries import FORMAT, Entry
from discreet.ledger.places import TABLE, TABLE_1, Place


def upgrade_file(place: Place) -> None:
    """Upgrade a ledger in one transaction: all of it or nothing."""
    with place.writing() as connection:
        old = Chain(connection, place.table(connection))
        if not old.is_old:
            raise LedgerError(f"{str(place)!r} has the present form already. Nothing was changed.")
        check_chain(old, str(place))
        place.make_table(connection)
        new = Chain(connection, TABLE)
        rows: dict[str, int] = {}
        declared: dict[str, str] = {}
        for entry in old.stream():
            new.insert(entry, canonical_json(entry.body))
            declared = entry.body.get("declared", declared)
            if entry.kind == "charge":
                data = str(entry.body["data"])
                rows[data] = max(rows.get(data, 1), int(entry.body["rows"]))
        new.append(head := new.newest(), _birth(old.at(1), head, declared, rows))
        connection.execute(text(f"DROP TABLE {TABLE_1}"))


def _birth(created: Entry, head: Entry, declared: dict[str, str], rows: dict[str, int]) -> dict[str, object]:
    """Return the entry that declares the ledger anew: its old terms, its sums, a name of its own."""
    named = {data: number for data, number in rows.items() if data}
    terms = {part: created.body[part] for part in ("accountant", "adjacency", "groups", "population", "unit")}
    sums = {part: head.body[part] for part in ("limit", "shares", "spent")}
    more = {"ledger": secrets.token_hex(16), "declared": declared, "per": None, "period": None}
    everywhere = {"": rows.get("", 1)}
    return {"kind": "upgraded", "format": FORMAT, "time": now(), "rows": everywhere | named} | terms | sums | more
