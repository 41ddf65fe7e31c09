"""Any graph, through any evidence with a likelihood: chains through normal coordinates of its tables."""

from collections.abc import Sequence

import numpy as np

from discreet._core.arrays import Floats
from discreet.inference import (
    BLOCK,
    MOST_CELLS,
    WARM,
    Coordinates,
    CostEstimate,
    Exactness,
    Feature,
    JointTable,
    Problem,
    SampledTables,
    Solver,
    Start,
    TablesTarget,
    around_draws,
    chains_for,
    clique_cells,
    cliques,
    fit_of,
    longest_for,
    operations_of,
    rough,
    tempered_evidence,
    unreadable,
)
from discreet.networks._approximate_rows import ApproximateCounts, RowsSolver, by_rows_in_plans, is_read_by_rows
from discreet.networks._consistent_tables import ConsistentTables, fit, noisy_parts
from discreet.networks._model import Network
from discreet.networks._solution import NetworkSolution, graph_of

_CALL = 5e4  # operations of one step through the tables of a variable, whatever its size
_CELL = 40.0  # operations of a step for each cell and each chain
_PRODUCT = 0.1  # operations of an entry of the metric for each chain
_STEPS = 15.0  # steps of a move


class CountsSolver(Solver):
    """Runs chains whose slopes are smooth and whose acceptance is exact, until they agree."""

    models = (Network,)
    exactness = Exactness.SAMPLED
    runs_chains = True
    handles = frozenset({Feature.MARGINS, Feature.OWN_ROWS})

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse graphs whose tables along any order are too large, and outputs without a likelihood in numbers."""
        if (cells := clique_cells(*graph_of(problem.model))) > MOST_CELLS:
            return (
                f"the graph is too dense: taken one after another, its tables have {cells:.0f} cells, and at most "
                f"{MOST_CELLS} can be sampled"
            )
        return next((why for each in problem.observed if (why := unreadable(each) or rough(each)) is not None), None)

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the work of the largest number of moves."""
        levels, parents = graph_of(problem.model)
        found = cliques(levels, parents)
        cells = float(sum(clique.cells for clique in found))
        length = sum((c.levels - 1) * c.rows * c.contexts for c in found)
        calls = sum((c.levels - 1) * (2 + np.ceil(np.log2(c.contexts))) for c in found)
        chains = chains_for(length)
        likelihood = sum(map(operations_of, problem.observed))
        step = _CALL * calls + chains * (_CELL * cells + _PRODUCT * length**2 + 0.2 * likelihood)
        moves = WARM + longest_for(length)
        words = f"running chains through tables of {cells:.0f} cells"
        operations, held = moves * (_STEPS * step + chains * likelihood), moves * chains * cells + 4.0 * length**2
        usual = (WARM + 2 * BLOCK) / moves
        return by_rows_in_plans(
            CostEstimate(words, operations, held, (WARM + BLOCK) / moves, usual_share=usual), problem
        )

    def solve(self, problem: Problem) -> NetworkSolution:
        """Return draws of all tables."""
        return self._read(problem, None)

    def solve_many(self, problems: Sequence[Problem]) -> list[NetworkSolution]:
        """Return solutions row by row, where all tables were measured; else draws by chains of a single block."""
        return [
            RowsSolver().solve(problem) if is_read_by_rows(problem) else self._read(problem, BLOCK)
            for problem in problems
        ]

    def _read(self, problem: Problem, longest: int | None) -> NetworkSolution:
        target = target_of(problem)
        tables = SampledTables(target, problem.seed, lambda: tempered_evidence(target, problem.seed), longest)
        return NetworkSolution(problem.model, tables)


def target_of(problem: Problem[Network]) -> TablesTarget:
    """Return what chains sample."""
    model = problem.model
    coordinates = Coordinates(*graph_of(model), model.row_priors, problem.size)
    names = [variable.name for variable in model.variables]
    maximal = [names.index(family[-1]) for family in model.maximal_families]
    return TablesTarget(coordinates, fit_of(problem), maximal, model.row_priors, *starts_of(problem))


def starts_of(problem: Problem[Network]) -> tuple[Start | None, JointTable | None]:
    """Return where chains may start, if that is known, and what is roughly known about the tables of families."""
    start = _Start.of(problem)
    return (around_draws(problem), None) if start is None else (start, start.joint)


class _Start:
    """Independent draws of all tables, row by row, from tables that were made to agree."""

    def __init__(self, fitted: ConsistentTables, model: Network) -> None:
        self._fitted, self._rows = fitted, ApproximateCounts(fitted, model)
        self._names = [variable.name for variable in model.variables]
        self._families = [frozenset(family) for family in model.maximal_families]

    @classmethod
    def of(cls, problem: Problem[Network]) -> "_Start | None":
        """Return where chains may start, if every variable was measured."""
        own = [part for each in problem.observed if not each.is_margin for part in each.measurements]
        parts = noisy_parts(own, problem.size) if own else None
        if parts is None or {v.name for v in problem.model.variables} - {name for part in parts for name in part.names}:
            return None
        return cls(fit(problem.model, problem.size, parts), problem.model)

    def joint(self, indices: tuple[int, ...]) -> tuple[Floats, float] | None:
        """Return the fitted table of some variables that stand in one family, and the error of its cells."""
        names = [self._names[index] for index in indices]
        if not any(family.issuperset(names) for family in self._families):
            return None
        return self._fitted.table(*names), self._fitted.standard_error(*names)

    def __call__(self, count: int, generator: np.random.Generator) -> list[Floats]:
        """Return the shares of levels (rows, levels, chains) of every variable, anywhere in the bin of their counts."""
        found = []
        for table in self._rows.tables(count, generator):
            drawn = table.transpose(1, 2, 0) + generator.random((*table.shape[1:], count))
            found.append(drawn / drawn.sum(axis=1, keepdims=True))
        return found
