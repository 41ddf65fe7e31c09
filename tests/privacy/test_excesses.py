"""The delta of listed laws is the sum that defines it: by probabilities at small epsilons, by logarithms at large."""

from math import exp, fsum

import numpy as np
import pytest

import discreet as dc
from discreet.privacy import Enumeration, enumerate_neighbours

COIN = dc.Categories("x", levels=("a", "b"), outside="a")
OUTPUTS = np.array([(z, 4 - z) for z in range(-30, 35)])


def listed(rate: int) -> Enumeration:
    mechanism = dc.GeometricHistogram(COIN, 4, rate)
    return enumerate_neighbours(mechanism.log_prob, 4, 2, OUTPUTS)


def slow(found: Enumeration, epsilon: float) -> float:
    """Return the largest sum over outputs of max(0, P - e^epsilon Q), one output at a time."""
    both = [pair for i, j in found.data_sets.pairs for pair in ((i, j), (j, i))]
    logs = found.log_probs
    return max(
        fsum(exp(p) * max(0.0, 1 - exp(min(0.0, epsilon + q - p))) for p, q in zip(logs[i], logs[j], strict=True))
        for i, j in both
    )


@pytest.mark.parametrize(
    ("rate", "epsilon"), [(1, 0.0), (1, 0.3), (1, 0.95), (2, 1.9), (40, 29.0), (40, 31.0), (40, 39.0)]
)
def test_the_delta_that_is_found_is_the_sum_that_defines_it(rate: int, epsilon: float) -> None:
    found = listed(rate)
    wanted = slow(found, epsilon)
    assert wanted > 0
    assert found.delta_found(epsilon) == pytest.approx(wanted, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("rate", [1, 40])
def test_at_the_stated_epsilon_nothing_is_left(rate: int) -> None:
    assert listed(rate).delta_found(rate) < 1e-14
