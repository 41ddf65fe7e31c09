"""Graphs with loops, read by chains: against a sum over all data sets, and against the exact reading of a chain."""

import itertools
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import discreet as dc
from discreet.certificates import compositions
from discreet.inference import NetworkPosterior
from discreet.mathematics.convergence import effective_size, split_r_hat
from discreet.models.network import Network
from discreet.reading import Case
from discreet.reading.counts.chains import SampledCounts
from discreet.reading.counts.latent_tables import Families
from discreet.reading.engines.chains import ChainsEngine, fit_of

TWO = (0, 1)
LOOP = Network.from_edges(
    "A -> B -> D",
    "A -> C -> D",
    levels=dict.fromkeys("ABCD", TWO),
    prior={"A": 1, "B": (0.5, 2), "C": 1, "D": (2, 1)},
    outside=TWO[0],
)
SIZE, COUNTS = 5, [2, 1, 0, 2, 1, 1, 2, 1, 2, 0, 0, 1, 1, 0, 0, 1]
KINDS: dict[str, Any] = {
    "histograms": lambda network, size: dc.FamilyHistograms(network, size, 2),
    "gaussians": lambda network, size: dc.FamilyGaussians(network, size, 2, "1e-2"),
    "updates": lambda network, size: dc.LaplaceUpdates(network, size, 3),
    "joint": lambda network, size: dc.JointHistograms(network, size, 1),
}


class Enumeration:
    """All data sets as tables of all combinations of levels, with their posterior probabilities: the slow twin."""

    def __init__(self, release: dc.Release) -> None:
        network, size = release.model, release.mechanism.size
        self.families = Families(network)
        records = list(itertools.product(*(range(len(v.levels)) for v in network.variables)))
        names = [v.name for v in network.variables]
        cells = np.zeros((len(records), self.families.cells), dtype=np.int64)
        for number, record in enumerate(records):
            level = dict(zip(names, record, strict=True))
            for v, family in enumerate(network.families):
                place = np.ravel_multi_index([level[name] for name in family], network.shape(family))
                cells[number, self.families.starts[v] + place] = 1
        joint = np.array(list(compositions(size, len(records))))
        self.tables = joint @ cells
        logs = gammaln(size + 1) - gammaln(joint + 1).sum(axis=1)
        for v, (prior, levels) in enumerate(zip(network.prior, self.families.shape, strict=True)):
            table = self.tables[:, self.families.part(v)].reshape(len(joint), -1, levels)
            a = np.array(prior)
            logs += (gammaln(a + table) - gammaln(a)).sum(axis=(1, 2))
            logs += (gammaln(a.sum()) - gammaln(a.sum() + table.sum(axis=2))).sum(axis=1)
        logs += release.mechanism.log_likelihood(release.counts, self.tables[:, self.families.maximal])
        self.chances = np.exp(logs - logsumexp(logs))


def loop_release(kind: str) -> dc.Release:
    return dc.simulate(KINDS[kind](LOOP, SIZE), np.array(COUNTS), dc.SeededBits(3))


def sampled(release: dc.Release) -> SampledCounts:
    """Return what chains find, and how well they agree."""
    counts = ChainsEngine().read(Case.of([release])).counts
    assert isinstance(counts, SampledCounts)
    return counts


@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_is_read_as_by_a_sum_over_all_data_sets(kind: str) -> None:
    """Means and variances of all probabilities, within 4.5 standard errors of what the effective size allows."""
    release = loop_release(kind)
    exact, counts = Enumeration(release), sampled(release)
    assert counts.r_hat < 1.01
    drawn = np.concatenate([t.reshape(4_000, -1) for t in counts.tables(4_000, np.random.default_rng(4))], axis=1)
    for power in (1, 2):
        values = exact.families.means(exact.tables) ** power
        mean = exact.chances @ values
        spread = np.sqrt(exact.chances @ (values - mean) ** 2)
        found = (exact.families.means(drawn) ** power).mean(axis=0)
        assert (np.abs(found - mean) <= 4.5 * spread / np.sqrt(min(4_000, counts.effective_size))).all()


def test_a_tree_is_read_by_chains_as_it_is_read_exactly() -> None:
    network = Network.from_edges("a -> b -> c", levels=dict.fromkeys("abc", TWO), outside=TWO[0])
    counts = np.array([60, 30, 20, 90, 70, 10, 60, 60])
    release = dc.simulate(dc.FamilyHistograms(network, 200, "0.4"), counts, dc.SeededBits(5))
    exact, chains = dc.infer(release), sampled(release)
    assert exact.method == "read exactly"
    assert chains.r_hat < 1.01
    wanted = exact.readings[0].draw(4_000, np.random.default_rng(6))
    for name, table in zip("abc", chains.tables(4_000, np.random.default_rng(7)), strict=True):
        error = wanted[name].std(axis=0) * np.sqrt(1 / 4_000 + 1 / chains.effective_size)
        assert (np.abs(table.mean(axis=0) - wanted[name].mean(axis=0)) <= 4.5 * error).all()


@pytest.fixture(scope="module")
def posterior() -> NetworkPosterior:
    reading = dc.infer(loop_release("histograms"))
    assert isinstance(reading, NetworkPosterior)
    return reading


def test_the_reading_says_how_it_was_found(posterior: NetworkPosterior) -> None:
    assert "Markov chains" in posterior.method
    assert "R-hat 1.0" in posterior.method
    assert posterior.log_evidence is None
    with pytest.raises(dc.DeclarationError, match="read exactly only"):
        dc.infer(posterior.releases[0], strengths=(1, 2))


def test_questions_to_a_loop_follow_from_its_draws(posterior: NetworkPosterior) -> None:
    row = posterior.conditional("D=1", given="C=1, B=0")
    assert row.mean == pytest.approx(posterior.mean_tables()["D"][0, 1, 1], abs=1e-9)  # parents in the order B, C
    assert isinstance(row, dc.BetaMixture)
    joint = posterior.marginal("D", "A", given="B=1")
    assert joint.shape == (2, 2)
    assert joint.sum() == pytest.approx(1)
    assert joint[1].sum() == pytest.approx(posterior.conditional("D=1", given="B=1").mean)
    assert joint[:, 1].sum() == pytest.approx(posterior.conditional("A=1", given="B=1").mean)
    record, chance = posterior.most_probable(given="D=0, B=1")
    assert record["D"] == 0
    assert 0 < chance < 1
    for names in ((), ("A", "A"), ("Z",), ("B",)):
        with pytest.raises(dc.DeclarationError, match="Name one or more variables"):
            posterior.marginal(*names, given="B=1")


def test_records_of_a_loop_are_classified_and_made_up(posterior: NetworkPosterior) -> None:
    chances = posterior.predict_proba([{"A": 0, "B": 0, "C": 1}], target="D")[0]
    assert chances[1] == pytest.approx(posterior.mean_tables()["D"][0, 1, 1], abs=0.03)
    made_up = posterior.synthesize(20_000, seed=8)
    tables = posterior._parameters(1, int(np.random.default_rng(8).integers(2**32)))
    both = [float(d) for b, c, d in zip(made_up["B"], made_up["C"], made_up["D"], strict=True) if (b, c) == (0, 1)]
    assert np.mean(both) == pytest.approx(tables["D"][0, 1, 1], abs=4.5 * 0.5 / np.sqrt(len(both)))


def test_two_releases_tell_more_than_one() -> None:
    releases = [dc.simulate(KINDS["histograms"](LOOP, SIZE), np.array(COUNTS), dc.SeededBits(seed)) for seed in (1, 2)]
    counts = np.array([COUNTS, COUNTS[::-1]])
    parts = [fit_of(Case.of([release]))(counts) for release in releases]
    np.testing.assert_allclose(fit_of(Case.of(releases))(counts), parts[0] + parts[1])


@pytest.mark.parametrize("kind", KINDS)
def test_the_fit_is_the_mechanisms_own_likelihood_up_to_a_constant(kind: str) -> None:
    release = loop_release(kind)
    tables = Enumeration(release).tables[::500, Families(LOOP).maximal]
    wanted = release.mechanism.log_likelihood(release.counts, tables)
    np.testing.assert_allclose(np.ptp(fit_of(Case.of([release]))(tables) - wanted), 0, atol=1e-9)


def test_chains_that_do_not_agree_are_reported() -> None:
    release = loop_release("histograms")
    with pytest.warns(dc.ConvergenceWarning, match="do not yet agree"):
        SampledCounts(LOOP, SIZE, fit_of(Case.of([release])), Families(LOOP).priors, longest=0)


def test_agreement_and_effective_size_are_those_of_known_chains() -> None:
    """Autoregressive chains have the autocorrelation time (1 + c) / (1 - c); 5 % is about three of its errors here."""
    generator, c = np.random.default_rng(9), 0.8
    values = np.zeros((8, 20_000, 2))
    steps = generator.normal(size=values.shape)
    for number in range(1, values.shape[1]):
        values[:, number] = c * values[:, number - 1] + steps[:, number]
    found = effective_size(values)
    np.testing.assert_allclose(found, 8 * 20_000 * (1 - c) / (1 + c), rtol=0.05)
    assert split_r_hat(values).max() < 1.002
    apart = values + np.arange(8)[:, None, None]
    assert split_r_hat(apart).min() > 1.2
    assert effective_size(apart).max() < 100
    assert split_r_hat(np.arange(8.0)[:, None, None] + np.zeros((8, 10, 1))).tolist() == [np.inf]
