"""The loss that a zCDP parameter allows."""

from fractions import Fraction
from functools import lru_cache
from math import inf, nextafter, sqrt

from discreet.privacy._loss import PrivacyLoss
from discreet.privacy._zcdp import reached_delta

SLACK = Fraction(10**9 - 1, 10**9)
"""What is used of a delta: the rest leaves room for the rounding of floats that read the guarantee."""
_POINTS, _FARTHEST = 256, 12.0  # of the curve of a zCDP parameter, and its end in standard deviations


@lru_cache(maxsize=64)
def concentrated_loss(rho: Fraction) -> PrivacyLoss:
    """Return a loss whose delta(epsilon) is nowhere below what rho-zCDP allows."""
    if rho == 0:
        return PrivacyLoss((Fraction(0),), (1.0,))
    farthest = float(rho) + _FARTHEST * sqrt(2 * float(rho))
    epsilons = [Fraction(farthest) * index / _POINTS for index in range(_POINTS + 1)]
    deltas = [min(1.0, nextafter(float(reached_delta(rho, epsilon).upper()), inf)) for epsilon in epsilons]
    return PrivacyLoss.from_symmetric_curve(epsilons, deltas)
