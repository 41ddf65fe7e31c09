"""Ledgers under a metric: what is added up, what is refused, words that name the unit; and the metrics themselves."""

import json
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli._main import main
from discreet.privacy import Accountant, Metric, MetricGuarantee, PerUnit, read_amount, read_metric
from discreet.privacy._metric_guarantee import Line, Records, Steps, Sum, Tree

AGES = dc.NumberTable("age", (0, 100), 101, is_whole=True, missing=40, quantiles=("0.5",))
PAY = dc.NumberTable("pay", (0, 50), 5, missing=0, quantiles=("0.5",))
DATA = {"age": [3, 30, None, 77], "pay": [1, 9, 44, 20], "place": ["a", "b", "c", "r"]}
PLACE = dc.Categories("place", levels=("a", "b", "c", "r"), outside="r")


def of_age(ledger: dc.Ledger, epsilon: str, label: str = "ages") -> dc.Release:
    return dc.publish(dc.numbers.PathTable.per_unit(AGES, 4, epsilon), AGES.statistics(DATA), ledger, label)


@pytest.fixture
def ledger(tmp_path: Path) -> dc.Ledger:
    return dc.Ledger.create(tmp_path / "metric.db", "0.5", metric=dc.numbers.PathTable.per_unit(AGES, 4, 1).metric)


def test_epsilons_per_unit_add_up_and_no_more_than_the_limit_is_spent(ledger: dc.Ledger) -> None:
    release = of_age(ledger, "0.2")
    of_age(ledger, "0.25", "again")
    assert isinstance(ledger.spent, PerUnit)
    assert ledger.spent.number == Fraction(45, 100)
    with pytest.raises(dc.BudgetError, match=r"epsilon per 1 of age.* = 0\.1.*Nothing was published"):
        of_age(ledger, "0.1", "too much")
    assert ledger.spent.number == Fraction(45, 100)
    assert ledger.check() == 5
    assert ledger.accountant is Accountant.METRIC
    words = dc.verify(release, ledger).checks[-1]
    assert "epsilon per 1 of age" in words


def test_every_amount_names_its_unit(ledger: dc.Ledger, tmp_path: Path) -> None:
    of_age(ledger, "0.2")
    for amount in (ledger.spent, ledger.limit, ledger.remaining, ledger.declared_limit):
        assert "per 1 of age" in amount.words()
        assert "per 1 of age" in repr(amount)
    shown = CliRunner().invoke(main, ["ledger", str(tmp_path / "metric.db")])
    assert shown.exit_code == 0, shown.output
    assert "epsilon per 1 of age" in " ".join(shown.output.split())
    for words in (["--json"], ["--html", str(tmp_path / "page.html")], ["--plot", str(tmp_path / "budget.json")]):
        done = CliRunner().invoke(main, ["ledger", str(tmp_path / "metric.db"), *words])
        assert done.exit_code == 0, done.output
    assert "epsilon per 1 of age" in (tmp_path / "page.html").read_text()


def test_amounts_under_different_metrics_neither_add_nor_compare() -> None:
    one, two = (PerUnit.under(Line("age", range(n)), Fraction(1)) for n in (5, 6))
    assert not one.covers(two)
    assert one.covers(one)
    with pytest.raises(dc.LedgerError, match="different metrics"):
        one + two
    assert read_amount(one.document()) == one


@pytest.mark.parametrize(
    "mechanism",
    [
        dc.numbers.PathTable.per_unit(dc.NumberTable("age", (0, 100), 50, is_whole=True, missing=40), 4, "0.1"),
        dc.numbers.PathTable.per_unit(dc.NumberTable("age", (0, 100), 101, is_whole=True, missing=0), 4, "0.1"),
        dc.TreeTable(dc.NumberTable("age", (0, 100), 64, missing=40), 4, 1),
        dc.TreeTable(dc.NumberTable("age", (0, 100), 101, is_whole=True), 4, 1),
        dc.TreeTable(PAY, 4, 1),
        dc.GeometricHistogram(PLACE, 4, 1),
        dc.GeometricSums(dc.NumberSums("age", (0, 100), missing=40), 4, 1),
    ],
    ids=["other cells", "other gap", "edges inside cells", "gaps left out", "other column", "levels", "sums"],
)
def test_what_is_not_under_the_metric_is_refused_and_not_charged(mechanism: dc.Mechanism, ledger: dc.Ledger) -> None:
    with pytest.raises(dc.PublishError, match="says nothing about that unit"):
        dc.publish(mechanism, mechanism.model.statistics(DATA), ledger, "another")
    assert ledger.spent.numbers == (Fraction(0),)


BANDS = [
    dc.Column.banded("age", edges, names=("young", "middle", "old")) for edges in ((0, 30, 60, 120), (0, 20, 40, 120))
]
DAYS = [
    dc.Column.banded("age", edges, names=("young", "old"))
    for edges in ((0, 1, 2), ("1970-01-01", "1970-01-02", "1970-01-03"))
]
WARDS = [dc.Column("ward", ("A", "B"), outside=outside) for outside in "AB"]
WARD_BANDS = [dc.Column.banded("ward", edges, names=("A", "B")) for edges in ((0, 1, 2), (0, 1.5, 2))]
NUMBERS_THEN_DATES = [(0, 400), ("1970-01-01", "1971-02-05")]


def _of_levels(column: dc.Column) -> dc.tables.TreeLevels:
    row = {str(one): str(two) for one, two in pairwise(column.levels)}
    return dc.tables.TreeLevels.per_unit(dc.Categories(column), 4, 1, row)


def _of_rows(ward: dc.Column) -> dc.numbers.GroupPaths:
    return dc.numbers.GroupPaths.per_unit(
        dc.NumberTable("age", (0, 100), 5, missing=40, by=ward), 4, "0.05", between=100
    )


def _of_sums(ward: dc.Column) -> dc.numbers.MetricSums:
    return dc.numbers.MetricSums.per_unit(dc.NumberSums("age", (0, 100), missing=40, by=ward), 4, "0.05")


def _of_path(bounds: tuple[Any, Any]) -> dc.numbers.PathTable:
    table = dc.NumberTable("age", bounds, 401, is_whole=True, missing=bounds[0])
    return dc.numbers.PathTable.per_unit(table, 4, "0.05")


def _of_steps(bounds: tuple[Any, Any]) -> dc.numbers.MetricSums:
    return dc.numbers.MetricSums.per_unit(dc.NumberSums("age", bounds, missing=bounds[0]), 4, "0.05")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(*map(_of_levels, BANDS), id="edges of named bands"),
        pytest.param(*map(_of_levels, DAYS), id="bands of days"),
        pytest.param(_of_levels(BANDS[0]), dc.GeometricHistogram(dc.Categories(BANDS[1]), 4, 1), id="ordinary table"),
        pytest.param(*map(_of_rows, WARDS), id="outside of the groups of a table"),
        pytest.param(*map(_of_rows, WARD_BANDS), id="bands of the groups of a table"),
        pytest.param(*map(_of_sums, WARDS), id="outside of the groups of sums"),
        pytest.param(*map(_of_path, NUMBERS_THEN_DATES), id="numbers, then dates, in cells"),
        pytest.param(*map(_of_steps, NUMBERS_THEN_DATES), id="numbers, then dates, in steps"),
        pytest.param(
            _of_path(NUMBERS_THEN_DATES[0]),
            dc.TreeTable(_of_path(NUMBERS_THEN_DATES[1]).model, 4, 1),
            id="ordinary table of dates",
        ),
        pytest.param(
            _of_levels(dc.Column("age", (0, 1, 2), outside=2)),
            dc.TreeTable(dc.NumberTable("age", (0, 3), edges=(0, 1, 3), missing=2), 4, 1),
            id="numbers that are called like levels",
        ),
    ],
)
def test_another_declaration_of_the_same_column_is_another_metric(
    first: dc.tables.TreeLevels, second: dc.Mechanism, tmp_path: Path
) -> None:
    """Records at no distance under the ledger's declaration could be told apart under the other: nothing is paid."""
    ledger = dc.Ledger.create(tmp_path / "metric.db", 100, metric=first.metric)
    data = {"age": [1, 25, None, 77], "ward": ["A", None, "B", "C"]}
    with pytest.raises(dc.PublishError, match="says nothing about that unit"):
        dc.publish(second, second.model.statistics(data), ledger, "other")
    assert ledger.spent.numbers == (Fraction(0),)
    release = dc.publish(first, first.model.statistics(data), ledger, "same")
    assert dc.Release.from_json(release.to_json()) == release
    dc.verify(release, ledger)
    metric = first.metric
    assert read_metric(json.loads(json.dumps(metric.document()))) == metric
    if isinstance(given := second.guarantee.metric, MetricGuarantee):
        assert isinstance(given.metric, Metric)
        assert given.metric.digest != metric.digest


def test_an_ordinary_table_of_the_same_bands_is_paid_under_the_metric(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "metric.db", 5, metric=_of_levels(BANDS[0]).metric)
    model = dc.Categories(BANDS[0])
    dc.publish(dc.GeometricHistogram(model, 4, 1), model.statistics(DATA), ledger, "bands")
    assert ledger.spent.numbers == (Fraction(1),)


def test_an_ordinary_table_of_the_same_cells_costs_its_epsilon_over_the_smallest_distance(tmp_path: Path) -> None:
    line = dc.numbers.PathTable.per_unit(PAY, 4, 1).metric
    ledger = dc.Ledger.create(tmp_path / "pay.db", "0.5", metric=line)
    release = dc.publish(dc.TreeTable(PAY, 4, 2), PAY.statistics(DATA), ledger, "pay")
    assert line.nearest == 10
    assert ledger.spent.numbers == (Fraction(2, 10),)
    assert dc.verify(release, ledger).epsilon == 2
    coarse = dc.NumberTable("pay", (0, 50), edges=(0, 20, 50), missing=0)
    dc.publish(dc.TreeTable(coarse, 4, 1), coarse.statistics(DATA), ledger, "coarse")
    assert ledger.spent.numbers == (Fraction(3, 10),)


def test_columns_of_a_sum_have_accounts_and_the_largest_counts(tmp_path: Path) -> None:
    both = Sum([dc.numbers.PathTable.per_unit(AGES, 4, 1).metric, dc.numbers.PathTable.per_unit(PAY, 4, 1).metric])
    ledger = dc.Ledger.create(tmp_path / "both.db", "0.5", metric=both)
    of_age(ledger, "0.4")
    release = dc.publish(dc.numbers.PathTable.per_unit(PAY, 4, "0.3"), PAY.statistics(DATA), ledger, "pay")
    assert ledger.spent.numbers == (Fraction(4, 10),)
    with pytest.raises(dc.BudgetError):
        of_age(ledger, "0.2", "more")
    dc.publish(dc.numbers.PathTable.per_unit(PAY, 4, "0.2"), PAY.statistics(DATA), ledger, "more pay")
    assert ledger.spent.numbers == (Fraction(5, 10),)
    assert ledger.check() > 1
    dc.verify(release, ledger)
    with pytest.raises(dc.PublishError, match="says nothing"):
        dc.publish(dc.GeometricHistogram(PLACE, 4, 1), PLACE.statistics(DATA), ledger, "places")


def test_two_columns_together_lose_no_more_than_the_sum_of_distances() -> None:
    """Both tables of one record that moves in both columns: losses add, for all pairs of places."""
    tables = dc.NumberTable("x", (0, 3), edges=(0, 1, 3), missing=0), dc.NumberTable("y", (0, 4), 2, missing=0)
    made = [dc.numbers.PathTable.per_unit(each, 1, "0.7") for each in tables]
    metric = Sum([each.metric for each in made])
    places = list(product(range(2), repeat=2))
    free = np.arange(-20, 22)
    outputs = np.column_stack([free, 1 - free])
    laws = [[each.log_prob(outputs, np.eye(2, dtype=int)[place]) for place in range(2)] for each in made]
    for one, two in product(range(4), repeat=2):
        losses = [np.max(law[places[one][i]] - law[places[two][i]]) for i, law in enumerate(laws)]
        assert sum(losses) == pytest.approx(0.7 * float(metric.distance(one, two)), abs=1e-12)


def test_a_metric_ledger_refuses_what_it_cannot_add_up(tmp_path: Path, ledger: dc.Ledger) -> None:
    line = Line("age", range(3))
    for keys in ({"delta": "0.1"}, {"accountant": "zcdp"}, {"groups": ("a", "b")}, {"metric": Records()}):
        with pytest.raises(dc.DeclarationError, match=r"Nothing was created|zCDP ledger needs"):
            dc.Ledger.create(tmp_path / "no.db", 1, **({"metric": line} | keys))
    with pytest.raises(dc.DeclarationError):
        dc.Ledger.create(tmp_path / "no.db", 1, accountant="per unit")
    assert not (tmp_path / "no.db").exists()
    mechanism = dc.numbers.PathTable.per_unit(AGES, 4, "0.1")
    with pytest.raises(dc.PublishError, match="one row per unit"):
        dc.publish(mechanism, AGES.statistics(DATA), ledger, "a", unit=dc.Unit("one record", 2))
    with pytest.raises(dc.PublishError, match="says nothing"):
        dc.publish_plan(dc.Plan([mechanism]), [AGES.statistics(DATA)], ledger, ["a"])
    ledger.change_limit("0.7", reason="more")
    assert ledger.limit.numbers == (Fraction(7, 10),)
    assert ledger.check() == 2


def test_allowances_are_kept_under_a_metric(tmp_path: Path) -> None:
    metric = dc.numbers.PathTable.per_unit(AGES, 4, 1).metric
    ledger = dc.Ledger.create(tmp_path / "year.db", 1, metric=metric, per="year", allowance="0.25")
    of_age(ledger, "0.2")
    with pytest.raises(dc.BudgetError, match=r"allowance.*per 1 of age"):
        of_age(ledger, "0.1", "more")
    period = ledger.this_period
    assert period is not None
    assert period[1].numbers == (Fraction(1, 20),)
    ledger.check()


def test_a_release_that_was_charged_too_little_per_unit_is_found(ledger: dc.Ledger) -> None:
    release = of_age(ledger, "0.2")
    other = dc.Release(dc.numbers.PathTable.per_unit(AGES, 4, "0.3"), release.output, "ages", receipt=release.receipt)
    with pytest.raises(dc.VerificationError):
        dc.verify(other, ledger)


def test_metrics_are_data_and_keep_the_triangle_inequality() -> None:
    line, steps = Line("age", [0, 1, "5/2"], missing=1), Steps("pay", 0, 10, 4, missing=0)
    tree = Tree(PLACE.columns[0], (2, 2, 3), (1, 2, "1/2"))
    for metric in (line, steps, tree, Sum([line, tree]), Sum([steps, line, tree])):
        assert read_metric(json.loads(json.dumps(metric.document()))) == metric
        few = range(min(metric.position_count, 12))
        for a, b, c in product(few, repeat=3):
            assert metric.distance(a, c) <= metric.distance(a, b) + metric.distance(b, c)
            assert metric.distance(a, b) == metric.distance(b, a)
            assert (metric.distance(a, b) == 0) == (a == b)
        every = [metric.distance(a, b) for a, b in product(range(metric.position_count), repeat=2)]
        assert metric.diameter == max(every)
        assert metric.nearest == min(each for each in every if each)
    both = Sum([line, tree])
    assert both.distance(both.position((1, "a")), both.position(("2.6", "b"))) == Fraction(3, 2) + 3
    assert [Records().distance(3, 4), Records().diameter] == [1, 1]
    assert read_metric(Records().document()) == Records()
    assert len({each.digest for each in (line, Line("age", [0, 1, "5/2"]), tree, both)}) == 4
    for wrong in ([line], [line, line], [both, steps], [line, Records()]):
        with pytest.raises(dc.DeclarationError):
            Sum(wrong)
    guarantee = MetricGuarantee("0.1", metric=both)
    assert guarantee.at((0, "a"), (1, "b")).epsilon == Fraction(4, 10)
    assert "1 of age" in guarantee.words
    assert "tree of place" in guarantee.words


STUDY = """
[data]
path = "x.csv"
size = 5
[budget]
epsilon_per_unit = "1"
ledger = "x.db"
[columns.age]
bounds = [0, 100]
whole = true
missing = 40
[columns.place]
levels = ["east", "west", "north", "unknown"]
outside = "unknown"
[questions.ages]
model = "number"
column = "age"
ask = ["distribution"]
epsilon_per_unit = "0.1"
[questions.places]
columns = ["place"]
epsilon_per_unit = "0.5"
hangs_on = { east = "north", west = "north", north = "unknown" }
lengths = { north = 2 }
"""


def test_a_study_has_a_budget_per_unit_and_goes_the_whole_road(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("age,place\n3,east\n30,west\n,north\n77,nowhere\n101,east\n")
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    for name in ("ages", "places"):
        done = CliRunner().invoke(main, ["publish", str(path), "--ask", name])
        assert done.exit_code == 0, done.output
        assert "epsilon per 1 of age" in " ".join(done.output.split())
    study = dc.Study(path)
    assert study.ledger().spent.numbers == (Fraction(1, 2),)
    released, account = str(tmp_path / "places.release.json"), tmp_path / "account.md"
    pages = ["--statement", str(account), "--plot", str(tmp_path / "places.json")]
    for words in (["verify", released, "--ledger", str(tmp_path / "x.db")], ["infer", released, *pages]):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
    assert "per 1 on the tree of place" in " ".join(account.read_text().split())
    path.write_text(STUDY.replace('epsilon_per_unit = "1"\nledger', 'epsilon = "10"\nledger'))
    with pytest.raises(dc.PublishError, match="cannot be combined"):
        dc.Study(path).publish("ages")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('epsilon_per_unit = "1"\nledger', 'epsilon_per_unit = "1"\nepsilon = 1\nledger', "either epsilon"),
        ('north = "unknown" }', 'unknown = "north" }', "without a parent"),
        ('west = "north", north', 'weast = "north", north', "not a level"),
        ('levels = ["east", "west", "north"', 'levels = ["north", "east", "west"', "stands before"),
        ("lengths = { north = 2 }", "lengths = { north = 0 }", "above 0"),
        ("lengths = { north = 2 }", "lengths = 3", "tables by level"),
        ('hangs_on = { east = "north", west = "north", north = "unknown" }\n', "", "hangs_on"),
    ],
)
def test_a_wrong_study_is_refused_in_words(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert old in STUDY
    (tmp_path / "study.toml").write_text(STUDY.replace(old, new))
    with pytest.raises(dc.DeclarationError, match=words):
        dc.Study(tmp_path / "study.toml")
    assert not (tmp_path / "x.db").exists()


def test_two_distances_of_one_column_have_no_ledger_together(tmp_path: Path) -> None:
    more = '[questions.mean]\nmodel = "number"\ncolumn = "age"\nask = ["mean"]\nepsilon_per_unit = "0.1"\n'
    (tmp_path / "study.toml").write_text(STUDY + more)
    with pytest.raises(dc.DeclarationError, match="measure the same column"):
        dc.Study(tmp_path / "study.toml").ledger()
