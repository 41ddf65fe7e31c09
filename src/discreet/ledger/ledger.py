"""The ledger: how much privacy has been spent, written down before it is spent.

A ledger is a chain of entries in a SQLite file or a PostgreSQL database. Each entry carries the hash of the one before
it, so an entry that is edited, removed or reordered no longer fits its neighbours, and the state of the ledger after
it, so a charge looks at the newest entry and not at all of them. The hashes need no key: whoever may write the file can
rehash it, cut off its tail or put an older copy back. That can be noticed only from outside: every release carries the
number and hash of its charge, and a witness keeps heads.

The limit is enforced by an accountant that is fixed at creation, basic composition or zCDP. Both are valid filters
even when each question depends on earlier answers. A charge is committed to disk before anything is drawn, in a
transaction that is alone from its first read, so any number of processes and machines may share a ledger; a crash may
waste budget, never overspend.
"""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from discreet.columns import is_text
from discreet.errors import BudgetError, DeclarationError, LedgerError, PublishError
from discreet.exact import Exact, probability, whole
from discreet.failpoints import reached
from discreet.guarantees.amounts import (
    EVERYONE,
    Accountant,
    Budget,
    Concentrated,
    charged_for,
    cost_of,
    limit_of,
    nothing,
    read_amount,
    together,
)
from discreet.guarantees.guarantee import Adjacency, Guarantee
from discreet.guarantees.unit import RECORD, Unit
from discreet.ledger import requests
from discreet.ledger.chain import Chain, now
from discreet.ledger.checking import check_chain
from discreet.ledger.entries import FORMAT, STATE, Entry, Receipt, digest_of, follow
from discreet.ledger.periods import allowance, allowed, at_time
from discreet.ledger.places import Place, SQLiteFile, place_of
from discreet.ledger.refusals import check_fit, check_words, over_allowance, over_limit, rule_of
from discreet.ledger.upgrade import upgrade_file

_FINEST = 10**400  # the largest denominator of a sum; databases and JSON have no limit, patience has
_PAUSES = (0.01, 0.25)  # seconds between two looks at a request that another process is answering: first, longest


class Ledger:
    """A limit on the privacy that may be spent on one population, and all that has been spent so far.

    Create it once with `Ledger.create`, open it afterwards with `Ledger.open`. A new ledger is a new budget: whoever
    may create ledgers for the same people may spend more on them than any one of these allows.
    """

    def __init__(self, place: Place) -> None:
        self._place = place

    def __repr__(self) -> str:
        return f"Ledger({str(self._place)!r})"

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        """Copy and pickle a ledger by its address: a copy is the same place, opened again, and so the same budget."""
        place = self._place
        return type(self).open, (str(place.path.absolute()) if isinstance(place, SQLiteFile) else place.address,)

    @property
    def address(self) -> str:
        """Return where the ledger lies, in words: its path, or its URL without a password."""
        return str(self._place)

    @property
    def path(self) -> Path:
        """Return the file that holds the ledger; one in a database has none."""
        if not isinstance(self._place, SQLiteFile):
            raise LedgerError(f"{self.address!r} lies in a database, not in a file.")
        return self._place.path

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
        share: Exact | None = None,
    ) -> "Ledger":
        """Create a ledger with a limit, in a file or a schema of a database where there must be none yet.

        `unit` says whom the ledger protects and, as `Unit("one patient", rows=3)`, how many rows each has at most;
        every release is charged for that many. `groups` names disjoint groups of the population whose sizes are public and
        about which separate releases may be made; with REPLACE_WITHIN_GROUP it is public, too, who belongs to which of
        them. Otherwise two people may exchange groups: what is about everyone is then charged for two records, and the
        two largest groups count. `per` and `share` allow at most a share of the limit in each 'year', 'quarter' or
        'month'.
        """
        rule, neighbours = rule_of(accountant), _neighbours(adjacency, groups)
        limit, stated = limit_of(rule, epsilon, delta), limit_of(Accountant.BASIC, epsilon, delta)
        whom = unit if isinstance(unit, Unit) else Unit(unit)
        check_words(population, whom.description, groups, neighbours)
        spent = {name: nothing(rule).document() for name in (EVERYONE, *groups)}
        time, shared = now(), allowance(per, share)
        body = {
            "kind": "created",
            "format": FORMAT,
            "time": time,
            "accountant": rule.value,
            "adjacency": neighbours.value,
            "groups": list(groups),
            "population": str(population),
            "unit": whom.description,
            "per": shared,
            "ledger": secrets.token_hex(16),
            "limit": limit.document(),
            "declared": stated.document(),
            "shares": spent,
            "spent": nothing(rule).document(),
            "rows": {"": whom.rows},
            "period": at_time(None, nothing(rule).document(), time, shared),
        }
        place = place_of(path)
        place.create()
        ledger = cls(place)
        with place.writing() as connection:
            place.make_table(connection)
            chain = Chain(connection, place.table(connection))
            chain.append(chain.newest(), body)
        return ledger

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "Ledger":
        """Open a ledger that was created before: a path, or an address such as 'postgresql://user@host/database'."""
        place = place_of(path)
        if not place.is_there():
            raise LedgerError(f"There is no ledger at {str(place)!r}. Create one with Ledger.create.")
        ledger = cls(place)
        if ledger.head.sequence < 1:
            raise LedgerError(f"{str(place)!r} holds no entry: it is not a ledger.")
        return ledger

    @contextmanager
    def _reading(self) -> Iterator[Chain]:
        with self._place.reading() as connection:
            yield Chain(connection, self._place.table(connection))

    @contextmanager
    def _writing(self) -> Iterator[Chain]:
        with self._place.writing() as connection:
            chain = Chain(connection, self._place.table(connection))
            if chain.is_old:
                raise LedgerError(
                    f"{str(self._place)!r} was written by version 0.1: it can be read and checked, not added to. "
                    f"Nothing was changed. Upgrade it with: discreet ledger upgrade {self.address}"
                )
            yield chain

    @property
    def head(self) -> Entry:
        """Return the newest entry."""
        with self._reading() as chain:
            return chain.newest()

    @property
    def created(self) -> dict[str, Any]:
        """Return what was declared when the ledger was created: accountant, adjacency, groups, population, unit."""
        with self._reading() as chain:
            return chain.birth().body

    @property
    def identity(self) -> str:
        """Return the name that was drawn at birth, by which this ledger and its copies are told from all others."""
        return str(self.head.body.get("ledger", ""))

    @property
    def is_old(self) -> bool:
        """Tell whether version 0.1 wrote this ledger, and nobody has upgraded it yet."""
        with self._reading() as chain:
            return chain.is_old

    @property
    def accountant(self) -> Accountant:
        """Return the rule by which this ledger adds up."""
        return Accountant(self.created["accountant"])

    @property
    def limit(self) -> Any:
        """Return how much may be spent in all, in the accountant's currency."""
        return read_amount(self.head.body["limit"])

    @property
    def declared_limit(self) -> Budget:
        """Return the limit as it was stated, in epsilon and delta."""
        stated = self.head.body.get("declared")
        if stated is None:  # an entry of version 0.1
            stated = [entry.body["declared"] for entry in self.entries() if "declared" in entry.body][-1]
        budget: Budget = read_amount(stated)
        return budget

    @property
    def spent(self) -> Any:
        """Return how much has been spent, in the accountant's currency."""
        return read_amount(self.head.body["spent"])

    @property
    def remaining(self) -> Any:
        """Return how much may still be spent on everyone: within the limit, and within the present allowance."""
        body, per = self.head.body, self.created.get("per")
        limit, spent = read_amount(body["limit"]), read_amount(body["spent"])
        if per is None:
            return limit - spent
        period = at_time(body["period"], body["spent"], now(), per)
        return (limit - spent).least(allowed(limit, per) - (spent - read_amount(period["before"])))

    def entries(self) -> list[Entry]:
        """Return all entries, oldest first, as they stand in the ledger."""
        with self._reading() as chain:
            return list(chain.stream())

    def entry(self, sequence: int) -> Entry | None:
        """Return the entry of this number if the ledger holds it, followed from the newest one by its hashes."""
        with self._reading() as chain:
            newest = chain.newest()
            return follow(newest, sequence, chain.at) if 1 <= sequence <= newest.sequence else None

    def outcome(self, charge: int) -> Entry | None:
        """Return what became of a charge: its release, or that it was abandoned; nothing while it is open."""
        with self._reading() as chain:
            found, newest = chain.outcome(charge), chain.newest()
            return None if found is None else follow(newest, found.sequence, chain.at)

    def charge(
        self,
        guarantee: Guarantee,
        label: str,
        mechanism: dict[str, Any],
        request: str | None = None,
        unit: str = RECORD,
        rows: int = 1,
        *,
        concentrated: Concentrated | None = None,
        group: str | None = None,
        data: str = "",
        patience: float = requests.PATIENCE,
    ) -> Receipt | list[str]:
        """Commit a charge, or refuse it. The mechanism's document and the request's name are written down with it.

        If releases are on record for the same request, their texts are returned instead and nothing is charged; while
        another process answers it, this one waits for `patience` seconds. `concentrated` is the cost under zCDP,
        `group` the one group that the data are about, `data` their name.
        """
        asked = {"label": label, "mechanism": mechanism, "unit": unit, "unit_rows": rows, "group": group, "data": data}
        given_up, pause = monotonic() + patience, _PAUSES[0]
        while True:
            with self._writing() as chain:
                reached("charge-begun")
                answer = self._charged(chain, asked, guarantee, concentrated, request)
                reached("charge-written")
            if answer is not None:
                return answer
            if monotonic() > given_up:
                raise PublishError(requests.still_open(label, str(request)))
            sleep(pause)
            pause = min(2 * pause, _PAUSES[1])

    def _charged(
        self,
        chain: Chain,
        asked: dict[str, Any],
        guarantee: Guarantee,
        concentrated: Concentrated | None,
        request: str | None,
    ) -> Receipt | list[str] | None:
        """Charge in one transaction, or return the answer on record; nothing while somebody else works on it."""
        head, birth = chain.newest(), chain.birth().body
        label, group = asked["label"], asked["group"]
        rule, neighbours = Accountant(birth["accountant"]), Adjacency(birth["adjacency"])
        check_fit(asked, birth, head.body["rows"], guarantee)
        if concentrated is not None and min(concentrated.rho, concentrated.delta) < 0:
            raise PublishError(f"Cannot publish {label!r}: a cost is never below 0. Nothing was charged.")
        charged = (guarantee, concentrated) if group else charged_for(guarantee, concentrated, neighbours)
        cost = cost_of(rule, *charged)
        time = now()
        if request is not None:
            state = requests.state(chain, head, request, asked | {"cost": cost.document()}, time)
            if state.answer is not None or state.is_open:
                return state.answer
            head = state.head
        shares = {name: read_amount(each) for name, each in head.body["shares"].items()}
        shares[group or EVERYONE] += cost
        spent, limit = together(shares, neighbours), read_amount(head.body["limit"])
        period = at_time(head.body["period"], head.body["spent"], time, birth["per"])
        if not limit.covers(spent):
            gone = read_amount(head.body["spent"])
            raise BudgetError(over_limit(label, cost, gone, limit, self.address, asked["unit_rows"], group))
        if period and not allowed(limit, birth["per"]).covers(spent - read_amount(period["before"])):
            raise BudgetError(over_allowance(label, cost, period["name"], allowed(limit, birth["per"]), self.address))
        if any(getattr(spent, name).denominator > _FINEST for name in spent.document()):
            raise PublishError(f"Cannot publish {label!r}: the sum would need too many digits. Use round numbers.")
        known = concentrated or cost_of(Accountant.ZCDP, guarantee, None)
        body = asked | {
            "kind": "charge",
            "request": request,
            "until": requests.until(time) if request is not None else None,
            "cost": cost.document(),
            "guarantee": Budget(guarantee.epsilon, guarantee.delta).document(),
            "rho": known.document(),
        }
        state_after = {
            "shares": {name: amount.document() for name, amount in shares.items()},
            "spent": spent.document(),
            "period": period,
        }
        entry = chain.append(head, _carried(head, time) | state_after | body)
        return Receipt(entry.sequence, entry.digest)

    def record(self, receipt: Receipt, releases: Sequence[str]) -> None:
        """Write down the releases that a charge paid for: their texts, which are public, and digests. Once only."""
        with self._writing() as chain:
            reached("record-begun")
            if not requests.is_waiting(chain, receipt):
                raise LedgerError(f"Entry {receipt.sequence} is no charge that still waits for its release.")
            head, digests = chain.newest(), [digest_of(text) for text in releases]
            body = {"kind": "release", "charge": receipt.sequence, "releases": list(releases), "digests": digests}
            chain.append(head, _carried(head, now()) | body)
            reached("record-written")

    def abandon(self, receipt: Receipt, reason: str) -> bool:
        """Write down that a charge will never have a release; tell whether it still waited for one.

        The charge stands: budget is never given back. The same request may be asked again, and is charged again.
        """
        with self._writing() as chain:
            if not requests.is_waiting(chain, receipt):
                return False
            chain.append(head := chain.newest(), _carried(head, now()) | requests.abandoned(receipt.sequence, reason))
        return True

    def releases(self, sequence: int) -> list[str]:
        """Return the recorded releases that were paid for by the charge of this number; none if it was in vain."""
        found = self.outcome(sequence)
        return list(map(str, found.body["releases"])) if found is not None and found.kind == "release" else []

    def declare_rows(self, data: str, rows: int, reason: str) -> None:
        """Declare that one unit has at most so many rows in one data set; all others have what `create` was told."""
        self._needs_reason(reason)
        if not isinstance(data, str) or not data.strip() or not is_text(data):
            raise DeclarationError("Name the data set whose rows are declared, as releases name it in `data`.")
        number = whole(rows, "rows per unit", most=10_000)
        with self._writing() as chain:
            head = chain.newest()
            body = {"kind": "table", "data": data, "reason": reason, "rows": head.body["rows"] | {data: number}}
            chain.append(head, _carried(head, now()) | body)

    def change_limit(self, epsilon: Exact, delta: Exact | None = None, reason: str = "") -> None:
        """Set a new limit. The change is an entry of its own, with a reason, for everyone to see.

        Delta stays as it is if it is left out.
        """
        self._needs_reason(reason)
        with self._writing() as chain:
            head, rule = chain.newest(), Accountant(chain.birth().body["accountant"])
            kept = read_amount(head.body["declared"]).delta if delta is None else probability(delta, "delta")
            limit, stated = limit_of(rule, epsilon, kept), limit_of(Accountant.BASIC, epsilon, kept)
            body = {"kind": "limit", "reason": reason, "limit": limit.document(), "declared": stated.document()}
            chain.append(head, _carried(head, now()) | body)

    @staticmethod
    def _needs_reason(reason: str) -> None:
        if not isinstance(reason, str) or not reason.strip() or not is_text(reason):
            raise DeclarationError("A change of a ledger's terms needs a reason; it is written into the ledger.")

    def check(self) -> int:
        """Read the whole chain once, recompute all hashes, links and sums; raise if any entry is not as it was written.

        Return the number of entries.
        """
        with self._reading() as chain:
            return check_chain(chain, str(self._place))

    def upgrade(self) -> None:
        """Bring a ledger of version 0.1 to the present form; its old chain stays, and stays verifiable, inside it."""
        upgrade_file(self._place)


def _neighbours(adjacency: Adjacency, groups: Sequence[str]) -> Adjacency:
    """Return what a ledger counts as neighbours: with groups of secret membership, exchanges between them too."""
    asked = Adjacency(adjacency)
    return Adjacency.REPLACE_OR_EXCHANGE if groups and asked is Adjacency.REPLACE_ONE else asked


def _carried(head: Entry, time: str) -> dict[str, Any]:
    """Return what an entry carries on from the one before it, with the present time."""
    return {part: head.body[part] for part in STATE} | {"time": time}
