"""Back links: a few steps lead from the newest entry to any other, each checked by its hash.

Entry n holds the hash of entry n - 1, and for every power of two that divides n that of entry n - 2, n - 4, n - 8, ...:
one more on average. Round numbers are checkpoints, the rounder the farther they reach. From entry n to any earlier one
at most 2 (1 + log2 n) steps are taken, first to rounder numbers, then to the one that is looked for. Whoever trusts the
hash of the first may trust the last: to have another entry there, two texts with one SHA-256 would have to be found.
"""

from typing import TYPE_CHECKING

from discreet._core.documents import canonical_json
from discreet._core.errors import LedgerError
from discreet.ledger._chain import Entry, chain_digest, linked, read_entry, run
from discreet.ledger._schema import SELECT

if TYPE_CHECKING:
    from sqlalchemy import Connection


def earlier(connection: "Connection", head: Entry, sequence: int) -> Entry:
    """Return an entry that the given one stands on, by its number; every entry on the way must fit its hash."""
    entry, read = head, dict[int, Entry]()
    while entry.sequence > sequence:
        links = {entry.sequence - 1: entry.previous}
        links |= dict(zip(linked(entry.sequence), entry.body["back"], strict=False))
        number = min(each for each in links if each >= sequence)
        if number not in read:
            read = _entries_at(connection, path(number, sequence))
        found = read.get(number)
        expected = found and chain_digest(number, canonical_json(found.body), found.previous)
        if found is None or not found.digest == links[number] == expected:
            raise LedgerError(f"The chain is broken at entry {number}: it was edited or removed.")
        entry = found
    return entry


def path(start: int, target: int) -> list[int]:
    """Return the numbers of the entries over which back links lead from one to an earlier one, both included."""
    numbers = [start]
    while numbers[-1] > target:
        numbers.append(min(each for each in (numbers[-1] - 1, *linked(numbers[-1])) if each >= target))
    return numbers


def _entries_at(connection: "Connection", numbers: list[int]) -> dict[int, Entry]:
    """Return entries by their numbers, in one question; those that are there."""
    some = f"{SELECT} WHERE sequence IN ({', '.join(map(str, numbers))})"
    return {row.sequence: read_entry(row) for row in run(connection, some)}
