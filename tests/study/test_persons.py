"""A study protects persons: the whole road from rows to intervals, its ledger, and refusals in words."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli._main import main
from discreet.inference import remarks

HEAD = """
[data]
path = "costs.csv"
size = 300
unit_column = "patient"
[budget]
epsilon = "99"
ledger = "costs.db"
[columns.ward]
levels = ["A", "B"]
[columns.cost]
bounds = [0, 200]
"""
QUESTION = '[questions.q]\nmodel = "number"\ncolumn = "cost"\nepsilon = "9"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    generator = np.random.default_rng(5)
    rows = [
        f"p{person},{generator.uniform(20, 180):.1f},{'AB'[person % 2]}"
        for person in range(250)
        for _ in range(generator.integers(1, 6))
    ]
    (tmp_path / "costs.csv").write_text("patient,cost,ward\n" + "\n".join(rows) + "\n")
    return tmp_path


def study(folder: Path, keys: str, head: str = HEAD) -> dc.Study:
    (folder / "study.toml").write_text(head + QUESTION + keys)
    return dc.Study(folder / "study.toml")


def costs(folder: Path) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for line in (folder / "costs.csv").read_text().splitlines()[1:]:
        patient, cost, _ = line.split(",")
        found.setdefault(patient, []).append(float(cost))
    return found


def test_totals_go_the_whole_road_and_protect_one_person(folder: Path) -> None:
    asked = study(folder, 'per_person = "total"\ntotal_bounds = [0, 1000]\nask = ["mean", "sum"]')
    release = asked.publish("q")
    assert release.unit == dc.Unit("one person")
    assert release.change == "replace one person"
    assert release.guarantee.epsilon == 9
    read = dc.Release.from_json(release.to_json())
    assert read == release
    assert dc.verify(read, asked.ledger()).epsilon == 9
    mean, population, total, _ = dc.infer(read).rows(0.9999)
    truth = sum(min(sum(own), 1000) for own in costs(folder).values())
    assert mean.quantity == "mean of total cost per patient (these persons)"
    assert population.quantity.endswith("(population)")
    assert mean.low <= truth / 300 <= mean.high
    assert total.low <= truth <= total.high
    assert asked.publish("q") == release


@pytest.mark.parametrize(("rule", "function"), [("largest", max), ("smallest", min), ("mean", np.mean)])
def test_one_value_for_each_person_and_persons_without_rows_are_left_out(
    rule: str, function: object, folder: Path
) -> None:
    asked = study(folder, f'per_person = "{rule}"\nquantiles = [0.5]\ncells = 16')
    row, _ = dc.infer(asked.publish("q")).rows(0.999)
    values = sorted(function(own) for own in costs(folder).values())  # type: ignore[operator]
    assert row.low <= values[len(values) // 2] <= row.high
    assert "persons without a value are left out" in " ".join(remarks(dc.infer(asked.publish("q"))))


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ('ask = "mean"', "state with per_person"),
        ('ask = "mean"\nper_person = "first"', "depends on how the table is stored"),
        ('ask = "mean"\nper_person = "totl"', "'total'"),
        ('ask = "mean"\nper_person = "total"', "total_bounds"),
        ('ask = "mean"\nper_person = "mean"\ntotal_bounds = [0, 1]', "only for per_person = 'total'"),
        ('ask = "mean"\nper_person = "total"\ntotal_bounds = [0]', "two numbers"),
        ('ask = "mean"\nper_person = "total"\ntotal_bounds = [9, 0]', "must rise"),
    ],
)
def test_a_wrong_question_about_persons_is_refused_in_words(keys: str, words: str, folder: Path) -> None:
    with pytest.raises(dc.DeclarationError, match=r"questions\.q") as refusal:
        study(folder, keys)
    assert words in str(refusal.value)
    assert not (folder / "costs.db").exists()


def test_questions_about_rows_and_rows_per_unit_do_not_go_with_persons(folder: Path) -> None:
    keys = 'ask = "mean"\nper_person = "largest"\n'
    with pytest.raises(dc.DeclarationError, match="rows_per_unit does not apply"):
        study(folder, keys, HEAD.replace("[budget]", "rows_per_unit = 3\n[budget]"))
    with pytest.raises(dc.DeclarationError, match="need unit_column"):
        study(folder, keys, HEAD.replace('unit_column = "patient"\n', ""))
    with pytest.raises(dc.DeclarationError, match=r"questions\.w: the model 'categories' counts rows"):
        study(folder, keys + '[questions.w]\ncolumns = ["ward"]\nepsilon = "1"\n')


def test_the_holder_sees_how_many_ids_there_are_and_readers_do_not(folder: Path) -> None:
    keys = 'ask = ["mean"]\nper_person = "total"\ntotal_bounds = [0, 1000]\nby = "ward"\n'
    path, runner = str(folder / "study.toml"), CliRunner()
    for size, code, words in (("300", 0, "50 of them have no rows"), ("200", 1, "50 will be left out")):
        study(folder, keys, HEAD.replace("size = 300", f"size = {size}").replace("costs.db", f"{size}.db"))
        checked = runner.invoke(main, ["check", path])
        assert checked.exit_code == code, checked.output
        assert words in " ".join(checked.output.split())
        for asked in (["plan", path, "--epsilon", "1"], ["publish", path, "--ask", "q", "--out", str(folder / size)]):
            done = runner.invoke(main, asked)
            assert done.exit_code == 0, done.output
            assert "250" not in done.output
    statement = folder / "s.md"
    done = runner.invoke(main, ["infer", str(folder / "300"), "--statement", str(statement)])
    assert done.exit_code == 0, done.output
    assert "whatever all rows of any single person say" in statement.read_text()
    assert "how many of them have rows is not" in statement.read_text()


def test_a_ledger_of_records_does_not_pay_for_persons_nor_are_rows_multiplied(tmp_path: Path) -> None:
    model = dc.NumberSums("x", (0, 1), persons=dc.Persons("id", 5, "mean"))
    secret = model.statistics({"id": ["a", "a", "b"], "x": [0, 1, 1]})
    mechanism = dc.GeometricSums(model, 5, 1)
    of_records = dc.Ledger.create(tmp_path / "records.db", epsilon=9)
    with pytest.raises(dc.PublishError, match="would protect 'one person'"):
        dc.publish(mechanism, secret, of_records, "x")
    of_persons = dc.Ledger.create(tmp_path / "persons.db", epsilon=9, unit="one person")
    with pytest.raises(dc.PublishError, match="already combines all rows"):
        dc.publish(mechanism, secret, of_persons, "x", unit=dc.Unit("one person", 3))
    assert dc.publish(mechanism, secret, of_persons, "x").unit.description == "one person"
    rows = dc.NumberSums("x", (0, 1))
    plan = dc.Plan([mechanism, dc.GeometricSums(rows, 3, 1)])
    both = [model.statistics({"id": ["a"], "x": [1]}), rows.statistics({"x": [1, 2, 3]})]
    with pytest.raises(dc.PublishError, match="one person and one record"):
        dc.publish_plan(plan, both, of_persons, ["x", "y"])
    assert [
        dc.publish_plan(dc.Plan([mechanism]), [secret], of_persons, ["x"])[0].unit.rows,
        of_persons.spent.epsilon,
    ] == [1, 2]


def test_the_mean_of_all_rows_is_a_ratio_of_what_persons_add(folder: Path) -> None:
    asked = study(folder, 'per_person = "rows"\nrows_per_person = 3\nask = ["mean", "sum"]')
    release = asked.publish("q")
    assert release.unit.description == "one person"
    mean, population, total, _ = dc.infer(release).rows(0.9999)
    shares = [(cost, min(1, 3 / len(own))) for own in costs(folder).values() for cost in own]
    truth = sum(cost * share for cost, share in shares)
    assert mean.low <= truth / sum(share for _, share in shares) <= mean.high
    assert total.low <= truth <= total.high
    assert population.high - population.low > mean.high - mean.low
    assert "per row, persons with more than 3 rows weighted down" in mean.quantity
    for keys, words in (('per_person = "rows"', "rows_per_person"), ("rows_per_person = 3", "per_person = 'rows'")):
        with pytest.raises(dc.DeclarationError, match=words):
            study(folder, f'ask = "mean"\n{keys}')
