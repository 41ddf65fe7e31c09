"""One class of a naive Bayes network: the weights of its count, and its features given the count.

One class of a naive Bayes network with the factors of every count 0, ..., n at hand, as drawn tables need.

A drawn table says where the shares of a row lie, and so about every count in proportion to the number of records: there
is no window whose width does not grow with it.

One class of a naive Bayes network on a window of class counts: what its tables say about each, and beyond.

Given the class count t, the rows of all features are independent, and W(t) = prod_i c_i(t) S_i(t) with S_i the weight
of row i (see `KnownSum`) and c_i(t) = t! Gamma(A_i) / Gamma(t + A_i). Every row narrows the class count, so the more
features there are, the smaller is the window. What lies beyond it is bounded: S_i(t) <= e^(-lambda t) prod_x F_x for
EVERY lambda, and c_i(t) <= max(1, c_i(n)), so with lambda_i > 0 right of the window, and < 0 left of it, the class
weights beyond are below a geometric series of ratio e^-(sum_i lambda_i).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet.inference import LogBound, NoisyRow, RowWindows, Windowed, require_agreement, require_total, whole_row
from discreet.mathematics import log_prior_constant, log_prior_windows
from discreet.networks._class_states import ClassStates, represented
from discreet.noise import MARGIN

Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ClassFactor:
    """What else weights a class count: its prior P_a(t), and the concave log kernel of what was observed of it."""

    alpha: float
    log_kernel: Callable[[Counts], Floats] = np.zeros_like

    def __call__(self, window: Windowed) -> Floats:
        """Return the log factor at the counts of a window."""
        prior = log_prior_windows(np.array([self.alpha]), np.array([window.first]), len(window.values))[0]
        return np.asarray(prior + self.log_kernel(window.counts))

    def beyond(self, edge: int, side: int) -> tuple[float, float]:
        """Return logs of a start and a ratio: j steps beyond an edge the factor is at most start + j ratio."""
        here, following = (float(each) for each in self.log_kernel(np.array([edge, edge + side])))
        prior = float(log_prior_windows(np.array([self.alpha]), np.array([edge]), 1)[0, 0])
        if side > 0:
            return here + prior, following - here + max(0.0, float(np.log((self.alpha + edge) / (edge + 1))))
        return here + max(0.0, prior), following - here


class ClassSolution(ABC):
    """What a release says about the features of one class, given the class count.

    A solution that weights every class count that matters has nothing beyond its window, and no errors.
    """

    @property
    @abstractmethod
    def levels(self) -> tuple[int, ...]:
        """Return how many levels each feature has."""

    @property
    @abstractmethod
    def log_weights(self) -> Windowed:
        """Return log W_y(t) = log P(what was released about class y | t) for class counts t, up to a constant."""

    @abstractmethod
    def states(self, chances: Windowed) -> ClassStates:
        """Return the states of this class, given the probability of every class count."""

    @abstractmethod
    def distributions_inside(self, feature: int, inside: Bools, counts: Counts) -> list[Windowed]:
        """Return for each class count the distribution of how many records have one of some levels."""

    @abstractmethod
    def draw(self, totals: Counts, generator: np.random.Generator) -> list[Counts]:
        """Draw for every feature a table of counts with a row for each class count."""

    @property
    def errors(self) -> Floats:
        """Return a bound on the relative error of each weight."""
        return np.zeros(len(self.log_weights.values))

    def steepest(self, own: ClassFactor) -> float:
        """Return the largest tilt of the class counts at which what lies beyond the window is bounded."""
        return float("inf")

    def log_outside(self, tilt: float, own: ClassFactor) -> float:
        """Return the log of a bound on sum W(t) f(t) e^(tilt (t - first)) over all class counts beyond the window."""
        return -float("inf")

    def wider(self) -> "ClassSolution":
        """Return the same class on a wider window, if there is one."""
        return self

    def finer(self) -> "ClassSolution":
        """Return the same class with smaller errors, if there are any."""
        return self


class WholeClass(ClassSolution):
    """The features of one class: `log_factors[i]` holds prior and likelihood of each level (rows) and count (columns).

    `log_totals` are log factors of the class count itself, and `centre` is near the class count.
    """

    def __init__(
        self, log_factors: Sequence[Floats], alpha: Sequence[Floats], centre: float, log_totals: Floats | float = 0.0
    ) -> None:
        self.alpha, self.size, self._log_factors = alpha, log_factors[0].shape[1] - 1, log_factors
        self._rows, self._log_totals = [whole_row(factors, centre) for factors in log_factors], log_totals

    @property
    def levels(self) -> tuple[int, ...]:
        return tuple(len(alpha) for alpha in self.alpha)

    @cached_property
    def log_weights(self) -> Windowed:
        """Return log prod_i sum_k DirichletMultinomial(k | t) prod_x K_ix(k_x) for each class count."""
        pairs = zip(self._rows, self.alpha, strict=True)
        sums = sum(
            row.log_sums + log_prior_constant(float(alpha.sum()), np.arange(self.size + 1)) for row, alpha in pairs
        )
        return Windowed(0, np.asarray(sums + self._log_totals))

    def states(self, chances: Windowed) -> ClassStates:
        counts, shares = represented(chances, len(chances.values))
        features = [
            (alpha[:, None] + row.means_given[:, counts]).T / (alpha.sum() + counts)[:, None]
            for row, alpha in zip(self._rows, self.alpha, strict=True)
        ]
        return ClassStates(shares, counts.astype(float), features)

    def distributions_inside(self, feature: int, inside: Bools, counts: Counts) -> list[Windowed]:
        middle = int(counts[len(counts) // 2])
        return distributions_inside(
            self._log_factors[feature], inside, counts, self._rows[feature].means_given[:, middle]
        )

    def draw(self, totals: Counts, generator: np.random.Generator) -> list[Counts]:
        return [row.draw(totals, generator) for row in self._rows]


def distributions_inside(log_factors: Floats, inside: Bools, totals: Counts, centres: Floats) -> list[Windowed]:
    """Return for each total of a row the distribution of the count inside, P(k) ~ f_in(k) f_out(total - k).

    `centres` says around which counts of the levels all that matters happens.
    """
    parts = [whole_row(log_factors[where], float(centres[where].sum())).log_sums for where in (inside, ~inside)]
    logs = [parts[0][: total + 1] + parts[1][total::-1] for total in totals.tolist()]
    return [Windowed(0, np.exp(each - each.max())) for each in logs]


_TILTS = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85)  # shares of the steepest tilt: bounds to try, of which the best is used

_FACTORS = 6.0  # e, for each row: how far its bound lies above its weight, about the log of its total's spread


KnownRows = dict[tuple[object, ...], RowWindows]
"""Rows that were read before, by class, feature, prior and window."""


@dataclass(frozen=True, eq=False)
class RowMemory:
    """What was observed of the features of one class, and the rows already read, which are never read twice."""

    features: Sequence[Sequence[NoisyRow]]
    size: int
    known: KnownRows = field(default_factory=dict)
    index: int = 0

    def rows(self, alpha: Sequence[Floats], window: tuple[int, int], parts: int) -> list[RowWindows]:
        """Return the rows of all features under these priors."""
        return [self._row(feature, own, window, parts) for feature, own in enumerate(alpha)]

    def _row(self, feature: int, alpha: Floats, window: tuple[int, int], parts: int) -> RowWindows:
        key = (self.index, feature, tuple(alpha.tolist()), window, parts)
        if key not in self.known:
            self.known[key] = RowWindows(alpha, self.features[feature], self.size, *window, parts)
        return self.known[key]


class WindowedClass(ClassSolution):
    """The features of one class, read through noise that is independent between cells."""

    def __init__(self, memory: RowMemory, alpha: Sequence[Floats], window: tuple[int, int], parts: int = 1) -> None:
        self.alpha, self.size, self._memory, self._parts = alpha, memory.size, memory, parts
        self.first, self.last = window
        self._rows = memory.rows(alpha, window, parts)

    def wider(self) -> "WindowedClass":
        half = (self.last - self.first) // 2 + 1
        window = max(0, self.first - half), min(self.size, self.last + half)
        return WindowedClass(self._memory, self.alpha, window, self._parts)

    def finer(self) -> "WindowedClass":
        return WindowedClass(self._memory, self.alpha, (self.first, self.last), 2 * self._parts)

    @property
    def levels(self) -> tuple[int, ...]:
        return tuple(len(alpha) for alpha in self.alpha)

    @cached_property
    def log_weights(self) -> Windowed:
        """Return log prod_i sum_k DirichletMultinomial(k | t) prod_x K_ix(k_x) for each class count of the window."""
        return Windowed(self.first, np.asarray(sum(row.log_weights for row in self._rows)))

    @cached_property
    def errors(self) -> Floats:
        return np.asarray(sum(row.errors for row in self._rows))

    def log_outside(self, tilt: float, own: ClassFactor) -> float:
        right = self._log_beyond(self.last, 1, tilt, own) if self.last < self.size else -np.inf
        left = self._log_beyond(self.first, -1, tilt, own) if self.first > 0 else -np.inf
        return float(np.logaddexp(right, left))

    def _log_beyond(self, edge: int, side: int, tilt: float, own: ClassFactor) -> float:
        """Return the best of several geometric series that bound all beyond one end.

        Right of it c_i(t) falls (A_i >= 1), or is at most c_i(n). Left of it c_i rises by (t - 1 + A_i) / t a step: by
        at most 1 + 2 (A_i - 1) / edge down to half the edge, and it is at most c_i(0) = 1 below.
        """
        half, ends = edge // 2, np.array([edge, self.size])
        constants = np.stack([row.log_constants(ends) for row in self._rows])
        growth = sum(max(0.0, 2 * (float(a.sum()) - 1) / max(edge, 1)) for a in self.alpha)
        here, ratio = own.beyond(edge, side)
        found = np.inf
        for share in _TILTS:
            bounds = self._bounds(side * share)
            line = sum(bound.at(edge) for bound in bounds) + here + tilt * (edge - self.first)
            slope = sum(bound.slope for bound in bounds) + side * tilt + ratio
            if side > 0:
                total = _series(line + float(constants.max(axis=1).sum()), slope)
            else:
                near = _series(line + float(constants[:, 0].sum()), slope + growth)
                far = _series(line + float(constants[:, 0].clip(0).sum()) + slope * (edge - half - 1), slope)
                total = np.logaddexp(near, far) if half > 0 else near
            found = min(found, float(total))
        return found

    def _bounds(self, share: float) -> list[LogBound]:
        return [row.log_bound(share) for row in self._rows]

    def steepest(self, own: ClassFactor) -> float:
        found = np.inf
        for side, edge, is_open in ((1, self.last, self.last < self.size), (-1, self.first, self.first > 0)):
            if is_open:
                slopes = sum(bound.slope for bound in self._bounds(side * _TILTS[-1]))
                found = min(found, -slopes - own.beyond(edge, side)[1])
        return float(found)

    def states(self, chances: Windowed) -> ClassStates:
        counts, shares = represented(chances, len(chances.values))
        features = [row.probabilities[counts - self.first] for row in self._rows]
        return ClassStates(shares, counts.astype(float), features)

    def distributions_inside(self, feature: int, inside: Bools, counts: Counts) -> list[Windowed]:
        return [self._rows[feature].distribution_inside(inside, total) for total in counts.tolist()]

    def draw(self, totals: Counts, generator: np.random.Generator) -> list[Counts]:
        return [row.draw(totals, generator) for row in self._rows]


def class_windows(
    features: Sequence[Sequence[Sequence[NoisyRow]]], classes: Sequence[NoisyRow], size: int
) -> list[tuple[int, int]]:
    """Return a window for each class count: around the weighted mean of all row sums, made to fit n.

    `features[y]` holds what was seen of class y, and `classes` what was seen of the class counts themselves.
    """
    news = [[_row_news(seen) for row in rows for seen in row] for rows in features]
    for y, own in enumerate(news):
        own += [(float(seen.values[y]), float(seen.information[y]), float(1 / seen.reach[y])) for seen in classes]
    for own in news:
        require_agreement(own)
    require_total(news, size)
    totals = [sum(information for _, information, _ in own) for own in news]
    middles = [sum(v * i for v, i, _ in own) / total for own, total in zip(news, totals, strict=True)]
    spread = sum(1 / total for total in totals)
    windows = []
    for own, total, middle in zip(news, totals, middles, strict=True):
        centre = np.clip(middle + (size - sum(middles)) / total / spread, 0, size)
        half = 9 / np.sqrt(total) + (MARGIN + _FACTORS * len(own)) / sum(rate for _, _, rate in own) + 2
        windows.append((int(np.clip(centre - half, 0, size)), int(np.clip(np.ceil(centre + half), 0, size))))
    return windows


def _row_news(seen: NoisyRow) -> tuple[float, float, float]:
    """Return the sum of a noisy row, about its information, and how fast its likelihood falls far out."""
    return float(seen.values.sum()), float(1 / (1 / seen.information).sum()), float(1 / seen.reach.max())


def _series(start: float, slope: float) -> float:
    """Return log sum_(j >= 1) e^(start + j slope), infinite if the slope is not below zero."""
    return start + slope - float(np.log(-np.expm1(slope))) if slope < 0 else float("inf")
