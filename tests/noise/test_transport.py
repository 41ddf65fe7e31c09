"""Noise of transport and of blocks: stated digits, slow twins of cuts and distances, and what samplers give."""

from fractions import Fraction
from itertools import combinations, product
from math import exp, log

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import chisquare

from discreet._core.errors import DeclarationError
from discreet.noise import BlockLaplace, TreeLaplace, ZeroSumBlocks
from discreet.noise import _blocks as block_cuts
from discreet.noise._blocks import prefix_sum_noise, tied_log
from discreet.noise._line_sums import block_sums, spread
from discreet.noise.randomness._samplers import SeededBits


def blocks_of(sizes: tuple[int, ...], share: str, epsilon: int = 1) -> ZeroSumBlocks:
    outer = Fraction(share) * epsilon / 2
    return ZeroSumBlocks(outer, Fraction(epsilon, 2) - outer, sizes)


SMALL = blocks_of((2, 2), ".4")


def test_a_path_has_the_stated_normaliser_loss_and_zcdp_parameter() -> None:
    law = TreeLaplace.path([Fraction(1, 2), Fraction(1, 2), Fraction(1)])
    assert law.log_normaliser == pytest.approx(3.5855950603998954, abs=1e-13)
    assert float(law.privacy_loss([1, 0, 0, -1]).rho) == pytest.approx(0.7070358196637189, rel=1e-13)
    ages = TreeLaplace.path([Fraction(1, 10)] * 100)
    ends = [1, *[0] * 99, -1]
    assert ages.log_normaliser == pytest.approx(299.6565121117662, abs=1e-10)
    assert float(ages.privacy_loss(ends).rho) == pytest.approx(0.4995837495787998, rel=1e-12)
    assert ages.privacy_loss(ends).epsilon == 10
    assert float(ages.privacy_loss(ends).curve.epsilon_at("1e-6")) == pytest.approx(4.774568, abs=1e-6)
    skewed = TreeLaplace.path([Fraction(7, 10), Fraction(14, 10), Fraction(7, 20)])
    assert exp(skewed.log_normaliser) == pytest.approx(28.39476306889936, rel=1e-13)
    found = [skewed.privacy_loss([1, 0, -1, 0]).curve.delta_at(each) for each in (".3", 1, "1.5")]
    assert found == pytest.approx([0.5351600682489, 0.3575874137566, 0.2418412337162], abs=1e-12)


def test_the_sum_of_a_path_has_the_stated_standard_deviation() -> None:
    places = np.array([0, 1, 2, 4])
    rows = TreeLaplace.path([Fraction(1, 2), Fraction(1, 2), Fraction(1)]).simulate(200_000, np.random.default_rng(3))
    assert (rows @ places).std() == pytest.approx(4.79960218245152, rel=0.01)


def test_the_distance_of_a_tree_is_the_cheapest_transport_by_a_linear_program() -> None:
    law = TreeLaplace((2, 2, 4, 4), tuple(Fraction(each, 4) for each in (3, 5, 2, 7)))
    unit = np.eye(5, dtype=int)
    pairs = list(combinations(range(5), 2))
    costs = {pair: float(law.privacy_loss(unit[pair[0]] - unit[pair[1]]).epsilon) for pair in pairs}
    flows = np.array([unit[a] - unit[b] for a, b in pairs] + [unit[b] - unit[a] for a, b in pairs])
    prices = np.array([costs[pair] for pair in pairs] * 2)
    generator = np.random.default_rng(11)
    for _ in range(20):
        change = generator.integers(-4, 5, 5)
        change[-1] -= change.sum()
        cheapest = linprog(prices, A_eq=flows.T, b_eq=change).fun
        assert float(law.privacy_loss(change).epsilon) == pytest.approx(cheapest, abs=1e-9)


def test_what_is_carried_and_what_is_delivered_are_each_others_inverse() -> None:
    law = TreeLaplace((2, 2, 4, 4), (Fraction(1),) * 4)
    drawn = law.sample(50, SeededBits(4))
    assert (drawn.sum(axis=1) == 0).all()
    assert np.array_equal(law.delivered(law.carried(drawn)), drawn)


def test_a_tree_that_is_none_is_refused() -> None:
    for parents, rates in (((0,), (1,)), ((2, 1), (1, 1)), ((1,), (0,)), ((), ())):
        with pytest.raises(DeclarationError):
            TreeLaplace(parents, tuple(Fraction(rate) for rate in rates))


@pytest.mark.parametrize(
    ("sizes", "share", "stated"),
    [
        ((2, 2), ".4", 3.7406575079),
        ((3, 3), ".5", 7.6893610065),
        ((8,) * 8, ".4", 108.0570127228),
        ((16,) * 16, ".5", 498.3894900462),
    ],
)
def test_blocks_have_the_stated_normalisers(sizes: tuple[int, ...], share: str, stated: float) -> None:
    assert blocks_of(sizes, share).log_normaliser == pytest.approx(stated, abs=2e-9)


def test_cuts_of_two_blocks_have_the_stated_laws() -> None:
    first, second = SMALL.cut(1), SMALL.cut(2)
    assert first.at(range(4)) == pytest.approx([0.220047093543, 0.152022524905, 0.097224045406, 0.059275179088])
    assert second.at(range(4)) == pytest.approx([0.279727078672, 0.171594282707, 0.094820384709, 0.048905919050])
    assert (first.sd, second.sd) == pytest.approx((2.6805878789, 2.0523252235))


def test_cuts_of_eight_blocks_have_the_stated_laws() -> None:
    law = blocks_of((8,) * 8, ".4")
    stated = {
        1: (0.158247865254, 4.1055033985, -8),
        4: (0.064152447167, 6.5978302709, -12),
        8: (0.121437132033, 4.8330128286, -9),
        32: (0.056924215931, 7.3068285872, -13),
        36: (0.044786439712, 9.1418637206, -16),
    }
    for place, (zero, sd, low) in stated.items():
        cut = law.cut(place)
        assert (float(cut.at(0)), cut.sd) == pytest.approx((zero, sd), rel=1e-9)
        assert float(cut.at_most(low)) <= 0.05 < float(cut.at_most(low + 1))
    deviations = np.array([law.cut(place).sd for place in range(1, 64)])
    assert np.sqrt((deviations**2).mean()) == pytest.approx(7.5384393516, rel=1e-9)
    flat = ZeroSumBlocks(Fraction(1, 10**9), Fraction(1, 2), (64,))
    assert np.sqrt((deviations**2).mean()) / np.sqrt(np.mean([flat.cut(p).sd ** 2 for p in range(1, 64)])) <= 0.83


@pytest.mark.parametrize("sizes", [(2, 2), (3, 1), (1, 2, 1)])
def test_every_cut_is_what_listing_all_tables_gives(sizes: tuple[int, ...]) -> None:
    law = ZeroSumBlocks(Fraction(1), Fraction(2), sizes)
    rows = np.array(list(product(range(-9, 10), repeat=3)))
    rows = np.column_stack([rows, -rows.sum(axis=1)])
    chances = np.exp(law.log_prob(rows))
    for place in (1, 2, 3):
        sums = rows[:, :place].sum(axis=1)
        for value in range(4):
            assert float(law.cut(place).at(value)) == pytest.approx(chances[sums == value].sum(), abs=1e-7)


def test_samples_and_simulated_rows_have_the_law_of_their_cuts() -> None:
    law = blocks_of((4,) * 4, ".2", epsilon=2)
    exact, floats = law.sample(4000, SeededBits(9)), law.simulate(4000, np.random.default_rng(9))
    for rows, place in product((exact, floats), (1, 3, 4, 6, 8)):
        cut = law.cut(place)
        sums = np.clip(rows[:, :place].sum(axis=1), -8, 8).astype(int)
        chances = np.array([float(cut.at(value)) for value in range(-8, 9)])
        chances[0], chances[-1] = float(cut.at_most(-8)), float(cut.at_least(8))
        seen = np.bincount(sums + 8, minlength=17)
        assert chisquare(seen, chances / chances.sum() * len(rows)).pvalue > 1e-4


def test_free_blocks_are_independent_and_have_their_own_variance() -> None:
    law = BlockLaplace(Fraction(1, 2), Fraction(1), (3, 2))
    rows = law.sample(20_000, SeededBits(10))
    assert rows.var(axis=0) == pytest.approx(law.variance, rel=0.06)
    assert abs(np.corrcoef(rows[:, :3].sum(axis=1), rows[:, 3:].sum(axis=1))[0, 1]) < 0.03


def test_the_loss_between_blocks_is_the_whole_epsilon_and_inside_one_its_share() -> None:
    changes = ([1, 0, -1, 0], [1, -1, 0, 0], [2, 0, -2, 0])
    assert [SMALL.privacy_loss(change).curve.epsilon for change in changes] == [1, Fraction(3, 5), 2]


def test_cuts_of_hundreds_of_cells_at_a_small_rate_are_laws() -> None:
    """Weights of 256 cells are beyond floats, 40^256; half of 16 blocks varies as 8 * 8 / 16 of one, nearly."""
    law = prefix_sum_noise(0.05, 0.05, (16,) * 16, 128)
    assert law.sd == pytest.approx(2 * spread(block_sums(0.05, 0.05, 16)), rel=0.05)
    free = 16 * log(block_sums(0.05, 0.05, 16).sum()) - 256 * log(np.tanh(0.025))  # of blocks that need not sum to zero
    assert free - 10 < tied_log(0.05, 0.05, (16,) * 16) < free


@pytest.mark.parametrize("place", [1, 2, 5, 6, 9])
def test_values_between_those_that_are_worked_out_are_those_that_every_value_gives(
    place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow twin of the splines through the logarithms of a cut's law: every value worked out by itself."""
    sizes, rates = (4, 4, 4), (0.01, 0.015)
    block_cuts._prefix_sum_noise.cache_clear()
    fast = block_cuts.prefix_sum_noise(*rates, sizes, place).chances
    monkeypatch.setattr(block_cuts, "_SMOOTH", 1e-9)
    block_cuts._prefix_sum_noise.cache_clear()
    slow = block_cuts.prefix_sum_noise(*rates, sizes, place).chances
    block_cuts._prefix_sum_noise.cache_clear()
    assert np.abs(np.cumsum(fast) - np.cumsum(slow)).max() < 1e-12  # the margin of every test


def test_a_cut_and_what_lies_above_it_have_one_law() -> None:
    sizes = (3, 2, 4)
    for place in range(1, 9):
        assert np.array_equal(
            block_cuts.prefix_sum_noise(0.2, 0.3, sizes, place).chances,
            block_cuts.prefix_sum_noise(0.2, 0.3, sizes[::-1], 9 - place).chances,
        )
