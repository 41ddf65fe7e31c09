"""Do intervals of conditional probabilities cover what they say? Parameters from the prior, release, exact reading."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

import discreet as dc
from discreet.inference.network import read_network
from discreet.inference.projection import truncated_reading
from discreet.mechanisms.cube_counts import CubeCounts
from discreet.mechanisms.family_gaussians import FamilyGaussians
from discreet.mechanisms.family_histograms import FamilyHistograms
from discreet.mechanisms.joint_histograms import JointHistograms
from discreet.mechanisms.laplace_updates import LaplaceUpdates
from discreet.models.network import Network

DATA_SETS = 200
FEATURES = [f"x{number}" for number in range(6)]
NAIVE = Network.naive_bayes("y", FEATURES, dict.fromkeys(["y", *FEATURES], (0, 1)))
CHAIN = Network.from_edges("a -> b -> c", "b -> d", levels=dict.fromkeys("abcd", (0, 1)))


def gaussians(network: Network, size: int, epsilon: str) -> FamilyGaussians:
    return FamilyGaussians(network, size, epsilon, "1e-6")


def tables_from_prior(network: Network, generator: np.random.Generator) -> dict[str, NDArray[np.float64]]:
    rows = {name: 2 if above else 1 for name, above in zip(_names(network), network.parents, strict=True)}
    return {name: generator.dirichlet(np.ones(2), size=count) for name, count in rows.items()}


def _names(network: Network) -> list[str]:
    return [variable.name for variable in network.variables]


def counts_of(
    network: Network, tables: dict[str, NDArray[np.float64]], size: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    codes: dict[str, NDArray[np.int64]] = {}
    for name, above in zip(_names(network), network.parents, strict=True):
        row = codes[above[0]] if above else np.zeros(size, dtype=np.int64)
        codes[name] = (generator.random(size) < tables[name][row, 1]).astype(np.int64)
    parts = []
    for family in network.maximal_families:
        flat = np.ravel_multi_index([codes[name] for name in family], network.shape(family))
        parts.append(np.bincount(flat, minlength=2 ** len(family)))
    return np.concatenate(parts)


def places_of_truth(
    network: Network, kind: Any, size: int, epsilon: str, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return where the true conditional probabilities lie in their posteriors, and in plug-in ones, by data set."""
    generator, bits = np.random.default_rng(seed), dc.SeededBits(seed)
    mechanism, aware, plugged = kind(network, size, epsilon), [], []
    for _ in range(DATA_SETS):
        truth = tables_from_prior(network, generator)
        release = dc.simulate(mechanism, counts_of(network, truth, size, generator), bits)
        posterior = read_network(release)
        drawn = posterior.readings[0].shapes(400, generator)
        naive = truncated_reading(release).tables
        inside, outside = [], []
        for name, above in zip(_names(network), network.parents, strict=True):
            if above:
                a, b = drawn[name][..., 1], drawn[name][..., 0]
                inside.append([_below(truth[name][row, 1], a[:, row], b[:, row]) for row in range(2)])
                one, zero = 1 + naive[name][:, 1], 1 + naive[name][:, 0]
                outside.append([_below(truth[name][row, 1], one[[row]], zero[[row]]) for row in range(2)])
        aware.append(np.ravel(inside))
        plugged.append(np.ravel(outside))
    return np.array(aware), np.array(plugged)


def _below(truth: float, a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(dc.BetaMixture(np.full(len(a), 1 / len(a)), a, b).cdf(truth))


SETTINGS = [
    pytest.param(NAIVE, CubeCounts, 100, "1", id="cube, 100 records"),
    pytest.param(NAIVE, CubeCounts, 400, "0.2", id="cube, 400 records"),
    pytest.param(NAIVE, FamilyHistograms, 200, "1", id="histograms"),
    pytest.param(NAIVE, LaplaceUpdates, 200, "2", id="updates"),
    pytest.param(NAIVE, gaussians, 200, "1", id="gaussians"),
    pytest.param(NAIVE, JointHistograms, 40, "1", id="joint"),
    pytest.param(CHAIN, FamilyHistograms, 100, "1", id="tree, histograms"),
    pytest.param(CHAIN, LaplaceUpdates, 100, "1", id="tree, updates"),
]


@pytest.mark.parametrize(("network", "kind", "size", "epsilon"), SETTINGS)
def test_conditional_probabilities_are_covered_and_ranks_are_uniform(
    network: Network, kind: Any, size: int, epsilon: str
) -> None:
    """Pooled over all conditional probabilities; standard errors are clustered by data set.

    The ranks of one conditional probability of each data set are independent; these must be uniform.
    """
    aware, plugged = places_of_truth(network, kind, size, epsilon, seed=20261115)
    covered = ((aware >= 0.05) & (aware <= 0.95)).mean(axis=1)
    naive = ((plugged >= 0.05) & (plugged <= 0.95)).mean()
    error = covered.std(ddof=1) / np.sqrt(DATA_SETS)
    p_value = chisquare(np.histogram(aware[:, 0], bins=10, range=(0, 1))[0]).pvalue
    print(
        f"\n{len(network.variables)} variables, n = {size}, epsilon = {epsilon}: noise-aware {covered.mean():.3f} "
        f"+/- {error:.3f}, published truncation {naive:.3f}; calibration p = {p_value:.3f}"
    )
    assert abs(covered.mean() - 0.9) <= 3 * error
    assert p_value > 1e-3
