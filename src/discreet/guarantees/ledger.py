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
from collections.abc import Sequence

from discreet.documents import Document
from discreet.errors import BudgetError, DeclarationError, LedgerError, PublishError
from discreet.exact import Exact
from discreet.guarantees.allowances import period_with, stated_allowance
from discreet.guarantees.chain import Chain, append, digest_of, entry_at, now, reached
from discreet.guarantees.entries import Body, Receipt
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
from discreet.guarantees.ledger_book import LedgerBook, other_rows, other_unit, shortfall
from discreet.guarantees.metric import Metric
from discreet.guarantees.metric_budget import Told, metric_beginning, metric_cost
from discreet.guarantees.requests import state_of
from discreet.guarantees.unit import RECORD, Unit
from discreet.records.columns import is_text

_FINEST = 10**400  # the largest denominator of a sum; SQLite and JSON have no limit, patience has


class Ledger(LedgerBook):
    """A privacy budget for one population: the limit, and everything spent so far (a privacy accountant).

    A new ledger is a new budget: several ledgers for the same people can spend more than any one of them allows.
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
        groups: Sequence[str] = (),
        adjacency: Adjacency = Adjacency.REPLACE_ONE,
        per: str | None = None,
        allowance: Exact | None = None,
        metric: Metric | None = None,
    ) -> "Ledger":
        """Create a ledger with a limit, in a file that must not exist yet or on a server (`postgresql://...`).

        `Unit(words, rows)` states how many rows a unit may have; otherwise the first charge fixes that. `groups` names
        disjoint groups of public size about which separate releases may be made; with REPLACE_WITHIN_GROUP it is public
        who belongs to which. Otherwise two people may exchange groups: what is about everyone is charged for two
        records, and the two largest groups count. With `per="quarter"` at most `allowance` of epsilon is spent in any
        quarter. With a `metric`, epsilon is per unit of distance, and only releases under that metric are accepted.
        """
        rule, limit = _rule(accountant), limit_of(_rule(accountant), epsilon, delta)
        is_plain = adjacency is Adjacency.REPLACE_ONE and isinstance(groups, tuple) and not groups
        neighbours = Adjacency.REPLACE_ONE if is_plain else neighbours_of(groups, adjacency)
        words, rows = (unit.description, unit.rows) if isinstance(unit, Unit) else (unit, None)
        if not is_text(f"{population}{words}"):
            raise DeclarationError("The population and the unit must be valid strings.")
        body: Body = {
            "kind": "created", "at": now(), "nonce": secrets.token_hex(16), "ledger": secrets.token_hex(16),
            "accountant": rule.value, "adjacency": neighbours.value, "groups": list(groups), "period": None,
            "population": str(population), "unit": str(words), "rows": rows,
            "declared": limit_of(Accountant.BASIC, epsilon, delta).document(),
            "allowance": None if per is None and allowance is None else stated_allowance(per, allowance, epsilon),
        }  # fmt: skip
        shares = {name: nothing(rule) for name in (EVERYONE, *groups)}
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
        told: Told | None = None,
    ) -> Receipt | list[str]:
        """Commit a charge, or refuse it. The mechanism's document and the request's name are written down with it.

        If releases are on record for the same request, their texts are returned instead and nothing is charged.
        `concentrated` is the cost under zCDP, `group` the one group that the data are about, `data` their name; `told`
        tells under which metrics an ordinary release can be charged.
        """
        with self._chain.writing() as connection:
            reached("charge-begun")
            head = self._chain.latest(connection)  # of the chain that this process knows, so its beginning is the same
            created = self._chain.created = self._chain.created or entry_at(connection, 1).body
            rule, neighbours = Accountant(created["accountant"]), Adjacency(created["adjacency"])
            within = group is not None and guarantee.adjacency is Adjacency.REPLACE_WITHIN_GROUP
            if created["unit"] != unit or not (within or guarantee.adjacency is Adjacency.REPLACE_ONE):
                raise PublishError(other_unit(label, created, unit, guarantee))
            if group is not None:
                check_group(label, group, created["groups"])
            if concentrated is not None and min(concentrated.rho, concentrated.delta) < 0:
                raise PublishError(f"Cannot publish {label!r}: a cost cannot be negative. Nothing was charged.")
            is_plain = group or neighbours is Adjacency.REPLACE_ONE
            charged = (guarantee, concentrated) if is_plain else charged_for(guarantee, concentrated, neighbours)
            account, cost = group or EVERYONE, cost_of(rule, *charged)
            if rule is Accountant.METRIC:
                account, cost = metric_cost(created, guarantee, label, told, rows)
            asked_for: Body = {
                "label": label, "mechanism": mechanism, "unit": unit, "rows": rows,
                "group": group, "data": data, "cost": cost.document(),
            }  # fmt: skip
            if account != (group or EVERYONE):
                asked_for["part"] = account
            if request is not None:
                state = state_of(self._chain, connection, head, request, asked_for)
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
                raise BudgetError(shortfall(label, cost, read_amount(before["spent"]), limit, self.place, rows, group))
            if any(getattr(spent, name).denominator > _FINEST for name in spent.document()):
                raise PublishError(f"Cannot publish {label!r}: the sum would need too many digits. Use round numbers.")
            if created.get("allowance") is not None:
                before["period"] = period_with(cost, label, account, created, before, self.place)
            known = concentrated or cost_of(Accountant.ZCDP, guarantee, None)
            body: Body = {
                **before, **asked_for, "kind": "charge", "request": request, "at": now(), "rho": known.document(),
                "guarantee": Budget(guarantee.epsilon, guarantee.delta).document(), "nonce": secrets.token_hex(16),
            }  # fmt: skip
            entry = append(connection, head, {**body, **sums_document(limit, shares, neighbours)})
            reached("charge-written")
        self._chain.seen = entry
        return Receipt(entry.sequence, entry.digest, before["ledger"])

    def record(self, receipt: Receipt, releases: Sequence[str]) -> None:
        """Record the releases that a charge paid for: their public texts and digests. Possible only once."""
        with self._chain.writing() as connection:
            reached("record-begun")
            head, charge = self._chain.latest(connection), entry_at(connection, receipt.sequence)
            is_charge = (charge.kind, charge.digest) == ("charge", receipt.head)
            if not is_charge or self._chain.outcome(connection, receipt.sequence) is not None:
                raise LedgerError(f"Entry {receipt.sequence} is not a charge that is waiting for its release.")
            body: Body = {"kind": "release", "charge": receipt.sequence, "releases": list(releases)}
            append(connection, head, {**head.carried, **body, "digests": [digest_of(text) for text in releases]})
            reached("record-written")


def _rule(accountant: Accountant | str) -> Accountant:
    if accountant in ("basic", "zcdp", Accountant.BASIC, Accountant.ZCDP):
        return Accountant(accountant)
    raise DeclarationError(f"The accountant must be 'basic' or 'zcdp'; got {accountant!r}.")
