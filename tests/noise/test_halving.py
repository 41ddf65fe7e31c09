"""Gaussian noise that sums to zero by halving: against enumeration, with and without the step that keeps rows."""

from fractions import Fraction
from functools import cache
from itertools import product
from math import exp

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from discreet.noise import ZeroSumGaussian
from discreet.noise import _zero_sum_gaussian as halving
from discreet.noise._zero_sum_gaussian import acceptance, block_sizes, halved_noise
from discreet.noise.randomness._finite import bernoulli
from discreet.noise.randomness._samplers import SeededBits


@cache  # one of few, asked for by every row
def theta(variance: float, parity: int) -> float:
    return sum(exp(-d * d / (2 * variance)) for d in range(-400 - parity, 401 + parity, 2))


def test_four_cells_have_their_law_after_rows_are_kept_and_not_before() -> None:
    v, reach = 0.8, 13
    rows = [(a, b, c, -a - b - c) for a, b, c in product(range(-reach, reach + 1), repeat=3)]
    target, tried, kept = [], [], []
    for row in rows:
        sums = row[0] + row[1], row[2] + row[3]
        chance = exp(-((sums[0] - sums[1]) ** 2) / (8 * v)) / theta(4 * v, 0)
        for pair, own in ((row[:2], sums[0]), (row[2:], sums[1])):
            chance *= exp(-((pair[0] - pair[1]) ** 2) / (4 * v)) / theta(2 * v, own & 1)
        odd = {4: 0, 2: (sums[0] & 1) + (sums[1] & 1)}
        target.append(exp(-sum(x * x for x in row) / (2 * v)))
        tried.append(chance)
        kept.append(chance * float(acceptance(Fraction(4, 5), odd).mid()))
    wanted = np.array(target) / sum(target)
    assert sum(tried) == pytest.approx(1, abs=1e-13)
    assert sum(kept) == pytest.approx(0.998570220462, abs=1e-12)
    assert np.abs(np.array(kept) / sum(kept) - wanted).max() < 1e-14
    assert np.abs(np.array(tried) - wanted).sum() > 1e-4  # the step is needed


def law_of_rows(variance: float, cells: int, reach: int) -> dict[tuple[int, ...], float]:
    logs = {}
    for free in product(range(-reach, reach + 1), repeat=cells - 1):
        row = (*free, -sum(free))
        logs[row] = exp(-sum(x * x for x in row) / (2 * variance))
    total = sum(logs.values())
    return {row: weight / total for row, weight in logs.items()}


@pytest.mark.parametrize(("cells", "reach", "seed"), [(3, 12, 311), (5, 6, 511)])
def test_drawn_rows_follow_enumeration(cells: int, reach: int, seed: int) -> None:
    """Level 0.001, one seed for each setting."""
    chances = law_of_rows(1.5, cells, reach)
    drawn = halved_noise(Fraction(3, 2), cells, 100_000, SeededBits(seed))
    rows, counts = np.unique(drawn, axis=0, return_counts=True)
    seen = dict(zip(map(tuple, rows.tolist()), counts.tolist(), strict=True))
    common = [row for row, chance in chances.items() if chance * 1e5 >= 10]
    expected = np.array([chances[row] * 1e5 for row in common])
    found = np.array([seen.get(row, 0) for row in common])
    left, left_found = 1e5 - expected.sum(), 1e5 - found.sum()
    statistic = ((found - expected) ** 2 / expected).sum() + (left_found - left) ** 2 / left
    assert chi2.sf(statistic, len(common)) > 0.001


def test_eight_cells_follow_the_law_of_their_squares_and_of_each_cell() -> None:
    """Level 0.001: |u|^2 of eight cells against counting by convolution, and one cell against its own law."""
    v, reach = 1.5, 40
    most = 160
    table = np.zeros((2 * 8 * reach + 1, most + 1))  # sums and squares of rows
    table[8 * reach, 0] = 1
    for _ in range(8):
        following = np.zeros_like(table)
        for step in range(-12, 13):
            rolled = np.roll(table, step, axis=0)
            following[:, step * step :] += rolled[:, : most + 1 - step * step]
        table = following
    weights = table[8 * reach] * np.exp(-np.arange(most + 1) / (2 * v))
    expected = weights / weights.sum() * 1e5
    drawn = halved_noise(Fraction(3, 2), 8, 100_000, SeededBits(811))
    squares = np.bincount((drawn**2).sum(axis=1), minlength=most + 1)[: most + 1]
    common = expected >= 10
    statistic = ((squares[common] - expected[common]) ** 2 / expected[common]).sum()
    assert chi2.sf(statistic, int(common.sum()) - 1) > 0.001


@pytest.mark.parametrize("cells", [16, 17, 100, 1000])
def test_rows_of_many_cells_sum_to_zero_and_have_the_variance_of_their_law(cells: int) -> None:
    """Five standard errors."""
    law = ZeroSumGaussian((Fraction(36),), (cells,))
    drawn = law.sample(200, SeededBits(cells))
    assert (drawn.sum(axis=1) == 0).all()
    squares = (drawn.astype(float) ** 2).sum(axis=1)
    error = 36 * np.sqrt(2 * (cells - 1) / 200)
    assert abs(squares.mean() - float(law.variance.sum())) < 5 * error


def test_numbers_of_cells_are_sums_of_their_blocks() -> None:
    for cells in range(1, 70):
        sizes = block_sizes(cells)
        assert sum(sizes) == cells
        assert sizes == sorted(set(sizes), reverse=True)


class CountedBits(SeededBits):
    """Bits that say how many words were read."""

    read = 0

    def words(self, count: int) -> NDArray[np.uint64]:
        self.read += count
        return super().words(count)


def test_work_grows_with_the_number_of_cells_and_no_faster() -> None:
    read = []
    for cells in (1024, 8192):
        bits = CountedBits(5)
        halved_noise(Fraction(36), cells, 1, bits)
        read.append(bits.read / cells)
    assert read[1] < 1.2 * read[0]


def test_rows_that_64_bits_do_not_decide_are_decided_by_more(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def counted(probability: object, bits: object, first: int | None = None) -> bool:
        asked.append(first)
        return bernoulli(probability, bits, first)  # type: ignore[arg-type]

    monkeypatch.setattr(halving, "bernoulli", counted)
    halved_noise(Fraction(4, 5), 4, 3000, SeededBits(2))
    assert asked  # with so little noise about one row in 350 may have to be asked
    assert all(first is not None for first in asked)
