"""Intervals of shares that are known with noise: among the records themselves, and in the population they came from.

A count k is read as x, with Gaussian noise of the standard deviation s. Far from zero it is in x -+ z s. Near zero, x
may lie below, and cutting that interval off at zero would leave a sliver or nothing. Instead, in units of s, a count of
m is believed at readings in [a, b], which hold the probability of the level: those that it explains best, beside what
would explain each best of all, which is max(x, 0) (Feldman and Cousins, 1998). With u = b - m,

    a = (m^2 - u^2) / (2 m),    Phi(u) - Phi(a - m) = level    below m = z,    a = m - z, b = m + z    above,

and the interval has all m that are believed at x: it holds m with the probability of the level whatever m is, and is
never empty.
Near the number of all records it is the same from above.

A share q of n records is read as x, with noise of the variance v. Among these records it is a count over n. The share p
in the population of which the records are a sample is read with the variance v + p (1 - p) / n: that of noise, and that
of sampling, as in Wilson's interval. All p are believed that are, with this deviation, believed at x.
"""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from discreet._core.arrays import Floats

_LEAST, _POINTS, _HALVINGS = 1e-6, 4000, 60


def deviations(level: float) -> float:
    """Return z, half the width of an interval of this probability in standard deviations.

    >>> round(deviations(0.9), 4)
    1.6449
    """
    return float(ndtri((1 + level) / 2))


@lru_cache(maxsize=8)
def _believed(level: float) -> tuple[Floats, Floats, Floats]:
    """Return counts m up to z in units of s, and the readings a and b between which each is believed."""
    z = deviations(level)
    m = np.geomspace(_LEAST, z, _POINTS)
    low, high = np.full(_POINTS, float(ndtri(level))), np.full(_POINTS, z)
    for _ in range(_HALVINGS):
        u = (low + high) / 2
        holds = ndtr(u) - ndtr(-(m * m + u * u) / (2 * m)) >= level
        low, high = np.where(holds, low, u), np.where(holds, u, high)
    return m, (m * m - high * high) / (2 * m), m + high


def lowest(x: Floats, level: float) -> Floats:
    """Return the least m >= 0 that is believed at readings x, all in units of their deviation."""
    m, _, b = _believed(level)
    near = np.where(x <= b[0], 0.0, np.interp(x, b, m))
    return np.asarray(np.where(x >= b[-1], x - deviations(level), near))


def highest(x: Floats, level: float) -> Floats:
    """Return the largest m that is believed at readings x.

    >>> [round(float(highest(np.array(x), 0.9)), 2) for x in (-3, -1, 0, 2)]
    [0.26, 0.81, 1.64, 3.64]
    """
    m, a, _ = _believed(level)
    return np.asarray(np.where(x >= 0, x + deviations(level), np.interp(x, a, m)))


def share_interval(shares: ArrayLike, variance: ArrayLike, size: float, level: float) -> tuple[Floats, Floats]:
    """Return the ends for the population: of shares with noise of some variance, among so many records."""
    given, v = np.broadcast_arrays(np.asarray(shares, dtype=float), np.asarray(variance, dtype=float))
    z = deviations(level)
    is_upper = given > 0.5
    x = np.where(is_upper, 1 - given, given)
    pull = z * z / size
    middle, root = x + pull / 2, np.sqrt(np.maximum((x + pull / 2) ** 2 - (1 + pull) * (x * x - z * z * v), 0.0))
    low, high = (middle - root) / (1 + pull), (middle + root) / (1 + pull)
    near = (v > 0) & (x < 2 * z * np.sqrt(v + np.clip(high, 0, 1) / size))
    if near.any():
        low, high = low.copy(), high.copy()
        own, noise = x[near], v[near]

        def deviation(p: Floats) -> Floats:
            return np.asarray(np.sqrt(noise + p * (1 - p) / size))

        low[near] = _turning(lambda p: p < deviation(p) * lowest(own / deviation(p), level), own)
        high[near] = _turning(lambda p: p <= deviation(p) * highest(own / deviation(p), level), own)
    low, high = np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    return np.where(is_upper, 1 - high, low), np.where(is_upper, 1 - low, high)


def _turning(holds: Callable[[Floats], NDArray[np.bool_]], like: Floats) -> Floats:
    """Return where a statement that holds for small shares ceases to hold."""
    low, high = np.zeros_like(like), np.ones_like(like)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        is_true = holds(middle)
        low, high = np.where(is_true, middle, low), np.where(is_true, high, middle)
    return np.where(low > 0, high, 0.0)


def count_interval(counts: ArrayLike, deviation: ArrayLike, size: float, level: float) -> tuple[Floats, Floats]:
    """Return the ends for these records: of counts with noise of some standard deviation, from 0 to all of them."""
    given, s = np.asarray(counts, dtype=float), np.asarray(deviation, dtype=float)
    is_upper = given > size / 2
    x = np.where(is_upper, size - given, given) / s
    low, high = np.clip(s * lowest(x, level), 0.0, size), np.clip(s * highest(x, level), 0.0, size)
    return np.where(is_upper, size - high, low), np.where(is_upper, size - low, high)
