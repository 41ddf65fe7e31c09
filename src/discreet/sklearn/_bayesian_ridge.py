"""A private Bayesian ridge regression for scikit-learn. What lies outside the declared bounds is clipped to them."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, positive
from discreet.ledger import Ledger
from discreet.planning import suggest
from discreet.records import MIDDLE
from discreet.regression import LinearRegression, RegressionPosterior, read_regression
from discreet.sklearn._records import Columns, as_numbers, labelled, names_of, published, unlabelled

if TYPE_CHECKING:
    from sklearn.utils import Tags

_TARGET = "target"


class PrivateBayesianRidge(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Bayesian linear regression under pure epsilon-differential privacy (neighbours: one record replaced).

    `feature_bounds` declares the ranges of the features: one pair (low, high) for all of them, or a list with a pair
    for each; `target_bounds` is the range of the target. They must not be taken from the data. Values outside are
    clipped. Records with missing or non-numeric values are left out, unless `missing` declares what they count as:
    "middle", of the range of their column, or a list with a number for each feature and, last, for the target.
    `norm_bound` is the plausible size of the coefficients: in public units (docs/regression.md) each has the prior
    N(0, norm_bound^2), without truncation. The variance of the noise is unknown and has an Inverse-Gamma prior. The
    release is charged to `ledger`; by default, a ledger of this epsilon is created for this fit alone, so every further
    fit spends as much again. `terms` are products of features by index: (0, 0) is the square of the first, (0, 1) its
    interaction with the second.

    After `fit`: `coef_` and `intercept_` (posterior means, in the units of the table; terms follow features),
    `release_` (public, may be stored and shared), `posterior_` (what it says, with intervals).
    """

    def __init__(
        self,
        epsilon: Exact,
        feature_bounds: Sequence[Exact] | Sequence[Sequence[Exact]],
        target_bounds: Sequence[Exact],
        norm_bound: Exact = 1.0,
        ledger: Ledger | None = None,
        terms: Sequence[Sequence[int]] = (),
        missing: str | Sequence[Exact] | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.feature_bounds = feature_bounds
        self.target_bounds = target_bounds
        self.norm_bound = norm_bound
        self.ledger = ledger
        self.terms = terms
        self.missing = missing

    def fit(self, X: object, y: object) -> "PrivateBayesianRidge":  # noqa: N803 - scikit-learn's name
        """Publish noisy moments of these records and infer the coefficients. It never fails because of the values."""
        table, targets = labelled(self, X, y)
        names, size = names_of(self.n_features_in_), len(targets)
        precision = 1 / positive(self.norm_bound, "norm_bound") ** 2
        bounds, terms = self._bounds(names), self._terms(names)
        gaps = self._missing(names)
        model = LinearRegression(_TARGET, names, bounds, prior_precision=precision, terms=terms, missing=gaps)
        if size <= model.dimension:
            raise DeclarationError(
                f"X has {size} sample(s); {model.dimension} coefficients need at least {model.dimension + 1}."
            )
        mechanism = suggest(model, size, self.epsilon).mechanism
        secret = model.statistics(_named(table) | {_TARGET: as_numbers(targets)})
        label = f"regression on {self.n_features_in_} features"
        self.release_ = published(mechanism, secret, self.ledger, self.epsilon, label)
        self.posterior_: RegressionPosterior = read_regression(self.release_)
        self.intercept_, *slopes = self.posterior_.mean.values()
        self.coef_ = np.array(slopes)
        return self

    def _missing(self, names: list[str]) -> str | dict[str, Exact] | None:
        if self.missing is None or (isinstance(self.missing, str) and self.missing == MIDDLE):
            return self.missing
        if isinstance(self.missing, str) or not isinstance(self.missing, Sequence | np.ndarray):
            raise DeclarationError(
                'missing may declare what missing values count as: "middle", of the range of their column, or a list '
                f"with a number for each feature and, last, for the target; got {self.missing!r}. Nothing was "
                "published and nothing was charged."
            )
        if len(self.missing) != len(names) + 1:
            raise DeclarationError(
                f"missing must list {len(names) + 1} numbers, for {len(names)} features and the target; got "
                f"{len(self.missing)}. Nothing was published and nothing was charged."
            )
        return dict(zip([*names, _TARGET], list(self.missing), strict=True))

    def _terms(self, names: list[str]) -> list[tuple[str, ...]]:
        indices = range(len(names))
        if not isinstance(self.terms, Sequence) or not all(
            isinstance(term, Sequence) and all(index in indices for index in term) for term in self.terms
        ):
            raise DeclarationError("terms must list products of features by their index, such as [(0, 0), (0, 1)].")
        return [tuple(names[index] for index in term) for term in self.terms]

    def _bounds(self, names: list[str]) -> dict[str, Sequence[Exact]]:
        if isinstance(self.feature_bounds, str) or not isinstance(self.feature_bounds, Iterable):
            raise DeclarationError(
                "feature_bounds must be one pair (low, high) for all features, or a list with one pair for each."
            )
        if isinstance(self.target_bounds, str) or not isinstance(self.target_bounds, Iterable):
            raise DeclarationError("target_bounds must be a pair (low, high).")
        declared = list(self.feature_bounds)
        alike = not any(isinstance(each, Sequence | np.ndarray) and not isinstance(each, str) for each in declared)
        pairs = [list(pair) if isinstance(pair, Iterable) and not isinstance(pair, str) else [] for pair in declared]
        each = cast(list[Sequence[Exact]], [declared] * len(names) if alike else pairs)
        if len(each) != len(names):
            raise DeclarationError(f"feature_bounds declares {len(each)} features; X has {len(names)}.")
        return {**dict(zip(names, each, strict=True)), _TARGET: list(self.target_bounds)}

    def predict(self, X: object, return_std: bool = False) -> Floats | tuple[Floats, Floats]:  # noqa: N803
        """Return the expected target of each record; with `return_std` also its standard deviation.

        The features are clipped as in `fit`. The standard deviation is that of a new target: it includes the
        uncertainty of the coefficients, from sampling and from privacy, and the noise of the target itself.
        """
        check_is_fitted(self)
        means, deviations = self.posterior_.expected(_named(unlabelled(self, X)))
        return (means, deviations) if return_std else means

    def __sklearn_tags__(self) -> "Tags":
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True  # a text of digits is a number; any other counts as missing
        tags.non_deterministic = True  # noise is drawn from the system's secure bits, which cannot be seeded
        tags.regressor_tags.poor_score = True  # as measured on few records, which the noise drowns
        return tags


def _named(table: Columns) -> dict[str, list[object]]:
    """Return features by name, as numbers."""
    return {name: as_numbers(column) for name, column in zip(names_of(len(table)), table, strict=True)}
