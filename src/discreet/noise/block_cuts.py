"""Sums of noise on blocks and cells: normalisers, single cells, and cuts through the table.

With f_c the c-fold convolution of the law ~ e^(-b |x|), f = f_size e^(-a |s|) for a block and F the convolution of
such over several blocks, the first blocks and c cells of the next have

    P(U = v) ~ sum_(t, t') f_c(t) F_left(v - t) f_(size - c)(t') F_right(-v - t') e^(-a |t + t'|),

which is the weight of all tables with that sum: what lies above the cut must sum to -v. The inner sum runs along t' as
an exponential filter, and all terms are positive.
"""

from functools import lru_cache
from math import log

import numpy as np

from discreet.arrays import Floats
from discreet.noise.cut import CutLaw
from discreet.noise.line_sums import (
    block_sums,
    filtered,
    fitted,
    half_of,
    laplace_sums,
    steps,
    sums_of_blocks,
    width_of,
)

_ROWS = 256  # values of a cut that are worked out together


@lru_cache(maxsize=256)
def free_logs(outer: float, inner: float, size: int) -> float:
    """Return the log normaliser of one free block."""
    return log(float(block_sums(outer, inner, size).sum())) - size * log(np.tanh(inner / 2))


@lru_cache(maxsize=64)
def tied_log(outer: float, inner: float, sizes: tuple[int, ...]) -> float:
    """Return the log normaliser of blocks that sum to zero together."""
    half = width_of(outer, inner, sizes)
    rest, last = sums_of_blocks(outer, inner, sizes[:-1], half), block_sums(outer, inner, sizes[-1])
    return log(float(rest @ fitted(last, half))) - sum(sizes) * log(np.tanh(inner / 2))


def free_cell_law(outer: float, inner: float, size: int) -> CutLaw:
    """Return the law of one cell of a free block: its own weight, and that of all others given it."""
    others = laplace_sums(inner, size - 1)
    half = half_of(others)
    weights = np.exp(-inner * np.abs(steps(half))) * filtered(others, outer)  # both are symmetric
    return CutLaw(weights / weights.sum())


@lru_cache(maxsize=64)
def cell_law(outer: float, inner: float, sizes: tuple[int, ...], size: int) -> CutLaw:
    """Return the law of one cell of a block of this size: a cut through that block, put first, after one cell."""
    others = list(sizes)
    others.remove(size)
    return cut_law(outer, inner, (size, *others), 1)


@lru_cache(maxsize=2048)
def cut_law(outer: float, inner: float, sizes: tuple[int, ...], place: int) -> CutLaw:
    """Return the law of the noise of the first `place` cells, added up."""
    ends = np.cumsum((0, *sizes))
    block = int(np.searchsorted(ends, place, side="right")) - 1
    inside = place - int(ends[block])
    left, right = tuple(sorted(sizes[:block])), tuple(sorted(sizes[block:] if not inside else sizes[block + 1 :]))
    half = width_of(outer, inner, sizes)
    if not inside:
        weights = sums_of_blocks(outer, inner, left, half) * sums_of_blocks(outer, inner, right, half)
    else:
        below = laplace_sums(inner, inside)
        above = laplace_sums(inner, sizes[block] - inside)
        weights = _through(outer, below, above, (left, right), half, inner)
    return CutLaw(weights / weights.sum())


def _through(
    outer: float, below: Floats, above: Floats, blocks: tuple[tuple[int, ...], tuple[int, ...]], half: int, inner: float
) -> Floats:
    """Return the weights of a cut through a block; v and -v weigh the same, as tables u and -u do."""
    wide = half + max(half_of(below), half_of(above))
    left, right = (sums_of_blocks(outer, inner, each, wide) for each in blocks)
    own, other = half_of(below), half_of(above)
    common = max(own, other)
    t, t_other = np.arange(-own, own + 1), np.arange(-common, common + 1)
    weights = np.zeros(2 * half + 1)
    padded = fitted(above, common)
    for first in range(0, half + 1, _ROWS):
        v = np.arange(first, min(first + _ROWS, half + 1))[:, None]
        rest = padded * _at(right, -v - t_other, wide)
        mixed = filtered(rest, outer)[:, ::-1][:, common - own : common + own + 1]  # at -t
        values = (below * _at(left, v - t, wide) * mixed).sum(axis=1)
        weights[half + v[:, 0]] = values
        weights[half - v[:, 0]] = values
    return weights


def _at(table: Floats, places: np.ndarray[tuple[int, ...], np.dtype[np.int64]], half: int) -> Floats:
    return np.asarray(np.where(np.abs(places) <= half, table[np.clip(places + half, 0, 2 * half)], 0.0))
