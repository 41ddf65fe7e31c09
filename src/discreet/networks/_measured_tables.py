"""Tables as quantities: all cells of a table, the tables of families, and differences of yes and no."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from discreet._core.arrays import Counts, NumbersT
from discreet.mechanism import Part, Quantities, unit_moves
from discreet.networks._families import Family
from discreet.networks._model import Network
from discreet.noise import by_block


@dataclass(frozen=True)
class FamilyCounts(Quantities):
    """The tables of some families of a network, one after another: its maximal ones, or all of them."""

    model: Network
    families: tuple[Family, ...]

    @cached_property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        """Return the shape of each table."""
        return tuple(self.model.shape(family) for family in self.families)

    @property
    def blocks(self) -> tuple[int, ...]:
        return tuple(prod(shape) for shape in self.shapes)

    @property
    def tables(self) -> tuple[tuple[str, ...], ...]:
        return self.families

    def pieces(self) -> tuple[Quantities, ...]:
        return tuple(FamilyCounts(self.model, (family,)) for family in self.families)

    @cached_property
    def _homes(self) -> list[int]:
        """Return for each family the index of the first maximal family around it."""
        around = [frozenset(family) for family in self.model.maximal_families]
        return [next(i for i, names in enumerate(around) if names.issuperset(family)) for family in self.families]

    @property
    def parts(self) -> tuple[Part, ...]:
        found, first = [], 0
        for family, shape in zip(self.families, self.shapes, strict=True):
            indices = first + np.arange(prod(shape)).reshape(shape)
            found.append(Part(family, (True,) * len(family), indices))
            first += prod(shape)
        return tuple(found)

    def apply(self, counts: NumbersT) -> NumbersT:
        """Return the tables of the families, each a marginal of the first maximal family around it."""
        if self.families == self.model.maximal_families:
            return np.asarray(counts)
        tables, rows = self.model.split(counts), np.asarray(counts).shape[:-1]
        found = []
        for family, home in zip(self.families, self._homes, strict=True):
            table = self.model.marginal(tables[home], self.model.maximal_families[home], family)
            found.append(table.reshape(*rows, -1))
        return np.concatenate(found, axis=-1)

    def transpose(self, values: NumbersT) -> NumbersT:
        """Return each number spread over all cells that are counted in it."""
        if self.families == self.model.maximal_families:
            return values
        shapes = [self.model.shape(family) for family in self.model.maximal_families]
        lead = values.shape[:-1]
        found = [np.zeros(lead + each, dtype=values.dtype) for each in shapes]
        parts = zip(self.families, self.shapes, self._homes, by_block(values, self.blocks), strict=True)
        for family, shape, home, own in parts:
            around = self.model.maximal_families[home]
            table = own.reshape(*lead, *shape)
            inside = [name for name in around if name in family]
            moved = table.transpose(*range(len(lead)), *(len(lead) + family.index(name) for name in inside))
            sizes = [len_ if name in family else 1 for name, len_ in zip(around, self.model.shape(around), strict=True)]
            found[home] += moved.reshape(*lead, *sizes)
        return np.concatenate([table.reshape(*lead, -1) for table in found], axis=-1)

    def changes(self) -> tuple[Counts, ...]:
        """Return one unit that moves in every table: from the record of all last levels to that of all first ones."""
        return (unit_moves(self.blocks),)


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
        counted = () if target is None else (FamilyCounts(self.model, ((target,),)),)
        return *counted, *(SignedFeatures(self.model, index) for index in range(self.classes))

    @property
    def blocks(self) -> tuple[int, ...]:
        """Return the classes, if there are any, and the features of each class."""
        return tuple(piece.length for piece in self.pieces())

    def apply(self, counts: NumbersT) -> NumbersT:
        return np.concatenate([piece.apply(counts) for piece in self.pieces()], axis=-1)

    def transpose(self, values: NumbersT) -> NumbersT:
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
    index: int

    @property
    def blocks(self) -> tuple[int, ...]:
        return (len(self.model.variables) - (self.model.target is not None),)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return of each feature its contrast in this class: h_1 is (first) - (second level)."""
        target, (*names,) = self.model.target, (variable.name for variable in self.model.variables)
        if target is None:
            return tuple(Part((name,), (False,), np.array([i]), -1.0) for i, name in enumerate(names))
        pairs = enumerate(names[1:])
        return tuple(Part((target, n), (True, False), np.array([[i]]), -1.0, level=self.index) for i, n in pairs)

    def _rows(self, tables: Sequence[NumbersT]) -> list[NumbersT]:
        return [table[..., self.index, :] if self.model.target is not None else table for table in tables]

    def apply(self, counts: NumbersT) -> NumbersT:
        """Return (second level) - (first level) of each feature in this class."""
        return np.stack([row[..., 1] - row[..., 0] for row in self._rows(self.model.split(counts))], axis=-1)

    def transpose(self, values: NumbersT) -> NumbersT:
        """Return +s for second levels and -s for first ones of this class."""
        found = np.zeros((*values.shape[:-1], self.model.cells), dtype=values.dtype)
        for index, row in enumerate(self._rows(self.model.split(found))):  # views of `found`
            row[..., 1] = values[..., index]
            row[..., 0] = -values[..., index]
        return found

    def changes(self) -> tuple[Counts, ...]:
        """Return a record that changes all features inside the class."""
        return (np.full(self.length, 2, dtype=np.int64),)
