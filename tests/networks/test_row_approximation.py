"""Rows read by themselves, against sums over all counts of a row, and where noise hides everything."""

import itertools

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import discreet as dc
from discreet.inference import Exactness, exactness_of
from discreet.networks._approximate_rows import ApproximateCounts, ApproximateRow


@pytest.mark.parametrize("fitted", [(3.2, 5.1), (-4.0, 6.0), (0.4, -2.0), (9.0, 1.0, -1.5)])
def test_a_row_has_the_law_of_a_sum_over_all_its_counts(fitted: tuple[float, ...]) -> None:
    """Means of the counts and of the shares, from 20,000 draws, within 4.5 standard errors; the reach costs 1e-8."""
    alpha, size, deviation = np.array([0.5, 2.0, 1.0][: len(fitted)]), 30, 1.5
    counts = np.array([k for k in itertools.product(range(size + 1), repeat=len(fitted)) if sum(k) <= size])
    totals = counts.sum(axis=1)
    logs = (gammaln(alpha + counts) - gammaln(alpha) - gammaln(counts + 1.0)).sum(axis=1)
    logs += gammaln(totals + 1.0) + gammaln(alpha.sum()) - gammaln(totals + alpha.sum())
    logs -= (((counts - np.array(fitted)) / deviation) ** 2).sum(axis=1) / 2
    chances = np.exp(logs - logsumexp(logs))
    drawn = ApproximateRow(np.array(fitted), deviation, alpha, size).draw(20_000, np.random.default_rng(1))
    for found, exact in (
        (drawn, counts),
        (
            (alpha + drawn) / (alpha + drawn).sum(axis=1, keepdims=True),
            (alpha + counts) / (alpha + counts).sum(axis=1)[:, None],
        ),
    ):
        mean = chances @ exact
        error = np.sqrt(chances @ (exact - mean) ** 2 / 20_000)
        assert (np.abs(found.mean(axis=0) - mean) <= 4.5 * error + 1e-6).all()


def test_a_row_that_is_well_known_is_normal_around_what_was_fitted() -> None:
    drawn = ApproximateRow(np.array([5_000.0, 800.0]), 10.0, np.ones(2), 10_000).draw(20_000, np.random.default_rng(2))
    np.testing.assert_allclose(drawn.mean(axis=0), [5_000, 800], atol=4.5 * 10 / np.sqrt(20_000) + 0.05)
    np.testing.assert_allclose(drawn.std(axis=0), 10, rtol=0.03)


def test_a_row_that_the_noise_hides_falls_back_on_the_prior() -> None:
    """Fitted counts of a few units in noise of 500: shares spread nearly as the prior does, 0.289 for a uniform one."""
    drawn = ApproximateRow(np.array([3.0, 2.0]), 500.0, np.ones(2), 10**6).draw(20_000, np.random.default_rng(3))
    shares = np.random.default_rng(4).beta(1 + drawn[:, 0], 1 + drawn[:, 1])
    assert shares.std() == pytest.approx(1 / np.sqrt(12), abs=0.03)


def test_fitted_counts_beyond_all_records_are_read_too() -> None:
    for fitted in ([60.0, 70.0], [-90.0, -80.0], [200.0, -3.0]):
        drawn = ApproximateRow(np.array(fitted), 4.0, np.ones(2), 50).draw(100, np.random.default_rng(5))
        assert (drawn >= 0).all()


def test_tables_of_a_large_graph_are_drawn_for_every_variable() -> None:
    names = [f"v{number}" for number in range(12)]
    network = dc.Network.from_edges(
        *(f"v{c - 1} -> v{c}" for c in range(1, 12)), levels=dict.fromkeys(names, (0, 1, 2)), outside=0
    )
    mechanism = dc.FamilyHistograms(network, 900, 2)
    release = dc.simulate(mechanism, np.full(99, 100), dc.SeededBits(6))
    drawn = ApproximateCounts(dc.networks.consistent_tables(release), network).tables(50, np.random.default_rng(7))
    assert [table.shape for table in drawn] == [(50, 1, 3), *[(50, 3, 3)] * 11]
    assert exactness_of(mechanism) is Exactness.SAMPLED  # chains start from such draws


def test_the_approximation_says_what_it_covers_and_that_its_evidence_is_not_known() -> None:
    assert "covered 87 to 89 %" in ApproximateCounts.method
    assert "the evidence is not known" in ApproximateCounts.method
    assert np.isnan(ApproximateCounts.log_evidence)
