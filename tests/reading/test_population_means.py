"""How often the interval of a population's mean holds it, computed for every spread, where noise hides that spread.

In units of 1 / epsilon_1 a mean has Laplace noise of scale 1 and a sampling error of variance R. The noisy squares tell
about R; how often the interval that they make holds the mean is an integral over their noise, which is worked out here.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

import discreet as dc
from discreet.noise.summed import log_laplace_sum
from discreet.reading.number_sums import NumberSumsReading

RANKS = (np.arange(80) + 0.5) / 80
LAPLACE = np.where(RANKS < 0.5, np.log(2 * RANKS), -np.log(2 * (1 - RANKS)))


def held_within(half: Any, spread: Any) -> Any:
    """Return P(|Laplace + spread Normal| <= half)."""
    up, down = (spread**2 / 2 + sign * half + log_ndtr(-sign * half / spread - spread) for sign in (-1, 1))
    return 2 * (ndtr(half / spread) - np.exp(up) / 2 + np.exp(down) / 2) - 1


def coverage(size: int, epsilon: float, ratio: float, variance: float) -> float:
    """Return how often the 90 % interval holds the mean, if sampling has `variance` in units of 1 / epsilon_1."""
    model = dc.NumberSums("x", (0, 1), missing=0)
    mechanism = dc.GeometricSums(model, size, str(epsilon))
    first, second = (float(part) for part in mechanism.parts)
    sigma = np.sqrt(variance / size) / first
    far = size * ((2 * ratio - 1) ** 2 + 4 * sigma**2) + LAPLACE / second
    halves, found = np.linspace(0, 40, 600), []
    for place, squares in enumerate(far):
        ends = np.array([[size * ratio, size * (1 - ratio)]]), np.array([[squares, size - squares]])
        reading = NumberSumsReading(model, size, *ends, (first / 2, second / 2))
        sigmas, weights = reading.spreads(0, ratio)
        if not place:
            table = held_within(halves[None, :], np.sqrt(size) * first * sigmas[:, None])
        found.append(held_within(np.interp(0.9, weights @ table, halves), np.sqrt(variance)))
    return float(np.mean(found))


@pytest.mark.parametrize("variance", [0.05, 0.2, 1, 2, 4, 8, 20])
@pytest.mark.parametrize("epsilon", [0.1, 1])
def test_means_of_populations_are_held_as_often_as_stated_whatever_the_spread_is(
    epsilon: float, variance: float
) -> None:
    size = 1000 if epsilon == 1 else 100_000
    found = coverage(size, epsilon, 0.05, variance)
    print(f"\nepsilon = {epsilon}, R = {variance}: {found:.3f}")
    assert 0.878 <= found <= 0.926


def test_the_noise_of_two_ends_of_several_has_the_density_that_listing_the_others_gives() -> None:
    rate, far = 1 / 8, np.arange(-120, 121)
    others = np.zeros(len(far))
    for third, fourth in product(range(-100, 101), repeat=2):
        if abs(third + fourth) <= 120:
            others[third + fourth + 120] += np.exp(-rate * (abs(third) + abs(fourth)))
    own = np.exp(log_laplace_sum(2, np.asarray(rate * far, dtype=np.float64)) - log_laplace_sum(2, np.zeros(1)))
    assert own[60:181] == pytest.approx(others[60:181] / others[120], rel=0.02)


def test_squares_are_weighed_by_the_joint_law_of_their_ends() -> None:
    """Of three ends, two may err together: what the third tells, the number of values, narrows both."""
    model = dc.NumberSums("x", (0, 1))
    for far, near in ((700.0, 300.0), (690.0, 330.0)):
        ends = np.array([[500.0, 500.0]]), np.array([[far, near]])
        reading = NumberSumsReading(model, 1000, *ends, (100.0, 1 / 20))
        sigmas, weights = reading.spreads(0, 0.5)
        noise = np.array([[far - 4000 * s**2, near - 1000 + 4000 * s**2, 1000 - far - near] for s in sigmas])
        logs = -0.05 * np.abs(noise).sum(axis=1)
        slow = np.exp(logs - logs.max())
        assert weights == pytest.approx(slow / slow.sum(), abs=1e-3)
