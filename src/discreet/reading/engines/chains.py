"""Any graph of few combinations of levels, through any evidence with a likelihood: by Markov chains."""

from math import prod

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.models.network import Network
from discreet.reading.case import Case, Engine, Exactness, Observed, Work
from discreet.reading.consistent_tables import fit, noisy_parts
from discreet.reading.counts.chains import CHAINS, LONGEST, SampledCounts
from discreet.reading.counts.latent_tables import Families, Fit
from discreet.reading.drawn import RowKernel, coarse
from discreet.reading.readings import NetworkReading

MOST_COMBINATIONS = 2**10
"""A network of more combinations of levels is not sampled."""

_MOVES = 3.0  # moves at each variable in one sweep
_CELL = 60.0  # operations of a move for each combination of levels and each chain
_CALL = 2e4  # operations of one call of a likelihood, whatever it holds


class ChainsEngine(Engine, place=50):
    """Runs chains over made-up records until they agree."""

    models = (Network,)
    exactness = Exactness.SAMPLED

    def misfit(self, case: Case) -> str | None:
        """Refuse networks of many combinations, and outputs whose likelihood is not known in numbers."""
        combinations = prod(len(variable.levels) for variable in case.model.variables)
        if combinations > MOST_COMBINATIONS:
            return (
                f"chains go through at most {MOST_COMBINATIONS} combinations of levels; this network has {combinations}"
            )
        return next((why for each in case.observed if (why := _refusal(each)) is not None), None)

    def work(self, case: Case) -> Work:
        """Return the work of as many sweeps as there are at most, with a likelihood for every move."""
        variables = case.model.variables
        combinations = prod(len(variable.levels) for variable in variables)
        likelihood = sum(_operations(each) for each in case.observed)
        move = CHAINS * (_CELL * combinations + likelihood) + _CALL
        words = f"running chains through {combinations} combinations of levels"
        return Work(words, LONGEST * _MOVES * len(variables) * move, 1000.0 * CHAINS * combinations)

    def read(self, case: Case) -> NetworkReading:
        """Return draws of all tables; chains start near what least squares says, far more spread out."""
        families = Families(case.model)
        shapes = families.priors.copy()
        if case.is_measured and (parts := noisy_parts(case.measurements, case.size)) is not None:
            fitted = fit(case.model, case.size, parts)
            tables = np.concatenate([fitted.table(*family).ravel() for family in case.model.families])
            shapes = shapes + np.maximum(0.0, tables) / 8
        return NetworkReading(case.model, SampledCounts(case.model, case.size, fit_of(case), shapes))


def fit_of(case: Case) -> Fit:
    """Return the log likelihood of all outputs, up to a constant, for rows of counts of the maximal families."""
    fits = [_fit(each, case.model, case.size) for each in case.observed]
    return fits[0] if len(fits) == 1 else lambda counts: np.sum([each(counts) for each in fits], axis=0)


def _is_product(observed: Observed) -> bool:
    return observed.draw is not None and bool(observed.draw.rows) and coarse(observed.draw.rows) is None


def _refusal(observed: Observed) -> str | None:
    if any(not measurement.noise.has_density for measurement in observed.measurements):
        return "its noise has no density"
    return None if _is_product(observed) else observed.likelihood_refusal


def _operations(observed: Observed) -> float:
    if observed.draw is not None and _is_product(observed):
        return sum(100.0 * rows.count * len(rows.alpha) * rows.draws for rows in observed.draw.rows)
    return sum(cost.operations for cost in observed.costs)


def _fit(observed: Observed, model: Network, size: int) -> Fit:
    """Return the log likelihood of an output, up to a constant, for rows of counts of the maximal families."""
    if observed.draw is not None and _is_product(observed):
        return DrawnTables(observed, model, size)
    return observed.log_likelihood


class DrawnTables:
    """The likelihood of drawn tables for any graph: a product over the rows of all tables, given their totals."""

    def __init__(self, observed: Observed, model: Network, size: int) -> None:
        assert observed.draw is not None
        self._model = model
        self._tables = [
            (rows.names[-1], [RowKernel(rows, row, size, linear=False) for row in range(rows.count)])
            for rows in observed.draw.rows
        ]

    def __call__(self, counts: Counts) -> Floats:
        """Return the log likelihood of each row of counts, up to a constant."""
        logs = np.zeros(counts.shape[:-1])
        for name, kernels in self._tables:
            table = self._model.table(name, counts)
            rows = table.reshape(*counts.shape[:-1], len(kernels), table.shape[-1])
            for row, kernel in enumerate(kernels):
                own = rows[..., row, :]
                logs += kernel(np.arange(own.shape[-1]), own).sum(axis=-1) + kernel.log_total(own.sum(axis=-1))
                logs += kernel.log_far(own)
        return logs
