"""A guarantee: what is promised, to whom, and why one may believe it.

(epsilon, delta)-differential privacy: for all neighbouring data sets with output laws P and Q and every set S of
outputs, P(S) <= e^epsilon Q(S) + delta. What "neighbouring" means is part of the promise and is printed with it.
"""

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from discreet.errors import DeclarationError
from discreet.exact import Exact, ball, exact, exact_text, probability, rounded_up

if TYPE_CHECKING:
    from discreet.guarantees.pseudo_metric import MetricGuarantee


class Adjacency(Enum):
    """Which data sets count as neighbours."""

    REPLACE_ONE = "replace one record"
    REPLACE_WITHIN_GROUP = "replace one record within its public group"
    REPLACE_OR_EXCHANGE = "replace one record, or exchange two between groups of public size"


class Evidence(Enum):
    """Why a guarantee may be believed."""

    PROVED = "proved"
    ENUMERATED = "enumerated"
    CLAIMED = "claimed"


@dataclass(frozen=True, init=False)
class Guarantee:
    """A stated privacy guarantee. Epsilon and delta are exact rational numbers.

    `reason` says in words why it holds; two guarantees that differ in their words alone are equal. `metric` is what
    holds besides for data sets at any distance, if the mechanism gives that.

    >>> Guarantee("0.5", reason="two-sided geometric noise")
    Guarantee(epsilon=0.5, delta=0, replace one record, proved: two-sided geometric noise)
    """

    epsilon: Fraction
    delta: Fraction
    adjacency: Adjacency
    evidence: Evidence
    reason: str = field(compare=False)
    metric: "MetricGuarantee | None" = None

    def __init__(
        self,
        epsilon: Exact,
        delta: Exact = 0,
        adjacency: Adjacency = Adjacency.REPLACE_ONE,
        evidence: Evidence = Evidence.PROVED,
        reason: str = "",
        metric: "MetricGuarantee | None" = None,
    ) -> None:
        number = exact(epsilon, "epsilon")
        if number < 0:
            raise DeclarationError(f"epsilon must be at least 0; got {exact_text(number)}.")
        values = (number, probability(delta, "delta"), Adjacency(adjacency), Evidence(evidence), str(reason), metric)
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, value)

    def for_rows(self, rows: int) -> "Guarantee":
        """Return what holds for a person with up to `rows` records (group privacy).

        epsilon becomes rows * epsilon and delta becomes delta * sum_{i < rows} e^(i epsilon), rounded up.
        """
        if rows == 1:
            return self
        growth = sum((ball(self.epsilon * i).exp() for i in range(rows)), arb(0))
        grown = float((growth * ball(self.delta)).upper()) if self.delta else 0.0
        delta = rounded_up(grown) if grown < 1 else Fraction(1)
        if delta >= 1:
            raise DeclarationError(f"With {rows} rows for each unit no delta below 1 is left.")
        reason = f"{self.reason}; times {rows} for up to {rows} rows of one unit (group privacy)"
        return Guarantee(self.epsilon * rows, delta, self.adjacency, self.evidence, reason)

    def __repr__(self) -> str:
        numbers = f"epsilon={exact_text(self.epsilon)}, delta={exact_text(self.delta)}"
        besides = "" if self.metric is None else f"; besides, {self.metric!r}"
        return f"Guarantee({numbers}, {self.adjacency.value}, {self.evidence.value}: {self.reason}{besides})"
