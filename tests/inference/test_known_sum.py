"""Counts given their sum against plain sums over all tables: known totals, secret ones, errors that are stated."""

from itertools import product

import numpy as np
import pytest

from discreet._core.arrays import Counts, Floats
from discreet.inference import KnownSum, TotalDistribution
from discreet.inference import _known_sum as known_sum
from discreet.inference._windows import Beyond

KNOWN = TotalDistribution.known(13)
SECRET = TotalDistribution(7, -0.3 * np.abs(np.arange(12) - 4.0))
SINGLE, TWICE = np.array([1, 1, 1]), np.array([1, 2, 1])


def weights(tables: int = 2, steps: int = 6, seed: int = 41) -> tuple[Floats, Counts]:
    rng = np.random.default_rng(seed)
    return 2 * rng.normal(size=(tables, 3, steps)), rng.integers(0, 3, (tables, 3))


def every_table(logs: Floats, first: Counts, times: Counts, law: TotalDistribution) -> tuple[Counts, Floats]:
    """Return all tables of one set of weights with a possible total, and what each weighs."""
    rows = np.repeat(np.arange(len(times)), times)
    steps = np.array(list(product(range(logs.shape[1]), repeat=len(rows))))
    tables = first[rows] + steps
    place = tables.sum(axis=1) - law.low
    kept = (place >= 0) & (place < len(law.log_weights))
    found = logs[rows, steps[kept]].sum(axis=1) + law.log_weights[place[kept]]
    return tables[kept], np.exp(found)


@pytest.mark.parametrize("times", [SINGLE, TWICE], ids=["single cells", "equal cells"])
@pytest.mark.parametrize("law", [KNOWN, SECRET], ids=["known", "secret"])
@pytest.mark.parametrize("many", [64, 2], ids=["whole transforms", "low frequencies"])
def test_a_known_or_secret_total_is_a_sum_over_all_tables(
    law: TotalDistribution, times: Counts, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_sum, "MANY", many)
    logs, first = weights()
    found = KnownSum(logs, first, law, times)
    starts = np.cumsum(times) - times
    for number in range(2):
        tables, weigh = every_table(logs[number], first[number], times, law)
        shares = weigh / weigh.sum()
        assert found.error[number] < 1e-12
        assert found.log_mass[number] == pytest.approx(np.log(weigh.sum()), abs=1e-12)
        np.testing.assert_allclose(found.mean[number], (shares @ tables)[starts], atol=1e-11)
        for row, cell in enumerate(starts):
            wanted = np.bincount(tables[:, cell] - first[number, row], weights=shares, minlength=6)
            np.testing.assert_allclose(found.marginals[number, row], wanted, atol=found.error[number])
    np.testing.assert_allclose(found.marginals_of(np.array([[2, 0]] * 2)), found.marginals[:, [2, 0]], atol=1e-15)


@pytest.mark.parametrize("times", [SINGLE, TWICE], ids=["single cells", "equal cells"])
@pytest.mark.parametrize("law", [KNOWN, SECRET], ids=["known", "secret"])
def test_groups_pairs_and_draws_are_those_of_all_tables(law: TotalDistribution, times: Counts) -> None:
    logs, first = weights(tables=1)
    found = KnownSum(logs, first, law, times)
    tables, weigh = every_table(logs[0], first[0], times, law)
    shares = weigh / weigh.sum()
    one, two = np.array([1, 0, 0]), np.array([0, 1, 0])
    sums, chances = found.marginal(one + two)
    np.testing.assert_allclose(chances, np.bincount(tables[:, :2].sum(axis=1), shares, 40)[sums], atol=1e-13)
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    (left, right, both), _ = found.pair(one, two, (np.arange(9), np.arange(9)), 1e-14)
    for a, b, chance in zip(left, right, both, strict=True):
        assert chance == pytest.approx(shares[(tables[:, 0] == a) & (tables[:, 1] == b)].sum(), abs=1e-13)
    given = tables.sum(axis=1) == 13
    sums, chances = found.marginal(one, 13)
    wanted = np.bincount(tables[given, 0], weigh[given], 40)[sums] / weigh[given].sum()
    np.testing.assert_allclose(chances, wanted, atol=1e-12)
    drawn = found.draw(np.full(20_000, 13), np.random.default_rng(42))
    assert (drawn.sum(axis=1) == 13).all()
    mean, square = (weigh[given] @ tables[given] ** power / weigh[given].sum() for power in (1, 2))
    assert (np.abs(drawn.mean(axis=0) - mean) <= 4.5 * np.sqrt((square - mean**2) / 20_000) + 1e-9).all()


def test_every_total_of_a_range_has_its_sum_its_means_and_its_error() -> None:
    logs, first = weights(tables=1)
    low, high = int(first.sum()), int(first.sum()) + 15
    found = KnownSum(logs, first, TotalDistribution.any_of(low, high), centre=(low + high) / 2)
    sound = found.errors < 1e-9
    assert sound.sum() >= 12
    for place, total in enumerate(range(low, high + 1)):
        if sound[place]:
            tables, weigh = every_table(logs[0], first[0], SINGLE, TotalDistribution.known(total))
            assert abs(np.expm1(found.log_sums[place] - np.log(weigh.sum()))) <= found.errors[place]
            means = weigh @ tables / weigh.sum()
            np.testing.assert_allclose(found.means_given[:, place], means, atol=100 * found.errors[place])


@pytest.mark.parametrize(("low", "high"), [(-3, 5), (4, 9), (2, 40)])
def test_totals_that_no_counts_have_weigh_nothing_and_the_others_keep_their_digits(low: int, high: int) -> None:
    """Sums 10^-80 beside the largest: direct sums have them too, and their error says so."""
    logs, first = weights(tables=1)
    logs *= 20
    found = KnownSum(logs, first, TotalDistribution.any_of(low, high), centre=float(np.clip(8, first.sum() + 1, high)))
    for place, total in enumerate(range(low, high + 1)):
        tables, weigh = every_table(logs[0], first[0], SINGLE, TotalDistribution.known(total))
        if not len(tables):
            assert np.isneginf(found.log_sums[place])
            assert found.errors[place] == 1
            continue
        assert found.errors[place] < 1e-14
        assert found.log_sums[place] == pytest.approx(np.log(weigh.sum()), rel=1e-13, abs=1e-12)
        np.testing.assert_allclose(found.means_given[:, place], weigh @ tables / weigh.sum(), atol=1e-12)


def test_a_group_never_holds_more_than_the_total_it_is_asked_for() -> None:
    """Of a range of totals the first: rounding may not put records where there are none."""
    logs = -0.2 * np.abs(np.arange(80) - np.array([[[20], [30]]]))
    found = KnownSum(logs, np.zeros((1, 2), dtype=np.int64), TotalDistribution.any_of(12, 90), centre=51)
    for total in (12, 30, 90):
        for group in (np.array([1, 0]), np.array([0, 1])):
            sums, chances = found.marginal(group, total)
            assert max(0, total - 79) <= sums[0] <= sums[-1] <= total
            wanted = np.exp(logs[0, group.argmax(), sums] + logs[0, group.argmin(), total - sums])
            np.testing.assert_allclose(chances, wanted / wanted.sum(), atol=1e-11)


def laplace(cells: int, rate: float) -> Floats:
    return np.tile(-rate * np.abs(np.arange(201) - 100.0), (1, cells, 1))


def test_a_law_of_the_total_is_every_total_weighed_one_by_one() -> None:
    """Forty cells: too many tables to list, and the peak of the law is not that of the sum."""
    logs, first = laplace(40, 0.4), np.zeros((1, 40), dtype=np.int64)
    logs += 0.7 * np.log1p(np.arange(201) + np.arange(40)[:, None])
    law = TotalDistribution(3900, -0.02 * np.abs(np.arange(400) - 260.0))
    found = KnownSum(logs, first, law)
    alone = [KnownSum(logs, first, TotalDistribution.known(int(total))) for total in law.totals]
    each = np.array([float(one.log_mass[0]) for one in alone]) + law.log_weights
    shares = np.exp(each - each.max())
    assert found.log_mass[0] == pytest.approx(each.max() + np.log(shares.sum()), abs=1e-11)
    shares /= shares.sum()
    wanted = sum(share * one.marginals for share, one in zip(shares, alone, strict=True))
    np.testing.assert_allclose(found.marginals, wanted, atol=1e-13)
    sums, chances = found.marginal(np.repeat([1, 0], 20))
    assert sums @ chances == pytest.approx(float(found.mean[0, :20].sum()), abs=1e-8)
    np.testing.assert_allclose(found.log_sums[found.errors < 1e-11], (each - law.log_weights)[found.errors < 1e-11])


@pytest.mark.parametrize(("cells", "rate"), [(3, 0.1), (30, 0.1), (200, 0.2)])
def test_rounding_and_folding_stay_below_the_stated_error(
    cells: int, rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs, first = laplace(cells, rate), np.zeros((1, cells), dtype=np.int64)
    total = TotalDistribution.known(100 * cells + 17)
    found = KnownSum(logs, first, total)
    direct = np.ones(1)  # all terms are positive: every entry keeps its digits
    for row in found.tilted.weights[0]:
        direct = np.convolve(direct, row)
    mass = direct[100 * cells + 17]
    assert abs(found.mass[0] / mass - 1) <= found.error[0] < 1e-11
    monkeypatch.setattr(known_sum, "FOLDED", 6.0)
    short = KnownSum(logs, first, total)
    assert short._circle.length < found._circle.length or cells == 3
    assert abs(short.mass[0] / mass - 1) <= short.error[0]


def test_what_lies_outside_is_part_of_the_error() -> None:
    logs, first = laplace(3, 0.1)[:, :, 60:141], np.full((1, 3), 60)
    ends = np.full((1, 3), -4.0), np.full((1, 3), -0.1)
    narrow = KnownSum(logs, first, TotalDistribution.known(300), outside=Beyond(*ends, *ends, np.full((1, 3), 80)))
    wide = KnownSum(laplace(3, 0.1), np.zeros((1, 3), dtype=np.int64), TotalDistribution.known(300))
    assert 1e-3 < -np.expm1(narrow.log_mass - wide.log_mass)[0] < narrow.error[0]


def test_a_transform_that_is_zero_is_divided_by_as_if_it_were_not() -> None:
    """Two equal weights have no transform at half a turn, where that of the others is not small."""
    logs = np.log([[[0.5, 0.5], [0.3, 0.7], [0.7, 0.3]]])
    found = KnownSum(logs, np.zeros((1, 3), dtype=np.int64), TotalDistribution.any_of(1, 2), centre=1.5)
    assert found._circle.spectra[0, 0, -1] == known_sum._TINY
    tables, weigh = every_table(logs[0], np.zeros(3, dtype=np.int64), SINGLE, TotalDistribution.any_of(1, 2))
    np.testing.assert_allclose(found.mean[0], weigh @ tables / weigh.sum(), atol=1e-12)
    np.testing.assert_allclose(found.marginals[0, :, 1], weigh @ tables / weigh.sum(), atol=1e-12)
