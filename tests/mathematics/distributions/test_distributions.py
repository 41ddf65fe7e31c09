"""Closed forms against integration, simulation and the digits of the specification."""

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.stats import beta as beta_law

import discreet as dc
from discreet._core.arrays import Floats
from discreet.mathematics import hellinger_rows, kullback_leibler
from discreet.mathematics._divergences import hellinger
from discreet.mathematics.distributions._counts import CountDistribution
from discreet.mathematics.distributions._dirichlet import BetaMixture, Dirichlet

MIXTURE = BetaMixture(np.array([0.3, 0.7]), np.array([2.0, 30.0]), np.array([9.0, 4.0]))


def test_a_mixture_is_the_weighted_sum_of_its_parts() -> None:
    x = np.array([0.1, 0.5, 0.9])
    parts = 0.3 * beta_law.cdf(x, 2, 9) + 0.7 * beta_law.cdf(x, 30, 4)
    assert MIXTURE.cdf(x) == pytest.approx(parts, abs=1e-14)
    density = 0.3 * beta_law.pdf(x, 2, 9) + 0.7 * beta_law.pdf(x, 30, 4)
    assert np.exp(MIXTURE.log_density(x)) == pytest.approx(density, rel=1e-12)
    mean = quad(lambda t: t * float(np.exp(MIXTURE.log_density(t))), 0, 1)[0]
    square = quad(lambda t: t * t * float(np.exp(MIXTURE.log_density(t))), 0, 1)[0]
    assert MIXTURE.mean == pytest.approx(mean)
    assert MIXTURE.sd == pytest.approx(np.sqrt(square - mean**2))
    assert sum(MIXTURE.variances) == pytest.approx(MIXTURE.sd**2)


@pytest.mark.parametrize("probability", [1e-9, 0.05, 0.3, 0.5, 0.95, 1 - 1e-9])
def test_quantiles_invert_the_distribution(probability: float) -> None:
    assert float(MIXTURE.cdf(MIXTURE.quantile(probability))) == pytest.approx(probability, rel=1e-9)


def test_tiny_quantiles_keep_their_digits() -> None:
    spike = Dirichlet((0.01, 30.0)).marginal(0)
    low = float(spike.quantile(0.05))
    assert low < 1e-100
    assert float(spike.cdf(low)) == pytest.approx(0.05, rel=1e-9)


def test_the_shortest_interval_of_a_beta_starts_at_zero_when_the_density_falls() -> None:
    falling = Dirichlet((1.0, 20.0)).marginal(0)
    low, high = falling.highest_density(0.9)
    assert low == 0
    assert float(falling.cdf(high)) == pytest.approx(0.9)


GOLDEN = [
    ((5, 5), (4, 6), 0.233629480708875276),
    ((1, 9), (5, 5), 0.837372585929585821),
    ((2.5, 3), (4, 7), 0.246407803778928993),
    ((21, 21, 21), (22, 20, 21), 0.110122822057332327),
    ((21, 21, 21), (61, 1, 1), 0.999999984480890709),
    ((1, 1, 1), (1, 1, 2), 0.276115137753435708),
    ((7, 4, 5), (40, 37, 39), 0.672730533441782226),
    ((1e6 + 1, 1e6 + 1), (1e6, 1e6 + 2), 0.000499999843750124023),
    ((0.5, 0.5), (0.5, 100.5), 0.815300974674260649),
]


@pytest.mark.parametrize(("first", "second", "expected"), GOLDEN)
def test_hellinger_distances_have_the_specified_digits(
    first: tuple[float, ...], second: tuple[float, ...], expected: float
) -> None:
    assert hellinger(Dirichlet(first), Dirichlet(second)) == pytest.approx(expected, rel=1e-13)
    assert hellinger_rows([second, first], [first, first])[1] == 0


def test_kullback_leibler_is_the_mean_log_ratio() -> None:
    first, second = Dirichlet((3, 5, 2)), Dirichlet((1, 4, 4))
    draws = first.sample(200_000, np.random.default_rng(1))
    ratios = first.log_density(draws) - second.log_density(draws)
    assert kullback_leibler(first, second) == pytest.approx(ratios.mean(), abs=5 * ratios.std() / np.sqrt(200_000))
    assert kullback_leibler(first, first) == pytest.approx(0, abs=1e-13)


@pytest.mark.parametrize("nonsense", [(1,), (), (1, 0), (1, -1), (1, float("nan")), (1, float("inf"))])
def test_parameters_must_be_positive(nonsense: tuple[float, ...]) -> None:
    with pytest.raises(dc.DeclarationError):
        Dirichlet(nonsense)


def test_distributions_of_different_size_are_not_compared() -> None:
    with pytest.raises(dc.DeclarationError):
        hellinger(Dirichlet((1, 1)), Dirichlet((1, 1, 1)))


def test_counts_are_summarised() -> None:
    law = CountDistribution(3, np.array([0.2, 0.5, 0.3]))
    assert law.mean == pytest.approx(4.1)
    assert law.interval(0.5) == (4, 5)


@pytest.mark.parametrize("size", [3, 24, 5_000])
def test_a_quantile_takes_few_steps(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's method does not leave a root that it has reached; halving from there on took about fifty steps."""
    counts = np.arange(size + 1, dtype=np.float64)
    weights = np.exp(-0.5 * np.abs(counts - size // 4))
    mixture = BetaMixture(weights / weights.sum(), counts + 1, size + 1 - counts)
    steps, cdf = 0, BetaMixture.cdf

    def counted(law: BetaMixture, x: ArrayLike) -> Floats:
        nonlocal steps
        steps += 1
        return cdf(law, x)

    monkeypatch.setattr(BetaMixture, "cdf", counted)
    for probability in np.linspace(0.01, 0.5, 50):
        steps = 0
        mixture.logit_quantile(probability)
        assert steps <= 15
