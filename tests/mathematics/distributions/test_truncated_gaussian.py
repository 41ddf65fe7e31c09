"""Draws from a Gaussian cut off at a ball: the right law in two dimensions, the right moments in twenty, never slow."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

import discreet as dc
from discreet.mathematics.distributions._truncated_gaussian import TruncatedGaussian

CASES = [
    (np.diag([4.0, 1.0]), np.array([1.0, 0.5]), 1.0),
    (np.array([[30.0, 12.0], [12.0, 8.0]]), np.array([40.0, -10.0]), 1.0),  # the mean lies far outside
    (np.diag([0.01, 0.02]), np.array([0.0, 0.01]), 0.5),  # almost uniform on the ball
    (np.diag([0.0, 5.0]), np.array([0.3, 0.0]), 1.0),  # flat in one direction
]


@pytest.mark.parametrize(("precision", "shift", "radius"), CASES)
def test_two_dimensional_draws_match_a_grid(
    precision: NDArray[np.float64], shift: NDArray[np.float64], radius: float
) -> None:
    law, draws, fine, cells = TruncatedGaussian(precision, shift, radius), 40_000, 600, 10
    drawn = law.sample(draws, np.random.default_rng(6))
    axis = (np.arange(fine) + 0.5) / fine * 2 * radius - radius
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1)
    logs = law.log_kernel(points)
    weights = np.exp(logs - logs.max()).reshape(cells, fine // cells, cells, fine // cells).sum(axis=(1, 3)).ravel()
    places = np.minimum(((drawn + radius) / (2 * radius) * cells).astype(int), cells - 1)
    observed = np.bincount(places[:, 0] * cells + places[:, 1], minlength=cells * cells)
    expected = weights / weights.sum() * draws
    used = expected >= 10
    bins = np.append(observed[used], draws - observed[used].sum())
    wanted = np.append(expected[used], draws - expected[used].sum())
    keep = wanted > 1e-9
    assert chisquare(bins[keep], wanted[keep]).pvalue > 1e-4
    assert np.linalg.norm(drawn, axis=1).max() <= radius


def test_twenty_dimensional_moments_match_the_radial_law() -> None:
    precision, d, radius = 9.0, 20, 1.0
    law = TruncatedGaussian(precision * np.eye(d), np.zeros(d), radius)
    drawn = law.sample(40_000, np.random.default_rng(7))
    r = np.linspace(0, radius, 200_001)[1:]
    density = r ** (d - 1) * np.exp(-precision * r**2 / 2)
    expected = float((density @ r**2) / density.sum())
    squares = np.square(drawn).sum(axis=1)
    assert squares.mean() == pytest.approx(expected, abs=4 * squares.std() / 200)
    assert np.abs(drawn.mean(axis=0)).max() < 5 * drawn.std() / 200


def test_a_wide_ball_leaves_the_gaussian_as_it_is() -> None:
    precision, shift = np.array([[50.0, 5.0], [5.0, 80.0]]), np.array([10.0, 4.0])
    law = TruncatedGaussian(precision, shift, 100.0)
    assert law.kappa == 0
    assert law.mode == pytest.approx(np.linalg.solve(precision, shift))
    drawn = law.sample(40_000, np.random.default_rng(8))
    assert np.cov(drawn.T) == pytest.approx(np.linalg.inv(precision), rel=0.05, abs=5e-5)


def test_the_mode_lies_on_the_sphere_if_the_mean_lies_outside() -> None:
    law = TruncatedGaussian(np.diag([4.0, 1.0]), np.array([8.0, 3.0]), 1.0)
    angles = np.linspace(0, 2 * np.pi, 100_001)
    circle = np.column_stack([np.cos(angles), np.sin(angles)]) * (1 - 1e-12)
    assert law.mode == pytest.approx(circle[law.log_kernel(circle).argmax()], abs=1e-4)


def test_no_other_kappa_is_kept_more_often() -> None:
    law = TruncatedGaussian(np.diag([0.5, 2.0, 9.0]), np.array([1.0, 5.0, 2.0]), 1.0)
    best = law.acceptance(200_000, np.random.default_rng(9))
    for factor in (0.5, 2.0):
        other = TruncatedGaussian(law.precision, law.shift, law.radius)
        other.__dict__["kappa"] = law.kappa * factor
        assert other.acceptance(200_000, np.random.default_rng(9)) < best


@pytest.mark.parametrize("precision", [1.0, 100.0, 500.0, 1e3, 1e4, 1e5])
def test_every_setting_of_the_papers_second_figure_keeps_at_least_one_draw_in_fifty(precision: float) -> None:
    """37,000 records, 14 features, noise variance 1, ||w|| <= 10/sqrt(b) (Zhang et al. 2016, figure 2)."""
    generator, size, d = np.random.default_rng(10), 37_000, 14
    x = generator.uniform(-1, 1, (size, d)) / np.sqrt(d)
    y = np.clip(x @ generator.normal(0, 1, d) * 0.5 + generator.normal(0, 0.3, size), -1, 1)
    law = TruncatedGaussian(x.T @ x + precision * np.eye(d), x.T @ y, 10 / np.sqrt(precision))
    kept = law.acceptance(20_000, generator)
    print(f"b = {precision:g}: {kept:.1%} kept")
    assert kept >= 0.02


def test_nonsense_is_refused() -> None:
    for precision, shift, radius in (
        (np.eye(2), np.zeros(3), 1.0),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), np.zeros(2), 1.0),
        (-np.eye(2), np.zeros(2), 1.0),
        (np.eye(2), np.zeros(2), 0.0),
    ):
        with pytest.raises(dc.DeclarationError):
            TruncatedGaussian(precision, shift, radius)
