"""Ledgers of version 0.1: read as they are, and upgraded when their owner says so.

Version 0.1 wrote the same chain: the same hashes over the same texts. Its table has no columns to look things up in, so
every question reads all of it, and its entries carry no id. Upgrading puts the same rows into today's table and appends
an entry that gives the ledger its id. Every old hash stays what it was, and the new entries stand on the old ones.
Version 0.1 refuses the result: its newest entry is of a later version.
"""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.guarantees.chain import Chain, Entry, append, newest, now, read_entry, run
from discreet.guarantees.entries import Body
from discreet.guarantees.ledger_check import check_rows
from discreet.guarantees.schema import IN_A_FILE, SELECT

if TYPE_CHECKING:
    from sqlalchemy import Connection


class FirstChain(Chain):
    """The entries of a file that version 0.1 wrote: what is looked up stands in the texts alone."""

    request, charge = "json_extract(body, '$.request')", "json_extract(body, '$.charge')"

    def declared(self, connection: "Connection") -> dict[str, str]:
        """Return the limit as it was stated last."""
        return _last(connection, "$.declared").body["declared"]

    def upgrade(self) -> Chain:
        """Bring the file into today's form, in one transaction, after a check of all of it."""
        with self.writing() as connection:
            head = newest(connection)
            if "back" in head.body:
                return super().upgrade()
            check_rows(run(connection, "SELECT * FROM entries ORDER BY sequence"), self.place)
            most = run(connection, "SELECT max(json_extract(body, '$.rows')) FROM entries").scalar()
            body: Body = {
                "kind": "upgraded", "at": now(), "nonce": secrets.token_hex(16), "ledger": secrets.token_hex(16),
                "declared": self.declared(connection), "limit": head.body["limit"], "shares": head.body["shares"],
                "spent": head.body["spent"], "rows": None if most is None else int(str(most)), "period": None,
            }  # fmt: skip
            for statement in (_ASIDE, *IN_A_FILE, _AGAIN, _AWAY):
                run(connection, statement)
            append(connection, head, body)
        return Chain(Path(self.place))


_ASIDE = "ALTER TABLE entries RENAME TO entries_of_0_1"
_AGAIN = """INSERT INTO entries (sequence, request, charge, spent, previous, digest, body)
    SELECT sequence, json_extract(body, '$.request'), json_extract(body, '$.charge'), json_extract(body, '$.spent'),
    previous, digest, body FROM entries_of_0_1 ORDER BY sequence"""
_AWAY = "DROP TABLE entries_of_0_1"


def _last(connection: "Connection", part: str) -> Entry:
    """Return the newest entry that has a part."""
    having = f"{SELECT} WHERE json_extract(body, :part) IS NOT NULL ORDER BY sequence DESC LIMIT 1"
    return read_entry(run(connection, having, {"part": part}).one())
