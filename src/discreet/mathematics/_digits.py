"""Numerically stable ratios of Gamma functions, and roots.

A plain difference of two log-Gammas at 1e12 has lost all but two digits. With Stirling's formula
ln Gamma(x) = (x - 1/2) ln x - x + ln(2 pi)/2 + s(x) the large parts cancel on paper instead.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from discreet._core.arrays import Floats

STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
"""s(x) = sum_j STIRLING[j] x^-(2j + 1); exact to double precision from x = 12 on."""

_LARGE = 30.0


def log_gamma_ratio(x: ArrayLike, shift: ArrayLike) -> Floats:
    """Return ln Gamma(x + shift) - ln Gamma(x) for x >= 1 and x + shift > 0.

    = (x - 1/2) ln(1 + shift/x) + shift (ln(x + shift) - 1) + s(x + shift) - s(x).
    """
    start, step = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(shift, dtype=float))
    end = start + step
    large = (start >= _LARGE) & (end >= _LARGE)
    plain = gammaln(np.where(large, 1.0, end)) - gammaln(np.where(large, 1.0, start))
    if not large.any():
        return np.asarray(plain)
    start, end, step = np.where(large, start, _LARGE), np.where(large, end, _LARGE), np.where(large, step, 0.0)
    stable = (start - 0.5) * np.log1p(step / start) + step * (np.log(end) - 1)
    return np.where(large, stable + _remainder(end) - _remainder(start), plain)


def _remainder(x: Floats) -> Floats:
    return np.asarray(sum(coefficient * x ** -(2 * j + 1) for j, coefficient in enumerate(STIRLING)))


def root(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    absolute: float = 2e-12,
    relative: float = 4 * float(np.finfo(float).eps),
) -> float:
    """Return about where a function with different signs at both ends is zero, to an absolute and relative error.

    The root stays between two points; the next is found by inverse quadratic interpolation where Chandrupatla's
    criterion allows it, else by halving. (SciPy's own takes longer to import than most inferences take.)

    >>> round(root(lambda x: x * x - 2, 0, 2), 12)
    1.414213562373
    """
    a, b = low, high
    at_a, at_b = float(function(a)), float(function(b))
    if at_a == 0 or at_b == 0:
        return a if at_a == 0 else b
    if (at_a < 0) == (at_b < 0):
        raise ValueError(f"The function has the same sign at {low:.6g} and at {high:.6g}, so no root lies between.")
    share = 0.5
    while True:
        middle = a + share * (b - a)
        at_middle = float(function(middle))
        if (at_middle < 0) == (at_a < 0):
            c, at_c = a, at_a
        else:
            c, b, at_c, at_b = b, a, at_b, at_a
        a, at_a = middle, at_middle
        best = b if abs(at_b) < abs(at_a) else a
        least = (absolute + relative * abs(best)) / abs(b - a)
        if at_a == 0 or least > 1:
            return a if at_a == 0 else best
        position, value = (a - b) / (c - b), (at_a - at_b) / (at_c - at_b)
        share = 0.5
        if value**2 < position and (1 - value) ** 2 < 1 - position:
            share = at_a / (at_b - at_a) * at_c / (at_b - at_c)
            share += (c - a) / (b - a) * at_a / (at_c - at_a) * at_b / (at_c - at_b)
        share = min(1 - least / 2, max(least / 2, share))
