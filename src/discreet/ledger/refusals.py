"""What a ledger refuses, in words: terms that make no sense, releases that do not fit it, and too little budget."""

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.columns import is_text
from discreet.errors import DeclarationError, PublishError
from discreet.exact import exact_text
from discreet.guarantees.amounts import Accountant
from discreet.guarantees.guarantee import Adjacency, Guarantee

_NOTHING = "Nothing was published and nothing was charged."


def rule_of(accountant: Accountant | str) -> Accountant:
    """Return the accountant that is meant."""
    try:
        return Accountant(accountant)
    except ValueError:
        raise DeclarationError(f"An accountant is 'basic' or 'zcdp'; got {accountant!r}.") from None


def check_words(population: str, unit: str, groups: Sequence[str], adjacency: Adjacency) -> None:
    """Refuse names that are no proper texts, and neighbours that need groups without any."""
    if isinstance(groups, str) or not all(isinstance(name, str) and name.strip() for name in groups):
        raise DeclarationError("groups must be a sequence of names.")
    if not is_text(f"{population}{unit}{''.join(groups)}") or len(set(groups)) < len(groups):
        raise DeclarationError("The population, the unit and the groups must be proper texts, each group named once.")
    if adjacency is not Adjacency.REPLACE_ONE and not groups:
        raise DeclarationError(f"Neighbours that '{adjacency.value}' need groups: name them with groups=(...).")


def check_fit(asked: Mapping[str, Any], birth: Mapping[str, Any], rows: Mapping[str, int], promise: Guarantee) -> None:
    """Refuse a release that protects something else than the ledger does, or a group that it does not know."""
    label, group = asked["label"], asked["group"]
    within = group is not None and promise.adjacency is Adjacency.REPLACE_WITHIN_GROUP
    if birth["unit"] != asked["unit"] or not (within or promise.adjacency is Adjacency.REPLACE_ONE):
        raise PublishError(
            f"Cannot publish {label!r}: this ledger protects {birth['unit']!r} ({birth['adjacency']}), the release "
            f"would protect {asked['unit']!r} ({promise.adjacency.value}). {_NOTHING}"
        )
    declared = rows.get(asked["data"], rows[""])
    if asked["unit_rows"] != declared:
        raise PublishError(
            f"Cannot publish {label!r}: it is charged for {asked['unit_rows']} rows of each unit, and this ledger "
            f"declares {declared} for {asked['data'] or 'its data'!r}. {_NOTHING} The number of rows is part of the "
            "ledger: state it when the ledger is created (unit=Unit(...)), or for one data set with declare_rows."
        )
    if group is not None and group not in birth["groups"]:
        raise PublishError(
            f"Cannot publish {label!r}: {group!r} is none of the groups that this ledger was created with. {_NOTHING} "
            "Ask one histogram of group x level instead: it costs its epsilon once and needs no groups."
        )


def over_limit(label: str, cost: Any, spent: Any, limit: Any, path: str, rows: int, group: str | None) -> str:
    """Say how much is left, and what to do."""
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


def over_allowance(label: str, cost: Any, period: str, allowed: Any, path: str) -> str:
    """Say that the period has no room left, though the limit may have."""
    return (
        f"Cannot publish {label!r}: it needs {cost.words()}, and of the {allowed.words()} that may be spent in "
        f"{period} too little is left ({path}). {_NOTHING} Ask for less, or wait for the next period."
    )
