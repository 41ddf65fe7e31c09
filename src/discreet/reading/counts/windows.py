"""Windows: the few counts that matter of each cell of a row, and a proved bound on all that lies outside.

A cell's weight is f(k) = P_a(k) K(k), with the prior P_a(k) = Gamma(a + k) / (k! Gamma(a)) and the likelihood K of what
was seen of it, whose logarithm is concave beyond the noisy numbers. Its window holds the counts around these, clipped
to 0, ..., n. What lies outside, weighed by e^(lambda k), is below a geometric series (`CellWindows.log_outside`):

- right of a window's end e, f(k + 1) e^lambda <= rho f(k) with rho = e^lambda K(e + 1) / K(e) max(1, (a + e)/(e + 1));
- left of its first count e, P_a(k) <= max(1, P_a(e)), and K(k - 1) e^-lambda <= K(k) K(e - 1) / K(e) e^-lambda.

So nothing here grows with the number of records, and nothing is left out that was not bounded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from discreet.arrays import Counts, Floats
from discreet.mathematics.digits import log_gamma_ratio

MARGIN = 45.0
"""How many nats a window at first extends beyond the noisy numbers; it is widened where that is not enough."""


@dataclass(frozen=True, eq=False)
class Windowed:
    """Numbers at first, first + 1, ...: a law, or the logarithms of weights. Elsewhere the law is zero."""

    first: int
    values: Floats

    @property
    def counts(self) -> Counts:
        """Return the counts that the numbers belong to."""
        return self.first + np.arange(len(self.values))

    @property
    def last(self) -> int:
        """Return the last count."""
        return self.first + len(self.values) - 1


@dataclass(frozen=True, eq=False)
class Seen:
    """What one measurement says about the cells of a row: its log kernel at any counts, and where it peaks."""

    log_kernel: Callable[[Counts], Floats]
    """Log K of each cell (rows) at its counts (columns)."""
    values: Counts
    reach: Floats
    """For each cell how many counts away a factor e is lost, far out."""
    information: Floats
    """For each cell about one over the variance of its noise."""


class CellWindows:
    """The log weights of the cells of one row on windows: `logs[x, s]` at the count first[x] + s, -inf beyond last."""

    def __init__(self, alpha: Floats, seen: Sequence[Seen], size: int, margin: float = MARGIN) -> None:
        values = np.stack([np.clip(each.values, 0, size) for each in seen])
        reach = np.ceil(margin * np.min([each.reach for each in seen], axis=0)).astype(np.int64) + 2
        self.alpha, self.size, self.seen = alpha, size, seen
        self.first = np.clip(values.min(axis=0) - reach, 0, size)
        self.last = np.clip(values.max(axis=0) + reach, 0, size)
        counts = self.first[:, None] + np.arange(int((self.last - self.first).max()) + 1)
        logs = self._kernel(counts) + log_prior_windows(alpha, self.first, counts.shape[1])
        self.logs = np.where(counts <= self.last[:, None], logs, -np.inf)
        self._right, self._left = self._edges()

    def _kernel(self, counts: Counts) -> Floats:
        return np.asarray(sum(each.log_kernel(counts) for each in self.seen))

    def _edges(self) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Return for either end the log of a weight, and of the ratio from one count to the next further out."""
        ends = np.stack([self.first - 1, self.first, self.last, self.last + 1], axis=1)
        before, first, last, after = self._kernel(ends).T
        rows = np.arange(len(self.first))
        growth = np.maximum(0.0, np.log((self.alpha + self.last) / (self.last + 1)))
        right = self.logs[rows, self.last - self.first], after - last + growth
        priors = log_prior_windows(self.alpha, self.first, 1)[:, 0]
        left = first + np.maximum(0.0, priors), before - first
        open_right, open_left = self.last < self.size, self.first > 0
        return (
            (np.where(open_right, right[0], -np.inf), np.where(open_right, right[1], -np.inf)),
            (np.where(open_left, left[0], -np.inf), np.where(open_left, left[1], -np.inf)),
        )

    @property
    def steepest(self) -> float:
        """Return the largest tilt in either direction at which all that lies outside is still finite."""
        return float(min(-self._right[1].max(), -self._left[1].max()))

    def log_outside(self, tilt: float) -> Floats:
        """Return for each cell the log of an upper bound on sum f(k) e^(tilt (k - first)) over all k outside."""
        width = self.last - self.first
        right, left = self._right[0] + tilt * width, self._left[0]
        return np.logaddexp(_series(right, self._right[1] + tilt), _series(left, self._left[1] - tilt))


def _series(start: Floats, log_ratio: Floats) -> Floats:
    """Return log sum_(j >= 1) e^(start + j log_ratio), infinite where the ratio is one or more; nothing if no start."""
    inside = np.minimum(log_ratio, -1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        total = start + np.where(np.isneginf(inside), -np.inf, inside - np.log(-np.expm1(inside)))
    return np.where(np.isneginf(start), -np.inf, np.where(log_ratio >= 0, np.inf, total))


def log_prior_windows(alpha: Floats, first: Counts, width: int) -> Floats:
    """Return log P_a(k) at k = first, ..., first + width - 1 for each cell: one anchor, then sums of log1p.

    P_a(k + 1) / P_a(k) = (a + k) / (k + 1) = 1 + (a - 1) / (k + 1).

    >>> log_prior_windows(np.array([1.0, 2.0]), np.array([5, 0]), 3)
    array([[0.        , 0.        , 0.        ],
           [0.        , 0.69314718, 1.09861229]])
    """
    if (alpha == 1).all():
        return np.zeros((len(alpha), width))
    anchor = log_gamma_ratio(first + 1.0, alpha - 1) - gammaln(alpha)
    steps = np.log1p((alpha - 1)[:, None] / (first[:, None] + 1.0 + np.arange(width - 1)))
    return np.asarray(np.cumsum(np.concatenate([anchor[:, None], steps], axis=1), axis=1))


def log_prior_constant_of(alpha: float | Floats, totals: Counts) -> Floats:
    """Return log t! Gamma(a) / Gamma(t + a) for some totals, which makes the prior weights of a total sum to one."""
    return np.asarray(gammaln(alpha) - log_gamma_ratio(totals + 1.0, alpha - 1))
