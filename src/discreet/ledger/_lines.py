"""A ledger's charges as lines for people: what, when, about whom, at which cost, what became of it."""

import re
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from discreet._core.errors import DeclarationError
from discreet.privacy import Amount, read_amount
from discreet.records import Where

if TYPE_CHECKING:
    from discreet.ledger._ledger import Ledger

_DAY = re.compile(r"\d{4}(-\d{2}(-\d{2}(T\d{2}:\d{2}(:\d{2})?Z?)?)?)?", re.ASCII)
PUBLISHED, ABANDONED, WAITING = "published", "abandoned", "not recorded"


def _is_moment(text: str) -> bool:
    """Return whether a text is a year, month, day or moment that the calendar has."""
    if not _DAY.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text if len(text) >= len("2026-01-01") else text + "-01-01"[len(text) - 4 :])
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class LedgerLine:
    """One charge."""

    sequence: int
    at: str
    label: str
    request: str | None
    group: str | None
    data: str
    cost: Amount
    spent: Amount
    limit: Amount
    outcome: str
    where: Where | None = None

    @property
    def about(self) -> str:
        """Say which records the charge is about."""
        return str(self.where or self.group or "everyone")

    def document(self) -> dict[str, object]:
        """Return all of it by name."""
        amounts = {"cost": self.cost, "spent": self.spent, "limit": self.limit}
        words = {name: getattr(self, name) for name in ("at", "label", "request", "group", "data", "outcome")}
        words |= {} if self.where is None else {"where": str(self.where)}
        return {"sequence": self.sequence, **words, **{name: each.document() for name, each in amounts.items()}}


@dataclass(frozen=True)
class Filter:
    """Which charges to show: by words in the label, group, data set, and a range of days or times."""

    label: str | None = None
    group: str | None = None
    data: str | None = None
    since: str | None = None
    until: str | None = None

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if value is not None and not isinstance(value, str):
                raise DeclarationError(f"{name} must be a string; got a {type(value).__name__}.")
        for name in ("since", "until"):
            value = getattr(self, name)
            if value is not None and not _is_moment(value):
                raise DeclarationError(f"{name} must be a day such as 2026-03-31, a month or a year; got {value!r}.")

    def wants(self, line: LedgerLine) -> bool:
        """Return whether a charge is wanted."""
        return (
            (self.label is None or self.label.casefold() in line.label.casefold())
            and (self.group is None or self.group == line.group)
            and (self.data is None or self.data == line.data)
            and (self.since is None or line.at >= self.since)
            and (self.until is None or line.at[: len(self.until)] <= self.until)
        )


def lines_of(ledger: "Ledger", wanted: Filter | None = None) -> list[LedgerLine]:
    """Return the charges of a ledger, oldest first; only those that match the filter, if one is given."""
    charges: dict[int, LedgerLine] = {}
    for entry in ledger.follow():
        body = entry.body
        if entry.kind == "charge":
            cost, spent, limit = (read_amount(body[part]) for part in ("cost", "spent", "limit"))
            words = (body["at"], body["label"], body["request"], body["group"], body["data"])
            where = Where.from_document(body["where"]) if "where" in body else None
            line = LedgerLine(entry.sequence, *words, cost, spent, limit, WAITING, where)
            if wanted is None or wanted.wants(line):
                charges[entry.sequence] = line
        elif entry.kind in ("release", "abandoned") and body["charge"] in charges:
            outcome = PUBLISHED if entry.kind == "release" else ABANDONED
            charges[body["charge"]] = replace(charges[body["charge"]], outcome=outcome)
    return list(charges.values())
