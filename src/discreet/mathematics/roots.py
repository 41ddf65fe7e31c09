"""Where a function of one number is zero, and where it is lowest: Brent's methods, in an interval that is given."""

from collections.abc import Callable

import numpy as np


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
