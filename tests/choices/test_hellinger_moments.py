"""Bounds of normalisers and moments: against enumeration, the papers' digits, and draws where nothing can be listed."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.choices import _hellinger_moments as certified
from discreet.choices._hellinger_envelope import Envelope
from discreet.choices._hellinger_mechanism import pair_certificate
from discreet.choices._hellinger_moments import Enclosure, hellinger_moments
from discreet.choices._pair_bound import pair_bound
from discreet.choices._posterior_distances import Tables
from discreet.choices._stable_distribution import log_probabilities
from discreet.mathematics._divergences import hellinger
from uncalibrated_hellinger import HellingerGlobal, HellingerReciprocal, HellingerSmooth

GRID = [
    ((1, 1, 1), (3, 4, 5), 3.0),
    ((1, 0.3, 2), (10, 0, 0), 8.0),
    ((0.01, 0.01, 1, 7), (0, 0, 7, 0), 0.5),
    ((1, 1), (15, 25), 20.0),
    ((1, 1, 1, 1), (2, 2, 2, 3), 12.0),
    ((0.001, 0.001), (30, 0), 5.0),
    ((1, 1, 1, 1, 1), (0, 0, 0, 8, 0), 2.0),
    ((1, 1, 1), (33, 33, 34), 15.0),
    ((1, 1, 1, 1), (15, 15, 15, 15), 0.05),
    ((1, 1, 1), (98, 1, 1), 100.0),
    ((1, 1, 1), (150, 40, 10), 40.0),
    ((1, 1, 1, 1), (25, 25, 25, 25), 10.0),
]
LARGE_SCALES = [
    ((1, 1, 1, 1), (8, 6, 6, 6), 200.0),
    ((1, 1, 1, 1), (8, 6, 6, 6), 4_284.0),
    ((100, 100, 100), (20, 10, 5), 100.0),
    ((100, 100, 100), (20, 10, 5), 2_000.0),
]


def compared(prior: Any, table: Any, scale: float) -> list[tuple[Enclosure, float]]:
    """Return bounds, and beside them what a list of all tables says."""
    distances = Tables(prior, int(table.sum())).distances(table[None])[0]
    weights = np.exp(-scale * distances)
    normaliser = weights.sum()
    found = hellinger_moments(prior, table, scale)
    return [
        (found.log_normaliser, np.log(normaliser)),
        (found.distance, weights @ distances / normaliser),
        (found.square, weights @ distances**2 / normaliser),
        (found.truth, 1 / normaliser),
        (found.uniform_share, len(weights) * np.exp(-scale) / normaliser),
    ]


@pytest.mark.parametrize("listed", [0, 20_000])
@pytest.mark.parametrize(("alpha", "counts", "scale"), [*GRID, *LARGE_SCALES])
def test_bounds_hold_what_enumeration_finds(
    monkeypatch: pytest.MonkeyPatch, alpha: tuple[float, ...], counts: tuple[int, ...], scale: float, listed: int
) -> None:
    monkeypatch.setattr(certified, "_MOST_LISTED", listed)
    for bounds, wanted in compared(np.array(alpha, dtype=float), np.array(counts), scale):
        assert bounds.lower - 1e-13 <= wanted <= bounds.upper + 1e-13  # the error of enumeration itself
        assert bounds.upper - bounds.lower < 1e-9


@pytest.mark.parametrize("scale", [3.0, 20.0, 45.0, 200.0, 3_000.0])
def test_bounds_hold_if_the_sum_is_cut_short(monkeypatch: pytest.MonkeyPatch, scale: float) -> None:
    """From k = 256 on only 1 <= Z_k <= Z_256 is used: h and s are negative there for the first two scales alone."""
    monkeypatch.setattr(certified, "_MOST_LISTED", 0)
    monkeypatch.setattr(certified, "_MOST_LAST", 256)
    for prior, table in ((np.ones(3), np.array([40, 30, 9])), (np.full(4, 500.0), np.array([6, 6, 6, 6]))):
        found = compared(prior, table, scale)
        for bounds, wanted in found:
            assert bounds.lower - 1e-13 <= wanted <= bounds.upper + 1e-13
        assert found[0][0].upper - found[0][0].lower > 1e-6


@pytest.mark.parametrize(
    ("prior", "counts", "scale", "listed"),
    [(1.0, (150, 150, 150, 150), 9_818.0, 20_000), (1.0, (8, 6, 6, 6), 4_284.0, 0), (1e6, (20, 20, 19), 8e5, 20_000)],
)
def test_large_scales_take_few_coefficients(
    monkeypatch: pytest.MonkeyPatch, prior: float, counts: tuple[int, ...], scale: float, listed: int
) -> None:
    """Most of p lies near c^2/6 and above, where Z_k = 1 to all digits: nothing of it has to be worked out."""
    asked: list[int] = []

    def counted(number: float, k: NDArray[np.int64]) -> NDArray[np.float64]:
        asked.append(len(k))
        return log_probabilities(number, k)

    monkeypatch.setattr(certified, "_MOST_LISTED", listed)
    monkeypatch.setattr(certified, "log_probabilities", counted)
    found = hellinger_moments(np.full(len(counts), prior), np.array(counts), scale)
    assert sum(asked) < 2**17
    for bounds in (found.log_normaliser, found.distance, found.square):
        assert bounds.upper - bounds.lower < 1e-9


@pytest.mark.parametrize("prior", [1e6, 6e8])
def test_bounds_are_narrow_for_large_priors_of_few_tables(prior: float) -> None:
    for scale in (prior**0.5, 20 * prior**0.5):
        for bounds, wanted in compared(np.full(3, prior), np.array([20, 20, 19]), scale):
            assert bounds.lower - 1e-12 <= wanted <= bounds.upper + 1e-12
            assert bounds.upper - bounds.lower < 1e-9


@pytest.mark.parametrize(("size", "wanted"), [(100, 0.348103779044), (400, 0.068972100053), (1000, 0.043161881564)])
def test_expected_distances_of_the_published_mechanism(size: int, wanted: float) -> None:
    coin = dc.Categories("coin", levels=("heads", "tails"), outside="heads")
    found = HellingerSmooth(coin, size, 1, "1e-8").moments(np.array([size // 2, size // 2])).distance
    assert Enclosure(found.lower - 6e-13, found.upper + 6e-13).holds(wanted)


def test_an_uncertain_scale_widens_the_bounds_enough() -> None:
    alpha, table = np.ones(3), np.array([20, 10, 5])
    wide = hellinger_moments(alpha, table, 9.0, 1e-3)
    for scale in (9.0 * (1 - 1e-3), 9.0, 9.0 * (1 + 1e-3)):
        near = hellinger_moments(alpha, table, scale)
        for name in ("log_normaliser", "distance", "square", "truth"):
            outer, inner = getattr(wide, name), getattr(near, name)
            assert outer.lower <= inner.lower <= inner.upper <= outer.upper


@pytest.mark.parametrize(("size", "cells", "scale", "share"), [(10**6, 20, 220.0, 1.0), (20_000, 8, 60.0, 0.4)])
def test_draws_where_nothing_can_be_listed_have_the_mean_that_the_bounds_say(
    size: int, cells: int, scale: float, share: float
) -> None:
    """Up to 10^97 candidates; the counts of the second case fall from cell to cell."""
    draws, shares = 4_000, share ** np.arange(cells)
    table = (size * shares / shares.sum()).astype(np.int64)
    table[0] += size - table.sum()
    envelope = Envelope(np.ones(cells), table, scale)
    rows = envelope.draw(draws, np.random.default_rng(97))
    distances = np.sqrt(-np.expm1(envelope.powers.log_affinities(rows - table)))
    found = hellinger_moments(np.ones(cells), table, scale)
    for bounds, values in ((found.distance, distances), (found.square, distances**2)):
        assert bounds.upper - bounds.lower < 1e-7
        assert abs(values.mean() - bounds.middle) < 4.5 * values.std() / np.sqrt(draws)


def test_the_bound_for_one_pair_holds_and_is_about_half_of_the_plain_one() -> None:
    model = dc.Categories("x", levels=("a", "b", "c"), outside="a")
    for mechanism in (HellingerReciprocal(model, 60, 1), HellingerSmooth(model, 60, 1, "1e-6")):
        found = mechanism.neighbours()
        for first, second, loss in list(zip(found.first, found.second, found.losses, strict=True))[::997]:
            assert loss <= mechanism.pair_epsilon(first, second)
            assert mechanism.pair_epsilon(first, second) <= float(mechanism.guarantee.epsilon) * 1.6
    large = HellingerGlobal(dc.Categories("x", levels=tuple(range(20)), outside=0), 10**6, 1)
    one = np.full(20, 50_000)
    two = one + np.eye(20, dtype=np.int64)[0] - np.eye(20, dtype=np.int64)[1]
    scale = float(large.scales(one[None])[0])
    assert large.pair_epsilon(one, two) < 0.51 * pair_bound(scale, scale, hellinger(1.0 + one, 1.0 + two))


def test_a_pair_bound_knows_which_scale_is_smaller() -> None:
    alpha, one, two = np.ones(3), np.array([4, 4, 4]), np.array([5, 3, 4])
    tables = Tables(alpha, 12)
    for scales in ((2.0, 2.5), (2.5, 2.0)):
        logs = [-c * tables.distances(x[None])[0] for c, x in zip(scales, (one, two), strict=True)]
        p, q = (each - np.logaddexp.reduce(each) for each in logs)
        bound = pair_certificate(alpha, one, two, scales)
        assert np.abs(p - q).max() <= bound <= pair_certificate(alpha, two, one, scales[::-1]) + 1e-15


@pytest.mark.parametrize(("prior", "epsilon"), [(2e-5, 18), (1e-3, 18), (0.02, 100), (1e-6, 1000)])
def test_bounds_are_narrow_where_all_records_lie_in_one_cell(prior: float, epsilon: int) -> None:
    mechanism = HellingerGlobal(dc.Categories("x", levels=tuple("abcd"), prior=prior, outside="a"), 149, epsilon)
    table = np.array([149, 0, 0, 0])
    distances = Tables(np.full(4, prior), 149).distances(table[None])[0]
    weights = np.exp(-float(mechanism.scales(table[None])[0]) * distances)
    found = mechanism.moments(table)
    wanted = (np.log(weights.sum()), weights @ distances / weights.sum())
    for bounds, value in zip((found.log_normaliser, found.distance), wanted, strict=True):
        assert bounds.lower - 1e-12 <= value <= bounds.upper + 1e-12
        assert bounds.upper - bounds.lower < 1e-9
