"""Trees and forests through noise that is a product over cells: exact, by belief propagation over counts."""

import numpy as np

from discreet.models.network import Network
from discreet.reading.counts.tree_counts import BEYOND, TreeCounts, TreeNode, products
from discreet.reading.measured import log_constant, log_noise, measured_tables, rough_margins
from discreet.reading.network_readings import NetworkReading
from discreet.reading.problem import CostEstimate, Problem, Solver

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
        worst = CostEstimate("reading a tree", 9.0 * cells * (size + 1.0) ** 2, 8.0 * cells * (size + 1))
        for name in sorted(inner):
            for parent in above[name]:
                parent_levels, levels = model.shape((parent, name))
                operations = _EACH * products(size, parent_levels, levels)
                states = float(min((size + 1) ** (max(levels, parent_levels) - 1), BEYOND))
                words = (
                    f"exactly reading {name!r} given {parent!r} for {size} records, as {name!r} has children too "
                    "(variables in the middle of a tree need two levels, and at most about 4,000 records),"
                )
                found = CostEstimate(words, operations, _STATE * states)
                worst = found if found.rejection or operations > worst.operations else worst
        return worst

    def solve(self, problem: Problem) -> NetworkReading:
        """Return the exact joint posterior of all tables."""
        model, noise, centres = problem.model, log_noise(problem), rough_margins(problem)
        places = {variable.name: place for place, variable in enumerate(model.variables)}
        nodes = [
            TreeNode(v.name, places[above[0]] if above else None, np.array(prior), noise[v.name])
            for v, above, prior in zip(model.variables, model.parents, model.prior, strict=True)
        ]
        middles = [centres[variable.name] for variable in model.variables]
        return NetworkReading(model, TreeCounts(nodes, problem.size, middles, log_constant(problem)))
