"""Intervals of shares that are known with noise: among the records themselves, and in the population they came from.

A share q of n records is read as x, with Gaussian noise of the variance v. Among these records q = x -+ z sqrt(v). The
share p in the population of which the records are a sample is in the interval where

    (x - p)^2 <= z^2 (v + p (1 - p) / n),

Wilson's interval with the variance of noise added to that of sampling: a quadratic inequality in p.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from discreet._core.arrays import Floats


def deviations(level: float) -> float:
    """Return z, half the width of an interval of this probability in standard deviations.

    >>> round(deviations(0.9), 4)
    1.6449
    """
    return float(ndtri((1 + level) / 2))


def share_interval(shares: ArrayLike, variance: ArrayLike, size: float, level: float) -> tuple[Floats, Floats]:
    """Return the ends for the population: of shares with noise of some variance, among so many records."""
    x, v, z = np.asarray(shares, dtype=float), np.asarray(variance, dtype=float), deviations(level)
    pull = z * z / size
    middle = x + pull / 2
    root = np.sqrt(np.maximum(middle**2 - (1 + pull) * (x * x - z * z * v), 0.0))
    low, high = (middle - root) / (1 + pull), (middle + root) / (1 + pull)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def count_interval(counts: ArrayLike, deviation: ArrayLike, size: float, level: float) -> tuple[Floats, Floats]:
    """Return the ends for these records: of counts with noise of some standard deviation, from 0 to all of them."""
    x, reach = np.asarray(counts, dtype=float), deviations(level) * np.asarray(deviation, dtype=float)
    return np.clip(x - reach, 0.0, size), np.clip(x + reach, 0.0, size)
