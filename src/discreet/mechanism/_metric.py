"""Mechanisms with metric privacy: their promise for each unit of distance, and for any change of one record."""

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet._core.arrays import Counts
from discreet.mechanism._mechanism import Sized
from discreet.mechanism._model import ModelT
from discreet.privacy import Guarantee, Metric, MetricGuarantee


class MetricMechanism(Sized[ModelT]):
    """A mechanism with an epsilon for each unit of a metric, which `verify` checks against its likelihood."""

    loses_every_distance: bool = True
    """Whether every pair of records loses just its distance; else none loses more."""

    @property
    @abstractmethod
    def metric(self) -> Metric:
        """Return the distance between records."""

    @property
    @abstractmethod
    def epsilon_per_unit(self) -> Fraction:
        """Return epsilon for each unit of the metric."""

    @property
    @abstractmethod
    def reason(self) -> str:
        """Say why the promise holds."""

    def records_at(self, indices: Sequence[int]) -> Counts:
        """Return what a record in each of these cells of the metric adds to the statistics: one to its cell."""
        return np.asarray(np.eye(self.metric.position_count, dtype=np.int64)[np.asarray(indices)])

    @property
    def guarantee(self) -> Guarantee:
        """Return the pure epsilon for any change, and the promise for each unit of the metric."""
        given, whole = self.epsilon_per_unit, Fraction(self.pure_epsilon)
        most = whole if whole < given * self.metric.diameter else None
        return Guarantee(whole, reason=self.reason, metric=MetricGuarantee(given, metric=self.metric, most=most))
