"""The exact privacy curve of Gaussian noise: the cost of moving numbers by m standard deviations in all.

Moving numbers by d_j under independent Gaussian noise of variance v_j is one shift by m, m^2 = sum_j d_j^2 / v_j, of
one standard normal number, and (Balle and Wang, 2018)

    delta(epsilon) = Phi(m/2 - epsilon/m) - e^epsilon Phi(-m/2 - epsilon/m),

which increases with m. Rounding noisy numbers afterwards costs nothing. Everything stated is enclosed in balls.
"""

from fractions import Fraction
from functools import lru_cache
from math import exp, inf, nextafter, sqrt

from flint import arb, ctx
from scipy.special import log_ndtr, ndtr

from discreet._core.exact import ball
from discreet.privacy._calibration import DIGITS, raised_to_fit
from discreet.privacy._loss import PrivacyLoss

_BITS = 192
_POINTS, _FARTHEST = 512, 12  # points of the curve as a loss, up to this many standard deviations
_WIDEST = 60.0  # ln of the largest variance considered


def curve_delta(squared: Fraction, epsilon: Fraction) -> arb:
    """Return an enclosure of delta(epsilon) for m^2 = `squared`; Phi(x) = erfc(-x / sqrt 2) / 2."""
    with ctx.workprec(_BITS):
        shift, allowed, root = ball(squared).sqrt(), ball(epsilon), arb(2).sqrt()
        first, second = -(shift / 2 - allowed / shift) / root, (shift / 2 + allowed / shift) / root
        return (first.erfc() - allowed.exp() * second.erfc()) / 2


def curve_gives(squared: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Tell, certified in ball arithmetic, that m^2 = `squared` gives (epsilon, delta)."""
    with ctx.workprec(_BITS):
        return bool(curve_delta(squared, epsilon) <= ball(delta))


@lru_cache(maxsize=256)
def curve_variance(squared: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a variance of six digits that suffices where the squared distance is `squared`, and hardly more than that.

    It is found in floats, by bisection, and then certified; where floats fall short by a digit, it is raised.

    >>> float(curve_variance(Fraction(1), Fraction(1), Fraction(1, 10**6)))
    17.848
    """
    low, high = -_WIDEST, _WIDEST
    while high - low > 1e-9:
        middle = (low + high) / 2
        shift = sqrt(float(squared)) * exp(-middle / 2)
        low, high = (middle, high) if _about(shift, float(epsilon)) > float(delta) else (low, middle)
    return raised_to_fit(lambda v: curve_gives(squared / v, epsilon, delta), exp(high), Fraction(1, 10**DIGITS))


def _about(shift: float, epsilon: float) -> float:
    """Return delta(epsilon) in floats."""
    above = float(ndtr(shift / 2 - epsilon / shift))
    return above - exp(epsilon + float(log_ndtr(-shift / 2 - epsilon / shift)))


@lru_cache(maxsize=64)
def curve_loss(squared: Fraction, epsilon: Fraction) -> PrivacyLoss:
    """Return a loss whose delta is nowhere below the curve, and that of the curve at the stated epsilon."""
    shift = sqrt(float(squared))
    farthest = Fraction(shift * (shift / 2 + _FARTHEST))
    steps = {farthest * index / _POINTS for index in range(_POINTS + 1)}
    epsilons = sorted(steps | {epsilon})
    deltas = [min(1.0, max(0.0, nextafter(float(curve_delta(squared, each).upper()), inf))) for each in epsilons]
    return PrivacyLoss.from_symmetric_curve(epsilons, deltas)
