"""Sums of noise on blocks and cells: normalisers, single cells, and cuts through the table.

With f_c the c-fold convolution of the law ~ e^(-b |x|), f = f_size e^(-a |s|) for a block and F the convolution of
such over several blocks, the first blocks and c cells of the next have

    P(U = v) ~ sum_(t, t') f_c(t) F_left(v - t) f_(size - c)(t') F_right(-v - t') e^(-a |t + t'|),

which is the weight of all tables with that sum: what lies above the cut must sum to -v. The inner sum runs along t' as
an exponential filter, and all terms are positive.
"""

from functools import lru_cache
from math import log, sqrt

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

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

_ROWS = 64  # values of a cut that are computed together
_SMOOTH = 0.8  # of one over the rates: how far apart values may be that are computed


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


def cut_law(outer: float, inner: float, sizes: tuple[int, ...], place: int) -> CutLaw:
    """Return the law of the noise of the first `place` cells, added up; that of all others has the same."""
    mirrored = (sizes[::-1], sum(sizes) - place)
    return _cut_law(outer, inner, *((sizes, place) if 2 * place <= sum(sizes) else mirrored))


@lru_cache(maxsize=2048)
def _cut_law(outer: float, inner: float, sizes: tuple[int, ...], place: int) -> CutLaw:
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


def cut_operations(outer: float, inner: float, sizes: tuple[int, ...]) -> float:
    """Return about how many operations the laws of all cuts take: a few for each value computed and each t."""
    half, longest = 9 * sqrt(2 * sum(sizes)) / (outer + inner), (6 * sqrt(2 * max(sizes)) + 32) / inner
    return 5.0 * sum(sizes) * (half / _step(outer, inner) + 1) * (2 * longest + 1)


def _step(outer: float, inner: float) -> int:
    """Return how far apart the values are that are computed; between them logarithms are smooth."""
    return max(1, int(_SMOOTH / (outer + inner)))


def _worked_out(half: int, step: int) -> NDArray[np.int64]:
    """Return the values that are computed: all near zero, where whole numbers tell, then in growing steps."""
    near, grown = 6 * step, []
    at, wide = min(near, half), 1
    while at < half:
        grown.append(at)
        at, wide = at + wide, min(step, wide + max(1, wide // 4))
    return np.unique([*range(min(near, half)), *grown, half])


def _through(
    outer: float, below: Floats, above: Floats, blocks: tuple[tuple[int, ...], tuple[int, ...]], half: int, inner: float
) -> Floats:
    """Return the weights of a cut through a block; v and -v weigh the same, as tables u and -u do."""
    wide = half + max(half_of(below), half_of(above))
    left, right = (sums_of_blocks(outer, inner, each, wide) for each in blocks)
    own, other = half_of(below), half_of(above)
    common = max(own, other)
    padded = fitted(above, common)
    # rows of `left` at v - t, t = -own..own, and of `right` at -v - t', t' = -common..common: both run backwards
    lefts = sliding_window_view(fitted(left, half + own), 2 * own + 1)[:, ::-1]
    rights = sliding_window_view(fitted(right, half + common), 2 * common + 1)[:, ::-1]
    places = _worked_out(half, _step(outer, inner))
    values = np.empty(len(places))
    for first in range(0, len(places), _ROWS):
        v = places[first : first + _ROWS]
        mixed = filtered(padded * rights[half - v], outer)[:, ::-1][:, common - own : common + own + 1]  # at -t
        values[first : first + _ROWS] = np.einsum("t,vt,vt->v", below, lefts[half + v], mixed)
    upper = _between(places, values)
    return np.concatenate([upper[:0:-1], upper])


def _between(places: NDArray[np.int64], values: Floats) -> Floats:
    """Return the weights of 0, 1, ..., from those of some places: splines of order 7 through their logarithms.

    All weights are made of exponentials with kinks at zero alone, so that logarithms are smooth on one side of it.
    """
    every = np.arange(places[-1] + 1)
    if len(places) == len(every):
        return values
    from scipy.interpolate import make_interp_spline  # slow to import

    kept = values > 1e-40 * values.max()
    last = int(np.argmin(kept)) if not kept.all() else len(kept)
    spline = make_interp_spline(places[:last], np.log(values[:last]), k=7)
    return np.where(every <= places[last - 1], np.exp(spline(np.minimum(every, places[last - 1]))), 0.0)
