"""What estimators do alike: take records as scikit-learn hands them over, and publish through the one door.

Values are taken one by one. A table is never turned into one array first: that would give all records the type of the
oddest among them, so that one record would change what all others mean. Tables that come as arrays have gone through
that already, so a truth value, its text, 1 and 0 are the same here.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from discreet.columns import text_of
from discreet.exact import Exact
from discreet.ledger import Ledger
from discreet.mechanisms import Mechanism
from discreet.models import Statistics
from discreet.releases import Release, publish

_TRUTH = {"true": 1, "false": 0}
_NUMBERS = {"1": True, "0": False}


def labelled(estimator: Any, records: Any, targets: Any) -> tuple[list[list[Any]], list[Any]]:
    """Return features by column, and targets. Shapes are checked, values are not: no error may depend on them."""
    features = _features(estimator, records, reset=True)
    if targets is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    values = _one_column(targets)
    if len(values) != len(features[0]):
        raise ValueError(f"X has {len(features[0])} records and y has {len(values)}: inconsistent numbers of samples.")
    return features, values


def unlabelled(estimator: Any, records: Any) -> list[list[Any]]:
    """Return the features of new records by column."""
    return _features(estimator, records, reset=False)


def _features(estimator: Any, records: Any, reset: bool) -> list[list[Any]]:
    if hasattr(records, "toarray"):
        raise TypeError("Sparse data are not supported: the places without numbers would be told apart by records.")
    columns = _columns(records)
    if not columns:
        shape = getattr(records, "shape", (0, 0))
        raise ValueError(f"Found 0 feature(s) (shape=({shape[0]}, 0)) while a minimum of 1 is required.")
    if not columns[0]:
        raise ValueError("Found 0 sample(s) while a minimum of 1 is required.")
    validate_data(estimator, records, reset=reset, skip_check_array=True)
    return columns


def _columns(records: Any) -> list[list[Any]]:
    """Return a table's columns as lists of plain values: pandas, polars, pyarrow, an array, or rows."""
    if hasattr(records, "iloc") and hasattr(records, "columns"):
        return [records.iloc[:, place].tolist() for place in range(records.shape[1])]
    if hasattr(records, "get_columns"):
        return [column.to_list() for column in records.get_columns()]
    if hasattr(records, "column_names"):
        return [records.column(place).to_pylist() for place in range(records.num_columns)]
    if hasattr(records, "__array__"):
        table = np.asarray(records)
        if table.ndim != 2:
            raise ValueError(f"Expected 2D array, got {table.ndim}D array instead. Reshape your data.")
        return [column.tolist() for column in table.T]
    return _transposed([_row(row) for row in records])


def _row(row: Any) -> list[Any]:
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        raise ValueError("Expected 2D array, got 1D array instead. Reshape your data.")
    return row.tolist() if isinstance(row, np.ndarray) else list(row)


def _transposed(rows: list[list[Any]]) -> list[list[Any]]:
    if len({len(row) for row in rows}) > 1:
        raise ValueError("Expected 2D array: the rows of X have different lengths.")
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[]]


def _one_column(targets: Any) -> list[Any]:
    if hasattr(targets, "shape") and len(targets.shape) == 2 and targets.shape[1] == 1:
        (values,) = _columns(targets)
        return values
    if hasattr(targets, "shape") and len(targets.shape) != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {targets.shape} instead.")
    if hasattr(targets, "tolist"):
        return list(targets.tolist())
    return list(targets.to_list()) if hasattr(targets, "to_list") else list(targets)


def as_numbers(values: Sequence[Any]) -> list[Any]:
    """Return values with 1 and 0 for truth values and their texts."""
    return [_number(value) for value in values]


def _number(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return int(value)
    return _TRUTH.get(value.lower(), value) if isinstance(value, str) else value


def as_levels(values: Sequence[Any], levels: Sequence[Any]) -> list[Any]:
    """Return values as they are meant: 1 and 0 are truth values where such are declared, and the other way round."""
    declared = {str(text_of(level)).lower() for level in levels}
    if not declared & set(_TRUTH):
        return as_numbers(values)
    return [_NUMBERS.get(str(_level_text(value)), value) for value in values]


def _level_text(value: Any) -> Any:
    """Return the text of a whole number, however it is written; anything else is left alone."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | str):
        return None
    return {"1.0": "1", "0.0": "0"}.get(str(value), str(value))


def names_of(features: int) -> list[str]:
    """Return the public names of so many features."""
    return [f"feature {number}" for number in range(features)]


def published(mechanism: Mechanism, secret: Statistics, ledger: Ledger | None, epsilon: Exact, label: str) -> Release:
    """Publish and charge the ledger; without one, a ledger of this epsilon is made for this release alone."""
    if ledger is not None:
        return publish(mechanism, secret, ledger, label)
    with TemporaryDirectory() as folder:
        return publish(mechanism, secret, Ledger.create(Path(folder) / "ledger.db", epsilon), label)
