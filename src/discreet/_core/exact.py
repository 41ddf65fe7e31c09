"""Exact numbers: what is promised is never rounded, or to the safe side where it must be.

Epsilon, delta and budgets are rational numbers, so that 0.1 + 0.2 is 0.3 and a sum of charges is what it says.
"""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache

from flint import arb, fmpq

from discreet._core.errors import DeclarationError

Exact = str | int | float | Decimal | Fraction
"""What a user may write for an exact number."""

_LONGEST_TEXT = 60  # characters; nobody states an epsilon with more digits
_LONGEST_DENOMINATOR = 400  # digits; every float is such a fraction


def exact(value: Exact, name: str = "number") -> Fraction:
    """Return the rational number that a person meant.

    A float is read through its shortest decimal form, so 0.1 means one tenth.

    >>> exact("0.5"), exact(0.1), exact("1e-6"), exact("1/3")
    (Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000000), Fraction(1, 3))
    """
    if isinstance(value, Fraction) and len(str(value.denominator)) <= _LONGEST_DENOMINATOR:
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal | Fraction):
        raise DeclarationError(f"{name} must be a number or its text, such as '0.5'; got a {type(value).__name__}.")
    text = str(value).strip()
    if len(text) > _LONGEST_TEXT:
        raise DeclarationError(f"{name} is written with {len(text)} characters; at most {_LONGEST_TEXT} are read.")
    try:
        return _parse(text)
    except (ValueError, ZeroDivisionError, InvalidOperation):
        pass
    raise DeclarationError(f"{name} must be a finite number, such as '0.5', '1e-6' or '1/3'; got {text!r}.")


def _parse(text: str) -> Fraction:
    if not text.isascii() or "_" in text:  # Python reads '1_0' and full-width digits; nobody writes an epsilon so
        raise ValueError(text)
    if "/" in text:
        return Fraction(text)
    number = Decimal(text)
    if not number.is_finite() or abs(number.adjusted()) > _LONGEST_TEXT:  # '1e999999999' would fill the memory
        raise ValueError(text)
    return Fraction(number)


@lru_cache(maxsize=1024)
def exact_text(value: Fraction) -> str:
    """Return the shortest text that `exact` reads back: a decimal where there is a finite one, else a fraction.

    >>> exact_text(Fraction(1, 2)), exact_text(Fraction(1, 10**6)), exact_text(Fraction(2)), exact_text(Fraction(1, 3))
    ('0.5', '1e-6', '2', '1/3')
    """
    rest, places = value.denominator, 0
    while rest % 10 == 0:
        rest, places = rest // 10, places + 1
    for prime in (2, 5):
        while rest % prime == 0:
            rest, places = rest // prime, places + 1
    fraction = f"{value.numerator}/{value.denominator}"
    if rest != 1 or places > 2 * len(fraction):
        return fraction
    digits = int(value * 10**places)
    if places > 4 and abs(digits) < 10:
        return f"{digits}e-{places}"
    whole = str(abs(digits)).rjust(places + 1, "0")
    text = whole if not places else f"{whole[:-places]}.{whole[-places:]}".rstrip("0").rstrip(".")
    text = f"-{text}" if digits < 0 else text
    return min(text, fraction, key=len) if places > 20 else text


def positive(value: Exact, name: str) -> Fraction:
    """Return an exact number above zero, or say what is wrong with it."""
    number = exact(value, name)
    if number <= 0:
        raise DeclarationError(f"{name} must be above 0; got {exact_text(number)}.")
    return number


def probability(value: Exact, name: str) -> Fraction:
    """Return an exact number in [0, 1), or say what is wrong with it."""
    number = exact(value, name)
    if not 0 <= number < 1:
        raise DeclarationError(f"{name} must be at least 0 and below 1; got {exact_text(number)}.")
    return number


def whole(value: object, name: str, least: int = 1, most: int = 10**12) -> int:
    """Return a whole number within bounds, or say what is wrong with it."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise DeclarationError(f"{name} must be a whole number; got a {type(value).__name__}.")
    number = int(value.__index__())
    if not least <= number <= most:
        raise DeclarationError(f"{name} must be from {least} to {most}; got {number}.")
    return number


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
