"""Truncated draws follow the restricted law exactly, and end soon whatever the counts are."""

from fractions import Fraction
from itertools import product
from math import exp, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

import discreet as dc
from discreet.draws import _truncation as module
from discreet.draws._truncated_dirichlet import DirichletProposal, TruncatedDirichlet
from discreet.draws._truncation import Truncation
from discreet.mechanism import stick_distributions
from discreet.noise.randomness._samplers import RandomBits

F = Fraction


def pvalue(drawn: NDArray[np.int64], every: NDArray[np.int64], chances: NDArray[np.float64]) -> float:
    """Return the p-value of a chi-square test, vectors with small expectations pooled."""
    draws, places = len(drawn), {tuple(vector): i for i, vector in enumerate(every.tolist())}
    observed = np.bincount([places[tuple(vector)] for vector in drawn.tolist()], minlength=len(every))
    common = chances * draws >= 8
    counts = np.append(observed[common], draws - observed[common].sum())
    expected = np.append(chances[common], chances[~common].sum()) * draws
    used = expected > 1e-6
    return float(chisquare(counts[used], expected[used] * counts[used].sum() / expected[used].sum()).pvalue)


SHAPES = [
    (F(1), F(1), F(1)),
    (F(3, 2), F(3, 2), F(8)),
    (F(8), F(3, 2), F(1, 2)),
    (F(1, 10), F(1, 10), F(1, 10)),  # all below one: a sum of three densities
    (F(1, 3), F(1, 10), F(4, 5)),
    (F(9), F(9), F(1)),
    (F(4), F(1), F(1), F(1, 2)),
    (F(1, 4), F(1, 4), F(1, 2), F(1, 2)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("least", [F(1, 20), F(1, 9)], ids=str)
def test_proposals_and_lists_draw_the_restricted_law(
    shapes: tuple[Fraction, ...], least: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slow twin is enumeration: the mass of every cell, over the sum of those that count. 1000 draws each."""
    grid_bits, cells = (4 if len(shapes) == 3 else 3), len(shapes)
    truncation, laws = Truncation(cells, least, grid_bits), stick_distributions(shapes, sum(shapes, F(0)))
    every = np.array([v for v in product(range(2**grid_bits), repeat=cells - 1) if truncation.holds(np.array(v))])
    unit = 2.0**-grid_bits
    logs = sum(law.log_mass(every[:, i] * unit, (every[:, i] + 1) * unit) for i, law in enumerate(laws))
    chances = np.exp(logs - truncation.log_normaliser(laws))
    assert chances.sum() == pytest.approx(1, abs=1e-11)
    assert pvalue(truncation.sample(laws, 1_000, dc.SeededBits(3)), every, chances) > 1e-4
    monkeypatch.setattr(module, "_MOST_LISTED", 0)
    assert pvalue(truncation.sample(laws, 1_000, dc.SeededBits(4)), every, chances) > 1e-4


def spread(cells: int, size: int) -> list[list[int]]:
    """Return counts that are all in one cell, first or last, in two, even, and skewed."""
    one, last, two, even, skewed = ([0] * cells for _ in range(5))
    one[0], last[-1], two[0], two[1], skewed[1] = size, size, size // 2, size - size // 2, size - size // 5
    even = [size // cells + (i < size % cells) for i in range(cells)]
    skewed[2] = size // 5
    return [one, last, two, even, skewed]


@pytest.mark.parametrize("cells", [3, 4, 5, 6])
@pytest.mark.parametrize("epsilon", [0.5, 2, 10])
@pytest.mark.parametrize("prior", [F(1), F(1, 100)], ids=str)
def test_draws_end_soon_for_all_data(
    cells: int, epsilon: float, prior: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of proposals is about sqrt(2 pi m); three times that is allowed to the mean of five draws."""
    least, tries = F(1 / (cells - 1 + exp(epsilon / 2))).limit_denominator(10**12), 0
    propose = TruncatedDirichlet.propose

    def counted(self: TruncatedDirichlet, bits: RandomBits) -> DirichletProposal:
        nonlocal tries
        tries += 1
        assert tries < 1000
        return propose(self, bits)

    monkeypatch.setattr(TruncatedDirichlet, "propose", counted)
    truncation = Truncation(cells, least, 40)
    for size in (0, 10, 100, 1000, 10_000):
        for counts in spread(cells, size):
            tries = 0
            drawn = truncation.sample(
                stick_distributions(shapes := [prior + k for k in counts], sum(shapes, F(0))), 5, dc.SeededBits(1)
            )
            assert truncation.holds(drawn).all()
            assert tries / 5 <= 3 * sqrt(2 * np.pi * cells)


def test_networks_with_skewed_counts_are_drawn() -> None:
    levels = {"a": tuple(range(5)), "b": tuple(range(5))}
    mechanism = dc.draws.NetworkSampling.truncated(
        dc.Network.from_edges("a -> b", levels=levels, outside={name: each[0] for name, each in levels.items()}),
        size=100,
        epsilon="2",
    )
    counts = np.zeros(25, dtype=np.int64)
    counts[0] = 100
    mechanism.space.check(mechanism.sample(counts, dc.SeededBits(1)))


def test_grids_too_coarse_for_the_records_are_refused_from_public_facts() -> None:
    die = dc.Categories("x", levels=tuple("abc"), outside="a")
    for make in (
        lambda bits: dc.PosteriorSampling(die, 10**6, "9", least="0.1", grid_bits=bits),
        lambda bits: dc.draws.NetworkSampling(
            dc.Network.from_edges("a", levels={"a": tuple("abc")}, outside="a"), 10**6, "9", least="0.1", grid_bits=bits
        ),
    ):
        with pytest.raises(dc.DeclarationError, match="Use more grid_bits"):
            make(20)
        assert make(24).grid_bits == 24


def test_truncated_finds_a_grid_that_is_fine_enough() -> None:
    many = dc.Categories("x", levels=tuple(range(60)), outside=0)
    mechanism = dc.PosteriorSampling.truncated(many, size=10**7, epsilon="1")
    assert 32 < mechanism.grid_bits < 50
    counts = np.zeros(60, dtype=np.int64)
    counts[7] = 10**7
    mechanism.space.check(mechanism.sample(counts, dc.SeededBits(1)))
