"""The scikit-learn classifier: scikit-learn's own checks, and that it goes the one road."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc

pytest.importorskip("sklearn", reason="scikit-learn is an optional extra")
from discreet.planning import suggest_for_fitting
from discreet.sklearn._naive_bayes import PrivateNaiveBayes
from estimator_checks import checks_of

FRESH_NOISE = "every fit draws fresh noise from the system's secure bits, so two fits differ"
DECLARED = "classes are declared, never read from the data"
NO_ERROR = "no error may depend on the records: undeclared labels count as the declared level for them"
BY_CHANCE = {
    "check_classifier_data_not_an_array": FRESH_NOISE,
    "check_supervised_y_2d": FRESH_NOISE,
    "check_fit_idempotent": FRESH_NOISE,
}
FAILING = {
    "check_classifiers_classes": DECLARED,
    "check_classifiers_train": DECLARED,
    "check_classifiers_regression_target": NO_ERROR,
    "check_supervised_y_no_nan": NO_ERROR,
    "check_complex_data": "arrays of complex numbers are refused as a type, with a TypeError",
}
CLASSIFIER = PrivateNaiveBayes(epsilon=1000, classes=(0, 1, 2), feature_levels=(0, 1))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), checks_of(CLASSIFIER, BY_CHANCE, FAILING))
def test_scikit_learn_accepts_the_classifier(estimator: Any, check: Any) -> None:
    check(estimator)


def records(seed: int, features: int = 8, size: int = 1200) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    labels = generator.integers(0, 2, size)
    chances = np.where(np.arange(features) % 2, 0.8, 0.2)
    return (generator.random((size, features)) < np.where(labels[:, None], chances, 1 - chances)).astype(int), labels


def test_a_clear_signal_is_learnt() -> None:
    x, y = records(1)
    classifier = PrivateNaiveBayes(epsilon=5).fit(x[:600], y[:600])
    assert classifier.score(x[600:], y[600:]) > 0.9  # without noise it is 0.98
    assert type(classifier.release_.mechanism).__name__ == "CubeCounts"
    np.testing.assert_allclose(np.exp(classifier.predict_log_proba(x[:5])), classifier.predict_proba(x[:5]))


def test_features_that_are_not_known_are_summed_out() -> None:
    x, y = records(3, features=3, size=200)
    classifier = PrivateNaiveBayes(epsilon=5, unknown=("?", None)).fit(x, y)
    names = [variable.name for variable in classifier.network_.variables[1:]]
    wanted = classifier.posterior_.predict_proba([{names[0]: 1}, {names[1]: 0, names[2]: 1}])
    np.testing.assert_array_equal(classifier.predict_proba([[1, "?", None], [float("nan"), 0, 1]]), wanted)
    plain = PrivateNaiveBayes(epsilon=5).fit(x, y)  # without a mark it is the first level, as it is in `fit`
    np.testing.assert_array_equal(plain.predict_proba([["?", 0, 1]]), plain.predict_proba([[0, 0, 1]]))


def test_features_of_several_levels_and_words_are_learnt() -> None:
    x, y = records(2)
    words = np.array(["low", "high"], dtype=object)[x]
    levels: list[Any] = [("low", "high", "unknown")] * 7 + [dc.Column("any", ("low", "high"), "other")]
    classifier = PrivateNaiveBayes(epsilon=20, classes=("no", "yes"), feature_levels=levels)
    classifier.fit(words[:600], np.array(["no", "yes"])[y[:600]])
    assert (classifier.predict(words[600:]) == np.array(["no", "yes"])[y[600:]]).mean() > 0.85
    assert type(classifier.release_.mechanism).__name__ == "FamilyHistograms"
    assert classifier.release_.mechanism == suggest_for_fitting(classifier.network_, 600, 20).mechanism


def test_the_ledger_is_charged_and_refuses_when_it_is_spent(tmp_path: Path) -> None:
    x, y = records(3)
    ledger = dc.Ledger.create(tmp_path / "ledger.db", epsilon=1)
    PrivateNaiveBayes(epsilon=1, ledger=ledger).fit(x, y)
    with pytest.raises(dc.PublishError, match="already spent"):
        PrivateNaiveBayes(epsilon="0.1", ledger=ledger).fit(x, y)


def test_no_value_of_a_record_makes_it_fail() -> None:
    x, y = records(4, size=40)
    odd = x.astype(object)
    odd[0, :4] = [None, float("nan"), "?", 10**40]
    labels = y.astype(object)
    labels[:3] = [None, float("inf"), "unheard of"]
    assert PrivateNaiveBayes(epsilon=1).fit(odd, labels).predict(odd).shape == (40,)


def test_a_wrong_number_of_declared_features_is_refused() -> None:
    x, y = records(5, size=20)
    with pytest.raises(dc.DeclarationError, match="declares 2 features"):
        PrivateNaiveBayes(feature_levels=[(0, 1), (0, 1)]).fit(x, y)
