"""Chains through the tables of a graph in whole numbers: records go from one level of a variable to another.

With the probabilities integrated out, the tables T_v over (parents, context, variable) of `cliques` have the weight

    prod_v prod_rows Gamma(A) / Gamma(A + N_row) prod_x Gamma(alpha_x + F_x) / Gamma(alpha_x)
         * prod_v prod_(parents, context) N! / prod_x T_x!  *  P(outputs | tables),

F the margin of T_v over (parents, variable) and N that over what stands before v. A move takes d records that have
level a of one variable, and some levels of all that it shares a table with, to level b. Two cells change in every
table that holds the variable, so the change of the weight is a sum of a few differences of one-dimensional functions,
which are tabulated. Variable, levels, place and d are drawn whatever the counts are, but for two things that waste
fewer moves in sparse tables: d is taken modulo the least total of both cells, which no move changes; and where one
end is empty, records go from the other. So a move is proposed with chance 1 if the cell that it fills was empty, else
1/2, and it is accepted with min(1, weight' q' / (weight q)), q and q' these chances for the move and for the way back.
Any two data sets are linked by such moves of single records.

Unlike chains that follow slopes (`CountChains`), these lose nothing where single records matter, as they never round:
they suit sharp noise. Where noise hides many small cells at once, their sums change slowly, and slopes do better.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log, prod

import numpy as np
from scipy.special import gammaln

from discreet._core.arrays import Counts, Floats
from discreet.inference._cliques import Clique, Parents, cliques

Axes = tuple[int, ...]

LEAST_MOVES = 128
"""The least number of moves between two draws."""
_LONG = 5.0  # how many standard deviations of the noise the mean step may be long


@dataclass(frozen=True, eq=False)
class SeenTable:
    """What was measured of a table over some variables: the log kernel of every cell at counts (axes..., counts)."""

    axes: Axes
    log_kernel: Callable[[Floats], Floats]
    deviation: float
    """The largest standard deviation of the noise of a cell."""


@dataclass(frozen=True, eq=False)
class _Margin:
    """The counts over some variables, and their weights: functions of one count, one for each cell, to be added up."""

    axes: Axes
    shape: tuple[int, ...]
    shifts: tuple[tuple[int, Floats], ...]
    """Signs and shifts of functions +- log Gamma(shift + count), shifts by cells."""
    seen: tuple[SeenTable, ...]

    @property
    def cells(self) -> int:
        return prod(self.shape)

    def log_weights(self, size: int) -> Floats:
        """Return the log weight of every cell (rows) at every count from 0 to n."""
        counts = np.arange(size + 1.0)
        found = np.zeros((self.cells, size + 1))
        for sign, shift in self.shifts:
            values, where = np.unique(shift, return_inverse=True)
            found += sign * gammaln(values[:, None] + counts)[where]
        for each in self.seen:
            order = np.argsort(each.axes)
            found += each.log_kernel(counts).transpose(*order, len(order)).reshape(self.cells, -1)
        return found


def margins_that_weigh(
    levels: Sequence[int], parents: Parents, alphas: Sequence[Floats], seen: Sequence[SeenTable]
) -> list[_Margin]:
    """Return the margins whose weights multiply to that of all tables; factors that cancel are left out."""
    terms: dict[Axes, list[tuple[int, Floats]]] = {}
    tables = []

    def add(axes: Axes, sign: int, shift: Floats) -> None:
        order = np.argsort(axes)
        key, own = tuple(sorted(axes)), np.asarray(shift).transpose(order).ravel()
        known = terms.setdefault(key, [])
        for number, (other, there) in enumerate(known):
            if other == -sign and np.array_equal(there, own):
                del known[number]
                return
        known.append((sign, own))

    for clique in cliques(tuple(levels), parents):
        before, own = (*clique.parents, *clique.context), (*clique.parents, clique.variable)
        alpha = np.asarray(alphas[clique.variable], dtype=float).reshape([levels[u] for u in own])
        add(own, 1, alpha)
        add(clique.parents, -1, alpha.sum(axis=-1))
        add((*before, clique.variable), -1, np.ones(clique.shape))
        add(before, 1, np.ones(clique.shape[:-1]))
        tables.append(frozenset((*before, clique.variable)))
    largest = [tuple(sorted(t)) for t in dict.fromkeys(tables) if not any(t < other for other in tables)]
    for each in seen:
        terms.setdefault(tuple(sorted(each.axes)), [])
    found = []
    for axes in dict.fromkeys([*terms, *largest]):
        measured = tuple(each for each in seen if set(each.axes) == set(axes))
        if axes and (measured or terms.get(axes) or axes in largest):
            found.append(_Margin(axes, tuple(levels[u] for u in axes), tuple(terms.get(axes, ())), measured))
    return found


class RecordMoves:
    """Chains side by side, from tables (rows, contexts, levels, chains) in the order of `cliques`."""

    def __init__(
        self,
        levels: Sequence[int],
        parents: Parents,
        margins: Sequence[_Margin],
        size: int,
        tables: Sequence[Floats],
        generator: np.random.Generator,
    ) -> None:
        self._levels, self._parents, self._size, self._generator = tuple(levels), parents, size, generator
        self._margins = list(margins)
        self._first = np.cumsum([0, *(margin.cells for margin in margins)])
        self._strides = np.zeros((len(margins), len(levels)), dtype=np.int64)
        for row, margin in zip(self._strides, margins, strict=True):
            row[list(margin.axes)] = [prod(margin.shape[n + 1 :]) for n in range(len(margin.axes))]
        filled = list(zip(cliques(self._levels, parents), tables, strict=True))
        self._state = np.concatenate([_summed(filled, margin.axes, self._levels) for margin in margins])
        self._weights = np.concatenate([margin.log_weights(size).ravel() for margin in margins])
        self.chains = self._state.shape[1]
        self.moves = {v: number_of_moves(margins, v) for v in range(len(levels)) if levels[v] > 1}
        self._long = log(1 + _LONG * max((each.deviation for m in margins for each in m.seen), default=float(size)))
        self.accepted = 0.0

    def sweep(self) -> None:
        """Try moves of every variable, about one for each pair of cells."""
        shares = [self._moved(v, number) for v, number in self.moves.items()]
        self.accepted = float(np.mean(shares))

    def _moved(self, v: int, number: int) -> float:
        """Try this many moves of a variable in all chains; return the share accepted.

        Moves at different levels of what stands in every table with v share no cell: these are tried side by side, all
        others one after the other.
        """
        generator, levels, chains = self._generator, self._levels, self.chains
        own = np.flatnonzero(self._strides[:, v])
        others = [set(self._margins[row].axes) - {v} for row in own.tolist()]
        apart = sorted(set.intersection(*others))
        rows = np.indices([levels[u] for u in apart]).reshape(len(apart), prod(levels[u] for u in apart))
        width = rows.shape[1] * chains
        number = -(-number // rows.shape[1])
        place = self._first[own][:, None] + np.repeat(self._strides[own][:, apart] @ rows, chains, axis=1)
        for u in sorted(set.union(*others) - set(apart)):
            place = place + self._strides[own, u][:, None] * generator.integers(levels[u], size=(number, 1, width))
        a = generator.integers(levels[v], size=(number, 1, width))
        b = (a + 1 + generator.integers(levels[v] - 1, size=(number, 1, width))) % levels[v]
        stride = self._strides[own, v][:, None]
        pairs = np.stack((place + stride * a, place + stride * b), axis=1)  # (moves, source and goal, tables, width)
        lengths = np.exp(self._long * generator.random((number, width))) - 1
        steps = np.floor(lengths * generator.standard_exponential((number, width))).astype(np.int64)
        marks = -generator.standard_exponential((number, width))
        cells = pairs * chains + np.tile(np.arange(chains), rows.shape[1])
        state, weights, ways, taken = self._state.ravel(), self._weights, np.array([-1, 1])[:, None, None], 0
        for where, first, length, mark in zip(cells, pairs * (self._size + 1), steps, marks, strict=True):
            counts = state.take(where)
            here, there = counts.min(axis=1)
            back = here == 0
            held = np.where(back, there, here)
            step = 1 + length % np.maximum((counts[0] + counts[1]).min(axis=0), 1)
            step *= step <= held
            turned = (step == held).astype(np.int64) - (back | (there == 0))
            change = ways * np.where(back, -step, step)
            before = first + counts
            gains = (weights.take(before + change) - weights.take(before)).sum(axis=(0, 1))
            change *= mark <= gains + log(2) * turned
            state[where] = counts + change
            taken += int(np.count_nonzero(change[1]))
        return float(taken / (number * width))

    @property
    def tables(self) -> list[Counts]:
        """Return the family tables (rows, levels, chains) of all variables."""
        found = []
        for v, above in enumerate(self._parents):
            axes = (*above, v)
            row = next(row for row, margin in enumerate(self._margins) if set(axes) <= set(margin.axes))
            margin = self._margins[row]
            cells = self._state[self._first[row] : self._first[row + 1]].reshape(*margin.shape, -1)
            found.append(_onto(cells, margin.axes, axes).reshape(-1, self._levels[v], self.chains))
        return found


def number_of_moves(margins: Sequence[_Margin], v: int) -> int:
    """Return how often a variable is moved in a sweep: once for each pair of cells of its largest table."""
    return max(margin.cells for margin in margins if v in margin.axes) // 2


def _onto(cells: Counts, axes: Axes, kept: Axes) -> Counts:
    """Return a margin of a table with axes (*axes, chains), its axes in the order of those that are kept."""
    summed = cells.sum(axis=tuple(n for n, u in enumerate(axes) if u not in kept))
    left = [u for u in axes if u in kept]
    return np.asarray(summed.transpose(*(left.index(u) for u in kept), len(left)))


def _summed(filled: Sequence[tuple[Clique, Floats]], axes: Axes, levels: Sequence[int]) -> Counts:
    """Return a margin (cells, chains) of the first table that holds all its variables."""
    clique, table = next((c, t) for c, t in filled if set(axes) <= {*c.parents, *c.context, c.variable})
    own = (*clique.parents, *clique.context, clique.variable)
    cells = np.rint(table).astype(np.int64).reshape(*(levels[u] for u in own), -1)
    return _onto(cells, own, axes).reshape(-1, cells.shape[-1])
