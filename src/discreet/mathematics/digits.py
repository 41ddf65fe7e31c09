"""Numbers that keep their digits: ratios of Gamma functions, roots, and laws tilted to a sum.

A plain difference of two log-Gammas at 1e12 has lost all but two digits. With Stirling's formula
ln Gamma(x) = (x - 1/2) ln x - x + ln(2 pi)/2 + s(x) the large parts cancel on paper instead.

Tilting multiplies the weight of a value k by e^(tilt k) in every row of weights, so that the mean of the sum of all
rows is where it is wanted. What is computed about a given sum does not depend on the tilt, and its digits are best
where the mean of the sum is near it (the saddle point).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from discreet.arrays import Counts, Floats

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

    >>> round(root(lambda x: x * x - 2, 0, 2), 12)
    1.414213562373
    """
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=absolute, rtol=relative))


_MOST_STEPS = 200
_MOST_EXPONENT = 300.0  # so far a tilt may be from the one at which weights were formed, at either end


@dataclass(frozen=True, eq=False)
class Tilted:
    """Tilted laws: `weights` sum to one in each row, `log_sums` are the logarithms of what they were divided by."""

    tilt: float
    weights: Floats
    log_sums: Floats
    means: Floats
    variance: float


def tilted_to(
    logs: Floats,
    steps: Counts,
    total: float,
    *,
    absolute: float,
    relative: float,
    steepest: float = np.inf,
    times: Counts | int = 1,
) -> Tilted:
    """Return the laws under the tilt at which the mean of the sum is a total, or at the steepest one that is allowed.

    Row i of `logs` holds the logarithms of the weights of the values `steps`, and counts as many `times`. The mean may
    miss the total by `absolute` and `relative` standard deviations of the sum. The mean rises with the tilt and its
    derivative is the variance, so each step is miss / variance, at most twice as far as the one before might have been,
    or half of the bracket. All moments come from one product of the weights with e^(tilt s), s e^(tilt s) and
    s^2 e^(tilt s), s counted from the middle; weights are formed anew only where that might overflow.
    """
    low, high, farthest, tilt = -steepest, steepest, 1.0, 0.0
    origin = None
    middle = float(steps[0] + steps[-1]) / 2
    centred = np.asarray(steps - middle)
    powers = np.stack([np.ones_like(centred), centred, centred**2], axis=1)
    for _ in range(_MOST_STEPS):
        if origin is None or abs(tilt - origin) * centred[-1] > _MOST_EXPONENT:
            tilted, origin = logs + tilt * centred, tilt
            peaks = tilted.max(axis=1)
            weights = np.exp(tilted - peaks[:, None])
        factors = np.exp((tilt - origin) * centred)
        sums, first, second = (weights @ (powers * factors[:, None])).T
        means = first / sums
        variance = max(0.0, float((times * (second / sums - means**2)).sum()))
        miss = float((times * (means + middle)).sum()) - total
        if abs(miss) <= absolute + relative * np.sqrt(variance):
            break
        low, high = (tilt, high) if miss < 0 else (low, tilt)
        following = tilt - float(np.clip(miss / max(variance, 1e-12), -farthest, farthest))
        following, farthest = following if low < following < high else (low + high) / 2, 2 * farthest
        if following == tilt:
            break
        tilt = following
    weights *= factors
    weights /= sums[:, None]
    return Tilted(tilt, weights, peaks + np.log(sums) + tilt * middle, means + middle, variance)
