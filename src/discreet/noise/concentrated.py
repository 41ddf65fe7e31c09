"""From zero-concentrated privacy to (epsilon, delta), certified.

rho-zCDP gives, for every epsilon,

    delta = inf over a > 1 of e^((a-1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1)     (Canonne, Kamath and Steinke 2020).

The best order a is found in floats; what is stated is enclosed by balls at that order.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import exp, inf, log, log1p, nextafter, sqrt

import numpy as np
from flint import arb, ctx
from scipy.optimize import brentq, minimize_scalar

from discreet.certificates import PrivacyLoss
from discreet.exact import ball

SLACK = Fraction(10**9 - 1, 10**9)
"""What is used of a delta: the rest leaves room for the rounding of floats that read the guarantee."""
_POINTS, _FARTHEST = 256, 12.0  # of the curve of a zCDP parameter, up to so many standard deviations


def worst_loss(epsilon: Fraction, lost: Fraction) -> PrivacyLoss:
    """Return the loss that dominates every (epsilon, delta): randomised response, or all is lost."""
    with ctx.workprec(128):
        chances = [ball(1 - lost) / (1 + (sign * ball(epsilon)).exp()) for sign in (-1, 1)]
        uppers = tuple(float(chance.upper()) for chance in (*chances, ball(lost)))
    return PrivacyLoss((epsilon, -epsilon), uppers[:2], uppers[2])


def suffices(rho: Fraction, epsilon: Fraction, delta: Fraction) -> bool:
    """Tell, certified in ball arithmetic, that rho-zCDP gives (epsilon, delta): some order a proves it."""
    with ctx.workprec(192):
        return bool(reached_delta(rho, epsilon) <= ball(delta))


def reached_delta(rho: Fraction, epsilon: Fraction) -> arb:
    """Return an enclosure of the delta that the best order found proves for this epsilon."""
    a = ball(Fraction(1 + exp(_best_log_order(float(rho), float(epsilon)))))
    with ctx.workprec(192):
        return ((a - 1) * (a * ball(rho) - ball(epsilon)) + a * (1 - 1 / a).log()).exp() / (a - 1)


def _best_log_order(rho: float, epsilon: float) -> float:
    """Return log(a - 1) of the best order a."""
    found = minimize_scalar(_log_delta(rho, epsilon), bounds=(-8.0, 18.0), method="bounded", options={"xatol": 1e-10})
    return float(found.x)


def _log_delta(rho: float, epsilon: float) -> Callable[[float], float]:
    def value(t: float) -> float:
        a = 1 + exp(t)
        return (a - 1) * (a * rho - epsilon) + a * log1p(-1 / a) - t

    return value


def variance_through_zcdp(squared: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a variance, of six digits, that suffices and is hardly more than needed."""

    def excess(t: float) -> float:
        rho = float(squared) / (2 * exp(t))
        return _log_delta(rho, float(epsilon))(_best_log_order(rho, float(epsilon))) - log(delta)

    variance = exp(brentq(excess, -20.0, 60.0, xtol=1e-9))
    digits = 10 ** (5 - int(np.floor(np.log10(variance)))) if variance < 1e5 else 1
    found = Fraction(int(variance * digits) + 1, digits)
    while not suffices(squared / (2 * found), epsilon, delta):
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
