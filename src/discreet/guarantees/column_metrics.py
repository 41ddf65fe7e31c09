"""Metrics of one column: cells in a row, even steps between two bounds, levels on a tree."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any

from discreet.documents import Document
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact, exact_text, whole
from discreet.guarantees.metric import Metric
from discreet.records.columns import Level

MOST_PLACES = 100_000


@dataclass(frozen=True, init=False, repr=False)
class Line(Metric):
    """Cells at public positions of a column, with the distance |x_i - x_j|; missing values count as `missing`.

    >>> Line("age", [0, 1, 2, 5]).distance(1, 3)
    Fraction(4, 1)
    """

    column: str
    positions: tuple[Fraction, ...]
    missing: Fraction | None

    def __init__(self, column: str, positions: Sequence[Exact], missing: Exact | None = None) -> None:
        found = tuple(exact(each, "a position") for each in positions)
        rising = all(one < two for one, two in pairwise(found))
        if not _is_name(column) or not 2 <= len(found) <= MOST_PLACES or not rising:
            raise DeclarationError("A Line needs the name of a column and at least two positions in increasing order.")
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "positions", found)
        object.__setattr__(self, "missing", None if missing is None else exact(missing, "missing"))

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the one column."""
        return (self.column,)

    @property
    def marks(self) -> tuple[Fraction, ...]:
        """Return the positions."""
        return self.positions

    @property
    def gap(self) -> Fraction | None:
        """Return what a missing value counts as."""
        return self.missing

    @property
    def places(self) -> int:
        """Return the number of cells."""
        return len(self.positions)

    def distance(self, first: int, second: int) -> Fraction:
        """Return |x_i - x_j|."""
        return abs(self.positions[first] - self.positions[second])

    @property
    def diameter(self) -> Fraction:
        """Return the distance between the two ends."""
        return self.positions[-1] - self.positions[0]

    @property
    def nearest(self) -> Fraction:
        """Return the smallest step."""
        return min(two - one for one, two in pairwise(self.positions))

    @property
    def unit(self) -> str:
        """Return the unit of the column."""
        return f"1 of {self.column}, between values that are rounded down to {len(self.positions)} cells"

    def place(self, value: Exact) -> int:
        """Return the cell of a value: the last position that is not above it, clipped to the ends."""
        number = exact(value, "a value")
        return max(0, sum(position <= number for position in self.positions) - 1)

    def facts(self) -> Document:
        """Return the column, its positions, and what a gap counts as."""
        gap = None if self.missing is None else exact_text(self.missing)
        return {"column": self.column, "positions": [exact_text(each) for each in self.positions], "missing": gap}


@dataclass(frozen=True, init=False, repr=False)
class Steps(Metric):
    """Evenly spaced positions between two bounds of a column, with the distance |i - j| (high - low) / steps.

    >>> Steps("age", 0, 100, 50).distance(1, 4)
    Fraction(6, 1)
    """

    column: str
    low: Fraction
    high: Fraction
    steps: int
    missing: Fraction | None

    def __init__(self, column: str, low: Exact, high: Exact, steps: int, missing: Exact | None = None) -> None:
        ends = exact(low, "a bound"), exact(high, "a bound")
        if not _is_name(column) or ends[0] >= ends[1]:
            raise DeclarationError("Steps need the name of a column and two bounds, the lower one first.")
        gap = None if missing is None else exact(missing, "missing")
        values = (column, *ends, whole(steps, "steps", 1, MOST_PLACES), gap)
        for name, value in zip(("column", "low", "high", "steps", "missing"), values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the one column."""
        return (self.column,)

    @property
    def places(self) -> int:
        """Return both bounds and all steps between."""
        return self.steps + 1

    def distance(self, first: int, second: int) -> Fraction:
        """Return so many steps."""
        return abs(first - second) * self.nearest

    @property
    def diameter(self) -> Fraction:
        """Return the distance between the two bounds."""
        return self.high - self.low

    @property
    def nearest(self) -> Fraction:
        """Return one step."""
        return self.diameter / self.steps

    @property
    def unit(self) -> str:
        """Return the unit of the column."""
        return f"1 of {self.column}, between values that are rounded to {self.steps:,} steps"

    def place(self, value: Exact) -> int:
        """Return the step nearest to a value, clipped to the bounds."""
        number = min(max(exact(value, "a value"), self.low), self.high)
        return floor((number - self.low) / self.nearest + Fraction(1, 2))

    def facts(self) -> Document:
        """Return the column, its bounds and the number of steps, and what a gap counts as."""
        gap = None if self.missing is None else exact_text(self.missing)
        ends = {"low": exact_text(self.low), "high": exact_text(self.high)}
        return {"column": self.column, **ends, "steps": self.steps, "missing": gap}


@dataclass(frozen=True, init=False, repr=False)
class Tree(Metric):
    """Cells on a tree: an edge of the given length joins cell i to the later cell `parents[i]`; the last is the root.

    `names` are the names of the cells in order, if they have any; `missing` is the cell that any other value counts as.

    >>> Tree("place", (2, 2), (1, "1/2")).distance(0, 1)
    Fraction(3, 2)
    """

    column: str
    parents: tuple[int, ...]
    lengths: tuple[Fraction, ...]
    names: tuple[Level, ...]
    missing: Level | None

    def __init__(
        self,
        column: str,
        parents: Sequence[int],
        lengths: Sequence[Exact],
        names: Sequence[Level] = (),
        missing: Level | None = None,
    ) -> None:
        found = tuple(exact(each, "a length") for each in lengths)
        hung = all(place < parent <= len(parents) for place, parent in enumerate(parents))
        if not _is_name(column) or not parents or not hung or len(found) != len(parents):
            raise DeclarationError(
                "In a Tree every cell needs a parent that comes later and an edge with a length; the last cell is "
                "the root."
            )
        if min(found) <= 0 or len(parents) >= MOST_PLACES:
            raise DeclarationError("The lengths of a Tree's edges must be above 0.")
        if names and (len(names) != len(parents) + 1 or len(set(names)) < len(names)):
            raise DeclarationError("Either every cell of a Tree has a name, the root included, or none has.")
        values = (column, tuple(map(int, parents)), found, tuple(names), missing)
        for name, value in zip(("column", "parents", "lengths", "names", "missing"), values, strict=True):
            object.__setattr__(self, name, value)

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the one column."""
        return (self.column,)

    @property
    def marks(self) -> tuple[Level, ...]:
        """Return the names."""
        return self.names

    @property
    def gap(self) -> Level | None:
        """Return the level that all else counts as."""
        return self.missing

    @property
    def places(self) -> int:
        """Return all cells, the root too."""
        return len(self.parents) + 1

    def _way(self, place: int) -> list[int]:
        """Return the edges from a cell up to the root."""
        way = []
        while place < len(self.parents):
            way.append(place)
            place = self.parents[place]
        return way

    def distance(self, first: int, second: int) -> Fraction:
        """Return the length of the path between two cells."""
        edges = set(self._way(first)) ^ set(self._way(second))
        return sum((self.lengths[edge] for edge in edges), Fraction(0))

    @property
    def diameter(self) -> Fraction:
        """Return the length of the longest path."""
        depths, longest = [Fraction(0)] * (len(self.parents) + 1), Fraction(0)
        for place, parent in enumerate(self.parents):
            reach = depths[place] + self.lengths[place]
            longest = max(longest, depths[parent] + reach)
            depths[parent] = max(depths[parent], reach)
        return longest

    @property
    def nearest(self) -> Fraction:
        """Return the shortest edge."""
        return min(self.lengths)

    @property
    def unit(self) -> str:
        """Return that lengths are those of the tree."""
        return f"1 on the tree of {self.column}"

    def place(self, value: Any) -> int:
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
        """Return the column, the parents, the lengths, the names, and what all else counts as."""
        hangs = {"parents": list(self.parents), "lengths": [exact_text(each) for each in self.lengths]}
        return {"column": self.column, **hangs, "names": list(self.names), "missing": self.missing}


def _is_name(column: object) -> bool:
    return isinstance(column, str) and bool(column)
