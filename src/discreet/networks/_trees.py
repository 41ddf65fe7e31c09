"""Trees read through noise: belief propagation over counts.

Every variable has at most one parent, and the released noise is independent between cells. What a variable's subtree
says depends on the rest only through how many records have each level of its parent: a message over these counts.

- A leaf's rows are independent given the parent's counts, so its message is a product of one function for each level.
- A variable with children has the message sum_k prod_j r_j(k_j; n_j) mu(k_1 + k_2 + ...), where k_j is its row for
  level j of the parent, r_j prior and noise of that row, and mu what its children say about its own counts. Sums over
  rows are convolutions.

Walking up gives the evidence; walking down draws tables from the joint posterior, exactly and independently.

Trees and forests through noise that is a product over cells: exact, by belief propagation over counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb, prod

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DiscreetError
from discreet.inference import CostEstimate, KnownSum, Problem, Solver, TableCounts, whole_row
from discreet.mathematics import log_prior, log_prior_constant
from discreet.networks._measured import log_constant, log_noise, measured_tables, rough_margins
from discreet.networks._model import Network
from discreet.networks._solution import NetworkSolution
from discreet.privacy import compositions


@dataclass(frozen=True, eq=False)
class TreeNode:
    """A variable: the index of its parent (None for a root), its prior, and the log kernel of what was released.

    `log_noise[j, x, k]` is the log kernel of the released cell (parent level j, own level x) at the count k; a root has
    one row. It is zero throughout if the family was not released.
    """

    name: str
    parent: int | None
    alpha: Floats
    log_noise: Floats

    @property
    def levels(self) -> int:
        """Return the number of levels."""
        return len(self.alpha)

    @cached_property
    def log_factors(self) -> Floats:
        """Return log prior and noise of every cell, by row."""
        return np.asarray(self.log_noise + log_prior(self.alpha[:, None], np.arange(self.log_noise.shape[2])))


class TreeCounts(TableCounts):
    """The joint posterior of all tables of a tree or forest; `nodes` hold parents before children."""

    method = "read exactly"

    def __init__(self, nodes: Sequence[TreeNode], size: int, centres: Sequence[Floats], log_constant: float = 0.0):
        self.nodes, self.size = tuple(nodes), size
        self._children = [[c for c, n in enumerate(nodes) if n.parent == index] for index in range(len(nodes))]
        self._rows: dict[int, list[KnownSum]] = {}
        self._wide: dict[int, Floats] = {}  # log messages of the children, for variables that need the whole vector
        self._centres = centres
        self._constants = [log_prior_constant(float(node.alpha.sum()), np.arange(size + 1)) for node in nodes]
        self.log_evidence = log_constant + sum(self._up(index) for index, n in enumerate(nodes) if n.parent is None)
        if not np.isfinite(self.log_evidence):
            raise DiscreetError(
                "The release lies too far from all possible counts to be read: noise reaches so far with a "
                "probability below 1e-20. Nothing was read. Check that the document is what was published."
            )

    def _is_leaf(self, index: int) -> bool:
        return not self._children[index]

    def _up(self, root: int) -> float:
        """Return log P(everything released below and at a root)."""
        node = self.nodes[root]
        apart, together = self._from_children(root)
        if together is None:  # all children are leaves: a row whose factors hold their messages too
            row = whole_row(node.log_factors[0] + apart, float(self.size))
            self._rows[root] = [row]
            return float(row.log_sums[self.size] + self._constants[root][self.size])
        self._wide[root] = together + self._spread(apart)
        return float(self._message(root, (self.size,)))

    def _from_children(self, index: int) -> tuple[Floats, Floats | None]:
        """Return the product of the leaves' messages, one function for each level, and that of the other children."""
        levels = self.nodes[index].levels
        apart, together = np.zeros((levels, self.size + 1)), None
        for child in self._children[index]:
            if self._is_leaf(child):
                apart = apart + self._leaf_message(child)
            else:
                full = self._full_message(child)
                together = full if together is None else together + full
        return apart, together

    def _leaf_message(self, index: int) -> Floats:
        node, parent = self.nodes[index], self.nodes[index].parent
        assert parent is not None
        centres = self._centres[parent]
        self._rows[index] = [whole_row(f, float(c)) for f, c in zip(node.log_factors, centres, strict=True)]
        return np.stack([row.log_sums + self._constants[index] for row in self._rows[index]])

    def _full_message(self, index: int) -> Floats:
        """Return the message of a variable with children, for every vector of counts of its parent."""
        parent = self.nodes[index].parent
        assert parent is not None
        apart, together = self._from_children(index)
        spread = self._spread(apart)
        self._wide[index] = spread if together is None else spread + together
        levels = self.nodes[parent].levels
        message = np.full((self.size + 1,) * (levels - 1), -np.inf)
        for counts in compositions(self.size, levels):
            message[tuple(counts[1:])] = self._message(index, tuple(counts))
        return message

    def _spread(self, apart: Floats) -> Floats:
        """Return sum_x W_x(t_x) over all vectors of counts t; -inf where these exceed the size."""
        free = apart.shape[0] - 1
        result = np.zeros((self.size + 1,) * free)
        for axis in range(free):
            result = result + apart[axis + 1].reshape([-1 if a == axis else 1 for a in range(free)])
        left = self.size - sum(np.indices(result.shape), start=np.zeros(result.shape, dtype=np.int64))
        return np.where(left >= 0, result + apart[0][np.maximum(left, 0)], -np.inf)

    def _row_distributions(self, position: int, counts: tuple[int, ...]) -> tuple[list[Floats], float]:
        """Return r_j(k; n_j) for each row, over the counts of all levels but the first, and the log of their scale."""
        node, distributions, scale = self.nodes[position], [], 0.0
        for factors, count in zip(node.log_factors, counts, strict=True):
            shape = (count + 1,) * (node.levels - 1)
            index = np.indices(shape)
            left = count - index.sum(axis=0)
            logs = factors[0][np.maximum(left, 0)]
            for axis, steps in enumerate(index):
                logs = logs + factors[axis + 1][steps]
            logs = np.where(left >= 0, logs, -np.inf)
            peak = float(logs.max())
            distributions.append(np.exp(logs - peak))
            scale += peak + float(self._constants[position][count])
        return distributions, scale

    def _sums(self, distributions: list[Floats]) -> list[Floats]:
        """Return the distributions of the sums of the first 1, 2, ... rows."""
        from scipy.signal import convolve

        sums = [distributions[0]]
        for distribution in distributions[1:]:
            sums.append(np.maximum(0.0, convolve(sums[-1], distribution, method="direct")))
        return sums

    def _message(self, index: int, counts: tuple[int, ...]) -> float:
        distributions, scale = self._row_distributions(index, counts)
        below = self._wide[index]
        peak = float(below.max())
        with np.errstate(divide="ignore"):
            return float(np.log((self._sums(distributions)[-1] * np.exp(below - peak)).sum()) + peak + scale)

    def tables(self, count: int, generator: np.random.Generator) -> list[Counts]:
        """Draw tables (draws, parent levels, levels) of every variable."""
        tables: list[Counts] = []
        for index, node in enumerate(self.nodes):
            above = np.full((count, 1), self.size) if node.parent is None else tables[node.parent].sum(axis=1)
            if index in self._wide:
                tables.append(self._draw_wide(index, above, generator))
            else:
                rows = [row.draw(totals, generator) for row, totals in zip(self._rows[index], above.T, strict=True)]
                tables.append(np.stack(rows, axis=1))
        return tables

    def _draw_wide(self, index: int, above: Counts, generator: np.random.Generator) -> Counts:
        node = self.nodes[index]
        drawn = np.empty((len(above), above.shape[1], node.levels), dtype=np.int64)
        below = np.exp(self._wide[index] - self._wide[index].max())
        found, which = np.unique(above, axis=0, return_inverse=True)
        for number, counts in enumerate(found):
            distributions, _ = self._row_distributions(index, tuple(int(c) for c in counts))
            sums = self._sums(distributions)
            draws = np.flatnonzero(which.ravel() == number)
            for draw, total in zip(draws, _pick(sums[-1] * below, len(draws), generator), strict=True):
                drawn[draw, :, 1:] = _split(total, distributions, sums, generator)
                drawn[draw, :, 0] = counts - drawn[draw, :, 1:].sum(axis=1)
        return drawn


BEYOND = 10**300
"""More work than anybody can do: counts of operations stop here, before floats overflow."""


def products(size: int, parent_levels: int, levels: int) -> float:
    """Return how many products of two numbers all convolutions of one edge add, if the child has children too."""
    found = comb(size + parent_levels - 1, parent_levels - 1) * (size + 1) ** (2 * levels - 2)
    return float(min(found, BEYOND) / 4)


def _pick(weights: Floats, count: int, generator: np.random.Generator) -> Counts:
    """Draw cells of an array with probabilities ~ its weights, as rows of indices."""
    table = np.cumsum(weights.ravel())
    flat = np.searchsorted(table, generator.random(count) * table[-1], side="right")
    return np.stack(np.unravel_index(np.minimum(flat, prod(weights.shape) - 1), weights.shape), axis=1)


def _split(total: Counts, distributions: list[Floats], sums: list[Floats], generator: np.random.Generator) -> Counts:
    """Draw the rows given their sum: the last row first, P(k) ~ r(k) (sum of the rows before)(total - k)."""
    rows = np.empty((len(distributions), len(total)), dtype=np.int64)
    left = np.asarray(total)
    for index in range(len(distributions) - 1, 0, -1):
        distribution, before = distributions[index], sums[index - 1]
        low = np.maximum(0, left - (np.array(before.shape) - 1))
        high = np.minimum(left, np.array(distribution.shape) - 1)
        own = distribution[tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))]
        rest = before[tuple(slice(t - b, t - a + 1) for t, a, b in zip(left, low, high, strict=True))]
        rows[index] = low + _pick(own * np.flip(rest), 1, generator)[0]
        left = left - rows[index]
    rows[0] = left
    return rows


_EACH = 10.0  # operations that one product of a convolution over vectors costs
_STATE = 100.0  # numbers held for each vector of counts


class TreesSolver(Solver):
    """Messages over the counts of each variable's levels, from the leaves to the roots."""

    models = (Network,)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse variables with several parents, and noise that is not a product over the cells of tables."""
        pairs = zip(problem.model.variables, problem.model.parents, strict=True)
        several = [variable.name for variable, above in pairs if len(above) > 1]
        if several:
            return (
                f"{several[0]!r} has several parents, and only naive Bayes networks, trees and forests can be read "
                "exactly"
            )
        if not problem.is_measured or measured_tables(problem) is None:
            return "its noise does not factor over the cells of tables"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the work of the worst variable in the middle of the tree: its convolutions over vectors of counts."""
        model, size = problem.model, problem.size
        above = dict(zip((variable.name for variable in model.variables), model.parents, strict=True))
        inner = {parent for parents in above.values() for parent in parents}
        cells = sum(np.prod(model.shape(family)) for family in model.families)
        worst = CostEstimate("inference for a tree", 9.0 * cells * (size + 1.0) ** 2, 8.0 * cells * (size + 1))
        for name in sorted(inner):
            for parent in above[name]:
                parent_levels, levels = model.shape((parent, name))
                operations = _EACH * products(size, parent_levels, levels)
                states = float(min((size + 1) ** (max(levels, parent_levels) - 1), BEYOND))
                words = (
                    f"exact inference for {name!r} given {parent!r} for {size} records, as {name!r} has children too "
                    "(variables in the middle of a tree need two levels, and at most about 4,000 records),"
                )
                found = CostEstimate(words, operations, _STATE * states)
                worst = found if found.rejection or operations > worst.operations else worst
        return worst

    def solve(self, problem: Problem) -> NetworkSolution:
        """Return the exact joint posterior of all tables."""
        model, noise, centres = problem.model, log_noise(problem), rough_margins(problem)
        indices = {variable.name: index for index, variable in enumerate(model.variables)}
        nodes = [
            TreeNode(v.name, indices[above[0]] if above else None, np.array(prior), noise[v.name])
            for v, above, prior in zip(model.variables, model.parents, model.prior, strict=True)
        ]
        middles = [centres[variable.name] for variable in model.variables]
        return NetworkSolution(model, TreeCounts(nodes, problem.size, middles, log_constant(problem)))
