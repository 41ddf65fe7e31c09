"""Reading the sums of a number: means, sums and variances, among the records and in their population.

A mean among the records is the ratio of the two ends of its group, read by `ratios`, without a prior. For the
population, a sum of values lies sqrt(V) t from its expectation, where V = sum (x - mean)^2 and t is a Student number.
V is estimated from the noisy squares, and what is plugged in is

    V* = max(0, V + e / 10),   e = Var(noise of V) / Var(noise of the sum).

Plugged in unchanged, a noisy estimate makes intervals too short, because one that is too small costs more coverage than
one that is too large gains; truncated at zero, it makes them too long where V is small. With a tenth of e, both errors
are small, whatever V is (docs/numbers.md, tests/reading/test_population_means.py). There is no prior.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from math import sqrt

import numpy as np
from scipy.special import ndtri, stdtrit

from discreet.arrays import Floats
from discreet.mathematics.distributions.dirichlet import tails
from discreet.models.number_sums import NumberSums
from discreet.reading.ratios import DRAWS, PairNoise, Quantiles, Ratio, pair_noise

_NEAR = np.concatenate([[-4.0, -2.0], np.linspace(-1, 1, 13), [2.0, 4.0]])
"""Where the law of a population's mean is computed, in units of how far the mean may lie from that of the records."""
_SEED = 22


@dataclass(frozen=True, eq=False)
class Spread:
    """An estimate of V, the variance of a sum of values, and how much noise is in it and in the sum."""

    estimate: Callable[[float], float]
    """V for a mean place of the records."""
    estimate_noise: float
    noise: float
    known: float
    point: float
    """The published mean place."""

    def at(self, place: float) -> float:
        """Return V* if the records had this mean place; values between the bounds allow no more than r (1 - r) each."""
        return plugged_in(self.estimate(place), self._excess, self.known * place * (1 - place))

    def around(self, ratio: float) -> float:
        """Return V* if the population had this mean place.

        The mean of the records lies between that of the population and the published one. Of the distance between
        these, sampling has about the part V / (V + N), N being the variance of the noise in the sum. As V is not known,
        w = (V / (V + N + e))^2 is taken, which is smaller where V is small.
        """
        return self.at(ratio + self._part * (self.point - ratio))

    @cached_property
    def _part(self) -> float:
        found = self.at(self.point)
        return (found / (found + self.noise + self._excess)) ** 2

    @property
    def _excess(self) -> float:
        return self.estimate_noise / self.noise


def plugged_in(estimate: float, excess: float, most: float) -> float:
    """Return V* for an estimate of V and e, capped at the largest possible V."""
    return min(max(0.0, estimate + excess / 10), max(0.0, most))


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
    method: str = "read by tests that are valid for any records; for the population, with a t distribution"
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
        drawn = pair_noise(self.model.square_ends, self.rates[1], _SEED + 1)
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
        method = f"{one.method}, applied to the average of {len(readings)} releases"
        found = cls(one.model, one.size, one.first, one.second, one.rates, tuple(readings), method)
        first = np.tensordot(found.weights(0), [each.first for each in readings], axes=1)
        second = np.tensordot(found.weights(1), [each.second for each in readings], axes=1)
        return replace(found, first=first, second=second)

    @staticmethod
    def _student(freedom: float) -> Floats:
        """Return the factors that turn normal numbers into Student's."""
        return np.asarray(np.sqrt(freedom / np.random.default_rng(_SEED + 4).chisquare(freedom, DRAWS)))

    def quantiles(self, level: float) -> Quantiles:
        """Return the quantiles of the noise, which all groups share."""
        return Quantiles.of(self.noise, level)

    def known(self, group: int) -> float:
        """Return about how many records of a group have a value."""
        return float(min(max(self.first[group].sum(), 1.0), self.size))

    def record_mean(self, group: int, quantiles: Quantiles) -> Ratio:
        """Return the mean place among the records of a group."""
        return quantiles.interval(*map(float, self.first[group]))

    def spread(self, group: int) -> Spread:
        """Return what the squares tell about V, the variance of a sum of a group's values."""
        point = self._point(group)
        noise = float(np.var(self.noise.at(point)))
        return Spread(partial(self._estimate, group), self._estimate_noise(point), noise, self.known(group), point)

    def _estimate(self, group: int, place: float) -> float:
        """Return V = ((1 - m) far - m near) / 4, m = (2 r - 1)^2, for a mean place r of the records."""
        middle, (far, near) = (2 * place - 1) ** 2, self.second[group]
        return float((1 - middle) * far - middle * near) / 4

    def _estimate_noise(self, place: float) -> float:
        """Return the variance of the noise in that estimate."""
        return float(np.var(self.square_noise.at((2 * place - 1) ** 2))) / 16

    def law_mean(self, group: int, level: float, found: Ratio) -> Ratio:
        """Return the mean place in the population of a group, around what was found among the records."""
        spread, count = self.spread(group), self.known(group)
        typical = max(sqrt(spread.at(found.point)), 0.1) / count
        reach = 0.75 * (found.high - found.low) + 2.5 * typical  # farther out than expected
        ratios = np.unique(np.clip(np.concatenate([[0.0, 1.0], found.point + reach * _NEAR]), 0, 1))
        normals = _standard()[0] * self._student(max(count - 1, 1.0))
        law = Quantiles.of(self.noise, level, lambda ratio: sqrt(spread.around(ratio)) * normals, ratios).interval(
            *map(float, self.first[group])
        )
        return Ratio(law.point, min(law.low, found.low), max(law.high, found.high))

    def due_to_privacy(self, group: int, law: Ratio, level: float) -> float | None:
        """Return which part of the width of a population's interval exact sums would save.

        It is unknown where noise hides everything and the interval covers the whole range.
        """
        if (law.low, law.high) == (0, 1):
            return None
        count = self.known(group)
        spread = sqrt(self.spread(group).at(law.point)) / count
        plain = 2 * float(stdtrit(max(count - 1, 1.0), tails(level)[1])) * spread
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
        return np.asarray(drawn + np.sqrt(np.maximum(self.sum_variances(group, drawn), 0)) * _standard()[0])

    def sum_variances(self, group: int, sums: Floats) -> Floats:
        """Return draws of the variance of a sum, sum y^2 - (sum y)^2 / n, where y is 0 in other groups.

        Of K values with the mean m, sum y^2 is K m^2 + V.
        """
        count = np.full_like(sums, float(self.size))
        if self.model.ends > 2:
            count = np.maximum(self.first[group].sum() - self.noise.first - self.noise.second, 1.0)
        spread = self.spread(group).at(self._point(group)) * self.model.width**2
        return np.asarray(spread + sums**2 * (1 / count - 1 / self.size))

    def _point(self, group: int) -> float:
        return float(np.clip(self.first[group, 0] / max(self.first[group].sum(), 1e-9), 0, 1))

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
            ranks = _standard()[1]
            return np.asarray(ranks / 4 * self.model.width**2)
        place, spread, count = place[possible], spread[possible], count[possible]
        if sampled:
            farther = np.maximum(place, 1 - place) ** 2
            deviation = np.sqrt(np.maximum(spread * (farther - spread), 0) / count)
            spread = np.clip(spread + deviation * _standard()[0][possible], 0, place * (1 - place))
        return np.asarray(spread * self.model.width**2)


@cache
def _standard() -> tuple[Floats, Floats]:
    """Return the quantiles of a standard normal number and of a uniform one, each in an order of its own."""
    generator, ranks = np.random.default_rng(_SEED + 3), (np.arange(DRAWS) + 0.5) / DRAWS
    return ndtri(generator.permutation(ranks)), generator.permutation(ranks)


def _averaged(parts: Sequence[PairNoise], weights: Floats, seed: int) -> PairNoise:
    """Return draws of the weighted average of the noise of several releases, each in an order of its own."""
    generator = np.random.default_rng(seed)
    orders = [generator.permutation(part.size) for part in parts]
    pairs = list(zip(weights, parts, orders, strict=True))
    first, second = (sum(w * getattr(part, end)[order] for w, part, order in pairs) for end in ("first", "second"))
    return PairNoise(np.asarray(first), np.asarray(second))
