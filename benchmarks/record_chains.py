"""Graphs read by Markov chains over the table of all records, to compare with.

The state of a chain is a made-up data set, as counts of all combinations of levels, and a set of probabilities. Every
move is reversible under the prior law of both, P(probabilities) P(records | probabilities), so all that decides whether
it is taken is the noise: a move from family tables k to k' is accepted with probability min(1, P(z | k') / P(z | k)),
and the law of the chain is the exact posterior. At a variable v the moves are

- *descend*: each record with some probability gets a new level of v given its parents, and of all that depends on v;
- *reconsider*: each record with some probability gets a new level of v given all else, parents and children alike;
- *shift*: one row of probabilities moves from p to p', reversibly under its prior, and each of its records with level x
  stays with probability min(1, p'_x / p_x) or goes to a level that has gained: many records in one direction at once;
- *relearn*: all probabilities are drawn anew given the records, which always fits.

Records with the same levels move together as binomial and multinomial numbers, so the work does not grow with them. How
many take part, and how far a row moves, is tuned while the chains warm up and fixed from then on.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet.mathematics.distributions._dirichlet import log_dirichlet_rows
from discreet.networks import Network

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Fit = Callable[[Counts], Floats]
"""The log-likelihood of the releases for rows of counts of the maximal families."""

_WANTED = 0.3  # share of moves that are taken, to which their size is tuned
_LEAST = 1e-290  # probabilities below are not told from zero


class Families:
    """The tables of all families in one row: where each begins, and how it lies in the table of all variables."""

    def __init__(self, model: Network) -> None:
        names = [variable.name for variable in model.variables]
        self.shape = model.shape(names)
        self.parents = [tuple(names.index(name) for name in above) for above in model.parents]
        self.children = [[c for c, above in enumerate(self.parents) if v in above] for v in range(len(names))]
        self.below = [self._beneath(v) for v in range(len(names))]  # a variable and all that depends on it
        self.rows = [prod(self.shape[p] for p in above) for above in self.parents]
        self.starts = np.cumsum([0, *(rows * levels for rows, levels in zip(self.rows, self.shape, strict=True))])
        last = [names.index(family[-1]) for family in model.maximal_families]
        self.maximal = np.concatenate([np.arange(self.starts[v], self.starts[v + 1]) for v in last])
        self.priors = np.concatenate([np.tile(p, rows) for p, rows in zip(model.prior, self.rows, strict=True)])
        self._turns = [self._turn((*above, v)) for v, above in enumerate(self.parents)]
        self._sums = self._places()

    def _turn(self, family: tuple[int, ...]) -> tuple[list[int], list[int], list[int]]:
        order = [0, *(1 + family.index(v) for v in sorted(family))]
        sizes = [levels if v in family else 1 for v, levels in enumerate(self.shape)]
        return [self.shape[v] for v in family], order, sizes

    @property
    def cells(self) -> int:
        """Return how many cells the tables of all families have together."""
        return int(self.starts[-1])

    def _beneath(self, variable: int) -> list[int]:
        found = {variable}
        for other in range(variable + 1, len(self.shape)):
            if found.intersection(self.parents[other]):
                found.add(other)
        return sorted(found)

    def _places(self) -> "csr_array":
        """Return the matrix of 0 and 1 from the table of all variables to the cells of all families."""
        from scipy.sparse import csr_array

        combinations = np.indices(self.shape).reshape(len(self.shape), -1)
        rows = []
        for v, above in enumerate(self.parents):
            family = (*above, v)
            rows.append(
                self.starts[v] + np.ravel_multi_index(combinations[list(family)], [self.shape[w] for w in family])
            )
        columns = np.tile(np.arange(combinations.shape[1]), len(rows))
        return csr_array((np.ones(columns.size, dtype=np.int64), (np.concatenate(rows), columns)))

    def part(self, variable: int) -> slice:
        """Return where the table of a variable stands."""
        return slice(int(self.starts[variable]), int(self.starts[variable + 1]))

    def spread(self, variable: int, table: Floats) -> Floats:
        """Return a family's tables (chains, rows * levels) with an axis for each variable, of length 1 for others."""
        split, order, sizes = self._turns[variable]
        return table.reshape(-1, *split).transpose(order).reshape(-1, *sizes)

    def margins(self, joint: Counts) -> Counts:
        """Return the tables of all families (chains, cells) from tables of all variables."""
        return np.asarray((self._sums @ joint.reshape(len(joint), -1).T).T)

    def means(self, tables: Counts | Floats) -> Floats:
        """Return (prior + count) / (total of both) in every row of every table (..., cells)."""
        shapes = self.priors + tables
        parts = []
        for v, levels in enumerate(self.shape):
            rows = shapes[..., self.part(v)].reshape(*shapes.shape[:-1], -1, levels)
            parts.append((rows / rows.sum(axis=-1, keepdims=True)).reshape(*shapes.shape[:-1], -1))
        return np.concatenate(parts, axis=-1)


class Chains:
    """Several chains side by side; `shapes` are the Dirichlet parameters from which their probabilities start."""

    def __init__(self, model: Network, size: int, fit: Fit, shapes: Floats, chains: int, seed: int) -> None:
        self.families, self.size, self.count = Families(model), size, chains
        self._fit, self._generator = fit, np.random.default_rng(seed)
        variables = range(len(self.families.shape))
        self._chances = self._dirichlet(np.broadcast_to(shapes, (chains, self.families.cells)))
        everyone = np.full((chains, *(1 for _ in variables)), size)
        self._joint = self._expanded(everyone, list(variables), self._chances[:, self.families.part(0)])
        self.tables = self.families.margins(self._joint)
        self._fits = fit(self.tables[:, self.families.maximal])
        self._shares = {("descend", v): 0.05 for v in variables}
        self._shares |= {("reconsider", v): 0.05 for v in variables if len(self.families.below[v]) > 1}
        self._widths = dict.fromkeys(variables, 10.0)

    def sweep(self, gain: float = 0.0) -> None:
        """Try every move at every variable; a positive gain tunes how large moves are."""
        for (kind, v), share in self._shares.items():
            part = share * self._generator.exponential()  # now and then few records, now and then many
            leaving = self._some(self._joint, min(1.0, part))
            taken = self._descend(v, leaving) if kind == "descend" else self._reconsider(v, leaving)
            self._shares[kind, v] = float(np.clip(share * np.exp(gain * (taken - _WANTED)), 0.1 / self.size, 1))
        self._relearn()
        for v, width in self._widths.items():
            taken = self._shift(v, int(width))
            self._widths[v] = float(np.clip(width * np.exp(gain * (_WANTED - taken)), 1, 1e9))
        self._relearn()

    def _relearn(self) -> None:
        self._chances = self._dirichlet(self.families.priors + self.tables)

    def _descend(self, v: int, leaving: Counts) -> float:
        coming = self._redrawn(leaving, v, self._chances[:, self.families.part(v)])
        return float(self._judge(coming - leaving).mean())

    def _redrawn(self, leaving: Counts, v: int, chances: Floats) -> Counts:
        """Return the records that leave with new levels of v, by these chances, and of all that depends on it."""
        axes = tuple(1 + w for w in self.families.below[v])
        return self._expanded(leaving.sum(axis=axes, keepdims=True), self.families.below[v], chances)

    def _expanded(self, totals: Counts, variables: Sequence[int], first: Floats) -> Counts:
        """Split records by variables of which they have no level yet, parents first; `first` has the chances of one."""
        for number, v in enumerate(variables):
            table = first if number == 0 else self._chances[:, self.families.part(v)]
            split = table.reshape(self.count, -1, self.families.shape[v])
            totals = self._split(totals, v, self.families.spread(v, _one_by_one(split)))
        return totals

    def _split(self, totals: Counts, v: int, shares: Floats) -> Counts:
        """Split records by levels of a variable, whose axis has length 1: each gets its share of what is left."""
        parts, place = [], (slice(None),) * (1 + v)
        for level in range(self.families.shape[v] - 1):
            parts.append(self._some(totals, shares[(*place, slice(level, level + 1))]))
            totals = totals - parts[-1]
        return np.concatenate([*parts, totals], axis=1 + v)

    def _some(self, counts: Counts, shares: Floats | float) -> Counts:
        """Draw how many of some records are chosen, each with its probability; most counts are zero."""
        places = counts.nonzero()
        chosen = np.zeros_like(counts)
        chosen[places] = self._generator.binomial(counts[places], np.broadcast_to(shares, counts.shape)[places])
        return chosen

    def _reconsider(self, v: int, leaving: Counts) -> float:
        """Give records a level of v by P(v | parents) prod_children P(child | its parents)."""
        weights = self.families.spread(v, self._chances[:, self.families.part(v)])
        for child in self.families.children[v]:
            weights = weights * self.families.spread(child, self._chances[:, self.families.part(child)])
        shares = np.moveaxis(_one_by_one(np.moveaxis(np.maximum(weights, _LEAST), 1 + v, -1)), -1, 1 + v)
        coming = self._split(leaving.sum(axis=1 + v, keepdims=True), v, shares)
        return float(self._judge(coming - leaving).mean())

    def _judge(self, moved: Counts) -> NDArray[np.bool_]:
        """Take the move in those chains in which the noise allows it."""
        tables = self.tables + self.families.margins(moved)
        fits = self._fit(tables[:, self.families.maximal])
        taken = np.log(self._generator.random(self.count)) < fits - self._fits
        self._joint[taken] += moved[taken]
        self.tables[taken], self._fits[taken] = tables[taken], fits[taken]
        return np.asarray(taken)

    def _shift(self, v: int, width: int) -> float:
        """Move one row of P(v | parents), and its records with it.

        `width` pretended records M ~ p, then p' ~ Dirichlet(prior + M): a smaller number moves the row farther.
        """
        levels, part = self.families.shape[v], self.families.part(v)
        row = int(self._generator.integers(self.families.rows[v])) * levels
        place = slice(part.start + row, part.start + row + levels)
        before = self._chances[:, place] / self._chances[:, place].sum(axis=1, keepdims=True)
        after = self._rows(self.families.priors[place] + self._generator.multinomial(width, before))
        going = np.zeros((self.count, part.stop - part.start))
        going[:, row : row + levels] = 1 - np.minimum(1.0, after / before)
        gains = np.ones_like(going)
        gains[:, row : row + levels] = np.maximum(after - before, _LEAST)
        leaving = self._some(self._joint, self.families.spread(v, going))
        taken = self._judge(self._redrawn(leaving, v, gains) - leaving)
        self._chances[taken, place] = after[taken]
        return float(taken.mean())

    def _dirichlet(self, shapes: Floats) -> Floats:
        """Draw the rows of every table."""
        tables = [shapes[:, self.families.part(v)] for v in range(len(self.families.shape))]
        levels = self.families.shape
        rows = [self._rows(t.reshape(len(shapes), -1, k)) for t, k in zip(tables, levels, strict=True)]
        return np.concatenate([row.reshape(len(shapes), -1) for row in rows], axis=1)

    def _rows(self, shapes: Floats) -> Floats:
        return np.maximum(np.exp(log_dirichlet_rows(shapes, self._generator)), _LEAST)


def _one_by_one(weights: Floats) -> Floats:
    """Return each weight's share of itself and all that follow, along the last axis."""
    left = np.cumsum(weights[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray(weights / left)
