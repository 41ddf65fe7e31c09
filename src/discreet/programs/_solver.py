"""Tables with a program: the release as a likelihood of cell probabilities, and the program's parameters behind it."""

from collections.abc import Sequence
from math import inf, sqrt

from discreet.inference import MOST_OPERATIONS, CostEstimate, Exactness, Feature, Problem, SecretNumber, Solver
from discreet.programs._inference import ModelSolution, needed, solve_target
from discreet.programs._likelihood import Likelihood, why_no_likelihood
from discreet.programs._model import ModelledTable, is_on_a_grid, points_of
from discreet.programs._product_likelihood import REACHES, narrow_reaches
from discreet.programs._program import Cells
from discreet.programs._target import ProgramTarget
from discreet.tables import cell_measurements

SHARE_OF_MANY = 0.1  # of the draws, for a problem of a plan
_USUAL = 0.1  # of the work at most: windows are short where cells are


class CellModelsSolver(Solver):
    """Prior times likelihood: on a grid of one or two parameters, else by draws around the mode."""

    models = (ModelledTable,)
    exactness = Exactness.SAMPLED
    handles = frozenset({Feature.PROGRAM, Feature.SECRET_NUMBER})

    def unsupported_reason(self, problem: Problem) -> str | None:
        return why_no_likelihood(problem)

    def cost(self, problem: Problem[ModelledTable]) -> CostEstimate:
        """Return the work of all values of the likelihood that are needed."""
        return self.work_together([problem], problem.model.bound)

    def work_together(self, problems: Sequence[Problem[ModelledTable]], cells: Cells) -> CostEstimate:
        """Return the work of inferring a program's parameters from one population, or from several together."""
        count = sum(len(problem.model.cells) for problem in problems)
        of = f"inferring {cells.dimension} parameters from {count} cells"
        of += f" of {len(problems)} populations" if len(problems) > 1 else ""
        held = sum(3.0 * len(problem.model.cells) * self._width(problem) * self._rates(problem) for problem in problems)
        return CostEstimate(of, needed(cells) * sum(map(self._each, problems)), held, SHARE_OF_MANY, usual_share=_USUAL)

    def values_allowed(self, problems: Sequence[Problem[ModelledTable]]) -> float:
        """Return how many values of the likelihood, one of each problem, may be worked out."""
        return problems[0].work_limit * MOST_OPERATIONS / sum(map(self._each, problems))

    def _width(self, problem: Problem[ModelledTable]) -> float:
        """Return about how many counts the window of a cell has."""
        reaches, measured = self._reaches(problem), cell_measurements(problem)
        most = inf if isinstance(problem.number, SecretNumber) else problem.size + 1.0
        width = 2 * reaches * max((float(m.noise.decay_length.max()) for m in measured), default=most) + 3
        return min(most, width)

    def _reaches(self, problem: Problem[ModelledTable]) -> float:
        """Return how far windows go: less far where their squares are the work, and draws are the result."""
        is_drawn = not is_on_a_grid(problem.model.bound) and problem.model.groups is not None
        return narrow_reaches(len(problem.model.cells)) if is_drawn else REACHES

    def _each(self, problem: Problem[ModelledTable]) -> float:
        """Return the work of one value: windows and their transforms, and products inside groups."""
        cells, width, inside = len(problem.model.cells), self._width(problem), 0.0
        if problem.model.groups is not None:
            others = problem.model.groups.shape[1] - 1
            inside = cells * others / 2 * width**2
        own = 100.0 if problem.model.groups is not None else max(100.0, 30 * self._rates(problem))
        return 3e5 + own * cells * width + inside

    def _rates(self, problem: Problem[ModelledTable]) -> float:
        """Return for how many rates a likelihood of a secret number of records is worked out, about."""
        is_secret = isinstance(problem.number, SecretNumber)
        return 20.0 + 2.5 * sqrt(3 * self._width(problem)) if is_secret else 1.0

    def solve(self, problem: Problem[ModelledTable]) -> ModelSolution:
        """Return the posterior of the program's parameters; the same problem is always read alike."""
        target = self.target(problem)
        return solve_target(problem.model, target, target.likelihood.method, allowed=self.values_allowed([problem]))

    def solve_many(self, problems: Sequence[Problem[ModelledTable]]) -> list[ModelSolution]:
        """Return solutions by a tenth of the draws, which no chains follow."""
        found = []
        for problem in problems:
            target = self.target(problem)
            points = points_of(target, problem.model.bound, seed=problem.seed, share=SHARE_OF_MANY)
            found.append(ModelSolution(problem.model, target, points, target.likelihood.method))
        return found

    def target(self, problem: Problem[ModelledTable]) -> ProgramTarget:
        """Return prior times likelihood: with the shares of the given columns integrated out, if any are."""
        likelihood, given = Likelihood.of_problem(problem, self._reaches(problem)), problem.model.bound.given
        return ProgramTarget(problem.model.bound, likelihood.given(*given) if given else likelihood)
