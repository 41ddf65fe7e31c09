"""Counts that sum to a total: their exact law for every total at once.

The counts of one row of a table have weight prod_x f_x(k_x), and the weight of a total t is the convolution
(f_1 * ... * f_K)(t). All terms are positive, so it is summed directly and every value keeps its digits. Each factor is
first multiplied by e^(lambda k), which changes no law given the total but lets one choose where the numbers are large:
around a stated centre of totals. What lies 10^-290 below that underflows to zero.
"""

from functools import cached_property

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference._known_sum import drawn_steps
from discreet.mathematics import tilted_to

_LEAST = 1e-290  # weights below are zero: products of two of them would be anyway
_STEEPEST = 50.0


class RowCounts:
    """The counts of one row given its total, from the logarithms of the factors: one row of `log_factors` per level.

    `log_factors[x, k]` is log f_x(k) for k = 0, ..., n. `centre` is a total near which all that matters happens.

    >>> row = RowCounts(np.zeros((2, 4)), centre=2.0)
    >>> np.exp(row.log_sums).round(12)
    array([1., 2., 3., 4.])
    """

    def __init__(self, log_factors: Floats, centre: float) -> None:
        self.levels, self.most = log_factors.shape[0], log_factors.shape[1] - 1
        steps = np.arange(self.most + 1)
        self.tilt = tilted_to(log_factors, steps, centre, absolute=0.5, relative=0.1, steepest=_STEEPEST).tilt
        tilted = log_factors + self.tilt * steps
        self._peaks = tilted.max(axis=1)
        weights = np.exp(tilted - self._peaks[:, None])
        self._weights = np.where(weights < _LEAST, 0.0, weights)

    @cached_property
    def _before(self) -> list[Floats]:
        """Return the convolutions of the first 1, 2, ..., K factors."""
        sums = [self._weights[0]]
        for weights in self._weights[1:]:
            sums.append(_convolved(sums[-1], weights))
        return sums

    @cached_property
    def log_sums(self) -> Floats:
        """Return log sum_k prod_x f_x(k_x) over all counts of total t, for t = 0, ..., n."""
        with np.errstate(divide="ignore"):
            logs = np.log(self._before[-1])
        return np.asarray(logs + self._peaks.sum() - self.tilt * np.arange(self.most + 1))

    @cached_property
    def _others(self) -> list[Floats]:
        """Return, for each level, the convolution of the factors of all other levels."""
        one = np.zeros(self.most + 1)
        one[0] = 1.0
        after = [one]
        for weights in self._weights[:0:-1]:
            after.append(_convolved(after[-1], weights))
        pairs = zip([one, *self._before[:-1]], reversed(after), strict=True)
        return [_convolved(left, right) for left, right in pairs]

    @cached_property
    def means(self) -> Floats:
        """Return E[k_x | total] for each level (rows) and total (columns)."""
        steps = np.arange(self.most + 1)
        moments = [_convolved(steps * w, o) for w, o in zip(self._weights[1:], self._others[1:], strict=True)]
        with np.errstate(invalid="ignore", divide="ignore"):
            rest = np.nan_to_num(np.stack(moments) / self._before[-1]) if moments else np.empty((0, self.most + 1))
        return np.concatenate([[steps - rest.sum(axis=0)], rest])

    def marginals(self, total: int) -> Floats:
        """Return P(k_x = k | total) for each level (rows) and k (columns)."""
        joint = np.zeros((self.levels, self.most + 1))
        for level, (weights, others) in enumerate(zip(self._weights, self._others, strict=True)):
            joint[level, : total + 1] = weights[: total + 1] * others[total::-1]
        return np.asarray(joint / joint.sum(axis=1, keepdims=True))

    def draw(self, totals: Counts, generator: np.random.Generator) -> Counts:
        """Draw independent rows of counts, one for each total: the last level first, then those before it."""
        drawn = np.empty((len(totals), self.levels), dtype=np.int64)
        left = np.asarray(totals)
        for level in range(self.levels - 1, 0, -1):
            drawn[:, level] = drawn_steps(self._weights[level], self._before[level - 1], left, generator)
            left = left - drawn[:, level]
        drawn[:, 0] = left
        return drawn


def groups(values: Counts) -> list[tuple[int, Counts]]:
    """Return each value that occurs with the places where it does."""
    order = np.argsort(values, kind="stable")
    found, starts = np.unique(values[order], return_index=True)
    parts = np.split(order, starts[1:])
    return [(int(value), part) for value, part in zip(found, parts, strict=True)]


def _convolved(first: Floats, second: Floats) -> Floats:
    """Return the convolution up to the largest total, from the parts of both that are not zero."""
    most = len(first)
    result = np.zeros(most)
    one, two = np.flatnonzero(first), np.flatnonzero(second)
    if one.size and two.size:
        start = int(one[0] + two[0])
        part = np.convolve(first[one[0] : one[-1] + 1], second[two[0] : two[-1] + 1])[: max(0, most - start)]
        result[start : start + len(part)] = part
    return result
