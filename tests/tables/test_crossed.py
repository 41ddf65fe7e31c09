"""All cells read together under the crossed prior: exact moves, what they leave alone, and what the reader is told."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.inference import Problem
from discreet.mathematics.distributions import SampledShare, SampledShares
from discreet.tables import (
    CategoriesPosterior,
    DiscreteGaussianCounts,
    DiscreteGaussianHistogram,
    DiscreteLaplaceCounts,
)
from discreet.tables._crossed import CrossedChains, CrossedPrior
from discreet.tables._crossed_solver import (
    CrossedSolver,
    cell_noise,
    projected,
    rounded_tables,
    starting_tables,
)
from discreet.tables._group_distributions import JointPosterior
from discreet.tables._pair_moves import CellNoise, GaussianCells, LaplaceCells

CHANCE = 4.5  # standard errors: one false alarm in 150,000
WARD = dc.Categories(
    ("ward", "fall"), {"ward": tuple("ABCDEF"), "fall": ("no", "yes")}, outside={"ward": "A", "fall": "no"}
)


def slow_law(noise: CellNoise, total: int, log_odds: float) -> np.ndarray:
    """Return the log weights of k = 0, ..., s for two cells, term by term."""
    found = []
    for k in range(total + 1):
        log = k * log_odds
        if isinstance(noise, LaplaceCells):
            for (one, two), rate in zip(noise.noisy, noise.rates, strict=True):
                log -= rate * (abs(one - k) + abs(two - total + k))
        elif isinstance(noise, GaussianCells):
            one, two = noise.noisy
            log -= ((one - k) ** 2 + (two - total + k) ** 2) / (2 * noise.variance)
        found.append(log)
    return np.array(found)


PAIRS: dict[str, tuple[CellNoise, int, float]] = {
    "the pin": (LaplaceCells(np.array([[5, 1]]), np.array([0.5])), 7, float(np.log((4 / 5) / (0.5 / 1.5)))),
    "both breaks beyond the sum": (LaplaceCells(np.array([[40, -9]]), np.array([0.05])), 12, -0.3),
    "flat": (LaplaceCells(np.array([[20, 3]]), np.array([0.2])), 10, -0.4),
    "two releases": (LaplaceCells(np.array([[9, 1], [4, 6]]), np.array([0.5, 0.1])), 14, 0.2),
    "sharp": (LaplaceCells(np.array([[3, 900]]), np.array([2.5])), 903, 0.0),
    "nothing": (LaplaceCells(np.array([[3, -2]]), np.array([1.0])), 0, 1.0),
    "Gaussian": (GaussianCells(np.array([11.0, -2.0]), 30.0), 15, 0.1),
    "Gaussian, little noise": (GaussianCells(np.array([6.0, 7.0]), 0.4), 14, -0.2),
    "Gaussian, far outside": (GaussianCells(np.array([-60.0, 80.0]), 16.0), 20, 0.3),
    "Gaussian, far above": (GaussianCells(np.array([80.0, -60.0]), 16.0), 20, 0.0),
}


@pytest.mark.parametrize("name", PAIRS)
def test_counts_of_pairs_are_drawn_by_their_law(name: str) -> None:
    """Weighted by Metropolis's rule from exact draws, proposals stay exact; their mean weight is the law's sum."""
    noise, total, log_odds = PAIRS[name]
    logs = slow_law(noise, total, log_odds)
    chances = np.exp(logs - logs.max())
    chances, count = chances / chances.sum(), 40_000
    generator = np.random.default_rng(5)
    zeros = np.zeros(count, dtype=np.int64)
    pairs, odds = noise.pairs(zeros, zeros + 1, zeros + total), np.full(count, log_odds)
    proposed, weights = pairs.proposed(odds, generator)
    assert ((proposed >= 0) & (proposed <= total)).all()
    np.testing.assert_allclose(weights, pairs.log_weights(odds, proposed), atol=1e-9)
    if isinstance(noise, LaplaceCells):
        np.testing.assert_allclose(weights, np.logaddexp.reduce(logs), atol=1e-9)
    now = generator.choice(total + 1, size=count, p=chances)
    taken = np.log(generator.random(count)) < weights - pairs.log_weights(odds, now)
    found = np.bincount(np.where(taken, proposed, now), minlength=total + 1) / count
    error = np.sqrt(chances * (1 - chances) / count)
    assert (np.abs(found - chances) <= CHANCE * error + 3 / count).all()
    assert taken.mean() > 0.9


def test_the_pinned_pair_has_its_law() -> None:
    noise, total, log_odds = PAIRS["the pin"]
    logs = slow_law(noise, total, log_odds)
    wanted = (0.0000148456, 0.0000968505, 0.000631841, 0.0041220523, 0.02689176, 0.175438518, 0.421052443, 0.37175169)
    assert np.exp(logs - np.logaddexp.reduce(logs)) == pytest.approx(wanted, abs=1e-9)


@dataclass(frozen=True)
class TwoClasses(CrossedPrior):
    """Two flat classes of means .5 and 20."""

    @cached_property
    def crossed(self) -> int:
        return 0

    @property
    def flat(self) -> float:
        return 1.0

    @cached_property
    def log_scales(self) -> np.ndarray:
        return np.log([0.5, 20.0])


def test_chains_agree_with_fixed_classes_whose_sums_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """E k_1 and P(k_1 = 50) of the pinned table, whose shares of classes stay even."""
    monkeypatch.setattr(CrossedChains, "_draw_shares", lambda *_: None)
    z = np.array([[50, 3, -2, 0, 1, -1, 0, 2, -3, 0]])
    noise, generator = LaplaceCells(z, np.array([0.5])), np.random.default_rng(7)
    chains = CrossedChains(TwoClasses((10,), 50), noise, starting_tables(noise, 50, 400, generator), generator)
    kept = []
    for number in range(90):
        chains.sweep()
        assert (chains.counts.sum(axis=1) == 50).all()
        if number >= 30:
            kept.append(chains.counts[:, 0].copy())
    drawn = np.array(kept)
    for found, wanted in ((drawn, 47.1547424055), (drawn == 50, 0.0904448968)):
        means = found.mean(axis=0)
        assert abs(means.mean() - wanted) <= CHANCE * means.std() / np.sqrt(400)


def test_two_counts_agree_with_every_table_listed() -> None:
    """Of three crossed cells with given scales and classes, the chains' law is that of all tables, one by one."""
    noise, size = LaplaceCells(np.array([[4, 1, -1]]), np.array([0.3])), 4
    odds = np.array([0.9, 0.5, 0.2])
    tables = np.array([k for k in product(range(size + 1), repeat=3) if sum(k) == size])
    logs = (tables * np.log(odds)).sum(axis=1) - 0.3 * np.abs(tables - noise.noisy[0]).sum(axis=1)
    chances = np.exp(logs - np.logaddexp.reduce(logs))
    generator, chains = np.random.default_rng(3), 30_000
    counts = tables[generator.choice(len(tables), size=chains, p=chances)]
    for one, two in ((0, 1), (1, 2), (2, 0)):
        sums, first = counts[:, one] + counts[:, two], np.full(chains, one)
        pairs = noise.pairs(first, np.full(chains, two), sums)
        counts[:, one], _ = pairs.proposed(np.full(chains, np.log(odds[one] / odds[two])), generator)
        counts[:, two] = sums - counts[:, one]
    found = np.array([(counts == table).all(axis=1).mean() for table in tables])
    assert (np.abs(found - chances) <= CHANCE * np.sqrt(chances / chains) + 3 / chains).all()


def released(kind: Any = dc.GeometricHistogram, epsilon: Any = 1, **more: Any) -> dc.Release:
    counts = (80, 3, 60, 2, 70, 10, 40, 1, 20, 1, 12, 1)
    return dc.simulate(kind(WARD, 300, epsilon, **more), counts, dc.SeededBits(3))


@pytest.fixture(scope="module")
def posterior() -> CategoriesPosterior:
    found: CategoriesPosterior = dc.infer(released())
    return found


def test_far_starts_find_the_same_margins() -> None:
    """Chains from the projection of the noisy counts, and from even tables, differ by what errors explain."""
    problem: Any = Problem.of([released()])
    noise, prior = cell_noise(problem), CrossedPrior((6, 2), 300)
    assert noise is not None
    means, errors = [], []
    for seed, values in enumerate((projected(noise.middle, 300), np.full(12, 25.0))):
        starts = rounded_tables(np.tile(values, (40, 1)), 300)
        chains = CrossedChains(prior, noise, starts, np.random.default_rng(seed))
        kept = []
        for number in range(160):
            chains.sweep()
            if number >= 60:
                rates = chains.rates()
                kept.append((rates / rates.sum(axis=1, keepdims=True)).reshape(40, 6, 2).sum(axis=2))
        own = np.mean(kept, axis=0)
        means.append(own.mean(axis=0))
        errors.append(own.std(axis=0) / np.sqrt(40))
    assert (np.abs(means[0] - means[1]) <= CHANCE * np.hypot(*errors)).all()


@pytest.mark.parametrize(
    "release",
    [
        released(),
        released(DiscreteLaplaceCounts),
        released(DiscreteGaussianCounts, delta="1e-6"),
        released(DiscreteGaussianHistogram, delta="1e-6"),
    ],
    ids=lambda release: type(release.mechanism).__name__,
)
def test_every_draw_has_all_records_and_every_noise_of_cells_is_read(release: dc.Release) -> None:
    found = dc.infer(release)
    sample = found.sample(240, seed=1)
    assert sample.chains == 24
    assert (sample.behind.sum(axis=1) == 300).all()
    assert sample.parameters["theta"].sum(axis=1) == pytest.approx(np.ones(240))
    assert found.is_crossed
    assert "24 Markov chains" in found.table.method
    assert found.table.facts()["r_hat"] < 1.5


def test_means_are_those_of_the_draws_and_errors_are_stated(posterior: CategoriesPosterior) -> None:
    table = posterior.table
    assert table.mean == posterior.mean
    assert sum(table.mean.values()) == pytest.approx(1, abs=1e-12)
    theta = posterior.draws(4_000, seed=2)["theta"]
    rows = table.rows()
    for row, drawn in zip(rows, theta.T, strict=True):
        assert row.monte_carlo_error is not None
        assert row.numerical_error is None
        assert abs(drawn.mean() - row.mean) <= CHANCE * 2 * row.monte_carlo_error
        assert table.probability(row.quantity).mean == pytest.approx(row.mean, rel=1e-12)
        assert table.interval(("A", "no")) == table.probability(("A", "no")).interval()
    assert posterior.rows()[0].monte_carlo_error is not None  # its mean is the joint one
    assert posterior.log_evidence == dc.infer(*posterior.releases, prior="learnt").log_evidence
    assert isinstance(posterior.joint, JointPosterior)


def test_what_draws_say_is_what_intervals_say(posterior: CategoriesPosterior) -> None:
    """Whoever takes draws and opens them by the stated rule gets the interval, up to Monte Carlo error."""
    table, theta = posterior.table, posterior.draws(4_000, seed=4)["theta"]
    for place, row in enumerate(table.rows()):
        found = SampledShare(theta[:, place]).interval()
        assert found.high == pytest.approx(row.high, abs=0.25 * row.sd)
        assert (found.low == 0) == (row.low == 0) or row.low < 0.25 * row.sd
        if row.low > 0 and found.low > 0:
            assert found.low == pytest.approx(row.low, abs=0.25 * row.sd)


def test_margins_and_questions_of_the_joint_table_are_sums_over_its_draws(posterior: CategoriesPosterior) -> None:
    table = posterior.table
    margin = table.margin("ward")
    assert margin.mean["A"] == pytest.approx(table.probability("ward=A").mean, rel=1e-12)
    assert margin.interval("A") == table.probability("ward=A").interval()
    assert margin.draws(10, seed=1)["theta"].sum(axis=1) == pytest.approx(np.ones(10))
    assert (margin.sample(48).behind.sum(axis=1) == 300).all()
    assert margin.true_count("A").mean == pytest.approx(table.true_count("ward=A").mean)
    own = posterior.margin("ward")
    assert not own.is_crossed  # from sums of its own
    rate, odds = table.conditional("fall=yes", "ward=A"), table.ratio(("A", "yes"), ("A", "no"))
    low, high = rate.interval()
    assert 0 <= low < rate.mean < high < 0.2
    assert odds.interval().high == pytest.approx(high / (1 - high), rel=1e-6)
    assert table.predictive("fall=yes", 50).mean == pytest.approx(50 * table.probability("fall=yes").mean, rel=1e-9)
    assert 0 < table.probability_that("ward=A, fall=yes > 0.01") < 1
    assert table.quantity(lambda each: each[:, 0]).mean == pytest.approx(table.mean["A", "no"], abs=0.01)
    assert len(posterior.synthesize(20, seed=1)["ward"]) == 20
    assert posterior.prior_sample(5, np.random.default_rng(1)).parameters["theta"].sum(axis=1) == pytest.approx(1)


def test_the_tree_for_arviz_has_the_chains(posterior: CategoriesPosterior) -> None:
    tree = posterior.to_arviz(1_200, seed=1)
    assert tree["posterior"]["theta"].shape == (24, 50, 12)
    (likelihood,) = tree["log_likelihood"].data_vars.values()
    assert likelihood.shape == (24, 50)
    assert tree.attrs["r_hat"] == pytest.approx(posterior.table.facts()["r_hat"])


@pytest.mark.parametrize("release", [released(), released(epsilon="0.1")], ids=["epsilon 1", "epsilon 0.1"])
def test_the_closest_point_is_closest_among_its_neighbours(release: dc.Release) -> None:
    """Its quantiles have one level, so moving share from one cell to another takes it further from the draws."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dc.infer(release)
        point = np.array(list(found.closest().values()))
        shares = found.together.cells(range(12))
    assert isinstance(shares, SampledShares)
    assert point.sum() == pytest.approx(1, abs=1e-12)
    levels = (shares.draws <= point).mean(axis=0)
    assert np.ptp(levels) <= 3 / len(shares.draws)

    def expected(at: np.ndarray) -> float:
        return float(np.abs(shares.draws - at).sum(axis=1).mean())

    best = expected(point)
    assert best <= expected(shares.mean) + 1e-12
    for one, two in ((0, 1), (3, 8), (11, 2)):
        for step in (0.002, -0.002):
            moved = point.copy()
            moved[[one, two]] += (step, -step)
            assert expected(moved) >= best - 1e-9


def test_the_closest_point_of_two_levels_is_the_median() -> None:
    coin = dc.Categories("answer", levels=("no", "yes"), outside="no")
    found = dc.infer(dc.simulate(dc.GeometricHistogram(coin, 100, 1), (90, 10), dc.SeededBits(1)))
    assert found.closest()["yes"] == pytest.approx(found.median["yes"], abs=1e-6)


def test_other_priors_few_cells_and_other_noise_are_read_as_before() -> None:
    solver = CrossedSolver()
    declared = dc.GeometricHistogram(WARD.with_prior(1), 300, 1)
    three = dc.GeometricHistogram(dc.Categories("x", (0, 1, 2), outside=0), 300, 1)
    many = dc.GeometricHistogram(dc.Categories("x", tuple(range(10_001)), outside=0), 300, 1)
    draw = dc.PosteriorSampling.tempered(WARD, size=300, epsilon=2, delta="1e-4")
    for mechanism, why in (
        (declared, "a prior was declared"),
        (three, "10 to 10,000 cells; this table has 3"),
        (many, "this table has 10,001"),
        (draw, "Laplace or Gaussian noise of every single cell"),
    ):
        assert why in str(solver.rejection(Problem.before(mechanism)))
    assert not dc.infer(dc.simulate(declared, [25] * 12, dc.SeededBits(1))).is_crossed
    assert not dc.infer(released(), prior=1).is_crossed
    assert dc.infer(released(), prior="none").is_crossed


def test_work_is_stated_and_bounded_for_every_size() -> None:
    """About 300 operations for each cell, chain and sweep: 2e7 of these at most, some 20 CPU seconds."""
    for cells in (10, 100, 1_000, 1_001, 2_500, 2_501, 10_000):
        mechanism = dc.GeometricHistogram(dc.Categories("x", tuple(range(cells)), outside=0), 1_000, 1)
        problem = Problem.before(mechanism)
        assert CrossedSolver().rejection(problem) is None
        assert CrossedSolver().cost(problem).operations <= 300 * 2e7 * 1.001


def test_draws_that_hold_less_than_they_state_say_so() -> None:
    """A draw from a posterior has no noise of single cells: it is read under one Dirichlet prior, as the draws say."""
    mechanism = dc.PosteriorSampling.tempered(WARD, size=300, epsilon=2, delta="1e-4")
    found = dc.infer(dc.simulate(mechanism, [25] * 12, dc.SeededBits(2)))
    for name, given in (("draws", 5), ("to_arviz", 50), ("synthesize", 3), ("sample", 5)):
        with pytest.warns(dc.UncalibratedDrawsWarning, match="Read intervals from posterior.interval"):
            getattr(found, name)(given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dc.infer(released()).draws(5)
        found.rows()


def test_noise_wider_than_the_mean_count_of_a_cell_is_told_to_who_reads_all_cells_together() -> None:
    """300 records in 12 cells are 25 in each; the noise of a cell has a standard deviation of sqrt(8) / epsilon."""
    asked: tuple[Callable[[Any], object], ...] = (
        lambda own: own.table, lambda own: own.draws(5), lambda own: own.sample(24),
    )  # fmt: skip
    for ask in asked:
        with pytest.warns(dc.UncalibratedDrawsWarning, match="of 28.3 in every cell, where cells hold 25 records"):
            ask(dc.infer(released(epsilon="0.1")))
    with warnings.catch_warnings():
        warnings.simplefilter("error", dc.UncalibratedDrawsWarning)
        dc.infer(released(epsilon="0.1")).probability("ward=A").interval()
        for ask in asked:
            ask(dc.infer(released(epsilon="0.12")))  # 23.6


def test_chains_that_do_not_agree_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.tables._crossed_solver._BAD_R_HAT", 1.0)
    found = dc.infer(released())
    with pytest.warns(dc.ConvergenceWarning, match="Treat means and draws of all cells as rough"):
        found.rows()


def test_tables_near_noisy_counts_are_whole_and_complete() -> None:
    values = np.array([[5.5, -3.0, 2.5, 0.0], [100.0, 0.0, 0.0, 0.0]])
    near = projected(values, 8)
    assert near.sum(axis=1) == pytest.approx([8, 8])
    assert near[0] == pytest.approx([5.5, 0, 2.5, 0])
    assert near[1] == pytest.approx([8, 0, 0, 0])
    assert rounded_tables(near, 8).tolist() == [[6, 0, 2, 0], [8, 0, 0, 0]]


def test_draws_of_a_share_are_opened_where_the_shortest_interval_begins_at_0() -> None:
    generator = np.random.default_rng(1)
    rare, middle = generator.beta(1, 200, 2_000), generator.beta(20, 200, 2_000)
    assert SampledShare(rare).interval().low == 0
    assert SampledShare(1 - rare).interval().high == 1
    assert SampledShare(middle).interval().low > 0.05
    assert SampledShare(middle).opened() == (False, False)
    batch = SampledShares(np.stack([rare, 1 - rare, middle], axis=1), 1)
    low, high = batch.ends(0.9)
    for place in range(3):
        assert batch.row(place).interval() == pytest.approx((low[place], high[place]))
