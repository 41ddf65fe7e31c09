"""What a release says about outcomes given covariates, with the shares of the covariates integrated out.

Cells (g, c) are outcome c in group g; q_gc = P(c | g), and the shares of the groups have a Dirichlet(a) law. Then

    P(z | q) = n!/Z Gamma(A)/Gamma(A + n) sum_k prod_g [Gamma(a_g + K_g)/Gamma(a_g) prod_c q_gc^k_gc g(k_gc) / k_gc!],

K_g = sum_c k_gc: every group is a series in K_g, and groups are tied by sum_g K_g = n alone. The gradient in log q_gc
is E[k_gc | z, q]. A regression needs nothing but q, so that it has as many parameters as coefficients.

Inside a group series are multiplied directly, never by transforms: these are right relative to the peak only, and
Gamma(a + K) lifts the tail. Sums of positive numbers keep the digits of every entry.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from scipy.special import gammaln

from discreet.arrays import Counts, Floats
from discreet.mathematics.tilting import stack_tilted_to
from discreet.reading.cells.coefficients import KnownSum
from discreet.reading.cells.product import ProductLikelihood, in_blocks

MOST_STEPS = 1e9
"""So many products of two numbers may one value with its gradient take."""
_NEAR = 0.05


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
        return f"{self.whole.method}, with the shares of the covariates integrated out"

    @property
    def steps(self) -> float:
        """Return how many products of two numbers one value with its gradient takes."""
        groups, cells = self.places.shape
        return float(groups * (cells**3 - cells) / 2 * self.whole.base.shape[1] ** 2)

    def __call__(self, log_probabilities: Floats) -> tuple[Floats, Floats]:
        """Return log P(z | q) and E[k | z, q] for rows of log q, in the order of the table's cells."""
        values, expected = zip(*(self._both(block) for block in self._blocks(log_probabilities)), strict=True)
        shape = log_probabilities.shape
        return np.concatenate(values).reshape(shape[:-1]), np.concatenate(expected).reshape(shape)

    def values(self, log_probabilities: Floats) -> Floats:
        """Return log P(z | q) alone, for rows of log q."""
        found = [self._told(block)[0] for block in self._blocks(log_probabilities)]
        return np.concatenate(found).reshape(log_probabilities.shape[:-1])

    def _blocks(self, log_probabilities: Floats) -> Iterator[Floats]:
        return in_blocks(log_probabilities.reshape(-1, len(self.whole.first)), self.lifts.size)

    def _weights(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return the tilted weights of every cell, each divided by its row's largest, and the logarithms of these."""
        gone = rows == -inf
        tilts = np.empty(rows.shape[1])
        tilts[self.places] = self.tilts[:, None]
        logs = self.whole.base + (np.where(gone, 0.0, rows) + tilts)[..., None] * np.arange(self.whole.base.shape[1])
        logs[gone, 1:] = -inf  # nobody is where nobody can be
        peaks = logs.max(axis=-1)
        return np.exp(logs - peaks[..., None]), peaks

    def _told(self, rows: Floats) -> tuple[Floats, "_Groups"]:
        """Return log P(z | q), -inf where q is impossible or rounding ate it, and the groups behind it."""
        weights, peaks = self._weights(rows)
        first, gone = self.whole.first, rows == -inf
        series = np.array([[_product(table[own]) for own in self.places] for table in weights])
        logs = np.full(series.shape, -inf)
        np.log(series, out=logs, where=series > 0)
        logs += self.lifts
        rest = self.size - int(first.sum())
        law = stack_tilted_to(logs, rest, absolute=1e-9, relative=_NEAR)
        known = KnownSum(law.weights, rest, np.sqrt(law.variance))
        mass = known.mass
        possible = (mass > 0) & ~(gone & (first > 0)).any(axis=1)
        values = self._constant + np.log(np.where(possible, mass, 1.0)) - law.tilt * rest
        values += law.log_sums.sum(axis=1) + peaks.sum(axis=1) + np.where(gone, 0.0, rows) @ first
        return np.where(possible, values, -inf), _Groups(weights, series, law.weights, known)

    @property
    def _constant(self) -> float:
        a = float(self.shares.sum())
        return float(self.whole.constant + gammaln(a) - gammaln(a + self.size) - gammaln(self.shares).sum())

    def _both(self, rows: Floats) -> tuple[Floats, Floats]:
        values, groups = self._told(rows)
        expected, first = np.empty(rows.shape), self.whole.first
        means = np.array([[_means(table[own]) for own in self.places] for table in groups.weights])
        for cell, own in enumerate(self.places.T):
            ratios = np.divide(
                means[:, :, cell], groups.series, out=np.zeros(groups.series.shape), where=groups.series > 0
            )
            centre = (groups.laws * ratios).sum(axis=-1)
            expected[:, own] = first[own] + centre + groups.known.expect(ratios - centre[..., None])
        return values, np.where((values > -inf)[:, None], expected, 0.0)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Weights of cells, their product inside each group, the laws of the groups' sizes, and these given the total."""

    weights: Floats
    series: Floats
    laws: Floats
    known: KnownSum


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
