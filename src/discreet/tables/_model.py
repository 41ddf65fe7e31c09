"""Categorical data: how often each declared level occurs. A proportion is the two-level case.

Counts k of n records over m cells are multinomial with probabilities theta; the prior is theta ~ Dirichlet(alpha), so
the posterior given the counts is Dirichlet(alpha + k) and the counts themselves follow the Dirichlet-multinomial
distribution. Several columns may be crossed: the cells are then all combinations of their levels.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from math import ceil, isfinite, log2, prod
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from discreet._core.arrays import Counts, Floats
from discreet._core.documents import Document, document_of
from discreet._core.errors import DeclarationError, SecretError
from discreet.mathematics import log_prior, log_prior_constant
from discreet.mathematics.distributions import BetaRows, Dirichlet, MixtureBatch, ends_of, tails
from discreet.mechanism import (
    Asked,
    Cell,
    Declared,
    Key,
    MetricLike,
    Model,
    Parameters,
    Simulated,
    neighbouring_tables,
    of_levels,
    one_for_each,
    places_of,
    some_of,
)
from discreet.records import Column, Level, Statistics, as_source

if TYPE_CHECKING:
    from discreet.mechanism import Informed
    from discreet.tables._posterior import CategoriesPosterior

Levels = Sequence[Level] | Mapping[str, Sequence[Level]]
MOST_CELLS = 1_000_000
CROSSED_FROM = 10
"""Cells from which on all are read together under the crossed prior; of fewer, the learnt strength errs little."""


Prior = float | Sequence[float] | Mapping[Cell, float]


@dataclass(frozen=True, init=False, repr=False)
class Categories(Model["CategoriesPosterior"], kind="Categories"):
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
    reads_number: ClassVar[bool] = True
    """Whether inference uses a noisy number of records beside noisy counts, where that number is secret."""

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
        order = sorted(range(len(self.columns)), key=lambda index: self.columns[index].name)
        prior = self.concentration.reshape([len(column.levels) for column in self.columns]).transpose(order).ravel()
        ordered = Categories([self.columns[index] for index in order], prior=tuple(prior.tolist()))
        written = {name: value for name, value in document_of(ordered).items() if name in ("columns", "prior")}
        return document_of(self) | (written if self.is_prior_declared else {"columns": written["columns"]})

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
        """Return whether the strength of the prior is learnt; with two levels it is not: their prior is uniform."""
        return not self.is_prior_declared and len(self.cells) > 2

    def strengthened(self, strength: float) -> "Categories":
        """Return the same model with all parameters of its prior multiplied."""
        return self.with_prior(tuple(strength * value for value in self.prior))

    def statistics(self, data: object) -> Statistics:
        (table,) = as_source(data).count_families([self.columns])
        return Statistics(self, table.ravel(), records=int(table.sum()))

    def counts(self, counts: ArrayLike) -> NDArray[np.int64]:
        """Return simulated counts as an array, after checking their shape. Secret statistics are refused."""
        if isinstance(counts, Statistics):
            raise SecretError("These are secret statistics of real records; only discreet.publish may use them.")
        rows = np.asarray(counts)
        if rows.shape[-1:] != (len(self.cells),) or rows.dtype.kind not in "iu" or (rows < 0).any():
            raise DeclarationError(f"Counts must be whole numbers >= 0, one for each of the {len(self.cells)} cells.")
        return rows.astype(np.int64)

    def __repr__(self) -> str:
        if any(column.edges for column in self.columns):
            return f"Categories({self.columns!r}, prior={self._shown_prior})"
        one = len(self.columns) == 1
        name = repr(self.columns[0].name if one else tuple(c.name for c in self.columns))
        levels = self.columns[0].levels if one else {c.name: c.levels for c in self.columns}
        outside = self.columns[0].outside if one else {c.name: c.outside for c in self.columns}
        return f"Categories({name}, levels={levels!r}, outside={outside!r}, prior={self._shown_prior})"

    @property
    def _shown_prior(self) -> str:
        if not self.is_prior_declared:
            return "None"
        return f"{self.prior[0]:g}" if len(set(self.prior)) == 1 else repr(self.prior)

    @classmethod
    def asked_as(cls) -> dict[str, Asked]:
        """Return the one name by which a study asks for it, with columns for its key."""
        about = "The share of records in each level of a column, or in each cell of several columns that are crossed."
        keys = {"columns": Key("Columns that are crossed", of_levels)}
        return {"categories": Asked(cls._asked, title="Table of shares", about=about, keys=keys)}

    @classmethod
    def _asked(cls, declared: Declared, columns: Sequence[str], prior: Prior | None = None) -> Self:
        make: Callable[..., Self] = cls
        return make(list(declared.levels("columns", columns).values()), prior=prior)

    @property
    def counted(self) -> tuple[Column, ...]:
        return self.columns

    @property
    def tables(self) -> tuple[tuple[Column, ...], ...]:
        """Return the one table."""
        return (self.columns,)

    def cell_indices(self, event: object) -> NDArray[np.int64]:
        """Return the indices of the cells in an event: a cell, several cells, or text such as 'ward=A, fall=yes'."""
        return places_of(event, self.columns, self.cells)

    def posterior(self, counts: ArrayLike) -> Dirichlet:
        """Return the posterior that counts would give if they were known exactly."""
        return Dirichlet(self.concentration + self.counts(counts))

    def log_evidence(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return log P(counts | size), the Dirichlet-multinomial distribution, for one or many rows of counts.

        P(k) = n! Gamma(a) / Gamma(n + a) prod_i Gamma(a_i + k_i) / (k_i! Gamma(a_i)),  a = sum_i a_i.
        """
        rows, alpha = self.counts(counts), self.concentration
        cells = log_prior(alpha, rows).sum(axis=-1)
        return np.asarray(log_prior_constant(float(alpha.sum()), rows.sum(axis=-1)) + cells)

    def proposals(self, is_evidence_known: bool) -> "tuple[Categories, ...]":
        """Return the model with (2/m)^(1 - g/G) in each of m cells, g = 0, ..., G: from 2 records in all to m."""
        cells = len(self.cells)
        steps = ceil(log2(cells / 2))
        weak = [(2 / cells) ** (1 - step / steps) for step in range(steps + 1)] if is_evidence_known and steps else [1]
        return tuple(self.with_prior(value) for value in weak)

    def informed_by(self, own: object) -> "Informed":
        """Return the table with own records in its prior: records, or counts of all cells."""
        from discreet.tables._own_records import informed_categories

        return informed_categories(self, own)

    def contributions(self, most: int) -> tuple[NDArray[np.int64], bool]:
        return one_for_each(len(self.cells), most)

    def parts(self) -> "Iterator[Categories]":
        """Yield smaller models of the same kind: tables of the first four, three and two cells with their prior."""
        for cells in (4, 3, 2):
            if cells < len(self.cells):
                yield Categories("cell", levels=tuple(range(cells)), prior=self.prior[:cells], outside=0)

    @property
    def part_in_words(self) -> str:
        """Say how many cells there are."""
        return f"{len(self.cells)} cells"

    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        chances = generator.dirichlet(self.concentration)
        return Simulated(tuple(chances.tolist()), generator.multinomial(size, chances))

    def exact(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        """Return the mean and the width of every cell, from exact counts; if no prior was declared, groupwise."""
        shapes = self.concentration + statistics
        if self.is_prior_declared:
            low, high = (betaincinv(shapes, shapes.sum() - shapes, tail) for tail in tails(level))
        else:
            exact = BetaRows.of(np.ones((len(shapes), 1)), 1.0 + statistics, size + 2.0)
            low, high = ends_of(MixtureBatch([exact]), level, True)
        return list(zip((shapes / shapes.sum()).tolist(), (high - low).tolist(), strict=True))

    def is_decided_by(self, metric: MetricLike) -> bool:
        """Return whether the metric is one of this one column, declared alike: levels, bands, and what is outside."""
        return len(self.columns) == 1 and metric.levels == self.columns[0]

    def neighbouring_pairs(self, size: int, generator: np.random.Generator) -> list[tuple[Counts, Counts]]:
        """Return neighbouring tables: corners, beside corners, edges, balanced, and some drawn from the prior."""
        return neighbouring_tables(self.concentration, size, generator)

    def are_neighbours(self, size: int, first: Counts, second: Counts) -> bool:
        """Return whether both are tables of this many records, one of which is in another cell."""
        possible = min(first.min(), second.min()) >= 0 and first.sum() == second.sum() == size
        return bool(possible and np.abs(first - second).sum() == 2)

    def by_name(self, parameters: Parameters) -> dict[Cell, float]:
        """Return probabilities by cell."""
        return {cell: float(value) for cell, value in zip(self.cells, np.asarray(parameters), strict=True)}

    def even_parameters(self) -> Floats:
        """Return equal probabilities."""
        return np.full(len(self.cells), 1 / len(self.cells))

    def chance(self, event: object, parameters: Parameters, given: object = None) -> float:
        """Return the sum over the cells of an event, divided by that of another event if one is given."""
        theta, indices = np.asarray(parameters), self.cell_indices(event)
        if given is None:
            return float(theta[indices].sum())
        condition = self.cell_indices(given)
        return float(theta[np.intersect1d(indices, condition)].sum() / theta[condition].sum())

    def expectation(self, values: Mapping[object, float], parameters: Parameters, given: object = None) -> float:
        """Return sum_i theta_i values_i, over the cells of an event and divided by its probability if one is given."""
        theta, found, times = np.asarray(parameters), np.zeros(len(self.cells)), np.zeros(len(self.cells), dtype=int)
        for event, value in values.items():
            indices = self.cell_indices(event)
            found[indices], times[indices] = float(value), times[indices] + 1
        if (times != 1).any():
            raise DeclarationError("the values must name events that cover every cell exactly once")
        inside = np.arange(len(self.cells)) if given is None else self.cell_indices(given)
        return float(theta[inside] @ found[inside] / (1.0 if given is None else theta[inside].sum()))


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
