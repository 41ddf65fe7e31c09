"""Discrete Gaussian noise that sums to zero in every block: P(u) ~ e^(-|u|^2 / (2 v)) on sum zero.

Keeping the public total costs no privacy and saves the share 1/m of the variance. The exact loss of a unit that moves
between two cells is that of `certificates.gaussian_loss`.

Gaussian noise that sums to zero, drawn by halving: as many Gaussian numbers as there are cells, about, and exact.

As x^2 + y^2 = ((x + y)^2 + (x - y)^2) / 2, for a block of M = 2^p cells with sum S

    |x|^2 / (2 v) = S^2 / (2 M v) + sum over inner nodes of D^2 / (2 M_node v),

D the difference of the sums of a node's two halves, which is odd or even with the node's sum. So cells are divided into
blocks of powers of two, whose sums are drawn conditioned on adding up to zero, and then node by node the differences,
each on its parity class. Rows come with a density ~ e^(-|x|^2 / (2 v)) / prod_nodes Theta_M(parity of S),
Theta_M(parity) = sum of e^(-D^2 / (2 M v)) over D of that parity, so a row is kept with probability

    prod over nodes with an odd sum of Theta_M(odd) / Theta_M(even) < 1,

which leaves precisely e^(-|x|^2 / (2 v)). With q = e^(-pi^2 M v / 2), by Poisson's formula
Theta_M(odd) / Theta_M(even) = (1 + 2 sum_k (-1)^k q^(k^2)) / (1 + 2 sum_k q^(k^2)), about 1 - 4 q: nearly all are kept.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import ball
from discreet.noise._gaussian import ProductGaussian
from discreet.noise._noise import Noise
from discreet.noise._structure import Structure, TotalPreserving
from discreet.noise._summed import sizes_of_sums
from discreet.noise._zero_sum_laplace import ZeroSum, balanced, balanced_rows, by_block
from discreet.noise.randomness import (
    BoolArray,
    RandomBits,
    any_gaussian,
    bernoulli,
    bernoulli_exponential,
    discrete_gaussian,
)
from discreet.privacy import PrivacyLoss, concentrated_loss, gaussian_loss, log_sum_of_gaussians

LEAST_CELLS, LEAST_VARIANCE = 16, Fraction(3, 2)
"""From here on rows are drawn by halving; for fewer cells or less noise it is not worth it, or too few are kept."""
_WORD = 64


def halved_noise(variance: Fraction, cells: int, rows: int, bits: RandomBits) -> Counts:
    """Draw rows of noise with P(u) ~ e^(-|u|^2 / (2 variance)) on sum zero."""
    found = np.empty((rows, cells), dtype=np.int64)
    late = np.arange(rows)
    while late.size:
        tried, odd = _tried(variance, cells, late.size, bits)
        kept = _kept(variance, cells, odd, bits)
        found[late[kept]] = tried[kept]
        late = late[~kept]
    return found


def block_sizes(cells: int) -> list[int]:
    """Return the powers of two that add up to the number of cells, the largest first."""
    return [1 << bit for bit in reversed(range(cells.bit_length())) if cells >> bit & 1]


def _tried(variance: Fraction, cells: int, rows: int, bits: RandomBits) -> tuple[Counts, dict[int, Counts]]:
    """Return rows before they are judged, and how many nodes of each size have an odd sum in each row."""
    sizes = block_sizes(cells)
    blocks = dict(zip(sizes, _block_sums(variance, sizes, rows, bits).T, strict=True))
    nodes = np.zeros((rows, 0), dtype=np.int64)
    odd: dict[int, Counts] = {}
    size = sizes[0]
    while True:
        if size in blocks:
            nodes = np.concatenate([nodes, blocks[size][:, None]], axis=1)
        if size == 1:
            return nodes, odd
        odd[size] = np.asarray((nodes & 1).sum(axis=1))
        apart = _differences(nodes.ravel(), size * variance, bits).reshape(nodes.shape)
        nodes = np.concatenate([(nodes + apart) // 2, (nodes - apart) // 2], axis=1)
        size //= 2


def _block_sums(variance: Fraction, sizes: list[int], rows: int, bits: RandomBits) -> Counts:
    """Draw sums of blocks, Gaussians of variance M v, conditioned on adding up to zero: the largest balances."""
    found = np.zeros((rows, len(sizes)), dtype=np.int64)
    late = np.arange(rows if len(sizes) > 1 else 0)
    rate = 1 / (2 * sizes[0] * variance)
    while late.size:
        rest = np.column_stack([any_gaussian(size * variance, late.size, bits) for size in sizes[1:]])
        last = -rest.sum(axis=1)
        kept = bernoulli_exponential(rate, last * last, bits)
        found[late[kept]] = np.column_stack([last, rest])[kept]
        late = late[~kept]
    return found


def _differences(sums: Counts, variance: Fraction, bits: RandomBits) -> Counts:
    """Draw D with P(D) ~ e^(-D^2 / (2 variance)) among numbers that are odd or even as each sum is."""
    found = np.empty_like(sums)
    even, late = np.flatnonzero(sums & 1 == 0), np.flatnonzero(sums & 1)
    found[even] = 2 * any_gaussian(variance / 4, even.size, bits)
    while late.size:
        tried = any_gaussian(variance, late.size, bits)
        is_odd = tried & 1 == 1
        found[late[is_odd]] = tried[is_odd]
        late = late[~is_odd]
    return found


def _kept(variance: Fraction, cells: int, odd: Mapping[int, Counts], bits: RandomBits) -> BoolArray:
    """Keep each row with its probability: 64 bits decide but for one row in very many."""
    rows = len(next(iter(odd.values())))
    with ctx.workprec(2 * _WORD):
        least = acceptance(variance, {size: cells // size for size in odd})
        below = (least.lower() * arb(2) ** _WORD).floor().unique_fmpz()
    certain = min((1 << _WORD) - 1, 0 if below is None else int(below))
    drawn = bits.words(rows)
    kept = drawn < np.uint64(certain)
    for row in np.flatnonzero(~kept):
        counts = {size: int(piece[row]) for size, piece in odd.items()}
        kept[row] = bernoulli(partial(acceptance, variance, counts), bits, int(drawn[row]))
    return np.asarray(kept)


def acceptance(variance: Fraction, odd: Mapping[int, int]) -> arb:
    """Return an enclosure of the probability of keeping a row with these numbers of odd nodes of each size."""
    found = arb(1)
    for size, count in odd.items():
        if count:
            found *= _ratio(size * variance) ** count
    return found


def _ratio(variance: Fraction) -> arb:
    """Return an enclosure of Theta(odd) / Theta(even)."""
    q = (-(arb.pi() ** 2) * ball(variance) / 2).exp()
    sums, k = [arb(1), arb(1)], 0
    while True:
        k += 1
        term = 2 * q ** (k * k)
        sums = [sums[0] + (-1) ** k * term, sums[1] + term]
        if term < arb(2) ** -(ctx.prec + 8):
            rest = arb(0, float((2 * term).upper()) if term > arb(2) ** -1000 else 2.0**-1000)
            return (sums[0] + rest) / (sums[1] + rest)  # what follows is less than the last term


_WIDE = 10.0  # from this parameter on, a sum over whole numbers is an integral to more digits than floats have


@dataclass(frozen=True)
class ZeroSumGaussian(ZeroSum, ProductGaussian):
    """Gaussian noise of one variance parameter in each block, conditioned on every block summing to zero."""

    @cached_property
    def structure(self) -> Structure:
        return TotalPreserving(self._product, self._product.generator)

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return -sum_i u_i^2 / (2 v_i), or -inf where a block does not sum to zero."""
        values = np.asarray(noise)
        return np.where(balanced_rows(values, self.sizes), super().log_kernel(values), -np.inf)

    @staticmethod
    def block_noise(parameter: Fraction, cells: int, count: int, bits: RandomBits) -> Counts:
        """Draw rows of noise of one block with this variance: by halving, or a few cells of which the last balances."""
        if cells >= LEAST_CELLS and parameter >= LEAST_VARIANCE:
            return halved_noise(parameter, cells, count, bits)
        rate = 1 / (2 * parameter)
        return balanced(
            count,
            cells,
            lambda wanted: discrete_gaussian(parameter, wanted, bits),
            lambda last: bernoulli_exponential(rate, last * last, bits),
        )

    @cached_property
    def log_normaliser(self) -> float:
        """Return the sum over blocks of log sum_u e^(-|u|^2 / (2 v)) over all noise that sums to zero."""
        pairs = zip(self.variances, self.sizes, strict=True)
        return sum(log_sum_of_gaussians(variance, cells, True) for variance, cells in pairs)

    @cached_property
    def variance(self) -> Floats:
        """Return the variance of each cell, v (1 - 1/m) up to e^(-2 pi^2 v)."""
        pairs = zip(self.variances, self.sizes, strict=True)
        return np.repeat([_cell_variance(float(variance), cells) for variance, cells in pairs], self.sizes)

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the exact loss if one unit moves in one block, and otherwise that of the zCDP parameter."""
        moved = [np.abs(piece).sum() for piece in by_block(change, self.sizes)]
        if not any(moved):
            return PrivacyLoss((Fraction(0),), (1.0,))
        index = int(np.argmax(moved))
        if sum(moved) == 2:
            return gaussian_loss(self.variances[index], self.sizes[index], True)
        return concentrated_loss(self._rho(change))

    def from_normals(self, normals: ArrayLike) -> Floats:
        """Return x sqrt(v) minus the mean of its block."""
        free = np.asarray(normals, dtype=float) * np.sqrt(self.number_variances)
        return np.concatenate(
            [piece - piece.mean(axis=-1, keepdims=True) for piece in by_block(free, self.sizes)], axis=-1
        )

    def marginal(self, groups: Sequence[int]) -> Noise | None:
        """Return the distribution of sums inside blocks: a product, conditioned in the same way."""
        from discreet.noise._summed import summed_gaussian

        sizes = sizes_of_sums(groups, self.sizes)
        return None if sizes is None else summed_gaussian(self, self.variances, sizes)


def _cell_variance(v: float, cells: int) -> float:
    """Return sum_u u^2 g(u) g^(m-1)(-u) over the same without u^2, g^(m-1) for the sum of m - 1 cells."""
    if v > _WIDE:
        return v * (1 - 1 / cells)
    half = int(np.ceil(12 * np.sqrt(v * cells))) + 12
    steps = np.arange(-half, half + 1)
    kernel = np.exp(steps**2 / (-2 * v))
    rest = np.fft.irfft(np.fft.rfft(np.roll(kernel, -half) / kernel.sum()) ** (cells - 1), len(steps))
    weights = kernel * np.maximum(0, np.roll(rest, half))
    return float(weights @ steps**2 / weights.sum())
