"""Few tables, whatever the evidence: the likelihood of every table is computed, which is exact."""

from collections.abc import Callable

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference import CostEstimate, Observed, Problem, Solver, WeightedTables, most_tables
from discreet.privacy import all_tables, number_of_tables
from discreet.tables._model import Categories
from discreet.tables._solution import TableSolution

_PART = 4e6  # numbers that one call of a likelihood may make


class EnumerationSolver(Solver):
    """Sums over all tables of n counts, one by one: for choices, coarse or truncated draws, and mixed evidence."""

    models = (Categories,)
    shares_rows = False

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse more tables than can be listed, and outputs whose likelihood is not known in numbers."""
        cells, most = len(problem.model.cells), most_tables(len(problem.model.cells))
        if number_of_tables(problem.size, cells, most) > most:
            return (
                f"the likelihood does not factor over cells, so inference goes through all tables of {problem.size} "
                f"records in {cells} cells, and at most {most} can be listed: ask for fewer cells or records, or "
                "publish noisy counts, which can be read at any size"
            )
        return next((why for each in problem.observed if (why := each.likelihood_refusal) is not None), None)

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the operations of all likelihoods, at the cost of one table that each of them states."""
        tables = number_of_tables(problem.size, len(problem.model.cells), most_tables(len(problem.model.cells)))
        each = sum(cost.operations for observed in problem.observed for cost in observed.costs)
        return CostEstimate(f"computing the likelihood of {tables} tables", tables * each, 20.0 * tables)

    def solve(self, problem: Problem) -> TableSolution:
        return self.in_turn()(problem)

    def in_turn(self) -> Callable[[Problem], TableSolution]:
        """Return what reads problems of the same outputs: no likelihood of a table depends on the reader's prior."""
        known: list[Floats] = []

        def solve(problem: Problem) -> TableSolution:
            tables = all_tables(problem.size, len(problem.model.cells))
            if not known:
                known.extend(table_likelihoods(observed, tables) for observed in problem.observed)
            counts = WeightedTables.listed(tables, sum(known, problem.model.log_evidence(tables)))
            return TableSolution(problem.model, counts, counts.log_sum)

        return solve


def few_records(problem: Problem) -> bool:
    """Return whether all tables can be listed."""
    cells = len(problem.model.cells)
    return number_of_tables(problem.size, cells, most_tables(cells)) <= most_tables(cells)


def table_likelihoods(observed: Observed, tables: Counts) -> Floats:
    """Return log P(output | table) for all tables, some at a time if a likelihood holds many numbers for each."""
    parts = max(1, int(len(tables) * max(cost.numbers for cost in observed.costs) / _PART))
    return np.concatenate([observed.log_likelihood(part) for part in np.array_split(tables, parts)])
