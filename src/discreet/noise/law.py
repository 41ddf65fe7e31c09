"""A law of noise: how whole numbers that do not depend on any secret are drawn, and how likely each of them is.

What is published is z = A k + u: public sums A k of the secret counts, plus noise u. The law of u alone decides how
much z tells: if the measured numbers move by c, every output changes its probability by

    loss(u) = ln P(u) - ln P(u - c),

so guarantee, privacy loss and zCDP parameter are computed from the law and the possible c, sampling and likelihood from
the law alone. Numbers of one block are alike: exchanging them does not change the law. The kernel of `ProductLaplace`,
e^(-sum_i r_i |u_i|), is that of free Laplace noise and of noise that sums to zero.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Counts, Floats, NumbersT
from discreet.certificates import PrivacyLoss
from discreet.errors import DeclarationError
from discreet.randomness import RandomBits


class NoiseLaw(ABC):
    """P(u) = e^(log_kernel(u) - log_normaliser) on rows of `length` whole numbers."""

    has_density: ClassVar[bool] = True
    """False for a law that is only known through `from_normals`; its `log_kernel` refuses, in words."""

    @property
    @abstractmethod
    def blocks(self) -> tuple[int, ...]:
        """Return how many numbers each block of like numbers has, in the order of the numbers."""

    @property
    def length(self) -> int:
        """Return how many numbers a row of noise has."""
        return sum(self.blocks)

    @abstractmethod
    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw rows of noise, exactly."""

    @abstractmethod
    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return the log of the unnormalised probability of each row of noise (last axis); real numbers are allowed.

        It is -inf where noise is impossible, as where a block that sums to zero does not.
        """

    @property
    @abstractmethod
    def log_normaliser(self) -> float:
        """Return the log of the kernel's sum over all whole numbers."""

    def log_probability(self, noise: ArrayLike) -> Floats:
        """Return log P of each row of noise."""
        return self.log_kernel(noise) - self.log_normaliser

    @property
    @abstractmethod
    def variance(self) -> Floats:
        """Return the variance of each number's noise."""

    @property
    @abstractmethod
    def reach(self) -> Floats:
        """Return for each number a distance such that within 45 of them its kernel falls by a factor of e^45 or more.

        Of a law with a shared radius it is the mean radius for small rates, at least.
        """

    @property
    def is_product(self) -> bool:
        """Tell whether the kernel is a product over numbers, so that `log_terms` gives its factors."""
        return False

    @property
    def keeps_totals(self) -> tuple[bool, ...]:
        """Tell of each block whether its noise sums to zero, so that its total is published as it is."""
        return (False,) * len(self.blocks)

    def log_terms(self, noise: ArrayLike, places: ArrayLike | None = None) -> Floats:
        """Return the log kernel of single numbers, for a product: where sums are kept, up to that condition.

        `places` says which number each entry is, and is broadcast; left out, the last axis holds all numbers in order.
        """
        raise DeclarationError(f"The kernel of {type(self).__name__} noise is no product over its numbers.")

    @abstractmethod
    def slope(self, noise: ArrayLike) -> Floats:
        """Return a smooth stand-in for the derivative of `log_kernel` by each number, for real noise (rows)."""

    @property
    @abstractmethod
    def information(self) -> Floats:
        """Return about how much Fisher information each number gives about its place, for the metric of a sampler."""

    def simulate(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of real numbers with about the kernel as density: for a reader's sampler, never for publishing."""
        return self.from_normals(generator.standard_normal((rows, self.normals or 0)))

    @property
    def normals(self) -> int | None:
        """Return of how many standard normal numbers `from_normals` makes one row; None if it cannot."""
        return None

    def from_normals(self, normals: ArrayLike) -> Floats:
        """Return rows of real noise, a smooth map of rows of independent standard normal numbers (a generator)."""
        raise DeclarationError(f"{type(self).__name__} noise is read through its density, not through a generator.")

    @abstractmethod
    def norm(self, change: ArrayLike) -> Fraction | float:
        """Return the largest loss where the measured numbers move by `change`, exactly; inf if there is none."""

    @abstractmethod
    def rho(self, change: ArrayLike) -> Fraction:
        """Return a zCDP parameter of this change: independent parts add, a pure one costs half its norm squared."""

    @abstractmethod
    def loss(self, change: ArrayLike) -> PrivacyLoss:
        """Return the privacy loss where the measured numbers move by `change`: exact, or above it where that is said.

        Exchanging numbers of a block, or changing signs where the law has no constraint, does not change it, and no
        loss rises where numbers move less or where whole blocks stay as they are.
        """

    @property
    def norm_weights(self) -> tuple[Fraction, ...] | None:
        """Return w, one for each block, if `norm` is sum_i w_i |c_i|; else None."""
        return None

    @property
    def rho_weights(self) -> tuple[Fraction, ...] | None:
        """Return w, one for each block, if the zCDP parameter is sum_i w_i c_i^2; else None."""
        return None

    def pieces(self, lengths: Sequence[int]) -> "tuple[NoiseLaw, ...] | None":
        """Return the laws of consecutive pieces of so many numbers, if these are independent; else None."""
        return (self,) if tuple(lengths) == (self.length,) else None

    def sums(self, parts: Sequence[int]) -> "NoiseLaw | None":
        """Return the law of the noise of sums, or None if it has no simple form.

        `parts` names for each number the sum that it belongs to, 0, 1, ...
        """
        return None


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
