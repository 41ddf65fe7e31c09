"""What the entries of a ledger say: which parts an entry of each kind has, and their types."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypedDict

from discreet._core.documents import Document
from discreet.privacy import Adjacency, Amount, together


class Period(TypedDict):
    """What was spent in the running quarter, month or year, by group; see `allowances`."""

    name: str
    shares: dict[str, dict[str, str]]


class Sums(TypedDict, total=False):
    """The limit in the accountant's currency, what each group has spent, and what that is together."""

    limit: dict[str, str]
    shares: dict[str, dict[str, str]]
    spent: dict[str, str]


class Carried(Sums, total=False):
    """What every entry carries on: the newest one alone says all that the next charge must know.

    The ledger's id, its limit as it was declared, the rows of its unit (None before the first charge, if they were not
    declared), the running period of a ledger with allowances, and all sums.
    """

    ledger: str
    declared: dict[str, str]
    rows: int | None
    period: Period | None


class Body(Carried, total=False):
    """What an entry says; which parts it has follows from its kind."""

    kind: str
    back: list[str]
    at: str
    nonce: str
    accountant: str
    adjacency: str
    allowance: dict[str, str] | None
    metric: Document
    part: str
    groups: list[str]
    rule: Document
    where: list[Document] | None
    derived: list[Document | None] | None
    population: str
    unit: str
    reason: str
    label: str
    request: str | None
    group: str | None
    data: str
    cost: dict[str, str]
    guarantee: dict[str, str]
    rho: dict[str, str]
    mechanism: Document
    charge: int
    releases: list[str]
    digests: list[str]
    to: str


CARRIED = frozenset(Carried.__annotations__)
_ALWAYS = CARRIED | {"back"}
PARTS: dict[str, set[str]] = {
    "created": {*_ALWAYS, "at", "nonce", "accountant", "adjacency", "groups", "population", "unit", "allowance"},
    "limit": {*_ALWAYS, "at", "reason"},
    "charge": {*_ALWAYS}
    | {"at", "nonce", "label", "request", "unit", "group", "data", "cost", "guarantee", "rho", "mechanism"},
    "abandoned": {*_ALWAYS, "at", "charge"},
    "release": {*_ALWAYS, "charge", "releases", "digests"},
    "moved": {*_ALWAYS, "at", "nonce", "to"},
    "arrived": {*_ALWAYS, "at", "nonce"},
}
"""The parts of an entry, by its kind.

`back` holds the hashes of earlier entries, so that a few steps lead from the newest entry to any other (`back_links`).
Only a release has no time: from its charge to it the output was drawn, and how long that takes may depend on the
records.
"""


OPTIONAL_PARTS: dict[str, set[str]] = {"created": {"metric", "rule"}, "charge": {"part", "where", "derived"}}
"""The parts that only some ledgers have: a metric, and the account of a charge under it; the column by whose levels
groups are formed, and which records a charge is about; and how columns of each
of its releases are derived."""


@dataclass(frozen=True)
class Receipt:
    """The receipt of a charge: its number, its entry's hash, which was the chain's head then, and the ledger's id."""

    sequence: int
    head: str
    ledger: str


def account_of(body: Body) -> str:
    """Return the account that a charge counts in: of a group, of a column under a metric, or of everyone."""
    return body.get("part") or body["group"] or ""


def paid(body: Body) -> list[tuple[str, object]]:
    """Return what a charge paid for, by label and mechanism's document: one release, or all parts of a plan."""
    document = body["mechanism"]
    parts = document.get("parts")
    if document.get("kind") != "Plan" or not isinstance(parts, list):
        return [(body["label"], document)]
    return [(part["label"], part["mechanism"]) for part in parts]


def sums_document(limit: Amount, shares: Mapping[str, Amount], adjacency: Adjacency) -> Sums:
    """Return what every entry of a ledger repeats: the limit, what each group has spent, and what that is together."""
    written = {name: amount.document() for name, amount in shares.items()}
    return {"limit": limit.document(), "shares": written, "spent": together(shares, adjacency).document()}
