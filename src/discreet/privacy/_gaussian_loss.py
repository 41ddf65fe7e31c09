"""The exact privacy loss of discrete Gaussian noise on counts.

Noise u with P(u) ~ e^(-|u|^2 / (2 v)) on the cells; a replaced record moves one unit from cell j to cell i. The loss
is then (D + 1)/v with D = u_i - u_j. Writing s = u_i + u_j, u_i^2 + u_j^2 = (D^2 + s^2)/2, and D and s have the same
parity, so given its parity D follows P(d) ~ e^(-d^2 / (4 v)), whatever happens in the other cells. Only the chance
that D is even depends on these: for independent cells both u_i and u_j count; if the noise is conditioned to sum to
zero, the rest must balance s.
"""

from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, pi, sqrt

import numpy as np
from flint import arb, ctx
from scipy.special import logsumexp

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import ball, exact_text, rounded_up
from discreet.privacy._calibration import DIGITS, continuous_variance, last_fitting, raised_to_fit
from discreet.privacy._loss import PrivacyLoss

_TAIL = 80.0  # squared standard deviations of D over two, beyond which its distribution is cut: e^-80 = 2e-35
LARGEST_VARIANCE = Fraction(10**8)
_FLOAT_ERROR = 1e-10  # of the chance that D is even; it comes from positive sums of floats
_CLEAR = 1e-9  # of delta: sums of positive floats are right to twelve digits
_WIDE = Fraction(30)  # from this variance on, sums over even and odd numbers agree to twenty digits


@lru_cache(maxsize=64)
def gaussian_loss(variance: Fraction, cells: int, keeps_total: bool) -> PrivacyLoss:
    """Return the loss of discrete Gaussian counts in `cells` cells; the tail counts as an infinite loss."""
    farthest = ceil(sqrt(4 * _TAIL * float(variance))) + 2
    steps = range(-farthest, farthest + 1)
    with ctx.workprec(128):
        quarter = 1 / (4 * ball(variance))
        weights = [(-quarter * d * d).exp() for d in steps]
        sums = [sum((w for d, w in zip(steps, weights, strict=True) if d % 2 == odd), arb(0)) for odd in (0, 1)]
        even = _chance_of_even(variance, cells, keeps_total)
        shares = even / sums[0], (1 - even) / sums[1]
        chances = [float((w * shares[d % 2]).upper()) for d, w in zip(steps, weights, strict=True)]
    losses = tuple((d + 1) / variance for d in steps)
    # the cut tails: the upper one is an infinite loss, the lower one is put on the smallest loss that is listed
    tail = 4 * exp(-_TAIL)
    return PrivacyLoss(losses, (chances[0] + tail, *chances[1:]), tail)


def _chance_of_even(variance: Fraction, cells: int, keeps_total: bool) -> arb:
    """Return P(D even).

    With f the Fourier series of e^(-u^2/(2v)) and h that of e^(-s^2/(4v)), the weight of even s less that of odd s is
    the mean of h(x + pi) r(x), their sum is the mean of h(x) r(x), where r = f^(m-2) if the rest balances s.
    """
    if keeps_total and cells == 2:
        return arb(1)  # u_j = -u_i
    if variance >= _WIDE:  # even and odd differ by less than v m e^(-pi^2 v / 3) < 1e-20
        return arb(0.5, 1e-20)
    points = 2 * pi * np.arange(_points(variance, cells)) / _points(variance, cells)
    v = float(variance)
    rest = (cells - 2) * _log_series(points, v) if keeps_total else np.zeros_like(points)
    if not keeps_total:  # no balance: s is free, so only the value at x = 0 counts
        points, rest = np.zeros(1), np.zeros(1)
    total = logsumexp(_log_series(points, 2 * v) + rest)
    gap = exp(logsumexp(_log_series(points + pi, 2 * v) + rest) - total)
    return _with_even_half(gap, v)


def _with_even_half(gap: float, variance: float) -> arb:
    """Return P(D even) from (even - odd)/(even + odd) of s: the weights of D given its parity enter once more."""
    own = exp(float(_log_series(np.array([pi]), 2 * variance)[0] - _log_series(np.array([0.0]), 2 * variance)[0]))
    even = (1 + gap) * (1 + own) / ((1 + gap) * (1 + own) + (1 - gap) * (1 - own))
    return arb(even, _FLOAT_ERROR)


def _points(variance: Fraction, cells: int) -> int:
    return 2 * (16 + ceil(20 * sqrt(float(variance) * (cells + 2))))


def _log_series(points: Floats, variance: float) -> Floats:
    """Return log sum_u e^(-u^2/(2v)) cos(u x) through its dual sum, whose terms are all positive."""
    turns = 2 * pi * np.arange(-(6 + ceil(4 / sqrt(variance))), 7 + ceil(4 / sqrt(variance)))
    x = np.mod(points + pi, 2 * pi) - pi
    return np.asarray(logsumexp(-variance * (x[:, None] + turns) ** 2 / 2, axis=1) + np.log(2 * pi * variance) / 2)


def log_sum_of_gaussians(variance: Fraction, cells: int, keeps_total: bool) -> float:
    """Return log sum_u e^(-|u|^2/(2v)) over all integer vectors, or over those that sum to zero."""
    v = float(variance)
    if not keeps_total:
        return cells * float(_log_series(np.zeros(1), v)[0])
    if variance >= _WIDE:  # by the dual sum: all but its first term is below e^(-pi^2 v)
        return float((cells - 1) * np.log(2 * pi * v) / 2 - np.log(cells) / 2)
    points = 2 * pi * np.arange(_points(variance, cells)) / _points(variance, cells)
    return float(logsumexp(cells * _log_series(points, v)) - np.log(len(points)))


@lru_cache(maxsize=256)
def calibrated_variance(epsilon: Fraction, delta: Fraction, cells: int, keeps_total: bool) -> Fraction:
    """Return a variance, of six digits, at which delta(epsilon) is at most the given delta, hardly larger than needed.

    The search starts from the continuous Gaussian of mean shift sqrt(2). Floats decide its steps wherever they are sure
    to agree with the exact loss; the exact loss decides the others, and always the variance that is returned.
    """
    asked = epsilon, delta, cells, keeps_total
    low = high = rounded_up(continuous_variance(float(epsilon), float(delta), 1e12), DIGITS)
    while not _seems_enough(high, *asked):
        low, high = high, high * 2
        if high > LARGEST_VARIANCE:
            raise DeclarationError(
                f"epsilon = {exact_text(epsilon)} and delta = {exact_text(delta)} need Gaussian noise with a variance "
                f"above {exact_text(LARGEST_VARIANCE)}, the largest that is supported. Choose a larger epsilon."
            )
    while low == high or _seems_enough(low, *asked):
        low, high = low * Fraction(3, 4), low
    about = last_fitting(lambda v: _seems_enough(v, *asked), high, low, Fraction(1, 10**DIGITS))
    return raised_to_fit(lambda v: _suffices(v, *asked), about, Fraction(1, 10 ** (DIGITS - 1)))


def _suffices(variance: Fraction, epsilon: Fraction, delta: Fraction, cells: int, keeps_total: bool) -> bool:
    return Fraction(gaussian_loss(variance, cells, keeps_total).delta_at(epsilon)) <= delta


def _seems_enough(variance: Fraction, epsilon: Fraction, delta: Fraction, cells: int, keeps_total: bool) -> bool:
    """Answer as `_suffices`, by the same sums in floats if these are clearly above or below delta."""
    v, allowed = float(variance), float(epsilon)
    farthest = ceil(sqrt(4 * _TAIL * v)) + 2
    steps = np.arange(-farthest, farthest + 1)
    weights, odd = np.exp(-(steps**2) / (4 * v)), steps % 2 == 1
    even = _chance_of_even(variance, cells, keeps_total)
    shares = float(even.upper()) / weights[~odd].sum(), float((1 - even).upper()) / weights[odd].sum()
    above = allowed - (steps + 1) / v
    counted = above < 0
    reached = float((weights * np.where(odd, shares[1], shares[0]) * -np.expm1(above))[counted].sum()) + 4 * exp(-_TAIL)
    if abs(reached - float(delta)) > _CLEAR * float(delta):
        return reached < delta
    return _suffices(variance, epsilon, delta, cells, keeps_total)
