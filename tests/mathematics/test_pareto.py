"""Smoothed importance weights: the shape of their tail is found, means get better, and bad weights are told."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.stats import genpareto, norm

from discreet.mathematics import MOST_SHAPE, smoothed
from discreet.mathematics._pareto import pareto_fit

Floats = NDArray[np.float64]


@pytest.mark.parametrize("shape", [-0.3, 0.1, 0.5, 1.0])
def test_the_shape_of_a_tail_is_found(shape: float) -> None:
    draws = np.sort(genpareto.rvs(shape, scale=2.5, size=20_000, random_state=np.random.default_rng(11)))
    found, scale = pareto_fit(draws)
    assert found == pytest.approx(shape, abs=0.03)
    assert scale == pytest.approx(2.5, rel=0.03)


def test_the_fit_is_near_the_largest_likelihood_found_by_search() -> None:
    draws = np.sort(genpareto.rvs(0.4, size=3000, random_state=np.random.default_rng(12)))

    def lost(place: Floats) -> float:
        return float(-genpareto.logpdf(draws, place[0], scale=np.exp(place[1])).sum())

    best = minimize(lost, np.array([0.2, 0.0]), method="Nelder-Mead")
    found, scale = pareto_fit(draws)
    assert found == pytest.approx(best.x[0], abs=0.01)
    assert scale == pytest.approx(np.exp(best.x[1]), rel=0.01)


def test_a_narrow_normal_from_a_wide_one_has_a_good_tail_and_the_reverse_a_bad_one() -> None:
    """Weights from a normal law of sd s to one of sd t have the shape 1 - (s / t)^2 for t > s; else bounded."""
    generator = np.random.default_rng(13)
    for proposal, target, is_good in ((2.0, 1.0, True), (1.0, 1.2, True), (1.0, 3.0, False)):
        x = generator.normal(0, proposal, 20_000)
        found = smoothed(norm.logpdf(x, scale=target) - norm.logpdf(x, scale=proposal))
        assert (found.shape < MOST_SHAPE) is is_good
        if is_good:
            assert found.weights @ x**2 == pytest.approx(target**2, rel=0.05)
            assert found.log_mean == pytest.approx(0, abs=4 * found.log_mean_error)


def test_smoothing_lowers_the_error_of_a_mean_under_heavy_weights() -> None:
    generator = np.random.default_rng(14)
    plain, better = [], []
    for _ in range(300):
        x = generator.exponential(1, 1000)
        logs = 0.6 * x  # weights e^(.6 x) have the shape .6; the target is exponential with rate .4
        raw = np.exp(logs) / np.exp(logs).sum()
        plain.append(raw @ x - 2.5)
        better.append(smoothed(logs).weights @ x - 2.5)
    assert np.square(better).mean() < np.square(plain).mean()


def test_shapes_of_exponential_weights_are_right_on_average() -> None:
    generator = np.random.default_rng(15)
    shapes = [smoothed(0.5 * generator.exponential(1, 20_000)).shape for _ in range(20)]
    assert np.mean(shapes) == pytest.approx(0.5, abs=0.05)


def test_odd_weights_are_taken_in_stride() -> None:
    nothing = smoothed(np.full(50, -np.inf))
    assert nothing.shape == np.inf
    assert nothing.log_mean == -np.inf
    assert not nothing.weights.any()
    alike = smoothed(np.full(64, 7.0))
    assert alike.shape == -np.inf
    assert alike.effective_size == pytest.approx(64)
    assert alike.log_mean == pytest.approx(7)
    one = smoothed(np.where(np.arange(1000) == 3, 0.0, -np.inf))
    assert one.weights[3] == 1
    assert one.shape == np.inf
    half = smoothed(np.where(np.arange(1000) % 2, 0.0, -np.inf))
    assert half.effective_size == pytest.approx(500)
    assert half.log_mean == pytest.approx(np.log(0.5))
    assert smoothed(np.zeros(3)).shape == np.inf


def test_adding_a_constant_moves_the_mean_and_nothing_else() -> None:
    logs = np.random.default_rng(16).normal(size=500)
    first, second = smoothed(logs), smoothed(logs + 1000)
    assert second.log_mean - first.log_mean == pytest.approx(1000)
    assert second.weights == pytest.approx(first.weights)
    assert second.shape == pytest.approx(first.shape)
