"""Digits of wide tables of numbers that take seconds: 1,024 cells in blocks of 32, and Gaussian tables beside."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import toeplitz
from scipy.optimize import brentq

from discreet.draws import gaussian_delta
from discreet.noise import ZeroSumBlocks

Floats = NDArray[np.float64]


def test_cuts_of_a_thousand_cells_have_the_stated_deviations() -> None:
    law = ZeroSumBlocks(Fraction(1, 4), Fraction(1, 4), (32,) * 32)
    deviations = np.array([law.cut(place).sd for place in range(1, 513)])  # the others have the same laws
    squares = np.concatenate([deviations**2, deviations[:-1] ** 2])
    print(f"\n1,024 cells, epsilon = 1: rms {np.sqrt(squares.mean()):.4f}, largest {np.sqrt(squares.max()):.4f}")
    assert np.sqrt(squares.mean()) == pytest.approx(17.5615, abs=6e-5)
    assert np.sqrt(squares.max()) == pytest.approx(21.4981, abs=6e-5)


def noise_below_edges(cells: int, design: Floats, mu: float) -> float:
    """Return the rms noise below edges if Gaussian numbers on these sums of cells are fitted by least squares.

    A replaced record moves a column's difference, the largest of which must not exceed mu standard deviations; tables
    add up to a public total, so that noise lies among the tables that sum to zero.
    """
    moves = design.T @ design
    most = float(np.max(np.diag(moves)[:, None] + np.diag(moves)[None] - 2 * moves))
    free = np.eye(cells)[:, 1:] - np.eye(cells)[:, :-1]  # a basis of what sums to zero
    inverse = free @ np.linalg.inv(free.T @ moves @ free) @ free.T
    below = np.tril(np.ones((cells, cells)))[:-1]
    return float(np.sqrt(most * np.einsum("ij,jk,ik->i", below, inverse, below).mean()) / mu)


def levels(cells: int, branching: int) -> Floats:
    """Return the sums of a tree with so many branches at each node, without its root."""
    rows, width = [], cells // branching
    while width >= 1:
        rows.append(np.kron(np.eye(cells // width), np.ones(width)))
        width //= branching
    return np.vstack(rows)


def root_of_sums(cells: int) -> Floats:
    """Return the square root of running sums: a Toeplitz matrix with the coefficients of (1 - x)^(-1/2)."""
    steps = np.arange(1, cells)
    row = np.concatenate([[1.0], np.cumprod((2 * steps - 1) / (2 * steps))])
    return np.asarray(toeplitz(row, np.zeros(cells)))


@pytest.mark.parametrize(
    ("cells", "flat", "two", "binary", "toeplitz_root", "cumulative", "tree_table"),
    [(64, 19.66, 13.06, 12.63, 11.01, 33.5, 7.54), (256, 39.1, 18.95, 16.07, 13.71, 67.5, 11.89)],
)
def test_gaussian_tables_of_one_release_have_the_stated_noise_and_more_than_a_tree_table(
    cells: int, flat: float, two: float, binary: float, toeplitz_root: float, cumulative: float, tree_table: float
) -> None:
    mu = float(brentq(lambda each: gaussian_delta(1.0, each) - 1e-6, 0.01, 1.0))
    assert (mu, mu**2 / 2) == pytest.approx((0.236704, 0.0280145), abs=6e-7)
    side = int(cells**0.5)
    designs = [
        np.eye(cells),
        levels(cells, side),
        levels(cells, 2),
        root_of_sums(cells),
        np.tril(np.ones((cells, cells))),
    ]
    found = [noise_below_edges(cells, design, mu) for design in designs]
    print(f"\n{cells} cells, (1, 1e-6), noise below edges: {' '.join(f'{each:.2f}' for each in found)}")
    assert found == pytest.approx([flat, two, binary, toeplitz_root, cumulative], rel=5e-3)
    assert tree_table < min(found)
