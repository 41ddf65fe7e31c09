"""Events of a table: the cells that a name, a list of names, or a text such as 'ward=A, fall=yes' means."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from discreet._core.arrays import Counts
from discreet._core.errors import DeclarationError, meant
from discreet.records import Column, Level, level_text

Cell = Level | tuple[Level, ...]
"""The name of a cell: a level, or for crossed columns one level of each."""


def event_name(column: str, level: Level) -> str:
    """Return the event that a column has a level, as text.

    >>> event_name("fall", True)
    'fall=true'
    """
    return f"{column}={level_text(level)}"


def probability_name(event: str, given: str = "") -> str:
    """Return the name of the probability of an event, conditional on another one if that is given.

    >>> probability_name("fall=true"), probability_name("fall=true", "ward=A")
    ('P(fall=true)', 'P(fall=true | ward=A)')
    """
    return f"P({event} | {given})" if given else f"P({event})"


def places_of(event: object, columns: Sequence[Column], cells: tuple[Cell, ...]) -> Counts:
    """Return the indices of the cells in an event: a cell, several cells, or text such as 'ward=A, fall=yes'."""
    table = {cell: index for index, cell in enumerate(cells)}
    found: list[int] = []
    if isinstance(event, list | set | frozenset):
        found = sorted({table[cell] for cell in event}) if all(cell in table for cell in event) else []
    elif isinstance(event, str | int | tuple) and event in table:
        found = [table[event]]
    elif isinstance(event, str):
        found = _matching(event, columns)
    if not found:
        raise DeclarationError(f"There is no cell {event!r}. Cells are {some_of(cells)}.{_meant(event, columns)}")
    return np.array(found)


def _meant(event: object, columns: Sequence[Column]) -> str:
    """Name the declared names that a misspelt event probably meant."""
    if not isinstance(event, str):
        return ""
    words = [word.strip() for part in event.split(",") for word in part.split("=")]
    declared = [level_text(each) for c in columns for each in (c.name, *c.levels)]
    return next((found for word in words if word not in declared and (found := meant(word, declared))), "")


def _matching(text: str, columns: Sequence[Column]) -> list[int]:
    """Return the indices of the cells that agree with every 'column=level' part; a single column needs no name."""
    wanted: dict[str, str] = {}
    for part in text.split(","):
        name, equals, level = (piece.strip() for piece in part.partition("="))
        if not equals and len(columns) == 1:
            name, level = columns[0].name, name
        if name in wanted:  # two levels of one column exclude each other; a list of cells means either of them
            return []
        if level not in {level_text(known) for c in columns if c.name == name for known in c.levels}:
            return []
        wanted[name] = level
    rows = product(*(column.levels for column in columns))
    return [
        index
        for index, row in enumerate(rows)
        if all(wanted.get(c.name, level_text(v)) == level_text(v) for c, v in zip(columns, row, strict=True))
    ]


def some_of(cells: tuple[Cell, ...]) -> str:
    """Return the first cells in words."""
    shown = ", ".join(repr(cell) for cell in cells[:8])
    return shown if len(cells) <= 8 else f"{shown}, ... ({len(cells)} in all)"
