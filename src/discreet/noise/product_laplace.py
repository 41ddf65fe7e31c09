"""Laplace kernels: noise whose probability falls by e^-rate for every unit, free or tied to a total.

The log kernel is -sum_i r_i |u_i|, with one rate for each block of numbers. `Blockwise` is noise of any shape that goes
by blocks.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Counts, Floats, NumbersT
from discreet.noise.law import NoiseLaw


def starts(blocks: Sequence[int]) -> Counts:
    """Return where each block begins."""
    return np.cumsum([0, *blocks[:-1]])


def by_block(values: NumbersT, blocks: Sequence[int]) -> list[NumbersT]:
    """Return the blocks of rows of numbers."""
    return np.split(values, np.cumsum(blocks)[:-1], axis=-1)


def balanced_rows(noise: Counts | Floats, blocks: Sequence[int]) -> NDArray[np.bool_]:
    """Tell of each row whether every block sums to zero; real numbers may miss it by rounding."""
    sums = np.abs(np.add.reduceat(noise, starts(blocks), axis=-1))
    return np.asarray((sums <= (1e-6 if noise.dtype.kind == "f" else 0)).all(axis=-1))


def runs_of_blocks(lengths: Sequence[int], blocks: Sequence[int]) -> list[slice] | None:
    """Return which blocks make up consecutive pieces of so many numbers; None if a block is cut."""
    edges = np.cumsum([0, *blocks]).tolist()
    ends = np.cumsum([0, *lengths]).tolist()
    if ends[-1] != edges[-1] or not set(ends) <= set(edges):
        return None
    places = [edges.index(end) for end in ends]
    return [slice(first, last) for first, last in pairwise(places)]


class Blockwise(NoiseLaw):
    """Noise with one parameter for each block of numbers, independent from block to block."""

    sizes: tuple[int, ...]

    @property
    @abstractmethod
    def parameters(self) -> tuple[Fraction, ...]:
        """Return the parameter of each block."""

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return how many numbers have each parameter."""
        return self.sizes

    @property
    def is_product(self) -> bool:
        """Tell that the kernel is a product over numbers."""
        return True

    def pieces(self, lengths: Sequence[int]) -> tuple[NoiseLaw, ...] | None:
        """Return the laws of pieces that do not cut a block."""
        make: Callable[..., NoiseLaw] = type(self)
        runs = runs_of_blocks(lengths, self.sizes)
        return None if runs is None else tuple(make(self.parameters[run], self.sizes[run]) for run in runs)


@dataclass(frozen=True)
class ProductLaplace(Blockwise):
    """Noise whose kernel is prod_i e^(-r_i |u_i|), with one rate for each block."""

    rates: tuple[Fraction, ...]
    sizes: tuple[int, ...]

    @property
    def parameters(self) -> tuple[Fraction, ...]:
        """Return the rates."""
        return self.rates

    @property
    def length(self) -> int:
        """Return how many numbers there are in all."""
        return sum(self.sizes)

    @cached_property
    def number_rates(self) -> Floats:
        """Return the rate of each number."""
        return np.repeat([float(rate) for rate in self.rates], self.sizes)

    @property
    def reach(self) -> Floats:
        """Return how many units of noise in each number cost a factor e."""
        return 1 / self.number_rates

    @property
    def information(self) -> Floats:
        """Return r^2."""
        return self.number_rates**2

    def log_terms(self, noise: ArrayLike, places: ArrayLike | None = None) -> Floats:
        """Return -r |u|."""
        rates = self.number_rates if places is None else self.number_rates[np.asarray(places)]
        return np.asarray(np.abs(np.asarray(noise)) * -rates)

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

    @property
    def norm_weights(self) -> tuple[Fraction, ...]:
        """Return the rates."""
        return self.rates

    def norm(self, change: ArrayLike) -> Fraction:
        """Return sum_i r_i |c_i|."""
        return sum((rate * step * times for (rate, step), times in self.moves(change).items()), Fraction(0))


def block_steps(change: Counts, sizes: Sequence[int]) -> list[Counter[int]]:
    """Return how far the numbers of each block move, and how many by so much."""
    ends = np.cumsum(sizes)
    found: list[Counter[int]] = [Counter() for _ in sizes]
    for place in np.flatnonzero(change):
        found[int(np.searchsorted(ends, place, side="right"))][abs(int(change[place]))] += 1
    return found
