"""Tables with a program: the release as a likelihood of cell probabilities, and the program's parameters behind it."""

from discreet.models.modelled_table import ModelledTable
from discreet.reading.case import Case, Engine, Work
from discreet.reading.cells.likelihood import CellFunction, Likelihood, why_no_likelihood
from discreet.reading.cells.model_reading import DRAWS, MANY_DRAWS, ModelReading, read_target
from discreet.reading.cells.target import Target
from discreet.reading.published import Exactness

_GRID = 1_500  # values that a grid and the search for its middle take, about
_REACHES = 36.0


class CellModelsEngine(Engine, place=28):
    """Prior times likelihood: on a grid of one or two parameters, else by draws around the mode."""

    models = (ModelledTable,)
    exactness = Exactness.SAMPLED
    reads_programs = True

    def misfit(self, case: Case) -> str | None:
        """Refuse what is no likelihood of cell probabilities."""
        return why_no_likelihood(case)

    def work(self, case: Case[ModelledTable]) -> Work:
        """Return the work of all values of the likelihood: windows and their transforms, or products inside groups."""
        cells, bound = len(case.model.cells), case.model.bound
        reach = max((float(m.noise.reach.max()) for m in case.measurements), default=case.size / (2 * _REACHES))
        width = min(case.size + 1.0, 2 * _REACHES * reach + 3)
        values = _GRID if bound.dimension <= 2 else 3 * (MANY_DRAWS if bound.spreads else DRAWS) + 100 * bound.dimension
        inside = 0.0 if case.model.groups is None else cells * (case.model.groups.shape[1] - 1) / 2 * width**2
        each = 3e5 + 100 * cells * width + inside
        return Work(f"reading {bound.dimension} parameters from {cells} cells", values * each, 3.0 * cells * width)

    def read(self, case: Case[ModelledTable]) -> ModelReading:
        """Return the posterior of the program's parameters; the same case is always read alike."""
        likelihood = seen(Likelihood.of_case(case), case.model)
        return read_target(case.model, Target(case.model.bound, likelihood), likelihood.method)


def seen(likelihood: Likelihood, model: ModelledTable) -> CellFunction:
    """Return the likelihood that a program needs: with the shares of the given columns integrated out, if any are."""
    given = model.bound.given
    return likelihood.given(*given) if given else likelihood
