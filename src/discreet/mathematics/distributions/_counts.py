"""Distributions of a count."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.mathematics.distributions._dirichlet import Interval, reaches_end, tails


@dataclass(frozen=True, eq=False)
class CountDistribution:
    """A distribution of a count: the probabilities of first, first + 1, ...

    >>> CountDistribution(0, np.array([0.25, 0.5, 0.25])).mean
    1.0
    """

    first: int
    probabilities: NDArray[np.float64]
    most: float | None = None
    """The largest count that is possible, if intervals are opened to 0 and to it; if not, None."""

    def __repr__(self) -> str:
        low, high = self.interval(0.9)
        return f"CountDistribution(mean={self.mean:.4g}, 90 % interval {low:g} to {high:g})"

    @property
    def values(self) -> NDArray[np.int64]:
        """Return the counts that have a probability here."""
        return np.arange(self.first, self.first + len(self.probabilities))

    @property
    def mean(self) -> float:
        """Return the expectation."""
        return float(self.probabilities @ self.values)

    @property
    def sd(self) -> float:
        """Return the standard deviation."""
        return float(np.sqrt(self.probabilities @ (self.values - self.mean) ** 2))

    def interval(self, level: float = 0.9) -> Interval:
        """Return the smallest range of counts that leaves at most (1 - level) / 2 on either side.

        Where counts are opened, it is extended to 0, or to the largest, if that cannot be excluded: by `reaches_end`,
        for the share of that many, (k + u) / (most + 1) with u uniform between 0 and 1. Where there is no largest, the
        most is infinite.
        """
        low, high = (self.first + _rank(self.probabilities, tail) for tail in tails(level))
        if self._is_at_end(self.first, self.probabilities, level):
            low = 0
        if self.most is not None and self._is_at_end(self.most - int(self.values[-1]), self.probabilities[::-1], level):
            high = int(self.most)
        return Interval(float(low), float(high))

    def _is_at_end(self, distance: float, probabilities: NDArray[np.float64], level: float) -> bool:
        """Return whether the end at this distance from the first of these counts cannot be excluded.

        Where there is no largest count, densities are those of the count itself: only their ratio matters.
        """
        if self.most is None or distance > 0:
            return False
        scale = self.most + 1 if self.most < np.inf else 1 / max(float(probabilities[0]), 1e-300)
        densities = scale * probabilities[[0, _rank(probabilities, level)]]
        with np.errstate(divide="ignore"):
            return bool(reaches_end(densities[0], np.log(densities[1]), level))


def _rank(probabilities: NDArray[np.float64], share: float) -> int:
    """Return how many counts lie below the first with P(at most it) >= share."""
    return min(int(np.searchsorted(np.cumsum(probabilities), share)), len(probabilities) - 1)
