"""Amounts as people read them: of privacy, short, rounded to the honest side, and marked where they are; and levels.

Documents and JSON keep the exact value (`exact_text`).
"""

from fractions import Fraction

from discreet._core.exact import exact_text
from discreet._core.rounding import rounded_down, rounded_up

_SHORT_DECIMAL, _SHORT_FRACTION = 12, 5  # characters that people read without rounding
_SHOWN = 5  # significant digits of amounts that are rounded


def spent_text(number: Fraction) -> str:
    """Return an amount that is spent, needed or promised for people: exactly if that is short, else rounded up.

    >>> spent_text(Fraction("0.1")), spent_text(Fraction(1, 3)), spent_text(Fraction(1215, 6656))
    ('0.1', '1/3', '0.18255 (rounded up)')
    """
    return _short_text(number) or f"{exact_text(rounded_up(number, _SHOWN))} (rounded up)"


def left_text(number: Fraction) -> str:
    """Return an amount that is left or allowed for people: exactly if that is short, else rounded down.

    >>> left_text(Fraction(4)), left_text(Fraction(25409, 6656))
    ('4', '3.8174 (rounded down)')
    """
    return _short_text(number) or f"{exact_text(rounded_down(number, _SHOWN))} (rounded down)"


def percent_text(level: float, gap: str = " ") -> str:
    """Return the level of an interval for people; in heads of tables without a gap.

    >>> percent_text(0.9), percent_text(0.995), percent_text(0.95, "")
    ('90 %', '99.5 %', '95%')
    """
    return f"{100 * level:.6g}{gap}%"


def _short_text(number: Fraction) -> str | None:
    text = exact_text(number)
    return text if len(text) <= (_SHORT_FRACTION if "/" in text else _SHORT_DECIMAL) else None
