"""Tables of categories through choices, truncated draws or noise that is not a product, with too many tables to list.

A table of categories is a graph of one variable, so the chains of graphs read it. The evidence comes from draws of a
normal distribution around where the chains are, mixed with the prior (importance sampling): coordinates are few.
"""

from math import nan

import numpy as np
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats
from discreet.inference import (
    WARM,
    Coordinates,
    CostEstimate,
    CountChains,
    Exactness,
    Feature,
    Problem,
    SampledTables,
    Solver,
    TablesTarget,
    WeightedTables,
    around_draws,
    chains_for,
    choice_of,
    fit_of,
    longest_for,
    operations_of,
    rough,
    too_many,
    unreadable,
)
from discreet.tables._model import Categories
from discreet.tables._solution import TableSolution

MOST_COORDINATES = 2_000
"""Tables of more cells are not sampled."""

_MOST = 2e6  # operations of one likelihood of a choice
_PROPOSED = 4_000
_FEW_COORDINATES = 20  # up to this many coordinates, the evidence is computed


class SampledTablesSolver(Solver):
    """Runs the chains of graphs on one table."""

    models = (Categories,)
    exactness = Exactness.SAMPLED
    runs_chains = True
    handles = frozenset({Feature.MARGINS})

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse wide tables, and outputs whose likelihood is not known in numbers."""
        cells = len(problem.model.cells)
        if cells > MOST_COORDINATES:
            return f"Markov chains can go through at most {MOST_COORDINATES} cells; this table has {cells}"
        slow = (each for each in problem.observed if choice_of(each) is not None and operations_of(each) > _MOST)
        if (first := next(slow, None)) is not None:
            return too_many(first)
        return next((why for each in problem.observed if (why := unreadable(each) or rough(each)) is not None), None)

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the work of the largest number of moves, each with rotations of single coordinates."""
        cells = len(problem.model.cells)
        chains, moves = chains_for(cells), WARM + longest_for(cells)
        each = sum(map(operations_of, problem.observed))
        steps = 1.0 + min(cells, 30)
        words = f"running chains through a table of {cells} cells"
        operations = moves * chains * (steps * each + 15 * (2e3 + 100.0 * cells))
        steps_of_counts = float(
            cells * (problem.size + 1)
        )  # marginal distributions, which hold every count between two draws
        return CostEstimate(words, operations, 8.0 * moves * chains * cells + 4.0 * cells**2 + steps_of_counts)

    def solve(self, problem: Problem[Categories]) -> TableSolution:
        """Return draws of the table."""
        target = target_of(problem)
        read = SampledTables(target, problem.seed, lambda: (nan, nan))
        tables = _pool(read)
        evidence = _evidence(target, read, problem.seed)
        counts = WeightedTables.drawn(tables, np.ones(len(tables)), evidence, read.agreement.bulk)
        return TableSolution(problem.model, counts, evidence, read.method, tuple(read.agreement.errors.tolist()))


def target_of(problem: Problem[Categories]) -> TablesTarget:
    """Return what chains sample."""
    alpha = np.array(problem.model.concentration, dtype=float)
    return TablesTarget(
        table_coordinates(problem), fit_of(problem), [0], [alpha], _Near.of(problem) or around_draws(problem)
    )


def table_coordinates(problem: Problem[Categories]) -> Coordinates:
    """Return normal coordinates of one table, a graph of one variable."""
    alpha = np.array(problem.model.concentration, dtype=float)
    return Coordinates((len(alpha),), ((),), [alpha.tolist()], problem.size)


class _Near:
    """Chains start around noisy counts, spread twice as wide as the noise: from the prior, some would not get there."""

    def __init__(self, values: Counts, deviations: Floats) -> None:
        self._values, self._deviations = values, deviations

    @classmethod
    def of(cls, problem: Problem[Categories]) -> "_Near | None":
        """Return where chains may start, if every cell of the table was measured by itself."""
        for measurement in (part for each in problem.observed if not each.is_margin for part in each.measurements):
            indices = measurement.of.single_cells
            if indices is not None and len(indices) == len(problem.model.cells):
                values, deviations = np.empty(len(indices), dtype=np.int64), np.empty(len(indices))
                values[indices], deviations[indices] = measurement.values, np.sqrt(measurement.noise.variance)
                return cls(values, deviations)
        return None

    def __call__(self, count: int, generator: np.random.Generator) -> list[Floats]:
        """Return shares of the cells, axes (rows, levels, chains), anywhere in the bin of their counts."""
        off = 2 * self._deviations[:, None] * generator.standard_normal((len(self._values), count))
        drawn = np.maximum(np.rint(self._values[:, None] + off), 0) + generator.random(off.shape)
        return [(drawn / drawn.sum(axis=0))[None]]


def _pool(read: SampledTables) -> Counts:
    return np.asarray(read.pool[0].reshape(-1, read.pool[0].shape[-1]), dtype=np.int64)


def _evidence(target: TablesTarget, read: SampledTables, seed: int) -> float:
    """Return the log evidence by proposals around the chains, half of them, and from the prior."""
    if target.coordinates.length > _FEW_COORDINATES:
        return nan
    generator = np.random.default_rng([seed, 3])
    indices = read.run.positions
    assert indices is not None
    mean, covariance = indices.mean(axis=1), 2 * np.atleast_2d(np.cov(indices)) + 1e-6 * np.eye(len(indices))
    root = np.linalg.cholesky(covariance)
    normals = generator.standard_normal((len(mean), _PROPOSED))
    near = np.arange(_PROPOSED) % 2 == 0
    q = np.where(near, mean[:, None] + root @ normals, normals)
    around = np.linalg.solve(root, q - mean[:, None])
    log_root = float(np.log(np.diag(root)).sum())
    proposal = np.logaddexp(-0.5 * (around**2).sum(axis=0) - log_root, -0.5 * (q**2).sum(axis=0)) - np.log(2)
    chains = CountChains(target.coordinates, target.fit, target.maximal, q, generator)
    logs = chains.weights + chains.fits - proposal
    return float(logsumexp(logs) - np.log(_PROPOSED))
