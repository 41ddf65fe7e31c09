"""What a reader learns about the one parameter of a family from draws of its posterior.

A draw is no draw of the reader's own posterior: it was made with a tempered likelihood, and says about the total s of
the records what its likelihood says. The records themselves say about the parameter what the family says:

    p(theta | draws) ~ p(theta) sum_s P(s | theta) prod_draws P(cell of the draw | s).

The sum over totals is `RecordTotals`; theta is a number, so a fine grid holds the rest.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp

from discreet.distributions import Interval
from discreet.distributions.interval import tails
from discreet.errors import DeclarationError
from discreet.exact import whole
from discreet.inference.record_totals import Expectations, RecordTotals
from discreet.mechanisms.posterior_sampling import PosteriorSampling
from discreet.models.bounded_family import Law, ReadableFamily
from discreet.releases import Release

Floats = NDArray[np.float64]

_CELLS = 600
_KNOTS = 4_001
_SEARCHED = 65
_ROUNDS = 60
_CONTRADICTION = 7.0
_ROUGH = 1e-4  # how much of a posterior may rest on rough expansions
_FAR = 45.0  # nats below the peak: e^-45 of the largest density
_LAWS = ("support", "log_mass", "guess", "log_density")


class FamilyPosterior:
    """What a reader knows about the parameter of a family, with the noise of the draws accounted for."""

    def __init__(self, model: Any, releases: Sequence[Release], prior: Law) -> None:
        self.model, self.releases, self.prior = model, tuple(releases), prior
        self.size = releases[0].mechanism.size
        self._totals = RecordTotals(model, self.size)
        kernel = _DrawKernel(releases, self._totals.ends)
        self._edges = _edges(self._totals, kernel, prior)
        middles = (self._edges[:-1] + self._edges[1:]) / 2
        told = self._totals.log_expectations(middles, kernel)
        masses = np.asarray(prior.log_mass(self._edges[:-1], self._edges[1:]))
        self.log_evidence = float(logsumexp(told.logs + masses))
        self._weights = np.exp(told.logs + masses - max(self.log_evidence, -1e300))
        self._middles, self._masses, self._mean_total = middles, masses, float(self._weights @ told.totals)
        self._refuse_what_is_not_sound(told)

    def _refuse_what_is_not_sound(self, told: Expectations) -> None:
        """Refuse draws that no parameter explains, as far tails of sums are rounding, and rough expansions."""
        mean, spread = self._totals.about(self._middles)
        deviations = float(self._weights @ (np.abs(told.totals - mean) / spread))
        if self.log_evidence == -inf or deviations > _CONTRADICTION:
            raise DeclarationError(
                f"What {self.releases[0].label!r} says about the records contradicts the family {self.model!r}: for no "
                f"parameter is their total within {_CONTRADICTION:g} standard deviations of what it should be."
            )
        if float(self._weights @ told.rough) > _ROUGH:
            raise DeclarationError(
                "The total of these records is neither short enough to be summed nor normal enough to be approximated: "
                "declare fewer levels or bands."
            )

    def __repr__(self) -> str:
        return f"<posterior of the parameter of {self.model!r} given {self.releases[0].label!r}>"

    def __str__(self) -> str:
        low, high = self.interval(0.9)
        heads = f"{'parameter':<24}{'mean':>10}   90 % interval          due to privacy"
        name = f"{type(self.model).__name__} {self.model.column.name}"
        return f"{heads}\n{name:<24}{self.mean:>10.4g}   {low:.4g} to {high:.4g}{self.privacy_share(0.9):>17.0%}"

    @property
    def mean(self) -> float:
        """Return the expected parameter."""
        return float(self._weights @ self._middles)

    @property
    def sd(self) -> float:
        """Return the standard deviation of the parameter."""
        return float(np.sqrt(self._weights @ (self._middles - self.mean) ** 2))

    @cached_property
    def _cumulative(self) -> Floats:
        return np.asarray(np.append(0.0, np.cumsum(self._weights)) / self._weights.sum())

    def cdf(self, values: ArrayLike) -> Any:
        """Return P(parameter <= value)."""
        found = np.interp(np.asarray(values, dtype=float), self._edges, self._cumulative)
        return float(found) if found.ndim == 0 else found

    def quantile(self, probability: ArrayLike) -> Any:
        """Return the value below which the parameter lies with a probability."""
        asked = np.asarray(probability, dtype=float)
        if not ((asked >= 0) & (asked <= 1)).all():
            raise DeclarationError("A probability lies between 0 and 1.")
        found = np.interp(asked, self._cumulative, self._edges)
        return float(found) if found.ndim == 0 else found

    def interval(self, level: float = 0.9) -> Interval:
        """Return the equal-tailed interval of this probability: sampling and privacy together."""
        low, high = self.quantile(tails(level))
        return Interval(float(low), float(high))

    def density(self, values: ArrayLike) -> Any:
        """Return the density of the parameter, 0 where it is negligible."""
        heights = self._weights / np.diff(self._edges)
        found = np.interp(np.asarray(values, dtype=float), self._middles, heights, left=0.0, right=0.0)
        return float(found) if found.ndim == 0 else found

    def draws(self, count: int, seed: int = 0) -> Floats:
        """Return independent draws of the parameter from the reader's posterior."""
        generator = np.random.default_rng(seed)
        return np.asarray(self.quantile(generator.random(whole(count, "count", most=10**8))))

    @property
    def predictive_mean(self) -> float:
        """Return the expected value of one further record, as it would be counted: clipped, or in a band."""
        values = np.array([float(value) for value in self.model.values])
        return float(self._weights @ (self.model.level_probabilities(self._middles) @ values))

    @property
    def information(self) -> float:
        """Return what the draws told, in nats: the Kullback-Leibler divergence of the posterior from the prior."""
        kept = self._weights > 0
        return float(self._weights[kept] @ (np.log(self._weights[kept]) - self._masses[kept]))

    def privacy_share(self, level: float = 0.9) -> float:
        """Return the share of the interval's width that is due to privacy: what the exact total would save."""
        low, high = tails(level)
        known: Law = self.model.posterior_given_total(Fraction(self._mean_total).limit_denominator(10**6), self.size)
        return max(0.0, 1 - (known.guess(high) - known.guess(low)) / self.interval(level).width)


def read_family(releases: Sequence[Release], prior: Any = None) -> FamilyPosterior:
    """Return the posterior of a family's parameter given draws; `prior` is the reader's own law, such as GammaLaw."""
    first = releases[0]
    if not isinstance(first.model, ReadableFamily):
        raise DeclarationError(
            f"Draws for a {type(first.model).__name__} are not read by infer: the family does not say how likely its "
            "levels are (level_probabilities) and what is drawn given a total (posterior_given_total, draw_log_mass)."
        )
    for other in releases:
        same = (other.model.column, other.model.values, other.mechanism.size) == (
            first.model.column, first.model.values, first.mechanism.size,
        )  # fmt: skip
        if not isinstance(other.mechanism, PosteriorSampling) or type(other.model) is not type(first.model) or not same:
            raise DeclarationError("The releases do not draw from posteriors of the same records.")
    law = first.model.posterior_given_total(Fraction(0), 0) if prior is None else prior
    if not all(hasattr(law, name) for name in _LAWS):
        raise DeclarationError("The prior of a family's parameter is a law, such as GammaLaw or NormalLaw.")
    return FamilyPosterior(first.model, releases, law)


class _DrawKernel:
    """log prod P(cell of the draw | total), a spline over the totals that count; -infinity elsewhere."""

    def __init__(self, releases: Sequence[Release], ends: tuple[float, float]) -> None:
        from scipy.interpolate import CubicSpline

        self._releases, (low, high) = releases, ends
        for _ in range(_ROUNDS):
            self.totals = np.linspace(low, high, _KNOTS)
            self.logs = self._exact(self.totals)
            inside = np.flatnonzero(self.logs > self.logs.max() - 4 * _FAR)
            if len(inside) > _KNOTS // 4:
                break
            low, high = self.totals[max(inside[0] - 1, 0)], self.totals[min(inside[-1] + 1, _KNOTS - 1)]
        self._spline = CubicSpline(self.totals, self.logs)

    def _exact(self, totals: Floats) -> Floats:
        logs = np.zeros(len(totals))
        for release in self._releases:
            mechanism: Any = release.mechanism
            unit = 2.0**-mechanism.grid_bits
            for cell in release.output:
                ends = cell * unit, (cell + 1) * unit
                logs += mechanism.model.draw_log_mass(totals, mechanism.size, float(mechanism.power), ends)
        return np.maximum(logs, -1e9)

    def __call__(self, totals: Floats) -> Floats:
        inside = (totals >= self.totals[0]) & (totals <= self.totals[-1])
        return np.where(inside, self._spline(totals), -np.inf)

    def smoothed(self, mean: Floats, spread: Floats) -> Floats:
        """Return log E g(total) for totals that are normal, and no narrower than the knots."""
        wide = np.maximum(spread, self.totals[1] - self.totals[0])
        squares = ((self.totals - mean[:, None]) / wide[:, None]) ** 2
        return np.asarray(logsumexp(self.logs - squares / 2, axis=1) - np.log(wide))


def _edges(totals: RecordTotals, kernel: _DrawKernel, prior: Law) -> Floats:
    """Return the edges of a grid of parameters that holds all but a negligible part of the posterior.

    Found with a normal approximation of the total, which has no noise of its own far away from the peak.
    """
    on_half_line = prior.support[0] is not None
    lows, highs = (prior.guess(p) for p in (1e-15, 1 - 1e-15))
    low, high = (np.log(max(lows, 1e-200)), np.log(highs)) if on_half_line else (lows, highs)

    def scaled(places: Floats) -> Floats:
        return np.exp(places) if on_half_line else places

    for _ in range(_ROUNDS):
        edges = np.linspace(low, high, _SEARCHED + 1)
        logs = np.asarray(prior.log_mass(scaled(edges[:-1]), scaled(edges[1:])))
        found = logs + kernel.smoothed(*totals.about(scaled((edges[:-1] + edges[1:]) / 2)))
        inside = np.flatnonzero(found > found.max() - _FAR)
        if len(inside) > _SEARCHED // 3:
            break
        low, high = edges[max(inside[0] - 1, 0)], edges[min(inside[-1] + 2, _SEARCHED)]
    return np.asarray(scaled(np.linspace(low, high, _CELLS + 1)))
