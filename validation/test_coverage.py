"""Do 90 % intervals of two levels cover 90 % on average over the prior? Exactly, by a sum; plug-in intervals beside."""

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import betabinom

import discreet as dc
from discreet_papers import as_published


@pytest.fixture(autouse=True)
def _little_information_is_expected() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.LittleInformationWarning)
        yield


def model_of(levels: int) -> dc.Categories:
    return dc.Categories("x", levels=tuple(range(levels)), prior=1, outside=0)


@pytest.mark.parametrize("size", [20, 100, 1000])
@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1"])
def test_two_levels_are_covered_exactly(size: int, epsilon: str) -> None:
    """Sum over all true counts and outputs: P(theta in interval) = sum_k P(k) sum_z P(z | k) P(theta in I(z) | k)."""
    mechanism = dc.GeometricHistogram(model_of(2), size=size, epsilon=epsilon)
    reach = int(np.ceil(40 / float(mechanism.epsilon)))
    counts = np.arange(size + 1)
    chances = betabinom.pmf(counts, size, 1, 1)
    aware = naive = 0.0
    for z in range(-reach, size + reach + 1):
        release = dc.Release(mechanism, (size - z, z), "exact", simulated=True)
        joint = chances * np.exp(mechanism.log_prob(release.counts, np.column_stack([size - counts, counts])))
        readings = (dc.infer(release).probability(1), as_published.plug_in(release).marginal(1))
        inside = [np.diff(betainc(1 + counts[:, None], 1 + size - counts[:, None], r.interval(0.9))) for r in readings]
        aware += float(joint @ inside[0][:, 0])
        naive += float(joint @ inside[1][:, 0])
    print(f"\n2 levels, n = {size}, epsilon = {epsilon}: noise-aware {aware:.8f}, plug-in {naive:.3f}")
    assert aware == pytest.approx(0.9, abs=1e-6)
