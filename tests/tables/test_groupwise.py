"""Own sums: pins, a slow twin that goes through all tables, and every question of a table without a declared prior."""

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp
from scipy.stats import beta as beta_law

import discreet as dc
from discreet._core.errors import PriorOutweighsWarning
from discreet.inference import Problem
from discreet.mathematics.distributions._dirichlet import Share
from discreet.mechanism import sized
from discreet.noise import log_terms
from discreet.privacy import compositions
from discreet.tables import NoisyCounts
from discreet.tables._group_distributions import GroupwiseDistributions
from discreet.tables._groupwise import GroupwiseInference

Floats = NDArray[np.float64]


def table_of(cells: int, **given: Any) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(cells)), outside=0, **given)


def released(mechanism: Any, output: Sequence[int]) -> dc.Release:
    return dc.Release(mechanism, tuple(output), "own sums", simulated=True)


def law_of(release: dc.Release, *groups: Sequence[int]) -> dict[tuple[int, ...], float]:
    """Return the posterior of the counts of all parts but the last, by their values."""
    parts = GroupwiseInference(Problem.of([release])).parts(*(np.array(group) for group in groups))
    if len(groups) == 1:
        counts, weights = parts.counts.sum_of(parts.indices[0])
        return {(int(count),): float(weight) for count, weight in zip(counts, weights, strict=True)}
    one, two, weights, *_ = parts.counts.pair_of_sums(*parts.indices[:2])
    return {(int(a), int(b)): float(w) for a, b, w in zip(one, two, weights, strict=True)}


def summed_out(release: dc.Release, groups: Sequence[Sequence[int]]) -> dict[tuple[int, ...], float]:
    """Return the law by the slow twin: noise of every cell over a wide range, added up within parts.

    P(z | k_S) = sum over all noise rows with these sums. By direct convolution, cell by cell.
    """
    mechanism, z = sized(release.mechanism), np.array(release.output)
    rest = sorted(set(range(len(z))) - {cell for group in groups for cell in group})
    parts = [list(group) for group in groups] + ([rest] if rest else [])
    r, reach = np.exp(-float(mechanism.guarantee.epsilon) / 2), 400
    one = r ** np.abs(np.arange(-reach, reach + 1.0))
    kernels = []
    for part in parts:
        kernel = np.ones(1)
        for _ in part:
            kernel = np.convolve(kernel, one)
        kernels.append(kernel)
    found = {}
    for table in compositions(mechanism.size, len(parts)):
        weight = 1.0
        for count, part, kernel in zip(table, parts, kernels, strict=True):
            weight *= kernel[int(z[part].sum()) - count + len(part) * reach]
        found[tuple(table[: len(groups)])] = weight
    total = sum(found.values())
    return {key: weight / total for key, weight in found.items()}


def test_the_law_of_a_sum_of_two_cells_of_four_is_the_one_found_by_hand() -> None:
    release = released(dc.GeometricHistogram(table_of(4), size=6, epsilon=1), (3, -1, 2, 2))
    wanted = (0.125049664, 0.196257131, 0.249548855, 0.196257131, 0.125049664, 0.070752364, 0.037085192)
    found = law_of(release, [0, 1])
    assert [found[count,] for count in range(7)] == pytest.approx(wanted, abs=1e-9)
    assert dc.infer(release).probability([0, 1]).mean == pytest.approx(0.42007473250601784, abs=1e-14)


def test_ten_cells_of_which_one_holds_all_are_read_as_they_were_by_hand() -> None:
    z = (50, 3, -2, 0, 1, -1, 0, 2, -3, 0)
    mechanism = dc.GeometricHistogram(table_of(10), size=50, epsilon=1)
    posterior = dc.infer(released(mechanism, z))
    strengths = [reading.model.prior[0] for reading in posterior.solutions]
    assert strengths == pytest.approx((0.2, 0.34199519, 0.58480355, 1), abs=1e-8)
    evidences = [reading.log_evidence for reading in posterior.solutions]
    wanted = np.array((-13.09005612, -15.48687181, -18.70312393, -22.75558299))
    assert np.diff(evidences) == pytest.approx(np.diff(wanted), abs=2e-8)
    normaliser = [measurement.noise.log_normaliser for measurement in Problem.of(posterior.releases).measurements]
    assert evidences[0] + normaliser[0] == pytest.approx(wanted[0], abs=1e-8)
    assert posterior.strength_probabilities == pytest.approx((0.9134751, 0.0831329, 0.0033341, 0.0000579), abs=1e-7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PriorOutweighsWarning)
        means = [dc.infer(posterior.releases[0], prior="none", strengths=[s]).mean[0] for s in strengths]
    assert means == pytest.approx((0.92548922, 0.88040102, 0.81368678, 0.72046508), abs=1e-8)
    assert posterior.joint.means[0] == pytest.approx(0.92135627, abs=1e-8)
    assert posterior.probability(0).mean == pytest.approx(0.95459504, abs=1e-8)


@pytest.mark.parametrize("groups", [[[0]], [[1, 2]], [[0, 3, 4]], [[0], [1, 2]], [[3], [4]], [[0, 1], [2, 3, 4]]])
@pytest.mark.parametrize("kind", [dc.GeometricHistogram, dc.tables.DiscreteLaplaceCounts])
def test_sums_are_read_as_adding_up_all_noise_reads_them(groups: list[list[int]], kind: type[NoisyCounts]) -> None:
    release = released(kind(table_of(5), size=12, epsilon="0.8"), (9, -2, 3, 5, -3))
    found, slow = law_of(release, *groups), summed_out(release, groups)
    for counts, chance in slow.items():
        key = counts if sum(map(len, groups)) < 5 or len(groups) == 1 else counts[: len(groups)]
        assert found.get(key, 0.0) == pytest.approx(chance, abs=1e-12)


def test_gaussian_sums_are_read_as_adding_up_all_noise_reads_them() -> None:
    mechanism = dc.tables.DiscreteGaussianCounts(table_of(4), size=9, epsilon="2", delta="1e-3")
    release = released(mechanism, (5, 1, -2, 6))
    noise = mechanism.evidence(release.counts)[0].noise
    steps = np.arange(-60, 61)
    one = np.exp(log_terms(noise.structure, steps, np.zeros(len(steps), dtype=int)))
    pair = np.convolve(one, one)
    weights = np.array([pair[6 - k + 120] * pair[4 - (9 - k) + 120] for k in range(10)])
    found = law_of(release, [0, 1])
    assert [found.get((k,), 0.0) for k in range(10)] == pytest.approx(list(weights / weights.sum()), abs=1e-12)


def test_a_collapse_of_a_collapse_is_the_collapse() -> None:
    noise = dc.GeometricHistogram(table_of(6), size=20, epsilon="0.5").evidence(np.zeros(6, dtype=int))[0].noise
    three, two = noise.marginal([0, 1, 1, 2, 2, 2]), noise.marginal([0, 0, 0, 1, 1, 1])
    assert three is not None
    assert two is not None
    steps, places = np.arange(-400, 401), np.zeros(801, dtype=int)
    single, pair = (np.exp(log_terms(three.structure, steps, places + part)) for part in (0, 1))
    inside = np.convolve(single, pair)[400:-400]
    assert inside[300:501] == pytest.approx(
        np.exp(log_terms(two.structure, steps[300:501], places[300:501])), rel=1e-11
    )


@pytest.mark.parametrize("epsilon", ["0.1", "1", "3"])
@pytest.mark.parametrize("output", [(70, 30), (100, 0), (104, -4), (-30, 130)])
def test_two_levels_are_read_as_uniform_shares_and_only_opened_ends_differ(
    epsilon: str, output: tuple[int, int]
) -> None:
    model = table_of(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = dc.infer(released(dc.GeometricHistogram(model, size=100, epsilon=epsilon), output))
        before = dc.infer(found.releases[0], prior=1)
    assert found.mean == before.mean
    assert found.log_evidence == before.log_evidence
    assert found.true_count(1).probabilities.tolist() == before.true_count(1).probabilities.tolist()
    for cell in found.mean:
        low, high = found.interval(cell, 0.9)
        old = before.interval(cell, 0.9)
        assert low in (0.0, old.low)
        assert high in (1.0, old.high)


@pytest.mark.parametrize("output", [(-400, 900), (900, -400)])
def test_far_out_sums_give_a_finite_law_with_its_mass_at_the_bound(output: tuple[int, int]) -> None:
    cells = 40  # sd of a sum of 20 cells: 2.8 sqrt(20 * 20 / 40) / 0.3, about 30
    z = np.zeros(cells, dtype=int)
    z[0], z[20] = output
    release = released(dc.GeometricHistogram(table_of(cells), size=500, epsilon="0.3"), z.tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        law = dc.infer(release).true_count(list(range(20)))
    assert np.isfinite(law.probabilities).all()
    assert law.probabilities.sum() == pytest.approx(1)
    peak = law.first + int(law.probabilities.argmax())
    assert peak == (0 if output[0] < 0 else 500)
    assert law.sd < 40


def test_shares_in_a_choice_are_read_table_by_table_with_uniform_parts() -> None:
    model = table_of(4)
    mechanism = dc.choices.PermuteAndFlip(model, size=6, epsilon=2)
    release = dc.simulate(mechanism, (3, 2, 1, 0), dc.SeededBits(5))
    tables = np.array(list(compositions(6, 4)))
    logs = mechanism.log_prob(release.counts, tables)
    inside = tables[:, :2].sum(axis=1)
    logs = logs - np.log(inside + 1.0) - np.log(6 - inside + 1.0)  # splits of a part of two cells are uniform
    chances = np.bincount(inside, np.exp(logs - logsumexp(logs)), 7)
    found = law_of(release, [0, 1])
    assert [found.get((count,), 0.0) for count in range(7)] == pytest.approx(list(chances), abs=1e-12)


def test_drawn_probabilities_add_up_within_parts() -> None:
    model = table_of(5, prior=1)
    mechanism = dc.PosteriorSampling.tempered(model, size=200, epsilon=1, delta="1e-6")
    release = dc.simulate(mechanism, (100, 60, 20, 15, 5), dc.SeededBits(6))
    (rows,) = mechanism.drawn_rows(release.counts)
    theta = np.array(mechanism.first_draw(release.counts)) if rows.draws == 1 else None
    assert theta is not None
    share, counts, tau = float(theta[:2].sum()), np.arange(201), float(rows.power)
    logs = beta_law.logpdf(share, 2 + tau * counts, 3 + tau * (200 - counts))
    found = law_of(release, [0, 1])
    wanted = np.exp(logs - logsumexp(logs))
    assert [found.get((int(k),), 0.0) for k in counts] == pytest.approx(list(wanted), abs=1e-6)


def test_an_interval_is_opened_where_the_shortest_one_holds_zero() -> None:
    """Against the definition: the mass where the density exceeds that at 0, summed on a fine grid."""
    generator = np.random.default_rng(20261116)
    seen = set()
    for size, epsilon, z in [
        (100, 0.1, 5),
        (100, 1.0, 2),
        (100, 1.0, 9),
        (1000, 0.1, 60),
        (50, 0.5, -3),
        (80, 0.3, 20),
    ]:
        counts = np.arange(size + 1)
        weights = np.exp(-epsilon * np.abs(z - counts) + generator.normal(0, 1e-9, size + 1))
        shapes: Floats = np.array([counts + 1, size - counts + 1], dtype=float)
        law = Share(weights / weights.sum(), *shapes)
        edges = np.linspace(0, 1, 5_001)[1:-1]
        at_zero = law.weights[0] * (size + 1)
        higher = np.exp(law.log_density(edges)) > at_zero
        mass = float(np.diff(law.cdf(edges))[higher[:-1]].sum())
        for level in (0.5, 0.9, 0.95):
            if abs(mass - level) > 0.002:
                assert (law.interval(level).low == 0) == (mass <= level)
                seen.add(mass <= level)
    assert seen == {True, False}


def crossed() -> dc.Categories:
    levels = {"ward": ("A", "B", "C"), "fall": ("no", "yes")}
    return dc.Categories(("ward", "fall"), levels=levels, outside={"ward": "A", "fall": "no"})


@pytest.fixture(scope="module")
def posterior() -> dc.tables.CategoriesPosterior:
    mechanism = dc.GeometricHistogram(crossed(), size=600, epsilon="0.5")
    return dc.infer(dc.simulate(mechanism, (180, 20, 150, 50, 160, 40), dc.SeededBits(8)))


def test_two_readings_are_two_objects(posterior: dc.tables.CategoriesPosterior) -> None:
    table = posterior.table
    assert table is not posterior
    assert table.table is table
    assert isinstance(posterior.distributions, GroupwiseDistributions)
    assert table.mean == posterior.mean
    assert sum(posterior.mean.values()) == pytest.approx(1, abs=1e-12)
    parts = [table.probability(cell).mean for cell in table.model.cells]
    assert sum(parts) == pytest.approx(1, abs=1e-12)
    assert sum(parts[1::2]) == pytest.approx(table.probability("fall=yes").mean, abs=1e-12)
    assert posterior.draws(10, seed=1)["theta"] == pytest.approx(table.draws(10, seed=1)["theta"])
    assert posterior.log_evidence == table.log_evidence
    assert "own noisy sum" in str(posterior).splitlines()[-1]
    learnt_line = r"Means and intervals: from all cells together, with a learnt prior strength \((.*)\)\."
    assert re.sub(learnt_line, r"\1", str(table).splitlines()[-1]).endswith(" records in all, of 2 to 6")
    learnt = dc.infer(*posterior.releases, prior="learnt")
    assert learnt.rows(0.9) == table.rows(0.9)


def test_rows_are_worked_out_once_for_each_reading_and_level(posterior: dc.tables.CategoriesPosterior) -> None:
    assert posterior.rows() is posterior.rows(0.9)
    assert posterior.rows(0.5)[0].low > posterior.rows()[0].low
    assert posterior.table.rows()[0].low != posterior.rows()[0].low
    unsuited: Any = [0.9]
    with pytest.raises(dc.DeclarationError, match="between 0 and 1"):
        posterior.rows(unsuited)


def test_every_question_agrees_with_draws_of_its_own_parts(posterior: dc.tables.CategoriesPosterior) -> None:
    rate = posterior.conditional("fall=yes", given="ward=B")
    low, high = rate.interval(0.9)
    effect = posterior.risk_difference("fall=yes", "ward=B", "ward=A", draws=40_000)
    other = posterior.conditional("fall=yes", given="ward=A")
    assert effect.mean == pytest.approx(rate.mean - other.mean, abs=0.01)  # three parts, five parts: priors differ
    assert low < rate.mean < high
    difference = posterior.difference_distribution("ward=B", "ward=A", draws=40_000)
    assert difference.mean == pytest.approx(
        posterior.probability("ward=B").mean - posterior.probability("ward=A").mean, abs=0.01
    )
    overlap = posterior.difference_distribution("ward=B", "fall=yes", draws=4_000)  # the common cell cancels
    assert -1 < overlap.mean < 1
    assert posterior.probability_that("ward=B > ward=A") == pytest.approx(difference.probability_above(0), abs=0.02)
    assert posterior.true_count("fall=yes").mean == pytest.approx(110, abs=40)
    assert posterior.predictive("fall=yes", 50).mean == pytest.approx(50 * posterior.probability("fall=yes").mean)


def test_a_prior_that_was_declared_or_given_answers_everything() -> None:
    mechanism = dc.GeometricHistogram(crossed().with_prior((3, 1, 2, 1, 1, 1)), size=600, epsilon="0.5")
    release = dc.simulate(mechanism, (180, 20, 150, 50, 160, 40), dc.SeededBits(8))
    declared = dc.infer(release)
    assert id(declared.table) == id(declared)
    assert list(declared.solutions[0].model.prior) == [3, 1, 2, 1, 1, 1]
    assert "under the declared prior" in declared.text.estimation
    own = dc.infer(release, prior=2)
    assert id(own.table) == id(own)
    assert "under the reader's own prior" in own.text.estimation
    none = dc.infer(release, prior="none")
    assert isinstance(none.distributions, GroupwiseDistributions)
    assert dc.infer(release, prior="declared").mean == declared.mean
    with pytest.raises(dc.DeclarationError, match="published without a prior"):
        dc.infer(released(dc.GeometricHistogram(table_of(3), 9, 1), (3, 3, 3)), prior="declared")
    with pytest.raises(dc.DeclarationError, match="'declared', 'learnt' or 'none'; got 'flat'"):
        dc.infer(release, prior="flat")


def test_a_reader_is_warned_where_the_prior_outweighs_the_data() -> None:
    z = (50, 3, -2, 0, 1, -1, 0, 2, -3, 0)
    release = released(dc.GeometricHistogram(table_of(10), size=50, epsilon=1), z)
    with pytest.warns(PriorOutweighsWarning, match=r"P\(x=0\) is 0\.720; its own noisy sum says 0\.955 \+- 0\.043"):
        ones = dc.infer(release, prior=1)
    with pytest.warns(PriorOutweighsWarning, match=r"10 records in all"):
        ones.probability(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dc.infer(release).probability(0)  # own sums need no such warning
        dc.infer(released(dc.GeometricHistogram(table_of(4), size=400, epsilon=1), (100, 101, 99, 100)), prior=1)


QUESTIONS: dict[str, Callable[[dc.tables.CategoriesPosterior], object]] = {
    "probability": lambda posterior: posterior.probability("fall=yes"),
    "predictive": lambda posterior: posterior.predictive("fall=yes", 10),
    "true count": lambda posterior: posterior.true_count("fall=yes"),
    "statement": lambda posterior: posterior.probability_that("fall=yes > 0.2"),
    "multiple": lambda posterior: posterior.probability_that("fall=no > 2 * fall=yes"),
    "difference": lambda posterior: posterior.difference_distribution("fall=yes", "fall=no", draws=9),
    "conditional": lambda posterior: posterior.conditional("fall=yes", "ward=A"),
    "chance": lambda posterior: posterior.chance("fall=yes", "ward=A"),
    "rates": lambda posterior: posterior.rates("fall=yes", "ward"),
    "ratio": lambda posterior: posterior.ratio("fall=yes", "fall=no"),
    "risk difference": lambda posterior: posterior.risk_difference("fall=yes", "ward=A", "ward=B", draws=9),
    "risk ratio": lambda posterior: posterior.risk_ratio("fall=yes", "ward=A", "ward=B", draws=9),
    "odds ratio": lambda posterior: posterior.odds_ratio("fall=yes", "ward=A", "ward=B", draws=9),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_answer_that_a_prior_outweighs_is_warned_of_and_no_own_sum_is(question: str) -> None:
    release = released(dc.GeometricHistogram(crossed(), size=600, epsilon=1), (300, 1, 150, 0, 149, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        strong = dc.infer(release, prior=200)
    with pytest.warns(PriorOutweighsWarning) as told:
        QUESTIONS[question](strong)
    assert any(re.search(r"P\(fall=yes.*1\.2e\+03 records in all", str(warning.message)) for warning in told)
    assert len(told) == 1 + (question in ("difference", "multiple"))  # which are about two events
    assert all(warning.filename == __file__ or question in ("predictive", "chance") for warning in told)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        QUESTIONS[question](dc.infer(release))


def test_a_mean_outside_of_the_interval_of_its_own_sum_has_a_star_and_a_reason() -> None:
    """One cell far above all others, where noise is wide: together with them it is taken for noise."""
    release = released(dc.GeometricHistogram(table_of(200), size=2000, epsilon="0.1"), (90, *[10] * 191, *[0] * 8))
    posterior = dc.infer(release)
    row = posterior.rows()[0]
    assert row.mean < row.low
    *lines, last, _ = str(posterior).splitlines()
    assert [line.split()[1].startswith("*") for line in lines[1:]] == [True] + [False] * 199
    assert last.startswith("* Read together with all cells, this mean lies outside the interval")
    assert "the prior outweighs the data here" in last
    assert "*0." in posterior._repr_html_()
    assert "* Read together" in posterior._repr_html_()
    calm = dc.infer(released(dc.GeometricHistogram(table_of(4), size=1200, epsilon="0.2"), [300] * 4))
    assert "*" not in str(calm)


def test_a_question_that_the_noise_has_drowned_warns_that_it_tells_little() -> None:
    mechanism = dc.GeometricHistogram(crossed(), size=600, epsilon="0.02")
    release = dc.simulate(mechanism, (590, 2, 2, 2, 2, 2), dc.SeededBits(9))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        drowned = dc.infer(release)
    with pytest.warns(dc.LittleInformationWarning, match="says almost nothing about P\\(fall=yes | ward=C\\)"):
        drowned.chance("fall=yes", "ward=C")


def test_the_law_of_the_mixture_is_never_thinned_at_zero() -> None:
    """Merging no records with few would take away the mass near zero, where empty cells lie."""
    release = released(dc.GeometricHistogram(table_of(30), size=10_000, epsilon="0.3"), [10_000, *[0] * 29])
    law = dc.infer(release).probability(7)
    kept = law.weights[law.a == 1]
    counts = np.arange(400)
    weights = np.exp(-0.15 * counts)
    assert float(kept.sum()) == pytest.approx(1 / weights.sum(), rel=0.05)
    assert law.interval(0.9).low == 0


def test_splits_inside_a_part_are_counted_as_the_number_of_tables() -> None:
    """The number of tables of k records in c cells is C(k + c - 1, c - 1), which the reading divides by."""
    for cells in (1, 2, 4):
        for records in (0, 1, 5):
            number = len(list(compositions(records, cells))) if cells > 1 else 1
            logs = gammaln(records + cells) - gammaln(records + 1.0) - gammaln(float(cells))
            assert np.exp(logs) == pytest.approx(number)
