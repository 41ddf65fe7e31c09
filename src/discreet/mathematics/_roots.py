"""The root of a function between two points where its signs differ."""

from collections.abc import Callable
from sys import float_info


def root(
    function: Callable[[float], float],
    low: float,
    high: float,
    *,
    absolute: float = 2e-12,
    relative: float = 4 * float_info.epsilon,
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
