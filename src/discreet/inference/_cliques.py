"""The tables of a graph along an order in which they can be filled one after another, without any contradiction.

Variables are eliminated from the moral graph one by one, each once nothing depends on it any more; its remaining
neighbours then become linked to each other. They are its parents and its *context*. Read backwards, parents come before
children, and the table over parents and context is a margin of an earlier table: the neighbours form a clique, so they
lie in the table of whichever of them was filled last. The cost is the number of cells of all these tables; many random
orders are tried, and the cheapest is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod

import numpy as np

from discreet._core.arrays import Floats

_TRIES = 200
_STEPS = 10_000  # about how many variables are eliminated in all attempts together
Parents = tuple[tuple[int, ...], ...]

MOST_CELLS = 20_000
"""Graphs whose best order needs tables of more cells are not sampled."""


@dataclass(frozen=True, eq=False)
class Clique:
    """The table of one variable: axes (parents, context, variable), filled from a margin of the table `home`."""

    variable: int
    parents: tuple[int, ...]
    context: tuple[int, ...]
    home: int | None
    shape: tuple[int, ...]
    """Levels of the parents, of the context and of the variable itself."""
    margin: Floats
    """The matrix of 0 and 1 from the cells of the home table to the cells over (parents, context)."""

    @cached_property
    def rows(self) -> int:
        """Return how many combinations of the parents' levels there are."""
        return prod(self.shape[: len(self.parents)])

    @cached_property
    def contexts(self) -> int:
        """Return how many combinations of the context's levels there are."""
        return prod(self.shape[len(self.parents) : -1])

    @property
    def levels(self) -> int:
        """Return the variable's number of levels."""
        return self.shape[-1]

    @property
    def cells(self) -> int:
        """Return the number of cells."""
        return prod(self.shape)


@lru_cache(maxsize=64)
def cliques(levels: tuple[int, ...], parents: Parents) -> tuple[Clique, ...]:
    """Return the tables of all variables in an order in which they can be filled, parents first.

    >>> [(clique.variable, clique.context, clique.home) for clique in cliques((2, 2, 2), ((), (), (0, 1)))]
    [(1, (), None), (0, (1,), 0), (2, (), 1)]
    """
    return tuple(_filled(_best_order(levels, parents)[1][::-1], levels, parents))


def clique_cells(levels: tuple[int, ...], parents: Parents) -> float:
    """Return how many cells all tables have together; no table is made."""
    return _best_order(levels, parents)[0]


_Order = list[tuple[int, frozenset[int]]]


@lru_cache(maxsize=64)
def _best_order(levels: tuple[int, ...], parents: Parents) -> tuple[float, _Order]:
    """Return the cheapest of many orders: variables with their neighbours when eliminated, and the cost."""
    generator = np.random.default_rng(0)
    tries = max(3, min(_TRIES, _STEPS // len(levels)))
    orders = [_eliminated(levels, parents, generator, spread=0.5 * (number > 0)) for number in range(tries)]
    return min(orders, key=lambda each: each[0])


def _eliminated(
    levels: Sequence[int], parents: Parents, generator: np.random.Generator, spread: float
) -> tuple[float, _Order]:
    """Return an order with its cost: always one of the cheapest variables that nothing depends on any more."""
    logs = np.log(levels)
    tied: list[set[int]] = [set() for _ in levels]
    children = [0] * len(levels)
    for v, above in enumerate(parents):
        for p in above:
            children[p] += 1
            tied[p] |= {v, *above} - {p}
            tied[v].add(p)
    sinks, cost, order = {v for v, number in enumerate(children) if not number}, 0.0, []
    while sinks:
        listed = sorted(sinks)
        sizes = np.array([logs[[v, *tied[v]]].sum() for v in listed])
        index = int((sizes - spread * generator.gumbel(size=len(listed))).argmin())
        v = listed[index]
        cost += float(np.exp(min(sizes[index], 600.0)))
        order.append((v, frozenset(tied[v])))
        for u in tied[v]:
            tied[u] |= tied[v] - {u}
            tied[u].discard(v)
        for p in parents[v]:
            children[p] -= 1
        sinks = (sinks - {v}) | {p for p in parents[v] if not children[p]}
    return round(cost) if cost < 1e15 else cost, order


def _filled(order: _Order, levels: Sequence[int], parents: Parents) -> list[Clique]:
    turn = {v: number for number, (v, _) in enumerate(order)}
    found: list[Clique] = []
    for v, around in order:
        own, rest = parents[v], tuple(sorted(around - set(parents[v])))
        axes = (*own, *rest)
        shape = tuple(levels[u] for u in (*axes, v))
        if not axes:
            found.append(Clique(v, own, rest, None, shape, np.ones((1, 1))))
            continue
        home = found[turn[max(axes, key=lambda u: turn[u])]]
        inside = (*home.parents, *home.context, home.variable)
        cells = np.indices(home.shape).reshape(len(inside), -1)
        indices = np.ravel_multi_index([cells[inside.index(u)] for u in axes], shape[:-1])
        margin = (np.arange(prod(shape[:-1]))[:, None] == indices).astype(float)
        found.append(Clique(v, own, rest, turn[home.variable], shape, margin))
    return found
