"""Distributions of a count."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.mathematics.distributions.dirichlet import Interval, tails


@dataclass(frozen=True, eq=False)
class CountDistribution:
    """A distribution of a count: the probabilities of first, first + 1, ...

    >>> CountDistribution(0, np.array([0.25, 0.5, 0.25])).mean
    1.0
    """

    first: int
    probabilities: NDArray[np.float64]

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
        """Return the smallest range of counts that leaves at most (1 - level) / 2 on either side."""
        low, high = np.searchsorted(np.cumsum(self.probabilities), tails(level))
        last = len(self.probabilities) - 1
        return Interval(float(self.first + min(low, last)), float(self.first + min(high, last)))
