"""Groups of records and the rate of an event in each: what a noisy table says about the counts of every group.

Of the n_g records of group g, y_g show the event. Each of these numbers is a sum of cells, and is read from its own
noisy sum: A_g and B_g are the kernels of the summed noise (see `own_sums`), whatever further columns there are. Given a
distribution of the rates, theta_g ~ Beta(kappa mu, kappa (1 - mu)), or all equal to mu where kappa is infinite,

    P(z, y, n | mu, kappa) = prod_g size_g(n_g) BetaBinomial(y_g; n_g, kappa mu, kappa (1 - mu)) A_g(y_g) B_g(n_g - y_g)

on sum n_g = n, so counts are summed out exactly.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, isinf

import numpy as np
from scipy.special import gammaln

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.inference import CellWeights, CostEstimate, LatentCounts, Problem, require
from discreet.mathematics import log_prior
from discreet.mechanism import Measurement, sized
from discreet.release import Release
from discreet.tables._groupwise import summed_measurements
from discreet.tables._model import Categories

_REACHES = 25.0  # nats: counts less likely than the noisy ones by more than this are left out: e^-25 = 1e-11
_LEAST = -700.0  # nats: the log likelihood of counts that are as good as impossible
_STRAIGHT = 100.0  # nats by which parts of a curve may deviate from their chord


@dataclass(frozen=True, eq=False)
class Group:
    """The likelihood of one group's counts: log A for y = first_y, ..., log B for w = first_w, ..., and its prior."""

    name: str
    alpha: float
    first_y: int
    first_w: int
    with_event: Floats
    without: Floats

    @cached_property
    def sizes(self) -> Counts:
        """Return the possible numbers of records."""
        return self.first_y + self.first_w + np.arange(len(self.with_event) + len(self.without) - 1)

    @cached_property
    def log_prior(self) -> Floats:
        """Return the prior log weight of each possible size."""
        return log_prior(self.alpha, self.sizes)


class Sizes:
    """What one pair (mu, kappa) says about the groups: their sizes, jointly, and E[y | n] for every possible n."""

    def __init__(self, groups: Sequence[Group], size: int, mu: float, kappa: float) -> None:
        self.mu, self.kappa, self.groups = mu, kappa, groups
        self._chances = BetaBinomials(groups, mu, kappa)
        starts = np.array([group.sizes[0] for group in groups])
        lengths = np.array([len(group.sizes) for group in groups])
        table = np.full((len(starts), int(lengths.max())), -inf)
        for row, group in zip(table, groups, strict=True):
            row[: len(group.sizes)] = self._chances.of(group).log_prob + group.log_prior

        def log_weight(indices: Counts, counts: Counts) -> Floats:
            steps = counts - starts[indices]
            inside = (steps >= 0) & (steps < lengths[indices])
            return np.where(inside, table[indices, np.where(inside, steps, 0)], -inf)

        weights = CellWeights(np.ones(len(starts)), log_weight)
        self.counts = LatentCounts(weights, starts, starts + lengths - 1, 0.0, size)

    def hits(self, index: int) -> Floats:
        """Return E[y | n] of one group for every possible n."""
        return self._chances.of(self.groups[index]).expected

    def shares_of_hits(self, index: int, sizes: Counts) -> Floats:
        """Return P(y | n) of one group: a row for each of some sizes, over y = first_y, ..."""
        return self._chances.of(self.groups[index]).given(sizes)


class BetaBinomials:
    """Beta-binomial probabilities at one pair (mu, kappa), factors of y, w and n = y + w: ways(y) ways(w) / ways(n).

    The factors are computed once for all groups whose windows begin alike.
    """

    def __init__(self, groups: Sequence[Group], mu: float, kappa: float) -> None:
        longest: dict[tuple[int, int], tuple[int, int]] = {}
        for group in groups:
            start, lengths = (group.first_y, group.first_w), (len(group.with_event), len(group.without))
            before = longest.get(start, (0, 0))
            longest[start] = max(before[0], lengths[0]), max(before[1], lengths[1])
        self._factors = {start: _factors(start, lengths, mu, kappa) for start, lengths in longest.items()}

    def of(self, group: Group) -> "HitsAndRest":
        """Return the joint weights of a group's counts."""
        hits, rest, sizes = self._factors[group.first_y, group.first_w]
        log_sizes = sizes[: len(group.sizes)]
        return HitsAndRest(
            group,
            group.with_event + hits[: len(group.with_event)],
            group.without + rest[: len(group.without)],
            log_sizes,
        )


def _factors(start: tuple[int, int], lengths: tuple[int, int], mu: float, kappa: float) -> tuple[Floats, ...]:
    """Return the logarithms of the three factors, from the first y, w and n on."""
    hits, rest = (first + np.arange(length) for first, length in zip(start, lengths, strict=True))
    sizes = sum(start) + np.arange(sum(lengths) - 1)
    if isinf(kappa):
        own = [counts * np.log(rate) - gammaln(counts + 1.0) for counts, rate in ((hits, mu), (rest, 1 - mu))]
        return *own, -gammaln(sizes + 1.0)
    return log_prior(kappa * mu, hits), log_prior(kappa * (1 - mu), rest), log_prior(kappa, sizes)


@dataclass(frozen=True, eq=False)
class HitsAndRest:
    """Weights e^(u(y) + v(w) - s(y + w)) of one group's y and w: their sums over each n are one convolution.

    u and v span thousands of nats, floating-point numbers only 700. Where both are concave, L(n) = max (u(y) + v(n -
    y)) adds up all their steps in decreasing order and is concave. On a range of sizes where L deviates from its chord
    by at most 100, the largest of e^(u - slope y) and of e^(v - slope w) belong to a pair in that range, and every n in
    it has a pair within 100 nats of them. So ranges are convolved one by one, and no term that matters is lost. (Convex
    steps, those of ways below 1, span some 20 nats.) All terms are positive, so nothing cancels.
    """

    group: Group
    log_hits: Floats
    log_rest: Floats
    log_sizes: Floats

    @property
    def log_prob(self) -> Floats:
        """Return the log of the sum over all y and w of each size."""
        return np.concatenate([logs for _, logs in self._parts()])

    @property
    def expected(self) -> Floats:
        """Return E[y] given each size."""
        return self.group.first_y + np.concatenate([means for means, _ in self._parts(with_means=True)])

    def given(self, sizes: Counts) -> Floats:
        """Return the probability of each y (columns) given each of some sizes (rows)."""
        rest = sizes[:, None] - self.group.sizes[0] - np.arange(len(self.log_hits))
        inside = (rest >= 0) & (rest < len(self.log_rest))
        logs = np.where(inside, self.log_hits + self.log_rest[np.where(inside, rest, 0)], -inf)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _parts(self, with_means: bool = False) -> Iterator[tuple[Floats, Floats]]:
        """Yield, for each range of sizes, E[y - first_y] if it is asked for, and the log of the sums."""
        hits, rest = np.arange(len(self.log_hits)), np.arange(len(self.log_rest))
        steps = np.sort(np.concatenate([-np.diff(self.log_hits), -np.diff(self.log_rest)]), kind="stable")
        highest = np.concatenate([[0.0], -np.cumsum(steps)])
        for start, stop, slope in _nearly_straight(highest, 0, len(highest)):
            u, v = self.log_hits - slope * hits, self.log_rest - slope * rest
            peak = float(u.max() + v.max())
            u, v = np.exp(u - u.max()), np.exp(v - v.max())
            sums = _convolved(u, v, start, stop)
            with np.errstate(divide="ignore"):
                logs = np.log(sums) + peak + slope * np.arange(start, stop) - self.log_sizes[start:stop]
            means = np.zeros_like(sums)
            if with_means:
                np.divide(_convolved(u * hits, v, start, stop), sums, out=means, where=sums > 0)
            yield means, logs


def _nearly_straight(logs: Floats, start: int, stop: int) -> Iterator[tuple[int, int, float]]:
    """Yield ranges on which the values deviate from their chord by at most 100, each with the slope of its chord."""
    slope = float(logs[stop - 1] - logs[start]) / max(stop - 1 - start, 1)
    apart = logs[start:stop] - logs[start] - slope * np.arange(stop - start)
    if stop - start <= 2 or np.abs(apart).max() <= _STRAIGHT:
        yield start, stop, slope
        return
    middle = (start + stop) // 2
    yield from _nearly_straight(logs, start, middle)
    yield from _nearly_straight(logs, middle, stop)


def _convolved(u: Floats, v: Floats, start: int, stop: int) -> Floats:
    """Return sum_y u(y) v(n - y) for n = start, ..., stop - 1, term by term: a transform would lose digits."""
    if len(u) > len(v):
        u, v = v, u
    padded = np.zeros(stop - start + len(u) - 1)
    first, last = start - len(u) + 1, min(stop, len(v))
    padded[max(first, 0) - first : last - first] = v[max(first, 0) : last]
    return np.asarray(np.convolve(padded, u, "valid"))


def groups_of(
    releases: Sequence[Release],
    model: Categories,
    event: object,
    by: str,
    least: int,
    points: int = 1,
    patience: float = 1.0,
) -> list[Group]:
    """Return the groups given by a column's levels, at least this many, each with the likelihoods of its counts.

    `points` is the number of pairs (mu, kappa) at which they will be evaluated: anything that takes more than
    `patience` times the usual work is refused before it begins.
    """
    column = next((column for column in model.columns if column.name == by), None)
    if column is None:
        raise DeclarationError(f"The release has no column {by!r}; its columns are {[c.name for c in model.columns]}.")
    if len(column.levels) < least:
        raise DeclarationError(f"{by!r} has {len(column.levels)} levels; pooling needs three or more groups.")
    labels = labels_of(model, event, by)
    levels, held = labels // 2, set(labels.tolist())
    for index, level in enumerate(column.levels):
        if not {2 * index, 2 * index + 1} <= held:
            raise DeclarationError(f"{event!r} must be neither certain nor impossible in {by}={level}.")
    measurements = measured_parts(releases, labels)
    size, groups = sized(releases[0].mechanism).size, []
    ends = _windows(measurements, size)
    require(_work(ends[:, 1] - ends[:, 0] + 1, points), patience, "Nothing was compared.")
    for index, level in enumerate(column.levels):
        first_y, with_event = _likelihood(measurements, 2 * index, ends[2 * index])
        first_w, without = _likelihood(measurements, 2 * index + 1, ends[2 * index + 1])
        declared = float(model.concentration[levels == index].sum())
        alpha = declared if model.is_prior_declared else 2 / len(column.levels)
        groups.append(Group(str(level), alpha, first_y, first_w, with_event, without))
    return groups


def labels_of(model: Categories, event: object, by: str) -> Counts:
    """Return, for every cell, twice the index of its group, plus 1 where the event does not hold."""
    outside = np.ones(len(model.cells), dtype=np.int64)
    outside[model.cell_indices(event)] = 0
    index = [column.name for column in model.columns].index(by)
    levels = np.unravel_index(np.arange(len(model.cells)), [len(each.levels) for each in model.columns])[index]
    return np.asarray(2 * levels + outside)


def _likelihood(measurements: Sequence[Measurement], part: int, ends: Counts) -> tuple[int, Floats]:
    """Return the first possible count of a part and its log likelihood from there on, the largest being 0."""
    first, last = ends.tolist()
    counts = np.arange(first, last + 1)
    logs = np.asarray(sum(measurement.log_terms(counts, part) for measurement in measurements))
    return first, np.maximum(logs - logs.max(), _LEAST)


def _windows(measurements: Sequence[Measurement], size: int) -> Counts:
    """Return the first and last count (columns) considered for each part (rows)."""
    noisy = np.clip([measurement.values for measurement in measurements], 0, size)  # the nearest counts
    reach = np.max([measurement.noise.decay_length for measurement in measurements], axis=0)
    margin = np.ceil(_REACHES * reach).astype(np.int64) + 1
    ends = np.maximum(0, noisy.min(axis=0) - margin), np.minimum(size, noisy.max(axis=0) + margin)
    return np.stack(ends, axis=1)


def _work(widths: Counts, points: int) -> CostEstimate:
    """Return the work of evaluating all groups, two windows of this many counts each, at this many pairs (mu, kappa).

    Each evaluation is one convolution per group, term by term, and transforms of the sizes of all groups.
    """
    pairs = widths.reshape(-1, 2).astype(float)
    groups, length = len(pairs), float(pairs.sum(axis=1).max()) * (1 + np.sqrt(len(pairs)) / 4)
    transforms = 100 * groups * length * np.log2(length + 2)
    operations = points * (float(pairs.prod(axis=1).sum()) + 60 * float(pairs.sum()) + transforms)
    return CostEstimate(f"comparing {groups} groups at {points} pairs of rates", operations, 4 * groups * length)


def measured_parts(releases: Sequence[Release], labels: Counts) -> tuple[Measurement, ...]:
    """Return the noisy sums of the parts; refuse what does not measure each of them separately."""
    problem = Problem.of(releases)
    found = summed_measurements(problem, labels)
    if found is None:
        raise DeclarationError(
            f"{problem.label!r} cannot be pooled: groups are read together from noisy counts of every cell with "
            "independent noise, and it holds something else. Nothing was read. Read each group by itself: "
            "posterior.rates(event, by)."
        )
    return found
