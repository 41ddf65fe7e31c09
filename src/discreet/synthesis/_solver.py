"""Reads noisy tables of one or two columns: their own sums at once, a model of whole records when it is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan, prod
from typing import ClassVar

import numpy as np

from discreet._core.arrays import Floats
from discreet.inference import CostEstimate, Exactness, Feature, Problem, SecretNumber, Solver
from discreet.mechanism import Measurement
from discreet.noise import Gaussian
from discreet.synthesis._joint import Joint, joint_of
from discreet.synthesis._maximum_entropy import STEPS, NoisyTable
from discreet.synthesis._mechanisms import total_of
from discreet.synthesis._model import Synthesis
from discreet.synthesis._own_sums import OwnSums

_CELLS = 100_000  # of a model, where nothing says how many it may have


@dataclass(frozen=True, eq=False)
class SynthesisSolution:
    """What was measured, and what follows from it."""

    model: Synthesis
    tables: tuple[NoisyTable, ...]
    size: float
    size_variance: float
    log_evidence: float = nan

    @property
    def method(self) -> str:
        """Say how."""
        return (
            "read by generalised least squares over all noisy tables that hold a column or a pair; everything else "
            f"comes from a model, {self.joint.words}, and has no interval of its own"
        )

    @cached_property
    def sums(self) -> OwnSums:
        """Return counts of columns and of measured pairs."""
        return OwnSums.of(self.model.levels, self.size, self.size_variance, self.tables)

    @cached_property
    def joint(self) -> Joint:
        """Return the model of whole records; it is fitted when it is first asked for."""
        return joint_of(self.model.levels, self.size, self.tables)


class SynthesisSolver(Solver):
    """Takes any measured cells of one or two columns with independent Gaussian noise, of one release or several."""

    models: ClassVar[tuple[type, ...]] = (Synthesis,)
    exactness = Exactness.EXACT
    handles = frozenset({Feature.SECRET_NUMBER})

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse anything but cells of tables of one or two columns with Gaussian noise."""
        for measurement in problem.measurements:
            parts = measurement.of.parts
            if parts is None or any(len(part.names) > 2 or not all(part.cells) for part in parts):
                return "it holds something else than cells of tables of one or two columns"
            if not isinstance(measurement.noise, Gaussian):
                return "its noise is not independent and Gaussian in every cell"
        if not problem.is_measured:
            return "it holds a choice or a draw, and no noisy counts"
        names = {name for m in problem.measurements for part in m.of.parts or () for name in part.names}
        if missing := {column.name for column in problem.model.columns} - names:
            return f"nothing was measured of {', '.join(sorted(missing))}"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the work of fitting a model of the usual size."""
        cells = float(min(max(_CELLS, *problem.model.sizes), prod(problem.model.levels)))
        operations = 40.0 * STEPS * cells + 1e5 * STEPS * len(problem.model.levels)
        what = f"fitting a model of {len(problem.model.levels)} columns"
        return CostEstimate(what, operations, 10 * cells + 4.0 * problem.model.cells)

    def solve(self, problem: Problem) -> SynthesisSolution:
        """Return the tables that were measured; all else follows from them."""
        model: Synthesis = problem.model
        tables = [table for each in problem.measurements for table in noisy_tables(model, each)]
        if isinstance(problem.number, SecretNumber):
            size, variance = total_of(tables)
            return SynthesisSolution(model, tuple(tables), max(size, 1.0), variance)
        return SynthesisSolution(model, tuple(tables), float(problem.number), 0.0)


def noisy_tables(model: Synthesis, measurement: Measurement) -> Sequence[NoisyTable]:
    """Return the tables of a measurement, columns by number; before anything is drawn, of zeros."""
    values: Floats = np.asarray(measurement.values, dtype=float)
    if not values.size:
        values = np.zeros(measurement.of.length)
    variances, found = measurement.noise.variance, []
    for part in measurement.of.parts or ():
        columns = [model.number_of(name) for name in part.names]
        order = np.argsort(columns, kind="stable").tolist()
        table = values[part.indices].transpose(order) / part.scale
        precision = part.scale**2 / float(variances[part.indices.ravel()].mean())
        found.append(NoisyTable(tuple(sorted(columns)), table, precision))
    return found
