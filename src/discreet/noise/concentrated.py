"""Noise and losses of a zCDP parameter: the variance that suffices for a guarantee, and the loss that rho allows."""

from fractions import Fraction
from functools import lru_cache
from math import exp, inf, log, nextafter, sqrt

import numpy as np
from flint import ctx

from discreet.certificates import PrivacyLoss
from discreet.exact import ball
from discreet.guarantees.zcdp import best_log_order, log_delta, reached_delta, zcdp_gives
from discreet.mathematics.digits import root

SLACK = Fraction(10**9 - 1, 10**9)
"""What is used of a delta: the rest leaves room for the rounding of floats that read the guarantee."""
_POINTS, _FARTHEST = 256, 12.0  # of the curve of a zCDP parameter, up to so many standard deviations


def worst_loss(epsilon: Fraction, lost: Fraction) -> PrivacyLoss:
    """Return the loss that dominates every (epsilon, delta): randomised response, or all is lost."""
    with ctx.workprec(128):
        chances = [ball(1 - lost) / (1 + (sign * ball(epsilon)).exp()) for sign in (-1, 1)]
        uppers = tuple(float(chance.upper()) for chance in (*chances, ball(lost)))
    return PrivacyLoss((epsilon, -epsilon), uppers[:2], uppers[2])


def variance_through_zcdp(squared: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a variance, of six digits, that suffices and is hardly more than needed."""

    def excess(t: float) -> float:
        rho = float(squared) / (2 * exp(t))
        return log_delta(rho, float(epsilon))(best_log_order(rho, float(epsilon))) - log(delta)

    variance = exp(root(excess, -20.0, 60.0, absolute=1e-9))
    digits = 10 ** (5 - int(np.floor(np.log10(variance)))) if variance < 1e5 else 1
    found = Fraction(int(variance * digits) + 1, digits)
    while not zcdp_gives(squared / (2 * found), epsilon, delta):
        found += Fraction(1, digits)
    return found


@lru_cache(maxsize=64)
def concentrated_loss(rho: Fraction) -> PrivacyLoss:
    """Return a loss whose delta(epsilon) is nowhere below what rho-zCDP allows."""
    if rho == 0:
        return PrivacyLoss((Fraction(0),), (1.0,))
    farthest = float(rho) + _FARTHEST * sqrt(2 * float(rho))
    epsilons = [Fraction(farthest) * place / _POINTS for place in range(_POINTS + 1)]
    deltas = [min(1.0, nextafter(float(reached_delta(rho, epsilon).upper()), inf)) for epsilon in epsilons]
    return PrivacyLoss.from_symmetric_curve(epsilons, deltas)
