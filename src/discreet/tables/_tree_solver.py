"""Tree-structured levels under tree-metric (earth mover's) Laplace noise: exact, by message passing.

C_e records lie behind the edge e, z_e = C_e + U_e was published, and the U_e are independent. Under a Dirichlet prior
with parameters a_i a table k weighs prod_i f_i(k_i), f_i(k) = Gamma(k + a_i) / (k! Gamma(a_i)), so the weight of C
records at a cell and behind it is

    M_v(C) = (f_v * prod*_c M_c g_c)(C),   g_c(C) = tanh(r_c/2) e^(-r_c |z_c - C|),

convolutions over the children c of v. At the root, where C is the number of records, it is the evidence. The same
messages, followed downwards, draw whole tables that are independent of each other. Only positive numbers are added.
Noise of single cells, published beside, is a factor of f.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference import CostEstimate, Exactness, Problem, Solver, WeightedTables
from discreet.mathematics import log_prior, log_prior_constant
from discreet.mechanism import Measurement
from discreet.noise import MARGIN, TreeStructure, product_of, tree_of
from discreet.tables._model import Categories
from discreet.tables._solution import TableSolution

_DRAWS = 4000
_BLOCK = 4_000_000  # weights held at a time while drawing


@dataclass(frozen=True, eq=False)
class _ScaledWeights:
    """Weights of `first`, `first` + 1, ..., the largest of which is 1, and the log of what they were divided by."""

    first: int
    weights: Floats
    log_scale: float

    @classmethod
    def of(cls, first: int, weights: Floats, log_scale: float = 0.0) -> "_ScaledWeights":
        top = float(weights.max())
        if not top > 0:
            raise FloatingPointError("no counts fit this output")
        return cls(first, weights / top, log_scale + log(top))

    @property
    def last(self) -> int:
        return self.first + len(self.weights) - 1

    def at(self, counts: Counts) -> Floats:
        """Return weights of any counts, 0 beyond the line."""
        indices = counts - self.first
        inside = (indices >= 0) & (indices < len(self.weights))
        return np.where(inside, self.weights[np.clip(indices, 0, len(self.weights) - 1)], 0.0)

    def added(self, other: "_ScaledWeights", most: int) -> "_ScaledWeights":
        """Return the line of sums, up to this size."""
        found = np.convolve(self.weights, other.weights)[: most - self.first - other.first + 1]
        return _ScaledWeights.of(self.first + other.first, found, self.log_scale + other.log_scale)

    def within(self, low: int, high: int) -> "_ScaledWeights":
        """Return the part between two counts."""
        start, end = max(low, self.first), min(high, self.last)
        return _ScaledWeights.of(
            start, self.weights[start - self.first : max(start, end) - self.first + 1], self.log_scale
        )


class TreeTablesSolver(Solver):
    """Reads one or several noisy tables of the same tree, and noisy cells beside them."""

    models = (Categories,)
    exactness = Exactness.EXACT

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse problems without a tree, with several trees, or without a noisy count of every cell."""
        trees = {tree.parents for m in problem.measurements if (tree := tree_of(m.noise.structure)) is not None}
        if len(trees) != 1 or not problem.is_measured:
            return "there is not one single tree along whose edges noise was added"
        cells = np.arange(len(problem.model.cells))
        for measured in problem.measurements:
            if not np.array_equal(np.asarray(measured.of.single_cells), cells):
                return "something other than every cell was measured"
            if tree_of(measured.noise.structure) is None and product_of(measured.noise.structure) is None:
                return "its noise is added neither along the tree nor to single cells"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the convolutions of all windows, and the draws."""
        widths = [self._width(problem, measured) for measured in problem.measurements]
        wide, cells = min(widths), len(problem.model.cells)
        return CostEstimate(
            f"adding {cells} windows of {wide:.0f} counts", 2 * cells * wide * (wide + _DRAWS), 8 * _DRAWS * wide
        )

    @staticmethod
    def _width(problem: Problem, measured: Measurement) -> float:
        reach = float(measured.noise.decay_length.max()) if tree_of(measured.noise.structure) is not None else np.inf
        return min(problem.size + 1.0, 2 * MARGIN * reach + 60)

    def solve(self, problem: Problem) -> TableSolution:
        """Return exact evidence and independent draws of the whole table."""
        messages = _Messages(problem)
        generator = np.random.default_rng([problem.seed, 26])
        tables = messages.draw(_DRAWS, generator)
        counts = WeightedTables.drawn(tables, np.ones(_DRAWS), messages.log_evidence)
        alpha = problem.model.concentration
        shares = (alpha + tables) / (alpha.sum() + problem.size)
        errors = shares.std(axis=0) / np.sqrt(_DRAWS)
        method = (
            f"read exactly by messages along the tree, and by {_DRAWS:,} independent draws (Monte Carlo errors of "
            f"means at most {errors.max():.2g})"
        )
        return TableSolution(problem.model, counts, messages.log_evidence, method, tuple(errors.tolist()))


class _Messages:
    """All messages of a problem: of every cell by itself, and of every cell with its subtree."""

    def __init__(self, problem: Problem[Categories]) -> None:
        self._problem, self._alpha = problem, np.array(problem.model.concentration, dtype=float)
        self._trees: list[tuple[TreeStructure, Counts]] = []  # each with the flows over its edges that were published
        self._cells: list[Measurement] = []
        for each in problem.measurements:
            if (tree := tree_of(each.noise.structure)) is None:
                self._cells.append(each)
            else:
                self._trees.append((tree, tree.carried(each.values)))
        self.parents: Sequence[int] = self._trees[0][0].parents
        self.children: list[list[int]] = [[] for _ in self._alpha]
        for index, parent in enumerate(self.parents):
            self.children[parent].append(index)
        self.behind: dict[int, _ScaledWeights] = {}  # M_c g_c of every cell that has a parent
        self.steps: dict[int, list[_ScaledWeights]] = {}  # of every cell: f, then f with one more child
        for index in range(len(self._alpha)):
            self._gather(index)
        size, last = problem.size, self.steps[len(self._alpha) - 1][-1]
        constant = float(log_prior_constant(self._alpha.sum(), size)) - sum(
            each.noise.log_normaliser for each in problem.measurements
        )
        self.log_evidence = log(float(last.at(np.array([size]))[0])) + last.log_scale + constant

    def _gather(self, index: int) -> None:
        """Compute the messages of one cell from those of its children."""
        size, children = self._problem.size, [self.behind[child] for child in self.children[index]]
        low, high = self._window(index) if index < len(self.parents) else (size, size)
        least, most = sum(each.first for each in children), sum(each.last for each in children)
        own = self._own(index, max(0, low - most), max(0, high - least))
        steps = [own]
        for each in children:
            steps.append(steps[-1].added(each, high))
        self.steps[index] = steps
        if index < len(self.parents):
            inside = steps[-1].within(low, high)
            counts = np.arange(inside.first, inside.last + 1)
            logs = np.zeros(len(counts))
            for tree, flows in self._trees:
                logs -= tree.rates[index] * np.abs(flows[index] - counts)
            self.behind[index] = _ScaledWeights.of(
                inside.first, inside.weights * np.exp(logs - logs.max()), inside.log_scale + logs.max()
            )

    def _window(self, index: int) -> tuple[int, int]:
        """Return the counts behind an edge that are worth considering, given all outputs."""
        ends = []
        for tree, flows in self._trees:
            reach = int(MARGIN / tree.rates[index]) + 30
            middle = int(np.clip(flows[index], 0, self._problem.size))
            ends.append((middle - reach, middle + reach))
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        return max(0, low), min(self._problem.size, high)

    def _own(self, index: int, low: int, high: int) -> _ScaledWeights:
        """Return f of one cell between two counts, with the noise of that cell where it was published."""
        counts = np.arange(low, high + 1)
        alpha = self._alpha[index]
        logs = log_prior(alpha, counts)
        for measured in self._cells:
            logs = logs + measured.log_terms(counts, np.full(len(counts), index))
        return _ScaledWeights.of(low, np.exp(logs - logs.max()), float(logs.max()))

    def draw(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw tables from the root downwards."""
        left = {len(self._alpha) - 1: np.full(count, self._problem.size, dtype=np.int64)}
        tables = np.zeros((count, len(self._alpha)), dtype=np.int64)
        for index in range(len(self._alpha) - 1, -1, -1):
            rest = left[index]
            for number in range(len(self.children[index]), 0, -1):
                child = self.children[index][number - 1]
                left[child] = self._split(self.behind[child], self.steps[index][number - 1], rest, generator)
                rest = rest - left[child]
            tables[:, index] = rest
        return tables

    @staticmethod
    def _split(child: _ScaledWeights, others: _ScaledWeights, rest: Counts, generator: np.random.Generator) -> Counts:
        """Draw how many of the rest lie behind one edge, given the weights of it and of all that is left."""
        values, where = np.unique(rest, return_inverse=True)
        ranks, found = generator.random(len(rest)), np.zeros(len(rest), dtype=np.int64)
        counts = np.arange(child.first, child.last + 1)
        together = max(1, _BLOCK // len(counts))
        for start in range(0, len(values), together):
            some = values[start : start + together]
            sums = np.cumsum(child.weights * others.at(some[:, None] - counts), axis=1)
            for row, own in enumerate(range(start, start + len(some))):
                drawn = where == own
                indices = np.searchsorted(sums[row], ranks[drawn] * sums[row, -1], side="right")
                found[drawn] = counts[np.minimum(indices, len(counts) - 1)]
        return found
