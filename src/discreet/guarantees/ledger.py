"""The ledger: how much privacy has been spent, written down before it is spent.

A ledger is a chain of entries in one SQLite file. Each entry carries the hash of the one before it, so an entry that
is edited, removed or reordered no longer fits its neighbours. There is no secret key: whoever may write the file can
rehash it, cut off its tail or put an older copy back. That can be noticed only from outside: every release carries
the number and hash of its charge, and `verify(release, ledger=...)` looks for them.

The limit is enforced by an accountant that is fixed at creation, basic composition or zCDP. Both are valid filters
even when each question depends on earlier answers. A charge is committed to disk before anything is drawn, inside a
transaction that holds the write lock from the first read, so any number of processes may share a ledger; a crash may
waste budget, never overspend.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from discreet.documents import Document
from discreet.errors import BudgetError, DeclarationError, LedgerError, PublishError
from discreet.exact import Exact
from discreet.guarantees.chain import (
    Chain,
    Receipt,
    append,
    begin,
    digest_of,
    everything,
    newest,
    oldest,
    reached,
)
from discreet.guarantees.entries import Body
from discreet.guarantees.groups import charged_for, check_group, neighbours_of
from discreet.guarantees.guarantee import (
    EVERYONE,
    Accountant,
    Adjacency,
    Budget,
    Concentrated,
    Guarantee,
    cost_of,
    limit_of,
    nothing,
    read_amount,
    sums_document,
    together,
)
from discreet.guarantees.ledger_book import LedgerBook, answer_on_record, check_rows, shortfall
from discreet.guarantees.unit import RECORD
from discreet.records.columns import is_text

_FINEST = 10**400  # the largest denominator of a sum; SQLite and JSON have no limit, patience has


class Ledger(LedgerBook):
    """A limit on the privacy that may be spent on one population, and all that has been spent so far.

    Create it once with `Ledger.create`, open it afterwards with `Ledger.open`. A new ledger is a new budget: whoever
    may create ledgers for the same people may spend more on them than any one of these allows.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._chain = Chain(path)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        epsilon: Exact,
        delta: Exact = 0,
        population: str = "",
        unit: str = RECORD,
        *,
        accountant: Accountant | str = Accountant.BASIC,
        groups: Sequence[str] = (),
        adjacency: Adjacency = Adjacency.REPLACE_ONE,
    ) -> "Ledger":
        """Create a ledger with a limit, in a file that must not exist yet.

        `groups` names disjoint groups of the population whose sizes are public and about which separate releases may be
        made; with REPLACE_WITHIN_GROUP it is public, too, who belongs to which of them. Otherwise two people may
        exchange groups: what is about everyone is then charged for two records, and the two largest groups count.
        """
        rule, limit = _rule(accountant), limit_of(_rule(accountant), epsilon, delta)
        neighbours = neighbours_of(groups, adjacency) if groups or isinstance(groups, str) else Adjacency(adjacency)
        if not is_text(f"{population}{unit}"):
            raise DeclarationError("The population and the unit must be proper texts.")
        if neighbours is not Adjacency.REPLACE_ONE and not groups:
            raise DeclarationError(f"Neighbours that '{neighbours.value}' need groups: name them with groups=(...).")
        place = Path(path)
        try:
            os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            raise LedgerError(
                f"{str(place)!r} exists already. Nothing was changed. Open it with Ledger.open, or choose another "
                "name; mind that a new ledger is a new budget."
            ) from None
        except OSError as problem:
            raise LedgerError(f"Cannot create a ledger at {str(place)!r}: {problem.strerror}.") from None
        ledger = cls(place)
        shares = {name: nothing(rule) for name in (EVERYONE, *groups)}
        body: Body = {
            "kind": "created",
            "accountant": rule.value,
            "adjacency": neighbours.value,
            "declared": limit_of(Accountant.BASIC, epsilon, delta).document(),
            "groups": list(groups),
            "population": str(population),
            "unit": str(unit),
        }
        with ledger._chain.writing() as connection:
            begin(connection, {**body, **sums_document(limit, shares, neighbours)})
        return ledger

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
    ) -> Receipt | list[str]:
        """Commit a charge, or refuse it. The mechanism's document and the request's name are written down with it.

        If releases are on record for the same request, their texts are returned instead and nothing is charged.
        `concentrated` is the cost under zCDP, `group` the one group that the data are about, `data` their name.
        """
        with self._chain.writing() as connection:
            reached("charge-begun")
            head, created = newest(connection), oldest(connection).body
            rule, neighbours = Accountant(created["accountant"]), Adjacency(created["adjacency"])
            _check_fit(label, created, guarantee, unit, group)
            if data:
                check_rows(connection, label, data, rows)
            if concentrated is not None and min(concentrated.rho, concentrated.delta) < 0:
                raise PublishError(f"Cannot publish {label!r}: a cost is never below 0. Nothing was charged.")
            is_plain = group or neighbours is Adjacency.REPLACE_ONE
            charged = (guarantee, concentrated) if is_plain else charged_for(guarantee, concentrated, neighbours)
            cost = cost_of(rule, *charged)
            asked_for: Body = {
                "label": label, "mechanism": mechanism, "unit": unit, "rows": rows,
                "group": group, "data": data, "cost": cost.document(),
            }  # fmt: skip
            if request is not None and (answer := answer_on_record(connection, request, asked_for)) is not None:
                return answer
            limit = read_amount(head.body["limit"])
            shares = {name: read_amount(each) for name, each in head.body["shares"].items()}
            shares[group or EVERYONE] += cost
            spent = together(shares, neighbours)
            if not limit.covers(spent):
                before = read_amount(head.body["spent"])
                raise BudgetError(shortfall(label, cost, before, limit, self.path, rows, group))
            if any(getattr(spent, name).denominator > _FINEST for name in spent.document()):
                raise PublishError(f"Cannot publish {label!r}: the sum would need too many digits. Use round numbers.")
            known = concentrated or cost_of(Accountant.ZCDP, guarantee, None)
            body: Body = {
                **asked_for,
                "kind": "charge",
                "request": request,
                "guarantee": Budget(guarantee.epsilon, guarantee.delta).document(),
                "rho": known.document(),
            }
            entry = append(connection, head, {**body, **sums_document(limit, shares, neighbours)})
            reached("charge-written")
        return Receipt(entry.sequence, entry.digest)

    def record(self, receipt: Receipt, releases: Sequence[str]) -> None:
        """Write down the releases that a charge paid for: their texts, which are public, and digests. Once only."""
        with self._chain.writing() as connection:
            reached("record-begun")
            head = newest(connection)
            entries = everything(connection)
            paid = any((e.kind, e.sequence, e.digest) == ("charge", receipt.sequence, receipt.head) for e in entries)
            if not paid or any(e.kind == "release" and e.body["charge"] == receipt.sequence for e in entries):
                raise LedgerError(f"Entry {receipt.sequence} is no charge that still waits for its release.")
            digests = [digest_of(text) for text in releases]
            body: Body = {"kind": "release", "charge": receipt.sequence, "releases": list(releases), "digests": digests}
            append(connection, head, {**body, **head.sums})
            reached("record-written")


def _rule(accountant: Accountant | str) -> Accountant:
    try:
        return Accountant(accountant)
    except ValueError:
        raise DeclarationError(f"An accountant is 'basic' or 'zcdp'; got {accountant!r}.") from None


def _check_fit(label: str, created: Body, guarantee: Guarantee, unit: str, group: str | None) -> None:
    """Refuse a release that protects something else than the ledger does, or a group that it does not know."""
    within = group is not None and guarantee.adjacency is Adjacency.REPLACE_WITHIN_GROUP
    if created["unit"] != unit or not (within or guarantee.adjacency is Adjacency.REPLACE_ONE):
        raise PublishError(
            f"Cannot publish {label!r}: this ledger protects {created['unit']!r} ({created['adjacency']}), the release "
            f"would protect {unit!r} ({guarantee.adjacency.value}). Nothing was published and nothing was charged."
        )
    if group is not None:
        check_group(label, group, created["groups"])
