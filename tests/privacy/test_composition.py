"""What many releases cost together: pinned figures, slow twins, and nothing rounded in our favour."""

from fractions import Fraction
from math import comb, exp, log, tanh

import numpy as np
import pytest
from scipy.signal import fftconvolve
from scipy.stats import binom

import discreet as dc
from discreet.privacy import PrivacyLoss, calibrated_variance, compose, gaussian_loss, zcdp_epsilon, zcdp_limit
from discreet.privacy._composition import loss_epsilon

COIN = dc.Categories("x", levels=("no", "yes"), outside="no")
ABC = dc.Categories("x", levels=("a", "b", "c"), outside="a")


def exact_delta_of_coins(epsilon: float, each: float, times: int) -> float:
    """Return the delta of randomised response repeated, a binomial sum: the slow twin of the convolution."""
    up = 1 / (1 + exp(-each))
    losses = each * (2 * np.arange(times + 1) - times)
    gains = np.where(losses > epsilon, -np.expm1(epsilon - losses), 0.0)
    return float(binom.pmf(np.arange(times + 1), times, up) @ gains)


def test_a_hundred_releases_of_a_tenth() -> None:
    totals = compose([dc.GeometricHistogram(COIN, size=100, epsilon="0.1")] * 100, "1e-6")
    assert totals.basic == 10
    assert float(totals.advanced) == pytest.approx(5.75611, abs=1e-5)
    assert float(totals.zcdp) == pytest.approx(5.2194, abs=1e-3)
    assert float(totals.planned) == pytest.approx(4.7752, abs=1e-3)
    assert totals.best[0] == "planned"


@pytest.mark.parametrize(("each", "times"), [("0.1", 100), ("0.5", 8), ("1", 3), ("0.03", 400)])
def test_the_numerical_total_is_above_the_exact_one_and_close_to_it(each: str, times: int) -> None:
    loss = dc.GeometricHistogram(COIN, size=9, epsilon=each).privacy_loss()
    epsilon = float(loss_epsilon([loss] * times, "1e-6"))
    assert exact_delta_of_coins(epsilon, float(each), times) <= 1e-6
    assert exact_delta_of_coins(epsilon * 0.998, float(each), times) > 1e-6


def test_different_mechanisms_compose() -> None:
    parts = [
        dc.GeometricHistogram(ABC, size=9, epsilon="0.4"),
        dc.tables.DiscreteLaplaceCounts(ABC, size=9, epsilon="0.6"),
        dc.tables.DiscreteGaussianCounts(ABC, size=9, epsilon="0.5", delta="1e-7"),
    ]
    totals = compose(parts, "1e-6")
    losses = [part.privacy_loss() for part in parts]
    grid = np.zeros(1)
    step = 0.0005
    for loss in losses:  # a slow convolution on a grid, every loss rounded down: a lower bound
        places = np.floor(np.array([float(value) for value in loss.losses]) / step).astype(int) + 30_000
        table = np.zeros(60_001)
        np.add.at(table, places, loss.probabilities)
        grid = np.maximum(0.0, fftconvolve(grid, table)) if grid.size > 1 else table
    values = (np.arange(grid.size) - 30_000 * len(losses)) * step
    lower = float(grid @ np.where(values > float(totals.planned), -np.expm1(float(totals.planned) - values), 0.0))
    assert lower <= 1e-6
    assert float(totals.planned) < float(totals.basic) == 1.5


@pytest.mark.parametrize("epsilon", ["0.01", "0.3", "1", "4", "12"])
def test_rho_of_randomised_response_is_its_divergence_at_order_one(epsilon: str) -> None:
    number = float(Fraction(epsilon))
    rho = float(PrivacyLoss.worst_case(Fraction(epsilon)).rho)
    assert number * tanh(number / 2) <= rho <= number * tanh(number / 2) * (1 + 2e-4) <= number**2 / 2 * (1 + 2e-4)


def test_zcdp_converts_both_ways() -> None:
    for rho, delta in (("0.001", "1e-9"), ("0.05", "1e-6"), ("2", "1e-3")):
        epsilon = zcdp_epsilon(rho, delta)
        assert float(zcdp_limit(epsilon, delta)) == pytest.approx(float(Fraction(rho)), rel=1e-4)
        assert zcdp_epsilon(zcdp_limit(epsilon, delta), delta) <= epsilon
        plain = float(Fraction(rho)) + 2 * (float(Fraction(rho)) * log(1 / float(delta))) ** 0.5
        assert 0.7 * plain < epsilon < plain  # the textbook conversion is looser


def test_zcdp_of_a_gaussian_is_above_its_exact_curve() -> None:
    for epsilon in ("0.2", "1", "3"):
        mechanism = dc.tables.DiscreteGaussianCounts(COIN, size=9, epsilon=epsilon, delta="1e-6")
        assert zcdp_epsilon(mechanism.rho, "1e-6") >= mechanism.epsilon
        assert zcdp_epsilon(mechanism.rho, "1e-6") < mechanism.epsilon * Fraction(115, 100)


def test_the_gaussian_at_one_and_a_millionth_is_pinned() -> None:
    assert calibrated_variance(Fraction(1), Fraction(1, 10**6), 2, False) == Fraction("35.7203")
    assert calibrated_variance(Fraction(1), Fraction(1, 10**6), 2, True) == Fraction("35.799")
    found = gaussian_loss(Fraction("35.7203"), 2, False).delta_at(1)
    assert 0.9999e-6 < found <= 1e-6


def direct_gaussian_delta(variance: float, epsilon: float, far: int = 80) -> float:
    """Return the delta of two independent discrete Gaussians by summing over both: the obvious twin."""
    u = np.arange(-far, far + 1)
    law = np.exp(-(u**2) / (2 * variance))
    law /= law.sum()
    joint = law[:, None] * law
    losses = (u[:, None] - u + 1) / variance
    return float((joint * -np.expm1(np.minimum(0.0, epsilon - losses))).sum())


@pytest.mark.parametrize("variance", ["0.2", "1", "3", "35.7203"])
def test_the_gaussian_curve_is_the_plain_double_sum(variance: str) -> None:
    for epsilon in (0.1, 1.0, 2.5):
        exact = gaussian_loss(Fraction(variance), 2, False).delta_at(epsilon)
        assert exact == pytest.approx(direct_gaussian_delta(float(variance), epsilon), rel=1e-8, abs=1e-18)


def test_a_loss_from_a_curve_is_nowhere_below_it() -> None:
    loss = dc.tables.DiscreteLaplaceCounts(ABC, size=9, epsilon="2").privacy_loss()
    epsilons = list(np.linspace(0, 2, 9))
    copy = PrivacyLoss.from_curve(epsilons, [loss.delta_at(e) for e in epsilons])
    for epsilon in np.linspace(0, 2.2, 60):
        assert copy.delta_at(float(epsilon)) >= loss.delta_at(float(epsilon)) * (1 - 1e-12)
    for epsilon in epsilons:
        assert copy.delta_at(float(epsilon)) == pytest.approx(loss.delta_at(float(epsilon)), rel=1e-6, abs=1e-12)
    assert loss_epsilon([copy] * 20, "1e-6") >= loss_epsilon([loss] * 20, "1e-6")


def test_units_of_several_rows_cost_more_by_every_rule() -> None:
    parts = [dc.GeometricHistogram(COIN, size=9, epsilon="0.1")] * 20
    one, three = compose(parts, "1e-6"), compose(parts, "1e-6", rows=3)
    assert three.basic == 3 * one.basic
    assert three.rho == 9 * one.rho
    assert three.planned > 2.5 * one.planned


def test_where_a_rule_says_nothing_it_is_infinite() -> None:
    parts = [dc.tables.DiscreteGaussianCounts(COIN, size=9, epsilon="1", delta="1e-5")] * 2
    totals = compose(parts, "1e-6")
    assert totals.basic == float("inf") == totals.advanced
    assert totals.zcdp < float("inf")
    assert totals.document()["basic"] is None
    pure = compose([dc.GeometricHistogram(COIN, size=9, epsilon="1")] * 2, 0)
    assert (pure.basic, pure.best) == (2, ("basic", Fraction(2)))


def test_groups_cost_their_largest_or_their_two_largest() -> None:
    promised = [dc.Guarantee("0.5"), dc.Guarantee("0.3", "1e-6"), dc.Guarantee("0.4")]
    secret = dc.privacy.across_groups(promised)
    assert (secret.epsilon, secret.delta) == (Fraction(9, 10), Fraction(1, 10**6))
    assert secret.adjacency is dc.privacy.Adjacency.REPLACE_OR_EXCHANGE
    public = dc.privacy.across_groups(promised, dc.privacy.Adjacency.REPLACE_WITHIN_GROUP)
    assert (public.epsilon, public.adjacency) == (Fraction(1, 2), dc.privacy.Adjacency.REPLACE_WITHIN_GROUP)
    with pytest.raises(dc.DeclarationError, match="at least one"):
        dc.privacy.across_groups([])


def test_two_groups_of_secret_membership_really_cost_the_sum() -> None:
    """Move a record from group A to B and another from B to A: the joint loss is the sum of both epsilons."""
    first, second = (dc.GeometricHistogram(COIN, size=2, epsilon=e) for e in ("0.5", "0.4"))
    before, after = (np.array([2, 0]), np.array([0, 2])), (np.array([1, 1]), np.array([1, 1]))
    outputs = (np.array([2, 0]), np.array([0, 2]))
    losses = [
        float(m.log_prob(z, b) - m.log_prob(z, a))
        for m, z, b, a in zip((first, second), outputs, before, after, strict=True)
    ]
    assert sum(losses) == pytest.approx(0.9)


def test_plans_state_the_least_cost_and_refuse_nonsense() -> None:
    cheap = dc.GeometricHistogram(COIN, size=9, epsilon="0.1")
    assert dc.Plan([cheap] * 3).guarantee.epsilon == Fraction(3, 10)
    plan = dc.Plan([cheap] * 100, delta="1e-6")
    assert plan.guarantee.evidence is dc.privacy.Evidence.ENUMERATED
    assert plan.guarantee.delta == Fraction(1, 10**6)
    assert len(plan) == 100
    for wrong in ([], [1], None, cheap):
        with pytest.raises((dc.DeclarationError, TypeError)):
            dc.Plan(wrong)  # type: ignore[arg-type]
    with pytest.raises(dc.DeclarationError, match="larger delta"):
        dc.Plan([dc.tables.DiscreteGaussianCounts(COIN, size=9, epsilon="1", delta="1e-5")] * 2)


def test_binomial_identity_used_by_the_slow_twin() -> None:
    up = 1 / (1 + exp(-0.5))
    by_hand = sum(
        comb(2, j) * up**j * (1 - up) ** (2 - j) * max(0.0, 1 - exp(0.2 - 0.5 * (2 * j - 2))) for j in range(3)
    )
    assert exact_delta_of_coins(0.2, 0.5, 2) == pytest.approx(by_hand)


def test_equal_mechanisms_are_asked_once_for_what_they_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0
    loss = dc.GeometricHistogram.privacy_loss

    def counted(mechanism: dc.GeometricHistogram) -> PrivacyLoss:
        nonlocal asked
        asked += 1
        return loss(mechanism)

    monkeypatch.setattr(dc.GeometricHistogram, "privacy_loss", counted)
    parts = [dc.GeometricHistogram(COIN, size=100, epsilon="0.1") for _ in range(100)]
    together = compose(parts, "1e-6")
    few = asked
    asked = 0
    one_by_one = compose([dc.GeometricHistogram(COIN, size=100 + k, epsilon="0.1") for k in range(100)], "1e-6")
    assert few <= asked / 50
    assert together == one_by_one
