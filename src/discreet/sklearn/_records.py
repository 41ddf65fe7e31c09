"""What estimators share: they take records as scikit-learn passes them, and publish through `publish`.

Values are taken one by one. A table is never turned into one array first: that would give all records the type of the
oddest among them, so that one record would change what all others mean. Tables that come as arrays have gone through
that already, so a truth value, its text, 1 and 0 are the same here.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact
from discreet.ledger import Ledger
from discreet.mechanism import Mechanism
from discreet.privacy import Adjacency
from discreet.publishing import publish
from discreet.records import Statistics, is_stable, text_of
from discreet.release import Release

Columns = list[list[object]]
"""Values by column: one list for each feature."""

_TRUTH = {"true": 1, "false": 0}
_NUMBERS = {"1": "true", "1.0": "true", "0": "false", "0.0": "false"}


def labelled(estimator: BaseEstimator, records: object, targets: object) -> tuple[Columns, list[object]]:
    """Return features by column, and targets. Shapes are checked, values are not: no error may depend on them."""
    _require_public_number(estimator)
    features = _features(estimator, records, reset=True)
    if targets is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    values = _one_column(targets)
    if len(values) != len(features[0]):
        raise ValueError(f"X has {len(features[0])} records and y has {len(values)}: inconsistent numbers of samples.")
    return features, values


def _require_public_number(estimator: BaseEstimator) -> None:
    """Refuse a ledger of a secret number of records before anything looks at how many there are."""
    ledger = getattr(estimator, "ledger", None)
    if isinstance(ledger, Ledger) and Adjacency(ledger.created["adjacency"]) is Adjacency.ADD_OR_REMOVE:
        raise DeclarationError(
            f"{type(estimator).__name__} cannot use this ledger: estimators take the number of records as public, in "
            "what they refuse and in the mechanism that they choose, and this ledger hides whether someone is there "
            "('add or remove one record'). Nothing was published and nothing was charged. Use a ledger for records "
            "that are replaced, or publish a table: dc.LaplaceTable."
        )


def unlabelled(estimator: BaseEstimator, records: object) -> Columns:
    """Return the features of new records by column."""
    return _features(estimator, records, reset=False)


def _features(estimator: BaseEstimator, records: object, reset: bool) -> Columns:
    if hasattr(records, "toarray"):
        raise TypeError(
            "Sparse data are not supported: which entries are stored depends on the records. Pass a dense array."
        )
    columns = _columns(records)
    if not columns:
        shape = getattr(records, "shape", (0, 0))
        raise ValueError(f"Found 0 feature(s) (shape=({shape[0]}, 0)) while a minimum of 1 is required.")
    if not columns[0]:
        raise ValueError("Found 0 sample(s) while a minimum of 1 is required.")
    validate_data(estimator, records, reset=reset, skip_check_array=True)
    return columns


def _columns(records: object) -> Columns:
    """Return a table's columns as lists of plain values: pandas, polars, pyarrow, an array, or rows."""
    if hasattr(records, "iloc") and hasattr(records, "columns"):
        return [records.iloc[:, index].tolist() for index in range(len(records.columns))]
    if hasattr(records, "get_columns"):
        return [column.to_list() for column in records.get_columns()]
    if hasattr(records, "column_names") and hasattr(records, "column"):
        return [records.column(index).to_pylist() for index in range(len(records.column_names))]
    if hasattr(records, "__array__"):
        table = np.asarray(records)
        if table.ndim != 2:
            raise ValueError(f"Expected 2D array, got {table.ndim}D array instead. Reshape your data.")
        return [_values(column) for column in table.T]
    return _transposed([_row(row) for row in cast(Iterable[object], records)])


def _values(column: NDArray[np.generic]) -> list[object]:
    """Return the values of an array; refuse a type that one record may have forced on all others.

    No interpretation of such arrays is right in all of them. Truth values are taken: their texts, 1 and 0 are the same
    here.
    """
    if column.dtype == np.bool_ or is_stable(column.dtype):
        return list(column.tolist())
    raise TypeError(
        f"Arrays of type {column.dtype} are not accepted, because one record of another type would change what all "
        "the others mean. Nothing was published and nothing was charged. Pass rows, a frame, or an array of "
        "integers, 64-bit floats, booleans, strings or objects."
    )


def _row(row: object) -> list[object]:
    if isinstance(row, str | bytes) or not isinstance(row, Iterable):
        raise ValueError("Expected 2D array, got 1D array instead. Reshape your data.")
    return _values(row) if isinstance(row, np.ndarray) else list(row)


def _transposed(rows: Columns) -> Columns:
    if len({len(row) for row in rows}) > 1:
        raise ValueError("Expected 2D array: the rows of X have different lengths.")
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[]]


def _one_column(targets: object) -> list[object]:
    if hasattr(targets, "shape") and len(targets.shape) == 2 and targets.shape[1] == 1:
        (values,) = _columns(targets)
        return values
    if hasattr(targets, "shape") and len(targets.shape) != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {targets.shape} instead.")
    if isinstance(targets, np.ndarray):
        return _values(targets)
    if hasattr(targets, "tolist"):
        return list(targets.tolist())
    return list(targets.to_list()) if hasattr(targets, "to_list") else list(cast(Iterable[object], targets))


def as_numbers(values: Sequence[object]) -> list[object]:
    """Return values with 1 and 0 for truth values and their texts."""
    return [_number(value) for value in values]


def _number(value: object) -> object:
    if isinstance(value, bool | np.bool_):
        return int(value)
    return _TRUTH.get(value.lower(), value) if isinstance(value, str) else value


def as_levels(values: Sequence[object], levels: Sequence[object]) -> list[object]:
    """Return values as they are meant: 1 and 0 are truth values where such are declared, and the other way round."""
    declared = {str(text_of(level)).lower(): level for level in levels}
    if not set(declared) & set(_TRUTH):
        return as_numbers(values)
    return [declared.get(_truth_text(value), value) for value in values]


def _truth_text(value: object) -> str:
    """Return 'true' or 'false' for a truth value, its text, 1 or 0, however they are written; else no level's text."""
    text = text_of(value)
    plain = "" if text is None else text.lower()
    return plain if plain in _TRUTH else _NUMBERS.get(plain, "")


def names_of(features: int) -> list[str]:
    """Return the public names of these features."""
    return [f"feature {number}" for number in range(features)]


def published(mechanism: Mechanism, secret: Statistics, ledger: Ledger | None, epsilon: Exact, label: str) -> Release:
    """Publish and charge the ledger; without one, a ledger of this epsilon is made for this release alone."""
    if ledger is not None:
        return publish(mechanism, secret, ledger, label)
    with TemporaryDirectory() as folder:
        return publish(mechanism, secret, Ledger.create(Path(folder) / "ledger.db", epsilon), label)
