"""Many small groups read together: partial pooling from one crossed release.

The rate of an event in group g is theta_g ~ Beta(kappa mu, kappa (1 - mu)): groups resemble each other, and how much is
learnt from all of them. Let y_g of the n_g records of group g show the event. Then, z being the release,

    P(z, y, n | mu, kappa) = prod_g size_g(n_g) BetaBinomial(y_g; n_g, kappa mu, kappa (1 - mu)) A_g(y_g) B_g(n_g - y_g)

on sum n_g = n, where A_g and B_g are the likelihoods of the noisy sums of the cells with and without the event, and
size_g is the prior of the group's size: the declared one, else Dirichlet(2/K, ..., 2/K) for K groups. Counts are summed
out exactly, and the pair (mu, kappa) on two grids: a coarse one over the whole prior, then a fine one where the
posterior lies. The prior is uniform in mu and in 1/(1 + kappa).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import whole
from discreet.inference import PROBABILITY, Posterior, PosteriorSample, ReportText, Row, levels_in_words
from discreet.mathematics.distributions import Interval, Sampled
from discreet.mechanism import sized
from discreet.release import Release
from discreet.tables._groups import Sizes, groups_of, labels_of, measured_parts
from discreet.tables._model import Categories

_COARSE, _FINE = (15, 9), (17, 11)  # points of the grids over logit mu and log kappa
_RANGE = ((-6.0, 6.0), (float(np.log(0.1)), float(np.log(1e4))))
_NEAR = 12.0  # the fine grid covers all coarse points within this many nats of the best one
_DRAWS = 4000


@dataclass(frozen=True, eq=False)
class _Point:
    """One point of the grid: the pair, and what it says about the groups."""

    mu: float
    kappa: float
    log_weight: float
    sizes: Sizes


class PooledRates(Posterior[Categories]):
    """The rate of an event in each of many groups, with partial pooling: each group borrows from all others.

    `sizes(level)` are intervals for the number of records in each group; a group that may be empty has no rate of its
    own.
    """

    def __init__(
        self,
        model: Categories,
        releases: Sequence[Release[Categories]],
        event: object,
        by: str,
        sizes: Callable[[float], Sequence[Interval]],
        patience: float = 1.0,
    ) -> None:
        super().__init__(model, tuple(releases), sized(releases[0].mechanism).size)
        self.event, self.by, self._group_sizes = event, by, sizes
        points = prod(_COARSE) + prod(_FINE)
        self._groups = groups_of(releases, model, event, by, least=3, points=points, patience=patience)
        self._points = self._grid()
        weights = np.array([point.log_weight for point in self._points])
        self._shares = np.exp(weights - logsumexp(weights))

    def __repr__(self) -> str:
        return f"<rates of {self.event!r} in {len(self._groups)} groups of {self.by!r}, pooled>"

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row for the rate of each group."""
        found = []
        for name, size in zip(self.groups, self._group_sizes(level), strict=True):
            distribution, given = self.rate(name), f"{self.by}={name}"
            figures = self.mean[name], distribution.median, *distribution.interval(level), distribution.sd
            row = Row(str(self.event), given, *figures, None, PROBABILITY, distribution.monte_carlo_error)
            found.append(replace(row, records_low=size.low, records_high=size.high))
        return tuple(found)

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Return the axes: `rate` has one entry for each group."""
        return {"rate": ("group",)}

    @property
    def coords(self) -> Mapping[str, tuple[str, ...]]:
        return {"group": self.groups}

    @property
    def method(self) -> str:
        """Say that counts were summed out, and how alike the groups are on a grid."""
        return f"read with all counts summed out, on a grid of {len(self._points)} pairs of mean rate and likeness"

    @property
    def information(self) -> None:
        """Return nothing: it is not computed for pooled rates."""
        return

    @property
    def log_evidence(self) -> None:
        """Return nothing: the two grids do not make one integral."""
        return

    def facts(self, level: float = 0.9) -> dict[str, object]:
        """Return the groups' mean rate, and how alike they are."""
        return {"overall": self.overall, "likeness": self.likeness}

    @property
    def text(self) -> ReportText:
        return ReportText(
            subject="pooled rates",
            question=f"how often does {self.event} occur in each group of {self.by}?",
            columns=tuple((column.name, levels_in_words(column)) for column in self.model.columns),
            hidden="counts",
            meaning=(
                "Estimated rates, with intervals that combine the uncertainty of sampling and of the noise. Each "
                "group borrows strength from all others (partial pooling): how alike they are was learnt from all of "
                "them."
            ),
            prior="The prior of the groups' mean rate, and of how alike they are, is uniform.",
            has_holders_prior=bool(self.model == self.releases[0].mechanism.model),
        )

    @property
    def groups(self) -> tuple[str, ...]:
        """Return the names of the groups."""
        return tuple(group.name for group in self._groups)

    def keys(self) -> tuple[str, ...]:
        """Return the names of the groups."""
        return self.groups

    @cached_property
    def mean(self) -> Mapping[str, float]:
        """Return the expected rate of every group, summed exactly over counts and over the grid."""
        means = sum(share * self._means(point) for share, point in zip(self._shares, self._points, strict=True))
        return self._by_key(np.asarray(means).tolist())

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
        return Sampled(self._sampled[:, self._index(str(group))])

    @cached_property
    def _sampled(self) -> Floats:
        return self.draws(_DRAWS, seed=0)["rate"]

    def draws(self, count: int, seed: int | None = None) -> dict[str, Floats]:
        """Draw independent vectors of rates (rows of `rate`) from the joint posterior, exactly."""
        return dict(self.sample(count, seed).parameters)

    def sample(self, count: int, seed: int | None = None) -> PosteriorSample:
        """Draw the rates together with the records of every group: with the event, then without it."""
        generator = np.random.default_rng(seed)
        numbers = generator.multinomial(whole(count, "count"), self._shares / self._shares.sum())
        parts = [
            self._draw(point, int(number), generator)
            for point, number in zip(self._points, numbers, strict=True)
            if number
        ]
        order = generator.permutation(sum(len(rates) for rates, _ in parts))
        rates, hidden = (np.concatenate(each)[order] for each in zip(*parts, strict=True))
        return PosteriorSample({"rate": rates}, hidden)

    def _draw(self, point: _Point, count: int, generator: np.random.Generator) -> tuple[Floats, Counts]:
        sizes = point.sizes.counts.draw(count, generator)
        rates, hidden = np.empty(sizes.shape), np.empty((count, 2 * sizes.shape[1]), dtype=np.int64)
        for index, group in enumerate(self._groups):
            known, inverse = np.unique(sizes[:, index], return_inverse=True)
            tables = np.cumsum(point.sizes.shares_of_hits(index, known), axis=1)
            marks = generator.random(count) * tables[inverse, -1]
            drawn = group.first_y + (tables[inverse] <= marks[:, None]).sum(axis=1)
            shape = point.kappa * point.mu + drawn, point.kappa * (1 - point.mu) + sizes[:, index] - drawn
            rates[:, index] = generator.beta(*shape)
            hidden[:, 2 * index], hidden[:, 2 * index + 1] = drawn, sizes[:, index] - drawn
        return rates, hidden

    def log_likelihoods(self, sample: PosteriorSample) -> list[Floats]:
        """Return log P(noisy sums of all groups, with and without the event | their counts) of every release."""
        counts, found = sample.behind.astype(np.int64), []
        for release in self.releases:
            measured = measured_parts([release], labels_of(self.model, self.event, self.by))
            logs = [each.log_terms(counts).sum(axis=1) - each.noise.log_normaliser for each in measured]
            found.append(np.sum(logs, axis=0))
        return found

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        """Draw the table of as many further records: sizes of groups, and in each those with the event."""
        labels, groups = labels_of(self.model, self.event, self.by), self._groups
        if len(labels) != 2 * len(groups):
            raise DeclarationError(
                "pooled rates are about sums of cells, and say nothing about the single cells of a sum"
            )
        alpha = np.array([group.alpha for group in groups])
        known = 0 if sample.hidden is None else sample.behind.reshape(sample.count, -1, 2).sum(axis=2)
        shares = generator.standard_gamma(alpha + known, size=(sample.count, len(groups))) + 1e-300
        sizes = generator.multinomial(self.size, shares / shares.sum(axis=1, keepdims=True))
        hits = generator.binomial(sizes, sample.parameters["rate"])
        return np.asarray(np.stack([hits, sizes - hits], axis=2).reshape(sample.count, -1)[:, labels])

    def prior_sample(self, count: int, generator: np.random.Generator) -> PosteriorSample:
        """Draw rates from the prior: uniform in mu and in 1/(1 + kappa), between the ends of the grid."""
        (low, high), (first, last) = _RANGE
        mu = generator.uniform(1 / (1 + np.exp(-low)), 1 / (1 + np.exp(-high)), (count, 1))
        kappa = 1 / generator.uniform(1 / (1 + np.exp(last)), 1 / (1 + np.exp(first)), (count, 1)) - 1
        return PosteriorSample({"rate": generator.beta(kappa * mu, kappa * (1 - mu), (count, len(self._groups)))})

    def _means(self, point: _Point) -> Floats:
        """Return E[theta_g | mu, kappa, z] of every group."""
        means = []
        for index, group in enumerate(self._groups):
            rates = (point.kappa * point.mu + point.sizes.hits(index)) / (point.kappa + group.sizes)
            sizes, weights = point.sizes.counts.sum_of(np.array([index]))
            means.append(float(weights @ rates[sizes - group.sizes[0]]))
        return np.array(means)

    def _grid(self) -> list[_Point]:
        """Evaluate the coarse grid, then a fine one where the coarse one found weight."""
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
        sizes = Sizes(self._groups, self.size, mu, kappa)
        jacobian = np.log(mu) + np.log1p(-mu) + log_kappa - 2 * np.log1p(kappa)
        return _Point(mu, kappa, sizes.counts.log_sum + float(jacobian), sizes)
