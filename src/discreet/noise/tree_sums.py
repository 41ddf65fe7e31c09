"""The noise of some cells of a tree, added up, beside that of all others.

What a part of the cells has more or less came over the edges that lead out of it: with U_e carried over the edge e from
a cell to the one on which it hangs, and S the part,

    V = sum_(i in S) u_i = sum_e c_e U_e,   c_e = [cell in S] - [parent in S],

independent Laplace numbers. Their law is made by one filter for each edge along a line of weights: a sum with
e^(-r |x - y|) is a pass forward and one back, of positive numbers, so that tails keep their digits. All other cells
have -V: the two sums are a table of two cells that keeps its total.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts, Floats
from discreet.certificates import PrivacyLoss
from discreet.noise.laplace import Laplace
from discreet.noise.laplace_kernel import balanced_rows
from discreet.noise.line_sums import filtered
from discreet.noise.noise import Noise
from discreet.noise.structure import Product, Structure, TotalPreserving
from discreet.randomness import RandomBits

_FAR = 110.0  # nats of the slowest edge that are tabled; beyond, logarithms fall by its rate
_LONGEST = 4_000_000


@dataclass(frozen=True)
class TreeSum(Noise):
    """The sum V of independent Laplace numbers of these rates, and -V."""

    rates: tuple[Fraction, ...]

    @property
    def blocks(self) -> tuple[int, ...]:
        return (2,)

    @cached_property
    def structure(self) -> Structure:
        """Return a product: the kernel of the first sum, and 1 for the second."""
        return TotalPreserving(Product(self.blocks, self.log_terms))

    @property
    def _edges(self) -> Laplace:
        return Laplace(self.rates, (1,) * len(self.rates))

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw all edges and add them up."""
        drawn = self._edges.sample(rows, bits).sum(axis=1)
        return np.stack([drawn, -drawn], axis=1)

    def log_terms(self, noise: ArrayLike, places: ArrayLike | None = None) -> Floats:
        """Return log P(V = v) of the first sum, and 0 of the second, which is then known."""
        values, wanted = np.broadcast_arrays(np.abs(np.asarray(noise)), np.arange(2) if places is None else places)
        logs, slowest = tabled(tuple(map(float, self.rates))), float(min(self.rates))
        last = len(logs) - 1
        own = np.interp(values, np.arange(len(logs)), logs) - slowest * np.maximum(values - last, 0)
        return np.where(wanted == 0, own, 0.0)

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return log P(V = v), or -inf where both do not sum to zero."""
        values = np.asarray(noise)
        return np.where(balanced_rows(values, self.blocks), self.log_terms(values).sum(axis=-1), -np.inf)

    @property
    def log_normaliser(self) -> float:
        """Return 0: the kernel is a law."""
        return 0.0

    @property
    def variance(self) -> Floats:
        return np.full(2, float(self._edges.variance.sum()))

    @property
    def decay_length(self) -> Floats:
        """Return one over the smallest rate, or what so many numbers together reach if that is more."""
        rates = np.array([float(rate) for rate in self.rates])
        return np.full(2, max(1 / rates.min(), float(np.sqrt((1 / rates**2).sum()))))

    @property
    def information(self) -> Floats:
        return 1 / self.variance

    def slope(self, noise: ArrayLike) -> Floats:
        """Return the symmetric difference of the log kernel over two units."""
        values = np.asarray(noise, dtype=float)
        return np.asarray((self.log_terms(np.abs(values + 1)) - self.log_terms(np.abs(values - 1))) / 2)

    def _epsilon(self, change: Counts) -> Fraction:
        """Return what a move over the slowest edge costs: at least as much as the sum can lose."""
        return min(self.rates) * abs(int(change[0]))

    def _rho(self, change: Counts) -> Fraction:
        return self._epsilon(change) ** 2 / 2

    def _curve(self, change: Counts) -> PrivacyLoss:
        return PrivacyLoss.worst_case(self._epsilon(change))


def tree_sum(rates: tuple[Fraction, ...]) -> TreeSum | None:
    """Return the law of a sum of edges; None if its table would be too long."""
    return TreeSum(tuple(sorted(rates))) if _FAR / float(min(rates)) <= _LONGEST else None


@lru_cache(maxsize=128)
def tabled(rates: tuple[float, ...]) -> Floats:
    """Return log P(V = v) for v = 0, 1, ..., as far as the slowest edge falls by a factor of e^110."""
    half = ceil(_FAR / min(rates)) + 60
    law = np.zeros(2 * half + 1)
    law[half] = 1.0
    for rate in rates:
        law = filtered(law, rate) * np.tanh(rate / 2)
    return np.log(np.maximum(law[half:], 1e-300))
