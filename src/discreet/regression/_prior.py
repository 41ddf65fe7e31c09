"""The prior of a regression as holders declare it and readers replace it: a precision, and what is known of the noise.

Coefficients in public units have the prior N(0, I / precision). The noise around the line is a known deviation, or its
variance has an Inverse-Gamma prior; which of both decides whether y'y is released, and so no reader can change it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact_text, positive
from discreet._core.fields import Number, converted, frozen

LEAST_PARAMETER, MOST_PARAMETER = Fraction(1, 10**9), Fraction(10**9)
_FORMS = (
    'A reader\'s prior for a regression must be the precision of its coefficients, such as 2, or {"precision": 2, '
    '"noise": ...}, where noise is a standard deviation in the units of the target if sigma was declared as known, '
    'else {"shape": 2, "scale": 0.1}, an Inverse-Gamma prior of its variance in public units'
)


def _parameter(given: Exact, name: str) -> Fraction:
    value = positive(given, name)
    if not LEAST_PARAMETER <= value <= MOST_PARAMETER:
        raise DeclarationError(f"The {name} of an InverseGamma must lie between 1e-9 and 1e9; got {exact_text(value)}.")
    return value


@frozen()
class InverseGamma:
    """An inverse-gamma prior for the variance of the noise in public units: density ~ v^(-shape - 1) e^(-scale / v)."""

    shape: Number = converted(_parameter)
    scale: Number = converted(_parameter)


@dataclass(frozen=True)
class ReaderPrior:
    """What a reader says instead of the declared prior; None where the declared one stays."""

    precision: Fraction | None
    noise: Fraction | InverseGamma | None

    @classmethod
    def of(cls, prior: object, declared: Fraction | InverseGamma, half: Fraction) -> "ReaderPrior":
        """Return what is meant by a number, or by a mapping; `half` is half the width of the target's bounds."""
        if isinstance(prior, int | float | Fraction) and not isinstance(prior, bool):
            return cls(positive(prior, "the precision of a prior"), None)
        if not isinstance(prior, Mapping) or not prior or not {*prior} <= {"precision", "noise"}:
            raise DeclarationError(f"{_FORMS}; got {prior!r}. Nothing was read.")
        precision = prior.get("precision")
        noise = _noise_of(prior["noise"], declared, half) if "noise" in prior else None
        return cls(None if precision is None else positive(precision, "the precision of a prior"), noise)


def _noise_of(given: object, declared: Fraction | InverseGamma, half: Fraction) -> Fraction | InverseGamma:
    if isinstance(declared, InverseGamma):
        if isinstance(given, Mapping) and {*given} == {"shape", "scale"}:
            return InverseGamma(**given)
        if isinstance(given, InverseGamma):
            return given
        raise DeclarationError(
            f"The noise of this release was declared as unknown, with a prior for its variance. {_FORMS}; got "
            f"{given!r}. Nothing was read."
        )
    if not isinstance(given, int | float | Fraction | str) or isinstance(given, bool):
        raise DeclarationError(
            f"The noise of this release was declared as known, and y'y was not released. {_FORMS}; got {given!r}. "
            "Nothing was read."
        )
    return positive(given, "noise") / half
