"""Tables of categories through noise or draws whose likelihood is a product over cells: exact, at any size."""

from collections.abc import Sequence
from math import ceil, log1p, log2, sqrt
from typing import Protocol

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.mathematics.digits import root
from discreet.mathematics.dirichlet_multinomial import log_prior_constant
from discreet.mechanisms.quantities import Measurement
from discreet.models import Categories
from discreet.noise.noise import MARGIN
from discreet.noise.structure import preserved, product_of
from discreet.reading.counts.latent_counts import SPARE, CellWeights, LatentCounts, alike
from discreet.reading.counts.pair_rows import PairCounts
from discreet.reading.drawn import LINEAR, DrawnCells, coarse, until_settled
from discreet.reading.known_sum import MANY, MOST_WAVES
from discreet.reading.problem import CostEstimate, Observed, Problem, Solver
from discreet.reading.readings import EXACTLY, TableReading
from discreet.reading.solvers.enumeration import EnumerationSolver, few_records

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
        return CostEstimate(f"reading {cells} cells through windows of {width:.0f} counts", operations, cells * widest)

    def solve(self, problem: Problem) -> TableReading:
        """Return the exact joint posterior of all counts."""
        kernels = _kernels(problem, None)
        if not any(kernel.is_linear for kernel in kernels):
            return _read(problem, kernels, EXACTLY)
        if (enumeration := EnumerationSolver()).rejection(problem) is None:
            return enumeration.solve(problem)

        def read(expected: Floats | None) -> tuple[TableReading, Floats]:
            found = _read(problem, _kernels(problem, expected), LINEAR)
            return found, found.mean_counts

        return until_settled(read, is_linear=True)

    def log_bounds(self, problems: Sequence[Problem]) -> list[float]:
        """Return bounds from the windows alone, cells of the same noisy count together; inf where cells differ."""
        from discreet.reading.counts.evidence_bound import log_bounds  # only needed for strengths

        return log_bounds(problems)


class _Kernel(Protocol):
    """The likelihood of one output: a product over cells, a constant, and where to look for counts first."""

    is_linear: bool
    log_constant: float
    kinds: Counts | None  # cells of one kind have the same factor; None where that is not known
    low: Counts
    high: Counts
    reach: float

    def __call__(self, places: Counts, counts: Counts) -> Floats: ...


def _read(problem: Problem, kernels: Sequence[_Kernel], method: str) -> TableReading:
    alpha, size = problem.model.concentration, problem.size

    def log_kernel(places: Counts, counts: Counts) -> Floats:
        return np.asarray(sum(kernel(places, counts) for kernel in kernels))

    low, high = np.min([kernel.low for kernel in kernels], axis=0), np.max([kernel.high for kernel in kernels], axis=0)
    reach = min(kernel.reach for kernel in kernels)
    latent: LatentCounts | PairCounts
    if len(alpha) == 2 and (alpha == 1).all():
        latent = PairCounts(log_kernel, low, high, reach, size)
    else:
        latent = LatentCounts(
            CellWeights(alpha, log_kernel), low, high, reach, size, alike(alpha, [kernel.kinds for kernel in kernels])
        )
    constant = float(log_prior_constant(alpha.sum(), size)) + sum(kernel.log_constant for kernel in kernels)
    return TableReading(problem.model, latent, latent.log_sum + constant, method)


class MeasuredCells:
    """Noisy numbers of single cells; nothing is known about a cell that was not measured."""

    is_linear = False

    def __init__(self, measurement: Measurement, cells: int, size: int) -> None:
        self._measurement, places = measurement, measurement.of.single_cells
        assert places is not None
        self._numbers = np.full(cells, -1)
        self._numbers[places] = np.arange(len(places))
        self.low, self.high = np.zeros(cells, dtype=np.int64), np.full(cells, size)
        self.low[places] = self.high[places] = measurement.values
        self.reach = float(measurement.noise.decay_length.max())
        self.log_constant = -measurement.noise.log_normaliser
        self.kinds = self.low if len(measurement.noise.blocks) == 1 and len(places) == cells else None

    def __call__(self, places: Counts, counts: Counts) -> Floats:
        """Return the log kernel of given cells at given counts."""
        numbers, counts = np.broadcast_arrays(self._numbers[places], counts)
        if (numbers >= 0).all():
            return self._measurement.log_terms(counts, numbers)
        return np.where(numbers >= 0, self._measurement.log_terms(counts, np.maximum(numbers, 0)), 0.0)


def _kernels(problem: Problem, expected: Floats | None) -> list[_Kernel]:
    cells, size = len(problem.model.cells), problem.size
    drawn: list[_Kernel] = [DrawnCells(draw.rows[0], size, expected) for draw in problem.draws]
    return [*drawn, *(MeasuredCells(measurement, cells, size) for measurement in problem.measurements)]


def no_product(observed: Observed) -> str | None:
    """Tell why the likelihood of an output is not a product over cells, or nothing if it is."""
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
