"""A private naive Bayes classifier for scikit-learn. What is not declared counts as the first level."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact
from discreet.inference import infer
from discreet.ledger import Ledger
from discreet.networks import Network, NetworkPosterior, is_unknown
from discreet.planning import suggest_for_fitting
from discreet.records import Column, Level
from discreet.sklearn._records import Columns, as_levels, labelled, names_of, published, unlabelled

if TYPE_CHECKING:
    from sklearn.utils import Tags

_TARGET = "class"
_UNKNOWN = object()


class PrivateNaiveBayes(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Naive Bayes for categorical features under pure epsilon-differential privacy (neighbours: one record replaced).

    `classes` declares the classes and `feature_levels` the levels of the features: one sequence of levels for all
    features, or a list with a sequence of levels, or a `Column`, for each. The release is charged to `ledger`; by
    default, a ledger of this epsilon is created for this fit alone, so every further fit spends as much again.
    `unknown` lists values that mark a missing feature in a prediction, such as ('?',); such a feature is summed out.

    After `fit`: `classes_`, `release_` (public, may be stored and shared), `posterior_` (what it says).
    """

    def __init__(
        self,
        epsilon: Exact = 1,
        classes: Sequence[Level] = (0, 1),
        feature_levels: Sequence[Level] | Sequence[Sequence[Level] | Column] = (0, 1),
        ledger: Ledger | None = None,
        unknown: Sequence[Level | None] = (),
    ) -> None:
        self.epsilon = epsilon
        self.classes = classes
        self.feature_levels = feature_levels
        self.ledger = ledger
        self.unknown = unknown

    def fit(self, X: object, y: object) -> "PrivateNaiveBayes":  # noqa: N803 - scikit-learn's name
        """Publish noisy counts of these records and infer the classifier. It never fails because of the values."""
        table, labels = labelled(self, X, y)
        size = len(labels)
        self.network_ = Network.naive_bayes(_TARGET, names_of(self.n_features_in_), self._levels())
        mechanism = suggest_for_fitting(self.network_, size, self.epsilon).mechanism
        target = self.network_.variables[0]
        secret = self.network_.statistics(self._columns(table) | {_TARGET: as_levels(labels, target.levels)})
        label = f"naive Bayes of {self.n_features_in_} features"
        self.release_ = published(mechanism, secret, self.ledger, self.epsilon, label)
        self.posterior_: NetworkPosterior = infer(self.release_)
        self.classes_ = np.array(self.network_.variables[0].levels)
        return self

    def _levels(self) -> dict[str, Column]:
        alike = all(isinstance(level, str | int) for level in self.feature_levels)
        declared = [self.feature_levels] * self.n_features_in_ if alike else list(self.feature_levels)
        each = cast(list[Sequence[Level] | Column], declared)
        if len(each) != self.n_features_in_:
            raise DeclarationError(f"feature_levels declares {len(each)} features; X has {self.n_features_in_}.")
        columns = {name: _column(name, levels) for name, levels in zip(names_of(len(each)), each, strict=True)}
        return columns | {_TARGET: _column(_TARGET, self.classes)}

    def _columns(self, table: Columns) -> dict[str, list[object]]:
        features = self.network_.variables[1:]
        return {v.name: as_levels(column, v.levels) for v, column in zip(features, table, strict=True)}

    def predict_proba(self, X: object) -> NDArray[np.float64]:  # noqa: N803
        """Return the probability of every class for each record, exact given the release."""
        check_is_fitted(self)
        table = unlabelled(self, X)
        columns = self._columns(table)
        for own, values in zip(columns.values(), table, strict=True):
            own[:] = [
                _UNKNOWN if is_unknown(value, self.unknown) else level for value, level in zip(values, own, strict=True)
            ]
        return self.posterior_.predict_proba(columns, unknown=(_UNKNOWN,))

    def predict_log_proba(self, X: object) -> NDArray[np.float64]:  # noqa: N803
        """Return the logarithm of the probability of every class for each record."""
        return np.log(self.predict_proba(X))

    def predict(self, X: object) -> NDArray[np.generic]:  # noqa: N803
        """Return the most probable class of each record."""
        indices = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[indices])

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = True  # noise is drawn from the system's secure bits, which cannot be seeded
        tags.classifier_tags.poor_score = True  # as measured on real numbers, which are no levels
        return tags


def _column(name: str, levels: Sequence[Level] | Column) -> Column:
    """Return a column of this name; a declared one keeps its bands or its level for undeclared values."""
    if not isinstance(levels, Column):
        return Column(name, tuple(levels), next(iter(levels), None))
    return levels.renamed(name)
