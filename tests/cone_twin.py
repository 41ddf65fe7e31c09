"""Cone noise the slow and obvious way, in one and two dimensions: by the integral that defines it, not by its sampler.

f(u) = (1/Z) int_0^inf e^(-epsilon R) vol(R E and (R E + u)) dR,   Z = vol(E)^2 (2 D)! / epsilon^(2 D + 1).

In two dimensions E = {(a, c): c^2 <= a <= 1}, which holds (x^2, x y) for all |x|, |y| <= 1. At height R the two bodies
are bounded below by parabolas and above by a line, so that their common area is an integral of polynomials.
"""

from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(3)


def radii(epsilon: float, count: int = 400, longest: float = 60.0) -> tuple[Floats, Floats]:
    """Return points and weights of Gauss and Legendre on (0, longest / epsilon), in short pieces."""
    edges = np.linspace(0, longest / epsilon, count // 3 + 1)
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    return (middle[:, None] + half[:, None] * _POINTS).ravel(), (half[:, None] * _WEIGHTS).ravel()


def common_area(radius: Floats, across: Floats, along: Floats) -> Floats:
    """Return vol(R E and (R E + u)) for u = (across, along): a by the first axis, c by the second."""
    top = np.minimum(radius, radius + across)
    own, other = (np.sqrt(np.maximum(radius * height, 0)) for height in (top, top - across))
    low, high = np.maximum(-own, along - other), np.minimum(own, along + other)
    with np.errstate(divide="ignore", invalid="ignore"):
        switch = np.where(along == 0, 0.0, (along**2 + across * radius) / (2 * along))
    # on the left of `switch` the parabola of one body is the higher one, on its right that of the other
    shifted_left = np.where(along == 0, across > 0, along > 0)
    middle = np.where(along == 0, high, np.clip(switch, low, high))
    plain, moved = _plain(low, middle, radius), _moved(low, middle, radius, across, along)
    left = np.where(shifted_left, moved, plain)
    plain, moved = _plain(middle, high, radius), _moved(middle, high, radius, across, along)
    right = np.where(shifted_left, plain, moved)
    return np.where((high > low) & (top > np.maximum(0, across)), top * (high - low) - left - right, 0.0)


def _plain(low: Floats, high: Floats, radius: Floats) -> Floats:
    return (high**3 - low**3) / (3 * radius)


def _moved(low: Floats, high: Floats, radius: Floats, across: Floats, along: Floats) -> Floats:
    return across * (high - low) + ((high - along) ** 3 - (low - along) ** 3) / (3 * radius)


def density(across: Floats, along: Floats, epsilon: float) -> Floats:
    """Return f at points u."""
    points, weights = radii(epsilon)
    constant = (4 / 3) ** 2 * factorial(4) / epsilon**5
    first, second = (np.asarray(each, dtype=float).ravel() for each in (across, along))
    found = [
        common_area(points[None, :], one[:, None], two[:, None]) @ (weights * np.exp(-epsilon * points))
        for one, two in zip(np.array_split(first, len(first) // 500 + 1), np.array_split(second, len(first) // 500 + 1),
                            strict=True)
    ]  # fmt: skip
    return np.concatenate(found).reshape(np.shape(across)) / constant


class TwoNumbers:
    """P(u) of two rounded numbers of a mechanism: f, averaged over the cell of every whole number, by its symmetries.

    One feature without an intercept and sigma known: the numbers are 2 M^2 x^2 and M^2 x y.
    """

    def __init__(self, mechanism: Any) -> None:
        square, epsilon = mechanism.model.grid**2, float(mechanism.epsilon)
        units = np.array([2 * square, square])
        self.ends = np.ceil(np.array([26, 46]) / epsilon * units).astype(int) + 5  # E is twice as wide in x y
        halves = np.concatenate([(_POINTS - 1) / 4, (_POINTS + 1) / 4])  # of a cell: f has an edge in the middle of 0
        axes = [np.arange(end + 1)[:, None] + halves for end in self.ends]
        shares = np.tile(_WEIGHTS / 4, 2)
        grid = np.meshgrid(axes[0].ravel() / units[0], axes[1].ravel() / units[1], indexing="ij")
        heights = density(np.abs(grid[0]), np.abs(grid[1]), epsilon) / units.prod()
        shape = (self.ends[0] + 1, len(shares), self.ends[1] + 1, len(shares))
        self.table = np.einsum("iajb,a,b->ij", heights.reshape(shape), shares, shares)

    def outputs_for(self, measured: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return all outputs whose noise was integrated, whichever of the measured rows they come from."""
        low, high = measured.max(axis=0) - self.ends, measured.min(axis=0) + self.ends
        axes = np.meshgrid(*(np.arange(one, two + 1) for one, two in zip(low, high, strict=True)), indexing="ij")
        return np.stack(axes, axis=-1).reshape(-1, 2)

    def log_likelihood(self, noise: NDArray[np.int64]) -> Floats:
        """Return log P of rows of noise, which must have been integrated."""
        places = np.abs(noise)
        return np.asarray(np.log(self.table[places[..., 0], places[..., 1]]))


def laplace_by_integration(u: Floats, epsilon: float) -> Floats:
    """Return f in one dimension, E = [-1, 1]: common length 2 R - |u|."""
    points, weights = radii(epsilon, 9000)
    lengths = np.maximum(0, 2 * points[None, :] - np.abs(u)[:, None])
    return lengths @ (weights * np.exp(-epsilon * points)) / (4 * factorial(2) / epsilon**3)


def hexagon(across: Floats, along: Floats) -> Floats:
    """Return what f of E = {(a, c): |c| <= a <= 1}, the hull of 0 and all (1, y), is a power of: f = e^2/12 e^(-e |u|).

    With p = a + c and q = a - c, E is a triangle with p, q >= 0, and so is what two have in common: of the height
    R + min(0, u_1) - (max(0, p) + max(0, q)) / 2, so that the integral over R has this closed form.
    """
    p, q = across + along, across - along
    return np.where(p * q >= 0, np.abs(p + q), np.maximum(np.abs(p), np.abs(q))) / 2


class CountAndSum:
    """P(u) of two rounded numbers: how many records have a value, times 2 M^2, and the sum of these, times M^2.

    A target alone, with an intercept and sigma known; f is averaged over the cell of every whole number.
    """

    def __init__(self, mechanism: Any) -> None:
        square, epsilon = mechanism.model.grid**2, float(mechanism.epsilon)
        units = np.array([2 * square, square])
        self.ends = np.ceil(np.array([22, 44]) / epsilon * units).astype(int) + 5
        within = (np.arange(8) + 0.5) / 8 - 0.5
        axes = [(np.arange(-end, end + 1)[:, None] + within).ravel() / unit
                for end, unit in zip(self.ends, units, strict=True)]  # fmt: skip
        heights = np.exp(-epsilon * hexagon(axes[0][:, None], axes[1][None, :])) * epsilon**2 / 12 / units.prod()
        first, second = 2 * self.ends + 1
        self.table = heights.reshape(first, 8, second, 8).mean(axis=(1, 3))
        self.table /= self.table.sum()  # 1.000, but for the edges of f inside cells

    def outputs_for(self, measured: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return all outputs whose noise is tabulated, whichever of the measured rows they come from."""
        low, high = measured.max(axis=0) - self.ends, measured.min(axis=0) + self.ends
        axes = np.meshgrid(*(np.arange(one, two + 1) for one, two in zip(low, high, strict=True)), indexing="ij")
        return np.stack(axes, axis=-1).reshape(-1, 2)

    def log_likelihood(self, noise: NDArray[np.int64]) -> Floats:
        """Return log P of rows of noise, which must be tabulated."""
        places = noise + self.ends
        return np.asarray(np.log(self.table[places[..., 0], places[..., 1]]))


def common_disc(first: Floats, second: Floats, apart: Floats) -> Floats:
    """Return the area that two discs have in common, of these radii, first >= second, whose centres lie `apart`."""
    one, two, d = np.broadcast_arrays(first, np.maximum(second, 0.0), apart)
    with np.errstate(all="ignore"):
        own = np.arccos(np.clip((d * d + one * one - two * two) / (2 * d * one), -1, 1))
        other = np.arccos(np.clip((d * d + two * two - one * one) / (2 * d * two), -1, 1))
        root = np.sqrt(np.maximum((-d + one + two) * (d + one - two) * (d - one + two) * (d + one + two), 0))
        lens = one * one * own + two * two * other - root / 2
    return np.where(d >= one + two, 0.0, np.where(d <= one - two, np.pi * two * two, lens))


def trace_density(along: Floats, across: Floats) -> Floats:
    """Return f of noise R (A - B) for the rate 1, A and B of E = {A psd, 2 x 2, tr A <= 1}, at points u.

    `along` is tr u >= 0 and `across` the length of (u_11 - u_22, 2 u_21). In these three coordinates E is a cone: at
    the trace s it is a disc of radius s. Matrices have a quarter of their volume. R is integrated out: it must be s at
    least.

        f(u) = 1/(4 Z) int_(tr u)^inf e^-s disc(s, s - tr u, across) ds,   Z = (pi/12)^2 6!
    """
    nodes, weights = np.polynomial.laguerre.laggauss(64)
    begin = np.maximum(along, (along + across) / 2)[..., None]
    heights = begin + nodes
    areas = common_disc(heights, heights - along[..., None], across[..., None])
    return np.exp(-begin[..., 0]) * (areas @ weights) / (4 * (np.pi / 12) ** 2 * factorial(6))


class ThreeNumbers:
    """P(u) of the three rounded numbers of one step of weighted moments of (y, 1): f, averaged over every cell.

    Numbers are M^2 times u_11, u_21 and u_22. Behind them an output has units that are always the same.
    """

    def __init__(self, mechanism: Any) -> None:
        from scipy.interpolate import RectBivariateSpline

        square, epsilon = mechanism.model.grid**2, float(mechanism.epsilon)
        self.end = int(np.ceil(16 * square / epsilon)) + 2 + mechanism.size * square
        axis = np.linspace(0, 2.9 * self.end * epsilon / square, 500)
        known = np.log(trace_density(axis[:, None], axis[:, None] + axis[None, :]))
        spline = RectBivariateSpline(axis, axis, known)
        cells, halves = np.arange(-self.end, self.end + 1), np.array([-1, 0, 1]) / 3
        self.table = np.zeros((len(cells),) * 3)
        scale = epsilon / square
        for first in halves:
            for second in halves:
                for third in halves:
                    a, c, b = np.meshgrid(cells + first, cells + second, cells + third, indexing="ij")
                    along, across = np.abs(a + b) * scale, np.hypot(a - b, 2 * c) * scale
                    inside = np.exp(-along) * 2 * np.pi / (4 * (np.pi / 12) ** 2 * factorial(6))
                    far = np.exp(spline.ev(along.ravel(), np.maximum(across - along, 0).ravel())).reshape(along.shape)
                    self.table += np.where(across <= along, inside, far) / 27
        self.total = float(self.table.sum() * scale**3)
        self.table /= self.table.sum()

    def outputs_for(self, measured: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return all outputs whose noise was integrated, whichever of the measured rows they come from."""
        low, high = measured[:, :3].max(axis=0) - self.end, measured[:, :3].min(axis=0) + self.end
        axes = np.meshgrid(*(np.arange(one, two + 1) for one, two in zip(low, high, strict=True)), indexing="ij")
        found = np.stack(axes, axis=-1).reshape(-1, 3)
        return np.concatenate([found, np.tile(measured[0, 3:], (len(found), 1))], axis=1)

    def log_likelihood(self, noise: NDArray[np.int64]) -> Floats:
        """Return log P of rows of noise, which must have been integrated."""
        places = noise[..., :3] + self.end
        return np.asarray(np.log(self.table[places[..., 0], places[..., 1], places[..., 2]]))


class ThreeGaussians:
    """P(u) of the three rounded numbers of one step with Gaussian noise: M^4 / rho for squares, half of it between."""

    def __init__(self, mechanism: Any) -> None:
        from scipy.stats import norm

        square = float(mechanism.model.grid**4) / float(mechanism.rho)
        self.laws = [norm(scale=np.sqrt(variance)) for variance in (square, square / 2, square)]
        self.ends = np.array([int(np.ceil(4.8 * law.std() + 1)) for law in self.laws])

    def outputs_for(self, measured: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return all outputs near one of the measured rows."""
        low, high = measured[:, :3].min(axis=0) - self.ends, measured[:, :3].max(axis=0) + self.ends
        axes = np.meshgrid(*(np.arange(one, two + 1) for one, two in zip(low, high, strict=True)), indexing="ij")
        found = np.stack(axes, axis=-1).reshape(-1, 3)
        return np.concatenate([found, np.tile(measured[0, 3:], (len(found), 1))], axis=1)

    def log_likelihood(self, noise: NDArray[np.int64]) -> Floats:
        """Return log P of rows of noise: what a normal number has within half a step of each."""
        found = np.zeros(len(noise))
        for law, own in zip(self.laws, np.abs(noise.T[:3]), strict=True):
            near, beyond = law.logcdf(0.5 - own), law.logcdf(-0.5 - own)
            found += near + np.log(-np.expm1(beyond - near))
        return found


def twin_of(mechanism: Any) -> Any:
    """Return what knows the noise of a mechanism whose outputs are not listed by itself."""
    if hasattr(mechanism, "rhos"):
        return ThreeGaussians(mechanism)
    if hasattr(mechanism, "rounds"):
        return ThreeNumbers(mechanism)
    return CountAndSum(mechanism) if mechanism.model.leaves_gaps_out else TwoNumbers(mechanism)
