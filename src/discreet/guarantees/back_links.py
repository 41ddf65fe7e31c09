"""Back links: a few steps lead from the newest entry to any other, each checked by its hash.

Entry n carries the hash of entry n - 1, and that of entry n & (n - 1), its number without the lowest binary digit: 12
leads to 8, 8 to none. Round numbers are checkpoints, the rounder the farther. From entry n to entry m at most
(1 + log2 n)^2 / 2 entries are looked at, and whoever trusts the hash of the first may trust the last: to have another
entry there, two texts with one SHA-256 would have to be found.
"""

from typing import TYPE_CHECKING

from discreet.errors import LedgerError
from discreet.guarantees.chain import Entry, entry_at

if TYPE_CHECKING:
    from sqlalchemy import Connection


def earlier(connection: "Connection", head: Entry, sequence: int) -> Entry:
    """Return an entry that the given one stands on, by its number; every entry on the way must fit its hash."""
    entry = head
    while entry.sequence > sequence:
        back = entry.sequence & (entry.sequence - 1)
        is_long = "back" in entry.body and back >= sequence
        number, digest = (back, entry.body["back"]) if is_long else (entry.sequence - 1, entry.previous)
        found = entry_at(connection, number)
        if not found.digest == digest == found.expected_digest():
            raise LedgerError(f"The chain is broken at entry {number}: it was edited or removed.")
        entry = found
    return entry
