"""Questions to a network as text, and records to be classified as codes."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Counts
from discreet.errors import DeclarationError, SourceError
from discreet.inference.elimination import Event
from discreet.models.network import Network
from discreet.records.columns import Column, Level
from discreet.records.values import text_of


def read_event(text: str, model: Network) -> Event:
    """Read 'smoker=yes, age=old': a comma means 'and'; a variable that is named twice may have either level."""
    columns = {column.name: column for column in model.variables}
    event: Event = {}
    for part in text.split(",") if isinstance(text, str) else [""]:
        name, equals, level = (piece.strip() for piece in part.partition("="))
        column = columns.get(name)
        levels = [text_of(known) for known in column.levels] if column else []
        if not equals or level not in levels:
            shown = model.variables[0]
            raise DeclarationError(
                f"Cannot read {text!r}: write 'variable=level' with declared names, such as "
                f"'{shown.name}={shown.levels[0]}'; several are joined by commas."
            )
        event.setdefault(name, np.zeros(len(levels), dtype=np.bool_))[levels.index(level)] = True
    return event


def levels_of(codes: Mapping[str, int], model: Network) -> dict[str, Level]:
    """Return the level of each variable from its place."""
    return {column.name: column.levels[codes[column.name]] for column in model.variables}


def both(one: Event, two: Event) -> Event:
    """Return the event that two events happen."""
    return {name: _and(one.get(name), two.get(name)) for name in one | two}


def _and(one: NDArray[np.bool_] | None, two: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    if one is None or two is None:
        found = two if one is None else one
        assert found is not None
        return found
    return one & two


def codes_of(rows: object, columns: Sequence[Column]) -> Counts:
    """Return the level codes (rows, columns) of records: a list of mappings, a mapping of lists, or a data frame.

    A value that no level declares belongs to the level that the column declares for such values.
    """
    values = _by_column(rows, [column.name for column in columns])
    codes = [[column.code(value) for value in values[column.name]] for column in columns]
    if len({len(column) for column in codes}) > 1:
        raise SourceError("The columns must have one value for each record: their lengths differ.")
    return np.array(codes, dtype=np.int64).T.reshape(-1, len(columns))


def _by_column(rows: object, names: list[str]) -> Mapping[str, Sequence[object]]:
    if isinstance(rows, Sequence) and not isinstance(rows, str) and all(isinstance(row, Mapping) for row in rows):
        missing = [name for name in names if any(name not in row for row in rows)]
        found: Mapping[str, Sequence[object]] = {n: [row[n] for row in rows] for n in names if n not in missing}
    elif isinstance(rows, Mapping):
        found = {name: list(rows[name]) for name in names if name in rows}
    else:
        found = _from_frame(rows, names)
    if missing := [name for name in names if name not in found]:
        raise SourceError(f"The records to classify have no column {', '.join(map(repr, missing))}.")
    return found


def _from_frame(rows: Any, names: list[str]) -> Mapping[str, Sequence[Any]]:
    try:
        frame = nw.from_native(rows, eager_only=True)
    except TypeError:
        raise DeclarationError(
            "Records to classify are a list of mappings, a mapping from column names to lists, or a data frame; "
            f"got a {type(rows).__name__}."
        ) from None
    return {name: frame.get_column(name).to_list() for name in names if name in frame.columns}
