"""Questions about some of the records, and ledgers with groups, in studies: declared, planned, published, shown."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main
from discreet.report.statement import statement

SECRET = """
[data]
path = "d.csv"
neighbours = "add or remove"
about = 300
[budget]
epsilon = "1"
ledger = "l.db"
groups = "ward"
[columns.ward]
levels = ["West", "East"]
[columns.age]
bands = [0, 18, 65, 120]
names = ["child", "adult", "old"]
outside = "no age"
[columns.fall]
levels = ["no", "yes"]
outside = "no"
[questions.all]
columns = ["ward"]
epsilon = "0.25"
[questions.west]
columns = ["fall"]
where = "ward = West"
about = 100
epsilon = "0.75"
[questions.east]
columns = ["age", "fall"]
where = "ward=East"
epsilon = "0.5"
[questions.old]
columns = ["fall"]
where = "age = old and ward = East"
epsilon = "0.25"
"""
PUBLIC = """
[data]
path = "d.csv"
size = 200
[budget]
epsilon = "2"
ledger = "p.db"
[columns.ward]
levels = ["West", "East", "North", "South"]
[columns.age]
bands = [0, 18, 65, 120]
names = ["child", "adult", "old"]
outside = "no age"
[columns.fall]
levels = ["no", "yes"]
outside = "no"
[columns.stay]
bounds = [0, 100]
[questions.west]
columns = ["fall"]
where = "ward = West"
epsilon = "1"
"""
STAY = 'model = "number"\ncolumn = "stay"\nask = ["mean"]'


def written(folder: Path, text: str = SECRET, records: int = 200) -> Path:
    rows = [
        f"{('West', 'East', 'North', 'South')[n % 4]},{n * 7 % 110},{'yes' if n % 3 == 0 else 'no'},{n % 90}\n"
        for n in range(records)
    ]
    (folder / "d.csv").write_text("ward,age,fall,stay\n" + "".join(rows), "utf-8")
    (folder / "s.toml").write_text(text, "utf-8")
    return folder / "s.toml"


def run(*words: str) -> Any:
    return CliRunner().invoke(main, list(words))


def test_the_whole_road_of_a_question_about_a_group(tmp_path: Path) -> None:
    study = dc.Study(written(tmp_path))
    question = study.question("west")
    assert (str(question.where), question.about) == ("ward = West", 100)
    assert isinstance(question.mechanism, dc.LaplaceTable)
    assert study.plan("west").size == 100
    released = {name: study.publish(name) for name in ("all", "west", "east", "old")}
    assert study.publish("west") == released["west"]
    assert [each.group for each in released.values()] == [None, "ward = West", "ward = East", "ward = East"]
    ledger = study.ledger()
    assert ledger.spent.epsilon == 1
    assert ledger.rule == study.columns["ward"]
    ledger.check()
    for release in released.values():
        assert "looked up" in str(dc.verify(release, ledger=ledger))
    west = study.infer("west")
    assert abs(west.number_of_records.mean - 50) < 30
    said = statement(released["west"], west)
    assert "A randomised summary of **records where ward = West**" in said
    assert "which records these are is protected, too" in said
    assert "about" in repr(west) or west.text
    assert dc.Release.from_json(released["old"].to_json()).where == study.question("old").where


def test_the_counts_are_those_of_the_group(tmp_path: Path) -> None:
    study = dc.Study(written(tmp_path))
    counts = {name: study.statistics(study.question(name)).open_for_publishing() for name in ("west", "old")}
    rows = [line.split(",") for line in (tmp_path / "d.csv").read_text("utf-8").splitlines()[1:]]
    west = [row[2] for row in rows if row[0] == "West"]
    old = [row[2] for row in rows if row[0] == "East" and 65 <= int(row[1]) <= 120]
    assert counts["west"].tolist() == [west.count("no"), west.count("yes")]
    assert counts["old"].tolist() == [old.count("no"), old.count("yes")]


def test_the_commands_of_a_question_about_a_group(tmp_path: Path) -> None:
    path = written(tmp_path)
    assert "ward" in run("check", str(path)).output
    planned = run("plan", str(path))
    assert "west: of the records where ward = West" in planned.output
    assert "east: not planned" in planned.output
    assert "about = 500" in planned.output
    said = run("publish", str(path), "--ask", "west").output
    assert "It was charged to the group 'ward = West': epsilon = 0.25 remains for it." in said
    shown = run("infer", str(tmp_path / "west.release.json")).output
    assert "records where ward = West" in shown
    assert json.loads(run("infer", str(tmp_path / "west.release.json"), "--json").output)["where"] == "ward = West"
    verified = run("verify", str(tmp_path / "west.release.json"), "--ledger", str(tmp_path / "l.db")).output
    assert "where ward = West" in verified
    booked = run("ledger", str(path)).output
    for words in ("ward = West", "ward = other", "the most that was spent on one group"):
        assert words in booked
    groups = json.loads(run("ledger", str(path), "--json").output)["groups"]
    assert groups["ward = West"] == {
        "spent": {"epsilon": "0.75", "delta": "0"},
        "left": {"epsilon": "0.25", "delta": "0"},
    }
    batch = run("publish", str(path), "--batch")
    assert batch.exit_code != 0
    assert "they are about different records" in batch.output


@pytest.mark.parametrize("records", [0, 1])
def test_a_group_of_nobody_is_published_like_any_other(tmp_path: Path, records: int) -> None:
    few, many = tmp_path / "few", tmp_path / "many"
    for folder, count in ((few, records), (many, 3000)):
        folder.mkdir()
        written(folder, records=count)
    said = [run("publish", str(folder / "s.toml"), "--ask", "old") for folder in (few, many)]
    assert [each.exit_code for each in said] == [0, 0]
    assert said[0].output.replace(str(few), "") == said[1].output.replace(str(many), "")
    releases = [json.loads((folder / "old.release.json").read_text("utf-8")) for folder in (few, many)]
    for each in releases:
        del each["output"], each["receipt"]
    assert releases[0] == releases[1]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"ward = West"', '"ward = Wst"', "does not have.*Did you mean 'West'"),
        ('"ward = West"', '"wart = West"', "questions.west: where names the column 'wart'"),
        ('"ward = West"', '"age > 65"', "must name a column and one of its levels"),
        ('"ward = West"', '"fall = yes"', "asking about 'fall' would tell nothing more"),
        ('where = "ward = West"\n', "", "about is a guess of how many records meet"),
        ('groups = "ward"', 'groups = "wards"', "budget.groups names 'wards'.*Did you mean 'ward'"),
        ('neighbours = "add or remove"\nabout = 300', "size = 200", "budget.groups needs neighbours"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(tmp_path: Path, old: str, new: str, words: str) -> None:
    path = written(tmp_path, SECRET.replace(old, new, 1))
    with pytest.raises(dc.DeclarationError, match=f"(?s){words}"):
        dc.Study(path)


def test_groups_are_declared_once(tmp_path: Path) -> None:
    dc.Study(written(tmp_path)).publish("west")
    other = dc.Study(written(tmp_path, SECRET.replace('["West", "East"]', '["West", "East", "North"]')))
    with pytest.raises(dc.PublishError, match="Groups are declared once"):
        other.publish("east")
    (tmp_path / "west.release.json").unlink()
    plain = dc.Study(written(tmp_path, SECRET.replace('groups = "ward"\n', "").replace('"l.db"', '"n.db"')))
    plain.publish("west")
    assert plain.ledger().spent.epsilon == Fraction(3, 4)  # without groups, everyone pays
    declared = dc.Study(written(tmp_path, SECRET.replace('"l.db"', '"n.db"')))
    with pytest.raises(dc.PublishError, match="was created without groups"):
        declared.publish("east")


def test_conditions_are_part_of_what_is_asked(tmp_path: Path) -> None:
    study = dc.Study(written(tmp_path))
    first = study.publish("west")
    other = dc.Study(written(tmp_path, SECRET.replace('where = "ward = West"', 'where = "ward = East"', 1)))
    with pytest.raises(dc.PublishError, match="already answered for something else"):
        other.publish("west")
    assert study.question("west").canonical != other.question("west").canonical
    spaced = dc.Study(written(tmp_path, SECRET.replace('where = "ward = West"', 'where = "ward=West"', 1)))
    assert spaced.publish("west") == first


def test_where_the_number_is_public_all_are_counted_beside_those_that_are_meant(tmp_path: Path) -> None:
    study = dc.Study(written(tmp_path, PUBLIC))
    question = study.question("west")
    assert question.where is None
    assert question.given == "ward=West"
    assert question.model.cells == (("West", "no"), ("West", "yes"), ("other", "no"), ("other", "yes"))
    assert study.statistics(question).open_for_publishing().sum() == 200
    said = run("publish", str(tmp_path / "s.toml"), "--ask", "west").output
    assert "The whole table was published; rows of 'ward=West' answer the question." in said
    posterior = study.infer("west")
    truth = 17 / 50
    assert posterior.conditional("fall=yes", "ward=West").interval(0.999)[0] < truth
    assert study.ledger().spent.epsilon == 1
    dc.verify(posterior.releases[0], ledger=study.ledger())


@pytest.mark.parametrize(
    ("where", "levels"),
    [
        ("age = adult", ("adult", "above adult", "no age")),
        ("age = old", ("old", "no age")),
        ("age = no age", ("child", "adult", "old", "no age")),
        ("ward = other", ("West", "East", "North", "South", "other")),
    ],
)
def test_levels_beside_the_one_that_is_meant_are_put_together(tmp_path: Path, where: str, levels: Any) -> None:
    study = dc.Study(written(tmp_path, PUBLIC.replace('"ward = West"', f'"{where}"')))
    question = study.question("west")
    column = question.model.columns[0]
    assert column.levels == levels
    declared, meant = study.columns[column.name], question.given.split("=")[1]
    for value in (None, 0, 17.9, 18, 64.9, 65, 120, 121, "x", "West", "North", "other"):
        assert (column.levels[column.code(value)] == meant) is (declared.levels[declared.code(value)] == meant)


def test_a_mean_of_some_is_asked_by_their_column(tmp_path: Path) -> None:
    study = dc.Study(written(tmp_path, PUBLIC.replace('columns = ["fall"]', STAY)))
    assert study.question("west").model.groups == ("ward=West", "ward=other")
    assert study.publish("west").guarantee.epsilon == 1
    assert any(row.given == "ward=West" for row in study.infer("west").rows())


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (STAY + '\nby = "age"', "by one column at most"),
        ('model = "network"\nedges = ["fall"]', "where is for tables of shares"),
        ('columns = ["fall", "ward"]', "asking about 'ward' would tell nothing more"),
        ('columns = ["fall"]\nabout = 5', "that number is public"),
    ],
)
def test_what_has_no_part_among_a_public_number_is_refused_in_words(tmp_path: Path, keys: str, words: str) -> None:
    path = written(tmp_path, PUBLIC.replace('columns = ["fall"]', keys))
    with pytest.raises(dc.DeclarationError, match=words):
        dc.Study(path)


def test_questions_from_elsewhere_may_have_conditions_too(tmp_path: Path) -> None:
    study = dc.Study(written(tmp_path, PUBLIC))
    asked = study.asked({"columns": ["fall"], "where": "ward=West", "epsilon": "1", "label": "Falls"})
    assert asked.canonical == study.question("west").canonical
    with pytest.raises(dc.DeclarationError, match="where names the column"):
        study.asked({"columns": ["fall"], "where": "shoe=45", "epsilon": "1", "label": "Falls"})


def test_intervals_of_a_group_hold_what_is_true_of_it() -> None:
    """Of 60 releases with n epsilon = 50, 90 % intervals of a count in a group miss it at most 14 times (1e-3)."""
    ward, fall = dc.Column("ward", ("West", "East"), outside="East"), dc.Categories("fall", levels=(0, 1), outside=0)
    data = {"ward": ["West"] * 100 + ["East"] * 300, "fall": [1] * 20 + [0] * 80 + [1] * 200 + [0] * 100}
    counts = dc.Where("ward = West", [ward]).statistics(fall, data).open_for_publishing()
    table, missed = dc.LaplaceTable(fall, "0.5"), 0
    for seed in range(60):
        posterior = dc.infer(dc.simulate(table, counts, dc.SeededBits(seed)))
        low, high = posterior.true_count(1).interval(0.9)
        missed += not low <= 20 <= high
    assert missed <= 14
    assert np.array_equal(counts, [80, 20])
