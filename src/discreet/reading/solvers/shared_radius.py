"""Naive Bayes networks, or variables without parents, through one radius for all tables: exact, for few records."""

from collections.abc import Sequence
from math import comb, prod

import numpy as np

from discreet.models.network import Network
from discreet.noise.structure import SharedRadius, TotalPreserving
from discreet.reading.counts.shared_radius import SharedRadiusCounts, products, usual_radius
from discreet.reading.network_readings import NetworkReading
from discreet.reading.problem import CostEstimate, Problem, Solver
from discreet.reading.solvers.rows import BY_ROWS, RowsSolver

_EACH = 40 / 3  # operations that one product costs
_HELD = 4 / 3  # numbers in memory for each weight of a row
_VECTOR = 400 / 3  # numbers in memory for each vector of class counts
_LONG = 1e6  # counted operations of a reading from which on plans read row by row


class SharedRadiusSolver(Solver):
    """Sums over the radius, and lists the vectors of class counts."""

    models = (Network,)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse other laws of noise, several releases, and other trees."""
        if len(problem.observed) != 1 or len(problem.measurements) != 1 or _rate(problem) is None:
            return "its noise has no single radius for all tables"
        if problem.model.target is None and any(problem.model.parents):
            return "a shared radius can be read exactly for naive Bayes networks and for variables without parents only"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the products that are added for all vectors of class counts, up to the usual radius."""
        model, size, rate = problem.model, problem.size, _rate(problem)
        assert rate is not None
        classes = 1 if model.target is None else len(model.variables[0].levels)
        cells = [prod(model.shape(family)) for family in model.maximal_families]
        radius, vectors = usual_radius(cells, rate), comb(size + classes - 1, classes - 1)
        held = max(_VECTOR * vectors, _HELD * sum(cells) * (size + 1) * 2 * radius)
        words = f"exactly reading {len(cells)} tables of {size} records through a shared radius"
        operations = _EACH * products(size, classes, len(cells), radius)
        if operations < _LONG or (rows := RowsSolver()).unsupported_reason(problem) is not None:
            return CostEstimate(words, operations, held)
        return CostEstimate(words, operations, held, rows.cost(problem).operations / operations, BY_ROWS)

    def solve_many(self, problems: Sequence[Problem]) -> list[NetworkReading]:
        """Return readings row by row, where exact ones take long."""
        is_by_rows = self.cost(problems[0]).many_read == BY_ROWS
        return [RowsSolver().solve(each) if is_by_rows else self.solve(each) for each in problems]

    def solve(self, problem: Problem) -> NetworkReading:
        """Return the exact joint posterior of all tables."""
        model, (measured,), rate = problem.model, problem.measurements, _rate(problem)
        assert rate is not None
        noisy = [table.reshape(-1, table.shape[-1]) for table in model.split(measured.values)]
        has_class = model.target is not None
        alpha = [np.array(prior) for prior in (model.prior[1:] if has_class else model.prior)]
        class_alpha = np.array(model.prior[0]) if has_class else np.ones(1)
        constant = -measured.noise.log_normaliser
        return NetworkReading(model, SharedRadiusCounts(noisy, class_alpha, alpha, rate, problem.size, constant))


def _rate(problem: Problem) -> float | None:
    match problem.measurements[0].noise.structure:
        case TotalPreserving(SharedRadius(rate=rate)):
            return rate
        case _:
            return None
