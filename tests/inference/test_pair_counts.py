"""Two counts with a known total: one sum over one number, against the sum over all counts and against transforms."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DiscreetError
from discreet.inference import CellWeights, CellWindows, KnownSum, LatentCounts, TotalDistribution, pair_rows
from discreet.inference import _latent_counts as latent_counts
from discreet.inference import _pair_counts as pair_counts
from discreet.mathematics import log_prior

Kernel = Callable[[Counts, Counts], Floats]
FALLS = [(7.0, lambda x: -np.abs(x) / 7), (4.0, lambda x: -(x**2) / 50.0)]
NOISY = [(30, 68), (-400, 90), (520, -31), (100, 100), (0, 0)]
TOTAL = 100


def kernel_of(noisy: tuple[int, int], fall: Callable[[Floats], Floats]) -> Kernel:
    return lambda places, counts: fall(np.array(noisy)[places] - np.asarray(counts, dtype=float))


def pair(
    kernel: Kernel, centres: Counts, reach: float, total: int, alpha: tuple[float, float] = (1, 1)
) -> LatentCounts:
    return LatentCounts(CellWeights(np.array(alpha), kernel), centres, centres, reach, total)


@pytest.mark.parametrize("alpha", [(1, 1), (0.5, 0.5), (3, 0.2)])
@pytest.mark.parametrize("noisy", NOISY)
@pytest.mark.parametrize(("reach", "fall"), FALLS, ids=["Laplace", "Gaussian"])
def test_a_pair_is_read_as_by_a_sum_over_all_counts(
    noisy: tuple[int, int], reach: float, fall: Callable[[Floats], Floats], alpha: tuple[float, float]
) -> None:
    kernel, centres = kernel_of(noisy, fall), np.array(noisy)
    found = pair(kernel, centres, reach, TOTAL, alpha)
    every = np.arange(TOTAL + 1)
    logs = kernel(np.array([0]), every) + kernel(np.array([1]), TOTAL - every)
    logs += log_prior(alpha[0], every) + log_prior(alpha[1], TOTAL - every)
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


@pytest.mark.parametrize("alpha", [(1, 1), (0.5, 2)])
def test_a_pair_is_read_as_by_transforms(alpha: tuple[float, float], monkeypatch: pytest.MonkeyPatch) -> None:
    centres = np.array([40_123, 59_801])
    kernel = kernel_of((40_123, 59_801), FALLS[0][1])
    found = pair(kernel, centres, 7.0, 10**5, alpha)
    laws, log_sum = [found.sum_of(np.array([cell])) for cell in (0, 1)], found.log_sum
    assert found.lost < 1e-12
    monkeypatch.setattr(KnownSum, "_is_pair", False)
    slow = pair(kernel, centres, 7.0, 10**5, alpha)
    assert log_sum == pytest.approx(slow.log_sum, abs=1e-10)
    for cell, (counts, weights) in enumerate(laws):
        others, wanted = slow.sum_of(np.array([cell]))
        assert weights @ counts == pytest.approx(wanted @ others, abs=1e-9)
        assert weights @ counts**2.0 == pytest.approx(wanted @ others**2.0, rel=1e-12)


def test_pairs_of_several_tables_are_read_as_each_alone() -> None:
    generator = np.random.default_rng(3)
    logs, first = generator.normal(size=(4, 2, 9)), generator.integers(0, 4, (4, 2))
    together = KnownSum(logs, first, TotalDistribution.known(11))
    for number in range(4):
        alone = KnownSum(logs[number : number + 1], first[number : number + 1], TotalDistribution.known(11))
        rest = 11 - int(first[number].sum())
        plain = [np.exp(logs[number, 0, s] + logs[number, 1, rest - s]) if 0 <= rest - s < 9 else 0.0 for s in range(9)]
        np.testing.assert_allclose(alone.marginals[0, 0], np.array(plain) / sum(plain), atol=1e-15)
        np.testing.assert_allclose(together.marginals[number], alone.marginals[0], atol=1e-15)
        np.testing.assert_allclose(together.mean[number], alone.mean[0], atol=1e-13)
        assert together.log_mass[number] == pytest.approx(np.log(sum(plain)), abs=1e-13)
        assert alone.log_mass[0] == pytest.approx(np.log(sum(plain)), abs=1e-13)


@pytest.mark.parametrize("margin", [0.5, 2.0, 8.0])
def test_what_windows_of_a_pair_leave_out_is_never_more_than_stated(margin: float) -> None:
    """Windows that are too narrow, around noisy counts that do not add up to the total."""
    kernel, total = kernel_of((410, 560), FALLS[0][1]), 1000
    first, last = (np.array([410, 560]) + int(side * margin * 7) for side in (-1, 1))
    first, last = first - 20, last + 20
    windows, alpha = CellWindows(kernel, first, last, total), np.array([0.6, 2.5])
    logs, law = windows.log_weights(alpha)[None], TotalDistribution.known(total)
    found = KnownSum(logs, first[None], law, outside=windows.beyond(alpha))
    every = np.arange(total + 1)
    logs = kernel(np.array([0]), every) + kernel(np.array([1]), total - every)
    logs += log_prior(alpha[0], every) + log_prior(alpha[1], total - every)
    assert 0 < np.expm1(logsumexp(logs) - found.log_mass[0]) <= found.lost[0]


def test_drawn_pairs_follow_their_law() -> None:
    kernel, centres = kernel_of((30, 68), FALLS[0][1]), np.array([30, 68])
    found = pair(kernel, centres, 7.0, TOTAL)
    drawn = found.draw(20_000, np.random.default_rng(20261116))
    assert (drawn.sum(axis=1) == TOTAL).all()
    counts, weights = found.sum_of(np.array([0]))
    mean = weights @ counts
    sd = np.sqrt(weights @ (counts - mean) ** 2)
    assert abs(drawn[:, 0].mean() - mean) < 4 * sd / np.sqrt(20_000)


def test_a_window_is_widened_until_it_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, centres = kernel_of((30, 68), FALLS[0][1]), np.array([30, 68])
    wide = pair(kernel, centres, 7.0, 10**4)
    monkeypatch.setattr(latent_counts, "_MARGIN_OF_PAIRS", 0.1)
    narrow = pair(kernel, centres, 7.0, 10**4)
    assert narrow.log_sum == pytest.approx(wide.log_sum, abs=1e-12)


def test_windows_of_rows_of_pairs_are_widened_until_they_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    centres = np.array([30, 9_000])

    def log_kernel(counts: Counts) -> Floats:
        away = counts - centres[:, None]
        return np.asarray(-np.abs(away) / 7 - np.abs(away - 40) / 9)

    wide_first, wide = pair_rows(log_kernel, centres, centres + 40, 7.0, 10**4)
    monkeypatch.setattr(pair_counts, "_MARGIN", 0.1)
    first, narrow = pair_rows(log_kernel, centres, centres + 40, 7.0, 10**4)
    for row in range(2):
        counts = first[row] + np.arange(narrow.shape[1])
        wanted = np.zeros(10**4 + 500)
        wanted[wide_first[row] + np.arange(wide.shape[1])] = wide[row]
        np.testing.assert_allclose(narrow[row], wanted[counts], atol=1e-13)


def test_a_window_that_would_be_too_wide_is_refused_in_words() -> None:
    centres = np.array([0, 10**12])
    with pytest.raises(DiscreetError, match="Nothing was read"):
        pair(kernel_of((0, 10**12), lambda x: -np.abs(x) / 1e10), centres, 1e10, 10**12)
    with pytest.raises(DiscreetError, match="Nothing was read"):
        pair_rows(lambda counts: -np.abs(counts) / 1e10, np.array([0]), np.array([10**12]), 1e10, 10**12)
