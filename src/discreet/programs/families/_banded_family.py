"""Families over bands: records stand for the middle of their band, and a missing value for what is declared."""

from fractions import Fraction
from typing import ClassVar, Literal, Self

from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, exact_text
from discreet.programs.families._readable_family import ReadableFamily

USUAL: Literal["usual"] = "usual"
"""The word that declares what a kind of family takes for values in no band, as its docstring says."""

Outside = Fraction | Literal["usual"]


class BandedFamily(ReadableFamily):
    """A family whose missing, non-numeric and out-of-range values count as `outside`, which must be declared.

    It is a number of the range, or "usual": what each family says. A document that does not say it means "usual".
    """

    document_types: ClassVar = {"outside": str}
    name: str
    outside: Outside

    @classmethod
    def restored(cls, **values: object) -> Self:
        """Return what a document describes; what it leaves out is as usual."""
        return super().restored(**{"outside": USUAL, **values})

    @property
    def missing_in_words(self) -> str:
        """Say what missing values count as, in the units of the column where a number is declared."""
        if self.outside == USUAL:
            return super().missing_in_words
        return f"Missing values count as {float(self.outside):g} in {self.column.name}."


def outside_of(
    outside: Exact | None, low: Fraction, high: Fraction, name: object, usual: str, *numbers: Fraction
) -> Outside:
    """Return the number that missing values, and those in no band, are declared to be, or that it is the usual one.

    `usual` says in words which that is; one of these `numbers` declares the same.
    """
    ends = f"{exact_text(low)} to {exact_text(high)}"
    if outside is None:
        raise DeclarationError(
            f"Every record counts, so {name!r} must declare what a missing value, or one that is no number from "
            f"{ends}, counts as, and it does not. Nothing was published and nothing was charged. Declare one of these, "
            f'such as outside = {exact_text(high)}, or outside = "usual" for {usual}, in the question of a study or in '
            "Python."
        )
    if isinstance(outside, str) and outside == USUAL:
        return USUAL
    if not low <= (number := exact(outside, "outside")) <= high:
        raise DeclarationError(f'outside must be a number from {ends}, or "usual"; got {exact_text(number)}.')
    return USUAL if number in numbers else number
