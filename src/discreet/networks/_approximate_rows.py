"""Inference row by row: an approximation that takes seconds, used to start chains and for graphs too large for them.

Noisy tables are first made to agree (`consistent_tables`); this gathers what all of them say about each family. Then
every row of every family is read by itself, as if

- its fitted counts were the true ones plus independent normal noise of the stated variance,
- its total could have been any number of records, all equally likely, and its counts have their Dirichlet prior.

Counts are not negative, and rows hidden by the noise fall back on the prior. What is lost: the slight dependence
between errors of neighbouring cells, and what the rest of the graph says about a row's total. Counts are resolved to a
sixteenth of the noise.

Graphs whose tables have too many cells for chains, row by row: an approximation, for tables with any noise.
"""

from dataclasses import replace
from functools import cached_property

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference import CostEstimate, Exactness, Feature, KnownSum, Problem, Solver, TableCounts, whole_row
from discreet.mathematics import log_prior, log_prior_constant
from discreet.networks._consistent_tables import ConsistentTables, fit, noisy_parts
from discreet.networks._model import Network
from discreet.networks._solution import NetworkSolution

_PARTS = 16  # steps per standard deviation in which counts are resolved
_REACH = 6.0  # standard deviations beyond which no count is tried
_PLAIN = 60.0  # standard deviations from which on a row's total hardly matters


class ApproximateRow:
    """The counts of one row, from fitted ones with normal noise of a standard deviation.

    Every count is looked for from `low` upwards, in steps that are judged by their middle and drawn from evenly.
    """

    def __init__(self, fitted: Floats, deviation: float, alpha: Floats, size: int) -> None:
        self._fitted, self._deviation, self._alpha, self._size = fitted, deviation, alpha, size
        self._step = max(1, int(deviation / _PARTS))
        self._low = np.rint(np.clip(fitted - _REACH * deviation, 0, size)).astype(np.int64)

    def draw(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw rows of counts."""
        shape = (count, len(self._fitted))
        if self._fitted.min() > _PLAIN * self._deviation:  # prior and total are flat over the width of the noise
            drawn = np.rint(self._fitted + self._deviation * generator.standard_normal(shape)).astype(np.int64)
            return np.asarray(np.maximum(0, drawn))
        totals = generator.choice(len(self._distribution), size=count, p=self._distribution)
        within = generator.integers(self._step, size=shape)
        return np.asarray(self._low + self._rows.draw(totals, generator) * self._step + within)

    @cached_property
    def _rows(self) -> KnownSum:
        tops = np.clip(self._fitted + _REACH * self._deviation, self._low + self._step, None)
        most = int((tops - self._low).sum() // self._step) + 1
        counts = self._low[:, None] + np.arange(most + 1.0) * self._step + (self._step - 1) / 2
        logs = log_prior(self._alpha[:, None], counts) - ((counts - self._fitted[:, None]) / self._deviation) ** 2 / 2
        centre = float((np.clip(self._fitted, 0, None) - self._low).sum() / self._step)
        return whole_row(np.where(counts <= tops[:, None], logs, -np.inf), float(np.clip(centre, 0, most)))

    @cached_property
    def _distribution(self) -> Floats:
        """Return the distribution of the total: uniform beforehand, then weighted by what the row says."""
        middle = len(self._fitted) * (self._step - 1) / 2
        totals = self._low.sum() + self._rows.total.totals * self._step + middle
        logs = self._rows.log_sums + log_prior_constant(float(self._alpha.sum()), totals)
        within = np.where(totals <= self._size, logs, -np.inf)
        logs = within if np.isfinite(within).any() else logs  # noise may leave no possible total within reach
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())


class ApproximateCounts(TableCounts):
    """Draws of the tables of all families, each row by itself. The evidence is not known."""

    log_evidence = float("nan")
    method = (
        "read approximately, row by row, because the graph is too large for Markov chains: where it was measured, 90 "
        "% intervals of this approximation covered 87 to 89 %; the evidence is not known"
    )

    def __init__(self, fitted: ConsistentTables, model: Network) -> None:
        self._rows: list[list[ApproximateRow]] = []
        for family, priors in zip(model.families, model.row_priors, strict=True):
            table, deviation = fitted.table(*family), fitted.standard_error(*family)
            pairs = zip(table.reshape(-1, table.shape[-1]), priors, strict=True)
            self._rows.append([ApproximateRow(row, deviation, prior, fitted.size) for row, prior in pairs])

    def tables(self, count: int, generator: np.random.Generator) -> list[Counts]:
        """Draw tables (draws, rows, levels) of every variable."""
        return [np.stack([row.draw(count, generator) for row in rows], axis=1) for rows in self._rows]


BY_ROWS = "read row by row, which approximates how a release will be read"
"""How plans approximate networks whose inference takes long."""


class RowsSolver(Solver):
    """Makes all tables agree by least squares, then reads every row by itself."""

    models = (Network,)
    exactness = Exactness.APPROXIMATE
    handles = frozenset({Feature.OWN_ROWS})

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse everything but measured tables, and measurements that leave a table of the network unknown."""
        if not problem.is_measured:
            return "of so large a network only noisy tables can be read, row by row"
        parts = noisy_parts(problem.measurements, problem.size)
        if parts is None:
            return "only noisy cells and contrasts of tables can be made consistent"
        seen = {name for part in parts for name in part.names}
        if missing := [v.name for v in problem.model.variables if v.name not in seen]:
            return f"nothing was measured about {missing[0]!r}"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return a few convolutions of a few hundred steps for each row."""
        cells = sum(len(prior) * _rows(problem.model, index) for index, prior in enumerate(problem.model.prior))
        return CostEstimate(f"inference for {cells} cells row by row", 1e6 * cells, 1e3 * cells)

    def solve(self, problem: Problem) -> NetworkSolution:
        """Return draws of all tables, each row by itself."""
        fitted = fit(problem.model, problem.size, noisy_parts(problem.measurements, problem.size) or ())
        return NetworkSolution(problem.model, ApproximateCounts(fitted, problem.model))


def is_read_by_rows(problem: Problem[Network]) -> bool:
    """Return whether plans read simulated releases row by row that will be read by chains."""
    return not any(each.is_margin for each in problem.observed) and RowsSolver().unsupported_reason(problem) is None


def by_rows_in_plans(cost: CostEstimate, problem: Problem[Network]) -> CostEstimate:
    """Return the cost of chains, with what a plan reads instead if it reads row by row."""
    if not is_read_by_rows(problem):
        return cost
    share = RowsSolver().cost(problem).operations / cost.operations
    return replace(cost, share_of_many=share, many_read=BY_ROWS)


def _rows(model: Network, index: int) -> int:
    rows = 1
    for levels in model.shape(model.parents[index]):
        rows *= levels
    return rows
