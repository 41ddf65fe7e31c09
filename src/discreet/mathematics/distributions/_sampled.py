"""A quantity known through draws, independent or of chains; its summaries carry a stated simulation error."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, logit

from discreet.mathematics.distributions._dirichlet import (
    BetaMixture,
    HasOpenedInterval,
    Interval,
    MergedMixture,
    tails,
)

_AT_END = 0.015
"""An interval is opened where the shortest one leaves at most this share of the draws beyond it."""
_DRAWS = 4_000
"""By so many draws of a mixture of Beta distributions is decided whether its interval is opened."""


@dataclass(frozen=True, eq=False)
class Sampled:
    """A distribution known through draws of one quantity, such as a difference between two groups.

    >>> Sampled(np.array([1.0, 2.0, 3.0, 4.0, 5.0])).mean
    3.0
    """

    draws: NDArray[np.float64]
    chains: int = field(default=1, kw_only=True)
    """How many chains they come from in turn, draw i from chain i modulo this; independent draws are one."""

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
        """Return the simulation error of the mean: of chains, from how far their means lie apart."""
        if 1 < self.chains <= (count := len(self.draws)):
            by_chain = self.draws[: count - count % self.chains].reshape(-1, self.chains).mean(axis=0)
            return float(by_chain.std(ddof=1) / np.sqrt(self.chains))
        return float(self.sd / np.sqrt(len(self.draws)))

    @property
    def worth(self) -> float:
        """Return how many independent draws would give as good a mean."""
        error = self.standard_error
        return min(float(len(self.draws)), (self.sd / error) ** 2) if error > 0 else float(len(self.draws))

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

    first: HasOpenedInterval
    second: HasOpenedInterval
    of_odds: bool

    @classmethod
    def of_logs(
        cls, logs: NDArray[np.float64], first: HasOpenedInterval, second: HasOpenedInterval, of_odds: bool
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

    first: HasOpenedInterval | None
    """The distribution of p, without what p and q have in common; None if nothing is left, so that it is 0."""
    second: HasOpenedInterval | None

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


@dataclass(frozen=True, eq=False, repr=False)
class SampledShare(Sampled):
    """Draws of a proportion: its interval is opened to 0, or to 1, where the shortest interval begins or ends there.

    Draws never are 0. So the shortest interval of a level, among those from one draw to another, is taken to begin at 0
    if at most 1.5 % of the draws lie below it, and likewise for 1: the rule of `Share` for draws.
    """

    @cached_property
    def sorted(self) -> NDArray[np.float64]:
        """Return the draws in rising order."""
        return np.sort(self.draws)

    def cdf(self, x: ArrayLike) -> NDArray[np.float64]:
        """Return P(value <= x)."""
        return np.asarray(np.searchsorted(self.sorted, x, side="right") / len(self.draws))

    def logit_quantile(self, probability: ArrayLike) -> NDArray[np.float64]:
        """Return the logit of a quantile."""
        return np.asarray(logit(np.quantile(self.sorted, np.asarray(probability, dtype=float))))

    def interval(self, level: float = 0.9) -> Interval:
        """Return the equal-tailed interval of this probability, opened where 0 or 1 cannot be excluded."""
        (low, high), (zero, one) = super().interval(level), self.opened(level)
        return Interval(0.0 if zero else low, 1.0 if one else high)

    def interval_of_draws(self, drawn: NDArray[np.float64], level: float = 0.9) -> Interval:
        """Return the same from some of the draws."""
        return SampledShare(drawn).interval(level)

    def opened(self, level: float = 0.9) -> tuple[bool, bool]:
        """Return whether the interval is extended to 0, and whether to 1."""
        zero, one = draws_reach_ends(self.sorted[:, None], level)
        return bool(zero[0]), bool(one[0])

    def highest_density(self, level: float = 0.9) -> Interval:
        """Return the shortest interval of this probability, opened as well."""
        first, (zero, one) = int(_widths(self.sorted, level).argmin()), self.opened(level)
        low, high = self.sorted[first], self.sorted[first + _kept(self.sorted, level) - 1]
        return Interval(0.0 if zero else float(low), 1.0 if one else float(high))

    def hits(self, records: int) -> NDArray[np.float64]:
        """Return the probability of each number of hits among further records: a mixture of binomials."""
        return binomials(records, self.draws)


def binomials(records: int, shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the binomial probabilities of 0, ..., records over shares."""
    hits, found = np.arange(records + 1), np.zeros(records + 1)
    ways = gammaln(records + 1.0) - gammaln(hits + 1.0) - gammaln(records - hits + 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        for share in shares:
            logs = np.where(hits > 0, hits * np.log(share), 0.0)
            logs += np.where(hits < records, (records - hits) * np.log1p(-share), 0.0)
            found += np.exp(ways + logs)
    return np.asarray(found / len(shares))


@dataclass(frozen=True, eq=False)
class SampledShares:
    """Draws of many proportions (draws, proportions), of chains in turn."""

    draws: NDArray[np.float64]
    chains: int

    def row(self, index: int) -> SampledShare:
        """Return one of them."""
        return SampledShare(self.draws[:, index], chains=self.chains)

    @cached_property
    def mean(self) -> NDArray[np.float64]:
        """Return the means."""
        return np.asarray(self.draws.mean(axis=0))

    @cached_property
    def sd(self) -> NDArray[np.float64]:
        """Return the standard deviations."""
        return np.asarray(self.draws.std(axis=0, ddof=1))

    @cached_property
    def _sorted(self) -> NDArray[np.float64]:
        return np.sort(self.draws, axis=0)

    @property
    def median(self) -> NDArray[np.float64]:
        """Return the medians."""
        return self.quantile(0.5)

    def quantile(self, probability: float) -> NDArray[np.float64]:
        """Return the value of each below which this share of its draws lies."""
        at = probability * (len(self.draws) - 1)
        low = min(int(at), len(self.draws) - 2)
        return np.asarray(self._sorted[low] + (at - low) * (self._sorted[low + 1] - self._sorted[low]))

    def ends(self, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return both ends of the interval of each, opened as those of `SampledShare`."""
        (low, high), (zero, one) = (self.quantile(tail) for tail in tails(level)), draws_reach_ends(self._sorted, level)
        return np.where(zero, 0.0, low), np.where(one, 1.0, high)


def _kept(rising: NDArray[np.float64], level: float) -> int:
    """Return how many draws an interval of this level holds."""
    return min(len(rising), int(np.ceil(level * len(rising))))


def _widths(rising: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Return the widths of all intervals of this level from one draw to another, by where they begin."""
    kept = _kept(rising, level)
    return rising[kept - 1 :] - rising[: len(rising) - kept + 1]


def draws_reach_ends(rising: NDArray[np.float64], level: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return for each column of draws in rising order whether its interval is opened to 0, and whether to 1.

    It is where a shortest interval leaves next to nothing below it, or above it: the rule of `reaches_end` for draws,
    which never are 0, or of a density that may be infinite there. Draws rounded to 0 or 1 leave several. Where
    both 0 and 1 are likely, as in a row of a network's table that may hold no record, no interval that is short reaches
    both: an end with a tail of (1 - level)/2 on its side of 1/2 is opened if that side alone reaches it.

    >>> draws = np.random.default_rng(1).beta([[0.1, 30.0, 50.0]], [[50.0, 20.0, 1.0]], size=(4_000, 3))
    >>> [each.tolist() for each in draws_reach_ends(np.sort(draws, axis=0), 0.9)]
    [[True, False, False], [False, False, True]]
    >>> either = np.random.default_rng(1).beta(0.25, 0.25, size=(4_000, 1))
    >>> [each.tolist() for each in draws_reach_ends(np.sort(either, axis=0), 0.9)]
    [[True], [True]]
    """
    zero, one = _shortest_reaches(rising, level)
    below, least = (rising < 0.5).sum(axis=0), tails(level)[0] * len(rising)
    for place in np.argwhere((below >= least) & (len(rising) - below >= least) & ~(zero & one)):
        index, column = tuple(place), rising[(slice(None), *place)]
        zero[index] |= _shortest_reaches(column[: below[index]], level)[0]
        one[index] |= _shortest_reaches(column[below[index] :], level)[1]
    return zero, one


def _shortest_reaches(rising: NDArray[np.float64], level: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    widths, allowed = _widths(rising, level), int(_AT_END * len(rising)) + 1
    shortest = widths.min(axis=0)
    return widths[:allowed].min(axis=0) <= shortest, widths[-allowed:].min(axis=0) <= shortest


class OpenedMixture(BetaMixture):
    """A probability whose interval is opened to 0 or 1 by `draws_reach_ends`, whatever the prior was."""

    def _opened(self, quantile: Callable[[ArrayLike], NDArray[np.float64]], level: float) -> tuple[bool, bool]:
        return _opened_by_draws(self, level)


class OpenedMergedMixture(MergedMixture):
    """The same of a mixture some of whose components stand for a range of neighbours."""

    def _opened(self, quantile: Callable[[ArrayLike], NDArray[np.float64]], level: float) -> tuple[bool, bool]:
        return _opened_by_draws(self, level)


def _opened_by_draws(mixture: BetaMixture, level: float) -> tuple[bool, bool]:
    return SampledShare(mixture.sample(_DRAWS, np.random.default_rng(0))).opened(level)
