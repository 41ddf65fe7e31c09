"""Independent discrete Gaussian noise: P(u) ~ prod_i e^(-u_i^2 / (2 v_i)) on the whole numbers.

Moving the numbers by c is zCDP with rho = sum_i c_i^2 / (2 v_i) (Canonne, Kamath and Steinke, 2020). If N numbers of
one variance v move by one, the loss is (S + N/2) / v with S a sum of N such numbers, and for v >= 2

    P(S = s) <= e^t e^(-s^2 / (2 N v)) / sqrt(2 pi N v),   t = 4.001 (N - 1) e^(-pi^2 v)

(proved on the page of FamilyGaussians); for N = 2 the distribution of S is known exactly. All other changes go through
zCDP.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, exp, inf, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import rounded_up
from discreet.noise._noise import Noise
from discreet.noise._structure import Generator, Product, Structure
from discreet.noise._summed import sizes_of_sums
from discreet.noise._zero_sum_laplace import Blockwise, block_steps
from discreet.noise.randomness import LARGEST_PLAIN_VARIANCE, IntArray, RandomBits, any_gaussian
from discreet.privacy import LARGEST_VARIANCE as MOST_EXACT
from discreet.privacy import PrivacyLoss, concentrated_loss, gaussian_loss, log_sum_of_gaussians

LEAST_BOUNDED = Fraction(2)
"""The least variance at which the bound on sums of N numbers holds."""
_TAIL = 80.0  # half the squared standard deviations of S beyond which its distribution is cut: e^-80 = 2e-35
_VALUES = 2**14  # most different values of the loss; each block of them takes its largest
_ROUNDING = 1e-9  # relative; the float functions here are good to 1e-11


@dataclass(frozen=True)
class ProductGaussian(Blockwise):
    """Noise whose kernel is prod_i e^(-u_i^2 / (2 v_i)), with one variance for each block."""

    variances: tuple[Fraction, ...]
    sizes: tuple[int, ...]

    @property
    def parameters(self) -> tuple[Fraction, ...]:
        return self.variances

    @cached_property
    def number_variances(self) -> Floats:
        """Return the parameter v of each number."""
        return np.repeat([float(variance) for variance in self.variances], self.sizes)

    @property
    def decay_length(self) -> Floats:
        """Return a quarter of the standard deviation: 45 of these lie beyond e^-60."""
        return np.sqrt(self.number_variances) / 4

    @property
    def information(self) -> Floats:
        """Return 1 / v."""
        return 1 / self.number_variances

    @cached_property
    def structure(self) -> Structure:
        return self._product

    @cached_property
    def _product(self) -> Product:
        """Return the product, with rho = sum_i c_i^2 / (2 v_i)."""
        weights = tuple(1 / (2 * variance) for variance in self.variances)
        made = Generator(self.sizes, self.length, self.from_normals)
        return Product(self.sizes, self.log_terms, None, weights, made)

    @abstractmethod
    def from_normals(self, normals: ArrayLike) -> Floats:
        """Return rows of real noise, a smooth map of as many standard normal numbers."""

    def log_terms(self, noise: ArrayLike, indices: ArrayLike | None = None) -> Floats:
        """Return -u^2 / (2 v)."""
        variances = self.number_variances if indices is None else self.number_variances[np.asarray(indices)]
        return np.asarray(np.square(np.asarray(noise, dtype=float)) * (-0.5 / variances))

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return -sum_i u_i^2 / (2 v_i)."""
        return np.asarray(np.square(np.asarray(noise, dtype=float)) @ (-0.5 / self.number_variances))

    def slope(self, noise: ArrayLike) -> Floats:
        """Return -u / v."""
        return np.asarray(np.asarray(noise) / -self.number_variances)

    def _epsilon(self, change: Counts) -> float:
        """Return infinity if anything moves: far out, every loss occurs."""
        return inf if np.any(change) else 0.0

    def _rho(self, change: Counts) -> Fraction:
        """Return sum_i c_i^2 / (2 v_i), rounded up."""
        found = Fraction(0)
        for variance, steps in zip(self.variances, block_steps(np.asarray(change), self.sizes), strict=True):
            found += sum(step**2 * times for step, times in steps.items()) / (2 * variance)
        return rounded_up(found, 9)

    def moved(self, change: ArrayLike) -> tuple[Fraction, int] | None:
        """Return the variance and how many numbers move, if all of these move by one and have one variance."""
        steps = zip(self.variances, block_steps(np.asarray(change), self.sizes), strict=True)
        moving = [(variance, piece) for variance, piece in steps if piece]
        if len({variance for variance, _ in moving}) != 1 or any(set(piece) != {1} for _, piece in moving):
            return None
        return moving[0][0], sum(piece[1] for _, piece in moving)


@dataclass(frozen=True)
class Gaussian(ProductGaussian):
    """Independent discrete Gaussian noise, one variance for each block of numbers.

    >>> Gaussian((Fraction(4),), (3,)).privacy_loss([1, 0, -1]).rho
    Fraction(1, 4)
    """

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw rows of independent noise: numbers of one variance together, those of huge variances one by one."""
        drawn = np.zeros((rows, self.length), dtype=np.int64)
        every = np.repeat(np.arange(len(self.variances)), self.sizes)
        for variance in sorted(set(self.variances)):
            indices = np.flatnonzero(np.array([each == variance for each in self.variances])[every])
            if variance > LARGEST_PLAIN_VARIANCE:
                drawn[:, indices] = np.column_stack([any_gaussian(variance, rows, bits) for _ in indices])
            else:
                drawn[:, indices] = any_gaussian(variance, rows * len(indices), bits).reshape(rows, len(indices))
        return drawn

    @cached_property
    def log_normaliser(self) -> float:
        """Return sum_i log sum_u e^(-u^2 / (2 v_i))."""
        pairs = zip(self.variances, self.sizes, strict=True)
        return sum(log_sum_of_gaussians(variance, size, False) for variance, size in pairs)

    @cached_property
    def variance(self) -> Floats:
        """Return the variance of each number, which is v up to e^(-2 pi^2 v)."""
        return np.repeat([_variance(float(variance)) for variance in self.variances], self.sizes)

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the exact loss if two numbers move by one, a tight bound for more, and otherwise that of rho."""
        if not np.any(change):
            return PrivacyLoss((Fraction(0),), (1.0,))
        alike = self.moved(change)
        if alike is not None and alike[1] == 2 and alike[0] <= MOST_EXACT:
            return gaussian_loss(alike[0], 2, False)
        if alike is not None and alike[0] >= LEAST_BOUNDED:
            variance, moves = alike
            tops, chances, tail = sum_distribution(variance, moves)
            losses = tuple((int(top) + Fraction(moves, 2)) / variance for top in tops)
            return PrivacyLoss(losses, tuple(chances.tolist()), tail)
        return concentrated_loss(self._rho(change))

    def simulate(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows by seeded floats, for readers."""
        return self.from_normals(generator.standard_normal((rows, self.length)))

    def from_normals(self, normals: ArrayLike) -> Floats:
        """Return x sqrt(v)."""
        return np.asarray(normals, dtype=float) * np.sqrt(self.number_variances)

    def marginal(self, groups: Sequence[int]) -> Noise | None:
        from discreet.noise._summed import summed_gaussian

        sizes = sizes_of_sums(groups, self.sizes)
        return None if sizes is None else summed_gaussian(self, self.variances, sizes)


def _variance(v: float) -> float:
    if v > 10:
        return v
    squares = np.arange(-60, 61) ** 2
    weights = np.exp(squares / (-2 * v))
    return float(weights @ squares / weights.sum())


@lru_cache(maxsize=64)
def sum_distribution(variance: Fraction, moves: int) -> tuple[IntArray, NDArray[np.float64], float]:
    """Return the largest S of each block, an upper bound on the block's probability, and one on all beyond the last.

    With w = N v: one value has at most e^(t - s^2/(2 w)) / sqrt(2 pi w), a block of several at most e^(t + 1/(8 w))
    times the normal probability of its values +- 1/2. S is sub-Gaussian of variance w, so beyond A lies <= e^(-A^2/2w).
    """
    spread = moves * float(variance)
    farthest = ceil(sqrt(2 * _TAIL * spread)) + 1
    width = -(-(2 * farthest + 1) // _VALUES)
    first = np.arange(-farthest, farthest + 1, width, dtype=np.int64)
    slack = 4.001 * (moves - 1) * exp(-pi * pi * float(variance)) + _ROUNDING
    if width == 1:
        chances = np.exp(slack - first.astype(float) ** 2 / (2 * spread)) / sqrt(2 * pi * spread)
    else:
        low, high = (first - 0.5) / sqrt(spread), (first + width - 0.5) / sqrt(spread)
        mass = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
        chances = mass * exp(slack + 1 / (8 * spread))
    tail = 2 * exp(-_TAIL)
    chances[0] += tail
    return first + width - 1, chances, tail


def delta_of_moves(variance: Fraction, moves: int, epsilon: Fraction) -> float:
    """Return delta(epsilon) where N numbers move by one, the sum of P (1 - e^(epsilon - loss)), rounded up."""
    tops, chances, tail = sum_distribution(variance, moves)
    excess = (tops + float(Fraction(moves, 2) - epsilon * variance)) / float(variance)
    above = excess > 0
    return float(chances[above] @ -np.expm1(-excess[above]) * (1 + _ROUNDING) + tail)
