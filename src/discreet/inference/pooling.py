"""Many small groups read together: partial pooling from one crossed release.

The rate of an event in group g is theta_g ~ Beta(kappa mu, kappa (1 - mu)): groups resemble each other, and how much is
learnt from all of them. Let y_g of the n_g records of group g show the event. Then, z being the release,

    P(z, y, n | mu, kappa) = prod_g size_g(n_g) BetaBinomial(y_g; n_g, kappa mu, kappa (1 - mu)) A_g(y_g) B_g(n_g - y_g)

on sum n_g = n, where A_g and B_g are the likelihoods of the noisy cells with and without the event (cells of further
columns summed out under the declared prior) and size_g is the declared prior of the group's size. Counts are summed
out exactly, and the pair (mu, kappa) on a grid that is laid twice: coarsely over all of the prior, then finely where
the posterior lies. The prior is uniform in mu and in 1/(1 + kappa).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import gammaln, logsumexp

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError
from discreet.exact import whole
from discreet.inference.posteriors.account import Account, levels_in_words
from discreet.inference.posteriors.posterior import Posterior
from discreet.inference.posteriors.row import PROBABILITY, Row
from discreet.mathematics.distributions import Interval, Sampled
from discreet.models import Categories, Cell
from discreet.reading.case import Case
from discreet.reading.counts.count_sums import CellWeights
from discreet.reading.counts.latent_counts import LatentCounts
from discreet.records.columns import Level
from discreet.releases import Release

_REACHES = 25.0  # counts this many factors e away from the noisy ones are left out: e^-25 = 1e-11
_COARSE, _FINE = (15, 9), (17, 11)  # points of the grids over logit mu and log kappa
_RANGE = ((-6.0, 6.0), (float(np.log(0.1)), float(np.log(1e4))))
_NEAR = 12.0  # the fine grid covers all coarse points within this many nats of the best one
_DRAWS = 4000


@dataclass(frozen=True, eq=False)
class _Group:
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
class _Point:
    """One point of the grid: the pair, and what it says about the groups."""

    mu: float
    kappa: float
    log_weight: float
    sizes: LatentCounts
    hits: tuple[Floats, ...]  # of each group, E[y | n] for every possible n


class PooledRates(Posterior[Categories]):
    """The rate of an event in each of many groups, each group borrowing from all others."""

    subject = "pooled rates"

    def __init__(self, model: Categories, releases: Sequence[Release[Categories]], event: object, by: str) -> None:
        super().__init__(model, tuple(releases), releases[0].mechanism.size)
        self.event, self.by = event, by
        _check(releases)
        self._groups = _groups(releases, model, event, by)
        self._points = self._grid()
        weights = np.array([point.log_weight for point in self._points])
        self._shares = np.exp(weights - logsumexp(weights))

    def __repr__(self) -> str:
        return f"<rates of {self.event!r} in {len(self._groups)} groups of {self.by!r}, pooled>"

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row for the rate of each group."""
        return tuple(
            Row(
                str(self.event), f"{self.by}={name}", self.mean[name], law.median, *law.interval(level), law.sd, None,
                PROBABILITY,
            )
            for name, law in ((name, self.rate(name)) for name in self.groups)
        )  # fmt: skip

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return that `rate` has one place for each group."""
        return {"rate": ("group",)}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        """Return the names of the groups."""
        return {"group": self.groups}

    @property
    def method(self) -> str:
        """Say that counts were summed out, and how alike the groups are on a grid."""
        return f"read with all counts summed out, on a grid of {len(self._points)} pairs of mean rate and likeness"

    @property
    def information(self) -> None:
        """Return nothing: it is not worked out for rates that borrow from each other."""
        return

    @property
    def log_evidence(self) -> None:
        """Return nothing: the two grids are not one integral."""
        return

    def facts(self, level: float = 0.9) -> dict[str, object]:
        """Return the groups' mean rate, and how alike they are."""
        return {"overall": self.overall, "likeness": self.likeness}

    def account(self) -> Account:
        """Return the question and the prior in words."""
        return Account(
            question=f"how often does {self.event} occur in each group of {self.by}?",
            columns=tuple((column.name, levels_in_words(column)) for column in self.model.columns),
            hidden="counts",
            meaning="Estimated rates, and intervals that hold the uncertainty of sampling and of the noise together. "
            "Each group borrows from all others: they were taken to be alike, and how much was learnt from all.",
            prior="The prior of the groups' mean rate and of their likeness is uniform.",
        )

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the names of the groups."""
        return tuple(group.name for group in self._groups)

    @cached_property
    def mean(self) -> dict[str, float]:
        """Return the expected rate of every group, summed exactly over counts and over the grid."""
        means = sum(share * self._means(point) for share, point in zip(self._shares, self._points, strict=True))
        return {name: float(value) for name, value in zip(self.groups, np.asarray(means), strict=True)}

    @property
    def overall(self) -> float:
        """Return the expected mean rate mu of the groups."""
        return float(sum(share * point.mu for share, point in zip(self._shares, self._points, strict=True)))

    @property
    def likeness(self) -> float:
        """Return the expected 1 - 1/(1 + kappa): 0 if groups have nothing in common, 1 if all rates are equal."""
        pairs = zip(self._shares, self._points, strict=True)
        return float(sum(share * point.kappa / (1 + point.kappa) for share, point in pairs))

    def rate(self, group: object) -> Sampled:
        """Return the distribution of one group's rate, by exact draws."""
        return Sampled(self._sampled[:, self._place(group)])

    def interval(self, level: float = 0.9) -> dict[str, Interval]:
        """Return the equal-tailed interval of every group's rate, by exact draws."""
        return {
            name: Sampled(column).interval(level) for name, column in zip(self.groups, self._sampled.T, strict=True)
        }

    def chance_that_greater(self, first: object, second: object) -> float:
        """Return the probability that one group's rate is greater than another's."""
        one, two = self._sampled[:, self._place(first)], self._sampled[:, self._place(second)]
        return float((one > two).mean())

    def _place(self, group: object) -> int:
        if str(group) not in self.groups:
            raise DeclarationError(f"{group!r} is none of the groups {', '.join(self.groups)}.")
        return self.groups.index(str(group))

    @cached_property
    def _sampled(self) -> Floats:
        return self.draws(_DRAWS, seed=0)["rate"]

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw independent vectors of rates (rows of `rate`) from the joint posterior, exactly."""
        generator = np.random.default_rng(seed)
        numbers = generator.multinomial(whole(count, "count"), self._shares / self._shares.sum())
        parts = [
            self._draw(point, int(number), generator)
            for point, number in zip(self._points, numbers, strict=True)
            if number
        ]
        return {"rate": np.asarray(generator.permutation(np.concatenate(parts)))}

    def _draw(self, point: _Point, count: int, generator: np.random.Generator) -> Floats:
        sizes = point.sizes.draw(count, generator)
        rates = np.empty(sizes.shape)
        chances = _BetaBinomials(self._groups, point.mu, point.kappa)
        for place, group in enumerate(self._groups):
            joint = np.pad(group.joint(chances.of(group)[0]), ((0, 0), (0, len(group.with_event))))
            known, inverse = np.unique(sizes[:, place], return_inverse=True)
            hits = np.arange(len(group.with_event))
            rest = known[:, None] - group.first_y - hits - group.first_w  # a negative rest ends in the padding
            tables = np.cumsum(joint[hits, np.where(rest >= 0, np.minimum(rest, joint.shape[1] - 1), -1)], axis=1)
            marks = generator.random(count) * tables[inverse, -1]
            drawn = group.first_y + (tables[inverse] <= marks[:, None]).sum(axis=1)
            shape = point.kappa * point.mu + drawn, point.kappa * (1 - point.mu) + sizes[:, place] - drawn
            rates[:, place] = generator.beta(*shape)
        return rates

    def _means(self, point: _Point) -> Floats:
        """Return E[theta_g | mu, kappa, z] of every group."""
        means = []
        for place, (group, hits) in enumerate(zip(self._groups, point.hits, strict=True)):
            rates = (point.kappa * point.mu + hits) / (point.kappa + group.sizes)
            sizes, weights = point.sizes.sum_of(np.array([place]))
            means.append(float(weights @ rates[sizes - group.sizes[0]]))
        return np.array(means)

    def _grid(self) -> list[_Point]:
        """Lay the coarse grid, then the fine one where the coarse one found weight."""
        coarse = [np.linspace(low, high, number) for (low, high), number in zip(_RANGE, _COARSE, strict=True)]
        weights = np.array([[self._point(u, v).log_weight for v in coarse[1]] for u in coarse[0]])
        near = np.argwhere(weights > weights.max() - _NEAR)
        fine = []
        for axis, (points, number) in enumerate(zip(coarse, _FINE, strict=True)):
            first, last = max(near[:, axis].min() - 1, 0), min(near[:, axis].max() + 1, len(points) - 1)
            edges = np.linspace(points[first], points[last], number + 1)
            fine.append((edges[1:] + edges[:-1]) / 2)
        return [self._point(u, v) for u in fine[0] for v in fine[1]]

    def _point(self, logit: float, log_kappa: float) -> _Point:
        mu, kappa = float(1 / (1 + np.exp(-logit))), float(np.exp(log_kappa))
        chances = _BetaBinomials(self._groups, mu, kappa)
        starts = np.array([group.sizes[0] for group in self._groups])
        lengths = np.array([len(group.sizes) for group in self._groups])
        table, hits = np.full((len(starts), int(lengths.max())), -np.inf), []
        for row, group in zip(table, self._groups, strict=True):
            table_of_group, peak = chances.of(group)
            law, expected = _law_of_size(group, table_of_group)
            row[: len(law)] = law + peak
            hits.append(expected)

        def log_weight(places: Counts, counts: Counts) -> Floats:
            steps = counts - starts[places]
            inside = (steps >= 0) & (steps < lengths[places])
            return np.where(inside, table[places, np.where(inside, steps, 0)], -np.inf)

        weights = CellWeights(np.ones(len(starts)), log_weight)
        sizes = LatentCounts(weights, starts, starts + lengths - 1, 0.0, self.size)
        jacobian = np.log(mu) + np.log1p(-mu) + log_kappa - 2 * np.log1p(kappa)
        return _Point(mu, kappa, sizes.log_sum + float(jacobian), sizes, tuple(hits))


class _BetaBinomials:
    """Beta-binomial probabilities at one pair (mu, kappa), computed once for all groups whose windows begin alike."""

    def __init__(self, groups: Sequence[_Group], mu: float, kappa: float) -> None:
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
        logs = _log_ways(hits, kappa * mu)[:, None] + _log_ways(rest, kappa * (1 - mu))
        logs = logs - _log_ways(sizes, kappa)[_diagonals(*lengths)]
        peak = float(logs.max())
        return np.exp(logs - peak), peak

    def of(self, group: _Group) -> tuple[Floats, float]:
        """Return a table that begins at a group's first y and w; it may be larger than the group needs."""
        return self._tables[group.first_y, group.first_w]


@lru_cache(maxsize=256)
def _diagonals(rows: int, columns: int) -> Counts:
    return np.arange(rows)[:, None] + np.arange(columns)


def _law_of_size(group: _Group, chances: Floats) -> tuple[Floats, Floats]:
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


def _groups(releases: Sequence[Release], model: Categories, event: object, by: str) -> list[_Group]:
    column = next((column for column in model.columns if column.name == by), None)
    if column is None:
        raise DeclarationError(f"The release has no column {by!r}; its columns are {[c.name for c in model.columns]}.")
    if len(column.levels) < 3:
        raise DeclarationError(f"{by!r} has {len(column.levels)} levels; pooling needs at least three groups.")
    inside = model.places(event)
    groups = []
    for level in column.levels:
        cells = np.array([i for i, cell in enumerate(model.cells) if cell_level(model, cell, by) == level])
        hits, rest = np.intersect1d(cells, inside), np.setdiff1d(cells, inside)
        if not hits.size or not rest.size:
            raise DeclarationError(f"{event!r} must be neither certain nor impossible in {by}={level}.")
        first_y, with_event = _likelihood(releases, model, hits)
        first_w, without = _likelihood(releases, model, rest)
        alpha = float(model.concentration[cells].sum())
        groups.append(_Group(str(level), alpha, first_y, first_w, with_event, without))
    return groups


def cell_level(model: Categories, cell: Cell, by: str) -> Level:
    """Return the level that one column has in a cell."""
    place = [column.name for column in model.columns].index(by)
    return cell[place] if isinstance(cell, tuple) else cell


def _likelihood(releases: Sequence[Release], model: Categories, cells: Counts) -> tuple[int, Floats]:
    """Return the first possible sum of some cells' counts and the likelihood of each sum, splits summed out.

    Given their sum, the cells' counts are Dirichlet-multinomial under the declared prior.
    """
    size, first, total = releases[0].mechanism.size, 0, np.ones(1)
    alpha = model.concentration
    for cell in cells:
        start, logs = _cell(releases, int(cell), size)
        counts = start + np.arange(len(logs))
        weights = np.exp(logs - logs.max() + (_log_ways(counts, float(alpha[cell])) if len(cells) > 1 else 0.0))
        first, total = first + start, np.convolve(total, weights)
    if len(cells) > 1:
        total = total / np.exp(_log_ways(first + np.arange(len(total)), float(alpha[cells].sum())))
    kept = first + np.arange(len(total)) <= size
    return first, np.asarray(total[kept] / total[kept].max())


def _cell(releases: Sequence[Release], cell: int, size: int) -> tuple[int, Floats]:
    """Return the first count of a cell's window and the log likelihood of each count in it."""
    measurements = Case.of(releases).measurements
    noisy = [int(measurement.values[cell]) for measurement in measurements]
    margin = int(np.ceil(_REACHES * max(float(measurement.noise.reach[cell]) for measurement in measurements))) + 1
    first = min(max(0, min(noisy) - margin), size)
    last = max(min(size, max(noisy) + margin), first)
    counts = np.arange(first, last + 1)
    return first, np.asarray(sum(measurement.log_terms(counts, cell) for measurement in measurements))


def _check(releases: Sequence[Release]) -> None:
    """Refuse what does not say something about each cell by itself."""
    case = Case.of(releases)
    cells = len(case.model.cells)
    whole_tables = [m.noise.is_product and m.of.single_cells is not None for m in case.measurements]
    if not case.is_measured or not all(whole_tables) or any(m.of.length < cells for m in case.measurements):
        raise DeclarationError(
            f"{case.label!r} cannot be pooled: groups are read together from noisy counts of every cell, with noise of "
            "their own, and it holds something else. Read each group by itself: posterior.rates(event, by)."
        )
