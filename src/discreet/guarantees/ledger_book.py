"""What a ledger says: its limit, which its owner may change, what has been spent, and all entries, checked."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Self

from discreet.amounts import left_text, spent_text
from discreet.errors import DeclarationError, LedgerError
from discreet.exact import Exact, positive, probability
from discreet.guarantees.adjacency import Adjacency
from discreet.guarantees.allowances import left_in_period
from discreet.guarantees.back_links import earlier
from discreet.guarantees.chain import Chain, Entry, append, entry_at, newest, now, read_entry, run
from discreet.guarantees.entries import Body
from discreet.guarantees.guarantee import Accountant, Amount, Budget, Guarantee, limit_of, read_amount
from discreet.guarantees.ledger_check import as_kind, check_rows
from discreet.guarantees.metric import Metric, read_metric
from discreet.guarantees.metric_budget import PerUnit
from discreet.guarantees.moving import moved
from discreet.guarantees.requests import charges_of, is_answered
from discreet.guarantees.schema import SELECT
from discreet.guarantees.unit import PERSON, RECORD
from discreet.markup import html_table
from discreet.notebook import Shown, with_picture
from discreet.records.columns import is_text

_MOST_IN_A_NOTEBOOK = 60
_MOST_DRAWN = 1000  # entries that are read again for a picture
_AT_A_TIME = 1000  # rows that are read together when the whole chain is followed


class LedgerBook(Shown):
    """A ledger as its readers and its owner see it."""

    _chain: Chain

    def __repr__(self) -> str:
        return f"Ledger({str(self.place)!r})"

    def __reduce__(self) -> tuple[Callable[[str], Self], tuple[str]]:
        """Copy and pickle a ledger by its place: a copy is the same file, opened again, and so the same budget."""
        return type(self).open, (self._chain.address,)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a ledger that was created before, in a file or on a server (`postgresql://...`)."""
        chain = Chain.at(path)
        chain.require()
        make: Callable[[Chain], Self] = cls
        ledger = make(chain)
        head = ledger.head
        if head.sequence < 1:
            raise LedgerError(f"{str(ledger.place)!r} has no entries: it is not a ledger.")
        return ledger

    @property
    def place(self) -> str | Path:
        """Return where the ledger is, in words: its file, or its server's address without a password."""
        return self._chain.place

    @property
    def path(self) -> Path:
        """Return the ledger's file."""
        if not isinstance(self.place, Path):
            raise LedgerError(f"The ledger {self.place!r} is on a server, so it has no file.")
        return self.place

    def _repr_html_(self) -> str:
        """Return picture, totals and entries for a notebook; all that others wrote in it is text and nothing else."""
        with self._chain.reading() as connection:
            head = newest(connection)
            few = f"{SELECT} WHERE sequence > :after ORDER BY sequence"
            entries = [read_entry(row) for row in run(connection, few, {"after": head.sequence - _MOST_IN_A_NOTEBOOK})]
        limit, spent = (read_amount(head.body[part]) for part in ("limit", "spent"))
        title = f"Ledger {self.place}: spent {spent.words(spent_text)} of {limit.words(left_text)}"
        title += f"; left {(limit - spent).words(left_text)}"
        lines = [_line(entry) for entry in entries]
        left_out = head.sequence - len(lines)
        notes = [f"These are the last {len(lines)} of {head.sequence} entries; entries() has all."] if left_out else []
        page = html_table(title, ("entry", "what", "label", "cost", "spent in all"), lines, words=5, notes=notes)
        return with_picture(page, "budget_chart", self) if head.sequence <= _MOST_DRAWN else page

    @property
    def head(self) -> Entry:
        """Return the newest entry."""
        with self._chain.reading() as connection:
            return self._chain.latest(connection)

    @property
    def id(self) -> str:
        """Return the random identifier that the ledger got at its creation."""
        return self.head.body["ledger"]

    @property
    def created(self) -> Body:
        """Return what was declared when the ledger was created: accountant, adjacency, groups, population, unit."""
        with self._chain.reading() as connection:
            return entry_at(connection, 1).body

    @property
    def change(self) -> str:
        """Return which change of the data is hidden, in words: that of one record, or of all rows of one person."""
        created = self.created
        unit = created["unit"] if created.get("rows") in (None, 1) else RECORD
        return change_in_words(Adjacency(created["adjacency"]), unit)

    @property
    def accountant(self) -> Accountant:
        """Return the rule by which this ledger adds up charges (composition)."""
        return Accountant(self.created["accountant"])

    @property
    def limit(self) -> Amount:
        """Return how much may be spent in total, in the accountant's units."""
        return read_amount(self.head.body["limit"])

    @property
    def declared_limit(self) -> Budget | PerUnit:
        """Return the limit as declared: epsilon and delta, or epsilon per unit of a metric."""
        found = read_amount(self.head.body["declared"])
        return found if isinstance(found, PerUnit) else as_kind(Budget, found)

    @property
    def metric(self) -> Metric | None:
        """Return the metric under which the ledger adds up; None for an ordinary one."""
        written = self.created.get("metric")
        return None if written is None else read_metric(written)

    @property
    def spent(self) -> Amount:
        """Return how much has been spent, in the accountant's units."""
        return read_amount(self.head.body["spent"])

    @property
    def remaining(self) -> Amount:
        """Return how much may still be spent on everyone."""
        body = self.head.body
        return read_amount(body["limit"]) - read_amount(body["spent"])

    @property
    def this_period(self) -> tuple[str, Amount] | None:
        """Return the running period and what may still be spent in it; None if the ledger has no allowances."""
        created = self.created
        return left_in_period(created, self.head.carried) if created.get("allowance") else None

    def follow(self) -> Iterator[Entry]:
        """Iterate over all entries, oldest first, keeping only a few in memory at a time."""
        number = 0
        while True:
            with self._chain.reading() as connection:
                some = f"{SELECT} WHERE sequence > :number ORDER BY sequence LIMIT {_AT_A_TIME}"
                entries = [read_entry(row) for row in run(connection, some, {"number": number})]
            yield from entries
            if len(entries) < _AT_A_TIME:
                return
            number = entries[-1].sequence

    def entries(self) -> list[Entry]:
        """Return all entries as stored, oldest first."""
        return list(self.follow())

    def charge_of(self, sequence: int, digest: str) -> tuple[Entry | None, Entry | None, int]:
        """Look up a charge and what became of it, and follow the chain from the newest entry to both.

        The charge is None if no entry of that number and hash is there. The last is the number of the newest entry.
        """
        with self._chain.reading() as connection:
            head = self._chain.latest(connection)
            if head.sequence < sequence:
                return None, None, head.sequence
            outcome = self._chain.outcome(connection, sequence)
            found = earlier(connection, earlier(connection, head, outcome.sequence) if outcome else head, sequence)
            return (found if found.digest == digest else None), outcome, head.sequence

    def stands_on(self, sequence: int, digest: str) -> bool:
        """Tell whether the newest entry stands on an entry of this number and hash: a few steps along the chain."""
        with self._chain.reading() as connection:
            head = self._chain.latest(connection)
            return 1 <= sequence <= head.sequence and earlier(connection, head, sequence).digest == digest

    def releases(self, sequence: int) -> list[str]:
        """Return the recorded releases that the charge of this number paid for; none if the charge came to nothing."""
        with self._chain.reading() as connection:
            found = self._chain.outcome(connection, sequence)
        return [] if found is None or found.kind != "release" else list(map(str, found.body["releases"]))

    def answered(self, request: str) -> Entry | None:
        """Return the charge of a request whose releases are on record, or None."""
        with self._chain.reading() as connection:
            return is_answered(self._chain, connection, request)

    def is_charged(self, request: str) -> bool:
        """Tell whether anything was ever charged under a request's name, whatever its outcome."""
        with self._chain.reading() as connection:
            return bool(charges_of(self._chain, connection, request))

    def is_answered(self, request: str) -> bool:
        """Tell whether releases are on record for a request, so that asking again is free."""
        return self.answered(request) is not None

    def answering(self, request: str) -> AbstractContextManager[None]:
        """Lock a request's name: anyone else who asks under it waits for the answer."""
        return self._chain.holding(request)

    def change_limit(self, epsilon: Exact, delta: Exact | None = None, reason: str = "") -> None:
        """Set a new limit. The change is recorded as an entry of its own, with a reason, for everyone to see.

        Delta stays as it is if it is left out.
        """
        if not isinstance(reason, str) or not reason.strip() or not is_text(reason):
            raise DeclarationError(
                "A change of the limit needs a reason, which is recorded in the ledger. Nothing was changed."
            )
        with self._chain.writing() as connection:
            head, rule = self._chain.latest(connection), Accountant(entry_at(connection, 1).body["accountant"])
            before = head.carried
            kept = read_amount(before["declared"]).delta if delta is None else probability(delta, "delta")
            if rule is Accountant.METRIC:
                limit = stated = read_amount(before["limit"]).with_numbers([positive(epsilon, "epsilon")])
            else:
                limit, stated = limit_of(rule, epsilon, kept), limit_of(Accountant.BASIC, epsilon, kept)
            body: Body = {"kind": "limit", "at": now(), "reason": reason, "declared": stated.document()}
            append(connection, head, {**before, **body, "limit": limit.document()})

    def check(self) -> int:
        """Recompute the whole hash chain and all sums; raise if any entry has been altered.

        Return the number of entries. They are streamed, not kept in memory.
        """
        with self._chain.reading() as connection:
            streamed = connection.execution_options(stream_results=True, yield_per=_AT_A_TIME)
            return check_rows(run(streamed, "SELECT * FROM entries ORDER BY sequence"), self.place)

    @property
    def moved_to(self) -> str | None:
        """Return where the ledger continues, if it was moved; then it accepts no further charges here."""
        head = self.head
        return head.body["to"] if head.kind == "moved" else None

    def move(self, place: str | os.PathLike[str]) -> Self:
        """Move the ledger to a new file or server and return the new one; the old one is closed but stays readable."""
        target = Chain.at(place)
        moved(self._chain, target)
        return type(self).open(target.address)


def _line(entry: Entry) -> tuple[str, ...]:
    """Return an entry as a line of a table: its number, what happened, to what, at which cost, and the sum."""
    body = entry.body
    about = body.get("label") or body.get("reason") or body.get("population") or ""
    about = f"entry {body['charge']}" if "charge" in body else about
    cost = read_amount(body["cost"]).words(spent_text) if "cost" in body else ""
    return str(entry.sequence), entry.kind, str(about), cost, read_amount(body["spent"]).words(spent_text)


def shortfall(
    label: str, cost: Amount, spent: Amount, limit: Amount, place: str | Path, rows: int, group: str | None
) -> str:
    """Say which budget does not suffice, by how much, and what to do."""
    left = limit - spent
    short = [name for name in cost.document() if getattr(cost, name) > getattr(left, name)]
    name = short[0] if short else next(iter(cost.document()))  # of a metric, the name of an amount says its unit
    need, gone = (spent_text(getattr(amount, name)) for amount in (cost, spent))
    most, rest = (left_text(getattr(amount, name)) for amount in (limit, left))
    most_each = f"{left_text(getattr(left, name) / rows)} or less for each of {rows} rows"
    lower = f"Lower {name} to {most_each}" if rows > 1 and name == "epsilon" else f"Lower {name} to {rest} or less"
    lower = f"Lower epsilon until rho is at most {rest}" if name == "rho" else lower
    advice = f"{lower}, or ask" if getattr(left, name) > 0 and group is None else "Ask"
    return (
        f"Cannot publish {label!r}: it needs {name} = {need}, but {gone} of {most} is already spent ({place}). "
        f"Nothing was published and nothing was charged. {advice} the data owner to raise the limit."
    )


def change_in_words(adjacency: Adjacency, unit: str) -> str:
    """Return a change of the data in words; of other units the adjacency says which records they are made of."""
    return adjacency.words(PERSON if unit == PERSON else RECORD)


def other_rows(label: str, created: Body, bound: int | None, rows: int) -> str:
    """Say that a ledger's unit has another number of rows."""
    return (
        f"Cannot publish {label!r}: this ledger protects {created['unit']!r} with up to {bound} rows per unit, but "
        f"the release assumes {rows}. Nothing was published and nothing was charged."
    )


def other_unit(label: str, created: Body, unit: str, guarantee: Guarantee) -> str:
    """Say that a release protects something else than its ledger does."""
    mine, other = (
        change_in_words(Adjacency(created["adjacency"]), created["unit"]),
        change_in_words(guarantee.adjacency, unit),
    )
    return (
        f"Cannot publish {label!r}: this ledger protects {created['unit']!r} ({mine}), but the release would protect "
        f"{unit!r} ({other}). Nothing was published and nothing was charged."
    )
