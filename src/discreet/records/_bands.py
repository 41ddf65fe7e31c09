"""Bands of numbers and of days: their edges, their names unless others are declared, and what falls into them."""

import itertools
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from datetime import date
from typing import Self

from discreet._core.errors import DeclarationError
from discreet.records._values import LARGEST_WHOLE, day_of, number_of, text_of


def edges_of(name: str, edges: Sequence[object]) -> tuple[tuple[float, ...], bool]:
    """Return the edges as increasing numbers, and whether they are days."""
    given = tuple(edges) if isinstance(edges, Sequence) and not isinstance(edges, str) else ()
    are_days = bool(given) and all(isinstance(edge, str | date) for edge in given)
    found = [day_of(edge) if are_days else edge for edge in given]
    numbers = tuple(float(n) for n in found if isinstance(n, int | float) and not isinstance(n, bool))
    rising = all(low < high for low, high in itertools.pairwise(numbers))
    near = all(abs(number) <= LARGEST_WHOLE + 1 for number in numbers)
    if len(numbers) != len(given) or len(numbers) < 2 or not rising or not near:
        raise DeclarationError(
            f"The bands of {name!r} need at least two finite edges in increasing order, such as [0, 18, 65], or days "
            "such as ['2026-01-01', '2026-07-01', '2026-12-31']."
        )
    return numbers, are_days


def names_of(name: str, edges: tuple[float, ...], are_days: bool, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the bands: the user's own, or those that the edges give."""
    if names is None:
        return band_names(edges, are_days)
    given = () if isinstance(names, str) or not isinstance(names, Sequence) else tuple(names)
    if len(given) != len(edges) - 1 or not all(isinstance(each, str) for each in given):
        raise DeclarationError(
            f"The bands of {name!r} need {len(edges) - 1} names, one for each band; got {len(given)}."
        )
    return given


def band_names(edges: Sequence[float], are_days: bool = False) -> tuple[str, ...]:
    """Return the names of the bands between edges."""
    *inner, last = itertools.pairwise([day_text(edge) if are_days else f"{edge:.12g}" for edge in edges])
    return (*(f"{low} to under {high}" for low, high in inner), f"{last[0]} to {last[1]}")


def day_text(day: float) -> str:
    """Return a day as it is written, from its number.

    >>> day_text(20484)
    '2026-01-31'
    """
    try:
        return date.fromordinal(int(day) + 719163).isoformat()
    except (ValueError, OverflowError):
        raise DeclarationError("A day must lie in the years from 1 to 9999 of the calendar.") from None


CATCH_ALL = "other"
"""The default level for values that no other level declares."""


class Banded(ABC):
    """What a column says about its bands and single values; its levels are declared where it is defined."""

    name: str
    levels: tuple[str | int, ...]
    outside: str | int
    edges: tuple[float, ...]
    dates: bool

    @property
    @abstractmethod
    def home(self) -> int:
        """Return the index of the level for undeclared and missing values."""

    @property
    @abstractmethod
    def codes(self) -> dict[str, int]:
        """Return the index of each level, by every text that means it."""

    @classmethod
    def banded(
        cls,
        name: str,
        edges: Sequence[float | str | date],
        outside: str = CATCH_ALL,
        names: Sequence[str] | None = None,
    ) -> Self:
        """Return a column of numbers, or of days, grouped into declared bands (bins); the last includes its upper edge.

        `names` are the names of the bands. Values that are not numbers (or days), or lie in no band, go to `outside`.

        >>> from discreet.records import Column
        >>> Column.banded("age", (0, 18, 65, 120)).levels
        ('0 to under 18', '18 to under 65', '65 to 120', 'other')
        >>> Column.banded("admitted", ("2026-01-01", "2026-07-01", "2026-12-31"), names=("first", "second")).levels
        ('first', 'second', 'other')
        """
        positions, are_days = edges_of(name, edges)
        make: Callable[..., Self] = cls
        column = make(name, names_of(name, positions, are_days, names), outside)
        object.__setattr__(column, "edges", positions)
        object.__setattr__(column, "dates", are_days)
        return column

    def renamed(self, name: str) -> Self:
        """Return the same levels or bands under another name."""
        if not self.edges:
            make: Callable[..., Self] = type(self)
            return make(name, self.levels, self.outside)
        edges = [day_text(edge) for edge in self.edges] if self.dates else self.edges
        return type(self).banded(name, edges, str(self.outside), self.band_names)

    @property
    def band_names(self) -> tuple[str, ...]:
        """Return the names of the bands, without the level for everything else."""
        return tuple(str(level) for level in self.levels[: len(self.edges) - 1])

    def __repr__(self) -> str:
        if not self.edges:
            return f"Column({self.name!r}, levels={self.levels!r}, outside={self.outside!r})"
        edges = tuple(day_text(edge) for edge in self.edges) if self.dates else self.edges
        names = self.band_names
        named = "" if names == band_names(self.edges, self.dates) else f", names={names!r}"
        return f"Column.banded({self.name!r}, edges={edges!r}, outside={self.outside!r}{named})"

    def code(self, value: object) -> int:
        """Return the index of the level to which a value belongs. Every value belongs to one."""
        position = self.declares(value)
        return self.home if position is None else position

    def meant(self, value: object) -> int:
        """Return the index of the level that a reader means: by a number or day in a band, or by the band's name.

        Records are counted by `code`, which does not accept a name for a number; this is for readers' questions.

        >>> from discreet.records import Column
        >>> age = Column.banded("age", (0, 18, 65, 120))
        >>> [age.meant(value) for value in (30, "18 to under 65", "adult")], age.code("18 to under 65")
        ([1, 1, 3], 3)
        """
        text = text_of(value)
        is_name = bool(self.edges) and text in self.codes and self._number(value) is None
        return self.codes[str(text)] if is_name else self.code(value)

    def declares(self, value: object) -> int | None:
        """Return the index of the level that declares a value, or None if no level does."""
        if not self.edges:
            text = text_of(value)
            return None if text is None else self.codes.get(text)
        number = self._number(value)
        if number is None or not self.edges[0] <= number <= self.edges[-1]:
            return None
        return min(bisect_right(self.edges, number), len(self.edges) - 1) - 1

    def _number(self, value: object) -> float | None:
        return day_of(value) if self.dates else number_of(value)
