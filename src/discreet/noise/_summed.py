"""Distributions of summed noise, for inference from a sum of noisy numbers.

If independent numbers, or numbers conditioned on summing to zero, are added up in parts, the sums have a product
distribution again, conditioned in the same way: summing the product over all rows with the same sums leaves a product
of

    G_c(x) = c-fold convolution of the kernel.

For the Laplace kernel t^|x| this is the Fourier coefficient of ((1 - t^2) / (1 - 2 t cos + t^2))^c. Its ratios
a_x = G_c(x) / G_c(x - 1) obey (1 + t^2) x a_x = t ((x - 1 + c) + (x + 1 - c) a_x a_(x+1)), which is stable downwards
and keeps all digits far out. For the Gaussian kernel it is e^(-x^2 / (2 c v)) times a factor that depends on x mod c
alone, and that is the same for all x to more digits than floats have once v is 5 or more.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, exp, inf, log, log1p, sqrt

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats
from discreet.noise._noise import MARGIN, Noise
from discreet.noise._structure import Product, Structure, TotalPreserving, preserved
from discreet.noise._zero_sum_laplace import balanced_rows, by_block
from discreet.noise.randomness import RandomBits
from discreet.privacy import PrivacyLoss, log_sum_of_gaussians

_LONGEST = 4_000_000  # steps of the recurrence; sums of so little or so much noise have no distribution here
_WIDE = Fraction(5)  # from this variance on the factor of x mod c is 1 to c e^(-49)
_LEAST = 25.0  # a factor that lies below e^-25 of the largest cannot be found by Fourier sums of floats


@dataclass(frozen=True)
class Summed(Noise):
    """Sums of the numbers of `base`, block by block: `counts` holds how many numbers each sum of each block has."""

    base: Noise
    counts: tuple[tuple[int, ...], ...]

    @property
    def blocks(self) -> tuple[int, ...]:
        return tuple(len(piece) for piece in self.counts)

    @cached_property
    def structure(self) -> Structure:
        """Return a product again, conditioned as the numbers that were added up."""
        product = Product(self.blocks, self.log_terms)
        return TotalPreserving(product) if self._is_tied else product

    @property
    def _is_tied(self) -> bool:
        return all(preserved(self.base.structure))

    @cached_property
    def _sizes(self) -> list[int]:
        return [count for piece in self.counts for count in piece]

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw all numbers of the base and add them up."""
        return np.asarray(np.add.reduceat(self.base.sample(rows, bits), np.cumsum([0, *self._sizes[:-1]]), axis=1))

    @abstractmethod
    def tabled(self, block: int, count: int, largest: int) -> Floats:
        """Return log G_c(x) for x = 0, ..., `largest`, of sums of `count` numbers of a block."""

    def _places(self) -> list[tuple[int, int]]:
        return [(block, count) for block, piece in enumerate(self.counts) for count in piece]

    def log_terms(self, noise: ArrayLike, indices: ArrayLike | None = None) -> Floats:
        """Return log G_c(x) of single sums; between whole numbers it is interpolated."""
        values = np.abs(np.asarray(noise))
        wanted = np.arange(self.length) if indices is None else np.asarray(indices)
        values, wanted = np.broadcast_arrays(values, wanted)
        found = np.zeros(values.shape)
        for index, (block, count) in enumerate(self._places()):
            piece = wanted == index
            if piece.any():
                logs = self.tabled(block, count, int(np.ceil(values[piece].max())) + 1)
                low = np.floor(values[piece]).astype(np.int64)
                found[piece] = logs[low] + (logs[low + 1] - logs[low]) * (values[piece] - low)
        return found

    def log_kernel(self, noise: ArrayLike) -> Floats:
        values = np.asarray(noise)
        logs = self.log_terms(values).sum(axis=-1)
        return np.where(balanced_rows(values, self.blocks), logs, -inf) if self._is_tied else np.asarray(logs)

    @property
    def log_normaliser(self) -> float:
        """Return that of the base: both are sums of the same terms."""
        return self.base.log_normaliser

    @cached_property
    def variance(self) -> Floats:
        """Return c times the variance of a number; if sums are kept, that times (m - c) / (m - 1)."""
        first, found = 0, []
        for piece, size in zip(self.counts, self.base.blocks, strict=True):
            each = float(self.base.variance[first])
            found += [count * each * ((size - count) / (size - 1) if self._is_tied else 1) for count in piece]
            first += size
        return np.array(found)

    @property
    def decay_length(self) -> Floats:
        """Return sqrt(c) times the reach of a number."""
        first = np.cumsum([0, *self._sizes[:-1]])
        return np.asarray(self.base.decay_length[first] * np.sqrt(self._sizes))

    def slope(self, noise: ArrayLike) -> Floats:
        """Return the symmetric difference of the log kernel over two units."""
        values = np.asarray(noise, dtype=float)
        return np.asarray((self.log_terms(values + 1) - self.log_terms(values - 1)) / 2)

    def _of_base(self, change: ArrayLike) -> Counts:
        """Return a change of single numbers with these sums: each sum's in its first number."""
        found = np.zeros(self.base.length, dtype=np.int64)
        found[np.cumsum([0, *self._sizes[:-1]])] = np.asarray(change)
        return found

    def _epsilon(self, change: Counts) -> Fraction | float:
        """Return the norm of the numbers that were added up: sums tell no more than they do."""
        return self.base.privacy_loss(self._of_base(change)).epsilon

    def _rho(self, change: Counts) -> Fraction:
        """Return the zCDP parameter of the numbers that were added up."""
        return self.base.privacy_loss(self._of_base(change)).rho

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the loss of the numbers that were added up, which is above that of their sums."""
        return self.base.privacy_loss(self._of_base(change)).curve


@dataclass(frozen=True)
class SummedLaplace(Summed):
    """Sums of Laplace noise, with one rate for each block."""

    rates: tuple[Fraction, ...]

    def tabled(self, block: int, count: int, largest: int) -> Floats:
        """Return log G_c(x), from a table that is long enough."""
        found = _laplace_table(self.rates[block], count, 0)
        if largest < len(found):
            return found
        return _laplace_table(self.rates[block], count, 1 << largest.bit_length())  # few lengths, so that all are kept

    @property
    def decay_length(self) -> Floats:
        """Return sqrt(c) times the reach of a number, or a 45th of how far tables go if that is less."""
        pairs = [(rate, count) for rate, piece in zip(self.rates, self.counts, strict=True) for count in piece]
        return np.minimum(super().decay_length, [_width(rate, count) / MARGIN for rate, count in pairs])


def summed_laplace(base: Noise, rates: tuple[Fraction, ...], counts: Sequence[Sequence[int]]) -> SummedLaplace | None:
    """Return the distribution of sums of Laplace noise; None if their noise is too wide for a table."""
    if any(_width(rate, max(piece)) > _LONGEST for rate, piece in zip(rates, counts, strict=True)):
        return None
    return SummedLaplace(base, tuple(tuple(piece) for piece in counts), rates)


def _width(rate: Fraction, count: int) -> int:
    """Return how far a table goes: beyond lies less than e^-45 of a sum of `count` numbers."""
    return ceil((12 * sqrt(2 * count) + 60) / float(rate)) + 60


@lru_cache(maxsize=64)
def _laplace_table(rate: Fraction, count: int, largest: int) -> Floats:
    """Return log G_c(x) for x = 0, 1, ..., scaled so that the sum over all x is ((1 + t)/(1 - t))^c."""
    r, c = float(rate), count
    t, last = exp(-r), max(_width(rate, count), largest + 2)
    first = last + min(ceil(40 / r), 100_000)
    inner = sqrt((first * -np.expm1(-2 * r)) ** 2 + 4 * t * t * (c - 1) ** 2)
    ratio = 2 * t * (first - 1 + c) / ((1 + t * t) * first + inner)  # the smaller root with a_x = a_(x+1)
    ratios = np.empty(last + 1)
    for x in range(first - 1, 0, -1):
        ratio = t * (x - 1 + c) / ((1 + t * t) * x - t * (x + 1 - c) * ratio)
        if x <= last:
            ratios[x] = ratio
    ratios[0] = 1
    logs = np.cumsum(np.log(ratios))
    total = c * (log1p(t) - log(-np.expm1(-r)))
    return np.asarray(logs + (total - logsumexp(np.concatenate([logs, logs[1:]]))))


_FINE = Fraction(1, 64)  # the rate of whole numbers that stand for real ones


def laplace_density(*counts: int) -> tuple[Floats, ...]:
    """Return real numbers, and for each count about the density there of the sum of that many Laplace(1) numbers.

    The tables of whole numbers with a small rate serve for it, cut to the shortest.
    """
    logs = [_laplace_table(_FINE, count, 0) for count in counts]
    last = min(len(each) for each in logs)
    values = np.arange(1 - last, last) * float(_FINE)
    return values, *(np.exp(np.concatenate([each[last - 1 : 0 : -1], each[:last]]) - each[0]) for each in logs)


@dataclass(frozen=True)
class SummedGaussian(Summed):
    """Sums of Gaussian noise, with one variance for each block."""

    variances: tuple[Fraction, ...]

    def tabled(self, block: int, count: int, largest: int) -> Floats:
        """Return -x^2 / (2 c v) and the log factor of x mod c."""
        v = self.variances[block]
        factors = _gaussian_factors(v, count)
        steps = np.arange(largest + 2)
        return np.asarray(-(steps.astype(float) ** 2) / (2 * count * float(v)) + factors[steps % len(factors)])


def summed_gaussian(
    base: Noise, variances: tuple[Fraction, ...], counts: Sequence[Sequence[int]]
) -> SummedGaussian | None:
    """Return the distribution of sums of Gaussian noise; None if it is too narrow for floats."""
    pairs = [(variance, max(piece)) for variance, piece in zip(variances, counts, strict=True)]
    if any(variance < _WIDE and count / (8 * float(variance)) > _LEAST for variance, count in pairs):
        return None
    return SummedGaussian(base, tuple(tuple(piece) for piece in counts), variances)


@lru_cache(maxsize=64)
def _gaussian_factors(variance: Fraction, count: int) -> Floats:
    """Return log sum of e^(-|u - x/c|^2 / (2 v)) over rows u of sum x, for x = 0, ..., c - 1; one if all are equal."""
    whole = log_sum_of_gaussians(variance, count, False) - log_sum_of_gaussians(count * variance, 1, False)
    if variance >= _WIDE or count == 1:
        return np.array([whole])
    v = float(variance)
    half = ceil(14 * sqrt(count * v)) + count
    steps = np.arange(-half, half + 1)
    weights = np.exp(steps**2 / (-2 * v))
    sums = np.fft.irfft(np.fft.rfft(np.roll(weights / weights.sum(), -half)) ** count, len(steps))
    near = np.minimum(np.arange(count), count - np.arange(count))
    return np.asarray(np.log(sums[near]) + near**2 / (2 * count * v) + count * log(weights.sum()))


def sizes_of_sums(parts: Sequence[int], blocks: Sequence[int]) -> list[list[int]] | None:
    """Return for each block how many of its numbers each of its sums has; None if a sum joins numbers of two blocks.

    Sums are numbered in the order of the blocks.
    """
    found: list[list[int]] = []
    first = 0
    for labels in by_block(np.asarray(parts, dtype=np.int64), blocks):
        if labels.min() < first or not (sizes := np.bincount(labels - first)).all():
            return None
        found.append([int(size) for size in sizes])
        first += len(sizes)
    return found
