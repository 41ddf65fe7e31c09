"""Groupwise inference: the posterior of a group of cells from its noisy total alone.

Events split the cells into p parts. If cell noise is a product, or a product conditioned on summing to zero, then so is
the noise of the parts' sums, with the kernel folded c times for c cells (`Noise.marginal`): adding up the product over
all rows with the same sums leaves a product, and the condition stays. So the collapsed release is a noisy table of p
cells with a known total, and it is read as one, under Dirichlet(1, ..., 1) on the parts.

Given theta, the parts' noisy sums depend on it through the shares of the parts only. So this is the exact
posterior given these sums whatever theta is inside the parts, and how often an interval of a share covers it depends
on the number of records, the noise, the number of cells and that share alone: no table is worse than another.

Drawn probabilities add up within parts in the same way: those of Dirichlet(alpha + tau k) give one of the summed alpha
and k. Other evidence is summed out table by table if there are at most ten cells, every split inside a part being as
likely as any other.

All single cells are inferred at once: cells of one block are alike, so one distribution of noise serves all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

import numpy as np
from scipy.special import gammaln

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.inference import JointCounts, Observed, Problem, WeightedTables, coarse, pair_rows
from discreet.mechanism import Draw, DrawnRows, Evidence, Measurement
from discreet.noise import Noise, log_terms, product_of
from discreet.privacy import all_tables
from discreet.tables._enumeration import EnumerationSolver, table_likelihoods
from discreet.tables._mechanisms import TableCells
from discreet.tables._model import Categories
from discreet.tables._secret_size_mechanisms import NumberOfRecords
from discreet.tables._solver import TablesSolver


def own_cells(problem: Problem[Categories], indices: Counts | None = None) -> tuple[Counts, Floats, Counts] | None:
    """Return the first count of the window of each cell (or of some), the probabilities in it, and the class of each.

    Each is read from its own noisy count and from the sum of all others, as `GroupwiseInference` reads one group. Cells
    with the same noisy counts are of one class, which is read once. Nothing is returned where the noise of cells is not
    alike, or where nothing but noisy counts of all cells would do.
    """
    cells = len(problem.model.cells)
    summed = summed_measurements(problem, np.minimum(np.arange(cells), 1))
    if not summed or any(
        len(m.noise.blocks) != 1 or product_of(m.noise.structure) is None for m in problem.measurements
    ):
        return None
    wanted = np.arange(cells) if indices is None else indices
    values = np.empty((cells, len(summed)), dtype=np.int64)
    for number, measurement in enumerate(problem.measurements):
        values[measurement.of.single_cells, number] = measurement.values
    different, classes = np.unique(values[wanted], axis=0, return_inverse=True)
    rests = values.sum(axis=0) - different
    pairs = [np.stack(pair, axis=1) for pair in zip(different.T, rests.T, strict=True)]
    first, weights = pairs_through(list(zip(pairs, (each.noise for each in summed), strict=True)), problem.size)
    classes = classes.ravel()
    return first[classes], weights[classes], classes


def pairs_through(noisy: list[tuple[Counts, Noise]], total: int) -> tuple[Counts, Floats]:
    """Return the distributions of the first counts of pairs (rows) with one total, given one or more noisy counts."""

    def log_kernel(counts: Counts) -> Floats:
        found = np.zeros(counts.shape)
        for values, distribution in noisy:
            for index, own in enumerate((counts, total - counts)):
                found += log_terms(distribution.structure, values[:, index, None] - own, np.array([index]))
        return found

    centres = np.stack([each for values, _ in noisy for each in (values[:, 0], total - values[:, 1])])
    reach = min(float(distribution.decay_length.min()) for _, distribution in noisy)
    return pair_rows(log_kernel, centres.min(axis=0), centres.max(axis=0), reach, total)


MOST_LISTED_CELLS = 10
"""The most cells for which evidence that is not a product over cells is summed out table by table."""
_KEPT = 256  # partitions whose solution is remembered


@dataclass(frozen=True, eq=False)
class Parts:
    """The true counts behind some parts: part j holds the counts at `indices[j]`, and its prior parameter is 1."""

    counts: JointCounts
    indices: tuple[Counts, ...]


class GroupwiseInference:
    """Posteriors of groups of cells from their noisy totals; `refusal` says why there are none."""

    def __init__(self, problem: Problem[Categories]) -> None:
        self._problem, self._known = problem, dict[tuple[bytes, ...], Parts]()

    @cached_property
    def refusal(self) -> str | None:
        """Return why groups have no distribution by themselves, or None if they have."""
        if any(each.is_margin for each in self._problem.observed):
            return "releases of different tables can only be read together, not sum by sum"
        cells = len(self._problem.model.cells)
        # the first cell and the last against the rest: their noise may be unlike
        first, last = np.minimum(np.arange(cells), 1), (np.arange(cells) != cells - 1).astype(np.int64)
        halves = [(each, labels) for each in self._problem.observed for labels in (first, last)]
        if all(_collapsed(each, labels) is not None for each, labels in halves) or self._is_listed:
            return None
        return (
            "the likelihood does not factor over cells, so sums of cells have no separate distribution, and the "
            f"tables of more than {MOST_LISTED_CELLS} cells are not listed"
        )

    @cached_property
    def _is_listed(self) -> bool:
        few = len(self._problem.model.cells) <= MOST_LISTED_CELLS
        return few and EnumerationSolver().rejection(self._problem) is None

    def parts(self, *groups: Counts) -> Parts:
        """Return the counts of disjoint groups of cells, in this order, and after them those of all other cells."""
        key = tuple(np.sort(group).tobytes() for group in groups)
        if key not in self._known:
            if len(self._known) >= _KEPT:
                self._known.clear()
            self._known[key] = self._read(groups)
        return self._known[key]

    def cells(self, indices: Counts) -> tuple[Counts, Floats, Counts] | None:
        """Return windows of counts of single cells, their probabilities and classes, if noise is alike; else None."""
        return own_cells(self._problem, indices)

    def _read(self, groups: Sequence[Counts]) -> Parts:
        cells = len(self._problem.model.cells)
        labels = np.full(cells, len(groups))
        for number, group in enumerate(groups):
            labels[group] = number
        number = int(labels.max()) + 1
        if (problem := collapsed_problem(self._problem, _model(number), labels)) is None:
            if not self._is_listed:
                raise DeclarationError(
                    f"The joint noise of {number} sums of cells has no distribution in closed form here. Nothing was "
                    "read. Ask about one event alone, or read all cells together with posterior.table."
                )
            return self._listed(labels, number)
        return Parts(TablesSolver().solve(problem).counts, tuple(np.array([index]) for index in range(number)))

    def _listed(self, labels: Counts, number: int) -> Parts:
        """Weight all tables: parts are uniform, and so are the splits inside each part."""
        tables, logs = self._all
        indices = tuple(np.flatnonzero(labels == part) for part in range(number))
        for own in indices:
            sums = tables[:, own].sum(axis=1)
            logs = logs - (gammaln(sums + len(own)) - gammaln(sums + 1.0) - gammaln(float(len(own))))
        return Parts(WeightedTables.listed(tables, logs), indices)

    @cached_property
    def _all(self) -> tuple[Counts, Floats]:
        tables = all_tables(self._problem.size, len(self._problem.model.cells))
        return tables, np.asarray(sum(table_likelihoods(each, tables) for each in self._problem.observed))


@dataclass(frozen=True, eq=False)
class _Collapsed(Observed):
    """One output, collapsed to parts: its evidence about their counts."""

    collapsed: Evidence

    @cached_property
    def evidence(self) -> Evidence:
        return self.collapsed

    @property
    def likelihood_refusal(self) -> str:
        """Say that it is read as a product, not table by table."""
        return "sums are read as a product over parts"


@dataclass(frozen=True, eq=False)
class _SummedDraw(Draw):
    """Drawn probabilities, added up within parts."""

    summed: DrawnRows

    @property
    def rows(self) -> tuple[DrawnRows, ...]:
        return (self.summed,)


def _model(parts: int) -> Categories:
    return Categories("part", levels=tuple(range(parts)), prior=1, outside=0)


def collapsed_problem(problem: Problem[Categories], model: Categories, labels: Counts) -> Problem[Categories] | None:
    """Return a problem about parts of a model's cells; None if their likelihood is not a product."""
    observed = [_collapsed(each, labels) for each in problem.observed]
    kept = tuple(each for each in observed if each is not None)
    return Problem(model, problem.number, kept, work_limit=inf) if len(kept) == len(observed) else None


def _collapsed(observed: Observed, labels: Counts) -> Observed | None:
    """Return an output about the parts' counts; None if their likelihood is not a product."""
    collapsed: Evidence | None = None
    if (draw := observed.draw) is not None:
        if len(draw.rows) == 1 and coarse(draw.rows) is None:
            collapsed = _SummedDraw(draw.cell, draw.drawer, _summed_rows(draw.rows[0], labels))
    elif observed.measurements:
        summed = [summed_measurement(each, labels) for each in observed.measurements]
        collapsed = None if None in summed else tuple(each for each in summed if each is not None)
    return None if collapsed is None else _Collapsed(observed.mechanism, observed.output, observed.label, collapsed)


def summed_measurements(problem: Problem, labels: Counts) -> tuple[Measurement, ...] | None:
    """Return the noisy sums of the labelled parts, if a problem holds only noisy counts of every cell."""
    if not problem.is_measured:
        return None
    found = [summed_measurement(measurement, labels) for measurement in problem.measurements]
    return None if None in found else tuple(each for each in found if each is not None)


def summed_measurement(measurement: Measurement, labels: Counts) -> Measurement | None:
    """Return the noisy sums of the parts; None if a cell was not measured, or if their noise is not a product.

    A noisy number of records is the same of all partitions.
    """
    if isinstance(measurement.of, NumberOfRecords):
        return replace(measurement, of=NumberOfRecords(_model(int(labels.max()) + 1)))
    indices, noise = measurement.of.single_cells, measurement.noise
    if indices is None or not np.array_equal(np.sort(indices), np.arange(len(labels))):
        return None
    parts = int(labels.max()) + 1
    distribution = noise.marginal(labels[indices].tolist())
    if distribution is None:
        return None
    values = np.zeros(parts, dtype=np.int64)
    np.add.at(values, labels[indices], measurement.values)
    return Measurement(TableCells(_model(parts)), values, distribution)


def _summed_rows(rows: DrawnRows, labels: Counts) -> DrawnRows:
    """Return drawn probabilities of the parts, as the cells of the grid into which the summed middles fall."""
    parts, steps = int(labels.max()) + 1, 2.0**rows.grid_bits
    theta = rows.probabilities[:, 0]
    sums = np.stack([theta[:, labels == part].sum(axis=1) for part in range(parts)], axis=1)
    left = np.cumsum(sums[:, ::-1], axis=1)[:, ::-1]
    sticks = np.clip(np.floor(sums / left * steps), 0, steps - 1).astype(np.int64)[:, None, :-1]
    alpha = np.asarray(np.bincount(labels, rows.alpha, parts), dtype=float)
    return replace(rows, alpha=alpha, count=1, sticks=sticks)
