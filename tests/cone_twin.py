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
