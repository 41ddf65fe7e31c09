"""Files for others: a CSV that spreadsheets open without harm, draws as CSV, and the script for R that reads them."""

import csv
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import discreet as dc
from discreet.report._documents import csv_text, write_csv, write_draws

MODEL = dc.Categories("größe", levels=("=1+1", "klein", "-2"), outside="klein")
RELEASE = dc.simulate(dc.GeometricHistogram(MODEL, 100, 1), [20, 50, 30], dc.SeededBits(9), label="sizes")
SCRIPT = Path(__file__).parents[2] / "examples" / "r" / "read_release.R"


def test_a_spreadsheet_sees_utf8_and_numbers_and_no_formula(tmp_path: Path) -> None:
    posterior = dc.infer(RELEASE)
    write_csv(posterior, tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    with (tmp_path / "rows.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["quantity"] for row in rows] == ["'=1+1", "klein", "'-2"]
    assert [float(row["low"]) for row in rows] == [row.low for row in posterior.rows()]


def test_numbers_below_zero_stay_numbers() -> None:
    assert csv_text(["@x"], [(-0.5,), ("+1",), (None,)]) == "'@x\r\n-0.5\r\n'+1\r\n\"\"\r\n"


def test_draws_are_those_of_the_posterior(tmp_path: Path) -> None:
    posterior = dc.infer(RELEASE)
    write_draws(posterior, tmp_path / "draws.csv", count=50)
    with (tmp_path / "draws.csv").open(encoding="utf-8", newline="") as file:
        heads, *lines = csv.reader(file)
    assert heads == ["draw", "theta[=1+1]", "theta[klein]", "theta[-2]"]
    assert np.array_equal(np.array(lines, dtype=float)[:, 1:], posterior.draws(50, 0)["theta"])


def has_r() -> bool:
    if shutil.which("Rscript") is None:
        return False
    known = subprocess.run(["Rscript", "-e", "library(jsonlite)"], capture_output=True, check=False)
    return known.returncode == 0


@pytest.mark.skipif(not has_r(), reason="No R with jsonlite: the script for R is not tried.")
def test_r_reads_a_release_and_its_draws(tmp_path: Path) -> None:
    posterior = dc.infer(RELEASE)
    (tmp_path / "release.json").write_text(RELEASE.to_json(), encoding="utf-8")
    write_draws(posterior, tmp_path / "draws.csv")
    command = ["Rscript", str(SCRIPT), "release.json", "draws.csv", "picture.png"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "epsilon = 1, delta = 0" in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("theta[klein]")]
    theta = posterior.draws(4_000, 0)["theta"][:, 1]
    expected = [theta.mean(), *np.quantile(theta, [0.05, 0.95])]
    assert [float(number) for number in line.split()[1:]] == pytest.approx(expected, abs=1e-4)
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
