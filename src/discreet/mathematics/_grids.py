"""Densities of one or two parameters on a grid, and the distribution of a quantity there with an estimate of its error.

A smooth density that vanishes at the rim of a grid is summed over the nodes with an error that falls exponentially in
the number of nodes, so means are sums over nodes. The distribution function of a quantity q that rises along an axis v
of the grid is, with u the other axis,

    F(x) = integral C_u(v_u(x)) du,    C_u(v) = integral_(w <= v) p(u, w) dw,    q(u, v_u(x)) = x:

a cumulative integral along every line of the grid up to where q crosses x, summed over the lines. Both are smooth, so
no step of the grid shows. Between the nodes at which the density was computed its logarithm is a spline of degree five.

The same figures from every second node alone say how far the grid can be trusted: as the spline's error falls by a
factor of up to 64 with each halving of the step, the difference between the two is an estimate, on the safe side, of
the error of the better one. It is an estimate, not a proof. What lies beyond the rim is estimated by a geometric series
from the last two lines of nodes, and added.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet._core.arrays import Floats
from discreet.mathematics._roots import root
from discreet.mathematics.distributions import WeightedDraws, tails

_DEGREE = 5  # of the spline of a log density
_RIMS = 24  # widths of a rim that an axis has
FINE = {1: 2001, 2: 481}
"""Nodes along each axis at which the spline is evaluated."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """A density at the nodes of a grid: positions along each axis, and log densities up to one constant."""

    axes: tuple[Floats, ...]
    logs: Floats

    @cached_property
    def _spline(self) -> Any:
        from scipy.interpolate import RectBivariateSpline, make_interp_spline  # which take long to load

        if len(self.axes) == 1:
            return make_interp_spline(self.axes[0], self.logs, k=_DEGREE)
        one, two = self.axes
        return RectBivariateSpline(one, two, self.logs, s=0, kx=_DEGREE, ky=_DEGREE)

    def refined(self, axes: Sequence[Floats]) -> "Nodes":
        """Return the spline through these nodes at the nodes of other axes."""
        return Nodes(tuple(axes), np.asarray(self._spline(*axes)))

    def between(self, units: Floats) -> Floats:
        """Return the spline at single positions, one row each."""
        found = self._spline(units[:, 0]) if len(self.axes) == 1 else self._spline.ev(units[:, 0], units[:, 1])
        return np.asarray(found)

    @property
    def halved(self) -> "Nodes":
        """Return every second node along every axis."""
        every = slice(None, None, 2)
        return Nodes(tuple(axis[every] for axis in self.axes), self.logs[(every,) * len(self.axes)])

    @cached_property
    def weights(self) -> Floats:
        """Return the probability that each node stands for."""
        found = np.exp(self.logs - self.logs.max())
        return np.asarray(found / found.sum())

    @property
    def log_sum(self) -> float:
        """Return the logarithm of the integral over the axes."""
        steps = [axis[1] - axis[0] for axis in self.axes]
        most = float(self.logs.max())
        return most + float(np.log(np.exp(self.logs - most).sum() * np.prod(steps)))

    @property
    def units(self) -> Floats:
        """Return the positions of all nodes, one row each, the first axis slowest."""
        return np.stack([each.ravel() for each in np.meshgrid(*self.axes, indexing="ij")], axis=1)


@dataclass(frozen=True, eq=False)
class Grid:
    """A density at theta = location + L u, L the factor, on a grid of u: from all nodes, and from every second one."""

    location: Floats
    factor: Floats
    fine: Nodes
    rough: Nodes

    @property
    def distance(self) -> float:
        """Return the total variation between the densities from all nodes and from every second one."""
        return float(np.abs(self.fine.halved.weights - self.rough.weights).sum() / 2)

    def values(self, quantities: Callable[[Floats], Floats]) -> list[tuple[Floats, Floats]]:
        """Return every quantity, given as columns of a function of rows of parameters, at the nodes of both grids."""
        found = []
        for nodes in (self.fine, self.rough):
            table = quantities(self.location + nodes.units @ self.factor.T)
            found.append([column.reshape(nodes.logs.shape) for column in table.T])
        return list(zip(*found, strict=True))


@dataclass(frozen=True, eq=False)
class Marginal:
    """The distribution of one quantity on a grid, given its value at every node."""

    nodes: Nodes
    values: Floats

    @cached_property
    def mean(self) -> float:
        """Return the mean."""
        return float((self.nodes.weights * self.values).sum())

    @cached_property
    def sd(self) -> float:
        """Return the standard deviation."""
        return float(np.sqrt((self.nodes.weights * np.square(self.values - self.mean)).sum()))

    @cached_property
    def _lines(self) -> tuple[Floats, Floats, Floats]:
        """Return values along lines on which they rise, the probability up to each, and its slope dC/dq.

        Lines lie along the axis on which the quantity changes most; every second one is enough. A slope is
        (dC/dv) / (dq/dv), and no steeper than what keeps a cubic polynomial between two nodes rising.
        """
        from scipy.interpolate import CubicSpline  # slow to import

        weights = self.nodes.weights
        changes = [np.abs(np.diff(self.values, axis=axis)).sum() for axis in range(self.values.ndim)]
        inner = int(np.argmax(changes))
        steps = np.arange(self.values.shape[inner], dtype=float)
        values, density = (np.moveaxis(each, inner, -1).reshape(-1, len(steps))[::2] for each in (self.values, weights))
        if values[0, -1] < values[0, 0]:
            values, density = values[:, ::-1], density[:, ::-1]
        below = np.maximum.accumulate(CubicSpline(steps, density, axis=1).antiderivative()(steps), axis=1)
        whole = float(below[:, -1].sum())
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slopes = density / CubicSpline(steps, values, axis=1)(steps, 1)
            secants = np.diff(below, axis=1) / np.diff(values, axis=1)
        steepest = 3 * np.minimum(np.pad(secants, ((0, 0), (1, 0)), "edge"), np.pad(secants, ((0, 0), (0, 1)), "edge"))
        slopes = np.where(slopes >= 0, np.fmin(slopes, steepest), 0.0)
        return values, below / whole, np.where(np.isfinite(slopes), slopes, 0.0) / whole

    def cdf(self, x: float) -> float:
        """Return P(quantity <= x): of every line what lies below its crossing of x, by a cubic between two nodes."""
        values, below, slopes = self._lines
        after = np.clip((values <= x).sum(axis=1), 1, values.shape[1] - 1)
        rows = np.arange(len(values))
        low, high = values[rows, after - 1], values[rows, after]
        width = high - low
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.clip(np.where(width > 0, (x - low) / width, x >= high), 0.0, 1.0)
        one, two = below[rows, after - 1], below[rows, after]
        bent = t * (1 - t) ** 2 * slopes[rows, after - 1] - t**2 * (1 - t) * slopes[rows, after]
        return float((one + (two - one) * t**2 * (3 - 2 * t) + width * bent).sum())

    def quantile(self, probability: float) -> float:
        """Return the x with P(quantity <= x) = probability, to twelve digits of the range of values."""
        low, high = float(self.values.min()), float(self.values.max())
        if self.cdf(low) >= probability or low == high:
            return low
        if self.cdf(high) <= probability:
            return high
        return root(lambda x: self.cdf(x) - probability, low, high, absolute=1e-300, relative=1e-13)

    @cached_property
    def beyond(self) -> tuple[float, float]:
        """Return about how much probability, and how much of the mean, lies beyond the rim, or infinity.

        Sums s over the outermost nodes and s' over as many next to them continue as a geometric series: s^2 / (s' - s).
        """
        lost = []
        for weighed in (self.nodes.weights, self.nodes.weights * np.abs(self.values - self.mean)):
            total = 0.0
            for axis in range(weighed.ndim):
                sums = np.moveaxis(weighed, axis, 0).reshape(weighed.shape[axis], -1).sum(axis=1)
                many = len(sums) // _RIMS
                for ends in (sums, sums[::-1]):
                    rim, inside = float(ends[:many].sum()), float(ends[many : 2 * many].sum())
                    total += 0.0 if rim == 0 else rim**2 / (inside - rim) if inside > rim else np.inf
            lost.append(total)
        return lost[0], lost[1]


@dataclass(frozen=True, eq=False)
class GridQuantity(WeightedDraws):
    """The distribution of a quantity on a grid: `fine` from all nodes, `rough` from every second; points for draws."""

    fine: Marginal
    rough: Marginal

    @cached_property
    def mean(self) -> float:
        return self.fine.mean

    @cached_property
    def sd(self) -> float:
        return self.fine.sd

    def quantile(self, probability: float) -> float:
        return self.fine.quantile(probability)

    def probability_above(self, threshold: float) -> float:
        return 1 - self.fine.cdf(threshold)

    def numerical_error(self, level: float) -> float:
        """Return an estimate, on the safe side, of the error of the mean and of both ends of the interval.

        It is the difference between the figures of both grids, plus what lies beyond the rim: of the mean as it is, of
        an end divided by the density there. Rounding is added at 1e-11 of the standard deviation. Where the density
        does not fall towards the rim, nothing but the range of the grid can be stated.
        """
        outside, of_mean = self.fine.beyond
        errors = [abs(self.fine.mean - self.rough.mean) + of_mean]
        for tail in tails(level):
            end = self.fine.quantile(tail)
            moved = [self.fine.quantile(min(1.0, max(0.0, tail + by))) for by in (-outside, outside)]
            errors.append(abs(end - self.rough.quantile(tail)) + max(abs(each - end) for each in moved))
        return min(max(errors) + 1e-11 * self.sd, float(np.ptp(self.fine.values)))
