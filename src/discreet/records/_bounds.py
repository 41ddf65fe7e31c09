"""The public bounds of a column of numbers or of dates, as somebody declares them."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, exact_text
from discreet.records._bands import day_text
from discreet.records._moments import Measure
from discreet.records._values import day_of

MIDDLE = "middle"
"""Declared as the number that stands for what is missing: the middle of the bounds."""

LEAST_WIDTH = Fraction(1, 10**60)
"""Bounds closer together than this are refused: what divides by their distance must stay a float."""


@dataclass(frozen=True)
class Bounds:
    """The public range of a column of numbers, and the number that stands for what is missing.

    For a column of `dates` the numbers are days from 1970-01-01.
    """

    name: str
    low: Fraction
    high: Fraction
    missing: Fraction
    dates: bool = False
    leaves_missing_out: bool = False
    """Whether records without a value are left out, so that nothing stands for it."""

    @property
    def middle(self) -> float:
        """Return the centre of the range."""
        return float((self.low + self.high) / 2)

    @property
    def half(self) -> float:
        """Return half the width of the range."""
        return float((self.high - self.low) / 2)


def measure_of(bounds: Bounds) -> Measure:
    """Return how a column of numbers is read."""
    ends = float(bounds.low), float(bounds.high)
    return Measure(bounds.name, *ends, float(bounds.missing), bounds.dates, bounds.leaves_missing_out)


def all_missing_in_words(bounds: Sequence[Bounds]) -> str:
    """Say what missing values count as, where something stands for them; nothing if they are all left out.

    >>> all_missing_in_words([bounds_of("age", (0, 100), 40)])
    'Missing values count as 40 in age.'
    """
    named = [f"{missing_value_in_words(each)} in {each.name}" for each in bounds if not each.leaves_missing_out]
    return f"Missing values count as {', '.join(named)}." if named else ""


def missing_value_in_words(bounds: Bounds) -> str:
    """Return the number, or the day, that a missing value counts as."""
    return day_text(float(bounds.missing)) if bounds.dates else f"{float(bounds.missing):g}"


def bounds_of(name: str, given: Sequence[Exact], missing: Exact | None) -> Bounds:
    """Return the public range of a column of numbers, or of dates, and what stands for a missing value."""
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise DeclarationError(f"The bounds of {name!r} must be two numbers (low, high).")
    dates = all(day_of(value) is not None for value in given)
    low, high = (_number(value, dates, f"a bound of {name!r}") for value in given)
    least = max(max(abs(low), abs(high)) / 10**9, LEAST_WIDTH)
    if high - low < least or max(abs(low), abs(high)) > 2**52:
        raise DeclarationError(
            f"The bounds of {name!r} must rise, lie within 2^52 of zero, and be at least 1e-60 and a billionth of "
            f"their size apart; got {exact_text(low)} and {exact_text(high)}. A column declared to be constant says "
            "nothing: leave it out."
        )
    declared = None if missing == MIDDLE else missing
    try:
        middle = (low + high) / 2 if declared is None else _number(declared, dates, f"the missing value of {name!r}")
    except DeclarationError as problem:
        raise DeclarationError(
            f"{problem} {MIDDLE!r} stands for the middle of the bounds. Without `missing`, records without a value are "
            "left out."
        ) from None
    if not low <= middle <= high:
        raise DeclarationError(f"The missing value of {name!r} must lie within its bounds; got {exact_text(middle)}.")
    return Bounds(name, low, high, middle, dates)


def _number(value: Exact, dates: bool, what: str) -> Fraction:
    """Return a declared number exactly; a declared date is a number of days."""
    day = day_of(value) if dates else None
    return exact(value, what) if day is None else Fraction(day)
