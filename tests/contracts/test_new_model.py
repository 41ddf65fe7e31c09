"""The model of examples/new_model, three files, is published, verified, read and shown like those of the house.

It registers its kinds and its engine, so all of it happens in a process of its own.
"""

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
FILES = sorted((PROJECT / "examples" / "new_model").glob("*.py"))

ROAD = """
import json

import numpy as np
from noisy_total import NoisyTotal
from scipy.stats import beta, betabinom
from successes import Successes
from successes_reading import SuccessesPosterior

import discreet as dc
from discreet.show import charts
from discreet.show.statement import statement

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

planned = dc.planning.expected_accuracy(mechanism, repeats=20)
assert 0 < planned.non_private_width < planned.width < 1

# the slow twin: p on a fine grid, every total by itself
totals, grid = np.arange(181), (np.arange(4000) + 0.5) / 4000
known = betabinom.pmf(totals, 180, 1, 1) * np.exp(-2 / 3 * np.abs(release.output[0] - totals))
density = sum(w * beta.pdf(grid, 1 + t, 181 - t) for t, w in zip(totals, known / known.sum()))
assert abs((density * grid).mean() - row.mean) < 1e-6

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


def test_a_new_model_goes_the_whole_road_from_its_three_files(tmp_path: Path) -> None:
    paths = [str(FILES[0].parent), *sys.path]
    script = f"import sys; sys.path[:0] = {paths!r}\n{ROAD}"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
