"""The universal pair of a node, and losses of many nodes and draws added up, against slow and obvious twins."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc
from scipy.stats import gamma

from discreet._core.errors import DeclarationError
from discreet.draws import gaussian_delta, posterior_draw_delta
from discreet.draws._loss import certified_draw_delta
from discreet.draws._network_loss import (
    NodeCurve,
    composed_draws,
    composed_draws_about,
    integrated_draw_delta,
    least_epsilon,
)

DELTA = Fraction(1, 10**6)


@pytest.mark.parametrize(("prior", "power"), [(1.0, 1.0), (2.5, 1.0), (1.5, 0.4)])
@pytest.mark.parametrize("epsilon", [0.0, 0.7])
def test_the_pair_of_gamma_numbers_has_the_curve_of_a_beta_pair(prior: float, power: float, epsilon: float) -> None:
    first, second = gamma(prior + power), gamma(prior)
    edge = np.exp(-epsilon / power)  # the loss power * ln(x / y) exceeds epsilon where y < edge * x

    def gap(x: float) -> float:
        return float(first.pdf(x) * second.cdf(edge * x) - np.exp(epsilon) * second.pdf(x) * first.cdf(edge * x))

    found = quad(gap, 0, 60, epsabs=1e-10, limit=200)[0]
    assert posterior_draw_delta(epsilon, prior, prior, power) == pytest.approx(found, abs=1e-8)


def rounded(prior: float, power: float, times: int, step: float, up: bool) -> float:
    """Return epsilon at delta = 1e-6 with every loss rounded up, or down, to a fine grid: one convolution at a time."""
    edges = step * np.arange(-round(26 / step / prior**0.5), round(26 / step / prior**0.5) + 1)
    below = betainc(prior + power, prior, 1 / (1 + np.exp(-edges / power)))  # P(loss <= edge)
    law, losses = np.diff(below), edges[1:] if up else edges[:-1]
    total, first = np.ones(1), times * losses[0]
    for _ in range(times):
        total = np.convolve(total, law)
    sums = first + step * np.arange(len(total))
    low, high = 0.0, float(sums[-1])
    for _ in range(60):
        middle = (low + high) / 2
        above = sums > middle
        delta = float(total[above] @ -np.expm1(middle - sums[above])) + times * 1e-11 * up
        low, high = (middle, high) if delta > 1e-6 else (low, middle)
    return high


@pytest.mark.parametrize(("prior", "power", "times"), [(1, "1", 3), (4, "1", 5), (1, "0.3", 4)])
def test_composed_losses_lie_between_those_rounded_down_and_those_rounded_up(
    prior: int, power: str, times: int
) -> None:
    found = least_epsilon(composed_draws({NodeCurve.universal(Fraction(prior)): times}, Fraction(power), DELTA), DELTA)
    low, high = (rounded(prior, float(power), times, 0.01 * float(power), up) for up in (False, True))
    assert low < found < high
    assert found == pytest.approx((low + high) / 2, rel=2e-3)


@pytest.mark.parametrize(("prior", "digits"), [(1, 50.1918), (10, 10.0537), (100, 2.6718), (500, 1.1103)])
def test_seventeen_nodes_have_their_digits(prior: int, digits: float) -> None:
    """Naive Bayes with 16 features: a pessimistic grid of 1e-3 gives 50.20, 10.07, 2.69 and 1.13."""
    curve = composed_draws({NodeCurve.universal(Fraction(prior)): 17}, Fraction(1), DELTA)
    assert least_epsilon(curve, DELTA) == pytest.approx(digits, abs=1e-4)
    about = composed_draws_about({NodeCurve.universal(Fraction(prior)): 17}, Fraction(1), DELTA)
    assert curve(Fraction(1)) == pytest.approx(about(Fraction(1)), rel=1e-9)


def test_nodes_with_different_priors_are_added_on_one_lattice() -> None:
    def epsilon(nodes: dict[int, int]) -> float:
        curve = composed_draws({NodeCurve.universal(Fraction(s)): n for s, n in nodes.items()}, Fraction(1), DELTA)
        return least_epsilon(curve, DELTA)

    mixed = epsilon({2: 2, 20: 3})
    assert epsilon({20: 5}) < mixed < epsilon({2: 5})
    assert epsilon({2: 2}) < mixed < epsilon({2: 2}) + epsilon({20: 3})
    assert epsilon({2: 2, 2000: 1}) == pytest.approx(epsilon({2: 2}), rel=1e-2)


def test_many_draws_are_bounded_on_a_coarser_lattice() -> None:
    def epsilon(times: int) -> float:
        return least_epsilon(composed_draws({NodeCurve.universal(Fraction(2500)): times}, Fraction(1), DELTA), DELTA)

    # each loss has mean 1/s and variance 2/s: their sum is nearly normal, mu = (500 * 2 / 2500)^(1/2)
    low, high = 0.0, 10.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, 0.4**0.5) > 1e-6 else (low, middle)
    assert epsilon(500) == pytest.approx(high, rel=0.02)
    with pytest.raises(DeclarationError, match="rounding errors of Fourier transforms"):
        epsilon(20_000)


def test_draws_without_a_guarantee_are_refused() -> None:
    with pytest.raises(DeclarationError, match="Raise delta or the prior"):
        least_epsilon(composed_draws({NodeCurve.universal(Fraction(1, 1000)): 5}, Fraction(1), DELTA), DELTA)


@pytest.mark.parametrize("prior", [1000, 20_000])
@pytest.mark.parametrize("power", [Fraction(1), Fraction(1, 50)], ids=str)
def test_quadrature_gives_the_curve_of_incomplete_beta_functions(prior: int, power: Fraction) -> None:
    """The slow twin sums series whose length grows with the prior; both round up, so they agree to 2^-40 or so."""
    for step in (0.0, 0.3, 1.0, 4.0, 9.0):
        epsilon = Fraction(step * float(power) / prior**0.5)
        slow = certified_draw_delta(epsilon, Fraction(prior), Fraction(prior), power)
        assert integrated_draw_delta(epsilon, Fraction(prior), power) == pytest.approx(slow, rel=1e-11)


def test_strong_priors_are_certified_as_well() -> None:
    """Beyond 10^9 the curve of 10^9 is used, which lies above."""
    for prior, found in ((1e5, 0.02556), (1e7, 0.0020447), (1e9, 0.00014251), (1e12, 0.00014251)):
        curve = composed_draws({NodeCurve.universal(Fraction(prior)): 3}, Fraction(1), Fraction(1, 10**6))
        assert least_epsilon(curve, Fraction(1, 10**6)) == pytest.approx(found, rel=1e-3)


def test_more_records_only_lower_a_curve_so_that_a_bound_may_leave_some_out() -> None:
    sizes = (2, 30, 1000, 10**6, 10**8)
    falling = [NodeCurve(Fraction(1), Fraction(2), size).certified(Fraction(1), Fraction(1, 2)) for size in sizes]
    assert falling == sorted(falling, reverse=True)
    assert falling[-2] == pytest.approx(falling[-1], rel=1e-5)
    assert NodeCurve(Fraction(1), Fraction(2), 10**12).at_most() == NodeCurve(Fraction(1), Fraction(2), 10**6)
    assert NodeCurve(Fraction(1), Fraction(2), 30).at_most() == NodeCurve(Fraction(1), Fraction(2), 30)
