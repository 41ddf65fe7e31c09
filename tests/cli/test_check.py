"""Mistakes that `check` names before anything is paid for."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from discreet.cli._main import main
from discreet.records import Column, as_source, read

STUDY = """
[data]
path = "data.csv"
size = {size}
unit = "one row per patient"
[budget]
epsilon = "2"
ledger = "study.db"
{columns}
"""
ASK = '[questions.{name}]\ncolumns = ["{name}"]\nepsilon = "1"\n'


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(folder: Path, values: list[str], declared: str, question: str = ASK.format(name="x")) -> None:
    (folder / "data.csv").write_text("x,y\n" + "".join(f"{value},1\n" for value in values))
    study = STUDY.format(size=len(values), columns=f"[columns.x]\n{declared}\n{question}")
    (folder / "study.toml").write_text(study)


MISTAKES = {
    "all undeclared": (["0"] * 30 + ["1"] * 10, 'levels = ["no", "yes"]', ["No value of 'x' is declared", "0 and 1"]),
    "digits, one level for everything else": (
        ["0"] * 30 + ["1"] * 10,
        'levels = ["no", "yes"]\noutside = "no"',
        ["No value of 'x' is declared: declared are 'no', 'yes'; found are", "0 and 1"],
    ),
    "trailing blanks": (["male"] * 30 + ["male "] + ["femme"] * 9, 'levels = ["male", "femme"]', ["looks like 'male'"]),
    "case": (["Yes"] + ["yes"] * 20 + ["no"] * 20, 'levels = ["no", "yes"]', ["'Yes' of 'x' (1 records) is not decl"]),
    "leading zeros": (["01"] + ["1"] * 20 + ["2"] * 20, "levels = [1, 2]", ["'01' of 'x'"]),
    "an empty level": (["no"] * 40, 'levels = ["no", "yes"]', ["No record of 'x' has the level 'yes'"]),
    "an empty band": (["30"] * 40, "bands = [0, 18, 65]", ["No record of 'x' has the band '0 to under 18'"]),
    "much missing": ([""] * 3 + ["no"] * 20 + ["yes"] * 20, 'levels = ["no", "yes"]', ["7% of the values of 'x'"]),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_and_counts_only_if_strict(folder: Path, name: str) -> None:
    values, declared, words = MISTAKES[name]
    written(folder, values, declared)
    shown = run("check", "study.toml")
    for each in words:
        assert each in shown
    assert "Check this:" in shown
    run("check", "study.toml", "--strict", code=1)
    assert json.loads(CliRunner().invoke(main, ["check", "study.toml", "--json"]).stdout)["problems"]


def test_records_as_declared_are_no_mistake(folder: Path) -> None:
    written(folder, ["no"] * 30 + ["yes"] * 10 + [""], 'levels = ["no", "yes"]')
    assert "Check this" not in run("check", "study.toml", "--strict")
    written(folder, ["10", "30", "64.5", "65"] * 10, "bands = [0, 18, 65]")
    shown = run("check", "study.toml", "--strict")
    assert "Check this" not in shown
    assert "'30'" not in shown


NUMBERS = {
    "beyond the bounds": (["5"] * 30 + ["500"] * 10, "25% of the values of 'x' lie outside 0 to 100"),
    "missing": (["5"] * 30 + [""] * 10, "25% of the values of 'x' are missing or no number, and are left out"),
    "no numbers at all": (["five"] * 40, "No value of 'x' is a number; found are 'five' x 40"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_are_cut_off_or_missing_are_named(folder: Path, name: str) -> None:
    values, words = NUMBERS[name]
    question = '[questions.mean]\nmodel = "number"\ncolumn = "x"\nask = ["mean"]\nepsilon = "1"\n'
    written(folder, values, "bounds = [0, 100]", question)
    assert words in run("check", "study.toml")
    run("check", "study.toml", "--strict", code=1)


def test_another_separator_is_asked_about(folder: Path) -> None:
    (folder / "data.csv").write_text("x;y\n1;2\n")
    assert "is that the separator" in run("init", "data.csv", "--out", "new.toml")
    study = STUDY.format(size=1, columns="[columns.x]\nlevels = [1, 2]\n" + ASK.format(name="x"))
    (folder / "study.toml").write_text(study)
    shown = run("check", "study.toml", code=4)
    assert "separator = ';'" in shown
    assert "x;y" not in shown


def test_a_wrong_size_ends_check_with_a_code_of_its_own(folder: Path) -> None:
    written(folder, ["no"] * 30 + ["yes"] * 10, 'levels = ["no", "yes"]')
    (folder / "study.toml").write_text((folder / "study.toml").read_text().replace("size = 40", "size = 41"))
    assert "but 41 are declared" in run("check", "study.toml", code=1)


def test_publish_says_if_nobody_has_checked_these_declarations(folder: Path) -> None:
    written(folder, ["no"] * 30 + ["yes"] * 10, 'levels = ["no", "yes"]')
    assert "was never run" in run("publish", "study.toml", "--ask", "x")
    run("check", "study.toml")
    assert "was never run" not in run("publish", "study.toml", "--ask", "x")
    declared = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(declared.replace('["no", "yes"]', '["no", "yes", "maybe"]'))
    (folder / "study.db").unlink()
    (folder / "x.release.json").unlink()
    assert "was never run" in run("publish", "study.toml", "--ask", "x")


def test_matching_reads_a_file_once_however_many_columns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "data.csv").write_text("x,y\n" + "no,1\nyes ,2\n" * 50)
    source: Any = read(folder / "data.csv")
    passes: list[int] = []
    batches = type(source).batches

    def counted(*given: Any) -> Any:
        passes.append(1)
        return batches(*given)

    monkeypatch.setattr(type(source), "batches", counted)
    first, second = source.match([Column("x", ("no", "yes")), Column.banded("y", (0, 1))])
    assert passes == [1]
    assert first.values == [("yes ", 50)]
    assert (first.undeclared, second.undeclared) == (50, 50)


def test_undeclared_values_are_grouped_by_their_bytes_as_one_by_one(folder: Path) -> None:
    """Short fields by NumPy, long ones in Python: quotes, blanks, missing fields and 57 bytes included."""
    generator = np.random.default_rng(5)
    texts = ["", "a", '"a"', '"a""b"', "é", "aaaaaaaa", "aaaaaaaab", '"x,y"', " a", "b" * 56]
    for longest in (texts, [*texts, "c" * 57]):
        lines = [longest[index] for index in generator.integers(len(longest), size=500)]
        (folder / "data.csv").write_text("x,y\n" + "".join(f"{line},1\n" for line in lines))
        plain = [line.strip('"').replace('""', '"') if line.startswith('"') else line for line in lines]
        column = Column("x", ("no", "yes"))
        (found,) = read(folder / "data.csv").match([column], most=100)
        (other,) = as_source({"x": [text or None for text in plain]}).match([column], most=100)
        assert dict(found.values) == dict(other.values)
        assert found.undeclared == 500


@pytest.mark.parametrize("outside", [None, "yes", "elsewhere"])
def test_the_level_for_outside_values_counts_declared_ones_apart(outside: str | None) -> None:
    column = Column("x", ("no", "yes"), outside)
    (found,) = as_source({"x": ["no", "yes", "yes", "maybe", None, "other"]}).match([column])
    assert found.undeclared == (2 if outside is None else 3)
    assert int(found.counts.sum()) == 6
    assert found.counts[column.home] == {None: 3, "yes": 5, "elsewhere": 3}[outside]
