"""Several releases of the same records read together by the command line: a table twice, a table and a margin."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import discreet as dc
from discreet.cli._main import main
from discreet.inference import sources_line

WARD, FALL = dc.Column("ward", ["A", "B"], outside="A"), dc.Column("fall", ["no", "yes"], outside="no")
CROSSED = dc.Categories([WARD, FALL], prior=1)
WARDS = dc.Categories(WARD, prior=1)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, mechanism, counts in (
        ("table", dc.GeometricHistogram(CROSSED, 40, 1), [18, 4, 12, 6]),
        ("again", dc.tables.DiscreteLaplaceCounts(CROSSED, 40, 1), [18, 4, 12, 6]),
        ("wards", dc.GeometricHistogram(WARDS, 40, 4), [22, 18]),
    ):
        release = dc.simulate(mechanism, counts, dc.SeededBits(3), label=name)
        (tmp_path / f"{name}.json").write_text(release.to_json())
    return tmp_path


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == code, result.output
    return result


@pytest.mark.parametrize("others", [("again.json",), ("wards.json",), ("again.json", "wards.json")])
def test_releases_are_read_together_and_what_was_combined_is_said(folder: Path, others: tuple[str, ...]) -> None:
    """The screen, the JSON and Python say the same."""
    words = ("infer", "table.json", *others)
    found = json.loads(run(*words, "--json").stdout)
    posterior = dc.infer(*(dc.Release.from_json((folder / name).read_text()) for name in ("table.json", *others)))
    assert found["combined"] == sources_line(posterior)
    assert [row["mean"] for row in found["rows"]] == [row.mean for row in posterior.rows()]
    assert found["log_evidence"] == posterior.log_evidence
    shown = " ".join(run(*words).output.split())
    assert " ".join(sources_line(posterior).split()) in shown
    assert "If they are about different people, that is wrong" in shown
    alone = json.loads(run("infer", "table.json", "--json").stdout)
    assert alone["combined"] is None
    assert sum(row["sd"] for row in found["rows"]) < sum(row["sd"] for row in alone["rows"])
