"""Tilted laws have the mean that was asked for, and the tilt changes nothing that is said about a given sum."""

import numpy as np
import pytest

from discreet.mathematics import tilted_to, weights_tilted_to

LOGS = np.log(np.random.default_rng(1).gamma(1.0, size=(4, 30)))
STEPS = np.arange(30)


def slow_tilt(total: float) -> float:
    """Find the tilt by halving, the slow twin."""
    low, high = -60.0, 60.0
    for _ in range(200):
        middle = (low + high) / 2
        weights = np.exp(LOGS + middle * STEPS - (LOGS + middle * STEPS).max(axis=1, keepdims=True))
        mean = (weights @ STEPS / weights.sum(axis=1)).sum()
        low, high = (middle, high) if mean < total else (low, middle)
    return (low + high) / 2


@pytest.mark.parametrize("total", [0.5, 7.0, 58.0, 100.0, 115.9])
def test_the_mean_is_where_it_is_wanted(total: float) -> None:
    found = tilted_to(LOGS, STEPS, total, absolute=1e-9, relative=0.0)
    assert found.means.sum() == pytest.approx(total, abs=1e-8)
    assert found.tilt == pytest.approx(slow_tilt(total), abs=1e-6)
    assert found.weights.sum(axis=1) == pytest.approx(np.ones(4))
    assert found.variance == pytest.approx(sum(w @ STEPS**2 - (w @ STEPS) ** 2 for w in found.weights))


@pytest.mark.parametrize("start", [0.0, -3.0, 20.0])
@pytest.mark.parametrize("total", [0.5, 58.0, 115.9])
def test_weights_and_their_logarithms_are_tilted_alike_wherever_one_starts(total: float, start: float) -> None:
    wanted, scales = tilted_to(LOGS, STEPS, total, absolute=1e-9, relative=0.0), np.arange(4.0)
    weights = np.exp(LOGS - scales[:, None])
    found = weights_tilted_to(weights, scales, STEPS, total, relative=0.0, start=start, steepest=50.0, times=1)
    assert found.tilt == pytest.approx(wanted.tilt, abs=1e-6)
    np.testing.assert_allclose(found.weights, wanted.weights, atol=1e-6)
    slow = np.log(np.exp(LOGS + found.tilt * STEPS).sum(axis=1))
    np.testing.assert_allclose(found.log_sums, slow, atol=1e-10)


def test_the_probability_of_a_sum_does_not_depend_on_the_tilt() -> None:
    chances = []
    for total in (20.0, 60.0, 100.0):
        found = tilted_to(LOGS, STEPS, total, absolute=1e-9, relative=0.0)
        law = np.ones(1)
        for row in found.weights:
            law = np.convolve(law, row)
        chances.append(np.log(law[60]) + found.log_sums.sum() - found.tilt * 60)
    assert np.ptp(chances) < 1e-9


@pytest.mark.parametrize(("total", "tilt"), [(0.0, -50.0), (116.0, 50.0)])
def test_a_sum_at_the_end_is_reached_nearly_and_no_tilt_is_steeper_than_allowed(total: float, tilt: float) -> None:
    found = tilted_to(LOGS, STEPS, total, absolute=1e-30, relative=0.0, steepest=50.0)
    assert abs(found.tilt) <= 50.0
    assert np.sign(found.tilt) == np.sign(tilt)
    assert found.means.sum() == pytest.approx(total, abs=1e-3)
    assert np.isfinite(found.log_sums).all()
