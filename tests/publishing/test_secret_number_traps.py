"""What could tell how many records there are where that is secret: sources, errors, words, ledgers, estimators."""

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from conformance.backends import ENGINES
from discreet.cli import main
from discreet.privacy import Adjacency
from discreet.records import Statistics
from discreet.report.statement import statement

HIDES = Adjacency.ADD_OR_REMOVE
MODEL = dc.Categories("x", levels=("a", "b"), outside="b")
WHERE = dc.Where("x = a", MODEL.columns)
KIND_OF = {name: "text" if "text" in engine.kinds else engine.kinds[0] for name, engine in ENGINES.items()}


def hiding(folder: Path, epsilon: Any = 100) -> dc.Ledger:
    return dc.Ledger.create(folder / "l.db", epsilon, adjacency=HIDES)


def release_of(folder: Path, data: Any, where: dc.Where | None = None) -> dict[str, Any]:
    """Publish the table of some data; return all that is written of it but what is drawn at random."""
    secret = MODEL.statistics(data) if where is None else where.statistics(MODEL, data)
    ledger = hiding(folder)
    release = dc.publish(dc.LaplaceTable(MODEL, 1), secret, ledger, "x", request="r", data="records")
    document = json.loads(release.to_json())
    assert len(document.pop("output")) == 2
    document.pop("receipt")
    entries = [dict(entry.body) for entry in ledger.entries()]
    for body in entries:
        for random in ("nonce", "at", "back", "ledger", "releases", "digests"):
            body.pop(random, None)
    return {"release": document, "entries": entries}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("where", [None, WHERE], ids=["all", "some"])
def test_a_source_of_nobody_publishes_like_one_of_one_or_many(tmp_path: Path, engine: str, where: dc.Where) -> None:
    kind, found = KIND_OF[engine], []
    values = {"text": "a", "raw text": "a", "whole": 1, "number": 1.0, "truth": True, "mixed": "a"}[kind]
    for number in (0, 1, 500):
        folder = tmp_path / str(number)
        folder.mkdir()
        if number == 0 and engine == "DuckDB, enum":
            continue  # a type without a name cannot be made
        is_arrow = number == 0 and engine.startswith("pyarrow")
        made = ENGINES[engine].make([values] * (number or is_arrow), kind, folder)
        found.append(release_of(folder, made.slice(0, 0) if is_arrow else made, where))
    assert all(each == found[0] for each in found[1:])


def test_publishing_never_asks_how_many_records_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def told(*_: object) -> bool:
        raise AssertionError("the number of records was compared")

    monkeypatch.setattr(Statistics, "describes", told)
    dc.publish(dc.LaplaceTable(MODEL, 1), MODEL.statistics({"x": ["a"]}), hiding(tmp_path), "x")


def test_counts_beyond_all_reason_are_clamped_and_published(tmp_path: Path) -> None:
    huge = Statistics(MODEL, np.array([2**62, 5]), records=2**62)
    release = dc.publish(dc.LaplaceTable(MODEL, 1, total="1/2"), huge, hiding(tmp_path), "x")
    assert abs(release.output[0] - 2**40) < 1000
    assert abs(release.output[1] - 5) < 1000
    assert abs(release.output[2] - 2**40) < 1000  # of clamped cells
    noisy = dc.simulate(dc.tables.GaussianTable(MODEL, 1, "1e-6"), [2**62, 5], dc.SeededBits(1))
    assert abs(noisy.output[0] - 2**40) < 1000


@pytest.mark.parametrize("output", [(0, 0), (-40, -3), (5, -40), (-40, 60)])
def test_whatever_noise_does_is_read_and_shown(output: tuple[int, int]) -> None:
    """Zero or negative sums: shares as beforehand, and how likely it is that nobody is there."""
    mechanism = dc.LaplaceTable(MODEL, "0.1")
    release = dc.Release(mechanism, output, "x", simulated=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        posterior = dc.infer(release)
        low, high = posterior.interval("a", 0.9)
        assert 0 <= low < high <= 1
        facts: Any = posterior.facts()["number_of_records"]
        assert 0 <= facts["low"] <= facts["mean"]
        assert statement(release, posterior)
        assert posterior.rows()
    if max(output) <= 0:
        assert high - low > 0.8
        assert facts["probability_of_none"] > 0.001


def test_the_commands_say_the_same_of_nobody_and_of_many(tmp_path: Path) -> None:
    """Every file that a study can name: what `publish`, `plan` and `ledger` print is the same for 0, 1 and 800."""
    study = (
        '[data]\npath = "{}"\nneighbours = "add or remove"\nabout = 50\n[budget]\nepsilon = "1"\nledger = "l.db"\n'
        'groups = "x"\n[columns.x]\nlevels = ["a", "b"]\n[columns.y]\nlevels = ["no", "yes"]\n'
        '[questions.q]\ncolumns = ["x"]\nepsilon = "0.5"\n'
        '[questions.s]\ncolumns = ["y"]\nwhere = "x = a"\nabout = 20\nepsilon = "0.5"\n'
    )
    said = []
    for number in (0, 1, 800):
        folder = tmp_path / f"n{number}"
        folder.mkdir()
        (folder / "d.csv").write_text("x,y\n" + "a,yes\n" * number, "utf-8")
        (folder / "s.toml").write_text(study.format("d.csv"), "utf-8")
        words = []
        for command in (("publish", "--ask", "q"), ("publish", "--ask", "s"), ("plan",)):
            result = CliRunner().invoke(main, [command[0], str(folder / "s.toml"), *command[1:]])
            words.append((result.exit_code, result.output.replace(f"n{number}/", "")))
        said.append(words)
    assert said[0] == said[1] == said[2]


def test_a_failure_of_drawing_withholds_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> Any:
        raise ValueError("there are 3 records")

    monkeypatch.setattr(dc.LaplaceTable, "sample", failing)
    with pytest.raises(dc.PublishError, match="the reason is withheld") as caught:
        dc.publish(dc.LaplaceTable(MODEL, 1), MODEL.statistics({"x": ["a"] * 3}), hiding(tmp_path), "x")
    assert caught.value.__cause__ is caught.value.__context__ is None


@pytest.mark.parametrize("name", ["PrivateNaiveBayes", "PrivateBayesianRidge"])
@pytest.mark.parametrize("records", [0, 1, 40])
def test_estimators_refuse_such_a_ledger_before_they_count(tmp_path: Path, name: str, records: int) -> None:
    """They take the number of records as public: they refuse too few, and choose the mechanism by it."""
    pytest.importorskip("sklearn")
    import discreet.sklearn as estimators

    ledger = hiding(tmp_path)
    further: dict[str, Any] = (
        {"feature_levels": [("a", "b")], "classes": (0, 1)}
        if name == "PrivateNaiveBayes"
        else {"feature_bounds": (0, 1), "target_bounds": (0, 1)}
    )
    estimator = getattr(estimators, name)(epsilon=1, ledger=ledger, **further)
    with pytest.raises(dc.DeclarationError, match="take the number of records as public") as caught:
        estimator.fit(np.zeros((records, 1)), np.zeros(records))
    assert str(records) not in str(caught.value) or not records
    assert ledger.spent.numbers[0] == 0
