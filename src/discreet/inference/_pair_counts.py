"""One count beside all others: the reading behind every share.

P(k | z) ~ g(z - k) h(z' - (n - k)): with the total known the rest has n - k, so there is one number to sum over. Both
kernels are log-concave, and so is their product: beyond an edge it falls at least as fast as at the edge, and what a
window loses is a geometric series.
"""

from collections.abc import Callable

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DiscreetError
from discreet.inference._grouped_counts import Pairs
from discreet.inference._problem import MOST_NUMBERS

_MARGIN = 32.0  # a window reaches this many nats beyond the noisy counts to begin with
LOST = 1e-13
"""A window is widened until no more than this share of a row lies outside."""
_MOST_WEIGHTS = 4 * MOST_NUMBERS  # windows may have to be wider than the work allowed before a charge
_TRIM = 1e-17  # probabilities this far below the largest are dropped


class PairCounts:
    """The counts of two cells with a known total, each weighted by its kernel alone: the prior of the share is uniform.

    `log_kernel(place, counts)` gives the log weights of the counts of one cell; `low` and `high` say where to look
    first for both, `reach` how fast weights fall off beyond.
    """

    draws = None

    def __init__(
        self, log_kernel: Callable[[Counts, Counts], Floats], low: Counts, high: Counts, reach: float, total: int
    ) -> None:
        self.total, self._log_kernel, self.lost = total, log_kernel, LOST
        start, end = min(low[0], total - high[1]), max(high[0], total - low[1])
        first, weights = pair_rows(self._log_weights, np.array([start]), np.array([end]), reach, total)
        self._counts, self._weights = first[0] + np.arange(weights.shape[1]), weights[0]
        peak = int(self._weights.argmax())
        self.log_sum = float(self._log_weights(self._counts[peak : peak + 1])[0] - np.log(self._weights[peak]))
        """log sum_k g(z - k) h(z' - (n - k))."""
        self.first = np.array([self._counts[0], total - self._counts[-1]])
        """The first count of each cell's window."""
        self.marginals = np.stack([self._weights, self._weights[::-1]])
        """P(k_i = first_i + step | z) for both cells (rows) and every step (columns)."""

    def _log_weights(self, counts: Counts) -> Floats:
        one, two = np.array([0]), np.array([1])
        return np.asarray(self._log_kernel(one, counts) + self._log_kernel(two, self.total - counts))

    def log_weights(self, tables: Counts) -> Floats:
        """Return the log weights of rows of counts."""
        return self._log_weights(tables[..., 0])

    def sum_of(self, places: Counts) -> tuple[Counts, Floats]:
        """Return the possible counts of one cell, rising, and their probabilities; of both it is the total."""
        if len(places) == 2:
            return np.array([self.total]), np.ones(1)
        cell = int(places[0])
        counts, weights = self.first[cell] + np.arange(len(self._counts)), self.marginals[cell]
        kept = weights > _TRIM * weights.max()
        return counts[kept], weights[kept] / weights[kept].sum()

    def pair_of_sums(self, one: Counts, _: Counts) -> Pairs:
        """Return the possible counts of one cell and of the other, and their probabilities."""
        counts, weights = self.sum_of(one)
        return Pairs(counts, self.total - counts, weights, self.lost)

    def draw(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw independent pairs of counts."""
        edges = np.cumsum(self._weights)
        places = np.searchsorted(edges, generator.random(count) * edges[-1], side="right")
        drawn = self._counts[np.minimum(places, len(edges) - 1)]
        return np.stack([drawn, self.total - drawn], axis=1)


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
            return _trimmed(first, weights)
        margin *= 2


def _trimmed(first: Counts, weights: Floats) -> tuple[Counts, Floats]:
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
