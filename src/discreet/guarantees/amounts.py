"""Amounts of privacy, in the currency of an accountant, and how they add up.

A ledger has one accountant, fixed when it is created. BASIC counts epsilon and delta. ZCDP counts rho and the deltas
up to which rho is known; its limit, stated as epsilon and delta, is converted once. Both are valid filters: the sum
never passes the limit, whatever each question was chosen on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from enum import Enum
from fractions import Fraction
from typing import Any, Self

from discreet.errors import DeclarationError
from discreet.exact import Exact, exact_text, positive, probability
from discreet.guarantees.composition import zcdp_epsilon, zcdp_limit
from discreet.guarantees.guarantee import Adjacency, Guarantee

EVERYONE = ""
"""The name under which charges stand that concern all records, whatever their group."""


class Accountant(Enum):
    """The rule by which a ledger adds up what has been spent."""

    BASIC = "basic"
    ZCDP = "zcdp"


@dataclass(frozen=True, repr=False)
class Amount:
    """What two fields say: an amount of privacy. Amounts of one kind add and compare field by field."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Self) -> Self:
        return type(self)(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __mul__(self, share: Fraction) -> Self:
        return type(self)(*(share * a for a in astuple(self)))

    def least(self, other: Self) -> Self:
        """Return what fits into both amounts."""
        return type(self)(*(min(a, b) for a, b in zip(astuple(self), astuple(other), strict=True)))

    def covers(self, other: "Amount") -> bool:
        """Tell whether another amount of the same kind fits into this one."""
        return type(self) is type(other) and all(b <= a for a, b in zip(astuple(self), astuple(other), strict=True))

    def document(self) -> dict[str, str]:
        """Return the amount as it is written down."""
        return {field.name: exact_text(getattr(self, field.name)) for field in fields(self)}

    def words(self) -> str:
        """Return the amount in words."""
        return ", ".join(f"{name} = {value}" for name, value in self.document().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self.document().items())})"


@dataclass(frozen=True, repr=False)
class Budget(Amount):
    """An amount of privacy as (epsilon, delta)."""

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True, repr=False)
class Concentrated(Amount):
    """An amount of privacy as rho of zero-concentrated differential privacy, and the delta up to which it is known."""

    rho: Fraction
    delta: Fraction


KINDS: dict[Accountant, type[Amount]] = {Accountant.BASIC: Budget, Accountant.ZCDP: Concentrated}


def read_amount(document: Mapping[str, str]) -> Any:
    """Read what `document` wrote, however many digits a sum has."""
    kind = next((kind for kind in KINDS.values() if {field.name for field in fields(kind)} == set(document)), None)
    if kind is None:
        raise DeclarationError("An amount has the fields epsilon and delta, or rho and delta.")
    return kind(*(Fraction(document[field.name]) for field in fields(kind)))


def nothing(accountant: Accountant) -> Any:
    """Return the amount of a ledger on which nothing has been spent."""
    return KINDS[accountant](*[Fraction(0)] * len(fields(KINDS[accountant])))


def limit_of(accountant: Accountant, epsilon: Exact, delta: Exact) -> Any:
    """Return a limit stated as epsilon and delta in the accountant's currency.

    For ZCDP nine tenths of delta serve the conversion of rho, one tenth is left for releases whose rho holds up to a
    delta only.
    """
    stated = Budget(positive(epsilon, "epsilon"), probability(delta, "delta"))
    if 0 < stated.delta < Fraction(1, 10**30):
        raise DeclarationError("A limit's delta is 0 or at least 1e-30.")
    if accountant is Accountant.BASIC:
        return stated
    if not stated.delta:
        raise DeclarationError("A zCDP ledger needs a delta above 0, such as 1e-6: its limit is converted at it.")
    return Concentrated(zcdp_limit(stated.epsilon, stated.delta * Fraction(9, 10)), stated.delta / 10)


def is_limit(accountant: Accountant, limit: Any, declared: Budget) -> bool:
    """Tell whether a limit is what `limit_of` makes of the declared one, up to the last digits of a search."""
    if accountant is Accountant.BASIC:
        return bool(limit == declared)
    converted = zcdp_epsilon(limit.rho, declared.delta * Fraction(9, 10)) if limit.rho > 0 else Fraction(0)
    return bool(limit.delta == declared.delta / 10 and converted <= declared.epsilon * Fraction(100_001, 100_000))


def cost_of(accountant: Accountant, guarantee: Guarantee, concentrated: Concentrated | None) -> Any:
    """Return the cost of a release. If its rho is not known, epsilon^2/2 up to delta stands for it."""
    if accountant is Accountant.BASIC:
        return Budget(guarantee.epsilon, guarantee.delta)
    return concentrated or Concentrated(guarantee.epsilon**2 / 2, guarantee.delta)


def charged_for(guarantee: Guarantee, concentrated: Concentrated | None, adjacency: Adjacency) -> Any:
    """Return what a release about everyone costs on a ledger with this adjacency: an exchange changes two records."""
    if adjacency is not Adjacency.REPLACE_OR_EXCHANGE:
        return guarantee, concentrated
    doubled = guarantee.for_rows(2)
    exact_rho = concentrated is not None and not concentrated.delta
    return doubled, Concentrated(4 * concentrated.rho, Fraction(0)) if concentrated and exact_rho else None


def together(shares: Mapping[str, Any], adjacency: Adjacency) -> Any:
    """Return the total of what was spent on everyone and on disjoint groups.

    A record that cannot leave its group touches one of them; an exchange between groups touches two, and what is about
    everyone is then charged for two records (see `charged_for`). The largest shares count.
    """
    touched = 1 if adjacency is Adjacency.REPLACE_WITHIN_GROUP else 2
    groups = [amount for name, amount in shares.items() if name != EVERYONE]
    return shares[EVERYONE] + _largest(groups, touched, type(shares[EVERYONE]))


def _largest(amounts: Sequence[Amount], number: int, kind: type[Amount]) -> Any:
    columns = zip(*(astuple(amount) for amount in amounts), strict=True) if amounts else [()] * len(fields(kind))
    return kind(*(sum(sorted(column, reverse=True)[:number], Fraction(0)) for column in columns))
