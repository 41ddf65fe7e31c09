"""Numerically stable ratios of Gamma functions.

A plain difference of two log-Gammas at 1e12 has lost all but two digits. With Stirling's formula
ln Gamma(x) = (x - 1/2) ln x - x + ln(2 pi)/2 + s(x) the large parts cancel on paper instead.
"""

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
