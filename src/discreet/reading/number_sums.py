"""Reading the sums of a number: means, sums and variances, among the records and in their population.

A mean among the records is the ratio of the two ends of its group, read by `ratios`, without a prior. For the
population, sums of n independent values lie sqrt(n) sigma t around their expectation, t a Student number. How large
sigma is follows from the noisy squares: sigma lies between 0 and sqrt(r (1 - r)), beyond which no number between the
bounds goes, and is weighed by the noise that it would take. Beforehand sigma^(2/3) is uniform. Where noise hides the
spread, an interval holds more often than stated if sigma is small, and less often if it is as large as noise may just
hide; with this exponent both errors are about as large, and at most 2.5 % at epsilon = 1 (docs/numbers.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np
from scipy.special import logsumexp, stdtrit

from discreet.arrays import Floats
from discreet.mathematics.distributions.dirichlet import tails
from discreet.models.number_sums import NumberSums
from discreet.noise.summed import log_laplace_sum
from discreet.reading.ratios import DRAWS, Deviation, PairNoise, Quantiles, Ratio, pair_noise

_SPREADS = 64  # values of sigma that are weighed
_COUNTS = 9  # numbers of records that are weighed
_NEAR = np.concatenate([[-4.0, -2.0], np.linspace(-1, 1, 13), [2.0, 4.0]])
"""Where the law of a population's mean is worked out, in units of how far the mean may lie from that of the records."""
_SEED = 22


@dataclass(frozen=True, eq=False)
class NumberSumsReading:
    """What was published of the sums of a number, and the law of its noise in records."""

    model: NumberSums
    size: int
    first: Floats
    second: Floats
    rates: tuple[float, float]
    """How fast the noise of places and of squares falls, for each record."""
    others: tuple["NumberSumsReading", ...] = ()
    """Other releases of the same sums, if this is their average."""
    method: str = "read by tests that hold whatever the records are; for the population, with a t distribution"
    log_evidence: float = float("nan")

    @cached_property
    def noise(self) -> PairNoise:
        """Return draws of the noise of two ends."""
        if self.others:
            return _averaged([each.noise for each in self.others], self.weights(0), _SEED + 10)
        return pair_noise(self.model.ends, self.rates[0], _SEED)

    @cached_property
    def square_noise(self) -> PairNoise:
        """Return draws of the noise of the ends of squares, independent of the others."""
        if self.others:
            return _averaged([each.square_noise for each in self.others], self.weights(1), _SEED + 20)
        drawn = pair_noise(self.model.ends, self.rates[1], _SEED + 1)
        order = np.random.default_rng(_SEED + 2).permutation(drawn.size)
        return PairNoise(drawn.first[order], drawn.second[order])

    def weights(self, place: int) -> Floats:
        """Return how much each of several releases counts in their average: by one over the variance of its noise."""
        told = np.array([each.rates[place] ** 2 for each in self.others])
        return np.asarray(told / told.sum())

    @classmethod
    def average(cls, readings: "Sequence[NumberSumsReading]") -> "NumberSumsReading":
        """Return the reading of several releases of the same sums: of their weighted average, noise and all."""
        if len(readings) == 1:
            return readings[0]
        one = readings[0]
        method = f"{one.method}, of the average of {len(readings)} releases"
        found = cls(one.model, one.size, one.first, one.second, one.rates, tuple(readings), method)
        first = np.tensordot(found.weights(0), [each.first for each in readings], axes=1)
        second = np.tensordot(found.weights(1), [each.second for each in readings], axes=1)
        return replace(found, first=first, second=second)

    @cached_property
    def _normals(self) -> tuple[Floats, Floats]:
        generator = np.random.default_rng(_SEED + 3)
        return generator.standard_normal(DRAWS), generator.random(DRAWS)

    def quantiles(self, level: float) -> Quantiles:
        """Return the quantiles of the noise, which all groups share."""
        return Quantiles.of(self.noise, level)

    def known(self, group: int) -> float:
        """Return about how many records of a group have a value."""
        return float(min(max(self.first[group].sum(), 1.0), self.size))

    def record_mean(self, group: int, quantiles: Quantiles) -> Ratio:
        """Return the mean place among the records of a group."""
        return quantiles.interval(*map(float, self.first[group]))

    def spreads(self, group: int, ratio: float) -> tuple[Floats, Floats]:
        """Return standard deviations of a place that are possible around a mean, and how likely each is."""
        most = sqrt(max(ratio * (1 - ratio), 1e-300))
        sigmas = ((np.arange(_SPREADS) + 0.5) / _SPREADS) ** 1.5 * most
        shares = np.minimum(1.0, (2 * ratio - 1) ** 2 + 4 * sigmas**2)  # of the far end
        logs = logsumexp(self._square_logs(group, shares[:, None], self._counts(group)), axis=1)
        weights = np.exp(logs - logs.max())
        return sigmas, weights / weights.sum()

    @cached_property
    def _count_noise(self) -> Floats:
        """Return quantiles of the noise in how many records of a group have a value."""
        return np.asarray(np.quantile(self.noise.first + self.noise.second, (np.arange(_COUNTS) + 0.5) / _COUNTS))

    def _counts(self, group: int) -> Floats:
        """Return how many records of a group may have a value, each as likely as another."""
        return np.asarray(np.clip(self.first[group].sum() - self._count_noise, 1.0, self.size))

    def _square_logs(self, group: int, shares: Floats, counts: Floats) -> Floats:
        """Return log P(u, v) of the noise at both ends, u = far - share count and v = near - (1 - share) count.

        P(u, v) ~ e^(-rate (|u| + |v|)) g(-u - v), where g is the density of the sum of the noise of all other ends.
        """
        if self.others:
            return np.asarray(sum(each._square_logs(group, shares, counts) for each in self.others))
        (far, near), rate = self.second[group], self.rates[1]
        u, v = far - shares * counts, near - (1 - shares) * counts
        logs = -rate * (np.abs(u) + np.abs(v))
        others = 0.0 if self.model.ends == 2 else log_laplace_sum(self.model.ends - 2, rate * (u + v))
        return np.asarray(logs + others)

    def deviation(self, group: int) -> tuple[Deviation, float]:
        """Return draws of how far a sum of values lies from its expectation, and about how far that makes a mean."""
        count = self.known(group)
        normals = self._normals[0]
        scale = np.sqrt(max(count - 1, 1.0) / _chi_squares(max(count - 1, 1.0)))
        counts = np.clip(self.first[group].sum() - (self.noise.first + self.noise.second), 1.0, self.size)

        def drawn(ratio: float) -> Floats:
            return np.asarray(np.sqrt(counts) * self._chosen(group, ratio) * normals * scale)

        sigmas, weights = self.spreads(group, self._point(group))
        return drawn, max(float(sigmas @ weights) / sqrt(count), 1 / count)

    def law_mean(self, group: int, level: float, found: Ratio) -> Ratio:
        """Return the mean place in the population of a group, around what was found among the records."""
        deviation, typical = self.deviation(group)
        reach = 0.75 * (found.high - found.low) + 2.5 * typical  # farther than it should go
        near = found.point + reach * _NEAR
        ratios = np.unique(np.clip(np.concatenate([[0.0, 1.0], near]), 0, 1))
        law = Quantiles.of(self.noise, level, deviation, ratios).interval(*map(float, self.first[group]))
        return Ratio(law.point, min(law.low, found.low), max(law.high, found.high))

    def due_to_privacy(self, group: int, law: Ratio, level: float) -> float:
        """Return which part of the width of a population's interval exact sums would save."""
        sigmas, weights = self.spreads(group, law.point)
        count = self.known(group)
        plain = 2 * float(stdtrit(max(count - 1, 1.0), tails(level)[1])) * float(sigmas @ weights) / sqrt(count)
        return max(0.0, 1 - plain / (law.high - law.low)) if law.high > law.low else 0.0

    def sums(self, group: int) -> Floats:
        """Return draws of the sum of a group's values in its own units: location families, read under a flat prior."""
        low, width = float(self.model.bounds.low), self.model.width
        high_end = self.first[group, 0] - self.noise.first
        count = self.first[group].sum() - self.noise.first - self.noise.second
        if self.model.ends == 2:
            count = np.full_like(high_end, float(self.size))
        return np.asarray(low * count + width * high_end)

    def population_sums(self, group: int) -> Floats:
        """Return draws of the sum that as many records of the population have on average."""
        drawn = self.sums(group)
        return np.asarray(drawn + np.sqrt(np.maximum(self.sum_variances(group, drawn), 0)) * self._normals[0])

    def sum_variances(self, group: int, sums: Floats) -> Floats:
        """Return draws of the variance of a sum, sum y^2 - (sum y)^2 / n, where y is 0 in other groups.

        Of K values with the mean m and the standard deviation sigma, sum y^2 is K (m^2 + sigma^2).
        """
        count = np.full_like(sums, float(self.size))
        if self.model.ends > 2:
            count = np.maximum(self.first[group].sum() - self.noise.first - self.noise.second, 1.0)
        means, sigmas = sums / count, self._chosen(group, self._point(group)) * self.model.width
        return np.asarray(count * (means**2 + sigmas**2) - sums**2 / self.size)

    def _point(self, group: int) -> float:
        return float(np.clip(self.first[group, 0] / max(self.first[group].sum(), 1e-9), 0, 1))

    def _chosen(self, group: int, ratio: float) -> Floats:
        """Return draws of the standard deviation of a place."""
        sigmas, weights = self.spreads(group, ratio)
        places = np.searchsorted(np.cumsum(weights), self._normals[1])
        return np.asarray(sigmas[np.minimum(places, _SPREADS - 1)])

    def variances(self, group: int, sampled: bool) -> Floats:
        """Return draws of the variance of a group's values, among the records or in the population.

        Both ends of places and of squares are those that were published without noise, where these are possible. How
        far a population's variance lies from that of the records depends on fourth moments, which were not published;
        they are at most the variance times the squared distance to the farther bound.
        """
        first, second = self.first[group], self.second[group]
        ends = np.stack([first[0] - self.noise.first, first[1] - self.noise.second])
        far = np.stack([second[0] - self.square_noise.first, second[1] - self.square_noise.second])
        count, total = np.maximum(ends.sum(axis=0), 1e-9), np.maximum(far.sum(axis=0), 1e-9)
        place, share = ends[0] / count, far[0] / total
        spread = (share - (2 * place - 1) ** 2) / 4
        possible = (place >= 0) & (place <= 1) & (spread >= 0) & (spread <= place * (1 - place)) & (count > 1)
        if possible.sum() < 200:  # noise hides it: any variance between the bounds
            ranks = self._normals[1]
            return np.asarray(ranks / 4 * self.model.width**2)
        place, spread, count = place[possible], spread[possible], count[possible]
        if sampled:
            farther = np.maximum(place, 1 - place) ** 2
            deviation = np.sqrt(np.maximum(spread * (farther - spread), 0) / count)
            spread = np.clip(spread + deviation * self._normals[0][possible], 0, place * (1 - place))
        return np.asarray(spread * self.model.width**2)


def _chi_squares(freedom: float) -> Floats:
    """Return draws of chi-square numbers, for Student's."""
    return np.random.default_rng(_SEED + 4).chisquare(freedom, DRAWS)


def _averaged(parts: Sequence[PairNoise], weights: Floats, seed: int) -> PairNoise:
    """Return draws of the weighted average of the noise of several releases, each in an order of its own."""
    generator = np.random.default_rng(seed)
    orders = [generator.permutation(part.size) for part in parts]
    pairs = list(zip(weights, parts, orders, strict=True))
    first, second = (sum(w * getattr(part, end)[order] for w, part, order in pairs) for end in ("first", "second"))
    return PairNoise(np.asarray(first), np.asarray(second))
