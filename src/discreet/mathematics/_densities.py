"""Densities that are known up to a factor, as weighted points: on a grid, or by draws around the mode.

Of one or two parameters a grid along the axes of the curvature at the mode is refined until its figures hardly change,
and states what is left (`grids`). Of more, independent draws from a multivariate t distribution at the mode have the
weights target / proposal, whose largest ones are smoothed (`pareto`); where few of them count, the proposal is moved to
what they say and drawn from again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf, lgamma, log, nan, pi
from typing import Protocol

import numpy as np

from discreet._core.arrays import Floats
from discreet.mathematics._grids import FINE, Grid, GridQuantity, Marginal, Nodes
from discreet.mathematics._grouped_draws import Grouped
from discreet.mathematics._pareto import MOST_SHAPE, Smoothed, smoothed
from discreet.mathematics.distributions import WeightedDraws


class LogDensity(Protocol):
    """The logarithm of a density up to one constant, for rows of parameters."""

    def __call__(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return log densities and their derivatives."""

    def values(self, theta: Floats) -> Floats:
        """Return log densities alone."""


ON_A_GRID, BY_DRAWS = "grid", "draws"

_COARSE, _MOST_NODES = {1: 65, 2: 25}, {1: 513, 2: 97}  # nodes along each axis, at first and at most
_ENOUGH = 1e-5  # total variation between densities from all nodes and from every second: a grid is refined until then
_POINTS = {1: 2001, 2: 241}  # points along each axis that stand for the distribution when it is drawn from
_FIRST_REACH, _FALL, _WIDENED = 7.0, 22.0, 8  # in standard deviations; nats at the rim below the peak; rounds
_DEEP = 80.0  # nats below the peak at which a log density is cut off
_SMALL, _DEGREES = 8, (4.0, 7.0)  # degrees of freedom of the proposal, up to `_SMALL` dimensions and beyond
ROUNDS = 4
"""So often is a proposal moved at most."""
_GOOD_SHAPE, _GOOD_SHARE = 0.6, 0.15  # draws that need no other proposal
_STEP = 1e-4
_POLISHED, _AT_REST = 8, 1e-9  # Newton steps at the mode at most, and the length in standard deviations that ends them
_GOLDEN = 0.6180339887498949


@dataclass(frozen=True, eq=False)
class WeightedPoints:
    """Points with weights that add up to 1, and how they were found; `shape` is k-hat, NaN on a grid.

    On a grid, distributions of quantities are those of `grid`; points stand for it when it is drawn from.
    """

    points: Floats
    weights: Floats
    log_densities: Floats
    found: str
    shape: float
    log_mass: float
    log_mass_error: float
    grid: Grid | None = None

    @property
    def grouped(self) -> Grouped:
        """Return the weights for means and errors: of independent draws each is a group of its own."""
        return Grouped(self.weights, len(self.weights))

    def distributions(self, quantities: Callable[[Floats], Floats]) -> list[WeightedDraws]:
        """Return the distribution of every quantity, given as columns of a function of rows of parameters."""
        columns, grouped, grid = quantities(self.points).T, self.grouped, self.grid
        if grid is None:
            return [WeightedDraws(column, grouped) for column in columns]
        both = zip(columns, grid.values(quantities), strict=True)
        return [
            GridQuantity(column, grouped, Marginal(grid.fine, fine), Marginal(grid.rough, rough))
            for column, (fine, rough) in both
        ]


@dataclass(frozen=True, eq=False)
class Peak:
    """Where a density is largest, and a factor L of about its covariance there, L L' = (-second derivative)^-1.

    As a proposal it is a multivariate t distribution with that location and that factor.
    """

    location: Floats
    factor: Floats

    @property
    def degrees(self) -> float:
        """Return the degrees of freedom of the t distribution."""
        return _DEGREES[len(self.location) > _SMALL]

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw from the t distribution."""
        units = t_units(count, len(self.location), self.degrees, generator)
        return np.asarray(self.location + units @ self.factor.T)

    def log_density(self, points: Floats) -> Floats:
        """Return the log density of the t distribution."""
        units = np.asarray(np.linalg.solve(self.factor, (points - self.location).T).T, dtype=np.float64)
        return t_log_density(units, self.degrees) - float(np.log(np.diag(self.factor)).sum())


class ProposalDensity(Protocol):
    """A distribution to draw from, with a density that is known."""

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw rows of parameters."""

    def log_density(self, points: Floats) -> Floats:
        """Return the log density of rows."""


def t_units(count: int, dimension: int, degrees: float, generator: np.random.Generator) -> Floats:
    """Draw from the multivariate t distribution around 0 with the unit matrix as its factor."""
    units = generator.standard_normal((count, dimension))
    return np.asarray(units * np.sqrt(degrees / generator.chisquare(degrees, count))[:, None])


def t_log_density(units: Floats, degrees: float) -> Floats:
    """Return the log density of the same distribution, for rows."""
    dimension = units.shape[1]
    constant = lgamma((degrees + dimension) / 2) - lgamma(degrees / 2) - dimension / 2 * log(degrees * pi)
    return np.asarray(constant - (degrees + dimension) / 2 * np.log1p(np.square(units).sum(axis=1) / degrees))


def peak_of(target: LogDensity, starts: Sequence[Floats]) -> Peak:
    """Return the highest of the peaks that are found from some starts."""
    from scipy.optimize import minimize  # slow to import

    def falling(location: Floats) -> tuple[float, Floats]:
        (value,), (slope,) = target(location[None])
        return (1e300, np.zeros_like(location)) if not np.isfinite(value) else (-float(value), -slope)

    found = [minimize(falling, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}) for start in starts]
    best = np.asarray(min(found, key=lambda each: float(each.fun)).x)
    best = _polished(target, best)
    return Peak(best, _factor(_curvature(target, best)))


def _polished(target: LogDensity, location: Floats) -> Floats:
    """Return the mode by Newton steps with one curvature, as long as they rise.

    A search stops as soon as the density hardly rises, some 1e-4 standard deviations away, and where exactly depends on
    rounding; grids and proposals begin at the mode, and would differ between processors.
    """
    factor = _factor(_curvature(target, location))
    (height,), (slope,) = target(location[None])
    for _ in range(_POLISHED):
        step = factor.T @ slope
        after = location + factor @ step
        (reached,), (following,) = target(after[None])
        steeper = np.linalg.norm(factor.T @ following) > np.linalg.norm(step)
        if steeper or not reached >= height - 1e-9 * (1 + abs(height)):
            break
        location, height, slope = after, reached, following
        if np.linalg.norm(step) <= _AT_REST:
            break
    return location


def _curvature(target: LogDensity, location: Floats) -> Floats:
    """Return minus the second derivative, by differences of the first."""
    dimension = len(location)
    second = np.empty((dimension, dimension))
    steps = _STEP * (1 + np.abs(location))
    for axis in range(dimension):
        step = steps * (np.arange(dimension) == axis)
        _, slopes = target(np.stack([location + step, location - step]))
        second[axis] = (slopes[0] - slopes[1]) / (2 * steps[axis])
    return -(second + second.T) / 2


def _factor(curvature: Floats) -> Floats:
    """Return L with L L' the inverse of the curvature, kept positive."""
    values, vectors = np.linalg.eigh(curvature)
    values = np.maximum(values, 1e-6 * max(float(values.max()), 1e-6))
    return np.asarray(np.linalg.cholesky((vectors / values) @ vectors.T))


def on_a_grid(target: LogDensity, peak: Peak, most: float = inf) -> WeightedPoints:
    """Return a grid of one or two dimensions, wide enough that nothing is left at its rim, and fine enough.

    It is refined until its density agrees with that of every second node; at most `most` nodes are computed at a time.
    """
    dimension = len(peak.location)
    nodes = _wide(target, peak)
    while True:
        fine = [np.linspace(axis[0], axis[-1], FINE[dimension]) for axis in nodes.axes]
        grid = Grid(peak.location, peak.factor, nodes.refined(fine), nodes.halved.refined([axis[::2] for axis in fine]))
        count = 2 * len(nodes.axes[0]) - 1
        if grid.distance <= _ENOUGH or count > _MOST_NODES[dimension] or count**dimension > most:
            break
        nodes = _doubled(target, peak, nodes)
    units = _sheared([np.linspace(axis[0], axis[-1], _POINTS[dimension]) for axis in nodes.axes])
    between = nodes.between(units)
    weights = np.exp(between - between.max())
    log_mass = grid.fine.log_sum + float(np.log(np.diag(peak.factor)).sum())
    points = peak.location + units @ peak.factor.T
    return WeightedPoints(points, weights / weights.sum(), between, ON_A_GRID, nan, log_mass, 0.0, grid)


def _wide(target: LogDensity, peak: Peak) -> Nodes:
    """Return the first nodes, along axes that reach to where little is left."""
    dimension = len(peak.location)
    reaches = np.full((dimension, 2), _FIRST_REACH)
    for _ in range(_WIDENED):
        axes = tuple(np.linspace(-low, high, _COARSE[dimension]) for low, high in reaches)
        logs = _logs(target, peak, Nodes(axes, np.empty(0)).units).reshape([len(axis) for axis in axes])
        top = float(logs.max())
        wide = False
        for axis in range(dimension):
            rims = np.moveaxis(logs, axis, 0)[[0, -1]].reshape(2, -1).max(axis=1)
            widened = rims > top - _FALL
            reaches[axis][widened] *= 1.6
            wide |= bool(widened.any())
        if not wide:
            break
    return Nodes(axes, np.maximum(logs, top - _DEEP))


def _doubled(target: LogDensity, peak: Peak, nodes: Nodes) -> Nodes:
    """Return the same with a node between every two; only new ones are computed."""
    axes = tuple(np.linspace(axis[0], axis[-1], 2 * len(axis) - 1) for axis in nodes.axes)
    logs = np.full([len(axis) for axis in axes], nan)
    logs[(slice(None, None, 2),) * len(axes)] = nodes.logs
    new = np.isnan(logs)
    logs[new] = _logs(target, peak, Nodes(axes, logs).units[new.ravel()])
    return Nodes(axes, np.maximum(logs, float(logs.max()) - _DEEP))


def _logs(target: LogDensity, peak: Peak, units: Floats) -> Floats:
    """Return log densities at points in standard deviations from the mode; none where they are not known."""
    found = target.values(peak.location + units @ peak.factor.T)
    return np.where(np.isnan(found), -inf, found)


def _sheared(axes: Sequence[Floats]) -> Floats:
    """Return a grid whose rows and columns are moved by parts of a step, so that no value of a parameter comes twice.

    Else draws of one parameter would take few values.
    """
    if len(axes) == 1:
        return axes[0][:, None]
    units = Nodes(tuple(axes), np.empty(0)).units.reshape(len(axes[0]), len(axes[1]), 2)
    for location, other in ((0, 1), (1, 0)):
        step = axes[location][1] - axes[location][0]
        parts = np.arange(len(axes[other])) * _GOLDEN % 1 - 0.5
        units[..., location] += step * (parts[None, :] if location == 0 else parts[:, None])
        np.clip(units[..., location], axes[location][0], axes[location][-1], out=units[..., location])
    return units.reshape(-1, 2)


def by_draws(
    target: LogDensity, peak: ProposalDensity, count: int, worth: float, most: int, generator: np.random.Generator
) -> WeightedPoints:
    """Return weighted draws: `count` at first, twice as many until the effective sample size is reached.

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

    peak: ProposalDensity
    points: Floats
    logs: Floats
    densities: Floats
    found: Smoothed
    width: float = 1.1

    @property
    def is_good(self) -> bool:
        """Return whether the proposal can stay: its tails hold the target's, and enough draws count."""
        return self.found.shape <= _GOOD_SHAPE and self.found.effective_size >= _GOOD_SHARE * len(self.points)

    @classmethod
    def by(cls, target: LogDensity, peak: ProposalDensity, count: int, generator: np.random.Generator) -> "_Weighed":
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
        return Peak(peak.location, last.width * peak.factor)
    mean = weights @ points
    centred = points - mean
    covariance = (weights[:, None] * centred).T @ centred + 1e-6 * np.eye(points.shape[1])
    return Peak(mean, np.asarray(last.width * np.linalg.cholesky(covariance), dtype=np.float64))
