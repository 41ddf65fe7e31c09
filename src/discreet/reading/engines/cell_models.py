"""Tables with a program: the release as a likelihood of cell probabilities, and the program's parameters behind it."""

from discreet.models.modelled_table import ModelledTable
from discreet.reading.case import MOST_OPERATIONS, Case, Engine, Work
from discreet.reading.cells.likelihood import CellFunction, Likelihood, why_no_likelihood
from discreet.reading.cells.model_reading import ModelReading, needed, read_target
from discreet.reading.cells.target import Target
from discreet.reading.published import Exactness

_REACHES = 36.0


class CellModelsEngine(Engine, place=28):
    """Prior times likelihood: on a grid of one or two parameters, else by draws around the mode."""

    models = (ModelledTable,)
    exactness = Exactness.SAMPLED
    reads_programs = True

    def misfit(self, case: Case) -> str | None:
        """Refuse anything but a likelihood of cell probabilities."""
        return why_no_likelihood(case)

    def work(self, case: Case[ModelledTable]) -> Work:
        """Return the work of all values of the likelihood that are needed."""
        cells, bound = len(case.model.cells), case.model.bound
        of = f"reading {bound.dimension} parameters from {cells} cells"
        return Work(of, needed(bound) * self._each(case), 3.0 * cells * self._width(case))

    def _width(self, case: Case[ModelledTable]) -> float:
        """Return about how many counts the window of a cell has."""
        reach = max((float(m.noise.reach.max()) for m in case.measurements), default=case.size / (2 * _REACHES))
        return min(case.size + 1.0, 2 * _REACHES * reach + 3)

    def _each(self, case: Case[ModelledTable]) -> float:
        """Return the work of one value: windows and their transforms, and products inside groups."""
        cells, width, inside = len(case.model.cells), self._width(case), 0.0
        if case.model.groups is not None:
            others = case.model.groups.shape[1] - 1
            inside = cells * others / 2 * width**2
        return 3e5 + 100 * cells * width + inside

    def read(self, case: Case[ModelledTable]) -> ModelReading:
        """Return the posterior of the program's parameters; the same case always gives the same reading."""
        likelihood = seen(Likelihood.of_case(case), case.model)
        allowed = case.patience * MOST_OPERATIONS / self._each(case)
        return read_target(case.model, Target(case.model.bound, likelihood), likelihood.method, allowed=allowed)


def seen(likelihood: Likelihood, model: ModelledTable) -> CellFunction:
    """Return the likelihood that a program needs: with the shares of the given columns integrated out, if any are."""
    given = model.bound.given
    return likelihood.given(*given) if given else likelihood
