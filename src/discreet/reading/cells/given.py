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
    """`places[g]` are the cells of group g, in the table of `whole`; `shares` are the parameters a_g.

    `lifts[g, j]` is log Gamma(a_g + K) - tilt_g j for the j-th size K of the group's window.
    """

    whole: ProductLikelihood
    places: Counts
    shares: Floats
    tilts: Floats
    lifts: Floats

    @classmethod
    def of(cls, whole: ProductLikelihood, places: Counts, shares: Floats) -> "GivenLikelihood":
        """Return it with one fixed tilt for each group: the logarithm of about its size."""
        peaks = whole.first + np.argmax(whole.base + gammaln(whole.first[:, None] + np.arange(whole.base.shape[1]) + 1))
        tilts, totals = np.log(shares + peaks[places].sum(axis=1)), whole.first[places].sum(axis=1)
        steps = np.arange(places.shape[1] * (whole.base.shape[1] - 1) + 1)
        lifts = gammaln((shares + totals)[:, None] + steps) - tilts[:, None] * steps
        return cls(whole, places, shares, tilts, np.asarray(lifts))

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
        return float(4 * groups * cells**2 * self.whole.base.shape[1] ** 2)

    def __call__(self, log_probabilities: Floats) -> tuple[Floats, Floats]:
        """Return log P(z | q) and E[k | z, q] for rows of log q, in the order of the table's cells."""
        rows = log_probabilities.reshape(-1, len(self.whole.first))
        found = [self._one(row) for row in rows]
        values = np.array([value for value, _ in found])
        expected = np.array([each for _, each in found]).reshape(log_probabilities.shape)
        return values.reshape(log_probabilities.shape[:-1]), expected

    def values(self, log_probabilities: Floats) -> Floats:
        """Return log P(z | q) alone, for rows of log q."""
        rows = log_probabilities.reshape(-1, len(self.whole.first))
        return np.array([self._value(row)[0] for row in rows]).reshape(log_probabilities.shape[:-1])

    def _weights(self, row: Floats) -> tuple[Floats, Floats] | None:
        """Return the tilted weights of every cell, each row divided by its largest, and the logarithms of these."""
        first, base, gone = self.whole.first, self.whole.base, row == -inf
        if gone.any():
            if first[gone].any():
                return None
            base, row = base.copy(), np.where(gone, 0.0, row)
            base[gone, 1:] = -inf  # nobody is where nobody can be
        tilts = np.empty(len(row))
        tilts[self.places] = self.tilts[:, None]
        logs = base + (row + tilts)[:, None] * np.arange(base.shape[1])
        peaks = logs.max(axis=1)
        return np.exp(logs - peaks[:, None]), peaks

    def _value(self, row: Floats) -> tuple[float, "_Groups | None"]:
        """Return log P(z | q), and the groups behind it."""
        if (found := self._weights(row)) is None:
            return -inf, None
        weights, peaks = found
        totals = self.whole.first[self.places].sum(axis=1)
        series = np.array([_product(weights[own]) for own in self.places])
        steps = np.arange(series.shape[1])
        logs = np.full(series.shape, -inf)
        np.log(series, out=logs, where=series > 0)
        logs += self.lifts
        rest = self.size - int(totals.sum())
        law = tilted_to(logs, steps, rest, absolute=1e-9, relative=_NEAR)
        known = KnownSum(law.weights, rest, float(np.sqrt(law.variance)))
        if not known.mass > 0:
            return -inf, None
        a = float(self.shares.sum())
        constant = self.whole.constant + gammaln(a) - gammaln(a + self.size) - gammaln(self.shares).sum()
        value = float(constant) + log(known.mass) + float(law.log_sums.sum() + peaks.sum()) - law.tilt * rest
        value += float(np.where(row == -inf, 0.0, row) @ self.whole.first)
        return value, _Groups(weights, series, law.weights, known)

    def _one(self, row: Floats) -> tuple[float, Floats]:
        value, groups = self._value(row)
        if groups is None:
            return -inf, np.zeros(len(row))
        expected, first = np.empty(len(row)), self.whole.first
        means = np.array([_means(groups.weights[own]) for own in self.places])
        series = groups.series[:, None, :]
        ratios = np.divide(means, series, out=np.zeros_like(means), where=series > 0)
        for cell in range(self.places.shape[1]):
            centre = (groups.laws * ratios[:, cell]).sum(axis=1)
            told = groups.known.expect(ratios[:, cell] - centre[:, None])
            expected[self.places[:, cell]] = first[self.places[:, cell]] + centre + told
        return value, expected


@dataclass(frozen=True, eq=False)
class _Groups:
    """Weights of cells, their product inside each group, the laws of the groups' sizes, and these given the total."""

    weights: Floats
    series: Floats
    laws: Floats
    known: KnownSum


def _product(weights: Floats) -> Floats:
    """Return for every sum of steps the sum of all products of weights."""
    series = weights[0]
    for row in weights[1:]:
        series = np.convolve(series, row)
    return np.asarray(series)


def _means(weights: Floats) -> Floats:
    """Return the same times the step of each row: products from the left, the row itself, products from the right."""
    steps, rows = np.arange(weights.shape[1]), list(weights)
    right = [np.ones(1)]
    for row in rows[:0:-1]:
        right.append(np.convolve(right[-1], row))
    found, left = [], np.ones(1)
    for row, rest in zip(rows, reversed(right), strict=True):
        found.append(np.convolve(np.convolve(left, row * steps), rest))
        left = np.convolve(left, row)
    return np.array(found)
