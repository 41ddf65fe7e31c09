"""Discrete Gaussian noise that sums to zero in every block: P(u) ~ e^(-|u|^2 / (2 v)) on sum zero.

Keeping the public total costs no privacy and saves the share 1/m of the variance. The exact loss of a unit that moves
between two cells is that of `certificates.gaussian_loss`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts, Floats
from discreet.certificates import PrivacyLoss
from discreet.certificates.gaussian_loss import gaussian_loss, log_sum_of_gaussians
from discreet.noise.concentrated import concentrated_loss
from discreet.noise.gaussian import ProductGaussian
from discreet.noise.halving import LEAST_CELLS, LEAST_VARIANCE, halved_noise
from discreet.noise.laplace_kernel import ZeroSum, balanced, balanced_rows, by_block
from discreet.noise.noise import Noise
from discreet.noise.structure import Structure, TotalPreserving
from discreet.noise.summed import sizes_of_sums
from discreet.randomness import RandomBits, bernoulli_exponential, discrete_gaussian

_WIDE = 10.0  # from this parameter on, a sum over whole numbers is an integral to more digits than floats have


@dataclass(frozen=True)
class ZeroSumGaussian(ZeroSum, ProductGaussian):
    """Gaussian noise of one variance parameter in each block, conditioned on every block summing to zero."""

    @cached_property
    def structure(self) -> Structure:
        return TotalPreserving(self._product, self._product.generator)

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return -sum_i u_i^2 / (2 v_i), or -inf where a block does not sum to zero."""
        values = np.asarray(noise)
        return np.where(balanced_rows(values, self.sizes), super().log_kernel(values), -np.inf)

    @staticmethod
    def block_noise(parameter: Fraction, cells: int, count: int, bits: RandomBits) -> Counts:
        """Draw rows of noise of one block with this variance: by halving, or a few cells of which the last balances."""
        if cells >= LEAST_CELLS and parameter >= LEAST_VARIANCE:
            return halved_noise(parameter, cells, count, bits)
        rate = 1 / (2 * parameter)
        return balanced(
            count,
            cells,
            lambda wanted: discrete_gaussian(parameter, wanted, bits),
            lambda last: bernoulli_exponential(rate, last * last, bits),
        )

    @cached_property
    def log_normaliser(self) -> float:
        """Return the sum over blocks of log sum_u e^(-|u|^2 / (2 v)) over all noise that sums to zero."""
        pairs = zip(self.variances, self.sizes, strict=True)
        return sum(log_sum_of_gaussians(variance, cells, True) for variance, cells in pairs)

    @cached_property
    def variance(self) -> Floats:
        """Return the variance of each cell, v (1 - 1/m) up to e^(-2 pi^2 v)."""
        pairs = zip(self.variances, self.sizes, strict=True)
        return np.repeat([_cell_variance(float(variance), cells) for variance, cells in pairs], self.sizes)

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the exact loss if one unit moves in one block, and otherwise that of the zCDP parameter."""
        moved = [np.abs(own).sum() for own in by_block(change, self.sizes)]
        if not any(moved):
            return PrivacyLoss((Fraction(0),), (1.0,))
        place = int(np.argmax(moved))
        if sum(moved) == 2:
            return gaussian_loss(self.variances[place], self.sizes[place], True)
        return concentrated_loss(self._rho(change))

    def from_normals(self, normals: ArrayLike) -> Floats:
        """Return x sqrt(v) minus the mean of its block."""
        free = np.asarray(normals, dtype=float) * np.sqrt(self.number_variances)
        return np.concatenate([own - own.mean(axis=-1, keepdims=True) for own in by_block(free, self.sizes)], axis=-1)

    def marginal(self, groups: Sequence[int]) -> Noise | None:
        """Return the law of sums inside blocks: it is the product of the sums' laws, conditioned in the same way."""
        from discreet.noise.summed import summed_gaussian

        sizes = sizes_of_sums(groups, self.sizes)
        return None if sizes is None else summed_gaussian(self, self.variances, sizes)


def _cell_variance(v: float, cells: int) -> float:
    """Return sum_u u^2 g(u) g^(m-1)(-u) over the same without u^2, g^(m-1) being the law of m - 1 cells' sum."""
    if v > _WIDE:
        return v * (1 - 1 / cells)
    half = int(np.ceil(12 * np.sqrt(v * cells))) + 12
    steps = np.arange(-half, half + 1)
    kernel = np.exp(steps**2 / (-2 * v))
    rest = np.fft.irfft(np.fft.rfft(np.roll(kernel, -half) / kernel.sum()) ** (cells - 1), len(steps))
    weights = kernel * np.maximum(0, np.roll(rest, half))
    return float(weights @ steps**2 / weights.sum())
