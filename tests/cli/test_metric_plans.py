"""Plans of questions with `epsilon_per_unit`: every epsilon is told with its unit, and for any change whatever."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli._main import main
from discreet.cli._plan import Epsilons

STUDY = """
[data]
path = "records.csv"
size = 300
unit = "one row per person"
[budget]
epsilon = 50
ledger = "study.db"
[columns.age]
bounds = [0, 100]
whole = true
missing = 40
[questions.middle]
model = "number"
column = "age"
quantiles = [0.5]
epsilon_per_unit = "0.1"
[questions.mean]
model = "number"
column = "age"
ask = ["mean"]
epsilon_per_unit = "0.01"
[questions.plain]
model = "number"
column = "age"
ask = ["mean"]
epsilon = 1
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def test_a_plan_under_a_metric_names_the_unit_and_what_holds_for_any_change(study: Path) -> None:
    told = CliRunner().invoke(main, ["plan", str(study), "--ask", "mean", "--epsilon", "0.01", "--json"])
    assert told.exit_code == 0, told.output
    (row,) = json.loads(told.output)["points"]
    promised: Any = dc.Study(study).questions["mean"].mechanism.guarantee
    assert row["epsilon"] == pytest.approx(float(promised.epsilon))  # 0.69: no record moves both sums wholly
    assert row["epsilon_per_unit"] == pytest.approx(0.01)
    assert row["of"] == promised.metric.metric.unit


def test_epsilons_of_a_plan_are_near_the_declared_one_under_a_metric_and_without(study: Path) -> None:
    questions = dc.Study(study).questions
    named = Epsilons(questions["middle"])
    assert [float(each) for each in named.values(None)] == [2.5, 5, 10, 20, 40]
    assert (named.head(10.0), named.unit) == ("0.1", "epsilon per 1 of age")
    assert named.words(10.0) == "epsilon = 0.1 per 1 of age (for any change whatever: 10)"
    assert named.values("0.2") == [20]
    (declared,) = named.sentence
    assert declared.startswith("Declared: epsilon = 0.1 per 1 of age, between values")
    assert declared.endswith("; for any change whatever: epsilon = 10.")
    plain = Epsilons(questions["plain"])
    assert [float(each) for each in plain.values(None)] == [0.25, 0.5, 1, 2, 4]
    assert (plain.words(0.5), plain.unit, plain.facts(0.5)) == ("epsilon = 0.5", "epsilon", {})


def test_epsilons_that_no_mechanism_can_have_are_not_proposed(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY.replace('"0.1"', '"60"'))
    values = Epsilons(dc.Study(tmp_path / "study.toml").questions["middle"]).values(None)
    assert [float(each) for each in values] == [1500, 3000, 6000]
