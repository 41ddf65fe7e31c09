"""Declared columns: what each record's value becomes.

Levels are declared, never read from the data, and the map from a record's value to a level is total: what is not
declared, or missing, goes to the level named `outside`. So no record can make a run fail, and none can be noticed by
it.
"""

import itertools
import math
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any

from discreet.errors import DeclarationError

Level = str | int
"""The name of a level: text, a whole number or a truth value."""

CATCH_ALL = "other"
LARGEST_WHOLE = 2**53
"""Whole numbers up to here mean the same as integers and as floats."""


@dataclass(frozen=True, init=False, eq=False)
class Column:
    """A categorical column with declared levels.

    `outside` names the level that takes undeclared and missing values. It becomes a level of its own if it is not among
    `levels`. Left out, it is the level 'other' if that is declared, else the first level.

    >>> Column("smoking", ("never", "former", "current"), outside="other").levels
    ('never', 'former', 'current', 'other')
    """

    name: str
    levels: tuple[Level, ...]
    outside: Level
    edges: tuple[float, ...] = ()

    def __init__(self, name: str, levels: Sequence[Level], outside: Level | None = None) -> None:
        if not isinstance(name, str) or not name or not is_text(name):
            raise DeclarationError("A column needs a name: a text that is not empty.")
        if isinstance(levels, str) or not isinstance(levels, Sequence):
            raise DeclarationError(f"The levels of {name!r} must be a sequence such as ('no', 'yes').")
        declared = tuple(levels)
        if not all(isinstance(level, str | int) for level in (*declared, *([] if outside is None else [outside]))):
            raise DeclarationError(f"The levels of {name!r} must be texts, whole numbers or truth values.")
        if any(isinstance(level, str) and not is_text(level) for level in (*declared, outside)):
            raise DeclarationError(f"The levels of {name!r} must be proper texts, without control characters.")
        if any(text_of(level) is None or _is_beyond(level) for level in (*declared, outside) if level is not None):
            raise DeclarationError(f"Numbers among the levels of {name!r} must lie within 2^53 of zero.")
        if outside is None:
            outside = CATCH_ALL if CATCH_ALL in declared else next(iter(declared), None)
        elif outside in declared:
            outside = declared[declared.index(outside)]  # 0 for False, as it was declared
        else:
            declared = (*declared, outside)
        if outside is None or len(declared) < 2:
            raise DeclarationError(f"{name!r} needs at least two levels; got {len(declared)}.")
        texts = [text for level in declared for text in spellings(level)]
        if len(set(texts)) < len(texts) or len(set(declared)) < len(declared):
            raise DeclarationError(f"The levels of {name!r} must differ when written as text.")
        for field, value in (("name", name), ("levels", declared), ("outside", outside), ("edges", ())):
            object.__setattr__(self, field, value)

    @classmethod
    def banded(cls, name: str, edges: Sequence[float], outside: str = CATCH_ALL) -> "Column":
        """Return a column of numbers that fall into declared bands; the last band includes its upper edge.

        What is no number, or lies in no band, goes to the level named `outside`.

        >>> Column.banded("age", (0, 18, 65, 120)).levels
        ('0 to under 18', '18 to under 65', '65 to 120', 'other')
        """
        numbers = tuple(float(edge) for edge in edges if isinstance(edge, int | float) and not isinstance(edge, bool))
        rising = all(low < high for low, high in itertools.pairwise(numbers))
        if (
            len(numbers) != len(edges)
            or len(numbers) < 2
            or not rising
            or not all(abs(n) <= LARGEST_WHOLE for n in numbers)
        ):
            raise DeclarationError(
                f"The bands of {name!r} need two or more finite edges that rise, such as [0, 18, 65]."
            )
        column = cls(name, band_names(numbers), outside)
        object.__setattr__(column, "edges", numbers)
        return column

    def _identity(self) -> tuple[object, ...]:
        return self.name, self.edges, *((type(level), level) for level in (*self.levels, self.outside))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Column) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __repr__(self) -> str:
        if self.edges:
            return f"Column.banded({self.name!r}, edges={self.edges!r}, outside={self.outside!r})"
        return f"Column({self.name!r}, levels={self.levels!r}, outside={self.outside!r})"

    @cached_property
    def codes(self) -> dict[str | None, int]:
        """Return the place of each level, by every text that means it."""
        return {text: place for place, level in enumerate(self.levels) for text in spellings(level)}

    def code(self, value: object) -> int:
        """Return the place of the level to which a value belongs. Every value belongs to one."""
        home = self.levels.index(self.outside)
        if not self.edges:
            return self.codes.get(text_of(value), home)
        number = number_of(value)
        if number is None or not self.edges[0] <= number <= self.edges[-1]:
            return home
        return min(bisect_right(self.edges, number), len(self.edges) - 1) - 1


def is_text(text: str) -> bool:
    """Tell whether a text can be written down anywhere: no control characters, no lone halves of surrogate pairs."""
    return not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text)


def band_names(edges: Sequence[float]) -> tuple[str, ...]:
    """Return the names of the bands between edges."""
    *inner, last = itertools.pairwise(edges)
    return (*(f"{low:.12g} to under {high:.12g}" for low, high in inner), f"{last[0]:.12g} to {last[1]:.12g}")


NUMBER = r"^[-+]?[0-9]{1,16}(?:\.[0-9]{0,30})?(?:[eE][-+]?[0-9]{1,2})?$"
"""Texts that are read as numbers. Every engine reads them alike, and none fails on them."""


def number_of(value: Any) -> float | None:
    """Return the number that a value means, or None."""
    text = text_of(value)
    if text is None or isinstance(value, bool) or text in ("true", "false") or not re.fullmatch(NUMBER, text):
        return None
    return float(text)


def _is_beyond(level: Level) -> bool:
    """Tell whether a level is the text of a whole number that a float may not hold."""
    digits = str(level).strip().lstrip("+-")
    return digits.isdecimal() and (len(digits) > 16 or int(digits) > LARGEST_WHOLE)


def spellings(level: Level) -> tuple[str, ...]:
    """Return the texts that mean a level: truth values and whole numbers are written in several ways by programs."""
    text = str(text_of(level))
    if isinstance(level, bool):
        return (text, text.capitalize(), text.upper())
    return (text, f"{text}.0") if re.match(r"^-?[0-9]+$", text) else (text,)


def text_of(value: Any) -> str | None:
    """Return one text for a value, whatever type a program gave it: 1, 1.0 and '1' are the same; a gap is None.

    A single record can change the type of a whole column in some programs (a gap turns integers into floats).
    The text of a value must not depend on that.
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):
        return "true" if value else "false"
    try:
        number = float(value) if isinstance(value, Real | Decimal) else math.nan
    except (ValueError, ArithmeticError):  # too large for a float, or a signalling not-a-number
        return None
    if not abs(number) <= LARGEST_WHOLE:  # also when it is not a number; beyond, a float does not hold every integer
        return None
    return str(int(number)) if number.is_integer() else repr(number)
