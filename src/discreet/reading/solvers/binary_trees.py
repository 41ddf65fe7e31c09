"""Trees and forests whose inner variables have two levels, through noise that is a product over cells: exact."""

from math import log2

import numpy as np

from discreet.models.network import Network
from discreet.reading.counts.binary_trees import BinaryTable, BinaryTreeCounts
from discreet.reading.counts.tree_edges import BLOCK
from discreet.reading.measured import log_constant, measured_tables, seen_tables
from discreet.reading.network_readings import NetworkReading
from discreet.reading.problem import CostEstimate, Problem, Solver
from discreet.reading.solvers.trees import TreesSolver

_EACH = 60.0  # operations for each number of a transform, all walks together
_WIDENING = 1.5  # how much wider than at first windows may have to be


class BinaryTreesSolver(Solver):
    """Messages over the counts of one level of each inner variable, on windows; leaves may have more levels."""

    models = (Network,)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse graphs other than trees, inner variables with more levels, and inner tables that were not measured."""
        if (why := TreesSolver().unsupported_reason(problem)) is not None:
            return why
        inner = _inner(problem.model)
        if wide := [v.name for v in problem.model.variables if v.name in inner and len(v.levels) != 2]:
            return f"{wide[0]!r} has children and more than two levels"
        seen = {table.names[-1] for table in measured_tables(problem) or ()}
        pairs = zip(problem.model.variables, problem.model.parents, strict=True)
        needed = [v.name for v, above in pairs if above or v.name not in inner]
        if unseen := [name for name in needed if name not in seen]:
            return f"nothing was measured about {unseen[0]!r}"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return a transform for every count of a parent's window, in every table between two inner variables."""
        model, inner, tables = problem.model, _inner(problem.model), measured_tables(problem) or []
        widest = max(table.farthest for table in tables)
        width = min(problem.size + 1.0, _WIDENING * 100 * widest)
        edges = sum(v.name in inner and bool(above) for v, above in zip(model.variables, model.parents, strict=True))
        cells = sum(float(np.prod(model.shape(family))) for family in model.families)
        operations = _EACH * edges * width * 2 * width * log2(2 * width + 2) + 100 * cells * width * log2(width + 2)
        words = f"summing over windows of {width:.0f} counts for {edges} tables in the middle of a tree"
        return CostEstimate(words, operations, 8 * min(2 * width**2, BLOCK + 2 * width) + 8 * cells * width)

    def solve(self, problem: Problem) -> NetworkReading:
        """Return the exact joint posterior of all tables."""
        model, seen = problem.model, seen_tables(problem)
        places = {variable.name: place for place, variable in enumerate(model.variables)}
        tables = [
            BinaryTable(v.name, places[above[0]] if above else None, np.array(prior), seen[v.name])
            for v, above, prior in zip(model.variables, model.parents, model.prior, strict=True)
        ]
        return NetworkReading(model, BinaryTreeCounts(tables, problem.size, log_constant(problem)))


def _inner(model: Network) -> set[str]:
    """Return the variables that have children."""
    return {parent for parents in model.parents for parent in parents}
