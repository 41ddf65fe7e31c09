"""Laws tilted to a sum: digits are best where the mean of the sum is near what is asked (the saddle point).

Tilting multiplies the weight of a value k by e^(tilt k) in every row of weights, so that the mean of the sum of all
rows is where it is wanted. What is computed about a given sum does not depend on the tilt.
"""

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Counts, Floats

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
    start: float = 0.0,
    steepest: float = np.inf,
    times: Counts | int = 1,
) -> Tilted:
    """Return the laws under the tilt at which the mean of the sum is a total, or at the steepest one that is allowed.

    Row i of `logs` holds the logarithms of the weights of the values `steps`, and counts as many `times`. The mean may
    miss the total by `absolute` and `relative` standard deviations of the sum. The mean rises with the tilt and its
    derivative is the variance, so each step is miss / variance, at most twice as far as the one before might have been,
    or half of the bracket. All moments come from one product of the weights with e^(tilt s), s e^(tilt s) and
    s^2 e^(tilt s), s counted from the middle; weights are formed anew only where that might overflow. Those who know
    about where the tilt is `start` there.
    """
    low, high, farthest, tilt = -steepest, steepest, 1.0, start
    origin = None
    middle = float(steps[0] + steps[-1]) / 2
    centred = np.asarray(steps - middle)
    powers = np.stack([np.ones_like(centred), centred, centred**2], axis=1)
    for _ in range(_MOST_STEPS):
        if origin is None or abs(tilt - origin) * centred[-1] > _MOST_EXPONENT:
            weights, origin = logs + tilt * centred, tilt
            peaks = weights.max(axis=1)
            weights -= peaks[:, None]
            np.exp(weights, out=weights)
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
