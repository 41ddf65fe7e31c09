"""The reproductions of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014) have the digits written about them."""

from fractions import Fraction
from itertools import pairwise, product
from math import exp, inf, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, binom, gamma, multinomial

import discreet as dc
from discreet.draws import bernoulli_rate, gaussian_delta, largest_divergence
from discreet.draws._lipschitz import KAPPA, OMEGA, divergence_of_range
from discreet.draws._privacy_curves import neighbour_divergence
from discreet_papers import Outcome, Reproduction, reproduction_named, reproductions
from discreet_papers.distinguish import draws_needed
from discreet_papers.paper_002 import PAPER_002, lemma_2, lemma_4, lemma_5, lemma_6, lemma_7
from discreet_papers.paper_002 import algorithm_1 as algorithm
from discreet_papers.paper_002 import definition_2 as definition
from discreet_papers.paper_002 import theorem_1_lipschitz as coin
from discreet_papers.paper_002 import theorem_1_stochastic as waiting
from discreet_papers.paper_002.constants import series_bound
from discreet_papers.paper_002.lemma_3 import slope as waiting_slope
from discreet_papers.paper_002.theorem_2_lipschitz import exact_epsilon
from discreet_papers.paper_002.theorem_2_stochastic import variation

OWN = [reproduction for reproduction in reproductions() if reproduction.paper == PAPER_002]


def outcome(name: str) -> Outcome:
    return reproduction_named(name).run(True)


def row(found: Outcome, **where: Any) -> dict[str, Any]:
    return next(row for row in found.rows if all(row[key] == value for key, value in where.items()))


@pytest.mark.parametrize("reproduction", OWN, ids=lambda reproduction: reproduction.name)
def test_rows_share_their_keys_in_a_quick_and_a_full_run(reproduction: Reproduction) -> None:
    for quick in (True, False):
        found = reproduction.run(quick)
        assert len({tuple(row) for row in found.rows}) == 1
        assert found.verdict.endswith(".")


def test_omega_and_kappa_have_fourteen_digits() -> None:
    found = outcome("002-constants")
    assert row(found, constant="omega")["certified"][:20] == "1.256431208626169676"
    assert float(row(found, constant="kappa")["certified"]) == pytest.approx(4.91081496456826, abs=5e-15)
    assert all(each["certified"].startswith(each["printed"]) for each in found.rows)
    assert all(each["error_of_the_library"] < 2e-14 for each in found.rows)
    assert series_bound(OMEGA) == pytest.approx(KAPPA, rel=1e-14)
    assert min(series_bound(OMEGA - 0.01), series_bound(OMEGA + 0.01)) > KAPPA


def test_privacy_under_a_distance_carries_over_if_epsilon_or_delta_is_zero() -> None:
    for found in outcome("002-definition-2").rows:
        assert found["pure_epsilon"] <= found["pure_allowed"] + 1e-12
        assert found["variation"] <= found["variation_allowed"] + 1e-12
        assert found["records_that_differ"] == 1 or found["delta"] > found["delta_allowed"]
    assert definition.holds_in_two_steps() == (True, True, False)


def test_the_epsilon_at_a_distance_is_the_largest_log_ratio_on_a_grid() -> None:
    theta = np.linspace(0.2, 0.8, 20_001)
    laws = [theta**k * (1 - theta) ** (6 - k) for k in range(7)]
    logs = [np.log(law / np.trapezoid(law, theta)) for law in laws]
    for distance in (1, 3):
        largest = max(np.abs(a - b).max() for a, b in zip(logs, logs[distance:], strict=False))
        assert definition.pure_epsilon(distance) == pytest.approx(largest, abs=1e-6)


def test_lemma_1_has_a_factor_too_many() -> None:
    for found in outcome("002-lemma-1").rows:
        assert found["largest_slope"] == pytest.approx(log(4), rel=1e-12)
        assert found["library"] == pytest.approx(log(4), rel=1e-12)
        assert found["lemma"] == pytest.approx(found["records"] * log(4), rel=1e-12)


def test_the_distance_of_sequences_is_at_most_the_sum() -> None:
    logs = {0: log(0.2), 1: log(0.8)}

    def distances(x: tuple[int, ...], y: tuple[int, ...]) -> tuple[float, float]:
        apart = [logs[a] - logs[b] for a, b in zip(x, y, strict=True)]
        return abs(sum(apart)), sum(map(abs, apart))

    assert distances((1, 1, 1), (0, 0, 0)) == pytest.approx((3 * log(4), 3 * log(4)))  # printed: 9 ln 4
    assert distances((1, 0, 1), (0, 1, 1)) == pytest.approx((0, 2 * log(4)))  # log ratios cancel


def test_theorem_1_holds_under_assumption_1() -> None:
    found = outcome("002-theorem-1-lipschitz")
    assert all(each["divergence"] <= each["bounded_range"] <= each["theorem"] for each in found.rows)
    assert row(found, records=1)["bounded_range"] == pytest.approx(0.8731, abs=5e-5)


@pytest.mark.parametrize("size", [1, 4])
def test_the_divergence_of_the_coin_is_that_of_integrating(size: int) -> None:
    def law(k: int) -> Any:
        mass = quad(lambda t: t**k * (1 - t) ** (size - k), 0.2, 0.8)[0]
        return lambda t: t**k * (1 - t) ** (size - k) / mass

    laws = [law(k) for k in range(size + 1)]
    pairs = [*pairwise(laws), *pairwise(laws[::-1])]
    found = max(quad(lambda t, p=p, q=q: p(t) * log(p(t) / q(t)), 0.2, 0.8)[0] for p, q in pairs)
    assert coin.divergence(size) == pytest.approx(found, rel=1e-9)


def test_marginal_densities_are_close_under_assumption_1() -> None:
    for size in (1, 5, 50):
        assert np.abs(np.diff(coin.log_masses(size))).max() <= coin.odds()


def test_theorem_1_fails_under_assumption_2() -> None:
    found = row(outcome("002-theorem-1-stochastic"), records=10)
    assert found["divergence"] == pytest.approx(1049.23, abs=5e-3)
    assert found["theorem"] == pytest.approx(491.08, abs=5e-3)


def test_the_mean_under_the_prior_is_no_divergence() -> None:
    def log_ratio(theta: float) -> float:  # of Gamma(3, 1) and Gamma(3, 3): two waiting times of 0, or one of 2
        return float(gamma.logpdf(theta, 3) - gamma.logpdf(theta, 3, scale=1 / 3))

    under_posterior = quad(lambda t: gamma.pdf(t, 3) * log_ratio(t), 0, 100)[0]
    under_prior = quad(lambda t: exp(-t) * log_ratio(t), 0, 100)[0]
    assert waiting.divergence(2, 2, 1) == pytest.approx(under_posterior, rel=1e-8)
    assert waiting.prior_average(2, 2, 1) == pytest.approx(under_prior, rel=1e-8)
    assert under_prior < 0 < under_posterior
    assert waiting.prior_average(10, 100, 1) == pytest.approx(49.23, abs=5e-3)


def test_the_sum_over_pieces_bounds_neither_mean() -> None:
    stated = KAPPA * 100  # rho = 100, c = 1
    assert waiting.divergence(10, 100, 1) > stated  # under the posterior
    assert -waiting.prior_average(200, 100, 1) > stated  # under the prior, x and y exchanged
    assert 201 * log(101) > OMEGA * 100  # the marginal densities, on the first piece


def test_one_draw_of_a_coin_costs_nearly_what_theorem_2_allows() -> None:
    found = outcome("002-theorem-2-lipschitz").rows
    assert [each["exact_epsilon"] for each in found] == sorted(each["exact_epsilon"] for each in found)
    assert all(each["exact_epsilon"] < each["theorem"] for each in found)
    assert exact_epsilon(1000) == pytest.approx(2 * log(4), abs=0.006)


def test_theorem_2_fails_under_assumption_2() -> None:
    found = row(outcome("002-theorem-2-stochastic"), records=1000)
    assert found["variation"] == pytest.approx(0.868322, abs=5e-7)
    assert found["theorem"] == pytest.approx(0.495521, abs=5e-7)


def test_the_variation_of_waiting_times_is_that_of_integrating() -> None:
    def gap(theta: float) -> float:
        return float(abs(gamma.pdf(theta, 11) - gamma.pdf(theta, 11, scale=1 / 1.1))) / 2

    assert variation(10) == pytest.approx(quad(gap, 0, 60, limit=200)[0], abs=1e-7)


def test_a_session_ends_when_its_budget_is_gone() -> None:
    found = outcome("002-algorithm-1")
    assert "gave 4 answers" in found.verdict
    assert "2 of 2 is already spent (ledger.db). Nothing was published" in found.verdict


def test_what_many_draws_of_a_mean_cost() -> None:
    found = outcome("002-algorithm-1")
    for each in found.rows:
        mu = algorithm.MODEL.gaussian_privacy(algorithm.SIZE) * sqrt(each["answers"])
        assert gaussian_delta(each["exact_epsilon"], mu) == pytest.approx(1e-6, rel=1e-6)
        assert each["exact_epsilon"] <= each["added_epsilon"] + 1e-9
    assert row(found, answers=1)["exact_epsilon"] == pytest.approx(1.0493, abs=5e-5)


def test_lemma_2_holds_and_needs_few_parts() -> None:
    for found in outcome("002-lemma-2").rows:
        assert (found["parts"] <= lemma_2.most_parts(found["delta"])) == found["allowed"]
        assert (found["chance_beyond"] <= found["delta"]) == found["allowed"]


def test_the_law_of_the_distance_is_that_of_enumeration() -> None:
    allowed = sqrt(3 / 20 * log(16))
    two = [k for k in range(21) if 2 * abs(k / 20 - 0.25) > allowed]
    assert lemma_2.beyond((5, 15), 1 / 16) == pytest.approx(np.sum(binom.pmf(two, 20, 0.25)), rel=1e-9)
    three = [(a, b, 12 - a - b) for a in range(13) for b in range(13 - a)]
    far = [k for k in three if abs(np.array(k) - [3, 3, 6]).sum() / 12 > sqrt(3 / 12 * log(2))]
    exact = np.sum(multinomial.pmf(far, 12, [0.25, 0.25, 0.5]))
    assert lemma_2.beyond((3, 3, 6), 0.5) == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("parts", [1, 2, 3, 6])
def test_the_last_step_of_lemma_2(parts: int) -> None:
    delta = 4.0**-parts  # the largest for which this many parts are allowed
    assert lemma_2.most_parts(delta) == parts
    assert (2**parts - 2) * delta**1.5 <= exp(parts * log(2) - 1.5 * log(1 / delta)) <= delta * (1 + 1e-12)


def test_theorem_3_runs_the_wrong_way() -> None:
    found = row(outcome("002-theorem-3"), records=1_000_000)
    assert found["enough_by_the_theorem"] == pytest.approx(0.0162, abs=5e-5)
    assert found["divergence"] == pytest.approx(2.0e-6, rel=1e-5)
    assert found["best_test_about"] == pytest.approx(0.504, abs=5e-5)
    assert found["best_test_at_most"] == pytest.approx(0.505, abs=5e-5)
    assert found["draws_needed_at_least"] == 1_324_999


def test_equation_14_runs_the_wrong_way_too() -> None:
    """A prior Beta(1, 1), a million tosses, one replaced, 100 draws: 'enough' is far below the distance of 1."""
    enough = 3 * bernoulli_rate(1).rate * log(20) / (2 * KAPPA * 100)
    assert enough == pytest.approx(0.00458, abs=5e-6)
    right = 0.5 + sqrt(100 * neighbour_divergence(500_001, 500_000) / 2) / 2  # at most, by Pinsker
    assert right < 0.506 < 0.95


def test_smoother_likelihoods_need_more_draws() -> None:
    bounds = [draws_needed(divergence_of_range(2 * constant), 0.05) for constant in (1.0, 0.5, 0.1)]
    priors = [draws_needed(largest_divergence((a, a), 100), 0.05) for a in (1.0, 5.0, 20.0, 100.0)]
    assert bounds == sorted(bounds)
    assert priors == sorted(priors)


def test_a_coin_without_bounds_has_no_lipschitz_constant() -> None:
    slopes = [abs(log(theta / (1 - theta))) for theta in (0.1, 1e-3, 1e-9)]
    assert slopes == sorted(slopes)
    assert slopes[-1] > 20


def test_assumption_1_does_not_imply_assumption_2() -> None:
    found = row(outcome("002-lemma-4"), reading=lemma_4.CENTRE, L=0.4)
    assert found["prior_mass"] == 0 < found["needed"]
    assert lemma_4.slope(0.3, 2.0) == pytest.approx(0.5)


def test_the_log_ratio_is_a_metric_with_infinite_values() -> None:
    def distance(a: float, b: float) -> float:
        return 0.0 if a == b else inf if 0 in (a, b) else abs(log(a / b))

    numbers = (0.0, 1e-6, 0.3, 1.0, 40.0)
    for a, b, c in product(numbers, repeat=3):
        assert distance(a, b) == pytest.approx(distance(b, a))
        assert distance(a, c) <= distance(a, b) + distance(b, c) + 1e-12
    assert distance(0, 1) == inf


def test_the_natural_parameter_enters_by_its_size() -> None:
    theta = 0.1
    eta = log(theta / (1 - theta))  # T(x) = x, rho = |x - y|
    assert abs(log(theta) - log(1 - theta)) == pytest.approx(abs(eta))
    assert eta < 0  # so that L / eta would never be at least 1


def test_lemma_3_holds_with_equality() -> None:
    for found in outcome("002-lemma-3").rows:
        assert found["prior_mass"] == pytest.approx(found["needed"], abs=1e-15)
        assert waiting_slope(found["L"]) == pytest.approx(found["L"], rel=1e-12)


def test_lemma_4_holds_in_one_reading() -> None:
    for found in outcome("002-lemma-4").rows:
        enough = found["prior_mass"] >= found["needed"] - 1e-15
        assert enough == (found["reading"] == lemma_4.INVERSE_SCALE or found["L"] >= 0.5)


def test_lemma_5_has_a_square_root() -> None:
    found = outcome("002-lemma-5")
    for prior, digits in {1: 0.5, 2: 0.75, 10: 1.76197, 100: 5.63485}.items():
        assert row(found, prior=prior)["c"] == pytest.approx(digits, abs=5e-6)
        assert row(found, prior=prior)["c_by_search"] == pytest.approx(digits, rel=2e-3)
    for shape in (1.0, 7.5):  # c is the density of |logit theta| at zero
        step = 1e-6
        mass = beta.cdf(0.5 + step / 4, shape, shape) - beta.cdf(0.5 - step / 4, shape, shape)
        assert bernoulli_rate(shape).rate == pytest.approx(mass / step, rel=1e-6)


@pytest.mark.parametrize("trials", [2, 5, 10])
def test_lemma_5_fails_for_binomial_numbers(trials: int) -> None:
    assert lemma_5.least_slope(trials) == pytest.approx(log(trials), rel=1e-9)
    logs = binom.logpmf(np.arange(trials + 1), trials, 0.5)
    assert np.abs(np.diff(logs)).max() == pytest.approx(log(trials), rel=1e-9)


def test_lemma_6_needs_the_precision() -> None:
    found = outcome("002-lemma-6")
    assert row(found, L=10.0)["prior_on_variance"] == pytest.approx(0.95123, abs=5e-6)
    assert row(found, L=10.0)["needed"] == pytest.approx(0.99995, abs=5e-6)
    assert all(each["prior_on_precision"] >= each["needed"] for each in found.rows)
    assert max(lemma_6.slope(mean, 3.0) for mean in (-1.0, 0.0, 0.7, 1.0)) <= 1.5 + 1e-12
    assert lemma_6.slope(4.0, 3.0) > 1.5  # beyond |mu| = 1 the constant grows


def test_lemma_7_holds_for_whole_records_only() -> None:
    for found in outcome("002-lemma-7").rows:
        assert found["slope"] == pytest.approx((found["features"] + 1) * log(4), rel=1e-12)
        assert found["lemma_with_entries"] < found["slope"] <= found["lemma_with_joint_atoms"]
        assert found["largest_log_ratio"] == pytest.approx(found["library_half_range"], rel=1e-12)
    assert lemma_7.largest_slopes(1)[0] == pytest.approx(2.773, abs=5e-4)


def test_pinsker_and_data_processing_hold() -> None:
    generator = np.random.default_rng(2)
    for _ in range(300):
        p, q = generator.dirichlet(np.full(5, 0.5), size=2) + 1e-9
        apart = np.abs(p - q).sum()
        assert p @ np.log(p / q) - p.sum() + q.sum() >= apart**2 / 2 - 1e-8
        assert np.abs([p[:2].sum() - q[:2].sum(), p[2:].sum() - q[2:].sum()]).sum() <= apart + 1e-12


def test_the_range_of_theorem_2_is_what_the_library_charges() -> None:
    fall = dc.Categories("fall", levels=("no", "yes"), outside="no")
    mechanism = dc.PosteriorSampling(fall, size=10, epsilon="2.7726", least=Fraction(1, 5))
    assert mechanism.power == 1
    with pytest.raises(dc.DeclarationError, match="above the stated"):
        dc.PosteriorSampling(fall, size=10, epsilon="2.7725", least=Fraction(1, 5))
