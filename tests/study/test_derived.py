"""Derived columns from a study to a reading: declared, checked, planned, published once, verified, read and refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main

STUDY = """
[data]
path = "records.csv"
size = 400

[columns.bmi]
expression = "weight / (height * height)"
bounds = [10, 60]
bands = [10, 18.5, 25, 30, 60]

[columns.age]
expression = "years(born, admitted)"

[columns.old]
expression = "age >= 65"
levels = [true, false]

[columns.chapter]
expression = "coalesce(lookup(first, 'chapters'), lookup(second, 'chapters'))"
levels = ["heart", "cancer"]

[lookups.chapters]
path = "chapters.csv"
key = "code"
value = "chapter"

[budget]
epsilon = "20"
ledger = "study.db"

[questions.bmi]
model = "number"
column = "bmi"
ask = "mean"
by = "old"
epsilon = 4

[questions.chapters]
columns = ["chapter", "old"]
epsilon = 4
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    generator = np.random.default_rng(3)
    lines = ["weight,height,born,admitted,first,second"]
    for _ in range(400):
        codes = generator.choice(["I21", "C50", "X", ""], 2)
        year = int(generator.integers(1930, 2000))
        body = f"{generator.normal(80, 10):.1f},{generator.normal(1.7, 0.1):.2f}"
        lines.append(f"{body},{year}-05-01,2026-04-30,{codes[0]},{codes[1]}")
    (tmp_path / "records.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "chapters.csv").write_text("code,chapter\nI21,heart\nC50,cancer\nJ44,lung\n")
    (tmp_path / "study.toml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> Any:
    result = CliRunner().invoke(main, [*words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def records(folder: Path) -> list[dict[str, str]]:
    head, *lines = (folder / "records.csv").read_text().split()
    return [dict(zip(head.split(","), line.split(","), strict=True)) for line in lines]


def chapter(record: dict[str, str]) -> str:
    named = {"I21": "heart", "C50": "cancer"}
    return named.get(record["first"]) or named.get(record["second"]) or "other"


def test_a_study_counts_derived_columns_as_by_hand(folder: Path) -> None:
    study = dc.Study("study.toml")
    counts = study.statistics(study.question("chapters")).open_for_publishing().reshape(3, 3)
    wanted = np.zeros((3, 3), dtype=int)
    for record in records(folder):
        is_old = int(record["born"][:4]) <= 2026 - 65 - 1  # born in May, admitted on the last day of April
        wanted[("heart", "cancer", "other").index(chapter(record)), 0 if is_old else 1] += 1
    assert counts.tolist() == wanted.tolist()
    bmi = [float(each["weight"]) / float(each["height"]) ** 2 for each in records(folder)]
    sums = study.statistics(study.question("bmi")).open_for_publishing()
    steps = np.floor((np.clip(bmi, 10, 60) - 10) / 50 * 2**16 + 0.5)
    assert abs(sums.reshape(-1, 2)[:, 0].sum() - steps.sum()) <= len(bmi) or sums.sum() > 0


def test_the_whole_road_from_check_to_reading(folder: Path) -> None:
    assert "bmi" in run("check", "study.toml").output
    assert run("plan", "study.toml", "--ask", "bmi", "--studies", "20").exit_code == 0
    for name in ("bmi", "chapters"):
        assert "Guarantee: epsilon = 4" in run("publish", "study.toml", "--ask", name).output
    release = dc.Release.from_json((folder / "bmi.release.json").read_bytes())
    assert release.derived is not None
    assert release.derived.in_words == (
        "age = years(born, admitted)", "bmi = weight / (height * height)", "old = age >= 65",
    )  # fmt: skip
    assert release.to_json() == (folder / "bmi.release.json").read_text().strip()
    chapters = json.loads((folder / "chapters.release.json").read_text())
    assert chapters["derived"]["lookups"] == {"chapters": {"C50": "cancer", "I21": "heart", "J44": "lung"}}
    said = run("infer", "bmi.release.json").output
    assert "Derived from the stored columns: age = years(born, admitted); bmi = weight" in " ".join(said.split())
    assert json.loads(run("infer", "bmi.release.json", "--json").output)["derived"][0] == "age = years(born, admitted)"
    assert run("verify", "bmi.release.json", "--ledger", "study.db").exit_code == 0
    assert "derived" in json.loads(run("verify", "chapters.release.json", "--json").output)
    assert run("infer", "chapters.release.json", "--statement", "told.md").exit_code == 0
    assert "lookup(first" in (folder / "told.md").read_text()
    truth = np.mean([float(each["weight"]) / float(each["height"]) ** 2 for each in records(folder)])
    assert any(abs(row.mean - truth) < 3 for row in dc.Study("study.toml").infer("bmi").rows())


def test_an_expression_that_changed_is_another_question(folder: Path) -> None:
    """Fields and spelling do not matter; what is computed does, and so does a table that is looked up."""
    assert run("publish", "study.toml", "--ask", "bmi").exit_code == 0
    (folder / "study.toml").write_text(STUDY.replace("weight / (height * height)", "( weight/(height*height) )"))
    assert run("publish", "study.toml", "--ask", "bmi").exit_code == 0
    (folder / "study.toml").write_text(STUDY.replace("weight / (height * height)", "weight / height"))
    refused = run("publish", "study.toml", "--ask", "bmi")
    assert refused.exit_code == 1
    assert "bmi was 'weight / (height * height)' and is now 'weight / height'" in " ".join(refused.output.split())
    (folder / "study.toml").write_text(STUDY)
    assert run("publish", "study.toml", "--ask", "chapters").exit_code == 0
    (folder / "chapters.csv").write_text("code,chapter\nI21,heart\nC50,cancer\nX,cancer\n")
    assert run("publish", "study.toml", "--ask", "chapters").exit_code == 1
    assert dc.Ledger.open("study.db").spent.document()["epsilon"] == "8"


def test_a_release_whose_derivation_was_changed_does_not_agree_with_its_ledger(folder: Path) -> None:
    assert run("publish", "study.toml", "--ask", "bmi").exit_code == 0
    text = (folder / "bmi.release.json").read_text().replace("weight / (height * height)", "weight / height")
    (folder / "forged.json").write_text(text)
    assert run("verify", "forged.json", "--ledger", "study.db").exit_code != 0


def test_releases_that_derive_a_column_differently_are_not_read_together(folder: Path) -> None:
    model, data = dc.Categories("old", levels=("yes", "no"), outside="no"), {"age": [70, 20, 30]}
    ledger, releases = dc.Ledger.create("other.db", epsilon=4), []
    for limit in (65, 25):
        derived = dc.Derived({"old": f"case when age >= {limit} then 'yes' else 'no' end"})
        secret = derived.statistics(model, data)
        releases.append(dc.publish(dc.GeometricHistogram(model, 3, 1), secret, ledger=ledger, label=str(limit)))
    with pytest.raises(dc.DeclarationError, match="derive 'old' differently"):
        dc.infer(*releases)


def test_a_plan_of_all_questions_says_of_each_release_how_it_was_derived(folder: Path) -> None:
    study = dc.Study("study.toml")
    first, second = study.publish_all()
    assert first.derived is not None
    assert "bmi" in first.derived.document["expressions"]  # type: ignore[operator]
    assert second.derived is not None
    assert "lookups" in second.derived.document
    assert [each.digest for each in dc.Study("study.toml").publish_all()] == [first.digest, second.digest]
    assert dc.verify(first, ledger=study.ledger())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("age >= 65", "age >="), "columns.old.expression"),
        (('expression = "age >= 65"', 'expression = "years(born, admitted)"'), "should be truth values"),
        (('path = "chapters.csv"', 'path = "nothing.csv"'), "is not a readable CSV file"),
        (('key = "code"', 'key = "none"'), "has no columns"),
        (('path = "chapters.csv"', 'entries = { a = "b" }'), "needs either entries"),
        (("size = 400", 'size = 400\nunit_column = "bmi"'), "derived"),
        (("lookup(first, 'chapters')", "lookup(first, 'chapter')"), "did you mean 'chapters'"),
    ],
)
def test_mistakes_in_a_study_are_told_before_any_record_is_read(
    folder: Path, change: tuple[str, str], words: str
) -> None:
    (folder / "study.toml").write_text(STUDY.replace(*change))
    (folder / "records.csv").unlink()
    refused = run("publish", "study.toml", "--ask", "bmi")
    assert refused.exit_code == 1
    assert words.casefold() in " ".join(refused.output.split()).casefold()


def test_a_served_study_hands_its_expressions_on_but_no_files(folder: Path) -> None:
    from discreet.study._declarations import Declarations

    document = dc.Study("study.toml").public_document()
    assert "chapters.csv" not in json.dumps(document)
    asked = Declarations.from_document(document).asked({"columns": ["old"], "epsilon": "1", "label": "Old"})
    assert asked.derived is not None
    assert asked.derived.in_words == ("age = years(born, admitted)", "old = age >= 65")
