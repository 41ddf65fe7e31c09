"""Interactions and powers of declared columns: which coordinates they have, and what they are in the table's units.

A term is a product of columns, written as their names: ("age", "age") is a square, ("age", "ward") an interaction. In
public units u in [-1, 1] it is a product of Chebyshev polynomials T_k(u) and of indicators, made a whole number of its
own for each record (`records.moments`), so its bounds are known: [-1, 1], or [0, 1] for indicators alone. Products of
centred columns are less correlated than products of the columns themselves, so that noise does less harm. Whoever reads
them wants the latter: T_k((v - m) / h) is a polynomial in v, whose lower powers belong to the lower terms. So every
part of a term must be in the model too (marginality).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.polynomial import Chebyshev, Polynomial

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet.records import Bounds, Column, Factor, Indicator, Measure, Term, measure_of
from discreet.regression._formula import Names, written

MOST_FACTORS = 4
"""Of this many columns, a column to a power counted as often, a term may be made."""

Kind = tuple[frozenset[frozenset[tuple[str, int]]], frozenset[tuple[str, int]]]
"""The identity of a product of two factors: the powers of either, and all levels."""


@dataclass(frozen=True)
class Coordinate:
    """One coordinate of x: the intercept, a number, an indicator of a level, or a term."""

    name: str
    factor: Factor | None


@dataclass(frozen=True)
class Shape:
    """What a factor is a product of: powers of columns of numbers, by name, and levels of others."""

    powers: frozenset[tuple[str, int]]
    levels: frozenset[tuple[str, int]]

    @classmethod
    def of(cls, factor: Factor | None) -> "Shape":
        """Return the shape of a factor; the constant's is empty."""
        powers = factor.powers if isinstance(factor, Term) else ((factor, 1),) if isinstance(factor, Measure) else ()
        levels = factor.indicators if isinstance(factor, Term) else (factor,) if isinstance(factor, Indicator) else ()
        return cls(
            frozenset((measure.column, power) for measure, power in powers),
            frozenset((level.column, level.code) for level in levels),
        )

    def times(self, other: "Shape") -> Kind | None:
        """Return the identity of the product, or None if it is 0 in every record: two levels of one column."""
        levels = self.levels | other.levels
        is_possible = len({name for name, _ in levels}) == len(levels)
        return (frozenset({self.powers, other.powers}), levels) if is_possible else None

    def typical(self, other: "Shape", levels: Mapping[str, int]) -> float:
        """Return the mean of the product over records that are spread evenly and independently.

        T_i T_j = (T_(i+j) + T_|i-j|) / 2, and T_k has the mean 1 / (1 - k^2) over [-1, 1] for even k, 0 for odd k.
        """
        mean = 1.0
        one, two = dict(self.powers), dict(other.powers)
        for name in one | two:
            i, j = one.get(name, 0), two.get(name, 0)
            mean *= sum(1 / (1 - k * k) for k in (i + j, abs(i - j)) if k % 2 == 0) / 2
        for name, _ in self.levels | other.levels:
            mean /= levels[name]
        return mean if self.times(other) is not None else 0.0


def checked_terms(terms: Sequence[Sequence[str]], features: Sequence[str | Column]) -> tuple[Names, ...]:
    """Return the terms, each with its columns in the order of the features, after checking them."""
    columns = {feature.name if isinstance(feature, Column) else feature: feature for feature in features}
    order, found = list(columns), []
    if isinstance(terms, str) or not isinstance(terms, Sequence):
        raise DeclarationError("terms must be a sequence of products, such as [('age', 'age'), ('age', 'ward')].")
    for term in terms:
        if isinstance(term, str) or not isinstance(term, Sequence) or not 2 <= len(term) <= MOST_FACTORS:
            raise DeclarationError(f"A term is a product of 2 to {MOST_FACTORS} columns, by name; got {term!r}.")
        if strange := [name for name in term if name not in columns]:
            raise DeclarationError(
                f"The term {':'.join(map(str, term))} must be made of features; {strange[0]!r} is not one."
            )
        if any(isinstance(columns[name], Column) and times > 1 for name, times in Counter(term).items()):
            raise DeclarationError(
                f"The term {':'.join(term)} has a categorical column twice, which is the same as once: write it once."
            )
        found.append(tuple(sorted(term, key=order.index)))
    if len(set(found)) < len(found):
        raise DeclarationError("Each term may appear once.")
    for term in found:
        parts = {part for size in range(2, len(term)) for part in combinations(term, size)}
        if missing := sorted(parts - set(found)):
            raise DeclarationError(
                f"The term {written(term)} needs the term {written(missing[0])} as well: without it, its meaning "
                "would depend on where zero lies. Every part of a product must be in the model."
            )
    return tuple(found)


def coordinates_of(
    features: Sequence[str | Column], terms: Sequence[Names], bounds: Mapping[str, Bounds], intercept: bool
) -> tuple[Coordinate, ...]:
    """Return the coordinates of x: the intercept, each number, each level of a column but the first, and terms."""
    columns = {feature.name if isinstance(feature, Column) else feature: feature for feature in features}
    found = [Coordinate("intercept", None)] if intercept else []
    for name in columns:
        found += [Coordinate(name_of(factor), factor) for factor in _choices(columns[name], bounds)]
    for term in terms:
        powers = Counter(term)
        for chosen in product(*(_choices(columns[name], bounds) for name in powers)):
            pairs = zip(chosen, powers.values(), strict=True)
            numbers = tuple((factor, power) for factor, power in pairs if isinstance(factor, Measure))
            factor = Term(numbers, tuple(each for each in chosen if isinstance(each, Indicator)))
            found.append(Coordinate(name_of(factor), factor))
    return tuple(found)


def _choices(feature: str | Column, bounds: Mapping[str, Bounds]) -> list[Measure | Indicator]:
    if isinstance(feature, Column):
        return [Indicator(feature, index) for index in range(1, len(feature.levels))]
    return [measure_of(bounds[feature])]


def name_of(factor: Factor) -> str:
    """Return the name of a factor: 'age', 'ward=B', 'age^2:ward=B'."""
    if isinstance(factor, Measure):
        return factor.column
    if isinstance(factor, Indicator):
        return f"{factor.column}={factor.declared.levels[factor.code]}"
    powers = [measure.column if power == 1 else f"{measure.column}^{power}" for measure, power in factor.powers]
    return ":".join([*powers, *map(name_of, factor.indicators)])


def expansion(coordinates: Sequence[Coordinate], ranges: Mapping[str, Bounds]) -> Floats:
    """Return what each coordinate is in the units of the table: coefficients of 1 and of all products, by rows.

    T_k((v - m) / h) = sum_p c_p v^p, m the middle and h half the width of the bounds of a column.
    """
    indices = {Shape.of(c.factor): index for index, c in enumerate((c for c in coordinates if c.factor is not None), 1)}
    indices[Shape.of(None)] = 0
    found = np.zeros((len(coordinates), len(indices)))
    for row, coordinate in zip(found, coordinates, strict=True):
        shape = Shape.of(coordinate.factor)
        series = [(name, _in_units(power, ranges[name])) for name, power in sorted(shape.powers)]
        for degrees in product(*(range(len(own)) for _, own in series)):
            amount = float(np.prod([own[degree] for (_, own), degree in zip(series, degrees, strict=True)]))
            powers = ((name, degree) for (name, _), degree in zip(series, degrees, strict=True) if degree)
            lower = Shape(frozenset(powers), shape.levels)
            if amount:
                row[indices[lower]] += amount
    return found


def _in_units(power: int, bounds: Bounds) -> list[float]:
    """Return the coefficients of 1, v, v^2, ... of T_k((v - m) / h)."""
    scaled = Polynomial([-bounds.middle / bounds.half, 1 / bounds.half])
    polynomial = Chebyshev.basis(power).convert(kind=Polynomial)(scaled)
    return [float(value) for value in polynomial.coef]


def reach_of(factor: Factor | None, ranges: Mapping[str, Bounds]) -> float:
    """Return by how much a factor can vary in the units of the table: from its least value to its largest."""
    low, high = 1.0, 1.0
    for name, power in sorted(Shape.of(factor).powers):
        ends = [float(ranges[name].low) ** power, float(ranges[name].high) ** power]
        if power % 2 == 0 and ranges[name].low < 0 < ranges[name].high:
            ends.append(0.0)
        values = [one * two for one in (low, high) for two in (min(ends), max(ends))]
        low, high = min(values), max(values)
    if isinstance(factor, Term) and factor.indicators:
        low, high = min(0.0, low), max(0.0, high)
    return high - low if Shape.of(factor).powers else 1.0
