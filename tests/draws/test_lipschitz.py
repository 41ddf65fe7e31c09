"""Lipschitz constants as they really are, and the statements of 2014 that are not true."""

from fractions import Fraction
from itertools import pairwise, product
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy.stats import beta, expon

import discreet as dc
from discreet.draws import _lipschitz as lipschitz
from discreet.draws import bernoulli_rate, categories_lipschitz
from discreet.draws._lipschitz import (
    KAPPA,
    OMEGA,
    categories_range,
    divergence_of_range,
    network_range,
    network_rate,
    normal_rate,
    published_stochastic_epsilon,
)
from discreet.draws._lipschitz import product as product_rule
from discreet.draws._loss import exponential_delta

F = Fraction


def test_the_constants_of_theorem_one() -> None:
    assert exp(OMEGA) == pytest.approx(2 * OMEGA + 1, rel=1e-14)
    assert pytest.approx(4.91081496456826, rel=1e-13) == KAPPA
    assert pytest.approx((2 * OMEGA + 1) ** 2 / (2 * OMEGA), rel=1e-13) == KAPPA


@pytest.mark.parametrize(("length", "digits"), [(0.5, 0.0311421), (1, 0.1233016), (2, 0.4744746)])
def test_divergence_of_a_bounded_range(length: float, digits: float) -> None:
    assert divergence_of_range(length) == pytest.approx(digits, abs=5e-8)
    assert divergence_of_range(length) <= length**2 / 8


def test_no_two_laws_of_bounded_range_diverge_more() -> None:
    generator = np.random.default_rng(3)
    for _ in range(500):
        q, losses = generator.dirichlet(np.ones(4)), generator.uniform(0, 1.3, 4)
        p = q * np.exp(losses)
        p /= p.sum()
        assert p @ np.log(p / q) <= divergence_of_range(float(np.ptp(losses))) + 1e-12


def test_the_range_is_rounded_up_and_attained_in_the_limit() -> None:
    assert float(categories_range(2, F(1, 5))) == pytest.approx(2 * log(4), rel=1e-15)
    assert categories_range(2, F(1, 5)) > F(2 * log(4)) - F(1, 10**15)
    assert categories_lipschitz(3, F(1, 10)).epsilon() == pytest.approx(2 * log(8), rel=1e-14)
    with pytest.raises(dc.DeclarationError, match="below 1/3"):
        categories_range(3, F(1, 3))


def test_network_cost_is_at_record_level() -> None:
    """Seventeen yes/no nodes with entries of at least 0.2 cost 47.134, not 2 ln(1/0.2) = 3.219."""
    assert float(network_range([2] * 17, F(1, 5))) == pytest.approx(47.134, abs=5e-4)


def test_lemma_seven_fails_when_a_parent_changes() -> None:
    """One class with one child, entries 0.2 and 0.8: flipping the class alone moves the log probability by 2.773."""
    ratio = log((0.8 * 0.8) / (0.2 * 0.2))
    assert ratio == pytest.approx(2.773, abs=5e-4)
    assert ratio > log(1 / 0.2)


def test_network_rate_is_the_statement_of_the_lemma() -> None:
    least = network_rate([1.0, 1.0, 1.0], 2.0)
    assert least == pytest.approx(1 - log(3) / 2, rel=1e-14)
    assert exp(-least * 2) == pytest.approx(3 * exp(-2), rel=1e-12)  # the union bound, exactly


@pytest.mark.parametrize(("prior", "digits"), [(1, 0.5), (2, 0.75), (10, 1.76197), (100, 5.63485)])
def test_the_bernoulli_constant_grows_like_a_square_root(prior: float, digits: float) -> None:
    rate = bernoulli_rate(prior).rate
    assert rate == pytest.approx(digits, abs=5e-6)
    for length in np.linspace(0.01, 8, 200):
        inside = beta.cdf(1 / (1 + exp(-length)), prior, prior) - beta.cdf(1 / (1 + exp(length)), prior, prior)
        assert inside >= 1 - exp(-rate * length) - 1e-12


def test_lemma_six_fails_for_a_prior_on_the_variance_and_holds_for_one_on_the_precision() -> None:
    assert expon.sf(1 / 20) == pytest.approx(0.95123, abs=5e-6)  # P(1 / (2 variance) <= 10)
    assert expon.sf(1 / 20) < 1 - exp(-10)
    for length in (0.1, 1.0, 10.0):
        assert expon.cdf(2 * length) >= 1 - exp(-normal_rate(1.0).rate * length) - 1e-15


def test_products_keep_their_constant() -> None:
    one = categories_lipschitz(2, F(1, 5))
    many = product_rule(one)
    assert many.constant == one.constant
    for theta in (0.2, 0.5, 0.8):
        logs = {0: log(1 - theta), 1: log(theta)}
        for x, y in product(product((0, 1), repeat=3), repeat=2):
            distance = sum(a != b for a, b in zip(x, y, strict=True))
            assert abs(sum(logs[a] for a in x) - sum(logs[b] for b in y)) <= many.constant * distance + 1e-12


def test_theorem_one_part_two_is_false() -> None:
    """Waiting times, theta ~ Exp(1), ten zeros against one record 100: divergence 1049.23, stated at most 491.08."""
    divergence = 11 * log(1 / 101) + 11 * 100  # Gamma(11, 1) against Gamma(11, 101)
    stated, _ = published_stochastic_epsilon(lipschitz.exponential_rate(1.0).rate, 100)
    assert divergence == pytest.approx(1049.23, abs=0.005)
    assert stated == pytest.approx(491.08, abs=0.005)
    assert divergence > stated


def test_theorem_two_part_two_is_false() -> None:
    """A thousand zeros against one record 0.1: total variation 0.868322, stated at most 0.495521."""
    variation = exponential_delta(0, 1001, 1.1)
    _, stated = published_stochastic_epsilon(1.0, 0.1)
    assert variation == pytest.approx(0.868322, abs=5e-7)
    assert stated == pytest.approx(0.495521, abs=5e-7)
    assert variation > stated


def test_theorems_one_and_two_part_one_hold_on_a_truncated_coin() -> None:
    """All posteriors of up to six records on a fine grid of theta in [0.2, 0.8]."""
    theta = np.linspace(0.2, 0.8, 401)
    constant = categories_lipschitz(2, F(1, 5))
    laws = [theta**k * (1 - theta) ** (6 - k) for k in range(7)]
    laws = [law / law.sum() for law in laws]
    for one, two in pairwise(laws):
        for p, q in ((one, two), (two, one)):
            assert np.log(p / q).max() <= constant.epsilon() + 1e-12
            assert p @ np.log(p / q) <= constant.divergence() <= 2 * constant.constant


def test_simple_constants() -> None:
    assert lipschitz.exponential_lipschitz(3.0).constant == 3.0
    assert lipschitz.laplace_location(4.0).constant == 0.25
    assert lipschitz.laplace_rate(2.0).rate == 2.0
    assert published_stochastic_epsilon(2.0)[1] == pytest.approx(sqrt(KAPPA / 4))
    with pytest.raises(dc.DeclarationError):
        bernoulli_rate(0.5)
    with pytest.raises(dc.DeclarationError):
        normal_rate(1.0, largest_mean=2.0)
