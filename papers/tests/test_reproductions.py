"""Reproductions are found by their place, written as tables and pictures, and shown on a page that stands alone."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import discreet_papers as package
from discreet.command_line import main
from discreet.errors import DeclarationError
from discreet_papers import Outcome, Reproduction, command, report_page, reproduction_named, reproductions

ALL = reproductions()
FAST = "004-mean-of-z"


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, ["reproduce", *words])
    assert result.exit_code == code, result.output
    return result


def test_every_file_of_a_paper_is_a_reproduction_with_its_name() -> None:
    folder = Path(package.__file__).parent
    files = [path for path in folder.glob("paper_*/*.py") if path.name != "__init__.py"]
    names = [f"{path.parent.name.removeprefix('paper_')}-{path.stem.replace('_', '-')}" for path in files]
    assert sorted(names) == [reproduction.name for reproduction in ALL]


@pytest.mark.parametrize("reproduction", ALL, ids=lambda reproduction: reproduction.name)
def test_a_reproduction_says_what_it_is(reproduction: Reproduction) -> None:
    assert reproduction.name.startswith(reproduction.paper.number)
    for words in (reproduction.title, reproduction.setting, reproduction.says, reproduction.finds):
        assert len(words) > 20
    assert reproduction.finds.endswith(".")


@pytest.mark.parametrize("name", [FAST, "004-lemma-1", "004-proposition-1"])
def test_rows_share_their_keys_and_are_written_with_a_picture(name: str, tmp_path: Path) -> None:
    reproduction = reproduction_named(name)
    outcome = reproduction.run(True)
    assert len({tuple(row) for row in outcome.rows}) == 1
    written = reproduction.write(outcome, tmp_path / "new")
    endings = {".csv"} if outcome.chart is None else {".csv", ".json", ".png"}
    assert {path.suffix for path in written} == endings
    with written[0].open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(outcome.rows)
    if outcome.chart is not None:
        assert json.loads(written[1].read_text(encoding="utf-8")) == json.loads(json.dumps(outcome.chart))


def test_an_unknown_name_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(DeclarationError, match="004-figure-1"):
        reproduction_named("004-figure-9")
    assert "004-figure-1" in run("004-figure-9", code=1).output


def test_the_page_stands_alone_and_escapes_what_it_is_given(tmp_path: Path) -> None:
    real = reproduction_named(FAST)
    strange = Reproduction("004-strange", "<b>bold</b>", real.paper, "s", "s", "f", real.run)
    outcome = Outcome([{"what": "<script>", "number": 0.123456}], "a & b")
    found = real.run(True)
    real.write(found, tmp_path)
    page = report_page([(real, found), (strange, outcome)], tmp_path, quick=True)
    assert "http" not in page
    assert "<script>" not in page
    assert "<b>bold</b>" not in page
    assert page.count("data:image/png;base64,") == 1
    assert "0.1235" in page
    assert page.index("004-strange") < page.index('id="claims"')
    assert "A quick run" in page


def test_without_a_name_everything_is_listed() -> None:
    assert [row["name"] for row in json.loads(run("--json").stdout)] == [each.name for each in ALL]
    assert FAST in run().output


def test_one_reproduction_is_shown_written_and_given_to_machines(tmp_path: Path) -> None:
    shown = run(FAST, "--out", str(tmp_path)).output
    assert "42.0229" in shown
    assert (tmp_path / f"{FAST}.png").read_bytes().startswith(b"\x89PNG")
    document: dict[str, Any] = json.loads(run(FAST, "--quick", "--json").stdout)
    assert document["name"] == FAST
    assert len(document["rows"]) == 11
    assert len(json.loads(run(FAST, "004-lemma-1", "--json").stdout)) == 2


def test_all_of_them_make_one_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = tuple(each for each in ALL if each.name in (FAST, "004-lemma-1"))
    monkeypatch.setattr(command, "reproductions", lambda: few)
    result = run("--all", "--quick", "--out", str(tmp_path / "report"))
    assert "1 of 2: 004-lemma-1" in result.output
    page = (tmp_path / "report" / "index.html").read_text(encoding="utf-8")
    assert all(each.title in page for each in few)


def test_calls_that_make_no_sense_are_refused_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "needs a folder" in run("--all", code=1).output
    assert "takes no names" in run(FAST, "--all", "--out", str(tmp_path), code=1).output
    (tmp_path / "file").write_text("")
    assert "is a file" in run(FAST, "--out", str(tmp_path / "file"), code=1).output
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert "discreet[plots]" in run(FAST, "--out", str(tmp_path), code=1).output
