"""Tree-metric (earth mover's) Laplace noise: the cost of moving units along the edges of a tree.

Cells are the nodes of a tree, and an edge e has a rate r_e, what it costs to carry one unit over it. Noise u that sums
to zero is carried by U_e units over e, U_e the sum of u over all cells behind e, so

    P(u) = prod_e tanh(r_e/2) e^(-r_e |U_e|).

u and U determine each other in whole numbers, so the U_e are independent discrete Laplace numbers: they are drawn, and
differences are taken. A record that moves from a to b moves every U_e on the path between by 1 and no other. Its loss
is the sum of independent randomised responses, at most the sum of the rates on the path: the distance of a and b. The
zCDP parameter is sum r_e tanh(r_e/2), exactly: for one number D_alpha / alpha is a difference quotient of a function
that is concave in (alpha - 1/2)^2, so that it is largest at alpha = 1, where it is the divergence. A path, for cells in
an order, is the tree in which the parent of each cell is the next.

The noise of some cells of a tree, added up, beside that of all others.

What a part of the cells has more or less came over the edges that lead out of it: with U_e carried over the edge e from
a cell to its parent, and S the part,

    V = sum_(i in S) u_i = sum_e c_e U_e,   c_e = [cell in S] - [parent in S],

independent Laplace numbers. Their distribution is made by one filter for each edge along a line of weights: a sum with
e^(-r |x - y|) is a pass forward and one back, of positive numbers, so that tails keep their digits. All other cells
have -V: the two sums are a table of two cells that keeps its total.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil

import numpy as np
from flint import ctx
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats, NumbersT
from discreet._core.errors import DeclarationError
from discreet._core.exact import ball, rounded_up
from discreet.noise._laplace import Laplace
from discreet.noise._line_sums import filtered
from discreet.noise._noise import Noise
from discreet.noise._prefix_sums import PrefixSumNoise
from discreet.noise._structure import Product, Structure, TotalPreserving, TreeStructure
from discreet.noise._zero_sum_laplace import balanced_rows
from discreet.noise.randomness import RandomBits
from discreet.privacy import PrivacyLoss

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

    def log_terms(self, noise: ArrayLike, indices: ArrayLike | None = None) -> Floats:
        """Return log P(V = v) of the first sum, and 0 of the second, which is then known."""
        values, wanted = np.broadcast_arrays(np.abs(np.asarray(noise)), np.arange(2) if indices is None else indices)
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
        """Return 0: the kernel is a distribution."""
        return 0.0

    @property
    def variance(self) -> Floats:
        return np.full(2, float(self._edges.variance.sum()))

    @property
    def decay_length(self) -> Floats:
        """Return one over the smallest rate, or the reach of all these numbers together if that is more."""
        rates = np.array([float(rate) for rate in self.rates])
        return np.full(2, max(1 / rates.min(), float(np.sqrt((1 / rates**2).sum()))))

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
    """Return the distribution of a sum of edges; None if its table would be too long."""
    return TreeSum(tuple(sorted(rates))) if _FAR / float(min(rates)) <= _LONGEST else None


@lru_cache(maxsize=128)
def tabled(rates: tuple[float, ...]) -> Floats:
    """Return log P(V = v) for v = 0, 1, ..., as far as the slowest edge falls by a factor of e^110."""
    half = ceil(_FAR / min(rates)) + 60
    line = np.zeros(2 * half + 1)
    line[half] = 1.0
    for rate in rates:
        line = filtered(line, rate) * np.tanh(rate / 2)
    return np.log(np.maximum(line[half:], 1e-300))


@dataclass(frozen=True)
class TreeLaplace(Noise):
    """Laplace noise along a tree: an edge of `rates[i]` joins cell i to its parent, the later cell `parents[i]`.

    The last cell is the root.

    >>> TreeLaplace.path([Fraction(1, 2), Fraction(1)]).privacy_loss([1, 0, -1]).epsilon
    Fraction(3, 2)
    """

    parents: tuple[int, ...]
    rates: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if len(self.rates) != len(self.parents) or not self.rates or min(self.rates) <= 0:
            raise DeclarationError("A tree needs at least one edge, and every edge a rate above 0.")
        if any(not index < parent <= len(self.parents) for index, parent in enumerate(self.parents)):
            raise DeclarationError("The parent of every cell of a tree must be a later cell; the last is the root.")

    @classmethod
    def path(cls, rates: Sequence[Fraction]) -> "TreeLaplace":
        """Return the noise of ordered cells (a path): one rate for each step from a cell to the next."""
        return cls(tuple(range(1, len(rates) + 1)), tuple(rates))

    @property
    def is_path(self) -> bool:
        """Return whether the cells lie in a row."""
        return self.parents == tuple(range(1, len(self.rates) + 1))

    @cached_property
    def structure(self) -> Structure:
        return TotalPreserving(TreeStructure(self.blocks, self.parents, self.edges.number_rates, self.carried))

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return all cells: their noise sums to zero together."""
        return (len(self.parents) + 1,)

    @cached_property
    def edges(self) -> Laplace:
        """Return the distribution of the flow over the edges."""
        return Laplace(self.rates, (1,) * len(self.rates))

    def carried(self, noise: NumbersT) -> NumbersT:
        """Return U: for every edge the sum over all cells behind it."""
        sums = np.array(noise)
        for index, parent in enumerate(self.parents):
            sums[..., parent] += sums[..., index]
        return sums[..., :-1]

    def delivered(self, carried: NumbersT) -> NumbersT:
        """Return u: the noise in each cell after these flows over the edges."""
        found = np.concatenate([carried, np.zeros_like(carried[..., :1])], axis=-1)
        for index, parent in enumerate(self.parents):
            found[..., parent] -= carried[..., index]
        return found

    def sample(self, rows: int, bits: RandomBits) -> Counts:
        """Draw the flow over every edge; no draw is rejected."""
        return self.delivered(self.edges.sample(rows, bits))

    def simulate(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of whole numbers by seeded floats, for readers."""
        shares = -np.expm1(-self.edges.number_rates)
        drawn = [generator.geometric(shares, (rows, len(shares))) for _ in range(2)]
        return self.delivered((drawn[0] - drawn[1]).astype(float))

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return -sum_e r_e |U_e|, or -inf where noise does not sum to zero."""
        values = np.asarray(noise)
        return np.where(balanced_rows(values, self.blocks), self.edges.log_kernel(self.carried(values)), -np.inf)

    @property
    def log_normaliser(self) -> float:
        """Return -sum_e ln tanh(r_e/2)."""
        return self.edges.log_normaliser

    def _around(self, values: Floats) -> Floats:
        """Return for every cell the sum of the values of its edges."""
        found = np.append(values, 0.0)
        np.add.at(found, np.array(self.parents), values)
        return found

    @cached_property
    def variance(self) -> Floats:
        """Return the sum of the variances of the edges at each cell."""
        return self._around(self.edges.variance)

    @cached_property
    def decay_length(self) -> Floats:
        """Return one over the smallest rate at each cell, because its noise came over its edges."""
        least = np.append(self.edges.number_rates, np.inf)
        np.minimum.at(least, np.array(self.parents), self.edges.number_rates)
        return np.asarray(1 / least)

    def slope(self, noise: ArrayLike) -> Floats:
        """Return for each cell the slopes of all edges on its way to the root, added up."""
        slopes = self.edges.slope(self.carried(np.asarray(noise, dtype=float)))
        found = np.concatenate([slopes, np.zeros_like(slopes[..., :1])], axis=-1)
        for index in range(len(self.parents) - 1, -1, -1):
            found[..., index] += found[..., self.parents[index]]
        return found

    def _epsilon(self, change: Counts) -> Fraction:
        """Return sum_e r_e |C_e|, the distance over which a change is carried."""
        return self.edges._epsilon(self.carried(change))

    def _rho(self, change: Counts) -> Fraction:
        """Return the sum of the zCDP parameters of all edges that move."""
        return rho_of_moves(self.edges, self.carried(change))

    def _curve(self, change: Counts) -> PrivacyLoss:
        """Return the exact loss: the losses of all edges that move add up."""
        return self.edges.privacy_loss(self.carried(change)).curve

    def marginal(self, groups: Sequence[int]) -> "TreeSum | None":
        """Return the distribution of the noise of some cells and of all others: that of the edges between them."""
        if set(groups) != {0, 1}:
            return None
        edges = zip(groups, self.parents, self.rates, strict=False)
        return tree_sum(tuple(rate for group, parent, rate in edges if group != groups[parent]))

    def cut(self, index: int) -> PrefixSumNoise | None:
        """Return the distribution of the noise of the first cells of a path: that of the edge behind them.

        All cuts go as far as the widest one, so that each shows how far noise may go at any of them.
        """
        if not self.is_path:
            return None
        weights = _laplace_line(float(self.rates[index - 1]), float(min(self.rates)))
        return PrefixSumNoise(weights / weights.sum())

    @cached_property
    def cut_operations(self) -> float:
        """Return about how many operations the distributions of all cuts take, where cells form a path."""
        return float(np.sum((64 / self.edges.number_rates) ** 2)) if self.is_path else 0.0

    def single(self, index: int) -> PrefixSumNoise | None:
        """Return the distribution of the noise of one cell of a path: the difference of its two edges."""
        if not self.is_path:
            return None
        beside = [float(self.rates[edge]) for edge in (index - 1, index) if 0 <= edge < len(self.rates)]
        lines = [_laplace_line(rate) for rate in beside]
        weights = lines[0] if len(lines) == 1 else np.convolve(lines[0], lines[1])
        return PrefixSumNoise(weights / weights.sum())


def rho_of_moves(edges: Laplace, carried: Counts) -> Fraction:
    """Return sum_e r_e tanh(r_e/2) over edges that move by 1, and (r_e C_e)^2 / 2 over others: each is pure."""
    found = Fraction(0)
    with ctx.workprec(128):
        for (rate, step), times in edges.moves(carried).items():
            exact = ball(rate) * (ball(rate) / 2).tanh()
            one = rounded_up(Fraction(float(exact.upper())) * (1 + Fraction(1, 10**15)), 15)
            found += times * (one if step == 1 else (rate * step) ** 2 / 2)
    return found


def _laplace_line(rate: float, least: float | None = None) -> Floats:
    """Return e^(-rate |x|) as far as e^-32, or as far as the least rate falls by that."""
    half = int(32 / (least or rate)) + 2
    return np.asarray(np.exp(-rate * np.abs(np.arange(-half, half + 1))))
