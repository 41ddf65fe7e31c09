"""What estimators do alike: take records as scikit-learn hands them over, and publish through the one door."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import column_or_1d, validate_data

from discreet.exact import Exact
from discreet.guarantees import Ledger
from discreet.mechanisms import Mechanism
from discreet.models import Statistics
from discreet.releases import Release, publish


def labelled(estimator: Any, records: Any, targets: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return features and targets as arrays. Shapes are checked, values are not: no error may depend on them."""
    table = validate_data(estimator, records, dtype=None, ensure_all_finite=False)
    if targets is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    values = column_or_1d(targets, dtype=object, warn=True)
    if len(values) != len(table):
        raise ValueError(f"X has {len(table)} records and y has {len(values)}: inconsistent numbers of samples.")
    return table, values


def unlabelled(estimator: Any, records: Any) -> NDArray[Any]:
    """Return the features of new records as an array."""
    return np.asarray(validate_data(estimator, records, dtype=None, ensure_all_finite=False, reset=False))


def names_of(features: int) -> list[str]:
    """Return the public names of so many features."""
    return [f"feature {number}" for number in range(features)]


def columns_of(table: NDArray[Any]) -> dict[str, list[Any]]:
    """Return the features by name."""
    return {name: column.tolist() for name, column in zip(names_of(table.shape[1]), table.T, strict=True)}


def published(mechanism: Mechanism, secret: Statistics, ledger: Ledger | None, epsilon: Exact, label: str) -> Release:
    """Publish and charge the ledger; without one, a ledger of this epsilon is made for this release alone."""
    if ledger is not None:
        return publish(mechanism, secret, ledger, label)
    with TemporaryDirectory() as folder:
        return publish(mechanism, secret, Ledger.create(Path(folder) / "ledger.db", epsilon), label)
