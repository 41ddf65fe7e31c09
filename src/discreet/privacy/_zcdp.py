"""Zero-concentrated differential privacy: the one conversion between rho and (epsilon, delta), both ways, certified.

rho-zCDP gives, for every order a > 1 (Canonne, Kamath and Steinke 2020),

    epsilon = a rho + (ln(1/delta) - ln a) / (a - 1) + ln(1 - 1/a),   or, solved for delta,
    delta   = e^((a-1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1).

Any order is sound. A good one is found in floats; what is stated is enclosed by balls at that order. All deltas of one
rho together are the privacy loss that it allows (`concentrated_loss`).
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import exp, inf, log, log1p, nextafter, sqrt

from flint import arb, ctx

from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, ball, exact, exact_text, probability, rounded_down, rounded_up
from discreet.privacy._calibration import last_fitting
from discreet.privacy._loss import PrivacyLoss

DIGITS, _BITS = 6, 192  # of epsilons, and of the balls that certify them


def zcdp_epsilon(rho: Exact, delta: Exact) -> Fraction:
    """Return an epsilon such that rho-zCDP is (epsilon, delta)-DP, rounded up.

    >>> float(zcdp_epsilon("0.05", "1e-6"))
    1.4716
    """
    cost, allowed = exact(rho, "rho"), probability(delta, "delta")
    if not cost or allowed < Fraction(1, 10**300):
        return Fraction(0) if not cost else _impossible(allowed)
    with ctx.workprec(_BITS):
        epsilon = Fraction(float(_converted(cost, allowed).upper()))
    return max(Fraction(0), rounded_up(epsilon * (1 + Fraction(1, 10**15)), DIGITS))


def _converted(cost: Fraction, allowed: Fraction) -> arb:
    """Return the epsilon of rho-zCDP at a delta, enclosed, at the best order a = 1 + excess.

    epsilon = a rho + (ln(1/delta) - ln a) / (a - 1) + ln((a - 1) / a).
    """
    slope, small = float(cost), log(1 / float(allowed))

    def epsilon_of(log_excess: float) -> float:
        excess = exp(log_excess)
        return (1 + excess) * slope + (small - log1p(excess)) / excess + log(excess) - log1p(excess)

    excess = Fraction(exp(_lowest(epsilon_of, -12.0, 30.0, absolute=1e-9)))
    step, order = ball(excess), ball(1 + excess)
    return order * ball(cost) + (-ball(allowed).log() - order.log()) / step + (step / order).log()


def _impossible(delta: Fraction) -> Fraction:
    raise DeclarationError(f"zCDP gives an epsilon only for a delta above 0; got {exact_text(delta)}.")


def pure_rho(epsilon: Fraction) -> Fraction:
    """Return the zCDP parameter of a pure epsilon, epsilon tanh(epsilon / 2), rounded up.

    No pure mechanism has larger divergences than randomised response (Kairouz, Oh and Viswanath, 2015), whose
    D_a (a - 1) = ln cosh x - ln cosh x0, x = (a - 1/2) epsilon, x0 = epsilon / 2. As a function of x^2, ln cosh x is
    concave, so it lies below its tangent at x0: D_a (a - 1) <= (x^2 - x0^2) tanh(x0) / (2 x0) = a (a - 1) epsilon
    tanh(epsilon / 2), with equality as a -> 1.

    >>> float(pure_rho(Fraction(1)))
    0.462117158
    """
    with ctx.workprec(_BITS):
        found = (ball(epsilon) * (ball(epsilon) / 2).tanh()).upper()
        return rounded_up(Fraction(int(found.man_exp()[0])) * Fraction(2) ** int(found.man_exp()[1]), 9)


def zcdp_limit(epsilon: Exact, delta: Exact) -> Fraction:
    """Return the largest rho, rounded down, such that rho-zCDP is (epsilon, delta)-DP."""
    wanted = exact(epsilon, "epsilon")

    def middle(low: Fraction, high: Fraction) -> Fraction:
        return rounded_down((low + high) / 2, 12)

    found = last_fitting(lambda r: zcdp_epsilon(r, delta) <= wanted, Fraction(0), wanted, Fraction(1, 10**9), middle)
    return rounded_down(found, 9)


def reached_delta(rho: Fraction, epsilon: Fraction) -> arb:
    """Return an enclosure of the delta that the best order found proves for this epsilon."""
    a = ball(Fraction(1 + exp(best_log_order(float(rho), float(epsilon)))))
    with ctx.workprec(192):
        return ((a - 1) * (a * ball(rho) - ball(epsilon)) + a * (1 - 1 / a).log()).exp() / (a - 1)


def _lowest(function: Callable[[float], float], low: float, high: float, *, absolute: float) -> float:
    """Return about where a function with one valley is lowest, to an absolute error."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": absolute})
    return float(found.x)


def best_log_order(rho: float, epsilon: float) -> float:
    """Return log(a - 1) of the best order a."""
    return _lowest(log_delta(rho, epsilon), -8.0, 18.0, absolute=1e-10)


def log_delta(rho: float, epsilon: float) -> Callable[[float], float]:
    """Return ln delta as a function of ln(a - 1)."""

    def value(t: float) -> float:
        a = 1 + exp(t)
        return (a - 1) * (a * rho - epsilon) + a * log1p(-1 / a) - t

    return value


SLACK = Fraction(10**9 - 1, 10**9)
"""What is used of a delta: the rest leaves room for the rounding of floats that read the guarantee."""
_POINTS, _FARTHEST = 256, 12.0  # of the curve of a zCDP parameter, and its end in standard deviations


@lru_cache(maxsize=64)
def concentrated_loss(rho: Fraction, stated: Fraction | None = None) -> PrivacyLoss:
    """Return a loss whose delta(epsilon) is nowhere below what rho-zCDP allows, and at a `stated` epsilon just that."""
    if rho == 0:
        return PrivacyLoss((Fraction(0),), (1.0,))
    farthest = float(rho) + _FARTHEST * sqrt(2 * float(rho))
    steps = {Fraction(farthest) * index / _POINTS for index in range(_POINTS + 1)}
    epsilons = sorted(steps if stated is None else steps | {stated})
    deltas = [min(1.0, nextafter(float(reached_delta(rho, epsilon).upper()), inf)) for epsilon in epsilons]
    return PrivacyLoss.from_symmetric_curve(epsilons, deltas)
