"""What draws cost: the least epsilon of the power that is used, rho of normal draws, roots that know their records."""

from fractions import Fraction
from math import erf, exp, sqrt

import numpy as np
import pytest
from scipy.stats import beta

import discreet as dc
from discreet.draws import NetworkSampling, PosteriorSampling
from discreet.draws._network_loss import NodeCurve, composed_draws, least_epsilon
from discreet.privacy import pure_rho

MEAN = dc.NormalMean("x", low=-1, high=1, variance=1, bands=50, outside="usual")
HEAVY = dc.Categories("x", levels=(0, 1), outside=0, prior=40)


def normal_delta(epsilon: float, mu: float) -> float:
    def below(z: float) -> float:
        return (1 + erf(z / sqrt(2))) / 2

    return below(mu / 2 - epsilon / mu) - exp(epsilon) * below(-mu / 2 - epsilon / mu)


def beta_delta(epsilon: float, first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return sup_S P(S) - e^epsilon Q(S) of two Beta laws by sums over a fine grid of the logit."""
    z = np.linspace(-6, 6, 60_001)
    x = 1 / (1 + np.exp(-z))
    p, q = (beta.pdf(x, *law) * x * (1 - x) for law in (first, second))
    return float(np.maximum(0, p - exp(epsilon) * q).sum() * (z[1] - z[0]))


@pytest.mark.parametrize(("draws", "power"), [(1, 1), (20, 1), (3, "0.4")])
def test_normal_draws_cost_half_a_squared_shift_and_need_no_delta(draws: int, power: object) -> None:
    mechanism = PosteriorSampling(MEAN, 100, 30, "1e-6", power=power, draws=draws)  # type: ignore[arg-type]
    mu = MEAN.gaussian_privacy(100, Fraction(str(power)))
    assert float(mechanism.rho) == pytest.approx(draws * mu**2 / 2, rel=1e-8)
    assert float(mechanism.rho) >= draws * mu**2 / 2 * (1 - 1e-12)
    assert mechanism.rho_delta() == 0
    for order in (1.5, 7.0):  # D_a of Normal(0, 1) from Normal(mu, 1), integrated
        z = np.linspace(-40, 40, 400_001)
        p, q = -(z**2) / 2, -((z - mu) ** 2) / 2
        divergence = np.log(np.exp(order * p + (1 - order) * q).sum() * (z[1] - z[0]) / sqrt(2 * np.pi)) / (order - 1)
        assert divergence * draws <= order * float(mechanism.rho) * (1 + 1e-7)


def test_a_power_of_one_that_costs_less_is_charged_less() -> None:
    mechanism = PosteriorSampling.tempered(MEAN, size=100, epsilon=1, delta="1e-6")
    assert mechanism.power == 1
    cost = float(mechanism.guarantee.epsilon)
    mu = MEAN.gaussian_privacy(100)
    assert normal_delta(cost, mu) <= 1e-6 < normal_delta(cost * (1 - 3e-6), mu)
    assert cost == pytest.approx(0.811844, abs=1e-6)
    assert dc.verify(mechanism).guarantee.epsilon == mechanism.guarantee.epsilon


def test_the_cost_of_a_draw_of_shares_is_the_least_epsilon() -> None:
    mechanism = PosteriorSampling.tempered(HEAVY, size=30, epsilon=5, delta="1e-4")
    cost = float(mechanism.guarantee.epsilon)
    pairs = [((40 + k + 1, 40 + 29 - k), (40 + k, 40 + 30 - k)) for k in range(30)]  # the other way round is 29 - k
    deltas = [beta_delta(cost, *pair) for pair in pairs]
    assert max(deltas) <= 1e-4 * (1 + 1e-5)
    assert beta_delta(cost * 0.9999, *pairs[int(np.argmax(deltas))]) > 1e-4
    assert mechanism.rho == pure_rho(mechanism.guarantee.epsilon)
    assert mechanism.rho_delta() == mechanism.delta > 0


def test_a_calibrated_power_is_charged_what_is_stated() -> None:
    for mechanism in (
        PosteriorSampling.tempered(HEAVY.with_prior(1), size=100, epsilon=1, delta="1e-6"),
        PosteriorSampling.truncated(HEAVY.with_prior(1), size=100, epsilon=1),
    ):
        assert mechanism.guarantee.epsilon == 1


def test_truncated_draws_with_a_capped_power_cost_their_range() -> None:
    mechanism = PosteriorSampling.truncated(HEAVY, size=100, epsilon=9, least="0.2")
    assert float(mechanism.guarantee.epsilon) == pytest.approx(2 * np.log(4), abs=1e-5)
    assert float(mechanism.guarantee.epsilon) >= 2 * np.log(4)
    assert mechanism.rho == mechanism.guarantee.epsilon**2 / 8


def test_a_ledger_is_charged_the_cost(tmp_path: object) -> None:
    ledger = dc.Ledger.create(f"{tmp_path}/draws.ledger", epsilon=3, delta="1e-5")
    mechanism = PosteriorSampling.tempered(MEAN, size=100, epsilon=1, delta="1e-6")
    dc.publish(mechanism, MEAN.statistics({"x": [0.5] * 100}), ledger, "mean")
    assert ledger.spent == dc.Budget(mechanism.guarantee.epsilon, Fraction(1, 10**6))


def test_a_root_that_knows_its_records_costs_less_and_what_a_coin_costs() -> None:
    one = dc.Network.from_edges("a", levels={"a": (0, 1)}, outside=0, prior=20)
    now = NetworkSampling.plain(one, size=50, delta="1e-4")
    allowed, universal = Fraction("1e-4"), {NodeCurve.universal(Fraction(20)): 1}
    of_any_node = least_epsilon(composed_draws(universal, Fraction(1), allowed), allowed)
    coin = PosteriorSampling(dc.Categories("a", (0, 1), outside=0, prior=20), 50, 5, "1e-4")
    assert float(now.guarantee.epsilon) == pytest.approx(float(coin.guarantee.epsilon), rel=1e-3)
    assert now.guarantee.epsilon >= coin.guarantee.epsilon * Fraction(999_999, 10**6)
    assert float(now.guarantee.epsilon) < 0.95 * float(of_any_node)


def test_two_roots_and_an_arrow_stay_above_what_is_integrated() -> None:
    """P x P against Q x Q on a grid of two shares: the largest over all pairs of counts of both roots."""
    two = dc.Network.from_edges("a", "b", levels={"a": (0, 1), "b": (0, 1)}, outside=0, prior=5)
    mechanism = NetworkSampling.plain(two, size=3, delta="0.01")
    z = np.linspace(-9, 9, 1201)
    x = 1 / (1 + np.exp(-z))

    def law(k: int) -> np.ndarray:
        return np.asarray(beta.pdf(x, 5 + k, 8 - k) * x * (1 - x) * (z[1] - z[0]))

    epsilon, worst = float(mechanism.guarantee.epsilon), 0.0
    for k in range(3):
        for j in range(3):
            for first, second in (((k, k + 1), (j, j + 1)), ((k, k + 1), (j + 1, j))):
                p, q = np.outer(law(first[0]), law(second[0])), np.outer(law(first[1]), law(second[1]))
                worst = max(worst, *(float(np.maximum(0, a - exp(epsilon) * b).sum()) for a, b in ((p, q), (q, p))))
    assert 0.9 * 0.01 <= worst <= 0.01 * (1 + 1e-6)
