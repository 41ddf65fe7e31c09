"""Inference from the sums of a number: means, sums and variances, among the records and in their population.

A mean among the records is the ratio of the two ends of its group, read by `ratios`, without a prior. For the
population, a sum of values lies sqrt(V) t from its expectation, where V = sum (x - mean)^2 and t is a Student number.
V is estimated from the noisy squares, and what is plugged in is

    V* = max(0, V + e / 10),   e = Var(noise of V) / Var(noise of the sum).

Plugged in unchanged, a noisy estimate makes intervals too short, because one that is too small costs more coverage than
one that is too large gains; truncated at zero, it makes them too long where V is small. With a tenth of e, both errors
are small, whatever V is (docs/numbers.md, tests/numbers/test_population_means.py). There is no prior.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache, partial
from math import sqrt

import numpy as np
from scipy.special import ndtri, stdtrit

from discreet._core.arrays import Floats
from discreet.inference import DRAWS, PairNoise, Quantiles, Ratio, pair_noise
from discreet.mathematics.distributions import tails
from discreet.numbers._sums_model import NumberSums

_NEAR = np.concatenate([[-4.0, -2.0], np.linspace(-1, 1, 13), [2.0, 4.0]])
"""Grid of a population's mean, in units of its largest distance from that of the records."""
_SEED = 22
_LEAST_DRAWS = 20  # with fewer that are possible, tails say nothing


@dataclass(frozen=True, eq=False)
class Spread:
    """An estimate of V, the variance of a sum of values, and how much noise is in it and in the sum."""

    estimate: Callable[[float], float]
    """V for a mean position of the records."""
    estimate_noise: float
    noise: float
    known: float
    point: float
    """The published mean position."""

    def at(self, position: float) -> float:
        """Return V* given this mean position of the records; values between the bounds allow at most r (1 - r) each."""
        return plugged_in(self.estimate(position), self._excess, self.known * position * (1 - position))

    def around(self, ratio: float) -> float:
        """Return V* if the population had this mean position.

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
class NumberSumsSolution:
    """What was published of the sums of a number, and the distribution of its noise in records."""

    model: NumberSums
    size: int
    first: Floats
    second: Floats
    rates: tuple[float, float]
    """How fast the noise of positions and of squares falls, for each record."""
    others: tuple["NumberSumsSolution", ...] = ()
    """Other releases of the same sums, if this is their average."""
    method: str = "read by tests that are valid for any records; for the population, with a t distribution"
    log_evidence: float = float("nan")
    draws: int = DRAWS
    """How many draws of noise represent its distribution."""

    @cached_property
    def noise(self) -> PairNoise:
        """Return draws of the noise of two ends."""
        if self.others:
            return _averaged([each.noise for each in self.others], self.weights(0), _SEED + 10)
        return pair_noise(self.model.ends, self.rates[0], _SEED, self.draws)

    @cached_property
    def square_noise(self) -> PairNoise:
        """Return draws of the noise of the ends of squares, independent of the others."""
        if self.others:
            return _averaged([each.square_noise for each in self.others], self.weights(1), _SEED + 20)
        drawn = pair_noise(self.model.square_ends, self.rates[1], _SEED + 1, self.draws)
        order = np.random.default_rng(_SEED + 2).permutation(drawn.size)
        return PairNoise(drawn.first[order], drawn.second[order])

    def weights(self, index: int) -> Floats:
        """Return how much each of several releases counts in their average: by one over the variance of its noise."""
        squares = np.array([each.rates[index] ** 2 for each in self.others])
        return np.asarray(squares / squares.sum())

    @classmethod
    def average(cls, solutions: "Sequence[NumberSumsSolution]") -> "NumberSumsSolution":
        """Return the solution for several releases of the same sums: of their weighted average, noise and all."""
        if len(solutions) == 1:
            return solutions[0]
        one = solutions[0]
        method = f"{one.method}, applied to the average of {len(solutions)} releases"
        found = cls(one.model, one.size, one.first, one.second, one.rates, tuple(solutions), method)
        first = np.tensordot(found.weights(0), [each.first for each in solutions], axes=1)
        second = np.tensordot(found.weights(1), [each.second for each in solutions], axes=1)
        return replace(found, first=first, second=second)

    def student(self, freedom: float) -> Floats:
        """Return the factors that turn normal numbers into Student's."""
        return np.asarray(np.sqrt(freedom / np.random.default_rng(_SEED + 4).chisquare(freedom, self.draws)))

    def quantiles(self, level: float) -> Quantiles:
        """Return the quantiles of the noise, which all groups share."""
        return _noise_quantiles(self.noise, level)

    def known(self, group: int) -> float:
        """Return about how many records of a group have a value."""
        return float(min(max(self.first[group].sum(), 1.0), self.size))

    def record_mean(self, group: int, quantiles: Quantiles) -> Ratio:
        """Return the mean position among the records of a group."""
        return quantiles.interval(*map(float, self.first[group]))

    def spread(self, group: int) -> Spread:
        """Return the evidence of the squares about V, the variance of a sum of a group's values."""
        point = self.point(group)
        noise = float(np.var(self.noise.at(point)))
        return Spread(partial(self._estimate, group), self._estimate_noise(point), noise, self.known(group), point)

    def _estimate(self, group: int, position: float) -> float:
        """Return V = ((1 - m) far - m near) / 4, m = (2 r - 1)^2, for a mean position r of the records."""
        middle, (far, near) = (2 * position - 1) ** 2, self.second[group]
        return float((1 - middle) * far - middle * near) / 4

    def _estimate_noise(self, position: float) -> float:
        """Return the variance of the noise in that estimate."""
        return float(np.var(self.square_noise.at((2 * position - 1) ** 2))) / 16

    def population_mean(self, group: int, level: float, found: Ratio) -> Ratio:
        """Return the mean position in the population of a group, around what was found among the records."""
        spread, count = self.spread(group), self.known(group)
        typical = max(sqrt(spread.at(found.point)), 0.1) / count
        reach = 0.75 * (found.high - found.low) + 2.5 * typical  # farther out than expected
        ratios = np.unique(np.clip(np.concatenate([[0.0, 1.0], found.point + reach * _NEAR]), 0, 1))
        normals = _standard(self.draws)[0] * self.student(max(count - 1, 1.0))
        distribution = Quantiles.of(
            self.noise, level, lambda ratio: sqrt(spread.around(ratio)) * normals, ratios
        ).interval(*map(float, self.first[group]))
        return Ratio(distribution.point, min(distribution.low, found.low), max(distribution.high, found.high))

    def due_to_privacy(self, group: int, distribution: Ratio, level: float) -> float | None:
        """Return which part of the width of a population's interval exact sums would save.

        It is unknown where noise hides everything and the interval covers the whole range.
        """
        if (distribution.low, distribution.high) == (0, 1):
            return None
        count = self.known(group)
        spread = sqrt(self.spread(group).at(distribution.point)) / count
        plain = 2 * float(stdtrit(max(count - 1, 1.0), tails(level)[1])) * spread
        return (
            max(0.0, 1 - plain / (distribution.high - distribution.low))
            if distribution.high > distribution.low
            else 0.0
        )

    @cached_property
    def guesses(self) -> Floats:
        """Return the best guess of the mean position of every group: its own, drawn towards that of all groups.

        Let r be the mean position of all groups together, and D_g = (1 - r) a_g - r b_g = N_g (r_g - r) + noise of
        variance v, a_g and b_g the published ends and N_g their sum. If the r_g lie around r with the variance t, the
        best linear guess is

            r + D_g N_g / (N_g^2 + v / t),   t = (sum D_g^2 - (G - 3) v) / sum N_g^2, at most 1/12,

        as Stein's estimator has it; up to three groups tell nothing of t, which is 1/12 then, that of positions that
        lie anywhere. No group is moved farther than one standard deviation of its noise, sqrt(v) / N_g (Efron and
        Morris, 1971), so one that is unlike all others loses little. A group that noise hides is guessed to be like
        the others. Intervals are as they are without this: a guess beyond an end is moved to it.
        """
        top, ends, groups = self.first[:, 0], self.first.sum(axis=1), len(self.first)
        if groups == 1 or ends.sum() <= 0:
            return np.array([self.point(group) if ends[group] > 0 else 0.5 for group in range(groups)])
        centre = float(np.clip(top.sum() / ends.sum(), 0, 1))
        far, noise = top - centre * ends, float(np.var(self.noise.at(centre)))
        squares = float((ends**2).sum()) - groups * float(np.var(self.noise.first + self.noise.second))
        spread = 1 / 12
        if groups > 3 and squares > 0:
            spread = min(spread, max(1e-12, (float((far**2).sum()) - (groups - 3) * noise) / squares))
        counts = np.maximum(ends, 1e-9)
        own, reach = far / counts, sqrt(noise) / counts
        drawn = far * counts / (counts**2 + noise / spread)
        means: Floats = np.clip(centre + np.clip(drawn, own - reach, own + reach), 0, 1)
        return means

    def guessed(self, group: int, found: Ratio) -> Ratio:
        """Return an interval of a group's mean position with the best guess inside it."""
        return found._replace(point=min(max(float(self.guesses[group]), found.low), found.high))

    def in_units(self, position: Ratio) -> Ratio:
        """Return a mean position as a value between the bounds."""
        return Ratio(*(float(self.model.value_at(each)) for each in position[:3]))

    def sum_intervals(self, group: int, level: float) -> tuple[Ratio, Ratio]:
        """Return the sum of a group's values, and that of as many records of the population.

        Where the number n of values is public, they are n times the means. Elsewhere they are location families, read
        under a flat prior.
        """
        if self.is_number_public:
            mean = self.record_mean(group, self.quantiles(level))
            means = [self.in_units(each) for each in (mean, self.population_mean(group, level, mean))]
            records, population = (Ratio(*(self.size * each for each in own[:3])) for own in means)
            return records, population
        ranks = tails(level)[0], 0.5, tails(level)[1]
        found = (np.quantile(drawn, ranks) for drawn in (self.sums(group), self.population_sums(group)))
        records, population = (Ratio(float(point), float(low), float(high)) for low, point, high in found)
        return records, population

    def sums(self, group: int) -> Floats:
        """Return draws of the sum of a group's values in its own units, each moved to what is possible."""
        return self.possible_sums(self.free_sums(group))

    def free_sums(self, group: int) -> Floats:
        """Return draws of the sum of a group's values, as noise leaves them."""
        low, width = float(self.model.bounds.low), self.model.width
        high_end = self.first[group, 0] - self.noise.first
        count = self.first[group].sum() - self.noise.first - self.noise.second
        return np.asarray(low * count + width * high_end)

    @property
    def is_number_public(self) -> bool:
        """Return whether the number of values is public: without groups and missing values, that of all records is."""
        return self.model.ends == 2

    @property
    def _units(self) -> float:
        """Return the largest number of values that a sum may have."""
        return float(self.size)

    def possible_sums(self, drawn: Floats) -> Floats:
        """Return draws of a sum that are at most what all records could have, and at least that."""
        low, high = (self._units * float(end) for end in (self.model.bounds.low, self.model.bounds.high))
        if self.model.ends > 2:  # a group may have no records
            low, high = min(low, 0.0), max(high, 0.0)
        return np.clip(drawn, low, high)

    def population_sums(self, group: int) -> Floats:
        """Return draws of the sum that as many records of the population have on average."""
        drawn = self.free_sums(group)
        deviation = np.sqrt(np.maximum(self.sum_variances(group, drawn), 0)) * _standard(self.draws)[0]
        return self.possible_sums(drawn + deviation)

    def sum_variances(self, group: int, sums: Floats) -> Floats:
        """Return draws of the variance of a sum, sum y^2 - (sum y)^2 / n, where y is 0 in other groups.

        Of K values with the mean m, sum y^2 is K m^2 + V.
        """
        count = np.maximum(self.first[group].sum() - self.noise.first - self.noise.second, 1.0)
        spread = self.spread(group).at(self.point(group)) * self.model.width**2
        return np.asarray(spread + sums**2 * (1 / count - 1 / self.size))

    def point(self, group: int) -> float:
        """Return the published mean position of a group."""
        return float(np.clip(self.first[group, 0] / max(self.first[group].sum(), 1e-9), 0, 1))

    def spreads(self, group: int) -> tuple[Floats, Floats, Floats]:
        """Return draws of the mean position, of the variance and of the number of a group's values among the records.

        All sums are what was published minus drawn noise: a flat prior. Variances are in squares of the range, and
        noise may take them below 0 or above r (1 - r), which none can be. Draws without records are not a number.
        """
        (high, low), (far, near) = self.first[group], self.second[group]
        count = high + low - self.noise.first - self.noise.second
        total = far + near - self.square_noise.first - self.square_noise.second
        count, total = (np.where((count > 0) & (total > 0), each, np.nan) for each in (count, total))
        position = (high - self.noise.first) / count
        return position, ((far - self.square_noise.first) / total - (2 * position - 1) ** 2) / 4, count

    def variance(self, group: int, level: float, mean: Ratio, sampled: bool) -> Ratio:
        """Return the variance of a group's values among the records, or in the population they were sampled from.

        A variance s lies between 0 and the largest r (1 - r) of the mean positions r that `mean` holds: that of the
        records or of the population, with an interval of a higher level. With a the tail of the level and draws S of
        the variance of the records from the noise alone,

            P(S <= low) = a P(S <= most),   P(S >= high) = a P(S >= 0).

        So neither end depends on what is impossible at the other side: an end may be 0 or the largest, no interval is
        empty, and each end misses about as often as the noise by itself would make it, or less.

        A population's squared distances from its mean lie between 0 and b = max(r, 1 - r)^2, and of all distributions
        with the mean s, that of b times a Bernoulli number of probability s / b spreads most. Hence its ends are those
        of Clopper and Pearson for S K / b successes among K records. Fourth moments, which would tell more, were not
        published.
        """
        middle = min(max(0.5, mean.low), mean.high)
        most, tail = middle * (1 - middle), tails(level)[0]
        position, spread, count = self.spreads(group)
        below, above = spread <= most, spread >= 0
        if min(below.sum(), above.sum()) < _LEAST_DRAWS:  # noise hides it
            return self._squared(Ratio(most / 2, 0.0, most))
        lower, upper = spread, spread
        if sampled:
            lower, upper = sampled_variances(position, spread, count, np.random.default_rng(_SEED + 5))
        low, high = np.clip([np.quantile(lower[below], tail), np.quantile(upper[above], 1 - tail)], 0, most).tolist()
        possible = spread[below & above]
        point = float(np.median(possible)) if len(possible) else (low + high) / 2
        return self._squared(Ratio(min(max(point, low), high), low, high))

    def _squared(self, spread: Ratio) -> Ratio:
        """Return a variance in squares of the column's unit."""
        return Ratio(*(each * self.model.width**2 for each in spread[:3]))

    def variances(self, group: int) -> Floats:
        """Return draws of the variance of a group's values among the records, each moved to what is possible."""
        position, spread, _ = (np.nan_to_num(each) for each in self.spreads(group))
        position = np.clip(position, 0, 1)
        return np.asarray(np.clip(spread, 0, position * (1 - position)) * self.model.width**2)


def sampled_variances(
    position: Floats, spread: Floats, count: Floats, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Return draws of both ends of a population's variance, for draws of what the records have.

    Around the mean of the population, K records with the variance s are farther apart by s z^2 / K, z being normal.
    """
    records = np.maximum(np.nan_to_num(count), 1.0)
    farthest = np.maximum(np.clip(position, 0, 1), 1 - np.clip(position, 0, 1)) ** 2
    around = spread * (1 + generator.standard_normal(len(spread)) ** 2 / records)
    successes = records * np.clip(np.nan_to_num(around / farthest), 0, 1)
    ends = []
    for more in (0, 1):  # a Beta number is a Gamma number divided by the sum of two
        hits, rest = generator.standard_gamma([successes + more, records - successes + 1 - more])
        ends.append(farthest * hits / (hits + rest))
    return ends[0], ends[1]


@lru_cache(maxsize=16)
def _noise_quantiles(noise: PairNoise, level: float) -> Quantiles:
    """Return quantiles, which all solutions with the same draws of noise share."""
    return Quantiles.of(noise, level)


@cache
def _standard(draws: int) -> tuple[Floats, Floats]:
    """Return the quantiles of a standard normal number and of a uniform one, each in an order of its own."""
    generator, ranks = np.random.default_rng(_SEED + 3), (np.arange(draws) + 0.5) / draws
    return ndtri(generator.permutation(ranks)), generator.permutation(ranks)


def _averaged(parts: Sequence[PairNoise], weights: Floats, seed: int) -> PairNoise:
    """Return draws of the weighted average of the noise of several releases, each in an order of its own."""
    generator = np.random.default_rng(seed)
    orders = [generator.permutation(part.size) for part in parts]
    pairs = list(zip(weights, parts, orders, strict=True))
    first, second = (sum(w * getattr(part, end)[order] for w, part, order in pairs) for end in ("first", "second"))
    return PairNoise(np.asarray(first), np.asarray(second))
