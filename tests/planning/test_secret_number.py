"""What suits a model where the number of records is secret: chosen and ranked for a guess of it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli._main import main
from discreet.mechanism import Model, Sized
from discreet.privacy import Adjacency

DIE = dc.Categories("x", levels=("a", "b", "c"), outside="a")
PAY = dc.NumberSums("pay", (0, 100))
CELLS = dc.NumberTable("pay", (0, 100), 16)
SPAM = dc.Network.naive_bayes("spam", ["offer", "link"], dict.fromkeys(("spam", "offer", "link"), (0, 1)), outside=0)


@pytest.mark.parametrize(
    ("model", "delta", "chosen"),
    [(DIE, 0, "LaplaceTable"), (PAY, 0, "CubeSums"), (CELLS, 0, "BlockTable"), (SPAM, 0, "CubeTables")],
)
def test_what_suits_a_model_keeps_the_number_secret(model: Model, delta: object, chosen: str) -> None:
    found = dc.suggest(model, epsilon=1, delta=delta, about=300)  # type: ignore[arg-type]
    assert type(found.mechanism).__name__ == chosen
    assert found.mechanism.guarantee.adjacency is Adjacency.ADD_OR_REMOVE
    assert "secret" in found.reason


def test_the_choice_is_the_best_of_the_ranking_and_the_reason_has_its_figures() -> None:
    ranking = dc.compare(PAY, about=300, epsilon=1)
    found = dc.suggest(PAY, about=300, epsilon=1)
    assert found.mechanism == ranking.best.mechanism
    assert [entry.name for entry in ranking.entries] == ["CubeSums", "LaplaceSums"]
    assert all(f"{entry.accuracy.width:.3g}" in found.reason for entry in ranking.entries)


def test_a_delta_lets_gaussian_tables_compete_and_public_numbers_stay_out() -> None:
    ranking = dc.compare(DIE, epsilon=1, delta="1e-6", about=300, studies=4)
    assert {entry.name for entry in ranking.entries} == {"LaplaceTable", "GaussianTable"}
    assert not any(isinstance(entry.mechanism, Sized) for entry in ranking.entries)
    assert ranking.stated == "about 300 records, a secret number, epsilon = 1, delta = 1e-6"
    assert ranking.document()["about"] == 300
    assert "size" not in ranking.document()


def test_one_number_is_stated_either_as_public_or_as_a_guess() -> None:
    for wrong in ({}, {"size": 300, "about": 300}):
        for ask in (dc.suggest, dc.compare):
            with pytest.raises(dc.DeclarationError, match="about=5000"):
                ask(DIE, epsilon=1, **wrong)
    with pytest.raises(dc.DeclarationError, match="epsilon is missing"):
        dc.suggest(DIE, about=300)


def test_what_needs_a_public_number_is_refused_with_the_way_out() -> None:
    line = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)})
    for ask in (dc.NumberQuantiles("pay", (0, 100), ("0.5",)), line):
        with pytest.raises(dc.DeclarationError, match="size instead of about"):
            dc.suggest(ask, about=300, epsilon=1)


STUDY = """
[data]
path = "people.csv"
neighbours = "add or remove"
{about}

[columns.pay]
bounds = [0, 100]

[budget]
epsilon = 2
ledger = "ledger.db"

[questions.pay]
model = "number"
column = "pay"
ask = "mean"
epsilon = 1
"""


def test_the_command_line_compares_for_the_guess_of_a_study(tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(STUDY.format(about="about = 300"))
    asked = ["plan", str(study), "--ask", "pay", "--compare", "--studies", "4", "--json"]
    found = CliRunner().invoke(main, asked)
    assert found.exit_code == 0, found.output
    document = json.loads(found.stdout)
    assert document["about"] == 300
    assert {each["name"] for each in document["entries"]} == {"CubeSums", "LaplaceSums"}
    study.write_text(STUDY.format(about=""))
    refused = CliRunner().invoke(main, asked)
    assert refused.exit_code != 0
    assert "about = 5000 in [data]" in refused.output
