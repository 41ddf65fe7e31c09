"""Tables of categories through noise or draws whose likelihood is a product over cells: exact, at any size.

Many strengths of a prior are compared by their evidence, and most of them have none. An upper bound on it follows from
windows alone, as the tilted probability of the total is at most 1. It is within a few nats, log (standard deviation of
the total), of the evidence, and needs no transform. Cells with the same noisy counts, prior parameter and noise have
the same weights, so each class of cells is asked once; and the kernel does not know the prior, so its windows are
computed once for all strengths.
"""

from collections.abc import Sequence
from math import ceil, inf, log1p, log2, sqrt
from typing import NamedTuple, Protocol

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.inference import (
    LINEAR,
    MANY,
    MOST_WAVES,
    SPARE,
    CellWeights,
    CellWindows,
    CostEstimate,
    DrawnCells,
    LatentCounts,
    Observed,
    Problem,
    Solver,
    alike,
    coarse,
    until_settled,
)
from discreet.mathematics import log_prior_constant, root, weights_tilted_to
from discreet.mechanism import Measurement
from discreet.noise import MARGIN, log_terms, preserved, product_of
from discreet.tables._enumeration import EnumerationSolver, few_records
from discreet.tables._model import Categories
from discreet.tables._solution import EXACTLY, TableSolution

_MARGIN = 20.0  # windows reach this many nats beyond the noisy counts; what lies outside is added
_STEEPEST = 0.9  # share of the noise's decay by which weights may be tilted
_NEARLY = 0.3  # standard deviations by which the mean may miss the total: that loosens a bound by .05 nats
_WIDER = (1, 2, 4, 8)  # factor by which windows are widened where a strong prior rises faster than the noise falls


def log_bounds(problems: Sequence[Problem]) -> list[float]:
    """Return numbers that the log evidence of a measured table under each prior does not exceed; inf if unknown."""
    one, cells = problems[0], len(problems[0].model.cells)
    full = all(m.of.single_cells is not None and len(m.of.single_cells) == cells for m in one.measurements)
    if not one.is_measured or not full or any(len(m.noise.blocks) != 1 for m in one.measurements):
        return [inf] * len(problems)
    shared = _Bounds(one)
    return [shared.log_bound(problem.model.concentration) for problem in problems]


class _Setting(NamedTuple):
    """Windows of one margin: how far the total lies above their first counts, and how far weights may be tilted."""

    windows: CellWindows
    rest: int
    steepest: float


class _Bounds:
    """What was published, by classes of equal cells, with what the bounds for all priors have in common."""

    def __init__(self, problem: Problem) -> None:
        self._measurements, self._size = problem.measurements, problem.size
        values = np.empty((len(problem.model.cells), len(self._measurements)), dtype=np.int64)
        for number, measurement in enumerate(self._measurements):
            values[measurement.of.single_cells, number] = measurement.values
        self._noisy, which, self._times = np.unique(values, axis=0, return_inverse=True, return_counts=True)
        self._which = which.ravel()
        self._margin = int(np.ceil(_MARGIN * min(float(m.noise.decay_length.max()) for m in self._measurements))) + 2
        self._known: dict[tuple[bytes, int], _Setting | None] = {}
        self._tilt = 0.0  # the previous prior's tilt, near which the next one is searched

    def log_bound(self, alpha: Floats) -> float:
        """Return a bound for one prior; infinite where none is found."""
        classes, own, times = self._classes(alpha)
        constant = float(log_prior_constant(alpha.sum(), self._size)) - sum(
            m.noise.log_normaliser for m in self._measurements
        )
        for wider in _WIDER:
            if (key := (classes.tobytes(), wider)) not in self._known:
                self._known[key] = self._setting(self._noisy[classes], times, wider * self._margin)
            setting = self._known[key]
            if setting is not None and np.isfinite(inside := self._inside(setting, own, times)):
                return inside + constant
        return inf

    def _classes(self, alpha: Floats) -> tuple[Counts, Floats, Counts]:
        """Return for each class of cells the number of its noisy counts, its parameter, and how many there are."""
        if (alpha == alpha[0]).all():
            return np.arange(len(self._noisy)), np.full(len(self._noisy), alpha[0]), self._times
        pairs, times = np.unique(self._which + 1j * alpha, return_counts=True)
        return pairs.real.astype(np.int64), pairs.imag, times

    def _setting(self, noisy: Counts, times: Counts, margin: int) -> _Setting | None:
        """Return windows that reach so far beyond the noisy counts; None where they do not hold the total."""
        centres = np.clip(noisy, 0, self._size)
        first = np.maximum(centres.min(axis=1) - margin, 0)
        last = np.minimum(centres.max(axis=1) + margin, self._size)
        rest = self._size - int(times @ first)
        if not 0 < rest < int(times @ (last - first)):
            return None

        def log_kernel(indices: Counts, counts: Counts) -> Floats:
            found = np.zeros(np.broadcast(indices, counts).shape)
            for number, measurement in enumerate(self._measurements):
                found += log_terms(
                    measurement.noise.structure, noisy[indices, number] - counts, np.zeros(1, dtype=np.int64)
                )
            return found

        far = np.array([margin, margin + 1]) + centres[0].max()
        fall = -float(np.diff(log_kernel(np.zeros(2, dtype=np.int64), far))[0])  # every tilt gives a bound
        return _Setting(CellWindows(log_kernel, first, last, self._size), rest, _STEEPEST * fall)

    def _inside(self, setting: _Setting, alpha: Floats, times: Counts) -> float:
        """Return the sum of the cells' log sums under the tilt of the total, and what windows leave out."""
        windows, rest, steepest = setting
        balanced = weights_tilted_to(
            *windows.weights(alpha),
            np.arange(windows.width),
            rest,
            relative=_NEARLY,
            start=self._tilt,
            steepest=steepest,
            times=times,
        )
        self._tilt = balanced.tilt
        outside = windows.beyond(alpha).log_outside(np.array(balanced.tilt))
        return float(times @ np.logaddexp(balanced.log_sums, outside)) - balanced.tilt * rest


_RARE = 46.1  # nats: outputs of a smaller probability than 1e-20 may be refused
_WAVES = 400.0  # about the most frequencies of many cells that matter


class TablesSolver(Solver):
    """Sums over all tables by Fourier transforms: cells are independent but for the known total."""

    models = (Categories,)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse noise that is not a product over cells, choices, and draws that are truncated or on a coarse grid."""
        if (
            len(problem.model.cells) == 2
            and any(each.draw is not None for each in problem.observed)
            and few_records(problem)
        ):
            return "draws of two probabilities are read table by table"
        return next((why for each in problem.observed if (why := no_product(each)) is not None), None)

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the size of the windows, and three transforms of each or, for many cells, the few that matter."""
        cells = len(problem.model.cells)
        width = min(problem.size + 1.0, max(_width(each, problem.size) for each in problem.observed))
        length = width + 24 * np.sqrt(cells) * width / 90
        is_low = cells > MANY and _WAVES * width <= MOST_WAVES
        each = 8 * _WAVES * width if is_low else 100 * length * np.log2(length + 2)
        operations = 100 * cells * width + cells * each
        widest = min(problem.size + 1.0, width * max(_widening(each, cells) for each in problem.observed) / SPARE)
        return CostEstimate(
            f"inference for {cells} cells through windows of {width:.0f} counts", operations, cells * widest
        )

    def solve(self, problem: Problem) -> TableSolution:
        """Return the exact joint posterior of all counts."""
        kernels = _kernels(problem, None)
        if not any(kernel.is_linear for kernel in kernels):
            return _read(problem, kernels, EXACTLY)
        if (enumeration := EnumerationSolver()).rejection(problem) is None:
            return enumeration.solve(problem)

        def read(expected: Floats | None) -> tuple[TableSolution, Floats]:
            found = _read(problem, _kernels(problem, expected), LINEAR)
            return found, found.mean_counts

        return until_settled(read, is_linear=True)

    def log_bounds(self, problems: Sequence[Problem]) -> list[float]:
        """Return bounds from the windows alone, cells of the same noisy count together; inf where cells differ."""
        return log_bounds(problems)


class _Kernel(Protocol):
    """The likelihood of one output: a product over cells, a constant, and where to look for counts first."""

    is_linear: bool
    log_constant: float
    classes: Counts | None  # cells of one class have the same factor; None where that is not known
    low: Counts
    high: Counts
    reach: float

    def __call__(self, indices: Counts, counts: Counts) -> Floats: ...


def _read(problem: Problem, kernels: Sequence[_Kernel], method: str) -> TableSolution:
    alpha, size = problem.model.concentration, problem.size

    def log_kernel(indices: Counts, counts: Counts) -> Floats:
        return np.asarray(sum(kernel(indices, counts) for kernel in kernels))

    low, high = np.min([kernel.low for kernel in kernels], axis=0), np.max([kernel.high for kernel in kernels], axis=0)
    reach = min(kernel.reach for kernel in kernels)
    classes = alike(alpha, [kernel.classes for kernel in kernels]) if len(alpha) > 2 else None  # two: nothing to save
    latent = LatentCounts(CellWeights(alpha, log_kernel), low, high, reach, size, classes)
    constant = float(log_prior_constant(alpha.sum(), size)) + sum(kernel.log_constant for kernel in kernels)
    return TableSolution(problem.model, latent, latent.log_sum + constant, method)


class MeasuredCells:
    """Noisy numbers of single cells; nothing is known about a cell that was not measured."""

    is_linear = False

    def __init__(self, measurement: Measurement, cells: int, size: int) -> None:
        self._measurement, indices = measurement, measurement.of.single_cells
        assert indices is not None
        self._numbers = np.full(cells, -1)
        self._numbers[indices] = np.arange(len(indices))
        self.low, self.high = np.zeros(cells, dtype=np.int64), np.full(cells, size)
        self.low[indices] = self.high[indices] = measurement.values
        self.reach = float(measurement.noise.decay_length.max())
        self.log_constant = -measurement.noise.log_normaliser
        self.classes = self.low if len(measurement.noise.blocks) == 1 and len(indices) == cells else None

    def __call__(self, indices: Counts, counts: Counts) -> Floats:
        """Return the log kernel of given cells at given counts."""
        numbers = self._numbers[indices]
        if (numbers >= 0).all():
            return self._measurement.log_terms(counts, numbers)
        numbers, counts = np.broadcast_arrays(numbers, counts)
        return np.where(numbers >= 0, self._measurement.log_terms(counts, np.maximum(numbers, 0)), 0.0)


def _kernels(problem: Problem, expected: Floats | None) -> list[_Kernel]:
    cells, size = len(problem.model.cells), problem.size
    drawn: list[_Kernel] = [DrawnCells(draw.rows[0], size, expected) for draw in problem.draws]
    return [*drawn, *(MeasuredCells(measurement, cells, size) for measurement in problem.measurements)]


def no_product(observed: Observed) -> str | None:
    """Return why the likelihood of an output is not a product over cells, or None if it is."""
    if (draw := observed.draw) is not None:
        return coarse(draw.rows)
    if not observed.measurements:
        return "the likelihood of a choice does not factor over cells"
    single = all(
        m.of.single_cells is not None and product_of(m.noise.structure) is not None for m in observed.measurements
    )
    return None if single else "its noise does not factor over the cells of the table"


def _widening(observed: Observed, cells: int) -> float:
    """Return the most by which windows are widened, except for outputs of a probability below 1e-20.

    Where a total is published with noise, windows follow the noise once it is tilted to the known total. Laplace noise
    of m cells, tilted by x/b, falls off by (1 - x)/b, and a total that needs this tilt has a probability of about
    e^(-m (2 y - ln(1 + y))), y = x^2 / (1 - x^2). Other noise falls off faster.
    """
    if observed.draw is not None or all(all(preserved(m.noise.structure)) for m in observed.measurements):
        return SPARE
    needed = root(lambda y: cells * (2 * y - log1p(y)) - _RARE, 1e-9, _RARE, relative=1e-9)
    return max(SPARE, 2.0 ** ceil(log2(1 / (1 - sqrt(needed / (1 + needed))))))


def _width(observed: Observed, size: int) -> float:
    """Return about how many counts a cell's window has."""
    if (draw := observed.draw) is not None:
        rows = draw.rows[0]
        return 20 * float(np.sqrt(size / (float(rows.power) * rows.draws))) + 5
    return max(2 * MARGIN * float(m.noise.decay_length.max()) + 5 for m in observed.measurements)
