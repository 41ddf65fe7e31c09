"""Categorical data: how often each declared level occurs. A proportion is the two-level case.

Counts k of n records over m cells are multinomial with probabilities theta; the prior is theta ~ Dirichlet(alpha), so
the posterior given the counts is Dirichlet(alpha + k) and the counts themselves follow the Dirichlet-multinomial law.
Several columns may be crossed: the cells are then all combinations of their levels.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import isfinite, prod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.documents import Document, document_of
from discreet.errors import DeclarationError, SecretError
from discreet.models.category_questions import CategoryQuestions, Prior
from discreet.models.events import Cell, some_of
from discreet.records import as_source
from discreet.records.columns import Column, Level
from discreet.records.counting import Statistics

Levels = Sequence[Level] | Mapping[str, Sequence[Level]]
MOST_CELLS = 1_000_000


@dataclass(frozen=True, init=False, repr=False)
class Categories(CategoryQuestions, kind="Categories"):
    """The distribution of one categorical column, or of several columns crossed.

    `levels` are declared, never read from the data: a sequence for one column, a mapping by name for several. `prior`
    is one Dirichlet parameter for all cells, a sequence in the order of the cells, or a mapping by cell; None means
    that none is declared: readers then learn its strength, and mechanisms that draw from a posterior use 1. `outside`
    names the level for undeclared and missing values (see `Column`).

    >>> Categories("smoking", levels=("never", "former", "current"), prior=1, outside="never")
    Categories('smoking', levels=('never', 'former', 'current'), outside='never', prior=1)
    >>> levels, outside = {"ward": ("A", "B"), "fall": ("no", "yes")}, {"ward": "A", "fall": "no"}
    >>> ward = Categories(("ward", "fall"), levels, outside=outside)
    >>> ward.cells
    (('A', 'no'), ('A', 'yes'), ('B', 'no'), ('B', 'yes'))
    """

    document_types: ClassVar[Mapping[str, object]] = {"prior": tuple[float, ...] | None}

    columns: tuple[Column, ...]
    prior: tuple[float, ...]
    is_prior_declared: bool = field(default=True, init=False)

    def __init__(
        self,
        columns: str | Column | Sequence[str | Column],
        levels: Levels | None = None,
        prior: Prior | None = None,
        outside: Level | Mapping[str, Level] | None = None,
    ) -> None:
        several = columns if isinstance(columns, Iterable) else ()
        given = (columns,) if isinstance(columns, str | Column) else tuple(several)
        declared = _declared(given, levels, outside)
        names = [column.name for column in declared]
        if not names or len(set(names)) < len(names):
            raise DeclarationError(f"A model needs at least one column, and each only once; got {names}.")
        object.__setattr__(self, "columns", declared)
        count = prod(len(column.levels) for column in declared)
        if count > MOST_CELLS:
            raise DeclarationError(f"Crossing these columns gives {count} cells; at most {MOST_CELLS} are allowed.")
        object.__setattr__(self, "prior", _prior(1 if prior is None else prior, self.cells))
        object.__setattr__(self, "is_prior_declared", prior is not None)

    def document_values(self) -> dict[str, object]:
        """Return the prior as it is declared: None if it is not."""
        return {} if self.is_prior_declared else {"prior": None}

    def canonical_document(self) -> Document:
        """Return the table with its columns in the order of their names."""
        order = sorted(range(len(self.columns)), key=lambda place: self.columns[place].name)
        prior = self.concentration.reshape([len(column.levels) for column in self.columns]).transpose(order).ravel()
        ordered = Categories([self.columns[place] for place in order], prior=tuple(prior.tolist()))
        told = {name: value for name, value in document_of(ordered).items() if name in ("columns", "prior")}
        return document_of(self) | (told if self.is_prior_declared else {"columns": told["columns"]})

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Return the names of the cells, in the order of the counts."""
        if len(self.columns) == 1:
            return self.columns[0].levels
        return tuple(product(*(column.levels for column in self.columns)))

    @cached_property
    def concentration(self) -> NDArray[np.float64]:
        """Return the Dirichlet parameters of the prior."""
        return np.array(self.prior)

    def with_prior(self, prior: Prior | None) -> "Categories":
        """Return the same model under another prior."""
        return Categories(self.columns, prior=prior)

    @property
    def is_prior_open(self) -> bool:
        """Tell whether the strength of the prior is to be learnt; with two levels it is not: their prior is uniform."""
        return not self.is_prior_declared and len(self.cells) > 2

    def strengthened(self, strength: float) -> "Categories":
        """Return the same model with all parameters of its prior multiplied."""
        return self.with_prior(tuple(strength * value for value in self.prior))

    def statistics(self, data: object) -> Statistics:
        """Count the records of a frame or another source. The result is secret."""
        (table,) = as_source(data).count_families([self.columns])
        return Statistics(self, table.ravel(), records=int(table.sum()))

    def counts(self, counts: ArrayLike) -> NDArray[np.int64]:
        """Return made-up counts as an array, after checking their shape. Secret statistics are refused."""
        if isinstance(counts, Statistics):
            raise SecretError("These are secret statistics of real records; only discreet.publish may use them.")
        rows = np.asarray(counts)
        if rows.shape[-1:] != (len(self.cells),) or rows.dtype.kind not in "iu" or (rows < 0).any():
            raise DeclarationError(f"Counts must be whole numbers >= 0, one for each of the {len(self.cells)} cells.")
        return rows.astype(np.int64)


def _declared(
    given: tuple[str | Column, ...], levels: Levels | None, outside: Level | Mapping[str, Level] | None
) -> tuple[Column, ...]:
    """Return the columns: those that are declared already, and those that `levels` and `outside` declare by name."""
    names = [column for column in given if not isinstance(column, Column)]
    if not isinstance(levels, Mapping):
        if len(names) > 1:
            raise DeclarationError("Several columns need levels by name: levels={'ward': ('A', 'B'), ...}.")
        levels = {} if levels is None else dict.fromkeys(names, levels)
    homes = outside if isinstance(outside, Mapping) else dict.fromkeys(names, outside)
    if set(levels) != set(names):
        raise DeclarationError(f"levels must name each of the columns {sorted(names)}; it names {sorted(levels)}.")
    if not set(homes) <= set(names):
        raise DeclarationError(f"outside may name the columns {sorted(names)}; it names {sorted(homes)}.")
    return tuple(c if isinstance(c, Column) else Column(c, levels[c], homes.get(c)) for c in given)


def _prior(prior: Prior, cells: tuple[Cell, ...]) -> tuple[float, ...]:
    if isinstance(prior, Mapping):
        if set(prior) != set(cells):
            raise DeclarationError(f"A prior by name must name every cell once: {some_of(cells)}.")
        prior = [prior[cell] for cell in cells]
    try:
        values = [float(prior)] * len(cells) if isinstance(prior, int | float) else [float(value) for value in prior]
    except (TypeError, ValueError):
        values = []
    if len(values) != len(cells):
        raise DeclarationError(f"The prior must be one number, or one for each of the {len(cells)} cells.")
    if not all(isfinite(value) and 1e-6 <= value <= 1e9 for value in values):
        raise DeclarationError("Every parameter of the prior must lie between 1e-6 and 1e9.")
    return tuple(values)
