"""Many counts at once, each of a group of cells beside all others: P(k | z) ~ g(z - k) h(z' - (n - k)), row by row.

With the total known the rest has n - k, so no transform is needed. Both kernels are log-concave, and so is their
product: beyond an edge it falls at least as fast as at the edge, and what a window loses is a geometric series.
"""

from collections.abc import Callable

import numpy as np

from discreet.arrays import Counts, Floats

_MARGIN = 45.0  # a window reaches this many factors e beyond the noisy counts to begin with
_LOST = 1e-13  # and is widened until no more than this share of a row lies outside


def pair_rows(
    log_kernel: Callable[[Counts], Floats], low: Counts, high: Counts, reach: float, total: int
) -> tuple[Counts, Floats]:
    """Return the first count of each row's window, and the probabilities of the counts in it.

    `log_kernel(counts)` gives the log weights of counts (rows, steps); `low` and `high` say where to look first.
    """
    low, high = np.clip(low, 0, total), np.clip(high, 0, total)
    margin = int(np.ceil(_MARGIN * reach)) + 2
    while True:
        first, last = np.maximum(low - margin, 0), np.minimum(high + margin, total)
        counts = first[:, None] + np.arange(int((last - first).max()) + 1)
        inside = counts <= last[:, None]
        logs = np.where(inside, log_kernel(np.minimum(counts, total)), -np.inf)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        if _lost(log_kernel, first, last, total, weights) <= _LOST:
            return first, weights
        margin *= 2


def _lost(log_kernel: Callable[[Counts], Floats], first: Counts, last: Counts, total: int, weights: Floats) -> float:
    """Return a bound on the largest share of a row outside its window."""
    lost = np.zeros(len(first))
    ends = (first, -1, weights[:, 0]), (last, 1, weights[np.arange(len(last)), last - first])
    for end, step, weight in ends:
        beyond = np.clip(end + step, 0, total)
        at, after = log_kernel(np.stack([end, beyond], axis=1)).T
        ratio = np.where(beyond == end, 0.0, np.exp(np.minimum(0.0, after - at)))
        with np.errstate(divide="ignore", invalid="ignore"):
            lost += np.where(ratio < 1, weight * ratio / (1 - ratio), np.inf)
    return float(lost.max())
