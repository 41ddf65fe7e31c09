"""Query sessions from the command line: declared queries, fresh draws that are charged, and free answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli._main import main

STUDY = """\
[data]
path = "wards.csv"
size = 40
[columns.ward]
levels = ["A", "B"]
outside = "A"
[columns.fall]
levels = ["no", "yes"]
outside = "no"
[budget]
epsilon = "1"
delta = "2e-3"
ledger = "wards.db"
[questions.falls]
columns = ["ward", "fall"]
prior = 1
mechanism = "PosteriorSampling.tempered"
epsilon = "0.5"
delta = "1e-3"
[questions.table]
columns = ["fall"]
epsilon = "0.5"
[queries.rate]
of = "falls"
kind = "conditional-expectation"
values = { "fall=yes" = 1, "fall=no" = 0 }
given = "ward=A"
label = "falls in ward A"
[queries.shares]
of = "falls"
kind = "mean"
[queries.soon]
of = "falls"
kind = "predictive"
event = "fall=yes"
records = 20
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    rows = [f"{'A' if i < 24 else 'B'},{'yes' if i % 5 == 4 else 'no'}" for i in range(40)]
    (tmp_path / "wards.csv").write_text("\n".join(["ward,fall", *rows]) + "\n")
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path / "study.toml"


def run(*words: object) -> Any:
    return CliRunner().invoke(main, ["ask", *map(str, words)])


@pytest.mark.filterwarnings("ignore::discreet._core.errors.LittleInformationWarning")  # what was drawn decides
def test_a_fresh_draw_is_charged_and_further_answers_from_it_are_free(study: Path) -> None:
    first = run(study, "rate")
    assert first.exit_code == 0, first.output
    assert "falls in ward A: 0." in first.output
    assert "Draw 1 was charged: epsilon = 0.5, delta = 0.001." in first.output
    spent = dc.Study(study).ledger().spent
    draw = study.parent / "falls.draw-1.release.json"
    again = run(study, "rate", "--draw", 1)
    assert "nothing was charged" in again.output
    assert again.output.splitlines()[0] == first.output.splitlines()[0]
    by_file = run(study, "shares", "--from", draw, "--json")
    shares = json.loads(by_file.output)["answer"]
    assert sum(shares.values()) == pytest.approx(1)
    assert dc.Study(study).ledger().spent == spent
    assert dc.infer(dc.Release.from_json(draw.read_text())) is not None
    (study.parent / "wards.csv").unlink()  # a published draw needs no data
    assert run(study, "soon", "--from", draw).exit_code == 0


def test_the_budget_ends_the_session(study: Path) -> None:
    assert [run(study, "soon").exit_code for _ in range(2)] == [0, 0]
    assert dc.Study(study).draws("falls").made == 2
    third = run(study, "soon")
    assert third.exit_code == 3
    assert "Nothing was published and nothing was charged" in third.output
    assert run(study, "soon", "--draw", 2).exit_code == 0
    assert run(study, "soon", "--draw", 3).exit_code == 1


def test_python_asks_as_the_command_line_does(study: Path) -> None:
    declared = dc.Study(study)
    answer = declared.ask("rate")
    assert answer == dc.Study(study).ask("rate", draw=1)
    assert declared.ledger().spent.document() == {"epsilon": "0.5", "delta": "0.001"}
    number, draw = declared.draws("falls").fresh()
    assert number == 2
    assert draw.answer(declared.query("shares").query) != declared.draws("falls").known(1).answer(
        declared.query("shares").query
    )


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ('of = "fals"\nkind = "mean"', "`of` must name a question of the study; got 'fals'. Did you mean 'falls'?"),
        ('of = "falls"\nkind = "men"', "Did you mean 'mean'?"),
        ('of = "table"\nkind = "mean"', "published by GeometricHistogram"),
        ('of = "falls"\nkind = "probability"', "needs event"),
        ('of = "falls"\nkind = "probability"\nevent = "fall=perhaps"', "There is no cell"),
        ('of = "falls"\nkind = "mean"\nevent = "fall=yes"', "'event' is not a key"),
    ],
)
def test_queries_that_make_no_sense_are_refused_before_anything_is_charged(study: Path, key: str, words: str) -> None:
    study.write_text(STUDY + f"[queries.bad]\n{key}\n")
    refused = run(study, "bad")
    assert refused.exit_code == 1
    assert "queries.bad" in refused.output
    assert words in refused.output
    assert not (study.parent / "wards.db").exists()


def test_what_is_no_query_and_no_draw_of_the_question_is_refused(study: Path) -> None:
    assert "Did you mean 'rate'?" in run(study, "rates").output
    other = dc.simulate(
        dc.GeometricHistogram(dc.Categories("z", ("a", "b"), outside="a"), 4, 1), [2, 2], dc.SeededBits(1)
    )
    (study.parent / "other.json").write_text(other.to_json())
    assert "is not a draw of 'falls'" in run(study, "rate", "--from", study.parent / "other.json").output
    assert run(study, "rate", "--from", study.parent / "other.json", "--draw", 1).exit_code == 1


def test_a_family_answers_its_mean(tmp_path: Path) -> None:
    (tmp_path / "falls.csv").write_text("falls\n" + "0\n1\n0\n3\n" * 10)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "falls.csv"\nsize = 40\n[budget]\nepsilon = "1"\ndelta = "1e-3"\nledger = "falls.db"\n'
        '[questions.falls]\nmodel = "poisson"\ncolumn = "falls"\n'
        'most = 5\noutside = 5\nshape = 3\nrate = 3\nepsilon = "1"\n'
        'delta = "1e-3"\n[queries.rate]\nof = "falls"\nkind = "mean"\n'
    )
    asked = run(tmp_path / "study.toml", "rate", "--json")
    assert asked.exit_code == 0, asked.output
    assert json.loads(asked.output)["answer"] > 0
