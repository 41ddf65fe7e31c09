"""Bounds of normalisers and moments: against enumeration, the papers' digits, and draws where nothing can be listed."""

import numpy as np
import pytest

import discreet as dc
from discreet.certificates.hellinger_moments import Bounds, hellinger_moments
from discreet.certificates.pair_bound import pair_bound
from discreet.certificates.pair_certificate import pair_certificate
from discreet.certificates.posterior_distances import Tables
from discreet.divergences import hellinger
from discreet.mechanisms.hellinger import HellingerGlobal, HellingerReciprocal, HellingerSmooth
from discreet.mechanisms.hellinger_envelope import Envelope

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


@pytest.mark.parametrize(("alpha", "counts", "scale"), GRID)
def test_bounds_hold_what_enumeration_finds(alpha: tuple[float, ...], counts: tuple[int, ...], scale: float) -> None:
    prior, table = np.array(alpha, dtype=float), np.array(counts)
    distances = Tables(prior, int(table.sum())).distances(table[None])[0]
    weights = np.exp(-scale * distances)
    normaliser = weights.sum()
    found = hellinger_moments(prior, table, scale)
    pairs = [
        (found.log_normaliser, np.log(normaliser)),
        (found.distance, weights @ distances / normaliser),
        (found.square, weights @ distances**2 / normaliser),
        (found.truth, 1 / normaliser),
        (found.uniform_share, len(weights) * np.exp(-scale) / normaliser),
    ]
    for bounds, wanted in pairs:
        assert bounds.lower - 1e-13 <= wanted <= bounds.upper + 1e-13  # the error of enumeration itself
        assert bounds.upper - bounds.lower < 1e-9


@pytest.mark.parametrize(("size", "wanted"), [(100, 0.348103779044), (400, 0.068972100053), (1000, 0.043161881564)])
def test_expected_distances_of_the_published_mechanism(size: int, wanted: float) -> None:
    coin = dc.Categories("coin", levels=("heads", "tails"))
    found = HellingerSmooth(coin, size, 1, "1e-8").moments(np.array([size // 2, size // 2])).distance
    assert Bounds(found.lower - 6e-13, found.upper + 6e-13).holds(wanted)


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
    model = dc.Categories("x", levels=("a", "b", "c"))
    for mechanism in (HellingerReciprocal(model, 60, 1), HellingerSmooth(model, 60, 1, "1e-6")):
        found = mechanism.neighbours()
        for first, second, loss in list(zip(found.first, found.second, found.losses, strict=True))[::997]:
            assert loss <= mechanism.pair_epsilon(first, second)
            assert mechanism.pair_epsilon(first, second) <= float(mechanism.guarantee.epsilon) * 1.6
    large = HellingerGlobal(dc.Categories("x", levels=tuple(range(20))), 10**6, 1)
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
    mechanism = HellingerGlobal(dc.Categories("x", levels=tuple("abcd"), prior=prior), 149, epsilon)
    table = np.array([149, 0, 0, 0])
    distances = Tables(np.full(4, prior), 149).distances(table[None])[0]
    weights = np.exp(-float(mechanism.scales(table[None])[0]) * distances)
    found = mechanism.moments(table)
    wanted = (np.log(weights.sum()), weights @ distances / weights.sum())
    for bounds, value in zip((found.log_normaliser, found.distance), wanted, strict=True):
        assert bounds.lower - 1e-12 <= value <= bounds.upper + 1e-12
        assert bounds.upper - bounds.lower < 1e-9
