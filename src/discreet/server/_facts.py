"""What the publisher tells the front, in documents of the queue: the declarations, the budget, and that it is alive.

The budget is written when answers become visible, not when they are charged, and without the times of the charges, so
that nobody learns how long it took to count the records.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import cast

from sqlalchemy import Connection, bindparam, delete, insert, select

from discreet._core.documents import canonical_json, read_json
from discreet.ledger import Ledger, lines_of
from discreet.server._schema import Queue, facts

STUDY, BUDGET, ALIVE = "study", "budget", "alive"
_MOST_CHARGES = 200
_OF_NAME = select(facts.c.document).where(facts.c.name == bindparam("name"))

Fact = dict[str, object]


def write_fact(connection: Connection, name: str, document: Fact) -> None:
    """Replace a fact."""
    connection.execute(delete(facts).where(facts.c.name == name))
    connection.execute(insert(facts).values(name=name, document=canonical_json(document)))


def fact_of(queue: Queue, name: str) -> Fact:
    """Return a fact; an empty document if it was never written."""
    with queue.read_transaction() as connection:
        found = connection.execute(_OF_NAME, {"name": name}).scalar_one_or_none()
    return {} if found is None else _parsed(str(found))


@lru_cache(8)
def _parsed(text: str) -> Fact:
    """Return a fact; its text changes rarely and is asked for with every request. Nobody may change what they get."""
    return cast(Fact, read_json(text))


def budget_of(ledger: Ledger) -> Fact:
    """Return what everybody may see of a ledger: its limit, how much is spent, and on what."""
    head, created, period = ledger.head, ledger.created, ledger.this_period
    charges = [
        {"sequence": line.sequence, "label": line.label, "cost": line.cost.document(), "outcome": line.outcome,
         "spent": line.spent.document()}
        for line in lines_of(ledger)
    ]  # fmt: skip
    return {
        "currency": next(iter(ledger.limit.document())),
        "limit": ledger.limit.document(),
        "spent": ledger.spent.document(),
        "remaining": ledger.remaining.document(),
        "declared": ledger.declared_limit.document(),
        "accountant": ledger.accountant.value,
        "unit": created["unit"],
        "population": created["population"],
        "period": None if period is None else {"name": period[0], "remaining": period[1].document()},
        "number_of_charges": len(charges),
        "charges": charges[-_MOST_CHARGES:],
        "head": {"sequence": head.sequence, "digest": head.digest},
    }


@dataclass(frozen=True)
class Life:
    """When the publisher last reported that it is running (its heartbeat)."""

    at: float

    @classmethod
    def seen(cls, queue: Queue) -> "Life":
        """Return what the queue says."""
        at = fact_of(queue, ALIVE).get("at", 0.0)
        return cls(float(at) if isinstance(at, int | float) else 0.0)
