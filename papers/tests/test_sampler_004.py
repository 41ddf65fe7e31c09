"""The sampler and the maximum of Zhang, Rubinstein and Dimitrakakis (2016): digits, counterexamples, accuracies."""

from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pytest
from scipy.stats import kstest

import discreet as dc
from discreet.choices._maximum_posterior import utility_bound
from discreet.mathematics.distributions._certified import CertifiedBeta
from discreet.mechanism import GridDistribution
from discreet_papers import reproduction_named
from discreet_papers.paper_004.algorithm_3 import change_with_many_records
from discreet_papers.paper_004.appendix_c2 import least_loss, trimmed_mean
from discreet_papers.paper_004.lemma_4 import chances
from discreet_papers.paper_004.theorem_4 import best_bound, stochastic_constant
from discreet_papers.sampler_004 import (
    CLAIMED_MANY,
    CLAIMED_ONE,
    DRAWS,
    RECORD_MANY,
    RECORD_ONE,
    accuracies,
    claimed_least,
    record_epsilon,
    record_least,
    sampler_rows,
    scores,
    truncated_beta,
)


def test_record_and_claimed_epsilons_have_their_digits() -> None:
    for claimed, record in ((1.5, 3.762), (2, 18.405), (3, 42.416), (5, 82.088), (10, 169.770)):
        least = claimed_least(claimed)
        assert least is not None
        assert record_epsilon(least) == pytest.approx(record, abs=5e-4)
    assert claimed_least(1.386) is None
    assert record_epsilon(record_least(3.0, draws=4), draws=4) == pytest.approx(3, rel=1e-12)


def test_the_library_draws_with_the_same_least_probability() -> None:
    names = [f"x{i}" for i in range(16)]
    net = dc.Network.naive_bayes("y", names, dict.fromkeys(["y", *names], (0, 1)), outside=0)
    for draws in (1, DRAWS):
        mechanism = dc.draws.NetworkSampling.truncated(net, size=50, epsilon=3, draws=draws)
        assert float(mechanism.least) == pytest.approx(record_least(3.0, draws), rel=1e-9)


@pytest.mark.parametrize(
    ("a", "b", "least", "draws"), [(1, 51, 0.49, 15), (51, 1, 0.2, 120), (20, 30, 0.1, 120), (26, 26, 0.4926, 60)]
)
def test_the_law_of_the_simulation_is_that_of_the_exact_sampler(a: int, b: int, least: float, draws: int) -> None:
    uniforms = (np.arange(2000) + 0.5) / 2000
    plain = truncated_beta(np.array(float(a)), np.array(float(b)), least, uniforms)
    grid = GridDistribution(
        CertifiedBeta(Fraction(a), Fraction(b)), 32, int(least * 2**32) + 1, int((1 - least) * 2**32) - 1
    )
    drawn = grid.sample(draws, dc.SeededBits(5)) / 2.0**32
    assert kstest(drawn, plain).pvalue > 1e-4


def test_a_trimmed_mean_is_an_integral() -> None:
    theta = np.linspace(0.2, 0.8, 2_000_001)
    for ones, zeros in ((3, 5), (0, 49), (12, 0)):
        heights = theta**ones * (1 - theta) ** zeros
        assert trimmed_mean(ones, zeros, 0.2) == pytest.approx((theta @ heights) / heights.sum(), rel=1e-5)


def test_a_pair_of_neighbours_attains_what_appendix_c2_denies() -> None:
    assert least_loss(50, 0.2) == pytest.approx(42.9, abs=0.05)
    assert 47.1 < least_loss(10**5, 0.2) < record_epsilon(0.2) == pytest.approx(47.134, abs=5e-4)
    assert least_loss(50, 0.2) > 13 * 2 * log(1 / 0.2)  # the claim


def test_a_pair_of_neighbours_is_no_worse_than_the_librarys_likelihood_says() -> None:
    """Three features, 6 records, a fine grid: the loss at the corner is that of the mechanism's own law."""
    names = ["a", "b", "c"]
    net = dc.Network.naive_bayes("y", names, dict.fromkeys(["y", *names], (0, 1)), outside=0)
    mechanism = dc.draws.NetworkSampling(net, 6, "11.1", least="0.2", grid_bits=22)
    first, low, high = 2, int(0.2 * 2**22) + 1, int(0.8 * 2**22) - 1
    others = np.tile([[5 - first, 0], [first, 0]], (3, 1, 1))  # classes (second, first), levels (no, yes)
    one, two = others.copy(), others.copy()
    one[:, 1, 1] += 1
    two[:, 0, 0] += 1
    # sticks are P(level 0): the class is the first one with 0.8, yes has 0.8 in it, no has 0.2 in the second
    output = np.array([low, *[low, low] * 3])
    loss = mechanism.log_prob(output, one.ravel()) - mechanism.log_prob(output, two.ravel())
    own, yes = trimmed_mean(first, 5 - first, 0.2), [trimmed_mean(0, count, 0.2) for count in (first, 5 - first)]
    formula = log(4) + log((1 - own) / own) + 3 * (log(4) + log((1 - yes[1]) / yes[0]))
    assert float(loss) == pytest.approx(formula, abs=1e-4)
    assert float(loss) < float(mechanism.epsilon)
    assert high > low


def test_lemma_4_is_exceeded_as_printed_and_not_as_corrected() -> None:
    far, printed, corrected = chances(5, 1, 5.0, 0.97)
    assert (far, printed, corrected) == pytest.approx((0.0483, 0.0195, 0.6065), abs=5e-5)
    for records in (1, 5, 12, 40):
        for ones in range(records + 1):
            for epsilon, gap in ((1.0, 0.2), (5.0, 0.5), (20.0, 1.0)):
                far, _, corrected = chances(records, ones, epsilon, gap)
                assert far <= corrected


def test_the_corrected_lemma_4_holds_in_simulation() -> None:
    net = dc.Network.from_edges("a -> b", levels=dict.fromkeys("ab", (0, 1)), outside=0)
    mechanism = dc.choices.NetworkMaximum(net, 6, 40, 6)
    table = np.array([3, 1, 0, 2])
    u = np.exp(np.log(mechanism.candidates / 6) @ np.array([4, 2, 3, 1, 0, 2]))
    u /= u.sum()
    drawn = mechanism.sample(np.tile(table, (4000, 1)), dc.SeededBits(6))
    places = {tuple(c): i for i, c in enumerate(mechanism.candidates.tolist())}
    below = u.max() - u[[places[tuple(c)] for c in drawn.tolist()]]
    for gap in (0.01, 0.02, 0.05):
        bound = utility_bound(40, float(mechanism.sensitivity), gap, float((u > u.max() - gap).mean()))
        assert (below > 2 * gap).mean() <= bound + 4 * sqrt(0.25 / 4000)


def test_the_published_delta_is_no_bound() -> None:
    change, stated = change_with_many_records(5, 1000, 0.1)
    assert change == pytest.approx(8.8e5, rel=0.01)
    assert stated == pytest.approx(3.31, abs=0.01)
    rows = reproduction_named("004-algorithm-3").run(True).rows
    one = next(row for row in rows if (row["nodes"], row["half_width"]) == (1, 0.01))
    assert (one["delta"], one["true_epsilon"]) == (pytest.approx(0.2, abs=5e-5), pytest.approx(4.99967, abs=5e-6))
    assert all(row["true_epsilon"] > 1 for row in rows)


def test_part_2_of_theorem_4_says_nothing() -> None:
    rows = reproduction_named("004-theorem-4").run(True).rows
    assert all(row["bound"] > 1 > row["total_variation"] for row in rows)
    assert best_bound(5) == pytest.approx(2.71, abs=5e-3)
    generator = np.random.default_rng(8)
    for _ in range(300):  # C >= 2 for a coin, and every other term is at least 0
        rate, delta, least = generator.uniform(0.1, 50), generator.uniform(0.01, 0.99), generator.exponential()
        assert sqrt(stochastic_constant(rate, 2.0, delta, least) / 2) > sqrt(log(2))


ELSEWHERE: dict[str, dict[float, float]] = {
    CLAIMED_ONE: {1.5: 0.728, 2.0: 0.901, 3.0: 0.932, 5.0: 0.942, 10.0: 0.943, 20.0: 0.944, 100.0: 0.945},
    CLAIMED_MANY: {1.5: 0.925, 2.0: 0.941, 3.0: 0.947, 5.0: 0.954, 10.0: 0.956, 20.0: 0.956, 100.0: 0.955},
    RECORD_ONE: {0.5: 0.549, 1.0: 0.563, 1.5: 0.614, 2.0: 0.638, 3.0: 0.690, 5.0: 0.779, 10.0: 0.859, 20.0: 0.908}
    | {100.0: 0.944},
    RECORD_MANY: {0.5: 0.512, 1.0: 0.523, 1.5: 0.515, 2.0: 0.523, 3.0: 0.527, 5.0: 0.537, 10.0: 0.587, 20.0: 0.680}
    | {100.0: 0.906},
}
"""Accuracies of another simulation of the same experiment, 12 data sets and 25 splits."""


@pytest.mark.parametrize("curve", ELSEWHERE)
def test_accuracies_are_those_of_another_simulation(curve: str) -> None:
    """Within 4 standard errors of a difference of two such means; data sets are the clusters."""
    for epsilon, other in ELSEWHERE[curve].items():
        found = accuracies(curve, epsilon, splits=2 if curve in (CLAIMED_MANY, RECORD_MANY) else 25)
        assert found is not None
        means = found[..., 0].mean(axis=1)
        assert abs(means.mean() - other) < 4 * sqrt(2) * means.std(ddof=1) / sqrt(len(means))


def test_the_sampler_overtakes_noise_with_its_claimed_epsilon_only() -> None:
    rows = sampler_rows((1.0, 3.0), data_sets=4, splits=3)
    found = {(row["epsilon"], row["method"]): row["accuracy"] for row in rows}
    assert (1.0, CLAIMED_ONE) not in found  # no probabilities are left below 2 ln 2
    laplace = 0.803  # algorithm 1 at epsilon = 3, see 004-figure-1
    assert found[3.0, CLAIMED_MANY] > laplace > found[3.0, RECORD_ONE] > found[3.0, RECORD_MANY]
    assert scores(exp(-1.5), 1, 0, 0) == scores(exp(-1.5), 1, 0, 0)
