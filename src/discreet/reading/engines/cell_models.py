"""Tables with a program: the release as a likelihood of cell probabilities, and the program's parameters behind it."""

from collections.abc import Sequence

from discreet.models.modelled_table import ModelledTable, points_of
from discreet.models.programs.program import Cells
from discreet.reading.case import MOST_OPERATIONS, Case, Engine, Work
from discreet.reading.cells.likelihood import Likelihood, why_no_likelihood
from discreet.reading.cells.model_reading import ModelReading, needed, read_target
from discreet.reading.cells.target import Target
from discreet.reading.published import Exactness

_REACHES = 36.0


class CellModelsEngine(Engine, place=28):
    """Prior times likelihood: on a grid of one or two parameters, else by draws around the mode."""

    models = (ModelledTable,)
    exactness = Exactness.SAMPLED
    reads_programs = True
    share_of_many = 0.1

    def misfit(self, case: Case) -> str | None:
        return why_no_likelihood(case)

    def work(self, case: Case[ModelledTable]) -> Work:
        """Return the work of all values of the likelihood that are needed."""
        return self.work_together([case], case.model.bound)

    def work_together(self, cases: Sequence[Case[ModelledTable]], cells: Cells) -> Work:
        """Return the work of reading a program's parameters from one population, or from several together."""
        count = sum(len(case.model.cells) for case in cases)
        of = f"reading {cells.dimension} parameters from {count} cells"
        of += f" of {len(cases)} populations" if len(cases) > 1 else ""
        held = sum(3.0 * len(case.model.cells) * self._width(case) for case in cases)
        return Work(of, needed(cells) * sum(map(self._each, cases)), held)

    def values_allowed(self, cases: Sequence[Case[ModelledTable]]) -> float:
        """Return how many values of the likelihood, one of each case, may be worked out."""
        return cases[0].patience * MOST_OPERATIONS / sum(map(self._each, cases))

    def _width(self, case: Case[ModelledTable]) -> float:
        """Return about how many counts the window of a cell has."""
        reach = max((float(m.noise.decay_length.max()) for m in case.measurements), default=case.size / (2 * _REACHES))
        return min(case.size + 1.0, 2 * _REACHES * reach + 3)

    def _each(self, case: Case[ModelledTable]) -> float:
        """Return the work of one value: windows and their transforms, and products inside groups."""
        cells, width, inside = len(case.model.cells), self._width(case), 0.0
        if case.model.groups is not None:
            others = case.model.groups.shape[1] - 1
            inside = cells * others / 2 * width**2
        return 3e5 + 100 * cells * width + inside

    def read(self, case: Case[ModelledTable]) -> ModelReading:
        """Return the posterior of the program's parameters; the same case is always read alike."""
        target = self.target(case)
        return read_target(case.model, target, target.likelihood.method, allowed=self.values_allowed([case]))

    def solve_many(self, cases: Sequence[Case[ModelledTable]]) -> list[ModelReading]:
        """Return readings by a tenth of the draws, which no chains follow."""
        found = []
        for case in cases:
            target = self.target(case)
            points = points_of(target, case.model.bound, seed=case.seed, share=self.share_of_many)
            found.append(ModelReading(case.model, target, points, target.likelihood.method))
        return found

    def target(self, case: Case[ModelledTable]) -> Target:
        """Return prior times likelihood: with the shares of the given columns integrated out, if any are."""
        likelihood, given = Likelihood.of_case(case), case.model.bound.given
        return Target(case.model.bound, likelihood.given(*given) if given else likelihood)
