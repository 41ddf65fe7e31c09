"""Mixtures of Betas over both parameters: what is known of a share whose count and whose rest are both uncertain.

Row i is sum_jk w_ijk Beta(a_i + k, b_ij), k = 0, 1, ...: the count runs through whole numbers, and the rest through
some nodes. With t_jk(x) = x^(a_k) (1 - x)^(b_j) Gamma(a_k + b_j) / (Gamma(a_k + 1) Gamma(b_j)) one has I_x(a_k + 1,
b_j) = I_x(a_k, b_j) - t_jk, so summing by parts around a pivot p, with C_jk = sum_(l <= k) w_jl and S_jk = sum_(l > k)
w_jl,

    cdf = sum_j [W_j I_x(a_p, b_j) + sum_(k < p) C_jk t_jk - sum_(k >= p) S_jk t_jk],

    density of logit x = sum_jk w_jk a_k t_jk:

one incomplete Beta function a node instead of one a count.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import betaincinv, digamma, expit, log_expit

from discreet._core.arrays import Counts, Floats
from discreet.mathematics.distributions._dirichlet import tails
from discreet.mathematics.distributions._mixture_batch import beta_cdf, log_term

_SHOWN = 1e-9  # counts of smaller weights have no say in the width that exact counts would give
_EXACT, _BLOCKS = 16, 40
"""Of a long range of rests the first from 0 on are nodes of their own, and the others make so many blocks, at most."""
_LEAST = 1e-3  # blocks where next to nothing is are no longer than as if this share of the most were there
_LONE = 1e-9  # a block with less spread is one number


@dataclass(frozen=True, eq=False)
class BetaTable:
    """Rows of weights (rows, nodes, counts) of Beta(start + k, rest_j); the weights of a row sum to its share.

    Where a table is `is_turned`, it is the distribution of one minus each proportion.
    """

    weights: Floats
    start: Floats
    rest: Floats
    is_turned: bool = False

    def rows(self, indices: Counts | slice) -> "BetaTable":
        """Return some rows."""
        return replace(self, weights=self.weights[indices], start=self.start[indices], rest=self.rest[indices])

    @property
    def turned(self) -> "BetaTable":
        """Return the distribution of one minus each proportion."""
        return replace(self, is_turned=not self.is_turned)

    @property
    def width(self) -> int:
        """Return how many Betas a row has."""
        return int(self.weights.shape[1] * self.weights.shape[2])

    @cached_property
    def _steps(self) -> Floats:
        return np.arange(self.weights.shape[2], dtype=float)

    @cached_property
    def share(self) -> Floats:
        """Return the sum of the weights of each row."""
        return np.asarray(self.weights.sum(axis=(1, 2)))

    @cached_property
    def _pivot(self) -> Counts:
        """Return a count near the mean of each row."""
        means = self.weights.sum(axis=1) @ self._steps / np.maximum(self.share, 1e-300)
        return np.asarray(np.rint(means).astype(np.int64))

    @cached_property
    def _log_ratios(self) -> Floats:
        """Return log t_jk - log t_jp at x = 1: sums of log (a_k + b_j) / (a_k + 1) between the pivot and k."""
        before = self.start[:, None, None] + self._steps[:-1]
        sums = np.zeros_like(self.weights)
        np.cumsum(np.log((before + self.rest[:, :, None]) / (before + 1)), axis=2, out=sums[:, :, 1:])
        return sums - np.take_along_axis(sums, self._pivot[:, None, None], axis=2)

    @cached_property
    def _sums(self) -> Floats:
        """Return C_jk before the pivot and -S_jk from it on."""
        running = np.cumsum(self.weights, axis=2)
        after = np.cumsum(self.weights[:, :, ::-1], axis=2)[:, :, ::-1] - self.weights
        return np.where(self._steps < self._pivot[:, None, None], running, -after)

    def _log_terms(self, at: Floats, rows: Counts) -> Floats:
        """Return log t_jk at a logit of each of some rows."""
        pivot, rest = self._pivot[rows], self.rest[rows]
        a = np.broadcast_to((self.start[rows] + pivot)[:, None], rest.shape)
        logit = np.broadcast_to(at[:, None], rest.shape)
        first = log_term(a.ravel(), (a + rest).ravel(), logit.ravel()).reshape(rest.shape) + log_expit(-logit)
        found = log_expit(at)[:, None] * (self._steps - pivot[:, None])
        return np.asarray(self._log_ratios[rows] + found[:, None] + first[:, :, None])

    def _slopes(self, rows: Counts) -> Floats:
        return np.asarray(self.weights[rows] * (self.start[rows][:, None, None] + self._steps))

    def cdf_and_density(self, at: Floats, rows: Counts, is_whole: bool = False) -> tuple[Floats, Floats]:
        """Return the cdf at a logit of each of some rows, and the density of the logit, both times the row's share.

        All terms are added up, whether they shall be or not.
        """
        own = -at if self.is_turned else at
        terms = np.exp(self._log_terms(own, rows))
        rest = self.rest[rows]
        a = np.broadcast_to((self.start + self._pivot)[rows][:, None], rest.shape)
        x = np.broadcast_to(expit(at)[:, None], rest.shape)
        ends = (rest, a) if self.is_turned else (a, rest)
        cdf = np.einsum("ij,ij->i", self.weights[rows].sum(axis=2), beta_cdf(*ends, x))
        steps = np.einsum("ijk,ijk->i", self._sums[rows], terms)
        return cdf + (-steps if self.is_turned else steps), np.einsum("ijk,ijk->i", self._slopes(rows), terms)

    def log_density(self, at: Floats, rows: Counts) -> Floats:
        """Return the logarithm of the density of the proportion itself at a logit of each of some rows."""
        logs = self._log_terms(-at if self.is_turned else at, rows)
        most = logs.max(axis=(1, 2))
        with np.errstate(divide="ignore"):
            summed = np.log(np.einsum("ijk,ijk->i", self._slopes(rows), np.exp(logs - most[:, None, None])))
        return np.asarray(most + summed - log_expit(at) - log_expit(-at))

    def _of_betas(self) -> tuple[Floats, Floats]:
        a = self.start[:, None, None] + self._steps
        total = a + self.rest[:, :, None]
        return (total - a if self.is_turned else a) / total, total

    @property
    def mean(self) -> Floats:
        """Return the mean of each row among its own weights."""
        return np.asarray((self.weights * self._of_betas()[0]).sum(axis=(1, 2)) / self.share)

    def moments(self, centre: Floats) -> tuple[Floats, Floats, Floats]:
        """Return sums over the weights of the Betas' means less a centre, of the square of that, and of variances."""
        means, total = self._of_betas()
        apart = means - centre[:, None, None]
        within = means * (1 - means) / (total + 1)
        first, second, third = ((self.weights * each).sum(axis=(1, 2)) for each in (apart, apart**2, within))
        return first, second, third

    @property
    def mean_log(self) -> Floats:
        """Return sums over the weights of E log x."""
        a = self.start[:, None, None] + self._steps
        return np.asarray((self.weights * (digamma(a) - digamma(a + self.rest[:, :, None]))).sum(axis=(1, 2)))

    @property
    def at_ends(self) -> tuple[Floats, Floats]:
        """Return the densities at 0 and at 1: those of Beta(1, b), which is b, and of Beta(a, 1), which is a."""
        a = self.start[:, None, None] + self._steps
        zero = (self.weights * (a == 1) * self.rest[:, :, None]).sum(axis=(1, 2))
        one = (self.weights * (self.rest[:, :, None] == 1) * a).sum(axis=(1, 2))
        return zero, one

    def components(self, index: int) -> tuple[Floats, Floats, Floats]:
        """Return weights and both parameters of the Betas of one row, without those of no weight."""
        nodes, counts = np.nonzero(self.weights[index] > 0)
        return self.weights[index, nodes, counts], self.start[index] + counts, self.rest[index, nodes]

    def known_widths(self, level: float) -> tuple[Floats, Floats]:
        """Return sums of the widths that exact counts would give, each with the mean rest beside it, and of weights."""
        weights = self.weights.sum(axis=1)
        rest = np.einsum("ijk,ij->ik", self.weights, self.rest) / np.maximum(weights, 1e-300)
        rows, steps = np.nonzero(weights > _SHOWN)
        a, b = self.start[rows] + steps, rest[rows, steps]
        low, high = (betaincinv(a, b, tail) for tail in tails(level))
        own, count = weights[rows, steps], len(weights)
        summed, shares = np.bincount(rows, own * (high - low), count), np.bincount(rows, own, count)
        return np.asarray(summed, dtype=float), np.asarray(shares, dtype=float)


class RestNodes:
    """Nodes for the rests least, least + 1, ... with these weights, so that smooth functions of them are summed alike.

    Of a short range every number is a node, and so are the first numbers from 0 on. Others are put together in blocks,
    each with two nodes, its mean plus and minus its standard deviation, which keep its weight, mean and variance. What
    a block of g numbers of weight p near R leaves out is about p g^5 / R^2, as a distribution given the rest has a
    standard deviation of about sqrt(R); so blocks are as long as makes these alike.
    """

    def __init__(self, weights: Floats, least: int) -> None:
        length, rests = len(weights), least + np.arange(len(weights), dtype=float)
        exact = length if length <= _EXACT + 2 * _BLOCKS else min(length, max(0, _EXACT - least))
        share = (weights[exact:] / (rests[exact:] + 1) ** 2) ** 0.2
        edges = np.zeros(0, dtype=np.int64)
        if share.size:
            share = np.cumsum(share + _LEAST * share.max())
            wanted = np.arange(_BLOCKS) / _BLOCKS * share[-1]
            edges = exact + np.unique(np.searchsorted(share, wanted, side="right"))
        self._starts = np.concatenate([np.arange(exact), edges[edges < length]]).astype(np.int64)
        summed = np.maximum(np.add.reduceat(weights, self._starts), 1e-300)
        means = np.add.reduceat(weights * rests, self._starts) / summed
        self._away = rests - np.repeat(means, np.diff(np.append(self._starts, length)))
        self._spread = np.sqrt(np.add.reduceat(weights * self._away**2, self._starts) / summed)
        lone = self._spread < _LONE
        self._pairs = np.flatnonzero(~lone)
        self._spread = self._spread[self._pairs]
        singles = np.where(lone, means, 0.0)
        singles[np.diff(np.append(self._starts, length)) == 1] = rests[self._starts][
            np.diff(np.append(self._starts, length)) == 1
        ]
        singles[self._pairs] = means[self._pairs] - self._spread
        self.rests = np.concatenate([singles, means[self._pairs] + self._spread])

    def weights(self, table: Floats) -> Floats:
        """Return the weights of the nodes for rows of weights of all rests."""
        mass = np.add.reduceat(table, self._starts, axis=1)
        own = mass[:, self._pairs]
        lean = np.add.reduceat(table * self._away, self._starts, axis=1)[:, self._pairs] / self._spread
        upper = (own + np.clip(lean, -own, own)) / 2
        mass[:, self._pairs] = own - upper
        return np.concatenate([mass, upper], axis=1)
