"""Whole numbers as functions of normal ones have their laws exactly; orders of elimination; agreement of chains."""

import numpy as np
import pytest
from scipy.special import logsumexp, ndtr, ndtri
from scipy.stats import betabinom, hypergeom, norm

from discreet.inference import _couplings as couplings
from discreet.inference import clique_cells, cliques
from discreet.inference._sticks import Stick
from discreet.mathematics import agreement
from discreet.mathematics._nested_rhat import effective_sizes, nested_r_hat

ASIA = ((2,) * 8, ((), (), (0,), (1,), (1,), (2, 3), (5,), (5, 4)))


@pytest.mark.parametrize("total", [0, 1, 2, 7, 1000])
@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 2), (1, 3), (1, 5), (1, 2.5), (1, 30), (4, 1), (0.3, 1)])
def test_a_stick_with_a_closed_form_is_the_quantile_of_its_count(total: int, a: float, b: float) -> None:
    x = np.random.default_rng(total).standard_normal((1, 4_000))
    found, weights = Stick(a, b).whole(np.full_like(x, total), x)
    assert np.all(weights == 0.0)
    chances = betabinom(total, a, b).pmf(np.arange(total + 1))
    below = np.concatenate([[0.0], np.cumsum(chances)])  # at k: of less than k
    above = np.concatenate([np.cumsum(chances[::-1])[::-1], [0.0]])  # at k: of k or more
    upper = x[0] > 0  # from the nearer end, for digits
    counts = found[0].astype(int)
    low = np.where(upper, above[counts + 1] <= ndtr(-x[0]) * (1 + 1e-9), below[counts + 1] >= ndtr(x[0]) * (1 - 1e-9))
    before = np.where(upper, above[counts] >= ndtr(-x[0]) * (1 - 1e-9), below[counts] <= ndtr(x[0]) * (1 + 1e-9))
    assert low.all()
    assert before.all()


@pytest.mark.parametrize("total", [0, 1, 7, 200])
@pytest.mark.parametrize(("a", "b"), [(0.01, 0.5), (0.5, 0.5), (3, 2), (0.4, 0.8)])
def test_any_other_stick_has_its_law_once_it_is_weighted(total: int, a: float, b: float) -> None:
    """The weighted mass of each count over an even grid of quantiles is its Beta-binomial probability."""
    quantiles = (np.arange(50_000) + 0.5) / 50_000
    x = ndtri(quantiles)[None]
    found, weights = Stick(a, b).whole(np.full_like(x, total), x)
    mass = np.bincount(found[0].astype(int), np.exp(np.asarray(weights)[0]), minlength=total + 1) / x.size
    np.testing.assert_allclose(mass, betabinom(total, a, b).pmf(np.arange(total + 1)), atol=1e-4, rtol=2e-2)
    assert mass.sum() == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize(
    ("a", "b", "total"), [(300, 200, 50), (40, 60, 7), (0.01, 90, 30), (5e3, 4e3, 900), (2, 1e6, 9)]
)
def test_a_stick_that_outweighs_its_records_gives_counts_their_law(a: float, b: float, total: int) -> None:
    """Every count up to a chance of 1e-4 is met with its Beta-binomial probability, and no weight is large."""
    quantiles = (np.arange(50_000) + 0.5) / 50_000
    x = ndtri(quantiles)[None]
    found, weights = Stick(a, b).whole(np.full_like(x, total), x)
    mass = np.bincount(found[0].astype(int), np.exp(np.asarray(weights)[0]), minlength=total + 1) / x.size
    np.testing.assert_allclose(mass, betabinom(total, a, b).pmf(np.arange(total + 1)), atol=1e-4)
    assert np.max(weights) < 1
    r, slope = Stick(a, b).share(x[:, ::5_000], np.full((1, 10), float(total)))
    assert (np.abs(total * r - found[:, ::5_000]) <= 1 + 0.1 * total).all()
    assert np.isfinite(slope).all()


@pytest.mark.parametrize(("a", "b"), [(1, 2), (3, 1), (0.5, 0.5), (0.05, 2)])
def test_the_smooth_stick_has_the_slope_that_it_says_and_can_be_turned_round(a: float, b: float) -> None:
    x = np.linspace(-3, 3, 41)
    many = np.full_like(x, 1e12)
    r, slope = Stick(a, b).share(x, many)
    more, less = Stick(a, b).share(x + 1e-5, many)[0], Stick(a, b).share(x - 1e-5, many)[0]
    np.testing.assert_allclose(slope, (more - less) / 2e-5, rtol=1e-4, atol=1e-9)
    inside = (r > 1e-12) & (r < 1 - 1e-9)
    np.testing.assert_allclose(Stick(a, b).normal(r, 1e12)[inside], x[inside], atol=1e-5)


@pytest.mark.parametrize(("a", "b"), [(2, 1e3), (1e3, 2), (1e3, 1e9), (1e9, 1e3), (1e9, 1e9), (1e9, 1e-6), (0.5, 1e7)])
def test_shares_of_very_strong_priors_are_quantiles_up_to_the_far_ends(a: float, b: float) -> None:
    x = np.linspace(-8.4, 8.4, 85)
    r, slope = Stick(a, b).share(x, np.full_like(x, 1e12))
    assert np.isfinite(slope).all()
    assert (np.diff(r) >= 0).all()
    inside = (r > 1e-300) & (r < 1 - 1e-3)
    np.testing.assert_allclose(Stick(a, b).normal(r, 1e12)[inside], x[inside], atol=2e-4)


def test_a_small_coupling_is_the_quantile_of_the_hypergeometric_law() -> None:
    generator = np.random.default_rng(1)
    s = generator.integers(0, 120, size=10_000).astype(float)
    a, f = np.floor(s * generator.random(10_000)), np.floor((s + 1) * generator.random(10_000) ** 2)
    f[:100], a[100:200] = 0.0, s[100:200]
    x = generator.standard_normal(10_000)
    found, weights = couplings.whole(x, s, a, np.minimum(f, s))
    exact = weights == 0.0
    law = hypergeom(s.astype(int), a.astype(int), np.minimum(f, s).astype(int))
    good = (law.cdf(found) >= ndtr(x) - 1e-9) & (law.cdf(found - 1) <= ndtr(x) + 1e-9)
    assert exact.mean() > 0.5
    assert good[exact & (s > 0)].all()
    assert (found[s == 0] == 0).all()


@pytest.mark.parametrize(
    ("s", "a", "f"), [(1000, 300, 200), (5000, 90, 4000), (400, 200, 200), (10**6, 40, 10**6 - 90)]
)
def test_a_large_coupling_has_its_law_once_it_is_weighted(s: int, a: int, f: int) -> None:
    x = ndtri((np.arange(100_000) + 0.5) / 100_000)
    places, here, records = (np.full_like(x, value) for value in (s, a, f))
    found, weights = couplings.whole(x, places, here, records)
    mass = np.bincount(found.astype(int), np.exp(weights), minlength=a + 1) / x.size
    np.testing.assert_allclose(mass, hypergeom(s, a, f).pmf(np.arange(len(mass))), atol=1e-4)
    assert np.std(weights) < 0.1


@pytest.mark.parametrize(
    ("s", "a", "f", "x"),
    [
        (32_561, 10_771, 5_570, 21.0),
        (32_561, 10_771, 5_570, -21.0),
        (5_000, 900, 700, 12.0),
        (4_000, 400, 3_000, -11.0),
        (10**6, 3 * 10**5, 4 * 10**5, 150.0),
    ],
)
def test_a_coupling_far_out_has_its_law_too(s: int, a: int, f: int, x: float) -> None:
    """The normal mass of all x that give t, times the weight of t, is P(t): added up over a fine grid, as logs."""
    grid = x + np.linspace(-0.5, 0.5, 200_001)
    found, weights = couplings.whole(grid, *(np.full_like(grid, value) for value in (s, a, f)))
    assert (np.diff(found) >= 0).all()
    whole = np.unique(found)[1:-1]  # at both ends of the grid a part is missing
    assert len(whole) > 3
    for t in whole[:: max(1, len(whole) // 5)]:
        own = found == t
        mass = logsumexp(norm.logpdf(grid[own])) + np.log(1 / 200_000)
        assert mass + weights[own][0] == pytest.approx(hypergeom(s, a, f).logpmf(int(t)), abs=0.01)
        back, _ = couplings.normal(t, *(np.asarray(float(value)) for value in (s, a, f)))
        assert grid[own][0] - 0.01 < back < grid[own][-1] + 0.01
    smooth, _, _, slope = couplings.share(grid, *(np.full_like(grid, value) for value in (s, a, f)))
    assert np.abs(smooth - found).max() <= 0.5 + 1e-6  # the stand-in is the same curve
    np.testing.assert_allclose(np.gradient(smooth, grid)[1:-1], slope[1:-1], rtol=1e-3)


def test_orders_have_as_few_cells_as_is_known() -> None:
    """Asia's best order has 54 cells; every table is filled from a margin of one that was filled before."""
    assert clique_cells(*ASIA) == 54
    for place, clique in enumerate(cliques(*ASIA)):
        assert clique.home is None or clique.home < place
        assert clique.margin.shape[0] == clique.rows * clique.contexts
        np.testing.assert_array_equal(clique.margin.sum(axis=0), 1)


def test_chains_that_agree_and_chains_that_do_not() -> None:
    generator = np.random.default_rng(2)
    values = generator.normal(size=(3, 64, 50))
    assert nested_r_hat(values).max() < 1.01
    np.testing.assert_allclose(effective_sizes(values), 3_200, rtol=0.6)
    assert agreement(values).errors == pytest.approx(1 / np.sqrt(3_200), rel=0.35)
    apart = values + np.arange(64)[:, None] / 20
    found = agreement(apart)
    assert found.r_hat > 1.2
    assert found.bulk < 150
    wide = values * np.where(np.arange(64) < 8, 5.0, 1.0)[:, None]  # one group far wider
    assert nested_r_hat(wide).max() < 1.02
    assert agreement(wide).r_hat > 1.05
    still = agreement(np.ones((2, 8, 5)))
    assert (still.r_hat, still.errors.tolist()) == (1.0, [0.0, 0.0])
