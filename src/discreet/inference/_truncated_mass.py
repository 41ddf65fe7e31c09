"""What truncation leaves of a Dirichlet distribution: log P(all theta_i >= w), also where next to nothing is left.

Without its constant this is the density at 1 of a sum of independent numbers t_i >= w with densities t_i^(a_i - 1). A
factor e^(-rate t_i) for each changes it by e^-rate only, and with the right rate the sum is about 1 wherever the cut
moves it: then each number lies in a window that one knows, and nothing underflows. Two numbers have a sum s whose
density is known, F being the Beta distribution of their shapes,

    s^(a + b - 1) B(a, b) (F(1 - w/s) - F(w/s)),

so three and four levels need one integral, over the sum of the first two. Of more levels all but the last two are
summed up one after another: the density of k numbers is (s - k w)^(k-1) times a smooth function, whose logarithm is
kept as a polynomial in log(s - (k - 1) w), and one more number is one more integral for each point of it.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import betainc, betaln, gammaln, psi

from discreet._core.arrays import Floats
from discreet.noise import MARGIN

_NODES, _FEW_NODES = 64, 24  # points of the last integral; fewer for slopes, which may be rough
_ADDED_NODES = 40  # points of the integral over one more number
_POINTS = 40  # points at which the density of a sum is computed
_HALVINGS = 40
_SMALLEST = 1e-290  # below this, differences of distribution functions are not trusted
_EDGE_NODES = 32
_AT_ONCE = 128  # rows of shapes, so that what is held at a time stays small
_NEWTON_STEPS = 4

LogDensity = Callable[[Floats], Floats]


def log_chance_above(shapes: Floats, least: float) -> Floats:
    """Return log P(all theta_i >= least) for Dirichlet shapes of three or more levels, axes (levels, ...)."""
    rows = np.sort(shapes.reshape(len(shapes), -1), axis=0)  # the order does not matter; this one suits the integrals
    starts = range(0, rows.shape[1], _AT_ONCE)
    found = [_KeptSums(rows[:, first : first + _AT_ONCE], least).log_chance() for first in starts]
    return np.concatenate(found).reshape(shapes.shape[1:])


class _KeptSums:
    """Sums of numbers t_i >= w with densities t_i^(a_i - 1) e^(-rate t_i), axes (levels, rows)."""

    def __init__(self, shapes: Floats, least: float) -> None:
        self._shapes, self._least = shapes, least
        self._rate = _rate(shapes, least)
        self._low, self._peaks, self._high = _windows(shapes, self._rate, least)

    def log_chance(self) -> Floats:
        """Return log P(all theta_i >= w): the density of the whole sum at 1, with its constant."""
        shapes, rate, levels = self._shapes, self._rate, len(self._shapes)
        last = 2 if levels > 3 else 1
        density: LogDensity = self._first_two
        for count in range(2, levels - last):
            density = self._added(count, self._kept(count, density))
        if levels - last > 2:
            density = self._kept(levels - last, density)
        sums, steps = _between(*self._window(levels - last), _NODES)
        rest = 1 - sums
        logs = (shapes[-1] - 1) * np.log(rest) if last == 1 else _log_pair(shapes[-2], shapes[-1], rest, self._least)
        constant = gammaln(shapes.sum(axis=0)) - gammaln(shapes).sum(axis=0)
        return np.asarray(_log_sum(density(sums) + rate * sums + logs, steps) + constant)

    def _first_two(self, sums: Floats) -> Floats:
        return _log_pair(self._shapes[0], self._shapes[1], sums, self._least) - self._rate * sums

    def _window(self, count: int) -> tuple[Floats, Floats]:
        """Return between which values the sum of the first numbers lies, all together being 1."""
        (low, high), (rest_low, rest_high) = self._reach(slice(0, count)), self._reach(slice(count, None))
        return np.maximum(low, 1 - rest_high), np.minimum(high, 1 - rest_low)

    def _reach(self, part: slice) -> tuple[Floats, Floats]:
        """Return how far a sum reaches: no farther than all together; squares add up, with what peaks lack to 1."""
        low, peaks, high = self._low[part], self._peaks[part], self._high[part]
        middle, off = peaks.sum(axis=0), 2 * np.abs(self._peaks.sum(axis=0) - 1)
        below, above = (1.5 * np.sqrt((each**2).sum(axis=0)) for each in (peaks - low, high - peaks))
        return np.maximum(low.sum(axis=0), middle - off - below), np.minimum(high.sum(axis=0), middle + off + above)

    def _added(self, count: int, density: LogDensity) -> LogDensity:
        """Return the log density of a sum with one more number: one integral over that number."""
        (low, high), power, rate = self._window(count), self._shapes[count] - 1, self._rate
        own_low, own_high = self._low[count], self._high[count]

        def found(sums: Floats) -> Floats:
            first = np.maximum(own_low, sums - high)
            numbers, steps = _between(first, np.maximum(np.minimum(own_high, sums - low), first), _ADDED_NODES)
            return _log_sum(density(sums - numbers) + power * np.log(numbers) - rate * numbers, steps)

        return found

    def _kept(self, count: int, density: LogDensity) -> LogDensity:
        """Return the log density of a sum by its polynomial, Chebyshev's in log(s - (k - 1) w)."""
        edge, before = count * self._least, (count - 1) * self._least
        low, high = (np.log(end - before) for end in self._window(count))
        middle, half = (low + high) / 2, (high - low) / 2
        angles = np.pi * (np.arange(_POINTS) + 0.5) / _POINTS
        sums = np.exp(middle + half * np.cos(angles)[:, None]) + before
        smooth = density(sums) - (count - 1) * np.log(sums - edge)
        factors = np.cos(np.outer(np.arange(_POINTS), angles)) @ smooth * 2 / _POINTS
        factors[0] /= 2

        def found(at: Floats) -> Floats:
            scaled = (np.log(at - before) - middle) / half
            later, last = np.zeros_like(scaled), np.zeros_like(scaled)
            for factor in factors[:0:-1]:  # by Clenshaw's rule
                later, last = 2 * scaled * later - last + factor, later
            return np.asarray(scaled * later - last + factors[0] + (count - 1) * np.log(np.maximum(at - edge, 1e-300)))

        return found


def chance_slopes(shapes: Floats, least: float) -> Floats:
    """Return about the derivative of log P(all theta_i >= least) by every shape, axes (levels, ...).

    It is the mean of log theta_i among what is left less that among all. Among what is left numbers are taken as
    independent, with the rate at which their means sum up to 1: rough for few levels, and quick for any number.
    """
    rate = _rate(shapes, least)
    low, _, high = _windows(shapes, rate, least)
    numbers, steps = _between(low, high, _FEW_NODES)
    powers = (shapes - 1) * np.log(numbers)
    for _ in range(_NEWTON_STEPS):
        logs = powers - rate * numbers
        weights = np.exp(logs - logs.max(axis=0)) * steps
        weights /= weights.sum(axis=0)
        means = (weights * numbers).sum(axis=0)
        variances = (weights * (numbers - means) ** 2).sum(axis=0)
        rate = rate + (means.sum(axis=0) - 1) / variances.sum(axis=0)
    kept = (weights * np.log(numbers)).sum(axis=0)
    return np.asarray(kept + psi(shapes.sum(axis=0)) - psi(shapes))


def _between(low: Floats, high: Floats, count: int) -> tuple[Floats, Floats]:
    """Return nodes from low to high and their weights in an integral; closer at both ends, where powers begin."""
    points, weights = (each.reshape(-1, *[1] * low.ndim) for each in np.polynomial.legendre.leggauss(count))
    u = (points + 1) / 2
    return low + (high - low) * u * u * (3 - 2 * u), (high - low) * 3 * u * (1 - u) * weights


def _log_sum(logs: Floats, weights: Floats) -> Floats:
    peak = logs.max(axis=0)
    return np.asarray(peak + np.log((np.exp(logs - peak) * weights).sum(axis=0)))


def _log_pair(a: Floats, b: Floats, sums: Floats, least: float) -> Floats:
    """Return the log density of the sum of two numbers."""
    part = least / sums
    return np.asarray((a + b - 1) * np.log(sums) + betaln(a, b) + log_mass(a, b, part, 1 - part))


def _rate(shapes: Floats, least: float) -> Floats:
    """Return the rate at which sum_i max(w, a_i / rate) = 1."""
    low, high = shapes.sum(axis=0) / 2, shapes.sum(axis=0) / (1 - len(shapes) * least)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = np.maximum(least, shapes / middle).sum(axis=0) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray((low + high) / 2)


def _windows(shapes: Floats, rate: Floats, least: float) -> tuple[Floats, Floats, Floats]:
    """Return between which numbers t^(a - 1) e^(-rate t) is not negligible, within [w, 1 - (m - 1) w], and its peak."""
    powers, most = shapes - 1, 1 - (len(shapes) - 1) * least
    peaks = np.clip(powers / rate, least, most)

    def drop(at: Floats) -> Floats:
        return np.asarray(rate * (at - peaks) - powers * np.log(at / peaks))

    ends = []
    for end in (least, most):
        near, far = peaks, np.full_like(peaks, end)
        for _ in range(_HALVINGS):
            middle = (near + far) / 2
            out = drop(middle) > MARGIN
            near, far = np.where(out, near, middle), np.where(out, middle, far)
        ends.append(far)
    return ends[0], peaks, ends[1]


def log_mass(a: Floats, b: Floats, low: Floats | float, high: Floats | float) -> Floats:
    """Return log P(low <= Beta(a, b) <= high), from the nearer end; far out by an integral from the nearer edge."""
    a, b, low, high = np.broadcast_arrays(a, b, low, high)
    upper = low > a / (a + b)
    own, other = np.where(upper, b, a), np.where(upper, a, b)  # seen from the nearer end
    near, far = np.where(upper, 1 - low, high), np.where(upper, 1 - high, low)
    found = betainc(own, other, near) - betainc(own, other, far)
    with np.errstate(divide="ignore"):
        logs = np.asarray(np.log(np.maximum(found, 0.0)))
    tiny = ~(found > _SMALLEST) & (near > far)
    if tiny.any():
        logs[tiny] = _log_edge(own[tiny], other[tiny], near[tiny], far[tiny])
    return logs


def _log_edge(a: Floats, b: Floats, near: Floats, far: Floats) -> Floats:
    """Return log P(far <= Beta(a, b) <= near) below the mode, where the density falls from `near` on.

    Its logarithm falls at least as fast as its slope there says, if it is concave.
    """
    slope = np.maximum((a - 1) / near - (b - 1) / (1 - near), 1e-300)
    wide = np.minimum(near - far, MARGIN / slope)
    points, weights = np.polynomial.legendre.leggauss(_EDGE_NODES)
    at = near - wide * (points[:, None] + 1) / 2
    logs = (a - 1) * np.log(at) + (b - 1) * np.log1p(-at)
    peak = logs.max(axis=0)
    return np.asarray(peak + np.log((np.exp(logs - peak) * weights[:, None]).sum(axis=0) * wide / 2) - betaln(a, b))
