"""The maximum of a posterior: three sound forms, and the published one with its true epsilon."""

from fractions import Fraction
from math import log, sqrt, tanh

import numpy as np
import pytest
from scipy.stats import chisquare

import discreet as dc
from discreet.choices import MaximumPosterior
from discreet.choices._maximum_posterior import (
    maximum_of_noisy_counts,
    published_epsilon,
    published_sensitivity,
    tempered_maximum,
    utility_bound,
)
from discreet.mechanism import Mechanism
from discreet.privacy import compositions, enumerate_neighbours
from discreet.release import mechanism_document, read_mechanism

COIN = dc.Categories("x", levels=("no", "yes"), outside="no")
DIE = dc.Categories("x", levels=("a", "b", "c"), prior=(1, 2, 0.5), outside="a")


@pytest.mark.parametrize(("model", "size", "resolution"), [(COIN, 8, 12), (DIE, 5, 7)])
@pytest.mark.parametrize("epsilon", ["0.5", "3"])
def test_no_output_reveals_more_than_the_promised_epsilon(
    model: dc.Categories, size: int, resolution: int, epsilon: str
) -> None:
    mechanism = MaximumPosterior(model, size, epsilon, resolution)
    found = enumerate_neighbours(mechanism.log_prob, size, len(model.cells), mechanism.candidates)
    assert np.exp(found.log_probs).sum(axis=1) == pytest.approx(1, abs=1e-12)
    assert found.epsilon <= float(mechanism.epsilon) * (1 + 1e-12)


def test_the_sensitivity_is_tanh_of_a_quarter_of_the_range_and_is_attained() -> None:
    mechanism = MaximumPosterior(COIN, 1, 1, 12)
    assert float(mechanism.sensitivity) == pytest.approx(tanh(2 * log(11) / 4), rel=1e-14)
    theta = np.array([1, 11]) / 12  # two candidates of equal weight around log odds -R/2 and R/2
    yes, no = theta / theta.sum(), (1 - theta) / (1 - theta).sum()
    assert np.abs(yes - no).max() == pytest.approx(float(mechanism.sensitivity), rel=1e-12)


def test_no_posterior_probability_changes_by_more_than_the_sensitivity() -> None:
    mechanism = MaximumPosterior(DIE, 4, 1, 8)
    logs = np.log(mechanism.candidates / 8)
    generator = np.random.default_rng(2)
    tables = np.array(list(compositions(4, 3)))
    for _ in range(50):
        prior = generator.normal(size=len(logs)) * 3  # any prior on the candidates
        chances = np.exp(tables @ logs.T + prior)
        chances /= chances.sum(axis=1, keepdims=True)
        near = np.abs(tables[:, None] - tables).sum(axis=-1) == 2
        gaps = np.abs(chances[:, None] - chances).max(axis=-1)[near]
        assert gaps.max() <= float(mechanism.sensitivity)


def test_samples_follow_the_stated_likelihood() -> None:
    mechanism = MaximumPosterior(DIE, 5, 4, 7)
    drawn = mechanism.sample(np.tile([3, 2, 0], (30_000, 1)), dc.SeededBits(3))
    observed = np.array([(drawn == candidate).all(axis=1).sum() for candidate in mechanism.candidates])
    expected = np.exp(mechanism.log_prob(mechanism.candidates, np.array([3, 2, 0]))) * 30_000
    assert chisquare(observed, expected).pvalue > 1e-4


def test_much_budget_finds_the_maximum() -> None:
    mechanism = MaximumPosterior(COIN, 30, 200, 20)
    drawn = mechanism.sample(np.tile([24, 6], (200, 1)), dc.SeededBits(3))
    values, counts = np.unique(drawn[:, 0], return_counts=True)
    assert values[counts.argmax()] == 16  # 24 / 30 = 16 / 20
    assert mechanism.parameters(drawn[0]).sum() == pytest.approx(1)


def test_the_utility_bound_holds_with_the_factor_that_was_missing() -> None:
    mechanism = MaximumPosterior(COIN, 10, 5, 12)
    counts, candidates = np.array([7, 3]), mechanism.candidates
    chances = np.exp(candidates[:, 0] * 0.0 + np.log(candidates / 12) @ counts)
    chances /= chances.sum()
    law, below = np.exp(mechanism.log_prob(candidates, counts)), chances.max() - chances
    for gap in (0.02, 0.05, 0.1):
        far = law[below > 2 * gap].sum()
        assert far <= utility_bound(5, float(mechanism.sensitivity), gap, (below <= gap).mean())


def test_the_published_mechanism_does_not_keep_its_epsilon() -> None:
    """Theta within 1/2 +- 0.01 and one record: Delta = 0.2000, densities differ by 2, claimed 1 is truly 4.99967."""
    assert published_sensitivity(log(0.51 / 0.49)) == pytest.approx(0.2000, abs=5e-5)
    assert published_epsilon(1.0, 0.01) == pytest.approx(4.99967, abs=5e-6)
    assert published_epsilon(1.0, 0.001) == pytest.approx(15.81, abs=5e-3)
    theta = np.linspace(0.49, 0.51, 2001)
    laws = [np.exp(density / 0.01 / (2 * sqrt(log(0.51 / 0.49)))) for density in (theta, 1 - theta)]
    ratio = np.log(laws[0] / laws[0].sum()) - np.log(laws[1] / laws[1].sum())
    assert np.abs(ratio).max() == pytest.approx(4.99967, abs=5e-6)


def test_the_other_two_sound_forms() -> None:
    tempered = tempered_maximum(DIE, size=50, epsilon=1, least="0.05")
    assert (tempered.guarantee.epsilon, tempered.guarantee.delta) == (Fraction(1), Fraction(0))
    assert maximum_of_noisy_counts(COIN, [-3, 9]) == pytest.approx([0, 1])
    assert maximum_of_noisy_counts(DIE.with_prior(2), [4, 3, -2]) == pytest.approx([0.5, 0.4, 0.1])
    assert maximum_of_noisy_counts(COIN, [-3, -1]) == pytest.approx([0.5, 0.5])


def test_documents_and_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(dc.Mechanism.kinds.newest, "MaximumPosterior", MaximumPosterior)
    mechanism = MaximumPosterior(DIE, 5, "0.5", 7)
    assert isinstance(mechanism, Mechanism)
    assert read_mechanism(mechanism_document(mechanism)) == mechanism
    assert Fraction(1, 32) < mechanism.rho < Fraction(1, 8)  # more than with the proved scale
    assert MaximumPosterior(DIE, 5, "0.5", 7, scale=mechanism.proved_scale).rho < Fraction(1, 32)
    assert mechanism.privacy_loss().epsilon == Fraction(1, 2)
    with pytest.raises(dc.DocumentError, match="add up to 7"):
        mechanism.space.check(np.array([0, 3, 4]))
    with pytest.raises(dc.DeclarationError, match="resolution"):
        MaximumPosterior(DIE, 5, 1, 3)
    with pytest.raises(dc.DeclarationError, match="candidates"):
        MaximumPosterior(DIE, 5, 1, 1000)
    with pytest.raises(dc.SecretError):
        mechanism.sample(DIE.statistics({"x": ["a"] * 5}), dc.SeededBits(1))  # type: ignore[arg-type]
