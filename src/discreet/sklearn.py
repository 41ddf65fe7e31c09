"""A scikit-learn classifier over the same road: declared levels, a ledger, one release, an exact reading.

`fit` counts the records, publishes the counts under pure epsilon-differential privacy and reads the release; nothing
else of the records is kept. Levels and classes are declared, never read from the data, and values that are not declared
count as the first level: so neither an error nor the fitted classifier tells more than the release does.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.columns import Column, Level
from discreet.errors import DeclarationError, DiscreetError
from discreet.exact import Exact
from discreet.guarantees import Ledger
from discreet.inference.network import NetworkPosterior, read_network
from discreet.mechanisms.cube_counts import CubeCounts, cube_refusal
from discreet.mechanisms.family_histograms import FamilyHistograms
from discreet.models.network import Network
from discreet.releases import Release, publish

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.validation import (
        check_is_fitted,
        column_or_1d,
        validate_data,
    )
except ImportError:
    raise DiscreetError('The classifier needs another package: pip install "discreet[sklearn]".') from None

_TARGET = "class"


class PrivateNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes for categorical features, learnt under pure epsilon-differential privacy (one record replaced).

    `classes` declares the classes and `feature_levels` the levels of the features: one sequence of levels for all
    features alike, or a list with a sequence of levels, or a `Column`, for each. `ledger` is what the release is
    charged to; left out, a ledger of this epsilon is made for this fit alone: every further fit spends as much again.

    After `fit`: `classes_`, `release_` (public, may be stored and shared), `posterior_` (what it says).
    """

    def __init__(
        self,
        epsilon: Exact = 1,
        classes: Sequence[Level] = (0, 1),
        feature_levels: Sequence[Any] = (0, 1),
        ledger: Ledger | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.classes = classes
        self.feature_levels = feature_levels
        self.ledger = ledger

    def fit(self, X: Any, y: Any) -> "PrivateNaiveBayes":  # noqa: N803 - scikit-learn's name
        """Publish the counts of these records and read the release. Whatever the values are, this does not fail."""
        table = validate_data(self, X, dtype=None, ensure_all_finite=False)
        if y is None:
            raise ValueError("PrivateNaiveBayes requires y to be passed, but the target y is None.")
        labels = column_or_1d(y, dtype=object, warn=True)
        if len(labels) != len(table):
            raise ValueError(f"X has {len(table)} records and y has {len(labels)}: inconsistent numbers of samples.")
        self.network_ = Network.naive_bayes(_TARGET, self._names, self._levels())
        data = self._columns(table) | {_TARGET: labels.tolist()}
        self.release_ = self._publish(len(table), data)
        self.posterior_: NetworkPosterior = read_network(self.release_)
        self.classes_ = np.array(self.network_.variables[0].levels)
        return self

    def _publish(self, size: int, data: dict[str, list[Any]]) -> Release:
        kind = CubeCounts if cube_refusal(self.network_) is None else FamilyHistograms
        mechanism = kind(self.network_, size, self.epsilon)
        secret = self.network_.statistics(data)
        label = f"naive Bayes of {self.n_features_in_} features"
        if self.ledger is not None:
            return publish(mechanism, secret, self.ledger, label)
        with TemporaryDirectory() as folder:
            own = Ledger.create(Path(folder) / "ledger.db", self.epsilon)
            return publish(mechanism, secret, own, label)

    @property
    def _names(self) -> list[str]:
        return [f"feature {number}" for number in range(self.n_features_in_)]

    def _levels(self) -> dict[str, Column]:
        declared = self.feature_levels
        alike = all(isinstance(level, str | int) for level in declared)
        each = [declared] * self.n_features_in_ if alike else list(declared)
        if len(each) != self.n_features_in_:
            raise DeclarationError(f"feature_levels declares {len(each)} features; X has {self.n_features_in_}.")
        columns = {name: _column(name, levels) for name, levels in zip(self._names, each, strict=True)}
        return columns | {_TARGET: _column(_TARGET, self.classes)}

    def _columns(self, table: NDArray[Any]) -> dict[str, list[Any]]:
        return {name: column.tolist() for name, column in zip(self._names, table.T, strict=True)}

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the probability of every class for each record, exact given the release."""
        check_is_fitted(self)
        table = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=False)
        return self.posterior_.predict_proba(self._columns(table))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Return the logarithm of the probability of every class for each record."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Return the most probable class of each record."""
        places = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[places])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = True  # noise is drawn from the system's secure bits, which cannot be seeded
        tags.classifier_tags.poor_score = True  # as measured on real numbers, which are no levels
        return tags


def _column(name: str, levels: Any) -> Column:
    """Return a column of this name; a declared one keeps its bands or its level for undeclared values."""
    if not isinstance(levels, Column):
        return Column(name, tuple(levels))
    if levels.edges:
        return Column.banded(name, levels.edges, str(levels.outside))
    return Column(name, levels.levels, levels.outside)
