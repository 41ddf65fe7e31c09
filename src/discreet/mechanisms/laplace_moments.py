"""LaplaceMoments: independent two-sided geometric noise on every moment, for comparison.

Replacing one record changes each of the D released numbers by at most G (`models.moments`), so their l1 sensitivity is
at most D G and

    P(z | s) = prod_j tanh(r/2) e^(-r |z_j - s_j|),   r = epsilon / (D G),

is pure epsilon-DP. `BoxMoments` has the same guarantee with noise that is sqrt(6) times smaller for many numbers.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import log, tanh

import numpy as np
from numpy.typing import NDArray

from discreet.exact import Exact
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.box_moments import Floats, NoisyMoments, Wholes, check_rate, wide_geometric
from discreet.models.linear_regression import LinearRegression
from discreet.randomness import IntArray, RandomBits


@dataclass(frozen=True, init=False)
class LaplaceMoments(NoisyMoments, kind="LaplaceMoments"):
    """Every moment with its own discrete Laplace noise: pure epsilon-DP under replacement of one record."""

    def __init__(self, model: LinearRegression, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        check_rate(self.rate)

    @property
    def rate(self) -> Fraction:
        """Return epsilon / (D G), what one unit of noise costs."""
        return self.epsilon / (len(self.model.cells) * self.model.layout.reach)

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, by the l1 sensitivity."""
        return Guarantee(self.epsilon, reason="discrete Laplace noise of scale D G/epsilon, l1 sensitivity D G")

    @property
    def log_normaliser(self) -> float:
        """Return -D log tanh(r / 2)."""
        return -len(self.model.cells) * log(tanh(float(self.rate) / 2))

    @property
    def scale(self) -> Floats:
        """Return sqrt(2) / r for every number, about."""
        return np.full(len(self.model.cells), np.sqrt(2) / float(self.rate))

    def log_kernel(self, noise: NDArray[np.generic]) -> Floats:
        """Return -r sum_j |u_j|."""
        return np.asarray(np.abs(np.asarray(noise, dtype=float)).sum(axis=-1) * -float(self.rate))

    def noise(self, rows: int, bits: RandomBits) -> Wholes:
        """Draw rows of independent noise."""
        cells = len(self.model.cells)
        return wide_laplace(self.rate, rows * cells, bits).reshape(rows, cells)

    def real_noise(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows with density ~ e^(-r sum_j |u_j|)."""
        return generator.laplace(size=(rows, len(self.model.cells))) / float(self.rate)


def wide_laplace(rate: Fraction, count: int, bits: RandomBits) -> IntArray:
    """Draw integers u with P(u) ~ e^(-rate |u|): a geometric with a fair sign, -0 redrawn; the rate may be tiny."""
    drawn = np.zeros(count, dtype=np.int64)
    late = np.arange(count)
    while late.size:
        sizes = wide_geometric(rate, late.size, bits)
        negative = bits.words(late.size) >> np.uint64(63) == 1
        drawn[late] = np.where(negative, -sizes, sizes)
        late = late[negative & (sizes == 0)]
    return drawn
