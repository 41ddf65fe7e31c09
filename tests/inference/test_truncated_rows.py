"""Truncated draws of several levels: what the cut leaves, and so their likelihood, against exact sums."""

from fractions import Fraction
from itertools import product
from math import factorial, lgamma, log

import numpy as np
import pytest

import discreet as dc
from discreet.reading import Case
from discreet.reading.counts.kept_mass import chance_slopes, log_chance_above
from discreet.reading.engines.counts import fit_of

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


def log_chance(shapes: tuple[int, ...], least: str) -> float:
    return float(log_chance_above(np.array(shapes, dtype=float)[:, None], float(least))[0])


@pytest.mark.parametrize(("shapes", "least"), [row for row in ROWS if sum(row[0]) < 300])
def test_what_a_cut_leaves_is_what_exact_sums_say(shapes: tuple[int, ...], least: str) -> None:
    assert log_chance(shapes, least) == pytest.approx(exact_log_chance(shapes, Fraction(least)), abs=1e-8)


@pytest.mark.parametrize(("shapes", "least"), ROWS)
def test_the_order_of_levels_does_not_matter(shapes: tuple[int, ...], least: str) -> None:
    """Other pairs, other integrals, the same chance: also where next to nothing is left."""
    found = [log_chance(tuple(np.roll(shapes, turn)), least) for turn in range(len(shapes))]
    assert np.ptp(found) < 1e-8


@pytest.mark.parametrize("levels", [3, 4])
def test_slopes_are_differences(levels: int) -> None:
    generator = np.random.default_rng(levels)
    shapes = generator.uniform(1, 40, size=(levels, 20))
    found = chance_slopes(shapes, 0.15)
    for level in range(levels):
        high, low = shapes.copy(), shapes.copy()
        high[level] += 1e-4
        low[level] -= 1e-4
        differences = (log_chance_above(high, 0.15) - log_chance_above(low, 0.15)) / 2e-4
        assert np.abs(found[level] - differences).max() < 0.01


def test_chains_have_the_likelihood_of_a_truncated_draw_of_four_levels() -> None:
    """All 20 tables of three records, with exact sums for what is cut off; one constant is left out."""
    model = dc.Categories("ward", levels=("a", "b", "c", "d"), outside="a", prior=1)
    mechanism = dc.PosteriorSampling.truncated(model, size=3, epsilon=4)
    assert mechanism.power == 1
    release = dc.simulate(mechanism, [2, 1, 0, 0], dc.SeededBits(5))
    tables = [table for table in product(range(4), repeat=4) if sum(table) == 3]
    (rows,) = mechanism.drawn_rows(np.array([release.counts]))
    sticks = (rows.sticks[0, 0] + 0.5) / 2.0**rows.grid_bits
    theta = np.append(sticks, 1.0) * np.append(1.0, np.cumprod(1 - sticks))
    logs = []
    for table in tables:
        shapes = tuple(1 + count for count in table)
        density = sum(k * log(t) for k, t in zip(table, theta, strict=True)) - sum(map(lgamma, shapes))
        logs.append(density - exact_log_chance(shapes, mechanism.least))
    quick = fit_of(Case.of([release])).log_likelihood(np.array(tables).T)
    assert np.ptp(quick - np.array(logs)) < 1e-6
