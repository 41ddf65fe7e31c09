"""The ensemble samples what it is told to, and its diagnostics tell good chains from bad ones."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kstest

from discreet.reading.ensemble import Ensemble, effective_size, r_hat

Floats = NDArray[np.float64]


class Wide:
    """A proposal far wider than the target."""

    def __init__(self, width: float) -> None:
        self.width = width

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        return generator.normal(0, self.width, size=(count, 3))

    def log_density(self, states: Floats) -> Floats:
        return np.asarray(-np.square(states / self.width).sum(axis=-1) / 2)


def log_target(states: Floats) -> Floats:
    """Return the log density of a correlated Gaussian cut off at zero in the first coordinate."""
    x, y, z = states.T
    inside = np.where(x > 0, 0.0, -np.inf)
    return np.asarray(inside - x**2 / 2 - (y - x) ** 2 / 0.02 - (z + 3) ** 2 / 2)


@pytest.mark.parametrize("width", [3.0, 300.0])
def test_the_ensemble_follows_its_target(width: float) -> None:
    generator = np.random.default_rng(1)
    start = np.abs(generator.normal(size=(64, 3)))
    ensemble = Ensemble(log_target, start, Wide(width), generator)
    ensemble.run(500)
    chains = ensemble.run(1500)
    assert r_hat(chains).max() < 1.02
    sizes = effective_size(chains)
    assert sizes.min() > 1000
    thin = chains[::50].reshape(-1, 3)
    assert kstest(thin[:, 0], "halfnorm").pvalue > 1e-4
    assert kstest(thin[:, 2] + 3, "norm").pvalue > 1e-4
    assert (thin[:, 1] - thin[:, 0]).std() == pytest.approx(0.1, rel=0.1)


def test_r_hat_tells_walkers_that_disagree() -> None:
    generator = np.random.default_rng(2)
    good = generator.normal(size=(500, 8, 2))
    stuck = good + np.arange(8)[:, None]
    drifting = good + np.linspace(0, 3, 500)[:, None, None]
    assert r_hat(good).max() < 1.01
    assert r_hat(stuck).min() > 1.5
    assert r_hat(drifting).min() > 1.1


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_the_effective_size_is_that_of_an_autoregression(memory: float) -> None:
    generator = np.random.default_rng(3)
    chains = np.empty((4000, 10, 1))
    chains[0] = generator.normal(size=(10, 1))
    for step in range(1, 4000):
        chains[step] = memory * chains[step - 1] + np.sqrt(1 - memory**2) * generator.normal(size=(10, 1))
    expected = 40_000 * (1 - memory) / (1 + memory)
    assert effective_size(chains)[0] == pytest.approx(expected, rel=0.15)
