"""Messages that say what is wrong and what to do about it."""

from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

import discreet as dc
from discreet._core.errors import DeclarationError
from discreet.cli import _screen
from discreet.cli._main import main

STUDY = """
[data]
path = "{data}"
size = 40
unit = "one row per patient"
[budget]
epsilon = "2"
ledger = "{ledger}"
{budget}
[columns.x]
levels = ["no", "yes"]
[questions.x]
columns = ["x"]
epsilon = "{epsilon}"
{further}
"""


USUAL = {"data": "data.csv", "ledger": "study.db", "epsilon": "0.2", "budget": "", "further": ""}


def study(**other: str) -> str:
    return STUDY.format(**(USUAL | other))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("data.csv", "other.csv"):
        (tmp_path / name).write_text("x\n" + "no\n" * 30 + "yes\n" * 10)
    (tmp_path / "study.toml").write_text(study())
    return tmp_path


def run(*words: str, code: int = 0) -> str:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


def test_a_changed_question_under_an_old_name_says_what_changed(folder: Path) -> None:
    run("publish", "study.toml", "--ask", "x")
    (folder / "study.toml").write_text(study(epsilon="0.3"))
    said = run("publish", "study.toml", "--ask", "x", code=1)
    assert "epsilon was '0.2' and is now '0.3'" in said
    assert "Give the question a new name" in said
    (folder / "study.toml").write_text(study(further="prior = 2"))
    assert "prior was" in run("publish", "study.toml", "--ask", "x", code=1)


def test_a_changed_question_within_a_quarter_says_when_to_ask_again(folder: Path) -> None:
    quarter = 'per = "quarter"\nallowance = "1"'
    (folder / "study.toml").write_text(study(budget=quarter))
    run("publish", "study.toml", "--ask", "x")
    (folder / "study.toml").write_text(study(epsilon="0.3", budget=quarter))
    said = run("publish", "study.toml", "--ask", "x", code=1)
    assert "epsilon was '0.2' and is now '0.3'" in said
    assert "in the next period" in said


@pytest.mark.parametrize("other", [{"data": "other.csv"}, {"ledger": "other.db"}])
def test_two_studies_of_one_folder_do_not_overwrite_each_other(folder: Path, other: dict[str, str]) -> None:
    run("publish", "study.toml", "--ask", "x")
    first = (folder / "x.release.json").read_bytes()
    (folder / "second.toml").write_text(study(**other))
    said = run("publish", "second.toml", "--ask", "x", code=1)
    assert "holds another release" in said
    assert (folder / "x.release.json").read_bytes() == first
    with pytest.raises(dc.PublishError, match="holds another release"):
        dc.Study("second.toml").publish("x")
    run("publish", "second.toml", "--batch", code=1)
    run("publish", "second.toml", "--ask", "x", "--out", "second.json")
    assert "nothing was charged" in run("publish", "study.toml", "--ask", "x")


def test_publish_takes_the_unit_of_its_ledger(folder: Path) -> None:
    model = dc.Categories(dc.Column("x", ("no", "yes"), outside="no"))
    secret = model.statistics({"x": ["no"] * 9})
    mechanism = dc.GeometricHistogram(model, 9, "1")
    for unit in (dc.Unit("one flight"), dc.Unit("one patient", rows=3)):
        ledger = dc.Ledger.create(folder / f"{unit.rows}.db", "9", unit=unit)
        release = dc.publish(mechanism, secret, ledger, "x")
        assert release.unit == unit
        assert release.guarantee.epsilon == unit.rows
    in_words = dc.Ledger.create(folder / "words.db", "9", unit="one patient")  # who may have many rows
    with pytest.raises(dc.PublishError, match=r"unit=Unit\('one patient', rows=1\)"):
        dc.publish(mechanism, secret, in_words, "x")
    assert in_words.spent.epsilon == 0


def test_a_ledger_that_is_not_there_is_not_to_be_created_by_whoever_verifies(folder: Path) -> None:
    run("publish", "study.toml", "--ask", "x")
    said = run("verify", "x.release.json", "--ledger", "nowhere.db", code=5)
    assert "Check the path" in said
    assert "The guarantee holds" in run("verify", "x.release.json")


def test_a_mechanism_is_suggested_by_a_part_of_its_name(folder: Path) -> None:
    (folder / "study.toml").write_text(study(further='mechanism = "Laplace"'))
    assert "Did you mean 'DiscreteLaplaceCounts'" in run("check", "study.toml", code=1)


def test_releases_of_different_people_are_pointed_to_a_model(folder: Path) -> None:
    model = dc.Categories(dc.Column("x", ("no", "yes"), outside="no"))
    first, second = (
        dc.simulate(dc.GeometricHistogram(model, size, "1"), [size - 3, 3], dc.SeededBits(size)) for size in (9, 12)
    )
    with pytest.raises(dc.DeclarationError, match=r"infer\(populations="):
        dc.infer(first, second)


def test_words_in_place_of_a_missing_value_are_told_what_may_stand_there() -> None:
    with pytest.raises(dc.DeclarationError, match=r"got 'leave out'\. 'middle' stands .* without a value are left"):
        dc.NumberSums("x", (0, 1), missing="leave out")


def test_a_port_is_an_option_of_the_server() -> None:
    assert "--port" in run("serve", "--help")


def test_records_given_to_infer_and_a_folder_given_to_init_are_named_as_what_they_are(folder: Path) -> None:
    (folder / "records.csv").write_text("fall\nno\n")
    shown = run("infer", "records.csv", code=5)
    assert "'records.csv' is not a release" in shown
    assert "discreet publish STUDY --ask NAME" in shown
    assert "'.' is a folder. Name a file of records in it." in run("init", ".", "--out", "new.toml", code=4)


def test_tables_are_never_broken_inside_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(width=40, file=StringIO(), highlight=False)
    monkeypatch.setattr(_screen, "console", console)
    rows = [("neighbourhood", "other", "0.6811 to 0.7618", "12%"), ("sex", "-", "0.5 to 0.6", "3%")]
    _screen.show_table("Some rates", ("quantity", "given", "90% interval", "privacy"), rows, words=2)
    shown = console.file.getvalue().split()  # type: ignore[attr-defined]
    assert {"neighbourhood", "other", "0.6811", "0.7618", "quantity", "privacy"} <= set(shown)


def test_a_key_of_another_type_and_a_level_alone_are_told_from_each_other() -> None:
    table = dc.Categories("x", levels=(0, 1), outside=0)
    posterior = dc.infer(dc.simulate(dc.GeometricHistogram(table, 100, 1), [40, 60], dc.SeededBits(1), "x"))
    with pytest.raises(DeclarationError, match=r"no quantity '1'.*Did you mean 1\?"):
        posterior.interval("1", 0.9)
    with pytest.raises(DeclarationError, match=r"interval\(0, 0.9\); rows\(0.9\) has all at once"):
        posterior.interval(0.9)
