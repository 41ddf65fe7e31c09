"""Groups of records and the rate of an event in each: what a noisy table says about the counts of every group.

Of the n_g records of group g, y_g show the event. Each of these numbers is a sum of cells, and is read from its own
noisy sum: A_g and B_g are the kernels of the summed noise (see `own_sums`), whatever further columns there are. Given a
law of the rates, theta_g ~ Beta(kappa mu, kappa (1 - mu)), or all equal to mu where kappa is infinite,

    P(z, y, n | mu, kappa) = prod_g size_g(n_g) BetaBinomial(y_g; n_g, kappa mu, kappa (1 - mu)) A_g(y_g) B_g(n_g - y_g)

on sum n_g = n, so counts are summed out exactly.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isinf

import numpy as np
from scipy.special import gammaln

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError
from discreet.mechanisms.quantities import Measurement
from discreet.models import Categories
from discreet.reading.case import Case
from discreet.reading.counts.count_sums import CellWeights
from discreet.reading.counts.latent_counts import LatentCounts
from discreet.reading.own_sums import summed_measurements
from discreet.releases import Release

_REACHES = 25.0  # counts this many factors e away from the noisy ones are left out: e^-25 = 1e-11


@dataclass(frozen=True, eq=False)
class Group:
    """The likelihood of one group's counts: A over y = first_y, ..., B over w = first_w, ..., and its prior weight."""

    name: str
    alpha: float
    first_y: int
    first_w: int
    with_event: Floats
    without: Floats

    @property
    def sizes(self) -> Counts:
        """Return the possible numbers of records."""
        return self.first_y + self.first_w + np.arange(len(self.with_event) + len(self.without) - 1)

    def joint(self, chances: Floats) -> Floats:
        """Return BetaBinomial(y; y + w) A(y) B(w) for every y (rows) and w (columns)."""
        inside = chances[: len(self.with_event), : len(self.without)]
        return np.asarray(inside * self.with_event[:, None] * self.without)


@dataclass(frozen=True, eq=False)
class Sizes:
    """What one pair (mu, kappa) says about the groups: their sizes, jointly, and E[y | n] for every possible n."""

    mu: float
    kappa: float
    counts: LatentCounts
    hits: tuple[Floats, ...]


def sizes_under(groups: Sequence[Group], size: int, mu: float, kappa: float) -> Sizes:
    """Return the joint law of the groups' sizes, counts of events summed out."""
    chances = BetaBinomials(groups, mu, kappa)
    starts = np.array([group.sizes[0] for group in groups])
    lengths = np.array([len(group.sizes) for group in groups])
    table, hits = np.full((len(starts), int(lengths.max())), -inf), []
    for row, group in zip(table, groups, strict=True):
        table_of_group, peak = chances.of(group)
        law, expected = _law_of_size(group, table_of_group)
        row[: len(law)] = law + peak
        hits.append(expected)

    def log_weight(places: Counts, counts: Counts) -> Floats:
        steps = counts - starts[places]
        inside = (steps >= 0) & (steps < lengths[places])
        return np.where(inside, table[places, np.where(inside, steps, 0)], -inf)

    weights = CellWeights(np.ones(len(starts)), log_weight)
    return Sizes(mu, kappa, LatentCounts(weights, starts, starts + lengths - 1, 0.0, size), tuple(hits))


class BetaBinomials:
    """Beta-binomial probabilities at one pair (mu, kappa), computed once for all groups whose windows begin alike."""

    def __init__(self, groups: Sequence[Group], mu: float, kappa: float) -> None:
        longest: dict[tuple[int, int], tuple[int, int]] = {}
        for group in groups:
            start, lengths = (group.first_y, group.first_w), (len(group.with_event), len(group.without))
            before = longest.get(start, (0, 0))
            longest[start] = max(before[0], lengths[0]), max(before[1], lengths[1])
        self._tables = {start: self._table(start, lengths, mu, kappa) for start, lengths in longest.items()}

    @staticmethod
    def _table(start: tuple[int, int], lengths: tuple[int, int], mu: float, kappa: float) -> tuple[Floats, float]:
        """Return the probabilities relative to the largest, and its logarithm: far from the data all are tiny."""
        hits, rest = (first + np.arange(length) for first, length in zip(start, lengths, strict=True))
        sizes = sum(start) + np.arange(sum(lengths) - 1)
        if isinf(kappa):
            own = [counts * np.log(rate) - gammaln(counts + 1.0) for counts, rate in ((hits, mu), (rest, 1 - mu))]
            logs = own[0][:, None] + own[1] + gammaln(sizes + 1.0)[_diagonals(*lengths)]
        else:
            logs = _log_ways(hits, kappa * mu)[:, None] + _log_ways(rest, kappa * (1 - mu))
            logs = logs - _log_ways(sizes, kappa)[_diagonals(*lengths)]
        peak = float(logs.max())
        return np.exp(logs - peak), peak

    def of(self, group: Group) -> tuple[Floats, float]:
        """Return a table that begins at a group's first y and w; it may be larger than the group needs."""
        return self._tables[group.first_y, group.first_w]


@lru_cache(maxsize=256)
def _diagonals(rows: int, columns: int) -> Counts:
    return np.arange(rows)[:, None] + np.arange(columns)


def _law_of_size(group: Group, chances: Floats) -> tuple[Floats, Floats]:
    """Return the log weight of each possible size of a group, its prior included, and E[y] given each size."""
    joint = group.joint(chances)
    steps = _diagonals(*joint.shape).ravel()
    totals = np.bincount(steps, joint.ravel(), len(group.sizes))
    hits = group.first_y + np.arange(joint.shape[0])
    sums = np.bincount(steps, (joint * hits[:, None]).ravel(), len(group.sizes))
    with np.errstate(divide="ignore"):
        law = np.log(totals) + _log_ways(group.sizes, group.alpha)
    return law, np.divide(sums, totals, out=np.zeros_like(sums), where=totals > 0)


def _log_ways(counts: Counts, alpha: float) -> Floats:
    """Return log Gamma(alpha + k) / (Gamma(alpha) k!)."""
    return np.asarray(gammaln(alpha + counts) - gammaln(alpha) - gammaln(counts + 1.0))


def groups_of(releases: Sequence[Release], model: Categories, event: object, by: str, least: int) -> list[Group]:
    """Return the groups by a column's levels, at least so many, each with the likelihoods of its counts."""
    column = next((column for column in model.columns if column.name == by), None)
    if column is None:
        raise DeclarationError(f"The release has no column {by!r}; its columns are {[c.name for c in model.columns]}.")
    if len(column.levels) < least:
        raise DeclarationError(f"{by!r} has {len(column.levels)} levels; pooling needs at least three groups.")
    inside, cells = np.zeros(len(model.cells), dtype=bool), np.arange(len(model.cells))
    inside[model.places(event)] = True
    levels = np.unravel_index(cells, [len(each.levels) for each in model.columns])[model.columns.index(column)]
    labels = 2 * levels + ~inside
    for place, level in enumerate(column.levels):
        if not {2 * place, 2 * place + 1} <= set(labels.tolist()):
            raise DeclarationError(f"{event!r} must be neither certain nor impossible in {by}={level}.")
    measurements = _measured(releases, labels)
    size, groups = releases[0].mechanism.size, []
    for place, level in enumerate(column.levels):
        first_y, with_event = _likelihood(measurements, 2 * place, size)
        first_w, without = _likelihood(measurements, 2 * place + 1, size)
        declared = float(model.concentration[levels == place].sum())
        alpha = declared if model.is_prior_declared else 2 / len(column.levels)
        groups.append(Group(str(level), alpha, first_y, first_w, with_event, without))
    return groups


def _likelihood(measurements: Sequence[Measurement], part: int, size: int) -> tuple[int, Floats]:
    """Return the first possible count of a part and the likelihood of each from there on, the largest being 1."""
    noisy = [int(np.clip(measurement.values[part], 0, size)) for measurement in measurements]  # the nearest counts
    margin = int(np.ceil(_REACHES * max(float(measurement.noise.reach[part]) for measurement in measurements))) + 1
    first = max(0, min(noisy) - margin)
    counts = np.arange(first, min(size, max(noisy) + margin) + 1)
    logs = np.asarray(sum(measurement.log_terms(counts, part) for measurement in measurements))
    return first, np.exp(logs - logs.max())


def _measured(releases: Sequence[Release], labels: Counts) -> tuple[Measurement, ...]:
    """Return the noisy sums of the parts; refuse what does not say something about each of them by itself."""
    case = Case.of(releases)
    found = summed_measurements(case, labels)
    if found is None:
        raise DeclarationError(
            f"{case.label!r} cannot be pooled: groups are read together from noisy counts of every cell, with noise of "
            "their own, and it holds something else. Read each group by itself: posterior.rates(event, by)."
        )
    return found
