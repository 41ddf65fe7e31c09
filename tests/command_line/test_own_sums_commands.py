"""Own sums from the command line: margins, whether groups differ, and priors by name."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command_line.main import main


@pytest.fixture
def release(tmp_path: Path) -> Path:
    levels = {"ward": ("A", "B", "C"), "fall": ("no", "yes")}
    model = dc.Categories(("ward", "fall"), levels=levels, outside={"ward": "A", "fall": "no"})
    mechanism = dc.GeometricHistogram(model, size=900, epsilon=1)
    made = dc.simulate(mechanism, (280, 20, 200, 100, 270, 30), dc.SeededBits(11), label="wards")
    (tmp_path / "wards.json").write_text(made.to_json(), "utf-8")
    return tmp_path / "wards.json"


def test_margins_and_differences_are_shown_told_as_json_and_stated(release: Path) -> None:
    page = release.with_name("wards.md")
    asked = ["infer", str(release), "--event", "fall=yes", "--by", "ward", "--differ", "--margin", "fall"]
    shown = CliRunner().invoke(main, [*asked, "--statement", str(page)])
    assert shown.exit_code == 0, shown.output
    text = " ".join(shown.output.split())
    assert "Intervals: each share from its own noisy sum." in text
    assert "The groups of ward almost certainly differ in how often fall=yes occurs" in text
    assert "The highest rate is that of B" in text
    assert "The groups of ward almost certainly differ" in page.read_text("utf-8")
    told = json.loads(CliRunner().invoke(main, [*asked, "--json"]).stdout)
    assert told["differ"]["probability"] > 0.99
    assert [row["quantity"] for row in told["margin"]] == ["fall=no", "fall=yes"]


def test_a_prior_by_name_or_number_is_read_under(release: Path) -> None:
    together = CliRunner().invoke(main, ["infer", str(release), "--prior", "learnt"])
    assert "Means and intervals: all cells read together, the strength of the prior learnt." in " ".join(
        together.output.split()
    )
    own = CliRunner().invoke(main, ["infer", str(release), "--prior", "2"])
    assert "under the reader's own prior" in " ".join(own.output.split())
    refused = CliRunner().invoke(main, ["infer", str(release), "--prior", "flat"])
    assert refused.exit_code == 1
    assert "got 'flat'" in " ".join(refused.output.split())
    alone = CliRunner().invoke(main, ["infer", str(release), "--differ"])
    assert alone.exit_code == 1
    assert "go with --event and --by" in " ".join(alone.output.split())
