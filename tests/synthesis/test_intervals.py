"""Intervals of noisy shares: they hold what they say near zero and one too, and are never empty."""

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.synthesis._intervals import count_interval, deviations, highest, lowest, share_interval

LEVEL = 0.9


@pytest.mark.parametrize("truth", [0.0, 0.01, 0.2, 0.7, 1.0, 1.5, 1.64, 2.0, 3.0, 8.0])
def test_a_count_is_believed_at_readings_of_exactly_the_probability_of_the_level(truth: float) -> None:
    readings = np.linspace(truth - 9, truth + 9, 900_001)
    inside = (lowest(readings, LEVEL) <= truth) & (truth <= highest(readings, LEVEL))
    held = np.flatnonzero(inside)
    assert inside[held[0] : held[-1] + 1].all()
    first = -np.inf if held[0] == 0 else readings[held[0]]
    assert ndtr(readings[held[-1]] - truth) - ndtr(first - truth) == pytest.approx(LEVEL, abs=2e-5)


def test_ends_rise_with_the_reading_and_intervals_are_never_empty() -> None:
    readings = np.linspace(-12, 12, 10_001)
    low, high = lowest(readings, LEVEL), highest(readings, LEVEL)
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) > 0).all()
    assert (high > low).all()
    far = readings > 4
    np.testing.assert_allclose(low[far], readings[far] - deviations(LEVEL))


def test_intervals_are_alike_from_below_and_from_above() -> None:
    counts = np.array([-30.0, 0.0, 5.0, 400.0])
    low, high = count_interval(counts, 20.0, 1000, LEVEL)
    other_low, other_high = count_interval(1000 - counts, 20.0, 1000, LEVEL)
    np.testing.assert_allclose(1000 - other_high, low)
    np.testing.assert_allclose(1000 - other_low, high)
    low, high = share_interval(counts / 1000, 4e-4, 1000, LEVEL)
    other_low, other_high = share_interval(1 - counts / 1000, 4e-4, 1000, LEVEL)
    np.testing.assert_allclose(1 - other_high, low, atol=1e-15)
    np.testing.assert_allclose(1 - other_low, high, atol=1e-15)


def test_without_noise_the_interval_of_a_share_is_that_of_wilson() -> None:
    z, n = deviations(LEVEL), 50
    for share in (0.0, 0.02, 0.4, 1.0):
        low, high = share_interval(share, 0.0, n, LEVEL)
        for end in (float(low), float(high)):
            assert (share - end) ** 2 == pytest.approx(z**2 * end * (1 - end) / n, abs=1e-12)


@pytest.mark.parametrize(("truth", "seed"), [(0.0, 41), (0.003, 42), (0.01, 43), (0.5, 44), (0.995, 45)])
def test_shares_of_a_population_are_held_as_often_as_said(truth: float, seed: int) -> None:
    generator, n, variance, repeats = np.random.default_rng(seed), 1000, 0.004**2, 40_000
    read = generator.binomial(n, truth, repeats) / n + np.sqrt(variance) * generator.standard_normal(repeats)
    low, high = share_interval(read, variance, n, LEVEL)
    held = float(((low <= truth) & (truth <= high)).mean())
    assert abs(held - LEVEL) < 5 * (LEVEL * (1 - LEVEL) / repeats) ** 0.5 + 0.002  # sampling is not quite normal
