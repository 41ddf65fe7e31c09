"""Noise on blocks and on their cells, in one consistent table: P(u) ~ e^(-a sum_B |u(B)| - b sum_i |u_i|).

u(B) is the sum over the cells of a block. A unit that moves between blocks costs 2 a + 2 b at most, inside a block 2 b.
Cuts through the table have less noise than with noise on cells alone, as every block's own sum is held near zero.
`BlockLaplace` is free, block by block; `ZeroSumBlocks` is conditioned on all cells together summing to zero.

A block is drawn cell by cell and kept with probability e^(-a |u(B)|). Where all must sum to zero, the last cell of the
last block balances the rest and the table is kept with that cell's and that block's own likelihood: what is kept
depends on noise alone.

Sums of noise on blocks and cells: normalisers, single cells, and cuts through the table.

With f_c the c-fold convolution of the distribution ~ e^(-b |x|), f = f_size e^(-a |s|) for a block and F the
convolution of such over several blocks, the first blocks and c cells of the next have

    P(U = v) ~ sum_(t, t') f_c(t) F_left(v - t) f_(size - c)(t') F_right(-v - t') e^(-a |t + t'|),

which is the weight of all tables with that sum: what lies above the cut must sum to -v. The inner sum runs along t' as
an exponential filter, and all terms are positive.

What a unit that moves costs under noise on blocks and cells: signs of two cells and of their blocks decide.

Where a unit appears in cell i of block B, the loss gains b if u_i <= 0 and loses b otherwise, gains a if u(B) <= 0 and
loses a otherwise; where it disappears, with signs exchanged. So it takes a few values, and their probabilities are sums
of the weights of tables with these signs. They are floats of positive terms, rounded up by more than they can be wrong.
"""

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import groupby, product
from math import log, log2, sqrt

import numpy as np
from flint import arb, ctx
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from discreet._core.arrays import Counts, Floats, NumbersT
from discreet.noise._line_sums import (
    block_sums,
    convolved,
    filtered,
    fitted,
    half_of,
    laplace_sums,
    steps,
    sums_of_blocks,
    width_of,
)
from discreet.noise._noise import DRAWN_NUMBER, Noise, Operations
from discreet.noise._prefix_sums import PrefixSumNoise
from discreet.noise._structure import Joint, Structure, TotalPreserving
from discreet.noise._zero_sum_laplace import balanced_rows, by_block, runs_of_blocks, starts
from discreet.noise.randomness import RandomBits, any_laplace, bernoulli_exponential
from discreet.privacy import PrivacyLoss, added

_ROWS = 64  # values of a cut that are computed together
_SMOOTH = 0.8  # of one over the rates: how far apart values may be that are computed


@lru_cache(maxsize=256)
def free_logs(outer: float, inner: float, size: int) -> float:
    """Return the log normaliser of one free block."""
    return log(float(block_sums(outer, inner, size).sum())) - size * log(np.tanh(inner / 2))


@lru_cache(maxsize=64)
def tied_log(outer: float, inner: float, sizes: tuple[int, ...]) -> float:
    """Return the log normaliser of blocks that sum to zero together."""
    half = width_of(outer, inner, sizes)
    rest, last = sums_of_blocks(outer, inner, sizes[:-1], half), block_sums(outer, inner, sizes[-1])
    return log(float(rest @ fitted(last, half))) - sum(sizes) * log(np.tanh(inner / 2))


def free_cell_noise(outer: float, inner: float, size: int) -> PrefixSumNoise:
    """Return the distribution of one cell of a free block: its own weight, and that of all others given it."""
    others = laplace_sums(inner, size - 1)
    half = half_of(others)
    weights = np.exp(-inner * np.abs(steps(half))) * filtered(others, outer)  # both are symmetric
    return PrefixSumNoise(weights / weights.sum())


@lru_cache(maxsize=64)
def cell_noise(outer: float, inner: float, sizes: tuple[int, ...], size: int) -> PrefixSumNoise:
    """Return the noise of one cell of a block of this size: the prefix sum of one cell, with that block put first."""
    others = list(sizes)
    others.remove(size)
    return prefix_sum_noise(outer, inner, (size, *others), 1)


def prefix_sum_noise(outer: float, inner: float, sizes: tuple[int, ...], index: int) -> PrefixSumNoise:
    """Return the distribution of the noise of the first `index` cells, added up; that of all others has the same."""
    mirrored = (sizes[::-1], sum(sizes) - index)
    return _prefix_sum_noise(outer, inner, *((sizes, index) if 2 * index <= sum(sizes) else mirrored))


@lru_cache(maxsize=2048)
def _prefix_sum_noise(outer: float, inner: float, sizes: tuple[int, ...], index: int) -> PrefixSumNoise:
    ends = np.cumsum((0, *sizes))
    block = int(np.searchsorted(ends, index, side="right")) - 1
    inside = index - int(ends[block])
    left, right = tuple(sorted(sizes[:block])), tuple(sorted(sizes[block:] if not inside else sizes[block + 1 :]))
    half = width_of(outer, inner, sizes)
    if not inside:
        weights = sums_of_blocks(outer, inner, left, half) * sums_of_blocks(outer, inner, right, half)
    else:
        below = laplace_sums(inner, inside)
        above = laplace_sums(inner, sizes[block] - inside)
        weights = _through(outer, below, above, (left, right), half, inner)
    return PrefixSumNoise(weights / weights.sum())


def cut_operations(outer: float, inner: float, sizes: tuple[int, ...]) -> float:
    """Return about how many operations the distributions of all cuts take: a few for each value computed and each t."""
    half, longest = 9 * sqrt(2 * sum(sizes)) / (outer + inner), (6 * sqrt(2 * max(sizes)) + 32) / inner
    return 5.0 * sum(sizes) * (half / _step(outer, inner) + 1) * (2 * longest + 1)


def _step(outer: float, inner: float) -> int:
    """Return how far apart the values are that are computed; between them logarithms are smooth."""
    return max(1, int(_SMOOTH / (outer + inner)))


def _worked_out(half: int, step: int) -> NDArray[np.int64]:
    """Return the values that are computed: all near zero, where whole numbers tell, then in growing steps."""
    near, grown = 6 * step, []
    at, wide = min(near, half), 1
    while at < half:
        grown.append(at)
        at, wide = at + wide, min(step, wide + max(1, wide // 4))
    return np.unique([*range(min(near, half)), *grown, half])


def _through(
    outer: float, below: Floats, above: Floats, blocks: tuple[tuple[int, ...], tuple[int, ...]], half: int, inner: float
) -> Floats:
    """Return the weights of a cut through a block; v and -v weigh the same, as tables u and -u do."""
    wide = half + max(half_of(below), half_of(above))
    left, right = (sums_of_blocks(outer, inner, each, wide) for each in blocks)
    middle, other = half_of(below), half_of(above)
    common = max(middle, other)
    padded = fitted(above, common)
    # rows of `left` at v - t, t = -own..own, and of `right` at -v - t', t' = -common..common: both run backwards
    lefts = sliding_window_view(fitted(left, half + middle), 2 * middle + 1)[:, ::-1]
    rights = sliding_window_view(fitted(right, half + common), 2 * common + 1)[:, ::-1]
    indices = _worked_out(half, _step(outer, inner))
    values = np.empty(len(indices))
    for first in range(0, len(indices), _ROWS):
        v = indices[first : first + _ROWS]
        mixed = filtered(padded * rights[half - v], outer)[:, ::-1][:, common - middle : common + middle + 1]  # at -t
        values[first : first + _ROWS] = np.einsum("t,vt,vt->v", below, lefts[half + v], mixed)
    upper = _between(indices, values)
    return np.concatenate([upper[:0:-1], upper])


def _between(indices: NDArray[np.int64], values: Floats) -> Floats:
    """Return the weights of 0, 1, ..., from those at some points: splines of order 7 through their logarithms.

    All weights are made of exponentials with kinks at zero alone, so that logarithms are smooth on one side of it.
    """
    every = np.arange(indices[-1] + 1)
    if len(indices) == len(every):
        return values
    from scipy.interpolate import make_interp_spline  # slow to import

    kept = values > 1e-40 * values.max()
    last = int(np.argmin(kept)) if not kept.all() else len(kept)
    spline = make_interp_spline(indices[:last], np.log(values[:last]), k=7)
    return np.where(every <= indices[last - 1], np.exp(spline(np.minimum(every, indices[last - 1]))), 0.0)


_SLACK = 1e-9  # relative, far above the rounding of these sums; windows leave out less than 1e-12
_OUTSIDE = 1e-11

Signed = dict[Fraction, Floats]
"""Weights of the sums of a block, by what its cell and the block add to the loss."""


@lru_cache(maxsize=64)
def tied_loss(outer: Fraction, inner: Fraction, sizes: tuple[int, ...], moved: tuple[int, ...]) -> PrivacyLoss:
    """Return the loss of a unit that moves between blocks of these sizes, or inside one, where all sum to zero."""
    rates = float(outer), float(inner)
    others = list(sizes)
    for size in moved:
        others.remove(size)
    half = width_of(*rates, sizes)
    rest = sums_of_blocks(*rates, tuple(sorted(others)), half)
    found: dict[Fraction, float] = defaultdict(float)
    if len(moved) == 1:
        for loss, weights in _inside(outer, inner, moved[0]).items():
            found[loss] += float(fitted(weights, half) @ rest)
    else:
        there, back = (_signed(outer, inner, size) for size in moved)
        for (one, first), (two, second) in product(there.items(), back.items()):
            found[one + two] += float(convolved(first, second[::-1], half) @ rest)
    return _stated(found)


@lru_cache(maxsize=64)
def free_loss(outer: Fraction, inner: Fraction, moved: tuple[int, ...]) -> PrivacyLoss:
    """Return the loss of a unit that moves between free blocks, or inside one."""
    if len(moved) == 1:
        return _stated({loss: float(w.sum()) for loss, w in _inside(outer, inner, moved[0]).items()})
    with ctx.workprec(192):
        parts = [_stated({loss: float(w.sum()) for loss, w in _signed(outer, inner, size).items()}) for size in moved]
        atoms = [[(loss, arb(p)) for loss, p in zip(each.losses, each.probabilities, strict=True)] for each in parts]
        return added([(each, 1) for each in atoms])


@lru_cache(maxsize=64)
def free_addition(outer: Fraction, inner: Fraction, size: int) -> PrivacyLoss:
    """Return the loss of a unit that is added to a cell of a free block of this size, or taken from it."""
    return _stated({loss: float(weights.sum()) for loss, weights in _signed(outer, inner, size).items()})


def _signed(outer: Fraction, inner: Fraction, size: int) -> Signed:
    """Return the weights of a block in one cell of which a unit appears."""
    others = laplace_sums(float(inner), size - 1)
    half = half_of(laplace_sums(float(inner), size))
    kept = np.exp(-float(outer) * np.abs(steps(half)))
    low = steps(half) <= 0
    found: Signed = {}
    for gains in (True, False):
        cell = np.exp(-float(inner) * np.abs(steps(half))) * (low if gains else ~low)
        weights = convolved(cell, others, half) * kept
        for block_gains in (True, False):
            loss = (inner if gains else -inner) + (outer if block_gains else -outer)
            middle = weights * (low if block_gains else ~low)
            found[loss] = found.get(loss, np.zeros_like(middle)) + middle
    return found


def _inside(outer: Fraction, inner: Fraction, size: int) -> Signed:
    """Return the weights of a block inside which a unit moves: its sum stays."""
    others = laplace_sums(float(inner), size - 2)
    half = half_of(laplace_sums(float(inner), size))
    kept, single = np.exp(-float(outer) * np.abs(steps(half))), np.exp(-float(inner) * np.abs(steps(half)))
    low = steps(half) <= 0
    found: Signed = {}
    for one, two in product((True, False), repeat=2):
        entering, leaving = single * (low if one else ~low), single * (low if two else ~low)[::-1]
        loss = (inner if one else -inner) + (inner if two else -inner)
        weights = convolved(convolved(entering, leaving, half), others, half) * kept
        found[loss] = found.get(loss, np.zeros_like(weights)) + weights
    return found


def _stated(weights: dict[Fraction, float]) -> PrivacyLoss:
    """Return weights as probabilities, rounded up; what windows leave out counts as the largest loss."""
    total, top = sum(weights.values()), max(weights)
    chances = {loss: weight / total * (1 + _SLACK) for loss, weight in weights.items()}
    chances[top] += _OUTSIDE
    return PrivacyLoss(tuple(sorted(chances)), tuple(chances[loss] for loss in sorted(chances)))


_RATE = 0.05  # of cells, for estimates of what is kept

Draw = Callable[[int], Counts]
Keep = Callable[[Counts], NDArray[np.bool_]]


@dataclass(frozen=True)
class BlockNoise(Noise):
    """Noise with the rate `outer` on the sum of every block and `inner` on every cell; `sizes` are those of blocks."""

    outer: Fraction
    inner: Fraction
    sizes: tuple[int, ...]

    @property
    def rates(self) -> tuple[float, float]:
        """Return both rates as floats."""
        return float(self.outer), float(self.inner)

    def sums_of(self, noise: NumbersT) -> NumbersT:
        """Return the sum of every block."""
        return np.asarray(np.add.reduceat(noise, starts(self.sizes), axis=-1))

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return -a sum_B |u(B)| - b sum_i |u_i|."""
        outer, inner = self.rates
        values = np.asarray(noise)
        return np.asarray(-outer * np.abs(self.sums_of(values)).sum(-1) - inner * np.abs(values).sum(-1))

    @property
    def decay_length(self) -> Floats:
        return np.full(self.length, 1 / self.rates[1])

    @property
    def _distribution_operations(self) -> float:
        """Return 300 B W log W, as measured, for B convolutions over the W values that sums of blocks take."""
        values = 2 * (9 * sqrt(2 * sum(self.sizes)) + 32) / sum(self.rates)
        return 300.0 * len(self.sizes) * values * log2(2 + values)

    def slope(self, noise: ArrayLike) -> Floats:
        """Return the slopes of a cell and of its block, the kinks at zero made smooth."""
        values = np.asarray(noise, dtype=float)
        (outer, inner), width = self.rates, max(1.0, 0.1 / self.rates[1])
        blocks = np.repeat(np.tanh(self.sums_of(values) / width), self.sizes, axis=-1)
        return np.asarray(-inner * np.tanh(values / width) - outer * blocks)

    def _epsilon(self, change: Counts) -> Fraction:
        """Return a sum_B |c(B)| + b sum_i |c_i|."""
        moved = np.asarray(change, dtype=np.int64)
        return self.outer * int(np.abs(self.sums_of(moved)).sum()) + self.inner * int(np.abs(moved).sum())

    def _rho(self, change: Counts) -> Fraction:
        """Return the zCDP parameter of the exact loss where it is known; half the norm squared where only that is."""
        return min(self._epsilon(change) ** 2 / 2, self._curve(change).rho) if np.any(change) else Fraction(0)

    def moved(self, change: ArrayLike) -> tuple[int, ...] | None:
        """Return the sizes of the blocks that a unit leaves and enters, one if it stays inside; None of other moves."""
        blocks = by_block(np.asarray(change), self.sizes)
        touched = [middle for middle in blocks if np.any(middle)]
        units = sorted(value for middle in touched for value in middle.tolist() if value)
        return tuple(sorted(len(middle) for middle in touched)) if units == [-1, 1] else None

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the exact loss where one unit moves, its probabilities rounded up; else the worst of the norm."""
        if (moved := self.moved(change)) is None:
            return PrivacyLoss.worst_case(self._epsilon(change))
        return self.loss_of_unit(moved)

    @abstractmethod
    def loss_of_unit(self, moved: tuple[int, ...]) -> PrivacyLoss:
        """Return the loss of a unit that moves between blocks of these sizes, or inside one."""


@dataclass(frozen=True)
class BlockLaplace(BlockNoise):
    """Laplace noise on independent blocks, for groups whose numbers of records are not public."""

    @property
    def blocks(self) -> tuple[int, ...]:
        return self.sizes

    @cached_property
    def structure(self) -> Structure:
        return Joint(self.blocks)

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw each block until it is kept."""
        return np.concatenate(like_blocks(rows, self.sizes, self._draw(bits), self._keep(bits)), axis=1)

    def _draw(self, bits: RandomBits) -> Draw:
        return lambda count: any_laplace(self.inner, count, bits)

    def _keep(self, bits: RandomBits) -> Keep:
        return lambda sums: bernoulli_exponential(self.outer, np.abs(sums), bits)

    @property
    def operations(self) -> Operations:
        drawn = sum(DRAWN_NUMBER * size / kept_share(*self.rates, size) for size in self.sizes)
        return Operations(drawn, self._distribution_operations)

    def simulate(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of whole numbers by seeded floats, for readers."""
        draw, keep = seeded(*self.rates, generator)
        return np.concatenate([drawn_blocks(rows, size, draw, keep) for size in self.sizes], axis=1).astype(float)

    @cached_property
    def log_normaliser(self) -> float:
        return sum(free_logs(*self.rates, size) for size in self.sizes)

    @cached_property
    def variance(self) -> Floats:
        return np.repeat([free_cell_noise(*self.rates, size).sd ** 2 for size in self.sizes], self.sizes)

    def loss_of_unit(self, moved: tuple[int, ...]) -> PrivacyLoss:
        """Return the privacy loss of moving one unit: the losses of two blocks add, because they are independent."""
        return free_loss(self.outer, self.inner, moved)

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the exact loss also where one unit is added or removed."""
        if np.abs(change).sum() != 1:
            return super()._curve(change)
        (touched,) = np.flatnonzero(change)
        return free_addition(self.outer, self.inner, int(np.repeat(self.sizes, self.sizes)[touched]))

    @cached_property
    def whole_sum(self) -> PrefixSumNoise:
        """Return the distribution of the sum of all numbers: those of its blocks are independent."""
        from scipy.fft import irfft, next_fast_len, rfft  # slow to import

        half = width_of(*self.rates, self.sizes)
        length = next_fast_len(4 * half + 2)
        transform = np.ones(length // 2 + 1)
        for size in set(self.sizes):
            weights = fitted(block_sums(*self.rates, size), half)
            around = np.concatenate([weights[half:], np.zeros(length - 2 * half - 1), weights[:half]])
            transform = transform * rfft(around / around.sum()).real ** self.sizes.count(size)
        upper = np.maximum(irfft(transform, length)[: half + 1], 0.0)
        chances = np.concatenate([upper[:0:-1], upper])
        return PrefixSumNoise(chances / chances.sum())

    def pieces(self, lengths: Sequence[int]) -> tuple[Noise, ...] | None:
        """Return the distributions of pieces that do not cut a block."""
        runs = runs_of_blocks(lengths, self.sizes)
        return None if runs is None else tuple(BlockLaplace(self.outer, self.inner, self.sizes[run]) for run in runs)


@dataclass(frozen=True)
class ZeroSumBlocks(BlockNoise):
    """Laplace noise on blocks that together sum to zero, because the number of records is public.

    >>> noise = ZeroSumBlocks(Fraction(1, 5), Fraction(3, 10), (2, 2))
    >>> noise.privacy_loss([1, 0, -1, 0]).epsilon, noise.privacy_loss([1, -1, 0, 0]).epsilon
    (Fraction(1, 1), Fraction(3, 5))
    """

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return all cells: their noise sums to zero together."""
        return (sum(self.sizes),)

    @cached_property
    def structure(self) -> Structure:
        return TotalPreserving(Joint(self.blocks))

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw tables, the last cell of which balances all others, until they are kept."""
        free, last = self.sizes[:-1], self.sizes[-1]

        def draw(count: int) -> Counts:
            return any_laplace(self.inner, count, bits)

        def keep(sums: Counts) -> NDArray[np.bool_]:
            return bernoulli_exponential(self.outer, np.abs(sums), bits)

        found, late = np.zeros((rows, self.length), dtype=np.int64), rows
        while late:
            tries = int(min(late / (2 * self._balanced_share) + 1, 2e6 / self.length + 1))  # few are drawn in vain
            blocks = like_blocks(tries, free, draw, keep)
            total = -sum((middle.sum(axis=1) for middle in blocks), np.zeros(tries, dtype=np.int64))
            rest = draw(tries * (last - 1)).reshape(tries, last - 1)
            balance = total - rest.sum(axis=1)
            kept = np.flatnonzero(keep(total) & bernoulli_exponential(self.inner, np.abs(balance), bits))[:late]
            table = np.column_stack([*blocks, rest, balance])[kept]
            found[rows - late : rows - late + len(kept)] = table
            late -= len(kept)
        return found

    @cached_property
    def _balanced_share(self) -> float:
        """Return the share of tables that are kept: Z over the sum of the weights of what is proposed."""
        outer, inner = not_too_small(*self.rates)
        proposed = sum(free_logs(outer, inner, size) for size in self.sizes[:-1])
        proposed -= (self.sizes[-1] - 1) * log(np.tanh(inner / 2))
        return float(np.exp(tied_log(outer, inner, self.sizes) - proposed))

    @property
    def operations(self) -> Operations:
        cells = sum(size / kept_share(*self.rates, size) for size in self.sizes[:-1]) + self.sizes[-1]
        return Operations(DRAWN_NUMBER * cells / self._balanced_share, self._distribution_operations)

    def simulate(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of whole numbers by seeded floats, for readers: the sum of the last block, then its cells."""
        (outer, inner), (*free, last) = self.rates, self.sizes
        draw, keep = seeded(outer, inner, generator)
        ratios = block_sums(outer, inner, last)
        half, found, late = half_of(ratios), np.zeros((rows, self.length)), rows
        while late:
            tries = int(min(5 * late + 64, 4e6 / self.length + 1))  # of 8 x 8 and 16 x 16 .24 and .15 are kept
            blocks = [drawn_blocks(tries, size, draw, keep) for size in free]
            total = -sum((middle.sum(axis=1) for middle in blocks), np.zeros(tries, dtype=np.int64))
            near = np.abs(total) <= half
            chances = np.where(near, ratios[np.clip(total + half, 0, 2 * half)] / ratios[half], 0.0)
            kept = np.flatnonzero(generator.random(tries) < chances)[:late]
            end = cells_given_sums(total[kept], last, inner, draw, generator)
            found[rows - late : rows - late + len(kept)] = np.column_stack([*(middle[kept] for middle in blocks), end])
            late -= len(kept)
        return found

    def log_kernel(self, noise: ArrayLike) -> Floats:
        values = np.asarray(noise)
        return np.where(balanced_rows(values, self.blocks), super().log_kernel(values), -np.inf)

    @cached_property
    def log_normaliser(self) -> float:
        """Return the logarithm, at zero, of the convolved weights of the blocks."""
        return tied_log(*self.rates, self.sizes)

    @cached_property
    def variance(self) -> Floats:
        """Return the variance of each cell, from its exact distribution."""
        variances = {size: cell_noise(*self.rates, self.sizes, size).sd ** 2 for size in set(self.sizes)}
        return np.repeat([variances[size] for size in self.sizes], self.sizes)

    def loss_of_unit(self, moved: tuple[int, ...]) -> PrivacyLoss:
        return tied_loss(self.outer, self.inner, self.sizes, moved)

    def cut(self, index: int) -> PrefixSumNoise:
        """Return the distribution of the summed noise of the first `index` numbers."""
        return prefix_sum_noise(*self.rates, self.sizes, index)

    @cached_property
    def cut_operations(self) -> float:
        """Return about how many operations the distributions of all cuts take."""
        return cut_operations(*self.rates, self.sizes)

    def single(self, index: int) -> PrefixSumNoise:
        """Return the distribution of one number's noise."""
        return cell_noise(*self.rates, self.sizes, int(np.repeat(self.sizes, self.sizes)[index]))


def not_too_small(outer: float, inner: float) -> tuple[float, float]:
    """Return rates in the same ratio: how much is kept hardly depends on more, and tables of small rates are long."""
    larger = max(1.0, _RATE / inner)
    return outer * larger, inner * larger


@lru_cache(maxsize=64)
def kept_share(outer: float, inner: float, size: int) -> float:
    """Return the share of proposed blocks that are kept."""
    outer, inner = not_too_small(outer, inner)
    return float(np.exp(free_logs(outer, inner, size) + size * log(np.tanh(inner / 2))))


def like_blocks(rows: int, sizes: Sequence[int], draw: Draw, keep: Keep) -> list[Counts]:
    """Draw blocks of these sizes, one row of each for every row; blocks that follow one another and are alike together.

    All of them are independent, so it does not matter which row and which block an accepted one becomes.
    """
    found = []
    for size, run in groupby(sizes):
        number = len(list(run))
        found.append(drawn_blocks(rows * number, size, draw, keep).reshape(rows, number * size))
    return found


def drawn_blocks(rows: int, size: int, draw: Draw, keep: Keep) -> Counts:
    """Draw blocks of cells, each accepted by its sum."""
    found, late = [np.zeros((0, size), dtype=np.int64)], rows
    while late:
        tried = draw((2 * late + 8) * size).reshape(-1, size)
        tried = tried[keep(tried.sum(axis=1))][:late]
        found.append(tried)
        late -= len(tried)
    return np.concatenate(found)


def seeded(outer: float, inner: float, generator: np.random.Generator) -> tuple[Draw, Keep]:
    """Return how readers draw cells and keep blocks, by seeded floats."""
    share = -np.expm1(-inner)

    def draw(count: int) -> Counts:
        return np.asarray(generator.geometric(share, count) - generator.geometric(share, count), dtype=np.int64)

    def keep(sums: Counts) -> NDArray[np.bool_]:
        return np.asarray(generator.random(len(sums)) < np.exp(-outer * np.abs(sums)))

    return draw, keep


def cells_given_sums(sums: Counts, size: int, inner: float, draw: Draw, generator: np.random.Generator) -> Counts:
    """Draw cells of rate `inner` given their sum: all but the last are proposed, and kept by the last one's weight."""
    found, late = np.zeros((len(sums), size), dtype=np.int64), np.arange(len(sums))
    while late.size:
        free = draw(late.size * (size - 1)).reshape(late.size, size - 1)
        last = sums[late] - free.sum(axis=1)
        kept = generator.random(late.size) < np.exp(-inner * np.abs(last))
        if size == 1:
            kept = np.ones(late.size, dtype=bool)
        found[late[kept]] = np.column_stack([free, last])[kept]
        late = late[~kept]
    return found
