"""The maximum of a network's posterior: three sound forms, and the published one with its true epsilon."""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import log, prod, sqrt, tanh

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

import discreet as dc
from discreet.choices import NetworkMaximum
from discreet.choices._maximum_posterior import published_epsilon
from discreet.choices._network_maximum import maximum_of_noisy_tables, tempered_network_maximum
from discreet.mechanism import Mechanism
from discreet.release import mechanism_document, read_mechanism

CHAIN = dc.Network.from_edges("a -> b", levels=dict.fromkeys("ab", (0, 1)), outside=0)
MIXED = dc.Network.from_edges(
    "a", "b", levels={"a": (0, 1), "b": (0, 1, 2)}, prior={"a": 2, "b": (1, 0.5, 3)}, outside=0
)


def neighbours(network: dc.Network, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the counts of all data sets and all pairs that differ in one record."""
    records = list(product(*(range(len(variable.levels)) for variable in network.variables)))
    names = [variable.name for variable in network.variables]

    def cells(data: tuple[tuple[int, ...], ...]) -> list[int]:
        return [
            sum(tuple(r[names.index(n)] for n in family) == place for r in data)
            for family in network.maximal_families
            for place in np.ndindex(network.shape(family))
        ]

    sets = list(combinations_with_replacement(records, size))
    index = {data: number for number, data in enumerate(sets)}
    pairs = {
        (index[d], index[tuple(sorted((*d[:i], r, *d[i + 1 :])))]) for d in sets for i in range(size) for r in records
    }
    return np.array([cells(data) for data in sets]), np.array(sorted(pairs))


@pytest.mark.parametrize(("network", "size", "resolution"), [(CHAIN, 3, 6), (MIXED, 2, 6)])
@pytest.mark.parametrize("epsilon", ["0.5", "4"])
def test_no_output_reveals_more_than_the_promised_epsilon(
    network: dc.Network, size: int, resolution: int, epsilon: str
) -> None:
    mechanism = NetworkMaximum(network, size, epsilon, resolution)
    tables, pairs = neighbours(network, size)
    laws = np.stack([mechanism.log_prob(mechanism.candidates, table) for table in tables])
    assert np.exp(laws).sum(axis=1) == pytest.approx(1, abs=1e-12)
    losses = np.abs(laws[pairs[:, 0]] - laws[pairs[:, 1]]).max()
    assert 0.01 * float(epsilon) < losses <= float(epsilon)


def test_no_posterior_probability_changes_by_more_than_the_sensitivity_and_two_candidates_attain_it() -> None:
    mechanism = NetworkMaximum(CHAIN, 1, 1, 6)
    assert float(mechanism.sensitivity) == pytest.approx(tanh((2 * log(5) + 2 * log(5)) / 4), rel=1e-14)
    theta = mechanism.candidates / 6  # P(a), P(b | a = 0), P(b | a = 1)
    first, second = theta[:, 0] * theta[:, 2], theta[:, 1] * theta[:, 5]  # records (0, 0) and (1, 1)
    generator = np.random.default_rng(3)
    for _ in range(200):
        prior = np.exp(5 * generator.normal(size=len(theta)))  # any prior on the candidates
        one, two = prior * first / (prior @ first), prior * second / (prior @ second)
        assert np.abs(one - two).max() <= float(mechanism.sensitivity)
    ratios = first / second
    ends = [int(ratios.argmin()), int(ratios.argmax())]
    balanced = 1 / np.sqrt(first[ends] * second[ends])  # log odds -R/2 and R/2
    one, two = balanced * first[ends], balanced * second[ends]
    assert np.abs(one / one.sum() - two / two.sum()).max() == pytest.approx(float(mechanism.sensitivity), rel=1e-12)


def test_samples_follow_the_stated_likelihood() -> None:
    mechanism = NetworkMaximum(MIXED, 5, 6, 5)
    table = np.array([4, 1, 0, 3, 2])
    drawn = mechanism.sample(np.tile(table, (20_000, 1)), dc.SeededBits(3))
    observed = np.array([(drawn == candidate).all(axis=1).sum() for candidate in mechanism.candidates])
    expected = np.exp(mechanism.log_prob(mechanism.candidates, table)) * 20_000
    assert chisquare(observed, expected).pvalue > 1e-4


def test_much_budget_finds_the_maximum_in_its_place() -> None:
    mechanism = NetworkMaximum(CHAIN, 3000, 10**4, 10)
    drawn = mechanism.sample(np.array([1800, 200, 300, 700]), dc.SeededBits(3))
    tables = mechanism.parameters(drawn)
    assert tables["a"] == pytest.approx([0.7, 0.3])  # 2 : 1 in tenths
    assert tables["b"] == pytest.approx(np.array([[0.9, 0.1], [0.3, 0.7]]))


def test_the_published_mechanism_is_worse_on_networks() -> None:
    """Two nodes without arrows, theta within 1/2 +- 0.1, one record; its law on a fine grid has the stated epsilon."""
    axis = np.linspace(0.4, 0.6, 401)
    x, y = np.meshgrid(axis, axis)
    scale = 1 / (2 * sqrt(2 * log(0.6 / 0.4)))
    laws = [np.exp(scale * density / 0.01) for density in (x * y, (1 - x) * (1 - y))]
    ratio = np.abs(np.log(laws[0] / laws[0].sum()) - np.log(laws[1] / laws[1].sum())).max()
    assert published_epsilon(1.0, 0.1, nodes=2) == pytest.approx(ratio, rel=1e-9)
    assert published_epsilon(1.0, 0.1, nodes=2) > 5 * published_epsilon(1.0, 0.1)


def test_the_other_two_sound_forms() -> None:
    tempered = tempered_network_maximum(CHAIN, size=50, epsilon=1, least="0.05")
    assert (tempered.guarantee.epsilon, tempered.guarantee.delta) == (Fraction(1), Fraction(0))
    assert float(tempered.power) == pytest.approx(1 / (4 * log(19)), rel=1e-9)
    found = maximum_of_noisy_tables(CHAIN.with_prior(2), {"a": [-3, 9], "b": [[2, -5], [-1, -2]]})
    assert found["a"] == pytest.approx([1 / 11, 10 / 11])
    assert found["b"] == pytest.approx(np.array([[0.75, 0.25], [0.5, 0.5]]))
    flat = maximum_of_noisy_tables(CHAIN, {"a": [-3, -9], "b": np.zeros((2, 2))})
    assert flat["a"] == pytest.approx([0.5, 0.5])
    with pytest.raises(dc.DeclarationError, match="shape"):
        maximum_of_noisy_tables(CHAIN, {"a": [1, 2, 3], "b": np.zeros((2, 2))})


def test_documents_and_refusals() -> None:
    mechanism = NetworkMaximum(MIXED, 5, "0.5", 5)
    assert isinstance(mechanism, Mechanism)
    assert read_mechanism(mechanism_document(mechanism)) == mechanism
    assert mechanism.privacy_loss().epsilon == Fraction(1, 2)
    assert Fraction(1, 32) < mechanism.rho < Fraction(1, 8)
    assert len(mechanism.candidates) == 4 * 6
    release = dc.simulate(mechanism, [4, 1, 0, 3, 2], dc.SeededBits(4))
    assert dc.Release.from_json(release.to_json()) == release
    assert prod(sum(table.ravel()) for table in mechanism.parameters(release.counts).values()) == pytest.approx(1)
    with pytest.raises(dc.DocumentError, match="add up to 5"):
        mechanism.space.check(np.array([1, 3, 1, 1, 3]))
    with pytest.raises(dc.DocumentError, match="of 1 or more"):
        mechanism.space.check(np.array([0, 5, 1, 1, 3]))
    with pytest.raises(dc.DeclarationError, match="resolution"):
        NetworkMaximum(MIXED, 5, 1, 3)
    with pytest.raises(dc.DeclarationError, match="candidates"):
        NetworkMaximum(CHAIN, 5, 1, 100)
    with pytest.raises(dc.DeclarationError, match="Network"):
        NetworkMaximum("chain", 5, 1)  # type: ignore[arg-type]
    with pytest.raises(dc.SecretError):
        mechanism.sample(MIXED.statistics({"a": [0] * 5, "b": [0] * 5}), dc.SeededBits(1))  # type: ignore[arg-type]
    assert "chains" in dc.infer(release).method
