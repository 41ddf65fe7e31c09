"""Sums of noise along a line: tables of positive weights around zero, put together by convolution.

A table holds the weights of -h, ..., h. Only positive numbers are added, so that tails keep their digits; beyond a
length at which that would take too long the transform of Fourier does it, and tails are good to 1e-16 of the peak.
"""

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, sqrt

import numpy as np

from discreet._core.arrays import Floats

_LONGEST = 12_000  # entries of tables that are convolved directly


def steps(half: int) -> Floats:
    """Return -h, ..., h."""
    return np.arange(-half, half + 1, dtype=float)


def half_of(table: Floats) -> int:
    """Return h of a table."""
    return len(table) // 2


def convolved(first: Floats, second: Floats, half: int) -> Floats:
    """Return the convolution of two tables, cut to -h, ..., h or filled up with zeros."""
    if max(len(first), len(second)) <= _LONGEST:
        full = np.convolve(first, second)
    else:
        from scipy.signal import fftconvolve  # slow to import

        full = np.maximum(fftconvolve(first, second), 0.0)
    return fitted(full, half)


def fitted(table: Floats, half: int) -> Floats:
    """Return a table cut to -h, ..., h, or filled up with zeros."""
    middle = half_of(table)
    return table[middle - half : middle + half + 1] if middle >= half else np.pad(table, half - middle)


def spread(table: Floats) -> float:
    """Return the standard deviation of a symmetric table."""
    return sqrt(float(steps(half_of(table)) ** 2 @ table) / float(table.sum()))


@lru_cache(maxsize=256)
def laplace_sums(rate: float, count: int) -> Floats:
    """Return the c-fold convolution of ~ e^(-rate |x|), as far as weights are above about e^-32 of the peak.

    Distributions and not their weights: those of hundreds of cells at a small rate are too large for floats. Of no
    numbers it is a unit at zero.
    """
    half = ceil((6 * sqrt(2 * max(count, 1)) + 32) / rate)
    found = np.zeros(2 * half + 1)
    found[half] = 1.0
    single = np.tanh(rate / 2) * np.exp(-rate * np.abs(steps(half)))
    for _ in range(count):
        found = convolved(found, single, half)
    return found


@lru_cache(maxsize=256)
def block_sums(outer: float, rate: float, count: int) -> Floats:
    """Return the weights of the sum of a block of `count` cells: their distribution, times e^(-outer |s|)."""
    cells = laplace_sums(rate, count)
    return np.asarray(cells * np.exp(-outer * np.abs(steps(half_of(cells)))))


@lru_cache(maxsize=512)
def sums_of_blocks(outer: float, rate: float, counts: tuple[int, ...], half: int) -> Floats:
    """Return the weights of the sum of blocks of these sizes, between -h and h."""
    if not counts:
        return fitted(np.ones(1), half)
    first, others = counts[0], counts[1:]
    return convolved(sums_of_blocks(outer, rate, others, half), block_sums(outer, rate, first), half)


def width_of(outer: float, rate: float, counts: Sequence[int]) -> int:
    """Return how far sums of all blocks go, at most: nine standard deviations, and as far as single tails do."""
    variances = [counts.count(each) * spread(block_sums(outer, rate, each)) ** 2 for each in set(counts)]
    return ceil(9 * sqrt(sum(variances)) + 32 / (outer + rate))


def filtered(rows: Floats, outer: float) -> Floats:
    """Return sum_y rows(y) e^(-outer |x - y|) for every x along the last axis: one pass forward and one back."""
    from scipy.signal import lfilter  # slow to import

    decay = [1.0, -float(np.exp(-outer))]
    forward = lfilter([1.0], decay, rows, axis=-1)
    back = lfilter([1.0], decay, rows[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray(forward + back - rows)
