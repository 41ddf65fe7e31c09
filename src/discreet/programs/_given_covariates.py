"""What a release says about outcomes given covariates, with the shares of the covariates integrated out.

Cells (g, c) are outcome c in group g; q_gc = P(c | g), and the shares of the groups have a Dirichlet(a) distribution.
Then

    P(z | q) = n!/Z Gamma(A)/Gamma(A + n) sum_k prod_g [Gamma(a_g + K_g)/Gamma(a_g) prod_c q_gc^k_gc g(k_gc) / k_gc!],

K_g = sum_c k_gc: every group is a series in K_g, and groups are linked by sum_g K_g = n alone. The gradient in log q_gc
is E[k_gc | z, q]. A regression needs only q, so it has as many parameters as coefficients.

Within a group, series are multiplied directly, never by transforms: these are accurate only relative to the peak, and
Gamma(a + K) amplifies the tail. Sums of positive numbers keep the digits of every entry. But floats end at 1e-308, and
1 / k! falls below that, so every group has a tilt e^(t k) that cancels, with t the logarithm of about K. A tilt works
while 2 (sqrt K - sqrt K')^2 is at most some hundreds; where the relevant sizes of a group span more, because there is
much noise, they are cut into stretches with a tilt each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np
from scipy.special import gammaln

from discreet._core.arrays import Counts, Floats
from discreet.inference import KnownSum, TotalDistribution
from discreet.programs._product_likelihood import ProductLikelihood, in_blocks, log_factorials

MOST_STEPS = 1e9
"""How many products of two numbers one value with its gradient may take."""
_NEAR = 0.05
_STRETCH = 34.0  # length of a stretch in roots of sizes: both ends are about e^-580 of the middle


@dataclass(frozen=True, eq=False)
class GivenLikelihood:
    """`indices[g]` are the cells of group g, in the table of `whole`; `shares` are the parameters a_g.

    `lifts[g, j]` is log Gamma(a_g + K) for the j-th size K of the group's window, `stretches[g, j]` says in which
    stretch that size lies, and `tilts[s, g]` is the tilt of a group there.
    """

    whole: ProductLikelihood
    indices: Counts
    shares: Floats
    tilts: Floats
    stretches: Counts
    lifts: Floats

    @classmethod
    def of(cls, whole: ProductLikelihood, indices: Counts, shares: Floats) -> "GivenLikelihood":
        """Return the likelihood with as many stretches as the group with the widest range needs.

        The noise of a whole group is about as likely to exceed the window of one of its cells as the cell's own noise.
        """
        width = whole.base.shape[1]
        kernels = whole.base + log_factorials(whole.first, width)
        peaks, last = kernels.argmax(axis=1), np.isfinite(whole.base).sum(axis=1) - 1
        reach, middles = int(np.maximum(peaks, last - peaks).max()), peaks[indices].sum(axis=1)
        totals, steps = shares + whole.first[indices].sum(axis=1), np.arange(indices.shape[1] * (width - 1) + 1)
        low = np.sqrt(totals + np.maximum(middles - reach, 0))
        high = np.sqrt(np.minimum(totals + middles + reach, shares + whole.most))
        count = max(1, int(np.ceil(float((high - low).max()) / _STRETCH)))
        lengths = np.maximum(high - low, 1e-9) / count
        sizes = totals[:, None] + steps
        stretches = np.clip((np.sqrt(sizes) - low[:, None]) / lengths[:, None], 0, count - 1).astype(np.int64)
        tilts = 2 * np.log(low + (np.arange(count)[:, None] + 0.5) * lengths)
        return cls(whole, indices, shares, tilts, stretches, np.asarray(gammaln(sizes)))

    @property
    def size(self) -> int:
        """Return the number of records."""
        return self.whole.size

    @property
    def method(self) -> str:
        """Say how it is computed."""
        return f"{self.whole.method}, with the shares of the covariates integrated out"

    @property
    def steps(self) -> float:
        """Return how many products of two numbers one value with its gradient takes."""
        groups, cells = self.indices.shape
        return float(groups * (cells**3 - cells) / 2 * self.whole.base.shape[1] ** 2)

    def __call__(self, log_probabilities: Floats) -> tuple[Floats, Floats]:
        """Return log P(z | q) and E[k | z, q] for rows of log q, in the order of the table's cells."""
        values, expected = zip(*(self._both(block) for block in self._blocks(log_probabilities)), strict=True)
        shape = log_probabilities.shape
        return np.concatenate(values).reshape(shape[:-1]), np.concatenate(expected).reshape(shape)

    def values(self, log_probabilities: Floats) -> Floats:
        """Return log P(z | q) alone, for rows of log q."""
        found = [self._log_likelihoods(block)[0] for block in self._blocks(log_probabilities)]
        return np.concatenate(found).reshape(log_probabilities.shape[:-1])

    def _blocks(self, log_probabilities: Floats) -> Iterator[Floats]:
        return in_blocks(log_probabilities.reshape(-1, len(self.whole.first)), self.lifts.size)

    def _weights(self, rows: Floats, stretch: int) -> tuple[Floats, Floats]:
        """Return the tilted weights of every cell, each divided by its row's largest, and the logarithms of these.

        Steps that by themselves lead beyond the stretch are left out.
        """
        beyond = np.asarray((self.stretches > stretch).all(axis=0))
        width = min(self.whole.base.shape[1], int(beyond.argmax()) if beyond.any() else len(beyond))
        gone = rows == -inf
        tilts = np.empty(rows.shape[1])
        tilts[self.indices] = self.tilts[stretch][:, None]
        logs = self.whole.base[:, :width] + (np.where(gone, 0.0, rows) + tilts)[..., None] * np.arange(width)
        logs[gone, 1:] = -inf  # impossible cells hold no records
        peaks = logs.max(axis=-1)
        return np.exp(logs - peaks[..., None]), peaks

    def _log_likelihoods(self, rows: Floats) -> tuple[Floats, "_Groups"]:
        """Return log P(z | q), -inf where q is impossible or rounding destroyed it, and the groups behind it."""
        first, gone = self.whole.first, rows == -inf
        logs, stretched = np.full((len(rows), *self.lifts.shape), -inf), []
        for stretch, tilts in enumerate(self.tilts):
            weights, peaks = self._weights(rows, stretch)
            series = np.array([[_product(table[own]) for own in self.indices] for table in weights])
            steps = np.arange(series.shape[2])
            series[:, self.stretches[:, steps] != stretch] = 0.0
            stretched.append((weights, series))
            scales = peaks[:, self.indices].sum(axis=2)[..., None] - tilts[:, None] * steps
            with np.errstate(divide="ignore"):
                logs[..., steps] = np.maximum(logs[..., steps], np.log(series) + scales)
        logs += self.lifts
        starts = first[self.indices].sum(axis=1)
        centre = None if len(self._total.log_weights) == 1 else starts.sum() + _mean_sums(logs)
        known = KnownSum(logs, starts, self._total, centre=centre, near=_NEAR)
        values = self._constant + known.log_mass + np.where(gone, 0.0, rows) @ first
        possible = ~(gone & (first > 0)).any(axis=1)
        return np.where(possible, values, -inf), _Groups(stretched, known)

    @property
    def _constant(self) -> float:
        a = float(self.shares.sum())
        return float(self.whole.constant + gammaln(a) - gammaln(a + self.whole.total.low) - gammaln(self.shares).sum())

    @cached_property
    def _total(self) -> TotalDistribution:
        """Return what is known of the number of records: P(sizes of groups | n) has Gamma(a + n) in its denominator."""
        a, low = float(self.shares.sum()), self.whole.total.low
        lifts = gammaln(a + self.whole.total.totals) - gammaln(a + low)
        return TotalDistribution(low, self.whole.total.log_weights - lifts)

    def _both(self, rows: Floats) -> tuple[Floats, Floats]:
        values, groups = self._log_likelihoods(rows)
        expected, first = np.empty(rows.shape), self.whole.first
        ratios = groups.ratios(self.indices)
        for cell, own in enumerate(self.indices.T):
            centre = (groups.known.tilted.weights * ratios[:, :, cell]).sum(axis=-1)
            expected[:, own] = first[own] + centre + groups.known.expect(ratios[:, :, cell] - centre[..., None])
        return values, np.where((values > -inf)[:, None], expected, 0.0)


@dataclass(frozen=True, eq=False)
class _Groups:
    """For every stretch, the weights of cells and their products within groups; the sizes of the groups given n."""

    stretched: Sequence[tuple[Floats, Floats]]
    known: KnownSum

    def ratios(self, indices: Counts) -> Floats:
        """Return the mean step of every cell given the size of its group: (tables, groups, cells, sizes)."""
        tables, groups, width = self.known.tilted.weights.shape
        found = np.zeros((tables, groups, indices.shape[1], width))
        for weights, series in self.stretched:
            means = np.array([[_means(table[own]) for own in indices] for table in weights])
            inside = np.broadcast_to((series > 0)[:, :, None], means.shape)
            np.divide(means, series[:, :, None], out=found[..., : series.shape[2]], where=inside)
        return found


def _product(weights: Sequence[Floats] | Floats) -> Floats:
    """Return for every sum of steps the sum of all products of weights."""
    series = weights[0]
    for row in weights[1:]:
        series = np.convolve(series, row)
    return np.asarray(series)


def _means(weights: Floats) -> Floats:
    """Return the same times the step of each row in turn."""
    steps = np.arange(weights.shape[1])
    return np.array([_product([*weights[:i], weights[i] * steps, *weights[i + 1 :]]) for i in range(len(weights))])


def _mean_sums(logs: Floats) -> Floats:
    """Return the mean of the sum of independent steps with some log weights, in every table."""
    weights = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray((weights @ np.arange(logs.shape[-1]) / weights.sum(axis=-1)).sum(axis=-1))
