"""A guarantee: what is promised, to whom, why one may believe it, and the amount of privacy that it costs.

(epsilon, delta)-differential privacy: for all neighbouring data sets with output distributions P and Q and every set S
of outputs, P(S) <= e^epsilon Q(S) + delta. What "neighbouring" means is part of the promise and is printed with it, as
is the unit: one record, or one person who has several of them.

Amounts are in the currency of an accountant, fixed when a ledger is created. BASIC counts epsilon and delta. ZCDP
counts rho and the deltas up to which rho is known; its limit, stated as epsilon and delta, is converted once. Both are
valid filters: the sum never passes the limit, whatever each question was chosen on. People read amounts short, rounded
to the honest side and marked where they are (`spent_text`, `left_text`); documents keep the exact value.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Protocol, Self, runtime_checkable

from discreet._core.errors import DeclarationError, LedgerError
from discreet._core.exact import Exact, exact, exact_text, positive, probability, rounded_down, rounded_up, whole
from discreet._core.fields import Checked, Number, Whole, converted, frozen
from discreet.privacy._zcdp import zcdp_limit

if TYPE_CHECKING:
    from discreet.privacy._composition import Costly
    from discreet.privacy._metric_guarantee import MetricGuarantee

RECORD = "one record"
PERSON = "one person"
"""Whom releases protect that put all rows of an id together (`models.persons`)."""


def _description(value: str, _: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise DeclarationError("The unit of protection needs a description, such as 'one row per patient'.")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise DeclarationError("The description of the unit contains an invalid character (a lone surrogate).")
    return value


@frozen()
class Unit:
    """The unit of privacy: in words, whom the guarantee protects, and the most rows that one unit may have.

    That no unit has more rows must follow from how the table is made; it is not checked here, because an error that
    depends on the records would leak information.

    >>> Unit("one patient", rows=3)
    Unit(description='one patient', rows=3)
    """

    description: Checked[str] = converted(_description, default=RECORD)
    rows: Whole = converted(partial(whole, most=10_000), default=1, called="rows per unit")


ONE_RECORD = Unit()
"""The default: every record is protected by itself."""


class Adjacency(Enum):
    """Which data sets count as neighbours (the neighbouring relation)."""

    REPLACE_ONE = "replace one record"
    ADD_OR_REMOVE = "add or remove one record"
    REPLACE_WITHIN_GROUP = "replace one record within its public group"
    REPLACE_OR_EXCHANGE = "replace one record, or exchange two between groups of public size"
    METRIC = "move records by any distance of a metric"

    def words(self, protects: str) -> str:
        """Return the change for whom is protected: one record, or one person with all of their rows."""
        return self.value.replace("one record", protects)


class Evidence(Enum):
    """What a guarantee rests on: a proof, a computation, or a mere claim."""

    PROVED = "proved"
    ENUMERATED = "enumerated"
    CLAIMED = "claimed"


class Accountant(Enum):
    """The rule by which a ledger adds up what has been spent (composition).

    >>> Accountant("zcdp") is Accountant.ZCDP
    True
    """

    BASIC = "basic"
    ZCDP = "zcdp"
    METRIC = "per unit"


EVERYONE = ""
"""The name under which charges stand that concern all records, whatever their group."""


def _at_least_zero(value: Exact, name: str) -> Fraction:
    number = exact(value, name)
    if number < 0:
        raise DeclarationError(f"{name} must be at least 0; got {exact_text(number)}.")
    return number


@frozen()
class Guarantee:
    """A stated privacy guarantee. Epsilon and delta are exact rational numbers.

    `reason` says in words why it holds; guarantees that differ only in their reasons are equal. `metric` is a further
    guarantee for data sets at any distance, if the mechanism has one (metric differential privacy).

    >>> Guarantee("0.5", reason="two-sided geometric noise")
    Guarantee(epsilon=0.5, delta=0, replace one record, proved: two-sided geometric noise)
    """

    epsilon: Number = converted(_at_least_zero)
    delta: Number = converted(probability, default=0)
    adjacency: Checked[Adjacency] = converted(lambda each, _: Adjacency(each), default=Adjacency.REPLACE_ONE)
    evidence: Checked[Evidence] = converted(lambda each, _: Evidence(each), default=Evidence.PROVED)
    reason: Checked[str] = converted(lambda words, _: str(words), default="", compare=False)
    metric: "MetricGuarantee | None" = None

    def for_rows(self, rows: int) -> "Guarantee":
        """Return the guarantee for a person with up to `rows` records (group privacy)."""
        if rows == 1:
            return self
        from discreet.privacy._groups import for_several  # it builds on this module

        return for_several(self, rows)

    def __repr__(self) -> str:
        numbers = f"epsilon={exact_text(self.epsilon)}, delta={exact_text(self.delta)}"
        besides = "" if self.metric is None else f"; besides, {self.metric!r}"
        return f"Guarantee({numbers}, {self.adjacency.value}, {self.evidence.value}: {self.reason}{besides})"


@dataclass(frozen=True, repr=False)
class Amount:
    """An amount of privacy, in two fields. Amounts of the same kind are added and compared field by field."""

    def __add__(self, other: Self) -> Self:
        return type(self)(*(a + b for a, b in self._beside(other)))

    def __sub__(self, other: Self) -> Self:
        return type(self)(*(a - b for a, b in self._beside(other)))

    def covers(self, other: "Amount") -> bool:
        """Return whether another amount of the same kind fits into this one."""
        return type(self) is type(other) and all(b <= a for a, b in self._beside(other))

    def _beside(self, other: "Amount") -> list[tuple[Fraction, Fraction]]:
        return [(getattr(self, field.name), getattr(other, field.name)) for field in fields(self)]

    def document(self) -> dict[str, str]:
        """Return the amount as it is written down."""
        return {field.name: exact_text(getattr(self, field.name)) for field in fields(self)}

    def __getattr__(self, name: str) -> Fraction:
        raise AttributeError(f"This amount has {' and '.join(field.name for field in fields(self))}, no {name}.")

    @property
    def numbers(self) -> tuple[Fraction, ...]:
        """Return the numbers that add up."""
        return astuple(self)

    def with_numbers(self, numbers: Iterable[Fraction]) -> Self:
        """Return an amount of the same kind."""
        return type(self)(*numbers)

    @property
    def none(self) -> Self:
        """Return nothing of this kind."""
        return self.with_numbers(Fraction(0) for _ in self.numbers)

    def words(self, text: Callable[[Fraction], str] = exact_text) -> str:
        """Return the amount in words: exactly, or as `spent_text` or `left_text` show numbers to people."""
        return ", ".join(f"{name} = {value}" for name, value in self.texts(text).items())

    def texts(self, text: Callable[[Fraction], str]) -> dict[str, str]:
        """Return every number for people, by its name."""
        return dict(zip(self.document(), map(text, self.numbers), strict=True))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value}' for name, value in self.document().items())})"


@dataclass(frozen=True, repr=False)
class Budget(Amount):
    """An amount of privacy as (epsilon, delta).

    >>> from fractions import Fraction
    >>> print(Budget(Fraction(1, 2), Fraction(0)))
    Budget(epsilon=0.5, delta=0)
    """

    epsilon: Fraction
    delta: Fraction


@dataclass(frozen=True, repr=False)
class Concentrated(Amount):
    """An amount of zero-concentrated differential privacy (zCDP): rho, and the delta up to which it holds."""

    rho: Fraction
    delta: Fraction


_SUM = re.compile(r"\d+(/\d+|(\.\d+)?(e-\d{1,3})?)", re.ASCII)  # as it is written; '1e999999999' fills the memory
KINDS: dict[Accountant, type[Amount]] = {Accountant.BASIC: Budget, Accountant.ZCDP: Concentrated}


def read_amount(document: object) -> Amount:
    """Read an amount that `document` wrote, whatever its number of digits."""
    found = document if isinstance(document, Mapping) else {}
    kind = next((kind for kind in KINDS.values() if {field.name for field in fields(kind)} == set(found)), None)
    if kind is None:
        from discreet.privacy._per_unit import (
            PerUnit,
            is_per_unit,  # it builds on this module
        )

        if is_per_unit(found):
            ((name, number),) = found.items()
            return PerUnit(_read_sum(number), name)
        raise LedgerError(
            "An amount in a ledger has the fields epsilon and delta, or rho and delta. This one was edited."
        )
    return kind(*(_read_sum(found[field.name]) for field in fields(kind)))


def _read_sum(text: object) -> Fraction:
    try:
        if isinstance(text, str) and _SUM.fullmatch(text):
            return Fraction(text)
    except (ValueError, ZeroDivisionError):  # more digits than Python reads, or nothing to divide by
        pass
    raise LedgerError(f"An amount in the ledger reads {str(text)[:40]!r}, which is not a number: it was edited.")


def nothing(accountant: Accountant) -> Amount:
    """Return the amount spent on a new ledger: zero."""
    return KINDS[accountant](*[Fraction(0)] * len(fields(KINDS[accountant])))


def limit_of(accountant: Accountant, epsilon: Exact, delta: Exact) -> Amount:
    """Return a limit stated as epsilon and delta in the accountant's currency.

    For ZCDP nine tenths of delta convert rho; one tenth is left for releases whose rho holds only up to a delta.
    """
    stated = Budget(positive(epsilon, "epsilon"), probability(delta, "delta"))
    if 0 < stated.delta < Fraction(1, 10**30):
        raise DeclarationError("The delta of a limit must be 0 or at least 1e-30.")
    if accountant is Accountant.BASIC:
        return stated
    if not stated.delta:
        raise DeclarationError("A zCDP ledger needs a delta above 0, such as 1e-6, to convert its limit to rho.")
    return Concentrated(zcdp_limit(stated.epsilon, stated.delta * Fraction(9, 10)), stated.delta / 10)


def cost_of(accountant: Accountant, guarantee: Guarantee, concentrated: Concentrated | None) -> Amount:
    """Return the cost of a release. If its rho is not known, epsilon^2/2 up to delta stands for it."""
    if accountant is Accountant.BASIC:
        return Budget(guarantee.epsilon, guarantee.delta)
    return concentrated or Concentrated(guarantee.epsilon**2 / 2, guarantee.delta)


def together(shares: Mapping[str, Amount], adjacency: Adjacency) -> Amount:
    """Return the total of what was spent: on everyone, and on disjoint groups if a ledger has any."""
    if len(shares) == 1:
        return shares[EVERYONE]
    from discreet.privacy._groups import with_groups  # it builds on this module

    return with_groups(shares, adjacency)


@runtime_checkable
class ApproximateZcdp(Protocol):
    """A mechanism whose rho may hold only up to a delta (approximate zCDP)."""

    def rho_delta(self) -> Fraction:
        """Return the delta up to which rho holds; 0 if it holds without one."""


def rho_delta(mechanism: object) -> Fraction:
    """Return the delta up to which the rho of a mechanism holds; 0 if it holds without one."""
    return mechanism.rho_delta() if isinstance(mechanism, ApproximateZcdp) else Fraction(0)


def zcdp_cost(mechanism: "Costly", rows: int = 1) -> tuple[Fraction, Fraction]:
    """Return rho and the delta up to which it holds, for a unit of up to `rows` records.

    A group of c records costs c^2 rho. Where a mechanism knows its rho only up to its delta, epsilon^2/2 of the group's
    guarantee stands for it.
    """
    if not rho_delta(mechanism):
        return mechanism.rho * rows**2, Fraction(0)
    if rows == 1:
        return mechanism.rho, mechanism.guarantee.delta
    whole = mechanism.guarantee.for_rows(rows)
    return whole.epsilon**2 / 2, whole.delta


_SHORT_DECIMAL, _SHORT_FRACTION = 12, 5  # characters that people read without rounding
_SHOWN = 5  # significant digits of amounts that are rounded


def spent_text(number: Fraction) -> str:
    """Return an amount that is spent, needed or promised for people: exactly if that is short, else rounded up.

    >>> spent_text(Fraction("0.1")), spent_text(Fraction(1, 3)), spent_text(Fraction(1215, 6656))
    ('0.1', '1/3', '0.18255 (rounded up)')
    """
    return _short_text(number) or f"{exact_text(rounded_up(number, _SHOWN))} (rounded up)"


def left_text(number: Fraction) -> str:
    """Return an amount that is left or allowed for people: exactly if that is short, else rounded down.

    >>> left_text(Fraction(4)), left_text(Fraction(25409, 6656))
    ('4', '3.8174 (rounded down)')
    """
    return _short_text(number) or f"{exact_text(rounded_down(number, _SHOWN))} (rounded down)"


def _short_text(number: Fraction) -> str | None:
    text = exact_text(number)
    return text if len(text) <= (_SHORT_FRACTION if "/" in text else _SHORT_DECIMAL) else None
