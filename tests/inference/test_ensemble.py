"""The ensemble samples what it is told to."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kstest

from discreet.mathematics.convergence import effective_size, split_r_hat
from discreet.reading.ensemble import Ensemble

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
    assert split_r_hat(chains.swapaxes(0, 1)).max() < 1.02
    assert effective_size(chains.swapaxes(0, 1)).min() > 1000
    thin = chains[::50].reshape(-1, 3)
    assert kstest(thin[:, 0], "halfnorm").pvalue > 1e-4
    assert kstest(thin[:, 2] + 3, "norm").pvalue > 1e-4
    assert (thin[:, 1] - thin[:, 0]).std() == pytest.approx(0.1, rel=0.1)
