"""What a reader learns about the one parameter of a family from draws of its posterior.

A draw is no draw of the reader's own posterior: it was made with a tempered likelihood, and says about the total s of
the records what its likelihood says. The records themselves say about the parameter what the family says:

    p(theta | draws) ~ p(theta) sum_s P(s | theta) prod_draws P(cell of the draw | s).

The sum over totals is `RecordTotals`; theta is a number, so a fine grid holds the rest.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from discreet.errors import DeclarationError
from discreet.inference.posteriors.family import FamilyPosterior, ParameterGrid
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
    return FamilyPosterior(first.model, releases, law, _grid(first.model, releases, law))


def _grid(model: Any, releases: Sequence[Release], prior: Law) -> ParameterGrid:
    """Return the posterior on a grid that holds all but a negligible part of it."""
    totals = RecordTotals(model, releases[0].mechanism.size)
    kernel = _DrawKernel(releases, totals.ends)
    edges = _edges(totals, kernel, prior)
    middles = (edges[:-1] + edges[1:]) / 2
    told = totals.log_expectations(middles, kernel)
    masses = np.asarray(prior.log_mass(edges[:-1], edges[1:]))
    log_evidence = float(logsumexp(told.logs + masses))
    weights = np.exp(told.logs + masses - max(log_evidence, -1e300))
    grid = ParameterGrid(edges, masses, weights, log_evidence, float(weights @ told.totals))
    _refuse_what_is_not_sound(releases[0], totals, told, grid)
    return grid


def _refuse_what_is_not_sound(release: Release, totals: RecordTotals, told: Expectations, grid: ParameterGrid) -> None:
    """Refuse draws that no parameter explains, as far tails of sums are rounding, and rough expansions."""
    mean, spread = totals.about(grid.middles)
    deviations = float(grid.weights @ (np.abs(told.totals - mean) / spread))
    if grid.log_evidence == -inf or deviations > _CONTRADICTION:
        raise DeclarationError(
            f"What {release.label!r} says about the records contradicts the family {release.model!r}: for no "
            f"parameter is their total within {_CONTRADICTION:g} standard deviations of what it should be."
        )
    if float(grid.weights @ told.rough) > _ROUGH:
        raise DeclarationError(
            "The total of these records is neither short enough to be summed nor normal enough to be approximated: "
            "declare fewer levels or bands."
        )


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
