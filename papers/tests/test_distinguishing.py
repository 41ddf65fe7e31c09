"""How many draws an adversary needs: the bound, the best test, and the theorem that runs the wrong way."""

from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest
from scipy.stats import beta, binom, norm

import discreet as dc
from discreet.draws import categories_lipschitz, largest_divergence
from discreet.draws._privacy_curves import neighbour_divergence
from discreet.mathematics import kullback_leibler
from discreet.mathematics.distributions._dirichlet import Dirichlet
from discreet_papers.distinguish import draws_needed, published_distance


def test_divergence_is_that_of_the_two_betas() -> None:
    for s, t in ((1.0, 1.0), (2.5, 7.0), (20.0, 119.0)):
        one, two = (
            Dirichlet((s, t + 1)),
            Dirichlet((s + 1, t)),
        )
        both = (
            kullback_leibler(one, two),
            kullback_leibler(two, one),
        )
        assert neighbour_divergence(s, t) == pytest.approx(max(both), rel=1e-10)


def test_divergence_keeps_its_digits_for_a_million_records() -> None:
    assert neighbour_divergence(500_001, 500_000) == pytest.approx(2.0e-6, rel=2e-6)


def test_the_worst_divergence_over_all_counts() -> None:
    every = [neighbour_divergence(1 + k, 2 + 9 - k) for k in range(10)]
    assert largest_divergence((1.0, 2.0), 10) == pytest.approx(max(every), rel=1e-14)
    assert largest_divergence((3.0, 1.0, 2.0), 10) == neighbour_divergence(1.0, 2.0)


def errors_of_the_best_test(draws: int, repeats: int, seed: int) -> float:
    """Decide between Beta(20, 21) and Beta(21, 20) by the likelihood ratio of all draws; return the error."""
    generator = np.random.default_rng(seed)
    theta = generator.beta(20, 21, size=(repeats, draws))
    ratios = (beta.logpdf(theta, 20, 21) - beta.logpdf(theta, 21, 20)).sum(axis=1)
    return float((ratios < 0).mean())  # the other error is the same, by symmetry


def test_the_best_test_needs_as_many_draws_as_the_bound_says_and_not_many_more() -> None:
    """40,000 simulated attacks: an error of 0.1 at fewer draws than the bound is impossible; twice that is enough."""
    divergence = neighbour_divergence(20, 20)
    least = draws_needed(divergence, 0.1)
    assert errors_of_the_best_test(least, 40_000, seed=1) > 0.1 + 3 * sqrt(0.1 / 40_000)
    assert errors_of_the_best_test(2 * least, 40_000, seed=2) < 0.1 + 3 * sqrt(0.1 / 40_000)
    about = norm.cdf(-sqrt(least * divergence / 2))  # the central limit, for comparison
    assert errors_of_the_best_test(least, 40_000, seed=3) == pytest.approx(about, abs=0.01)


def test_theorem_three_runs_the_wrong_way() -> None:
    """Probabilities of at least 0.2, a hundred draws, error 0.05: 'distinguishable' data look the same to any test."""
    claimed = published_distance(categories_lipschitz(2, Fraction(1, 5)).constant, 100, 0.05)
    assert claimed == pytest.approx(0.0162, abs=5e-5)
    divergence = neighbour_divergence(500_001, 500_000)  # data sets at distance 1, far above what is claimed
    correct = norm.cdf(sqrt(100 * divergence / 2))
    assert correct == pytest.approx(0.504, abs=5e-4)
    assert draws_needed(divergence, 0.05) > 1_000_000


@pytest.mark.parametrize("draws", [20, 100, 1000])
def test_lemma_two_holds_for_two_parts(draws: int) -> None:
    """P(l1 distance of the empirical law >= sqrt(3 ln(1/delta) / n)) <= delta, at delta = 1/16 where m <= 2."""
    allowed = sqrt(3 / draws * log(16))
    counts = np.arange(draws + 1)
    for chance in (0.05, 0.3, 0.5):
        far = 2 * np.abs(counts / draws - chance) >= allowed
        assert binom.pmf(counts[far], draws, chance).sum() <= 1 / 16


def test_nonsense_is_refused() -> None:
    for divergence, error in ((0.1, 0.0), (0.1, 0.5), (0.0, 0.1)):
        with pytest.raises(dc.DeclarationError, match="between 0 and 1/2"):
            draws_needed(divergence, error)
