"""NoisyTotal: the total of bounded whole numbers plus Laplace noise. A replaced record moves it by at most `tries`."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from successes import Successes

from discreet import DeclarationError
from discreet.mechanism import Additive, Counts, Exact, NumbersT, Quantities, Sized, positive, whole, within_bounds
from discreet.noise import Laplace


@dataclass(frozen=True)
class Total(Quantities):
    """The one number that is measured."""

    model: Successes
    blocks = (1,)

    @property
    def per_record(self) -> int:
        """Return the most that one record adds."""
        return self.model.tries

    def apply(self, counts: NumbersT) -> NumbersT:
        """Return the total itself."""
        return np.asarray(counts)

    def transpose(self, values: NumbersT) -> NumbersT:
        """Return the number itself."""
        return np.asarray(values)

    def changes(self) -> tuple[Counts, ...]:
        """Return the largest change: a record without any success becomes one that always succeeded."""
        return (np.array([self.model.tries]),)


@dataclass(frozen=True, init=False, repr=False)
class NoisyTotal(Additive[Successes], Sized[Successes], kind="NoisyTotal"):
    """A noisy total of successes: pure epsilon-DP under replacement of one record."""

    model: Successes
    size: int
    epsilon: Fraction

    reason = "Laplace noise of rate epsilon / tries on a total that one record moves by at most that many tries"

    def __init__(self, model: Successes, size: int, epsilon: Exact) -> None:
        if not isinstance(model, Successes):
            raise DeclarationError(f"NoisyTotal publishes a total of Successes; got a {type(model).__name__}.")
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", within_bounds(positive(epsilon, "epsilon"), "epsilon"))

    @cached_property
    def quantities(self) -> Total:
        """Return the total."""
        return Total(self.model)

    @cached_property
    def noise(self) -> Laplace:
        """Return Laplace noise for the largest change."""
        return Laplace((self.epsilon / self.model.tries,), (1,))

    def checked(self, counts: ArrayLike) -> Counts:
        """Return made-up totals as an array; none is above what all tries of all records give."""
        rows = self.model.counts(counts)
        if (rows > self.size * self.model.tries).any():
            raise DeclarationError(f"{self.size} records have at most {self.size * self.model.tries} successes.")
        return rows
