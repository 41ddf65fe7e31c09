"""Densities on a grid against laws that are known, and what a grid says of its own error."""

from functools import cached_property
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, gamma, t

from discreet.mathematics import on_a_grid, peak_of
from discreet.mathematics._grids import GridQuantity

SHAPE, RATE = 20.0, 10.0
LEVEL = 0.9


class NormalGamma:
    """x ~ Gamma(20, 10) and y | x ~ Normal(1, 1 / x), as rows of log x and y: then y is a Student number.

    Its density is bent, and its tails are longer than those of a normal law.
    """

    def __init__(self, rounding: float = 0.0) -> None:
        self.rounding = rounding
        self.asked = 0

    def values(self, theta: Any) -> Any:
        self.asked += len(theta)
        x, y = np.exp(theta[:, 0]), theta[:, 1] - 1
        found = (SHAPE + 0.5) * theta[:, 0] - RATE * x - x * y**2 / 2
        return found + self.rounding * np.sin(1e6 * theta.sum(axis=1))

    def __call__(self, theta: Any) -> Any:
        x, y = np.exp(theta[:, 0]), theta[:, 1] - 1
        slopes = np.stack([SHAPE + 0.5 - RATE * x - x * y**2 / 2, -x * y], axis=1)
        return self.values(theta), slopes

    @cached_property
    def truth(self) -> list[Any]:
        return [gamma(SHAPE, scale=1 / RATE), t(2 * SHAPE, loc=1, scale=np.sqrt(RATE / SHAPE))]


class LogitBeta:
    """A Beta(3, 40) number, as its logit."""

    def values(self, theta: Any) -> Any:
        return 3 * theta[:, 0] - 43 * np.log1p(np.exp(theta[:, 0]))

    def __call__(self, theta: Any) -> Any:
        return self.values(theta), 3 - 43 / (1 + np.exp(-theta))


def shown(theta: Any) -> Any:
    return np.stack([np.exp(theta[:, 0]), theta[:, 1]], axis=1)


def test_two_parameters_are_within_the_error_that_is_stated() -> None:
    target = NormalGamma()
    distributions = on_a_grid(target, peak_of(target, [np.zeros(2)])).distributions(shown)
    for law, truth in zip(distributions, target.truth, strict=True):
        assert isinstance(law, GridQuantity)
        stated = law.numerical_error(LEVEL)
        assert stated <= 1e-3 * truth.std()
        assert (law.mean, *law.interval(LEVEL)) == pytest.approx((truth.mean(), *truth.interval(LEVEL)), abs=stated)
        assert law.probability_above(truth.median()) == pytest.approx(0.5, abs=1e-4)


def test_one_parameter_is_within_the_error_that_is_stated() -> None:
    target, truth = LogitBeta(), beta(3, 40)
    (law,) = on_a_grid(target, peak_of(target, [np.zeros(1)])).distributions(lambda theta: 1 / (1 + np.exp(-theta)))
    stated = law.numerical_error(LEVEL)
    assert stated is not None
    assert stated <= 1e-6
    assert (law.mean, *law.interval(LEVEL)) == pytest.approx((truth.mean(), *truth.interval(LEVEL)), abs=stated)


def test_a_coarse_grid_states_a_larger_error_and_keeps_it() -> None:
    target = NormalGamma()
    peak = peak_of(target, [np.zeros(2)])
    rough, fine = (on_a_grid(target, peak, most).distributions(shown) for most in (700, np.inf))
    for one, two, truth in zip(rough, fine, target.truth, strict=True):
        stated = one.numerical_error(LEVEL)
        assert stated is not None
        assert stated > 3 * (two.numerical_error(LEVEL) or 0.0)
        assert (one.mean, *one.interval(LEVEL)) == pytest.approx((truth.mean(), *truth.interval(LEVEL)), abs=stated)


def test_quantities_that_fall_along_an_axis_are_read_as_well() -> None:
    target = NormalGamma()
    found = on_a_grid(target, peak_of(target, [np.zeros(2)]))
    rising, falling = found.distributions(lambda theta: np.stack([theta[:, 1], -theta[:, 1]], axis=1))
    assert falling.interval(LEVEL) == pytest.approx([-each for each in reversed(rising.interval(LEVEL))], abs=1e-9)


def test_the_mode_does_not_depend_on_where_a_search_stops() -> None:
    """As on different processors, which round differently: a search for a mode ends where a density hardly rises."""
    peaks = [peak_of(NormalGamma(by), [np.array(start)]) for by, start in ((0.0, (0.3, 2.0)), (1e-13, (-1.0, 0.0)))]
    assert peaks[0].location == pytest.approx(peaks[1].location, abs=1e-8)
    assert peaks[0].factor == pytest.approx(peaks[1].factor, abs=1e-7)
    rows = [on_a_grid(NormalGamma(), peak).distributions(shown)[0].interval(LEVEL) for peak in peaks]
    assert rows[0] == pytest.approx(rows[1], abs=1e-8)
