"""What the entries of a ledger say: which parts an entry of each kind has, and their types."""

from typing import TypedDict

from discreet.documents import Document


class Sums(TypedDict, total=False):
    """What every entry repeats: the limit, what each group has spent, and what that is together."""

    limit: dict[str, str]
    shares: dict[str, dict[str, str]]
    spent: dict[str, str]


class Body(Sums, total=False):
    """What an entry says; which parts it has follows from its kind."""

    kind: str
    accountant: str
    adjacency: str
    declared: dict[str, str]
    groups: list[str]
    population: str
    unit: str
    reason: str
    label: str
    request: str | None
    rows: int
    group: str | None
    data: str
    cost: dict[str, str]
    guarantee: dict[str, str]
    rho: dict[str, str]
    mechanism: Document
    charge: int
    releases: list[str]
    digests: list[str]


_SUMS = {"limit", "shares", "spent"}
PARTS: dict[str, set[str]] = {
    "created": _SUMS | {"accountant", "adjacency", "declared", "groups", "population", "unit"},
    "limit": _SUMS | {"declared", "reason"},
    "charge": _SUMS | {"label", "request", "unit", "rows", "group", "data", "cost", "guarantee", "rho", "mechanism"},
    "release": _SUMS | {"charge", "releases", "digests"},
}
"""The parts of an entry, by its kind."""
