"""Do 90 % intervals of private regressions cover 90 %? Two hundred data sets for each setting, plug-in beside."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.as_published.regression_points import plug_in_regression
from discreet.inference.regression import read_regression
from discreet.mechanisms.box_moments import BoxMoments, NoisyMoments
from discreet.mechanisms.gaussian_moments import GaussianMoments
from discreet.mechanisms.laplace_moments import LaplaceMoments
from discreet.models.linear_regression import InverseGamma, LinearRegression
from discreet.models.moments import Wholes

NAMES = ("a", "b", "c")
SIGMA, PRIOR_SD, REPEATS = 0.2, 0.3, 200


def model_of(noise: str | InverseGamma = "0.2") -> LinearRegression:
    bounds = dict.fromkeys((*NAMES, "y"), (-1, 1))
    return LinearRegression("y", NAMES, bounds, Fraction(100, 9), noise=noise, intercept=False)


def moments_of(model: LinearRegression, size: int, w: NDArray[np.float64], generator: np.random.Generator) -> Wholes:
    u = generator.uniform(-1, 1, (size, 3))
    y = np.clip(u @ w / np.sqrt(3) + generator.normal(0, SIGMA, size), -1, 1)
    return model.rehearse(dict(zip((*NAMES, "y"), (*u.T.tolist(), y.tolist()), strict=True)))


def coverage(mechanism: NoisyMoments, seed: int) -> tuple[float, float, float]:
    """Return the coverage of noise-aware and of plug-in 90 % intervals, pooled over coefficients, and the rmse."""
    generator, bits, model = np.random.default_rng(seed), dc.SeededBits(seed), mechanism.model
    aware, plugged, errors = [], [], []
    for repeat in range(REPEATS):
        w = generator.normal(0, PRIOR_SD, 3)
        release = dc.simulate(mechanism, moments_of(model, mechanism.size, w, generator), bits)
        posterior, naive = read_regression(release, seed=repeat), plug_in_regression(release)
        intervals = posterior.interval(0.9)
        for name, truth in zip(NAMES, w / np.sqrt(3), strict=True):
            mean, sd = naive[name]
            aware.append(intervals[name].low <= truth <= intervals[name].high)
            plugged.append(abs(mean - truth) <= 1.6449 * sd)
            errors.append(np.sqrt(3) * (posterior.mean[name] - truth))
    return float(np.mean(aware)), float(np.mean(plugged)), float(np.sqrt(np.mean(np.square(errors))))


@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
@pytest.mark.parametrize("size", [1000, 10_000])
@pytest.mark.parametrize("epsilon", ["0.5", "1", "5"])
def test_noise_aware_intervals_cover_what_they_say(size: int, epsilon: str) -> None:
    aware, plugged, error = coverage(BoxMoments(model_of(), size, epsilon), seed=20261115)
    print(f"\nBoxMoments, n = {size}, epsilon = {epsilon}: aware {aware:.3f}, plug-in {plugged:.3f}, rmse {error:.4f}")
    assert 0.85 <= aware <= 0.95


@pytest.mark.filterwarnings("ignore::discreet.LittleInformationWarning")
@pytest.mark.parametrize("kind", ["Laplace", "Gaussian", "unknown noise"])
def test_other_mechanisms_and_unknown_noise_are_covered_too(kind: str) -> None:
    mechanisms: dict[str, NoisyMoments] = {
        "Laplace": LaplaceMoments(model_of(), 10_000, 1),
        "Gaussian": GaussianMoments(model_of(), 10_000, 1, "1e-8"),
        "unknown noise": BoxMoments(model_of(InverseGamma(2, "0.08")), 10_000, 1),
    }
    aware, plugged, error = coverage(mechanisms[kind], seed=20261116)
    print(f"\n{kind}, n = 10000, epsilon = 1: aware {aware:.3f}, plug-in {plugged:.3f}, rmse {error:.4f}")
    assert 0.85 <= aware <= 0.95
