"""Releases whose likelihood is a product over cells, as a likelihood of cell probabilities.

With P(z | k) = prod_i g_i(k_i) / Z, a public size n and counts k that are multinomial with probabilities p,

    log P(z | p) = log n! - log Z + log [x^n] prod_i sum_k g_i(k) (p_i x)^k / k!,

one coefficient of a product of series (a secret n: `_secret_number`). In log p it is a log-partition function: its
gradient is E[k | z, p], its second derivative Cov[k | z, p]. Each cell keeps a window of counts that does not depend on
p, so that value and gradient belong to one smooth function (see `windows`); a tilt e^(lambda k) that cancels keeps all
digits.

Windows of counts that do not depend on prior or parameters: they miss the true counts with a probability of 1e-15.

Let W hold the counts within t of every noisy number. P(z, k in W | p) is a smooth likelihood of its own, and
conditioning on an event of probability 1 - d moves any distribution by at most d in total variation. Averaged over
releases d is P(some |noise| > t), whatever p, the prior and the counts are. With t = 36 reaches it is about e^-36 for
each cell; `narrow_reaches` has 1e-6 for all together. Far from the data, the value covers only the windows, not all
counts: harmless for a posterior, wrong for a profile plotted that far out; `Likelihood` says so.

A draw of a posterior has no noise of its own. As a function of the counts its likelihood, once tilted to the known
size, falls off on both sides of a peak; its window ends where it is e^-80 of that.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Protocol

import numpy as np
from scipy.special import gammaln

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.inference import MOST_NUMBERS, CellWeights, KnownSum, LatentCounts, TotalDistribution

_NEAR = 0.05  # standard deviations by which the mean of the sum may differ from the known size
_BLOCK = 60_000  # numbers computed at once: more would leave the cache


@dataclass(frozen=True, eq=False)
class ProductLikelihood:
    """`base[i, j]` is log g_i(k) / k! at k = `first[i]` + j, -inf beyond the window.

    `total` is what is known of the number of records; `constant` is -log Z, and log n! of a public number.
    """

    first: Counts
    base: Floats
    total: TotalDistribution
    constant: float
    method: str

    @property
    def size(self) -> int:
        """Return the public number of records."""
        return self.total.low

    @property
    def most(self) -> int:
        """Return the largest number of records that matters."""
        return self.total.low + len(self.total.log_weights) - 1

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
        found = [self._log_likelihoods(block)[0] for block in self._blocks(log_probabilities)]
        return np.concatenate(found).reshape(log_probabilities.shape[:-1])

    def _blocks(self, log_probabilities: Floats) -> Iterator[Floats]:
        return in_blocks(log_probabilities.reshape(-1, len(self.first)), self.base.size)

    def known(self, rows: Floats) -> tuple[KnownSum, Floats]:
        """Return the counts given what is known of their sum for rows of log p, and what else is added to log P."""
        steps, rest, start = np.arange(self.base.shape[1]), self.total.low - int(self.first.sum()), log(self.size)
        gone = rows == -inf
        is_gone = gone.any()
        slopes = np.where(gone, 0.0, rows) if is_gone else rows
        logs = self.base + (slopes + start)[..., None] * steps
        if is_gone:
            logs[gone, 1:] = -inf  # impossible cells hold no records
        shift = np.asarray(self.constant + slopes @ self.first - start * rest)
        return KnownSum(logs, self.first, self.total, near=_NEAR), shift

    def _log_likelihoods(self, rows: Floats) -> tuple[Floats, KnownSum]:
        """Return log P(z | p), -inf where p is impossible or rounding destroyed it, and the counts behind it."""
        known, shift = self.known(rows)
        possible = (np.isfinite(rows) | (self.first == 0)).all(axis=1)
        return np.where(possible, known.log_mass + shift, -inf), known

    def _both(self, rows: Floats) -> tuple[Floats, Floats]:
        values, known = self._log_likelihoods(rows)
        return values, np.where((values > -inf)[:, None], known.mean, 0.0)

    def covariance_times(self, log_probabilities: Floats, vector: Floats) -> Floats:
        """Return Cov[k | z, p] v for one row of log p."""
        values, known = self._log_likelihoods(log_probabilities[None])
        if values[0] == -inf:
            return np.zeros(len(vector))
        found: Floats = known.covariance_times(vector)[0]
        return found

    def draw_counts(self, log_probabilities: Floats, count: int, generator: np.random.Generator) -> Counts:
        """Draw true tables given the release and one row of log p, exactly."""
        return self.latent(log_probabilities).draw(count, generator)

    def latent(self, log_probabilities: Floats) -> LatentCounts:
        """Return the true counts given p in the form of other solutions: slow, rebuilt for each p."""
        width, slopes = self.base.shape[1], np.where(log_probabilities == -inf, 0.0, log_probabilities)
        gone = log_probabilities == -inf

        def log_kernel(indices: Counts, counts: Counts) -> Floats:
            indices, counts = np.broadcast_arrays(indices, counts)
            steps = counts - self.first[indices]
            inside = (steps >= 0) & (steps < width)
            found = self.base[indices, np.clip(steps, 0, width - 1)] + slopes[indices] * counts
            return np.where(inside & ~(gone[indices] & (counts > 0)), found, -inf)

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


REACHES = 36.0
"""How many times as far as its noise falls by a factor of e a window goes on both sides of a noisy number."""
_LEFT_OUT = 1e-6
_FALL = 80.0  # nats below its peak at which a draw's window ends


class CellKernel(Protocol):
    """The likelihood of one output: a product over cells, and a constant."""

    log_constant: float
    low: Counts
    high: Counts
    reach: float

    def __call__(self, indices: Counts, counts: Counts) -> Floats:
        """Return the log factor of given cells at given counts."""


def narrow_reaches(cells: int) -> float:
    """Return how far windows must go that miss the true counts of all cells with a probability of at most 1e-6.

    For whoever draws from a posterior, and so has an error a thousand times as large, where work grows with squares of
    windows: cells e^-t <= 1e-6.
    """
    return min(REACHES, log(cells / _LEFT_OUT))


def product_of(
    noisy: Sequence[CellKernel], drawn: Sequence[CellKernel], size: int, method: str, reaches: float = REACHES
) -> ProductLikelihood:
    """Return the likelihood of several outputs about the same records, each a product over cells."""
    kernels = [*noisy, *drawn]
    first, last = _windows(noisy, drawn, size, reaches)
    constant = float(gammaln(size + 1.0)) + sum(kernel.log_constant for kernel in kernels)
    base = log_weights(kernels, first, last)
    return ProductLikelihood(first, base, TotalDistribution.known(size), constant, method)


def log_weights(kernels: Sequence[CellKernel], first: Counts, last: Counts) -> Floats:
    """Return log g_i(k) / k! in windows from the first to the last count of every cell, -inf beyond."""
    width = int((last - first).max()) + 1
    if width * len(first) > MOST_NUMBERS:
        raise DeclarationError(
            f"A likelihood of {len(first)} cells through windows of {width} counts holds {width * len(first):.0e} "
            f"numbers, and at most {MOST_NUMBERS:.0e} are allowed. Nothing was read. Use a larger epsilon or fewer "
            "cells."
        )
    indices, counts = np.arange(len(first))[:, None], first[:, None] + np.arange(width)
    inside = counts <= last[:, None]
    logs = sum(kernel(indices, np.minimum(counts, last[:, None])) for kernel in kernels)
    return np.where(inside, np.asarray(logs) - log_factorials(first, width), -np.inf)


def _windows(
    noisy: Sequence[CellKernel], drawn: Sequence[CellKernel], size: int, reaches: float
) -> tuple[Counts, Counts]:
    """Return the first and last count of every cell, widened if the known size would otherwise lie outside."""
    far = [_around(kernel, size) for kernel in drawn]
    times = 1.0
    while True:
        ends = [*far, *(_near(kernel, reaches * times, size) for kernel in noisy)]
        first, last = np.max([low for low, _ in ends], axis=0), np.min([high for _, high in ends], axis=0)
        if (first <= last).all() and int(first.sum()) <= size <= int(last.sum()):
            return first, last
        if times > 2.0**60:
            raise DeclarationError(
                "No counts that add up to the known size can explain these outputs. Nothing was read."
            )
        times, far = 2 * times, far if times < 8 else [(np.zeros_like(first), np.full_like(first, size))] * len(drawn)


def _near(kernel: CellKernel, reaches: float, size: int) -> tuple[Counts, Counts]:
    margin = int(min(np.ceil(reaches * kernel.reach), 2.0**62)) + 1
    low = np.maximum(kernel.low, -(2**62)) - min(margin, 2**61)
    return np.clip(low, 0, size), np.clip(kernel.high + min(margin, 2**61), 0, size)


def _around(kernel: CellKernel, size: int) -> tuple[Counts, Counts]:
    """Return the window of a draw, found by halving on both sides of its peak: its kernel is log-concave."""
    indices = np.arange(len(kernel.low))
    middle = np.clip(kernel.low, 0, size)
    inner = np.clip(middle, 0, max(0, size - 1))
    tilt = np.median(kernel(indices, inner) - kernel(indices, inner + 1))  # so that nothing changes near the middle

    def tilted(counts: Counts) -> Floats:
        return kernel(indices, counts) + tilt * counts

    peak = tilted(middle)
    ends = []
    for limit in (np.zeros_like(middle), np.full_like(middle, size)):
        inside, outside = middle.copy(), limit.copy()
        is_whole = tilted(limit) >= peak - _FALL
        while (np.abs(outside - inside) > 1).any():
            half = (inside + outside) // 2
            keeps = tilted(half) >= peak - _FALL
            inside, outside = np.where(keeps, half, inside), np.where(keeps, outside, half)
        ends.append(np.where(is_whole, limit, outside))
    return ends[0], ends[1]
