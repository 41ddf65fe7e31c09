"""Declared columns: the small whole number that each record's value becomes.

Levels are declared, never read from the data, and the map from a record's value to the index of its level is total:
what is not declared, or missing, goes to the level named `outside`. So no record can make a run fail, and none can be
noticed by it. Every backend makes these codes first, by comparing bytes or numbers; nothing else is ever grouped.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from discreet._core.documents import convert
from discreet._core.errors import DeclarationError, DocumentError
from discreet.records._bands import CATCH_ALL, Banded, day_text
from discreet.records._values import LARGEST_WHOLE

Level = str | int
"""The name of a level: text, a whole number or a truth value."""


class _Written(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    levels: list[str | int | bool]
    outside: str | int | bool
    edges: list[float] = []
    dates: bool = False


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Column(Banded):
    """A categorical column with declared levels.

    `outside` names the level that undeclared and missing values are assigned to; the default is 'other'. It is added as
    a level if it is not among `levels`.

    >>> Column("smoking", ("never", "former", "current")).levels
    ('never', 'former', 'current', 'other')
    """

    name: str
    levels: tuple[Level, ...]
    outside: Level
    edges: tuple[float, ...] = ()
    dates: bool = False

    def __init__(self, name: str, levels: Sequence[Level], outside: Level | None = None) -> None:
        if not isinstance(name, str) or not name or not is_text(name):
            raise DeclarationError("A column needs a name: a string that is not empty.")
        if isinstance(levels, str) or not isinstance(levels, Sequence):
            raise DeclarationError(f"The levels of {name!r} must be a sequence such as ('no', 'yes').")
        declared = tuple(levels)
        outside = CATCH_ALL if outside is None else outside
        _check_levels(name, (*declared, outside))
        if outside in declared:
            outside = declared[declared.index(outside)]  # 0 for False, as declared
        elif declared:
            declared = (*declared, outside)
        if len(declared) < 2:
            raise DeclarationError(f"{name!r} needs at least two levels; got {len(declared)}.")
        texts = [text for level in declared for text in spellings(level)]
        if len(set(texts)) < len(texts) or len(set(declared)) < len(declared):
            raise DeclarationError(f"The levels of {name!r} must differ when written as text.")
        fields = {"name": name, "levels": declared, "outside": outside, "edges": (), "dates": False}
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    @classmethod
    def from_document(cls, value: object) -> "Column":
        """Return the column that a document describes; its levels must be those that its declaration gives."""
        read = convert(value, _Written)
        if read.edges:
            edges = [day_text(edge) for edge in read.edges] if read.dates else read.edges
            names = [str(level) for level in read.levels[: len(edges) - 1]]
            column = cls.banded(read.name, edges, str(read.outside), names)
        else:
            column = cls(read.name, tuple(read.levels), read.outside)
        if column.levels != tuple(read.levels):
            raise DocumentError(f"The levels of {read.name!r} are not those that follow from its declaration.")
        return column

    @cached_property
    def _identity(self) -> tuple[object, ...]:
        levels = (*self.levels, self.outside)
        return self.name, self.edges, self.dates, levels, tuple(map(type, levels))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Column) and self._identity == other._identity)

    @cached_property
    def _hash(self) -> int:
        return hash(self._identity)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def home(self) -> int:
        return self.levels.index(self.outside)

    @cached_property
    def codes(self) -> dict[str, int]:
        return {text: index for index, level in enumerate(self.levels) for text in spellings(level)}


def _check_levels(name: str, levels: tuple[object, ...]) -> None:
    if not all(isinstance(level, str | int) for level in levels):
        raise DeclarationError(f"The levels of {name!r} must be strings, integers or booleans.")
    if any(isinstance(level, str) and not is_text(level) for level in levels):
        raise DeclarationError(f"The levels of {name!r} must be valid strings without control characters.")
    if any(_is_beyond(level) for level in levels):
        raise DeclarationError(f"Numbers among the levels of {name!r} must lie within 2^53 - 1 of zero.")


def is_text(text: str) -> bool:
    """Return whether a text can be written anywhere: no control characters, no lone halves of surrogate pairs.

    The replacement character stands for invalid bytes, so it is refused as well.
    """
    return "\ufffd" not in text and not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text)


def _is_beyond(level: object) -> bool:
    """Return whether a level is a whole number, or its text, that a float may not hold."""
    if isinstance(level, int):
        return abs(level) > LARGEST_WHOLE
    digits = str(level).strip().lstrip("+-")
    return digits.isdecimal() and (len(digits) > 16 or int(digits) > LARGEST_WHOLE)


def level_text(level: Level) -> str:
    """Return the canonical text of a declared level: what `text_of` gives for a value that means it."""
    if isinstance(level, str):
        return str.__str__(level)
    return str(int(level)) if not isinstance(level, bool) else "true" if level else "false"


def spellings(level: Level) -> tuple[str, ...]:
    """Return the texts that mean a level: truth values and whole numbers are written in several ways by programs."""
    text = level_text(level)
    if isinstance(level, bool):
        return (text, text.capitalize(), text.upper())
    return (text, f"{text}.0") if re.match(r"^-?[0-9]+$", text) else (text,)
