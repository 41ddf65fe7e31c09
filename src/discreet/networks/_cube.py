"""One class of a naive Bayes release by cube noise: what its signed counts say, given the class count.

The release is z_i = s_i + U_i with s_i = 2 k_i - n_y and P(U) ~ e^(-rate max|U_i|). Noise of that shape is uniform on
a cube whose half-width rho is random: P(U) ~ sum_(rho >= max|U|) q^rho, q = e^-rate. Given n_y and rho the features
are independent, and all that z says is that each k_i lies in an interval:

    P(z | n_y) ~ sum_rho q^rho prod_i P(|2 k_i - z_i - n_y| <= rho),

where k_i is Beta-binomial. Its distribution is needed on the largest interval only, and the mass of every interval is a
sum from its middle outward, in which nothing cancels. An interval of radius rho holds at most rho + 1 counts, so

    log weight(rho) <= -rate rho + sum_i min(0, log(rho + 1) + log max_k P(k_i)),

a concave bound, whose top lies near the number of features over the rate: what lies farther out than some nats is
below a geometric series. So no work grows with the number of records.

Which class counts matter where every class was read through cube noise: a coarse look first, then every count.

A class count t weighs f_y(t) P(z_y | t). The second factor is at most one, and changes by at most e^rate from one count
to the next, as one more record moves every signed count by one. So the class counts' own noise gives a window, a look
at some counts of it bounds all others from above and below, and those whose upper bound is negligible beside the lower
bound on everything are left out: for every lambda, what all classes weigh with n_y = t is at most
e^(lambda (t - n)) upper_y(t) prod_(other classes) F(lambda).

Yes/no variables that share a class or have none, through noise with one radius for each class: exact.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats, groups
from discreet._core.errors import DiscreetError
from discreet.inference import CostEstimate, NoisyRow, Problem, Solver, Windowed
from discreet.mathematics import log_prior, log_prior_constant, log_prior_windows, tilted_to
from discreet.mechanism import Measurement
from discreet.networks._class import Bools, ClassFactor, ClassSolution
from discreet.networks._class_states import ClassStates, blocks, represented
from discreet.networks._measured import class_factors, log_constant, noisy_row_of
from discreet.networks._model import Network
from discreet.networks._naive_bayes import BEYOND, ClassCounts, NaiveBayesCounts
from discreet.networks._solution import NetworkSolution
from discreet.noise import SharedRadius, product_of

_NEGLIGIBLE = 41.0
_KEPT = 4096  # class counts whose radii are kept
FARTHEST = 60.0
"""Multiples of the mean radius that no noise exceeds with a probability above e^-50."""
_COUNT_BLOCKS, _RADIUS_BLOCKS = 128, 32  # states of one class, where there are more than one can sum over


@dataclass(frozen=True, eq=False)
class Radii:
    """The radii that matter for one class count, their log weights, and the logarithm of what they sum to."""

    radii: Counts
    log_weights: Floats
    log_sum: float

    @property
    def chances(self) -> Floats:
        """Return the probability of each radius."""
        weights = np.exp(self.log_weights - log_sum(self.log_weights))
        return np.asarray(weights / weights.sum())


@dataclass(frozen=True, eq=False)
class FeatureDistributions:
    """The distribution of every feature's count (rows) on its largest interval, at first, first + 1, ...

    `distances` are |2 k - z - n_y|: the radius from which on an interval holds the count. Beyond the interval the
    distribution is zero and the distance that of the largest radius.
    """

    first: Counts
    probabilities: Floats
    distances: Counts

    def within(self, values: Floats, radii: Counts) -> Floats:
        """Return sums of values (features, counts) over the intervals of consecutive radii: (features, radii)."""
        features, most = len(values), int(radii[-1]) + 1
        indices = np.arange(features)[:, None] * most + self.distances
        sums = np.bincount(indices.ravel(), values.ravel(), features * most).reshape(features, most)
        return np.asarray(np.cumsum(sums, axis=1)[:, radii])


class CubeKernel:
    """What the noisy signed counts of one class say about any class count; `alpha` has two numbers for each feature."""

    def __init__(self, noisy: Counts, rate: float, alpha: Floats, size: int) -> None:
        self.noisy, self.rate, self.alpha, self.size = noisy, rate, alpha, size
        self._farthest = int(np.abs(noisy).max())
        distinct, which, times = np.unique(alpha, axis=0, return_inverse=True, return_counts=True)
        self._distinct, self._which, self._times = distinct, which.ravel(), times
        if self._farthest > size + FARTHEST * (len(noisy) + 1) / rate:
            raise DiscreetError(
                f"The release holds numbers of up to {self._farthest}, which {size} records and this noise reach with "
                "a probability below 1e-20. Nothing was read. Check that the document is what was published."
            )
        self._seen: dict[int, Radii] = {}

    def radii(self, count: int) -> Radii:
        """Return the radii that matter for a class count, which is asked again and again."""
        if count not in self._seen:
            if len(self._seen) >= _KEPT:
                self._seen.clear()
            self._seen[count] = self._radii(count)
        return self._seen[count]

    def log_weight(self, count: int) -> float:
        """Return log sum_k P(k | n_y) e^(-rate max|z - s|): log P(z | n_y) but for the noise's normaliser."""
        return self.radii(count).log_sum

    def least_radius(self, count: int) -> int:
        """Return the least radius that reaches every noisy number."""
        return max(0, self._farthest - count)

    def _radii(self, count: int) -> Radii:
        """Return the radii that matter: those within some nats of the best by the bound, and more if need be."""
        first = self.least_radius(count)
        last = max(first, self._farthest + count)
        width, tops = _NEGLIGIBLE + 5, self._log_tops(count)
        while True:
            bound = self._bounds(tops, first, last, width)
            near = np.flatnonzero(bound >= bound.max() - width)
            radii = first + np.arange(near[0], near[-1] + 1)
            logs = self._log_products(count, radii) - self.rate * radii
            if radii[-1] == last:  # its intervals hold every count, as those of all later radii do
                logs[-1] -= float(np.log(-np.expm1(-self.rate)))
            total = log_sum(logs)
            missing = self._log_missing(bound, int(near[0]), int(near[-1]), radii[-1] == last)
            if missing <= total - _NEGLIGIBLE:
                return Radii(radii, logs, total + float(np.log(-np.expm1(-self.rate))))
            width = 2 * width if total == -np.inf else width + missing - total + _NEGLIGIBLE + 1

    def _bounds(self, tops: Floats, first: int, last: int, width: float) -> Floats:
        """Return upper bounds on the log weights of radii from the first on, until they lie so far below their top."""
        most = int((2 * len(self.noisy) + width) / self.rate) + 16
        while True:
            radii = first + np.arange(min(most, last - first + 1))
            logs = np.log(radii + 1.0)
            terms = [times * np.minimum(0.0, logs + top) for times, top in zip(self._times, tops, strict=True)]
            bound = np.asarray(sum(terms) - self.rate * radii)
            if len(radii) == last - first + 1 or bound[-1] < bound.max() - width:
                return bound
            most *= 2

    @staticmethod
    def _log_missing(bound: Floats, start: int, stop: int, is_whole: bool) -> float:
        """Return the log of a bound on all radii left out: on either side a geometric series, as the bound is concave.

        `is_whole` says that nothing lies beyond the last radius.
        """
        left = log_sum(bound[:start])
        if is_whole:
            return left
        beyond, log_ratio = bound[stop + 1], bound[stop + 1] - bound[stop]
        return float(np.logaddexp(left, beyond - np.log(-np.expm1(log_ratio))))

    def _log_constant(self, count: int) -> Floats:
        """Return the log of what makes the distribution of each class of features sum to one."""
        return log_prior_constant(self._distinct.sum(axis=1), np.array(count))

    def _log_tops(self, count: int) -> Floats:
        """Return the log of each distribution's largest probability: at an end, or where neighbours are equal."""
        no, yes = self._distinct.T
        bend = no + yes - 2
        with np.errstate(divide="ignore", invalid="ignore"):
            mode = np.where(bend > 0, ((yes - 1) * count - (no - 1)) / bend, 0.0)
        near = np.clip(np.floor(mode), 0, count)[:, None] + np.array([-1, 0, 1, 2])
        ends = np.broadcast_to([0.0, float(count)], (len(no), 2))
        indices = np.clip(np.concatenate([near, ends], axis=1), 0, count).astype(np.int64)
        logs = log_prior(yes[:, None], indices) + log_prior(no[:, None], count - indices)
        return np.asarray(logs.max(axis=1) + self._log_constant(count))

    def distributions(self, count: int, radius: int) -> FeatureDistributions:
        """Return the distributions of all features on their intervals of a radius."""
        middle = self.noisy + count
        first = np.clip(-((radius - middle) // 2), 0, count)
        last = np.clip((middle + radius) // 2, first, count)
        width = int((last - first).max()) + 1
        counts = first[:, None] + np.arange(width)
        inside = counts <= last[:, None]
        logs = log_prior_windows(self.alpha[:, 1], first, width) + self._log_constant(count)[self._which][:, None]
        if (self.alpha[:, 0] != 1).any():  # the other level's counts fall: a window from its least one, turned round
            turned = log_prior_windows(self.alpha[:, 0], count - last, width)
            logs = logs + np.take_along_axis(turned, np.clip(last[:, None] - counts, 0, width - 1), axis=1)
        distances = np.abs(2 * counts - middle[:, None])
        inside &= distances <= radius
        return FeatureDistributions(first, np.where(inside, np.exp(logs), 0.0), np.where(inside, distances, radius))

    def _log_products(self, count: int, radii: Counts) -> Floats:
        """Return log prod_i P(k_i in its interval) for consecutive radii."""
        distributions = self.distributions(count, int(radii[-1]))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(distributions.within(distributions.probabilities, radii)).sum(axis=0))

    def distribution_of_yes(self, feature: int, count: int) -> Windowed:
        """Return P(k_i | z, n_y) ~ P(k_i) sum_rho w_rho / P(interval_i of rho), over radii whose interval holds k_i.

        These are all radii from |z_i - s_i| on: sums from one end, in which no digits cancel.
        """
        found = self.radii(count)
        distributions = self.distributions(count, int(found.radii[-1]))
        within = distributions.within(distributions.probabilities, found.radii)[feature]
        shares = np.divide(found.chances, within, out=np.zeros_like(within), where=found.chances > 0)
        later = np.append(np.cumsum(shares[::-1])[::-1], 0.0)
        indices = np.clip(distributions.distances[feature] - found.radii[0], 0, len(shares))
        return Windowed(
            int(distributions.first[feature]), np.asarray(distributions.probabilities[feature] * later[indices])
        )


class CubeClass(ClassSolution):
    """The features of one class, read through cube noise, with the weights of the class counts that matter.

    `looked` are the first and the last class count that were looked at: the weights of those between that are left out
    are negligible.
    """

    def __init__(self, kernel: CubeKernel, window: Windowed, looked: tuple[int, int]) -> None:
        self.kernel, self._window, self._looked = kernel, window, looked
        self.alpha, self.size = kernel.alpha, kernel.size

    @property
    def levels(self) -> tuple[int, ...]:
        return (2,) * len(self.kernel.noisy)

    @property
    def log_weights(self) -> Windowed:
        """Return log P(z | n_y) but for a constant; -inf where it is proved to be negligible."""
        return self._window

    def _ends(self, own: ClassFactor) -> list[tuple[int, int, float, float]]:
        """Return for each open end its class count, its side, and a bound on all beyond: P(z | n_y) is at most one."""
        ends = ((self._looked[0], -1, self._looked[0] > 0), (self._looked[1], 1, self._looked[1] < self.size))
        return [(edge, side, *own.beyond(edge, side)) for edge, side, is_open in ends if is_open]

    def steepest(self, own: ClassFactor) -> float:
        return min((-ratio for _, _, _, ratio in self._ends(own)), default=float("inf"))

    def log_outside(self, tilt: float, own: ClassFactor) -> float:
        found = -np.inf
        for edge, side, start, ratio in self._ends(own):
            log_ratio = ratio + side * tilt
            series = log_ratio - np.log(-np.expm1(log_ratio)) if log_ratio < 0 else np.inf
            found = np.logaddexp(found, start + tilt * (edge - self._window.first) + series)
        return float(found)

    def wider(self) -> "CubeClass":
        """Return the same class with a look at twice as many class counts, and with every weight of them."""
        half = (self._looked[1] - self._looked[0]) // 2 + 1
        first, last = max(0, self._looked[0] - half), min(self.size, self._looked[1] + half)
        weights = [self.kernel.log_weight(count) for count in range(first, last + 1)]
        return CubeClass(self.kernel, Windowed(first, np.array(weights)), (first, last))

    def states(self, chances: Windowed) -> ClassStates:
        """Return the states (n_y, rho) with their probabilities, and every level's expected probability in each.

        Where more than 128 class counts are likely, the middle of each of 128 ranges stands for its range, with the
        exact probability of all of it; radii are summed exactly, within up to 32 ranges.
        """
        counts, shares = represented(chances, _COUNT_BLOCKS)
        parts = [self._states_of(int(count), float(share)) for count, share in zip(counts, shares, strict=True)]
        weights, totals, yes = (np.concatenate(column) for column in zip(*parts, strict=True))
        return ClassStates(weights, totals, list(np.moveaxis(np.stack([1 - yes, yes], axis=2), 1, 0)))

    def _states_of(self, count: int, share: float) -> tuple[Floats, Floats, Floats]:
        """Return the blocks of radii of one class count: probability, class count, P(yes) of every feature."""
        found = self.kernel.radii(count)
        chance = found.chances
        kept = chance > 1e-15
        means = self._means(count, found.radii)[:, kept].T
        starts = blocks(chance[kept], _RADIUS_BLOCKS)
        weights = np.add.reduceat(chance[kept], starts)
        moments = np.add.reduceat(chance[kept][:, None] * means, starts) / weights[:, None]
        yes = (self.alpha[:, 1] + moments) / (self.alpha.sum(axis=1) + count)
        return share * weights / weights.sum(), np.full(len(weights), float(count)), yes

    def _means(self, count: int, radii: Counts) -> Floats:
        """Return E[k_i] within each interval (features, radii)."""
        distributions = self.kernel.distributions(count, int(radii[-1]))
        steps = np.arange(distributions.probabilities.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            means = distributions.within(distributions.probabilities * steps, radii) / distributions.within(
                distributions.probabilities, radii
            )
        return np.asarray(distributions.first[:, None] + means)

    def distributions_inside(self, feature: int, inside: Bools, counts: Counts) -> list[Windowed]:
        """Return for each class count the distribution of the number of its records inside: yes, or no."""
        yes = [self.kernel.distribution_of_yes(feature, count) for count in counts.tolist()]
        if inside[1]:
            return yes
        return [
            Windowed(count - probabilities.last, probabilities.values[::-1])
            for count, probabilities in zip(counts.tolist(), yes, strict=True)
        ]

    def draw(self, totals: Counts, generator: np.random.Generator) -> list[Counts]:
        """Draw the counts of every feature (one array with a column for each level), one row for each class count."""
        yes = np.empty((len(totals), len(self.kernel.noisy)), dtype=np.int64)
        for count, indices in groups(totals):
            found = self.kernel.radii(count)
            radii = generator.choice(found.radii, size=len(indices), p=found.chances)
            yes[indices] = self._draw_within(count, radii, generator)
        return [np.column_stack([totals - column, column]) for column in yes.T]

    def _draw_within(self, count: int, radii: Counts, generator: np.random.Generator) -> Counts:
        """Draw a count from each interval by inverting its sums: counts in the order of their distance."""
        distributions = self.kernel.distributions(count, int(radii.max()))
        marks = generator.random((len(radii), len(distributions.first)))
        drawn = np.empty(marks.shape, dtype=np.int64)
        for feature, (probabilities, distances) in enumerate(
            zip(distributions.probabilities, distributions.distances, strict=True)
        ):
            order = np.argsort(np.where(probabilities > 0, distances, int(radii.max()) + 1), kind="stable")
            sums = np.cumsum(probabilities[order])
            ends = np.searchsorted(distances[order][probabilities[order] > 0], radii, side="right")
            found = np.searchsorted(sums, marks[:, feature] * sums[np.maximum(ends - 1, 0)], side="right")
            drawn[:, feature] = distributions.first[feature] + order[np.minimum(found, np.maximum(ends - 1, 0))]
        return drawn


def log_sum(logs: Floats) -> float:
    """Return log sum exp."""
    peak = float(logs.max()) if logs.size else -np.inf
    return peak + float(np.log(np.exp(logs - peak).sum())) if peak > -np.inf else -np.inf


_NEGLIGIBLE_CLASS = 38.0  # class counts this many nats below the sum of all are left out
_COARSE = (24.0, 3.0)  # nats by which a class's weight may change between two counts of the first looks
_TILTS = (-0.9, -0.6, -0.3, 0.0, 0.3, 0.6, 0.9)  # lambdas that are tried, in rates of the class counts' own noise


@dataclass(frozen=True, eq=False)
class _Look:
    """Bounds of log P(z | t) on a window of class counts, from a look at some of them."""

    kernel: CubeKernel
    upper: Windowed
    lower: Windowed

    @property
    def ends(self) -> tuple[int, int]:
        """Return the first and the last count of the window."""
        return self.upper.first, self.upper.last

    @classmethod
    def at(cls, kernel: CubeKernel, first: int, last: int, factors: float) -> "_Look":
        """Look at class counts between which the weight changes by at most this many nats, and bound the rest."""
        every, step = np.arange(first, last + 1), max(1, int(factors / kernel.rate))
        nearest = np.clip((every + step // 2) // step * step, first, last)  # the same counts in every window
        looked, which = np.unique(nearest, return_inverse=True)
        seen = np.array([kernel.log_weight(count) for count in looked.tolist()])[which]
        slack = kernel.rate * np.abs(every - nearest)
        return cls(kernel, Windowed(first, np.minimum(0.0, seen + slack)), Windowed(first, seen - slack))


def cube_classes(
    kernels: Sequence[CubeKernel], classes: NoisyRow, own: Sequence[ClassFactor], size: int
) -> list[CubeClass]:
    """Return the solutions of all classes, each with the weights of the class counts that matter."""
    shift = (size - float(classes.values.sum())) / len(kernels)
    centres = np.rint(np.clip(classes.values + shift, 0, size)).astype(np.int64)
    halves = [
        int((_NEGLIGIBLE_CLASS - kernel.log_weight(centre)) * reach) + 2
        for kernel, centre, reach in zip(kernels, centres.tolist(), classes.reach.tolist(), strict=True)
    ]
    rate = float(1 / classes.reach.max())
    while True:
        ends = [(max(0, c - half), min(size, c + half)) for c, half in zip(centres.tolist(), halves, strict=True)]
        found = _within(kernels, own, ends, size, rate)
        is_whole = all(end == (0, size) for end in ends)
        if found is not None and (is_whole or _is_enough(found, own, size)):
            return found
        halves = [2 * half for half in halves]


def _within(
    kernels: Sequence[CubeKernel], own: Sequence[ClassFactor], ends: Sequence[tuple[int, int]], size: int, rate: float
) -> list[CubeClass] | None:
    """Return the solutions on windows of class counts; None if more than a negligible share lies beyond these."""
    looks = [_Look.at(kernel, *end, _COARSE[0]) for kernel, end in zip(kernels, ends, strict=True)]
    kept, lost = _kept(looks, own, size, rate)
    if lost > -_NEGLIGIBLE_CLASS and any(end != (0, size) for end in ends):
        return None
    narrow = [
        _Look.at(look.kernel, int(own[0]), int(own[-1]), _COARSE[1]) for look, own in zip(looks, kept, strict=True)
    ]
    kept, _ = _kept(narrow, own, size, rate)
    return [
        CubeClass(kernel, _weighed(kernel, counts), end)
        for kernel, counts, end in zip(kernels, kept, ends, strict=True)
    ]


def _is_enough(found: Sequence[CubeClass], own: Sequence[ClassFactor], size: int) -> bool:
    """Return whether what lies beyond is negligible at the tilt by which the classes are summed as well."""
    return ClassCounts(found, own).known(size).outside_share <= BEYOND


def _kept(looks: Sequence[_Look], own: Sequence[ClassFactor], size: int, rate: float) -> tuple[list[Counts], float]:
    """Return the counts of each class whose upper bound is not negligible, and the log share of all beyond the look."""
    upper = ClassCounts([CubeClass(look.kernel, look.upper, look.ends) for look in looks], own)
    lower = ClassCounts([CubeClass(look.kernel, look.lower, look.ends) for look in looks], own)
    least = float(lower.known(size).log_sums[0])
    steps, rest = np.arange(upper.logs.shape[1]), size - int(upper.first.sum())
    most = upper.tilts[1]
    steepest = min(50.0, 0.9 * most)
    best = tilted_to(upper.logs, steps, rest, absolute=1e-6, relative=0.01, steepest=steepest).tilt
    bounds, beyond = np.full_like(upper.logs, np.inf), np.full(len(looks), np.inf)
    for share in _TILTS:
        tilt = best + share * rate
        sums = logsumexp(upper.logs + tilt * steps, axis=1)
        others = sums.sum() - sums
        bounds = np.minimum(bounds, upper.logs + tilt * (steps - rest) + others[:, None])
        if abs(tilt) < most:
            beyond = np.minimum(beyond, upper.log_outside(np.array([tilt]))[0] - tilt * rest + others)
    floor = least - _NEGLIGIBLE_CLASS - np.log(upper.logs.size)
    kept = [first + np.flatnonzero(bound >= floor) for first, bound in zip(upper.first, bounds, strict=True)]
    return kept, float(beyond.max()) - least


def _weighed(kernel: CubeKernel, counts: Counts) -> Windowed:
    values = np.full(int(counts[-1] - counts[0]) + 1, -np.inf)
    values[counts - counts[0]] = [kernel.log_weight(count) for count in counts.tolist()]
    return Windowed(int(counts[0]), values)


_CALL = 2e5  # operations that one class count costs beside its sums
_EACH = 30.0  # operations for each feature and radius of a class count
_LOOKED = 60.0  # nats of the class counts' own noise within which a first look goes, and 10 for each feature


class CubeSolver(Solver):
    """Sums over the radius of each class and over the class counts."""

    models = (Network,)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse everything but one measurement of signed counts, class by class, through noise of the max norm."""
        return (
            None if _signed(problem) is not None else "its noise has no single radius for all signed counts of a class"
        )

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the class counts that are weighed, times the radii and features that each of them goes through."""
        found = _signed(problem)
        assert found is not None
        size, rate, features = problem.size, found.rate, found.features[0].of.length
        radii = min(2 * size + 1.0, FARTHEST * (features + 1) / rate)  # at most; the usual ones are far fewer
        usual = min(radii, (3 * features + 90) / rate)
        looked = 1.0
        if found.classes is not None:
            reach = float(found.classes.noise.decay_length.max())
            looked = min(size + 1.0, 100 / rate + (_LOOKED + 10 * features) * reach * rate)
        words = f"going through {looked:.0f} counts of each class of {size} records"
        return CostEstimate(
            words, len(found.features) * looked * (_EACH * features * usual + _CALL), 8 * features * radii
        )

    def solve(self, problem: Problem) -> NetworkSolution:
        """Return the exact joint posterior of all tables."""
        found = _signed(problem)
        assert found is not None
        model, size = problem.model, problem.size
        alpha = np.array(model.prior if found.classes is None else model.prior[1:])
        kernels = [CubeKernel(each.values, found.rate, alpha, size) for each in found.features]
        if found.classes is None:
            own, weight = [ClassFactor(1.0)], np.array([kernels[0].log_weight(size)])
            classes = [CubeClass(kernels[0], Windowed(size, weight), (0, size))]
        else:
            seen = noisy_row_of(found.classes, np.arange(found.classes.of.length))
            own = class_factors(model.prior[0], [seen])
            classes = cube_classes(kernels, seen, own, size)
        return NetworkSolution(model, NaiveBayesCounts(classes, own, size, log_constant(problem)))


@dataclass(frozen=True, eq=False)
class _Signed:
    """What was measured: the class counts, if there is a class, and the features of each class."""

    classes: Measurement | None
    features: tuple[Measurement, ...]
    rate: float


def _signed(problem: Problem) -> _Signed | None:
    """Return the measured classes and features, if one release holds these and nothing else."""
    if len(problem.observed) != 1 or not problem.is_measured:
        return None
    target, measurements = problem.model.target, problem.measurements
    classes = None if target is None else measurements[0]
    features = measurements if target is None else measurements[1:]
    wanted = 1 if target is None else len(problem.model.variables[0].levels)
    rates = {_rate(each) for each in features}
    rate = rates.pop() if len(rates) == 1 else None
    if len(features) != wanted or rate is None:
        return None
    parts = [part for each in features for part in each.of.parts or ()]
    signed = (False,) if target is None else (True, False)
    if len(parts) != wanted * (len(problem.model.variables) - (wanted > 1)) or any(p.cells != signed for p in parts):
        return None
    if classes is not None:
        own = classes.of.parts
        if own is None or [part.names for part in own] != [(target,)] or product_of(classes.noise.structure) is None:
            return None
    return _Signed(classes, features, rate)


def _rate(measurement: Measurement) -> float | None:
    match measurement.noise.structure:
        case SharedRadius(rate=rate):
            return rate
        case _:
            return None
