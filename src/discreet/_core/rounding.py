"""Exact numbers, rounded to the safe side where they must be rounded."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from flint import arb, fmpq


def rounded_up(number: Fraction | float, digits: int = 12) -> Fraction:
    """Return the least decimal with `digits` significant digits that is at least as large as a number.

    >>> rounded_up(Fraction(1, 3), 3)
    Fraction(167, 500)
    """
    return _rounded(number, digits, ROUND_CEILING)


def rounded_down(number: Fraction | float, digits: int = 12) -> Fraction:
    """Return the largest decimal with `digits` significant digits that is at most as large as a number."""
    return _rounded(number, digits, ROUND_FLOOR)


def _rounded(number: Fraction | float, digits: int, rounding: str) -> Fraction:
    value = Fraction(number)
    context = Context(prec=digits, rounding=rounding)
    return Fraction(context.divide(Decimal(value.numerator), Decimal(value.denominator)))


def ball(number: Fraction) -> arb:
    """Return an enclosure of an exact number, at the working precision of the ball arithmetic."""
    return arb(fmpq(number.numerator, number.denominator))
