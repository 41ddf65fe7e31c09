"""Privacy under a pseudo-metric: data sets that are close must look alike, data sets that are far need not.

Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014), definition 2: a law P(. | x) is (epsilon, delta)-private under
rho if for all data sets x, y and all events B

    P(B | x) <= e^(epsilon rho(x, y)) P(B | y) + delta rho(x, y).

With rho = the number of records that differ, the case rho = 1 is ordinary differential privacy, and group privacy is
read off: rho records together have epsilon rho. The converse, from one record to many, is true for pure epsilon and for
epsilon = 0; with both above zero delta grows faster than rho, and `Guarantee.for_rows` says how fast.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import DeclarationError
from discreet.exact import Exact, exact, exact_text, probability
from discreet.guarantees.guarantee import Guarantee

RECORDS = "number of records that differ"
_ROUNDING = 1e-12


@dataclass(frozen=True, init=False)
class MetricGuarantee:
    """A guarantee for data sets at any distance: epsilon and delta for each unit of a named pseudo-metric.

    >>> MetricGuarantee("0.5", metric="|x - y| in years").at(3)
    Guarantee(epsilon=1.5, delta=0, replace one record, proved: at distance 3 (|x - y| in years))
    """

    epsilon: Fraction
    delta: Fraction
    metric: str

    def __init__(self, epsilon: Exact, delta: Exact = 0, metric: str = RECORDS) -> None:
        number = exact(epsilon, "epsilon")
        if number < 0 or not isinstance(metric, str) or not metric.strip():
            raise DeclarationError("A guarantee under a metric needs epsilon >= 0 and the metric in words.")
        object.__setattr__(self, "epsilon", number)
        object.__setattr__(self, "delta", probability(delta, "delta"))
        object.__setattr__(self, "metric", metric)

    def document(self) -> dict[str, str]:
        """Return what is written down of it."""
        return {"epsilon": exact_text(self.epsilon), "delta": exact_text(self.delta), "metric": self.metric}

    @classmethod
    def of_records(cls, guarantee: Guarantee) -> "MetricGuarantee":
        """Return what a record-level guarantee says at any number of records; only pure ones, or epsilon = 0, scale."""
        if guarantee.epsilon and guarantee.delta:
            raise DeclarationError(
                "With epsilon and delta both above 0, delta does not grow in proportion to the number of records. "
                "Use guarantee.for_rows(rows), which states what holds for a group."
            )
        return cls(guarantee.epsilon, guarantee.delta)

    def at(self, distance: Exact) -> Guarantee:
        """Return what holds for two data sets at a distance: epsilon rho and delta rho."""
        far = exact(distance, "distance")
        if far < 0 or self.delta * far >= 1:
            raise DeclarationError(f"At distance {exact_text(far)} no delta below 1 is left, or it is below 0.")
        reason = f"at distance {exact_text(far)} ({self.metric})"
        return Guarantee(self.epsilon * far, self.delta * far, reason=reason)

    def group(self, records: int) -> Guarantee:
        """Return what holds for this many records together, if the metric counts records."""
        if self.metric != RECORDS:
            raise DeclarationError(f"This guarantee measures {self.metric!r}, not records; use at(distance).")
        return self.at(records)

    def holds(self, first: ArrayLike, second: ArrayLike, distance: Exact) -> bool:
        """Tell whether two laws, given by probabilities of the same outcomes, keep the promise at this distance.

        The worst event B holds the outcomes with P > e^(epsilon rho) Q; both directions are compared.
        """
        allowed = self.at(distance)
        p, q = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
        growth = np.exp(float(allowed.epsilon))
        gaps = (np.maximum(0.0, p - growth * q).sum(), np.maximum(0.0, q - growth * p).sum())
        return bool(max(gaps) <= float(allowed.delta) + _ROUNDING)
