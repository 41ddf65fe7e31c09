"""From records to the moments of a regression, and back: public bounds, whole numbers, nothing that leaks.

The public transformation. A number v with bounds [low, high] becomes u = (2 v - low - high)/(high - low) in [-1, 1]; a
level becomes 1 or 0 (the first level of a column is the reference and has no coordinate); the intercept is 1. With d
coordinates x = u / sqrt(d), so ||x|| <= 1; the target is y = u in [-1, 1]. On the grid u = a/M with a whole number a
(see `records.moments`), so the sums of products of the a are exact moments of the records on the grid, and X'X made
from them is positive semidefinite to the last digit.

What is released. Each different product that can vary appears once. Squares and products of indicators lie in [0, M^2]
and are counted twice, other products lie in [-M^2, M^2], so that replacing one record changes no number by more than
the `reach` G = 2 M^2. Products that cannot vary (the intercept with itself, two levels of one column) are known and are
not released. Where records without a value are left out, all numbers of such a record are 0, the constant's too, whose
square is then the number of records that count, and is released.
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Floats
from discreet._core.errors import SourceError
from discreet.mechanism import Quantities
from discreet.records import CONSTANT, Factor, Indicator, Measure, MomentPlan, Wholes, as_source, bases_of
from discreet.regression._terms import Coordinate, Kind, Shape, name_of


def sum_moments(data: object, plan: MomentPlan) -> tuple[Wholes, int]:
    """Return the sum of every product of the plan, and the number of records, in one pass over the data."""
    source = as_source(data)
    if not hasattr(source, "sum_moments"):
        raise SourceError(f"A {type(source).__name__} cannot sum products. Pass a frame, a file or lists.")
    return source.sum_moments(plan)


COUNTED = "records with all values"
"""The name of the released number of records that are not left out."""


@dataclass(frozen=True)
class Moments:
    """Natural values of X'X, X'y, y'y and the number of records, for one or many rows of released numbers.

    y'y is NaN where it is not known. Where records are left out, `count` is the number of the others; where they have
    weights, it is the sum of these.
    """

    squares: Floats
    products: Floats
    total: Floats
    count: Floats

    def where(self, rows: NDArray[np.bool_]) -> "Moments":
        """Return those of some rows."""
        return Moments(self.squares[rows], self.products[rows], self.total[rows], self.count[rows])


class RegressionQuantities(Quantities):
    """Measured numbers from which the moments of a regression follow."""

    @abstractmethod
    def moments(self, values: NDArray[np.generic], size: int) -> Moments:
        """Return the moments that rows of numbers say, of so many records."""


@dataclass(frozen=True)
class MomentLayout:
    """Which numbers are released for these coordinates, and how X'X, X'y and y'y are made from them."""

    coordinates: tuple[Coordinate, ...]
    target: Measure
    with_total: bool
    with_count: bool
    grid: int

    @property
    def dimension(self) -> int:
        """Return the number d of coordinates."""
        return len(self.coordinates)

    @property
    def reach(self) -> int:
        """Return G = 2 M^2, by which one record can change a released number at most."""
        return 2 * self.grid**2

    @cached_property
    def _factors(self) -> tuple[Factor, ...]:
        return (*(c.factor for c in self.coordinates if c.factor is not None), self.target)

    @cached_property
    def _shapes(self) -> tuple[Shape, ...]:
        """Return what each factor is a product of; that of the constant stands last, at index -1."""
        return tuple(Shape.of(factor) for factor in (*self._factors, None))

    @cached_property
    def _indices(self) -> tuple[int, ...]:
        numbered = iter(range(len(self._factors)))
        return tuple(CONSTANT if c.factor is None else next(numbered) for c in self.coordinates)

    @cached_property
    def _forms(self) -> dict[Kind | None, tuple[int, int]]:
        """Return the one form of every product, which several pairs may have: a square, a factor alone, the first."""
        numbers, shapes = range(len(self._factors)), self._shapes
        alone = {shapes[k].times(shapes[CONSTANT]): (k, CONSTANT) for k in numbers}
        found = alone | {shapes[k].times(shapes[k]): (k, k) for k in numbers}
        for pair in combinations(numbers, 2):
            found.setdefault(shapes[pair[0]].times(shapes[pair[1]]), pair)
        return found

    def product(self, first: int, second: int) -> tuple[int, int] | None:
        """Return as which released number the product of two factors is known; None if it is the same in all records.

        Factors are named by their indices in the plan, CONSTANT for M. What cannot vary is 0, but for M times M.
        """
        low, high = sorted((first, second))
        if high == CONSTANT:
            return (CONSTANT, CONSTANT) if self.with_count else None
        shape = self._shapes[low].times(self._shapes[high])
        return None if shape is None else self._forms[shape]

    @cached_property
    def _square_products(self) -> dict[tuple[int, int], tuple[int, int] | None]:
        d = self.dimension
        return {(i, j): self.product(self._indices[i], self._indices[j]) for i in range(d) for j in range(i, d)}

    @cached_property
    def _target_products(self) -> list[tuple[int, int] | None]:
        return [self.product(index, len(self._factors) - 1) for index in self._indices]

    @cached_property
    def products(self) -> tuple[tuple[int, int], ...]:
        """Return the released products, each once: the count, those of X'X, X'y, y'y; the first and last if needed."""
        last = len(self._factors) - 1
        total = [(last, last)] if self.with_total else []
        wanted = [self.product(CONSTANT, CONSTANT), *self._square_products.values(), *self._target_products, *total]
        return tuple(dict.fromkeys(product for product in wanted if product is not None))

    @cached_property
    def plan(self) -> MomentPlan:
        """Return what the source is asked to sum."""
        return MomentPlan(self._factors, self.products, self.grid)

    @cached_property
    def weights(self) -> Wholes:
        """Return 2 for products in [0, M^2] and 1 for products in [-M^2, M^2]."""
        return np.array([2 if self._is_positive(*product) else 1 for product in self.products], dtype=np.int64)

    def _is_positive(self, first: int, second: int) -> bool:
        """Return whether a product is never negative: a square, or a product of two indicators."""
        return first == second or not (second == CONSTANT or self._shapes[first].powers or self._shapes[second].powers)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return a name for every released number."""
        factors = [name_of(factor) for factor in self._factors]
        named = (factors[i] if j == CONSTANT else f"{factors[i]} * {factors[j]}" for i, j in self.products)
        return (COUNTED, *islice(named, 1, None)) if self.with_count else tuple(named)

    @cached_property
    def orders(self) -> tuple[int, ...]:
        """Return how often the target enters each released number: 0 in X'X, 1 in X'y, 2 in y'y."""
        last = len(self._factors) - 1
        return tuple((first == last) + (second == last) for first, second in self.products)

    def sums(self, released: Wholes, size: int) -> tuple[list[list[Fraction]], list[Fraction]]:
        """Return the exact sums of a a' and of a a_y over the records, from one row of released numbers."""
        pairs = zip(self.products, released.tolist(), self.weights.tolist(), strict=True)
        value: dict[tuple[int, int] | None, Fraction] = {product: Fraction(v, w) for product, v, w in pairs}
        d, constant = self.dimension, Fraction(size * self.grid**2)
        squares = [[Fraction(0)] * d for _ in range(d)]
        for (i, j), product in self._square_products.items():
            squares[i][j] = squares[j][i] = value.get(product, constant if i == j else Fraction(0))
        return squares, [value[product] for product in self._target_products]

    @cached_property
    def _index(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return where each entry of X'X and X'y stands among the released numbers, then a zero, then the size."""
        index = {product: k for k, product in enumerate(self.products)}
        zero, d = len(self.products), self.dimension
        squares = np.full((d, d), zero)
        for (i, j), product in self._square_products.items():
            known = zero + 1 if i == j else zero
            squares[i, j] = squares[j, i] = known if product is None else index[product]
        return squares, np.array([index[product] for product in self._target_products if product is not None])

    def unpack(self, released: NDArray[np.generic], size: int) -> Moments:
        """Return X'X = sum a a' / (d M^2), X'y = sum a a_y / (sqrt(d) M^2) and y'y = sum a_y^2 / M^2."""
        values = np.asarray(released, dtype=float) / (self.weights * float(self.grid) ** 2)
        rows = values.shape[:-1]
        extended = np.concatenate([values, np.zeros((*rows, 1)), np.full((*rows, 1), float(size))], axis=-1)
        squares, products = self._index
        total = values[..., -1] if self.with_total else np.full(rows, np.nan)
        d = self.dimension
        count = values[..., 0] if self.with_count else np.full(rows, float(size))
        return Moments(extended[..., squares] / d, extended[..., products] / np.sqrt(d), total, count)

    def with_target(self, released: Floats, products: Floats, total: Floats) -> Floats:
        """Return rows of released numbers with other X'y, and other y'y if that is released; X'X stays."""
        found = np.array(released, dtype=float)
        scale = self.weights * float(self.grid) ** 2
        indices = self._index[1]
        found[..., indices] = products * np.sqrt(self.dimension) * scale[indices]
        if self.with_total:
            found[..., -1] = total * scale[-1]
        return found

    def typical(self, size: int) -> Floats:
        """Return the released numbers that records spread evenly and independently would give on average."""
        means = [self._typical(first, second) for first, second in self.products]
        return np.array(means, dtype=np.float64) * (self.weights.astype(np.float64) * float(self.grid) ** 2 * size)

    def _typical(self, first: int, second: int) -> float:
        bases = (base for factor in self._factors for base in bases_of(factor))
        levels = {base.column: len(base.declared.levels) for base in bases if isinstance(base, Indicator)}
        return self._shapes[first].typical(self._shapes[second], levels)
