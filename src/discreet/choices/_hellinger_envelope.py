"""Draws from P(r) ~ e^(-c H(x, r)) among any number of candidates: a mixture of products that lies above it.

With BC = 1 - H^2 = prod_i phi_i(r_i) and the weights O_j of `chord_weights`,

    w(r) = e^(-c H(x, r)) <= q(r) = sum_j O_j prod_i phi_i(r_i)^(K_j),    K_0 = 0 < K_1 < ... < K_J.

Node 0 is the uniform distribution on all tables. The others are products: all cells but one are drawn independently,
the last one takes what is left of the total, and the table is kept with a probability that makes up for its factor. A
table r is finally kept with probability w(r)/q(r), so what remains has the distribution w exactly. Nothing is
enumerated: the work depends on the number of cells and on the square root of the number of records.

Here are the nodes and tables, and draws by floating point for simulation; `hellinger_draws` makes exact ones of them.
"""

from dataclasses import dataclass
from functools import cached_property
from math import comb, log, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet.choices._posterior_powers import CellPowers, PosteriorPowers
from discreet.choices._stable_distribution import chord_weights
from discreet.mathematics import log_r

SPARE = 30.0  # factors below e^-(c + 30) are left out; as w >= e^-c, that changes no weight by more than e^-30 of it
MOST_CELLS, MOST_ENTRIES = 100, 2_000_000  # entries: of the tables of the first node
_LEAST_LAST_NODE = 200.0
_WIDEST = 2.0  # nodes grow by at most this share from one to the next
_MOST_AT_ONCE = 4_096  # proposals drawn together


@dataclass(frozen=True, eq=False)
class Component:
    """One node K: tables of phi^K e^(theta (r - x)) for each class of cells, and the logarithm of its mass.

    The mass counts all proposals: O sum over all cells but the dependent one, times the largest factor of that one.
    """

    node: int
    tables: list[CellPowers]
    log_mass: float

    @cached_property
    def edges(self) -> list[Floats]:
        """Return the cumulative weights of each class, up to 1."""
        sums = [np.cumsum(np.exp(table.logs - table.logs.max())) for table in self.tables]
        return [each / each[-1] for each in sums]


class Envelope:
    """The mixture above e^(-c H(x, r)) for the table x = `counts` and the scale c, with its draws by floating point."""

    def __init__(self, alpha: Floats, counts: Counts, scale: float) -> None:
        self.counts, self.scale = counts, scale
        self.powers = PosteriorPowers(alpha, counts, scale + SPARE)
        self.nodes = _nodes(alpha, counts, scale)
        self.log_weights = chord_weights(scale, self.nodes)
        self.total, self.dependent = int(counts.sum()), self.powers.largest
        self.candidates = comb(self.total + len(counts) - 1, len(counts) - 1)

    @cached_property
    def components(self) -> list[Component]:
        """Return the components of the nodes from 1 on."""
        return [self.component(number) for number in range(1, len(self.nodes))]

    def component(self, number: int) -> Component:
        """Return the component of one node, computed anew."""
        node, log_weight = int(self.nodes[number]), float(self.log_weights[number])
        balanced = self.powers.balanced(self.powers.at(node))
        special = int(self.powers.cell_class[self.dependent])
        sums = float(np.array(balanced.log_sums) @ self.powers.sizes) - balanced.log_sums[special]
        largest = float(balanced.tables[special].logs.max())
        return Component(node, balanced.tables, log_weight + sums + largest)

    @cached_property
    def log_masses(self) -> Floats:
        """Return the logarithms of the masses of all components, the uniform one first."""
        uniform = float(self.log_weights[0]) + log(self.candidates)
        return np.array([uniform, *(component.log_mass for component in self.components)])

    def draw(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw tables by floating point, for simulation: rows of counts."""
        shares = np.exp(self.log_masses - self.log_masses.max())
        kept, missing = [np.zeros((0, len(self.counts)), dtype=np.int64)], count
        while missing:
            picks = generator.multinomial(min(_MOST_AT_ONCE, 2 * missing + 1), shares / shares.sum())
            rows = np.concatenate([self._proposals(j, int(n), generator) for j, n in enumerate(picks) if n])
            rows = generator.permutation(rows[self._accepted(rows, generator)])[:missing]
            kept.append(rows)
            missing -= len(rows)
        return np.asarray(np.concatenate(kept))

    def _proposals(self, number: int, count: int, generator: np.random.Generator) -> Counts:
        """Return those of `count` proposals of a component that are tables of the right total and kept as such."""
        if number == 0:
            return _uniform_tables(self.total, len(self.counts), count, generator)
        component = self.components[number - 1]
        rows, uniforms = (
            np.empty((count, len(self.counts)), dtype=np.int64),
            generator.random((count, len(self.counts))),
        )
        for cell, group in enumerate(self.powers.cell_class):
            index = np.searchsorted(component.edges[group], uniforms[:, cell], side="right")
            rows[:, cell] = self.counts[cell] + component.tables[group].start + index
        rows[:, self.dependent] = 0
        rows[:, self.dependent] = self.total - rows.sum(axis=1)
        table = component.tables[self.powers.cell_class[self.dependent]]
        index = rows[:, self.dependent] - self.counts[self.dependent] - table.start
        inside = np.flatnonzero((index >= 0) & (index < len(table.logs)))
        chance = np.exp(table.logs[index[inside]] - table.logs.max())
        return np.asarray(rows[inside[uniforms[inside, self.dependent] < chance]])

    def _accepted(self, rows: Counts, generator: np.random.Generator) -> NDArray[np.bool_]:
        """Keep tables with probability w/q."""
        logs = self.powers.log_affinities(rows - self.counts)
        weights = -self.scale * np.sqrt(-np.expm1(logs))
        with np.errstate(invalid="ignore"):
            terms = self.log_weights[1:] + self.nodes[1:] * logs[:, None]
        above = np.logaddexp(self.log_weights[0], np.logaddexp.reduce(terms, axis=1))
        return np.asarray(np.log1p(-generator.random(len(rows))) <= weights - above)


def can_draw(size: int, prior_total: float, cells: int, most_scale: float) -> bool:
    """Return from public facts whether envelopes stay small.

    The first node's tables have sum_i 4 sqrt(F^2 + 2 F a_i) entries, F = c + 30, or m (n + 1) if that is less;
    sum_i sqrt(a_i) <= sqrt(m sum_i a_i) bounds the first for all data.
    """
    floor = most_scale + SPARE
    entries = 4 * cells * floor + 4 * sqrt(2 * floor * cells * (size + prior_total))
    return cells <= MOST_CELLS and min(entries, cells * (size + 1)) <= MOST_ENTRIES


def _nodes(alpha: Floats, counts: Counts, scale: float) -> Counts:
    """Return nodes 0, 1, 2, ..., each larger by a share of about 4/(m - 1), until hardly any table but x is left.

    Under phi^K the exponent -K ln BC is about Gamma((m - 1)/2); so wide steps of K lose about a third of the proposals.
    """
    largest = np.sort(alpha + counts)[-2:]
    nearest = -float(log_r(largest).sum())
    last = min(log(20.0 * len(counts) ** 2) / nearest, max(_LEAST_LAST_NODE, scale * scale))
    share, nodes = min(_WIDEST, 4 / (len(counts) - 1)), [0, 1]
    while nodes[-1] < last:
        nodes.append(max(nodes[-1] + 1, int(nodes[-1] * (1 + share))))
    return np.array(nodes)


def _uniform_tables(total: int, cells: int, count: int, generator: np.random.Generator) -> Counts:
    """Draw uniform tables: bars among stars; rows with two equal bars are drawn anew, if these are less than half."""
    indices = total + cells - 1
    if cells * cells > indices:
        rows = (generator.choice(indices, cells - 1, replace=False, shuffle=False) for _ in range(count))
        bars = np.sort(np.stack(list(rows)), axis=1)
    else:
        bars = np.sort(generator.integers(indices, size=(count, cells - 1)), axis=1)
        late = np.flatnonzero((np.diff(bars, axis=1) == 0).any(axis=1))
        while late.size:
            bars[late] = np.sort(generator.integers(indices, size=(late.size, cells - 1)), axis=1)
            late = late[(np.diff(bars[late], axis=1) == 0).any(axis=1)]
    edges = np.column_stack([np.full(count, -1), bars, np.full(count, indices)])
    return np.asarray(np.diff(edges, axis=1) - 1)
