"""GeometricHistogram: noise in the shape of one person's influence on a histogram.

Replacing one record moves one unit from one cell to another, so the influence of a person is the hull of {e_i - e_j},
whose norm on sum-zero vectors is d(u) = ||u||_1 / 2. The output z has the public total, and

    P(z | k) = e^(-epsilon d(z - k)) / Z,   Z = sum_i C(m-1, i)^2 q^i / (1 - q)^(m-1),   q = e^-epsilon.

Neighbours have d(k - k') = 1, so by the triangle inequality no output is more than e^epsilon times likelier under one
than under the other: pure epsilon-differential privacy, and tight. With two levels it is the two-sided geometric
mechanism.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from discreet.certificates import PrivacyLoss
from discreet.exact import ball
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.noisy_counts import Counts, LaplaceKernel, balanced
from discreet.randomness import (
    FiniteLaw,
    RandomBits,
    bernoulli_exponential,
    composition,
    discrete_laplace,
    geometric,
    subset,
)

_FEW_LEVELS = 50  # up to here balancing is accepted often enough


@dataclass(frozen=True, init=False, repr=False)
class GeometricHistogram(LaplaceKernel, kind="GeometricHistogram"):
    """A histogram with little noise: pure epsilon-DP under replacement of one record, total kept.

    >>> from discreet.models import Categories
    >>> smoking = Categories("smoking", levels=("never", "former", "current"), outside="never")
    >>> GeometricHistogram(smoking, size=1200, epsilon="0.5").guarantee.epsilon
    Fraction(1, 2)
    """

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, by the triangle inequality."""
        return Guarantee(
            self.epsilon, reason="noise of norm ||u||_1/2 on a histogram of known size (triangle inequality)"
        )

    @property
    def keeps_total(self) -> bool:
        """Tell that every output sums to the public size."""
        return True

    @property
    def log_normaliser(self) -> float:
        """Return log Z."""
        return float(_normaliser(self.epsilon, len(self.model.cells)).log())

    def privacy_loss(self) -> PrivacyLoss:
        """Return the exact loss: +epsilon, 0 or -epsilon.

        Moving a unit from cell j to cell i changes d by ((+-1) + (+-1))/2. The loss is +epsilon where u_i <= 0 <= u_j,
        and that has probability Z_(m-1) / ((1 - q) Z_m), as both sides are coefficients of powers of one kernel.
        """
        cells = len(self.model.cells)
        with ctx.workprec(128):
            q = (-ball(self.epsilon)).exp()
            up = _normaliser(self.epsilon, cells - 1) / (1 - q) / _normaliser(self.epsilon, cells)
            down = up * q
            probabilities = tuple(max(0.0, float(p.upper())) for p in (up, 1 - up - down, down))
        return PrivacyLoss((self.epsilon, Fraction(0), -self.epsilon), probabilities)

    def noise(self, rows: int, bits: RandomBits) -> Counts:
        """Draw rows of noise that sum to zero, by the sampler that suits the number of cells."""
        cells = len(self.model.cells)
        if cells <= _FEW_LEVELS:
            return balanced_noise(self.epsilon, cells, rows, bits)
        return np.stack([radial_noise(self.epsilon, cells, bits) for _ in range(rows)])


def balanced_noise(epsilon: Fraction, cells: int, rows: int, bits: RandomBits) -> Counts:
    """Draw m - 1 discrete Laplace numbers of rate epsilon/2, balance the sum with the last, keep by its own likelihood.

    The accepted vectors have P(u) ~ e^(-epsilon ||u||_1 / 2) on sum zero; at least C(2m-2, m-1)/4^(m-1) are accepted.
    """
    rate = epsilon / 2
    return balanced(
        rows,
        cells,
        lambda count: discrete_laplace(rate, count, bits),
        lambda last: bernoulli_exponential(rate, np.abs(last), bits),
    )


def radial_noise(epsilon: Fraction, cells: int, bits: RandomBits) -> Counts:
    """Draw the distance first, then a uniform lattice point at that distance; no draw is ever rejected as a whole.

    sum_u q^d(u) = sum_j C(m-1, j)^2 q^j / (1 - q)^(m-1): the distance is j, with P(j) ~ C(m-1, j)^2 q^j, plus m - 1
    geometrics. At distance k, s cells are positive with weight C(m, s) C(k-1, s-1) C(k+m-s-1, m-s-1).
    """
    start = int(_start_of_distance(epsilon, cells).sample(1, bits)[0])
    distance = start + int(geometric(epsilon, cells - 1, bits).sum())
    drawn = np.zeros(cells, dtype=np.int64)
    if distance == 0:
        return drawn
    positive = 1 + int(FiniteLaw(lambda: _weights_of_positive(distance, cells)).sample(1, bits)[0])
    rises = np.zeros(cells, dtype=np.bool_)
    rises[subset(positive, cells, bits)] = True
    drawn[rises] = 1 + composition(distance - positive, positive, bits)
    drawn[~rises] = -composition(distance, cells - positive, bits)
    return drawn


@lru_cache(maxsize=16)
def _start_of_distance(epsilon: Fraction, cells: int) -> FiniteLaw:
    return FiniteLaw(lambda: _squared_binomials(epsilon, cells))


def _squared_binomials(epsilon: Fraction, cells: int) -> list[arb]:
    """Return C(m-1, j)^2 q^j for j = 0, ..., m - 1, each from the one before."""
    q, free = (-ball(epsilon)).exp(), cells - 1
    weights = [arb(1)]
    for j in range(free):
        weights.append(weights[-1] * q * (free - j) ** 2 / (j + 1) ** 2)
    return weights


def _weights_of_positive(distance: int, cells: int) -> list[arb]:
    """Return weights ~ C(m, s) C(k-1, s-1) C(k+m-s-1, m-s-1), s = 1, ..., min(k, m - 1), each from the one before."""
    weights = [arb(1)]
    for s in range(1, min(distance, cells - 1)):
        top = (cells - s) * (distance - s) * (cells - s - 1)
        weights.append(weights[-1] * top / ((s + 1) * s * (distance + cells - s - 1)))
    return weights


@lru_cache(maxsize=64)
def _normaliser(epsilon: Fraction, cells: int) -> arb:
    with ctx.workprec(128):
        q = (-ball(epsilon)).exp()
        return sum(_squared_binomials(epsilon, cells), arb(0)) / (1 - q) ** (cells - 1)
