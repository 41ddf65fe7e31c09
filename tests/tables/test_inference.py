"""Noise-aware inference against brute force, and against numbers found independently."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.stats import beta as beta_law
from scipy.stats import kstest

import discreet as dc
from discreet.mathematics.distributions._sampled import Sampled
from discreet.mechanism import sized
from discreet.privacy import compositions
from discreet.tables import NoisyCounts

Floats = NDArray[np.float64]
KINDS: tuple[type[NoisyCounts], ...] = (dc.GeometricHistogram, dc.tables.DiscreteLaplaceCounts)


def model_of(levels: int, prior: float | tuple[float, ...] = 1) -> dc.Categories:
    return dc.Categories("x", levels=tuple("abcdefghij"[:levels]), prior=prior, outside="a")


class BruteForce:
    """The slow twin: all tables of counts, weighed one by one."""

    def __init__(self, *releases: dc.Release) -> None:
        model, size = releases[0].model, sized(releases[0].mechanism).size
        self.tables = np.array(list(compositions(size, len(model.cells))))
        logs = model.log_evidence(self.tables)
        for release in releases:
            logs = logs + release.mechanism.log_prob(release.counts, self.tables)
        self.log_evidence = float(np.logaddexp.reduce(logs))
        self.weights: Floats = np.exp(logs - self.log_evidence)
        self.parameters = model.concentration + self.tables

    def mean(self) -> Floats:
        return np.asarray(self.weights @ (self.parameters / self.parameters[0].sum()))

    def cdf(self, places: list[int], x: float) -> float:
        inside = self.parameters[:, places].sum(axis=1)
        return float(self.weights @ beta_law.cdf(x, inside, self.parameters[0].sum() - inside))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", ["0.05", "0.5", "1", "4"])
@pytest.mark.parametrize("prior", [1, 0.01, 40, (0.5, 3, 20)])
def test_inference_equals_enumeration_at_three_levels_and_thirty_records(
    kind: type[NoisyCounts], epsilon: str, prior: float
) -> None:
    release = dc.simulate(kind(model_of(3, prior), size=30, epsilon=epsilon), (20, 9, 1), dc.SeededBits(3))
    posterior, oracle = dc.infer(release), BruteForce(release)
    counts = posterior.solutions[0].counts
    for place in range(3):
        dense = np.zeros(31)
        used, weights = counts.sum_of(np.array([place]))
        dense[used] = weights
        assert np.abs(dense - np.bincount(oracle.tables[:, place], oracle.weights, minlength=31)).max() < 1e-12
    assert np.abs(np.array(list(posterior.mean.values())) - oracle.mean()).max() < 1e-12
    assert posterior.log_evidence == pytest.approx(oracle.log_evidence, abs=1e-11)
    for place, interval in enumerate((row.low, row.high) for row in posterior.rows(0.9)):
        for end, probability in zip(
            interval, (0.05, 0.95), strict=True
        ):  # right up to the last digit of the end itself
            assert oracle.cdf([place], end * (1 - 4e-16)) <= probability + 1e-10
            assert oracle.cdf([place], min(1.0, end * (1 + 4e-16))) >= probability - 1e-10


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(KINDS),
    st.integers(1, 12),
    st.lists(st.floats(1e-3, 50), min_size=2, max_size=4),
    st.fractions(min_value="1/20", max_value=5, max_denominator=50),
    st.integers(0, 10**6),
)
def test_any_small_release_is_read_as_enumeration_reads_it(
    kind: type[NoisyCounts], size: int, prior: list[float], epsilon: float, seed: int
) -> None:
    model = model_of(len(prior), tuple(prior))
    table = np.random.default_rng(seed).multinomial(size, np.full(len(prior), 1 / len(prior)))
    release = dc.simulate(kind(model, size=size, epsilon=epsilon), table, dc.SeededBits(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        posterior, oracle = dc.infer(release), BruteForce(release)
    assert np.abs(np.array(list(posterior.mean.values())) - oracle.mean()).max() < 1e-11
    assert posterior.log_evidence == pytest.approx(oracle.log_evidence, abs=1e-9)


@pytest.mark.parametrize("output", [(-40, 60, 10), (200, -100, -70), (0, 0, 30), (-5, -5, 40)])
def test_outputs_far_outside_the_possible_counts_are_read_exactly(output: tuple[int, ...]) -> None:
    release = dc.Release(dc.GeometricHistogram(model_of(3), size=30, epsilon="0.7"), output, "far out", simulated=True)
    posterior, oracle = dc.infer(release), BruteForce(release)
    assert np.abs(np.array(list(posterior.mean.values())) - oracle.mean()).max() < 1e-11
    independent = dc.Release(
        dc.tables.DiscreteLaplaceCounts(model_of(3), size=30, epsilon="0.7"), output, "far", simulated=True
    )
    posterior, oracle = dc.infer(independent), BruteForce(independent)
    assert np.abs(np.array(list(posterior.mean.values())) - oracle.mean()).max() < 1e-11


@pytest.fixture(scope="module")
def crossed() -> tuple[dc.tables.CategoriesPosterior, BruteForce]:
    model = dc.Categories(
        ("ward", "fall"),
        levels={"ward": ("A", "B"), "fall": ("no", "yes")},
        prior=(1, 0.5, 2, 1),
        outside={"ward": "A", "fall": "no"},
    )
    release = dc.simulate(dc.GeometricHistogram(model, size=20, epsilon="1"), (8, 2, 7, 3), dc.SeededBits(5))
    return dc.infer(release), BruteForce(release)


def test_events_of_several_cells_are_exact(crossed: tuple[dc.tables.CategoriesPosterior, BruteForce]) -> None:
    posterior, oracle = crossed
    falls = posterior.probability("fall=yes")
    for x in (0.05, 0.2, 0.5):
        assert float(falls.cdf(x)) == pytest.approx(oracle.cdf([1, 3], x), abs=1e-12)
    assert posterior.probability_that("fall=yes > 0.2") == pytest.approx(1 - oracle.cdf([1, 3], 0.2), abs=1e-12)
    assert posterior.probability_that("20% > fall=yes") == pytest.approx(oracle.cdf([1, 3], 0.2), abs=1e-12)


def test_conditional_probabilities_are_exact(crossed: tuple[dc.tables.CategoriesPosterior, BruteForce]) -> None:
    posterior, oracle = crossed
    law = posterior.conditional("fall=yes", given="ward=A")
    for x in (0.05, 0.3, 0.7):
        exact = oracle.weights @ beta_law.cdf(x, oracle.parameters[:, 1], oracle.parameters[:, 0])
        assert float(law.cdf(x)) == pytest.approx(float(exact), abs=1e-12)


def test_comparisons_between_cells_are_exact(crossed: tuple[dc.tables.CategoriesPosterior, BruteForce]) -> None:
    posterior, oracle = crossed
    exact = oracle.weights @ beta_law.sf(0.5, oracle.parameters[:, 3], oracle.parameters[:, 1])
    assert posterior.probability_that("ward=B, fall=yes > ward=A, fall=yes") == pytest.approx(float(exact), abs=1e-12)
    assert posterior.probability_that("fall=yes < ward=B") == pytest.approx(
        float(oracle.weights @ beta_law.cdf(0.5, oracle.parameters[:, 1], oracle.parameters[:, 2])), abs=1e-12
    )
    twice = oracle.weights @ beta_law.sf(2 / 3, oracle.parameters[:, 3], oracle.parameters[:, 1])
    assert posterior.probability_that("ward=B, fall=yes > 2 * ward=A, fall=yes") == pytest.approx(
        float(twice), abs=1e-12
    )
    assert posterior.ratio("ward=B, fall=yes", "ward=A, fall=yes").probability_above(2) == pytest.approx(float(twice))
    assert float(posterior.probability_that("fall=yes <= fall=yes")) == 0
    assert float(posterior.probability_that("ward=A > ward=A, fall=yes")) == 1


def test_draws_follow_the_exact_joint_posterior(crossed: tuple[dc.tables.CategoriesPosterior, BruteForce]) -> None:
    posterior, _ = crossed
    draws = posterior.draws(20_000, seed=4)["theta"]
    assert draws.shape == (20_000, 4)
    assert np.allclose(draws.sum(axis=1), 1)
    for place in range(4):
        marginal = posterior.probability(posterior.model.cells[place])
        assert kstest(marginal.cdf(draws[:, place]), "uniform").pvalue > 1e-3
    share = draws[:, 1] / (draws[:, 0] + draws[:, 1])
    law = posterior.conditional("fall=yes", given="ward=A")
    assert kstest(law.cdf(share), "uniform").pvalue > 1e-3
    assert (posterior.draws(5, seed=1)["theta"] == posterior.draws(5, seed=1)["theta"]).all()


def test_contrasts_between_groups_agree_with_weighted_tables(
    crossed: tuple[dc.tables.CategoriesPosterior, BruteForce],
) -> None:
    posterior, oracle = crossed
    generator = np.random.default_rng(6)
    chosen = generator.choice(len(oracle.weights), size=100_000, p=oracle.weights / oracle.weights.sum())
    gammas = generator.standard_gamma(oracle.parameters[chosen])
    theta = gammas / gammas.sum(axis=1, keepdims=True)
    risk_a, risk_b = theta[:, 1] / theta[:, :2].sum(axis=1), theta[:, 3] / theta[:, 2:].sum(axis=1)
    arguments = ("fall=yes", "ward=B", "ward=A")
    pairs: list[tuple[Sampled, Floats]] = [
        (posterior.risk_difference(*arguments), risk_b - risk_a),
        (posterior.risk_ratio(*arguments), risk_b / risk_a),
        (posterior.odds_ratio(*arguments), risk_b / (1 - risk_b) / (risk_a / (1 - risk_a))),
        (posterior.difference_distribution("ward=B", "ward=A"), theta[:, 2:].sum(axis=1) - theta[:, :2].sum(axis=1)),
    ]
    for ours, theirs in pairs:
        for probability in (0.05, 0.5, 0.95):
            assert (theirs < ours.quantile(probability)).mean() == pytest.approx(probability, abs=0.01)


def test_two_releases_of_the_same_counts_are_combined() -> None:
    model = model_of(3)
    one = dc.simulate(dc.GeometricHistogram(model, size=25, epsilon="0.5"), (12, 8, 5), dc.SeededBits(7))
    two = dc.simulate(dc.tables.DiscreteLaplaceCounts(model, size=25, epsilon="1"), (12, 8, 5), dc.SeededBits(8))
    both, oracle = dc.infer(one, two), BruteForce(one, two)
    assert np.abs(np.array(list(both.mean.values())) - oracle.mean()).max() < 1e-12
    assert both.log_evidence == pytest.approx(oracle.log_evidence, abs=1e-11)
    assert max(both.sd.values()) < max(dc.infer(one).sd.values())


def test_releases_of_different_tables_are_not_combined() -> None:
    one = dc.simulate(dc.GeometricHistogram(model_of(2), size=5, epsilon=1), (2, 3), dc.SeededBits(1))
    two = dc.simulate(dc.GeometricHistogram(model_of(2), size=6, epsilon=1), (3, 3), dc.SeededBits(1))
    with pytest.raises(dc.DeclarationError, match="do not publish the same counts"):
        dc.infer(one, two)
    with pytest.raises(dc.DeclarationError, match="one or more releases"):
        dc.infer()
    receipt = dc.ledger.Receipt(2, "0" * 64, "0" * 32)
    real = dc.Release(one.mechanism, one.output, "real", receipt=receipt)
    with pytest.raises(dc.DeclarationError, match="given twice"):
        dc.infer(real, real.with_prior(1.000001))


def test_prior_strengths_are_averaged_by_their_evidence() -> None:
    release = dc.simulate(dc.GeometricHistogram(model_of(3), size=30, epsilon=2), (28, 1, 1), dc.SeededBits(9))
    averaged = dc.infer(release, strengths=(0.2, 1, 5))
    singles = [dc.infer(release, prior=strength) for strength in (0.2, 1.0, 5.0)]
    logs = np.array([single.log_evidence for single in singles])
    weights = np.exp(logs - np.logaddexp.reduce(logs))
    assert averaged.strength_probabilities == pytest.approx(weights)
    assert averaged.mean["a"] == pytest.approx(sum(w * s.mean["a"] for w, s in zip(weights, singles, strict=True)))
    assert averaged.log_evidence == pytest.approx(np.logaddexp.reduce(logs) - np.log(3))
    draws = averaged.draws(4_000, seed=2)["theta"]
    assert draws[:, 0].mean() == pytest.approx(averaged.mean["a"], abs=4 * averaged.sd["a"] / np.sqrt(4_000))


def test_the_bayes_factor_takes_the_noise_into_account() -> None:
    """For n = 200, epsilon = 0.3, z = 130: plug-in 785, noise-aware 29."""
    mechanism = dc.GeometricHistogram(model_of(2), size=200, epsilon="0.3")
    release = dc.Release(mechanism, (130, 70), "bayes factor", simulated=True)
    noise = np.exp(-0.3 * np.abs(130 - np.arange(201))) * np.tanh(0.15)
    from scipy.stats import binom

    under_half = float(noise @ binom.pmf(np.arange(201), 200, 0.5))
    assert np.exp(dc.infer(release).log_evidence) / under_half == pytest.approx(29, abs=0.5)
    assert 1 / 201 / binom.pmf(130, 200, 0.5) == pytest.approx(785, abs=0.5)


def test_the_mean_chance_and_the_predictive_agree() -> None:
    release = dc.simulate(dc.GeometricHistogram(model_of(3), size=40, epsilon=1), (20, 15, 5), dc.SeededBits(10))
    posterior = dc.infer(release)
    law = posterior.predictive("a", records=1)
    assert law.mean == pytest.approx(posterior.mean["a"])
    many = posterior.predictive("a", records=50)
    assert many.mean == pytest.approx(50 * posterior.mean["a"])
    share: Any = posterior.probability("a")
    brute = quad(lambda x: float(np.exp(share.log_density(x))) * x**50, 0, 1)[0]
    assert many.probabilities[-1] == pytest.approx(brute, rel=1e-6)


def test_the_closest_dirichlet_has_the_same_mean_logs() -> None:
    release = dc.simulate(dc.GeometricHistogram(model_of(3), size=100, epsilon="0.5"), (60, 30, 10), dc.SeededBits(11))
    posterior = dc.infer(release)
    closest = posterior.closest_dirichlet
    for place, cell in enumerate("abc"):
        share: Any = posterior.probability(cell)
        assert closest.marginal(place).mean_log == pytest.approx(share.mean_log, abs=1e-9)
    assert 0 < posterior.equivalent_records < 100


@pytest.mark.parametrize(
    ("size", "epsilon", "expected"), [(20, 0.1, 0.4), (20, 1.0, 12.6), (100, 0.5, 63.8), (100, 1.0, 86.5)]
)
def test_mean_numbers_of_equivalent_records_are_as_measured_before(size: int, epsilon: float, expected: float) -> None:
    """Prior-predictive mean of n_eff, by exact summation over the outputs."""
    mechanism = dc.GeometricHistogram(model_of(2), size=size, epsilon=epsilon)
    reach = int(30 / epsilon)
    total, mass = 0.0, 0.0
    for z in range(-reach, size + reach + 1):
        posterior = dc.infer(dc.Release(mechanism, (z, size - z), "x", simulated=True))
        chance = np.exp(posterior.log_evidence)
        total, mass = total + chance * posterior.equivalent_records, mass + chance
    assert mass == pytest.approx(1, abs=1e-9)
    assert total == pytest.approx(expected, abs=0.06)


def test_large_sizes_lose_no_digits() -> None:
    """A million million records: the posterior of the count is the noise around the output, whatever the prior."""
    release = dc.Release(
        dc.GeometricHistogram(model_of(2, 2.5), size=10**12, epsilon=1), (4 * 10**11, 6 * 10**11), "x", simulated=True
    )
    posterior = dc.infer(release)
    count = posterior.true_count("a")
    assert count.mean == pytest.approx(4e11, abs=1e-3)
    q = np.exp(-1)
    assert count.sd == pytest.approx(np.sqrt(2 * q / (1 - q) ** 2), rel=1e-6)


def test_sparse_priors_give_no_nonsense() -> None:
    model = dc.Categories(
        ("ward", "fall"),
        levels={"ward": ("A", "B"), "fall": ("no", "yes")},
        prior=1e-3,
        outside={"ward": "A", "fall": "no"},
    )
    release = dc.simulate(dc.GeometricHistogram(model, size=50, epsilon=8), (40, 10, 0, 0), dc.SeededBits(3))
    posterior = dc.infer(release)
    for law in (posterior.risk_ratio, posterior.odds_ratio, posterior.risk_difference):
        contrast = law("fall=yes", "ward=B", "ward=A", draws=2_000)
        assert not np.isnan(contrast.draws).any()
    ratio, inverse = posterior.ratio("ward=A", "ward=B"), posterior.ratio("ward=B", "ward=A")
    assert np.log(ratio.quantile(0.5)) == pytest.approx(-np.log(inverse.quantile(0.5)), rel=1e-6)


@pytest.mark.parametrize(("size", "output"), [(10, (5, 6)), (30, (15, 15, 15))])
def test_almost_no_noise_is_read_right(size: int, output: tuple[int, ...]) -> None:
    model = model_of(len(output))
    release = dc.Release(dc.tables.DiscreteLaplaceCounts(model, size=size, epsilon=1000), output, "x", simulated=True)
    posterior = dc.infer(release)
    assert sum(posterior.mean.values()) == pytest.approx(1, abs=1e-12)
    assert np.array(list(posterior.mean.values())) == pytest.approx(BruteForce(release).mean(), abs=1e-9)


def test_large_tables_of_pairs_are_read_by_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = dc.GeometricHistogram(model_of(3), size=300, epsilon="0.2")
    release = dc.simulate(mechanism, (150, 100, 50), dc.SeededBits(4))
    exact = dc.infer(release).ratio("a", "b").interval(0.9)
    monkeypatch.setattr("discreet.inference._latent_counts._MOST_PAIRS", 10)
    assert dc.infer(release).ratio("a", "b").interval(0.9) == pytest.approx(exact, rel=0.02)


def test_two_groups_that_are_everything_need_no_pairs() -> None:
    mechanism = dc.GeometricHistogram(model_of(2), size=10**6, epsilon="0.001")
    posterior = dc.infer(dc.simulate(mechanism, (499_000, 501_000), dc.SeededBits(5)))
    exact = 1 - float(posterior.probability("b").cdf(0.5))
    assert posterior.probability_that("b > a") == pytest.approx(exact, abs=1e-9)
    assert posterior.draws(3_000, seed=1)["theta"].shape == (3_000, 2)


def test_what_is_said_of_the_information_never_exceeds_the_records() -> None:
    release = dc.simulate(dc.GeometricHistogram(model_of(2, 1e9), size=10, epsilon=5), (5, 5), dc.SeededBits(6))
    assert dc.infer(release).equivalent_records <= 10


def test_a_release_with_almost_no_information_warns() -> None:
    mechanism = dc.GeometricHistogram(model_of(2), size=20, epsilon="0.01")
    release = dc.simulate(mechanism, (1, 19), dc.SeededBits(12))
    warnings.simplefilter("always")
    with pytest.warns(dc.LittleInformationWarning, match="mostly the prior") as warned:
        dc.infer(release)
    assert [each.filename for each in warned] == [__file__], "the warning points to the line that asked"


def test_privacy_takes_a_larger_share_when_epsilon_is_small() -> None:
    shares = []
    for epsilon in ("0.05", "0.5", "5"):
        mechanism = dc.GeometricHistogram(model_of(3), size=300, epsilon=epsilon)
        shares.append(dc.infer(dc.simulate(mechanism, (150, 100, 50), dc.SeededBits(13))).privacy_share(0.9)["a"])
    assert shares[0] > 0.5 > shares[1] > shares[2]
    assert shares[2] < 0.01


def test_highest_density_intervals_are_no_longer_than_equal_tailed_ones() -> None:
    posterior = dc.infer(
        dc.simulate(dc.GeometricHistogram(model_of(3), size=50, epsilon=1), (45, 4, 1), dc.SeededBits(14))
    )
    for cell, shortest in posterior.highest_density(0.9).items():
        law = posterior.probability(cell)
        assert shortest.width <= posterior.interval(cell, 0.9).width + 1e-12
        assert float(law.cdf(shortest.high) - law.cdf(shortest.low)) == pytest.approx(0.9, abs=1e-9)


def test_synthetic_records_have_the_declared_columns_and_levels() -> None:
    model = dc.Categories(
        ("ward", "fall"), levels={"ward": ("A", "B"), "fall": (False, True)}, outside={"ward": "A", "fall": False}
    )
    posterior = dc.infer(
        dc.simulate(dc.GeometricHistogram(model, size=900, epsilon=5), (400, 100, 300, 100), dc.SeededBits(15))
    )
    rows = posterior.synthesize(5_000, seed=1)
    assert set(rows) == {"ward", "fall"}
    assert set(rows["ward"]) == {"A", "B"}
    share = sum(map(int, rows["fall"])) / 5_000
    assert share == pytest.approx(200 / 900, abs=0.06)


def test_many_cells_are_read_in_blocks_as_in_one() -> None:
    levels = tuple(f"{place:03}" for place in range(600))
    model = dc.Categories("x", levels=levels, prior=0.7, outside=levels[0])
    table = np.random.default_rng(3).multinomial(6_000, np.full(600, 1 / 600))
    release = dc.simulate(dc.GeometricHistogram(model, size=6_000, epsilon=1), table, dc.SeededBits(16))
    posterior = dc.infer(release)
    counts = posterior.solutions[0].mean_counts
    assert counts.sum() == pytest.approx(6_000, abs=1e-6)
    pair, weights = posterior.solutions[0].counts.sum_of(np.arange(600)[:2])
    assert pair @ weights == pytest.approx(counts[:2].sum(), abs=1e-8)


@pytest.mark.parametrize("level", [0, 1, -0.1, 1.5])
def test_levels_of_intervals_must_make_sense(level: float) -> None:
    posterior = dc.infer(
        dc.simulate(dc.GeometricHistogram(model_of(2), size=30, epsilon=1), (10, 20), dc.SeededBits(1))
    )
    with pytest.raises(dc.DeclarationError):
        posterior.interval(posterior.keys()[0], level)
