"""MetricSums: the sums of GeometricSums with their promise for each unit of the column.

Noise on sums of places a, and of squared distances from the middle b(a), is private under |x - y| by itself. A record
that moves by d steps of the grid moves its place by d and b by at most d max |b(a + 1) - b(a)|, so its loss is at most

    epsilon_per_unit |x - y|,   epsilon_per_unit = (2 r_1 + 2 r_2 max_a |b(a + 1) - b(a)|) steps / (high - low),

r_1 and r_2 the rates of both kinds of noise; by the triangle inequality the same holds for data sets at any distance.
It is attained by a step at a bound, where squares move most. For any change whatever the ordinary epsilon of
GeometricSums holds, which is less than epsilon_per_unit times the distance of the bounds: no record moves both wholly.
With groups, a record that changes its group moves wholly whatever its values are: all of another group is as far away
as that loses, epsilon / epsilon_per_unit, which is more than half of the distance of the bounds.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from discreet.arrays import Counts
from discreet.errors import DeclarationError
from discreet.exact import Exact, positive
from discreet.guarantees.column_metrics import Steps
from discreet.guarantees.group_metrics import GroupSteps
from discreet.mechanisms.geometric_sums import GeometricSums
from discreet.mechanisms.under_metric import UnderMetric
from discreet.models.number_sums import VARIANCE, NumberSums
from discreet.records.grouped_sums import squared


@dataclass(frozen=True, init=False, repr=False)
class MetricSums(GeometricSums, UnderMetric[NumberSums], kind="MetricSums", version=1):
    """Sums for means, sums and variances, with metric privacy: `epsilon` holds for any change between the bounds.

    >>> ages = NumberSums("age", bounds=(0, 100), missing=40)
    >>> sums = MetricSums.per_unit(ages, size=1000, epsilon_per_unit="0.01")
    >>> sums.guarantee.metric.at(35, 38).epsilon <= Fraction("0.03001")
    True
    """

    loses_every_distance = False

    def __init__(self, model: NumberSums, size: int, epsilon: Exact, squares: Exact | None = None) -> None:
        super().__init__(model, size, epsilon, squares)
        if model.leaves_gaps_out or model.persons is not None or type(model) is not NumberSums:
            raise DeclarationError(
                "Metric privacy needs a distance between any two records. Declare `missing`, the number that a gap "
                "counts as, and count records, without weights, rather than persons."
            )

    @classmethod
    def usual_squares(cls, model: NumberSums) -> Fraction:
        """Return a tenth, or a half for variances: near a bound, squares move four steps for every step of places."""
        return Fraction(1, 2 if VARIANCE in model.asks else 10)

    @classmethod
    def per_unit(
        cls, model: NumberSums, size: int, epsilon_per_unit: Exact, squares: Exact | None = None
    ) -> "MetricSums":
        """Return the mechanism with this epsilon for each unit of the column."""
        wanted = positive(epsilon_per_unit, "epsilon_per_unit")
        return cls(model, size, wanted / cls(model, size, 1, squares).epsilon_per_unit, squares)

    @property
    def reason(self) -> str:
        return "sums that move little where values are close (triangle inequality, at any distance)"

    @property
    def _inside(self) -> Steps:
        own = self.model.bounds
        return Steps(own.name, own.low, own.high, self.model.unit, own.missing, own.dates)

    @property
    def metric(self) -> Steps | GroupSteps:
        """Return the metric: the distance of values, rounded to steps; to another group, the loss of a whole record."""
        if self.model.by is None:
            return self._inside
        between = Fraction(self.pure_epsilon) / self.epsilon_per_unit
        return GroupSteps(self._inside, self.model.by, between)

    @property
    def epsilon_per_unit(self) -> Fraction:
        """Return epsilon for each unit: the largest privacy loss of one step, per unit."""
        places, squares = self.noise.rates
        return (2 * places + 2 * squares * _steepest(self.model.unit)) / self._inside.nearest

    def records_at(self, places: Sequence[int]) -> Counts:
        return self.model.at_places(np.asarray(places))


@lru_cache(maxsize=64)
def _steepest(unit: int) -> int:
    """Return the most that a squared distance moves in one step of the grid."""
    return int(np.abs(np.diff(squared(np.arange(unit + 1), unit))).max())
