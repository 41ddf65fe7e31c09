"""A study asks about numbers: the whole road from a file to intervals, and refusals in words."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli._main import main
from discreet.mechanism import columns_of_numbers

HEAD = """
[data]
path = "pay.csv"
size = 400
[budget]
epsilon = "9"
ledger = "pay.db"
[columns.ward]
levels = ["A", "B"]
outside = "A"
[columns.pay]
bounds = [0, 100]
[columns.age]
bounds = [0, 99]
whole = true
missing = 40
"""
QUESTION = '[questions.q]\nmodel = "number"\nepsilon = "1"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    generator = np.random.default_rng(1)
    rows = [f"{'AB'[i % 2]},{'' if i % 20 == 0 else generator.uniform(20, 60):.3},{20 + i % 50}" for i in range(400)]
    (tmp_path / "pay.csv").write_text("ward,pay,age\n" + "\n".join(rows) + "\n")
    return tmp_path


def study(folder: Path, keys: str) -> dc.Study:
    (folder / "study.toml").write_text(HEAD + QUESTION + keys)
    return dc.Study(folder / "study.toml")


@pytest.mark.parametrize(
    ("keys", "kind", "rows"),
    [
        ('column = "pay"\nask = ["mean", "sum"]', dc.GeometricSums, 4),
        ('column = "pay"\nask = "variance"', dc.GeometricSums, 2),
        ('column = "pay"\nask = ["mean"]\nby = "ward"', dc.GeometricSums, 4),
        ('column = "age"\nquantiles = [0.25, 0.5, 0.75]', dc.TreeTable, 6),
        ('column = "pay"\nask = ["distribution", "mean"]\ncells = 8', dc.TreeTable, 16),
        ('column = "pay"\nask = "quantiles"\nby = "ward"\nedges = [0, 20, 40, 60, 100]', dc.TreeTable, 20),
        ('column = "pay"\nask = "quantiles"\ngrowing_from = 10\ncells = 8', dc.TreeTable, 10),
    ],
)
def test_a_question_goes_the_whole_road(keys: str, kind: type, rows: int, folder: Path) -> None:
    asked = study(folder, keys)
    release = asked.publish("q")
    assert isinstance(release.mechanism, kind)
    read = dc.Release.from_json(release.to_json())
    assert read == release
    assert len(dc.infer(read).rows()) == rows
    assert dc.verify(read, asked.ledger()).epsilon == 1


def test_mean_and_quantiles_agree_with_the_records(folder: Path) -> None:
    asked = study(folder, 'column = "pay"\nask = "mean"\n')
    fields = [line.split(",")[1] for line in (folder / "pay.csv").read_text().splitlines()[1:]]
    pay = [float(field) for field in fields if field]
    row, _ = dc.infer(asked.publish("q")).rows(0.999)
    assert row.low <= np.mean(pay) <= row.high
    assert row.high - row.low < 10


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ('column = "pay"\nask = "median"', "ask names 'median'"),
        ('column = "pay"', "ask is empty"),
        ('column = "pai"\nask = "mean"', "bounds"),
        ('column = "ward"\nask = "mean"', "bounds"),
        ('column = "pay"\nask = ["sum", "quantiles"]', "in separate questions"),
        ('column = "pay"\nask = "mean"\ncells = 8', "cells and edges"),
        ('column = "pay"\nask = "mean"\nby = "age"', "levels or bands"),
        ('column = "pay"\nask = "quantiles"\nquantiles = [2]', "between 0 and 1"),
        ('column = "pay"\nquantiles = [0.00001]', "beyond the outermost record"),
        ('column = "pay"\nquantiles = [0.2, 0.7]\nmechanism = "ChosenCounts"', "Use ChosenTable"),
        ('column = "pay"\nask = "mean"\ndistance = 1', "distance"),
    ],
)
def test_a_wrong_question_is_refused_in_words(keys: str, words: str, folder: Path) -> None:
    with pytest.raises(dc.DeclarationError, match=r"questions\.q") as refusal:
        study(folder, keys)
    assert words in str(refusal.value)
    assert not (folder / "pay.db").exists()


def test_the_command_line_plans_rehearses_publishes_and_reads(folder: Path) -> None:
    study(folder, 'column = "pay"\nask = ["mean"]\nby = "ward"\n')
    path, runner = str(folder / "study.toml"), CliRunner()
    planned = runner.invoke(main, ["plan", path, "--epsilon", "0.5,1", "--width", "2"])
    assert planned.exit_code == 0, planned.output
    assert "these records" in planned.output
    assert "half as far apart" in " ".join(planned.output.split())
    for words in (["check", path], ["rehearse", path], ["publish", path, "--ask", "q"]):
        done = runner.invoke(main, words)
        assert done.exit_code == 0, done.output
    out = str(folder / "q.release.json")
    done = runner.invoke(main, ["infer", out, "--plot", str(folder / "q.json")])
    assert done.exit_code == 0, done.output
    assert "records without a value are left out" in " ".join(done.output.split())
    assert (folder / "q.json").exists()


@pytest.mark.parametrize("extra", ["", '\nby = "ward"'])
def test_weights_that_are_fixed_by_design_go_the_whole_road(extra: str, folder: Path) -> None:
    weighted = 'column = "pay"\nask = ["mean", "sum"]\nweight = "age"\nweights = "fixed by design"' + extra
    release = study(folder, weighted).publish("q")
    assert isinstance(release.model, dc.WeightedSums)
    assert release.model.weights == dc.Weights("age", 99, "fixed by design")
    assert [(each.name, float(each.high)) for each in columns_of_numbers(release.model)][1:] == [("age", 99)]
    assert len(dc.infer(dc.Release.from_json(release.to_json())).rows()) == (8 if extra else 4)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ('weight = "age"', "It is not stated what the weights are; they must be 'fixed by design'"),
        ('weight = "age"\nweights = "calibrated"', "if one record changes, the weights of all others do"),
        ('weights = "fixed by design"', "weight names None"),
        ('weight = "agee"\nweights = "fixed by design"', "Did you mean"),
        ('weight = "pay"\nweights = "fixed by design"', "cannot say how units count"),
        ('weight = "age"\nweights = "fixed by design"\ncells = 8', "the mean and the sum can be asked"),
        ("rows_per_person = 3", "unit_column"),
    ],
)
def test_wrong_weights_are_refused_in_words(keys: str, words: str, folder: Path) -> None:
    with pytest.raises(dc.DeclarationError, match=r"questions\.q") as refusal:
        study(folder, f'column = "pay"\nask = "mean"\n{keys}')
    assert words in str(refusal.value)
