"""TreeLevels: how many records have each level of a tree, under its metric: levels that are close look alike.

Levels are nodes joined by edges of declared lengths: districts are children of their region, and what is known only to
the region is a level itself. A record that moves from a to b is as far away as the path between them is long. With U_e
the sum of the noise over all levels behind the edge e,

    P(u) = prod_e tanh(r_e/2) e^(-r_e |U_e|),   r_e = epsilon_per_unit length_e,   sum u = 0,

so that ln P(z | k) - ln P(z | k') <= epsilon_per_unit W(k, k') for data sets at ANY distance W, what it costs to carry
the units of one along the edges to where the other has them, with equality at z = k. For any change of one record it is
epsilon = epsilon_per_unit times the longest path, and that is what an ordinary ledger is charged. Every sum of levels
behind an edge has the noise of that edge alone: the longer the edge of a region, the less noisy its total.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet._core.arrays import Counts
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, positive
from discreet.mechanism import MetricMechanism, Model
from discreet.noise import TreeLaplace
from discreet.privacy import Tree
from discreet.tables._mechanisms import NoisyCounts, TableCells
from discreet.tables._model import Categories

MOST_LEVELS = 200
"""The longest path of any two levels is looked for among all pairs of ends."""


@dataclass(frozen=True)
class TreeCells(TableCells):
    """All levels of a tree; `parents` holds the index of each parent, a later level, and `rates` the edges' rates."""

    parents: tuple[int, ...]
    rates: tuple[Fraction, ...]

    def changes(self) -> tuple[Counts, ...]:
        """Return one unit that moves between two ends of the tree, one for all pairs with the same rates between them.

        Every path lies inside one between two ends, leaves or the root, and crosses no other
        edges. Paths with the same rates have the same loss.
        """
        ends = sorted(set(range(len(self.parents) + 1)) - set(self.parents) | {len(self.parents)})
        found: dict[tuple[Fraction, ...], Counts] = {}
        for number, one in enumerate(ends):
            for two in ends[number + 1 :]:
                edges = set(self._way(one)) ^ set(self._way(two))
                change = np.zeros(self.length, dtype=np.int64)
                change[one], change[two] = 1, -1
                found.setdefault(tuple(sorted(self.rates[edge] for edge in edges)), change)
        return tuple(found.values())

    def _way(self, index: int) -> list[int]:
        way = []
        while index < len(self.parents):
            way.append(index)
            index = self.parents[index]
        return way


@dataclass(frozen=True, init=False, repr=False)
class TreeLevels(MetricMechanism[Categories], NoisyCounts, kind="TreeLevels", version=1):
    """Counts of levels that form a tree, with metric privacy: `epsilon` holds for any change, along the longest path.

    For every level except the last, which is the root, `parents` holds the index of its parent, a later level, and
    `lengths` the length of that edge.

    >>> place = Categories("place", levels=("east", "west", "north", "unknown"), outside="unknown")
    >>> table = TreeLevels.per_unit(place, 1000, "0.5", {"east": "north", "west": "north", "north": "unknown"})
    >>> table.guarantee.epsilon, table.guarantee.metric.at("east", "north").epsilon
    (Fraction(1, 1), Fraction(1, 2))
    """

    parents: tuple[int, ...]
    lengths: tuple[Fraction, ...]
    reason = "noise in the shape of transport along the tree (triangle inequality, at any distance)"

    def __init__(
        self, model: Categories, size: int, epsilon: Exact, parents: Sequence[int], lengths: Sequence[Exact]
    ) -> None:
        super().__init__(model, size, epsilon)
        if len(model.columns) != 1 or not 2 <= len(model.cells) <= MOST_LEVELS:
            raise DeclarationError(
                f"A tree joins the levels of one column, which must have 2 to {MOST_LEVELS} of them."
            )
        object.__setattr__(self, "parents", tuple(int(each) for each in parents))
        object.__setattr__(self, "lengths", tuple(exact(each, "a length") for each in lengths))
        if len(self.parents) != len(model.cells) - 1:
            raise DeclarationError(
                f"Every one of the {len(model.cells)} levels except the last, the root, must have a parent."
            )
        self.metric  # noqa: B018 - which refuses what is no tree

    @classmethod
    def per_unit(
        cls,
        model: Categories,
        size: int,
        epsilon_per_unit: Exact,
        hangs_on: Mapping[str, str],
        lengths: Mapping[str, Exact] | None = None,
    ) -> "TreeLevels":
        """Return the mechanism with this epsilon for each unit of length; other edges have length 1."""
        parents, edges = tree_parents(model, hangs_on, lengths or {})
        metric = _metric(model, parents, edges)
        return cls(model, size, positive(epsilon_per_unit, "epsilon_per_unit") * metric.diameter, parents, edges)

    @cached_property
    def metric(self) -> Tree:
        """Return the distance of levels: the length of the path between them."""
        return _metric(self.model, self.parents, self.lengths)

    @property
    def epsilon_per_unit(self) -> Fraction:
        return self.epsilon / self.metric.diameter

    @cached_property
    def noise(self) -> TreeLaplace:
        return TreeLaplace(self.parents, tuple(self.epsilon_per_unit * length for length in self.lengths))

    @cached_property
    def quantities(self) -> TreeCells:
        return TreeCells(self.model, self.noise.parents, self.noise.rates)

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Yield a small instance with the same edges, or with a few levels in a row and the first lengths."""
        count = int(model.contributions(MOST_LEVELS)[0].shape[1]) - 1
        small = {"parents": tuple(range(1, count + 1)), "lengths": (self.lengths * count)[:count]}
        yield {} if model == self.model else small


def tree_parents(
    model: Categories, hangs_on: Mapping[str, str], lengths: Mapping[str, Exact]
) -> tuple[tuple[int, ...], tuple[Fraction, ...]]:
    """Return parents and lengths in the order of the levels; refuse what is no tree, or is in another order."""
    levels = [str(level) for level in model.cells]
    roots = [level for level in levels if level not in hangs_on]
    strange = sorted({*hangs_on, *hangs_on.values(), *lengths} - set(levels))
    if strange or len(roots) != 1 or set(lengths) - set(hangs_on):
        wrong = (
            f"{strange[0]!r} is not a level" if strange else f"{', '.join(map(repr, roots)) or 'none'} without a parent"
        )
        raise DeclarationError(
            f"hangs_on must name, for every level except one (the root), its parent level, but {wrong}. "
            f"Levels are {', '.join(map(repr, levels))}; each length belongs to an edge."
        )
    late = [level for level in levels if level in hangs_on and levels.index(hangs_on[level]) <= levels.index(level)]
    if late:
        raise DeclarationError(
            f"Declare levels so that each stands before its parent, the root last: the parent of {late[0]!r} is "
            f"{hangs_on[late[0]]!r}, which stands before it."
        )
    found = [levels.index(hangs_on[level]) for level in levels[:-1]]
    return tuple(found), tuple(exact(lengths.get(level, 1), f"the length of {level!r}") for level in levels[:-1])


def _metric(model: Categories, parents: Sequence[int], lengths: Sequence[Fraction]) -> Tree:
    (column,) = model.columns
    return Tree(column, parents, lengths)
