"""Privacy under a pseudo-metric: the nearer two data sets, the more alike their outputs.

Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014), definition 2: a distribution P(. | x) is (epsilon,
delta)-private under rho if for all data sets x, y and all events B

    P(B | x) <= e^(epsilon rho(x, y)) P(B | y) + delta rho(x, y).

With rho = the number of records that differ, the case rho = 1 is ordinary differential privacy, and group privacy is
read off: rho records together have epsilon rho. The converse, from one record to many, is true for pure epsilon and for
epsilon = 0; with both above zero delta grows faster than rho, and `Guarantee.for_rows` says how fast.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.documents import Document
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, exact_text, probability
from discreet._core.fields import Checked, Number, OptionalNumber, converted, frozen, optional
from discreet.privacy._column_metrics import Line as Line
from discreet.privacy._column_metrics import Steps as Steps
from discreet.privacy._column_metrics import Tree as Tree
from discreet.privacy._group_metrics import GroupLines as GroupLines
from discreet.privacy._group_metrics import GroupSteps as GroupSteps
from discreet.privacy._guarantee import Guarantee
from discreet.privacy._metric import Metric
from discreet.privacy._metric import Records as Records
from discreet.privacy._metric import Sum as Sum

RECORDS = "number of records that differ"
_ROUNDING = 1e-12


@frozen()
class MetricGuarantee:
    """A guarantee of metric differential privacy: epsilon and delta per unit of distance in a pseudo-metric.

    The metric is an object such as a `Line` or a `Tree`; a description in words serves for claims in papers. With an
    object, `at` takes two values, and `everywhere` is the guarantee for an arbitrary change of one record: epsilon
    times the diameter, or a smaller known bound `most`.

    >>> MetricGuarantee("0.5", metric="|x - y| in years").at(3)
    Guarantee(epsilon=1.5, delta=0, replace one record, proved: at distance 3 (|x - y| in years))
    >>> MetricGuarantee("0.1", metric=Line("age", range(101))).at(35, 38).epsilon
    Fraction(3, 10)
    """

    epsilon: Number = converted(exact)
    delta: Number = converted(exact, default=0)
    metric: Checked[str | Metric] = converted(lambda given, _: given, default=RECORDS)
    most: OptionalNumber = converted(optional(exact), default=None)

    def __post_init__(self) -> None:
        is_data = isinstance(self.metric, Metric)
        if self.epsilon < 0 or not (is_data or (isinstance(self.metric, str) and self.metric.strip())):
            raise DeclarationError(
                "A guarantee under a metric needs epsilon >= 0 and the metric, either as data or described in words."
            )
        if is_data and self.delta:
            raise DeclarationError("A guarantee under a metric given as data must be pure: its delta must be 0.")
        probability(self.delta, "delta")
        if self.most is not None and not 0 <= self.most <= self.epsilon * self.known_metric.diameter:
            raise DeclarationError(
                "The guarantee for an arbitrary change must be at most epsilon times the diameter of the metric."
            )

    def document(self) -> Document:
        """Return the guarantee as a document."""
        metric = self.metric.document() if isinstance(self.metric, Metric) else self.metric
        most = {} if self.most is None else {"most": exact_text(self.most)}
        return {"epsilon": exact_text(self.epsilon), "delta": exact_text(self.delta), "metric": metric, **most}

    @property
    def known_metric(self) -> Metric:
        """Return the metric where it is data."""
        if not isinstance(self.metric, Metric):
            raise DeclarationError(
                f"This guarantee's metric, {self.metric!r}, is described only in words: pass the distance itself."
            )
        return self.metric

    @property
    def everywhere(self) -> Guarantee:
        """Return the guarantee for an arbitrary change of one record."""
        metric = self.known_metric
        reason = f"the largest distance is {exact_text(metric.diameter)} ({metric.unit})"
        return Guarantee(self.epsilon * metric.diameter if self.most is None else self.most, reason=reason)

    @property
    def per_unit_words(self) -> str:
        """Say what is promised for each unit; the unit stands beside it."""
        named = self.metric.unit if isinstance(self.metric, Metric) else self.metric
        return f"epsilon = {exact_text(self.epsilon)} per {named}"

    @property
    def words(self) -> str:
        """Say in one sentence what is promised for each unit, and for any change whatever."""
        if not isinstance(self.metric, Metric):
            return f"{self.per_unit_words}."
        return f"{self.per_unit_words}; for any change whatever: epsilon = {exact_text(self.everywhere.epsilon)}."

    @classmethod
    def of_records(cls, guarantee: Guarantee) -> "MetricGuarantee":
        """Return what a record-level guarantee says at any number of records; only pure ones, or epsilon = 0, scale."""
        if guarantee.epsilon and guarantee.delta:
            raise DeclarationError(
                "With epsilon and delta both above 0, delta does not grow in proportion to the number of records. "
                "Use guarantee.for_rows(rows), which states what holds for a group."
            )
        return cls(guarantee.epsilon, guarantee.delta)

    def at(self, distance: Any, other: Any = None) -> Guarantee:
        """Return the guarantee for data sets at a distance rho, epsilon rho and delta rho, or for two values.

        Values are rounded to cells: rho is the distance between these.
        """
        if other is not None:
            metric = self.known_metric
            apart = metric.distance(metric.position(distance), metric.position(other))
            allowed = min(self.epsilon * apart, self.everywhere.epsilon)
            return Guarantee(allowed, reason=f"{exact_text(apart)} apart, {self.words}")
        far = exact(distance, "distance")
        if far < 0 or self.delta * far >= 1:
            raise DeclarationError(
                f"At distance {exact_text(far)} there is no guarantee: the distance is negative, or delta would "
                "reach 1."
            )
        named = self.metric.unit if isinstance(self.metric, Metric) else self.metric
        reason = f"at distance {exact_text(far)} ({named})"
        return Guarantee(self.epsilon * far, self.delta * far, reason=reason)

    def group(self, records: int) -> Guarantee:
        """Return what holds for this many records together, if the metric counts records."""
        if self.metric != RECORDS:
            raise DeclarationError(f"This guarantee measures {self.metric!r}, not records; use at(distance).")
        return self.at(records)

    def holds(self, first: ArrayLike, second: ArrayLike, distance: Exact) -> bool:
        """Return whether two distributions over the same outcomes satisfy the guarantee at this distance.

        The worst event B holds the outcomes with P > e^(epsilon rho) Q; both directions are compared.
        """
        allowed = self.at(distance)
        p, q = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
        growth = np.exp(float(allowed.epsilon))
        gaps = (np.maximum(0.0, p - growth * q).sum(), np.maximum(0.0, q - growth * p).sum())
        return bool(max(gaps) <= float(allowed.delta) + _ROUNDING)
