"""Do intervals of graphs with loops cover what they say? Parameters from the prior, release, reading by chains.

Pooled 90 % intervals of all probabilities must cover between 85 and 95 %. `make validate` reads a quarter of the data
sets of `make validate-full`. Asia and alarm, and reading row by row, are looked at in `test_graph_calibration`.
"""

from functools import partial
from typing import Any

import numpy as np
import pytest
from kept_results import IS_FULL, kept, repeats

import discreet as dc
from discreet.networks import Network
from discreet.networks._simulate import counts_of, simulated_records, simulated_tables

LOOP = Network.from_edges("a -> b -> d", "a -> c -> d", levels=dict.fromkeys("abcd", (0, 1)), outside=0)
NAMES = [f"v{number}" for number in range(14)]
LARGE = Network.from_edges(
    *(f"v{p} -> v{c}" for c in range(2, 14) for p in (c - 1, c - 2)),
    levels={n: (0, 1, 2)[: 2 + (n > "v5")] for n in NAMES},
    outside={name: each[0] for name, each in ({n: (0, 1, 2)[: 2 + (n > "v5")] for n in NAMES}).items()},
)


def gaussians(network: Network, size: int, epsilon: str) -> dc.networks.FamilyGaussians:
    return dc.networks.FamilyGaussians(network, size, epsilon, "1e-6")


def share_covered(mechanism: Any, seed: int, number: int) -> float:
    """Return the share of probabilities that are covered in one data set."""
    network, generator = mechanism.model, np.random.default_rng([seed, number])
    truth = simulated_tables(network, generator)
    counts = counts_of(network, simulated_records(network, truth, mechanism.size, generator))
    release = dc.simulate(mechanism, counts, dc.SeededBits(seed * 1_000 + number))
    shapes = dc.infer(release).solutions[0].shapes(2_000, generator)
    inside = []
    for name, table in shapes.items():
        draws = generator.standard_gamma(table)
        low, high = np.quantile(draws / draws.sum(axis=-1, keepdims=True), (0.05, 0.95), axis=0)
        inside.append(((low <= truth[name]) & (truth[name] <= high)).ravel())
    return float(np.concatenate(inside).mean())


SETTINGS = [
    pytest.param(LOOP, dc.FamilyHistograms, 100, "1", 30, 6201, id="loop, histograms"),
    pytest.param(LOOP, gaussians, 400, "1", 30, 6202, id="loop, Gaussians"),
    pytest.param(LARGE, dc.FamilyHistograms, 1_000, "1", 40, 6203, id="14 variables, much noise"),
    pytest.param(LARGE, dc.FamilyHistograms, 20_000, "2", 40, 6204, id="14 variables, little noise"),
    pytest.param(LARGE, gaussians, 5_000, "1", 40, 6205, id="14 variables, Gaussians"),
]


@pytest.mark.parametrize(("network", "kind", "size", "epsilon", "data_sets", "seed"), SETTINGS)
def test_pooled_intervals_cover_what_they_say(
    network: Network, kind: Any, size: int, epsilon: str, data_sets: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chains stop at an R-hat of 1.05, which 90 % intervals hardly feel, so that many data sets can be read."""
    monkeypatch.setattr("discreet.inference._sampled_tables._WANTED_R_HAT", 1.05)
    monkeypatch.setattr("discreet.inference._sampled_tables._WANTED_SIZE", 100)
    mechanism, count = kind(network, size, epsilon), repeats(data_sets // 4, data_sets)
    name = f"{type(mechanism).__name__}, {len(network.variables)} variables, n = {size}, epsilon {epsilon}"
    shares = np.array(kept("graphs", name, seed, count, partial(share_covered, mechanism, seed)))
    error = shares.std(ddof=1) / np.sqrt(count)
    print(f"\n{name}, {count} data sets: {shares.mean():.3f} +/- {error:.3f}")
    assert (0.85 if IS_FULL else 0.8) <= shares.mean() <= (0.95 if IS_FULL else 1.0)
