"""Do intervals of graphs with loops cover what they say? Parameters from the prior, release, reading.

Pooled 90 % intervals of all probabilities must cover between 85 and 95 %.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.models.network import Network
from discreet.models.network_records import counts_of, made_up_records, made_up_tables

LOOP = Network.from_edges("a -> b -> d", "a -> c -> d", levels=dict.fromkeys("abcd", (0, 1)), outside=0)
NAMES = [f"v{number}" for number in range(14)]
LARGE = Network.from_edges(
    *(f"v{p} -> v{c}" for c in range(2, 14) for p in (c - 1, c - 2)),
    levels={n: (0, 1, 2)[: 2 + (n > "v5")] for n in NAMES},
    outside={name: each[0] for name, each in ({n: (0, 1, 2)[: 2 + (n > "v5")] for n in NAMES}).items()},
)


def gaussians(network: Network, size: int, epsilon: str) -> dc.FamilyGaussians:
    return dc.FamilyGaussians(network, size, epsilon, "1e-6")


def coverage(network: Network, kind: Any, size: int, epsilon: str, data_sets: int, seed: int) -> NDArray[np.float64]:
    """Return the share of probabilities that are covered, for each data set."""
    shares = []
    for number in range(data_sets):
        generator = np.random.default_rng([seed, number])
        truth = made_up_tables(network, generator)
        counts = counts_of(network, made_up_records(network, truth, size, generator))
        release = dc.simulate(kind(network, size, epsilon), counts, dc.SeededBits(seed + number))
        shapes = dc.infer(release).readings[0].shapes(2_000, generator)
        inside = []
        for name, table in shapes.items():
            draws = generator.standard_gamma(table)
            low, high = np.quantile(draws / draws.sum(axis=-1, keepdims=True), (0.05, 0.95), axis=0)
            inside.append(((low <= truth[name]) & (truth[name] <= high)).ravel())
        shares.append(np.concatenate(inside).mean())
    return np.array(shares)


SETTINGS = [
    pytest.param(LOOP, dc.FamilyHistograms, 100, "1", 30, id="loop by chains, histograms"),
    pytest.param(LOOP, gaussians, 400, "1", 30, id="loop by chains, Gaussians"),
    pytest.param(LARGE, dc.FamilyHistograms, 1_000, "1", 40, id="row by row, much noise"),
    pytest.param(LARGE, dc.FamilyHistograms, 20_000, "2", 40, id="row by row, little noise"),
    pytest.param(LARGE, gaussians, 5_000, "1", 40, id="row by row, Gaussians"),
]


@pytest.mark.parametrize(("network", "kind", "size", "epsilon", "data_sets"), SETTINGS)
def test_pooled_intervals_cover_what_they_say(
    network: Network, kind: Any, size: int, epsilon: str, data_sets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chains stop at an R-hat of 1.05, which 90 % intervals hardly feel, so that many data sets can be read."""
    monkeypatch.setattr("discreet.reading.counts.sampled._WANTED_R_HAT", 1.05)
    monkeypatch.setattr("discreet.reading.counts.sampled._WANTED_SIZE", 100)
    shares = coverage(network, kind, size, epsilon, data_sets, seed=20261116)
    error = shares.std(ddof=1) / np.sqrt(data_sets)
    print(f"\n{len(network.variables)} variables, n = {size}, epsilon = {epsilon}: {shares.mean():.3f} +/- {error:.3f}")
    assert 0.85 <= shares.mean() <= 0.95
