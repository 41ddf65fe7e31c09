"""Metrics as data: how far apart two records are, and with them two data sets.

The distance of data sets is the sum of the distances of their records, in the order that makes it smallest: what it
costs to carry the units of one histogram to where the other has them. A metric is public, is written into a release,
and has a digest, by which ledgers tell one metric from another.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from itertools import pairwise

from discreet.documents import Document, canonical_json
from discreet.errors import DeclarationError, DocumentError
from discreet.exact import Exact, exact, exact_text

MOST_PLACES = 100_000


class Metric(ABC):
    """A distance between records; places number the cells, or differ in as many records as they are apart."""

    @abstractmethod
    def distance(self, first: int, second: int) -> Fraction:
        """Return the distance of two places."""

    @property
    @abstractmethod
    def diameter(self) -> Fraction:
        """Return the largest distance."""

    @property
    @abstractmethod
    def nearest(self) -> Fraction:
        """Return the smallest distance of two different places."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """Return what a distance of 1 is, in words."""

    @abstractmethod
    def document(self) -> Document:
        """Return what is written down of it."""

    @abstractmethod
    def place(self, value: Exact) -> int:
        """Return the place of a value, for those who ask about values."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(1 is {self.unit}, at most {exact_text(self.diameter)} apart)"

    @property
    def digest(self) -> str:
        """Return a digest of the canonical text, by which ledgers tell metrics apart."""
        return sha256(canonical_json(self.document()).encode()).hexdigest()


@dataclass(frozen=True, init=False, repr=False)
class Line(Metric):
    """Cells in a row at public positions of a column: |x_i - x_j|.

    >>> Line("age", [0, 1, 2, 5]).distance(1, 3)
    Fraction(4, 1)
    """

    column: str
    positions: tuple[Fraction, ...]

    def __init__(self, column: str, positions: Sequence[Exact]) -> None:
        found = tuple(exact(each, "a position") for each in positions)
        rising = all(one < two for one, two in pairwise(found))
        if not isinstance(column, str) or not column or not 2 <= len(found) <= MOST_PLACES or not rising:
            raise DeclarationError("A line needs the name of a column and two or more rising positions.")
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "positions", found)

    def distance(self, first: int, second: int) -> Fraction:
        """Return |x_i - x_j|."""
        return abs(self.positions[first] - self.positions[second])

    @property
    def diameter(self) -> Fraction:
        """Return the distance of both ends."""
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

    def document(self) -> Document:
        """Return the column and its positions."""
        return {"kind": "Line", "column": self.column, "positions": [exact_text(each) for each in self.positions]}


@dataclass(frozen=True, init=False, repr=False)
class Tree(Metric):
    """Cells on a tree: cell i hangs on `parents[i]`, a later one, by an edge of this length; the last is the root.

    >>> Tree("place", (2, 2), (1, "1/2")).distance(0, 1)
    Fraction(3, 2)
    """

    column: str
    parents: tuple[int, ...]
    lengths: tuple[Fraction, ...]

    def __init__(self, column: str, parents: Sequence[int], lengths: Sequence[Exact]) -> None:
        found = tuple(exact(each, "a length") for each in lengths)
        hung = all(place < parent <= len(parents) for place, parent in enumerate(parents))
        if not isinstance(column, str) or not column or not parents or not hung or len(found) != len(parents):
            raise DeclarationError(
                "In a tree every cell hangs on a later one, by an edge of a length; the last is root."
            )
        if min(found) <= 0 or len(parents) >= MOST_PLACES:
            raise DeclarationError("The edges of a tree have lengths above 0.")
        for name, value in (("column", column), ("parents", tuple(map(int, parents))), ("lengths", found)):
            object.__setattr__(self, name, value)

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
        """Return the longest path: the two deepest ways that meet."""
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

    def place(self, value: Exact) -> int:
        """Return the number of a cell."""
        number = exact(value, "a cell")
        if number.denominator != 1 or not 0 <= number <= len(self.parents):
            raise DeclarationError(f"Cells of this tree are numbered from 0 to {len(self.parents)}.")
        return int(number)

    def document(self) -> Document:
        """Return the column, the parents and the lengths."""
        lengths = [exact_text(each) for each in self.lengths]
        return {"kind": "Tree", "column": self.column, "parents": list(self.parents), "lengths": lengths}


def read_metric(document: object) -> Metric:
    """Return the metric that a document describes."""
    if not isinstance(document, dict):
        raise DocumentError("A metric is written as its kind and its public facts.")
    facts = {name: value for name, value in document.items() if name != "kind"}
    kinds: dict[str, tuple[type[Line | Tree], set[str]]] = {
        "Line": (Line, {"column", "positions"}),
        "Tree": (Tree, {"column", "parents", "lengths"}),
    }
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in kinds or set(facts) != kinds[kind][1]:
        raise DocumentError(f"A metric is a Line or a Tree with its facts; got the kind {kind!r}.")
    try:
        found = kinds[kind][0](**facts)
    except (DeclarationError, TypeError) as problem:
        raise DocumentError(f"The metric cannot be read: {problem}") from None
    if found.document() != document:
        raise DocumentError("The metric is not written in its canonical form.")
    return found
