"""The studies of the papers in examples/papers: every question is published and read, or says that it is not."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import discreet as dc

FOLDER = Path(__file__).parent.parent / "examples" / "papers"
SLOW_TO_READ = {("001", "smooth")}  # read in validation/test_paper_roads.py


@pytest.fixture(scope="module")
def run() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_papers", FOLDER / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
@pytest.mark.filterwarnings("ignore::discreet.MisfitWarning")
@pytest.mark.filterwarnings("ignore::discreet.ConvergenceWarning")
@pytest.mark.parametrize("paper", ["000", "001", "002", "003", "004"])
def test_every_question_of_a_paper_goes_the_road(run: ModuleType, tmp_path: Path, paper: str) -> None:
    run.write_records(tmp_path)
    (tmp_path / "study.toml").write_text((FOLDER / f"{paper}.toml").read_text())
    study = dc.Study(tmp_path / "study.toml")
    for name, question in study.questions.items():
        assert question.refusal is None
        release = study.publish(name)
        if question.reading == "none":
            assert question.no_posterior
            assert "no posterior" in run.read_first_row(release)
        elif (paper, name) not in SLOW_TO_READ:
            assert "90% interval" in run.read_first_row(release)
    spent = study.ledger().spent
    assert spent.epsilon > 0
    if study.queries:
        rate = study.ask("falls-in-A")
        shares = study.ask("shares", draw=1)
        assert rate == pytest.approx(shares["A", "yes"] / (shares["A", "yes"] + shares["A", "no"]))
        assert study.ledger().spent.epsilon == spent.epsilon + 1


def test_the_poster_has_its_own_size(run: ModuleType, tmp_path: Path) -> None:
    run.write_records(tmp_path)
    (tmp_path / "study.toml").write_text((FOLDER / "001.toml").read_text())
    study = dc.Study(tmp_path / "study.toml")
    assert study.size == 600
    assert [len(question.model.cells) for question in study.questions.values()] == [4, 4]


def test_there_is_a_study_for_every_paper(run: ModuleType) -> None:
    assert {path.stem for path in FOLDER.glob("*.toml")} == set(run.PAPERS)
