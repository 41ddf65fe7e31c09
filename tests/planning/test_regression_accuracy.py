"""What is expected of a regression agrees with what a reading gives."""

import numpy as np
import pytest
from discreet.planning.regression_accuracy import expected_coefficients, expected_effect
from discreet.planning.rehearsal import rehearsal

import discreet as dc

WARD = dc.Column("ward", ("A", "B", "C"), outside="A")
MODEL = dc.LinearRegression("days", ["age", WARD], {"age": (0, 100), "days": (0, 60)}, missing="middle")


def test_expected_widths_are_near_those_of_a_reading_and_rather_too_wide() -> None:
    mechanism = dc.BoxMoments(MODEL, 20_000, 1)
    read = {row.quantity: row for row in rehearsal(mechanism, "rehearsal", seed=4)[0].rows(0.9)}
    for each in expected_coefficients(mechanism):
        assert 0.9 < each.width / (read[each.name].high - read[each.name].low) < 2


def test_exact_widths_are_those_of_plain_bayesian_regression() -> None:
    """The twin: exact moments of evenly spread records, sigma known, the posterior of w by its closed form."""
    model = dc.LinearRegression("y", ["a"], {"a": (0, 4), "y": (0, 10)}, noise="0.3", missing="middle")
    generator = np.random.default_rng(5)
    x = np.column_stack([np.ones(200_000), generator.uniform(-1, 1, 200_000)]) / np.sqrt(2)
    spread = np.linalg.inv(x.T @ x / 200_000 * 500 / 0.09 + np.eye(2))  # 500 records
    slope = 2 * 1.6449 * np.sqrt(spread[1, 1]) / np.sqrt(2) * 5 / 2
    found = expected_coefficients(dc.BoxMoments(model, 500, 1))
    assert found[1].non_private_width == pytest.approx(slope, rel=0.01)
    assert (found[1].name, found[1].reach) == ("a", 4)


def test_more_epsilon_and_more_records_give_narrower_intervals() -> None:
    widths = [expected_effect(dc.BoxMoments(MODEL, size, eps))[0] for size, eps in ((500, 1), (500, 4), (5000, 4))]
    assert widths[0] > widths[1] > widths[2]


def test_a_rehearsal_recovers_its_truth() -> None:
    posterior, truth = rehearsal(dc.BoxMoments(MODEL, 60_000, 5), "rehearsal", seed=6)
    for row, value in zip(posterior.rows(), truth, strict=True):
        assert abs(row.mean - value) < 5 * row.sd
