"""Credible intervals."""

from typing import NamedTuple

from discreet.errors import DeclarationError


class Interval(NamedTuple):
    """A range that holds a stated share of a distribution.

    >>> Interval(0.25, 0.5).width
    0.25
    """

    low: float
    high: float

    @property
    def width(self) -> float:
        """Return how far apart the two ends are."""
        return self.high - self.low

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g}"


def tails(level: float) -> tuple[float, float]:
    """Return the two probabilities that an equal-tailed interval leaves at either side."""
    if not 0 < level < 1:
        raise DeclarationError(f"The level of an interval lies between 0 and 1, such as 0.9; got {level}.")
    return (1 - level) / 2, (1 + level) / 2
