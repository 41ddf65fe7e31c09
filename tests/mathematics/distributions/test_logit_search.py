"""Quantiles of one mixture and of many are searched for in one place: against halving alone."""

import numpy as np
import pytest
from scipy.special import expit

from discreet._core.arrays import Floats
from discreet.mathematics.distributions._dirichlet import BetaMixture, logit_quantiles
from discreet.mathematics.distributions._mixture_batch import BetaRows, MixtureBatch

PROBABILITIES = (1e-12, 1e-7, 0.05, 0.3, 0.5)
LAWS = [
    BetaMixture(np.ones(1), np.array([3.0]), np.array([8.0])),
    BetaMixture(np.ones(1), np.array([0.2]), np.array([5.0])),
    BetaMixture(np.array([0.2, 0.8]), np.array([2.0, 900.0]), np.array([900.0, 2.0])),
    BetaMixture(np.full(300, 1 / 300), 10 + np.arange(300.0), 700 - np.arange(300.0)),
]


def halved(law: BetaMixture, probability: float) -> float:
    low, high = -700.0, 700.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if float(law.cdf(expit(middle))) < probability else (low, middle)
    return high


@pytest.mark.parametrize("law", LAWS, ids=["one", "one near 0", "two far apart", "three hundred"])
def test_quantiles_are_those_of_halving(law: BetaMixture) -> None:
    found = law.logit_quantile(PROBABILITIES)
    below = [probability for probability in PROBABILITIES if probability <= float(law.cdf(0.5))]
    assert found[: len(below)] == pytest.approx([halved(law, probability) for probability in below], rel=1e-9)
    assert law.cdf(expit(found)) == pytest.approx(PROBABILITIES, rel=1e-9)
    assert law.quantile([0.0, 1.0]).tolist() == [0.0, 1.0]


def test_one_mixture_and_a_row_of_many_have_the_same_quantiles() -> None:
    weights = np.random.default_rng(39).dirichlet(np.ones(40), size=3)
    batch = MixtureBatch([BetaRows.of(weights, [1.0, 30.0, 400.0], 1_000.0)])
    found, _ = batch.logit_quantiles(PROBABILITIES)
    for place in range(3):
        assert found[:, place] == pytest.approx(batch.row(place).logit_quantile(PROBABILITIES), rel=1e-11)


def test_a_search_without_a_slope_halves_and_still_arrives() -> None:
    def law(at: Floats, _: object) -> tuple[Floats, Floats]:
        return expit(at), np.zeros_like(at)  # no slope: every step leaves the bracket

    found, steps = logit_quantiles(law, np.array([0.25, 0.01]), np.array([600.0, -650.0]))
    assert expit(found) == pytest.approx([0.25, 0.01], abs=1e-12)
    assert (steps > 20).all()
