"""Estimates from weighted draws in independent groups, and their Monte Carlo errors.

Draws have weights w that add up to 1. Of independent draws each is a group of its own; chains that share ancestors are
one group. The mean of a function f and its Monte Carlo error, with sums over the draws i of each of G groups, are

    m = sum_i w_i f_i,    error^2 = G / (G - 1) sum_groups (sum_i w_i (f_i - m))^2,

and the draws are worth Var(f) / error^2 independent ones. R-hat compares the groups: sqrt(1 + B / W), B the variance of
the means of (at most 16) groups and W that within them, of normal ranks of the values and of their distances from the
median (nested and rank-normalised: Margossian and others, 2024; Vehtari and others, 2021).
"""

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from discreet._core.arrays import Floats

_COMPARED = 16  # groups whose means R-hat compares; more are put together
_TAILS = (0.05, 0.95)


@dataclass(frozen=True, eq=False)
class Grouped:
    """Weights of draws, in `groups` groups of as many draws each, one after the other; values have draws as rows.

    >>> round(Grouped.equal(8, 4).effective_size(np.arange(8.0)), 2)
    3.15
    """

    weights: Floats
    groups: int

    @classmethod
    def equal(cls, draws: int, groups: int) -> "Grouped":
        """Return equal weights."""
        return cls(np.full(draws, 1 / draws), groups)

    def mean(self, values: Floats) -> Floats:
        """Return the weighted mean of every column."""
        return np.asarray(self.weights @ values)

    def variance(self, values: Floats) -> Floats:
        """Return the weighted variance of every column."""
        return np.asarray(self.weights @ np.square(values - self.mean(values)))

    def error(self, values: Floats) -> Floats:
        """Return the Monte Carlo error of the mean of every column."""
        sums = self._sums(((values - self.mean(values)).T * self.weights).T, self.groups)
        return np.asarray(np.sqrt(self.groups / (self.groups - 1) * np.square(sums).sum(axis=0)))

    def _sums(self, values: Floats, groups: int) -> Floats:
        return np.asarray(values.reshape(groups, -1, *values.shape[1:]).sum(axis=1))

    def effective_size(self, values: Floats) -> float:
        """Return how many independent draws are worth as much for the mean of the worst column, at most their number.

        A column that never changes is known as well as by all of them.
        """
        error, spread = np.atleast_1d(self.error(values)), np.atleast_1d(self.variance(values))
        changing = spread > 1e-24 * np.square(np.atleast_1d(self.mean(values)))
        sizes = spread[changing] / np.maximum(np.square(error[changing]), 1e-300)
        return float(min(len(self.weights), sizes.min(initial=np.inf)))

    def bulk_size(self, values: Floats) -> float:
        """Return the effective size for normal ranks of the values (bulk ESS), of the worst column."""
        return self.effective_size(self._ranked(values))

    def tail_size(self, values: Floats) -> float:
        """Return the effective size for being below the 5 % and the 95 % quantile (tail ESS), of the worst column."""
        ranks = self._ranks(values)
        return min(self.effective_size((ranks < tail).astype(float)) for tail in _TAILS)

    def r_hat(self, values: Floats) -> float:
        """Return the largest R-hat of all columns, for values and distances from the median.

        It is infinite if no draw of some group counts: that group agrees with none.
        """
        ranked = self._ranked(values)
        return max(self._r_hat(ranked), self._r_hat(self._ranked(np.abs(ranked))))

    def _r_hat(self, values: Floats) -> float:
        groups = next(k for k in range(min(_COMPARED, self.groups), 0, -1) if self.groups % k == 0)
        shares = self._sums(self.weights, groups)[:, None]
        if not shares.all():
            return inf
        weighted = self.weights[:, None]
        means = self._sums(weighted * values, groups) / shares
        within = self._sums(weighted * np.square(values), groups) / shares - np.square(means)
        between, inner = means.var(axis=0, ddof=1), within.mean(axis=0)
        ratio = np.where(inner > 0, between / np.where(inner > 0, inner, 1.0), np.where(between > 0, np.inf, 0.0))
        return float(np.sqrt(1 + ratio.max()))

    def _ranks(self, values: Floats) -> Floats:
        """Return the weight below each value, plus half its own; 1/2 in a column that never changes."""
        table = values.reshape(len(values), -1)
        order = np.argsort(table, axis=0, kind="stable")
        sorted_weights = self.weights[order]
        ranks = np.empty_like(table)
        np.put_along_axis(ranks, order, np.cumsum(sorted_weights, axis=0) - sorted_weights / 2, axis=0)
        return np.where(np.ptp(table, axis=0) > 0, ranks, 0.5)

    def _ranked(self, values: Floats) -> Floats:
        return np.asarray(ndtri(np.clip(self._ranks(values), 1e-12, 1 - 1e-12)))

    def chosen(self, count: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Return the indices of `count` draws, each taken about in proportion to its weight (systematic resampling)."""
        indices = systematic(self.weights, count, generator)
        return generator.permutation(indices)


def systematic(weights: Floats, count: int, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return `count` indices, in order, each as often as its weight asks but for one: where (u + k) / count falls."""
    edges = np.cumsum(weights)
    points = (generator.random() + np.arange(count)) / count * edges[-1]
    return np.asarray(np.minimum(np.searchsorted(edges, points, side="right"), len(weights) - 1))
