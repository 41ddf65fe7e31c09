"""Noise that states no likelihood: the law that ConeMoments states is integrated here, and its samples must follow it.

For one feature without an intercept a record adds (x^2, x y) to the moments, |x|, |y| <= 1, which lies in the body
E = {(a, c): c^2 <= a <= 1}. The noise is R (A - B) with R ~ Gamma(5, rate epsilon) and A, B uniform in E, so that

    f(u) = int_0^inf  gamma(R)  area(R E and (R E + u)) / area(R E)^2  dR,      area(R E) = 4 R^2 / 3.

A record that is replaced moves u by the difference of two points of E, and f must not change by more than e^epsilon.
The areas are sums over thin slices c = const, and the integral is a sum over R: nothing clever.
"""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.regression import ConeMoments

Floats = NDArray[np.float64]

EPSILON = 1.0
STEP, REACH = 0.25, 40  # f is known at multiples of STEP up to REACH of them: every record's numbers are such multiples
SLICES, RADII, LONGEST = 240, 300, 36.0
SLACK = 0.02  # of a loss, which is what these sums are good for
WEIGHTS = np.array([128.0, 64.0])  # units of the published numbers: a square counts twice, and M = 8
MODEL = dc.LinearRegression(
    "y", ["x"], {"x": (-1, 1), "y": (-1, 1)}, noise="0.5", intercept=False, grid=8, norm_bound=1, missing="middle"
)


def density(epsilon: float, scale: float = 1.0) -> Floats:
    """Return f at all points (i, j) STEP for i, j = 0 ... REACH; f is even in either number.

    `scale` shrinks the body; 1 is the true one.
    """
    across, along = (STEP * np.arange(REACH + 1) / scale for _ in range(2))
    radii = (np.arange(RADII) + 0.5) * LONGEST / RADII / epsilon
    found = np.zeros((REACH + 1, REACH + 1))
    for radius in radii:
        width = 2 * radius / SLICES
        c = -radius + width * (np.arange(SLICES) + 0.5)
        low, moved = c**2 / radius, (c[None, :] - along[:, None]) ** 2 / radius  # below which a body has nothing
        bottom = np.maximum(low[None, None, :], moved[None, :, :] + across[:, None, None])
        heights = np.maximum(0.0, radius - bottom)  # the top of the body that is not moved is the lower one
        gamma = epsilon**5 * radius**4 * np.exp(-epsilon * radius) / 24
        found += gamma * heights.sum(axis=-1) * width / (4 * radius**2 / 3) ** 2
    return np.asarray(found * (LONGEST / RADII / epsilon) / scale**2)


@pytest.fixture(scope="module")
def known() -> Floats:
    """Return the law of the noise at EPSILON."""
    return density(EPSILON)


def moves() -> set[tuple[int, int]]:
    """Return all that a replaced record can move, in steps, with values of x and y at multiples of a half."""
    halves = (-1.0, -0.5, 0.0, 0.5, 1.0)
    points = {(round(x * x / STEP), round(x * y / STEP)) for x, y in product(halves, repeat=2)}
    return {(a - b, c - d) for (a, c), (b, d) in product(points, repeat=2)}


def largest_loss(table: Floats) -> float:
    """Return the largest |ln f(u + move) / f(u)| over all points u and all moves that stay on the table."""
    full = np.concatenate([table[:0:-1], table])
    full = np.log(np.concatenate([full[:, :0:-1], full], axis=1))
    size, worst = full.shape[0], 0.0
    for one, two in moves():
        rows, columns = slice(max(0, one), size + min(0, one)), slice(max(0, two), size + min(0, two))
        back, aside = slice(max(0, -one), size + min(0, -one)), slice(max(0, -two), size + min(0, -two))
        worst = max(worst, float(np.abs(full[rows, columns] - full[back, aside]).max()))
    return worst


def test_no_replaced_record_changes_the_density_by_more_than_epsilon(known: Floats) -> None:
    assert ConeMoments(MODEL, 2, "1").guarantee.epsilon == 1
    assert largest_loss(known) <= EPSILON + SLACK


def test_the_integrated_law_has_mass_one(known: Floats) -> None:
    inner = known.copy()
    inner[1:] *= 2
    inner[:, 1:] *= 2
    assert inner.sum() * STEP**2 == pytest.approx(1, abs=0.02)


def test_a_record_adds_the_numbers_that_the_law_is_about() -> None:
    for x, y in product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=2):
        found = MODEL.statistics({"x": [x], "y": [y]}).open_for_publishing()
        assert np.asarray(found).tolist() == (WEIGHTS * [x * x, x * y]).tolist()


def misfit(table: Floats, epsilon: str) -> float:
    """Return chi^2 of 4,000 samples on 25 bins, each a few cells of the table wide."""
    mechanism = ConeMoments(MODEL, 2, epsilon)
    drawn = mechanism.sample(np.tile([128, 0], (4000, 1)), dc.SeededBits(9)) - np.array([128, 0])
    ends = np.array([-2.5, -0.5, 0.5, 2.5]) * STEP + np.array([-1, -1, 1, 1]) * STEP  # between two points of the table
    places = [np.searchsorted(ends, numbers) for numbers in (drawn / WEIGHTS).T]
    observed = np.bincount(5 * places[0] + places[1], minlength=25)
    full = np.concatenate([table[:0:-1], table])
    full = np.concatenate([full[:, :0:-1], full], axis=1)
    points = np.searchsorted(ends, STEP * np.arange(-REACH, REACH + 1))
    share = np.zeros((5, 5))
    np.add.at(share, (points[:, None], points[None, :]), full)
    expected = (4000 * share / share.sum()).ravel()
    return float(((observed - expected) ** 2 / expected).sum())


CHI_SQUARE = 65.58  # of 24 degrees of freedom, exceeded with probability 1e-5


def test_samples_follow_the_law(known: Floats) -> None:
    assert misfit(known, "1") < CHI_SQUARE


def test_noise_of_twice_the_rate_is_found(known: Floats) -> None:
    assert misfit(known, "2") > CHI_SQUARE
    assert largest_loss(density(2 * EPSILON)) > EPSILON + SLACK


def test_a_body_that_is_too_small_is_found() -> None:
    assert largest_loss(density(EPSILON, scale=0.9)) > EPSILON + SLACK
