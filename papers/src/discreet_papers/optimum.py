"""The floor: no mechanism with this guarantee has a smaller expected Hellinger distance.

A mechanism that chooses one of the posteriors of n records is a table x(k, r) = P(r | k), and both privacy and the loss
are linear in it:

    minimise    sum_k P(k) sum_r x(k, r) H(k, r)
    subject to  sum_r x(k, r) = 1,  x(k, r) <= e^epsilon x(k', r) + s(k, k', r)

for all neighbours k, k', with s = 0 for pure epsilon and sum_r s(k, k', r) <= delta otherwise. Whatever a mechanism
puts out may be exchanged for one of these posteriors without harm to privacy, so the floor holds for all outputs that
are read as such a posterior. Permuting cells of equal prior changes nothing, so pairs that differ only by that share a
variable.

Solvers of linear programs are not exact. The floor is therefore computed from their multipliers y, u >= 0 alone, by
weak duality, and it holds whatever the solver did: with y <= u,

    sum_k min_r [P(k) H(k, r) + what y adds to x(k, r)] - delta sum u  <=  the optimum.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import exp
from typing import Any

import numpy as np
from scipy.sparse import block_array, coo_array, csr_array, eye_array, hstack

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError, DiscreetError
from discreet._core.exact import Exact, positive, probability, whole
from discreet.choices._posterior_distances import Tables
from discreet.privacy import number_of_tables
from discreet.tables import Categories

MOST_VARIABLES = 5_200
"""Linear programs with more classes of pairs of tables take too long."""
_MOST_TABLES, _MOST_CELLS = 140, 5
_ROUNDING = 1e-12  # relative error of the floor's sums


@dataclass(frozen=True, eq=False)
class Optimum:
    """The smallest possible expected Hellinger distance: `value` was found by the solver, `floor` is a lower bound.

    `law` holds the optimal P(r | k) for all `tables` k (rows) and r (columns), feasible up to the solver's 1e-7.
    """

    value: float
    floor: float
    tables: Counts
    law: Floats

    def __repr__(self) -> str:
        return f"Optimum(value={self.value:.6f}, floor={self.floor:.6f}, {len(self.tables)} tables)"


def can_optimise(model: Categories, size: int) -> bool:
    """Tell whether the linear program is small enough."""
    if not isinstance(model, Categories):
        raise DeclarationError(f"The optimum is computed for Categories only; got a {type(model).__name__}.")
    tables = number_of_tables(whole(size, "size"), len(model.cells), _MOST_TABLES)
    if len(model.cells) > _MOST_CELLS or tables > _MOST_TABLES:
        return False
    return tables**2 <= MOST_VARIABLES * len(_symmetries(model.concentration))


def optimum(model: Categories, size: int, epsilon: Exact, delta: Exact = 0) -> Optimum:
    """Return the smallest prior-predictive mean of H among all (epsilon, delta)-private mechanisms.

    >>> optimum(Categories("coin", levels=("heads", "tails"), outside="heads"), size=5, epsilon=1)
    Optimum(value=0.187714, floor=0.187714, 6 tables)
    """
    program = Program(model, size, epsilon, delta)
    return program.solved(program.losses.T @ program.chances)


def minimax_optimum(model: Categories, size: int, epsilon: Exact, delta: Exact = 0) -> Optimum:
    """Return the smallest worst case over data sets of E[H], among all (epsilon, delta)-private mechanisms."""
    return Program(model, size, epsilon, delta).solved(None)


class Program:
    """The linear program, in classes of pairs (k, r) and triples (k, k', r) that symmetry makes equal."""

    def __init__(self, model: Categories, size: int, epsilon: Exact, delta: Exact) -> None:
        if not can_optimise(model, size):
            raise DeclarationError(
                f"The optimum is computed for at most {_MOST_TABLES} possible tables of counts; {size} records in "
                f"{len(model.cells)} cells have more. Compare mechanisms with each other instead."
            )
        self.growth, self.delta = exp(float(positive(epsilon, "epsilon"))), float(probability(delta, "delta"))
        tables = Tables(model.concentration, size)
        self.tables, self._distances = tables.all, tables.distances(tables.all)
        self._moved = [tables.indices(self.tables[:, list(order)]) for order in _symmetries(model.concentration)]
        self._kinds, of_table = np.unique(np.min(self._moved, axis=0), return_inverse=True)
        self.chances = np.asarray(np.bincount(of_table, np.exp(model.log_evidence(self.tables))))
        every = np.arange(len(self.tables))
        self.pairs = self._classes(every[:, None], every)
        self._first, self._second = _neighbours(self.tables)
        self.triples = self._classes(self._first[:, None], self._second[:, None], every)

    def _classes(self, *places: Counts) -> Counts:
        """Return a number for each tuple of tables, the same for tuples that a symmetry maps to each other."""
        number = len(self.tables)
        codes = np.min([_digits([move[place] for place in places], number) for move in self._moved], axis=0)
        return np.unique(codes, return_inverse=True)[1].reshape(codes.shape)

    @cached_property
    def members(self) -> csr_array:
        """Return for one table k of each kind how often a class of pairs occurs among (k, r)."""
        return _counted(self.pairs[self._kinds])

    @cached_property
    def losses(self) -> csr_array:
        """Return E[H | k] of one table of each kind, as a linear function of the variables."""
        found = np.zeros(self.pairs.max() + 1)
        found[self.pairs] = self._distances
        return csr_array(self.members.multiply(found))

    @cached_property
    def privacy(self) -> csr_array:
        """Return x(k, r) - e^epsilon x(k', r), one row for each class of triples."""
        shape = self.triples.max() + 1, self.pairs.max() + 1
        _, places = np.unique(self.triples, return_index=True)
        rows, ones, twos = np.arange(shape[0]), self.pairs[self._first].ravel(), self.pairs[self._second].ravel()
        plus = coo_array((np.ones(len(rows)), (rows, ones[places])), shape=shape)
        minus = coo_array((np.full(len(rows), self.growth), (rows, twos[places])), shape=shape)
        return csr_array(plus - minus)

    @cached_property
    def groups(self) -> csr_array:
        """Return for one pair of each class of neighbours how often a class of triples occurs among (k, k', r)."""
        _, places = np.unique(self.triples.min(axis=1), return_index=True)
        return _counted(self.triples[places], self.triples.max() + 1)

    def solved(self, costs: Floats | None) -> Optimum:
        """Minimise these costs, or if there are none the largest E[H | k]."""
        from scipy.optimize import linprog

        width, kinds = self.members.shape[1], len(self._kinds)
        rows, limits = self._inequalities(costs is None)
        objective = np.zeros(rows.shape[1])
        if costs is None:
            objective[-1] = 1.0
        else:
            objective[:width] = costs
        sums = csr_array(hstack([self.members, csr_array((kinds, rows.shape[1] - width))]))
        above: Any = rows  # sparse rows are taken, whatever the types of scipy say
        equal: Any = sums
        found = linprog(objective, A_ub=above, b_ub=limits, A_eq=equal, b_eq=np.ones(kinds), method="highs")
        if found.status != 0 or found.fun is None or found.x is None:
            raise DiscreetError(f"The solver found no optimum: {found.message}")
        return Optimum(float(found.fun), self._floor(costs, -found.ineqlin.marginals), self.tables, found.x[self.pairs])

    def _inequalities(self, minimax: bool) -> tuple[csr_array, Floats]:
        """Return all rows A x <= b: privacy with its slacks, sums of slacks, and losses below the largest of them."""
        number = self.privacy.shape[0]
        rows: list[list[csr_array | None]] = [[self.privacy]]
        limits = [np.zeros(number)]
        if self.delta:
            rows = [[self.privacy, csr_array(-eye_array(number))], [None, self.groups]]
            limits.append(np.full(self.groups.shape[0], self.delta))
        if minimax:
            kinds = len(self._kinds)
            rows = [[*row, None] for row in rows]
            rows.append([self.losses, *[None] * bool(self.delta), csr_array(np.full((kinds, 1), -1.0))])
            limits.append(np.zeros(kinds))
        return csr_array(block_array(rows)), np.concatenate(limits)

    def _floor(self, costs: Floats | None, multipliers: Floats) -> float:
        """Return the bound of weak duality for multipliers, moved to where they are allowed."""
        lengths = [self.privacy.shape[0], self.groups.shape[0] if self.delta else 0]
        y, u, shares = np.split(np.maximum(multipliers, 0.0), np.cumsum(lengths))
        if self.delta:
            y = np.minimum(y, self.groups.T @ u)
        if costs is None:
            costs = self.losses.T @ (shares / shares.sum())
        each = costs + self.privacy.T @ y
        best = sum(float((each[row.indices] / row.data).min()) for row in self._rows)
        return max(0.0, best - self.delta * float(u.sum()) - _ROUNDING)

    @property
    def _rows(self) -> list[csr_array]:
        return [csr_array(self.members[[row]]) for row in range(len(self._kinds))]


def _digits(places: list[Counts], base: int) -> Counts:
    """Return numbers whose digits are the given indices."""
    code: Counts = np.zeros((), dtype=np.int64)
    for place in places:
        code = code * base + place
    return np.asarray(code)


def _counted(classes: Counts, width: int | None = None) -> csr_array:
    """Return how often each class (column) occurs in each row."""
    rows = np.repeat(np.arange(len(classes)), classes.shape[1])
    shape = len(classes), classes.max() + 1 if width is None else width
    return coo_array((np.ones(classes.size), (rows, classes.ravel())), shape=shape).tocsr()


def _symmetries(alpha: Floats) -> list[tuple[int, ...]]:
    """Return the permutations of cells that keep the prior."""
    return [order for order in permutations(range(len(alpha))) if (alpha[list(order)] == alpha).all()]


def _neighbours(tables: Counts) -> tuple[Counts, Counts]:
    """Return the indices of all ordered pairs of tables that differ by one record."""
    apart = np.abs(tables[:, None] - tables).sum(axis=2)
    first, second = np.nonzero(apart == 2)
    return first, second
