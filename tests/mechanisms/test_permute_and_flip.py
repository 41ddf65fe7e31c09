"""Permute-and-flip: its closed law against all orders of the candidates, and against the exponential mechanism."""

from itertools import permutations

import numpy as np
import pytest

import discreet as dc
from discreet.mechanisms.hellinger_first import FirstHellingerGlobal as HellingerGlobal
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.randomness import SeededBits

COIN = dc.Categories("coin", levels=("heads", "tails"), outside="heads")


def test_the_law_is_that_of_all_orders() -> None:
    mechanism = PermuteAndFlip(COIN, 5, "2.5")
    table = np.array([2, 3])
    chances = np.exp(-mechanism.scales(table[None])[0] * mechanism.tables.distances(table[None])[0])
    law, orders = np.zeros(6), list(permutations(range(6)))
    for order in orders:
        left = 1.0
        for candidate in order:
            law[candidate] += left * chances[candidate] / len(orders)
            left *= 1 - chances[candidate]
    assert np.exp(mechanism.log_law(table)) == pytest.approx(law, rel=1e-12)


@pytest.mark.parametrize(("size", "wanted"), [(10, 0.3923), (50, 0.5975), (100, 0.6791)])
def test_it_is_a_little_better_than_the_exponential_mechanism(size: int, wanted: float) -> None:
    table = np.array([size // 2, size // 2])
    errors = []
    for kind in (PermuteAndFlip, HellingerGlobal):
        mechanism = kind(COIN, size, 1)
        law = np.exp(mechanism.log_likelihood(mechanism.tables.all, table))
        errors.append(float(law @ mechanism.tables.distances(table[None])[0]))
    assert errors[0] == pytest.approx(wanted, abs=6e-5)
    assert errors[0] < errors[1]


def test_a_large_table_sums_to_one() -> None:
    mechanism = PermuteAndFlip(COIN, 900, 1)
    assert np.exp(mechanism.log_law(np.array([450, 450]))).sum() == pytest.approx(1, abs=1e-11)


def test_too_many_candidates_are_refused() -> None:
    with pytest.raises(dc.DeclarationError, match="2000 at most"):
        PermuteAndFlip(COIN, 2_000, 1)


def test_a_coin_that_its_first_bits_leave_open_is_decided() -> None:
    mechanism, table = PermuteAndFlip(COIN, 5, 1), np.array([2, 3])
    lower, _ = mechanism._bounds(table, 63)
    outcomes = {mechanism._refined(table, 0, int(lower[0]), 63, SeededBits(seed)) for seed in range(12)}
    assert outcomes == {True, False}
    assert mechanism._refined(table, 0, int(lower[0]) - 1, 63, SeededBits(1))
    assert not mechanism._refined(table, 0, int(lower[0]) + 1, 63, SeededBits(1))
