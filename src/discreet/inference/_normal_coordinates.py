"""All tables of a graph as a function of independent standard normal numbers, whose distribution is that of the prior.

Along the order of `cliques`, the records of every row of parents get their levels by `sticks`, with the probabilities
integrated out. Then the records of each level are spread over the contexts by `couplings`: given its parents a variable
does not depend on them, so this is hypergeometric and free of any parameter. Contexts are halved again and again, so
that many splits are made at once. Two maps share the coordinates: `whole` gives the tables in whole numbers, with the
log weight under which normal coordinates have exactly the prior's distribution, and `smooth` stands in for it where a
sampler wants slopes. Arrays have the chains last.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats
from discreet.inference import _couplings as couplings
from discreet.inference._cliques import Clique, Parents, cliques
from discreet.inference._couplings import FAR
from discreet.inference._sticks import RowSticks, Stick, stick_of

JointTable = Callable[[tuple[int, ...]], tuple[Floats, float] | None]
"""What is roughly known about the joint table of some variables, by their indices: counts, and a cell's error."""

_FAR_OUT = 4.0  # anything within this many deviations is reached in a few moves


@dataclass(frozen=True, eq=False)
class _Halving:
    """One round of halving segments of contexts: which split, and where both halves and all others go."""

    split: Counts
    passed: Counts
    left: Counts
    right: Counts
    moved: Counts
    segments: int
    whole: Floats
    """The matrix of 0 and 1 that sums contexts over segments that split."""
    first: Floats
    """The same over their left halves."""


@lru_cache(maxsize=256)
def _halvings(contexts: int) -> tuple[_Halving, ...]:
    edges, found = [0, contexts], []
    while len(edges) <= contexts:
        segments = list(pairwise(edges))
        split = [i for i, (low, high) in enumerate(segments) if high - low > 1]
        middles = {i: (segments[i][0] + segments[i][1] + 1) // 2 for i in split}
        edges = sorted({*edges, *middles.values()})
        starts = {low: i for i, low in enumerate(edges[:-1])}
        passed = [i for i in range(len(segments)) if i not in middles]
        indices = np.arange(contexts)
        whole = np.array([(indices >= segments[i][0]) & (indices < segments[i][1]) for i in split], dtype=float)
        first = np.array([(indices >= segments[i][0]) & (indices < middles[i]) for i in split], dtype=float)
        left, right = ([starts[low] for low in lows] for lows in ([segments[i][0] for i in split], middles.values()))
        found.append(
            _Halving(
                split=np.array(split, dtype=np.int64),
                passed=np.array(passed, dtype=np.int64),
                left=np.array(left, dtype=np.int64),
                right=np.array(right, dtype=np.int64),
                moved=np.array([starts[segments[i][0]] for i in passed], dtype=np.int64),
                segments=len(edges) - 1,
                whole=whole,
                first=first,
            )
        )
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Block:
    """The positions of one clique's coordinates: a slice for each stick, and one for each halving of each level."""

    clique: Clique
    sticks: tuple[tuple[Stick | RowSticks, slice], ...]
    spreads: tuple[tuple[slice, ...], ...]
    halvings: tuple[_Halving, ...]


@dataclass(eq=False)
class Tape:
    """What the smooth map did, so that slopes can be propagated back through it."""

    tables: list[Floats] = field(default_factory=list)
    """The family tables (rows, levels, chains), in the order in which they were filled."""
    sticks: list[list[tuple[Floats, Floats, Floats]]] = field(default_factory=list)
    spreads: list[list[list[tuple[Floats, Floats, Floats]]]] = field(default_factory=list)


class Coordinates:
    """Normal coordinates of all tables of a graph with `size` records and Dirichlet priors (`alphas`) of its rows.

    Each is of one row, if all rows have the same, or has the axes (rows, levels).
    """

    def __init__(self, levels: tuple[int, ...], parents: Parents, alphas: Sequence[ArrayLike], size: int) -> None:
        self.size, self.blocks, first = size, [], 0
        for clique in cliques(levels, parents):
            alpha = np.atleast_2d(np.asarray(alphas[clique.variable], dtype=float)).tolist()
            sticks: list[tuple[Stick | RowSticks, slice]] = []
            spreads = []
            halvings = _halvings(clique.contexts)
            for level in range(clique.levels - 1):
                sticks.append((stick_of(alpha, level), slice(first, first + clique.rows)))
                first += clique.rows
                own = []
                for halving in halvings:
                    own.append(slice(first, first + clique.rows * len(halving.split)))
                    first = own[-1].stop
                spreads.append(tuple(own))
            self.blocks.append(_Block(clique, tuple(sticks), tuple(spreads), halvings))
        self.length = first
        self.order = [block.clique.variable for block in self.blocks]
        self.turns = np.argsort(self.order).tolist()

    def in_order(self, tables: Sequence[Floats]) -> list[Floats]:
        """Return tables in the order of the variables, from the order in which they were filled."""
        return [tables[turn] for turn in self.turns]

    def whole(self, q: Floats) -> tuple[list[Floats], Floats]:
        """Return family tables (rows, levels, chains) of every variable in whole numbers, and log weights (chains)."""
        families, _, weights = self._filled(q)
        return families, weights

    def filled(self, q: Floats) -> list[Floats]:
        """Return the tables of all cliques (rows, contexts, levels, chains) in whole numbers."""
        return self._filled(q)[1]

    def _filled(self, q: Floats) -> tuple[list[Floats], list[Floats], Floats]:
        """Return the tables of families and of cliques, and log weights."""
        weights, cliques_, families = np.zeros(q.shape[1]), list[Floats](), []
        for block in self.blocks:
            clique, chains = block.clique, q.shape[1]
            inflow = self._inflow(clique, cliques_, chains)
            inflow = np.rint(inflow)
            left, family, table = inflow.sum(axis=1), [], []
            for (stick, index), spread in zip(block.sticks, block.spreads, strict=True):
                count, own = stick.whole(left, np.clip(q[index], -FAR, FAR))
                weights += np.sum(own, axis=0) if isinstance(own, np.ndarray) else own
                left = left - count
                family.append(count)
                fill = count[:, None]
                for halving, where in zip(block.halvings, spread, strict=True):
                    s, a = halving.whole @ inflow, halving.first @ inflow
                    f = fill[:, halving.split]
                    t, own = couplings.whole(q[where].reshape(s.shape), s, a, f)
                    weights += own.sum(axis=(0, 1))
                    fill = _parted(halving, fill, t, f)
                inflow = inflow - fill
                table.append(fill)
            families.append(np.stack([*family, left], axis=1))
            cliques_.append(np.stack([*table, inflow], axis=2))
        return families, cliques_, weights

    def _inflow(self, clique: Clique, tables: Sequence[Floats], chains: int) -> Floats:
        """Return the counts over (parents, context), a margin of an earlier table."""
        if clique.home is None:
            return np.full((1, 1, chains), float(self.size))
        cells = tables[clique.home].reshape(-1, chains)
        return (clique.margin @ cells).reshape(clique.rows, clique.contexts, chains)

    def smooth(self, q: Floats) -> Tape:
        """Return family tables in real numbers, with all that slopes need."""
        tape, cliques_ = Tape(), list[Floats]()
        for block in self.blocks:
            inflow = self._inflow(block.clique, cliques_, q.shape[1])
            left, family, table = inflow.sum(axis=1), [], []
            sticks, spreads = [], []
            for (stick, index), spread in zip(block.sticks, block.spreads, strict=True):
                r, slope = stick.share(q[index], left)
                sticks.append((r, slope, left))
                count = left * r
                left = left - count
                family.append(count)
                fill, rounds = count[:, None], []
                for halving, where in zip(block.halvings, spread, strict=True):
                    s, a, f = halving.whole @ inflow, halving.first @ inflow, fill[:, halving.split]
                    t, part, load, sd = couplings.share(q[where].reshape(s.shape), s, a, f)
                    rounds.append((part, load, sd))
                    fill = _parted(halving, fill, t, f)
                spreads.append(rounds)
                inflow = np.maximum(inflow - fill, 0.0)
                table.append(fill)
            tape.tables.append(np.stack([*family, left], axis=1))
            tape.sticks.append(sticks)
            tape.spreads.append(spreads)
            cliques_.append(np.stack([*table, inflow], axis=2))
        return tape

    def slopes(self, tape: Tape, by_table: Sequence[Floats | None]) -> Floats:
        """Return the slope by every coordinate (coordinates, chains) from slopes by family cells.

        `by_table` holds them in the order of the variables, None where nothing depends on a table. They may be of more
        chains than the tape has, if that has one.
        """
        chains = next(each.shape[-1] for each in by_table if each is not None)
        found = np.empty((self.length, chains))
        cells: list[Floats | None] = [None] * len(self.blocks)  # slopes by the cells of each clique's table
        for turn in reversed(range(len(self.blocks))):
            block, own = self.blocks[turn], by_table[self.order[turn]]
            clique = block.clique
            below = cells[turn]
            shape = (clique.rows, clique.contexts, clique.levels, chains)
            by_cell = np.zeros(shape) if below is None else below.reshape(shape)
            by_family = np.zeros((clique.rows, clique.levels, chains)) if own is None else own
            inflow = by_cell[:, :, -1]  # what is left at the end is the last level's
            left = by_family[:, -1]
            for level in reversed(range(clique.levels - 1)):
                fill = by_cell[:, :, level] - inflow
                for halving, where, saved in zip(
                    block.halvings[::-1], block.spreads[level][::-1], tape.spreads[turn][level][::-1], strict=True
                ):
                    part, load, sd = saved
                    t = fill[:, halving.left] - fill[:, halving.right]
                    found[where] = (t * sd).reshape(-1, chains)
                    inflow = inflow + halving.first.T @ (t * load) - halving.whole.T @ (t * load * part)
                    up = np.empty((clique.rows, len(halving.split) + len(halving.passed), chains))
                    up[:, halving.split] = fill[:, halving.right] + t * part
                    up[:, halving.passed] = fill[:, halving.moved]
                    fill = up
                r, slope, before = tape.sticks[turn][level]
                by_count = by_family[:, level] + fill[:, 0] - left
                found[block.sticks[level][1]] = by_count * before * slope
                left = left + by_count * r
            inflow = inflow + left[:, None]
            if clique.home is not None:
                up = clique.margin.T @ inflow.reshape(-1, chains)
                known = cells[clique.home]
                cells[clique.home] = up if known is None else known + up
        return found

    def start(
        self, shares: Sequence[Floats], generator: np.random.Generator, joint: JointTable | None = None
    ) -> Floats:
        """Return coordinates where the rows of every variable have given shares of levels (rows, levels, chains).

        How levels and contexts go together is drawn, except where a joint table is known and lies so far out that
        chains would hardly get there.
        """
        q = generator.standard_normal((self.length, shares[0].shape[-1]))
        for block in self.blocks:
            clique = block.clique
            own = shares[clique.variable]
            for level, (stick, index) in enumerate(block.sticks):
                rest = np.maximum(own[:, level:].sum(axis=1), 1e-300)
                q[index] = stick.normal(own[:, level] / rest, self.size / clique.rows)
            names = (*clique.parents, *clique.context, clique.variable)
            if clique.context and joint is not None and (known := joint(names)) is not None:
                counts = np.maximum(known[0], 0.0).reshape(clique.rows, clique.contexts, clique.levels, 1)
                _put_far_couplings(block, q, counts, known[1])
        return q


def _put_far_couplings(block: _Block, q: Floats, counts: Floats, error: float) -> None:
    """Put couplings that are far out around where a table (rows, contexts, levels, 1) says, with this error in a cell.

    In the normal approximation, x is 0 +- 1 by itself, and z +- e by the table. Together they give
    z / (1 + e^2) +- e / sqrt(1 + e^2).
    """
    for level, spread in enumerate(block.spreads):
        inflow, fill = counts[:, :, level:].sum(axis=2), counts[:, :, level]
        for halving, where in zip(block.halvings, spread, strict=True):
            s, a, f, t = halving.whole @ inflow, halving.first @ inflow, halving.whole @ fill, halving.first @ fill
            z, sd = couplings.normal(t, s, a, f)
            e = error * np.sqrt(halving.first.sum(axis=1)[:, None]) / np.maximum(sd, 1e-9)
            middle, width = (z / (1 + e * e)).reshape(-1, 1), (e / np.sqrt(1 + e * e)).reshape(-1, 1)
            q[where] = np.where(np.abs(middle) > _FAR_OUT, middle + width * q[where], q[where])


def _parted(halving: _Halving, fill: Floats, first: Floats, whole: Floats) -> Floats:
    """Return the records of every segment after halving: t and f - t where it splits."""
    found = np.empty((fill.shape[0], halving.segments, fill.shape[2]))
    found[:, halving.left] = first
    found[:, halving.right] = whole - first
    found[:, halving.moved] = fill[:, halving.passed]
    return found
