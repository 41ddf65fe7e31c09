"""The private ridge regression: scikit-learn's own checks, that it goes the one road, and that its units are right."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet._core.errors import LittleInformationWarning

pytest.importorskip("sklearn", reason="scikit-learn is an optional extra")
from sklearn.base import clone

from discreet.sklearn._bayesian_ridge import PrivateBayesianRidge
from estimator_checks import checks_of

FRESH_NOISE = "every fit draws fresh noise from the system's secure bits, so two fits differ"
NO_ERROR = "no error may depend on the records: a target that is no number counts as the middle of its range"
SHORT_FLOATS = "arrays of short floats are refused: one record may have made them so"
BY_CHANCE = {
    "check_regressor_data_not_an_array": FRESH_NOISE,
    "check_supervised_y_2d": FRESH_NOISE,
    "check_fit_idempotent": FRESH_NOISE,
    "check_regressors_int": FRESH_NOISE,
}
FAILING = {
    "check_supervised_y_no_nan": NO_ERROR,
    "check_complex_data": "arrays of complex numbers are refused as a type, with a TypeError",
    "check_estimators_dtypes": SHORT_FLOATS,
    "check_regressors_train(readonly_memmap=True,X_dtype=float32)": SHORT_FLOATS,
}
REGRESSION = PrivateBayesianRidge(epsilon=10_000, feature_bounds=(-5, 5), target_bounds=(-5, 5), missing="middle")
Floats = NDArray[np.float64]


@pytest.mark.usefixtures("short_runs")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), checks_of(REGRESSION, BY_CHANCE, FAILING))
def test_scikit_learn_accepts_the_regression(estimator: Any, check: Any) -> None:
    check(estimator)


def records(size: int, seed: int) -> tuple[Floats, Floats]:
    """Draw ages and hours of sport, and days in hospital = 3 + 0.2 age - 0.5 hours + noise of sd 2."""
    generator = np.random.default_rng(seed)
    x = np.column_stack([generator.uniform(20, 90, size), generator.uniform(0, 10, size)])
    return x, 3 + 0.2 * x[:, 0] - 0.5 * x[:, 1] + generator.normal(0, 2, size)


def ridge(epsilon: Any = 50, **changes: Any) -> PrivateBayesianRidge:
    bounds: dict[str, Any] = {"feature_bounds": [(20, 90), (0, 10)], "target_bounds": (0, 30), "missing": "middle"}
    return PrivateBayesianRidge(epsilon, **bounds | changes)


def test_coefficients_are_in_the_users_units() -> None:
    model = ridge().fit(*records(4000, 1))  # at epsilon 50 noise is a hundredth
    np.testing.assert_allclose(model.coef_, [0.2, -0.5], atol=0.06)
    assert model.intercept_ == pytest.approx(3, abs=1)
    assert type(model.release_.mechanism).__name__ == "ConeMoments"
    low, high = model.posterior_.interval("feature 0", 0.999)
    assert low < 0.2 < high


def test_predictions_are_the_line_of_the_coefficients_within_the_bounds() -> None:
    model = ridge().fit(*records(1000, 2))
    new = np.array([[30.0, 1.0], [75.0, 8.0]])
    np.testing.assert_allclose(model.predict(new), new @ model.coef_ + model.intercept_, atol=1e-3)  # a grid
    np.testing.assert_allclose(model.predict([[200, 1]]), model.predict([[90, 1]]))


def test_the_deviation_holds_the_noise_and_the_coefficients() -> None:
    x, y = records(4000, 3)
    means, deviations = ridge().fit(x[:3000], y[:3000]).predict(x[3000:], return_std=True)
    assert np.std(y[3000:] - means) == pytest.approx(2, abs=0.15)
    np.testing.assert_allclose(deviations, 2, atol=0.3)
    assert 0.87 < np.mean(np.abs(y[3000:] - means) < 1.645 * deviations) < 0.93
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LittleInformationWarning)  # fresh noise may drown so few records
        unsure = ridge(epsilon="0.5").fit(x[:300], y[:300]).predict(x[:5], return_std=True)[1]
    assert (unsure > deviations[0]).all()


def test_the_deviation_agrees_with_simulated_targets() -> None:
    """The slow twin: draw coefficients and targets, and take their standard deviation."""
    model = ridge(epsilon=20).fit(*records(800, 4))
    posterior = model.posterior_
    half = posterior.model.ranges["target"].half
    weights, variance = posterior._weights(20_000, np.random.default_rng(9))
    design = posterior.model.design({"feature 0": [40.0], "feature 1": [9.0]})
    targets = weights @ design[0] + np.sqrt(variance) * np.random.default_rng(10).standard_normal(len(variance))
    _, (deviation,) = model.predict([[40.0, 9.0]], return_std=True)
    assert deviation == pytest.approx(half * targets.std(), rel=0.03)  # five standard errors


def test_the_ledger_is_charged_and_refuses_when_it_is_spent(tmp_path: Path) -> None:
    x, y = records(500, 5)
    ledger = dc.Ledger.create(tmp_path / "ledger.db", epsilon=20)
    ridge(epsilon=20, ledger=ledger).fit(x, y)
    with pytest.raises(dc.PublishError, match="already spent"):
        ridge(epsilon="0.1", ledger=ledger).fit(x, y)


@pytest.mark.usefixtures("short_runs")
@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
def test_no_value_of_a_record_makes_it_fail() -> None:
    x, y = records(60, 6)
    odd, targets = x.astype(object), y.astype(object)
    odd[0], odd[1], targets[:4] = [None, float("nan")], ["?", 10**400], [None, float("inf"), "many", -(10**400)]
    odd[:, 1] = 5  # a constant column
    model = ridge(epsilon=100).fit(odd, targets)
    assert np.isfinite(model.predict(odd)).all()


@pytest.mark.usefixtures("short_runs")
@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
def test_a_constant_and_a_collinear_feature_leave_the_prior_where_the_data_are_silent() -> None:
    x, y = records(2000, 7)
    doubled = np.column_stack([x[:, 0], x[:, 0], np.full(2000, 4.0)])
    model = ridge(epsilon=500, feature_bounds=[(20, 90), (20, 90), (0, 10)]).fit(doubled, y)
    assert model.coef_[0] + model.coef_[1] == pytest.approx(0.2, abs=0.06)
    assert model.posterior_.sd["feature 2"] > 10 * model.posterior_.sd["feature 0"] / 7


def test_the_prior_is_as_wide_as_norm_bound_says() -> None:
    model = ridge(norm_bound="0.5").fit(*records(500, 8))
    assert model.posterior_.model.prior_precision == 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"feature_bounds": [(0, 1)] * 3}, "declares 3 features; X has 2"),
        ({"feature_bounds": (0, float("inf"))}, "bound of 'feature 0'"),
        ({"target_bounds": (5, 5)}, "must rise"),
        ({"norm_bound": 0}, "norm_bound"),
        ({"epsilon": -1}, "epsilon"),
    ],
)
def test_impossible_declarations_are_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(dc.DeclarationError, match=words):
        ridge(**changes).fit(*records(50, 9))


def test_as_many_records_as_coefficients_are_refused() -> None:
    with pytest.raises(dc.DeclarationError, match=r"3 sample\(s\); 3 coefficients need at least 4"):
        ridge().fit(*records(3, 10))


def test_it_can_be_cloned() -> None:
    assert clone(ridge()).get_params() == ridge().get_params()


def test_terms_are_products_of_features_by_place() -> None:
    x, y = records(4000, 7)
    y = y + 0.02 * x[:, 0] * x[:, 1]
    model = ridge(epsilon=200, terms=[(0, 1)], target_bounds=(0, 40)).fit(x, y)
    assert model.coef_ == pytest.approx([0.2, -0.5, 0.02], abs=0.15)
    assert model.predict([[50.0, 4.0]])[0] == pytest.approx(15, abs=0.6)
    with pytest.raises(dc.DeclarationError, match="by their index"):
        ridge(terms=[(0, 7)]).fit(x, y)


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("mean", "missing may declare what missing values count as"),
        (40, "missing may declare what missing values count as"),
        ([40, 2], "missing must list 3 numbers, for 2 features and the target; got 2"),
        ([19, 2, 5], "must lie within its bounds; got 19"),
    ],
)
def test_what_missing_values_count_as_is_declared_before_anything_is_charged(
    missing: Any, words: str, tmp_path: Path
) -> None:
    """Records without any gap are refused too: whether a value is missing must not be told by an error."""
    ledger = dc.Ledger.create(tmp_path / "ledger.db", 50)
    before = ledger.head
    with pytest.raises(dc.DeclarationError, match=words):
        ridge(missing=missing, ledger=ledger).fit(*records(200, 1))
    assert ledger.head == before


def test_records_with_gaps_are_left_out_where_nothing_is_declared() -> None:
    x, y = records(4_000, 3)
    gaps = x.copy()
    gaps[:1_000, 0] = np.nan
    model = ridge(50, missing=None).fit(gaps, y)
    np.testing.assert_allclose(model.coef_, ridge(50, missing=None).fit(x[1_000:], y[1_000:]).coef_, atol=0.05)
    assert "Records without a value of target, feature 0, feature 1 are left out." in str(model.posterior_)
    assert np.isfinite(model.predict(gaps)).all()


def test_missing_values_count_as_declared_and_everything_shown_says_so() -> None:
    x, y = records(2_000, 3)
    gaps = x.copy()
    gaps[:1_000, 0] = np.nan
    filled = np.where(np.isnan(gaps), 40.0, gaps)
    model, other = ridge(50, missing=[40, 2, 5]).fit(gaps, y), ridge(50, missing=[40, 2, 5]).fit(filled, y)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=0.05)  # the same moments, fresh noise of a hundredth
    assert "Missing values count as 5 in target, 40 in feature 0, 2 in feature 1." in str(model.posterior_)
