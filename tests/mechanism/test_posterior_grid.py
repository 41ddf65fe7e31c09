"""Draws on a grid follow their law exactly, and a draw that is close to an edge is decided by more bits."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb, ctx
from numpy.typing import NDArray
from scipy.stats import chisquare

import discreet as dc
from discreet.draws._truncation import Truncation
from discreet.mathematics.distributions._certified import (
    CertifiedBeta,
    CertifiedDistribution,
    CertifiedGamma,
    CertifiedNormal,
)
from discreet.mechanism import FARTHEST, GridDistribution, LazyUniform
from discreet.mechanism._grid import enclosing_integers

F = Fraction
LAWS: list[CertifiedDistribution] = [
    CertifiedBeta(F(3), F(2)),
    CertifiedBeta(F(1, 3), F(7, 2)),
    CertifiedBeta(F(4001, 10), F(300)),
    CertifiedGamma(F(5, 2), F(3)),
    CertifiedGamma(F(1, 2), F(1)),
    CertifiedNormal(F(-1, 3), F(2)),
]


class Words:
    """Bits that are given word by word."""

    def __init__(self, *words: int) -> None:
        self._words = list(words)

    def words(self, count: int) -> NDArray[np.uint64]:
        return np.array([self._words.pop(0) for _ in range(count)], dtype=np.uint64)


def bins(observed: NDArray[np.int64], chances: NDArray[np.float64], draws: int) -> float:
    """Return the p-value of a chi-square test, cells with small expectations pooled."""
    common = chances * draws >= 8
    counts = np.append(observed[common], draws - observed[common].sum())
    expected = np.append(chances[common], 1 - chances[common].sum()) * draws
    used = expected > 1e-6
    return float(chisquare(counts[used], expected[used] * counts[used].sum() / expected[used].sum()).pvalue)


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_draws_follow_the_mass_of_their_cells(law: CertifiedDistribution) -> None:
    drawn = GridDistribution(law, 4).sample(20_000, dc.SeededBits(7))
    cells, observed = np.unique(drawn, return_counts=True)
    chances = np.exp(law.log_mass(cells / 16, (cells + 1) / 16))
    assert bins(observed, chances, 20_000) > 1e-4


@pytest.mark.parametrize("law", LAWS, ids=repr)
def test_float_masses_agree_with_certified_ones(law: CertifiedDistribution) -> None:
    for grid_bits in (4, 12, 30):
        grid = GridDistribution(law, grid_bits)
        for probability in (0.001, 0.3, 0.5, 0.9, 0.9999):
            cell = min(max(int(law.guess(probability) * 2**grid_bits), grid.first), grid.last)
            with ctx.workprec(256):
                exact = float(grid.mass(cell, cell + 1).log())
            unit = 2.0**-grid_bits
            assert float(law.log_mass(cell * unit, (cell + 1) * unit)) == pytest.approx(exact, abs=1e-9)


def test_a_fine_grid_is_a_coarse_one_with_more_digits() -> None:
    """The same bits give the same real number, so its coarse cell is the fine one with digits cut off."""
    for law in LAWS:
        fine = GridDistribution(law, 30).sample(50, dc.SeededBits(3))
        coarse = GridDistribution(law, 5).sample(50, dc.SeededBits(3))
        assert (fine >> 25 == coarse).all()


def test_a_draw_next_to_an_edge_is_decided_by_further_bits() -> None:
    """P(V < 1/2) = 0.6875 = 0.1011 in binary for Beta(2, 3)."""
    law = GridDistribution(CertifiedBeta(F(2), F(3)), 1)
    edge, one = 0xB000000000000000, 0x0000000000000001
    assert law.sample(1, Words(edge, one)).tolist() == [1]
    assert law.sample(1, Words(edge - 1, 2**64 - 1, 0)).tolist() == [0]
    assert law.sample(1, Words(edge, 0, one)).tolist() == [1]


def test_ends_of_infinite_supports_take_all_that_lies_beyond() -> None:
    law = GridDistribution(CertifiedNormal(F(0), F(10**60)), 40)
    drawn = law.sample(8, dc.SeededBits(1))
    assert set(np.abs(drawn).tolist()) == {FARTHEST}


def test_restricted_laws_stay_inside_even_far_out_in_a_tail() -> None:
    drawn = GridDistribution(CertifiedBeta(F(10_001), F(1)), 32, first=2**10, last=2**31).sample(50, dc.SeededBits(1))
    assert (drawn <= 2**31).all()
    assert drawn.mean() / 2**32 == pytest.approx(0.5 * 10_001 / 10_002, abs=3e-5)


def test_unknown_shares_are_undecided() -> None:
    assert enclosing_integers(arb("nan"), 8) == (0, 256)
    uniform = LazyUniform(Words(2**63, 0))
    assert uniform.is_below(arb("0.5", "0.1")) is None
    assert uniform.is_below(arb("0.75")) is True
    assert uniform.is_below(arb("0.25")) is False
    assert uniform.about == pytest.approx(0.5)


@pytest.mark.parametrize("cells", [2, 3, 4])
def test_truncation_counts_exactly_the_vectors_with_all_probabilities_large_enough(cells: int) -> None:
    least, grid_bits = F(1, 9), 3
    truncation = Truncation(cells, least, grid_bits)
    for vector in product(range(8), repeat=cells - 1):
        corners = product(*((F(cell, 8), F(cell + 1, 8)) for cell in vector))
        inside = all(min(thetas(corner)) >= least for corner in corners)
        assert bool(truncation.holds(np.array(vector))) == inside


def thetas(sticks: tuple[Fraction, ...]) -> list[Fraction]:
    left, found = F(1), []
    for stick in sticks:
        found.append(left * stick)
        left *= 1 - stick
    return [*found, left]


@pytest.mark.parametrize("counts", [(0, 0, 9), (9, 0, 0), (3, 3, 3)])
def test_truncated_draws_follow_the_restricted_law(counts: tuple[int, int, int]) -> None:
    shapes = [F(3, 2) + k for k in counts]
    laws = [CertifiedBeta(shapes[0], shapes[1] + shapes[2]), CertifiedBeta(shapes[1], shapes[2])]
    truncation = Truncation(3, F(1, 10), 4)
    drawn = truncation.sample(laws, 2_000, dc.SeededBits(5))
    assert truncation.holds(drawn).all()
    every = np.array([v for v in product(range(16), repeat=2) if truncation.holds(np.array(v))])
    masses = sum(law.log_mass(every[:, i] / 16, (every[:, i] + 1) / 16) for i, law in enumerate(laws))
    chances = np.exp(masses - truncation.log_normaliser(laws))
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    observed = np.array([(drawn == vector).all(axis=1).sum() for vector in every])
    assert bins(observed, chances, 2_000) > 1e-4


def test_grids_too_coarse_for_the_least_are_noticed() -> None:
    assert Truncation(3, F(1, 3) - F(1, 1000), 3).is_empty
    assert not Truncation(3, F(1, 10), 4).is_empty
