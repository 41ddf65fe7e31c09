"""Encode records for prediction as level codes; unknown values are UNKNOWN."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._core.arrays import Counts
from discreet._core.errors import DeclarationError, SourceError
from discreet.records import Column

if TYPE_CHECKING:
    import narwhals

UNKNOWN = -1
"""The code of a value that is not known."""
_ABSENT = object()


def codes_of(rows: object, columns: Sequence[Column]) -> Counts:
    """Return the level codes (rows, columns) of records: a list of mappings, a mapping of lists, or a data frame.

    A band may be given by its name. An undeclared value belongs to the level that the column declares for such values.
    """
    values = _by_column(rows, [column.name for column in columns])
    codes = [[column.meant(value) for value in values[column.name]] for column in columns]
    if len({len(column) for column in codes}) > 1:
        raise SourceError("The columns must have one value for each record: their lengths differ.")
    return np.array(codes, dtype=np.int64).T.reshape(-1, len(columns))


def partial_codes_of(
    rows: object, columns: Sequence[Column], unknown: Collection[object] = (), ignored: Sequence[str] = ()
) -> Counts:
    """Return the level codes (rows, columns) of records, with -1 for values that are not known.

    A value is not known if the records lack its column, if a mapping leaves out its name, or if it is one of `unknown`;
    None stands for everything missing. If a column is absent while another, undeclared one is present, its name may be
    misspelt, so this is refused. Columns that are `ignored` may be present.
    """
    if isinstance(unknown, str) or not isinstance(unknown, Collection):
        raise DeclarationError(
            f"unknown must list the values that stand for unknown ones, such as unknown=('?', None); got {unknown!r}."
        )
    values, undeclared = _partly_by_column(rows, [column.name for column in columns])
    undeclared = [name for name in undeclared if name not in ignored]
    if undeclared and (absent := [column.name for column in columns if column.name not in values]):
        raise SourceError(
            f"The records have no column {', '.join(map(repr, absent))}, but do have "
            f"{', '.join(map(repr, undeclared[:5]))}, which the network does not know. Nothing was predicted. If a "
            "name is misspelt, correct it; if the missing values are not known, leave the unknown columns out."
        )
    lengths = {len(known) for known in values.values()}
    if len(lengths) > 1:
        raise SourceError("The columns must have one value for each record: their lengths differ.")
    length = lengths.pop() if lengths else len(rows) if isinstance(rows, Sequence) else 0
    codes = np.full((length, len(columns)), UNKNOWN, dtype=np.int64)
    for index, column in enumerate(columns):
        for row, value in enumerate(values.get(column.name, ())):
            if not is_unknown(value, unknown):
                codes[row, index] = column.meant(value)
    return codes


def is_unknown(value: object, unknown: Collection[object]) -> bool:
    """Return whether a value is missing or is one of those that mean "unknown"; None stands for everything missing."""
    if value is _ABSENT:
        return True
    is_missing = value is None or value != value  # NaN is not equal to itself
    return any((mark is None and is_missing) or (value is mark or value == mark) for mark in unknown)


def _partly_by_column(rows: object, names: list[str]) -> tuple[dict[str, Sequence[object]], list[str]]:
    """Return the values of the columns that are present, and the names of others."""
    if isinstance(rows, Sequence) and not isinstance(rows, str) and all(isinstance(row, Mapping) for row in rows):
        there = {name for row in rows for name in row}
        found: dict[str, Sequence[object]] = {n: [row.get(n, _ABSENT) for row in rows] for n in names if n in there}
    elif isinstance(rows, Mapping):
        there, found = set(rows), {name: list(rows[name]) for name in names if name in rows}
    else:
        frame = _frame(rows)
        there, found = set(frame.columns), dict(_from_frame(rows, names))
    return found, sorted(str(name) for name in there - set(names))


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
    frame = _frame(rows)
    return {name: frame.get_column(name).to_list() for name in names if name in frame.columns}


def _frame(rows: Any) -> "narwhals.DataFrame[Any]":
    import narwhals  # slow to import

    try:
        return narwhals.from_native(rows, eager_only=True)
    except TypeError:
        raise DeclarationError(
            "Records to classify must be a list of mappings, a mapping from column names to lists, or a data frame; "
            f"got a {type(rows).__name__}."
        ) from None
