"""Trees whose inner variables have two levels, read through noise on windows: exact, at any number of records.

Every variable has at most one parent, and the noise is independent between cells. What a variable's subtree says
depends on the rest only through n_1, how many records have level 1 of its parent: a message over these counts, on a
window. A leaf's rows are independent given n_1 (`RowWindows`); a variable with children sums over its own count
(`Edge`). Walking up gives the evidence; walking down gives the distribution of every count, every expected probability,
and independent draws.

A node's window is wide enough if its distribution is negligible at both ends; tables have bounds on what their windows
leave out and on rounding. All of these are computed in every solution, and windows are widened until they hold.

Trees and forests whose inner variables have two levels, through noise that is a product over cells: exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DiscreetError
from discreet.inference import (
    TOO_FAR,
    CostEstimate,
    NoisyRow,
    Problem,
    RowWindows,
    Solver,
    Split,
    TableCounts,
    Windowed,
    require_agreement,
)
from discreet.mathematics import log_prior_constant, log_prior_windows
from discreet.networks import _splits as splits
from discreet.networks._class_states import represented
from discreet.networks._measured import log_constant, measured_tables, noisy_tables
from discreet.networks._model import Network
from discreet.networks._solution import NetworkSolution
from discreet.networks._splits import split_by_totals
from discreet.networks._tree_edges import BLOCK, Edge
from discreet.networks._trees import TreesSolver
from discreet.noise import MARGIN

_ENDS = 1e-17  # allowed probability at the end of a node's window
_ERROR = 1e-11  # allowed relative error of the evidence, in all
_MARGIN = 32.0  # nats by which a row's window at first extends beyond its kinks, at twice the noise's rate
_ROUNDS = 10


@dataclass(frozen=True, eq=False)
class BinaryTable:
    """A variable: its name, the index of its parent (None for a root), its prior, and what was observed of each row."""

    name: str
    parent: int | None
    alpha: Floats
    seen: Sequence[Sequence[NoisyRow]]


@dataclass(frozen=True)
class _Settings:
    """How a tree is read: a window and a centre for the count of each inner variable, tilts a range, and margins."""

    windows: tuple[tuple[int, int], ...]
    centres: tuple[float, ...]
    parts: int = 1
    margin: float = _MARGIN


class BinaryTreeCounts(TableCounts):
    """The joint posterior of all tables of a tree or forest; `tables` hold parents before children."""

    method = "read exactly"

    def __init__(self, variables: Sequence[BinaryTable], size: int, log_constant: float = 0.0) -> None:
        self.variables, self.size = tuple(variables), size
        self._walk, self.error = _certified(self.variables, size)
        self.log_evidence = self._walk.log_sum + log_constant

    @property
    def chances(self) -> dict[int, Windowed]:
        """Return the distribution of how many records have level 1 of each variable with children, by its index."""
        return self._walk.chances

    def means(self) -> list[Floats]:
        return self._walk.means

    def tables(self, count: int, generator: np.random.Generator) -> list[Counts]:
        """Draw tables (draws, parent levels, levels) of every variable."""
        return self._walk.draw(count, generator)

    def split(self, index: int, row: int, inside: NDArray[np.bool_]) -> Split:
        """Return the distribution of (n_j, k), k the records of a row with one of some levels.

        Where more than 128 totals of the row are likely, ranges of neighbours are merged, with the exact probability of
        all of them.
        """
        variable = self.variables[index]
        if variable.parent is None:
            return split_by_totals([1.0], [self._walk.root_distribution(index, inside)], [self.size])
        counts, shares = represented(self._walk.chances[variable.parent], splits.MOST_COUNTS)
        distributions = [self._walk.row_distribution(index, row, inside, count) for count in counts.tolist()]
        return split_by_totals(shares, distributions, (counts if row else self.size - counts).tolist())


class _Walk:
    """Messages up and distributions down, for one choice of windows."""

    def __init__(self, variables: Sequence[BinaryTable], size: int, settings: _Settings) -> None:
        self.variables, self.size, self.settings = variables, size, settings
        self._children = [[c for c, v in enumerate(variables) if v.parent == index] for index in range(len(variables))]
        self.edges: dict[int, Edge] = {}
        self.rows: dict[int, list[RowWindows]] = {}
        self._heard: dict[int, Windowed] = {}  # what children say about an inner variable's count
        self._messages: dict[int, Floats] = {}
        self.errors: dict[int, Floats] = {}
        self.log_sum = 0.0
        for index in reversed(range(len(variables))):
            self._up(index)

    def _up(self, index: int) -> None:
        variable = self.variables[index]
        if self._children[index]:
            first, last = self.settings.windows[index]
            heard = sum((self._messages[child] for child in self._children[index]), np.zeros(last - first + 1))
            self._heard[index] = Windowed(first, heard)
        if variable.parent is None:
            self.log_sum += self._root(index)
        elif self._children[index]:
            above, centre = self._window(variable.parent), self.settings.centres[index]
            heard_here = self._heard[index]
            self.edges[index] = Edge(
                variable.alpha, variable.seen, self.size, above, heard_here, centre, self.settings.margin
            )
            self._messages[index], self.errors[index] = self.edges[index].message
        else:
            self._leaf(index, variable.parent)

    def _window(self, index: int) -> Windowed:
        first, last = self.settings.windows[index]
        return Windowed(first, np.zeros(last - first + 1))

    def _leaf(self, index: int, parent: int) -> None:
        variable, (first, last) = self.variables[index], self.settings.windows[parent]
        ranges = ((self.size - last, self.size - first), (first, last))
        pairs = zip(variable.seen, ranges, strict=True)
        rows = [RowWindows(variable.alpha, seen, self.size, *own, self.settings.parts) for seen, own in pairs]
        self.rows[index] = rows
        self._messages[index] = rows[0].log_weights[::-1] + rows[1].log_weights
        self.errors[index] = rows[0].errors[::-1] + rows[1].errors

    def _root(self, index: int) -> float:
        """Return the log of all that is said at and below a root."""
        variable = self.variables[index]
        if not self._children[index]:
            row = RowWindows(variable.alpha, variable.seen[0], self.size, self.size, self.size)
            self.rows[index], self.errors[index] = [row], row.errors
            return float(row.log_weights[0])
        logs = self._heard[index].values + self._own(index)
        peak = float(logs.max())
        if not np.isfinite(peak):
            raise DiscreetError(TOO_FAR)
        return peak + float(np.log(np.exp(logs - peak).sum()))

    def _own(self, index: int) -> Floats:
        """Return the log of a root's own factor at the counts of its window: prior, and what was seen of it."""
        variable, counts = self.variables[index], self._heard[index].counts
        both = np.stack([self.size - counts, counts])
        kernel = sum((each.log_kernel(both) for each in variable.seen[0]), np.zeros(both.shape))
        no = log_prior_windows(variable.alpha[:1], both[0, -1:], len(counts))[0, ::-1]
        yes = log_prior_windows(variable.alpha[1:], both[1, :1], len(counts))[0]
        constant = log_prior_constant(float(variable.alpha.sum()), np.array(self.size))
        return np.asarray(kernel.sum(axis=0) + no + yes + constant)

    @cached_property
    def _down(self) -> tuple[dict[int, Windowed], list[Floats]]:
        """Return the distribution of each inner variable's count, and the expected probabilities of all variables."""
        distributions: dict[int, Windowed] = {}
        means: list[Floats] = []
        for index, variable in enumerate(self.variables):
            if variable.parent is None:
                means.append(self._root_down(index, distributions))
            elif index in self.edges:
                distribution, yes = self.edges[index].down(distributions[variable.parent].values)
                distributions[index] = Windowed(self._heard[index].first, distribution / distribution.sum())
                means.append(np.stack([1 - yes, yes], axis=1))
            else:
                zero, one = self.rows[index]
                chances = distributions[variable.parent].values
                means.append(np.stack([chances[::-1] @ zero.probabilities, chances @ one.probabilities]))
        return distributions, means

    def _root_down(self, index: int, distributions: dict[int, Windowed]) -> Floats:
        variable = self.variables[index]
        if index in self.rows:
            return self.rows[index][0].probabilities
        logs = self._heard[index].values + self._own(index)
        chances = np.exp(logs - logs.max())
        distributions[index] = Windowed(self._heard[index].first, chances / chances.sum())
        yes = (variable.alpha[1] + float(distributions[index].values @ distributions[index].counts)) / (
            variable.alpha.sum() + self.size
        )
        return np.array([[1 - yes, yes]])

    @property
    def chances(self) -> dict[int, Windowed]:
        """Return P(count of level 1) of each variable with children."""
        return self._down[0]

    @property
    def means(self) -> list[Floats]:
        """Return the expected probabilities of all variables."""
        return self._down[1]

    def errors_of(self, index: int) -> float:
        """Return a bound on the relative error that a table causes in the evidence."""
        parent = self.variables[index].parent
        if index not in self.errors:
            return 0.0
        return float(self.errors[index][0] if parent is None else self.chances[parent].values @ self.errors[index])

    def root_distribution(self, index: int, inside: NDArray[np.bool_]) -> Windowed:
        """Return the distribution of how many records have one of some levels of a root."""
        if index in self.rows:
            return self.rows[index][0].distribution_inside(inside, self.size)
        distribution = self.chances[index]
        return distribution if inside[1] else Windowed(self.size - distribution.last, distribution.values[::-1])

    def row_distribution(self, index: int, row: int, inside: NDArray[np.bool_], above: int) -> Windowed:
        """Return the distribution of how many records of one row have one of some levels, given the parent's count."""
        total = above if row else self.size - above
        if index in self.rows:
            return self.rows[index][row].distribution_inside(inside, total)
        distribution = self.edges[index].distribution_of_row(row, above)
        return distribution if inside[1] else Windowed(total - distribution.last, distribution.values[::-1])

    def draw(self, count: int, generator: np.random.Generator) -> list[Counts]:
        """Draw tables of every variable."""
        tables: list[Counts] = []
        for index, variable in enumerate(self.variables):
            if variable.parent is None:
                tables.append(self._draw_root(index, count, generator))
                continue
            above = tables[variable.parent].sum(axis=1)
            if index in self.edges:
                tables.append(self.edges[index].draw(above[:, 1], generator))
            else:
                rows = [row.draw(own, generator) for row, own in zip(self.rows[index], above.T, strict=True)]
                tables.append(np.stack(rows, axis=1))
        return tables

    def _draw_root(self, index: int, count: int, generator: np.random.Generator) -> Counts:
        if index in self.rows:
            return self.rows[index][0].draw(np.full(count, self.size), generator)[:, None]
        distribution = self.chances[index]
        yes = generator.choice(distribution.counts, size=count, p=distribution.values)
        return np.stack([self.size - yes, yes], axis=1)[:, None]


def _certified(variables: Sequence[BinaryTable], size: int) -> tuple[_Walk, float]:
    """Return a walk whose windows hold all but a negligible part, and a bound on its error."""
    settings = first_settings(variables, size)
    for _ in range(_ROUNDS):
        walk = _Walk(variables, size, settings)
        narrow = [index for index, distribution in walk.chances.items() if _is_cut(distribution, size)]
        error = sum(walk.errors_of(index) for index in range(len(variables)))
        if not narrow and error <= _ERROR:
            return walk, error
        windows = list(settings.windows)
        for index in narrow:
            windows[index] = _wider(*windows[index], size)
        centres = list(settings.centres)
        for index, distribution in walk.chances.items():
            centres[index] = float(distribution.values @ distribution.counts)
        finer = 1 if error <= _ERROR else 2
        margin = settings.margin if error <= _ERROR else 1.5 * settings.margin
        settings = _Settings(tuple(windows), tuple(centres), finer * settings.parts, margin)
    raise DiscreetError(TOO_FAR)


def _is_cut(distribution: Windowed, size: int) -> bool:
    """Return whether a distribution is not yet negligible at an end of its window that could lie further out."""
    left, right = (
        distribution.first > 0 and distribution.values[0] > _ENDS,
        distribution.last < size and distribution.values[-1] > _ENDS,
    )
    return bool(left or right)


def _wider(first: int, last: int, size: int) -> tuple[int, int]:
    half = (last - first) // 2 + 1
    return max(0, first - half), min(size, last + half)


def first_settings(variables: Sequence[BinaryTable], size: int) -> _Settings:
    """Return windows around the weighted mean of all observations of each variable's count of level 1."""
    news: list[list[tuple[float, float, float]]] = [[] for _ in variables]
    for index, variable in enumerate(variables):
        for row in zip(*variable.seen, strict=True):
            values = np.stack([each.values for each in row])
            variances = 1 / np.stack([each.information for each in row])
            rate = 1 / max(float(each.reach.max()) for each in row)
            if values.shape[1] == 2:
                news[index] += _margins(values.sum(axis=0), variances.sum(axis=0), rate, size)
            if variable.parent is not None:
                news[variable.parent] += _margins(values.sum(axis=1), variances.sum(axis=1), rate, size)
    windows, centres = [], []
    for own in news:
        require_agreement(own)
        total = sum(information for _, information, _ in own) or 1.0
        centre = float(np.clip(sum(v * i for v, i, _ in own) / total, 0, size))
        half = 9 / np.sqrt(total) + MARGIN / (sum(rate for _, _, rate in own) or MARGIN / size) + 2
        windows.append((int(np.clip(centre - half, 0, size)), int(np.clip(np.ceil(centre + half), 0, size))))
        centres.append(centre)
    return _Settings(tuple(windows), tuple(centres))


def _margins(values: Floats, variances: Floats, rate: float, size: int) -> list[tuple[float, float, float]]:
    """Return two observations of the count of level 1: its own sum, and what the sum of level 0 leaves."""
    return [
        (float(value), 1 / float(variance), rate / 2)
        for value, variance in ((size - values[0], variances[0]), (values[1], variances[1]))
    ]


_EACH = 60.0  # operations for each number of a transform, all walks together
_WIDENING = 1.5  # how much wider than at first windows may have to be


class BinaryTreesSolver(Solver):
    """Messages over the counts of one level of each inner variable, on windows; leaves may have more levels."""

    models = (Network,)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse graphs other than trees, inner variables with more levels, and inner tables that were not measured."""
        if (why := TreesSolver().unsupported_reason(problem)) is not None:
            return why
        inner = _inner(problem.model)
        if wide := [v.name for v in problem.model.variables if v.name in inner and len(v.levels) != 2]:
            return f"{wide[0]!r} has children and more than two levels"
        seen = {table.names[-1] for table in measured_tables(problem) or ()}
        pairs = zip(problem.model.variables, problem.model.parents, strict=True)
        needed = [v.name for v, above in pairs if above or v.name not in inner]
        if unseen := [name for name in needed if name not in seen]:
            return f"nothing was measured about {unseen[0]!r}"
        return None

    def cost(self, problem: Problem) -> CostEstimate:
        """Return a transform for every count of a parent's window, in every table between two inner variables."""
        model, inner, tables = problem.model, _inner(problem.model), measured_tables(problem) or []
        widest = max(table.farthest for table in tables)
        width = min(problem.size + 1.0, _WIDENING * 100 * widest)
        edges = sum(v.name in inner and bool(above) for v, above in zip(model.variables, model.parents, strict=True))
        cells = sum(float(np.prod(model.shape(family))) for family in model.families)
        operations = _EACH * edges * width * 2 * width * log2(2 * width + 2) + 100 * cells * width * log2(width + 2)
        words = f"summing over windows of {width:.0f} counts for {edges} tables in the middle of a tree"
        return CostEstimate(words, operations, 8 * min(2 * width**2, BLOCK + 2 * width) + 8 * cells * width)

    def solve(self, problem: Problem) -> NetworkSolution:
        """Return the exact joint posterior of all tables."""
        model, seen = problem.model, noisy_tables(problem)
        indices = {variable.name: index for index, variable in enumerate(model.variables)}
        tables = [
            BinaryTable(v.name, indices[above[0]] if above else None, np.array(prior), seen[v.name])
            for v, above, prior in zip(model.variables, model.parents, model.prior, strict=True)
        ]
        return NetworkSolution(model, BinaryTreeCounts(tables, problem.size, log_constant(problem)))


def _inner(model: Network) -> set[str]:
    """Return the variables that have children."""
    return {parent for parents in model.parents for parent in parents}
