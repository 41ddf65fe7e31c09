"""Normalisers of Hellinger choices at any size, for inference: a known uniform part, and a smooth near one.

    Z(k) = |R| e^-c + N(k, c),    N = sum_r (e^(-c H(k, r)) - e^-c) = sum_(j >= 1) p_j Z_j,    Z_j = sum_r BC(k, r)^j

(`_stable_distribution`). N is computed for one table by `log_near`: small j one by one, beyond that Z_j from a few
nodes of each panel of log j, and p_j as a density. For many tables it is close to what it would be if the candidates
near k were spread evenly in the coordinates (r_i - k_i) / sqrt(8 a_i), in which -ln BC is the square of the distance,

    log N ~ sum_i log(8 a_i)/2 - log(8 a)/2 + log |S| + log int_0^inf x^(d-1) (e^(-c sqrt(1 - e^(-x^2))) - e^-c) dx,

d = m - 1 and |S| the surface of its unit ball. What is missing to that is small and smooth in c and in the a_i.
"""

from collections.abc import Callable
from functools import lru_cache
from math import log, pi

import numpy as np
from scipy.special import expit, gammaln, logsumexp

from discreet._core.arrays import Counts, Floats
from discreet.choices._posterior_powers import PosteriorPowers
from discreet.choices._power_sums import power_sum
from discreet.choices._stable_distribution import log_densities, log_probabilities

MOST_NEAR_CELLS = 12
"""Weighted draws of more cells are worth too little."""
MOST_ENUMERATED = 80_000
"""Up to this many candidates and true tables are all gone through."""
NEAR_OPERATIONS = 1.5e6
"""Of one likelihood, most of them for the sensitivity of its table."""

_SPARE = 30.0  # powers below e^-(c + 30) are left out
_SINGLE, _SUMMED = 8, 512  # powers below are taken one by one, and summed one by one
_PANEL, _NODES = 8, 10  # powers of a panel go up by this factor; the nodes of each
_LAST = 16  # times the largest parameter: powers beyond are 0 but for the true table
_POINTS = 48  # of the integral over a panel
_GRID = 400  # scales at which the integral over distances is known
_RIDGE = 1e-6  # of the fit
_LEAST = -0.7  # of a logarithm: the true table is near itself


def log_near(alpha: Floats, counts: Counts, scale: float) -> float:
    """Return log N(k, c) of one table, to about six digits.

    >>> round(log_near(np.ones(4), np.array([150, 150, 150, 150]), 15.0), 4)
    5.1246
    """
    powers = PosteriorPowers(alpha, counts, scale + _SPARE)
    single = np.arange(1, _SINGLE)
    distributions = log_probabilities(scale, np.arange(_SUMMED))
    logs = [float(distributions[j]) + power_sum(powers, float(j)).log for j in single.tolist()]
    left, start, last = -np.expm1(logsumexp(distributions[:_SINGLE])), _SINGLE, _LAST * float((alpha + counts).max())
    while start < last:
        stop = _PANEL * start
        edges = log(start), log(stop - 1 if stop <= _SUMMED else stop - 0.5)
        middle, half = (edges[0] + edges[1]) / 2, (edges[1] - edges[0]) / 2
        angles = np.pi * (np.arange(_NODES) + 0.5) / _NODES
        sums = [power_sum(powers, float(np.exp(middle + half * x))).log for x in np.cos(angles)]
        indices, weights = _points(scale, start, stop, distributions)
        left -= float(np.exp(weights).sum())
        logs.append(float(logsumexp(weights + _lagrange((indices - middle) / half, angles) @ np.array(sums))))
        start = stop
    logs.append(log(max(left, 1e-300)))  # beyond, no table but the true one counts
    return float(logsumexp(logs))


def _points(scale: float, start: int, stop: int, distributions: Floats) -> tuple[Floats, Floats]:
    """Return log j and log p_j of all powers of a panel, or of points that stand for them."""
    if stop <= _SUMMED:
        return np.log(np.arange(start, stop)), distributions[start:stop]
    nodes, weights = np.polynomial.legendre.leggauss(_POINTS)
    low, high = log(start - 0.5), log(stop - 0.5)
    points = (low + high) / 2 + (high - low) / 2 * nodes
    return points, np.asarray(log_densities(scale, np.exp(points)) + points + np.log(weights * (high - low) / 2))


def _lagrange(points: Floats, angles: Floats) -> Floats:
    """Return the polynomials that are 1 at one of the Chebyshev nodes and 0 at all others (points, nodes)."""
    orders, count = np.arange(len(angles)), len(angles)
    own = np.cos(angles[:, None] * orders) * 2 / count
    own[:, 0] /= 2
    turned = np.cos(np.arccos(np.clip(points, -1, 1))[:, None] * orders)
    return np.asarray(turned @ own.T)


class ApproximateNormaliser:
    """log P(r | k) for many tables k: distances and scales as they are, the near part of Z rough until it is refined.

    `scales` and `distances` are those of the mechanism, `alpha` its prior.
    """

    def __init__(
        self,
        alpha: Floats,
        size: int,
        scales: Callable[[Counts], Floats],
        distances: Callable[[Counts, Counts], Floats],
    ) -> None:
        self._alpha, self._scales, self._distances = alpha, scales, distances
        self._log_candidates = sum(log((size + i) / i) for i in range(1, len(alpha)))
        self._coefficients: Floats = np.zeros(1)

    def log_prob(self, candidate: Counts, tables: Counts) -> Floats:
        """Return log P(candidate | k) for rows of counts."""
        scales = self._scales(tables)
        near = self._near(tables, scales)
        weights = -scales * self._distances(np.broadcast_to(candidate, tables.shape), tables)
        return np.asarray(weights - np.logaddexp(self._log_candidates - scales, near))

    def shares(self, tables: Counts) -> Floats:
        """Return about which share of all probability lies near each of some tables."""
        scales = self._scales(tables)
        return np.asarray(expit(self._near(tables, scales) - self._log_candidates + scales))

    def refine(self, tables: Counts) -> None:
        """Work the near part out for some tables, and fit what is missing to the rough one."""
        scales = self._scales(tables)
        features, missing = self._features(tables, scales), self._missing(tables, scales)
        ridge = _RIDGE * np.eye(features.shape[1])
        self._coefficients = np.asarray(
            np.linalg.solve(features.T @ features + ridge, features.T @ missing), dtype=float
        )

    def errors(self, tables: Counts) -> Floats:
        """Return by how much log Z of some tables is too small."""
        scales = self._scales(tables)
        rough, uniform = self._near(tables, scales), self._log_candidates - scales
        exact = rough_log_near(self._alpha + tables, scales) + self._missing(tables, scales)
        return np.asarray(np.logaddexp(uniform, exact) - np.logaddexp(uniform, rough))

    def _missing(self, tables: Counts, scales: Floats) -> Floats:
        found = [log_near(self._alpha, table, scale) for table, scale in zip(tables, scales.tolist(), strict=True)]
        return np.array(found) - rough_log_near(self._alpha + tables, scales)

    def _near(self, tables: Counts, scales: Floats) -> Floats:
        rough = rough_log_near(self._alpha + tables, scales)
        if len(self._coefficients) == 1:
            return rough
        return np.maximum(rough + self._features(tables, scales) @ self._coefficients, _LEAST)

    def _features(self, tables: Counts, scales: Floats) -> Floats:
        """Return products of degree 2 and less of how far apart candidates are, in units of 1/c, and of c."""
        apart = scales[:, None] / np.sqrt(8 * (self._alpha + tables))
        plain = [np.log1p(scales) / 10, np.log1p(apart).mean(axis=1), np.log1p(apart).max(axis=1)]
        pairs = [plain[i] * plain[j] for i in range(3) for j in range(i, 3)]
        return np.stack([np.ones(len(tables)), *plain, *pairs], axis=1)


def rough_log_near(parameters: Floats, scales: Floats) -> Floats:
    """Return about log N for rows of parameters a = alpha + k, as if candidates were spread evenly."""
    dimension = parameters.shape[1] - 1
    known, values = _integrals(dimension)
    even = 0.5 * np.log(8 * parameters).sum(axis=1) - 0.5 * np.log(8 * parameters.sum(axis=1))
    return np.asarray(even + np.interp(np.log(scales), known, values))


@lru_cache(maxsize=16)
def _integrals(dimension: int) -> tuple[Floats, Floats]:
    """Return the log of surface and integral for logs of scales from 1e-3 to 1e6."""
    known = np.linspace(log(1e-3), log(1e6), _GRID)
    logs = np.linspace(log(1e-12), log(12.0), 4_000)
    squares = np.exp(2 * logs)
    distances = np.sqrt(-np.expm1(-squares))
    found = []
    for scale in np.exp(known).tolist():
        gaps = -scale * distances + np.log(-np.expm1(scale * (distances - 1)) + 1e-300)
        found.append(float(logsumexp(gaps + dimension * logs)))
    surface = log(2) + dimension / 2 * log(pi) - float(gammaln(dimension / 2))
    return known, np.array(found) + log(logs[1] - logs[0]) + surface
