"""Several records at once: a person with several rows, and separate releases about groups of public size."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from flint import arb

from discreet._core.errors import DeclarationError, PublishError
from discreet._core.exact import ball, rounded_up
from discreet.privacy._guarantee import EVERYONE, Adjacency, Amount, Concentrated, Guarantee
from discreet.records import is_text


def for_several(guarantee: Guarantee, rows: int) -> Guarantee:
    """Return what holds for a person with up to `rows` records (group privacy).

    epsilon becomes rows * epsilon and delta becomes delta * sum_{i < rows} e^(i epsilon), rounded up.
    """
    growth = sum((ball(guarantee.epsilon * i).exp() for i in range(rows)), arb(0))
    grown = float((growth * ball(guarantee.delta)).upper()) if guarantee.delta else 0.0
    delta = rounded_up(grown) if grown < 1 else Fraction(1)
    if delta >= 1:
        raise DeclarationError(f"With {rows} rows for each unit, delta would reach 1 and promise nothing.")
    reason = f"{guarantee.reason}; times {rows} for up to {rows} rows of one unit (group privacy)"
    return Guarantee(guarantee.epsilon * rows, delta, guarantee.adjacency, guarantee.evidence, reason)


def charged_for(
    guarantee: Guarantee, concentrated: Concentrated | None, adjacency: Adjacency
) -> tuple[Guarantee, Concentrated | None]:
    """Return what a release about everyone costs on a ledger with this adjacency: an exchange changes two records."""
    if adjacency is not Adjacency.REPLACE_OR_EXCHANGE:
        return guarantee, concentrated
    doubled = guarantee.for_rows(2)
    exact_rho = concentrated is not None and not concentrated.delta
    return doubled, Concentrated(4 * concentrated.rho, Fraction(0)) if concentrated and exact_rho else None


def with_groups(shares: Mapping[str, Amount], adjacency: Adjacency) -> Amount:
    """Return the total of what was spent on everyone and on disjoint groups.

    A record that cannot leave its group touches one of them, and so does one that is added or removed, and each unit by
    which one moves under a metric; an exchange between groups touches two, and what is about everyone is then charged
    for two records (see `charged_for`). The largest shares count.
    """
    touched = 2 if adjacency in (Adjacency.REPLACE_ONE, Adjacency.REPLACE_OR_EXCHANGE) else 1
    groups = [amount for name, amount in shares.items() if name != EVERYONE]
    columns = zip(*(amount.numbers for amount in groups), strict=True)
    largest = [sum(sorted(column, reverse=True)[:touched], Fraction(0)) for column in columns]
    return shares[EVERYONE] + shares[EVERYONE].with_numbers(largest)


def neighbours_of(groups: object, adjacency: Adjacency) -> tuple[Adjacency, tuple[str, ...]]:
    """Return what a ledger with groups counts as neighbours, and their names.

    Exchanges between groups count too if it is secret who belongs to which.
    """
    names: tuple[str, ...] = tuple(groups) if isinstance(groups, Sequence) and not isinstance(groups, str) else ("",)
    if not all(isinstance(name, str) and name.strip() for name in names):
        raise DeclarationError("groups must be a sequence of names, or with 'add or remove one record' a column.")
    if not is_text("".join(names)) or len(set(names)) < len(names):
        raise DeclarationError("The groups must be valid strings, each named once.")
    if adjacency not in [name for each in Adjacency for name in (each, each.value)]:
        raise DeclarationError(
            f"Neighbours (the adjacency) must be one of {', '.join(repr(each.value) for each in Adjacency)}; got "
            f"{adjacency!r}."
        )
    asked = Adjacency(adjacency)
    if asked is Adjacency.METRIC:
        raise DeclarationError(
            "A ledger under a metric is created by passing the metric: metric=Line('age', range(100))."
        )
    if asked not in (Adjacency.REPLACE_ONE, Adjacency.ADD_OR_REMOVE) and not names:
        raise DeclarationError(f"Neighbours that '{asked.value}' need groups: name them with groups=(...).")
    is_exchanged = bool(names) and asked is Adjacency.REPLACE_ONE
    return Adjacency.REPLACE_OR_EXCHANGE if is_exchanged else asked, names


def check_group(label: str, group: str, known: Sequence[str]) -> None:
    """Refuse a group that a ledger does not know."""
    if group not in known:
        raise PublishError(
            f"Cannot publish {label!r}: {group!r} is not one of the groups that this ledger was created with. "
            "Nothing was published and nothing was charged. Ask one histogram of group x level instead: it costs "
            "its epsilon once and needs no groups."
        )
