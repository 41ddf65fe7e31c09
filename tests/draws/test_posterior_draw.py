"""The exact curve of one posterior draw: pinned digits, slow twins, and what holds over all neighbours."""

from fractions import Fraction
from functools import partial
from itertools import product
from math import exp, log
from typing import Any

import numpy as np
import pytest
from flint import ctx
from scipy.stats import beta, gamma, norm

import discreet as dc
from counted_work import calls_of
from discreet._core.exact import ball
from discreet.draws import certified_pair_delta, gamma_poisson_delta, gaussian_delta, posterior_draw_delta
from discreet.draws._composition import LatticeLoss, composed_curve, dominating_loss
from discreet.draws._loss import (
    _by_series,
    _enclosed,
    certified_draw_delta,
    certified_two_cell_delta,
    exponential_delta,
    renyi_divergence,
    two_cell_delta,
)
from discreet.mathematics.distributions._certified import CertifiedBeta, CertifiedGamma, CertifiedNormal
from discreet.privacy import PrivacyLoss, last_that_fits

F = Fraction
PINNED = [
    (1, 1, 1, 1, 0.26894142137),
    (1, 1, 10, 1, 0.17578412079894),
    (1, 1, 100, 1, 0.16458510569911),
    (1, 5, 104, 1, 0.0089077453814081),
    (1, 20, 119, 1, 1.2367209905692e-5),
    (0.5, 20, 119, 1, 0.0031403880891348),
    (1, 1, 100, 0.5, 0.034568206593744),
    (1, 104, 5, 1, 0.0010138263597534),
]


def hockey_stick_by_integration(epsilon: float, first: Any, second: Any, low: float, high: float) -> float:
    """Integrate max(0, p - e^epsilon q) over a million cells: nothing but two densities is used."""
    width = (high - low) / 1_000_000
    middles = low + width * (np.arange(1_000_000) + 0.5)
    return float(np.maximum(0.0, first.pdf(middles) - exp(epsilon) * second.pdf(middles)).sum() * width)


@pytest.mark.parametrize(("epsilon", "s", "t", "power", "digits"), PINNED)
def test_pinned_digits(epsilon: float, s: float, t: float, power: float, digits: float) -> None:
    assert posterior_draw_delta(epsilon, s, t, power) == pytest.approx(digits, rel=2e-11)
    certified = certified_draw_delta(F(epsilon), F(s), F(t), F(power))
    assert certified == pytest.approx(digits, rel=2e-11)


def test_the_curve_at_one_and_one_is_a_logistic_function() -> None:
    assert posterior_draw_delta(epsilon=1.0, alpha=1.0, beta=1.0) == pytest.approx(1 / (1 + exp(1)), rel=1e-14)


@pytest.mark.parametrize(("epsilon", "s", "t", "power"), [(0.5, 2, 3, 1), (1, 3.5, 7, 0.5), (0.2, 1.5, 1.5, 0.3)])
def test_the_curve_is_what_integrating_two_densities_gives(epsilon: float, s: float, t: float, power: float) -> None:
    slow = hockey_stick_by_integration(epsilon, beta(s, t + power), beta(s + power, t), 0, 1)
    assert posterior_draw_delta(epsilon, s, t, power) == pytest.approx(slow, abs=1e-8)


def test_the_second_form_saves_what_the_first_would_lose() -> None:
    generator = np.random.default_rng(11)
    for _ in range(60):
        s, t = np.round(10 ** generator.uniform(-1.3, 3, 2), 3)
        power, epsilon = round(float(generator.uniform(0.05, 1)), 3), round(float(generator.uniform(0.01, 4)), 3)
        given = F(epsilon), F(float(s)), F(float(t)), F(power)
        with ctx.workprec(1000):
            true = _enclosed(*(ball(number) for number in given))
        assert true.rel_accuracy_bits() > 60
        assert posterior_draw_delta(epsilon, s, t, power) == pytest.approx(float(true.mid()), abs=2e-12)
        assert float(true.lower()) <= certified_draw_delta(*given) <= float(true.upper()) * (1 + 1e-10) + 2.0**-200
    assert posterior_draw_delta(4, 0.05, 0.05, 0.1) == pytest.approx(0.0684, abs=1e-4)


def test_certified_values_are_never_below_the_true_ones() -> None:
    for epsilon, s, t, power, _ in PINNED:
        coarse = certified_draw_delta(F(epsilon), F(s), F(t), F(power))
        assert coarse >= posterior_draw_delta(epsilon, s, t, power) * (1 - 1e-11)


def test_larger_priors_are_more_private() -> None:
    generator = np.random.default_rng(5)
    for _ in range(200):
        s, t = 10 ** generator.uniform(-1, 2, 2)
        power, epsilon, more = generator.uniform(0.1, 1), generator.uniform(0.05, 2), generator.uniform(0.1, 3)
        here = posterior_draw_delta(epsilon, s, t, power)
        assert posterior_draw_delta(epsilon, s + more, t, power) <= here + 1e-12
        assert posterior_draw_delta(epsilon, s, t + more, power) <= here + 1e-12


@pytest.mark.parametrize(
    ("size", "a", "b", "power"), [(1, 1, 1, 1), (7, 1, 3, 1), (40, "0.3", 2, "0.4"), (90, 20, 20, 1)]
)
def test_best_first_search_finds_the_worst_of_all_pairs(size: int, a: Any, b: Any, power: Any) -> None:
    first, second, tau = F(a), F(b), F(power)
    every = [
        max(certified_draw_delta(F(1, 2), x, y, tau), certified_draw_delta(F(1, 2), y, x, tau))
        for x, y in ((first + k * tau, second + (size - 1 - k) * tau) for k in range(size))
    ]
    assert max(every) <= certified_two_cell_delta(F(1, 2), first, second, size, tau) <= max(every) * (1 + 2.0**-39)
    coarse = certified_two_cell_delta(F(1, 2), first, second, size, tau, tolerance=0.1)
    assert max(every) <= coarse <= max(every) * 1.1001
    assert two_cell_delta(0.5, float(first), float(second), size, float(tau)) == pytest.approx(max(every), rel=1e-9)


def test_the_worst_of_two_cells_is_found_at_an_end() -> None:
    """Not proved, so not relied upon: 300 random settings, all counts compared."""
    generator = np.random.default_rng(8)
    for _ in range(300):
        a, b = 10 ** generator.uniform(-1, 1.5, 2)
        power, epsilon, size = generator.uniform(0.05, 1), generator.uniform(0.05, 2), int(generator.integers(1, 60))
        more = (size - 1) * power
        ends = posterior_draw_delta(epsilon, np.array([a, b]), np.array([b + more, a + more]), power)
        assert two_cell_delta(epsilon, a, b, size, power) == pytest.approx(ends.max(), rel=1e-9, abs=1e-14)


def test_a_hundred_thousand_records_are_certified_with_few_evaluations() -> None:
    certified_draw_delta.cache_clear()
    found = certified_two_cell_delta(F(1), F("24.2"), F("24.2"), 100_000, F(1))
    assert found == pytest.approx(two_cell_delta(1, 24.2, 24.2, 100_000), rel=1e-9)
    assert certified_draw_delta.cache_info().misses < 100


def test_other_families_have_their_pinned_digits() -> None:
    assert gamma_poisson_delta(1, 5, 1) == pytest.approx(0.0082272277960333, rel=1e-12)
    assert gaussian_delta(1, 1) == pytest.approx(0.12693673750664, rel=1e-12)
    assert gaussian_delta(1, 0.23670438066344) == pytest.approx(1e-6, rel=1e-9)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_other_families_agree_with_integration_and_with_balls(epsilon: float) -> None:
    cases: list[Any] = [
        (
            gamma_poisson_delta(epsilon, 3, 2),
            CertifiedGamma(F(3), F(1)),
            CertifiedGamma(F(5), F(1)),
            gamma(3),
            gamma(5),
            0,
            60,
        ),
        (
            exponential_delta(epsilon, 6, 1.5),
            CertifiedGamma(F(6), F(1)),
            CertifiedGamma(F(6), F(3, 2)),
            gamma(6),
            gamma(6, scale=1 / 1.5),
            0,
            60,
        ),
        (
            gaussian_delta(epsilon, 0.7),
            CertifiedNormal(F(0), F(1)),
            CertifiedNormal(F(7, 10), F(1)),
            norm(0),
            norm(0.7),
            -15,
            15,
        ),
    ]
    for closed, one, two, first, second, low, high in cases:
        ways = [hockey_stick_by_integration(epsilon, *pair, low, high) for pair in ((first, second), (second, first))]
        assert closed == pytest.approx(max(ways), abs=1e-8)
        certified = certified_pair_delta(F(epsilon), one, two)
        assert closed * (1 - 1e-11) <= certified <= closed * (1 + 1e-9) + 1e-15


def test_the_general_curve_agrees_with_the_closed_one_for_beta_laws() -> None:
    general = certified_pair_delta(F(1), CertifiedBeta(F(1), F(11)), CertifiedBeta(F(2), F(10)))
    assert general == pytest.approx(0.17578412079894, rel=1e-12)


def test_a_loss_that_cannot_reach_epsilon_has_no_delta_that_way() -> None:
    bounded = certified_pair_delta(
        F(2), CertifiedGamma(F(2), F(1)), CertifiedGamma(F(2), F(11, 10))
    )  # ln 1.21 = 0.19 one way
    assert bounded == pytest.approx(exponential_delta(2, 2, 1.1), abs=1e-12)


def test_the_dominating_loss_is_nowhere_below_the_curve() -> None:
    def curve(epsilon: Fraction) -> float:
        return certified_two_cell_delta(epsilon, F(3), F(5), 30, F(1))

    loss = dominating_loss(curve, 1e-9, F(1)).loss
    for epsilon in np.linspace(0, 6, 61):
        exact, bound = curve(F(float(epsilon))), loss.delta_at(F(float(epsilon)))
        assert exact <= bound <= exact * 1.02 + 1e-8
    assert loss.delta_at(1) == pytest.approx(curve(F(1)), rel=1e-9)


def test_composition_is_what_adding_losses_one_by_one_gives() -> None:
    loss = PrivacyLoss((F(1), F(1, 4), F(-1, 2)), (0.5, 0.3, 0.2), 0.001)
    values, chances = [1.0, 0.25, -0.5], [0.5, 0.3, 0.2]
    for times in (1, 2, 5):
        slow = times * 0.001
        for places in product(range(3), repeat=times):
            total, chance = sum(values[p] for p in places), float(np.prod([chances[p] for p in places]))
            slow += chance * max(0.0, 1 - exp(0.7 - total))
        fast = composed_curve(LatticeLoss(loss, F(1, 4)), times)(F(7, 10))
        assert slow * (1 - 1e-12) <= fast <= slow * (1 + 1e-8)


def test_many_draws_of_a_concentrated_posterior() -> None:
    """One, ten and a hundred draws of Beta(20, 20), n = 100, at delta = 1e-6: 1.19, 3.80 and 14.2, rounded up here."""
    loss = dominating_loss(lambda e: certified_two_cell_delta(e, F(20), F(20), 100, F(1)), 1e-11)
    for times, epsilon in ((1, 1.19), (10, 3.80), (100, 14.2)):
        curve = composed_curve(loss, times)
        needed = last_that_fits(lambda e, curve=curve: log(curve(F(e)) / 1e-6), 40.0, 0.1)  # type: ignore[misc]
        assert needed == pytest.approx(epsilon, rel=0.015)


def test_the_renyi_divergence_has_its_pinned_digits_and_an_end() -> None:
    assert renyi_divergence(2, 20, 119) == pytest.approx(0.059661544058067, rel=1e-11)
    assert renyi_divergence(2.0, 1.0, 5.0) == float("inf")
    x = (np.arange(1_000_000) + 0.5) / 1_000_000
    slow = np.log((beta(3, 5).pdf(x) ** 2.5 * beta(4, 4).pdf(x) ** -1.5).mean()) / 1.5
    assert renyi_divergence(2.5, 3, 4) == pytest.approx(slow, rel=1e-5)
    with pytest.raises(dc.DeclarationError, match="above 1"):
        renyi_divergence(1, 2, 2)


@pytest.mark.parametrize(
    ("epsilon", "s", "t", "power", "digits"),
    [
        (12.867, 0.0027061, 0.24888, 0.016218, 0.07241433233),
        (30, 0.001, 0.001, 0.01, 0.04148996785),
        (800, 0.001, 1, 1, 0.44623580529),
        (650, 1000, 1000, 500, 3.12436212746e-98),
        (27.376, 162.42, 0.0077, 6.307, None),
    ],
)
def test_small_priors_and_large_epsilons_do_not_vanish_in_floats(
    epsilon: float, s: float, t: float, power: float, digits: float | None
) -> None:
    certified = certified_draw_delta(F(epsilon), F(s), F(t), F(power))
    assert posterior_draw_delta(epsilon, s, t, power) == pytest.approx(certified, rel=1e-11)
    if digits is not None:
        assert certified == pytest.approx(digits, rel=1e-10)


def test_the_series_for_large_parameters_is_an_upper_bound_and_sharp() -> None:
    generator = np.random.default_rng(5)
    compared = 0
    for _ in range(30):
        s, t = 10 ** generator.uniform(2, 4.5, 2)
        given = (F(10 ** generator.uniform(-4, 0)), F(s), F(t), F(10 ** generator.uniform(-2, 0)))
        fast = _by_series(*given)
        with ctx.workprec(512):
            slow = _enclosed(*(ball(number) for number in given))
            if fast is not None and slow > 1e-250:
                compared += 1
                assert slow <= fast <= slow * (1 + 1e-9)
    assert compared > 10


def test_no_tail_makes_a_certificate_slow() -> None:
    for given in (
        ("0.006", "750.61", "0.0016", "0.0106"),
        ("1", "90001", "1", "0.09"),
        ("0.001", "1000000", "1000000", "1"),
    ):
        numbers = [F(number) for number in given]
        assert calls_of(partial(certified_draw_delta, *numbers)) < 1_000  # fewer than 200


@pytest.mark.parametrize("delta", [1e-6, 1e-9, 1e-12, 1e-15])
def test_a_loss_from_a_curve_adds_next_to_nothing_at_its_points(delta: float) -> None:
    epsilon = last_that_fits(lambda e: log(gaussian_delta(e, 0.5) / delta), 10.0, 0.01)
    pair = CertifiedNormal(F(0), F(4)), CertifiedNormal(F(1), F(4))
    stated = certified_pair_delta(F(epsilon), *pair)
    loss = dominating_loss(lambda e: certified_pair_delta(e, *pair), delta / 1000, F(epsilon)).loss
    assert stated <= loss.delta_at(F(epsilon)) <= stated * (1 + 1e-12)


@pytest.mark.parametrize(("times", "delta"), [(4, 1e-6), (4, 1e-12), (50, 1e-12), (1000, 1e-9)])
def test_composed_draws_of_a_normal_law_are_nearly_one_draw_of_smaller_variance(times: int, delta: float) -> None:
    """The exact answer is known here: chords may add one part in a hundred of epsilon, and the transform nothing."""
    mu = 0.3 / times**0.5
    pair = CertifiedNormal(F(0), F(1)), CertifiedNormal(F(mu), F(1))
    single = dominating_loss(lambda e: certified_pair_delta(e, *pair), delta / (1000 * times))
    curve = composed_curve(single, times)
    needed = last_that_fits(lambda e: log(curve(F(e)) / delta), 10.0, 0.01)
    exact = last_that_fits(lambda e: log(gaussian_delta(e, 0.3) / delta), 10.0, 0.01)
    assert exact * (1 - 1e-4) <= needed <= exact * 1.01
    for epsilon in (0.0, 0.3, exact):
        assert curve(F(epsilon)) >= gaussian_delta(epsilon, 0.3) * (1 - 1e-3)


def test_nonsense_is_refused() -> None:
    with pytest.raises(dc.DeclarationError, match="above 0"):
        posterior_draw_delta(1.0, 0.0, 1.0)
    with pytest.raises(dc.DeclarationError, match="Raise epsilon or delta"):
        last_that_fits(lambda _: 1.0, 1.0, 2.0)
