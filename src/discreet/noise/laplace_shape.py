"""The shape of Laplace noise: its kernel, slope and norm, what it tells, and the law of its sums."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts, Floats
from discreet.noise.noise import Noise


class LaplaceShape(Noise):
    """Noise whose kernel is prod_i e^(-r_i |u_i|), with one rate for each block of so many numbers."""

    rates: tuple[Fraction, ...]
    sizes: tuple[int, ...]

    @property
    @abstractmethod
    def number_rates(self) -> Floats:
        """Return the rate of each number."""

    @property
    def information(self) -> Floats:
        """Return r^2."""
        return self.number_rates**2

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return -sum_i r_i |u_i|."""
        return np.asarray(np.abs(np.asarray(noise)) @ -self.number_rates)

    def slope(self, noise: ArrayLike) -> Floats:
        """Return -r tanh(u / w), w = max(1, 0.1/r): the kink at zero made smooth."""
        widths = np.maximum(1, 0.1 / self.number_rates)
        return np.asarray(-self.number_rates * np.tanh(np.asarray(noise) / widths))

    def moves(self, change: ArrayLike) -> Counter[tuple[Fraction, int]]:
        """Return how often each (rate, distance) occurs among the numbers that move."""
        found: Counter[tuple[Fraction, int]] = Counter()
        for rate, steps in zip(self.rates, block_steps(np.asarray(change), self.sizes), strict=True):
            for distance, times in steps.items():
                found[rate, distance] += times
        return found

    def _epsilon(self, change: Counts) -> Fraction:
        """Return sum_i r_i |c_i|."""
        return sum((rate * step * times for (rate, step), times in self.moves(change).items()), Fraction(0))

    def marginal(self, groups: Sequence[int]) -> Noise | None:
        """Return the law of sums inside blocks: it is the product of the sums' laws, tied or free as these numbers."""
        from discreet.noise.summed import sizes_of_sums, summed_laplace  # it builds on this module

        sizes = sizes_of_sums(groups, self.sizes)
        return None if sizes is None else summed_laplace(self, self.rates, sizes)


def block_steps(change: Counts, sizes: Sequence[int]) -> list[Counter[int]]:
    """Return how far the numbers of each block move, and how many by so much."""
    ends = np.cumsum(sizes)
    found: list[Counter[int]] = [Counter() for _ in sizes]
    for place in np.flatnonzero(change):
        found[int(np.searchsorted(ends, place, side="right"))][abs(int(change[place]))] += 1
    return found
