"""Are networks read right on average over the prior? Ranks of true conditional probabilities among exact draws.

Naive Bayes, cube noise and trees are read exactly; the ranks of the truth among independent draws are uniform then.
Beside it the published reading, which cuts noisy counts to what counts can be and takes them for true.
"""

from functools import partial
from typing import Any

import numpy as np
import pytest
from rank_tests import DRAWS, Places, Setting, judge, rank

import discreet as dc
from discreet.networks import Network
from discreet.networks._simulate import counts_of, simulated_records, simulated_tables
from discreet_papers.as_published.laplace_updates import LaplaceUpdates
from discreet_papers.as_published.projection import truncated_reading

FEATURES = [f"x{number}" for number in range(6)]
NAIVE = Network.naive_bayes("y", FEATURES, dict.fromkeys(["y", *FEATURES], (0, 1)), outside=0)
WIDER = Network.naive_bayes("y", FEATURES[:4], dict.fromkeys(["y", *FEATURES[:4]], (0, 1, 2)), outside=0)
TREE = Network.from_edges("a -> b -> c", "b -> d", levels=dict.fromkeys("abcd", (0, 1)), outside=0)


def read(mechanism: Any, generator: np.random.Generator, bits: dc.SeededBits) -> Places:
    """Return the places of P(first level | each row) of every variable with parents."""
    network = mechanism.model
    truth = simulated_tables(network, generator)
    counts = counts_of(network, simulated_records(network, truth, mechanism.size, generator))
    release = dc.simulate(mechanism, counts, bits)
    drawn, naive = dc.infer(release).draws(DRAWS, seed=1), truncated_reading(release).tables
    aware: list[float] = []
    plugged: list[float] = []
    for variable, above, prior in zip(network.variables, network.parents, network.prior, strict=True):
        if above:
            levels = len(variable.levels)
            ours, shapes = drawn[variable.name].reshape(DRAWS, -1, levels), np.array(prior) + naive[variable.name]
            for row, shares in enumerate(truth[variable.name]):
                taken = generator.dirichlet(shapes.reshape(-1, levels)[row], size=DRAWS)
                aware.append(rank(shares[0], ours[:, row, 0]))
                plugged.append(rank(shares[0], taken[:, 0]))
    return aware, plugged


NETWORKS = [
    ("naive Bayes, CubeCounts, n = 100", dc.CubeCounts(NAIVE, 100, 1)),
    ("naive Bayes, CubeCounts, n = 200", dc.CubeCounts(NAIVE, 200, "0.5")),
    ("naive Bayes, FamilyHistograms", dc.FamilyHistograms(NAIVE, 200, 1)),
    ("naive Bayes, LaplaceUpdates", LaplaceUpdates(NAIVE, 200, 2)),
    ("naive Bayes, FamilyGaussians", dc.networks.FamilyGaussians(NAIVE, 200, 1, "1e-6")),
    ("naive Bayes, JointHistograms", dc.networks.JointHistograms(NAIVE, 40, 1)),
    ("naive Bayes of three levels, FamilyHistograms", dc.FamilyHistograms(WIDER, 500, 2)),
    ("tree, FamilyHistograms", dc.FamilyHistograms(TREE, 100, 1)),
    ("tree, LaplaceUpdates", LaplaceUpdates(TREE, 100, 1)),
    ("tree, FamilyGaussians", dc.networks.FamilyGaussians(TREE, 200, 1, "1e-6")),
]
SETTINGS = [Setting(name, seed, partial(read, mechanism)) for seed, (name, mechanism) in enumerate(NETWORKS, start=341)]


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_true_conditional_probabilities_rank_uniformly(setting: Setting) -> None:
    judge("ranks", setting)
