"""A guarantee: what is promised, to whom, and why one may believe it.

(epsilon, delta)-differential privacy: for all neighbouring data sets with output laws P and Q and every set S of
outputs, P(S) <= e^epsilon Q(S) + delta. What "neighbouring" means is part of the promise and is printed with it.
"""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from discreet.errors import DeclarationError
from discreet.exact import Exact, exact, exact_text, probability


class Adjacency(Enum):
    """Which data sets count as neighbours."""

    REPLACE_ONE = "replace one record"


class Evidence(Enum):
    """Why a guarantee may be believed."""

    PROVED = "proved"
    ENUMERATED = "enumerated"
    CLAIMED = "claimed"


@dataclass(frozen=True, init=False)
class Guarantee:
    """A stated privacy guarantee. Epsilon and delta are exact rational numbers.

    >>> Guarantee("0.5", reason="two-sided geometric noise")
    Guarantee(epsilon=0.5, delta=0, replace one record, proved: two-sided geometric noise)
    """

    epsilon: Fraction
    delta: Fraction
    adjacency: Adjacency
    evidence: Evidence
    reason: str

    def __init__(
        self,
        epsilon: Exact,
        delta: Exact = 0,
        adjacency: Adjacency = Adjacency.REPLACE_ONE,
        evidence: Evidence = Evidence.PROVED,
        reason: str = "",
    ) -> None:
        number = exact(epsilon, "epsilon")
        if number < 0:
            raise DeclarationError(f"epsilon must be at least 0; got {exact_text(number)}.")
        values = (number, probability(delta, "delta"), Adjacency(adjacency), Evidence(evidence), str(reason))
        for field, value in zip(("epsilon", "delta", "adjacency", "evidence", "reason"), values, strict=True):
            object.__setattr__(self, field, value)

    def __repr__(self) -> str:
        numbers = f"epsilon={exact_text(self.epsilon)}, delta={exact_text(self.delta)}"
        return f"Guarantee({numbers}, {self.adjacency.value}, {self.evidence.value}: {self.reason})"
