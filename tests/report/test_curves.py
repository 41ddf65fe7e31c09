"""Pictures of numbers have a curve for the eye."""

import numpy as np
import pytest

import discreet as dc
from discreet.numbers._table_posterior import smooth_density


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
