"""GeometricSums: sums of a bounded number, overall or by group, with the noise of a histogram.

Every record is one unit that is divided among the ends of its group (`models.number_sums`), so a replaced record moves
at most one unit from some ends to others: its change c sums to zero and has ||c||_1 <= 2. As for a histogram,

    P(u) ~ e^(-epsilon_1 ||u||_1 / 2),   sum u = 0,

costs at most epsilon_1, whatever the number of groups and whether or not the record has a value. Without groups and
gaps there are two ends, and this is one geometric number on the sum. Squared distances from the middle are divided in
the same way and get the rest, epsilon_2 = squares epsilon, from which a reader learns how far a mean of the population
may lie from that of the records. Both add up to epsilon.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts, NumbersT
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact, exact_text, positive, whole
from discreet.mechanisms.additive import Additive, within_bounds
from discreet.mechanisms.quantities import Quantities, unit_moves
from discreet.models.model import Model
from discreet.models.number_sums import VARIANCE, NumberSums
from discreet.noise import ZeroSumLaplace

LEAST_RATE = Fraction(1, 2**29)
"""Noise of a smaller rate is not drawn: it would leave no information."""


@dataclass(frozen=True)
class Ends(Quantities):
    """The ends among which records are divided: of places, and of squared distances from the middle."""

    model: NumberSums

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return the ends of places and those of squares."""
        return self.model.ends, self.model.ends

    @property
    def per_record(self) -> int:
        """Return how many whole numbers a record is divided into."""
        return self.model.unit

    def apply(self, counts: NumbersT) -> NumbersT:
        """Return the sums themselves."""
        return np.asarray(counts)

    def transpose(self, values: NumbersT) -> NumbersT:
        """Return the numbers themselves."""
        return np.asarray(values)

    def changes(self) -> tuple[Counts, ...]:
        """Return a whole record that goes from one end to another, of places and of squares."""
        return (self.model.unit * unit_moves(self.blocks),)


@dataclass(frozen=True, init=False, repr=False)
class GeometricSums(Additive[NumberSums], kind="GeometricSums", version=1):
    """Noisy sums for means, sums and variances: pure epsilon-DP under replacement of one record, totals kept.

    `squares` is the share of epsilon for squared distances: 1/10 for means and sums, 1/2 if a variance is asked.

    >>> GeometricSums(NumberSums("age", bounds=(0, 100)), size=1200, epsilon="0.5").guarantee.epsilon
    Fraction(1, 2)
    """

    model: NumberSums
    size: int
    epsilon: Fraction
    squares: Fraction
    reason = "every record is one unit, divided among ends; noise of norm ||u||_1/2 on both kinds, whose epsilons add"

    def __init__(self, model: NumberSums, size: int, epsilon: Exact, squares: Exact | None = None) -> None:
        if not isinstance(model, NumberSums):
            raise DeclarationError(f"GeometricSums publishes NumberSums; got a {type(model).__name__}.")
        share = _usual(model) if squares is None else exact(squares, "squares")
        if not 0 < share < 1:
            raise DeclarationError(f"squares is a share of epsilon between 0 and 1; got {exact_text(share)}.")
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size", most=2**53 // model.unit))
        object.__setattr__(self, "epsilon", within_bounds(positive(epsilon, "epsilon"), "epsilon"))
        object.__setattr__(self, "squares", share)
        if min(self.noise.rates) < LEAST_RATE:
            raise DeclarationError(
                f"With epsilon = {exact_text(self.epsilon)} and this share for squares the noise would leave no "
                "information. Raise epsilon."
            )

    @property
    def unsaid(self) -> Collection[str]:
        """Leave out a share that nobody chose."""
        return ("squares",) if self.squares == _usual(self.model) else ()

    @cached_property
    def quantities(self) -> Ends:
        """Return all ends."""
        return Ends(self.model)

    @cached_property
    def noise(self) -> ZeroSumLaplace:
        """Return Laplace noise that sums to zero among the ends of each kind; a whole record costs its epsilon."""
        parts = (1 - self.squares) * self.epsilon, self.squares * self.epsilon
        return ZeroSumLaplace(tuple(part / (2 * self.model.unit) for part in parts), self.quantities.blocks)

    def checked(self, counts: ArrayLike) -> Counts:
        """Return made-up sums as an array; they must add up to the public size."""
        return self.model.checked(counts, self.size)

    def twin_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Give nothing else: a twin has the same share."""
        yield {}


def _usual(model: NumberSums) -> Fraction:
    """Return the share for squares that suits what is asked."""
    return Fraction(1, 2) if VARIANCE in model.asks else Fraction(1, 10)
