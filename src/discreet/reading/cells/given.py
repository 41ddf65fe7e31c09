"""What a release says about outcomes given covariates, with the shares of the covariates integrated out.

Cells (g, c) are outcome c in group g; q_gc = P(c | g), and the shares of the groups have a Dirichlet(a) law. Then

    P(z | q) = n!/Z Gamma(A)/Gamma(A + n) sum_k prod_g [Gamma(a_g + K_g)/Gamma(a_g) prod_c q_gc^k_gc g(k_gc) / k_gc!],

K_g = sum_c k_gc: every group is a series in K_g, and groups are tied by sum_g K_g = n alone. The gradient in log q_gc
is E[k_gc | z, q]. A regression needs nothing but q, so that it has as many parameters as coefficients.

Inside a group series are multiplied directly, never by transforms: these are right relative to the peak only, and
Gamma(a + K) lifts the tail. Sums of positive numbers keep the digits of every entry.
"""

from dataclasses import dataclass
from math import inf, log

import numpy as np
from scipy.special import gammaln

from discreet.arrays import Counts, Floats
from discreet.mathematics.tilting import tilted_to
from discreet.reading.cells.coefficients import KnownSum
from discreet.reading.cells.product import ProductLikelihood

MOST_STEPS = 1e8
"""So many products of two numbers may one value take."""
_NEAR = 0.05
_TRIM = 60.0  # factors e below the largest weight of a group at which its window ends


@dataclass(frozen=True, eq=False)
class GivenLikelihood:
    """`places[g]` are the cells of group g, in the table of `whole`; `shares` are the parameters a_g."""

    whole: ProductLikelihood
    places: Counts
    shares: Floats
    tilts: Floats

    @classmethod
    def of(cls, whole: ProductLikelihood, places: Counts, shares: Floats) -> "GivenLikelihood":
        """Return it with one fixed tilt for each group: the logarithm of about its size."""
        peaks = whole.first + np.argmax(whole.base + gammaln(whole.first[:, None] + np.arange(whole.base.shape[1]) + 1))
        return cls(whole, places, shares, np.log(shares + peaks[places].sum(axis=1)))

    @property
    def size(self) -> int:
        """Return the number of records."""
        return self.whole.size

    @property
    def method(self) -> str:
        """Say how it is worked out."""
        return f"{self.whole.method}, the shares of the covariates integrated out"

    @property
    def steps(self) -> float:
        """Return how many products of two numbers one value takes."""
        groups, cells = self.places.shape
        return float(groups * cells * cells * self.whole.base.shape[1] ** 2)

    def __call__(self, log_probabilities: Floats) -> tuple[Floats, Floats]:
        """Return log P(z | q) and E[k | z, q] for rows of log q, in the order of the table's cells."""
        rows = log_probabilities.reshape(-1, len(self.whole.first))
        found = [self._one(row) for row in rows]
        values = np.array([value for value, _ in found])
        expected = np.array([each for _, each in found]).reshape(log_probabilities.shape)
        return values.reshape(log_probabilities.shape[:-1]), expected

    def _one(self, row: Floats) -> tuple[float, Floats]:
        first, base, gone = self.whole.first, self.whole.base, row == -inf
        if gone.any():
            if first[gone].any():
                return -inf, np.zeros(len(row))
            base, row = base.copy(), np.where(gone, 0.0, row)
            base[gone, 1:] = -inf
        groups, cells = self.places.shape
        steps = np.arange(base.shape[1])
        tilts = np.empty(len(row))
        tilts[self.places] = self.tilts[:, None]
        logs = base + (row + tilts)[:, None] * steps
        peaks = logs.max(axis=1)
        weights = np.exp(logs - peaks[:, None])
        totals = first[self.places].sum(axis=1)
        length = cells * (base.shape[1] - 1) + 1
        ones, means = np.empty((groups, length)), np.empty((groups, cells, length))
        for group, own in enumerate(self.places):
            ones[group], means[group] = _summed(weights[own], steps)
        log_group = np.full((groups, length), -inf)
        np.log(ones, out=log_group, where=ones > 0)
        sums = totals[:, None] + np.arange(length)
        log_group += gammaln(self.shares[:, None] + sums) - self.tilts[:, None] * np.arange(length)
        rest = self.size - int(totals.sum())
        law = tilted_to(log_group, np.arange(length), rest, absolute=1e-9, relative=_NEAR)
        known = KnownSum(law.weights, rest, float(np.sqrt(law.variance)))
        if not known.mass > 0:
            return -inf, np.zeros(len(row))
        a, n = float(self.shares.sum()), self.size
        constant = self.whole.constant + gammaln(a) - gammaln(a + n) - gammaln(self.shares).sum()
        value = float(constant) + log(known.mass) + float(law.log_sums.sum() + peaks.sum()) - law.tilt * rest
        value += float(row @ first)
        expected = np.empty(len(row))
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = np.where(ones[:, None, :] > 0, means / ones[:, None, :], 0.0)
        for cell in range(cells):
            centre = (law.weights * ratios[:, cell]).sum(axis=1)
            told = known.expect(ratios[:, cell] - centre[:, None])
            expected[self.places[:, cell]] = first[self.places[:, cell]] + centre + told
        return value, expected


def _summed(weights: Floats, steps: Counts) -> tuple[Floats, Floats]:
    """Return sum over all steps with a given sum of the product of weights, and the same times the step of each row."""
    series, means = weights[0], [weights[0] * steps]
    for row in weights[1:]:
        means = [np.convolve(each, row) for each in means]
        means.append(np.convolve(series, row * steps))
        series = np.convolve(series, row)
    return series, np.array(means)
