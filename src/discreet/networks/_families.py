"""The tables of a network's families: which of them are counted, how large they are, and where each one lies.

A family inside another one is a marginal of it, so only the maximal families are counted. Their cells stand one table
after the other in one row of numbers.
"""

from collections.abc import Iterable
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet._core.errors import DeclarationError, meant
from discreet.records import Column

Family = tuple[str, ...]
"""The names of a family's columns: the parents, then the variable itself."""


class FamilyTables:
    """Families of variables with their parents, and the tables that count records in them; `Network` declares both."""

    variables: tuple[Column, ...]
    parents: tuple[tuple[str, ...], ...]

    @cached_property
    def families(self) -> tuple[Family, ...]:
        """Return the family of each variable: its parents, then itself."""
        return tuple((*above, v.name) for v, above in zip(self.variables, self.parents, strict=True))

    @cached_property
    def maximal_families(self) -> tuple[Family, ...]:
        """Return the families that lie in no other one, in the order of the variables.

        No two families are the same set: each of the two variables would be a parent of the other.
        """
        around: dict[str, list[frozenset[str]]] = {variable.name: [] for variable in self.variables}
        for family in self.families:
            for name in family:
                around[name].append(frozenset(family))
        return tuple(f for f in self.families if not any(frozenset(f) < other for other in around[f[-1]]))

    @cached_property
    def _column(self) -> dict[str, Column]:
        return {variable.name: variable for variable in self.variables}

    def shape(self, family: Iterable[str]) -> tuple[int, ...]:
        """Return the number of levels of each column of a family."""
        return tuple(len(self._column[name].levels) for name in family)

    @cached_property
    def cells(self) -> int:
        """Return how many cells the tables of all maximal families have together."""
        return sum(prod(self.shape(family)) for family in self.maximal_families)

    def split(self, values: ArrayLike) -> list[NDArray[Any]]:
        """Return one table for each maximal family, from their cells in one row (C order); leading axes are kept."""
        return [self._part(values, index) for index in range(len(self.maximal_families))]

    def table(self, name: str, values: ArrayLike) -> NDArray[Any]:
        """Return the table (parents..., variable) of a variable, a marginal of the first maximal family around it."""
        if name not in self._homes:
            raise DeclarationError(f"There is no variable {name!r} in this network.{meant(name, self._homes)}")
        family, index = self._homes[name]
        return self.marginal(self._part(values, index), self.maximal_families[index], family)

    @cached_property
    def _homes(self) -> dict[str, tuple[Family, int]]:
        """Return for each variable its family, and the index of the first maximal family around it."""
        around: dict[str, list[int]] = {variable.name: [] for variable in self.variables}
        for index, family in enumerate(self.maximal_families):
            for name in family:
                around[name].append(index)
        names = [frozenset(family) for family in self.maximal_families]
        return {f[-1]: (f, next(i for i in around[f[-1]] if names[i].issuperset(f))) for f in self.families}

    @cached_property
    def _edges(self) -> NDArray[np.int64]:
        """Return where the table of each maximal family begins, and where the last one ends."""
        return np.cumsum([0, *(prod(self.shape(family)) for family in self.maximal_families)])

    def _part(self, values: ArrayLike, index: int) -> NDArray[Any]:
        rows = np.asarray(values)
        if rows.shape[-1:] != (self.cells,):
            raise DeclarationError(f"The tables of this network have {self.cells} cells in all.")
        part = rows[..., self._edges[index] : self._edges[index + 1]]
        return part.reshape(*rows.shape[:-1], *self.shape(self.maximal_families[index]))

    @staticmethod
    def marginal(table: NDArray[Any], around: Family, family: Family) -> NDArray[Any]:
        """Return the marginal of a table with axes (..., *around) to the axes (..., *family)."""
        batch = table.ndim - len(around)
        summed = table.sum(axis=tuple(batch + i for i, name in enumerate(around) if name not in family))
        left = [name for name in around if name in family]
        return np.asarray(summed.transpose(*range(batch), *(batch + left.index(name) for name in family)))
