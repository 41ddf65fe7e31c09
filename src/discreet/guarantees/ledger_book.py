"""What a ledger says: its limit, which its owner may change, what has been spent, and all entries, checked."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Self

from discreet.errors import DeclarationError, LedgerError, PublishError
from discreet.exact import Exact, exact_text, probability
from discreet.guarantees.chain import Chain, Entry, append, everything, newest, oldest
from discreet.guarantees.entries import Body
from discreet.guarantees.guarantee import Accountant, Amount, Budget, limit_of, read_amount
from discreet.guarantees.ledger_check import check_entries, read_as
from discreet.markup import html_table
from discreet.records.columns import is_text

if TYPE_CHECKING:
    from sqlalchemy import Connection

_MOST_IN_A_NOTEBOOK = 60


class LedgerBook:
    """A ledger as its readers and its owner see it."""

    path: Path
    _chain: Chain

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    def __reduce__(self) -> tuple[Callable[[str], Self], tuple[str]]:
        """Copy and pickle a ledger by its path: a copy is the same file, opened again, and so the same budget."""
        return type(self).open, (str(self.path.absolute()),)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Open a ledger that was created before."""
        place = Path(path)
        if not place.is_file():
            raise LedgerError(f"There is no ledger at {str(place)!r}. Create one with Ledger.create.")
        make: Callable[[Path], Self] = cls
        ledger = make(place)
        if ledger.head.sequence < 1:
            raise LedgerError(f"{str(place)!r} holds no entry: it is not a ledger.")
        return ledger

    def _repr_html_(self) -> str:
        """Return totals and entries for a notebook; everything in it is text and nothing else."""
        entries = self.entries()
        limit, spent = (read_amount(entries[-1].body[part]) for part in ("limit", "spent"))
        title = f"Ledger {self.path}: spent {spent.words()} of {limit.words()}; left {(limit - spent).words()}"
        lines = [_line(entry) for entry in entries[-_MOST_IN_A_NOTEBOOK:]]
        left_out = len(entries) - len(lines)
        notes = [f"These are the last {len(lines)} of {len(entries)} entries; entries() has all."] if left_out else []
        return html_table(title, ("entry", "what", "label", "cost", "spent in all"), lines, words=5, notes=notes)

    @property
    def head(self) -> Entry:
        """Return the newest entry."""
        with self._chain.reading() as connection:
            return newest(connection)

    @property
    def created(self) -> Body:
        """Return what was declared when the ledger was created: accountant, adjacency, groups, population, unit."""
        with self._chain.reading() as connection:
            return oldest(connection).body

    @property
    def accountant(self) -> Accountant:
        """Return the rule by which this ledger adds up."""
        with self._chain.reading() as connection:
            return Accountant(oldest(connection).body["accountant"])

    @property
    def limit(self) -> Amount:
        """Return how much may be spent in all, in the accountant's currency."""
        return read_amount(self.head.body["limit"])

    @property
    def declared_limit(self) -> Budget:
        """Return the limit as it was stated, in epsilon and delta."""
        stated = [e.body["declared"] for e in self.entries() if "declared" in e.body]
        return read_as(Budget, stated[-1])

    @property
    def spent(self) -> Amount:
        """Return how much has been spent, in the accountant's currency."""
        return read_amount(self.head.body["spent"])

    @property
    def remaining(self) -> Amount:
        """Return how much may still be spent on everyone."""
        body = self.head.body
        return read_amount(body["limit"]) - read_amount(body["spent"])

    def entries(self) -> list[Entry]:
        """Return all entries, oldest first, as they stand in the file."""
        with self._chain.reading() as connection:
            return everything(connection)

    def releases(self, sequence: int) -> list[str]:
        """Return the recorded releases that were paid for by the charge of this number; none if it was in vain."""
        found = (e for e in self.entries() if e.kind == "release" and e.body["charge"] == sequence)
        return next((list(map(str, entry.body["releases"])) for entry in found), [])

    def is_answered(self, request: str) -> bool:
        """Tell whether releases are on record for a request, so that asking again is free."""
        entries = self.entries()
        charges = {e.sequence for e in entries if e.kind == "charge" and e.body["request"] == request}
        return any(e.kind == "release" and e.body["charge"] in charges for e in entries)

    def change_limit(self, epsilon: Exact, delta: Exact | None = None, reason: str = "") -> None:
        """Set a new limit. The change is an entry of its own, with a reason, for everyone to see.

        Delta stays as it is if it is left out.
        """
        if not isinstance(reason, str) or not reason.strip() or not is_text(reason):
            raise DeclarationError("A change of the limit needs a reason; it is written into the ledger.")
        with self._chain.writing() as connection:
            head, rule = newest(connection), Accountant(oldest(connection).body["accountant"])
            stated_before = [e.body["declared"] for e in everything(connection) if "declared" in e.body][-1]
            kept = read_amount(stated_before).delta if delta is None else probability(delta, "delta")
            limit, stated = limit_of(rule, epsilon, kept), limit_of(Accountant.BASIC, epsilon, kept)
            body: Body = {"kind": "limit", "reason": reason, "declared": stated.document()}
            append(connection, head, {**body, **head.sums, "limit": limit.document()})

    def check(self) -> None:
        """Recompute the whole chain and all sums; raise if any entry is not what was once written."""
        with self._chain.reading() as connection:
            check_entries(everything(connection), self.path)


def _line(entry: Entry) -> tuple[str, ...]:
    """Return an entry as a line of a table: its number, what happened, to what, at which cost, and the sum."""
    body = entry.body
    about = body.get("label") or body.get("reason") or body.get("population") or ""
    about = f"entry {body['charge']}" if entry.kind == "release" else about
    cost = read_amount(body["cost"]).words() if "cost" in body else ""
    return str(entry.sequence), entry.kind, str(about), cost, read_amount(body["spent"]).words()


def shortfall(label: str, cost: Amount, spent: Amount, limit: Amount, path: Path, rows: int, group: str | None) -> str:
    """Say which budget does not suffice, by how much, and what to do."""
    left = limit - spent
    short = [name for name in cost.document() if getattr(cost, name) > getattr(left, name)]
    name = short[0] if short else next(iter(cost.document()))
    need, gone, most, rest = (exact_text(getattr(amount, name)) for amount in (cost, spent, limit, left))
    most_each = f"{exact_text(getattr(left, name) / rows)} or less for each of {rows} rows"
    lower = f"Lower {name} to {most_each}" if rows > 1 and name == "epsilon" else f"Lower {name} to {rest} or less"
    lower = f"Lower epsilon until rho is at most {rest}" if name == "rho" else lower
    advice = f"{lower}, or ask" if getattr(left, name) > 0 and group is None else "Ask"
    return (
        f"Cannot publish {label!r}: it needs {name} = {need}, but {gone} of {most} is already spent ({path}). "
        f"Nothing was published and nothing was charged. {advice} the data owner to raise the limit."
    )


def answer_on_record(connection: "Connection", request: str, asked_for: Body) -> list[str] | None:
    """Return the releases on record for a request; refuse if that was asked with other words."""
    entries = everything(connection)
    charges = {e.sequence: e.body for e in entries if e.kind == "charge" and e.body["request"] == request}
    for entry in entries:
        if entry.kind == "release" and entry.body["charge"] in charges:
            before = charges[entry.body["charge"]]
            if {part: before.get(part) for part in asked_for} != asked_for:
                raise PublishError(
                    f"Cannot publish {asked_for['label']!r}: request {request!r} was already answered for another "
                    "label, unit, group, data set or mechanism. Nothing was published and nothing was charged."
                )
            return list(map(str, entry.body["releases"]))
    return None


def check_rows(connection: "Connection", label: str, data: str, rows: int) -> None:
    """Refuse another number of rows for each unit than the same data were charged for before."""
    before = {e.body["rows"] for e in everything(connection) if e.kind == "charge" and e.body["data"] == data}
    if before - {rows}:
        raise PublishError(
            f"Cannot publish {label!r}: {data!r} was charged before for up to {max(before)} rows for each unit, not "
            f"{rows}. Nothing was published and nothing was charged."
        )
