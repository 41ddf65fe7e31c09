"""Families with one parameter from draws of their posterior: exact sums over the total of the records."""

from fractions import Fraction
from math import log2
from typing import Any

from discreet._core.errors import DeclarationError
from discreet.inference import CostEstimate, Problem, Solver
from discreet.programs.families._bounded_family import BoundedFamily
from discreet.programs.families._inference import CELLS, FamilySolution, solve_parameter
from discreet.programs.families._readable_family import ReadableFamily
from discreet.programs.families._record_totals import RecordTotals

_CERTIFIED = ("support", "log_mass", "guess", "log_density")
_EACH = 10.0  # operations of a transform, for each number and each doubling of their number


class FamiliesSolver(Solver):
    """Sums over the total of all records, on a grid of the parameter."""

    models = (BoundedFamily,)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse families that do not say what is drawn given a total, and anything but draws."""
        if (why := problem.model.unreadable) is not None:
            return str(why)
        if any(observed.draw is None for observed in problem.observed):
            return "the parameter of a family can only be read from draws of its posterior"
        return RecordTotals.refusal(problem.model)

    def cost(self, problem: Problem) -> CostEstimate:
        """Return one transform for each cell of the grid of parameters, of the longest that may be needed."""
        length = RecordTotals(problem.model, problem.size).longest
        words = f"summing over the total of {problem.size} records (declare fewer levels or bands)"
        return CostEstimate(words, CELLS * _EACH * length * log2(length + 1), 20.0 * length)

    def solve(self, problem: Problem[ReadableFamily]) -> FamilySolution:
        """Return the distribution of the parameter under the declared prior or the reader's own."""
        model = problem.model
        distribution: Any = model.posterior_given_total(Fraction(0), 0) if problem.prior is None else problem.prior
        if not all(hasattr(distribution, name) for name in _CERTIFIED):
            raise DeclarationError(
                "The prior of a family's parameter must be a distribution, such as CertifiedGamma or CertifiedNormal."
            )
        return solve_parameter(model, problem.size, problem.draws, distribution, problem.label)
