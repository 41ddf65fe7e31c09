"""Mechanisms for a number are ranked by how wide intervals will be; pictures have a curve for the eye."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command_line.main import main
from discreet.inference.posteriors.density import smooth_density
from discreet.planning import compare
from discreet.show import charts

STUDY = """
[data]
path = "x.csv"
size = 500
[budget]
epsilon = "5"
ledger = "x.db"
[columns.age]
bounds = [0, 100]
missing = 40
[questions.q]
model = "number"
column = "age"
epsilon = "1"
"""


@pytest.mark.parametrize(
    ("model", "first", "second"),
    [
        (dc.NumberTable("age", (0, 100), 16, missing=40, quantiles=("0.5",)), "TreeTable", "PathTable"),
        (dc.NumberSums("age", (0, 100), missing=40), "GeometricSums", "MetricSums"),
    ],
)
def test_the_narrowest_comes_first_and_what_is_promised_besides_is_told(
    model: dc.NumberTable | dc.NumberSums, first: str, second: str
) -> None:
    ranking = compare(model, 300, 1, repeats=2)
    one, two = (ranking.named(name).widths for name in (first, second))
    assert one.records <= two.records  # of sums both have the same noise
    widths = [entry.widths.population for entry in ranking.entries]
    assert widths == sorted(widths)
    assert all(entry.mechanism.guarantee.epsilon == 1 for entry in ranking.entries)
    assert "per 1 of age" in str(ranking)
    assert "2 made-up studies" in str(ranking)
    assert ranking.document()["entries"]
    assert charts.ranking_chart(ranking)["layer"]


def test_what_cannot_publish_is_left_out_in_words() -> None:
    ranking = compare(dc.NumberTable("age", (0, 100), 16, quantiles=("0.5",)), 300, 1, repeats=2)
    assert "missing" in ranking.left_out["PathTable"]
    with pytest.raises(dc.DeclarationError, match="numbers"):
        compare(dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, missing="middle"), 10, 1)  # type: ignore[call-overload]


def test_plan_compares_numbers(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY + 'ask = ["mean"]\n')
    done = CliRunner().invoke(
        main, ["plan", str(tmp_path / "study.toml"), "--compare", "--plot", str(tmp_path / "r.json")]
    )
    assert done.exit_code == 0, done.output
    assert "MetricSums" in done.output
    assert (tmp_path / "r.json").exists()


@pytest.mark.parametrize("edges", [np.linspace(0, 10, 33), np.concatenate([[0], np.geomspace(0.2, 10, 24)])])
def test_the_curve_for_the_eye_is_a_density_near_the_true_one(edges: np.ndarray) -> None:
    generator = np.random.default_rng(5)
    counts = np.histogram(generator.gamma(4, 0.7, 20_000), edges)[0] + generator.normal(0, 4, len(edges) - 1)
    places, heights = np.array(smooth_density(edges, counts, 16.0)).T
    assert heights.min() >= 0
    assert heights.sum() * (places[1] - places[0]) == pytest.approx(1, rel=1e-6)
    true = places**3 * np.exp(-places / 0.7) / (6 * 0.7**4)
    assert np.abs(heights - true).max() < 0.15 * true.max()
    assert np.abs(np.diff(heights, 2)).max() < 0.02  # smooth


def test_whole_numbers_have_steps_and_no_curve() -> None:
    for is_whole in (True, False):
        model = dc.NumberTable("x", (0, 8), 8, asks=("distribution",), is_whole=is_whole, missing=0)
        release = dc.simulate(dc.TreeTable(model, 50, 1), model.rehearse({"x": [1, 2, 2, 3, 7] * 10}), dc.SeededBits(1))
        picture = dc.infer(release).distribution()
        assert picture is not None
        assert bool(picture.densities) is not is_whole


def test_a_group_that_noise_hides_does_not_squeeze_the_picture_of_the_others() -> None:
    model = dc.NumberSums("x", (0, 100), by=dc.Column("w", ("a", "b"), outside="a"))
    sums = model.rehearse({"x": [30.0, 40.0] * 300, "w": ["a"] * 600})
    posterior = dc.infer(dc.simulate(dc.GeometricSums(model, 600, 1), sums, dc.SeededBits(3), "means"))
    picture = posterior.intervals()
    assert {line.group for line in picture.lines} == {"w=a"}
    assert "noise hides whether anything is in w=b" in picture.axis
