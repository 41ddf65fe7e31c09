"""Releases with cone noise are read through its generator: the same posterior as by integrating its density."""

import numpy as np
import pytest

import discreet as dc
from cone_twin import density
from discreet.regression import ConeMoments

SIGMA, SIZE = 0.2, 60
LINE = dc.LinearRegression("y", ["x"], {"x": (-1, 1), "y": (-1, 1)}, noise="0.2", intercept=False, missing="middle")


def by_integration(mechanism: ConeMoments, output: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[float, float]:
    """Return mean and deviation of w: p(A, b | z) ~ 1[possible] N(b; 0, A^2 + sigma^2 A) f(z - (A, b)), on a grid."""
    square = LINE.grid**2
    noisy = output[0] / (2 * square), output[1] / square
    sums = np.linspace(0.05, SIZE, 130)
    products = noisy[1] + np.linspace(-24, 24, 121)
    a, b = np.meshgrid(sums, products, indexing="ij")
    spread = a**2 + SIGMA**2 * a
    weights = density(noisy[0] - a, noisy[1] - b, float(mechanism.epsilon))
    weights = weights * np.exp(-(b**2) / (2 * spread)) / np.sqrt(spread) * (b**2 < a * SIZE)
    weights /= weights.sum()
    means, variances = b / (a + SIGMA**2), SIGMA**2 / (a + SIGMA**2)
    mean = float((weights * means).sum())
    return mean, float(np.sqrt((weights * (variances + means**2)).sum() - mean**2))


@pytest.mark.parametrize(("epsilon", "seed"), [(1, 5), (3, 6)])
def test_the_posterior_of_a_slope_is_that_of_the_integrated_density(epsilon: int, seed: int) -> None:
    """Four Monte Carlo errors of some 4,000 draws: sd / sqrt(4000), and sd / sqrt(8000) of the deviation."""
    generator = np.random.default_rng(seed)
    x = generator.uniform(-1, 1, SIZE)
    data = {"x": x.tolist(), "y": np.clip(0.5 * x + generator.normal(0, SIGMA, SIZE), -1, 1).tolist()}
    mechanism = ConeMoments(LINE, SIZE, epsilon)
    release = dc.simulate(mechanism, LINE.rehearse(data), dc.SeededBits(seed))
    posterior = dc.infer(release)
    mean, deviation = by_integration(mechanism, np.array(release.output))
    worth = min(4000.0, posterior.effective_size)
    assert posterior.mean["x"] == pytest.approx(mean, abs=4 * deviation / np.sqrt(worth) + 0.01 * deviation)
    assert posterior.sd["x"] == pytest.approx(deviation, rel=4 / np.sqrt(2 * worth) + 0.02)


def test_two_releases_by_cone_noise_are_not_read_together_and_it_says_why() -> None:
    moments = LINE.rehearse({"x": [0.5] * SIZE, "y": [0.2] * SIZE})
    releases = [dc.simulate(ConeMoments(LINE, SIZE, 1), moments, dc.SeededBits(k), f"release {k}") for k in (1, 2)]
    with pytest.raises(dc.DeclarationError, match="no density"):
        dc.infer(*releases)
    with_box = dc.simulate(dc.regression.BoxMoments(LINE, SIZE, 1), moments, dc.SeededBits(3), "box")
    assert dc.infer(releases[0], with_box).sd["x"] < 1
