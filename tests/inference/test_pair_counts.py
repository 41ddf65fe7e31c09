"""Two counts with a known total: one sum over one number, against the sum over all counts and against transforms."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DiscreetError
from discreet.inference import CellWeights, LatentCounts, PairCounts
from discreet.inference import _pair_counts as pair_rows

Kernel = Callable[[Counts, Counts], Floats]
FALLS = [(7.0, lambda x: -np.abs(x) / 7), (4.0, lambda x: -(x**2) / 50.0)]
NOISY = [(30, 68), (-400, 90), (520, -31), (100, 100), (0, 0)]
TOTAL = 100


def kernel_of(noisy: tuple[int, int], fall: Callable[[Floats], Floats]) -> Kernel:
    return lambda places, counts: fall(np.array(noisy)[places] - np.asarray(counts, dtype=float))


@pytest.mark.parametrize("noisy", NOISY)
@pytest.mark.parametrize(("reach", "fall"), FALLS, ids=["Laplace", "Gaussian"])
def test_a_pair_is_read_as_by_a_sum_over_all_counts(
    noisy: tuple[int, int], reach: float, fall: Callable[[Floats], Floats]
) -> None:
    kernel, centres = kernel_of(noisy, fall), np.array(noisy)
    found = PairCounts(kernel, centres, centres, reach, TOTAL)
    every = np.arange(TOTAL + 1)
    logs = kernel(np.array([0]), every) + kernel(np.array([1]), TOTAL - every)
    law = np.exp(logs - logsumexp(logs))
    assert found.log_sum == pytest.approx(logsumexp(logs), abs=1e-12)
    for cell, wanted in enumerate((law, law[::-1])):
        counts, weights = found.sum_of(np.array([cell]))
        np.testing.assert_allclose(weights, wanted[counts], rtol=1e-11, atol=1e-15)
        assert (np.diff(counts) > 0).all()
    one, two, weights, *_ = found.pair_of_sums(np.array([1]), np.array([0]))
    assert (one + two == TOTAL).all()
    np.testing.assert_allclose(weights, law[two], rtol=1e-11, atol=1e-15)
    assert found.sum_of(np.array([0, 1]))[0].tolist() == [TOTAL]
    tables = np.stack([every, TOTAL - every], axis=1)
    np.testing.assert_allclose(found.log_weights(tables), logs)


def test_a_pair_is_read_as_by_transforms() -> None:
    centres = np.array([40_123, 59_801])
    kernel = kernel_of((40_123, 59_801), FALLS[0][1])
    pair = PairCounts(kernel, centres, centres, 7.0, 10**5)
    slow = LatentCounts(CellWeights(np.ones(2), kernel), centres, centres, 7.0, 10**5)
    assert pair.log_sum == pytest.approx(slow.log_sum, abs=1e-10)
    for cell in (np.array([0]), np.array([1])):
        (counts, weights), (others, wanted) = pair.sum_of(cell), slow.sum_of(cell)
        assert weights @ counts == pytest.approx(wanted @ others, abs=1e-9)
        assert weights @ counts**2.0 == pytest.approx(wanted @ others**2.0, rel=1e-12)


def test_drawn_pairs_follow_their_law() -> None:
    kernel, centres = kernel_of((30, 68), FALLS[0][1]), np.array([30, 68])
    found = PairCounts(kernel, centres, centres, 7.0, TOTAL)
    drawn = found.draw(20_000, np.random.default_rng(20261116))
    assert (drawn.sum(axis=1) == TOTAL).all()
    counts, weights = found.sum_of(np.array([0]))
    mean = weights @ counts
    sd = np.sqrt(weights @ (counts - mean) ** 2)
    assert abs(drawn[:, 0].mean() - mean) < 4 * sd / np.sqrt(20_000)


def test_a_window_is_widened_until_it_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, centres = kernel_of((30, 68), FALLS[0][1]), np.array([30, 68])
    wide = PairCounts(kernel, centres, centres, 7.0, 10**4)
    monkeypatch.setattr(pair_rows, "_MARGIN", 0.1)
    narrow = PairCounts(kernel, centres, centres, 7.0, 10**4)
    assert narrow.log_sum == pytest.approx(wide.log_sum, abs=1e-12)


def test_a_window_that_would_be_too_wide_is_refused_in_words() -> None:
    centres = np.array([0, 10**12])
    with pytest.raises(DiscreetError, match="Nothing was read"):
        PairCounts(kernel_of((0, 10**12), lambda x: -np.abs(x) / 1e10), centres, centres, 1e10, 10**12)
