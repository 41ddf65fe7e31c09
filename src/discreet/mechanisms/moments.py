"""The moments of a regression as quantities: how far one record moves sums of products."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from discreet.arrays import Counts, NumbersT
from discreet.mechanisms.quantities import Quantities
from discreet.models.linear_regression import LinearRegression


@dataclass(frozen=True)
class Moments(Quantities):
    """The moments of a regression: sums of products, each moved by at most the layout's reach G by one record."""

    model: LinearRegression
    squared_distance: ClassVar[Fraction] = Fraction(9, 2)
    """The largest squared distance between the moments of two records, in `units`."""
    total_weight: ClassVar[Fraction] = Fraction(3, 2)
    """How often a squared change of y'y counts."""

    @property
    def blocks(self) -> tuple[int, ...]:
        return (len(self.model.cells),)

    def apply(self, counts: NumbersT) -> NumbersT:
        return np.asarray(counts)

    def transpose(self, values: NumbersT) -> NumbersT:
        return np.asarray(values)

    def changes(self) -> tuple[Counts, ...]:
        """Return a move of every number by G: no record moves one further."""
        return (np.full(self.length, self.per_record, dtype=np.int64),)

    @property
    def per_record(self) -> int:
        return self.model.layout.reach

    @cached_property
    def units(self) -> tuple[Fraction, ...]:
        """Return what a squared change of each number is divided by, so that X'X counts with its Frobenius norm.

        A squared change of y'y counts 3/2 times (`total_weight`), as much as it can without being noticed.
        """
        d, layout, found = self.model.dimension, self.model.layout, []
        for (first, second), order, weight in zip(layout.products, layout.orders, layout.weights.tolist(), strict=True):
            unit = weight**2 * layout.grid**4 * (d**2, d, 1 / self.total_weight)[order]
            found.append(Fraction(unit) / (2 if order == 0 and first != second else 1))
        return tuple(found)

    def most(self, weights: Sequence[Fraction], blocks: Sequence[int], power: int) -> Fraction:
        """Return a bound on sum_i w_i |c_i|^power: by the range G of each, of squares by the Frobenius norm."""
        if power != 2:
            return super().most(weights, blocks, power)
        own = np.repeat(np.array(weights, dtype=object), blocks)
        largest: Fraction = max(weight * unit for weight, unit in zip(own, self.units, strict=True))
        return largest * self.squared_distance
