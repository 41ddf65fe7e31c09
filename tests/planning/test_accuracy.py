"""What planning expects is what happens."""

import numpy as np
import pytest

import discreet as dc
from discreet.planning import accuracy_curve, epsilon_for, expected_accuracy, size_for

COIN = dc.Categories("x", levels=("no", "yes"), outside="no")


def test_the_expected_width_is_that_of_exact_summation() -> None:
    """For n = 20, epsilon = 0.5 the prior-predictive mean width is 0.444, and 0.277 without privacy (exact sums)."""
    found = expected_accuracy(dc.GeometricHistogram(COIN, size=20, epsilon="0.5"), repeats=300)
    assert found.width == pytest.approx(0.444, abs=4 * found.width_error)
    assert found.non_private_width == pytest.approx(0.277, abs=0.015)
    assert found.log_score == pytest.approx(0.688, abs=0.15)
    assert found.width > found.non_private_width
    assert found.log_score < found.non_private_log_score


def test_more_epsilon_means_narrower_intervals_down_to_those_without_privacy() -> None:
    mechanism = dc.GeometricHistogram(COIN, size=200, epsilon=1)
    rows = list(accuracy_curve(mechanism, ("0.05", "0.2", "1", "20"), repeats=40))
    widths = [row.width for row in rows]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(rows[-1].non_private_width, rel=1e-3)


def test_the_epsilon_for_a_width_gives_that_width() -> None:
    mechanism = dc.GeometricHistogram(COIN, size=500, epsilon=1)
    epsilon = epsilon_for(mechanism, width=0.08, repeats=30)
    assert epsilon is not None
    reached = expected_accuracy(dc.GeometricHistogram(COIN, size=500, epsilon=f"{epsilon:.6g}"), repeats=30)
    assert reached.width == pytest.approx(0.08, rel=0.05)
    assert epsilon_for(mechanism, width=0.001, repeats=5) is None


def test_the_size_for_a_width_gives_that_width() -> None:
    size = size_for(dc.GeometricHistogram(COIN, size=100, epsilon=1), width=0.05, repeats=30)
    assert size is not None
    assert expected_accuracy(dc.GeometricHistogram(COIN, size=size, epsilon=1), repeats=30).width == pytest.approx(
        0.05, rel=0.05
    )


@pytest.mark.parametrize("width", [0, 1, -1, float("nan")])
def test_widths_that_make_no_sense_are_refused(width: float) -> None:
    with pytest.raises(dc.DeclarationError):
        epsilon_for(dc.GeometricHistogram(COIN, size=100, epsilon=1), width)


def test_planning_is_repeatable_and_documented() -> None:
    mechanism = dc.GeometricHistogram(COIN, size=50, epsilon=1)
    assert expected_accuracy(mechanism, repeats=5) == expected_accuracy(mechanism, repeats=5)
    figures = expected_accuracy(mechanism, repeats=5).document().values()
    assert all(value is not None and np.isfinite(value) for value in figures)
