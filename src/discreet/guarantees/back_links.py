"""Back links: a few steps lead from the newest entry to any other, each checked by its hash.

Entry n holds the hash of entry n - 1, and for every power of two that divides n that of entry n - 2, n - 4, n - 8, ...:
one more on average. Round numbers are checkpoints, the rounder the farther they reach. From entry n to any earlier one
at most 2 (1 + log2 n) steps are taken, first to rounder numbers, then to the one that is looked for. Whoever trusts the
hash of the first may trust the last: to have another entry there, two texts with one SHA-256 would have to be found.
"""

from typing import TYPE_CHECKING

from discreet.errors import LedgerError
from discreet.guarantees.chain import Entry, entry_at, linked

if TYPE_CHECKING:
    from sqlalchemy import Connection


def earlier(connection: "Connection", head: Entry, sequence: int) -> Entry:
    """Return an entry that the given one stands on, by its number; every entry on the way must fit its hash."""
    entry = head
    while entry.sequence > sequence:
        links = {entry.sequence - 1: entry.previous}
        links |= dict(zip(linked(entry.sequence), entry.body.get("back", []), strict=False))
        number = min(each for each in links if each >= sequence)
        found = entry_at(connection, number)
        if not found.digest == links[number] == found.expected_digest():
            raise LedgerError(f"The chain is broken at entry {number}: it was edited or removed.")
        entry = found
    return entry
