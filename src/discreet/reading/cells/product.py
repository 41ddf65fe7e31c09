"""Releases whose likelihood is a product over cells, as a likelihood of cell probabilities.

With P(z | k) = prod_i g_i(k_i) / Z, a public size n and counts k that are multinomial with probabilities p,

    log P(z | p) = log n! - log Z + log [x^n] prod_i sum_k g_i(k) (p_i x)^k / k!,

one coefficient of a product of series. In log p it is a log-partition function: its gradient is E[k | z, p], its second
derivative Cov[k | z, p]. Each cell keeps a window of counts that does not depend on p, so that value and gradient
belong to one smooth function (see `windows`); a tilt e^(lambda k) that cancels keeps all digits.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log

import numpy as np
from scipy.special import gammaln

from discreet.arrays import Counts, Floats
from discreet.reading.counts.latent_counts import CellWeights, LatentCounts
from discreet.reading.known_sum import KnownSum, TotalLaw

_NEAR = 0.05  # standard deviations by which the mean of the sum may differ from the known size
_BLOCK = 60_000  # numbers computed at once: more would leave the cache


@dataclass(frozen=True, eq=False)
class ProductLikelihood:
    """`base[i, j]` is log g_i(k) / k! at k = `first[i]` + j, -inf beyond the window; `constant` is log n! - log Z."""

    first: Counts
    base: Floats
    size: int
    constant: float
    method: str

    @property
    def product(self) -> "ProductLikelihood":
        """Return itself: it is a product over cells."""
        return self

    def __call__(self, log_probabilities: Floats) -> tuple[Floats, Floats]:
        """Return log P(z | p) and E[k | z, p] for rows of log p; -inf is a structural zero."""
        shape = log_probabilities.shape
        if len(shape) == 1:
            values, expected = self._both(log_probabilities[None])
            return values.reshape(()), expected[0]
        found = zip(*(self._both(block) for block in self._blocks(log_probabilities)), strict=True)
        values, expected = (np.concatenate(parts) for parts in found)
        return values.reshape(shape[:-1]), expected.reshape(shape)

    def values(self, log_probabilities: Floats) -> Floats:
        """Return log P(z | p) alone, for rows of log p."""
        found = [self._told(block)[0] for block in self._blocks(log_probabilities)]
        return np.concatenate(found).reshape(log_probabilities.shape[:-1])

    def _blocks(self, log_probabilities: Floats) -> Iterator[Floats]:
        return in_blocks(log_probabilities.reshape(-1, len(self.first)), self.base.size)

    def known(self, rows: Floats) -> tuple[KnownSum, Floats]:
        """Return the counts given the size for rows of log p, and what else is added to log P."""
        steps, rest, start = np.arange(self.base.shape[1]), self.size - int(self.first.sum()), log(self.size)
        gone = rows == -inf
        is_gone = gone.any()
        slopes = np.where(gone, 0.0, rows) if is_gone else rows
        logs = self.base + (slopes + start)[..., None] * steps
        if is_gone:
            logs[gone, 1:] = -inf  # impossible cells hold no records
        shift = np.asarray(self.constant + slopes @ self.first - start * rest)
        return KnownSum(logs, self.first, TotalLaw.known(self.size), near=_NEAR), shift

    def _told(self, rows: Floats) -> tuple[Floats, KnownSum]:
        """Return log P(z | p), -inf where p is impossible or rounding destroyed it, and the counts behind it."""
        known, shift = self.known(rows)
        possible = (np.isfinite(rows) | (self.first == 0)).all(axis=1)
        return np.where(possible, known.log_mass + shift, -inf), known

    def _both(self, rows: Floats) -> tuple[Floats, Floats]:
        values, known = self._told(rows)
        return values, np.where((values > -inf)[:, None], known.mean, 0.0)

    def covariance_times(self, log_probabilities: Floats, vector: Floats) -> Floats:
        """Return Cov[k | z, p] v for one row of log p."""
        values, known = self._told(log_probabilities[None])
        if values[0] == -inf:
            return np.zeros(len(vector))
        found: Floats = known.covariance_times(vector)[0]
        return found

    def draw_counts(self, log_probabilities: Floats, count: int, generator: np.random.Generator) -> Counts:
        """Draw true tables given the release and one row of log p, exactly."""
        return self.latent(log_probabilities).draw(count, generator)

    def latent(self, log_probabilities: Floats) -> LatentCounts:
        """Return the true counts given p in the form of other readings: the slow twin, rebuilt for each p."""
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


def in_blocks(rows: Floats, numbers: int) -> Iterator[Floats]:
    """Yield batches of rows, each row of which takes this many numbers; one empty batch if there are none."""
    some = max(1, _BLOCK // numbers)
    for start in range(0, max(1, len(rows)), some):
        yield rows[start : start + some]
