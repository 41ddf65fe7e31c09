"""Stated digits of noise on ordered cells: losses along a path, ages by year, and blocks beside flat tables."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest

from discreet.noise import TreeLaplace, ZeroSumBlocks, ZeroSumLaplace
from discreet.noise._blocks import kept_share

AGES = np.arange(101)


def path(epsilon: str, steps: int) -> TreeLaplace:
    return TreeLaplace.path([Fraction(epsilon)] * steps)


@pytest.mark.parametrize(
    ("epsilon", "distance", "pure", "at_delta", "rho"),
    [
        ("0.1", 1, 0.1, 0.099998, 0.0049958375),
        ("0.1", 10, 1, 0.999371, 0.0499583750),
        ("0.1", 50, 5, 3.172903, 0.2497918748),
        ("0.1", 100, 10, 4.774568, 0.4995837496),
        ("0.05", 100, 5, 2.207533, 0.1249739648),
        ("1", 10, 10, 9.999977, 4.6211715726),
    ],
)
def test_a_record_that_moves_along_a_path_loses_what_is_stated(
    epsilon: str, distance: int, pure: float, at_delta: float, rho: float
) -> None:
    law, change = path(epsilon, distance), np.zeros(distance + 1, dtype=np.int64)
    change[0], change[-1] = 1, -1
    loss = law.privacy_loss(change).curve
    assert float(law.privacy_loss(change).epsilon) == pytest.approx(pure)
    assert float(law.privacy_loss(change).rho) == pytest.approx(rho, abs=6e-11)
    assert loss.delta_at(Fraction(f"{at_delta + 2e-6:.9f}")) <= 1e-6 < loss.delta_at(Fraction(f"{at_delta - 2e-6:.9f}"))


def test_the_sum_of_ages_along_a_path_has_the_stated_deviation() -> None:
    assert np.sqrt(path("0.1", 100).edges.variance.sum()) == pytest.approx(141.36244785430438, rel=1e-12)


@pytest.mark.parametrize(
    ("epsilon", "flat", "flat_sum", "below", "total", "alone", "at_equal"),
    [
        ("0.02", 705.4, 41134, 70.71, 707.1, 70.7, 6.76),
        ("0.05", 282.1, 16452, 28.28, 282.8, 28.3, 2.17),
        ("0.1", 141.1, 8225, 14.14, 141.4, 14.1, 0.44),
    ],
)
def test_ages_by_year_under_a_metric_and_without(
    epsilon: str, flat: float, flat_sum: float, below: float, total: float, alone: float, at_equal: float
) -> None:
    """At equal epsilon per year a path has a tenth of the noise below an edge, at equal ordinary epsilon ten times it.

    The first row was stated as 707.9 and 41282; noise is proportional to 1 / epsilon, so the others contradict it.
    """

    def histogram(rate: Fraction) -> float:
        return float(ZeroSumLaplace((rate / 2,), (101,)).variance[0])

    own, edges = histogram(Fraction(epsilon)), path(epsilon, 100).edges.variance
    middle = 50 * 51 / 100  # of exchangeable cells: c (m - c) / (m - 1)
    assert sqrt(own * middle) == pytest.approx(flat, rel=1e-3)
    assert sqrt(own * 101 / 100 * ((AGES - 50) ** 2).sum()) == pytest.approx(flat_sum, rel=1e-3)
    assert sqrt(edges[50]) == pytest.approx(below, abs=0.02)
    assert sqrt(edges.sum()) == pytest.approx(total, abs=0.2)
    assert sqrt(2) / float(Fraction(epsilon)) == pytest.approx(alone, abs=0.06)  # one number of range 100
    assert sqrt(histogram(100 * Fraction(epsilon)) * middle) == pytest.approx(at_equal, abs=0.006)


@pytest.mark.parametrize(
    ("blocks", "size", "share", "flat", "flat_most", "tree", "tree_most"),
    [
        (4, 4, "0.2", 4.49, 5.33, 4.37, 5.08),
        (4, 8, "0.3", 6.41, 7.73, 5.89, 6.99),
        (8, 8, "0.4", 9.10, 11.06, 7.54, 9.14),
        (8, 16, "0.4", 12.90, 15.74, 9.62, 11.70),
        (16, 16, "0.5", 18.26, 22.33, 11.89, 14.54),
    ],
)
def test_blocks_have_the_stated_noise_below_edges_and_less_than_a_flat_table(
    blocks: int, size: int, share: str, flat: float, flat_most: float, tree: float, tree_most: float
) -> None:
    cells, outer = blocks * size, Fraction(share) / 2
    below = np.arange(1, cells)
    alike = ZeroSumLaplace((Fraction(1, 2),), (cells,)).variance[0] * below * (cells - below) / (cells - 1)
    law = ZeroSumBlocks(outer, Fraction(1, 2) - outer, (size,) * blocks)
    own = np.array([law.cut(place).sd for place in below.tolist()]) ** 2
    assert np.sqrt([alike.mean(), alike.max()]) == pytest.approx([flat, flat_most], abs=0.006)
    assert np.sqrt([own.mean(), own.max()]) == pytest.approx([tree, tree_most], abs=0.006)
    if size == blocks == 16:
        assert sqrt(own.mean() / alike.mean()) <= 0.66


@pytest.mark.parametrize(("size", "share", "kept"), [(8, 0.4, 0.279), (16, 0.5, 0.141)])
def test_as_many_blocks_are_kept_as_stated(size: int, share: float, kept: float) -> None:
    assert kept_share(share / 2, (1 - share) / 2, size) == pytest.approx(kept, abs=6e-4)
