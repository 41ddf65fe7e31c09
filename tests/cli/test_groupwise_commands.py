"""Own sums from the command line: margins, whether groups differ, and priors by name."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli._main import main


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
    asked = ["infer", str(release), "--event", "fall=yes", "--by", "ward", "--differ"]
    shown = CliRunner().invoke(main, [*asked, "--statement", str(page)])
    assert shown.exit_code == 0, shown.output
    text = " ".join(shown.output.split())
    assert "Intervals: for each share from its own noisy sum." in text
    assert "The groups of ward almost certainly differ in how often fall=yes occurs" in text
    assert "The highest rate is that of B" in text
    assert "The groups of ward almost certainly differ" in page.read_text("utf-8")
    told = json.loads(CliRunner().invoke(main, [*asked, "--json"]).stdout)
    assert told["differ"]["probability"] > 0.99


def test_a_margin_is_shown_drawn_and_written_as_a_posterior_of_its_own(release: Path) -> None:
    picture, table, page = (release.with_name(name) for name in ("ward.json", "ward.csv", "ward.md"))
    asked = ["infer", str(release), "--margin", "ward", "--event", "fall=yes", "--level", "0.8"]
    written = ["--plot", str(picture), "--csv", str(table), "--statement", str(page)]
    shown = CliRunner().invoke(main, [*asked, *written])
    assert shown.exit_code == 0, shown.output
    text = " ".join(shown.output.split())
    assert "Probability of fall=yes: " in text  # asked of the whole table
    assert "fall=no" not in text
    assert "how often does each of the 3 levels of ward occur?" in page.read_text("utf-8")
    assert [line.split(",")[0] for line in table.read_text("utf-8").splitlines()[1:]] == ["A", "B", "C"]
    assert "Probability of each level of ward" in picture.read_text("utf-8")
    told = json.loads(CliRunner().invoke(main, [*asked, "--json"]).stdout)
    assert told["margin"] == ["ward"]
    assert sum(row["mean"] for row in told["rows"]) == pytest.approx(1)
    both = json.loads(
        CliRunner().invoke(main, ["infer", str(release), "--margin", "fall", "--margin", "ward", "--json"]).stdout
    )
    assert both["rows"][1]["quantity"] == "fall=no, ward=B"
    refused = CliRunner().invoke(main, ["infer", str(release), "--margin", "town"])
    assert refused.exit_code == 1
    assert "no column 'town'" in " ".join(refused.output.split())


def test_a_prior_by_name_or_number_is_read_under(release: Path) -> None:
    together = CliRunner().invoke(main, ["infer", str(release), "--prior", "learnt"])
    assert "Means and intervals: from all cells together, with a learnt prior strength (" in " ".join(
        together.output.split()
    )
    own = CliRunner().invoke(main, ["infer", str(release), "--prior", "2"])
    assert "under the reader's own prior" in " ".join(own.output.split())
    refused = CliRunner().invoke(main, ["infer", str(release), "--prior", "flat"])
    assert refused.exit_code == 1
    assert "got 'flat'" in " ".join(refused.output.split())
    alone = CliRunner().invoke(main, ["infer", str(release), "--differ"])
    assert alone.exit_code == 1
    assert "need --event and --by" in " ".join(alone.output.split())


def test_the_point_that_is_shown_is_named(release: Path) -> None:
    """Means by default; the closest point on request, in their place, as text and as JSON."""
    asked = ["infer", str(release)]
    plain, close = (CliRunner().invoke(main, [*asked, *more]).output for more in ((), ("--point", "closest")))
    assert " mean " in plain
    assert " closest " not in plain
    assert " closest " in close
    assert "closest to the true ones in total variation" in " ".join(close.split())
    told = json.loads(CliRunner().invoke(main, [*asked, "--json"]).stdout)
    assert told["point"] == "mean"
    assert "closest" not in told
    told = json.loads(CliRunner().invoke(main, [*asked, "--point", "closest", "--json"]).stdout)
    assert told["point"] == "closest"
    wanted = dc.infer(dc.Release.from_json(release.read_text("utf-8"))).closest()
    assert told["closest"]["ward=A, fall=no"] == pytest.approx(wanted["A", "no"])
    assert sum(told["closest"].values()) == pytest.approx(1)
    assert told["rows"][0]["mean"] != told["closest"]["ward=A, fall=no"]


def test_draws_that_hold_less_than_they_state_are_written_with_a_warning(tmp_path: Path) -> None:
    model = dc.Categories("x", levels=tuple(range(12)), outside=0)
    mechanism = dc.PosteriorSampling.tempered(model, size=300, epsilon=2, delta="1e-4")
    place, draws = tmp_path / "drawn.json", tmp_path / "draws.csv"
    place.write_text(dc.simulate(mechanism, [25] * 12, dc.SeededBits(2), label="drawn").to_json(), "utf-8")
    told = json.loads(CliRunner().invoke(main, ["infer", str(place), "--draws", str(draws), "--json"]).stdout)
    assert any("under one Dirichlet prior for all cells" in note for note in told["warnings"])
    told = json.loads(CliRunner().invoke(main, ["infer", str(place), "--json"]).stdout)
    assert not any("under one Dirichlet prior" in note for note in told["warnings"])
