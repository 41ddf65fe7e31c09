"""A quantity known through exact, independent draws; its summaries carry a stated simulation error."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.mathematics.distributions._dirichlet import BetaMixture, Interval, tails


@dataclass(frozen=True, eq=False)
class Sampled:
    """A distribution known through draws of one quantity, such as a difference between two groups.

    >>> Sampled(np.array([1.0, 2.0, 3.0, 4.0, 5.0])).mean
    3.0
    """

    draws: NDArray[np.float64]

    def __repr__(self) -> str:
        mean = f"{self.mean:.4g} +/- {self.standard_error:.1g}"
        return f"{type(self).__name__}(mean={mean}, 90 % interval {self.interval(0.9)})"

    @property
    def mean(self) -> float:
        """Return the mean of the draws."""
        return float(self.draws.mean())

    @property
    def sd(self) -> float:
        """Return the standard deviation of the quantity."""
        return float(self.draws.std(ddof=1))

    @property
    def standard_error(self) -> float:
        """Return the simulation error of the mean."""
        return float(self.sd / np.sqrt(len(self.draws)))

    @property
    def median(self) -> float:
        """Return the median of the draws."""
        return float(np.median(self.draws))

    def quantile(self, probability: float) -> float:
        """Return a quantile of the draws."""
        return float(np.quantile(self.draws, probability))

    def interval(self, level: float = 0.9) -> Interval:
        """Return the equal-tailed interval of this probability."""
        low, high = np.quantile(self.draws, tails(level))
        return Interval(float(low), float(high))

    def interval_of_draws(self, drawn: NDArray[np.float64], level: float = 0.9) -> Interval:
        """Return the equal-tailed interval of some of the draws."""
        return Sampled(drawn).interval(level)

    def summary(self, level: float) -> tuple[float, float, float, float, float, float | None]:
        """Return the mean, median, both ends of the interval, the standard deviation, and no share due to privacy."""
        return self.mean, self.median, *self.interval(level), self.sd, None

    @property
    def monte_carlo_error(self) -> float:
        """Return the simulation error of the mean."""
        return self.standard_error

    def numerical_error(self, level: float) -> None:
        """Return nothing: draws have a simulation error."""
        return

    def sample(self, count: int, generator: np.random.Generator) -> NDArray[np.float64]:
        """Return some of the draws, with replacement."""
        return generator.choice(self.draws, count)

    def share_between(self, level: float = 0.9) -> None:
        """Return nothing: draws of a quantity do not tell how wide its interval would be with known counts."""
        return

    def probability_above(self, threshold: float) -> float:
        """Return the share of draws above a threshold."""
        return float((self.draws > threshold).mean())


@dataclass(frozen=True, eq=False, repr=False)
class SampledRatio(Sampled):
    """Draws of the ratio of two rates, or of their odds: its interval is opened where one of the rates is.

    It begins at 0 where the first rate may be 0, and has no end where the second may be 0. Of odds, it begins at 0 as
    well where the second rate may be 1, and has no end where the first may be 1.
    """

    first: BetaMixture
    second: BetaMixture
    of_odds: bool

    @classmethod
    def of_logs(
        cls, logs: NDArray[np.float64], first: BetaMixture, second: BetaMixture, of_odds: bool
    ) -> "SampledRatio":
        """Return the ratio with these draws of its logarithm; one to almost nothing may be infinite."""
        with np.errstate(over="ignore"):
            return cls(np.exp(logs), first, second, of_odds)

    def interval(self, level: float = 0.9) -> Interval:
        """Return the equal-tailed interval of this probability, opened if 0 or infinity cannot be excluded."""
        (low, high), one, two = super().interval(level), self.first.opened(level), self.second.opened(level)
        may_be_nothing = one[0] or (self.of_odds and two[1])
        may_be_infinite = two[0] or (self.of_odds and one[1])
        return Interval(0.0 if may_be_nothing else low, np.inf if may_be_infinite else high)


@dataclass(frozen=True, eq=False, repr=False)
class SampledDifference(Sampled):
    """Draws of the difference of two proportions p - q: its interval is opened where that of p or of q is.

    With the intervals l_p to u_p and l_q to u_q of the two, it begins at l_p - u_q at the latest if p may be 0 or q may
    be 1, and ends at u_p - l_q at the earliest if p may be 1 or q may be 0. So it holds -q for every q that is held, if
    p may be 0. Elsewhere it is the equal-tailed interval of the draws.
    """

    first: BetaMixture | None
    """The distribution of p, without what p and q have in common; None if nothing is left, so that it is 0."""
    second: BetaMixture | None

    def interval(self, level: float = 0.9) -> Interval:
        """Return the equal-tailed interval of this probability, extended to what follows if p or q may be 0 or 1."""
        (low, high), sides = super().interval(level), (self.first, self.second)
        one, two = ((False, False) if side is None else side.opened(level) for side in sides)
        if low == high or not any((*one, *two)):  # all draws alike: the difference of a rate from itself
            return Interval(low, high)
        p, q = (Interval(0.0, 0.0) if side is None else side.interval(level) for side in sides)
        return Interval(
            min(low, p.low - q.high) if one[0] or two[1] else low,
            max(high, p.high - q.low) if one[1] or two[0] else high,
        )
