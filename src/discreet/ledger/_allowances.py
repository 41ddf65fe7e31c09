"""Budgets over time: an allowance for every quarter, month or year, inside the one limit.

Data about the same people grow, and so does what is published about them. The limit holds for all of it. An allowance
spreads it: in any period at most a share s of every part of the limit (epsilon and delta, or rho and delta) is spent,

    spent in the period <= s limit,   and as ever   spent in all <= limit.

What is not used is not carried over. Time is this machine's clock. It never runs back: a period that has begun in the
ledger stays, until a later one begins.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path

from discreet._core.errors import BudgetError, DeclarationError
from discreet._core.exact import Exact, exact, exact_text, positive
from discreet.ledger._chain import now
from discreet.ledger._entries import Body, Carried, Period
from discreet.privacy import EVERYONE, Adjacency, Amount, left_text, read_amount, spent_text, together

PERIODS: Mapping[str, Callable[[str], str]] = {
    "month": lambda at: at[:7],
    "quarter": lambda at: f"{at[:4]}Q{(int(at[5:7]) + 2) // 3}",
    "year": lambda at: at[:4],
}
"""The name of the period in which a moment lies; later ones come later in the order of their names."""


def stated_allowance(per: str | None, allowance: Exact | None, epsilon: Exact) -> dict[str, str]:
    """Return an allowance as it is written down: the period, and its share of the limit."""
    if not isinstance(per, str) or per not in PERIODS or allowance is None:
        raise DeclarationError(
            f"An allowance needs a period, per = {', '.join(map(repr, PERIODS))}, and how much of epsilon may be spent "
            f"in each, such as allowance = '0.25'; got per = {per!r}, allowance = {allowance!r}."
        )
    share = positive(allowance, "allowance") / positive(epsilon, "epsilon")
    if share > 1:
        raise DeclarationError(
            "An allowance must not exceed the limit: it is the part of the total epsilon that may be spent in one "
            "period."
        )
    return {"per": per, "share": exact_text(share)}


def allowance_in_words(stated: Mapping[str, str] | None) -> str:
    """Return an allowance in words."""
    return f"a share of {stated['share']} of the limit per {stated['per']}" if stated else "no allowance"


def allowed_of(limit: Amount, allowance: Mapping[str, str]) -> Amount:
    """Return how much of a limit may be spent in one period."""
    share = exact(allowance["share"], "share")
    return limit.with_numbers(part * share for part in limit.numbers)


def period_at(allowance: Mapping[str, str], at: str, before: Period | None) -> str:
    """Return the name of the running period; one that has begun in the ledger is never left for an earlier one."""
    return max(PERIODS[allowance["per"]](at), before["name"] if before else "")


def period_with(
    cost: Amount, label: str, group: str | None, created: Body, before: Carried, place: str | Path
) -> Period:
    """Return the running period with a cost added to it, or refuse what is beyond its allowance."""
    allowance, limit = created["allowance"] or {}, read_amount(before["limit"])
    name, running = period_at(allowance, now(), before["period"]), before["period"]
    shares = period_shares(name, running, created)
    was = together(shares, Adjacency(created["adjacency"]))
    shares[group or EVERYONE] += cost
    spent, most = together(shares, Adjacency(created["adjacency"])), allowed_of(limit, allowance)
    if not most.covers(spent):
        raise BudgetError(
            f"Cannot publish {label!r}: it needs {cost.words(spent_text)}, but in {name} {was.words(spent_text)} of "
            f"the allowance of {most.words(left_text)} is already spent ({place}). Nothing was published and nothing "
            f"was charged. Ask for less, or wait for the next {allowance['per']}."
        )
    return {"name": name, "shares": {each: amount.document() for each, amount in shares.items()}}


def period_shares(name: str, running: Period | None, created: Body) -> dict[str, Amount]:
    """Return what each group has spent in a period: nothing yet, if it begins only now."""
    if running is not None and running["name"] == name:
        return {each: read_amount(amount) for each, amount in running["shares"].items()}
    return {each: read_amount(created["limit"]).none for each in (EVERYONE, *created["groups"])}


def left_in_period(created: Body, carried: Carried) -> tuple[str, Amount] | None:
    """Return the running period by this machine's clock, and what is left of its allowance; None if there is none."""
    allowance, running = created.get("allowance"), carried["period"]
    if allowance is None:
        return None
    name = period_at(allowance, now(), running)
    spent = together(period_shares(name, running, created), Adjacency(created["adjacency"]))
    limit = read_amount(carried["limit"])
    left = allowed_of(limit, allowance) - spent
    rest = limit - read_amount(carried["spent"])
    pairs = zip(left.numbers, rest.numbers, strict=True)
    return name, left.with_numbers(max(Fraction(0), min(a, b)) for a, b in pairs)
