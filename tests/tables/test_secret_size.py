"""Inference where the number of records is secret: against digits computed elsewhere, and readings at every number."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet._core.arrays import Floats
from discreet.inference import CellWeights, CountsOfSecretNumber, Problem, heading, solve
from discreet.mathematics import log_prior_constant
from discreet.mathematics.distributions import BetaTable, MixtureBatch, RestNodes, Share
from discreet.planning import Simulations
from discreet.tables import LaplaceTable
from discreet.tables._secret_size import SecretGroupwiseDistributions

COIN, THREE = (dc.Categories("x", levels=tuple("abc"[:cells]), outside="a") for cells in (2, 3))
CROSSED = dc.Categories(
    ("ward", "fall"), {"ward": ("A", "B", "C"), "fall": ("no", "yes")}, outside={"ward": "A", "fall": "no"}
)


def released(model: Any, output: Sequence[int], epsilon: Any = 1, **more: Any) -> Any:
    """Return a simulated release with a known output: noise is drawn by what gives these numbers."""
    mechanism = LaplaceTable(model, epsilon, **more)
    return dc.Release(mechanism, tuple(output), "known", dc.Unit("one record"), simulated=True)


def two_cells(power: float, z: tuple[int, int] = (3, -1), rate: float = 1.0) -> CountsOfSecretNumber:
    """Return the posterior of two counts with pi(n) ~ (n + 1)^power and a uniform share."""
    values = np.array(z)
    weights = CellWeights(np.ones(2), lambda cells, counts: -rate * np.abs(values[cells] - counts))
    return CountsOfSecretNumber(
        weights, values, values, 1 / rate, lambda n: log_prior_constant(2.0, n) + power * np.log(n + 1.0)
    )


def mean_share(counts: CountsOfSecretNumber) -> tuple[float, float]:
    """Return the expected share of the first cell, and the chance that it is empty."""
    found = counts.beside(np.array([0]))
    weights = found.whole
    k = found.first + np.arange(weights.shape[0])[:, None]
    both = k + found.least_rest + np.arange(weights.shape[1])
    return float(((1 + k) / (2 + both) * weights).sum()), float(weights[k[:, 0] == 0].sum())


@pytest.mark.parametrize(
    ("power", "share", "number", "empty"),
    [
        (0, 0.71091555964613054624, 3.0411408925971941538, 0.07427226105280219873),
        (1, 0.72169941959426483438, 3.6441611183196492224, 0.023319704800838376581),
        (-1, 0.67494058574836476325, 2.2433516732727888198, 0.21467318522394872167),
    ],
)
def test_two_cells_agree_with_digits_computed_elsewhere(power: int, share: float, number: float, empty: float) -> None:
    counts = two_cells(power)
    assert mean_share(counts) == pytest.approx((share, empty), abs=1e-11)
    assert counts.mean_number == pytest.approx(number, abs=1e-10)
    assert counts.lost < 1e-11


def test_the_evidence_of_two_cells_agrees_with_digits_computed_elsewhere() -> None:
    assert two_cells(0).log_sum == pytest.approx(-1.1793953296704532858, abs=1e-12)


@pytest.mark.parametrize("z", [(0, 0), (-4, -6)])
def test_nobody_may_be_there(z: tuple[int, int]) -> None:
    """Noise has no memory: negative counts say as much as 0."""
    counts = two_cells(0, z)
    numbers, chances = counts.number
    assert numbers[0] == 0
    assert chances[0] == pytest.approx(0.6321205588285576784, abs=1e-9)
    assert mean_share(two_cells(0, (0, 0)))[0] == pytest.approx(0.5, abs=1e-9)


def test_the_number_of_records_is_read_from_its_own_sum() -> None:
    posterior = dc.infer(released(COIN, (3, -1)))
    number = posterior.number_of_records
    noise = LaplaceTable(COIN, 1).noise.marginal([0, 0])
    assert noise is not None
    assert np.exp(noise.log_prob(np.array([[0], [3]]))) == pytest.approx(
        [0.28040166191411293962, 0.045856800668993740048], abs=1e-15
    )
    assert number.probabilities[2 - number.first] == pytest.approx(0.30555931429974158067, abs=1e-12)
    assert number.mean == pytest.approx(2.3382500549532547333, abs=1e-10)
    summed = sum(posterior.true_count(cell).mean for cell in "ab")
    assert summed > number.mean + 0.3  # each cell is at least 0, so their sum would be too large


def known_numbers(release: Any, most: int) -> tuple[Floats, list[Any]]:
    """Return the posterior probability of every number of records, and what is read if it is known: the slow twin.

    DiscreteLaplaceCounts has this noise at twice the epsilon; a noisy number of records is one more factor.
    """
    mechanism, epsilon = release.mechanism, 2 * float((1 - release.mechanism.total) * release.mechanism.epsilon)
    cells = len(mechanism.model.cells)
    logs, solutions = [], []
    for n in range(1, most + 1):
        known = dc.tables.DiscreteLaplaceCounts(mechanism.model, n, epsilon)
        made = dc.Release(known, release.output[:cells], "known", dc.Unit("one record"), simulated=True)
        solution = solve(Problem.of([made]))
        own = -float(mechanism.total * mechanism.epsilon) * abs(release.output[-1] - n) if mechanism.total else 0.0
        logs.append(solution.log_evidence + own)
        solutions.append(solution)
    found = np.exp(np.array(logs) - max(logs))
    return found / found.sum(), solutions


@pytest.mark.parametrize(
    ("output", "epsilon", "more", "most"),
    [
        ((3, 7), "0.5", {}, 139),
        ((14, 3, -2), 1, {}, 90),
        ((14, 3, -2, 11), 1, {"total": "1/4"}, 90),
        ((40, 9, 1, 0, -3, 2), "0.7", {"total": "1/5"}, 160),
    ],
)
def test_a_secret_number_is_read_as_the_sum_over_all_numbers(
    output: tuple[int, ...], epsilon: Any, more: dict[str, Any], most: int
) -> None:
    cells = len(output) - bool(more)
    model = dc.Categories("x", levels=tuple(range(cells)), prior=0.7, outside=0)
    posterior = dc.infer(released(model, output, epsilon, **more))
    chances, solutions = known_numbers(released(model, output, epsilon, **more), most)
    numbers = np.arange(1, most + 1)
    shares = sum(
        p * (model.concentration + each.mean_counts) / (model.concentration.sum() + n)
        for p, n, each in zip(chances, numbers, solutions, strict=True)
    )
    # n = 0 is possible as well: the library cannot read it as a known number, so it is left out of both
    counts = posterior.solutions[0].counts
    there, every = counts.number
    above = every[there >= 1] / every[there >= 1].sum()
    assert above[:30] == pytest.approx(chances[:30], abs=2e-11)
    none = float(every[there == 0].sum())
    mean = none * model.concentration / model.concentration.sum() + (1 - none) * np.asarray(shares)
    assert posterior.joint_means == pytest.approx(mean, abs=posterior.joint.weight_error)


def test_two_cells_read_at_every_number_agree_with_a_pin() -> None:
    """Without n = 0, as the pin was computed."""
    chances, solutions = known_numbers(released(COIN, (3, 7), "0.5"), 139)
    numbers = np.arange(1, 140)
    assert float(chances @ numbers) == pytest.approx(9.49601847061579, abs=1e-11)
    counts = two_cells(0, (3, 7), 0.5)
    there, every = counts.number
    above = every[there >= 1] / every[there >= 1].sum()
    inside = there[there >= 1] <= 139
    assert float(above[inside] @ there[there >= 1][inside]) == pytest.approx(9.49601847061579, abs=1e-8)
    shares = [float(p * (1 + s.mean_counts[0]) / (2 + n)) for p, n, s in zip(chances, numbers, solutions, strict=True)]
    assert sum(shares) == pytest.approx(0.35714321990342857, abs=1e-11)


def direct(z_own: int, z_rest: int, noises: tuple[Any, Any], log_h: Any, most: int) -> Any:
    """Return the share of one cell beside the others, from all pairs of counts: nothing is put together."""
    k, rest = (axis.ravel() for axis in np.meshgrid(np.arange(most), np.arange(most), indexing="ij"))
    logs = noises[0].log_prob((z_own - k)[:, None]) + noises[1].log_prob((z_rest - rest)[:, None]) + log_h(k + rest)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    kept = weights > 1e-13
    return Share(weights[kept], 1.0 + k[kept], 1.0 + rest[kept])


@pytest.mark.parametrize(("output", "epsilon"), [((30, 4), 1), ((120, 6), "0.2"), ((2, -1), "0.5")])
def test_shares_agree_with_all_pairs_of_counts(output: tuple[int, int], epsilon: Any) -> None:
    """Rests that are put together move distributions by no more than the rows say."""
    posterior = dc.infer(released(COIN, output, epsilon))
    noise = posterior.releases[0].mechanism.noise
    single = [noise.marginal([0, 1]), noise.marginal([0, 1])]
    rate = float(posterior.releases[0].mechanism.epsilon)

    class One:
        def log_prob(self, values: Any) -> Floats:
            return np.asarray(-rate * np.abs(values[:, 0]))

    twin = direct(*output, (One(), One()), lambda n: -np.log(n + 1.0), 420)
    assert single[0] is not None
    for event, index in (("a", 0), ("b", 1)):
        own = posterior.rows(0.9)[index]
        low, high = twin.interval(0.9) if event == "a" else [1 - x for x in reversed(twin.interval(0.9))]
        slack = float(own.numerical_error or 0) + 1e-9
        assert own.low == pytest.approx(low, abs=slack)
        assert own.high == pytest.approx(high, abs=slack)
        assert own.numerical_error is not None
        assert own.numerical_error < 1e-3


def test_nodes_of_rests_keep_weight_mean_and_variance() -> None:
    steps = np.arange(500)
    weights = np.exp(-0.5 * ((steps - 230) / 40.0) ** 2) + np.exp(-np.abs(steps - 100) / 9.0)
    weights /= weights.sum()
    nodes = RestNodes(weights, 7)
    found = nodes.weights(weights[None])[0]
    assert len(nodes.rests) <= 7 + 9 + 80
    assert (found >= 0).all()
    assert set(range(7, 16)) <= set(nodes.rests.tolist())  # the smallest are their own
    for power in range(3):
        assert found @ nodes.rests**power == pytest.approx(weights @ (7.0 + steps) ** power, rel=1e-12)
    assert np.array_equal(RestNodes(np.ones(90), 3).rests, 3.0 + np.arange(90))


def test_a_table_of_betas_is_a_mixture() -> None:
    generator = np.random.default_rng(20261118)
    weights = generator.random((3, 9, 14))
    weights /= weights.sum(axis=(1, 2), keepdims=True)
    table = BetaTable(weights, np.array([1.0, 4.0, 80.0]), 1.0 + np.tile(np.arange(9.0), (3, 1)) * [[1], [3], [9]])
    for batch, turned in ((MixtureBatch([table]), False), (MixtureBatch([table.turned]), True)):
        for row in range(3):
            slow = MixtureBatch([table]).row(row)
            x = np.full(3, 0.37)
            below = float(slow.cdf(0.63 if turned else 0.37))
            assert batch.cdf(x)[row] == pytest.approx(1 - below if turned else below, abs=1e-13)
            assert batch.mean[row] == pytest.approx(1 - slow.mean if turned else slow.mean, abs=1e-14)
            assert batch.sd[row] == pytest.approx(slow.sd, abs=1e-13)
            ends = [float(slow.quantile(0.05)), float(slow.quantile(0.95))]
            low, high = batch.intervals(0.9)
            wanted = [1 - end for end in reversed(ends)] if turned else ends
            assert [float(low[row]), float(high[row])] == pytest.approx(wanted, abs=1e-10)


def test_everything_that_is_asked_of_a_table_is_answered() -> None:
    counts = [200, 12, 150, 9, 60, 2]
    posterior = dc.infer(dc.simulate(LaplaceTable(CROSSED, 1), counts, dc.SeededBits(5)))
    assert posterior.size == round(posterior.number_of_records.mean)
    assert abs(posterior.size - 433) < 12
    assert sum(row.mean for row in posterior.rows()) == pytest.approx(1, abs=1e-9)
    low, high = posterior.conditional("fall=yes", "ward=A").interval()
    assert 0.02 < low < 12 / 212 < high < 0.12
    for difference in (
        posterior.difference("fall=yes", "ward=C"),
        posterior.risk_difference("fall=yes", "ward=A", "ward=B"),
    ):
        assert np.isfinite(difference.mean)
    assert posterior.ratio("ward=A", "ward=B").median == pytest.approx(212 / 159, rel=0.3)
    assert posterior.margin("ward").mean["A"] == pytest.approx(212 / 433, abs=0.05)
    assert posterior.margin("fall").size == posterior.size
    sizes = posterior.group_sizes("ward")
    assert all(low - 8 <= n <= high + 8 for (low, high), n in zip(sizes, (212, 159, 62), strict=True))
    assert posterior.true_count("fall=yes").interval().low >= 0
    assert sum(posterior.table.mean.values()) == pytest.approx(1, abs=1e-9)
    assert posterior.table.margin("ward").mean["A"] == pytest.approx(
        sum(posterior.table.mean[cell] for cell in CROSSED.cells[:2]), abs=1e-6
    )
    drawn = posterior.draws(200, seed=1)["theta"]
    assert drawn.sum(axis=1) == pytest.approx(np.ones(200))
    assert posterior.predictive("fall=yes", 10).mean == pytest.approx(10 * posterior.probability("fall=yes").mean)
    assert f"about {posterior.size} records" in heading(posterior)
    facts: Any = posterior.facts()["number_of_records"]
    assert facts["probability_of_none"] == 0
    for refused in (
        lambda: posterior.pooled("fall=yes", "ward"),
        lambda: posterior.differ("fall=yes", "ward"),
        posterior.bayes_remap,
    ):
        with pytest.raises(dc.DeclarationError, match="keeps the number of records secret"):
            refused()


def test_a_table_without_records_says_so() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        posterior = dc.infer(released(THREE, (0, 0, 0), 2))
    assert posterior.number_of_records.first == 0
    facts: Any = posterior.facts()["number_of_records"]
    assert facts["probability_of_none"] > 0.3
    assert all((row.low, row.high) == pytest.approx((0, row.high)) and row.high > 0.6 for row in posterior.rows())
    assert "prior" in " ".join(posterior.remarks()) or "beforehand" in " ".join(posterior.remarks())


def test_two_releases_of_the_same_table_are_read_together() -> None:
    counts = [70, 20, 10]
    made = [dc.simulate(LaplaceTable(THREE, 1), counts, dc.SeededBits(seed), f"r{seed}") for seed in (1, 2)]
    both = dc.infer(*made)
    assert both.number_of_records.sd < dc.infer(made[0]).number_of_records.sd
    assert isinstance(both.distributions, SecretGroupwiseDistributions)
    sized = dc.simulate(dc.GeometricHistogram(THREE, 100, 1), counts, dc.SeededBits(3), "sized")
    with pytest.raises(dc.DeclarationError, match="sizes differ"):
        dc.infer(made[0], sized)


@pytest.mark.parametrize("epsilon", [8, 16, 24])
def test_so_little_noise_that_one_number_is_nearly_certain_is_read(epsilon: int) -> None:
    posterior: Any = dc.infer(dc.simulate(LaplaceTable(COIN, epsilon), [2520, 1004], dc.SeededBits(1)))
    assert posterior.mean["a"] == pytest.approx(2521 / 3526, abs=1e-4)


def test_a_width_that_no_epsilon_gives_is_searched_beyond_what_can_be_read() -> None:
    assert Simulations(about=300).solve_for_width(LaplaceTable(COIN, 2), 0.01, "epsilon", 4) is None


def test_less_noise_than_rounding_is_refused_in_words() -> None:
    with pytest.raises(dc.DiscreetError, match="rounding hides all numbers of records but one"):
        dc.infer(dc.simulate(LaplaceTable(COIN, 48), [2520, 1004], dc.SeededBits(1)))
