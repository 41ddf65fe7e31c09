"""The ratio of two proportions, known exactly through the share that the first has of both."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.mathematics.distributions._dirichlet import BetaMixture, Interval, tails


@dataclass(frozen=True, eq=False)
class Odds:
    """The distribution of s / (1 - s) for a share s. Quantiles are exact; a mean need not exist."""

    share: BetaMixture

    def __repr__(self) -> str:
        return f"Odds(median={self.median:.4g}, 90 % interval {self.interval(0.9)})"

    def quantile(self, probability: ArrayLike) -> NDArray[np.float64]:
        """Return quantiles: the logarithm of the odds is the logit of the share."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.share.logit_quantile(probability)))

    @property
    def median(self) -> float:
        """Return the value below which half of the probability lies."""
        return float(self.quantile(0.5))

    def interval(self, level: float = 0.9) -> Interval:
        """Return the equal-tailed interval of this probability, opened where that of the share is."""
        (low, high), (zero, one) = self.quantile(tails(level)), self.share.opened(level)
        return Interval(0.0 if zero else float(low), np.inf if one else float(high))

    def probability_above(self, threshold: float) -> float:
        """Return P(ratio > threshold)."""
        return float(1 - self.share.cdf(threshold / (1 + threshold))) if threshold > 0 else 1.0
