"""Variances and sums: their intervals hold what may be true, at the ends of what is possible as elsewhere.

How often they cover is measured in validation/test_skewed_truths.py, on more settings and many more releases.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.inference import Row
from discreet.numbers._bounded_number import POPULATION
from discreet.numbers._sums_inference import NumberSumsSolution

RELEASES = 50


def rows_of(model: dc.NumberSums, values: Sequence[float], epsilon: object, seed: int) -> list[tuple[Row, ...]]:
    """Return the rows of many releases of the same records."""
    size = len(values)
    mechanism = dc.GeometricSums(model, size, str(epsilon))
    secret = np.tile(model.rehearse({"x": list(values)}), (RELEASES, 1))
    outputs = mechanism.sample(secret, dc.SeededBits(seed))
    releases = [dc.Release(mechanism, tuple(map(int, output)), "sums", simulated=True) for output in outputs]
    return [dc.infer(release).rows() for release in releases]


def held(rows: Sequence[Row], truth: float) -> float:
    return float(np.mean([row.low <= truth <= row.high for row in rows]))


def variance_of(bounds: tuple[int, int], **settings: object) -> dc.NumberSums:
    return dc.NumberSums("x", bounds, ("variance",), missing=0, **settings)  # type: ignore[arg-type]


def test_a_constant_column_may_have_no_variance_at_all() -> None:
    """Of 50 releases, more than eight miss with probability .001 if each does with .05."""
    found = rows_of(variance_of((0, 100)), [17.3] * 100, 1, seed=501)
    for rows in zip(*found, strict=True):
        assert held(rows, 0.0) >= 0.84
        assert all(0 <= row.low <= row.mean <= row.high <= 2500 for row in rows)
        assert all(row.high > row.low for row in rows)


def test_small_variances_between_wide_bounds_are_held() -> None:
    values = np.random.default_rng(502).lognormal(3, 0.8, 500)
    records, population = zip(*rows_of(variance_of((0, 2000)), values.tolist(), 1, seed=502), strict=True)
    assert held(records, float(values.var())) >= 0.8
    assert held(population, float(values.var())) >= 0.8


def test_the_population_of_a_yes_no_column_may_vary_more_than_its_records() -> None:
    """The truth is r (1 - r), the largest variance that a mean r allows; records happen to have fewer ones."""
    records, population = zip(*rows_of(variance_of((0, 1)), [1.0] * 108 + [0.0] * 292, 1, seed=503), strict=True)
    assert held(records, 0.27 * 0.73) >= 0.8
    assert held(population, 0.3 * 0.7) >= 0.8
    assert all(row.high <= 0.25 for row in population)


@pytest.mark.parametrize("far", [-80.0, -20.0, 0.0, 60.0, 130.0, 200.0])
def test_intervals_of_variances_lie_in_what_is_possible_whatever_noise_does(far: float) -> None:
    model = dc.NumberSums("x", (0, 10), ("mean", "variance"), missing=0)
    reading = NumberSumsSolution(model, 100, np.array([[30.0, 70.0]]), np.array([[far, 100 - far]]), (0.5, 0.5))
    mean = reading.record_mean(0, reading.quantiles(0.99))
    for sampled in (False, True):
        around = reading.population_mean(0, 0.99, mean) if sampled else mean
        inner, outer = (reading.variance(0, level, around, sampled) for level in (0.5, 0.9))
        assert 0 <= outer.low <= inner.low < inner.high <= outer.high <= 25
        assert inner.low <= inner.point <= inner.high
        assert outer.low <= outer.point <= outer.high
    drawn = reading.variances(0)
    assert len(drawn) == reading.noise.size
    assert 0 <= drawn.min() <= drawn.max() <= 25


def test_a_group_that_noise_hides_may_have_any_variance() -> None:
    model = dc.NumberSums("x", (0, 10), ("variance",))
    reading = NumberSumsSolution(model, 100, np.array([[-30.0, -9.0]]), np.array([[-20.0, -19.0]]), (0.5, 0.5))
    mean = reading.record_mean(0, reading.quantiles(0.99))
    assert reading.variance(0, 0.9, mean, sampled=False)[:3] == (12.5, 0.0, 25.0)


def sums_and_means(model: dc.NumberSums, ends: NDArray[np.float64]) -> list[Row]:
    size = int(ends[0].sum())
    release = dc.Release(
        dc.GeometricSums(model, size, 1), tuple(int(each) for each in (ends * model.unit).ravel()), "x", simulated=True
    )
    return list(dc.infer(release).rows())


@pytest.mark.parametrize("high", [-3.0, 2.0, 40.0, 104.0])
def test_a_sum_is_n_times_the_mean_where_n_is_public(high: float) -> None:
    """Both rows, all three numbers; noise may have taken the published end beyond what is possible."""
    model = dc.NumberSums("x", (0, 1000), ("mean", "sum"), missing=0)
    rows = sums_and_means(model, np.array([[high, 100 - high], [97.0, 3.0]]))
    for mean, total in zip(rows[:2], rows[2:], strict=True):
        expected = [100 * each for each in (mean.mean, mean.low, mean.high)]
        assert [total.mean, total.low, total.high] == pytest.approx(expected)
        assert 0 <= total.low <= total.high <= 100_000
    assert {row.quantity.endswith(f"({POPULATION})") for row in rows[1::2]} == {True}


def test_a_sum_whose_number_of_values_is_secret_is_not_beyond_what_is_possible() -> None:
    model = dc.NumberSums("x", (10, 50), ("sum",))
    for row in sums_and_means(model, np.array([[-1.0, 2.0, 99.0], [3.0, -2.0, 99.0]])):
        assert 0 <= row.low <= row.mean <= row.high <= 5000


@pytest.mark.parametrize("by", [None, dc.Column("g", ("a", "b"), outside="a")])
@pytest.mark.parametrize("missing", [None, 0])
def test_a_standard_deviation_is_the_root_of_the_variance_in_rows_draws_truths_and_units(
    by: dc.Column | None, missing: int | None
) -> None:
    model = dc.NumberSums("x", (0, 10), ("variance", "standard deviation"), by=by, missing=missing)
    values = np.random.default_rng(601).gamma(2, 1.5, 200).tolist()
    records = {"x": values, "g": ["a", "b"] * 100}
    found = dc.infer(dc.simulate(dc.GeometricSums(model, 200, 1), model.rehearse(records), dc.SeededBits(602)))
    each = 4
    rows = [found.rows()[first : first + each] for first in range(0, len(found.rows()), each)]
    for records_squared, population_squared, own, wider in rows:
        for squared, root in ((records_squared, own), (population_squared, wider)):
            assert (root.mean, root.low, root.high) == tuple(map(sqrt, (squared.mean, squared.low, squared.high)))
            assert root.unit == "x"
            assert squared.unit == "x squared"
    drawn = found.draws(100, seed=1)
    assert np.allclose(drawn["standard deviation"] ** 2, drawn["variance"], rtol=1e-12, atol=0)
    truth = np.array(model.simulate(200, np.random.default_rng(603)).truth).reshape(-1, 2, 2)
    assert np.allclose(truth[:, 1] ** 2, truth[:, 0], rtol=1e-12, atol=0)
    assert model.squares_share == dc.NumberSums("x", (0, 10), ("variance",), by=by, missing=missing).squares_share


def test_a_standard_deviation_of_dates_is_in_days() -> None:
    model = dc.NumberSums("day", ("2020-01-01", "2021-01-01"), ("standard deviation",), missing="2020-07-01")
    days = [f"2020-0{1 + number % 9}-15" for number in range(90)]
    found = dc.infer(dc.simulate(dc.GeometricSums(model, 90, 2), model.rehearse({"day": days}), dc.SeededBits(604)))
    assert {row.unit for row in found.rows()} == {"days"}
    assert all(0 <= row.low < 79 < row.high < 366 for row in found.rows())  # 79.0 days
