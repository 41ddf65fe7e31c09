"""Releases whose likelihood is a product over cells, as a likelihood of cell probabilities.

With P(z | k) = prod_i g_i(k_i) / Z, a public size n and counts k that are multinomial with probabilities p,

    log P(z | p) = log n! - log Z + log [x^n] prod_i sum_k g_i(k) (p_i x)^k / k!,

one coefficient of a product of series. In log p it is a log-partition function: its gradient is E[k | z, p], its second
derivative Cov[k | z, p]. Each cell keeps a window of counts that does not depend on p, so that value and gradient
belong to one smooth function (see `windows`); a tilt e^(lambda k) that cancels keeps all digits.
"""

from dataclasses import dataclass
from math import inf, log

import numpy as np
from scipy.special import gammaln

from discreet.arrays import Counts, Floats
from discreet.mathematics.tilting import Tilted, tilted_to
from discreet.reading.cells.coefficients import KnownSum
from discreet.reading.counts.count_sums import CellWeights
from discreet.reading.counts.latent_counts import LatentCounts

_NEAR = 0.05  # standard deviations by which the mean of the sum may miss the known size


@dataclass(frozen=True, eq=False)
class ProductLikelihood:
    """`base[i, j]` is log g_i(k) / k! at k = `first[i]` + j, -inf beyond the window; `constant` is log n! - log Z."""

    first: Counts
    base: Floats
    size: int
    constant: float
    method: str

    def __call__(self, log_probabilities: Floats) -> tuple[Floats, Floats]:
        """Return log P(z | p) and E[k | z, p] for rows of log p; -inf is a structural zero."""
        rows = log_probabilities.reshape(-1, len(self.first))
        found = [self._one(row) for row in rows]
        values = np.array([value for value, _ in found])
        expected = np.array([each for _, each in found]).reshape(log_probabilities.shape)
        return values.reshape(log_probabilities.shape[:-1]), expected

    def values(self, log_probabilities: Floats) -> Floats:
        """Return log P(z | p) alone, for rows of log p."""
        rows = log_probabilities.reshape(-1, len(self.first))
        return np.array([self._value(row)[0] for row in rows]).reshape(log_probabilities.shape[:-1])

    def _tilted(self, row: Floats) -> tuple[Tilted, KnownSum, float] | None:
        """Return the tilted laws of all cells, and what was added to log P besides; nothing where p is impossible."""
        steps, rest = np.arange(self.base.shape[1]), self.size - int(self.first.sum())
        base, slopes, gone = self.base, row, row == -inf
        if gone.any():
            if self.first[gone].any():
                return None
            base, slopes = self.base.copy(), np.where(gone, 0.0, row)
            base[gone, 1:] = -inf  # nobody is where nobody can be
        start = log(self.size)
        law = tilted_to(base + (slopes + start)[:, None] * steps, steps, rest, absolute=1e-9, relative=_NEAR)
        shift = float(slopes @ self.first) - (law.tilt + start) * rest
        return law, KnownSum(law.weights, rest, float(np.sqrt(law.variance))), shift

    def _value(self, row: Floats) -> tuple[float, Tilted, KnownSum] | tuple[float, None, None]:
        found = self._tilted(row)
        if found is None or not (mass := found[1].mass) > 0:
            return -inf, None, None
        law, known, shift = found
        return self.constant + log(mass) + float(law.log_sums.sum()) + shift, law, known

    def _one(self, row: Floats) -> tuple[float, Floats]:
        value, law, known = self._value(row)
        if law is None or known is None:
            return -inf, np.zeros(len(row))
        steps = np.arange(self.base.shape[1])
        means = law.weights @ steps  # sums of positive numbers: a tiny mean keeps its digits
        return value, self.first + means + known.expect(steps - means[:, None])

    def covariance_times(self, log_probabilities: Floats, vector: Floats) -> Floats:
        """Return Cov[k | z, p] v for one row of log p."""
        found = self._tilted(log_probabilities)
        if found is None:
            return np.zeros(len(vector))
        law, known, _ = found
        return known.covariance_times(np.arange(self.base.shape[1]) - law.means[:, None], vector)

    def draw_counts(self, log_probabilities: Floats, count: int, generator: np.random.Generator) -> Counts:
        """Draw true tables given the release and one row of log p, exactly."""
        return self.latent(log_probabilities).draw(count, generator)

    def latent(self, log_probabilities: Floats) -> LatentCounts:
        """Return the true counts given p as other readings hold them: the slow twin, made anew for each p."""
        width, slopes = self.base.shape[1], np.where(log_probabilities == -inf, 0.0, log_probabilities)
        gone = log_probabilities == -inf

        def log_kernel(places: Counts, counts: Counts) -> Floats:
            places, counts = np.broadcast_arrays(places, counts)
            steps = counts - self.first[places]
            inside = (steps >= 0) & (steps < width)
            found = self.base[places, np.clip(steps, 0, width - 1)] + slopes[places] * counts
            return np.where(inside & ~(gone[places] & (counts > 0)), found, -inf)

        ones = np.ones(len(self.first))
        last = self.first + np.isfinite(self.base).sum(axis=1) - 1
        return LatentCounts(CellWeights(ones, log_kernel), self.first, last, 0.05, self.size)


def log_factorials(first: Counts, width: int) -> Floats:
    """Return log k! for every count of every window."""
    return np.asarray(gammaln(first[:, None] + np.arange(width) + 1.0))
