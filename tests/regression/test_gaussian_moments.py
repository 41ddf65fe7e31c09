"""GaussianMoments: the sensitivity is what it says, the variance is certified, the draws are Gaussian."""

from fractions import Fraction
from math import exp, sqrt
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import chisquare, kstest, norm

import discreet as dc
from discreet.noise import RoundedGaussian
from discreet.noise.randomness._samplers import wide_gaussian
from discreet.regression import GaussianMoments, InverseGamma, LinearRegression
from discreet.regression._mechanisms import MomentQuantities


def model_of(features: int, noise: str | InverseGamma = "0.2", intercept: bool = False) -> LinearRegression:
    names = [f"x{number}" for number in range(features)]
    return LinearRegression(
        "y", names, dict.fromkeys((*names, "y"), (-1, 1)), noise=noise, intercept=intercept, missing="middle"
    )


def squared_distance(point: NDArray[np.float64], total: bool) -> float:
    x, z = (v / max(1.0, float(np.linalg.norm(v))) for v in np.split(point[2:], 2))
    y, t = np.clip(point[:2], -1, 1)
    square = np.square(np.outer(x, x) - np.outer(z, z)).sum() + np.square(x * y - z * t).sum()
    return float(square + 1.5 * (y * y - t * t) ** 2 * total)


@pytest.mark.parametrize("total", [False, True])
def test_the_largest_distance_between_two_records_is_the_stated_one(total: bool) -> None:
    generator = np.random.default_rng(3)
    search: Any = minimize
    found = [
        -search(lambda p: -squared_distance(p, total), generator.normal(0, 2, 8), method="Nelder-Mead",
                  options={"maxiter": 4000, "fatol": 1e-10}).fun
        for _ in range(15)
    ]  # fmt: skip
    measured = MomentQuantities(model_of(3, InverseGamma(1, 1) if total else "0.2"))
    assert (measured.squared_distance, measured.total_weight) == (Fraction(9, 2), Fraction(3, 2))
    assert max(found) <= 4.5 + 1e-9
    assert max(found) == pytest.approx(4.5, abs=1e-3)


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
    gaps = (rows[:, None] - rows[None, :]) / np.sqrt(mechanism.noise.number_variances)
    assert np.square(gaps).sum(axis=-1).max() / 2 <= float(mechanism.rho) * (1 + 1e-12)


PINS = [("1", "1e-6", 4.224679), ("0.1", "1e-4", 24.50811), ("10", "1e-9", 0.650247), ("0.5", "1e-6", 8.057618),
        ("5", "1e-6", 0.980049)]  # fmt: skip


@pytest.mark.parametrize(("epsilon", "delta", "sd"), PINS)
def test_the_variance_is_that_of_the_exact_curve(epsilon: str, delta: str, sd: float) -> None:
    mechanism = GaussianMoments(model_of(2), 100, epsilon, delta)
    assert float(mechanism.variance / Fraction(9, 2)) ** 0.5 == pytest.approx(sd, rel=4e-6)
    less = mechanism.variance * Fraction(99_999, 100_000)
    with pytest.raises(dc.DeclarationError, match="too small"):
        GaussianMoments(model_of(2), 100, epsilon, delta, variance=less)
    shift, e = sqrt(4.5 / float(mechanism.variance)), float(epsilon)
    continuous = norm.cdf(shift / 2 - e / shift) - exp(e) * norm.cdf(-shift / 2 - e / shift)
    assert 0.999 * float(delta) <= continuous <= float(delta)
    loss = mechanism.privacy_loss()
    assert continuous * (1 - 1e-9) <= loss.delta_at(epsilon) <= float(delta)
    for share in (0.0, 0.3, 0.77, 1.4):
        there = share * e
        curve = norm.cdf(shift / 2 - there / shift) - exp(there) * norm.cdf(-shift / 2 - there / shift)
        assert curve * (1 - 1e-6) <= loss.delta_at(there) <= curve * 1.01 + 1e-12


def test_rounded_gaussians_follow_their_law() -> None:
    law, draws = RoundedGaussian((Fraction(2, 3),), (3,)), 8000
    drawn = law.sample(draws, dc.SeededBits(3)).ravel()
    steps, sd = np.arange(-3, 4), sqrt(2 / 3)
    chances = norm.cdf((steps + 0.5) / sd) - norm.cdf((steps - 0.5) / sd)
    assert np.exp(law.log_terms(steps, 0)) == pytest.approx(chances, rel=1e-9)
    bins = [int((drawn == step).sum()) for step in steps]
    expected = np.append(chances, 1 - chances.sum()) * len(drawn)
    assert chisquare([*bins, len(drawn) - sum(bins)], expected).pvalue > 1e-4
    wide = RoundedGaussian((Fraction(2**70, 3),), (1,)).sample(3000, dc.SeededBits(4)).ravel() / sqrt(2**70 / 3)
    assert kstest(wide, "norm").pvalue > 1e-4
    assert np.exp(law.log_terms(np.arange(-40, 41), 0)).sum() == pytest.approx(1, abs=1e-12)


def test_wide_rounded_noise_has_the_same_law_on_both_sides_of_the_switch() -> None:
    steps = np.array([0, 1, 1500, 4000, 9000])
    for sd in (999, 1001):
        law = RoundedGaussian((Fraction(sd**2),), (1,))
        exact = [float(mpmath.log(mpmath.ncdf(-(u - 0.5) / sd) - mpmath.ncdf(-(u + 0.5) / sd))) for u in steps.tolist()]
        assert law.log_terms(steps, 0) == pytest.approx(exact, rel=1e-8)


def test_a_given_variance_is_certified_again_and_read_back_the_same() -> None:
    mechanism = GaussianMoments(model_of(2), 100, 1, "1e-6")
    assert GaussianMoments(model_of(2), 100, 1, "1e-6", variance=mechanism.variance) == mechanism
    wide = GaussianMoments(model_of(2), 100, 1, "1e-6", variance=1000)
    assert wide.rho == Fraction(9, 4000)
    assert wide.guarantee.delta == Fraction(1, 10**6)
    with pytest.raises(dc.DeclarationError, match="delta"):
        GaussianMoments(model_of(2), 100, 1, 0)


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
    assert mechanism.log_prob(noise, zero) == pytest.approx(expected, rel=1e-12)
