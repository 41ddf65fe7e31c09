"""LaplaceMoments adds independent noise whose rates add up to epsilon over the reach."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

import discreet as dc
from discreet.noise.randomness._samplers import wide_laplace
from discreet.regression import BoxMoments, LaplaceMoments, LinearRegression


def model_of(features: int, grid: int = 2**15) -> LinearRegression:
    names = [f"x{number}" for number in range(features)]
    return LinearRegression("y", names, dict.fromkeys((*names, "y"), (-1, 1)), noise="0.2", grid=grid, missing="middle")


def test_samples_follow_the_stated_likelihood() -> None:
    mechanism = LaplaceMoments(model_of(1, grid=8), size=9, epsilon=400)
    draws, moments = 20_000, np.arange(4)
    drawn = mechanism.sample(np.tile(moments, (draws, 1)), dc.SeededBits(5))
    seen, observed = np.unique(drawn, axis=0, return_counts=True)
    expected = np.exp(mechanism.log_prob(seen, moments)) * draws
    common = expected >= 10
    assert common.sum() >= 10
    bins = np.append(observed[common], draws - observed[common].sum())
    assert chisquare(bins, np.append(expected[common], draws - expected[common].sum())).pvalue > 1e-4


def test_the_rates_of_all_numbers_add_up_to_epsilon_for_one_record() -> None:
    mechanism = LaplaceMoments(model_of(3), size=100, epsilon="0.3")
    cells = len(mechanism.model.cells)
    assert mechanism.rate * cells * mechanism.model.layout.reach == Fraction(3, 10)
    assert mechanism.guarantee.epsilon == Fraction(3, 10)


def test_wide_laplace_numbers_are_symmetric_and_have_their_scale() -> None:
    drawn = wide_laplace(Fraction(1, 10**9), 20_000, dc.SeededBits(6)).astype(float) / 1e9
    assert np.abs(drawn).mean() == pytest.approx(1, abs=4 / np.sqrt(20_000))
    assert (drawn > 0).mean() == pytest.approx(0.5, abs=2 / np.sqrt(20_000))


@pytest.mark.parametrize("features", [1, 3, 14])
def test_the_box_has_less_noise(features: int) -> None:
    box, laplace = (kind(model_of(features), 1000, 1) for kind in (BoxMoments, LaplaceMoments))
    assert (box.scale < 0.6 * laplace.scale).all()  # tends to 1/sqrt(6) = 0.41
