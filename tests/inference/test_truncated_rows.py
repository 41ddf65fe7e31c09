"""Truncated draws of several levels: what the cut leaves, and so their likelihood, against exact sums."""

from fractions import Fraction
from itertools import product
from math import factorial, lgamma, log

import numpy as np
import pytest

import discreet as dc
from discreet.inference import Problem, fit_of
from discreet.inference._truncated_mass import chance_slopes, log_chance_above

ROWS = [
    ((500, 300, 200), "0.3"),
    ((200, 30, 20), "0.01"),
    ((1, 1, 1), "0.000001"),
    ((5, 3, 2, 1), "0.2"),
    ((1, 1, 1, 1), "0.24"),
    ((40, 200, 3, 1), "0.2"),
    ((100, 100, 100, 100), "0.1"),
    ((1, 1, 90, 400), "0.215"),
    ((1, 1, 900, 900), "0.249"),
    ((9, 4, 3, 2, 1), "0.15"),
    ((50, 20, 10, 5, 1), "0.001"),
    ((1, 1, 1, 1, 1), "0.19"),
    ((30, 20, 10, 5, 1, 1, 1, 1), "0.1"),
    ((1, 1, 1, 1, 1, 1, 1, 1), "0.000001"),
    ((7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7), "0.08"),
    ((9000, 700, 90, 20, 1, 1), "0.1"),
]


def exact_log_chance(shapes: tuple[int, ...], least: Fraction) -> float:
    """Return log P(all theta >= w) of whole shapes, in fractions: no integral is left.

    t^(a - 1) for t >= w has the Laplace transform e^(-w s) sum_k (a - 1)! / k! w^k s^(k - a); so the density of the sum
    of all t at 1 is a sum of powers of 1 - m w, all of them positive.
    """
    powers = {0: Fraction(1)}
    for a in shapes:
        own = {a - k: Fraction(factorial(a - 1), factorial(k)) * least**k for k in range(a)}
        sums: dict[int, Fraction] = {}
        for (i, x), (j, y) in product(powers.items(), own.items()):
            sums[i + j] = sums.get(i + j, Fraction(0)) + x * y
        powers = sums
    left = 1 - len(shapes) * least
    density = sum(value * left ** (p - 1) / factorial(p - 1) for p, value in powers.items())
    return log(density.numerator) - log(density.denominator) + lgamma(sum(shapes)) - sum(map(lgamma, shapes))


def log_chance(shapes: tuple[float, ...], least: str) -> float:
    return float(log_chance_above(np.array(shapes, dtype=float)[:, None], float(least))[0])


@pytest.mark.parametrize(("shapes", "least"), [row for row in ROWS if sum(row[0]) < 260])
def test_what_a_cut_leaves_is_what_exact_sums_say(shapes: tuple[int, ...], least: str) -> None:
    assert log_chance(shapes, least) == pytest.approx(exact_log_chance(shapes, Fraction(least)), abs=1e-8)


@pytest.mark.parametrize(("shapes", "least"), [row for row in ROWS if len(row[0]) < 12])
def test_the_order_of_levels_does_not_matter(
    shapes: tuple[int, ...], least: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other pairs, other integrals, the same chance, also where next to nothing is left; more levels lose digits."""
    monkeypatch.setattr(np, "sort", lambda values, axis: values)  # the order is made the best one before
    found = [log_chance(tuple(np.roll(shapes, turn)), least) for turn in range(len(shapes))]
    assert np.ptp(found) < (1e-8 if len(shapes) <= 4 else 1e-4)


def test_shapes_that_are_no_whole_numbers_are_as_good() -> None:
    """The chance of six levels by its own recursion: one number after another, each a sum over 3,000 places."""
    shapes, least, places = (0.3, 1.7, 2.5, 0.9, 4.4, 6.1), 0.08, 3_000
    wide = (1 - len(shapes) * least) / places
    cells = least + wide * np.arange(places + 1)
    density = np.array([wide])  # of the excess over w times the number of levels so far
    for a in shapes:
        masses = np.diff(cells**a) / a
        density = np.convolve(density, masses)[: places + len(shapes)]
    middles = (np.arange(len(density)) + len(shapes) / 2) * wide  # each mass stands in the middle of its cell
    twin = np.interp(1 - len(shapes) * least, middles, density / wide**2)
    constant = lgamma(sum(shapes)) - sum(map(lgamma, shapes))
    assert log_chance(shapes, str(least)) == pytest.approx(log(twin) + constant, abs=1e-4)


@pytest.mark.parametrize("levels", [3, 4, 7])
def test_slopes_are_about_differences(levels: int) -> None:
    """They only push chains, which accept by the chances themselves."""
    generator = np.random.default_rng(levels)
    shapes = generator.uniform(1, 40, size=(levels, 10))
    least = 0.6 / levels
    found = chance_slopes(shapes, least)
    for level in range(levels):
        high, low = shapes.copy(), shapes.copy()
        high[level] += 1e-4
        low[level] -= 1e-4
        differences = (log_chance_above(high, least) - log_chance_above(low, least)) / 2e-4
        assert np.abs(found[level] - differences).max() < 0.1


@pytest.mark.parametrize("levels", ["abcd", "abcdef"])
def test_chains_have_the_likelihood_of_a_truncated_draw(levels: str) -> None:
    """All 20 or 56 tables of three records, with exact sums for what is cut off; one constant is left out."""
    model = dc.Categories("ward", levels=tuple(levels), outside="a", prior=1)
    mechanism = dc.PosteriorSampling.truncated(model, size=3, epsilon=4)
    assert mechanism.power == 1
    release = dc.simulate(mechanism, [2, 1, *[0] * (len(levels) - 2)], dc.SeededBits(5))
    tables = [table for table in product(range(4), repeat=len(levels)) if sum(table) == 3]
    (rows,) = mechanism.drawn_rows(np.array([release.counts]))
    sticks = (rows.sticks[0, 0] + 0.5) / 2.0**rows.grid_bits
    theta = np.append(sticks, 1.0) * np.append(1.0, np.cumprod(1 - sticks))
    logs = []
    for table in tables:
        shapes = tuple(1 + count for count in table)
        density = sum(k * log(t) for k, t in zip(table, theta, strict=True)) - sum(map(lgamma, shapes))
        logs.append(density - exact_log_chance(shapes, mechanism.least))
    quick = fit_of(Problem.of([release])).log_likelihood(np.array(tables).T)
    assert np.ptp(quick - np.array(logs)) < 1e-6
