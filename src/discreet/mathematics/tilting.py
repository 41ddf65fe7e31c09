"""Laws tilted to a sum: digits are best where the mean of the sum is near what is asked (the saddle point).

Tilting multiplies the weight of a value k by e^(tilt k) in every row of weights, so that the mean of the sum of all
rows is where it is wanted. What is computed about a given sum does not depend on the tilt.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Counts, Floats

_MOST_STEPS = 200
_MOST_EXPONENT = 300.0  # so far a tilt may be from the one at which weights were formed, at either end
_LEAST_EXPONENT = 200.0  # the same for weights that are not formed anew: those below 1e-308 stay below e^-300 of a row


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
    miss the total by `absolute` and `relative` standard deviations of the sum. Weights are formed anew only where a
    tilt is so far from the one before that they might overflow.
    """
    centred = steps - float(steps[0] + steps[-1]) / 2

    def formed(tilt: float) -> _Formed:
        weights = logs + tilt * centred
        peaks = weights.max(axis=1)
        weights -= peaks[:, None]
        return np.exp(weights, out=weights), peaks, tilt

    return _tilted(formed, steps, total, absolute, relative, steepest, times)


def weights_tilted_to(
    weights: Floats,
    log_scales: Floats,
    steps: Counts,
    total: float,
    *,
    relative: float,
    start: float,
    steepest: float,
    times: Counts | int,
) -> Tilted:
    """Return the same of weights, each row divided by a scale, which are overwritten; no tilt at which they overflow.

    Those who know about where the tilt is `start` there.
    """
    steepest = min(steepest, _LEAST_EXPONENT / max(1.0, float(steps[-1] - steps[0]) / 2))
    start = float(np.clip(start, -steepest, steepest))
    return _tilted(lambda _: (weights, log_scales, 0.0), steps, total, 1e-9, relative, steepest, times, start)


_Formed = tuple[Floats, Floats, float]
"""Weights, the logarithms of what they were divided by, and the tilt at which they were formed."""


def _tilted(
    formed: Callable[[float], _Formed],
    steps: Counts,
    total: float,
    absolute: float,
    relative: float,
    steepest: float,
    times: Counts | int,
    tilt: float = 0.0,
) -> Tilted:
    """Return laws tilted to a total, given what forms their weights at a tilt.

    The mean rises with the tilt and its derivative is the variance, so each step is miss / variance, at most twice as
    far as the one before might have been, or half of the bracket. All moments come from one product of the weights
    with e^(tilt s), s e^(tilt s) and s^2 e^(tilt s), s counted from the middle.
    """
    low, high, farthest = -steepest, steepest, 1.0
    middle = float(steps[0] + steps[-1]) / 2
    centred = np.asarray(steps - middle)
    powers = np.stack([np.ones_like(centred), centred, centred**2], axis=1)
    weights, peaks, origin = formed(tilt)
    for _ in range(_MOST_STEPS):
        if abs(tilt - origin) * centred[-1] > _MOST_EXPONENT:
            weights, peaks, origin = formed(tilt)
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
