"""What truncation leaves of a Dirichlet law: log P(all theta_i >= w), also where next to nothing is left.

Without its constant this is the density at 1 of a sum of independent numbers t_i >= w with densities t_i^(a_i - 1). A
factor e^(-rate t_i) for each changes it by e^-rate only, and with the right rate the sum is about 1 wherever the cut
moves it: then each number lies in a window that one knows, and nothing underflows. Two numbers have a sum s whose
density is known, F being the Beta law of their shapes,

    s^(a + b - 1) B(a, b) (F(1 - w/s) - F(w/s)),

so that three and four levels need one integral, over the sum of the first two.
"""

import numpy as np
from scipy.special import betainc, betaln, gammaln, psi

from discreet.arrays import Floats

MOST_LEVELS = 4
"""Of more levels what is left is a nested integral, which is not worked out."""

_NODES, _FEW_NODES = 64, 24  # of the integral; fewer for slopes, which may be rough
_FAR = 45.0  # how far below its peak the logarithm of a density is negligible
_HALVINGS = 40
_SMALLEST = 1e-290  # below, differences of distribution functions are not trusted
_EDGE_NODES = 32


def log_chance_above(shapes: Floats, least: float) -> Floats:
    """Return log P(all theta_i >= least) for Dirichlet shapes of three or four levels, axes (levels, ...)."""
    sums, steps = _nodes(shapes, least, _NODES)
    logs = _log_density(shapes[:2], sums, least) + _log_density(shapes[2:], 1 - sums, least)
    constant = gammaln(shapes.sum(axis=0)) - gammaln(shapes).sum(axis=0)
    return np.asarray(_log_sum(logs, steps) + constant)


def chance_slopes(shapes: Floats, least: float) -> Floats:
    """Return about the derivative of log P(all theta_i >= least) by every shape, axes (levels, ...)."""
    sums, steps = _nodes(shapes, least, _FEW_NODES)
    halves = [(shapes[:2], sums), (shapes[2:], 1 - sums)]
    logs = [_log_density(own, at, least) for own, at in halves]
    whole, found = _log_sum(logs[0] + logs[1], steps), []
    for (own, at), rest in zip(halves, reversed(logs), strict=True):
        for level in range(len(own)):
            moved, step = own.copy(), 1e-3 * (1 + own[level])
            moved[level] += step
            found.append((_log_sum(_log_density(moved, at, least) + rest, steps) - whole) / step)
    return np.asarray(np.stack(found) + psi(shapes.sum(axis=0)) - psi(shapes))


def _nodes(shapes: Floats, least: float, count: int) -> tuple[Floats, Floats]:
    """Return values of the sum of the first two numbers, and their weights in an integral."""
    low, high = _windows(shapes, _rate(shapes, least), least)
    first = np.maximum(low[:2].sum(axis=0), 1 - high[2:].sum(axis=0))
    last = np.minimum(high[:2].sum(axis=0), 1 - low[2:].sum(axis=0))
    points, weights = (each.reshape(-1, *[1] * first.ndim) for each in np.polynomial.legendre.leggauss(count))
    u = (points + 1) / 2
    sums = first + (last - first) * u * u * (3 - 2 * u)  # closer together at both ends, where powers begin
    return sums, (last - first) * 3 * u * (1 - u) * weights


def _log_sum(logs: Floats, weights: Floats) -> Floats:
    peak = logs.max(axis=0)
    return np.asarray(peak + np.log((np.exp(logs - peak) * weights).sum(axis=0)))


def _log_density(shapes: Floats, sums: Floats, least: float) -> Floats:
    """Return the log density of the sum of one number or two."""
    if len(shapes) == 1:
        return np.asarray((shapes[0] - 1) * np.log(sums))
    a, b, part = shapes[0], shapes[1], least / sums
    return np.asarray((a + b - 1) * np.log(sums) + betaln(a, b) + log_mass(a, b, part, 1 - part))


def _rate(shapes: Floats, least: float) -> Floats:
    """Return the rate at which sum_i max(w, a_i / rate) = 1."""
    low, high = shapes.sum(axis=0) / 2, shapes.sum(axis=0) / (1 - len(shapes) * least)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = np.maximum(least, shapes / middle).sum(axis=0) > 1
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray((low + high) / 2)


def _windows(shapes: Floats, rate: Floats, least: float) -> tuple[Floats, Floats]:
    """Return between which numbers t^(a - 1) e^(-rate t) is not negligible, within [w, 1 - (m - 1) w]."""
    powers, most = shapes - 1, 1 - (len(shapes) - 1) * least
    peaks = np.clip(powers / rate, least, most)

    def drop(at: Floats) -> Floats:
        return np.asarray(rate * (at - peaks) - powers * np.log(at / peaks))

    ends = []
    for end in (least, most):
        near, far = peaks, np.full_like(peaks, end)
        for _ in range(_HALVINGS):
            middle = (near + far) / 2
            out = drop(middle) > _FAR
            near, far = np.where(out, near, middle), np.where(out, middle, far)
        ends.append(far)
    return ends[0], ends[1]


def log_mass(a: Floats, b: Floats, low: Floats | float, high: Floats | float) -> Floats:
    """Return log P(low <= Beta(a, b) <= high), from the nearer end; far out by an integral from the nearer edge."""
    a, b, low, high = np.broadcast_arrays(a, b, low, high)
    upper = low > a / (a + b)
    own, other = np.where(upper, b, a), np.where(upper, a, b)  # seen from the end that is nearer
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
    wide = np.minimum(near - far, _FAR / slope)
    points, weights = np.polynomial.legendre.leggauss(_EDGE_NODES)
    at = near - wide * (points[:, None] + 1) / 2
    logs = (a - 1) * np.log(at) + (b - 1) * np.log1p(-at)
    peak = logs.max(axis=0)
    return np.asarray(peak + np.log((np.exp(logs - peak) * weights[:, None]).sum(axis=0) * wide / 2) - betaln(a, b))
