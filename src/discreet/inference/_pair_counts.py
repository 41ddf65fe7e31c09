"""One count beside all others, for many at once: what is read of every cell from its own noisy count.

P(k | z) ~ g(z - k) h(z' - (n - k)): with the total known the rest has n - k, so there is one number to sum over. Both
kernels are log-concave, and so is their product: beyond an edge it falls at least as fast as at the edge, and what a
window loses is a geometric series.
"""

from collections.abc import Callable

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DiscreetError
from discreet.inference._problem import MOST_NUMBERS

_MARGIN = 32.0  # a window reaches this many nats beyond the noisy counts to begin with
LOST = 1e-13
"""A window is widened until no more than this share of a row lies outside."""
_MOST_WEIGHTS = 4 * MOST_NUMBERS  # windows may have to be wider than the work allowed before a charge
_TRIM = 1e-17  # probabilities this far below the largest are dropped


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
        width = int((last - first).max()) + 1
        if width * len(first) > _MOST_WEIGHTS:
            raise DiscreetError(
                f"Reading this needs {width} x {len(first)} weights, more than {_MOST_WEIGHTS:.0e}. For a single "
                "release that has a probability below 1e-20; several may contradict each other. Nothing was read. "
                "Read them one by one."
            )
        counts = first[:, None] + np.arange(width)
        inside = counts <= last[:, None]
        logs = np.where(inside, log_kernel(np.minimum(counts, total)), -np.inf)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        if _lost(log_kernel, first, last, total, weights) <= LOST:
            return trimmed(first, weights)
        margin *= 2


def trimmed(first: Counts, weights: Floats) -> tuple[Counts, Floats]:
    """Return the same rows without ends that weigh nothing: both kernels fall, so a window is wide for one of them."""
    width, shown = weights.shape[1], weights > _TRIM * weights.max(axis=1, keepdims=True)
    start, last = shown.argmax(axis=1), width - 1 - shown[:, ::-1].argmax(axis=1)
    kept = int((last - start).max()) + 1
    start = np.minimum(start, width - kept)
    return first + start, np.take_along_axis(weights, start[:, None] + np.arange(kept), axis=1)


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
