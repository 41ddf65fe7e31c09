"""Laplace noise by blocks: its probability falls by e^-rate for every unit, free, or tied so that totals are kept.

The log kernel is -sum_i r_i |u_i|, with one rate for each block of numbers. Tied noise is conditioned on every block
summing to zero, so that totals are published as they are. With the rate epsilon/2,

    P(u) = e^(-epsilon d(u)) / Z,   d(u) = ||u||_1 / 2,   Z = sum_i C(m-1, i)^2 q^i / (1 - q)^(m-1),   q = e^-epsilon:

noise in the shape of one person's influence on a histogram, as moving a unit between two cells has d = 1. `Blockwise`
and `ZeroSum` are noise of any shape that goes by blocks, and is tied.

The distribution of Laplace noise that sums to zero: its normaliser, its variance, and the loss where units move.

Noise that sums to zero in many cells: its distance first, then a uniform lattice point at that distance.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike, NDArray

from discreet._core.arrays import Counts, Floats, NumbersT
from discreet._core.exact import ball
from discreet.noise._noise import DRAWN_NUMBER, Noise, Operations
from discreet.noise._structure import Product, Structure, TotalPreserving
from discreet.noise.randomness import (
    FiniteDistribution,
    RandomBits,
    bernoulli_exponential,
    composition,
    discrete_laplace,
    geometric,
    subset,
)
from discreet.privacy import Atoms, PrivacyLoss, added


@lru_cache(maxsize=64)
def loss_of_moves(kinds: tuple[tuple[Fraction, int, int], ...]) -> PrivacyLoss:
    """Return the loss of blocks that move independently: (rate, cells, sum of |c|) of each."""
    with ctx.workprec(192):
        parts = {
            kind: one_unit(2 * kind[0], kind[1]) if kind[2] == 2 else worst(kind[0] * kind[2]) for kind in set(kinds)
        }
        return added([(parts[kind], kinds.count(kind)) for kind in sorted(parts)])


def worst(epsilon: Fraction) -> Atoms:
    """Return the loss of randomised response, which dominates every pure epsilon."""
    return [(sign * epsilon, 1 / (1 + (-sign * ball(epsilon)).exp())) for sign in (1, -1)]


def one_unit(epsilon: Fraction, cells: int) -> Atoms:
    """Return the loss where a unit moves from cell j to cell i: +epsilon, 0 or -epsilon.

    Then d changes by ((+-1) + (+-1))/2. The loss is +epsilon where u_i <= 0 <= u_j, and that has probability
    Z_(m-1) / ((1 - q) Z_m), as both sides are coefficients of powers of one kernel.
    """
    q = (-ball(epsilon)).exp()
    up = normaliser(epsilon, cells - 1) / (1 - q) / normaliser(epsilon, cells)
    stay = arb(0) if cells == 2 else 1 - up - up * q
    return [(epsilon, up), (Fraction(0), stay), (-epsilon, up * q)]


@lru_cache(maxsize=256)
def normaliser(epsilon: Fraction, cells: int) -> arb:
    """Return Z of one block."""
    with ctx.workprec(192):
        q = (-ball(epsilon)).exp()
        return sum(squared_binomials(epsilon, cells), arb(0)) / (1 - q) ** (cells - 1)


def histogram_variance(cells: int, epsilon: float) -> float:
    """Return the variance of the noise in one cell.

    4 q (m-1) / (1-q)^2 times the mean of sin^2 under a density ~ (1 + 2 sqrt(q) cos + q)^(m-1) on the circle; both are
    trigonometric polynomials, so a sum over m + 2 or more equal steps is exact.
    """
    q = np.exp(-epsilon)
    angles = 2 * np.pi * np.arange(cells + 3) / (cells + 3)
    with np.errstate(divide="ignore"):
        logs = (cells - 1) * np.log(1 + 2 * np.sqrt(q) * np.cos(angles) + q)
    weights = np.exp(logs - logs.max())
    return float(4 * q * (cells - 1) / np.expm1(-epsilon) ** 2 * (weights @ np.sin(angles) ** 2) / weights.sum())


def squared_binomials(epsilon: Fraction, cells: int) -> list[arb]:
    """Return C(m-1, j)^2 q^j for j = 0, ..., m - 1, each from the one before."""
    q, free = (-ball(epsilon)).exp(), cells - 1
    weights = [arb(1)]
    for j in range(free):
        weights.append(weights[-1] * q * (free - j) ** 2 / (j + 1) ** 2)
    return weights


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
    positive = 1 + int(FiniteDistribution(lambda: _weights_of_positive(distance, cells)).sample(1, bits)[0])
    rises = np.zeros(cells, dtype=np.bool_)
    rises[subset(positive, cells, bits)] = True
    drawn[rises] = 1 + composition(distance - positive, positive, bits)
    drawn[~rises] = -composition(distance, cells - positive, bits)
    return drawn


@lru_cache(maxsize=16)
def _start_of_distance(epsilon: Fraction, cells: int) -> FiniteDistribution:
    return FiniteDistribution(lambda: squared_binomials(epsilon, cells))


def _weights_of_positive(distance: int, cells: int) -> list[arb]:
    """Return weights ~ C(m, s) C(k-1, s-1) C(k+m-s-1, m-s-1), s = 1, ..., min(k, m - 1), each from the one before."""
    weights = [arb(1)]
    for s in range(1, min(distance, cells - 1)):
        top = (cells - s) * (distance - s) * (cells - s - 1)
        weights.append(weights[-1] * top / ((s + 1) * s * (distance + cells - s - 1)))
    return weights


_FEW_CELLS = 50  # up to here balancing is accepted often enough


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
    """Return which blocks make up consecutive pieces of these lengths; None if a block is cut."""
    edges = np.cumsum([0, *blocks]).tolist()
    ends = np.cumsum([0, *lengths]).tolist()
    if ends[-1] != edges[-1] or not set(ends) <= set(edges):
        return None
    indices = [edges.index(end) for end in ends]
    return [slice(first, last) for first, last in pairwise(indices)]


class Blockwise(Noise):
    """Noise with one parameter for each block of numbers, independent from block to block."""

    sizes: tuple[int, ...]

    @property
    @abstractmethod
    def parameters(self) -> tuple[Fraction, ...]:
        """Return the parameter of each block."""

    @property
    def blocks(self) -> tuple[int, ...]:
        return self.sizes

    def pieces(self, lengths: Sequence[int]) -> tuple[Noise, ...] | None:
        """Return the distributions of pieces that do not cut a block."""
        make: Callable[..., Noise] = type(self)
        runs = runs_of_blocks(lengths, self.sizes)
        return None if runs is None else tuple(make(self.parameters[run], self.sizes[run]) for run in runs)


@dataclass(frozen=True)
class RatedBlocks(Blockwise):
    """Noise with one rate for each block: how fast its probability falls."""

    rates: tuple[Fraction, ...]
    sizes: tuple[int, ...]

    @property
    def parameters(self) -> tuple[Fraction, ...]:
        return self.rates


@dataclass(frozen=True)
class ProductLaplace(RatedBlocks):
    """Noise whose kernel is prod_i e^(-r_i |u_i|), with one rate for each block."""

    @property
    def length(self) -> int:
        return sum(self.sizes)

    @cached_property
    def number_rates(self) -> Floats:
        return np.repeat([float(rate) for rate in self.rates], self.sizes)

    @property
    def decay_length(self) -> Floats:
        """Return how many units of noise in each number cost a factor e."""
        return 1 / self.number_rates

    @cached_property
    def structure(self) -> Structure:
        return Product(self.sizes, self.log_terms, self.rates)

    def log_terms(self, noise: ArrayLike, indices: ArrayLike | None = None) -> Floats:
        """Return -r |u|."""
        rates = self.number_rates if indices is None else self.number_rates[np.asarray(indices)]
        return np.asarray(np.abs(np.asarray(noise)) * -rates)

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
        """Return the distribution of sums inside blocks: a product, tied or free as these numbers."""
        from discreet.noise._summed import (
            sizes_of_sums,
            summed_laplace,  # it builds on this module
        )

        sizes = sizes_of_sums(groups, self.sizes)
        return None if sizes is None else summed_laplace(self, self.rates, sizes)


class ZeroSum(Blockwise):
    """Noise that is conditioned on every block summing to zero."""

    @staticmethod
    @abstractmethod
    def block_noise(parameter: Fraction, cells: int, count: int, bits: RandomBits) -> Counts:
        """Draw rows of noise of one block."""

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw each block's noise, blocks of one kind together."""
        drawn = np.zeros((rows, self.length), dtype=np.int64)
        for (parameter, cells), indices in places_by_kind(self.parameters, self.sizes).items():
            many = self.block_noise(parameter, cells, rows * len(indices), bits)
            drawn[:, indices] = many.reshape(rows, len(indices), cells)
        return drawn


@dataclass(frozen=True)
class ZeroSumLaplace(ZeroSum, ProductLaplace):
    """Laplace noise of one rate in each block, conditioned on every block summing to zero; moving a unit costs 2 rates.

    >>> ZeroSumLaplace((Fraction(1, 2),), (4,)).privacy_loss([1, 0, -1, 0]).epsilon
    Fraction(1, 1)
    """

    @cached_property
    def structure(self) -> Structure:
        return TotalPreserving(Product(self.sizes, self.log_terms, self.rates))

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return -sum_i r_i |u_i|, or -inf where a block does not sum to zero."""
        values = np.asarray(noise)
        return np.where(balanced_rows(values, self.sizes), super().log_kernel(values), -np.inf)

    @staticmethod
    def block_noise(parameter: Fraction, cells: int, count: int, bits: RandomBits) -> Counts:
        return zero_sum_noise(2 * parameter, cells, count, bits)

    @property
    def operations(self) -> Operations:
        """Return what drawing one row takes: four times as much in blocks of many cells, drawn one by one."""
        return Operations(DRAWN_NUMBER * sum((4 if cells > _FEW_CELLS else 1) * cells for cells in self.sizes))

    @cached_property
    def log_normaliser(self) -> float:
        pairs = zip(self.rates, self.sizes, strict=True)
        return float(sum(float(normaliser(2 * rate, cells).log()) for rate, cells in pairs))

    @cached_property
    def variance(self) -> Floats:
        """Return the variance of each cell."""
        pairs = zip(self.rates, self.sizes, strict=True)
        return np.repeat([histogram_variance(cells, float(2 * rate)) for rate, cells in pairs], self.sizes)

    def _rho(self, change: Counts) -> Fraction:
        """Return the sum over blocks of the zCDP parameters of their losses."""
        blocks = by_block(change, self.sizes)
        moves = (int(np.abs(piece).sum()) for piece in blocks)
        kinds = Counter(kind for kind in zip(self.rates, self.sizes, moves, strict=True) if kind[2])
        return sum((times * loss_of_moves((kind,)).sharp_rho for kind, times in kinds.items()), Fraction(0))

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the exact loss where one unit moves in some blocks; of other changes the worst of their norms."""
        blocks = by_block(change, self.sizes)
        kinds = zip(self.rates, self.sizes, (int(np.abs(piece).sum()) for piece in blocks), strict=True)
        return loss_of_moves(tuple(sorted(kind for kind in kinds if kind[2])))


def block_steps(change: Counts, sizes: Sequence[int]) -> list[Counter[int]]:
    """Return how far the numbers of each block move, and how many by so much."""
    ends = np.cumsum(sizes)
    found: list[Counter[int]] = [Counter() for _ in sizes]
    for index in np.flatnonzero(change):
        found[int(np.searchsorted(ends, index, side="right"))][abs(int(change[index]))] += 1
    return found


def places_by_kind(rates: Sequence[Fraction], sizes: Sequence[int]) -> dict[tuple[Fraction, int], Counts]:
    """Return for each type of block, (rate, cells), the indices of the cells of all such blocks, one row for each."""
    begins: dict[tuple[Fraction, int], list[int]] = {}
    for kind, start in zip(zip(rates, sizes, strict=True), np.cumsum((0, *sizes))[:-1], strict=True):
        begins.setdefault(kind, []).append(int(start))
    return {kind: np.array(piece)[:, None] + np.arange(kind[1]) for kind, piece in begins.items()}


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
