"""The discrete stable law: against its closed form in balls, its generating function, and slow sums."""

import numpy as np
import pytest
from flint import arb, ctx

from discreet.choices._posterior_distances import UNIT
from discreet.choices._stable_distribution import LOG_ERROR, chord_weights, log_probabilities

NUMBERS = np.array([0, 1, 2, 5, 30, 63, 100, 127, 128, 129, 140, 200, 511, 1_000, 5_000, 50_000, 10**6, 10**7])


def closed_form(scale: float, k: int) -> arb:
    """Return ln of sqrt(2c/pi) (c/2)^k K_{k-1/2}(c) / k!."""
    c = arb(scale)
    return ((2 * c / arb.pi()).sqrt() * c.bessel_k(arb(k) - arb(0.5))).log() + k * (c / 2).log() - arb(k + 1).lgamma()


@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0, 4.0, 15.0, 71.0, 324.0, 3_000.0, 30_000.0])
def test_probabilities_are_those_of_the_closed_form(scale: float) -> None:
    found = log_probabilities(scale, NUMBERS)
    with ctx.workprec(300):
        for k, log in zip(NUMBERS.tolist(), found.tolist(), strict=True):
            assert abs(closed_form(scale, k) - arb(log)) <= LOG_ERROR + 8 * UNIT * scale


@pytest.mark.parametrize("scale", [0.05, 1.0, 6.0, 40.0])
def test_the_powers_sum_to_the_exponential_of_the_distance(scale: float) -> None:
    k = np.arange(60_000)
    logs = log_probabilities(scale, k)
    for affinity in (0.0, 0.1, 0.5, 0.9, 0.999):
        terms = logs + k * np.log(max(affinity, 1e-300))
        assert np.logaddexp.reduce(terms) == pytest.approx(-scale * np.sqrt(1 - affinity), abs=1e-11)


def test_probabilities_fall_slowly() -> None:
    """p_{k+1} >= p_k (1 - 3/(2 (k + 1))), on which the bounds between known numbers rest."""
    for scale in (0.1, 2.0, 30.0):
        k = np.arange(1, 5_000)
        p = log_probabilities(scale, np.append(k, 5_000))
        assert (np.diff(p) >= np.log1p(-1.5 / (k + 1)) - 1e-12).all()


@pytest.mark.parametrize("scale", [0.01, 0.3, 4.0, 15.0, 324.0, 3_000.0])
@pytest.mark.parametrize("growth", [1.1, 1.8, 3.0])
def test_chords_lie_above_the_exponential_everywhere(scale: float, growth: float) -> None:
    nodes = [0]
    while nodes[-1] < max(256, scale**2):
        nodes.append(max(nodes[-1] + 1, int(nodes[-1] * growth)))
    logs = chord_weights(scale, np.array(nodes))
    gaps = np.concatenate([[0.0], np.geomspace(1e-9, 2 * scale + 800, 3_000)])  # -ln b
    above = np.logaddexp.reduce(logs - np.array(nodes) * gaps[:, None], axis=1)
    assert (above + scale * np.sqrt(-np.expm1(-gaps)) >= -1e-13 * (1 + scale)).all()
    assert 0 <= np.logaddexp.reduce(logs) < 2e-3  # b = 1: no more than 0.2 per cent above


def test_weights_of_chords_are_sums_of_hats() -> None:
    scale, nodes = 5.0, np.array([0, 1, 2, 3, 5, 9, 20, 60, 200, 700])
    k = np.arange(700)
    p = np.exp(log_probabilities(scale, k))
    slow = np.array([(p * np.interp(k, nodes, hat)).sum() for hat in np.eye(len(nodes))])
    slow[-1] += 1 - p.sum()
    assert np.exp(chord_weights(scale, nodes)) == pytest.approx(slow, rel=1e-6)
    assert (np.exp(chord_weights(scale, nodes)) >= slow * (1 - 1e-13)).all()


@pytest.mark.parametrize("scale", [0.01, 1.0, 7.0, 60.0, 1_000.0])
def test_no_number_has_more_than_its_share(scale: float) -> None:
    """At most 1/2 for k p_k, as the p from k on add up to 2 k p_k or more."""
    k = np.arange(1, 400_000)
    assert (np.log(k) + log_probabilities(scale, k)).max() < np.log(0.5)
