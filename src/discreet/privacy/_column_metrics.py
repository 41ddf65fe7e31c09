"""Metrics of one column: cells in a row, even steps between two bounds, levels on a tree."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import floor
from typing import Any, TypeVar

from discreet._core.documents import Document, plain_fields
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, exact_text, whole
from discreet._core.fields import Checked, Converted, Number, OptionalNumber, Whole, converted, frozen, optional
from discreet.privacy._metric import ColumnBins, Metric
from discreet.records import Column, Level

MOST_POSITIONS = 100_000
Declared = TypeVar("Declared")


def _positions(given: Sequence[Exact], _: str) -> tuple[Fraction, ...]:
    return tuple(exact(each, "a position") for each in given)


def _flag(value: bool, _: str) -> bool:
    return bool(value)


@frozen(repr=False)
class Line(Metric):
    """Cells at public positions of a column, with the distance |x_i - x_j|; missing values count as `missing`.

    In a column of `dates` positions are days from 1970-01-01.

    >>> Line("age", [0, 1, 2, 5]).distance(1, 3)
    Fraction(4, 1)
    """

    column: str
    positions: Converted[Sequence[Exact], tuple[Fraction, ...]] = converted(_positions)
    missing: OptionalNumber = converted(optional(exact), default=None)
    dates: Checked[bool] = converted(_flag, default=False)

    def __post_init__(self) -> None:
        rising = all(one < two for one, two in pairwise(self.positions))
        if not _is_name(self.column) or not 2 <= len(self.positions) <= MOST_POSITIONS or not rising:
            raise DeclarationError("A Line needs the name of a column and at least two positions in increasing order.")

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def numbers(self) -> ColumnBins:
        return ColumnBins(self.column, self.positions, self.missing, self.dates)

    @property
    def position_count(self) -> int:
        return len(self.positions)

    def distance(self, first: int, second: int) -> Fraction:
        """Return |x_i - x_j|."""
        return abs(self.positions[first] - self.positions[second])

    @property
    def diameter(self) -> Fraction:
        return self.positions[-1] - self.positions[0]

    @property
    def nearest(self) -> Fraction:
        return min(two - one for one, two in pairwise(self.positions))

    @property
    def unit(self) -> str:
        return (
            f"{_one_of(self.column, self.dates)}, between values that are rounded down to {self.position_count} cells"
        )

    def position(self, value: Exact) -> int:
        """Return the cell of a value: the last position that is not above it, clipped to the ends."""
        number = exact(value, "a value")
        return max(0, sum(position <= number for position in self.positions) - 1)

    def facts(self) -> Document:
        """Return the column, its positions, what a missing value counts as, and whether it is read as dates."""
        positions = [exact_text(each) for each in self.positions]
        return {"column": self.column, "positions": positions, **_read_as(self.missing, self.dates)}


@frozen(repr=False)
class Steps(Metric):
    """Evenly spaced positions between two bounds of a column, with the distance |i - j| (high - low) / steps.

    >>> Steps("age", 0, 100, 50).distance(1, 4)
    Fraction(6, 1)
    """

    column: str
    low: Number = converted(exact, called="a bound")
    high: Number = converted(exact, called="a bound")
    steps: Whole = converted(partial(whole, most=MOST_POSITIONS))
    missing: OptionalNumber = converted(optional(exact), default=None)
    dates: Checked[bool] = converted(_flag, default=False)

    def __post_init__(self) -> None:
        if not _is_name(self.column) or self.low >= self.high:
            raise DeclarationError("Steps need the name of a column and two bounds, the lower one first.")

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def position_count(self) -> int:
        return self.steps + 1

    def distance(self, first: int, second: int) -> Fraction:
        return abs(first - second) * self.nearest

    @property
    def diameter(self) -> Fraction:
        return self.high - self.low

    @property
    def nearest(self) -> Fraction:
        return self.diameter / self.steps

    @property
    def unit(self) -> str:
        return f"{_one_of(self.column, self.dates)}, between values that are rounded to {self.steps:,} steps"

    def position(self, value: Exact) -> int:
        """Return the step nearest to a value, clipped to the bounds."""
        number = min(max(exact(value, "a value"), self.low), self.high)
        return floor((number - self.low) / self.nearest + Fraction(1, 2))

    def facts(self) -> Document:
        """Return the column, its bounds, the number of steps, what stands for missing values, whether it is dates."""
        ends = {"low": exact_text(self.low), "high": exact_text(self.high)}
        return {"column": self.column, **ends, "steps": self.steps, **_read_as(self.missing, self.dates)}


@dataclass(frozen=True, init=False, repr=False)
class Tree(Metric):
    """Cells on a tree: an edge of the given length joins cell i to the later cell `parents[i]`; the last is the root.

    The cells are the levels of a declared column, in their order or in that of `names`; with the mere name of a column
    they have none.

    >>> Tree(Column("place", ("a", "b", "other")), (2, 2), (1, "1/2")).distance(0, 1)
    Fraction(3, 2)
    """

    column: str
    parents: tuple[int, ...]
    lengths: tuple[Fraction, ...]
    names: tuple[Level, ...]
    declared: Column | None

    def __init__(
        self,
        column: str | Column,
        parents: Sequence[int],
        lengths: Sequence[Exact],
        names: Sequence[Level] | None = None,
    ) -> None:
        declared = column if isinstance(column, Column) else None
        own = () if declared is None else declared.levels
        order = tuple(own if names is None else names)
        if declared is not None and not declared.edges and sorted(map(repr, order)) == sorted(map(repr, own)):
            declared = Column(declared.name, order, declared.outside)  # without bands, order reveals nothing of records
        column = column.name if isinstance(column, Column) else column
        found = tuple(exact(each, "a length") for each in lengths)
        is_tree = all(index < parent <= len(parents) for index, parent in enumerate(parents))
        if not _is_name(column) or not parents or not is_tree or len(found) != len(parents):
            raise DeclarationError(
                "In a Tree every cell needs a parent that comes later and an edge with a length; the last cell is "
                "the root."
            )
        if min(found) <= 0 or len(parents) >= MOST_POSITIONS:
            raise DeclarationError("The lengths of a Tree's edges must be above 0.")
        if sorted(map(repr, order)) != sorted(map(repr, own)) or (order and len(order) != len(parents) + 1):
            raise DeclarationError("The cells of a Tree, the root included, must be the levels of its column.")
        values = (column, tuple(map(int, parents)), found, order, declared)
        for name, value in zip(("column", "parents", "lengths", "names", "declared"), values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def columns(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def levels(self) -> Column | None:
        return self.declared

    @property
    def position_count(self) -> int:
        return len(self.parents) + 1

    def _way(self, index: int) -> list[int]:
        """Return the edges from a cell up to the root."""
        way = []
        while index < len(self.parents):
            way.append(index)
            index = self.parents[index]
        return way

    def distance(self, first: int, second: int) -> Fraction:
        """Return the length of the path between two cells."""
        edges = set(self._way(first)) ^ set(self._way(second))
        return sum((self.lengths[edge] for edge in edges), Fraction(0))

    @property
    def diameter(self) -> Fraction:
        """Return the length of the longest path."""
        depths, longest = [Fraction(0)] * (len(self.parents) + 1), Fraction(0)
        for index, parent in enumerate(self.parents):
            reach = depths[index] + self.lengths[index]
            longest = max(longest, depths[parent] + reach)
            depths[parent] = max(depths[parent], reach)
        return longest

    @property
    def nearest(self) -> Fraction:
        return min(self.lengths)

    @property
    def unit(self) -> str:
        return f"1 on the tree of {self.column}"

    def position(self, value: Any) -> int:
        """Return the cell of a name, or of its number."""
        if value in self.names:
            return self.names.index(value)
        if self.names:
            raise DeclarationError(f"{value!r} is not one of the levels {', '.join(map(repr, self.names))}.")
        number = exact(value, "a cell")
        if number.denominator != 1 or not 0 <= number <= len(self.parents):
            raise DeclarationError(f"The cells of this tree are numbered from 0 to {len(self.parents)}.")
        return int(number)

    def facts(self) -> Document:
        """Return the column, the parents, the lengths, the names, what all else counts as, and bands if it has any."""
        edges = {"parents": list(self.parents), "lengths": [exact_text(each) for each in self.lengths]}
        own = None if self.declared is None else self.declared.outside
        bands = {} if self.declared is None else beyond_names(self.declared, Column(self.column, self.names, own))
        return {"column": self.column, **edges, "names": list(self.names), "missing": own, **bands}

    @classmethod
    def of_facts(cls, **facts: Any) -> "Tree":
        name, names, outside = facts.pop("column"), facts.pop("names"), facts.pop("missing")
        column = declared_in(facts, lambda: Column(name, names, outside) if names else name)
        return cls(column, **facts, names=names if names else None)


def beyond_names(column: Column, usual: Column) -> Document:
    """Return the whole declaration of a column, unless it is the one that its names alone would mean."""
    return {} if column == usual else {"declared": plain_fields(column)}


def declared_in(facts: Document, usual: Callable[[], Declared]) -> Column | Declared:
    """Return the column whose declaration is written, taken out of the facts, or the one that its names alone mean."""
    return Column.from_document(facts.pop("declared")) if "declared" in facts else usual()


def _read_as(missing: Fraction | None, dates: bool) -> Document:
    """Return what a missing value counts as, and that numbers are dates where they are."""
    return {"missing": None if missing is None else exact_text(missing)} | ({"dates": True} if dates else {})


def _one_of(column: str, dates: bool) -> str:
    return f"1 {'day ' if dates else ''}of {column}"


def _is_name(column: object) -> bool:
    return isinstance(column, str) and bool(column)
