"""Requests: one name, one charge, one release, however many callers ask at the same moment.

What becomes of a charge is an entry of its own: a release, or that it was abandoned. Until then the request is open,
and other callers wait. A process that dies leaves an open charge behind; when the time that the charge was given is
over, the next caller writes down that it was abandoned and is charged anew. Whoever comes back late finds the charge
abandoned, and its output is withheld. So budget may be wasted, and no request ever has two releases.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from discreet.errors import PublishError
from discreet.ledger.chain import Chain
from discreet.ledger.entries import STATE, Entry, Receipt

PATIENCE = 60.0
"""Seconds that a caller waits for another one that is answering the same request."""

LEASE = 600
"""Seconds that a charge with a request's name is given to be answered; then it counts as abandoned."""

_OVER = "its time was over before an output was recorded"
_COMPARED = ("label", "mechanism", "unit", "unit_rows", "group", "data", "cost")


@dataclass(frozen=True)
class State:
    """What a ledger knows of a request: its answer, or that it is open, or the head behind which it may be charged."""

    head: Entry
    answer: list[str] | None = None
    is_open: bool = False


def state(chain: Chain, head: Entry, request: str, asked: dict[str, Any], time: str) -> State:
    """Return the state of a request; refuse one that was asked before in other words."""
    charge = chain.asked(request)
    if charge is None:
        return State(head)
    outcome = chain.outcome(charge.sequence)
    if outcome is not None and outcome.kind == "abandoned":
        return State(head)
    if outcome is None and "until" not in charge.body:  # charged by version 0.1, which has long stopped
        return State(head)
    if any(_part(charge, part) != asked[part] for part in _COMPARED):
        raise PublishError(
            f"Cannot publish {asked['label']!r}: request {request!r} was already made for another label, unit, group, "
            "data set or mechanism. Nothing was published and nothing was charged."
        )
    if outcome is not None:
        return State(head, answer=list(map(str, outcome.body["releases"])))
    if time <= charge.body["until"]:
        return State(head, is_open=True)
    carried = {part: head.body[part] for part in STATE} | {"time": time}
    return State(chain.append(head, carried | abandoned(charge.sequence, _OVER)))


def _part(charge: Entry, part: str) -> Any:
    return charge.body["rows"] if part == "unit_rows" and "unit_rows" not in charge.body else charge.body[part]


def abandoned(charge: int, reason: str) -> dict[str, Any]:
    """Return the entry that says so."""
    return {"kind": "abandoned", "charge": charge, "reason": reason}


def is_waiting(chain: Chain, receipt: Receipt) -> bool:
    """Tell whether a receipt is that of a charge without an outcome."""
    charge = chain.find(receipt.sequence)
    known = charge is not None and (charge.kind, charge.digest) == ("charge", receipt.head)
    return known and chain.outcome(receipt.sequence) is None


def until(time: str) -> str:
    """Return until when a charge of this moment may be answered."""
    begun = datetime.strptime(time, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    return (begun + timedelta(seconds=LEASE)).strftime("%Y-%m-%dT%H:%M:%SZ")


def still_open(label: str, request: str) -> str:
    """Say that another process has not answered yet."""
    return (
        f"Cannot publish {label!r}: request {request!r} was charged by another process, which has not recorded its "
        "release yet. Nothing was published and nothing more was charged. Ask again: you will be given that release, "
        f"or, {LEASE} seconds after its charge, if that process has died, be charged for a new one."
    )
