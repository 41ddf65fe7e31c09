"""The model of examples/new_model, three files, is published, verified, read and shown like those of the house.

It registers its kinds and its engine, so all of it happens in processes of their own. Installed as a distribution, it
is asked from a study by the command line as well, and nothing of it is imported by hand.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

import discreet as dc

PROJECT = Path(__file__).parents[2]
FILES = sorted((PROJECT / "examples" / "new_model").glob("*.py"))

ROAD = """
from pathlib import Path

import numpy as np
from noisy_total import NoisyTotal
from scipy.stats import beta, betabinom
from successes import Successes
from successes_inference import SuccessesPosterior

import discreet as dc
from discreet.report import charts
from discreet.report.statement import statement

model = Successes("hits", tries=3)
mechanism = NoisyTotal(model, size=60, epsilon=2)
records = {"hits": [0] * 10 + [1] * 20 + [2] * 20 + [3] * 9 + ["?"]}
secret = model.statistics(records)
assert secret.open_for_publishing().tolist() == [87]

ledger = dc.Ledger.create("hits.db", epsilon=10)
release = dc.publish(mechanism, secret, ledger, "Hits")
assert dc.Release.from_json(release.to_json()) == release
certificate = dc.verify(release, ledger=ledger)
assert sum(check.startswith("compared") for check in certificate.checks) >= 2, certificate.checks
assert float(certificate.epsilon) <= 2 * (1 + 1e-9)

posterior = dc.infer(release)
assert isinstance(posterior, SuccessesPosterior)
(row,) = posterior.rows()
assert row.low < row.mean < row.high and 0 < row.share_due_to_privacy < 1
assert charts.posterior_chart(posterior)["data"]
assert "how likely is one of 3 tries of hits to succeed" in statement(release, posterior)
assert posterior.to_frame("pandas").shape[0] == 1 and "success in hits" in posterior._repr_html_()
assert posterior.draws(5, seed=1)["p"].shape == (5,)

planned = dc.accuracy(mechanism, studies=20)
assert 0 < planned.exact_width < planned.width < 1

# the slow twin: p on a fine grid, every total by itself
totals, grid = np.arange(181), (np.arange(4000) + 0.5) / 4000
known = betabinom.pmf(totals, 180, 1, 1) * np.exp(-2 / 3 * np.abs(release.output[0] - totals))
density = sum(w * beta.pdf(grid, 1 + t, 181 - t) for t, w in zip(totals, known / known.sum()))
assert abs((density * grid).mean() - row.mean) < 1e-6

# asked from a study, by the keys that it states itself
study = dc.Study("study.toml")
question = study.question("hits")
assert question.model == model and type(question.mechanism) is NoisyTotal and question.reason
again = study.publish("hits")
assert dc.infer(again).rows()[0].quantity == "success in hits"
assert study.publish("hits") == again
text = Path("study.toml").read_text()
for right, wrong, words in (
    ("tries = 3", "", "the model 'successes' needs tries"),
    ("tries = 3", 'tries = "3"', "tries of the model 'successes' must be a whole number"),
    ("tries = 3", "triess = 3", "Did you mean 'tries'"),
    ("tries = 3", 'tries = 3\\ncolumns = ["hits"]', "columns does not belong to the model 'successes'"),
    ("tries = 3", "tries = 3\\nprior = 1", "The prior of the model 'successes' is declared by its own keys"),
    ("tries = 3", "tries = 0", "questions.hits: tries"),
):
    Path("wrong.toml").write_text(text.replace(right, wrong))
    try:
        dc.Study("wrong.toml")
    except dc.DeclarationError as refusal:
        assert words in str(refusal), refusal
    else:
        raise AssertionError(wrong)

for wrong in (0, "x", True):
    try:
        Successes("hits", tries=wrong)
    except dc.DeclarationError:
        continue
    raise AssertionError(wrong)
"""


def test_a_new_model_takes_three_files() -> None:
    page = (PROJECT / "CONTRIBUTING.md").read_text("utf-8")
    assert len(FILES) == 3
    for path in FILES:
        assert f"examples/new_model/{path.name}" in page


STUDY = """
[data]
path = "hits.csv"
size = 60

[budget]
epsilon = "10"
ledger = "study.db"

[questions.hits]
model = "successes"
column = "hits"
tries = 3
epsilon = "2"
"""
COMMANDS = """
from click.testing import CliRunner
from discreet.cli import main
from discreet.planning import _accuracy as plan

plan.MOST_STUDIES, plan.LEAST_STUDIES = 3, 2  # simulated studies; their accuracy is tested elsewhere
for words in (
    "init hits.csv --out template.toml",
    "check study.toml",
    "plan study.toml",
    "rehearse study.toml",
    "publish study.toml --ask hits --out hits.json",
    "verify hits.json",
    "infer hits.json",
):
    done = CliRunner().invoke(main, words.split())
    assert done.exit_code == 0, (words, done.output)
assert "success in hits" in done.output
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "hits.csv").write_text("hits\n" + "0\n" * 10 + "1\n" * 20 + "2\n" * 20 + "3\n" * 9 + "?\n")
    return tmp_path


def run(words: Sequence[str], folder: Path, *paths: Path) -> subprocess.CompletedProcess[str]:
    """Run Python in a process of its own, with these paths before all others."""
    everything = os.pathsep.join([*map(str, paths), *filter(None, sys.path)])
    return subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False,
        env=os.environ | {"PYTHONPATH": everything},
    )  # fmt: skip


def test_a_new_model_goes_the_whole_road_from_its_three_files(folder: Path) -> None:
    done = run(["-W", "error", "-c", ROAD], folder, FILES[0].parent)
    assert done.returncode == 0, done.stderr


def test_three_files_in_a_folder_of_the_library_are_found_once_they_are_listed(
    folder: Path,
) -> None:
    house = folder / "house" / "discreet"
    copytree(Path(dc.__file__).parent, house, ignore=ignore_patterns("__pycache__"))
    for name in ("successes", "noisy_total", "successes_inference"):
        text = (FILES[0].parent / f"{name}.py").read_text()
        own = text.replace("from successes import", "from discreet.tables._successes import")
        (house / "tables" / f"_{name}.py").write_text(own)
    listed = house / "inference" / "_solvers.py"
    solver = "discreet.tables._successes_inference.SuccessesSolver"
    line = f'    "discreet.tables._successes.Successes": ("{solver}",),'
    opening = "SOLVERS: dict[str, tuple[str, ...]] = {\n"
    assert opening in listed.read_text()
    listed.write_text(listed.read_text().replace(opening, f"{opening}{line}\n"))
    written = run(["-W", "error", str(PROJECT / "release" / "write_kinds.py")], folder, house.parent)
    assert written.returncode == 0, written.stderr
    asked = "import discreet as dc; print(dc.infer(dc.Study('study.toml').publish('hits')), dc.__file__)"
    done = run(["-W", "error", "-c", asked], folder, house.parent)
    assert done.returncode == 0, done.stderr
    assert "success in hits" in done.stdout
    assert str(house) in done.stdout


def announced(folder: Path, value: str) -> Path:
    """Return a folder with the metadata of a distribution that announces a module with kinds."""
    described = folder / "installed" / "successes-1.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: successes\nVersion: 1\n")
    (described / "entry_points.txt").write_text(f"[discreet.kinds]\nSuccesses = {value}\nNoisyTotal = {value}\n")
    return described.parent


def test_an_installed_model_is_asked_from_the_command_line(folder: Path) -> None:
    (folder / "both.py").write_text("import noisy_total, successes_inference")
    paths = (announced(folder, "both"), folder, FILES[0].parent)
    done = run(["-W", "error", "-c", COMMANDS], folder, *paths)
    assert done.returncode == 0, done.stderr
    assert '#   "successes": column, tries, a, b' in (folder / "template.toml").read_text()


def test_a_distribution_that_cannot_be_loaded_is_told_and_stops_nothing_else(folder: Path) -> None:
    paths = (announced(folder, "nowhere"), folder)
    (folder / "study.toml").write_text(
        STUDY.replace("tries = 3", "most = 3\noutside = 3\ndelta = '1e-4'").replace("successes", "poisson")
    )
    done = run(["-c", "import discreet; discreet.Study('study.toml')"], folder, *paths)
    assert done.returncode == 0, done.stderr
    assert "nowhere of successes could not be loaded" in done.stderr
