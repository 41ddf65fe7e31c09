"""Normaliser and moments of P(r) ~ e^(-c H(x, r)) among any number of candidates, between proved bounds.

With e^(-c sqrt(1 - b)) = sum_k p_k b^k and Z_k = sum_r BC(x, r)^k, three sums over all tables become sums over k:

    sum_r w      = sum_k p_k Z_k,                                          w = e^(-c H(x, r)),
    sum_r H w    = sum_k h_k Z_k,    h_k = (2/c) ((k + 1) p_{k+1} - k p_k),
    sum_r H^2 w  = sum_k s_k Z_k,    s_k = p_k - p_{k-1},

because (1 - b)(d/db) e^(-c sqrt(1 - b)) = (c/2) sqrt(1 - b) e^(-c sqrt(1 - b)) and H^2 = 1 - b. Z_0 = |R|. Small k
are taken one by one. For a <= k < 2a, Z is interpolated at Chebyshev points: it is a sum of exponentials of k, so
|Z_k| <= Z_(Re k), and on the ellipse that reaches down to a/2 it is at most Z_(a/2). The error of degree N is then
below 4 Z_(a/2) rho^-N / (rho - 1), rho = 2 + sqrt(3). For k beyond the last group 1 <= Z_k <= Z_last; there h and s
change their sign at most once: both are integrals of e^-s s^k against a function of s that does. Few tables are listed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb, exp, expm1, inf, log, sqrt

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet.choices._posterior_distances import UNIT
from discreet.choices._posterior_powers import PosteriorPowers, cell_log_affinities
from discreet.choices._power_sums import AFFINITY_ERROR, PowerSum, power_sum
from discreet.choices._stable_distribution import LOG_ERROR, log_probabilities
from discreet.privacy import compositions

_SPARE = 42.0  # powers below e^-(c + 42) are left out; they change no weight by more than e^-42 of it
_SINGLE = 16  # below this, every k by itself
_RHO = 2 + sqrt(3)
_LEAST_LAST, _MOST_LAST = 256, 2**22
_MOST_LISTED = 20_000  # up to this many tables are listed one by one
_CHUNK = 2**13  # coefficients that are summed together
_ENOUGH = 1e-13  # share of the sum that the tail may leave open before the last group


@dataclass(frozen=True)
class Enclosure:
    """A number known between two bounds."""

    lower: float
    upper: float

    @property
    def middle(self) -> float:
        """Return the middle."""
        return (self.lower + self.upper) / 2

    def holds(self, number: float) -> bool:
        """Return whether a number lies between the bounds."""
        return self.lower <= number <= self.upper


@dataclass(frozen=True)
class HellingerMoments:
    """Bounds for one table x and scale c: ln Z, E[H], E[H^2], P(r = x) = 1/Z, and the share |R| e^-c / Z.

    `uniform_share` is the probability of the part that is the same for all data: if it is near 1, a draw says nothing.
    """

    log_normaliser: Enclosure
    distance: Enclosure
    square: Enclosure
    truth: Enclosure
    uniform_share: Enclosure


@dataclass(frozen=True, eq=False)
class _Term:
    """Parts of the three sums, in units of e^log, and how far each may be wrong."""

    log: float
    values: Floats
    errors: Floats


def hellinger_moments(alpha: Floats, counts: Counts, scale: float, scale_error: float = 0.0) -> HellingerMoments:
    """Return bounds for P(r) ~ e^(-c H(x, r)) over all tables r, x = `counts`; c is known up to a share `scale_error`.

    >>> found = hellinger_moments(np.ones(4), np.array([150, 150, 150, 150]), 15.0)
    >>> round(found.distance.lower, 9), found.distance.upper - found.distance.lower < 1e-9
    (0.260778961, True)
    """
    tables = comb(int(counts.sum()) + len(counts) - 1, len(counts) - 1)
    terms = list(_terms(alpha, counts, scale, tables))
    top = max(term.log for term in terms)
    values = sum(np.exp(term.log - top) * term.values for term in terms)
    errors = sum(np.exp(term.log - top) * (term.errors + 8 * UNIT * np.abs(term.values)) for term in terms)
    return _moments(values, errors * (1 + 1e-6), top, log(tables) - scale, scale * scale_error)


def _terms(alpha: Floats, counts: Counts, scale: float, tables: int) -> Iterator[_Term]:
    """Choose a way: along a line, through a list of all tables, or over k."""
    if len(counts) == 2:
        return _two_cells(alpha, counts, scale)
    if tables <= _MOST_LISTED:
        return _few_tables(alpha, counts, scale)
    return _many_cells(PosteriorPowers(alpha, counts, scale + _SPARE), scale, log(tables))


def _moments(values: Floats, errors: Floats, top: float, log_uniform: float, shift: float) -> HellingerMoments:
    """Divide the sums; if c changes, so do ln Z by -E[H] and E[H], E[H^2] by covariances, at most 1/4 and E[H^2]."""
    low, high = np.maximum(values - errors, 0.0).tolist(), (values + errors).tolist()
    least = max(0.0, log_uniform - 1e-12)  # Z >= 1, and >= |R| e^-c
    lowest = max(low[0], exp(least - top))
    mean, covariance = (min(most, high[i] / lowest + shift / 4) for i, most in ((1, 1.0), (2, 0.25)))
    logs = Enclosure(
        max(0.0, least - shift, top + _log(low[0]) - shift * mean - 1e-15), top + log(high[0]) + shift * mean + 1e-15
    )
    distance, square = (
        Enclosure(max(0.0, low[i] / high[0] - shift * covariance), min(1.0, high[i] / lowest + shift * covariance))
        for i in (1, 2)
    )
    wide = shift + 1e-12
    share = Enclosure(exp(log_uniform - logs.upper - wide), min(1.0, exp(log_uniform - logs.lower + wide)))
    logs = Enclosure(logs.lower, max(logs.lower, logs.upper))
    return HellingerMoments(logs, distance, square, Enclosure(exp(-logs.upper), exp(-logs.lower)), share)


def _log(number: float) -> float:
    return log(number) if number > 0 else -inf


def _sums(scale: float, logs: Floats, cells: int) -> _Term:
    """Return the three sums over tables of given ln BC, sums of one term for each cell."""
    distances = np.sqrt(-np.expm1(logs))
    weights = np.exp(-scale * distances)
    values = np.array([(weights * distances**power).sum() for power in range(4)])
    share = AFFINITY_ERROR + cells * UNIT
    return _Term(0.0, values[:3], share * scale * values[1:] + (2 * share + 64 * UNIT) * values[:3])


def _few_tables(alpha: Floats, counts: Counts, scale: float) -> Iterator[_Term]:
    """Yield the sums over a list of all tables."""
    size = int(counts.sum())
    tables = np.array(list(compositions(size, len(counts))))
    logs = np.zeros(len(tables))
    for cell, (prior, count) in enumerate(zip(alpha.tolist(), counts.tolist(), strict=True)):
        logs += cell_log_affinities(prior, count, np.arange(size + 1) - count)[tables[:, cell]]
    yield _sums(scale, logs, len(counts))


def _two_cells(alpha: Floats, counts: Counts, scale: float) -> Iterator[_Term]:
    """Yield the sums for two cells: candidates on a line, and beyond some distance all with H = 1."""
    powers = PosteriorPowers(alpha, counts, scale + _SPARE)
    first, second = powers.at(1.0)[powers.cell_class[0]], powers.at(1.0)[powers.cell_class[1]]
    low, high = (
        max(first.start, 1 - second.start - len(second.logs)),
        min(first.start + len(first.logs) - 1, -second.start),
    )
    changes = np.arange(low, high + 1)
    logs = first.logs[changes - first.start] + second.logs[-changes - second.start]
    far = int(counts.sum()) + 1 - len(changes)
    yield _sums(scale, logs, 2)
    yield _Term(-scale, np.full(3, float(far)), np.full(3, far * (1 + scale) * exp(-scale - _SPARE)))


def _many_cells(powers: PosteriorPowers, scale: float, log_tables: float) -> Iterator[_Term]:
    """Yield the sums over k: 0 by itself, small k one by one, groups of k, and what is left."""
    yield _Term(log_tables - scale, np.ones(3), np.full(3, 64 * UNIT * (1 + log_tables)))
    sums = [power_sum(powers, float(k)) for k in range(1, _SINGLE)]
    used, mass = np.zeros(3), float(np.exp(log_probabilities(scale, np.array([0])))[0])
    below, largest = sums[_SINGLE // 2 - 1], log_tables - scale
    for k, each in enumerate(sums, start=1):
        top, rows, wrong = _coefficients(scale, k, k + 1)
        used += np.abs(rows[:, 0]) * exp(top)
        mass += float(rows[0, 0]) * exp(top)
        largest = max(largest, top + each.log)
        yield _Term(top + each.log, rows[:, 0], np.abs(rows[:, 0]) * each.error + wrong[:, 0])
    start = _SINGLE
    while True:
        group = _Group(powers, scale, start, below)
        used, mass, below = used + group.used, mass + group.mass, group.first
        yield group.term
        largest, start = max(largest, group.term.log), 2 * start
        last = power_sum(powers, float(start))
        left = max(0.0, 1 - mass) + 4 * LOG_ERROR + 16 * UNIT * scale
        open_ = left * max(0.0, expm1(last.log) - 4 * last.error)
        if start >= _LEAST_LAST and (start >= _MOST_LAST or open_ < _ENOUGH * exp(min(600.0, max(0.0, largest)))):
            break
    yield _tail(scale, start, last, (1 - mass, left), falling=group.falling)
    yield _Term(log_tables - powers.floor, np.zeros(3), 2 * used + 2)


def _tail(scale: float, start: int, last: PowerSum, left: tuple[float, float], *, falling: bool) -> _Term:
    """Return what k >= K adds: sum p_k is what is missing to 1, sum h_k = -(2/c) K p_K and sum s_k = -p_{K-1}.

    Z_k - 1 <= Z_K - 1 there. If h and s are negative from K on, that bounds the rest on one side; if not, on both, with
    sum |h_k| <= (4/c) max k p_k <= 2/c and sum |s_k| <= 2 max p_k <= 1/(K - 1).
    """
    before, at = np.exp(log_probabilities(scale, np.array([start - 1, start])))
    slack = 4 * LOG_ERROR + 16 * UNIT * scale
    above = max(0.0, expm1(last.log)) + exp(last.log) * last.error
    sums = np.array([max(0.0, left[0]), -2 / scale * start * at, -before])
    one_sided = np.array([True, falling, falling])
    rest = np.where(one_sided, sums * above / 2, 0.0)
    open_ = np.where(one_sided, np.abs(rest), np.array([0.0, 2 / scale, 1 / (start - 1)]) * above)
    wrong = slack * np.abs(sums) + np.array([left[1] - left[0], 0.0, 0.0])
    return _Term(0.0, sums + rest, open_ + wrong * (1 + above))


def _coefficients(scale: float, start: int, stop: int) -> tuple[float, Floats, Floats]:
    """Return p_k, h_k and s_k (rows) for start <= k < stop in units of e^top, and bounds on their rounding."""
    k = np.arange(start - 1, stop + 1)
    logs = log_probabilities(scale, k)
    top = float(logs.max())
    p = np.exp(logs - top)
    flow = k * p
    rows = np.stack([p[1:-1], 2 / scale * np.diff(flow)[1:], np.diff(p)[:-1]])
    share = LOG_ERROR + 8 * UNIT * scale + 8 * UNIT
    wrong = share * np.stack([p[1:-1], 2 / scale * (flow[1:-1] + flow[2:]), p[1:-1] + p[:-2]])
    return top, rows, wrong


class _Group:
    """The part a <= k < 2a of the three sums, by interpolation of Z at N + 1 Chebyshev points."""

    def __init__(self, powers: PosteriorPowers, scale: float, start: int, below: PowerSum) -> None:
        degree = 22 + powers.cells // 2
        middle, half = (3 * start - 1) / 2, (start - 1) / 2
        angles = np.pi * np.arange(degree + 1) / degree
        sums = [power_sum(powers, middle - half * float(x)) for x in np.cos(angles)]
        self.first = sums[0]
        top, rows, wrong = _coefficients(scale, start, 2 * start)
        self.mass, self.falling = float(rows[0].sum()) * exp(top), bool((rows[1:, -1] < -wrong[1:, -1]).all())
        weights = _quadrature(rows, angles, degree)
        self.used = np.abs(weights).sum(axis=1) * exp(top)
        unit = self.first.log
        values = np.array([exp(each.log - unit) for each in sums])
        errors = values * np.array([each.error for each in sums])
        size = np.abs(rows).sum(axis=1)
        missed = 4 * exp(below.log - unit) * (1 + below.error) * _RHO**-degree / (_RHO - 1)
        bounds = np.abs(weights) @ errors + size * missed + wrong.sum(axis=1) * 1.01
        bounds = bounds + size * (degree**2 + 64) * UNIT * (1 + log(degree))
        self.term = _Term(top + unit, weights @ values, bounds)


def _quadrature(rows: Floats, angles: Floats, degree: int) -> Floats:
    """Return weights at the points middle - half cos(angle) that sum polynomials against each row of coefficients."""
    t = np.linspace(1.0, -1.0, rows.shape[1])
    parts = [slice(start, start + _CHUNK) for start in range(0, len(t), _CHUNK)]
    sums = np.stack([_chebyshev_sums(rows[:, part], t[part], degree) for part in parts], axis=-1).sum(axis=-1)
    halves = np.ones(degree + 1)
    halves[[0, -1]] = 0.5
    cosines = np.cos(np.outer(np.arange(degree + 1), angles))
    return np.asarray(2 / degree * (sums * halves) @ cosines * halves)


def _chebyshev_sums(rows: Floats, t: Floats, degree: int) -> Floats:
    """Return sum_k row_k T_d(t_k) for each row and d; in pairs, as a product of matrices has no such bound."""
    before, here, sums = np.ones_like(t), t, [rows.sum(axis=1), (rows * t).sum(axis=1)]
    for _ in range(degree - 1):
        before, here = here, 2 * t * here - before
        sums.append((rows * here).sum(axis=1))
    return np.stack(sums, axis=1)
