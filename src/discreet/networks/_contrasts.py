"""Contrasts: the tables of a network in coordinates in which overlapping tables cannot contradict each other.

A variable with K levels 0, ..., K-1 has the Helmert contrasts h_a = (1, ..., 1, -a, 0, ..., 0), a = 1, ..., K-1, with a
ones, and h_0 = (1, ..., 1); they are orthogonal and |h_a|^2 = a (a + 1). For a block g of variables

    t_ga = sum over records of prod_{i in g} h_{a_i}(x_i)

is a whole number. The table of a family S is known from the number of records and from the t of all blocks g inside S,
and every table that has g inside uses the same t_ga: so marginals agree whatever noise the contrasts carry. Yes/no
variables have the one contrast (1, -1), and t_g is their Fourier coefficient, the sum of (-1)^(number of yes in g).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain, combinations
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet._core.arrays import Counts, Floats, NumbersT
from discreet._core.errors import DeclarationError
from discreet.networks._families import Family
from discreet.networks._model import Network

Block = tuple[str, ...]
"""The names of a block's variables, in the order of the network."""

MOST_BLOCKS, LARGEST_FAMILY = 100_000, 11


@dataclass(frozen=True)
class ContrastBasis:
    """The blocks of a network, all subsets of its families but the empty one, and the way to tables and back.

    >>> net = Network.from_edges("a -> b", levels={"a": ("no", "yes"), "b": ("no", "yes")}, outside="no")
    >>> basis = ContrastBasis(net)
    >>> basis.blocks, basis.contrasts(np.array([1, 1, 0, 2])).tolist()  # records 00, 01, 11, 11
    ((('a',), ('b',), ('a', 'b')), [0, -2, 2])
    """

    network: Network

    def __post_init__(self) -> None:
        largest = max(map(len, self.network.maximal_families))
        if largest > LARGEST_FAMILY:
            raise DeclarationError(
                f"A variable has {largest - 1} parents; at most {LARGEST_FAMILY - 1} are allowed, because every "
                "subset of them needs a coefficient."
            )
        if (count := sum(2 ** len(family) for family in self.network.maximal_families)) > MOST_BLOCKS:
            raise DeclarationError(
                f"The families (each variable with its parents) have {count} subsets; at most {MOST_BLOCKS} are "
                "allowed."
            )

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Return all non-empty subsets of families, small ones first: the downward closure of the families."""
        order = {variable.name: index for index, variable in enumerate(self.network.variables)}
        found = set(chain.from_iterable(self.within(family) for family in self.network.maximal_families))
        return tuple(sorted(found, key=lambda block: (len(block), [order[name] for name in block])))

    def within(self, family: Family) -> list[Block]:
        """Return the non-empty subsets of a family."""
        names = [variable.name for variable in self.network.variables if variable.name in set(family)]
        return [block for size in range(1, len(names) + 1) for block in combinations(names, size)]

    @cached_property
    def edges(self) -> tuple[int, ...]:
        """Return where the contrasts of each block begin, and where the last ones end."""
        lengths = [prod(levels - 1 for levels in self.network.shape(block)) for block in self.blocks]
        return tuple(np.cumsum([0, *lengths]).tolist())

    @property
    def length(self) -> int:
        """Return the number of contrasts of all blocks."""
        return self.edges[-1]

    @cached_property
    def indices(self) -> dict[Block, int]:
        """Return the index of each block."""
        return {block: index for index, block in enumerate(self.blocks)}

    @cached_property
    def homes(self) -> dict[Block, int]:
        """Return for each block the first maximal family around it."""
        found: dict[Block, int] = {}
        for index, family in enumerate(self.network.maximal_families):
            for block in self.within(family):
                found.setdefault(block, index)
        return found

    def sizes(self, counts: NumbersT) -> NumbersT:
        """Return for each block the number of records, as the first maximal family around it counts them."""
        tables = self.network.split(counts)
        totals = np.stack([table.reshape(*counts.shape[:-1], -1).sum(axis=-1) for table in tables], axis=-1)
        return np.asarray(totals[..., [self.homes[block] for block in self.blocks]])

    def contrasts(self, counts: NumbersT) -> NumbersT:
        """Return t for one or many rows of the counts of the maximal families, whole or real."""
        found = np.zeros((*counts.shape[:-1], self.length), dtype=np.asarray(counts).dtype)
        for index, (family, table) in enumerate(
            zip(self.network.maximal_families, self.network.split(counts), strict=True)
        ):
            matrices = [_helmert(levels) for levels in self.network.shape(family)]
            flat = _transformed(table, matrices).reshape(*counts.shape[:-1], -1)
            inside, outside = self._positions(family, [b for b in self.within(family) if self.homes[b] == index])
            found[..., outside] = flat[..., inside]
        return found

    def table(self, family: Family, contrasts: Counts | Floats, total: ArrayLike) -> NDArray[np.float64]:
        """Return the table of a family, axes (..., *family), from contrasts and the number of records."""
        shape, rows = self.network.shape(family), np.asarray(contrasts)
        flat = np.zeros((*rows.shape[:-1], prod(shape)))
        inside, outside = self._positions(family, self.within(family))
        flat[..., inside] = rows[..., outside]
        flat[..., 0] = total
        return _transformed(flat.reshape(*rows.shape[:-1], *shape), [_back(levels) for levels in shape])

    def tables(self, contrasts: Counts | Floats, total: ArrayLike) -> dict[str, NDArray[np.float64]]:
        """Return the table (parents..., variable) of each variable; their marginals agree."""
        return {family[-1]: self.table(family, contrasts, total) for family in self.network.families}

    def cell_variance(self, family: Family, variances: Sequence[float], through: str | None = None) -> float:
        """Return the variance of every cell of a family's table, from that of independent blocks and a known size.

        sum over blocks g in S of v_g prod_{i in g} (1 - 1/K_i) prod_{i in S, not g} K_i^-2, where v_g |h_a|^2 is the
        variance of t_ga: it is the same for all cells. `through` counts only blocks that hold this variable: the
        variance of a cell given the total of its row.
        """
        levels = dict(zip(family, self.network.shape(family), strict=True))
        total = 0.0
        for block in self.within(family):
            if through is None or through in block:
                share = prod(1 - 1 / k if name in block else k**-2 for name, k in levels.items())
                total += variances[self.indices[block]] * share
        return total

    def cost(self) -> NDArray[np.float64]:
        """Return how much each block's v_g adds to the variance of all cells of all family tables.

        prod_{i in g} (K_i - 1) times the sum over families S around g of prod_{i in S, not g} 1 / K_i.
        """
        found = np.zeros(len(self.blocks))
        for family in self.network.families:
            levels = dict(zip(family, self.network.shape(family), strict=True))
            for block in self.within(family):
                found[self.indices[block]] += prod(k - 1 if name in block else 1 / k for name, k in levels.items())
        return found

    def _positions(self, family: Family, blocks: list[Block]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the contrasts of blocks stand in the transformed table of a family, and among all contrasts."""
        cells = np.arange(prod(self.network.shape(family))).reshape(self.network.shape(family))
        inside, outside = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for block in blocks:
            own = cells[tuple(slice(1, None) if name in block else 0 for name in family)]
            left = [name for name in family if name in block]
            inside.append(own.transpose([left.index(name) for name in block]).ravel())
            index = self.indices[block]
            outside.append(np.arange(self.edges[index], self.edges[index + 1]))
        return np.concatenate(inside), np.concatenate(outside)


@lru_cache(maxsize=16)
def contrast_basis(network: Network) -> ContrastBasis:
    """Return the basis of a network."""
    return ContrastBasis(network)


def squared_lengths(levels: int) -> list[int]:
    """Return |h_a|^2 = a (a + 1) for a = 1, ..., K - 1."""
    return [a * (a + 1) for a in range(1, levels)]


def _helmert(levels: int) -> NDArray[np.int64]:
    """Return the matrix with the rows h_0, ..., h_(K-1)."""
    matrix = np.tril(np.ones((levels, levels), dtype=np.int64), -1)
    matrix[np.diag_indices(levels)] = -np.arange(levels)
    matrix[0] = 1
    return matrix


def _back(levels: int) -> NDArray[np.float64]:
    """Return the inverse: the rows are orthogonal, so it is the transpose, each column over its squared length."""
    return np.asarray(_helmert(levels).T / np.array([levels, *squared_lengths(levels)], dtype=float))


def _transformed(table: NumbersT, matrices: Sequence[Counts | Floats]) -> NumbersT:
    """Apply one matrix to each of the last axes of a table."""
    first = table.ndim - len(matrices)
    for axis, matrix in enumerate(matrices, first):
        product = np.asarray(np.tensordot(table, matrix, axes=(axis, 1)), dtype=table.dtype)
        table = np.moveaxis(product, -1, axis)
    return table
