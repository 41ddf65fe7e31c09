"""The nearest non-negative counts with the right sum."""

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats


def nearest_counts(values: Floats, total: float) -> Floats:
    """Return the nearest vector, in Euclidean distance, without negative entries and with this sum.

    It is max(0, values - t) with t such that the sum is right (Held, Wolfe and Crowder, 1974).
    """
    falling = np.sort(values)[::-1]
    shifts = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    last = int(np.flatnonzero(falling - shifts >= 0)[-1]) if (falling - shifts >= 0).any() else 0
    return np.asarray(np.maximum(0.0, values - shifts[last]))


def largest_remainders(values: Floats, total: int) -> NDArray[np.int64]:
    """Return whole numbers near these, with this sum: all are rounded down, then those cut most get one back.

    Values that do not sum to the total are shifted evenly first.

    >>> largest_remainders(np.array([1.4, 2.4, 0.2]), 4).tolist()
    [2, 2, 0]
    """
    moved = values + (total - values.sum()) / len(values)
    found = np.floor(moved + 1e-9).astype(np.int64)
    missing = total - int(found.sum())
    found[np.argsort(found - moved, kind="stable")[:missing]] += 1
    return np.asarray(found)
