"""Densities that are known up to a factor, as weighted points: on a grid, or by draws around the mode.

Of one or two parameters a grid along the axes of the curvature at the mode, with a spline between its points, is exact
to four digits or more. Of more, independent draws from a multivariate t law at the mode have the weights target /
proposal, whose largest ones are smoothed (`pareto`); where few of them count, the proposal is moved to what they say
and drawn from again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lgamma, log, nan, pi
from typing import Protocol

import numpy as np

from discreet.arrays import Floats
from discreet.mathematics.groups import Grouped
from discreet.mathematics.pareto import MOST_SHAPE, Smoothed, smoothed


class LogDensity(Protocol):
    """The logarithm of a density up to one constant, for rows of parameters."""

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return log densities and their derivatives."""

    def values(self, theta: Floats) -> Floats:
        """Return log densities alone."""


ON_A_GRID, BY_DRAWS = "grid", "draws"

_COARSE, _FINE = {1: 65, 2: 25}, {1: 2001, 2: 241}  # points along each axis, before and after the spline
_FIRST_REACH, _FALL, _WIDENED = 7.0, 22.0, 8  # in standard deviations; nats at the rim below the peak; rounds
_SMALL, _DEGREES = 8, (4.0, 7.0)  # degrees of freedom of the proposal, up to so many dimensions and beyond
ROUNDS = 4
"""So often is a proposal moved at most."""
_GOOD_SHAPE, _GOOD_SHARE = 0.6, 0.15  # draws that need no other proposal
_STEP = 1e-4
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """Points with weights that add up to 1, and how they were found; `shape` is k-hat, NaN on a grid."""

    points: Floats
    weights: Floats
    log_densities: Floats
    found: str
    shape: float
    log_mass: float
    log_mass_error: float

    @property
    def grouped(self) -> Grouped:
        """Return the weights for means and errors: of independent draws each is a group of its own."""
        return Grouped(self.weights, len(self.weights))


@dataclass(frozen=True, eq=False)
class Peak:
    """Where a density is largest, and a factor L of about its covariance there, L L' = (-second derivative)^-1.

    As a proposal it is a multivariate t law with that place and that factor.
    """

    place: Floats
    factor: Floats

    @property
    def degrees(self) -> float:
        """Return the degrees of freedom of the t law."""
        return _DEGREES[len(self.place) > _SMALL]

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw from the t law."""
        units = t_units(count, len(self.place), self.degrees, generator)
        return np.asarray(self.place + units @ self.factor.T)

    def log_density(self, points: Floats) -> Floats:
        """Return the log density of the t law."""
        units = np.asarray(np.linalg.solve(self.factor, (points - self.place).T).T, dtype=np.float64)
        return t_log_density(units, self.degrees) - float(np.log(np.diag(self.factor)).sum())


class Proposal(Protocol):
    """A law to draw from, with a density that is known."""

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw rows of parameters."""

    def log_density(self, points: Floats) -> Floats:
        """Return the log density of rows."""


def t_units(count: int, dimension: int, degrees: float, generator: np.random.Generator) -> Floats:
    """Draw from the multivariate t law around 0 with the unit matrix as its factor."""
    units = generator.standard_normal((count, dimension))
    return np.asarray(units * np.sqrt(degrees / generator.chisquare(degrees, count))[:, None])


def t_log_density(units: Floats, degrees: float) -> Floats:
    """Return the log density of the same law, for rows."""
    dimension = units.shape[1]
    constant = lgamma((degrees + dimension) / 2) - lgamma(degrees / 2) - dimension / 2 * log(degrees * pi)
    return np.asarray(constant - (degrees + dimension) / 2 * np.log1p(np.square(units).sum(axis=1) / degrees))


def peak_of(target: LogDensity, starts: Sequence[Floats]) -> Peak:
    """Return the highest of the peaks that are found from some starts."""
    from scipy.optimize import minimize  # slow to import

    def falling(place: Floats) -> tuple[float, Floats]:
        (value,), (slope,) = target(place[None])
        return (1e300, np.zeros_like(place)) if not np.isfinite(value) else (-float(value), -slope)

    found = [minimize(falling, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}) for start in starts]
    best = np.asarray(min(found, key=lambda each: float(each.fun)).x)
    dimension = len(best)
    second = np.empty((dimension, dimension))
    steps = _STEP * (1 + np.abs(best))
    for place in range(dimension):
        step = steps * (np.arange(dimension) == place)
        _, slopes = target(np.stack([best + step, best - step]))
        second[place] = (slopes[0] - slopes[1]) / (2 * steps[place])
    values, vectors = np.linalg.eigh(-(second + second.T) / 2)
    values = np.maximum(values, 1e-6 * max(float(values.max()), 1e-6))
    return Peak(best, np.linalg.cholesky((vectors / values) @ vectors.T))


def on_a_grid(target: LogDensity, peak: Peak) -> WeightedPoints:
    """Return a grid of one or two dimensions, wide enough that nothing is left at its rim."""
    dimension = len(peak.place)
    reaches = np.full((dimension, 2), _FIRST_REACH)
    for _ in range(_WIDENED):
        axes = [np.linspace(-low, high, _COARSE[dimension]) for low, high in reaches]
        logs = target.values(_placed(peak, axes)).reshape([len(axis) for axis in axes])
        top = float(logs.max())
        wide = False
        for axis in range(dimension):
            rims = np.moveaxis(logs, axis, 0)[[0, -1]].reshape(2, -1).max(axis=1)
            widened = rims > top - _FALL
            reaches[axis][widened] *= 1.6
            wide |= bool(widened.any())
        if not wide:
            break
    logs = np.maximum(np.where(np.isnan(logs), -np.inf, logs), top - 80.0)
    fine = [np.linspace(axis[0], axis[-1], _FINE[dimension]) for axis in axes]
    units = _units(fine) if dimension == 1 else _sheared(fine)
    between = _between(axes, logs, units)
    weights = np.exp(between - between.max())
    step = float(np.prod([axis[1] - axis[0] for axis in fine])) * abs(float(np.linalg.det(peak.factor)))
    log_mass = float(between.max()) + log(float(weights.sum()) * step)
    points = peak.place + units @ peak.factor.T
    return WeightedPoints(points, weights / weights.sum(), between, ON_A_GRID, nan, log_mass, 0.0)


def _placed(peak: Peak, axes: Sequence[Floats]) -> Floats:
    """Return the points of a grid along the axes of the curvature, the first axis slowest."""
    return np.asarray(peak.place + _units(axes) @ peak.factor.T)


def _units(axes: Sequence[Floats]) -> Floats:
    return np.stack([each.ravel() for each in np.meshgrid(*axes, indexing="ij")], axis=1)


def _sheared(axes: Sequence[Floats]) -> Floats:
    """Return a grid whose rows and columns are moved by parts of a step, so that no value of a parameter comes twice.

    Else the law of one parameter would be a staircase with steps as high as 2 %.
    """
    units = _units(axes).reshape(len(axes[0]), len(axes[1]), 2)
    for place, other in ((0, 1), (1, 0)):
        step = axes[place][1] - axes[place][0]
        parts = np.arange(len(axes[other])) * _GOLDEN % 1 - 0.5
        units[..., place] += step * (parts[None, :] if place == 0 else parts[:, None])
        np.clip(units[..., place], axes[place][0], axes[place][-1], out=units[..., place])
    return units.reshape(-1, 2)


def _between(axes: Sequence[Floats], logs: Floats, units: Floats) -> Floats:
    from scipy.interpolate import CubicSpline, RectBivariateSpline  # which take long to load

    if len(axes) == 1:
        return np.asarray(CubicSpline(axes[0], logs)(units[:, 0]))
    return np.asarray(RectBivariateSpline(axes[0], axes[1], logs, s=0).ev(units[:, 0], units[:, 1]))


def by_draws(
    target: LogDensity, peak: Proposal, count: int, worth: float, most: int, generator: np.random.Generator
) -> WeightedPoints:
    """Return weighted draws: `count` at first, twice as many until they are worth so many independent ones.

    While few of them count, or a few count too much, the proposal is moved to the mean and the covariance that they
    give, and drawn from again, up to `ROUNDS` times. At most `most` draws are made, those that are not kept included.
    """
    best, made = _Weighed.by(target, peak, count, generator), count
    for turn in range(ROUNDS + 1):
        stays = best.is_good or turn == ROUNDS
        while stays and best.found.shape <= MOST_SHAPE and best.found.effective_size < worth:
            if made + len(best.points) > most:
                break
            made += len(best.points)
            best = best.together(_Weighed.by(target, best.peak, len(best.points), generator))
        if best.is_good or turn == ROUNDS or made + count > most:
            break
        made += count
        other = _Weighed.by(target, _moved(best), count, generator)
        best = other if other.is_good or other.found.effective_size > best.found.effective_size else best.widened()
    found = best.found
    return WeightedPoints(
        best.points, found.weights, best.densities, BY_DRAWS, found.shape, found.log_mean, found.log_mean_error
    )


@dataclass(frozen=True, eq=False)
class _Weighed:
    """Draws of a proposal, and their weights; `width` says how much wider it is made if it has to be moved."""

    peak: Proposal
    points: Floats
    logs: Floats
    densities: Floats
    found: Smoothed
    width: float = 1.1

    @property
    def is_good(self) -> bool:
        """Tell whether the proposal can stay: its tails hold the target's, and enough draws count."""
        return self.found.shape <= _GOOD_SHAPE and self.found.effective_size >= _GOOD_SHARE * len(self.points)

    @classmethod
    def by(cls, target: LogDensity, peak: Proposal, count: int, generator: np.random.Generator) -> "_Weighed":
        """Draw from a proposal."""
        points = peak.draw(count, generator)
        densities = target.values(points)
        finite = np.isfinite(densities)
        logs = np.where(finite, np.where(finite, densities, 0.0) - peak.log_density(points), -np.inf)
        return cls(peak, points, logs, densities, smoothed(logs))

    def together(self, other: "_Weighed") -> "_Weighed":
        """Return the draws of both, which are from the same proposal."""
        logs = np.concatenate([self.logs, other.logs])
        points, densities = (
            np.concatenate(each) for each in ((self.points, other.points), (self.densities, other.densities))
        )
        return _Weighed(self.peak, points, logs, densities, smoothed(logs))

    def widened(self) -> "_Weighed":
        """Return the same, to be moved to something wider the next time."""
        return replace(self, width=1.3 * self.width)


def _moved(last: _Weighed) -> Peak:
    """Return a proposal with the mean and about the covariance of weighted draws."""
    weights, points, peak = last.found.weights, last.points, last.peak
    if isinstance(peak, Peak) and last.found.effective_size < 3 * points.shape[1]:
        return Peak(peak.place, last.width * peak.factor)
    mean = weights @ points
    centred = points - mean
    covariance = (weights[:, None] * centred).T @ centred + 1e-6 * np.eye(points.shape[1])
    return Peak(mean, np.asarray(last.width * np.linalg.cholesky(covariance), dtype=np.float64))
