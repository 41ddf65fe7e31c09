"""Measured tables in a form that solvers share: cells of tables, noisy values, and the noise.

A measurement is a row of numbers, and its quantities say which of them are the cells of which table (`parts`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference import NoisyRow, Problem
from discreet.mechanism import Measurement, Part
from discreet.networks._class import ClassFactor
from discreet.noise import log_terms, product_of

Names = tuple[str, ...]

_UNSEEN = 667.0  # nats below which a weight cannot be distinguished from zero: 1e-290


@dataclass(frozen=True, eq=False)
class MeasuredTable:
    """The cells of one table with axes `names`, through noise that is a product over cells once totals are known."""

    measurement: Measurement
    part: Part

    @property
    def names(self) -> Names:
        """Return the table's columns: the parents, then the variable itself."""
        return self.part.names

    @property
    def rows(self) -> Counts:
        """Return the indices of the cells among the measured numbers, one row for each combination of parents."""
        return np.asarray(self.part.indices.reshape(-1, self.part.indices.shape[-1]))

    @property
    def values(self) -> Counts:
        """Return the noisy cells, by rows."""
        return np.asarray(self.measurement.values[self.rows])

    def log_kernel(self, counts: Floats) -> Floats:
        """Return the log kernel of every cell (rows, levels) at each of some counts (last axis)."""
        return self.measurement.log_terms(counts, self.rows[:, :, None])

    @property
    def farthest(self) -> float:
        """Return the largest distance at which a factor e of likelihood is lost, of all cells: public."""
        return float(self.measurement.noise.decay_length[self.rows].max())

    @property
    def reach(self) -> float:
        """Return how far away from a noisy cell a count is seen at all, in either direction: public."""
        distribution, index = self.measurement.noise, int(self.rows.flat[0])
        farthest = float(distribution.decay_length[index])
        while float(log_terms(distribution.structure, np.array([farthest]), np.array([index]))[0]) > -_UNSEEN:
            farthest *= 2
        low = farthest / 2
        for _ in range(8):
            middle = (low + farthest) / 2
            seen = float(log_terms(distribution.structure, np.array([middle]), np.array([index]))[0]) > -_UNSEEN
            low, farthest = (middle, farthest) if seen else (low, middle)
        return farthest


def measured_tables(problem: Problem) -> list[MeasuredTable] | None:
    """Return all measured tables of a network, or None if something else was measured or noise is not a product."""
    found = []
    for measurement in problem.measurements:
        parts = measurement.of.parts
        if (
            parts is None
            or product_of(measurement.noise.structure) is None
            or not all(all(part.cells) for part in parts)
        ):
            return None
        found += [MeasuredTable(measurement, part) for part in parts]
    return found


def log_constant(problem: Problem) -> float:
    """Return the constant that turns the kernels of all measurements into likelihoods."""
    return -float(sum(measurement.noise.log_normaliser for measurement in problem.measurements))


def noisy_row_of(measurement: Measurement, indices: Counts) -> NoisyRow:
    """Return what a measurement says about the cells of one row, at these indices."""
    distribution, log_kernel = measurement.noise, partial(_log_kernel_at, measurement, indices)
    information = 1 / np.maximum(distribution.variance[indices], 1e-9)
    return NoisyRow(
        log_kernel, np.asarray(measurement.values[indices]), distribution.decay_length[indices], information
    )


def _log_kernel_at(measurement: Measurement, indices: Counts, counts: Counts) -> Floats:
    return measurement.log_terms(counts, indices[:, None])


def noisy_tables(problem: Problem) -> dict[str, list[list[NoisyRow]]]:
    """Return what was seen of every family, by the rows of its table: one for each measurement of it."""
    model = problem.model
    seen: dict[str, list[list[NoisyRow]]] = {
        family[-1]: [[] for _ in range(prod(model.shape(family[:-1])))] for family in model.families
    }
    for table in measured_tables(problem) or ():
        for own, indices in zip(seen[table.names[-1]], table.rows, strict=True):
            own.append(noisy_row_of(table.measurement, indices))
    return seen


def class_factors(alpha: Sequence[float], seen: Sequence[NoisyRow]) -> list[ClassFactor]:
    """Return what weights the counts of single cells of a row: the prior, and what was observed of each."""
    cells = len(alpha)
    return [ClassFactor(float(a), partial(_log_kernel_of, seen, cells, index)) for index, a in enumerate(alpha)]


def _log_kernel_of(seen: Sequence[NoisyRow], cells: int, index: int, counts: Counts) -> Floats:
    rows = np.broadcast_to(counts, (cells, len(counts)))
    return np.asarray(sum((each.log_kernel(rows)[index] for each in seen), np.zeros(len(counts))))


def log_noise(problem: Problem) -> dict[str, Floats]:
    """Return the log kernel of every cell of every family at every count: arrays (parent rows, levels, counts)."""
    model, counts = problem.model, np.arange(problem.size + 1.0)
    shapes = {family[-1]: model.shape(family) for family in model.families}
    logs = {name: np.zeros((prod(shape[:-1]), shape[-1], problem.size + 1)) for name, shape in shapes.items()}
    for table in measured_tables(problem) or ():
        logs[table.names[-1]] += table.log_kernel(counts)
    return logs


def rough_margins(problem: Problem, others: Sequence[Mapping[str, Floats]] = ()) -> dict[str, Floats]:
    """Return a rough count of each level of each variable: the mean of all margins that were seen, made to fit n."""
    size = float(problem.size)
    levels = {variable.name: len(variable.levels) for variable in problem.model.variables}
    margins: dict[str, list[Floats]] = {name: [] for name in levels}
    for table in measured_tables(problem) or ():
        margins[table.names[-1]].append(table.values.sum(axis=0))
        for parent in table.names[:-1]:  # at most one: the graph is a tree
            margins[parent].append(table.values.sum(axis=1))
    for other in others:
        for name, margin in other.items():
            margins[name].append(margin)
    rough = {n: np.clip(np.mean(each or [np.ones(levels[n])], axis=0), 0.5, size) for n, each in margins.items()}
    return {name: counts * size / counts.sum() for name, counts in rough.items()}
