"""The whole chain, read once: hashes, links, indexes, sums, periods, and releases that their charges paid for.

It holds a few entries at a time, however long the chain is; of charges, only the numbers of those that are still open.
"""

from collections.abc import Iterator
from typing import Any

from discreet.errors import LedgerError
from discreet.guarantees.amounts import EVERYONE, Accountant, is_limit, nothing, read_amount, together
from discreet.guarantees.guarantee import Adjacency
from discreet.ledger.chain import Chain
from discreet.ledger.entries import GENESIS, Entry, digest_of, linked_to
from discreet.ledger.periods import allowed, at_time


def check_chain(chain: Chain, place: str) -> int:
    """Check every entry in turn; return how many there are."""
    count = 0
    books = Books(place)
    for count, entry in enumerate(_hashed(chain, place), start=1):  # noqa: B007 - the last number is the length
        books.enter(entry)
    if count == 0:
        raise LedgerError(f"{place!r} holds no entry: it is not a ledger.")
    return count


def _hashed(chain: Chain, place: str) -> Iterator[Entry]:
    """Give all entries, once their hashes, links and indexes are found to be right."""
    previous = GENESIS
    latest: dict[int, str] = {}  # by power of two: the hash of the newest entry whose number it divides
    columns = iter(()) if chain.is_old else chain.indexed()
    for number, entry in enumerate(chain.stream(), start=1):
        broken = entry.sequence != number or entry.previous != previous or entry.digest != entry.expected_digest()
        if not chain.is_old:
            broken |= next(columns, None) != (entry.kind, entry.request, entry.charge)
        step = number & -number
        if "link" in entry.body:
            earlier = linked_to(number)
            expected = {"sequence": earlier, "digest": latest[2 * step] if earlier else GENESIS}
            broken |= entry.body["link"] != expected
        if broken:
            raise LedgerError(f"The chain of {place!r} is broken at entry {number}: it was edited.")
        previous = entry.digest
        while step:
            latest[step] = entry.digest
            step //= 2
        yield entry


class Books:
    """The sums of a ledger, kept anew from its entries alone and compared with what each of them says."""

    def __init__(self, place: str) -> None:
        self._place = place
        self._open: set[int] = set()
        self._shares: dict[str, Any] = {}
        self._limit: Any = None
        self._birth: dict[str, Any] = {}
        self._period: Any = None
        self._rows: dict[str, int] = {}
        self._identity: str | None = None

    def enter(self, entry: Entry) -> None:
        """Take in one entry."""
        body, kind = entry.body, entry.kind
        if kind in ("created", "upgraded"):
            self._born(entry)
        if kind in ("created", "upgraded", "limit"):
            self._limit = read_amount(body["limit"])
            if not is_limit(self._rule, self._limit, read_amount(body["declared"])):
                raise LedgerError(
                    f"The limit at entry {entry.sequence} of {self._place!r} is not the one that is stated."
                )
        before = together(self._shares, self._neighbours).document()
        if kind == "charge":
            self._open.add(entry.sequence)
            self._shares[body["group"] or EVERYONE] += read_amount(body["cost"])
        if kind in ("release", "abandoned"):
            self._close(entry)
        if "link" in body:
            self._check_terms(entry, before)
        self._check_sums(entry)

    @property
    def _rule(self) -> Accountant:
        return Accountant(self._birth["accountant"])

    @property
    def _neighbours(self) -> Adjacency:
        return Adjacency(self._birth["adjacency"])

    def _born(self, entry: Entry) -> None:
        terms = ("accountant", "adjacency", "groups", "population", "unit")
        if (entry.kind == "created") != (entry.sequence == 1):
            raise LedgerError(f"Entry {entry.sequence} of {self._place!r} begins a ledger inside another.")
        if entry.kind == "upgraded" and any(entry.body[part] != self._birth[part] for part in terms):
            raise LedgerError(f"Entry {entry.sequence} of {self._place!r} changes the terms of the ledger.")
        self._birth = entry.body
        self._rows, self._identity = entry.body.get("rows", {}), entry.body.get("ledger")
        if entry.kind == "created":
            self._shares = {name: nothing(self._rule) for name in (EVERYONE, *entry.body["groups"])}

    def _close(self, entry: Entry) -> None:
        paid = entry.charge in self._open
        if entry.kind == "release":
            paid &= entry.body["digests"] == [digest_of(str(text)) for text in entry.body["releases"]]
        if not paid:
            raise LedgerError(
                f"Entry {entry.sequence} of {self._place!r} records a release that no charge paid for."
                if entry.kind == "release"
                else f"Entry {entry.sequence} of {self._place!r} abandons a charge that was not open."
            )
        self._open.remove(int(entry.body["charge"]))

    def _check_terms(self, entry: Entry, before: dict[str, str]) -> None:
        """Compare what was added after version 0.1: identity, rows, and the period with its allowance."""
        body, per = entry.body, self._birth["per"]
        if entry.kind == "table":
            self._rows = self._rows | {body["data"]: body["rows"].get(body["data"])}
        begins = entry.kind in ("created", "upgraded", "charge")
        self._period = at_time(self._period, before, entry.time, per) if begins else self._period
        right = (body["ledger"], body["rows"], body["period"]) == (self._identity, self._rows, self._period)
        if entry.kind == "charge":
            right &= body["unit_rows"] == self._rows.get(body["data"], self._rows[""])
            if per is not None:
                gone = together(self._shares, self._neighbours) - read_amount(self._period["before"])
                right &= allowed(self._limit, per).covers(gone)
        if not right:
            raise LedgerError(f"The terms of {self._place!r} are not kept at entry {entry.sequence}.")

    def _check_sums(self, entry: Entry) -> None:
        spent = together(self._shares, self._neighbours)
        expected = {
            "limit": self._limit.document(),
            "shares": {name: amount.document() for name, amount in self._shares.items()},
            "spent": spent.document(),
        }
        over = entry.kind == "charge" and not self._limit.covers(spent)
        if over or any(entry.body[part] != value for part, value in expected.items()):
            raise LedgerError(f"The sums of {self._place!r} do not add up at entry {entry.sequence}.")
