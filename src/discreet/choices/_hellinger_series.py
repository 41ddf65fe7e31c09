"""How much the normalisers of Hellinger choices can differ between neighbours, without listing candidates.

P(r | x) = e^(-k H(x, r)) / Z_x with one k for all x (global sensitivity), H^2 = 1 - BC, BC in [0, 1] the affinity. As

    e^(k (1 - sqrt(1 - b))) = sum_j a_j(k) b^j,   all a_j >= 0,   sum_j a_j = e^k,

Z_x = e^-k sum_j a_j S_x^(j), S_x^(j) = sum_r BC(x, r)^j. S^(0) = K is the number of candidates; every S^(j) is at
least 1, the term r = x, and falls with j. BC is a product over cells of f_a(r) = e^D(alpha + a, alpha + r) <= 1.

Neighbours are x = u + e_i and y = u + e_l, where u holds n - 1 records: a and b in these two cells, and
c = n - 1 - a - b in the m - 2 others. Then H(x, y)^2 = 1 - f_a(a + 1) f_b(b + 1). Leave out the factor of any one cell,
and the condition that the r add up to n, and S becomes a product of T_j(a) = sum_r f_a(r)^j. With L_j any concave
increasing function above all ln T_j and d = c / (m - 2), S_y^(j) is at most the least of

    T_j(a) T_j(b + 1) e^((m - 3) L_j(d)),   T_j(a) e^((m - 2) L_j(d)),   T_j(b + 1) e^((m - 2) L_j(d)),

as the fullest of the others, one of the two, or the other of them is left out. And if the two cells move by at most w
and the fullest of the others, with d records or more, takes up the difference, S_x^(j) is at least

    V_jw(a + 1) V_jw(b) p_w(d)^j,   V_jw(a) = sum over |r - a| <= w of f_a(r)^j,   p_w(d) = least f_s(s +- 2w), s >= d,

for every w, and at least 1.

The loss is largest at r = x or y, where it is k H(x, y) + |ln Z_x / Z_y|. So epsilon is at most the largest of

    k H(x, y) + ln( sum_(j<J) a_j above_j + rest above_J ) - ln( sum_(j<J) a_j below_j + rest )

over all a and b, the rest being e^k - sum_(j<J) a_j. Large a and b are put together in stretches, each with its worst
ends.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx
from scipy.special import gammaln

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import ball
from discreet.mathematics import log_affinities

_TERMS, _MOST = 64, 30_000_000  # terms of the series, and the most numbers f_a(r)^j that are computed
_WINDOWS = (0, 1, 2, 4, 8, 16, 32)
_ALONE, _GROWTH = 24, 1.08  # counts considered one by one, and the factor by which stretches grow from there
_ROUNDING = 1e-9  # relative error of sums of positive floats f_a(r)^j, each accurate to half of that
_MOST_GAMMA = 5e5  # times 4 units of 2^-53: what ln f_a(r)^j may lose where ln Gammas are subtracted
_BITS = 128


def can_bound(size: int, cells: int) -> bool:
    """Return whether the bound can be computed: one number for each pair of counts of a cell, at least."""
    return cells >= 3 and (size + 1) ** 2 * cells <= _MOST


@dataclass(frozen=True)
class PairSums:
    """For every pair of stretches (a, b): the largest H(x, y), and bounds of S^(j) for j = 1, ..., J (rows)."""

    distance: Floats
    above: Floats
    below: Floats


@dataclass(frozen=True)
class CellSums:
    """What one cell adds, for every count: f_a(a + 1), T_j (rows j), V_jw (w, j), p_w (w); the worst of all priors."""

    step: Floats
    total: Floats
    window: Floats
    reach: Floats


def _cell_sums(alpha: tuple[float, ...], size: int) -> CellSums:
    different, counts = sorted(set(alpha)), np.arange(size + 1)
    terms = max(2, min(_TERMS, _MOST // ((size + 1) ** 2 * len(different))))
    step, total = np.ones(size + 1), np.zeros((terms, size + 1))
    window, reach = np.full((len(_WINDOWS), terms, size + 1), np.inf), np.ones((len(_WINDOWS), size + 1))
    for prior in different:
        step = np.minimum(step, np.exp(log_affinities(prior + counts, prior + counts + 1, np.ones_like(counts))))
        gammas = gammaln(prior + np.arange(2 * size + 1) / 2)  # of every (alpha + a + alpha + r) / 2
        has_digits = terms * np.abs(gammas).max() < _MOST_GAMMA
        for start in range(0, size + 1, 256):
            own = counts[start : start + 256]
            if has_digits:
                logs = gammas[own[:, None] + counts] - (gammas[2 * own][:, None] + gammas[2 * counts]) / 2
            else:
                logs = log_affinities(prior + own[:, None], prior + counts, counts - own[:, None])
            logs, rows = np.minimum(0.0, logs), np.arange(len(own))
            for index, width in enumerate(_WINDOWS):
                ends = [logs[rows, np.clip(own + move, 0, size)] for move in (-2 * width, 2 * width)]
                kept = np.where(own >= 2 * width, np.exp(np.minimum(*ends)), 0.0)
                reach[index, own] = np.minimum(reach[index, own], kept)
            for j in range(terms):
                sums = np.cumsum(np.pad(np.exp((j + 1) * logs), ((0, 0), (1, 0))), axis=1)
                total[j, own] = np.maximum(total[j, own], sums[:, -1])
                for index, width in enumerate(_WINDOWS):
                    low, high = np.maximum(own - width, 0), np.minimum(own + width, size) + 1
                    found = sums[rows, high] - sums[rows, low]
                    window[index, j, own] = np.minimum(window[index, j, own], found)
    return CellSums(_from_right(step), np.maximum.accumulate(total, axis=1), window, _from_right(reach))


def _from_right(values: Floats) -> Floats:
    """Return the running minimum from each index on."""
    return np.minimum.accumulate(values[..., ::-1], axis=-1)[..., ::-1]


def stretches(most: int) -> tuple[Counts, Counts]:
    """Return the first and the last counts of stretches that cover 0, ..., most."""
    starts = [0]
    while starts[-1] < most:
        starts.append(max(starts[-1] + 1, int(starts[-1] * _GROWTH)) if starts[-1] >= _ALONE else starts[-1] + 1)
    first = np.array([start for start in starts if start <= most])
    return first, np.append(first[1:] - 1, most)


@lru_cache(maxsize=16)
def pair_sums(alpha: tuple[float, ...], size: int) -> PairSums:
    """Return what bounds the loss of all neighbours, for all pairs of stretches that are possible."""
    cells, sums = len(alpha), _cell_sums(alpha, size)
    first, last = stretches(size - 1)
    one, two = (indices.ravel() for indices in np.indices((len(first), len(first))))
    possible = first[one] + first[two] <= size - 1
    one, two = one[possible], two[possible]
    others = (size - 1 - first[one] - first[two]) / (cells - 2)
    logs = np.array([_concave_above(np.log(row), others) for row in sums.total])
    left, right = sums.total[:, last[one]], sums.total[:, last[two] + 1]
    without = np.minimum(
        left * right * np.exp((cells - 3) * logs), np.minimum(left, right) * np.exp((cells - 2) * logs)
    )
    fewest = np.maximum(0, -((last[one] + last[two] + 1 - size) // (cells - 2)))
    moved, stayed = (
        np.minimum.reduceat(each, first, axis=-1) for each in (sums.window[..., 1:], sums.window[..., :-1])
    )
    powers = np.arange(1, len(logs) + 1)[:, None]
    kept = [moved[w][:, one] * stayed[w][:, two] * sums.reach[w, fewest] ** powers for w in range(len(_WINDOWS))]
    distance = np.sqrt(1 - sums.step[first[one]] * sums.step[first[two]])
    rounding = cells * _ROUNDING
    return PairSums(
        distance * (1 + _ROUNDING), without * (1 + rounding), np.maximum(1, np.max(kept, axis=0) * (1 - rounding))
    )


def _concave_above(values: Floats, points: Floats) -> Floats:
    """Return, at some points, the least concave function above the values at 0, 1, 2, ..."""
    corners: list[int] = []
    for third in range(len(values)):
        while len(corners) >= 2:
            first, second = corners[-2:]
            rise = (values[third] - values[first]) * (second - first) / (third - first)
            if values[second] - values[first] > rise:
                break
            corners.pop()
        corners.append(third)
    return np.interp(points, corners, values[corners])


def series_epsilon(scale: Fraction, sensitivity: arb, candidates: int, sums: PairSums) -> float:
    """Return an upper bound on epsilon for k = scale / GS.

    Weights are enclosed in balls, as parts of e^k; all that follows are sums of positive floats and a logarithm.
    """
    with ctx.workprec(_BITS):
        k = ball(scale) / sensitivity
        weights = _coefficients(k, len(sums.above))
        rest = k.exp() - sum(weights, arb(0))
        parts = np.array([float((each * (-k).exp()).mid()) for each in (*weights, rest)])
        slope = float(k.mid())
    empty = candidates * parts[0]
    above, below = empty + parts[1:] @ sums.above, empty + parts[1:-1] @ sums.below[:-1] + parts[-1]
    found = slope * sums.distance + np.log(above) - np.log(below)
    return float(found.max()) + (1 + slope) * _ROUNDING


def _coefficients(k: arb, terms: int) -> list[arb]:
    """Return a_0, ..., a_(J-1): j a_j = k sum_i i c_i a_(j-i), with 1 - sqrt(1 - b) = sum_i c_i b^i."""
    found, halves = [arb(1)], [arb(0), arb(1) / 2]
    while len(halves) <= terms:
        i = len(halves)
        halves.append(halves[-1] * (2 * i - 3) / (2 * i))
    for j in range(1, terms):
        found.append(k * sum((i * halves[i] * found[j - i] for i in range(1, j + 1)), arb(0)) / j)
    return found
