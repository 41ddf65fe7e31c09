"""Mixtures of normal laws and weighted draws, beside plain sums, draws and numerical roots."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from discreet.mathematics import Grouped
from discreet.mathematics.distributions._weighted import NormalMixture, WeightedDraws

WEIGHTS = np.array([0.1, 0.5, 0.15, 0.25])
CENTRES = np.array([-3.0, 0.2, 0.3, 8.0])
WIDTHS = np.array([0.5, 1.0, 0.01, 2.0])


def mixture() -> NormalMixture:
    return NormalMixture(CENTRES, WIDTHS, Grouped(WEIGHTS, 4))


def below(value: float) -> float:
    return float(sum(w * norm.cdf(value, c, s) for w, c, s in zip(WEIGHTS, CENTRES, WIDTHS, strict=True)))


def test_moments_are_those_of_many_draws() -> None:
    generator = np.random.default_rng(41)
    parts = generator.choice(4, size=400_000, p=WEIGHTS)
    draws = generator.normal(CENTRES[parts], WIDTHS[parts])
    assert mixture().mean == pytest.approx(draws.mean(), abs=0.03)
    assert mixture().sd == pytest.approx(draws.std(), rel=0.01)


@pytest.mark.parametrize("probability", [1e-6, 0.05, 0.1, 0.3, 0.5, 0.7499, 0.75, 0.95, 1 - 1e-6])
def test_quantiles_are_roots_of_the_distribution(probability: float) -> None:
    root = brentq(lambda x: below(x) - probability, -50, 50, xtol=1e-13)
    found = mixture().quantile(probability)
    assert below(found) == pytest.approx(probability, abs=1e-8)
    assert found == pytest.approx(root, abs=1e-5)


def test_intervals_probabilities_and_known_widths() -> None:
    law = mixture()
    low, high = law.interval(0.8)
    assert below(high) - below(low) == pytest.approx(0.8)
    assert law.probability_above(1.0) == pytest.approx(1 - below(1.0))
    assert law.median == pytest.approx(law.quantile(0.5))
    assert law.known_width(0.9) == pytest.approx(2 * 1.6448536 * (WEIGHTS @ WIDTHS))
    slope = (below(0.5 + 1e-6) - below(0.5 - 1e-6)) / 2e-6
    assert law.density(0.5) == pytest.approx(slope, rel=1e-5)


def test_the_error_of_a_quantile_is_that_of_repeated_runs() -> None:
    generator = np.random.default_rng(42)
    found, errors = [], []
    for _ in range(200):
        law = NormalMixture(generator.normal(size=300), np.full(300, 0.5), Grouped.equal(300, 300))
        found.append(law.quantile(0.95))
        errors.append(law.quantile_error(0.95))
    assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(found), rel=0.12)


def test_a_point_that_is_known_for_certain() -> None:
    law = NormalMixture(np.zeros(10), np.zeros(10), Grouped.equal(10, 10))
    assert tuple(law.interval(0.9)) == (0.0, 0.0)
    assert [law.below(x) for x in (-1.0, 1.0)] == [0.0, 1.0]
    assert law.interval_errors(0.9) == [0.0, 0.0]


def test_weighted_draws_say_what_repeated_values_say() -> None:
    values, times = np.array([3.0, 1.0, 2.0, 9.0]), np.array([4, 1, 3, 2])
    repeated = np.repeat(values, times)
    law = WeightedDraws(values, Grouped(times / 10, 4))
    assert law.mean == pytest.approx(repeated.mean())
    assert law.sd == pytest.approx(repeated.std())
    assert law.probability_above(2.5) == pytest.approx(0.6)
    many = np.random.default_rng(43).normal(size=20_001)
    plain = WeightedDraws(many, Grouped.equal(20_001, 20_001))
    assert tuple(plain.interval(0.9)) == pytest.approx(np.quantile(many, [0.05, 0.95]).tolist(), abs=2e-3)
    assert plain.median == pytest.approx(float(np.median(many)), abs=1e-3)
    assert plain.standard_error == pytest.approx(many.std() / np.sqrt(20_001), rel=1e-3)
