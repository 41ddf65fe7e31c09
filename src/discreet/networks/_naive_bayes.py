"""Naive Bayes read through noise: exact, for any number of classes.

The only link between the classes is that their counts sum to n. So P(n_1, ..., n_C | z) ~ prod_y f_y(n_y) W_y(n_y),
where f_y holds the prior and the noise of the class counts, and W_y(n_y) = P(what was released about class y | n_y).
Given the class counts the classes are independent, and so the chance of the next record is a sum over states of one
class at a time:

    P(y, x | z) = sum_s P(s | z) (a_y + n_y) / (a + n) prod_i E[theta_i(x_i | y) | s].

Class counts live on windows. What lies beyond these, and the errors of what lies within, have proved bounds; windows
are widened, and cut into parts with a tilt each, until the bounds of both are met.

Naive Bayes networks through noise or draws that are a product over cells: exact, for any number of classes.

Noisy and drawn tables may be combined: each says something about every cell of a row given the row's total, and the
totals of all rows of a class are one number, the class count.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from math import log2, sqrt

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DiscreetError
from discreet.inference import (
    LINEAR,
    TOO_FAR,
    CostEstimate,
    Feature,
    KnownSum,
    Problem,
    RowKernel,
    Solver,
    Split,
    TableCounts,
    TotalDistribution,
    Windowed,
    coarse,
    until_settled,
)
from discreet.mathematics import log_prior, log_prior_constant
from discreet.mechanism import DrawnRows
from discreet.networks import _splits as splits
from discreet.networks._class import (
    Bools,
    ClassFactor,
    ClassSolution,
    KnownRows,
    RowMemory,
    WholeClass,
    WindowedClass,
    class_windows,
)
from discreet.networks._class_states import ClassStates, log_chances, represented
from discreet.networks._measured import (
    class_factors,
    log_constant,
    log_noise,
    measured_tables,
    noisy_tables,
    rough_margins,
)
from discreet.networks._model import Network
from discreet.networks._solution import NetworkSolution
from discreet.networks._splits import split_by_totals
from discreet.noise import MARGIN
from discreet.tables import EXACTLY

BEYOND = 1e-14
"""The share of the posterior that windows of class counts may leave out."""
_ERROR = 1e-11  # allowed relative error of the evidence, in all
_ROUNDS = 12  # rounds of widening and cutting


class ClassCounts:
    """Weights of all class counts on their windows, and bounds on what lies beyond these."""

    def __init__(self, classes: Sequence[ClassSolution], own: Sequence[ClassFactor]) -> None:
        self._classes, self._own = classes, own
        rows = [each.log_weights.values + f(each.log_weights) for each, f in zip(classes, own, strict=True)]
        self.first = np.array([each.log_weights.first for each in classes])
        self.last = np.array([each.log_weights.last for each in classes])
        self.logs = np.full((len(rows), max(map(len, rows))), -np.inf)
        for line, row in zip(self.logs, rows, strict=True):
            line[: len(row)] = row

    @property
    def tilts(self) -> tuple[float, float]:
        """Return the tilts between which all that lies beyond the windows is bounded."""
        steepest = min(each.steepest(f) for each, f in zip(self._classes, self._own, strict=True))
        return -steepest, steepest

    def log_outside(self, tilt: Floats) -> Floats:
        """Return for each class (columns) the log of a bound on what lies beyond its window, for every tilt."""
        pairs = list(zip(self._classes, self._own, strict=True))
        return np.array([[each.log_outside(by, f) for each, f in pairs] for by in tilt.tolist()])

    def known(self, size: int) -> KnownSum:
        """Return the class counts given that they sum to n."""
        return KnownSum(self.logs[None], self.first[None], TotalDistribution.known(size), outside=self)

    def distributions(self, known: KnownSum) -> list[Windowed]:
        """Return P(n_y = t | z) of every class on its window."""
        widths = (self.last - self.first + 1).tolist()
        triples = zip(self.first.tolist(), known.marginals[0], widths, strict=True)
        return [Windowed(first, row[:width]) for first, row, width in triples]


class NaiveBayesCounts(TableCounts):
    """The joint posterior of class counts and of each class's feature counts.

    `own` holds the prior of each class and what was released about its count, `log_constant` all that does not depend
    on counts. `error` bounds the relative error of the evidence.
    """

    method = "read exactly"

    def __init__(
        self, classes: Sequence[ClassSolution], own: Sequence[ClassFactor], size: int, log_constant: float = 0.0
    ) -> None:
        self.alpha, self.size = np.array([each.alpha for each in own]), size
        self.classes, self._row, self.class_chances, self.error = _certified(list(classes), own, size)
        constant = float(log_prior_constant(float(self.alpha.sum()), np.array([size]))[0])
        self.log_evidence = float(self._row.log_sums[0]) + constant + log_constant

    @cached_property
    def states(self) -> list[ClassStates]:
        """Return the states of each class."""
        return [solution.states(chances) for solution, chances in zip(self.classes, self.class_chances, strict=True)]

    @cached_property
    def _expected(self) -> Floats:
        """Return the expected count of every class."""
        return np.array([chances.values @ chances.counts for chances in self.class_chances])

    @cached_property
    def class_means(self) -> Floats:
        """Return the expected probability of every class."""
        return np.asarray((self.alpha + self._expected) / (self.alpha.sum() + self.size))

    def feature_means(self, feature: int) -> Floats:
        """Return the expected probability of each level of a feature (columns) in each class (rows)."""
        return np.stack([states.chances @ states.features[feature] for states in self.states])

    def means(self) -> list[Floats]:
        """Return the expected probabilities of every variable: the class, if there is one, then the features."""
        own = [self.class_means[None]] if len(self.classes) > 1 else []
        return [*own, *(self.feature_means(feature) for feature in range(len(self.classes[0].levels)))]

    def split(self, index: int, row: int, inside: Bools) -> Split:
        """Return the distribution of one row of a variable's table: of the class, if there is one, or of a feature."""
        first = 0 if len(self.classes) == 1 else 1
        return self.class_split(inside) if index < first else self.feature_split(index - first, row, inside)

    def class_split(self, inside: Bools) -> Split:
        """Return the distribution of how many records belong to one of some classes."""
        counts, distribution = self._row.marginal(inside.astype(np.int64))
        return split_by_totals([1.0], [Windowed(int(counts[0]), distribution)], [self.size])

    def feature_split(self, feature: int, index: int, inside: Bools) -> Split:
        """Return the distribution of (n_y, k), k the records of one class whose feature has one of some levels.

        It is exact where at most 128 class counts are likely and 128 values of k for each. Beyond, ranges of neighbours
        are merged, with the exact probability of all of them.
        """
        counts, shares = represented(self.class_chances[index], splits.MOST_COUNTS)
        return split_by_totals(
            shares, self.classes[index].distributions_inside(feature, inside, counts), counts.tolist()
        )

    def log_joint(self, codes: Counts) -> Floats:
        """Return log P(y, x | z) for rows of feature codes (rows) and each class (columns)."""
        columns = []
        for alpha, states in zip(self.alpha, self.states, strict=True):
            own = (alpha + states.totals) / (self.alpha.sum() + self.size)
            columns.append(log_chances(np.log(states.chances * own), states.features, codes))
        return np.stack(columns, axis=1)

    def tables(self, count: int, generator: np.random.Generator) -> list[Counts]:
        """Draw tables (draws, rows, levels) of every variable: the class, if there is one, then the features."""
        totals, features = self.draw(count, generator)
        return features if len(self.classes) == 1 else [totals[:, None, :], *features]

    def draw(self, count: int, generator: np.random.Generator) -> tuple[Counts, list[Counts]]:
        """Draw class counts (one row per draw), and for every feature tables (draws, classes, levels)."""
        totals = self._row.draw(np.full(count, self.size), generator)
        parts = [solution.draw(column, generator) for solution, column in zip(self.classes, totals.T, strict=True)]
        return totals, [np.stack(tables, axis=1) for tables in zip(*parts, strict=True)]


Certified = tuple[list[ClassSolution], KnownSum, list[Windowed], float]


def _certified(classes: list[ClassSolution], own: Sequence[ClassFactor], size: int) -> Certified:
    """Return solutions with windows wide and fine enough, their sums, P(n_y = t | z), and the error that is left.

    A weight hidden by rounding is replaced by an upper bound, which can be far too large: only where weights are known
    does a total in their tail show that windows are too narrow. So cutting comes before widening.
    """
    for _ in range(_ROUNDS):
        counts = ClassCounts(classes, own)
        if not np.isfinite(counts.logs).any(axis=1).all():
            break
        row = counts.known(size)
        if row.outside_share <= BEYOND:
            chances = counts.distributions(row)
            errors = [
                float(distribution.values @ each.errors) for distribution, each in zip(chances, classes, strict=True)
            ]
            if sum(errors) > _ERROR:
                pairs = zip(classes, errors, strict=True)
                classes = [each.finer() if error > _ERROR / len(classes) else each for each, error in pairs]
                continue
            if row.lost[0] <= BEYOND:
                return classes, row, _known(chances, classes), float(row.errors[0]) + sum(errors)
        wider = [each.wider() for each in classes]
        if all(_ends(new) == _ends(old) for new, old in zip(wider, classes, strict=True)):
            break
        classes = wider
    raise DiscreetError(TOO_FAR)


def _ends(solution: ClassSolution) -> tuple[int, int]:
    return solution.log_weights.first, solution.log_weights.last


def _known(chances: Sequence[Windowed], classes: Sequence[ClassSolution]) -> list[Windowed]:
    """Return distributions of class counts without those that rounding hides, which are proved to be negligible."""
    found = []
    for distribution, solution in zip(chances, classes, strict=True):
        values = np.where(solution.errors < 1, distribution.values, 0.0)
        found.append(Windowed(distribution.first, values / values.sum()))
    return found


WIDENING = 2.0
"""How much wider than at first windows may have to be; more is needed only with a probability below 1e-15."""

_DRAWS = 400  # draws of the tables that show roughly which rows to expect where a factor was linearised


class NaiveBayesSolver(Solver):
    """Sums over all class counts, and for each over all tables of its features."""

    models = (Network,)
    shares_rows = True
    handles = frozenset({Feature.OWN_ROWS})

    def in_turn(self) -> Callable[[Problem], NetworkSolution]:
        """Return what reads rows with the same prior in several problems only once."""
        known: KnownRows = {}
        return lambda problem: (
            NetworkSolution(problem.model, windowed(problem, known)) if _is_windowed(problem) else self.solve(problem)
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

    def solve(self, problem: Problem) -> NetworkSolution:
        """Return the exact joint posterior of all tables."""
        if _is_windowed(problem):
            return NetworkSolution(problem.model, windowed(problem))
        drawn = [draw.rows for draw in problem.draws]
        linear = any(
            RowKernel(rows, y, problem.size).is_linear for tables in drawn for rows in tables for y in range(rows.count)
        )

        def read(expected: Floats | None) -> tuple[NaiveBayesCounts, Floats]:
            counts = whole(problem, [_Drawn(rows, problem.size, expected) for rows in drawn])
            counts.method = LINEAR if linear else EXACTLY
            return counts, _expected_cells(counts) if linear else np.zeros(1)

        return NetworkSolution(problem.model, until_settled(read, linear))


def _is_windowed(problem: Problem) -> bool:
    """Return whether every feature was measured and nothing was drawn, so that windows need not grow with n."""
    seen = {table.names[-1] for table in measured_tables(problem) or ()}
    return not problem.draws and all(variable.name in seen for variable in problem.model.variables[1:])


def windowed(problem: Problem, known: KnownRows | None = None) -> NaiveBayesCounts:
    """Return class counts and features on windows around what was measured, reusing rows that are already known."""
    model, size, seen = problem.model, problem.size, noisy_tables(problem)
    target, *features = (variable.name for variable in model.variables)
    (class_alpha,), *alpha = model.row_priors
    rows = [[seen[name][y] for name in features] for y in range(len(class_alpha))]
    windows = class_windows(rows, seen[target][0], size)
    memories = [RowMemory(own, size, {} if known is None else known, y) for y, own in enumerate(rows)]
    classes = [
        WindowedClass(each, [own[y] for own in alpha], window)
        for y, (each, window) in enumerate(zip(memories, windows, strict=True))
    ]
    return NaiveBayesCounts(classes, class_factors(class_alpha.tolist(), seen[target][0]), size, log_constant(problem))


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
        return [p + noise[v.name][y] + sum(each.cells(index, y) for each in drawn) for p, v, index in own]

    middles = centres[target].tolist()
    log_class = np.asarray(noise[target][0] + sum(each.cells(0, 0) + each.totals() for each in drawn))
    classes = [
        WholeClass(factors(y), [own[y] for own in alpha], middle, log_class[y]) for y, middle in enumerate(middles)
    ]
    constant = log_constant(problem) + sum(each.log_constant() for each in drawn)
    return NaiveBayesCounts(classes, [ClassFactor(float(a)) for a in class_alpha], size, constant)


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

    def cells(self, index: int, row: int) -> Floats:
        """Return the log factor of each level and count of a row of a table."""
        kernel = self._rows[index][row]
        return kernel(np.arange(len(kernel.alpha))[:, None], self._counts)

    def totals(self) -> Floats:
        """Return the log factor of the totals of all rows of a class, for each class count."""
        return np.asarray(sum(kernels[0].log_total(self._counts) for kernels in self._rows[1:]))

    def log_constant(self) -> float:
        """Return what does not depend on the counts: the total of the class, priors, and the size of grid cells."""
        own = sum(kernel.log_constant for kernels in self._rows for kernel in kernels)
        return own + float(self._rows[0][0].log_total(self._size))
