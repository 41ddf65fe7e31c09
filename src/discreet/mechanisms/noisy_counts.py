"""Noisy tables of counts: all cells of a table of categories, and what their mechanisms share."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts, Floats, NumbersT
from discreet.errors import DeclarationError
from discreet.exact import Exact, whole
from discreet.mechanisms.additive import Additive, noise_epsilon
from discreet.mechanisms.parts import Part
from discreet.mechanisms.quantities import Quantities, unit_moves
from discreet.models.categories import Categories
from discreet.noise.structure import log_terms, preserved


@dataclass(frozen=True)
class TableCells(Quantities):
    """All cells of a table of categories."""

    model: Categories

    @property
    def blocks(self) -> tuple[int, ...]:
        return (len(self.model.cells),)

    @property
    def parts(self) -> tuple[Part, ...] | None:
        shape = tuple(len(column.levels) for column in self.model.columns)
        names = tuple(column.name for column in self.model.columns)
        return (Part(names, (True,) * len(names), np.arange(self.length).reshape(shape)),)

    @property
    def single_cells(self) -> Counts:
        return np.arange(self.length)

    def apply(self, counts: NumbersT) -> NumbersT:
        return np.asarray(counts)

    def transpose(self, values: NumbersT) -> NumbersT:
        return np.asarray(values)

    @property
    def tables(self) -> tuple[tuple[str, ...], ...] | None:
        return (tuple(column.name for column in self.model.columns),)

    def changes(self) -> tuple[Counts, ...]:
        """Return one unit that moves from the last cell to the first; all others are alike."""
        return (unit_moves(self.blocks),)


@dataclass(frozen=True, init=False, repr=False)
class NoisyCounts(Additive[Categories]):
    """A noisy table of counts: `model` declares the cells, `size` is the public number of records."""

    model: Categories
    size: int
    epsilon: Fraction

    def __init__(self, model: Categories, size: int, epsilon: Exact) -> None:
        if not isinstance(model, Categories):
            raise DeclarationError(f"{type(self).__name__} publishes counts of Categories; got {type(model).__name__}.")
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", noise_epsilon(epsilon, "epsilon"))

    @cached_property
    def quantities(self) -> Quantities:
        return TableCells(self.model)

    def checked(self, counts: ArrayLike) -> Counts:
        """Return made-up counts as an array; they must add up to the public size."""
        table = self.model.counts(counts)
        if (table.sum(axis=-1) != self.size).any():
            raise DeclarationError(f"The counts must add up to the public size {self.size}.")
        return table

    @property
    def keeps_total(self) -> bool:
        """Tell whether every output adds up to the public size."""
        return preserved(self.noise.structure)[0]

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return log g(noise), cell by cell."""
        return log_terms(self.noise.structure, noise, 0)

    @property
    def log_normaliser(self) -> float:
        """Return log Z."""
        return self.noise.log_normaliser

    def outputs_near(self, margin: int) -> Counts:
        """Return all outputs whose counts lie between -margin and size + margin: enough to meet every sign of noise."""
        values = range(-margin, self.size + margin + 1)
        cells = len(self.model.cells)
        if not self.keeps_total:
            return np.array(list(product(values, repeat=cells)))
        free = np.array(list(product(values, repeat=cells - 1)))
        return np.column_stack([free, self.size - free.sum(axis=1)])
