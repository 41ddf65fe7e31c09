"""Calibration: the one search for a parameter that meets a guarantee, and the one function that rounds it.

A guarantee decides whether a number (a scale, a variance, a power, an epsilon) fits. Numbers on one side fit, those on
the other fail. A search keeps one of each and halves what lies between; what it returns was seen to fit. Then it is
written with few digits, always rounded to the side that fits, and moved on until the guarantee is certain.
"""

from collections.abc import Callable
from fractions import Fraction
from math import exp, floor, log, log10, sqrt
from typing import TypeVar

from discreet._core.errors import DeclarationError
from discreet._core.exact import rounded_up
from discreet.mathematics import root

DIGITS = 6
"""Significant digits of calibrated numbers."""
_STEEP = 100.0
_HALVINGS = 120

Number = TypeVar("Number", float, Fraction)


def halfway(one: Number, other: Number) -> Number:
    """Return the mean of two numbers."""
    return (one + other) / 2


def last_fitting(
    fits: Callable[[Number], bool],
    fitting: Number,
    failing: Number,
    near: Number,
    middle: Callable[[Number, Number], Number] = halfway,
) -> Number:
    """Return a number that fits, with one that fails no farther from it than `near` times the larger of both.

    >>> last_fitting(lambda v: v * v >= 2, Fraction(2), Fraction(1), Fraction(1, 8))
    Fraction(3, 2)
    """
    while abs(failing - fitting) > near * max(fitting, failing):
        between = middle(fitting, failing)
        if not min(fitting, failing) < between < max(fitting, failing):
            break  # no decimal of this many digits lies between
        fitting, failing = (between, failing) if fits(between) else (fitting, between)
    return fitting


def raised_to_fit(fits: Callable[[Fraction], bool], about: Fraction | float, step: Fraction) -> Fraction:
    """Return a decimal that certainly fits: the number rounded up, and moved up by a share of itself until it does."""
    found = rounded_up(about, DIGITS)
    while not fits(found):
        found = rounded_up(found * (1 + step), DIGITS)
    return found


def scale_rounded_down(scale: float) -> Fraction:
    """Return a decimal of six digits below a scale, so that it is certified again on any machine."""
    unit = Fraction(10) ** (DIGITS - 1 - floor(log10(scale)))
    return Fraction(floor(Fraction(scale) * (1 - Fraction(1, 10**9)) * unit)) / unit


def crossing(excess: Callable[[float], float], start: float) -> float:
    """Return a scale where the excess crosses zero, from below, after bracketing it by factors of 2."""
    low = high = start
    while excess(low) > 0:
        low /= 2
    while excess(high) <= 0:
        low, high = high, 2 * high
    return root(excess, low, high, relative=1e-9)


def last_that_fits(excess: Callable[[float], float], fitting: float, failing: float) -> float:
    """Return the number closest to `failing` that still fits, excess <= 0, to twelve digits.

    The excess is the logarithm of what is found over what is allowed; it may be infinite. Steps of a factor of 4 from
    the failing end bracket the number, and a search on a logarithmic scale finds it.
    """
    factor = 0.25 if fitting < failing else 4.0
    found, before = failing, failing
    while excess(found) > 0:
        if (found - fitting) * (failing - fitting) <= 0:
            raise DeclarationError("No draw from this posterior has the requested guarantee. Raise epsilon or delta.")
        found, before = found * factor, found
    if found == failing:
        return failing

    def finite(index: float) -> float:
        return min(max(excess(exp(index)), -_STEEP), _STEEP)

    found = exp(root(finite, *sorted((log(found), log(before))), absolute=1e-13, relative=1e-15))
    shift = 1e-13
    while excess(found) > 0:
        found, shift = found * (1 - shift if factor < 1 else 1 + shift), 4 * shift
    return found


def continuous_variance(epsilon: float, delta: float, largest: float) -> float:
    """Return v up to a largest one, at which continuous Gaussian noise on two counts has this delta.

    delta = Phi(a/2 - e/a) - e^e Phi(-a/2 - e/a), a^2 = 2/v.
    """
    from scipy.special import log_ndtr, ndtr  # whoever adds up epsilons needs none of it

    low, high = 1e-8, largest
    for _ in range(_HALVINGS):
        middle = sqrt(low * high)
        shift = sqrt(2 / middle)
        reached = ndtr(shift / 2 - epsilon / shift) - exp(epsilon + log_ndtr(-shift / 2 - epsilon / shift))
        low, high = (middle, high) if reached > delta else (low, middle)
    return high
