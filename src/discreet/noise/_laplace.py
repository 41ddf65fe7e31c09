"""Independent discrete Laplace noise: P(u) = prod_i tanh(r_i/2) e^(-r_i |u_i|).

A number that moves by c has the losses r (c - 2 j), j = 0, ..., c: all of r c where u <= 0, all of -r c where u >= c.
For c = 1 that is randomised response: +r with probability 1/(1 + e^-r), else -r.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import log, tanh

import numpy as np
from flint import ctx
from numpy.typing import ArrayLike
from scipy.special import log_ndtr

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import ball
from discreet.noise._structure import Generator, Product, Structure
from discreet.noise._zero_sum_laplace import ProductLaplace
from discreet.noise.randomness import RandomBits, any_laplace
from discreet.privacy import Atoms, PrivacyLoss, added

_STEPS = 4096  # different values of a single loss; a larger move takes the largest of several


@dataclass(frozen=True)
class Laplace(ProductLaplace):
    """Independent discrete Laplace noise, one rate for each block of numbers.

    >>> noise = Laplace((Fraction(1, 2),), (3,))
    >>> noise.privacy_loss([1, 0, -1]).epsilon
    Fraction(1, 1)
    """

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw rows of independent noise, numbers of one rate together."""
        drawn = np.zeros((rows, self.length), dtype=np.int64)
        every = np.repeat(np.arange(len(self.rates)), self.sizes)
        for rate in sorted(set(self.rates)):
            indices = np.flatnonzero(np.array([each == rate for each in self.rates])[every])
            drawn[:, indices] = any_laplace(rate, rows * len(indices), bits).reshape(rows, len(indices))
        return drawn

    @cached_property
    def log_normaliser(self) -> float:
        """Return -sum_i log tanh(r_i/2)."""
        pairs = zip(self.rates, self.sizes, strict=True)
        return -sum(size * log(tanh(float(rate) / 2)) for rate, size in pairs)

    @cached_property
    def variance(self) -> Floats:
        """Return 2 p / (1 - p)^2, p = e^-r."""
        return np.asarray(2 * np.exp(-self.number_rates) / np.expm1(-self.number_rates) ** 2)

    def _rho(self, change: Counts) -> Fraction:
        """Return sum_i (r_i c_i)^2 / 2: each number is pure epsilon-DP (Bun and Steinke, 2016)."""
        moves = self.moves(change).items()
        return sum((times * (rate * step) ** 2 for (rate, step), times in moves), Fraction(0)) / 2

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the exact loss, the sum over all numbers that move; moves above 4096 are bounded from above."""
        return _loss(frozenset(self.moves(change).items()))

    def simulate(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows with density ~ e^(-sum_i r_i |u_i|)."""
        return generator.laplace(size=(rows, self.length)) / self.number_rates

    @cached_property
    def structure(self) -> Structure:
        """Return a product, with rho = sum_i (r_i c_i)^2 / 2."""
        weights = tuple(rate**2 / 2 for rate in self.rates)
        made = Generator(self.sizes, self.length, self.from_normals)
        return Product(self.sizes, self.log_terms, self.rates, weights, made)

    def from_normals(self, normals: ArrayLike) -> Floats:
        """Return the Laplace number with the same rank as the normal one."""
        x = np.asarray(normals, dtype=float)
        return np.asarray(np.sign(x) * -(log_ndtr(-np.abs(x)) + log(2)) / self.number_rates)


@lru_cache(maxsize=64)
def _loss(moves: frozenset[tuple[tuple[Fraction, int], int]]) -> PrivacyLoss:
    ordered = sorted(moves)
    with ctx.workprec(192):
        return added([(shifted(rate, step), times) for (rate, step), times in ordered])


def shifted(rate: Fraction, step: int) -> Atoms:
    """Return the loss of one number that moves by `step`: P(u <= 0) = 1/(1 + q), P(u = j) = (1 - q)/(1 + q) q^j."""
    width = -(-step // _STEPS)
    q = (-ball(rate)).exp()
    found = [(rate * step, 1 / (1 + q))]
    for first in range(1, step, width):
        after = min(first + width, step)
        found.append((rate * (step - 2 * first), (q**first - q**after) / (1 + q)))
    return [*found, (-rate * step, q**step / (1 + q))]
