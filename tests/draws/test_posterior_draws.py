"""Draws are read for what they are: against sums over all counts, and against the truth in simulation."""

from typing import Any

import numpy as np
import pytest
from scipy.special import betainc, logsumexp
from scipy.stats import betabinom

import discreet as dc
from discreet.draws import PosteriorSampling
from discreet.mathematics.distributions._dirichlet import Dirichlet
from discreet.privacy import compositions

COIN = dc.Categories("x", levels=("no", "yes"), prior=(2, 1), outside="no")
DIE = dc.Categories("x", levels=("a", "b", "c"), prior=(1, 0.7, 2), outside="a")


def release_of(mechanism: PosteriorSampling, output: Any) -> dc.Release:
    return dc.Release(mechanism, tuple(int(value) for value in output), "draw", simulated=True)


@pytest.mark.parametrize(("model", "counts"), [(COIN, [25, 15]), (DIE, [20, 12, 8])])
@pytest.mark.parametrize("draws", [1, 3])
def test_reading_is_the_sum_over_all_counts(model: dc.Categories, counts: list[int], draws: int) -> None:
    mechanism = PosteriorSampling.tempered(model, size=40, epsilon=2, delta="1e-3", draws=draws)
    release = release_of(mechanism, mechanism.sample(np.array(counts), dc.SeededBits(3)))
    tables = np.array(list(compositions(40, len(model.cells))))
    logs = model.log_evidence(tables) + mechanism.log_prob(release.counts, tables)
    weights = np.exp(logs - logsumexp(logs))
    posterior = dc.infer(release)
    assert posterior.log_evidence == pytest.approx(float(logsumexp(logs)), rel=1e-9)
    means = weights @ (tables + model.concentration) / (40 + model.concentration.sum())
    assert list(posterior.mean.values()) == pytest.approx(list(means), rel=1e-8)


def test_several_releases_and_another_prior() -> None:
    mechanism = PosteriorSampling.tempered(DIE, size=40, epsilon=2, delta="1e-3")
    outputs = mechanism.sample(np.tile([20, 12, 8], (2, 1)), dc.SeededBits(3))
    releases = [release_of(mechanism, output) for output in outputs]
    mine = DIE.with_prior((3, 3, 3))
    tables = np.array(list(compositions(40, 3)))
    logs = mine.log_evidence(tables) + sum(mechanism.log_prob(r.counts, tables) for r in releases)
    posterior = dc.infer(*releases, prior=(3, 3, 3))
    assert posterior.log_evidence == pytest.approx(float(logsumexp(logs)), rel=1e-9)


def test_two_cells_are_covered_exactly() -> None:
    """Sum over all true counts and all cells of a coarse grid: a 90 % interval covers 90 %, a taken draw does not."""
    size, model = 60, dc.Categories("x", levels=("no", "yes"), prior=1, outside="no")
    power = PosteriorSampling.tempered(model, size=size, epsilon=1, delta="1e-4").power
    mechanism = PosteriorSampling(model, size, 1, "1e-4", power=power, grid_bits=6)
    counts = np.arange(size + 1)
    chances, tables = betabinom.pmf(counts, size, 1, 1), np.column_stack([counts, size - counts])
    covered = naive = 0.0
    for cell in range(64):
        release = release_of(mechanism, [cell])
        joint = chances * np.exp(mechanism.log_prob(release.counts, tables))
        low, high = dc.infer(release).probability("no").interval(0.9)
        inside = betainc(1 + counts, 1 + size - counts, high) - betainc(1 + counts, 1 + size - counts, low)
        covered += float(joint @ inside)
        taken = (cell + 0.5) / 64 * size  # as if the draw were an exact share of the records
        low, high = Dirichlet((1 + taken, 1 + size - taken)).marginal(0).interval(0.9)
        inside = betainc(1 + counts, 1 + size - counts, high) - betainc(1 + counts, 1 + size - counts, low)
        naive += float(joint @ inside)
    assert covered == pytest.approx(0.9, abs=1e-6)
    assert naive < 0.75


def test_three_cells_are_covered_in_simulation() -> None:
    """Parameters from the prior, records, a draw, a reading: 120 times; within 3.5 standard errors of 90 %."""
    repeats, size = 120, 100
    model = dc.Categories("x", levels=("a", "b", "c"), prior=1, outside="a")
    mechanism = PosteriorSampling.tempered(model, size=size, epsilon=2, delta="1e-3")
    generator = np.random.default_rng(20261115)
    theta = generator.dirichlet(np.ones(3), size=repeats)
    outputs = mechanism.sample(generator.multinomial(size, theta), dc.SeededBits(20261115))
    hits = np.empty(repeats)
    for number, (truth, output) in enumerate(zip(theta, outputs, strict=True)):
        posterior = dc.infer(release_of(mechanism, output))
        below = [float(posterior.probability(cell).cdf(t)) for cell, t in zip(model.cells, truth, strict=True)]
        hits[number] = np.mean([0.05 <= p <= 0.95 for p in below])
    error = hits.std() / np.sqrt(repeats)
    assert abs(hits.mean() - 0.9) <= 3.5 * error


def test_what_cannot_be_read_is_refused() -> None:
    mechanism = PosteriorSampling.tempered(DIE, size=40, epsilon=2, delta="1e-3")
    release = release_of(mechanism, mechanism.sample(np.array([20, 12, 8]), dc.SeededBits(3)))
    coin = PosteriorSampling.tempered(COIN, size=40, epsilon=2, delta="1e-3")
    other = release_of(coin, coin.sample(np.array([20, 20]), dc.SeededBits(3)))
    wrong: list[tuple[Any, ...]] = [(), (release, other), ("x",)]
    for releases in wrong:
        with pytest.raises(dc.DeclarationError):
            dc.infer(*releases)


@pytest.mark.parametrize("output", [(0, 2**32 - 1), (3, 0), (2**30, 2**32 - 2)])
def test_draws_in_the_outermost_cells_are_read_by_the_mass_of_the_cells(output: tuple[int, int]) -> None:
    model = dc.Categories("x", levels=("a", "b", "c"), prior=0.01, outside="a")
    mechanism = PosteriorSampling(model, 12, "500", "0.999", power="0.01")
    tables = np.array(list(compositions(12, 3)))
    logs = model.log_evidence(tables) + mechanism.log_prob(np.array(output), tables)
    weights = np.exp(logs - logsumexp(logs))
    posterior = dc.infer(release_of(mechanism, output))
    assert posterior.log_evidence == pytest.approx(float(logsumexp(logs)), rel=1e-7)
    assert list(posterior.mean.values()) == pytest.approx(list(weights @ (tables + 0.01) / 12.03), rel=1e-6)


@pytest.mark.parametrize(
    ("prior", "power", "grid_bits", "output"), [(0.01, "0.01", 32, (2**32 - 1, 5)), (1, 1, 4, (3, 15))]
)
def test_early_sticks_at_the_far_end_and_coarse_grids_are_read_table_by_table(
    prior: float, power: Any, grid_bits: int, output: tuple[int, int]
) -> None:
    """Their likelihood is no product over cells; as long as all tables can be listed it is exact nevertheless."""
    model = dc.Categories("x", levels=("a", "b", "c"), prior=prior, outside="a")
    mechanism = PosteriorSampling(model, 12, "500", "0.999", power=power, grid_bits=grid_bits)
    tables = np.array(list(compositions(12, 3)))
    logs = model.log_evidence(tables) + mechanism.log_prob(np.array(output), tables)
    assert dc.infer(release_of(mechanism, output)).log_evidence == pytest.approx(float(logsumexp(logs)), rel=1e-12)


def test_an_early_stick_at_the_far_end_is_read_among_many_records_too() -> None:
    """Where tables cannot be listed its factor is made linear around what is expected, and the method says so.

    With two records of a hundred thousand beyond the first cell at most, the slow twin lists all that matter.
    """
    model = dc.Categories("x", levels=("a", "b", "c", "d"), prior=0.5, outside="a")
    mechanism = PosteriorSampling(model, 1_000, "500", "0.999", power=1)
    output = (2**32 - 3, 2**31, 2**30)
    posterior = dc.infer(release_of(mechanism, output))
    assert "taken as linear" in posterior.solutions[0].method
    rest = np.array([row for row in np.ndindex(4, 4, 4) if sum(row) <= 3])
    tables = np.column_stack([1_000 - rest.sum(axis=1), rest])
    logs = model.log_evidence(tables) + mechanism.log_prob(np.array(output), tables)
    weights = np.exp(logs - logsumexp(logs))
    assert posterior.log_evidence == pytest.approx(float(logsumexp(logs)), abs=1e-6)
    means = weights @ (tables + 0.5) / 1_002
    assert list(posterior.mean.values()) == pytest.approx(list(means), rel=1e-6)
