"""How often the interval of a population's mean holds it, computed for every spread, where noise hides that spread.

In units of 1 / epsilon_1 a mean has Laplace noise of scale 1 and a sampling error of variance R. The noisy squares tell
about R; how often the interval that they make holds the mean is an integral over their noise, which is worked out here.
"""

from typing import Any

import numpy as np
import pytest
from scipy.special import log_ndtr, ndtr

import discreet as dc
from discreet.numbers._sums_inference import NumberSumsSolution, Spread

RANKS = (np.arange(24) + 0.5) / 24
LAPLACE = np.where(RANKS < 0.5, np.log(2 * RANKS), -np.log(2 * (1 - RANKS)))
SPREADS = (0.05, 0.2, 1, 2, 4, 8, 20)


def held_within(half: Any, spread: Any) -> Any:
    """Return P(|Laplace + spread Normal| <= half)."""
    up, down = (spread**2 / 2 + sign * half + log_ndtr(-sign * half / spread - spread) for sign in (-1, 1))
    return 2 * (ndtr(half / spread) - np.exp(up) / 2 + np.exp(down) / 2) - 1


def coverage(size: int, epsilon: str, variance: float) -> float:
    """Return how often the 90 % interval holds the mean, if sampling has `variance` in units of 1 / epsilon_1.

    The mean lies in the middle, where the interval is symmetric and its length depends on the noise of squares alone.
    """
    model = dc.NumberSums("x", (0, 1), missing=0)
    first, second = (float(part) for part in dc.GeometricSums(model, size, epsilon).parts)
    found, quantiles = [], None
    for squares in 4 * variance / first**2 + LAPLACE / second:
        ends = np.array([[size / 2, size / 2]]), np.array([[squares, size - squares]])
        reading = NumberSumsSolution(model, size, *ends, (first / 2, second / 2))
        quantiles = reading.quantiles(0.9) if quantiles is None else quantiles
        law = reading.population_mean(0, 0.9, reading.record_mean(0, quantiles))
        found.append(held_within(size * first * (law.high - law.low) / 2, np.sqrt(variance)))
    return float(np.mean(found))


@pytest.mark.parametrize(
    ("size", "epsilon", "most"), [(100_000, ".1", 0.91), (1000, "1", 0.92), (1000, "2", 0.93), (1000, "4", 0.95)]
)
def test_means_of_populations_are_held_as_often_as_stated_whatever_the_spread_is(
    size: int, epsilon: str, most: float
) -> None:
    found = [coverage(size, epsilon, spread) for spread in SPREADS]
    print(f"\nepsilon = {epsilon}, R = {SPREADS}: {' '.join(f'{each:.3f}' for each in found)}")
    assert 0.88 <= min(found) <= max(found) <= most


def near_a_bound(size: int, epsilon: float, place: float, variance: float, draws: int) -> float:
    """Return how often the population's mean place is not contradicted, for drawn noise and drawn records.

    The published mean has noise that goes into the estimate of V, too: V is about the mean of the records, which is not
    known, and its slope in that mean is largest near a bound.
    """
    generator, second = np.random.default_rng(22), epsilon / 4
    noise, squares = generator.laplace(scale=1 / epsilon, size=draws), generator.laplace(scale=1 / second, size=draws)
    sampled = np.sqrt(variance) / epsilon * generator.standard_normal(draws)
    spreads = []
    for own, sample, far in zip(noise, sampled, squares, strict=True):
        spread = Spread(
            lambda at, s=sample, f=far: (  # type: ignore[misc]
                variance / epsilon**2 + (f + size * ((2 * (place + s / size) - 1) ** 2 - (2 * at - 1) ** 2)) / 4
            ),
            2 / (4 * second) ** 2, 2 / epsilon**2, size, float(np.clip(place + (own + sample) / size, 0, 1)),
        )  # fmt: skip
        spreads.append(max(spread.around(place), 1e-12))
    return float(np.mean(held_within(epsilon * np.abs(noise + sampled), epsilon * np.sqrt(spreads)) <= 0.9))


@pytest.mark.parametrize(
    ("size", "epsilon", "least", "most"), [(100, 1, 0.87, 0.93), (1000, 1, 0.88, 0.93), (1000, 2, 0.87, 0.945)]
)
def test_means_of_populations_near_a_bound_are_held_about_as_often_as_stated(
    size: int, epsilon: float, least: float, most: float
) -> None:
    spreads = tuple(each for each in (0.03, 1, 4, 8) if each < 0.02 * size)  # no spread is wider at 2 % of the range
    found = [near_a_bound(size, epsilon, 0.02, spread, 5000) for spread in spreads]
    shown = " ".join(f"{each:.3f}" for each in found)
    print(f"\nat 2 % of the range, n = {size}, epsilon = {epsilon}, R = {spreads}: {shown}")
    assert least <= min(found) <= max(found) <= most
