"""A million draws of each sampler against its exact law, and against a peer's sampler."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, chisquare

import discreet as dc
from discreet.noise import balanced_noise
from discreet.noise.randomness._samplers import discrete_laplace

DRAWS = 10**6


def pooled(observed: NDArray[np.int64], law: NDArray[np.float64]) -> float:
    keep = law * DRAWS >= 20
    seen = np.append(observed[keep], DRAWS - observed[keep].sum())
    wanted = np.append(law[keep], 1 - law[keep].sum()) * DRAWS
    return float(chisquare(seen, wanted).pvalue)


@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1, 2), Fraction(1), Fraction(3)])
def test_discrete_laplace(rate: Fraction) -> None:
    opendp = pytest.importorskip("opendp.prelude")
    opendp.enable_features("contrib")
    values = np.arange(-2000, 2001)
    law = np.tanh(float(rate) / 2) * np.exp(-float(rate) * np.abs(values))
    drawn = discrete_laplace(rate, DRAWS, dc.SeededBits(2026))
    ours = np.bincount(np.clip(drawn, -2000, 2000) + 2000, minlength=4001)
    p_exact = pooled(ours, law)
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64")
    peer = np.array(opendp.m.make_laplace(*space, scale=float(1 / rate))([0] * DRAWS))
    theirs = np.bincount(np.clip(peer, -2000, 2000) + 2000, minlength=4001)
    common = law * DRAWS >= 20
    p_peer = float(chi2_contingency(np.stack([ours[common], theirs[common]])).pvalue)
    print(f"\nrate {rate}: against the exact law p = {p_exact:.3f}, against opendp's sampler p = {p_peer:.3f}")
    assert p_exact > 1e-4
    assert p_peer > 1e-6  # the peer's bits cannot be seeded


@pytest.mark.parametrize("cells", [2, 3, 4])
def test_geometric_histogram(cells: int) -> None:
    mechanism = dc.GeometricHistogram(dc.Categories("x", levels=tuple(range(cells)), outside=0), size=1, epsilon=1)
    noise = balanced_noise(Fraction(1), cells, DRAWS, dc.SeededBits(2027))
    seen, observed = np.unique(noise, axis=0, return_counts=True)
    law = np.exp(mechanism.log_prob(seen, np.zeros(cells, dtype=np.int64)))
    p_value = pooled(observed, law)
    print(f"\n{cells} cells: p = {p_value:.3f}")
    assert p_value > 1e-4
