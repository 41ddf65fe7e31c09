"""How much the normalisers of Hellinger choices can differ, for all tables at once and without listing candidates.

P(r | x) = e^(-k H(x, r)) / Z_x with one k for all x (global sensitivity), H^2 = 1 - BC, BC in [0, 1] the affinity. As

    e^(k (1 - sqrt(1 - b))) = sum_j a_j(k) b^j,   all a_j >= 0,   sum_j a_j = e^k,

Z_x = e^-k sum_j a_j S_x^(j), S_x^(j) = sum_r BC(x, r)^j. S^(0) = K is the number of candidates; every S^(j) is at
least 1, the term r = x, and falls with j. BC is a product over cells of f_a(r) = e^D(alpha + a, alpha + r) <= 1. Leave
out the factor of the fullest cell, and the condition that the r add up to n:

    S_x^(j) <= prod over the other cells of T_j(x_i),   T_j(a) = sum_r f_a(r)^j,

and with L_j any concave increasing function above all ln T_j this is at most M_j = e^((m-1) L_j(n/m)), as the other
cells hold n/m records each on average at most. So for all x and y

    ln Z_y / Z_x <= ln( [K + sum_(j<J) a_j M_j + (e^k - sum_(j<J) a_j) M_J] / [K + e^k - 1] ).

The loss is largest at r = x or y, where it is k h + |ln Z_x / Z_y|: epsilon <= k GS + that bound.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb, ctx

from discreet.arrays import Floats
from discreet.exact import ball
from discreet.mathematics.divergences import log_affinities

_TERMS, _MOST = 24, 30_000_000  # of the series, and numbers f_a(r)^j that are worked out at most
_ROUNDING = 1e-9  # relative, of sums of up to 10,000 positive floats, each right to 1e-12
_BITS = 128


def can_bound(size: int, cells: int) -> bool:
    """Tell whether the bound can be worked out: one number for each pair of counts of a cell, at least."""
    return cells >= 3 and (size + 1) ** 2 * cells <= _MOST


@lru_cache(maxsize=16)
def largest_sums(alpha: tuple[float, ...], size: int) -> tuple[float, ...]:
    """Return M_1, M_2, ..., M_J, rounded up."""
    cells, different = len(alpha), sorted(set(alpha))
    terms = max(1, min(_TERMS, _MOST // ((size + 1) ** 2 * len(different))))
    counts = np.arange(size + 1)
    sums = np.zeros((terms, size + 1))
    for prior in different:
        for start in range(0, size + 1, 256):
            rows = counts[start : start + 256, None]
            logs = log_affinities(prior + rows, prior + counts, counts - rows)
            for j in range(terms):
                own = np.exp((j + 1) * logs).sum(axis=1)
                sums[j, start : start + 256] = np.maximum(sums[j, start : start + 256], own)
    at = size / cells
    heights = [_concave_above(np.log(np.maximum.accumulate(row)), at) for row in sums]
    return tuple(float(np.exp((cells - 1) * height)) * (1 + cells * _ROUNDING) for height in heights)


def _concave_above(values: Floats, place: float) -> float:
    """Return at a place the least concave function above values at 0, 1, 2, ...; its corners are among the points."""
    corners: list[int] = []
    for third in range(len(values)):
        while len(corners) >= 2:
            first, second = corners[-2:]
            rise = (values[third] - values[first]) * (second - first) / (third - first)
            if values[second] - values[first] > rise:
                break
            corners.pop()
        corners.append(third)
    return float(np.interp(place, corners, values[corners]))


def series_epsilon(scale: Fraction, sensitivity: arb, candidates: int, sums: tuple[float, ...]) -> arb:
    """Return an enclosure of the bound on epsilon for k = scale / GS."""
    with ctx.workprec(_BITS):
        k = ball(scale) / sensitivity
        weights = _coefficients(k, len(sums))
        rest = k.exp() - sum(weights, arb(0))
        above = sum((a * arb(m) for a, m in zip(weights[1:], sums[:-1], strict=True)), arb(0)) + rest * arb(sums[-1])
        return ball(scale) + ((candidates + above) / (candidates + k.exp() - 1)).log()


def _coefficients(k: arb, terms: int) -> list[arb]:
    """Return a_0, ..., a_(J-1): j a_j = k sum_i i c_i a_(j-i), with 1 - sqrt(1 - b) = sum_i c_i b^i."""
    found, halves = [arb(1)], [arb(0), arb(1) / 2]
    while len(halves) <= terms:
        i = len(halves)
        halves.append(halves[-1] * (2 * i - 3) / (2 * i))
    for j in range(1, terms):
        found.append(k * sum((i * halves[i] * found[j - i] for i in range(1, j + 1)), arb(0)) / j)
    return found
