"""Where a function of one number is zero, and where it is lowest: Brent's methods, and Newton's for tilted laws.

Row i of `logs` holds the logarithms of the weights of the values `steps`. Tilting multiplies the weight of a value k by
e^(tilt k) in every row, so that the mean of the sum of all rows is where it is wanted. What is computed about a given
sum does not depend on the tilt, and its digits are best where the mean of the sum is near it (the saddle point).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Counts, Floats


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


def lowest(function: Callable[[float], float], low: float, high: float, *, absolute: float) -> float:
    """Return about where a function with one valley is lowest, to an absolute error."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": absolute})
    return float(found.x)


_MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class Tilted:
    """Tilted laws: `weights` sum to one in each row, `log_sums` are the logarithms of what they were divided by."""

    tilt: float
    weights: Floats
    log_sums: Floats
    means: Floats
    variance: float


def tilted(logs: Floats, steps: Counts, tilt: float) -> Tilted:
    """Return the laws under one tilt, with their means and the variance of the sum."""
    logs = logs + tilt * steps
    peaks = logs.max(axis=1, keepdims=True)
    weights = np.exp(logs - peaks)
    sums = weights.sum(axis=1, keepdims=True)
    weights /= sums
    means = weights @ steps
    variance = max(0.0, float((weights @ steps**2 - means**2).sum()))
    return Tilted(tilt, weights, (peaks + np.log(sums)).ravel(), means, variance)


def tilted_to(
    logs: Floats, steps: Counts, total: float, *, absolute: float, relative: float, steepest: float = np.inf
) -> Tilted:
    """Return the laws under the tilt at which the mean of the sum is a total, or at the steepest one that is allowed.

    The mean may miss it by `absolute` and `relative` standard deviations of the sum. The mean rises with the tilt and
    its derivative is the variance, so each step is miss / variance, at most twice as far as the one before might have
    been, or half of the bracket.
    """
    low, high, farthest = -steepest, steepest, 1.0
    found = tilted(logs, steps, 0.0)
    for _ in range(_MOST_STEPS):
        miss = float(found.means.sum()) - total
        if abs(miss) <= absolute + relative * np.sqrt(found.variance):
            break
        low, high = (found.tilt, high) if miss < 0 else (low, found.tilt)
        following = found.tilt - float(np.clip(miss / max(found.variance, 1e-12), -farthest, farthest))
        following, farthest = following if low < following < high else (low + high) / 2, 2 * farthest
        if following == found.tilt:
            break
        found = tilted(logs, steps, following)
    return found
