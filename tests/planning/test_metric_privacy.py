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
from discreet.guarantees.metric import Line, Tree, read_metric
from discreet.guarantees.pseudo_metric import MetricGuarantee
from discreet.noise import TreeLaplace

UNEVEN = dc.NumberTable("x", (0, 4), edges=(0, 1, 3, "3.5", 4), missing=0)
AGES = dc.NumberTable("age", (0, 100), 101, is_whole=True, missing=40, quantiles=("0.5",))


def test_every_pair_of_data_sets_loses_its_distance_and_no_more() -> None:
    mechanism = dc.PathTable.per_unit(UNEVEN, 3, 2)
    positions = [0, 1, 3, 3.5]
    sets = list(combinations_with_replacement(range(4), 3))
    tables = np.array([np.bincount(each, minlength=4) for each in sets])
    free = np.array(list(product(range(-14, 18), repeat=3)))
    outputs = np.column_stack([free, 3 - free.sum(axis=1)])
    logs = np.stack([mechanism.log_likelihood(outputs, table) for table in tables])
    for one, two in product(range(len(sets)), repeat=2):
        orders = permutations(sets[two])
        far = min(sum(abs(positions[a] - positions[b]) for a, b in zip(sets[one], o, strict=True)) for o in orders)
        assert float(np.max(logs[one] - logs[two])) == pytest.approx(2 * far, abs=1e-9)


def test_the_ordinary_guarantee_is_epsilon_times_the_diameter_and_the_words_name_the_unit() -> None:
    promise = dc.PathTable.per_unit(AGES, 1000, "0.1").guarantee
    assert promise.epsilon == 10
    assert isinstance(promise.metric, MetricGuarantee)
    assert promise.metric.at(35, 38).epsilon == Fraction(3, 10)
    assert promise.metric.everywhere.epsilon == 10
    assert promise.metric.words.startswith("epsilon = 0.1 per 1 of age, between values that are rounded down to 101")
    assert promise.metric.words.endswith("cells; for any change whatever: epsilon = 10.")


def test_a_release_carries_both_and_is_charged_for_any_change(tmp_path: Path) -> None:
    mechanism = dc.PathTable.per_unit(AGES, 4, "0.02")
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
    checks = dc.verify(dc.PathTable.per_unit(UNEVEN, 50, 1)).checks
    assert any("all 6 pairs of cells" in check for check in checks)
    assert any("pairs of data sets" in check for check in checks)


@dataclass(frozen=True, init=False, repr=False)
class Halved(dc.PathTable):
    """Wrong on purpose: a spacing is halved in the noise, and not in the metric that is written down."""

    @property
    def noise(self) -> Any:
        first, *others = super().noise.rates
        return TreeLaplace.path([first / 2, *others])


@dataclass(frozen=True, init=False, repr=False)
class HalvedSampler(dc.PathTable):
    """Wrong on purpose: a spacing is halved in the sampler alone."""

    def sample(self, counts: Any, bits: Any) -> Any:
        rates = list(self.noise.rates)
        wrong = TreeLaplace.path([rates[0] / 2, *rates[1:]])
        rows = np.asarray(counts)
        return rows + wrong.sample(int(np.prod(rows.shape[:-1])), bits).reshape(rows.shape)


@pytest.mark.parametrize("kind", [Halved, HalvedSampler])
def test_a_spacing_that_is_halved_in_the_noise_but_not_in_the_metric_is_caught(kind: Any) -> None:
    dc.verify(dc.PathTable(UNEVEN, 2, "3.5"))
    with pytest.raises(dc.VerificationError):
        dc.verify(kind(UNEVEN, 2, "3.5"))


def test_metrics_are_data_with_one_text_and_a_digest() -> None:
    line, tree = Line("age", [0, 1, "5/2"]), Tree("place", (2, 2, 3), (1, 2, "1/2"))
    for metric in (line, tree):
        assert read_metric(metric.document()) == metric
        assert read_metric(metric.document()).digest == metric.digest
    assert line.digest != Line("age", [0, 1, 3]).digest
    assert [line.diameter, line.nearest] == [Fraction(5, 2), Fraction(1)]
    assert [line.place(99), line.place(-1)] == [2, 0]
    distances = [tree.distance(a, b) for a in range(4) for b in range(4)]
    assert tree.diameter == max(distances) == 3
    for wrong in ({}, {"kind": "Line"}, {"kind": "Line", "column": "x", "positions": ["1", "0"]}, "Line", 3):
        with pytest.raises(dc.DocumentError):
            read_metric(wrong)


def test_what_a_metric_cannot_promise_is_refused() -> None:
    with pytest.raises(dc.DeclarationError, match="missing"):
        dc.PathTable(dc.NumberTable("x", (0, 4), 4), 3, 1)
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
    assert isinstance(release.mechanism, dc.PathTable)
    assert release.guarantee.epsilon == 10
    assert dc.infer(release).rows()
    for keys, words in (
        ('ask = "quantiles"\nepsilon_per_unit = "0.1"\nepsilon = 1', "instead of epsilon"),
        ('ask = "mean"\nepsilon_per_unit = "0.1"', "quantiles or the distribution"),
        ('ask = "quantiles"', "epsilon is missing"),
    ):
        path.write_text(STUDY + keys + "\n")
        with pytest.raises(dc.DeclarationError, match=words):
            dc.Study(path)
