"""The distribution of a bounded number: how many records lie in each of some public cells between its bounds.

Cells are [x_i, x_(i+1)), with declared edges: equally wide, or growing for skewed columns; the last one has its upper
edge, and what lies beyond a bound counts in the cell at that bound. Of a column of whole numbers a cell holds the
whole numbers in it. Quantiles, shares below an edge and the histogram are read from the table, and end at edges,
because a table does not tell where in a cell its records lie. What may be asked is in `_table_estimands.py`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import ceil, floor, log2
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, whole
from discreet.mechanism import Asked, MetricLike, Simulated, one_for_each
from discreet.numbers._bounded_number import BoundedNumber, asked_of, exact_shares
from discreet.numbers._persons import Persons
from discreet.numbers._table_estimands import ESTIMANDS, QUANTILES, Estimand
from discreet.records import FIRST_DAY, LARGEST_WHOLE, LAST_DAY, Bounds, Column, Statistics, day_text

if TYPE_CHECKING:
    from discreet.numbers._table_posterior import NumberTablePosterior


USUAL = tuple(Fraction(each) for each in ("0.1", "0.25", "0.5", "0.75", "0.9"))
MOST_CELLS = 4096
_NO_VALUE = "no value"


def suitable_cells(size: int, epsilon: Exact, groups: int = 1) -> int:
    """Return a suitable number of cells for this many records at an epsilon, from public facts alone.

    In several groups, fewer if the table would be too large otherwise.

    >>> [suitable_cells(size, 1) for size in (100, 1000, 10_000)]
    [16, 64, 256]
    """
    information = size * exact(epsilon, "epsilon")
    cells = 16 if information < 300 else 64 if information <= 2000 else 256
    return min(cells, max(MOST_CELLS // groups, 2))


def suitable_path_cells(size: int, epsilon: Exact) -> int:
    """Return how many cells suit noise along a path, a power of two.

    Below an edge of K cells it is about K / epsilon, and a cell has size / K records: both are alike at the root.

    >>> [suitable_path_cells(size, 1) for size in (300, 1000, 10_000)]
    [8, 16, 64]
    """
    information = size * exact(epsilon, "epsilon") / 2
    return 1 << min(max(int(log2(information) / 2), 2), 8)


@dataclass(frozen=True, init=False, repr=False)
class NumberTable(BoundedNumber["NumberTablePosterior"], kind="NumberTable"):
    """The table of a column with public bounds, in `cells` equal cells or between declared `edges`.

    `is_whole` declares whole numbers: cells begin at whole numbers, and intervals include both ends. `missing` is a
    number that replaces missing values; by default, records without a value are left out of all shares.

    >>> NumberTable("age", bounds=(0, 100), cells=4).edges
    (Fraction(0, 1), Fraction(25, 1), Fraction(50, 1), Fraction(75, 1), Fraction(100, 1))
    """

    bounds: Bounds
    edges: tuple[Fraction, ...]
    asks: tuple[str, ...]
    quantiles: tuple[Fraction, ...]
    by: Column | None
    is_whole: bool
    leaves_gaps_out: bool
    persons: Persons | None = None

    def __init__(
        self,
        column: str,
        bounds: Sequence[Exact],
        cells: int | None = None,
        edges: Sequence[Exact] | None = None,
        asks: Sequence[str] = (QUANTILES,),
        quantiles: Sequence[Exact] = USUAL,
        by: Column | None = None,
        missing: Exact | None = None,
        is_whole: bool = False,
        persons: Persons | None = None,
    ) -> None:
        shares = exact_shares(quantiles)
        self._declare(
            column,
            bounds,
            by,
            missing,
            persons,
            asks=asked_of(asks, tuple(ESTIMANDS)),
            quantiles=shares,
            is_whole=bool(is_whole) and (persons is None or persons.keeps_whole),
        )
        if self.bounds.dates:
            object.__setattr__(self, "is_whole", True)
        found = self._equal(64 if cells is None else cells) if edges is None else self._declared(edges, cells)
        object.__setattr__(self, "edges", found)
        if (count := len(self.groups) * (len(found) - 1)) > MOST_CELLS:
            raise DeclarationError(f"The table has {count} cells in all groups; at most {MOST_CELLS} are allowed.")

    def _equal(self, cells: int) -> tuple[Fraction, ...]:
        """Return the edges of equal cells; of whole numbers one for each, if that is not twice as many or more."""
        count, low, high = whole(cells, "cells", 2, MOST_CELLS), self.bounds.low, self.bounds.high
        if not self.is_whole:
            return tuple(low + (high - low) * index / count for index in range(count + 1))
        first, end = floor(low), ceil(high) + 1  # the last cell holds the upper bound
        width = 1 if end - first <= 2 * count else ceil(Fraction(end - first, count))
        return (*(Fraction(each) for each in range(first, end, width)), Fraction(end))

    def _declared(self, edges: Sequence[Exact], cells: int | None) -> tuple[Fraction, ...]:
        found = tuple(exact(edge, "an edge") for edge in edges)
        if cells is not None or len(found) < 3 or any(b <= a for a, b in pairwise(found)):
            raise DeclarationError(
                "edges must be at least three numbers in increasing order, and replace cells: give one of the two."
            )
        low, high = self.bounds.low, self.bounds.high + (1 if self.is_whole else 0)
        if found[0] != low or found[-1] not in (high, self.bounds.high):
            raise DeclarationError(f"edges must begin and end at the bounds of {self.column!r}.")
        if self.is_whole and any(edge.denominator != 1 for edge in found):
            raise DeclarationError("The edges of a column of whole numbers must be whole numbers.")
        return (*found[:-1], high)

    @classmethod
    def restored(cls, **values: Any) -> "NumberTable":
        return super().restored(**values)

    @classmethod
    def asked_as(cls) -> dict[str, Asked]:
        """Return nothing: studies ask for 'number', which makes one of these where it is needed."""
        return {}

    @classmethod
    def growing(cls, column: str, bounds: Sequence[Exact], first: Exact, cells: int = 64, **more: Any) -> "NumberTable":
        """Return a table whose cells grow by a constant factor from the edge `first` onwards, for skewed columns."""
        low, high, start = (exact(each, "an edge") for each in (*bounds, first))
        if not low < start < high:
            raise DeclarationError("growing_from, the first edge of the growing cells, must lie between the bounds.")
        grown = np.geomspace(float(start - low), float(high - low), whole(cells, "cells", 2, MOST_CELLS))
        inner = [low + Fraction(f"{each:.4g}") for each in grown[1:-1]]
        return cls(column, bounds, edges=(low, start, *inner, high), **more)

    def __repr__(self) -> str:
        ends = f"{self.shown(self.edge_values[0])} to {self.shown(float(self.bounds.high))}"
        by = "" if self.by is None else f", by {self.by.name}"
        of = self.words_about_persons and f", {self.words_about_persons}"
        return f"NumberTable({self.column!r}, {ends} in {self.count} cells{by}, {self.missing_rule}{of})"

    @property
    def has_a_cell_for_each(self) -> bool:
        """Return whether every whole number has a cell of its own, so that more cells would add nothing."""
        return self.is_whole and self.count == self.edges[-1] - self.edges[0]

    @property
    def part_in_words(self) -> str:
        """Say how many cells there are between the bounds."""
        return f"{len(self.edges) - 1} cells"

    @property
    def count(self) -> int:
        """Return the number of cells in each group."""
        return len(self.edges) - 1

    @cached_property
    def edge_values(self) -> Floats:
        """Return the edges as numbers."""
        return np.array([float(edge) for edge in self.edges])

    @cached_property
    def declared(self) -> Column:
        """Return the cells as a banded column; the outer ones are open, so that what lies beyond a bound is in them."""
        ends = (FIRST_DAY, LAST_DAY) if self.bounds.dates else (-LARGEST_WHOLE, LARGEST_WHOLE)
        edges = [float(ends[0]), *self.edge_values[1:-1].tolist(), float(ends[1])]
        names = [f"cell {index + 1}" for index in range(self.count)]
        home = _NO_VALUE if self.leaves_gaps_out else names[self.cell_of(self.bounds.missing)]
        given = [day_text(edge) for edge in edges] if self.bounds.dates else edges
        return Column.banded(self.column, given, home, names)

    def cell_of(self, value: Fraction | float) -> int:
        """Return the cell of a number."""
        return int(np.clip(np.searchsorted(self.edge_values, float(value), side="right") - 1, 0, self.count - 1))

    @property
    def tables(self) -> tuple[tuple[Column, ...], ...]:
        """Return the one table that is counted; where persons are counted, rows are not."""
        return () if self.persons is not None else (self._family,)

    @property
    def _family(self) -> tuple[Column, ...]:
        return (self.declared,) if self.by is None else (self.by, self.declared)

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the names of all counts, group after group."""
        own = [str(level) for level in self.declared.levels]
        return tuple(f"{group} {name}".strip() for group in self.groups for name in own)

    @property
    def counted(self) -> tuple[object, ...]:
        return self._family, self.persons

    def statistics(self, data: object) -> Statistics:
        (table,) = self.source(data).count_families([self._family])
        return Statistics(self, table.ravel(), records=int(table.sum()))

    def rehearse(self, simulated: object) -> Counts:
        """Return the counts of simulated records as plain numbers, for `simulate`. Never give it real records."""
        (table,) = self.source(simulated).count_families([self._family])
        return table.ravel()

    def contributions(self, most: int) -> tuple[Counts, bool]:
        return one_for_each(len(self.cells), most)

    def is_decided_by(self, metric: MetricLike) -> bool:
        """Return whether every edge is one of the metric's, and values and missing values are read alike."""
        plain = self.by is None and self.persons is None and not self.leaves_gaps_out
        own, cells = self.bounds, metric.numbers
        if not plain or cells is None or not set(self.edges[1:-1]) <= set(cells.starts):
            return False
        return (cells.column, cells.missing, cells.dates) == (own.name, own.missing, own.dates)

    def parts(self) -> Iterator["NumberTable"]:
        """Yield tables of few cells: in two groups if there are groups, then without."""
        if self.by is not None:
            groups = Column("group", ("a", "b"), outside="a")
            for cells in (3, 2):
                yield NumberTable(
                    "x", (0, cells), cells, asks=self.asks, quantiles=self.quantiles, by=groups, missing=0
                )
        for cells in (4, 3, 2):
            if cells < self.count:
                missing = None if self.leaves_gaps_out else 0
                yield NumberTable("x", (0, cells), cells, asks=self.asks, quantiles=self.quantiles, missing=missing)

    @property
    def estimands(self) -> tuple[Estimand, ...]:
        """Return what is asked, in the order in which it is shown."""
        return tuple(ESTIMANDS[each] for each in self.asks)

    @property
    def quantity_words(self) -> tuple[str, ...]:
        """Return the quantities of each group."""
        return tuple(name for asked in self.estimands for name in asked.names(self, f" of {self.quantity}"))

    @property
    def shown_edges(self) -> tuple[int, ...]:
        """Return about seven edges at which the share below is shown."""
        step = max(1, round(self.count / 8))
        return tuple(range(step, self.count, step))

    def main_rows(self, count: int) -> list[int]:
        """Return the rows about the population of quantiles and means, or else of shares."""
        shares = [asked.is_share for asked in self.estimands for _ in asked.names(self)]
        own = [index for index, is_share in enumerate(shares) if not is_share] or range(len(shares))
        return [2 * (group * len(shares) + index) + 1 for group in range(len(self.groups)) for index in own]

    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        """Draw a population between the bounds for every group, and records from it."""
        shares, records = self.simulated_groups(size, generator)
        values = self.value_at(self.simulated_positions)
        values = np.floor(values) if self.is_whole else values
        cells = np.array([self.cell_of(value) for value in values])
        truth: list[float] = []
        counts = np.zeros((len(self.groups), len(self.declared.levels)), dtype=np.int64)
        for index, (distribution, own) in enumerate(zip(shares, records, strict=True)):
            np.add.at(counts[index], cells, own)
            for words, figures in zip(
                self._true(values, own), self._true(values, distribution / distribution.sum()), strict=True
            ):
                truth += [words, figures]
        return Simulated(tuple(truth), counts.ravel())

    def _true(self, values: Floats, weights: Floats) -> list[float]:
        """Return the quantities of a distribution, or of counted records."""
        return [value for asked in self.estimands for value in asked.true(self, values, weights)]

    def exact(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        """Return the widths from exact counts: no more than a cell among the records, and sampling besides."""
        table = np.asarray(statistics, dtype=float).reshape(len(self.groups), -1)[:, : self.count]
        rows = [row for own in table for asked in self.estimands for row in asked.exact(self, own, level)]
        return [(float(value), float(width)) for value, width in rows]
