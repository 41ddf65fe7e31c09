"""The diagnostics tell good chains from bad ones."""

import numpy as np
import pytest

from discreet.mathematics.convergence import effective_size, split_r_hat


def test_r_hat_tells_walkers_that_disagree() -> None:
    generator = np.random.default_rng(2)
    good = generator.normal(size=(8, 500, 2))
    stuck = good + np.arange(8)[:, None, None]
    drifting = good + np.linspace(0, 3, 500)[:, None]
    assert split_r_hat(good).max() < 1.01
    assert split_r_hat(stuck).min() > 1.5
    assert split_r_hat(drifting).min() > 1.1


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.9])
def test_the_effective_size_is_that_of_an_autoregression(memory: float) -> None:
    generator = np.random.default_rng(3)
    chains = np.empty((10, 4000, 1))
    chains[:, 0] = generator.normal(size=(10, 1))
    for step in range(1, 4000):
        chains[:, step] = memory * chains[:, step - 1] + np.sqrt(1 - memory**2) * generator.normal(size=(10, 1))
    expected = 40_000 * (1 - memory) / (1 + memory)
    assert effective_size(chains)[0] == pytest.approx(expected, rel=0.15)
