"""Naive Bayes read through cube noise, where the number of records is secret: exact.

Given the count n_y of a class and the radius rho of its noise, z_0 lies within rho of n_y and every s_iy within rho of
z_i, so sums over radii begin at |z_0 - n_y|; all else is as where that number is public (`_cube.py`). Classes are
linked by the number of records n alone, which is beforehand equally likely to be 0, 1, 2, ...:

    P(n_1, ..., n_C | z) ~ h(sum n_y) prod_y Gamma(a_y + n_y) / n_y! W_y(n_y),      h(n) = n! Gamma(A) / Gamma(A + n).

A weight W_y(t) is at most e^(-rate |z_0 - t|) / (1 - e^-rate), and as one more record moves every number by 1, it
changes by at most e^rate a step. So class counts beyond a window around z_0 are negligible beside the best within it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from math import inf

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError, DiscreetError
from discreet.inference import (
    NO_END,
    TOO_FAR,
    Beside,
    CostEstimate,
    Criticism,
    Feature,
    PosteriorSample,
    Problem,
    Solver,
    Split,
    Windowed,
    drawn_steps,
    number_facts,
    number_in_words,
)
from discreet.mathematics import log_prior_constant
from discreet.mathematics.distributions import CountDistribution
from discreet.networks._class import Bools, ClassFactor
from discreet.networks._class_states import log_chances
from discreet.networks._cube import FARTHEST, CubeClass, CubeKernel
from discreet.networks._further_records import further_counts
from discreet.networks._model import Network
from discreet.networks._naive_bayes import NaiveBayesCounts
from discreet.networks._posterior import NetworkPosterior
from discreet.networks._secret_size_mechanisms import CountAndFeatures
from discreet.networks._solution import NetworkSolution
from discreet.noise import SharedRadius
from discreet.tables import EXACTLY, on_nodes

_NEGLIGIBLE = 60.0
"""Nats below the best class count at which others are left out: far more than priors, powers of counts, make up."""
_LEFT_OUT = 1e-13
_NATS = 15.0  # by which one more feature makes the best class count less likely, about, of a million records
_MOST_COUNTS = 100_000  # class counts that are weighed in each class
_CALL, _EACH = 2e5, 30.0  # operations of one class count, and for each of its features and radii


class NumberedKernel(CubeKernel):
    """What the noisy count and signed counts of one class say about any class count."""

    def __init__(self, number: int, noisy: Counts, rate: float, alpha: Floats) -> None:
        super().__init__(noisy, rate, alpha, NO_END)
        self.number = number

    def least_radius(self, count: int) -> int:
        """Return the least radius that reaches every noisy number, that of records included."""
        return max(super().least_radius(count), abs(self.number - count))


def _windowed(kernel: NumberedKernel) -> Windowed:
    """Return the weights of all class counts that matter, from the noisy one outward on both sides."""
    start = max(kernel.number, 0)
    best = kernel.log_weight(start)
    logs = {start: best}
    for side in (1, -1):
        count = start + side
        while count >= 0:
            bound = -kernel.rate * abs(kernel.number - count) - float(np.log(-np.expm1(-kernel.rate)))
            if bound < best - _NEGLIGIBLE:
                break
            if len(logs) > 4 * _MOST_COUNTS:
                raise DiscreetError(TOO_FAR)
            logs[count] = kernel.log_weight(count)
            best = max(best, logs[count])
            count += side
    counts = np.array(sorted(logs))
    values = np.array([logs[count] for count in counts.tolist()])
    kept = np.flatnonzero(values >= best - _NEGLIGIBLE)
    inner = slice(int(kept[0]), int(kept[-1]) + 1)
    return Windowed(int(counts[kept[0]]), values[inner])


class LinkedCounts:
    """Independent counts of classes, each with weights on its window, linked by the weights h of their sum.

    Sums of counts are convolved one after the other: all terms are positive, so that no digits cancel.
    """

    def __init__(self, log_weights: Sequence[Windowed], strength: float) -> None:
        self.first = [window.first for window in log_weights]
        peaks = [float(window.values.max()) for window in log_weights]
        self.weights = [np.exp(own.values - peak) for own, peak in zip(log_weights, peaks, strict=True)]
        self.low = sum(self.first)
        self._sum = self._convolved(range(len(self.weights)))
        logs = log_prior_constant(strength, self.low + np.arange(len(self._sum)))
        self._number, peak = np.exp(logs - logs.max()), float(logs.max())
        self.log_mass = float(np.log(self._sum @ self._number)) + peak + sum(peaks)

    def _convolved(self, classes: Iterable[int]) -> Floats:
        return reduce(np.convolve, [self.weights[each] for each in classes], np.ones(1))

    @cached_property
    def number(self) -> CountDistribution:
        """Return the distribution of the sum."""
        chances = self._sum * self._number
        kept = np.flatnonzero(chances > _LEFT_OUT * chances.max())
        inner = slice(int(kept[0]), int(kept[-1]) + 1)
        return CountDistribution(self.low + int(kept[0]), chances[inner] / chances[inner].sum(), inf)

    def marginal(self, index: int) -> Windowed:
        """Return the distribution of one class count."""
        others = self._convolved(each for each in range(len(self.weights)) if each != index)
        beside = np.correlate(self._number, others, "valid")
        own = self.weights[index] * beside
        return Windowed(self.first[index], own / own.sum())

    def beside(self, inside: Bools) -> tuple[int, Floats, Floats]:
        """Return the least sum of some classes, nodes of that of all others, and probabilities of (node, sum)."""
        (own,), (others,) = np.nonzero(inside), np.nonzero(~inside)
        sums, rests = self._convolved(own.tolist()), self._convolved(others.tolist())

        def rows(start: int, end: int) -> Floats:
            steps = np.arange(start, end)[:, None] + np.arange(len(rests))
            return np.asarray(sums[start:end, None] * rests * self._number[steps])

        firsts = [sum(self.first[each] for each in part) for part in (own.tolist(), others.tolist())]
        return on_nodes(Beside(firsts[0], firsts[1], len(sums), len(rests), rows))

    def draw(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw all class counts (columns): their sum first, then one after the other given what is left."""
        chances = self._sum * self._number
        left = generator.choice(len(chances), size=count, p=chances / chances.sum())
        drawn = np.empty((count, len(self.weights)), dtype=np.int64)
        for index in range(len(self.weights) - 1, 0, -1):
            before = self._convolved(range(index))
            before = np.concatenate([before, np.zeros(len(self._sum) + 1 - len(before))])
            drawn[:, index] = drawn_steps(self.weights[index], before, left, generator)
            left = left - drawn[:, index]
        drawn[:, 0] = left
        return np.asarray(drawn + np.array(self.first))


class SecretNaiveBayesCounts(NaiveBayesCounts):
    """The joint posterior of class counts, of each class's features, and of the number of records."""

    def __init__(self, classes: Sequence[CubeClass], own: Sequence[ClassFactor], log_constant: float = 0.0) -> None:
        self.alpha, self.classes, self.error = np.array([each.alpha for each in own]), list(classes), _LEFT_OUT
        windows = [each.log_weights for each in classes]
        weighed = [
            Windowed(window.first, window.values + factor(window)) for window, factor in zip(windows, own, strict=True)
        ]
        self.linked = LinkedCounts(weighed, float(self.alpha.sum()))
        self.number, self.log_evidence = self.linked.number, self.linked.log_mass + log_constant
        self.size = round(self.number.mean)

    @cached_property
    def class_chances(self) -> list[Windowed]:  # type: ignore[override]
        """Return P(n_y = t | z) of every class."""
        return [self.linked.marginal(index) for index in range(len(self.classes))]

    @cached_property
    def _beside(self) -> list[tuple[int, Floats, Floats]]:
        """Return for each class its least count, nodes of all other records, and probabilities of (node, count)."""
        return [self.linked.beside(row) for row in np.eye(len(self.classes), dtype=bool)]

    def _over_all(self, index: int) -> tuple[int, Floats]:
        """Return the least count t of a class, and E[1 / (A + n) | n_y = t] from there on."""
        first, rests, weights = self._beside[index]
        counts = first + np.arange(weights.shape[1])
        inverse = 1 / (self.alpha.sum() + rests[:, None] + counts)
        total = weights.sum(axis=0)
        return first, np.where(total > 0, (weights * inverse).sum(axis=0) / np.where(total > 0, total, 1), 0.0)

    @cached_property
    def class_means(self) -> Floats:
        found = []
        for index, alpha in enumerate(self.alpha.tolist()):
            first, rests, weights = self._beside[index]
            counts = first + np.arange(weights.shape[1])
            found.append(float((weights * (alpha + counts) / (self.alpha.sum() + rests[:, None] + counts)).sum()))
        return np.array(found) / sum(found)

    def class_split(self, inside: Bools) -> Split:
        first, rests, weights = self.linked.beside(inside)
        nodes, steps = np.nonzero(weights > _LEFT_OUT * weights.max())
        chances = weights[nodes, steps]
        return Split(chances / chances.sum(), (first + steps).astype(float), rests[nodes], _LEFT_OUT, is_merged=True)

    def log_joint(self, codes: Counts) -> Floats:
        columns = []
        for index, (alpha, states) in enumerate(zip(self.alpha, self.states, strict=True)):
            first, inverse = self._over_all(index)
            over = np.interp(states.totals, first + np.arange(len(inverse)), inverse)
            columns.append(log_chances(np.log(states.chances * (alpha + states.totals) * over), states.features, codes))
        return np.stack(columns, axis=1)

    def draw(self, count: int, generator: np.random.Generator) -> tuple[Counts, list[Counts]]:
        totals = self.linked.draw(count, generator)
        parts = [solution.draw(column, generator) for solution, column in zip(self.classes, totals.T, strict=True)]
        return totals, [np.stack(tables, axis=1) for tables in zip(*parts, strict=True)]


@dataclass(frozen=True, eq=False)
class SecretNumberNetworkSolution(NetworkSolution):
    """The true tables of a network whose number of records is secret, under one prior."""


class SecretCubeSolver(Solver):
    """Sums over the radius of each class, the class counts and the number of records."""

    models = (Network,)
    handles = frozenset({Feature.SECRET_NUMBER})

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse everything but one release of the counts and signed counts of all classes."""
        if isinstance(problem.number, int):
            return "the number of records is public"
        if len(problem.observed) != 1 or not problem.is_measured:
            return "networks of a secret number of records are read from one release at a time"
        if any(
            not isinstance(m.of, CountAndFeatures) or _rate(m.noise.structure) is None for m in problem.measurements
        ):
            return "its noise has no single radius for the count and all signed counts of a class"
        if (wide := self._looked(problem)) > _MOST_COUNTS:
            return f"its noise is so wide that {wide:,.0f} counts of each class would be weighed"
        return None

    @staticmethod
    def _looked(problem: Problem) -> float:
        """Return how many counts of a class are weighed, about."""
        (first, *_) = problem.measurements
        return 2 * (_NEGLIGIBLE + _NATS * first.of.length) / (_rate(first.noise.structure) or 1.0)

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the class counts that are weighed, times the radii and features that each of them goes through."""
        measurements = problem.measurements
        rate, features = _rate(measurements[0].noise.structure) or 1.0, measurements[0].of.length
        looked, classes = self._looked(problem), len(measurements)
        radii = (3 * features + 90) / rate
        words = f"going through {looked:.0f} counts of each class"
        operations = classes * looked * (_EACH * features * radii + _CALL + classes * looked)
        return CostEstimate(words, operations, 8 * features * FARTHEST * features / rate)

    def solve(self, problem: Problem) -> SecretNumberNetworkSolution:
        """Return the exact joint posterior of all tables and of the number of records."""
        model: Network = problem.model
        has_class = model.target is not None
        alpha = np.array(model.prior[1:] if has_class else model.prior)
        kernels = []
        for measured in problem.measurements:
            rate = _rate(measured.noise.structure)
            assert rate is not None
            kernels.append(NumberedKernel(int(measured.values[0]), measured.values[1:], rate, alpha))
        windows = [_windowed(kernel) for kernel in kernels]
        classes = [
            CubeClass(each, window, (window.first, window.last)) for each, window in zip(kernels, windows, strict=True)
        ]
        own = [ClassFactor(float(each)) for each in (model.prior[0] if has_class else [1.0])]
        constant = -sum(measured.noise.log_normaliser for measured in problem.measurements)
        counts = SecretNaiveBayesCounts(classes, own, constant)
        counts.method = EXACTLY
        return SecretNumberNetworkSolution(model, counts)


def _rate(structure: object) -> float | None:
    match structure:
        case SharedRadius(rate=rate):
            return rate
        case _:
            return None


class SecretNumberNetworkPosterior(NetworkPosterior, shows=SecretNumberNetworkSolution):
    """The posterior of a naive Bayes network, or of yes/no items, of a secret number of records, and of that number.

    `size` is about how many there are: the rounded mean of `number_of_records`.
    """

    about = "about "

    @staticmethod
    def _number(releases: object, solutions: Sequence[NetworkSolution]) -> int:
        (first, *_) = solutions
        assert isinstance(first.counts, SecretNaiveBayesCounts)
        return first.counts.size

    @property
    def number_of_records(self) -> CountDistribution:
        """Return the distribution of the number of records, under the prior of the likeliest solution."""
        likeliest = self.solutions[int(np.argmax(self.shares))].counts
        assert isinstance(likeliest, SecretNaiveBayesCounts)
        return likeliest.number

    def facts(self, level: float = 0.9) -> dict[str, object]:
        """Return the number of records besides."""
        return {**super().facts(level), "number_of_records": number_facts(self.number_of_records, level)}

    def remarks(self, level: float = 0.9) -> tuple[str, ...]:
        """Say how many records there are."""
        return (number_in_words(self.number_of_records, self.size, level=level),)

    def criticise(self, replicates: int = 1_000, seed: int = 0, risk: float = 0.05) -> Criticism:
        """Refuse: replicates are simulated for a public number of records."""
        raise DeclarationError(
            f"The graph of {self.releases[0].label!r} cannot be criticised: replicates are simulated studies of a "
            "public number of records, and here it is secret. Nothing was computed."
        )

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Draw the tables of as many further records as were drawn behind the release."""
        tables = {n: t.reshape(len(t), -1, t.shape[-1]) for n, t in sample.parameters.items()}
        sizes = self.model.split(np.asarray(sample.behind))[0].reshape(sample.count, -1).sum(axis=1)
        found = np.zeros((sample.count, self.model.cells), dtype=np.int64)
        for size in np.unique(sizes).tolist():
            chosen = np.flatnonzero(sizes == size)
            own = {name: table[chosen] for name, table in tables.items()}
            found[chosen] = further_counts(self.model, own, int(size), generator) if size else 0
        return found
