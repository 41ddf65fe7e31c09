"""Records to be classified, as codes of their levels."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from discreet.arrays import Counts
from discreet.errors import DeclarationError, SourceError
from discreet.records.columns import Column


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
