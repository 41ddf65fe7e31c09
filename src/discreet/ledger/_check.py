"""What a whole ledger is checked for: the chain, outcomes of charges, and every sum, in one pass."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from discreet._core.documents import canonical_json, digest_of
from discreet._core.errors import LedgerError
from discreet.ledger._allowances import allowed_of, period_at, period_shares
from discreet.ledger._chain import GENESIS, Entry, chain_digest, linked, read_entry
from discreet.ledger._entries import Body, Period, account_of, sums_document
from discreet.ledger._group_rule import check_rule, is_by_rule
from discreet.ledger._metric_budget import check_beginning
from discreet.privacy import (
    EVERYONE,
    Accountant,
    Adjacency,
    Amount,
    Budget,
    Concentrated,
    PerUnit,
    read_amount,
    together,
    zcdp_epsilon,
)

if TYPE_CHECKING:
    from sqlalchemy import Row

AmountT = TypeVar("AmountT", bound=Amount)


def check_rows(rows: "Iterable[Row[tuple[int, str, str, str]]]", place: str | Path) -> int:
    """Recompute the whole chain and all sums; raise if any entry is not what was once written. Return their number.

    Rows come one after the other and none is kept but what later ones refer to.
    """
    number, links, sums = 0, _Links(str(place)), _RunningTotals(str(place))
    for number, row in enumerate(rows, start=1):
        entry = read_entry(row)
        links.follow(number, entry, str(row.body))
        columns = {name: getattr(row, name, None) for name in ("request", "charge", "spent")}
        repeated = {name: entry.body.get(name) for name in ("request", "charge")}
        repeated["spent"] = canonical_json(entry.body["spent"])
        if columns != repeated:
            raise LedgerError(f"The columns of entry {number} of {str(place)!r} were edited: they contradict its text.")
        sums.follow(entry)
    if not number:
        raise LedgerError(f"{str(place)!r} has no entries: it is not a ledger.")
    return number


@dataclass
class _Links:
    """The hashes: of the entry before, and of the earlier ones to which back links will still lead, a few at a time."""

    place: str
    previous: str = GENESIS
    marks: dict[int, str] = field(default_factory=dict)

    def follow(self, number: int, entry: Entry, written: str) -> None:
        """Check an entry's number, its hash and its links."""
        wanted = [self.marks[each] for each in linked(number)]
        fits = entry.digest == chain_digest(entry.sequence, written, entry.previous)
        is_next = entry.sequence == number and entry.previous == self.previous
        if not fits or not is_next or entry.body["back"] != wanted:
            raise LedgerError(f"The chain of {self.place!r} is broken at entry {number}: it was edited.")
        for each in linked(number):
            if number - each == each & -each:  # nothing later leads back to that one
                del self.marks[each]
        if number % 2 == 0:
            self.marks[number] = entry.digest
        self.previous = entry.digest


@dataclass
class _RunningTotals:
    """What has been spent so far, and which charges have no outcome yet."""

    place: str
    waiting: set[int] = field(default_factory=set)
    created: Body = field(default_factory=Body)
    limit: Amount = field(default_factory=lambda: Budget(Fraction(0), Fraction(0)))
    shares: dict[str, Amount] = field(default_factory=dict)
    carried: dict[str, object] = field(default_factory=dict)
    is_away: bool = False  # the entry before says that the ledger goes on elsewhere

    def follow(self, entry: Entry) -> None:
        """Check an entry's contents against all that came before."""
        kind, body = entry.kind, entry.body
        if (kind == "created") != (not self.created):
            raise LedgerError(f"Entry {entry.sequence} of {self.place!r} opens a ledger in the middle of one.")
        if (kind == "arrived") != self.is_away:
            raise LedgerError(
                f"Entry {entry.sequence} of {self.place!r} was added after the ledger was moved elsewhere."
            )
        self.is_away = kind == "moved"
        if kind == "created":
            self._begin(body)
        if kind in ("created", "limit"):
            self._set_limit(entry)
        if kind == "charge":
            if not is_by_rule(self.created, body):
                raise LedgerError(
                    f"Entry {entry.sequence} of {self.place!r} was not charged to the group that its records belong to."
                )
            self.waiting.add(entry.sequence)
            self.shares[account_of(body)] += read_amount(body["cost"])
        if kind in ("release", "abandoned"):
            self._close(entry)
        neighbours = Adjacency(self.created["adjacency"])
        expected = sums_document(self.limit, self.shares, neighbours)
        over = kind == "charge" and not self.limit.covers(together(self.shares, neighbours))
        if over or any(body.get(part) != value for part, value in expected.items()):
            raise LedgerError(f"The sums of {self.place!r} do not add up at entry {entry.sequence}.")
        self._carry(entry)

    def _begin(self, body: Body) -> None:
        self.created, self.limit = body, read_amount(body["limit"])
        check_beginning(body, self.limit)
        check_rule(body)
        self.shares = dict.fromkeys((EVERYONE, *body["groups"]), self.limit.none)

    def _set_limit(self, entry: Entry) -> None:
        self.limit = read_amount(entry.body["limit"])
        declared = read_amount(entry.body["declared"])
        if not is_limit(Accountant(self.created["accountant"]), self.limit, declared):
            raise LedgerError(f"The limit at entry {entry.sequence} of {self.place!r} is not the one that it states.")

    def _close(self, entry: Entry) -> None:
        body = entry.body
        texts = map(str, body["releases"] if entry.kind == "release" else ())
        fits = entry.kind == "abandoned" or body["digests"] == [digest_of(text) for text in texts]
        if body["charge"] not in self.waiting or not fits:
            raise LedgerError(
                f"Entry {entry.sequence} of {self.place!r} records a release for which there is no charge."
            )
        self.waiting.remove(body["charge"])

    def _carry(self, entry: Entry) -> None:
        """Check what entries carry on: it changes only where it may."""
        body = entry.body
        before, now = self.carried, {part: body.get(part) for part in ("ledger", "declared", "rows", "period")}
        changes = {"limit": {"declared"}, "charge": {"rows", "period"}}.get(entry.kind, set())
        born = entry.kind == "created" and not before
        same = all(before.get(part) == now[part] or part in changes for part in now)
        rows_stay = before.get("rows") in (None, now["rows"])
        if not (born or (before and same and rows_stay)) or not self._is_period(entry):
            raise LedgerError(
                f"The state that entry {entry.sequence} of {self.place!r} carries over is not the state before it."
            )
        self.carried = now

    def _is_period(self, entry: Entry) -> bool:
        """Return whether a charge kept to the allowance of its period."""
        allowance, body = self.created.get("allowance"), entry.body
        if allowance is None or entry.kind != "charge":
            return allowance is not None or body.get("period") is None
        running: Period | None = self.carried["period"]  # type: ignore[assignment]
        name = period_at(allowance, body["at"], running)
        shares = period_shares(name, running, self.created)
        shares[account_of(body)] += read_amount(body["cost"])
        spent = together(shares, Adjacency(self.created["adjacency"]))
        wanted = {"name": name, "shares": {each: amount.document() for each, amount in shares.items()}}
        return body["period"] == wanted and allowed_of(self.limit, allowance).covers(spent)


def is_limit(accountant: Accountant, limit: Amount, declared: Amount) -> bool:
    """Return whether a limit is what `limit_of` makes of the declared one, up to the last digits of a search."""
    if accountant is not Accountant.ZCDP:
        return type(limit) is (Budget if accountant is Accountant.BASIC else PerUnit) and limit == declared
    if not isinstance(limit, Concentrated) or not isinstance(declared, Budget):
        return False
    converted = zcdp_epsilon(limit.rho, declared.delta * Fraction(9, 10)) if limit.rho > 0 else Fraction(0)
    return bool(limit.delta == declared.delta / 10 and converted <= declared.epsilon * Fraction(100_001, 100_000))


def read_as(kind: type[AmountT], document: object) -> AmountT:
    """Read an amount that is written in one currency whatever the accountant is."""
    return as_type(kind, read_amount(document))


def as_type(kind: type[AmountT], amount: Amount) -> AmountT:
    """Return an amount of this kind; refuse one of another."""
    if not isinstance(amount, kind):
        raise LedgerError(
            f"An amount in the ledger is a {type(amount).__name__} instead of a {kind.__name__}: it was edited."
        )
    return amount
