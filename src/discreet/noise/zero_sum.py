"""Noise that sums to zero in every block, so that totals are published as they are.

Independent noise, conditioned on every block summing to zero. With the Laplace kernel and rate epsilon/2,

    P(u) = e^(-epsilon d(u)) / Z,   d(u) = ||u||_1 / 2,   Z = sum_i C(m-1, i)^2 q^i / (1 - q)^(m-1),   q = e^-epsilon:

noise in the shape of one person's influence on a histogram, as moving a unit between two cells has d = 1.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Counts, Floats
from discreet.certificates import PrivacyLoss
from discreet.noise.law import NoiseLaw
from discreet.noise.product_laplace import Blockwise, ProductLaplace, balanced_rows, by_block
from discreet.noise.radial import radial_noise
from discreet.noise.summed import sizes_of_sums
from discreet.noise.zero_sum_law import histogram_variance, loss_of_moves, normaliser
from discreet.randomness import (
    RandomBits,
    bernoulli_exponential,
    discrete_laplace,
)

_FEW_CELLS = 50  # up to here balancing is accepted often enough


class ZeroSum(Blockwise):
    """Noise that is conditioned on every block summing to zero."""

    @property
    def keeps_totals(self) -> tuple[bool, ...]:
        """Tell that every block sums to zero."""
        return (True,) * len(self.sizes)

    @staticmethod
    @abstractmethod
    def block_noise(parameter: Fraction, cells: int, count: int, bits: RandomBits) -> Counts:
        """Draw rows of noise of one block."""

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw each block's noise, blocks of one kind together."""
        drawn = np.zeros((rows, self.length), dtype=np.int64)
        for (parameter, cells), places in places_by_kind(self.parameters, self.sizes).items():
            many = self.block_noise(parameter, cells, rows * len(places), bits)
            drawn[:, places] = many.reshape(rows, len(places), cells)
        return drawn


@dataclass(frozen=True)
class ZeroSumLaplace(ZeroSum, ProductLaplace):
    """Laplace noise of one rate in each block, conditioned on every block summing to zero; moving a unit costs 2 rates.

    >>> ZeroSumLaplace((Fraction(1, 2),), (4,)).norm([1, 0, -1, 0])
    Fraction(1, 1)
    """

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return -sum_i r_i |u_i|, or -inf where a block does not sum to zero."""
        values = np.asarray(noise)
        return np.where(balanced_rows(values, self.sizes), super().log_kernel(values), -np.inf)

    @staticmethod
    def block_noise(parameter: Fraction, cells: int, count: int, bits: RandomBits) -> Counts:
        """Draw rows of noise of one block with this rate."""
        return zero_sum_noise(2 * parameter, cells, count, bits)

    @cached_property
    def log_normaliser(self) -> float:
        """Return the sum of log Z over blocks."""
        pairs = zip(self.rates, self.sizes, strict=True)
        return float(sum(float(normaliser(2 * rate, cells).log()) for rate, cells in pairs))

    @cached_property
    def variance(self) -> Floats:
        """Return the variance of each cell."""
        pairs = zip(self.rates, self.sizes, strict=True)
        return np.repeat([histogram_variance(cells, float(2 * rate)) for rate, cells in pairs], self.sizes)

    def rho(self, change: ArrayLike) -> Fraction:
        """Return the sum over blocks of half their norm squared: each is pure (Bun and Steinke, 2016)."""
        norms = (rate * int(np.abs(own).sum()) for rate, own in self._moved(change))
        return sum((norm**2 for norm in norms), Fraction(0)) / 2

    def loss(self, change: ArrayLike) -> PrivacyLoss:
        """Return the exact loss where one unit moves in some blocks; of other changes the worst of their norms."""
        sizes = dict(enumerate(self.sizes))
        moved = by_block(np.asarray(change), self.sizes)
        kinds = [
            (rate, sizes[place], int(np.abs(own).sum()))
            for place, (rate, own) in enumerate(zip(self.rates, moved, strict=True))
        ]
        return loss_of_moves(tuple(sorted(kind for kind in kinds if kind[2])))

    def _moved(self, change: ArrayLike) -> list[tuple[Fraction, NDArray[np.generic]]]:
        return [
            pair for pair in zip(self.rates, by_block(np.asarray(change), self.sizes), strict=True) if np.any(pair[1])
        ]

    def sums(self, parts: Sequence[int]) -> NoiseLaw | None:
        """Return the law of sums inside blocks: it is the product of the sums' laws, conditioned in the same way."""
        from discreet.noise.summed import summed_laplace

        sizes = sizes_of_sums(parts, self.sizes)
        return None if sizes is None else summed_laplace(self, self.rates, sizes)


def places_by_kind(rates: Sequence[Fraction], sizes: Sequence[int]) -> dict[tuple[Fraction, int], Counts]:
    """Return for each kind of block, (rate, cells), the places of the cells of all such blocks, one row for each."""
    begins: dict[tuple[Fraction, int], list[int]] = {}
    for kind, start in zip(zip(rates, sizes, strict=True), np.cumsum((0, *sizes))[:-1], strict=True):
        begins.setdefault(kind, []).append(int(start))
    return {kind: np.array(own)[:, None] + np.arange(kind[1]) for kind, own in begins.items()}


def balanced(
    rows: int, cells: int, draw: Callable[[int], Counts], keeps: Callable[[Counts], NDArray[np.bool_]]
) -> Counts:
    """Draw rows of independent noise conditioned on summing to zero.

    m - 1 numbers are drawn, the last one balances the sum, and the row is kept with the last one's own likelihood.
    Which rows are kept depends on the noise alone.
    """
    found = np.zeros((rows, cells), dtype=np.int64)
    late = np.arange(rows)
    while late.size:
        tries = late.size if late.size > 64 else 8 * late.size  # several at once while few rows are open
        free = draw(tries * (cells - 1)).reshape(tries, cells - 1)
        last = -free.sum(axis=1)
        kept = np.flatnonzero(keeps(last))[: late.size]
        found[late[: kept.size]] = np.column_stack([free[kept], last[kept]])
        late = late[kept.size :]
    return found


def zero_sum_noise(epsilon: Fraction, cells: int, rows: int, bits: RandomBits) -> Counts:
    """Draw rows of noise that sum to zero, by the sampler that suits the number of cells."""
    if cells <= _FEW_CELLS:
        return balanced_noise(epsilon, cells, rows, bits)
    return np.stack([radial_noise(epsilon, cells, bits) for _ in range(rows)])


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
