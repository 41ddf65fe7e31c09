"""An event that is learnt: outputs are divided by thresholds until each region belongs to one data set or the other.

One number of an output seldom tells two neighbours apart as well as all of them together: with noise on several cells
the telling outputs lie in a corner, below one threshold here and above another one there. So a tree is grown on draws
of both data sets. Each split is the threshold, among quantiles of all numbers, that takes away most of the uncertainty
about which data set a draw came from (CART, by entropy). What is learnt is only a way to put outputs into bins; how
likely the bins are is for fresh draws to say.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from discreet.arrays import Counts, Floats

_DEEPEST, _LEAST_LEAF = 6, 60  # splits one below another, and draws of both data sets in a region
_THRESHOLDS = 24  # quantiles of a number at which a region may be split
_NUMBERS = 12  # numbers of an output that are considered


@dataclass(frozen=True, eq=False)
class Regions:
    """A tree of thresholds: of each split which number, where, and what lies below and above; leaves are below zero."""

    numbers: Counts
    splits: tuple[tuple[int, int, int, int], ...]

    def __call__(self, outputs: Counts) -> Counts:
        """Return the number of the region of each output, from 0 on."""
        values = _seen(outputs, self.numbers)
        place = np.zeros(len(values), dtype=np.int64)
        if not self.splits:
            return place
        table = np.array(self.splits, dtype=np.int64)
        for _ in range(_DEEPEST):
            inside = np.flatnonzero(place >= 0)
            column, threshold, below, above = table[place[inside]].T
            is_below = values[inside, column] <= threshold
            place[inside] = np.where(is_below, below, above)
        return -1 - place


def learnt_regions(first: Counts, second: Counts, moved: Counts) -> Regions:
    """Return regions learnt from draws of two data sets; the numbers that `moved` are considered before others."""
    length = first.shape[1]
    order = dict.fromkeys([*(int(place) for place in moved if place < length), *range(length)])
    numbers = np.array(list(order)[:_NUMBERS], dtype=np.int64)
    values = np.concatenate([_seen(first, numbers), _seen(second, numbers)])
    is_first = np.arange(len(values)) < len(first)
    splits: list[tuple[int, int, int, int]] = []
    leaves = 0

    def grow(inside: Counts, depth: int) -> int:
        nonlocal leaves
        best = _best_split(values[inside], is_first[inside]) if depth < _DEEPEST else None
        if best is None:
            leaves += 1
            return -leaves
        place = len(splits)
        splits.append((0, 0, 0, 0))
        column, threshold = best
        below = values[inside, column] <= threshold
        ends = [grow(inside[part], depth + 1) for part in (below, ~below)]
        splits[place] = (column, threshold, ends[0], ends[1])
        return place

    grow(np.arange(len(values)), 0)
    return Regions(numbers, tuple(splits))


def _seen(outputs: Counts, numbers: Counts) -> Counts:
    """Return the numbers that are considered, the differences of neighbouring ones, and the total."""
    chosen = outputs[:, numbers]
    return np.column_stack([chosen, np.diff(chosen, axis=1), outputs.sum(axis=1)])


def _best_split(values: Counts, is_first: NDArray[np.bool_]) -> tuple[int, int] | None:
    """Return the number and threshold that tell most, or nothing if no split leaves enough draws on both sides."""
    best, found = 0.0, None
    total = np.array([is_first.sum(), len(is_first) - is_first.sum()], dtype=float)
    whole = _entropy(total[None])[0]
    for column in range(values.shape[1]):
        own = values[:, column]
        edges = np.unique(np.quantile(own, np.linspace(0, 1, _THRESHOLDS + 1), method="inverted_cdf"))[:-1]
        if not edges.size:
            continue
        bins = np.searchsorted(edges, own)
        counts = [np.bincount(bins[side], minlength=len(edges) + 1)[:-1].cumsum() for side in (is_first, ~is_first)]
        below = np.column_stack(counts).astype(float)
        gains = whole - _entropy(below) - _entropy(total - below)
        enough = np.minimum(below.sum(axis=1), (total - below).sum(axis=1)) >= _LEAST_LEAF
        gains = np.where(enough, gains, 0.0)
        place = int(np.argmax(gains))
        if gains[place] > best + 1e-9:
            best, found = float(gains[place]), (column, int(edges[place]))
    return found


def _entropy(counts: Floats) -> Floats:
    """Return how many nats it takes to say which data set each draw of a region came from, for rows of counts."""
    sums = counts.sum(axis=1)
    return np.asarray(xlogy(sums, sums) - xlogy(counts, counts).sum(axis=1))
