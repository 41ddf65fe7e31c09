"""Every command as a new user would type it, with its JSON, its pictures and its refusals."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import discreet as dc
from discreet.cli._main import main

STUDY = """
[data]
path = "survey.csv"
size = 60
unit = "one row per patient"
[columns.ward]
levels = ["A", "B"]
[columns.fall]
levels = ["no", "yes"]
outside = "no"
[budget]
epsilon = "2"
ledger = "study.db"
[questions.falls]
columns = ["ward", "fall"]
epsilon = "1.5"
label = "Falls by ward"
[questions.wards]
columns = ["ward"]
epsilon = "1"
"""
CANARY = "canary-7f3a"
ROWS = [("A", "no")] * 25 + [("A", "yes")] * 4 + [("B", "no")] * 20 + [("B", "yes")] * 9 + [(CANARY, "yes"), ("", "")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "survey.csv").write_text("ward,fall\n" + "\n".join(",".join(row) for row in ROWS) + "\n")
    return tmp_path


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def as_json(*words: str, code: int = 0) -> Any:
    return json.loads(run(*words, "--json", code=code).stdout)


def test_the_whole_road_from_file_to_picture(folder: Path) -> None:
    assert "60 records, as declared" in run("check", "study.toml").output
    assert "Falls by ward" in run("publish", "study.toml", "--ask", "falls").output
    run("infer", "falls.release.json", "--plot", "a.png", "--csv", "a.csv", "--statement", "a.md", "--arviz", "a.nc")
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader((folder / "a.csv").read_text("utf-8-sig").splitlines()))
    cells = [f"ward={ward}, fall={fall}" for ward in ("A", "B", "other") for fall in ("no", "yes")]
    assert [row["quantity"] for row in rows] == cells
    assert sum(float(row["mean"]) for row in rows) == pytest.approx(1)
    assert "Falls by ward" in (folder / "a.md").read_text()
    assert (folder / "a.nc").stat().st_size > 10_000
    assert "The guarantee holds" in run("verify", "falls.release.json", "--ledger", "study.db").output
    assert "1.5 of 2" in run("ledger", "study.toml", "--plot", "b.svg").output
    assert "<svg" in (folder / "b.svg").read_text()


def test_groups_are_compared_and_statements_judged(folder: Path) -> None:
    run("publish", "study.toml", "--ask", "falls")
    words = (
        "falls.release.json",
        "--event",
        "fall=yes",
        "--by",
        "ward",
        "--that",
        "ward=A > ward=B",
        "--plot",
        "g.png",
    )
    found = as_json("infer", *words)
    posterior = dc.infer(dc.Release.from_json((folder / "falls.release.json").read_text()))
    assert [row["given"] for row in found["groups"]] == ["ward=A", "ward=B", "ward=other"]
    assert found["groups"][0]["mean"] == pytest.approx(posterior.conditional("fall=yes", given="ward=A").mean)
    assert found["statements"]["ward=A > ward=B"] == pytest.approx(posterior.probability_that("ward=A > ward=B"))
    assert "fall=yes by ward" in run("infer", *words).output
    (one,) = as_json("infer", "falls.release.json", "--event", "fall=yes", "--given", "ward=A")["event"]
    sizes = {name: found["groups"][0].pop(name) for name in ("records_low", "records_high")}
    assert 0 < sizes["records_low"] < sizes["records_high"]
    assert {name: one[name] for name in found["groups"][0]} == pytest.approx(found["groups"][0])
    assert "Probability of fall=yes: " in run("infer", "falls.release.json", "--event", "fall=yes").output
    for wrong in (
        ("--by", "ward"),
        ("--given", "ward=A"),
        ("--event", "fall=yes", "--by", "ward", "--given", "ward=A"),
    ):
        run("infer", "falls.release.json", *wrong, code=1)
    run("infer", "falls.release.json", "--event", "fall=yes", "--by", "wing", code=1)


def test_every_command_speaks_json(folder: Path) -> None:
    assert as_json("init", "survey.csv", "--out", "new.toml") == {"study": "new.toml", "columns": 2}
    checked = as_json("check", "study.toml")
    assert checked["fits"] is True
    assert checked["columns"]["ward"]["outside"] == 2
    planned = as_json("plan", "study.toml", "--ask", "wards", "--epsilon", "0.5,2", "--sizes", "100")
    assert [(row["epsilon"], row["size"]) for row in planned["points"]] == [(0.5, 60), (2.0, 60), (1.0, 100)]
    rehearsed = as_json("rehearse", "study.toml", "--ask", "wards")
    assert rehearsed["simulated"] is True
    assert sum(cell["truth"] for cell in rehearsed["rows"]) == pytest.approx(1)
    published = as_json("publish", "study.toml", "--ask", "wards", "--out", "w.json")
    assert published["remaining"] == {"epsilon": "1", "delta": "0"}
    assert published["already_published"] is False
    assert as_json("verify", "w.json", "--ledger", "study.db")["epsilon"] == 1
    assert as_json("infer", "w.json")["label"] == "wards"
    assert [entry["kind"] for entry in as_json("ledger", "study.db")["entries"]] == ["created", "charge", "release"]
    refused = as_json("publish", "study.toml", "--ask", "falls", code=3)
    assert refused["exit_code"] == 3
    assert "needs epsilon = 1.5" in refused["error"]


def test_asking_again_costs_nothing(folder: Path) -> None:
    run("publish", "study.toml", "--ask", "falls", "--out", "one.json")
    assert "nothing was charged" in run("publish", "study.toml", "--ask", "falls", "--out", "two.json").output
    assert (folder / "one.json").read_text() == (folder / "two.json").read_text()
    assert dc.Ledger.open("study.db").spent.epsilon == dc.Guarantee("1.5").epsilon


def test_planning_never_touches_the_data(folder: Path) -> None:
    (folder / "survey.csv").unlink()
    output = run("plan", "study.toml", "--ask", "wards", "--epsilon", "1", "--width", "0.3", "--plot", "p.png").output
    assert "Mean width 0.3 with 60 records" in output
    assert (folder / "p.png").exists()
    run("rehearse", "study.toml")
    assert not (folder / "study.db").exists()


def test_the_template_has_names_and_no_values(folder: Path) -> None:
    run("init", "survey.csv", "--out", "new.toml")
    text = (folder / "new.toml").read_text()
    assert "[columns.ward]" in text
    assert CANARY not in text
    assert "already exists" in run("init", "survey.csv", "--out", "new.toml", code=1).stderr


def test_only_check_shows_records_and_says_so(folder: Path) -> None:
    assert "eyes only" in run("check", "study.toml").output
    assert CANARY in run("check", "study.toml").output
    for words in (
        ("plan", "study.toml"),
        ("plan", "study.toml", "--ask", "wards", "--epsilon", "1"),
        ("rehearse", "study.toml"),
        ("publish", "study.toml", "--ask", "wards"),
        ("infer", "wards.release.json"),
        ("verify", "wards.release.json", "--ledger", "study.db"),
        ("ledger", "study.db"),
    ):
        assert CANARY not in run(*words).output


BROKEN: list[tuple[str, str, str, tuple[str, ...], int, str]] = [
    ("study.toml", 'columns = ["ward"]', 'columns = ["wing"]', ("publish", "study.toml", "--ask", "wards"), 1, "wing"),
    ("study.toml", "size = 60", "size = 61", ("publish", "study.toml", "--ask", "wards"), 1, "61 records"),
    ("study.toml", "size = 60", "size = 60 60", ("publish", "study.toml", "--ask", "wards"), 1, "line"),
    ("study.toml", "[budget]", "[budget]\nsurprise = 1", ("plan", "study.toml"), 1, "surprise"),
    (
        "study.toml",
        'ledger = "study.db"',
        'ledger = "no/where.db"',
        ("publish", "study.toml", "--ask", "wards"),
        5,
        "Cannot create",
    ),
    (
        "study.toml",
        'path = "survey.csv"',
        'path = "none.csv"',
        ("publish", "study.toml", "--ask", "wards"),
        4,
        "no file",
    ),
    ("survey.csv", "ward,fall", "wing,fall", ("publish", "study.toml", "--ask", "wards"), 4, "no column 'ward'"),
    ("survey.csv", "ward,fall\n", "", ("publish", "study.toml", "--ask", "wards"), 4, "no column 'ward'"),
    ("study.toml", "", "", ("publish", "study.toml", "--ask", "nothing"), 1, "no question"),
    ("study.toml", "", "", ("plan", "study.toml", "--ask", "wards", "--epsilon", "much"), 1, "--epsilon"),
    ("study.toml", "", "", ("plan", "study.toml", "--ask", "wards", "--width", "7"), 1, "width"),
    ("study.toml", "", "", ("plan", "study.toml", "--sizes", "many"), 1, "--sizes"),
    ("study.toml", "", "", ("plan", "study.toml", "--epsilon", "1", "--plot", "x.gif"), 1, ".png"),
    ("study.toml", "", "", ("infer", "none.json"), 5, "no file"),
    ("study.toml", "", "", ("publish", "study.toml", "--ask", "wards", "--out", "no/x.json"), 1, "no folder"),
    ("study.toml", "[questions.wards]", '[questions."../up"]', ("plan", "study.toml"), 1, "may contain only letters"),
    ("study.toml", "[questions.wards]", "[questions2.wards]", ("plan", "study.toml"), 1, "questions2"),
    ("study.toml", "", "", ("ledger", "study.toml"), 5, "Nothing has been published"),
    ("study.toml", "", "", ("infer", "survey.csv"), 5, "JSON"),
    ("study.toml", "", "", ("verify", "study.toml"), 5, "JSON"),
    ("study.toml", "", "", ("ledger", "survey.csv"), 5, "ledger"),
    ("study.toml", "", "", ("ledger", "none.db"), 5, "no ledger"),
    ("study.toml", "", "", ("check", "none.toml"), 1, "no study file"),
]


@pytest.mark.parametrize(("file", "right", "wrong", "words", "code", "said"), BROKEN)
def test_mistakes_get_words_that_help_and_charge_nothing(
    folder: Path, file: str, right: str, wrong: str, words: tuple[str, ...], code: int, said: str
) -> None:
    path = folder / file
    path.write_text(path.read_text().replace(right, wrong, 1) if right else path.read_text())
    result = run(*words, code=code)
    assert said in result.stderr
    assert CANARY not in result.output
    if (folder / "study.db").exists():
        assert dc.Ledger.open("study.db").spent.epsilon == 0
    assert not list(folder.glob("*.release.json"))


def test_an_empty_file_is_refused_in_words(folder: Path) -> None:
    (folder / "survey.csv").write_text("")
    assert "is empty" in run("publish", "study.toml", "--ask", "wards", code=4).stderr
    (folder / "survey.csv").write_text("ward,fall\n")
    assert "60 records" in run("publish", "study.toml", "--ask", "wards", code=1).stderr
    assert "0 records, but 60 are declared" in run("check", "study.toml", code=1).output


def test_unforeseen_errors_are_named_but_not_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError(f"could not read {CANARY}")

    monkeypatch.setattr(dc.Study, "publish_question", fails)
    result = run("publish", "study.toml", "--ask", "wards", code=1)
    assert "RuntimeError" in result.stderr
    assert CANARY not in result.output


def test_the_limit_is_raised_with_a_reason_only() -> None:
    run("publish", "study.toml", "--ask", "falls")
    run("ledger", "study.db", "--limit", "3", code=1)
    run("ledger", "study.db", "--limit", "3", "--reason", "agreed by the board")
    run("publish", "study.toml", "--ask", "wards")


@pytest.mark.parametrize(
    "command", ["init", "check", "plan", "rehearse", "publish", "infer", "verify", "key", "ledger", "completion"]
)
def test_every_command_has_help_with_an_example(command: str) -> None:
    output = run(command, "--help").output
    assert "Example:  discreet" in output
    assert command == "completion" or "--json" in output


def test_completion_scripts_are_printed() -> None:
    assert "_DISCREET_COMPLETE" in run("completion", "bash").output


def test_the_command_is_installed() -> None:
    program = Path(sys.executable).parent / "discreet"
    shown = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert dc.__version__ in shown.stdout


def with_delta(folder: Path) -> None:
    text = (folder / "study.toml").read_text().replace('epsilon = "2"\n', 'epsilon = "3"\ndelta = "1e-6"\n')
    (folder / "study.toml").write_text(text.replace('epsilon = "1.5"', 'epsilon = "0.1"').replace('"1"', '"0.1"'))
    many = "".join(f'[questions.more-{n}]\ncolumns = ["ward"]\nepsilon = "0.1"\n' for n in range(30))
    (folder / "study.toml").write_text((folder / "study.toml").read_text() + many)


def test_a_batch_is_planned_published_and_shown_in_the_ledger(folder: Path) -> None:
    with_delta(folder)
    planned = as_json("plan", "study.toml", "--batch", "--plot", "batch.json")
    assert planned["totals"]["basic"] == pytest.approx(3.2)
    assert planned["totals"]["planned"] < 2.7
    assert planned["charged"] == "planned"
    assert json.loads((folder / "batch.json").read_text())["data"]["values"]
    assert "As one plan they cost" in run("plan", "study.toml", "--batch").output
    published = as_json("publish", "study.toml", "--batch")
    assert len(published["releases"]) == 32
    assert float(published["epsilon"]) == pytest.approx(planned["totals"]["planned"])
    assert as_json("publish", "study.toml", "--batch")["already_published"]
    shown = as_json("ledger", "study.db")
    assert shown["spent"]["epsilon"] == published["epsilon"]
    assert shown["totals"]["planned"] == pytest.approx(planned["totals"]["planned"], rel=1e-6)
    words = run("ledger", "study.db").output
    assert "binds" in words
    assert "survey.csv" in words


def test_a_batch_needs_neither_a_name_nor_a_file(folder: Path) -> None:
    for words in (("--batch", "--ask", "falls"), (), ("--batch", "--out", "x.json")):
        assert "--batch" in run("publish", "study.toml", *words, code=1).output
    assert not (folder / "study.db").exists()


def test_small_groups_are_pooled_on_request(folder: Path) -> None:
    wards = [dc.Column("ward", tuple("ABCDE"), outside="A"), dc.Column("fall", ("no", "yes"), outside="no")]
    mechanism = dc.GeometricHistogram(dc.Categories(wards), size=50, epsilon="2")
    release = dc.simulate(mechanism, (8, 2, 7, 3, 9, 1, 8, 2, 5, 5), dc.SeededBits(4))
    (folder / "r.json").write_text(release.to_json())
    found = as_json("infer", "r.json", "--event", "fall=yes", "--by", "ward", "--pool")
    assert [row["given"] for row in found["pooled"]] == [f"ward={ward}" for ward in "ABCDE"]
    assert found["pooled"][4]["mean"] < found["groups"][4]["mean"]
    assert found["pooled"][4]["share_due_to_privacy"] is None
    assert any("unlike all others" in warning for warning in found["warnings"])
    assert not any("unlike" in said for said in as_json("infer", "r.json", "--event", "fall=yes")["warnings"])
    assert "pooled" in run("infer", "r.json", "--event", "fall=yes", "--by", "ward", "--pool").output
    run("infer", "r.json", "--pool", code=1)


def test_a_family_is_read_shown_and_written_like_every_other_model(folder: Path) -> None:
    mechanism = dc.PosteriorSampling(
        dc.PoissonRate("falls", most=3, shape=2, rate=2, outside=3), 200, 5, "0.5", power="0.05"
    )
    release = dc.simulate(mechanism, [60, 90, 40, 10], dc.SeededBits(1), label="Falls")
    (folder / "r.json").write_text(release.to_json())
    files = ("--plot", "f.svg", "--csv", "f.csv", "--arviz", "f.nc", "--statement", "f.md")
    shown = run("infer", "r.json", *files).output
    assert "Poisson falls" in shown
    assert "read on a grid of 600 values" in shown
    (row,) = as_json("infer", "r.json")["rows"]
    (written,) = csv.DictReader((folder / "f.csv").read_text("utf-8-sig").splitlines())
    assert float(written["mean"]) == row["mean"] == dc.infer(release).mean["parameter"]
    assert float(written["numerical_error"]) == row["numerical_error"] > 0
    assert "| Poisson falls | parameter of Poisson |" in (folder / "f.md").read_text()
    assert (folder / "f.nc").stat().st_size > 10_000
    assert "<svg" in (folder / "f.svg").read_text()
    assert "Probability that parameter > 0.1: 0.99" in run(
        "infer", "r.json", "--that", "parameter > 0.1"
    ).output.replace("\n", " ")
    for words in (("--event", "falls=1"), ("--bif", "x.bif"), ("--synthesize", "3", "--out", "x")):
        refused = run("infer", "r.json", *words, code=1).stderr
        assert f"{words[0]} is not available for a family with one parameter" in " ".join(refused.split())


UNREADABLE = """
[questions.opinions]
columns = ["ward", "fall"]
mechanism = "HellingerReciprocal"
epsilon = "2"
"""


def test_what_nobody_can_read_is_charged_stated_and_checked_only_if_that_is_declared(folder: Path) -> None:
    wide = STUDY.replace('["A", "B"]', '["A", "B", "C", "D", "E", "F", "G"]') + UNREADABLE
    (folder / "study.toml").write_text(wide)
    for words in (("publish", "study.toml", "--ask", "opinions"), ("publish", "study.toml", "--batch")):
        assert "nothing was charged" in " ".join(run(*words, code=1).stderr.split())
    assert not (folder / "study.db").exists()
    (folder / "study.toml").write_text(wide + 'reading = "none"\n')
    assert (
        "Cannot rehearse 'opinions': no inference method supports it"
        in run("rehearse", "study.toml", "--ask", "opinions", code=1).stderr
    )
    shown = run("publish", "study.toml", "--ask", "opinions").output
    assert "There will be no posterior, as the study declares" in shown
    assert "discreet infer" not in shown
    run("verify", "opinions.release.json", "--ledger", "study.db")
    refused = " ".join(run("infer", "opinions.release.json", "--csv", "x.csv", code=1).stderr.split())
    assert "has no posterior, as its holder declared on publishing it (reading = 'none')" in refused
    assert "has no posterior" in run("infer", "opinions.release.json", "--statement", "s.html").output
    assert "There is no posterior, as the holder declared" in (folder / "s.html").read_text()
    assert as_json("infer", "opinions.release.json", "--statement", "s.md")["reading"] == "none"
