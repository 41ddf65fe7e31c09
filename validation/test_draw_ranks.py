"""Are draws of the further families, and draws within a rate, read right on average over the prior? Ranks say so.

Truth, records and release are drawn anew 60 times for each setting (`make validate-full`: 300); where the true
parameter lies in its posterior must be uniform (Kolmogorov and Smirnov, p above 1e-4), and 90 % intervals hold it about
nine times in ten.
"""

import warnings
from typing import Any

import numpy as np
import pytest
from kept_results import repeats
from scipy.stats import kstest

import discreet as dc

REPEATS = repeats(60, 300)
SETTINGS: dict[str, tuple[int, Any]] = {
    "Binomial": (
        371,
        dc.PosteriorSampling.tempered(
            dc.programs.families.BinomialProbability("x", 4, 2, 3, outside=0),
            size=150,
            epsilon=2,
            delta="1e-4",
            grid_bits=24,
        ),
    ),
    "LaplaceScale": (
        372,
        dc.PosteriorSampling.tempered(
            dc.programs.families.LaplaceScale("x", reach=6, bands=12, shape=4, rate=4, outside="usual"),
            size=150,
            epsilon=2,
            delta="1e-4",
        ),
    ),
    "NormalPrecision": (
        373,
        dc.PosteriorSampling.tempered(
            dc.programs.families.NormalPrecision("x", reach=4, bands=8, shape=4, rate=4, outside="usual"),
            size=150,
            epsilon=2,
            delta="1e-4",
        ),
    ),
    "Poisson within a rate": (
        374,
        dc.draws.RateTruncation.tempered(
            dc.PoissonRate("x", 5, 4, 4, outside=5), size=150, epsilon=3, lowest="0.2", highest=3
        ),
    ),
    "Exponential within a rate": (
        375,
        dc.draws.RateTruncation.at_rate(
            dc.ExponentialRate("x", high=8, bands=16, shape=4, rate=8, outside="usual"), size=150, epsilon=3
        ),
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_true_parameter_ranks_uniformly(name: str) -> None:
    seed, mechanism = SETTINGS[name]
    generator, bits = np.random.default_rng(seed), dc.SeededBits(seed)
    places = []
    for _ in range(REPEATS):
        made = mechanism.model.simulate(mechanism.size, generator)
        release = dc.simulate(mechanism, made.statistics, bits)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            places.append(dc.infer(release).cdf(made.truth[0]))
    inside = float(np.mean([0.05 <= place <= 0.95 for place in places]))
    found = kstest(places, "uniform").pvalue
    print(f"{name}: {inside:.3f} within 90 % intervals, p = {found:.3g}")
    assert found > 1e-4
    assert inside > 0.9 - 4 * (0.09 / REPEATS) ** 0.5
