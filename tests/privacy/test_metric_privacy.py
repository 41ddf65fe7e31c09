"""Privacy under a metric: all pairs of data sets, enumerated; what is written down; a planted mistake is found."""

import json
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.noise import StarOfPathsLaplace, TreeLaplace, log_terms
from discreet.privacy import MetricGuarantee, read_metric
from discreet.privacy._metric_guarantee import Line, Tree

UNEVEN = dc.NumberTable("x", (0, 4), edges=(0, 1, 3, "3.5", 4), missing=0)
AGES = dc.NumberTable("age", (0, 100), 101, is_whole=True, missing=40, quantiles=("0.5",))


def test_every_pair_of_data_sets_loses_its_distance_and_no_more() -> None:
    mechanism = dc.numbers.PathTable.per_unit(UNEVEN, 3, 2)
    positions = [0, 1, 3, 3.5]
    sets = list(combinations_with_replacement(range(4), 3))
    tables = np.array([np.bincount(each, minlength=4) for each in sets])
    free = np.array(list(product(range(-14, 18), repeat=3)))
    outputs = np.column_stack([free, 3 - free.sum(axis=1)])
    logs = np.stack([mechanism.log_prob(outputs, table) for table in tables])
    for one, two in product(range(len(sets)), repeat=2):
        orders = permutations(sets[two])
        far = min(sum(abs(positions[a] - positions[b]) for a, b in zip(sets[one], o, strict=True)) for o in orders)
        assert float(np.max(logs[one] - logs[two])) == pytest.approx(2 * far, abs=1e-9)


TREE = dc.Categories("place", levels=("a", "b", "c", "r"), outside="r")
HANGS = ((2, 2, 3), (1, 2, "1/2"))  # a and b hang on c, c on r


def enumerated(mechanism: Any, records: Any, size: int, low: int, high: int) -> Any:
    """Return all data sets, as places of records, and the largest loss of every pair of them on a box of outputs."""
    sets = list(combinations_with_replacement(range(len(records)), size))
    tables = np.array([sum(records[place] for place in each) for each in sets])
    blocks = mechanism.noise.blocks
    free = [np.array(list(product(range(low, high), repeat=count - 1))) for count in blocks]
    totals = [int(own.sum()) for own in np.split(tables[0], np.cumsum(blocks)[:-1])]
    parts = [np.column_stack([own, total - own.sum(axis=1)]) for own, total in zip(free, totals, strict=True)]
    outputs = parts[0]
    for part in parts[1:]:
        outputs = np.column_stack([np.repeat(outputs, len(part), axis=0), np.tile(part, (len(outputs), 1))])
    logs = np.stack([mechanism.log_prob(outputs, table) for table in tables])
    return sets, np.stack([np.max(logs[one][None] - logs, axis=1) for one in range(len(sets))])


def apart(distance: Any, one: Any, two: Any) -> Fraction:
    """Return the distance of two data sets: the best of all orders."""
    return min(Fraction(sum(distance(a, b) for a, b in zip(one, order, strict=True))) for order in permutations(two))


def test_every_pair_of_data_sets_on_a_tree_loses_its_distance_and_no_more() -> None:
    mechanism = dc.tables.TreeLevels(TREE, 2, "3.5", *HANGS)
    assert mechanism.epsilon_per_unit == Fraction("3.5") / 3
    way = {0: {0, 2}, 1: {1, 2}, 2: {2}, 3: set()}
    lengths = (Fraction(1), Fraction(2), Fraction(1, 2))

    def distance(a: int, b: int) -> Fraction:
        return sum((lengths[edge] for edge in way[a] ^ way[b]), Fraction(0))

    sets, losses = enumerated(mechanism, np.eye(4, dtype=int), 2, -9, 12)
    for one, two in product(range(len(sets)), repeat=2):
        far = apart(distance, sets[one], sets[two])
        assert losses[one, two] == pytest.approx(float(mechanism.epsilon_per_unit * far), abs=1e-9)
    neighbours = [(i, j) for i, j in product(range(len(sets)), repeat=2) if len(set(sets[i]) & set(sets[j])) >= 1]
    assert max(losses[pair] for pair in neighbours) == pytest.approx(float(mechanism.guarantee.epsilon), abs=1e-9)


@pytest.mark.parametrize("unit", [2, 4])
def test_no_pair_of_data_sets_loses_more_than_its_distance_by_sums(unit: int) -> None:
    model = dc.NumberSums("x", (0, 8), missing=0, unit=unit)
    mechanism = dc.numbers.MetricSums.per_unit(model, 2, "0.3")
    assert mechanism.epsilon_per_unit == Fraction(3, 10)
    step = Fraction(8, unit)
    values = [float(step * place) for place in range(unit + 1)]
    records = [model.rehearse({"x": [value]}) for value in values]
    assert np.array_equal(records, mechanism.records_at(range(unit + 1)))
    sets, losses = enumerated(mechanism, records, 2, -4, 2 * unit + 5)
    ratios = []
    for one, two in product(range(len(sets)), repeat=2):
        far = apart(lambda a, b: abs(a - b) * step, sets[one], sets[two])
        assert losses[one, two] <= 0.3 * float(far) + 1e-9
        ratios.append(losses[one, two] / float(far) if far else 0.0)
    assert max(ratios) == pytest.approx(0.3)  # and no smaller epsilon per unit holds
    one_apart = [(i, j) for i, j in product(range(len(sets)), repeat=2) if len(set(sets[i]) & set(sets[j])) >= 1]
    assert max(losses[pair] for pair in one_apart) == pytest.approx(float(mechanism.guarantee.epsilon), abs=1e-9)


WARDS = dc.Column("ward", ("A", "B"), outside="B")
IN_WARDS = dc.NumberTable("x", (0, 4), edges=(0, 1, 3, 4), missing=0, by=WARDS)


def test_every_pair_of_data_sets_in_groups_loses_its_distance_and_no_more() -> None:
    """Rows of three cells at 0, 1 and 3 hang by their middle cells, 5 apart: all pairs of data sets of two records."""
    mechanism = dc.numbers.GroupPaths.per_unit(IN_WARDS, 2, "0.7", between=5)
    positions = [0, 1, 3]

    def distance(a: int, b: int) -> int:
        one, two = positions[a % 3], positions[b % 3]
        return abs(one - two) if a // 3 == b // 3 else abs(one - 1) + 5 + abs(two - 1)

    assert mechanism.metric.diameter == max(distance(a, b) for a in range(6) for b in range(6)) == 9
    assert mechanism.guarantee.epsilon == Fraction("6.3")
    sets = list(combinations_with_replacement(range(6), 2))
    tables = np.array([np.bincount(each, minlength=6) for each in sets])
    outputs = np.array(list(product(range(-2, 4), repeat=6)))
    logs = np.stack([mechanism.log_prob(outputs, table) for table in tables])
    for one, two in product(range(len(sets)), repeat=2):
        far = apart(distance, sets[one], sets[two])
        assert float(np.max(logs[one] - logs[two])) == pytest.approx(0.7 * float(far), abs=1e-9)


def test_no_pair_of_data_sets_loses_more_than_its_distance_by_sums_in_groups() -> None:
    model = dc.NumberSums("x", (0, 8), missing=0, unit=2, by=WARDS)
    mechanism = dc.numbers.MetricSums.per_unit(model, 2, "0.3")
    records = [model.rehearse({"x": [value], "ward": [ward]}) for ward in "AB" for value in (0, 4, 8)]
    assert np.array_equal(records, mechanism.records_at(range(6)))
    sets = list(combinations_with_replacement(range(6), 2))
    tables = np.array([records[a] + records[b] for a, b in sets])
    logs = np.stack([mechanism.log_prob(tables, table) for table in tables])  # outputs without noise lose most
    for one, two in product(range(len(sets)), repeat=2):
        far = apart(mechanism.metric.distance, sets[one], sets[two])
        assert logs[one, one] - logs[two, one] <= 0.3 * float(far) + 1e-9
    assert mechanism.metric.distance(0, 4) * Fraction("0.3") == mechanism.guarantee.epsilon


def test_the_noise_of_rows_that_hang_together_is_drawn_by_its_law() -> None:
    law = dc.numbers.GroupPaths.per_unit(IN_WARDS, 2, "0.7", between=5).noise
    drawn = law.sample(4000, dc.SeededBits(27)).reshape(4000, 2, 3)
    rates = 0.7 * np.array([1, 2.5, 2])
    carried = np.stack([drawn[:, :, 0], drawn.sum(axis=2), drawn[:, :, 2]], axis=2)
    for place, rate in product(range(2), range(3)):
        chance = np.tanh(rates[rate] / 2)
        share = np.mean(carried[:, place, rate] == 0)
        assert abs(share - chance) < 4.5 * np.sqrt(chance * (1 - chance) / 4000)  # p about 1e-5 for each of six
    slow = -np.abs(carried) @ rates
    assert law.log_kernel(drawn.reshape(4000, 6)) == pytest.approx(slow.sum(axis=1))
    assert drawn.reshape(4000, 6).var(axis=0) == pytest.approx(law.variance, rel=0.25)
    places = 1000.0 * drawn.reshape(4000, 6)[:5] + 250  # far from all kinks, where slopes are made smooth
    steps = np.array([law.log_kernel(places + unit) - law.log_kernel(places) for unit in np.eye(6)]).T
    assert law.slope(places) == pytest.approx(steps, abs=1e-6)


def test_the_noise_of_a_tree_is_drawn_by_its_law() -> None:
    law = dc.tables.TreeLevels(TREE, 1, 3, *HANGS).noise
    drawn = law.sample(4000, dc.SeededBits(26))
    assert not drawn.sum(axis=1).any()
    behind = np.stack([drawn[:, 0], drawn[:, 1], drawn[:, :3].sum(axis=1)])
    for sums, rate in zip(behind, law.rates, strict=True):
        share = np.mean(sums == 0)
        chance = np.tanh(float(rate) / 2)
        assert abs(share - chance) < 4.5 * np.sqrt(chance * (1 - chance) / 4000)  # p about 1e-5 for each of six
        q = np.exp(-float(rate))
        assert abs(np.mean(sums**2) - 2 * q / (1 - q) ** 2) < 5 * np.std(sums.astype(float) ** 2) / np.sqrt(4000)


def test_the_noise_of_some_levels_is_that_of_the_edges_that_lead_out() -> None:
    """The sum over a part against a slow twin: all noise in a box, added up by what the part gets."""
    law = dc.tables.TreeLevels(TREE, 1, 9, *HANGS).noise
    box = np.array(list(product(range(-9, 10), repeat=3)))
    noise = np.column_stack([box, -box.sum(axis=1)])
    chances = np.exp(law.log_prob(noise))
    for part in ([0], [2], [0, 1], [0, 1, 2], [1, 3]):
        labels = [int(place not in part) for place in range(4)]
        summed = law.marginal(labels)
        assert summed is not None
        for value in (0, 1, -3):
            slow = chances[noise[:, part].sum(axis=1) == value].sum()
            fast = np.exp(float(log_terms(summed.structure, np.array([value]), np.array([0]))[0]))
            assert fast == pytest.approx(slow, abs=1e-6)
    assert law.marginal([0, 1, 2, 2]) is None


def test_messages_along_a_tree_agree_with_a_sum_over_all_tables() -> None:
    from discreet.inference import Problem
    from discreet.tables._enumeration import EnumerationSolver
    from discreet.tables._tree_solver import TreeTablesSolver

    model = dc.Categories("place", levels=("a", "b", "c", "r"), outside="r", prior=[0.5, 1, 2, 0.7])
    releases = [
        dc.simulate(dc.tables.TreeLevels(model, 6, 3, *HANGS), np.array([2, 1, 3, 0]), dc.SeededBits(4), "tree"),
        dc.simulate(dc.tables.TreeLevels(model, 6, 1, *HANGS), np.array([2, 1, 3, 0]), dc.SeededBits(5), "again"),
        dc.simulate(dc.GeometricHistogram(model, 6, 1), np.array([2, 1, 3, 0]), dc.SeededBits(6), "beside"),
    ]
    for some in (releases[:1], releases[:2], releases):
        problem = Problem.of(some)
        fast, slow = TreeTablesSolver().solve(problem), EnumerationSolver().solve(problem)
        assert fast.log_evidence == pytest.approx(slow.log_evidence, abs=1e-12)
        assert np.allclose(fast.mean_counts, slow.mean_counts, atol=0.12)  # 4,000 draws of counts up to 6


def test_what_a_reader_sees_of_a_tree_holds_the_truth() -> None:
    truth = np.array([200, 100, 50, 650])
    release = dc.simulate(dc.tables.TreeLevels(TREE, 1000, 3, *HANGS), truth, dc.SeededBits(1), "places")
    posterior = dc.infer(release)
    assert "messages along the tree" in posterior.method
    for row, count in zip(posterior.rows(0.999), truth, strict=True):
        assert row.low < count / 1000 < row.high
        assert row.high - row.low < 0.12
        assert row.low < row.mean < row.high


def test_the_ordinary_guarantee_is_epsilon_times_the_diameter_and_the_words_name_the_unit() -> None:
    promise = dc.numbers.PathTable.per_unit(AGES, 1000, "0.1").guarantee
    assert promise.epsilon == 10
    assert isinstance(promise.metric, MetricGuarantee)
    assert promise.metric.at(35, 38).epsilon == Fraction(3, 10)
    assert promise.metric.everywhere.epsilon == 10
    assert promise.metric.words.startswith("epsilon = 0.1 per 1 of age, between values that are rounded down to 101")
    assert promise.metric.words.endswith("cells; for any change whatever: epsilon = 10.")


def test_a_release_carries_both_and_is_charged_for_any_change(tmp_path: Path) -> None:
    mechanism = dc.numbers.PathTable.per_unit(AGES, 4, "0.02")
    ledger = dc.Ledger.create(tmp_path / "ledger.db", 3)
    release = dc.publish(mechanism, AGES.statistics({"age": [3, 30, None, 77]}), ledger, "ages")
    assert ledger.spent.document()["epsilon"] == "2"
    document = json.loads(release.to_json())
    assert document["guarantee"]["metric"]["metric"]["kind"] == "Line"
    assert dc.Release.from_json(release.to_json()) == release
    document["guarantee"]["metric"]["epsilon"] = "0.01"
    with pytest.raises(dc.DocumentError, match="Do not trust it"):
        dc.Release.from_json(json.dumps(document))


def test_verify_compares_all_pairs() -> None:
    checks = dc.verify(dc.numbers.PathTable.per_unit(UNEVEN, 50, 1)).checks
    assert any("all 6 pairs of cells" in check for check in checks)
    assert any("pairs of data sets" in check for check in checks)


@dataclass(frozen=True, init=False, repr=False)
class Halved(dc.numbers.PathTable):
    """Wrong on purpose: a spacing is halved in the noise, and not in the metric that is written down."""

    @property
    def noise(self) -> Any:
        first, *others = super().noise.rates
        return TreeLaplace.path([first / 2, *others])


@dataclass(frozen=True, init=False, repr=False)
class HalvedSampler(dc.numbers.PathTable):
    """Wrong on purpose: a spacing is halved in the sampler alone."""

    def sample(self, counts: Any, bits: Any) -> Any:
        rates = list(self.noise.rates)
        wrong = TreeLaplace.path([rates[0] / 2, *rates[1:]])
        rows = np.asarray(counts)
        return rows + wrong.sample(int(np.prod(rows.shape[:-1])), bits).reshape(rows.shape)


@dataclass(frozen=True, init=False, repr=False)
class NearGroups(dc.numbers.GroupPaths):
    """Wrong on purpose: groups are half as far apart in the noise as in the metric that is written down."""

    @property
    def noise(self) -> Any:
        right = super().noise
        return StarOfPathsLaplace(right.steps, right.spokes / 2, right.groups)


def test_groups_that_are_too_near_in_the_noise_are_caught() -> None:
    with pytest.raises(dc.VerificationError):
        dc.verify(NearGroups(IN_WARDS, 2, "6.3", between=5))


@pytest.mark.parametrize("kind", [Halved, HalvedSampler])
def test_a_spacing_that_is_halved_in_the_noise_but_not_in_the_metric_is_caught(kind: Any) -> None:
    dc.verify(dc.numbers.PathTable(UNEVEN, 2, "3.5"))
    with pytest.raises(dc.VerificationError):
        dc.verify(kind(UNEVEN, 2, "3.5"))


@dataclass(frozen=True, init=False, repr=False)
class HalvedTree(dc.tables.TreeLevels):
    """Wrong on purpose: one edge is half as long in the noise as in the metric that is written down."""

    @property
    def noise(self) -> Any:
        first, *others = super().noise.rates
        return TreeLaplace(self.parents, (first / 2, *others))


@dataclass(frozen=True, init=False, repr=False)
class HalvedTreeSampler(dc.tables.TreeLevels):
    """Wrong on purpose: one edge is half as long in the sampler alone."""

    def sample(self, counts: Any, bits: Any) -> Any:
        first, *others = self.noise.rates
        wrong, rows = TreeLaplace(self.parents, (first / 2, *others)), np.asarray(counts)
        return rows + wrong.sample(int(np.prod(rows.shape[:-1])), bits).reshape(rows.shape)


@pytest.mark.parametrize("kind", [HalvedTree, HalvedTreeSampler])
def test_an_edge_that_is_halved_in_the_noise_but_not_in_the_metric_is_caught(kind: Any) -> None:
    dc.verify(dc.tables.TreeLevels(TREE, 2, "3.5", *HANGS))
    with pytest.raises(dc.VerificationError):
        dc.verify(kind(TREE, 2, "3.5", *HANGS))


@dataclass(frozen=True, init=False, repr=False)
class Understated(dc.numbers.MetricSums):
    """Wrong on purpose: squares are forgotten in what is promised for each unit."""

    @property
    def epsilon_per_unit(self) -> Fraction:
        return 2 * self.noise.rates[0] / self.metric.nearest


def test_sums_that_promise_too_little_for_each_unit_are_caught() -> None:
    with pytest.raises(dc.VerificationError, match="where the metric of"):
        dc.verify(Understated(dc.NumberSums("x", (0, 8), missing=0, unit=4), 2, 2))


def test_metrics_are_data_with_one_text_and_a_digest() -> None:
    line, tree = Line("age", [0, 1, "5/2"]), Tree("place", (2, 2, 3), (1, 2, "1/2"))
    for metric in (line, tree):
        assert read_metric(metric.document()) == metric
        assert read_metric(metric.document()).digest == metric.digest
    assert line.digest != Line("age", [0, 1, 3]).digest
    assert [line.diameter, line.nearest] == [Fraction(5, 2), Fraction(1)]
    assert [line.position(99), line.position(-1)] == [2, 0]
    distances = [tree.distance(a, b) for a in range(4) for b in range(4)]
    assert tree.diameter == max(distances) == 3
    shared = {"kind": "InGroups", "inside": {}, "by": "ward", "groups": ["A", "B"], "between": "1"}  # is no metric
    for wrong in ({}, {"kind": "Line"}, {"kind": "Line", "column": "x", "positions": ["1", "0"]}, "Line", 3, shared):
        with pytest.raises(dc.DocumentError):
            read_metric(wrong)


def test_what_a_metric_cannot_promise_is_refused() -> None:
    with pytest.raises(dc.DeclarationError, match="missing"):
        dc.numbers.PathTable(dc.NumberTable("x", (0, 4), 4), 3, 1)
    with pytest.raises(dc.DeclarationError, match="pure"):
        MetricGuarantee(1, "0.1", Line("x", [0, 1]))


STUDY = """
[data]
path = "x.csv"
size = 5
[budget]
epsilon = "20"
ledger = "x.db"
[columns.age]
bounds = [0, 100]
whole = true
missing = 40
[questions.ages]
model = "number"
column = "age"
"""


def test_a_study_asks_per_unit(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("age\n3\n30\n\n77\n101\n")
    path = tmp_path / "study.toml"
    path.write_text(STUDY + 'ask = ["distribution"]\nepsilon_per_unit = "0.1"\n')
    release = dc.Study(path).publish("ages")
    assert isinstance(release.mechanism, dc.numbers.PathTable)
    assert release.guarantee.epsilon == 10
    assert dc.infer(release).rows()
    path.write_text(STUDY.replace("questions.ages", "questions.mean") + 'ask = ["mean"]\nepsilon_per_unit = "0.01"\n')
    release = dc.Study(path).publish("mean")
    assert isinstance(release.mechanism, dc.numbers.MetricSums)
    assert release.guarantee.metric is not None
    assert release.guarantee.metric.epsilon == Fraction(1, 100)
    assert release.guarantee.epsilon < 1
    assert "per 1 of age" in release.guarantee.metric.words
    assert len(dc.infer(dc.Release.from_json(release.to_json())).rows()) == 2
    for keys, words in (
        ('ask = "quantiles"\nepsilon_per_unit = "0.1"\nepsilon = 1', "replaces epsilon and delta"),
        ('ask = "mean"\nby = "age"\nepsilon_per_unit = "0.1"', "levels or bands"),
        ('ask = "quantiles"', "epsilon is missing"),
        ('ask = "quantiles"\nepsilon_per_unit = "0.1"\nbetween = 3', "goes with `by`"),
        ('ask = "mean"\nepsilon_per_unit = "0.1"\nbetween = 3', "follows from epsilon"),
    ):
        path.write_text(STUDY + keys + "\n")
        with pytest.raises(dc.DeclarationError, match=words):
            dc.Study(path)


def test_many_draws_have_no_small_twin_and_are_verified_all_the_same() -> None:
    model = dc.ExponentialRate("w", high=10, bands=100, shape=2, rate=8, outside="usual")
    mechanism = dc.draws.RateTruncation.tempered(model, size=500, epsilon=5, lowest="0.01", highest="0.2", draws=50)
    assert any("nothing, because no instance has few enough outputs" in line for line in dc.verify(mechanism).checks)
