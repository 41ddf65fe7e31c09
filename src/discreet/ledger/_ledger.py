"""The ledger: how much privacy has been spent, written down before it is spent.

A ledger is a chain of entries. Each carries the hash of the one before it and all totals after it, so that a charge
looks at the newest entry alone, and an entry that is edited, removed or reordered no longer fits its neighbours. There
is no secret key: whoever may write the file can rehash it, cut off its tail or put an older copy back. That can be
noticed only from outside: by a release, which carries the hash of its charge, or by a head that somebody else keeps.

The limit is enforced by an accountant, basic composition or zCDP. Both are valid filters even if each question depends
on earlier answers. A charge is committed to disk before anything is drawn, under a lock that is held from the first
read, so any number of processes may share a ledger; a crash may waste budget, never overspend.
"""

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Self

from discreet._core.documents import Document, digest_of
from discreet._core.errors import BudgetError, DeclarationError, LedgerError, PublishError
from discreet._core.exact import Exact, positive, probability
from discreet._core.notebook import NotebookRepr, html_table, with_picture
from discreet.ledger._allowances import left_in_period, period_with, stated_allowance
from discreet.ledger._back_links import earlier
from discreet.ledger._chain import Chain, Entry, append, entry_at, newest, now, reached, read_entry, run
from discreet.ledger._check import as_type, check_rows
from discreet.ledger._entries import Body, Receipt, sums_document
from discreet.ledger._group_rule import group_of, require_group, rule_beginning
from discreet.ledger._metric_budget import Decides, metric_beginning, metric_cost
from discreet.ledger._moving import moved
from discreet.ledger._requests import charges_of, is_answered, state_of
from discreet.ledger._schema import SELECT
from discreet.privacy import (
    EVERYONE,
    PERSON,
    RECORD,
    Accountant,
    Adjacency,
    Amount,
    Budget,
    Concentrated,
    Guarantee,
    Metric,
    PerUnit,
    Unit,
    charged_for,
    check_group,
    cost_of,
    left_text,
    limit_of,
    neighbours_of,
    nothing,
    read_amount,
    read_metric,
    spent_text,
    together,
)
from discreet.records import Column, Derivation, Where, is_text

_FINEST = 10**400  # the largest denominator of a sum; SQLite and JSON have no limit, patience has


_ABOUT: Body = {"where": None, "derived": None}
"""What a charge says only where it is about some of the records, or about derived columns."""
_MOST_IN_A_NOTEBOOK = 60
_MOST_DRAWN = 1000  # entries that are read again for a picture
_AT_A_TIME = 1000  # rows that are read together when the whole chain is followed


class Ledger(NotebookRepr):
    """A privacy budget for one population: the limit, and everything spent so far (a privacy accountant).

    A new ledger is a new budget: several ledgers for the same people can spend more than any one of them allows.

    >>> import discreet as dc
    >>> from tempfile import mkdtemp
    >>> ledger = dc.Ledger.create(f"{mkdtemp()}/study.db", epsilon=2, population="patients of 2026")
    >>> print(ledger.remaining)
    Budget(epsilon=2, delta=0)
    >>> ledger.entries()[0].kind
    'created'
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        epsilon: Exact,
        delta: Exact = 0,
        population: str = "",
        unit: str | Unit = RECORD,
        *,
        accountant: Accountant | str = Accountant.BASIC,
        groups: Sequence[str] | Column = (),
        adjacency: Adjacency = Adjacency.REPLACE_ONE,
        per: str | None = None,
        allowance: Exact | None = None,
        metric: Metric | None = None,
    ) -> "Ledger":
        """Create a ledger with a limit, in a file that must not exist yet or on a server (`postgresql://...`).

        Args:
            path: the file, or the address.
            epsilon: all that may ever be spent on these people.
            delta: all that may ever be spent on these people.
            population: who they are, in words; studies must name the same.
            unit: whom the guarantee protects. `Unit(words, rows)` states how many rows a unit may have;
                otherwise the first charge fixes that.
            accountant: how charges add up, "basic" or "zcdp".
            groups: disjoint groups of public size about which separate releases may be made. With
                ADD_OR_REMOVE also a column: each of its levels is a group, such as 'ward = West' (`Where`),
                of secret size.
            adjacency: which data sets are neighbours. With REPLACE_WITHIN_GROUP it is public who belongs to
                which group. With REPLACE_ONE two people may exchange groups: what is about everyone is
                charged for two records, and the two largest groups count. With ADD_OR_REMOVE the number of
                records is secret too, the largest group counts, and only releases that hide whether someone
                is there are accepted.
            per: in each "quarter", "month" or "year" at most so much of epsilon is spent.
            allowance: in each "quarter", "month" or "year" at most so much of epsilon is spent.
            metric: epsilon is per unit of its distance, and only releases under it are accepted.

        Returns:
            the ledger, opened.

        Raises:
            LedgerError: if there is one already, or if it cannot be written.
        """
        rule, limit = _rule(accountant), limit_of(_rule(accountant), epsilon, delta)
        named, by_rule = rule_beginning(groups, adjacency)
        is_plain = adjacency is Adjacency.REPLACE_ONE and isinstance(named, tuple) and not named
        neighbours, names = (Adjacency.REPLACE_ONE, ()) if is_plain else neighbours_of(named, adjacency)
        words, rows = (unit.description, unit.rows) if isinstance(unit, Unit) else (unit, None)
        if not is_text(f"{population}{words}"):
            raise DeclarationError("The population and the unit must be valid strings.")
        body: Body = {
            "kind": "created", "at": now(), "nonce": secrets.token_hex(16), "ledger": secrets.token_hex(16),
            "accountant": rule.value, "adjacency": neighbours.value, "groups": list(names), "period": None,
            "population": str(population), "unit": str(words), "rows": rows,
            "declared": limit_of(Accountant.BASIC, epsilon, delta).document(),
            "allowance": None if per is None and allowance is None else stated_allowance(per, allowance, epsilon),
            **by_rule,
        }  # fmt: skip
        shares = {name: nothing(rule) for name in (EVERYONE, *names)}
        if metric is not None:
            limit, under = metric_beginning(metric, epsilon, delta, is_plain and rule is Accountant.BASIC)
            body, neighbours = {**body, **under}, Adjacency.METRIC
            shares = dict.fromkeys((EVERYONE, *body["groups"]), limit.none)
        chain = Chain.at(path)
        with chain.making() as connection:
            chain.seen = append(connection, None, {**body, **sums_document(limit, shares, neighbours)})
        return cls(chain)

    def charge(
        self,
        guarantee: Guarantee,
        label: str,
        mechanism: Document,
        request: str | None = None,
        unit: str = RECORD,
        rows: int = 1,
        *,
        concentrated: Concentrated | None = None,
        group: str | None = None,
        data: str = "",
        decides: Decides | None = None,
        where: Where | None = None,
        derived: Sequence[Derivation | None] = (),
    ) -> Receipt | list[str]:
        """Commit a charge, or refuse it. The mechanism's document and the request's name are written down with it.

        If releases are on record for the same request, their texts are returned instead and nothing is charged.
        `concentrated` is the cost under zCDP, `group` the one group that the data are about, `data` their name;
        `decides` says under which metrics an ordinary release can be charged, `where` which records it is about if not
        all, `derived` how columns of each of its releases are made of others.
        """
        with self._chain.write_transaction() as connection:
            reached("charge-begun")
            head = self._chain.latest(connection)  # of the chain that this process knows, so its beginning is the same
            created = self._chain.created = self._chain.created or entry_at(connection, 1).body
            rule, neighbours = Accountant(created["accountant"]), Adjacency(created["adjacency"])
            within = group is not None and guarantee.adjacency is Adjacency.REPLACE_WITHIN_GROUP
            if (why := other_neighbours(created, guarantee)) is not None:
                raise PublishError(f"Cannot publish {label!r}: {why} Nothing was published and nothing was charged.")
            is_replaced = guarantee.adjacency in (Adjacency.REPLACE_ONE, Adjacency.ADD_OR_REMOVE)
            if created["unit"] != unit or not (within or is_replaced):
                raise PublishError(other_unit(label, created, unit, guarantee))
            if group is not None:
                check_group(label, group, created["groups"])
            require_group(created, where, group, label)
            if concentrated is not None and min(concentrated.rho, concentrated.delta) < 0:
                raise PublishError(f"Cannot publish {label!r}: a cost cannot be negative. Nothing was charged.")
            is_plain = group or neighbours in (Adjacency.REPLACE_ONE, Adjacency.ADD_OR_REMOVE)
            charged = (guarantee, concentrated) if is_plain else charged_for(guarantee, concentrated, neighbours)
            account, cost = group or EVERYONE, cost_of(rule, *charged)
            if rule is Accountant.METRIC:
                account, cost = metric_cost(created, guarantee, label, decides, rows)
            asked_for: Body = {
                "label": label, "mechanism": mechanism, "unit": unit, "rows": rows,
                "group": group, "data": data, "cost": cost.document(),
            }  # fmt: skip
            if account != (group or EVERYONE):
                asked_for["part"] = account
            told: Body = {} if where is None else {"where": where.document()}
            if any(derived):
                told["derived"] = [None if each is None else each.document for each in derived]
            if request is not None:
                state = state_of(self._chain, connection, head, request, {**asked_for, **_ABOUT, **told})
                if isinstance(state, list):
                    return state
                head = state
            before = head.carried
            if before["rows"] not in (None, rows):
                raise PublishError(other_rows(label, created, before["rows"], rows))
            limit = read_amount(before["limit"])
            shares = {name: read_amount(each) for name, each in before["shares"].items()}
            shares[account] += cost
            spent = together(shares, neighbours)
            if not limit.covers(spent):
                gone = read_amount(before["spent"])
                if group is not None and neighbours is Adjacency.ADD_OR_REMOVE:
                    gone = shares[EVERYONE] + shares[group] - cost  # what others spent does not count for it
                raise BudgetError(shortfall(label, cost, gone, limit, self.place, rows, group))
            if any(getattr(spent, name).denominator > _FINEST for name in spent.document()):
                raise PublishError(f"Cannot publish {label!r}: the sum would need too many digits. Use round numbers.")
            if created.get("allowance") is not None:
                before["period"] = period_with(cost, label, account, created, before, self.place)
            known = concentrated or cost_of(Accountant.ZCDP, guarantee, None)
            body: Body = {
                **before, **asked_for, "kind": "charge", "request": request, "at": now(), "rho": known.document(),
                "guarantee": Budget(guarantee.epsilon, guarantee.delta).document(), "nonce": secrets.token_hex(16),
            }  # fmt: skip
            entry = append(connection, head, {**body, **told, **sums_document(limit, shares, neighbours)})
            reached("charge-written")
        self._chain.seen = entry
        return Receipt(entry.sequence, entry.digest, before["ledger"])

    def record(self, receipt: Receipt, releases: Sequence[str]) -> None:
        """Record the releases that a charge paid for: their public texts and digests. Possible only once."""
        with self._chain.write_transaction() as connection:
            reached("record-begun")
            head, charge = self._chain.latest(connection), entry_at(connection, receipt.sequence)
            is_charge = (charge.kind, charge.digest) == ("charge", receipt.head)
            if not is_charge or self._chain.outcome(connection, receipt.sequence) is not None:
                raise LedgerError(f"Entry {receipt.sequence} is not a charge that is waiting for its release.")
            body: Body = {"kind": "release", "charge": receipt.sequence, "releases": list(releases)}
            append(connection, head, {**head.carried, **body, "digests": [digest_of(text) for text in releases]})
            reached("record-written")

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
        with self._chain.read_transaction() as connection:
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
        with self._chain.read_transaction() as connection:
            return self._chain.latest(connection)

    @property
    def id(self) -> str:
        """Return the random identifier that the ledger got at its creation."""
        return self.head.body["ledger"]

    @property
    def created(self) -> Body:
        """Return what was declared when the ledger was created: accountant, adjacency, groups, population, unit."""
        with self._chain.read_transaction() as connection:
            return entry_at(connection, 1).body

    @property
    def stated_unit(self) -> Unit | None:
        """Return whom the ledger protects, if it was created with a `Unit`: in words and with its number of rows.

        Words alone do not say how many rows of a table belong to one unit, so they are no unit for a release.
        """
        with self._chain.read_transaction() as connection:
            created = self._chain.created = self._chain.created or entry_at(connection, 1).body
        return None if created["rows"] is None else Unit(created["unit"], created["rows"])

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
        return found if isinstance(found, PerUnit) else as_type(Budget, found)

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

    def group_of(self, where: Where | None, label: str = "this") -> str | None:
        """Return the group to which what is published of these records is charged; None if that is everyone."""
        return None if where is None else group_of(self.created, where, label)

    @property
    def rule(self) -> Column | None:
        """Return the column whose levels are the groups, if they were declared by a rule."""
        written = self.created.get("rule")
        return None if written is None else Column.from_document(written)

    def by_group(self) -> dict[str, tuple[Amount, Amount | None]]:
        """Return what was spent on each group, and what is left for it where a change of the data touches one group.

        What is left for a group is the limit less what was spent on everyone and on that group.
        """
        body, created = self.head.body, self.created
        touches_one = Adjacency(created["adjacency"]) in (Adjacency.ADD_OR_REMOVE, Adjacency.REPLACE_WITHIN_GROUP)
        shares = {name: read_amount(each) for name, each in body["shares"].items()}
        left = read_amount(body["limit"]) - shares[EVERYONE]
        return {name: (shares[name], left - shares[name] if touches_one else None) for name in created["groups"]}

    @property
    def this_period(self) -> tuple[str, Amount] | None:
        """Return the running period and what may still be spent in it; None if the ledger has no allowances."""
        created = self.created
        return left_in_period(created, self.head.carried) if created.get("allowance") else None

    def follow(self) -> Iterator[Entry]:
        """Iterate over all entries, oldest first, keeping only a few in memory at a time."""
        number = 0
        while True:
            with self._chain.read_transaction() as connection:
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
        with self._chain.read_transaction() as connection:
            head = self._chain.latest(connection)
            if head.sequence < sequence:
                return None, None, head.sequence
            outcome = self._chain.outcome(connection, sequence)
            found = earlier(connection, earlier(connection, head, outcome.sequence) if outcome else head, sequence)
            return (found if found.digest == digest else None), outcome, head.sequence

    def stands_on(self, sequence: int, digest: str) -> bool:
        """Return whether the newest entry stands on an entry of this number and hash: a few steps along the chain."""
        with self._chain.read_transaction() as connection:
            head = self._chain.latest(connection)
            return 1 <= sequence <= head.sequence and earlier(connection, head, sequence).digest == digest

    def releases(self, sequence: int) -> list[str]:
        """Return the recorded releases that the charge of this number paid for; none if the charge came to nothing."""
        with self._chain.read_transaction() as connection:
            found = self._chain.outcome(connection, sequence)
        return [] if found is None or found.kind != "release" else list(map(str, found.body["releases"]))

    def answered(self, request: str) -> Entry | None:
        """Return the charge of a request whose releases are on record, or None."""
        with self._chain.read_transaction() as connection:
            return is_answered(self._chain, connection, request)

    def is_charged(self, request: str) -> bool:
        """Return whether anything was ever charged under a request's name, whatever its outcome."""
        with self._chain.read_transaction() as connection:
            return bool(charges_of(self._chain, connection, request))

    def is_answered(self, request: str) -> bool:
        """Return whether releases are on record for a request, so that asking again is free."""
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
        with self._chain.write_transaction() as connection:
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
        with self._chain.read_transaction() as connection:
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


def _rule(accountant: Accountant | str) -> Accountant:
    if accountant in ("basic", "zcdp", Accountant.BASIC, Accountant.ZCDP):
        return Accountant(accountant)
    raise DeclarationError(f"The accountant must be 'basic' or 'zcdp'; got {accountant!r}.")


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


def other_neighbours(created: Body, guarantee: Guarantee) -> str | None:
    """Say why a ledger cannot account for a release because their neighbours differ; None if it can.

    Whether a record is there at all, and what it says, are two promises. Neither ledger adds up the other's.
    """
    hides, asked = (each is Adjacency.ADD_OR_REMOVE for each in (Adjacency(created["adjacency"]), guarantee.adjacency))
    if hides == asked:
        return None
    if hides:
        return (
            "this ledger protects whether someone is in the data ('add or remove one record'), and the release would "
            "not: it takes the number of records as public. Choose a mechanism that keeps the number of records "
            "secret, such as LaplaceTable, or a ledger of its own for neighbours that replace one record."
        )
    return (
        "the release hides whether someone is in the data ('add or remove one record'), but this ledger adds up what "
        f"is said of records whose number is public ({created['adjacency']!r}). Use a ledger that was created with "
        "adjacency='add or remove one record', or a mechanism of a public number of records."
    )


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
        f"{unit!r} ({other}). Nothing was published and nothing was charged. State the unit and how many rows of the "
        f"table it has at most, such as unit=Unit({created['unit']!r}, rows=1)."
    )
