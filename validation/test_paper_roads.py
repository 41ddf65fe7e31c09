"""The studies of the papers, each taken along the whole road: published, verified, read and asked (about 40 CPU s)."""

import importlib.util
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples" / "papers"


@pytest.mark.parametrize("paper", ["000", "001", "002", "003", "004"])
@pytest.mark.filterwarnings("ignore::discreet.MisfitWarning")
@pytest.mark.filterwarnings("ignore::discreet.ConvergenceWarning")
def test_the_whole_road_of_a_paper(tmp_path: Path, paper: str) -> None:
    spec = importlib.util.spec_from_file_location("run_papers", FOLDER / "run.py")
    assert spec is not None
    assert spec.loader is not None
    run = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(run)
    run.write_records(tmp_path)
    said = run.follow(tmp_path, paper)
    print("\n".join(said))
    assert len(said) >= 4
