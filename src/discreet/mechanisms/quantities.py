"""What is measured: public sums A k of the secret counts, and how far one replaced record can move them.

A is known from what it is of: the cells of a table, the tables of families, parity counts, contrasts, moments. Records
add up, so a replaced record moves A k by A e_x - A e_y for two records x and y, whatever the others are; the noise that
is added must hide every such change.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product
from math import lcm, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.mechanisms.contrasts import ContrastBasis, contrast_basis, squared_lengths
from discreet.mechanisms.record_changes import contrast_changes, parity_changes
from discreet.models import Categories
from discreet.models.linear_regression import LinearRegression
from discreet.models.network import Family, Network
from discreet.noise.law import by_block, starts

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
Numbers = NDArray[Any]  # whole numbers, or real ones where an engine moves smoothly
_FEW_VARIABLES = 8  # up to so many, all patterns of variables that change are listed


class Quantities(ABC):
    """A public matrix A of whole numbers, as an operator."""

    @property
    @abstractmethod
    def model(self) -> Any:
        """Return the model whose counts are measured."""

    @property
    @abstractmethod
    def blocks(self) -> tuple[int, ...]:
        """Return how many numbers each table, block or other unit has, in the order in which they are published."""

    @property
    def length(self) -> int:
        """Return how many numbers are measured."""
        return sum(self.blocks)

    @abstractmethod
    def apply(self, counts: Numbers) -> Numbers:
        """Return A k for one or many rows of counts, whole or real."""

    @abstractmethod
    def transpose(self, values: Numbers) -> Numbers:
        """Return A' v for one or many rows of numbers: how a slope by measured numbers is one by counts."""

    @abstractmethod
    def changes(self) -> tuple[Counts, ...] | None:
        """Return changes that stand for all that one replaced record can do; None if there are too many to list.

        Every A e_x - A e_y has the numbers of each block of one of these in another order or with other signs, or
        smaller ones, or none in some blocks. No law of noise has a larger loss for such a change.
        """

    def most(self, weights: Sequence[Fraction], blocks: Sequence[int], power: int) -> Fraction:
        """Return the largest sum_i w_i |c_i|^power over all changes c, exactly; each of `blocks` has one weight."""
        listed = self.changes()
        if listed is None:
            raise NotImplementedError("quantities whose changes are too many to list say how to maximise over them")
        found = []
        for change in listed:
            sums = np.add.reduceat(np.abs(change).astype(object) ** power, starts(blocks)).tolist()
            found.append(sum((weight * int(own) for weight, own in zip(weights, sums, strict=True)), Fraction(0)))
        return max(found)

    @property
    def per_record(self) -> int:
        """Return the largest absolute value of a number that one record can have."""
        return 1

    @property
    def tables(self) -> tuple[tuple[str, ...], ...] | None:
        """Return the columns of each table if the numbers are the cells of tables, block by block; else None."""
        return None

    def pieces(self) -> "tuple[Quantities, ...]":
        """Return the same numbers as single tables, or as other units that stand alone, in the same order."""
        return (self,)


@dataclass(frozen=True)
class Cells(Quantities):
    """All cells of a table of categories."""

    model: Categories

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return the cells, in one block."""
        return (len(self.model.cells),)

    def apply(self, counts: Numbers) -> Numbers:
        """Return the counts themselves."""
        return np.asarray(counts)

    def transpose(self, values: Numbers) -> Numbers:
        """Return the numbers themselves."""
        return np.asarray(values)

    @property
    def tables(self) -> tuple[tuple[str, ...], ...] | None:
        """Return all columns, crossed."""
        return (tuple(column.name for column in self.model.columns),)

    def changes(self) -> tuple[Counts, ...]:
        """Return one unit that moves from the last cell to the first; all others are alike."""
        return (_unit_moves(self.blocks),)


@dataclass(frozen=True)
class FirstCells(Cells):
    """The first cells of a table of categories, where the last one is what is left of the public number of records."""

    count: int

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return the cells that are measured."""
        return (self.count,)

    @property
    def tables(self) -> tuple[tuple[str, ...], ...] | None:
        """Return all columns if all cells are measured."""
        return super().tables if self.count == len(self.model.cells) else None

    def apply(self, counts: Numbers) -> Numbers:
        """Return the first counts."""
        return np.asarray(counts)[..., : self.count]

    def transpose(self, values: Numbers) -> Numbers:
        """Return the numbers, and nothing for the cells that are not measured."""
        rows = np.asarray(values)
        rest = np.zeros((*rows.shape[:-1], len(self.model.cells) - self.count), dtype=rows.dtype)
        return np.concatenate([rows, rest], axis=-1)

    def changes(self) -> tuple[Counts, ...]:
        """Return a unit that moves between two cells, or one that appears in a single measured cell."""
        if self.count > 1:
            return super().changes()
        return (np.ones(1, dtype=np.int64),)


@dataclass(frozen=True)
class FamilyTables(Quantities):
    """The tables of some families of a network, one after another: its maximal ones, or all of them."""

    model: Network
    families: tuple[Family, ...]

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Return the shape of each table."""
        return tuple(self.model.shape(family) for family in self.families)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return the number of cells of each table."""
        return tuple(prod(shape) for shape in self.shapes)

    @property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        """Return the families."""
        return self.families

    def pieces(self) -> tuple[Quantities, ...]:
        """Return each table alone."""
        return tuple(FamilyTables(self.model, (family,)) for family in self.families)

    @cached_property
    def _homes(self) -> list[int]:
        """Return for each family the place of the first maximal family around it."""
        around = [frozenset(family) for family in self.model.maximal_families]
        return [next(i for i, names in enumerate(around) if names.issuperset(family)) for family in self.families]

    def apply(self, counts: Numbers) -> Numbers:
        """Return the tables of the families, each a marginal of the first maximal family around it."""
        if self.families == self.model.maximal_families:
            return np.asarray(counts)
        tables, rows = self.model.split(counts), np.asarray(counts).shape[:-1]
        found = []
        for family, home in zip(self.families, self._homes, strict=True):
            table = self.model.marginal(tables[home], self.model.maximal_families[home], family)
            found.append(table.reshape(*rows, -1))
        return np.concatenate(found, axis=-1)

    def transpose(self, values: Numbers) -> Numbers:
        """Return each number spread over all cells that are counted in it."""
        rows = np.asarray(values)
        if self.families == self.model.maximal_families:
            return rows
        found = [
            np.zeros((*rows.shape[:-1], *self.model.shape(family)), dtype=rows.dtype)
            for family in self.model.maximal_families
        ]
        parts = zip(self.families, self.shapes, self._homes, by_block(rows, self.blocks), strict=True)
        for family, shape, home, own in parts:
            around = self.model.maximal_families[home]
            table = own.reshape(*rows.shape[:-1], *shape)
            lead = range(rows.ndim - 1)
            inside = [name for name in around if name in family]
            moved = table.transpose(*lead, *(rows.ndim - 1 + family.index(name) for name in inside))
            sizes = [len_ if name in family else 1 for name, len_ in zip(around, self.model.shape(around), strict=True)]
            found[home] += moved.reshape(*rows.shape[:-1], *sizes)
        return np.concatenate([table.reshape(*rows.shape[:-1], -1) for table in found], axis=-1)

    def changes(self) -> tuple[Counts, ...]:
        """Return one unit that moves in every table: from the record of all last levels to that of all first ones."""
        return (_unit_moves(self.blocks),)


def _unit_moves(blocks: Sequence[int]) -> Counts:
    change = np.zeros(sum(blocks), dtype=np.int64)
    first = starts(blocks)
    change[first], change[first + np.array(blocks) - 1] = 1, -1
    return change


@dataclass(frozen=True)
class SignedCounts(Quantities):
    """Of yes/no variables: the class counts, then class by class (second level) - (first level) of each feature."""

    model: Network

    @property
    def classes(self) -> int:
        """Return the number of classes; 1 if there is no class variable."""
        return 1 if self.model.target is None else len(self.model.variables[0].levels)

    @property
    def features(self) -> int:
        """Return the number of yes/no features."""
        return len(self.model.variables) - (self.model.target is not None)

    def pieces(self) -> tuple[Quantities, ...]:
        """Return the table of the classes, if there are any, and the features of each class."""
        target = self.model.target
        counted = () if target is None else (FamilyTables(self.model, ((target,),)),)
        return *counted, *(SignedFeatures(self.model, place) for place in range(self.classes))

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return the classes, if there are any, and the features of each class."""
        return tuple(piece.length for piece in self.pieces())

    def apply(self, counts: Numbers) -> Numbers:
        """Return the class counts and s_iy, class by class."""
        return np.concatenate([piece.apply(counts) for piece in self.pieces()], axis=-1)

    def transpose(self, values: Numbers) -> Numbers:
        """Return the sum of what the pieces give."""
        parts = zip(self.pieces(), by_block(np.asarray(values), self.blocks), strict=True)
        return np.asarray(sum(piece.transpose(own) for piece, own in parts))

    def changes(self) -> tuple[Counts, ...]:
        """Return a record that changes all features inside its class, and one that moves to another class."""
        inside = np.zeros(self.length, dtype=np.int64)
        first = self.length - self.classes * self.features
        inside[first : first + self.features] = 2
        if self.model.target is None:
            return (inside,)
        across = np.zeros(self.length, dtype=np.int64)
        across[:2] = 1, -1
        across[first : first + 2 * self.features] = 1
        return inside, across


@dataclass(frozen=True)
class SignedFeatures(Quantities):
    """Of the yes/no features among the records of one class: s_iy = (second level) - (first level)."""

    model: Network
    place: int

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return one number for each feature."""
        return (len(self.model.variables) - (self.model.target is not None),)

    def _rows(self, tables: Sequence[Numbers]) -> list[Numbers]:
        return [table[..., self.place, :] if self.model.target is not None else table for table in tables]

    def apply(self, counts: Numbers) -> Numbers:
        """Return (second level) - (first level) of each feature in this class."""
        return np.stack([row[..., 1] - row[..., 0] for row in self._rows(self.model.split(counts))], axis=-1)

    def transpose(self, values: Numbers) -> Numbers:
        """Return +s for second levels and -s for first ones of this class."""
        rows = np.asarray(values)
        found = np.zeros((*rows.shape[:-1], self.model.cells), dtype=rows.dtype)
        for place, row in enumerate(self._rows(self.model.split(found))):  # views of `found`
            row[..., 1] = rows[..., place]
            row[..., 0] = -rows[..., place]
        return found

    def changes(self) -> tuple[Counts, ...]:
        """Return a record that changes all features inside the class."""
        return (np.full(self.length, 2, dtype=np.int64),)


@dataclass(frozen=True)
class Parities(Quantities):
    """Numbers of records with an even number of yes in each block of a yes/no network; first of all records, if wanted.

    e_g = (n + c_g) / 2, where c_g is the contrast of the block: a sum of cells of one table, so that this is linear.
    """

    model: Network
    with_total: bool = False

    @property
    def basis(self) -> ContrastBasis:
        """Return the blocks, in the order in which they are published."""
        return contrast_basis(self.model)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return one number for each block."""
        return (1,) * (len(self.basis.blocks) + self.with_total)

    def apply(self, counts: Numbers) -> Numbers:
        """Return the number of records, if wanted, and e_g of every block."""
        rows = np.asarray(counts)
        doubled = self.basis.sizes(rows) + self.basis.contrasts(rows)
        halves = doubled / 2 if rows.dtype.kind == "f" else doubled // 2
        if not self.with_total:
            return np.asarray(halves)
        total = self.model.split(rows)[0].reshape(*rows.shape[:-1], -1).sum(axis=-1)
        return np.concatenate([total[..., None], halves], axis=-1)

    @cached_property
    def _matrix(self) -> Counts:
        return np.asarray(self.apply(np.eye(self.model.cells, dtype=np.int64)))

    def transpose(self, values: Numbers) -> Numbers:
        """Return A' v by the matrix itself."""
        return np.asarray(np.asarray(values) @ self._matrix.T)

    def changes(self) -> tuple[Counts, ...] | None:
        """Return the moves of all patterns of variables that change, if there are few variables."""
        return _parity_moves(self) if len(self.model.variables) <= _FEW_VARIABLES else None

    def most(self, weights: Sequence[Fraction], blocks: Sequence[int], power: int) -> Fraction:
        """Return the largest weight of the blocks that one record moves, by elimination; each moves by one or not."""
        own = np.repeat(np.array(weights, dtype=object), blocks)[int(self.with_total) :]
        scale = lcm(*(Fraction(weight).denominator for weight in own))
        return parity_changes(self.model).worst([int(weight * scale) for weight in own])[0] / scale


@lru_cache(maxsize=16)
def _parity_moves(quantities: Parities) -> tuple[Counts, ...]:
    names = [variable.name for variable in quantities.model.variables]
    changes = parity_changes(quantities.model)
    patterns = [
        frozenset(n for n, moves in zip(names, each, strict=True) if moves)
        for each in product((0, 1), repeat=len(names))
    ]
    rows = np.unique(np.rint([changes.moves(pattern) for pattern in patterns if pattern]).astype(np.int64), axis=0)
    kept = [row for row in rows if not any((row <= other).all() and (row != other).any() for other in rows)]
    still = np.zeros(int(quantities.with_total), dtype=np.int64)
    return tuple(np.concatenate([still, row]) for row in kept)


@dataclass(frozen=True)
class Contrasts(Quantities):
    """The integer contrasts t_ga of every block of a network (`contrasts`)."""

    model: Network

    @property
    def basis(self) -> ContrastBasis:
        """Return the blocks, in the order in which their contrasts are published."""
        return contrast_basis(self.model)

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return the number of contrasts of each block."""
        return tuple(np.diff(self.basis.edges).tolist())

    def apply(self, counts: Numbers) -> Numbers:
        """Return the contrasts of every block."""
        return self.basis.contrasts(np.asarray(counts))

    @cached_property
    def _matrix(self) -> Counts:
        return np.asarray(self.apply(np.eye(self.model.cells, dtype=np.int64)))

    def transpose(self, values: Numbers) -> Numbers:
        """Return A' v by the matrix itself."""
        return np.asarray(np.asarray(values) @ self._matrix.T)

    def changes(self) -> None:
        """Return nothing: there are as many changes as pairs of records."""
        return

    @cached_property
    def squared_lengths(self) -> tuple[int, ...]:
        """Return |h_a|^2 of each contrast."""
        found: list[int] = []
        for block in self.basis.blocks:
            lengths = [squared_lengths(levels) for levels in self.model.shape(block)]
            found += [prod(each) for each in product(*lengths)]
        return tuple(found)

    def most(self, weights: Sequence[Fraction], blocks: Sequence[int], power: int) -> Fraction:
        """Return 2 max over patterns of sum_g w_g D_g, by elimination, w_g the largest w_ga |h_a|^2 of its block.

        It is exact if that is the same for all contrasts of a block, as it is for `ContrastGaussians`.
        """
        if power != 2:
            raise NotImplementedError("contrasts are measured with Gaussian noise, whose cost is a sum of squares")
        own = np.repeat(np.array(weights, dtype=object), blocks) * np.array(self.squared_lengths, dtype=object)
        each = np.maximum.reduceat(own, starts(self.blocks)).tolist()
        scale = lcm(*(Fraction(weight).denominator for weight in each))
        return 2 * contrast_changes(self.model).worst([int(weight * scale) for weight in each])[0] / scale

    @property
    def per_record(self) -> int:
        """Return the largest contrast that one record can have."""
        return max(prod(levels - 1 for levels in self.model.shape(family)) for family in self.model.families)


@dataclass(frozen=True)
class Moments(Quantities):
    """The moments of a regression: sums of products, each moved by at most the layout's reach G by one record."""

    model: LinearRegression

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return all moments, in one block."""
        return (len(self.model.cells),)

    def apply(self, counts: Numbers) -> Numbers:
        """Return the moments themselves."""
        return np.asarray(counts)

    def transpose(self, values: Numbers) -> Numbers:
        """Return the numbers themselves."""
        return np.asarray(values)

    def changes(self) -> tuple[Counts, ...]:
        """Return a move of every number by G: no record moves one further."""
        return (np.full(self.length, self.per_record, dtype=np.int64),)

    @property
    def per_record(self) -> int:
        """Return G."""
        return self.model.layout.reach

    @cached_property
    def units(self) -> tuple[Fraction, ...]:
        """Return what a squared change of each number is divided by, so that X'X counts with its Frobenius norm."""
        d, layout, found = self.model.dimension, self.model.layout, []
        for (first, second), order, weight in zip(layout.products, layout.orders, layout.weights.tolist(), strict=True):
            unit = weight**2 * layout.grid**4 * (d**2, d, 1)[order]
            found.append(Fraction(unit, 2 if order == 0 and first != second else 1))
        return tuple(found)

    @property
    def squared_distance(self) -> Fraction:
        """Return the largest squared distance between the moments of two records in these units: 9/2, 11/2 with y'y."""
        return Fraction(9, 2) + (1 if self.model.layout.with_total else 0)

    def most(self, weights: Sequence[Fraction], blocks: Sequence[int], power: int) -> Fraction:
        """Return a bound of sum_i w_i |c_i|^power: by the range G of each, or for squares by the Frobenius norm."""
        ranged = super().most(weights, blocks, power)
        if power != 2:
            return ranged
        own = np.repeat(np.array(weights, dtype=object), blocks)
        normed = max(weight * unit for weight, unit in zip(own, self.units, strict=True)) * self.squared_distance
        return min(ranged, Fraction(normed))
