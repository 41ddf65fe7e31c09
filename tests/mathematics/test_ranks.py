"""Ranks, contrasts and different rows: what a few lines of NumPy give is what slower libraries give."""

import numpy as np
import pytest
from scipy.linalg import helmert
from scipy.stats import rankdata

from discreet._core.arrays import different_rows
from discreet.mathematics._nested_rhat import mean_ranks
from discreet.networks._consistent_tables import _basis


@pytest.mark.parametrize("levels", [1, 2, 3, 7, 200])
def test_equal_values_share_the_mean_of_their_ranks(levels: int) -> None:
    values = np.random.default_rng(levels).integers(0, levels, (5, 60)).astype(float)
    assert np.array_equal(mean_ranks(values), rankdata(values, axis=1))


@pytest.mark.parametrize("levels", [2, 3, 12])
def test_contrasts_are_those_of_helmert(levels: int) -> None:
    assert _basis(levels) == pytest.approx(helmert(levels, full=True), abs=1e-14)


@pytest.mark.parametrize("seed", range(30))
def test_different_rows_are_those_of_numpy(seed: int) -> None:
    generator = np.random.default_rng(seed)
    height, width, most = generator.integers(1, 40), generator.integers(1, 12), generator.integers(1, 900)
    rows = generator.integers(-most, 3, (height, width))[generator.integers(0, height, 2 * height)]
    assert np.array_equal(different_rows(rows), np.unique(rows, axis=0))


def test_rows_of_any_whole_numbers_are_told_apart() -> None:
    rows = np.array([[2**63 - 1, 0], [-(2**63), 1], [0, 2**40], [0, -(2**40)]])
    assert np.array_equal(different_rows(rows), np.unique(rows, axis=0))
    assert different_rows(np.zeros((0, 3), dtype=np.int64)).shape == (0, 3)
