"""One class of a naive Bayes release by cube noise: what its signed counts say, given the class count.

The release is z_i = s_i + U_i with s_i = 2 k_i - n_y and P(U) ~ e^(-rate max|U_i|). Noise of that shape is uniform on
a cube whose half-width rho is random: P(U) ~ sum_(rho >= max|U|) q^rho, q = e^-rate. Given n_y and rho the features
are independent, and all that z says is that each k_i lies in an interval:

    P(z | n_y) ~ sum_rho q^rho prod_i P(|2 k_i - z_i - n_y| <= rho),

where k_i is Beta-binomial. Its law is needed on the largest interval only, and the mass of every interval is a sum from
its middle outward, in which nothing cancels. An interval of radius rho holds at most rho + 1 counts, so

    log weight(rho) <= -rate rho + sum_i min(0, log(rho + 1) + log max_k P(k_i)),

a concave bound, whose top lies near the number of features over the rate: what lies farther out than some nats is
below a geometric series. So no work grows with the number of records.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.errors import DiscreetError
from discreet.mathematics.dirichlet_multinomial import log_prior, log_prior_constant, log_prior_windows
from discreet.reading.counts.class_reading import Bools, ClassReading, OwnFactor
from discreet.reading.counts.row_counts import groups
from discreet.reading.counts.states import States, blocks, represented
from discreet.reading.counts.windows import Windowed

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
class Laws:
    """The law of every feature's count (rows) on its largest interval, at first, first + 1, ...

    `distances` are |2 k - z - n_y|: the radius from which on an interval holds the count. Beyond the interval the law
    is zero and the distance that of the largest radius.
    """

    first: Counts
    law: Floats
    distances: Counts

    def within(self, values: Floats, radii: Counts) -> Floats:
        """Return sums of values (features, counts) over the intervals of consecutive radii: (features, radii)."""
        features, most = len(values), int(radii[-1]) + 1
        places = np.arange(features)[:, None] * most + self.distances
        sums = np.bincount(places.ravel(), values.ravel(), features * most).reshape(features, most)
        return np.asarray(np.cumsum(sums, axis=1)[:, radii])


class CubeKernel:
    """What the noisy signed counts of one class say about any class count; `alpha` has two numbers for each feature."""

    def __init__(self, noisy: Counts, rate: float, alpha: Floats, size: int) -> None:
        self.noisy, self.rate, self.alpha, self.size = noisy, rate, alpha, size
        self._farthest = int(np.abs(noisy).max())
        kinds, kind, times = np.unique(alpha, axis=0, return_inverse=True, return_counts=True)
        self._kinds, self._kind, self._times = kinds, kind.ravel(), times
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

    def _radii(self, count: int) -> Radii:
        """Return the radii that matter: those within some nats of the best by the bound, and more if need be."""
        first, last = max(0, self._farthest - count), self._farthest + count
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
        """Return the log of what makes the law of each kind of feature sum to one."""
        return log_prior_constant(self._kinds.sum(axis=1), np.array(count))

    def _log_tops(self, count: int) -> Floats:
        """Return the log of the largest probability of each kind's law: at an end, or where neighbours are equal."""
        no, yes = self._kinds.T
        bend = no + yes - 2
        with np.errstate(divide="ignore", invalid="ignore"):
            mode = np.where(bend > 0, ((yes - 1) * count - (no - 1)) / bend, 0.0)
        near = np.clip(np.floor(mode), 0, count)[:, None] + np.array([-1, 0, 1, 2])
        ends = np.broadcast_to([0.0, float(count)], (len(no), 2))
        places = np.clip(np.concatenate([near, ends], axis=1), 0, count).astype(np.int64)
        logs = log_prior(yes[:, None], places) + log_prior(no[:, None], count - places)
        return np.asarray(logs.max(axis=1) + self._log_constant(count))

    def laws(self, count: int, radius: int) -> Laws:
        """Return the laws of all features on their intervals of a radius."""
        middle = self.noisy + count
        first = np.clip(-((radius - middle) // 2), 0, count)
        last = np.clip((middle + radius) // 2, first, count)
        width = int((last - first).max()) + 1
        counts = first[:, None] + np.arange(width)
        inside = counts <= last[:, None]
        logs = log_prior_windows(self.alpha[:, 1], first, width) + self._log_constant(count)[self._kind][:, None]
        if (self.alpha[:, 0] != 1).any():  # the other level's counts fall: a window from its least one, turned round
            turned = log_prior_windows(self.alpha[:, 0], count - last, width)
            logs = logs + np.take_along_axis(turned, np.clip(last[:, None] - counts, 0, width - 1), axis=1)
        distances = np.abs(2 * counts - middle[:, None])
        inside &= distances <= radius
        return Laws(first, np.where(inside, np.exp(logs), 0.0), np.where(inside, distances, radius))

    def _log_products(self, count: int, radii: Counts) -> Floats:
        """Return log prod_i P(k_i in its interval) for consecutive radii."""
        laws = self.laws(count, int(radii[-1]))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(laws.within(laws.law, radii)).sum(axis=0))

    def law_of_yes(self, feature: int, count: int) -> Windowed:
        """Return P(k_i | z, n_y) ~ P(k_i) sum_rho w_rho / P(interval_i of rho), over radii whose interval holds k_i.

        These are all radii from |z_i - s_i| on: sums from one end, in which no digits cancel.
        """
        found = self.radii(count)
        laws = self.laws(count, int(found.radii[-1]))
        within = laws.within(laws.law, found.radii)[feature]
        shares = np.divide(found.chances, within, out=np.zeros_like(within), where=found.chances > 0)
        later = np.append(np.cumsum(shares[::-1])[::-1], 0.0)
        places = np.clip(laws.distances[feature] - found.radii[0], 0, len(shares))
        return Windowed(int(laws.first[feature]), np.asarray(laws.law[feature] * later[places]))


class CubeClass(ClassReading):
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

    def _ends(self, own: OwnFactor) -> list[tuple[int, int, float, float]]:
        """Return for each open end its class count, its side, and a bound on all beyond: P(z | n_y) is at most one."""
        ends = ((self._looked[0], -1, self._looked[0] > 0), (self._looked[1], 1, self._looked[1] < self.size))
        return [(edge, side, *own.beyond(edge, side)) for edge, side, is_open in ends if is_open]

    def steepest(self, own: OwnFactor) -> float:
        return min((-ratio for _, _, _, ratio in self._ends(own)), default=float("inf"))

    def log_outside(self, tilt: float, own: OwnFactor) -> float:
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

    def states(self, chances: Windowed) -> States:
        """Return the states (n_y, rho) with their probabilities, and every level's expected probability in each.

        Where more than 128 class counts are likely, the middle of each of 128 ranges stands for its range, with the
        exact probability of all of it; radii are summed exactly, within up to 32 ranges.
        """
        counts, shares = represented(chances, _COUNT_BLOCKS)
        parts = [self._states_of(int(count), float(share)) for count, share in zip(counts, shares, strict=True)]
        weights, totals, yes = (np.concatenate(column) for column in zip(*parts, strict=True))
        return States(weights, totals, list(np.moveaxis(np.stack([1 - yes, yes], axis=2), 1, 0)))

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
        laws = self.kernel.laws(count, int(radii[-1]))
        steps = np.arange(laws.law.shape[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            means = laws.within(laws.law * steps, radii) / laws.within(laws.law, radii)
        return np.asarray(laws.first[:, None] + means)

    def laws_inside(self, feature: int, inside: Bools, counts: Counts) -> list[Windowed]:
        """Return for each class count the law of how many of its records are inside: those that say yes, or no."""
        yes = [self.kernel.law_of_yes(feature, count) for count in counts.tolist()]
        if inside[1]:
            return yes
        return [Windowed(count - law.last, law.values[::-1]) for count, law in zip(counts.tolist(), yes, strict=True)]

    def draw(self, totals: Counts, generator: np.random.Generator) -> list[Counts]:
        """Draw the counts of every feature (one array with a column for each level), one row for each class count."""
        yes = np.empty((len(totals), len(self.kernel.noisy)), dtype=np.int64)
        for count, places in groups(totals):
            found = self.kernel.radii(count)
            radii = generator.choice(found.radii, size=len(places), p=found.chances)
            yes[places] = self._draw_within(count, radii, generator)
        return [np.column_stack([totals - column, column]) for column in yes.T]

    def _draw_within(self, count: int, radii: Counts, generator: np.random.Generator) -> Counts:
        """Draw a count from each interval by inverting its sums: counts in the order of their distance."""
        laws = self.kernel.laws(count, int(radii.max()))
        marks = generator.random((len(radii), len(laws.first)))
        drawn = np.empty(marks.shape, dtype=np.int64)
        for feature, (law, distances) in enumerate(zip(laws.law, laws.distances, strict=True)):
            order = np.argsort(np.where(law > 0, distances, int(radii.max()) + 1), kind="stable")
            sums = np.cumsum(law[order])
            ends = np.searchsorted(distances[order][law[order] > 0], radii, side="right")
            found = np.searchsorted(sums, marks[:, feature] * sums[np.maximum(ends - 1, 0)], side="right")
            drawn[:, feature] = laws.first[feature] + order[np.minimum(found, np.maximum(ends - 1, 0))]
        return drawn


def log_sum(logs: Floats) -> float:
    """Return log sum exp."""
    peak = float(logs.max()) if logs.size else -np.inf
    return peak + float(np.log(np.exp(logs - peak).sum())) if peak > -np.inf else -np.inf
