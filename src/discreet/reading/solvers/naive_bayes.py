"""Naive Bayes networks through noise or draws that are a product over cells: exact, for any number of classes.

Noisy and drawn tables may be combined: each says something about every cell of a row given the row's total, and the
totals of all rows of a class are one number, the class count.
"""

from collections.abc import Callable, Sequence
from math import log2, sqrt

import numpy as np

from discreet.arrays import Floats
from discreet.mathematics.dirichlet_multinomial import log_prior
from discreet.mechanisms.evidence import DrawnRows
from discreet.models.network import Network
from discreet.noise.noise import MARGIN
from discreet.reading.counts.class_reading import OwnFactor
from discreet.reading.counts.class_windows import KnownRows, RowMemory, WindowedClass, class_windows
from discreet.reading.counts.naive_bayes import NaiveBayesCounts
from discreet.reading.counts.whole_class import WholeClass
from discreet.reading.drawn import LINEAR, RowKernel, coarse, until_settled
from discreet.reading.measured import log_constant, log_noise, measured_tables, own_factors, rough_margins, seen_tables
from discreet.reading.network_readings import NetworkReading
from discreet.reading.problem import CostEstimate, Feature, Problem, Solver
from discreet.reading.readings import EXACTLY

WIDENING = 2.0
"""How much wider than at first windows may have to be; more is needed only with a probability below 1e-15."""

_DRAWS = 400  # draws of the tables that show roughly which rows to expect where a factor was linearised


class NaiveBayesSolver(Solver):
    """Sums over all class counts, and for each over all tables of its features."""

    models = (Network,)
    shares_rows = True
    handles = frozenset({Feature.OWN_ROWS})

    def in_turn(self) -> Callable[[Problem], NetworkReading]:
        """Return what reads rows with the same prior in several problems only once."""
        known: KnownRows = {}
        return lambda problem: (
            NetworkReading(problem.model, windowed(problem, known)) if _is_windowed(problem) else self.solve(problem)
        )

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse other graphs, noise that is not a product over cells, choices, truncated draws and coarse grids."""
        if problem.model.target is None:
            return "the graph is not a naive Bayes network"
        if measured_tables(problem) is None:
            return "its noise does not factor over the cells of tables"
        for observed in problem.observed:
            if observed.draw is not None:
                if (why := coarse(observed.draw.rows)) is not None:
                    return why
            elif not observed.measurements:
                return "the likelihood of a choice does not factor over cells"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the transforms of the windows of all rows; with draws, direct convolutions over all counts."""
        model = problem.model
        classes, *features = (len(variable.levels) for variable in model.variables)
        cells = classes * sum(features)
        if not _is_windowed(problem):
            numbers = 8.0 * cells * (problem.size + 1)
            words = f"summing over {cells} cells of {problem.size} records"
            return CostEstimate(words, 9.0 * cells * (problem.size + 1.0) ** 2, numbers)
        tables = measured_tables(problem) or []
        width = min(problem.size + 1.0, WIDENING * max(2 * MARGIN * table.farthest + 5 for table in tables))
        length = min(problem.size + 1.0, width) * (1 + sqrt(max(features)) / 2)
        words = f"summing over windows of {width:.0f} counts of {cells} cells"
        states = min(problem.size + 1.0, width) * classes * sum(features)
        return CostEstimate(
            words, 100 * cells * length * log2(length + 2), classes * max(features) * length + 4 * states
        )

    def solve(self, problem: Problem) -> NetworkReading:
        """Return the exact joint posterior of all tables."""
        if _is_windowed(problem):
            return NetworkReading(problem.model, windowed(problem))
        drawn = [draw.rows for draw in problem.draws]
        linear = any(
            RowKernel(rows, y, problem.size).is_linear for tables in drawn for rows in tables for y in range(rows.count)
        )

        def read(expected: Floats | None) -> tuple[NaiveBayesCounts, Floats]:
            counts = whole(problem, [_Drawn(rows, problem.size, expected) for rows in drawn])
            counts.method = LINEAR if linear else EXACTLY
            return counts, _expected_cells(counts) if linear else np.zeros(1)

        return NetworkReading(problem.model, until_settled(read, linear))


def _is_windowed(problem: Problem) -> bool:
    """Tell whether every feature was measured and nothing was drawn, so that windows need not grow with n."""
    seen = {table.names[-1] for table in measured_tables(problem) or ()}
    return not problem.draws and all(variable.name in seen for variable in problem.model.variables[1:])


def windowed(problem: Problem, known: KnownRows | None = None) -> NaiveBayesCounts:
    """Return class counts and features on windows around what was measured, reusing rows that are already known."""
    model, size, seen = problem.model, problem.size, seen_tables(problem)
    target, *features = (variable.name for variable in model.variables)
    (class_alpha,), *alpha = model.row_priors
    rows = [[seen[name][y] for name in features] for y in range(len(class_alpha))]
    windows = class_windows(rows, seen[target][0], size)
    memories = [RowMemory(own, size, {} if known is None else known, y) for y, own in enumerate(rows)]
    classes = [
        WindowedClass(each, [own[y] for own in alpha], window)
        for y, (each, window) in enumerate(zip(memories, windows, strict=True))
    ]
    return NaiveBayesCounts(classes, own_factors(class_alpha.tolist(), seen[target][0]), size, log_constant(problem))


def whole(problem: Problem, drawn: "Sequence[_Drawn]" = ()) -> NaiveBayesCounts:
    """Return class counts and features with the factors of every count 0, ..., n, as drawn tables need."""
    model, size = problem.model, problem.size
    noise, centres = log_noise(problem), rough_margins(problem, [each.margins() for each in drawn])
    (class_alpha,), *alpha = model.row_priors
    target, features = model.variables[0].name, model.variables[1:]

    def factors(y: int) -> list[Floats]:
        own = zip(
            (log_prior(a[y][:, None], np.arange(size + 1)) for a in alpha),
            features,
            range(1, 1 + len(alpha)),
            strict=True,
        )
        return [p + noise[v.name][y] + sum(each.cells(place, y) for each in drawn) for p, v, place in own]

    middles = centres[target].tolist()
    log_class = np.asarray(noise[target][0] + sum(each.cells(0, 0) + each.totals() for each in drawn))
    classes = [
        WholeClass(factors(y), [own[y] for own in alpha], middle, log_class[y]) for y, middle in enumerate(middles)
    ]
    constant = log_constant(problem) + sum(each.log_constant() for each in drawn)
    return NaiveBayesCounts(classes, [OwnFactor(float(a)) for a in class_alpha], size, constant)


def _expected_cells(counts: NaiveBayesCounts) -> Floats:
    """Return about the expected count of every cell of every table, one after another."""
    tables = counts.tables(_DRAWS, np.random.default_rng(0))
    return np.concatenate([table.mean(axis=0).ravel() for table in tables])


class _Drawn:
    """The drawn tables of one release: the class first, then the features."""

    def __init__(self, tables: Sequence[DrawnRows], size: int, expected: Floats | None) -> None:
        self._counts, self._size = np.arange(size + 1.0), size
        self._names = [rows.names[-1] for rows in tables]
        self._rows: list[list[RowKernel]] = []
        first = 0
        for rows in tables:
            kernels = []
            for row in range(rows.count):
                cells = None if expected is None else expected[first : first + len(rows.alpha)]
                kernels.append(RowKernel(rows, row, size, cells))
                first += len(rows.alpha)
            self._rows.append(kernels)

    def margins(self) -> dict[str, Floats]:
        """Return about how many records each class has."""
        return {self._names[0]: self._size * self._rows[0][0].theta.mean(axis=0)}

    def cells(self, place: int, row: int) -> Floats:
        """Return the log factor of each level and count of a row of a table."""
        kernel = self._rows[place][row]
        return kernel(np.arange(len(kernel.alpha))[:, None], self._counts)

    def totals(self) -> Floats:
        """Return the log factor of the totals of all rows of a class, for each class count."""
        return np.asarray(sum(kernels[0].log_total(self._counts) for kernels in self._rows[1:]))

    def log_constant(self) -> float:
        """Return what does not depend on the counts: the total of the class, priors, and the size of grid cells."""
        own = sum(kernel.log_constant for kernels in self._rows for kernel in kernels)
        return own + float(self._rows[0][0].log_total(self._size))
