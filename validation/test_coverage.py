"""Do 90 % intervals cover 90 %? Exactly for two levels, by simulation for more; plug-in intervals beside."""

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.special import betainc
from scipy.stats import betabinom

import discreet as dc


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
        joint = chances * np.exp(mechanism.log_likelihood(release.counts, np.column_stack([size - counts, counts])))
        readings = (dc.infer(release).probability(1), dc.plug_in(release).marginal(1))
        inside = [np.diff(betainc(1 + counts[:, None], 1 + size - counts[:, None], r.interval(0.9))) for r in readings]
        aware += float(joint @ inside[0][:, 0])
        naive += float(joint @ inside[1][:, 0])
    print(f"\n2 levels, n = {size}, epsilon = {epsilon}: noise-aware {aware:.8f}, plug-in {naive:.3f}")
    assert aware == pytest.approx(0.9, abs=1e-6)


@pytest.mark.parametrize("kind", [dc.GeometricHistogram, dc.DiscreteLaplaceCounts])
@pytest.mark.parametrize("levels", [3, 10])
@pytest.mark.parametrize(("size", "epsilon"), [(100, "0.1"), (100, "0.5"), (1000, "0.1"), (1000, "1")])
def test_more_levels_are_covered_in_simulation(
    kind: type[dc.GeometricHistogram], levels: int, size: int, epsilon: str
) -> None:
    """Parameters from the prior, records, release, reading: 4,000 times, all levels pooled, clustered errors."""
    repeats = 4_000
    mechanism = kind(model_of(levels), size=size, epsilon=epsilon)
    generator, bits = np.random.default_rng(20261115), dc.SeededBits(20261115)
    theta = generator.dirichlet(np.ones(levels), size=repeats)
    outputs = mechanism.sample(generator.multinomial(size, theta), bits)
    aware, naive = np.empty((2, repeats))
    for number, (truth, output) in enumerate(zip(theta, outputs, strict=True)):
        release = dc.Release(mechanism, tuple(int(v) for v in output), "simulated", simulated=True)
        posterior, plugged = dc.infer(release), dc.plug_in(release)
        below = [float(posterior.probability(level).cdf(truth[level])) for level in range(levels)]
        plugged_below = [float(plugged.marginal(level).cdf(truth[level])) for level in range(levels)]
        aware[number] = np.mean([0.05 <= p <= 0.95 for p in below])
        naive[number] = np.mean([0.05 <= p <= 0.95 for p in plugged_below])
    error = aware.std() / np.sqrt(repeats)
    print(
        f"\n{kind.__name__}, {levels} levels, n = {size}, epsilon = {epsilon}: "
        f"noise-aware {aware.mean():.4f} +/- {error:.4f}, plug-in {naive.mean():.3f}"
    )
    assert abs(aware.mean() - 0.9) <= 3.5 * error


@pytest.mark.parametrize("levels", [3, 10])
def test_ranks_are_uniform(levels: int) -> None:
    """Simulation-based calibration: the place of the truth among the posterior is uniform."""
    repeats = 4_000
    mechanism = dc.GeometricHistogram(model_of(levels), size=200, epsilon="0.3")
    generator, bits = np.random.default_rng(7), dc.SeededBits(7)
    theta = generator.dirichlet(np.ones(levels), size=repeats)
    outputs = mechanism.sample(generator.multinomial(200, theta), bits)
    places = [
        float(dc.infer(dc.Release(mechanism, tuple(map(int, z)), "s", simulated=True)).probability(0).cdf(t[0]))
        for t, z in zip(theta, outputs, strict=True)
    ]
    observed = np.histogram(places, bins=20, range=(0, 1))[0]
    from scipy.stats import chisquare

    p_value = chisquare(observed).pvalue
    print(f"\n{levels} levels: calibration p = {p_value:.3f}")
    assert p_value > 1e-3
