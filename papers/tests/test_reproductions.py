"""Reproductions are found by their place, written as tables and pictures, and shown on a page that stands alone."""

import csv
import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
import vl_convert
from click.testing import CliRunner, Result

import discreet_papers as package
from discreet._core.errors import DeclarationError
from discreet.cli._main import main
from discreet_papers import Outcome, Reproduction, command, report_page, reproduction_named, reproductions
from discreet_papers.kept import Kept, keep, kept, mark, seconds_left
from discreet_papers.page import place_of
from discreet_papers.small_svg import as_address, compact

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


@pytest.mark.parametrize("name", [FAST, "002-constants", "004-proposition-1"])
def test_rows_share_their_keys_and_are_written_with_a_picture(name: str, tmp_path: Path) -> None:
    reproduction = reproduction_named(name)
    outcome = reproduction.run(True)
    assert len({tuple(row) for row in outcome.rows}) == 1
    written = reproduction.write(outcome, tmp_path / "new")
    endings = {".csv"} if outcome.chart is None else {".csv", ".json", ".svg"}
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
    assert re.findall(r"https?:(?!//www.w3.org/2000/svg)", page) == []  # nothing is fetched; the name of SVG is a name
    assert "<script>" not in page
    assert "<b>bold</b>" not in page
    assert page.count("data:image/svg+xml,") == 1
    assert "0.1235" in page
    assert page.index("004-strange") < page.index('id="claims"')
    assert "A quick run" in page


def test_without_a_name_everything_is_listed() -> None:
    assert [row["name"] for row in json.loads(run("--json").stdout)] == [each.name for each in ALL]
    assert FAST in run().output


def test_one_reproduction_is_shown_written_and_given_to_machines(tmp_path: Path) -> None:
    shown = run(FAST, "--out", str(tmp_path)).output
    assert "42.0229" in shown
    assert (tmp_path / f"{FAST}.svg").read_text(encoding="utf-8").startswith("<svg")
    document: dict[str, Any] = json.loads(run(FAST, "--quick", "--json").stdout)
    assert document["name"] == FAST
    assert len(document["rows"]) == 11
    assert len(json.loads(run(FAST, "002-constants", "--json").stdout)) == 2


def few(monkeypatch: pytest.MonkeyPatch, *others: Reproduction) -> tuple[Reproduction, ...]:
    """Let the command know three reproductions that take a moment, or other ones of the same names."""
    by_name = {each.name: each for each in (*ALL, *others)}
    chosen = tuple(by_name[name] for name in (FAST, "004-proposition-1", "002-constants"))
    monkeypatch.setattr(command, "reproductions", lambda: chosen)
    return chosen


def test_all_of_them_make_one_page_in_the_order_of_the_papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen, folder = few(monkeypatch), tmp_path / "report"
    result = run("--all", "--quick", "--out", str(folder))
    assert "1 of 3: 002-constants" in result.output
    assert "3 of 3: 004-mean-of-z" in result.output
    assert re.search(r"about \d+ s left", result.output)
    assert re.search(r"index.html, \d\.\d\d MB", result.output)
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert all(each.title in page for each in chosen)
    assert "Lemma 6" in page  # the register
    assert len(page) < 400_000


def broken(name: str, problem: Exception | BaseException) -> Reproduction:
    def run_it(quick: bool) -> Outcome:
        raise problem

    real = reproduction_named(name)
    return Reproduction(real.name, real.title, real.paper, real.setting, real.says, real.finds, run_it)


def test_a_run_that_is_stopped_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few(monkeypatch, broken(FAST, KeyboardInterrupt()))
    CliRunner().invoke(main, ["reproduce", "--all", "--quick", "--out", str(tmp_path)])
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Not finished: 1 results" in page
    assert (tmp_path / "004-proposition-1.csv").exists()
    few(monkeypatch)
    second = run("--all", "--quick", "--out", str(tmp_path)).output
    assert "2 of 3 are kept from an earlier run" in second
    assert "3 of 3: 004-mean-of-z" in second
    assert "002-constants," not in second
    assert "Not finished" not in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "1 of 3: 002-constants" in run("--all", "--quick", "--again", "--out", str(tmp_path)).output


def test_results_of_other_code_or_another_setting_are_computed_again(tmp_path: Path) -> None:
    real = reproduction_named(FAST)
    result = Kept(real, real.run(True), 1.5)
    keep(result, tmp_path, quick=True)
    again = kept(real, tmp_path, quick=True)
    assert again is not None
    assert (again.outcome, again.seconds) == (result.outcome, 1.5)
    assert kept(real, tmp_path, quick=False) is None
    file = tmp_path / "results" / f"{FAST}.json"
    file.write_text(file.read_text(encoding="utf-8").replace(mark(real), "0" * 16), encoding="utf-8")
    assert kept(real, tmp_path, quick=True) is None
    file.write_text("{", encoding="utf-8")  # half a file
    assert kept(real, tmp_path, quick=True) is None


def test_one_result_that_fails_does_not_cost_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few(monkeypatch, broken("002-constants", ValueError("no such number")))
    words = run("--all", "--quick", "--out", str(tmp_path), code=1).output
    assert "1 of 3 results could not be computed: 002-constants" in words
    assert (tmp_path / f"{FAST}.csv").exists()
    few(monkeypatch)
    assert "2 of 3 are kept" in run("--all", "--quick", "--out", str(tmp_path)).output


@pytest.mark.parametrize(
    ("paper", "names"),
    [
        ("001", "figure-1 figure-2a figure-2b figure-2c figure-3a figure-3b figure-3c"),
        ("003", "table-1 table-2 " + " ".join(f"figure-{number}" for number in range(1, 12))),
    ],
)
def test_contents_follow_the_papers(paper: str, names: str) -> None:
    found = [each.name for each in sorted(ALL, key=place_of) if each.paper.number == paper]
    assert found == [f"{paper}-{name}" for name in names.split()]


def drawn(picture: str) -> tuple[list[str], list[float]]:
    """Return the words of a picture, and all numbers of the lines and shapes that can be seen."""
    shapes = [each for each in ElementTree.fromstring(picture).iter() if each.get("display") != "none"]
    words = [each.text or "" for each in shapes if each.tag.endswith("text")]
    seen = [each for each in shapes if each.get("d", "") not in ("", "M0,0h0v0h0Z")]
    marks = [f"{each.get('d', '')} {each.get('x2', '')} {each.get('y2', '')}" for each in seen]
    return words, [float(number) for mark_ in marks for number in re.findall(r"-?\d+(?:\.\d+)?", mark_)]


@pytest.mark.parametrize("name", [FAST, "002-lemma-5", "003-figure-6"])
def test_pictures_get_smaller_and_stay_the_same(name: str) -> None:
    plain = vl_convert.vegalite_to_svg(reproduction_named(name).run(True).chart or {})
    small = compact(plain)
    assert len(small) < 0.75 * len(plain)
    (words, before), (same_words, after) = drawn(plain), drawn(small)
    assert words == same_words
    assert after == pytest.approx(before, abs=0.0051)
    address = as_address(small)
    assert drawn(unquote(address.removeprefix("data:image/svg+xml,"))) == (same_words, after)
    assert not set(address) & set('"<>#')


def test_the_time_that_is_left_is_stretched_as_what_is_done() -> None:
    one, two = (reproduction_named(name) for name in (FAST, "004-proposition-1"))
    outcome = one.run(True)
    short, long = (seconds_left([Kept(one, outcome, seconds)], [two]) for seconds in (1.0, 10.0))
    assert long == pytest.approx(10 * short)
    assert seconds_left([], [two]) > 0
    assert [command.in_time(seconds) for seconds in (30, 600, 7200)] == ["30 s", "10 min", "2.0 h"]


def test_calls_that_make_no_sense_are_refused_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "needs a folder" in run("--all", code=1).output
    assert "takes no names" in run(FAST, "--all", "--out", str(tmp_path), code=1).output
    assert "goes with --all" in run(FAST, "--again", code=1).output
    (tmp_path / "file").write_text("")
    assert "is a file" in run(FAST, "--out", str(tmp_path / "file"), code=1).output
    monkeypatch.setattr(command, "find_spec", lambda name: None)
    assert "discreet[plots]" in run(FAST, "--out", str(tmp_path), code=1).output
