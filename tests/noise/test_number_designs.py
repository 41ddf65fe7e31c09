"""Stated digits of designs for ordered cells: the mean from a table, two tables, Gaussian noise, what samplers keep.

Cells of a block are alike, and so are blocks. So a table's noise has one variance v of cells and two covariances,
inside a block and across, that follow from v, from the variance of a block's sum, and from all summing to zero.
"""

from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.noise import ZeroSumBlocks, ZeroSumLaplace


def covariances(blocks: int, size: int, cell: float, block: float) -> Any:
    """Return the covariances of all cells from the variances of a cell and of a block's sum."""
    inside = (block / size - cell) / (size - 1)
    across = -(cell + (size - 1) * inside) / ((blocks - 1) * size)
    found = np.full((blocks * size, blocks * size), across)
    for start in range(0, blocks * size, size):
        found[start : start + size, start : start + size] = inside
    np.fill_diagonal(found, cell)
    return found


def figures(found: Any) -> list[float]:
    """Return the root mean square and the largest deviation below an edge, and that of the mean in ranges."""
    cells = len(found)
    cuts = np.diagonal(np.cumsum(np.cumsum(found, axis=0), axis=1))[:-1]
    middles = (np.arange(cells) + 0.5) / cells
    return [sqrt(cuts.mean()), sqrt(cuts.max()), sqrt(middles @ found @ middles)]


def flat_variance(epsilon: float, cells: int) -> float:
    return float(ZeroSumLaplace((Fraction(f"{epsilon:.6f}") / 2,), (cells,)).variance[0])


def two_tables(blocks: int, size: int, first: float, second: float) -> Any:
    """Return the covariances of least squares from a table of blocks and one of cells, with these variances."""
    cells = blocks * size
    between = 1 / (1 / (first * blocks / (blocks - 1)) + 1 / (second * cells * size / (cells - 1)))
    within = second * cells / (cells - 1)
    cell = between / size**2 * (1 - 1 / blocks) + within * (1 - 1 / size)
    return covariances(blocks, size, cell, between * (1 - 1 / blocks))


@pytest.mark.parametrize(
    ("blocks", "size", "share", "flat", "two", "tree"),
    [
        (4, 4, ".2", [4.49, 5.33, 3.07], [5.09, 5.96, 3.39], [4.37, 5.08, 2.82]),
        (4, 8, ".3", [6.41, 7.73, 4.46], [6.50, 7.69, 3.93], [5.89, 6.99, 3.44]),
        (8, 8, ".4", [9.10, 11.06, 6.39], [8.27, 10.03, 4.87], [7.54, 9.14, 4.37]),
        (8, 16, ".4", [12.90, 15.74, 9.09], [10.10, 12.28, 5.29], [9.62, 11.70, 4.97]),
        (16, 16, ".5", [18.26, 22.33, 12.89], [12.38, 15.13, 6.25], [11.89, 14.54, 6.01]),
        (16, 32, ".4", [25.84, 31.62, 18.26], [14.97, 18.31, 7.77], [14.54, 17.77, 7.47]),
    ],
)
def test_below_edges_and_of_the_mean_one_table_of_blocks_and_cells_has_the_least_noise(
    blocks: int, size: int, share: str, flat: list[float], two: list[float], tree: list[float]
) -> None:
    """Of two tables the blocks get a fifth or more: with a tenth they would have 4.89 for 4 x 4."""
    cells, outer = blocks * size, Fraction(share) / 2
    alike = flat_variance(1, cells)
    assert figures(_flat(cells, alike)) == pytest.approx(flat, abs=0.006)
    law = ZeroSumBlocks(outer, Fraction(1, 2) - outer, (size,) * blocks)
    own = figures(covariances(blocks, size, float(law.variance[0]), law.cut(size).sd ** 2))
    assert own == pytest.approx(tree, abs=0.006)
    splits = [
        figures(two_tables(blocks, size, flat_variance(part, blocks), flat_variance(1 - part, cells)))
        for part in np.arange(2, 10) / 10
    ]
    assert min(splits) == pytest.approx(two, abs=0.006)
    assert own < min(min(splits), flat)


def _flat(cells: int, variance: float) -> Any:
    return variance * (np.eye(cells) * cells - 1) / (cells - 1)


MU = 0.236704


@pytest.mark.parametrize(
    ("cells", "flat", "blocks", "two", "all_at_once"), [(64, 19.66, 8, 13.06, 33.5), (256, 39.1, 16, 18.95, 67.5)]
)
def test_gaussian_noise_at_one_in_a_million_has_more_noise_below_edges(
    cells: int, flat: float, blocks: int, two: float, all_at_once: float
) -> None:
    model = dc.Categories("x", levels=tuple(map(str, range(cells))), outside="0")
    mechanism = dc.tables.DiscreteGaussianHistogram(model, 1000, 1, "1e-6")
    own = figures(_flat(cells, float(mechanism.noise.variance[0])))[0]
    assert own == pytest.approx(flat, rel=2e-3)
    assert sqrt(cells - 1) / MU == pytest.approx(all_at_once, abs=0.06)
    each = [4 / MU**2 * (1 - 1 / number) for number in (blocks, cells)]  # half of mu^2 for either table
    assert figures(two_tables(blocks, cells // blocks, *each))[0] == pytest.approx(two, abs=0.006)


@pytest.mark.parametrize(("size", "share", "sums", "cells"), [(8, ".4", 0.235, 0.212), (16, ".5", 0.151, 0.146)])
def test_of_last_blocks_as_many_are_kept_as_stated(size: int, share: str, sums: float, cells: float) -> None:
    """All blocks but one are free; the sum that is left for the last is kept by f(s) / f(0), then its cells at 0."""
    outer = float(Fraction(share)) / 2
    inner, far = 0.5 - outer, np.arange(-400, 401)
    one = np.exp(-inner * np.abs(far))
    line = np.ones(1)
    for _ in range(size):
        line = np.convolve(line, one)
        line = line[len(line) // 2 - min(400, len(line) // 2) :][: min(801, len(line))]
    block = line * np.exp(-outer * np.abs(far))
    rest = np.ones(1)
    for _ in range(size - 1):
        rest = np.convolve(rest, block / block.sum())
        rest = rest[len(rest) // 2 - min(400, len(rest) // 2) :][: min(801, len(rest))]
    kept = rest * block / block[400]
    assert kept.sum() == pytest.approx(sums, abs=6e-4)
    assert line[400] / one.sum() ** (size - 1) == pytest.approx(cells, abs=6e-4)
