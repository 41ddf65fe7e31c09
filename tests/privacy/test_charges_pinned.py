"""What releases cost together and what noise a guarantee takes: numbers that were worked out apart from the library."""

from fractions import Fraction
from math import exp, sqrt

import pytest

import discreet as dc
from discreet.choices import MaximumPosterior
from discreet.privacy import pure_rho, zcdp_epsilon, zcdp_limit

LINE = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.2", missing="middle")
COIN = dc.Categories("x", levels=("a", "b"), outside="a")


def laplace_rho(epsilon: float) -> float:
    return epsilon - 1 + exp(-epsilon)


@pytest.mark.parametrize(
    ("releases", "epsilon", "halves", "pure", "laplace"),
    [(200, "0.1", 7.766, 7.762, 7.619), (100, "0.5", 37.42, 36.91, 33.61), (20, "0.5", 13.37, None, 12.14)],
)
def test_what_many_releases_cost_at_delta_a_millionth(
    releases: int, epsilon: str, halves: float, pure: float | None, laplace: float
) -> None:
    """Half the squared epsilon, epsilon tanh(epsilon / 2), and that of Laplace noise, each added and converted."""
    number = Fraction(epsilon)
    assert float(zcdp_epsilon(releases * number**2 / 2, "1e-6")) == pytest.approx(halves, abs=6e-3)
    if pure is not None:
        assert float(zcdp_epsilon(releases * pure_rho(number), "1e-6")) == pytest.approx(pure, abs=6e-3)
    of_noise = releases * Fraction(laplace_rho(float(epsilon)))
    assert float(zcdp_epsilon(of_noise, "1e-6")) == pytest.approx(laplace, abs=6e-3)


def test_rho_of_any_pure_epsilon_and_of_a_box_at_epsilon_one() -> None:
    assert float(pure_rho(Fraction(1))) == pytest.approx(0.462117, abs=1e-6)
    assert float(dc.regression.BoxMoments(LINE, 100, 1).rho) == pytest.approx(0.367879, abs=4e-6)


def test_the_curve_of_a_box_is_that_of_laplace_noise() -> None:
    """delta(e) = 1 - e^((e - epsilon) / 2), whatever the number of moments."""
    loss = dc.regression.BoxMoments(LINE, 100, 1).privacy_loss()
    found = [loss.delta_at(e) for e in ("0", "0.3", "0.7")]
    assert found == pytest.approx([0.3935, 0.2953, 0.1393], abs=6e-5)
    assert found == pytest.approx([1 - exp((e - 1) / 2) for e in (0, 0.3, 0.7)], abs=1e-5)


@pytest.mark.parametrize(
    ("epsilon", "delta", "deviation", "ratio"),
    [("1", "1e-6", 4.530877, 0.8694), ("0.1", "1e-4", 27.77325, 0.7787), ("10", "1e-9", 0.677041, 0.9224)],
)
def test_noise_through_zcdp_and_what_the_exact_curve_saves(
    epsilon: str, delta: str, deviation: float, ratio: float
) -> None:
    exact = {"1": 4.224679, "0.1": 24.50811, "10": 0.650247}[epsilon]
    found = 1 / sqrt(2 * float(zcdp_limit(epsilon, delta)))
    assert found == pytest.approx(deviation, rel=1e-5)
    assert (exact / found) ** 2 == pytest.approx(ratio, abs=1e-4)


def test_the_range_of_scores_alone_allows_less_than_all_outputs() -> None:
    mechanism = MaximumPosterior(COIN.with_prior(1), 10, 1, 20)
    assert mechanism._compared is not None
    assert 1 / mechanism._compared.range == pytest.approx(2.984, abs=1e-3)
    assert float(mechanism.scale) == pytest.approx(4.216, abs=1e-3)
