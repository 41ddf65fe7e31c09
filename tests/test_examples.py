"""The demonstration: its scene with a third party ends when the budget of the patients is gone."""

import importlib.util
from fractions import Fraction
from io import StringIO
from pathlib import Path
from types import ModuleType

import pytest
from rich.console import Console

import discreet as dc

EXAMPLE = Path(__file__).parent.parent / "examples" / "hospital.py"


@pytest.fixture
def hospital(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the example, with its survey written into an empty folder."""
    spec = importlib.util.spec_from_file_location("hospital", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(tmp_path)
    module.FOLDER.mkdir()
    module.write_survey()
    return module


def heard(hospital: ModuleType) -> str:
    """Return what is said in the scene."""
    said = StringIO()
    hospital.interview(Console(file=said, width=300), hospital.open_session())
    return said.getvalue()


def test_a_third_party_gets_two_answers_and_a_refusal(hospital: ModuleType) -> None:
    study = dc.Study(hospital.FOLDER / "study.toml")
    for question in ("smoking-2026", "falls-by-ward"):
        study.publish(question)
    said = heard(hospital)
    assert said.count("from a fresh draw") == said.count("Free, as this draw is public now") == 2
    assert said.count("Refused: Cannot publish 'Falls, drawn'") == 1
    assert "2 of 2 is already spent" in said
    assert study.ledger().spent.epsilon == Fraction(2)


def test_questions_and_releases_share_one_budget(hospital: ModuleType) -> None:
    heard(hospital)
    study = dc.Study(hospital.FOLDER / "study.toml")
    assert study.ledger().spent.epsilon == Fraction(14, 10)
    with pytest.raises(dc.BudgetError, match=r"1\.4 of 2 is already spent"):
        study.publish("age-and-smoking")
