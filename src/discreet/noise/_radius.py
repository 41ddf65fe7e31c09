"""The distribution of a radius: how far a ball of lattice points reaches, for noise with a density in its norm.

P(u) ~ e^(-rate |u|) is drawn by its radius first and then uniformly among the lattice points within it.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb, ctx, fmpz_poly

from discreet._core.arrays import Counts
from discreet._core.exact import ball
from discreet.noise.randomness import FiniteDistribution, RandomBits, any_geometric


class RadiusDistribution:
    """P(r) ~ N(r) e^(-rate r) on r = 0, 1, 2, ..., where N is a polynomial that counts lattice points within r.

    If N has degree M, sum_r N(r) x^r = h(x) / (1 - x)^(M+1) with a polynomial h of degree <= M and coefficients >= 0,
    found from N(0), ..., N(M) by differences. So r = j + M + 1 geometrics, with P(j) ~ h_j e^(-rate j): never cut off.
    A point that is then uniform within r has P(u) ~ e^(-rate |u|), because sum_{r >= |u|} e^(-rate r) ~ e^(-rate |u|).
    """

    def __init__(self, rate: Fraction, within: Sequence[int]) -> None:
        self.rate, self.degree = rate, len(within) - 1
        self.starts = differences(within)
        if any(start < 0 for start in self.starts):
            raise ArithmeticError("the differences of a count of lattice points are never below zero")
        self._law = FiniteDistribution(self._weights)

    def _weights(self) -> list[arb]:
        q = (-ball(self.rate)).exp()
        return [arb(start) * q**j for j, start in enumerate(self.starts)]

    @property
    def weight(self) -> arb:
        """Return h(q), q = e^-rate, at the working precision."""
        return sum(self._weights(), arb(0))

    def sample(self, count: int, bits: RandomBits) -> Counts:
        """Draw radii."""
        starts = self._law.sample(count, bits)
        steps = any_geometric(self.rate, count * (self.degree + 1), bits).reshape(count, self.degree + 1)
        return np.asarray(starts + steps.sum(axis=1))

    @property
    def log_normaliser(self) -> float:
        """Return log sum_u e^(-rate |u|) = log h(q) - M log(1 - q), q = e^-rate."""
        with ctx.workprec(256):
            rest = (1 - (-ball(self.rate)).exp()).log()
            return float(self.weight.log() - self.degree * rest)

    def moments(self) -> tuple[float, float]:
        """Return the mean and the variance of the radius."""
        with ctx.workprec(256):
            weights, q = self._weights(), (-ball(self.rate)).exp()
            total = sum(weights, arb(0))
            mean = sum((w * j for j, w in enumerate(weights)), arb(0)) / total
            variance = sum((w * (j - mean) ** 2 for j, w in enumerate(weights)), arb(0)) / total
            more = self.degree + 1
            return float(mean + more * q / (1 - q)), float(variance + more * q / (1 - q) ** 2)


def differences(values: Sequence[int]) -> list[int]:
    """Return h from N(0), ..., N(M) for a polynomial N of degree <= M: sum_r N(r) x^r = h(x) / (1 - x)^(M+1)."""
    degree = len(values) - 1
    products = fmpz_poly(list(values)) * fmpz_poly([1, -1]) ** (degree + 1)
    found = [int(c) for c in products.coeffs()[: degree + 1]]
    return found + [0] * (degree + 1 - len(found))
