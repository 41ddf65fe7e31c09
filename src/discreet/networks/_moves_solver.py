"""Any graph through noisy tables, where single records matter: chains that move records between cells.

Chains along slopes round counts, which costs about the noise of single records in every cell that was measured. Where
the information of all cells together, sum 1 / variance, is above 2, or the graph is small, records are moved instead.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from discreet._core.arrays import Floats
from discreet.inference import (
    BLOCK,
    MOST_CELLS,
    MOVED,
    ROUNDS,
    CostEstimate,
    Exactness,
    Feature,
    MovesTarget,
    Problem,
    SampledTables,
    SeenTable,
    Solver,
    clique_cells,
    cliques,
    margins_that_weigh,
    number_of_moves,
    sweeps_for,
    tempered_evidence,
)
from discreet.networks._approximate_rows import RowsSolver, by_rows_in_plans, is_read_by_rows
from discreet.networks._chains_solver import starts_of, target_of
from discreet.networks._measured import MeasuredTable, measured_tables
from discreet.networks._model import Network
from discreet.networks._solution import NetworkSolution, graph_of

SHARP = 2.0
"""Information of all measured cells from which on slopes are not followed."""
FEW_COORDINATES = 16
"""Graphs with this many coordinates or fewer are small."""

_TABULATED = 2e7  # weights that may be tabulated, 160 MB
_MOVE = 9_000.0  # operations of one move in all chains, whatever it changes
_MARGIN = 2_000.0  # operations for each table that a move changes


class MovesSolver(Solver):
    """Moves records between the cells of all tables, until chains agree."""

    models = (Network,)
    exactness = Exactness.SAMPLED
    runs_chains = True
    handles = frozenset({Feature.MARGINS, Feature.OWN_ROWS})

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse noise that is not a product over cells, dense graphs, many records, and what slopes do better."""
        if problem.draws or any(not each.measurements for each in problem.observed):
            return "records are moved between cells of measured tables only"
        if (tables := measured_tables(problem)) is None:
            return "its noise does not factor over the cells of tables"
        levels, parents = graph_of(problem.model)
        if clique_cells(levels, parents) > MOST_CELLS:
            return "the graph is too dense to move records in"
        if _tabulated(problem, tables) > _TABULATED:
            return "there are too many records to tabulate the weights of all counts"
        length = sum((c.levels - 1) * c.rows * c.contexts for c in cliques(levels, parents))
        information = sum(float((1 / np.maximum(each.noise.variance, 1e-9)).sum()) for each in problem.measurements)
        if length > FEW_COORDINATES and information < SHARP:
            return "the noise hides single records, so chains that follow slopes are quicker"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the work of the largest number of sweeps."""
        levels, parents = graph_of(problem.model)
        margins = margins_that_weigh(levels, parents, problem.model.row_priors, _seen(problem))
        moves = {v: number_of_moves(margins, v) for v in range(len(levels)) if levels[v] > 1}
        each = sum(n * (_MOVE + _MARGIN * sum(v in margin.axes for margin in margins)) for v, n in moves.items())
        sweeps = sweeps_for(moves.values()) * BLOCK * (2**ROUNDS - 1.0)
        cells = sum(margin.cells for margin in margins)
        words = f"running chains that move records through tables of {cells} cells"
        held = cells * (problem.size + 1.0) + MOVED * BLOCK * sum(c.cells for c in cliques(levels, parents))
        found = CostEstimate(words, sweeps * each, held, 3 / (2**ROUNDS - 1), usual_share=7 / (2**ROUNDS - 1))
        return by_rows_in_plans(found, problem)

    def solve(self, problem: Problem[Network]) -> NetworkSolution:
        """Return draws of all tables."""
        return self._solved(problem, None)

    def solve_many(self, problems: Sequence[Problem]) -> list[NetworkSolution]:
        """Return solutions row by row, where all tables were measured; else draws by chains of at most two rounds."""
        return [
            RowsSolver().solve(problem) if is_read_by_rows(problem) else self._solved(problem, BLOCK)
            for problem in problems
        ]

    def _solved(self, problem: Problem[Network], longest: int | None) -> NetworkSolution:
        model, slopes = problem.model, target_of(problem)
        levels, parents = graph_of(model)
        shares, joint = starts_of(problem)
        target = MovesTarget(slopes.coordinates, levels, parents, model.row_priors, _seen(problem), shares, joint)
        tables = SampledTables(target, problem.seed, lambda: tempered_evidence(slopes, problem.seed), longest)
        return NetworkSolution(model, tables)


def _seen(problem: Problem[Network]) -> list[SeenTable]:
    """Return what was measured of each table."""
    names = [variable.name for variable in problem.model.variables]
    return [
        _seen_table(table, tuple(names.index(name) for name in table.names)) for table in measured_tables(problem) or ()
    ]


def _seen_table(table: MeasuredTable, axes: tuple[int, ...]) -> SeenTable:
    shape = table.part.indices.shape

    def log_kernel(counts: Floats) -> Floats:
        return table.log_kernel(counts).reshape(*shape, len(counts))

    variances = table.measurement.noise.variance[table.rows]
    return SeenTable(axes, log_kernel, float(np.sqrt(variances.max())))


def _tabulated(problem: Problem[Network], tables: Sequence[MeasuredTable]) -> float:
    """Return how many weights are tabulated: one for each count of each cell of a measured table or a family."""
    families = {frozenset(names) for names in (*problem.model.families, *(table.names for table in tables))}
    return (problem.size + 1.0) * sum(prod(problem.model.shape(tuple(family))) for family in families)
