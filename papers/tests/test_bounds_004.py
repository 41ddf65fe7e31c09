"""The bounds of Zhang, Rubinstein and Dimitrakakis (2016), printed and corrected, against draws and exact laws."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

import discreet as dc
from discreet.mathematics import kullback_leibler
from discreet.mathematics.distributions._dirichlet import Dirichlet
from discreet_papers import as_published
from discreet_papers.bounds_004 import (
    Pair,
    deviation,
    divergence,
    divergence_exceedance,
    divergence_range,
    integer_noise_quantile,
    mean_divergence,
    noise_bound,
    noise_exceedance,
    noise_quantile,
    published_deviation,
    published_divergence,
    published_divergence_bound,
    published_last_step,
    published_mean_bound,
    published_ranges,
    published_refined_bound,
    published_truncated_mean,
    truncated_mean,
    truncated_noise,
)

NAIVE_BAYES = (17, 33, 1.0, 0.05)  # |I|, m, epsilon, delta
PRIORS: tuple[Pair, ...] = ((2, 2), (2, 5), (5, 5), (10, 3))


def settings() -> Iterator[tuple[Pair, Pair, int]]:
    """Yield 288 priors, counts and sizes."""
    for prior, size in product(PRIORS, (10, 50, 200)):
        for first in np.linspace(0, size, 6).round():
            for second in np.linspace(0, size - first, 4).round():
                yield prior, (float(first), float(second)), size


def naive_bayes_release(
    size: int, epsilon: str, seed: int
) -> tuple[as_published.LaplaceUpdates, np.ndarray, np.ndarray]:
    """Return a mechanism, its true tables and 4,000 noisy ones, cell by cell, for 16 features."""
    names = [f"x{number}" for number in range(16)]
    network = dc.Network.naive_bayes("y", names, dict.fromkeys(["y", *names], (0, 1)), outside=0)
    mechanism = as_published.LaplaceUpdates(network, size, epsilon)
    counts = np.tile([size // 10, 2 * size // 5, 2 * size // 5, size // 10], 16)
    true = mechanism.measured(counts)
    return mechanism, true, true + mechanism.noise.sample(4000, dc.SeededBits(seed))


def test_proposition_1_has_its_digits() -> None:
    assert noise_bound(*NAIVE_BAYES) == pytest.approx(244.303, abs=5e-4)
    assert noise_quantile(*NAIVE_BAYES) == pytest.approx(243.448, abs=5e-4)


def test_the_largest_noise_stays_within_proposition_1() -> None:
    _, true, noisy = naive_bayes_release(50, "1", seed=1)
    assert noisy.shape[1] == 2 * 33  # two counts for each row
    largest = np.abs(noisy - true).max(axis=1)
    beyond = float((largest > noise_bound(*NAIVE_BAYES)).mean())
    assert beyond == pytest.approx(noise_exceedance(17, 33, 1, noise_bound(*NAIVE_BAYES)), abs=0.014)  # four errors
    assert float((largest > integer_noise_quantile(*NAIVE_BAYES)).mean()) == pytest.approx(0.05, abs=0.014)


@pytest.mark.parametrize("delta", [0.001, 0.05, 0.5, 0.9])
def test_the_exact_quantile_is_exceeded_with_exactly_delta(delta: float) -> None:
    assert noise_exceedance(17, 33, 1, noise_quantile(17, 33, 1, delta)) == pytest.approx(delta, rel=1e-9)
    assert noise_quantile(17, 33, 1, delta) <= noise_bound(17, 33, 1, delta)


def test_the_integer_quantile_is_the_least_that_will_do() -> None:
    k, p = integer_noise_quantile(*NAIVE_BAYES), np.exp(-1 / 34)
    within = [(1 - 2 * p ** (at + 1) / (1 + p)) ** 66 for at in (k - 1, k)]
    assert within[0] < 0.95 <= within[1]


def test_the_union_bound_needs_z_to_be_at_least_the_stated_value() -> None:
    stated = noise_bound(*NAIVE_BAYES)
    assert noise_exceedance(17, 33, 1, 1.1 * stated) <= 0.05
    assert noise_exceedance(17, 33, 1, 0.9 * stated) > 0.05


def test_cutting_brings_no_count_farther_from_the_truth() -> None:
    mechanism, true, noisy = naive_bayes_release(50, "1", seed=2)
    cut = mechanism.truncated(noisy)
    assert (np.abs(cut - true) <= np.abs(noisy - true)).all()
    assert (np.abs(cut - true) < np.abs(noisy - true)).any()


def test_the_mean_of_a_truncated_count_is_what_draws_show() -> None:
    noise = np.random.default_rng(3).laplace(0, 10, 200_000)
    drawn = np.clip(45 + noise, 0, 50).mean()
    assert drawn == pytest.approx(truncated_mean(45, 50, 10), abs=0.12)  # four errors
    assert published_truncated_mean(45, 50, 10) > 57 > 50


@pytest.mark.parametrize(("count", "size", "scale"), [(0, 50, 34), (10, 50, 34), (45, 50, 10), (100, 200, 0.2)])
def test_quadrature_gives_the_mean_in_closed_form(count: float, size: float, scale: float) -> None:
    points, chances = truncated_noise(count, size, scale)
    assert chances.sum() == pytest.approx(1, abs=1e-9)
    assert points @ chances == pytest.approx(truncated_mean(count, size, scale), rel=1e-9)


def test_the_divergence_is_that_of_the_library() -> None:
    for prior, counts, size in list(settings())[::17]:
        expected = kullback_leibler(
            Dirichlet((prior[0] + counts[0], prior[1] + counts[1])),
            Dirichlet((prior[0] + 3, prior[1] + size)),
        )
        assert float(divergence(prior, counts, 3, size)) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_the_divergence_exceeds_the_bound_of_lemma_a3() -> None:
    example: tuple[Pair, Pair, float, float] = ((2, 2), (10, 15), 12, 9)
    assert float(divergence(*example)) == pytest.approx(1.12336, abs=5e-6)
    assert float(published_divergence(*example)) == pytest.approx(22.4533, abs=5e-5)
    assert published_divergence(*example) > published_divergence_bound(*example)
    assert divergence((2, 2), (10, 15), 50, 9) > 0 > published_divergence_bound((2, 2), (10, 15), 50, 9)
    assert published_last_step(2, 10) == pytest.approx((43.28, 24.85), abs=5e-3)  # stated as left <= right


def test_lemma_a2_holds_on_a_grid() -> None:
    a, t = np.meshgrid(np.geomspace(1e-3, 1e4, 60), np.concatenate([[0], np.geomspace(1e-3, 1e4, 60)]))
    left = (a + t) * np.log(a + t) - a * np.log(a)
    right = t * np.log(a + t) + t
    assert (left <= right + 1e-9 * (1 + np.abs(right))).all()


def test_the_largest_divergence_is_at_a_corner() -> None:
    assert divergence_range((2, 2), (50, 0), 50) == pytest.approx(175.9407, abs=5e-5)
    for prior, counts, size in list(settings())[::13]:
        inside = np.linspace(0, size, 41)
        found = divergence(prior, counts, inside[:, None], inside[None, :])
        assert found.max() <= divergence_range(prior, counts, size) * (1 + 1e-12)
        assert found.min() >= -1e-9


def test_all_three_printed_constants_bound_the_divergence() -> None:
    for prior, counts, size in settings():
        assert divergence_range(prior, counts, size) <= min(published_ranges(prior, size).values())
    corners = np.array([0, 50])
    other = published_divergence((2, 2), (50, 0), corners[:, None], corners[None, :])
    assert np.ptp(other) > published_ranges((2, 2), 50)["theorem 1"]  # the function in the proof, with the theorem's c
    assert np.ptp(other) <= published_ranges((2, 2), 50)["proof of lemma A.4"]


def test_the_printed_deviation_is_exceeded_too_often() -> None:
    worst: tuple[Pair, Pair, float, float] = ((2, 2), (50, 0), 50, 2 / 0.001)
    mean = mean_divergence(*worst)
    for constant in published_ranges((2, 2), 50).values():
        assert divergence_exceedance(*worst, mean + published_deviation([constant], 0.05)) > 0.2
    threshold = mean + published_deviation([published_ranges((2, 2), 50)["theorem 1"]], 0.05)
    assert divergence_exceedance(*worst, threshold) == pytest.approx(0.491, abs=5e-4)
    noise = np.random.default_rng(4).laplace(0, 2000, (2, 20_000))
    drawn = divergence((2, 2), (50, 0), np.clip(50 + noise[0], 0, 50), np.clip(noise[1], 0, 50))
    assert float((drawn >= threshold).mean()) == pytest.approx(0.491, abs=0.014)  # four errors
    assert drawn.mean() == pytest.approx(mean, rel=0.03)


@pytest.mark.parametrize("epsilon", ["0.01", "1"])
def test_the_corrected_deviation_holds_for_the_library_mechanism(epsilon: str) -> None:
    mechanism, true, noisy = naive_bayes_release(50, epsilon, seed=5)
    cut, pairs = mechanism.truncated(noisy).reshape(len(noisy), 33, 2), true.reshape(33, 2)
    rows = [(float(a), float(b)) for a, b in pairs]
    total = sum(divergence((2, 2), row, cut[:, i, 0], cut[:, i, 1]) for i, row in enumerate(rows))
    mean = sum(mean_divergence((2, 2), row, 50, mechanism.reach) for row in rows)
    assert np.mean(total) == pytest.approx(mean, rel=0.01)
    limit = mean + deviation([divergence_range((2, 2), row, 50) for row in rows], 0.05)
    assert float(np.mean(total >= limit)) <= 0.05
    assert limit < sum(divergence_range((2, 2), row, 50) for row in rows)  # it says something


def test_the_first_bound_on_the_mean_holds_on_a_grid() -> None:
    for prior, counts, size in settings():  # even the largest divergence is below, so the mean is under any noise
        assert divergence_range(prior, counts, size) <= published_mean_bound(prior, counts, size)


def test_the_refined_bound_lies_below_the_mean() -> None:
    assert published_refined_bound((2, 2), 50, 2) == pytest.approx(2.757e-9, rel=1e-3)
    assert mean_divergence((2, 2), (5, 5), 50, 2) == pytest.approx(0.5613, abs=5e-5)
    noise = np.random.default_rng(6).laplace(0, 2, (2, 50_000))
    drawn = divergence((2, 2), (5, 5), *np.clip(5 + noise, 0, 50))
    assert drawn.mean() == pytest.approx(0.5613, abs=0.015)  # four errors


def test_the_summary_grows_while_the_mean_falls() -> None:
    scales = [40.0, 20.0, 4.0, 0.4]  # all of them within n >= b
    means = [mean_divergence((2, 2), (5, 5), 50, scale) for scale in scales]
    brackets = [1 - np.exp(-50 / scale) for scale in scales]
    assert means == sorted(means, reverse=True)
    assert brackets == sorted(brackets)
    assert brackets[0] > 1 - np.exp(-1) > 0.63
