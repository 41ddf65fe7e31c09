"""`plan --compare` and `verify --mechanism`, with their JSON, pictures and refusals."""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import discreet as dc
from discreet.cli._compare import read_mechanism_file
from discreet.cli._main import main

COIN = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
STUDY = """
[data]
path = "survey.csv"
size = 5
unit = "one row per patient"
[columns.smoker]
levels = ["no", "yes"]
outside = "no"
[columns.cough]
levels = ["no", "yes"]
outside = "no"
[budget]
epsilon = "2"
ledger = "study.db"
[questions.smoking]
columns = ["smoker"]
epsilon = "1"
[questions.net]
model = "network"
edges = ["smoker -> cough"]
epsilon = "1"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.toml").write_text(STUDY)
    return tmp_path


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def as_json(*words: str, code: int = 0) -> Any:
    return json.loads(run(*words, "--json", code=code).stdout)


def released(mechanism: Any, counts: tuple[int, ...]) -> str:
    Path("release.json").write_text(dc.simulate(mechanism, counts, dc.SeededBits(1)).to_json())
    return "release.json"


def test_the_ranking_is_shown_without_touching_data() -> None:
    words = ("plan", "study.toml", "--ask", "smoking", "--compare", "--studies", "8")
    shown = run(*words, "--plot", "ranking.json").output
    assert "GeometricHistogram" in shown
    assert "Exact statistics: log score" in shown
    assert "5 records at epsilon = 1" in json.loads(Path("ranking.json").read_text())["title"]["text"]
    document = as_json(*words)
    assert document["question"] == "smoking"
    scores = [entry["log_score"] for entry in document["entries"]]
    assert scores == sorted(scores, reverse=True)


def test_a_network_is_ranked_by_width() -> None:
    found = as_json("plan", "study.toml", "--ask", "net", "--compare", "--studies", "2")
    widths = [entry["width"] for entry in found["entries"]]
    assert widths == sorted(widths)
    assert "FamilyHistograms" in {entry["name"] for entry in found["entries"]}


def test_a_mechanism_is_put_to_the_test_from_a_release() -> None:
    mechanism = dc.GeometricHistogram(COIN, 8, "0.5")
    path = released(mechanism, (3, 5))
    assert read_mechanism_file(Path(path)) == mechanism
    document = as_json("verify", "--mechanism", path, "--draws", "4000", "--plot", "audit.json")
    assert document["certificate"]["holds"] is True
    assert document["certificate"]["pure_epsilon"] == 0.5
    assert document["audit"]["violates"] is False
    assert json.loads(Path("audit.json").read_text())["title"]["text"] == "Black-box audits"
    assert "proves nothing" in run("verify", "--mechanism", path, "--draws", "4000").output


def test_a_false_claim_is_shown_and_the_command_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    path = released(dc.GeometricHistogram(COIN, 8, 1), (3, 5))
    monkeypatch.setattr(dc.GeometricHistogram, "guarantee", property(lambda self: dc.Guarantee(Fraction(1, 10))))
    document = as_json("verify", "--mechanism", path, "--draws", "20000", code=5)
    assert document["certificate"]["holds"] is False
    assert document["audit"]["violates"] is True


def test_a_network_is_certified_and_audited() -> None:
    network = dc.Network([dc.Column(name, ("no", "yes"), outside="no") for name in "ab"], [(), ("a",)])
    mechanism: Any = dc.FamilyHistograms(network, 20, "1")
    counts = (10, 10, 0, 0)
    document = as_json("verify", "--mechanism", released(mechanism, counts), "--draws", "4000")
    assert document["certificate"]["holds"] is True
    assert document["certificate"]["exact"] is True
    assert document["audit"]["violates"] is False


@pytest.mark.parametrize("text", ["not json", "[1]", '{"kind": "Unknown"}'])
def test_documents_of_no_mechanism_are_refused(text: str) -> None:
    Path("mechanism.json").write_text(text)
    assert "Error" in run("verify", "--mechanism", "mechanism.json", code=5).stderr
    assert "There is no file" in run("verify", "--mechanism", "absent.json", code=5).stderr


def test_options_that_do_not_go_together_are_refused() -> None:
    path = released(dc.GeometricHistogram(COIN, 8, "0.5"), (3, 5))
    assert "--mechanism FILE" in run("verify", code=1).stderr
    assert "--mechanism FILE" in run("verify", path, "--mechanism", path, code=1).stderr
    assert "--ledger" in run("verify", "--mechanism", path, "--ledger", "study.db", code=1).stderr
    assert "--plot" in run("verify", path, "--plot", "audit.png", code=1).stderr
    assert "draws" in run("verify", "--mechanism", path, "--draws", "3", code=1).stderr
