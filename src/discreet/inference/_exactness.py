"""How exact the inference from a planned release will be, and why not exact."""

from discreet.inference._problem import Problem, solver_for, solvers_of
from discreet.inference._published import Exactness
from discreet.mechanism import Sized


def exactness_of(mechanism: Sized) -> Exactness | None:
    """Return how well a release by this mechanism will be read, or None if it cannot be."""
    solver = solver_for(Problem.before(mechanism))
    return None if solver is None else solver.exactness


def why_not_exact(mechanism: Sized) -> str | None:
    """Return why a release by this mechanism will not be read exactly, or None if it will."""
    problem = Problem.before(mechanism)
    exact = [solver for solver in solvers_of(problem) if solver.exactness is Exactness.EXACT]
    reasons = [solver.rejection(problem) for solver in exact]
    return None if None in reasons or not reasons else reasons[-1]
