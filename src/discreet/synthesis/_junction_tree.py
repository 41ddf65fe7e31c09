"""Joint distributions of many columns that factor over a junction tree, by plain arrays.

Columns are numbers 0, 1, ..., d - 1, and column v has `levels[v]` levels. A distribution is

    p(x) ~ exp(sum_C theta_C(x_C)) = prod_C p(x_C) / prod_S p(x_S),

over the cliques C of a triangulated graph and the separators S of a tree of these. Both passes of messages over the
tree (`calibrated`) give the margin of every clique and log Z; margins of any other columns carry these along the part
of the tree that joins them. A clique of columns that share nothing with the others hangs on an empty separator, so
there is one tree.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import log, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats

Columns = tuple[int, ...]
"""Columns by number, rising."""
UNKNOWN = -1
"""The code of a value that is not known."""
_TINY = 1e-300
_NUMBERS = 4_000_000  # of a message for several records at a time


def triangulated(levels: Sequence[int], edges: Iterable[Sequence[int]]) -> list[Columns]:
    """Return the cliques of a triangulated graph that holds all pairs of columns of these sets: none inside another.

    The column whose clique has the fewest cells is taken out first.
    """
    d, sizes = len(levels), np.log(np.asarray(levels, dtype=float))
    beside = np.zeros((d, d), dtype=bool)
    for columns in edges:
        for a, b in combinations(columns, 2):
            beside[a, b] = beside[b, a] = True
    costs = sizes + beside @ sizes
    left, cliques = np.ones(d, dtype=bool), list[set[int]]()
    for _ in range(d):
        v = int(np.argmin(np.where(left, costs, np.inf)))
        near = np.flatnonzero(beside[v])
        clique = {v, *near.tolist()}
        if not any(clique <= other for other in cliques):
            cliques.append(clique)
        beside[np.ix_(near, near)] = True
        beside[near, near] = False
        beside[v], beside[:, v], left[v] = False, False, False
        costs[near] = sizes[near] + beside[near] @ sizes
    return [tuple(sorted(clique)) for clique in cliques]


def cells_of(levels: Sequence[int], cliques: Iterable[Columns]) -> int:
    """Return how many cells the tables of cliques have together."""
    return sum(prod(levels[v] for v in clique) for clique in cliques)


def within(levels: Sequence[int], wanted: Sequence[Columns], most: int, kept: Sequence[Columns] = ()) -> list[Columns]:
    """Return those of some tables, the first ones first, that fit into a model of at most so many cells with `kept`."""
    edges, found = list(kept), list[Columns]()
    cliques = triangulated(levels, edges)
    for columns in wanted:
        own = set(columns)
        if not any(own <= set(clique) for clique in cliques):
            tried = triangulated(levels, [*edges, columns])
            if cells_of(levels, tried) > most:
                continue
            cliques = tried
        edges.append(columns)
        found.append(columns)
    return found


def spread(table: Floats, own: Columns, around: Columns) -> Floats:
    """Return a table over some columns with an axis of length one for each of the others around."""
    return table.reshape([table.shape[own.index(v)] if v in own else 1 for v in around])


def summed(table: Floats, around: Columns, kept: Collection[int]) -> Floats:
    """Return the margin of a table to the columns that are kept, in the order of `around`."""
    return np.asarray(table.sum(axis=tuple(axis for axis, v in enumerate(around) if v not in kept)))


def _log_summed(logs: Floats, around: Columns, kept: Columns) -> Floats:
    axes = tuple(axis for axis, v in enumerate(around) if v not in kept)
    if not axes:
        return logs
    top = logs.max(axis=axes, keepdims=True)
    return np.asarray(
        np.log(np.exp(logs - top).sum(axis=axes))
        + top.reshape([logs.shape[a] for a in range(logs.ndim) if a not in axes])
    )


@dataclass(frozen=True, eq=False)
class Tree:
    """A junction tree: cliques, and for each the number of its parent and the separator, in an order parents first."""

    levels: tuple[int, ...]
    cliques: tuple[Columns, ...]
    parents: tuple[int | None, ...]
    separators: tuple[Columns, ...]
    order: tuple[int, ...]

    @classmethod
    def over(cls, levels: Sequence[int], tables: Iterable[Sequence[int]]) -> "Tree":
        """Return a junction tree in which every one of these tables lies in a clique."""
        cliques = triangulated(levels, tables)
        count = len(cliques)
        sets = [set(clique) for clique in cliques]
        parents: list[int | None] = [None] * count
        shared = [-1] * count  # Prim: the widest separator to those that are in the tree
        nearest, inside, order = [0] * count, [False] * count, list[int]()
        following = 0
        for _ in range(count):
            inside[following] = True
            order.append(following)
            parents[following] = nearest[following] if len(order) > 1 else None
            for other in range(count):
                if not inside[other] and (width := len(sets[other] & sets[following])) > shared[other]:
                    shared[other], nearest[other] = width, following
            following = max((c for c in range(count) if not inside[c]), key=lambda c: (shared[c], -c), default=0)
        separators = [
            () if above is None else tuple(sorted(sets[clique] & sets[above])) for clique, above in enumerate(parents)
        ]
        return cls(tuple(levels), tuple(cliques), tuple(parents), tuple(separators), tuple(order))

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Return the cliques below each clique."""
        below: list[list[int]] = [[] for _ in self.cliques]
        for clique, above in enumerate(self.parents):
            if above is not None:
                below[above].append(clique)
        return tuple(map(tuple, below))

    @cached_property
    def _homes(self) -> dict[Columns, int | None]:
        return {}

    def home(self, columns: Columns) -> int | None:
        """Return the smallest clique that holds these columns, or None if none does."""
        if columns not in self._homes:
            holding = [c for c, clique in enumerate(self.cliques) if set(columns) <= set(clique)]
            self._homes[columns] = min(holding, key=lambda c: cells_of(self.levels, [self.cliques[c]]), default=None)
        return self._homes[columns]

    def shape(self, columns: Columns) -> tuple[int, ...]:
        """Return the number of levels of some columns."""
        return tuple(self.levels[v] for v in columns)

    def calibrated(self, potentials: Mapping[Columns, Floats]) -> tuple[list[Floats], float]:
        """Return the margins of all cliques under p ~ exp(sum of the potentials), and log Z."""
        logs = [np.zeros(self.shape(clique)) for clique in self.cliques]
        for columns, values in potentials.items():
            home = self.home(columns)
            assert home is not None, "a table lies in no clique"
            logs[home] += spread(values, columns, self.cliques[home])
        up: dict[int, Floats] = {}
        for c in reversed(self.order):
            above = self.parents[c]
            if above is not None:
                up[c] = _log_summed(logs[c], self.cliques[c], self.separators[c])
                logs[above] = logs[above] + spread(up[c], self.separators[c], self.cliques[above])
        margins: list[Floats] = [np.zeros(0)] * len(logs)
        total = 0.0
        for c in self.order:
            above, own = self.parents[c], logs[c]
            if above is not None:
                known = summed(margins[above], self.cliques[above], self.separators[c])
                own = own + spread(np.log(np.maximum(known, _TINY)) - up[c], self.separators[c], self.cliques[c])
            top = float(own.max())
            weights = np.exp(own - top)
            sum_ = float(weights.sum())
            if above is None:
                total = top + log(sum_)
            margins[c] = weights / sum_
        return margins, total


@dataclass(frozen=True, eq=False)
class TreeDistribution:
    """A joint distribution by the margins of the cliques of a junction tree."""

    tree: Tree
    margins: tuple[Floats, ...]

    @property
    def words(self) -> str:
        """Say what kind of model it is."""
        cells = cells_of(self.levels, self.tree.cliques)
        return f"the distribution of largest entropy on a junction tree of {cells:,} cells"

    @property
    def levels(self) -> tuple[int, ...]:
        """Return the number of levels of each column."""
        return self.tree.levels

    @cached_property
    def _given(self) -> tuple[Floats, ...]:
        """Return P(clique | separator to its parent), with the axes of the clique."""
        found = []
        for margin, clique, separator in zip(self.margins, self.tree.cliques, self.tree.separators, strict=True):
            below = np.maximum(summed(margin, clique, separator), _TINY)
            found.append(margin / spread(below, separator, clique))
        return tuple(found)

    def margin(self, columns: Sequence[int]) -> Floats:
        """Return the joint table of some columns, its axes in their order."""
        wanted = tuple(sorted(columns))
        home = self.tree.home(wanted)
        if home is not None:
            table = summed(self.margins[home], self.tree.cliques[home], wanted)
        else:
            table, axes = self._carried(self.tree.order[0], frozenset(wanted), frozenset())
            table = table.transpose([axes.index(v) for v in wanted])
        return np.ascontiguousarray(table.transpose([wanted.index(v) for v in columns]))

    def _carried(self, c: int, wanted: frozenset[int], kept: frozenset[int]) -> tuple[Floats, list[int]]:
        """Return P(what is wanted from a clique downwards | its separator), with axes for both."""
        clique = self.tree.cliques[c]
        operands: list[Any] = [self._given[c], list(clique)]
        out = set(clique) & (wanted | kept)
        for child in self.tree.children[c]:
            if not self._below[child] & wanted - set(self.tree.separators[child]):
                continue  # its conditional tables sum to one
            table, axes = self._carried(child, wanted, frozenset(self.tree.separators[child]))
            operands += [table, axes]
            out |= set(axes) & wanted
        axes = sorted(out)
        labels = {v: label for label, v in enumerate(sorted({v for own in operands[1::2] for v in own}))}
        named = [[labels[v] for v in each] if index % 2 else each for index, each in enumerate(operands)]
        found = np.einsum(*named, [labels[v] for v in axes], optimize=len(named) > 4)
        return np.asarray(found), axes

    @cached_property
    def _below(self) -> tuple[frozenset[int], ...]:
        """Return the columns of every clique and of all below it."""
        found: list[frozenset[int]] = [frozenset()] * len(self.tree.cliques)
        for c in reversed(self.tree.order):
            found[c] = frozenset(self.tree.cliques[c]).union(*(found[child] for child in self.tree.children[c]))
        return tuple(found)

    def pairs(self) -> dict[Columns, Floats]:
        """Return the joint tables of all pairs of columns: each column is carried through the whole tree once."""
        found: dict[Columns, Floats] = {}
        for first in range(len(self.levels)):
            for second, table in self._beside(first).items():
                if first < second:
                    found[first, second] = table
        return {pair: found[pair] for pair in combinations(range(len(self.levels)), 2)}

    def _beside(self, first: int) -> dict[int, Floats]:
        """Return P(first, other) for every other column."""
        start = self.tree.home((first,))
        assert start is not None, "every column lies in a clique"
        own = self.levels[first]
        same = np.eye(own).reshape([own, *(own if v == first else 1 for v in self.tree.cliques[start])])
        joint = {start: same * self.margins[start]}
        found: dict[int, Floats] = {}
        waiting = [start]
        while waiting:
            c = waiting.pop()
            clique = self.tree.cliques[c]
            for axis, v in enumerate(clique):
                if v != first and v not in found:
                    others = tuple(1 + a for a in range(len(clique)) if a != axis)
                    found[v] = joint[c].sum(axis=others)
            near = [(child, self.tree.separators[child]) for child in self.tree.children[c]]
            above = self.tree.parents[c]
            near += [] if above is None else [(above, self.tree.separators[c])]
            for other, separator in near:
                if other in joint:
                    continue
                axes = tuple(1 + a for a, v in enumerate(clique) if v not in separator)
                passed = joint[c].sum(axis=axes)
                around = self.tree.cliques[other]
                below = np.maximum(summed(self.margins[other], around, separator), _TINY)
                shape = [own, *(self.levels[v] if v in separator else 1 for v in around)]
                joint[other] = (passed / below).reshape(shape) * self.margins[other]
                waiting.append(other)
            joint[c] = np.zeros(0)  # it was visited
        return found

    def log_prob(self, records: Counts) -> Floats:
        """Return log p of records, rows of codes of all columns."""
        found = np.zeros(len(records))
        for given, clique in zip(self._given, self.tree.cliques, strict=True):
            found += np.log(np.maximum(given[tuple(records[:, v] for v in clique)], _TINY))
        return found

    def sample(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw records, as rows of codes of all columns: each clique given its separator."""
        found = np.zeros((count, len(self.levels)), dtype=np.int64)
        for c in self.tree.order:
            clique, separator = self.tree.cliques[c], self.tree.separators[c]
            new = tuple(v for v in clique if v not in separator)
            table = self._given[c].transpose([clique.index(v) for v in (*separator, *new)])
            rows = table.reshape(prod(self.tree.shape(separator)), -1)
            which = row_numbers(found, separator, self.levels)
            drawn = drawn_levels(rows, which, generator)
            for v, codes in zip(new, np.unravel_index(drawn, self.tree.shape(new)), strict=True):
                found[:, v] = codes
        return found

    def conditional(self, target: int, records: Counts) -> Floats:
        """Return P(target | what is known of each record), for rows of codes of all columns; UNKNOWN is not known.

        The code of the target itself is ignored. Messages go upwards to a clique with the target, for all records in
        which the same columns are known together.
        """
        found = np.empty((len(records), self.levels[target]))
        known = records != UNKNOWN
        known[:, target] = False
        patterns, which = np.unique(known, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(which.ravel() == number)
            free = [v for v in range(len(self.levels)) if not pattern[v]]
            widest = max(prod(self.levels[v] for v in clique if v in set(free)) for clique in self.tree.cliques)
            step = max(1, _NUMBERS // widest)
            for first in range(0, len(rows), step):
                some = rows[first : first + step]
                found[some] = self._conditional(target, records[some], pattern)
        return found

    def _conditional(self, target: int, records: Counts, known: NDArray[np.bool_]) -> Floats:
        start = self.tree.home((target,))
        assert start is not None, "every column lies in a clique"

        def upward(c: int, origin: int | None, separator: Columns) -> tuple[Floats, Columns]:
            """Return the message of a clique away from the target, over what is not known of a separator."""
            clique = self.tree.cliques[c]
            table = self.margins[c]
            if origin is not None:
                below = np.maximum(summed(table, clique, separator), _TINY)
                table = table / spread(below, separator, clique)
            seen = [v for v in clique if known[v]]
            free = tuple(v for v in clique if not known[v])
            turned = table.transpose([clique.index(v) for v in (*seen, *free)])
            own = turned[tuple(records[:, v] for v in seen)] if seen else turned[None]
            near = [(child, self.tree.separators[child]) for child in self.tree.children[c]]
            above = self.tree.parents[c]
            near += [] if above is None else [(above, self.tree.separators[c])]
            for other, between in near:
                if other != origin:
                    message, axes = upward(other, c, between)
                    own = own * message.reshape([len(message), *(self.levels[v] if v in axes else 1 for v in free)])
            kept = (target,) if origin is None else tuple(v for v in separator if not known[v])
            message = own.sum(axis=tuple(1 + a for a, v in enumerate(free) if v not in kept))
            top = message.reshape(len(message), -1).max(axis=1)
            return message / np.maximum(top, _TINY).reshape([-1] + [1] * (message.ndim - 1)), kept

        weights, _ = upward(start, None, ())
        total = weights.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, weights / np.maximum(total, _TINY), 1 / self.levels[target]))


def row_numbers(records: Counts, columns: Columns, levels: Sequence[int]) -> Counts:
    """Return the number of each record's cell in the table of some columns."""
    cells = np.zeros(len(records), dtype=np.int64)
    for v in columns:
        cells = cells * levels[v] + records[:, v]
    return cells


def drawn_levels(rows: Floats, which: Counts, generator: np.random.Generator) -> Counts:
    """Draw a level of each record from its row of probabilities, as evenly as whole numbers allow within each row.

    In a row of N records, level j gets floor(N p_j) or one more (systematic sampling), in random order: margins of the
    records then follow those of the distribution more closely than independent draws would.
    """
    order = np.argsort(which, kind="stable")
    edges = np.searchsorted(which[order], np.arange(len(rows) + 1))
    found = np.zeros(len(which), dtype=np.int64)
    for row in np.flatnonzero(np.diff(edges)):
        own = order[edges[row] : edges[row + 1]]
        marks = (generator.random() + np.arange(len(own))) / len(own)
        tops = np.cumsum(rows[row])
        found[generator.permutation(own)] = np.minimum(
            np.searchsorted(tops, marks * tops[-1], side="right"), rows.shape[1] - 1
        )
    return found
