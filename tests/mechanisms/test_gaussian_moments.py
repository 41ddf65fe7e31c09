"""GaussianMoments: the sensitivity is what it says, the variance is certified, the draws are Gaussian."""

from fractions import Fraction
from math import exp, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import chisquare, kstest, norm

import discreet as dc
from discreet.guarantees.zcdp import zcdp_gives
from discreet.mechanisms.gaussian_moments import GaussianMoments
from discreet.mechanisms.moments import Moments
from discreet.models.linear_regression import InverseGamma, LinearRegression
from discreet.randomness import wide_gaussian


def model_of(features: int, noise: str | InverseGamma = "0.2", intercept: bool = False) -> LinearRegression:
    names = [f"x{number}" for number in range(features)]
    return LinearRegression("y", names, dict.fromkeys((*names, "y"), (-1, 1)), noise=noise, intercept=intercept)


def squared_distance(point: NDArray[np.float64], total: bool) -> float:
    x, z = (v / max(1.0, float(np.linalg.norm(v))) for v in np.split(point[2:], 2))
    y, t = np.tanh(point[:2])
    square = np.square(np.outer(x, x) - np.outer(z, z)).sum() + np.square(x * y - z * t).sum()
    return float(square + (y * y - t * t) ** 2 * total)


@pytest.mark.parametrize("total", [False, True])
def test_the_largest_distance_between_two_records_is_the_stated_one(total: bool) -> None:
    generator = np.random.default_rng(3)
    search: Any = minimize
    found = [
        -search(lambda p: -squared_distance(p, total), generator.normal(0, 2, 8), method="Nelder-Mead",
                  options={"maxiter": 4000, "fatol": 1e-10}).fun
        for _ in range(15)
    ]  # fmt: skip
    stated = float(Moments(model_of(3, InverseGamma(1, 1) if total else "0.2")).squared_distance)
    assert max(found) <= stated + 1e-9
    assert total or max(found) == pytest.approx(4.5, abs=1e-3)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("noise", ["0.2", InverseGamma(1, 1)])
def test_no_two_records_are_farther_apart_in_the_released_numbers(intercept: bool, noise: str | InverseGamma) -> None:
    model = model_of(3, noise, intercept)
    mechanism = GaussianMoments(model, 50, 1, "1e-6")
    generator = np.random.default_rng(4)
    values = np.concatenate([generator.uniform(-1, 1, (100, 4)), generator.choice([-1.0, 1.0], (60, 4))])
    rows = np.array(
        [model.rehearse(dict(zip(["x0", "x1", "x2", "y"], [[v] for v in row], strict=True))) for row in values]
    )
    gaps = (rows[:, None] - rows[None, :]) / mechanism.scale
    assert np.square(gaps).sum(axis=-1).max() / 2 <= float(mechanism.rho) * (1 + 1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [("0.1", "1e-9"), ("1", "1e-8"), ("1", "1e-6"), ("5", "1e-5")])
def test_the_variance_is_enough_and_hardly_more_than_zcdp_needs(epsilon: str, delta: str) -> None:
    mechanism = GaussianMoments(model_of(2), 100, epsilon, delta)
    less = mechanism.variance * Fraction(99_999, 100_000)
    with pytest.raises(dc.DeclarationError, match="too small"):
        GaussianMoments(model_of(2), 100, epsilon, delta, variance=less)
    shift, e = sqrt(4.5 / float(mechanism.variance)), float(epsilon)
    continuous = norm.cdf(shift / 2 - e / shift) - exp(e) * norm.cdf(-shift / 2 - e / shift)
    assert 0.05 * float(delta) <= continuous <= float(delta)  # what exact accounting of a Gaussian would give


def test_a_given_variance_is_certified_again_and_read_back_the_same() -> None:
    mechanism = GaussianMoments(model_of(2), 100, 1, "1e-6")
    assert GaussianMoments(model_of(2), 100, 1, "1e-6", variance=mechanism.variance) == mechanism
    wide = GaussianMoments(model_of(2), 100, 1, "1e-6", variance=1000)
    assert wide.rho == Fraction(9, 4000)
    assert wide.guarantee.delta == Fraction(1, 10**6)
    with pytest.raises(dc.DeclarationError, match="delta"):
        GaussianMoments(model_of(2), 100, 1, 0)


def test_conversion_from_zcdp_is_monotone() -> None:
    assert zcdp_gives(Fraction(1, 100), Fraction(1), Fraction(1, 10**8))
    assert not zcdp_gives(Fraction(1, 10), Fraction(1), Fraction(1, 10**8))


def test_discrete_gaussians_follow_their_law() -> None:
    variance, draws = Fraction(7, 2), 30_000
    drawn = wide_gaussian(variance, draws, dc.SeededBits(3))
    steps = np.arange(-7, 8)
    law = np.exp(-(np.arange(-60, 61) ** 2) / 7.0)
    chances = np.exp(-(steps**2) / 7.0) / law.sum()
    observed = [(drawn == step).sum() for step in steps]
    bins = np.append(observed, draws - sum(observed))
    assert chisquare(bins, np.append(chances, 1 - chances.sum()) * draws).pvalue > 1e-4
    wide = wide_gaussian(Fraction(2**70, 3), 4000, dc.SeededBits(4)).astype(float) / sqrt(2**70 / 3)
    assert kstest(wide, "norm").pvalue > 1e-4


def test_the_likelihood_is_that_of_independent_gaussians() -> None:
    mechanism = GaussianMoments(model_of(2), 100, 1, "1e-6")
    noise = mechanism.noise.sample(5, dc.SeededBits(9))
    expected = np.asarray(norm.logpdf(noise, scale=mechanism.scale)).sum(axis=1)
    zero = np.zeros(5, dtype=np.int64)
    assert mechanism.log_likelihood(noise, zero) == pytest.approx(expected, rel=1e-12)
