"""What a whole ledger is checked for: the chain, the releases that charges paid for, and every sum."""

from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

from discreet.errors import LedgerError
from discreet.guarantees.chain import GENESIS, Entry, digest_of
from discreet.guarantees.guarantee import (
    EVERYONE,
    Accountant,
    Adjacency,
    Amount,
    Budget,
    nothing,
    read_amount,
    sums_document,
    together,
)
from discreet.guarantees.zcdp import zcdp_epsilon

AmountT = TypeVar("AmountT", bound=Amount)


def check_entries(entries: Sequence[Entry], path: Path) -> None:
    """Recompute the whole chain and all sums; raise if any entry is not what was once written."""
    previous = GENESIS
    for number, entry in enumerate(entries, start=1):
        if entry.sequence != number or entry.previous != previous or entry.digest != entry.expected_digest():
            raise LedgerError(f"The chain of {str(path)!r} is broken at entry {number}: it was edited.")
        previous = entry.digest
    _check_releases(entries, path)
    _check_sums(entries, path)


def _check_releases(entries: Sequence[Entry], path: Path) -> None:
    waiting: set[int] = set()
    for entry in entries:
        if entry.kind == "charge":
            waiting.add(entry.sequence)
        if entry.kind == "release":
            texts = map(str, entry.body["releases"])
            if entry.body["charge"] not in waiting or entry.body["digests"] != [digest_of(text) for text in texts]:
                raise LedgerError(f"Entry {entry.sequence} of {str(path)!r} records a release that no charge paid for.")
            waiting.remove(entry.body["charge"])


def _check_sums(entries: Sequence[Entry], path: Path) -> None:
    created = entries[0].body
    rule, neighbours = Accountant(created["accountant"]), Adjacency(created["adjacency"])
    shares = {name: nothing(rule) for name in (EVERYONE, *created["groups"])}
    limit: Amount = nothing(rule)
    for entry in entries:
        if entry.kind in ("created", "limit"):
            limit = read_amount(entry.body["limit"])
            if not is_limit(rule, limit, read_as(Budget, entry.body["declared"])):
                raise LedgerError(
                    f"The limit at entry {entry.sequence} of {str(path)!r} is not the one that is stated."
                )
        if entry.kind == "charge":
            shares[entry.body["group"] or EVERYONE] += read_amount(entry.body["cost"])
        expected = sums_document(limit, shares, neighbours)
        over = entry.kind == "charge" and not limit.covers(together(shares, neighbours))
        if over or any(entry.body.get(part) != value for part, value in expected.items()):
            raise LedgerError(f"The sums of {str(path)!r} do not add up at entry {entry.sequence}.")


def is_limit(accountant: Accountant, limit: Amount, declared: Budget) -> bool:
    """Tell whether a limit is what `limit_of` makes of the declared one, up to the last digits of a search."""
    if accountant is Accountant.BASIC:
        return bool(limit == declared)
    converted = zcdp_epsilon(limit.rho, declared.delta * Fraction(9, 10)) if limit.rho > 0 else Fraction(0)
    return bool(limit.delta == declared.delta / 10 and converted <= declared.epsilon * Fraction(100_001, 100_000))


def read_as(kind: type[AmountT], document: object) -> AmountT:
    """Read an amount that is written in one currency whatever the accountant is."""
    amount = read_amount(document)
    if not isinstance(amount, kind):
        raise LedgerError(f"An amount of a ledger is a {type(amount).__name__}, where a {kind.__name__} was written.")
    return amount
