"""All columns at once: which tables of two columns say how the columns belong together is left to the mechanism.

Statistics are the counts of all pairs of columns, one table after the other: one record adds one to one cell of each.
The counts of a single column are margins of these. Nothing is declared but the columns: no table, no graph, no prior.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import prod
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts
from discreet._core.documents import Document, document_of
from discreet._core.errors import DeclarationError, SecretError
from discreet.mechanism import Asked, Declared, Key, Model, Simulated, all_or_some, of_levels
from discreet.records import Column, Level, Statistics, as_source
from discreet.synthesis._intervals import share_interval

if TYPE_CHECKING:
    from discreet.synthesis._posterior import SynthesisPosterior

Pair = tuple[int, int]
"""Two columns by number, the first one first."""

MOST_CELLS = 2**22
"""The most cells of all pairs of columns together."""
_CLASSES = 5  # of the mixture from which studies are simulated
_SOME = 16  # kinds of records that stand for all, if there are too many: each has all steps of a sequence worked out
_BLOCK = 2**14  # records that are counted together


@dataclass(frozen=True, init=False, repr=False)
class Synthesis(Model["SynthesisPosterior"], kind="Synthesis"):
    """All columns at once: the shares of every level and of every pair of levels, and a model of whole records.

    Columns are given as `Column`s, or by name with `levels` and `outside` by name, as for a network.

    >>> model = Synthesis(("smoker", "cancer"), {"smoker": ("no", "yes"), "cancer": ("no", "yes")}, outside="no")
    >>> model.pairs, model.cells
    (((0, 1),), 4)
    """

    document_types: ClassVar[Mapping[str, object]] = {}

    columns: tuple[Column, ...]

    def __init__(
        self,
        columns: Sequence[str | Column],
        levels: Mapping[str, Sequence[Level] | Column] | None = None,
        outside: Level | Mapping[str, Level] | None = None,
    ) -> None:
        several = isinstance(columns, Sequence) and not isinstance(columns, str)
        given: tuple[str | Column, ...] = tuple(columns) if several else ()
        declared = tuple(_declared(each, levels or {}, outside) for each in given)
        names = [column.name for column in declared]
        if len(names) < 2 or len(set(names)) < len(names):
            raise DeclarationError(
                "A synthesis needs at least two columns, and each only once; got "
                f"{', '.join(map(repr, names)) or 'none'}."
            )
        object.__setattr__(self, "columns", declared)
        if self.cells > MOST_CELLS:
            raise DeclarationError(
                f"All pairs of these {len(names)} columns have {self.cells:,} cells together; at most {MOST_CELLS:,} "
                "are counted. Declare fewer levels or wider bands for the columns with the most levels, or leave some "
                "columns out."
            )

    def __repr__(self) -> str:
        names = [repr(column.name) for column in self.columns]
        shown = ", ".join(names[:8]) + (f", ... ({len(names)} in all)" if len(names) > 8 else "")
        return f"Synthesis({shown})"

    def canonical_document(self) -> Document:
        """Return the model with its columns in the order of their names."""
        ordered: list[Column] = sorted(self.columns, key=lambda column: column.name)
        return document_of(Synthesis(ordered))

    @classmethod
    def asked_as(cls) -> dict[str, Asked]:
        """Return the one name by which a study asks for it, with columns for its key."""
        about = "Many columns at once: shares of levels and of pairs of levels with intervals, and synthetic records."
        keys = {"columns": Key("Columns of the synthetic records", of_levels)}
        return {"synthesis": Asked(cls._asked, title="Synthetic records", about=about, keys=keys)}

    @classmethod
    def _asked(cls, declared: Declared, columns: Sequence[str] | None = None) -> "Synthesis":
        if columns is None:
            return cls(list(declared.columns.values()))
        return cls(list(declared.levels("columns", columns).values()))

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Return the number of levels of each column."""
        return tuple(len(column.levels) for column in self.columns)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Return all pairs of columns, by number."""
        return tuple(combinations(range(len(self.columns)), 2))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of cells of the table of each pair."""
        return tuple(self.levels[a] * self.levels[b] for a, b in self.pairs)

    @cached_property
    def starts(self) -> Counts:
        """Return where the table of each pair begins, and where the last one ends."""
        return np.cumsum([0, *self.sizes])

    @cached_property
    def cells(self) -> int:
        """Return how many cells all pairs have together."""
        return sum(self.sizes)

    @property
    def counted(self) -> tuple[Column, ...]:
        return self.columns

    @property
    def tables(self) -> tuple[tuple[Column, ...], ...]:
        """Return the columns of all pairs."""
        return tuple((self.columns[a], self.columns[b]) for a, b in self.pairs)

    def number_of(self, name: str) -> int:
        """Return the number of a column."""
        for number, column in enumerate(self.columns):
            if column.name == name:
                return number
        raise DeclarationError(
            f"There is no column {name!r} here; the columns are {', '.join(repr(c.name) for c in self.columns)}."
        )

    def split(self, values: ArrayLike) -> list[Counts]:
        """Return the table of each pair from the cells of all of them in one row; leading axes are kept."""
        rows = np.asarray(values)
        shapes = [(self.levels[a], self.levels[b]) for a, b in self.pairs]
        return [
            rows[..., start : start + prod(shape)].reshape(*rows.shape[:-1], *shape)
            for start, shape in zip(self.starts[:-1].tolist(), shapes, strict=True)
        ]

    def one_way(self, values: ArrayLike) -> list[Counts]:
        """Return the counts of each single column: the first pair that holds it has them as a margin."""
        d, tables = len(self.columns), self.split(values)
        return [tables[0].sum(axis=-1), *(tables[number - 1].sum(axis=-2) for number in range(1, d))]

    def statistics(self, data: object) -> Statistics:
        tables = as_source(data).count_families(self.tables)
        return Statistics(self, np.concatenate([table.ravel() for table in tables]), records=int(tables[0].sum()))

    def counts(self, values: ArrayLike) -> Counts:
        """Return simulated counts as an array, after checking their shape. Secret statistics are refused."""
        if isinstance(values, Statistics):
            raise SecretError("These are secret statistics of real records; only discreet.publish may use them.")
        rows = np.asarray(values)
        if rows.shape[-1:] != (self.cells,) or rows.dtype.kind not in "iu" or (rows < 0).any():
            raise DeclarationError(
                f"Counts must be whole numbers >= 0, one for each of the {self.cells} cells of all pairs of columns."
            )
        return rows.astype(np.int64)

    def contributions(self, most: int) -> tuple[Counts, bool]:
        few = most if prod(self.levels) <= most else min(most, _SOME)
        records, complete = all_or_some(self.levels, few)
        return self.contributions_of(records), complete

    def contributions_of(self, records: Counts) -> Counts:
        """Return what given records add to the counts; a record is a row of numbers of levels."""
        rows = np.zeros((len(records), self.cells), dtype=np.int64)
        for start, (a, b) in zip(self.starts[:-1].tolist(), self.pairs, strict=True):
            rows[np.arange(len(records)), start + records[:, a] * self.levels[b] + records[:, b]] = 1
        return np.unique(rows, axis=0)

    def worst_pair_of_records(self) -> Counts:
        """Return two records that differ in every column, as rows of numbers of levels."""
        last = np.array(self.levels, dtype=np.int64) - 1
        return np.array([np.zeros_like(last), last])

    def parts(self) -> Iterator["Synthesis"]:
        """Yield smaller models: the two columns with the fewest levels."""
        order = sorted(range(len(self.columns)), key=lambda number: (self.levels[number], number))
        if len(order) > 2:
            yield Synthesis([self.columns[number] for number in sorted(order[:2])])

    @property
    def part_in_words(self) -> str:
        """Name the columns."""
        return f"the columns {' and '.join(column.name for column in self.columns)} alone"

    def counts_of(self, records: Counts) -> Counts:
        """Return the counts of records, rows of numbers of levels: products of indicators of levels, in blocks."""
        edges = np.cumsum([0, *self.levels])
        products = np.zeros((edges[-1], edges[-1]))
        for first in range(0, len(records), _BLOCK):
            block = records[first : first + _BLOCK]
            indicators = np.zeros((len(block), edges[-1]), dtype=np.float32)
            for number in range(len(self.levels)):
                indicators[np.arange(len(block)), edges[number] + block[:, number]] = 1
            products += indicators.T @ indicators
        parts = [products[edges[a] : edges[a + 1], edges[b] : edges[b + 1]].ravel() for a, b in self.pairs]
        return np.asarray(np.rint(np.concatenate(parts)), dtype=np.int64)

    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        """Draw a mixture of five classes in which columns are independent, and records from it."""
        weights = generator.dirichlet(np.full(_CLASSES, 2.0))
        chances = [generator.dirichlet(np.ones(count), size=_CLASSES) for count in self.levels]
        classes = generator.choice(_CLASSES, size=size, p=weights)
        records = np.empty((size, len(self.levels)), dtype=np.int64)
        for number, table in enumerate(chances):
            tops = np.cumsum(table, axis=1)
            tops[:, -1] = 1.0
            marks = generator.random(size)
            for each in range(_CLASSES):
                inside = classes == each
                records[inside, number] = np.searchsorted(tops[each], marks[inside], side="right")
        truth = np.concatenate([weights @ table for table in chances])
        return Simulated(tuple(truth.tolist()), self.counts_of(records))

    def simulation_cost(self, size: int) -> tuple[float, float]:
        """Return the work of drawing records one by one and of counting them."""
        total = float(sum(self.levels))
        return size * (30.0 * len(self.levels) + total**2 / 20), float(size * len(self.levels))

    def studies_in_words(self) -> str:
        """Say from what studies are simulated."""
        return f"whose records come from {_CLASSES} classes, in each of which all columns are independent"

    def exact(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        """Return the mean and the width of the share of every level, from exact counts."""
        shares = np.concatenate(self.one_way(statistics)) / max(size, 1)
        low, high = share_interval(shares, 0.0, size, level)
        return list(zip(shares.tolist(), (high - low).tolist(), strict=True))


def _declared(
    given: str | Column, levels: Mapping[str, Sequence[Level] | Column], outside: Level | Mapping[str, Level] | None
) -> Column:
    if isinstance(given, Column):
        return given
    if given not in levels:
        raise DeclarationError(f"The column {given!r} has no declared levels. Declare them: levels={{{given!r}: ...}}.")
    declared = levels[given]
    if isinstance(declared, Column):
        return declared
    home = outside.get(given) if isinstance(outside, Mapping) else outside
    return Column(given, declared, home)
