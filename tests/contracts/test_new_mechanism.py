"""The mechanism that CONTRIBUTING shows keeps the contract of all others, and goes the whole road from its one file.

It registers its kind, so all of it happens in a process of its own.
"""

import re
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]
EXAMPLE = PROJECT / "examples" / "cumulative_counts.py"
SHOWN = re.compile(r"^```py\n(.*?)^```$", re.MULTILINE | re.DOTALL)

ROAD = """
import conftest
from cumulative_counts import CumulativeCounts

import discreet as dc
from discreet.cli import main
from discreet.planning import _accuracy as plan
from discreet.report import charts
from discreet.report.statement import statement
from click.testing import CliRunner
from pathlib import Path

# in the contract table
conftest.TABLE["CumulativeCounts"] = settings = [
    conftest.of(conftest.COIN, 3, 1, 81),
    conftest.of(conftest.THREE, 3, 2, 82),
    conftest.of(conftest.FOUR, 2, "2.5", 83),
]
assert conftest.unlisted(dc.Mechanism.registered()) == set()
for number, setting in enumerate(settings):
    listed = conftest.listed_setting("CumulativeCounts", number)
    for check in conftest.CHECKS:
        check(listed, setting)

# published, verified, read, charted
levels = ("none", "mild", "severe")
pain = dc.Categories("pain", levels=levels, outside="none")
records = {"pain": ["none"] * 12 + ["mild"] * 8 + ["severe"] * 4}
mechanism = CumulativeCounts(pain, size=24, epsilon=2)
ledger = dc.Ledger.create("pain.db", epsilon=10)
release = dc.publish(mechanism, pain.statistics(records), ledger, "Pain after a week")
assert dc.Release.from_json(release.to_json()) == release
certificate = dc.verify(release, ledger=ledger)
assert "CumulativeCounts" in repr(release) and str(certificate)
posterior = dc.infer(release)
assert [row.quantity for row in posterior.rows()] == list(levels)
assert all(row.low < row.mean < row.high for row in posterior.rows())
assert charts.posterior_chart(posterior)["data"]
assert "Pain after a week" in statement(release, posterior)
planned = dc.accuracy(mechanism, studies=4)
assert [row.quantity for row in planned.rows] == list(levels)

# asked from a study, from the command line
Path("pain.csv").write_text("pain\\n" + "\\n".join(records["pain"]) + "\\n")
Path("study.toml").write_text('''
[data]
path = "pain.csv"
size = 24
[columns.pain]
levels = ["none", "mild", "severe"]
outside = "none"
[budget]
epsilon = "10"
ledger = "study.db"
[questions.pain]
columns = ["pain"]
epsilon = "2"
mechanism = "CumulativeCounts"
''')
assert dc.Study("study.toml").question("pain").mechanism == mechanism
plan.MOST_STUDIES, plan.LEAST_STUDIES = 3, 2  # simulated studies; their accuracy is tested elsewhere
publish = ["publish", "study.toml", "--ask", "pain", "--out", "pain.json"]
for words in (["plan", "study.toml"], publish, ["verify", "pain.json"], ["infer", "pain.json"]):
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, (words, done.output)
"""


def test_the_example_of_contributing_is_a_file() -> None:
    assert EXAMPLE.read_text("utf-8") in SHOWN.findall((PROJECT / "CONTRIBUTING.md").read_text("utf-8"))


def test_a_new_additive_mechanism_goes_the_whole_road_from_one_file(tmp_path: Path) -> None:
    paths = [str(EXAMPLE.parent), str(Path(__file__).parent), *sys.path]
    script = f"import sys; sys.path[:0] = {paths!r}\n{ROAD}"
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
