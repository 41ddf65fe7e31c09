"""Counts of categories plus integer noise whose kernel is a product over cells.

P(z | k) = prod_i g(z_i - k_i) / Z with Z free of k. A mechanism of this kind states its law of noise.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts, Floats
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact_text, positive, whole
from discreet.mechanisms.additive import Additive
from discreet.mechanisms.tables import Cells
from discreet.models import Categories

LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), Fraction(10**4)


@dataclass(frozen=True, init=False, repr=False)
class NoisyCounts(Additive[Categories]):
    """A noisy table of counts: `model` says which cells, `size` how many records (public), `epsilon` how much noise."""

    model: Categories
    size: int
    epsilon: Fraction

    def __init__(self, model: Categories, size: int, epsilon: Exact) -> None:
        if not isinstance(model, Categories):
            raise DeclarationError(f"{type(self).__name__} publishes counts of Categories; got {type(model).__name__}.")
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", within_bounds(positive(epsilon, "epsilon"), "epsilon"))

    @cached_property
    def quantities(self) -> Cells:
        """Return all cells of the table."""
        return Cells(self.model)

    @property
    def keeps_total(self) -> bool:
        """Tell whether every output sums to the public size."""
        return self.noise.keeps_totals[0]

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return log g(noise), cell by cell."""
        return self.noise.log_terms(noise, 0)

    @property
    def log_normaliser(self) -> float:
        """Return log Z."""
        return self.noise.log_normaliser

    def checked(self, counts: ArrayLike) -> Counts:
        """Return made-up counts as an array; they must sum to the public size."""
        table = self.model.counts(counts)
        if (table.sum(axis=-1) != self.size).any():
            raise DeclarationError(f"The counts must sum to the public size {self.size}.")
        return table

    def outputs_near(self, margin: int) -> Counts:
        """Return all outputs whose counts lie between -margin and size + margin: enough to meet every sign of noise."""
        values = range(-margin, self.size + margin + 1)
        cells = len(self.model.cells)
        if not self.keeps_total:
            return np.array(list(product(values, repeat=cells)))
        free = np.array(list(product(values, repeat=cells - 1)))
        return np.column_stack([free, self.size - free.sum(axis=1)])


def within_bounds(epsilon: Fraction, name: str) -> Fraction:
    """Return an epsilon for which noise can be drawn, or say what is allowed."""
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise DeclarationError(
            f"{name} must lie between {exact_text(LEAST_EPSILON)} and {exact_text(MOST_EPSILON)}; "
            f"got {exact_text(epsilon)}."
        )
    return epsilon
