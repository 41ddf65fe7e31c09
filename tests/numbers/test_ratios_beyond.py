"""Ratios whose published end lies beyond what is possible: their intervals are no shorter for that."""

import numpy as np
import pytest

import discreet as dc
from discreet.inference import Quantiles, pair_noise


@pytest.mark.parametrize("cells", [2, 3])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
def test_an_end_below_zero_is_read_as_one_at_zero(cells: int, level: float) -> None:
    quantiles = Quantiles.of(pair_noise(cells, 0.5, seed=22), level)
    at_end = quantiles.interval(0.0, 100.0)
    assert at_end.low == 0 < at_end.high < 0.1
    for beyond in (-0.5, -3.0, -20.0, -90.0):
        assert quantiles.interval(beyond, 100.0 - beyond)[:3] == pytest.approx(at_end[:3])
        turned = quantiles.interval(100.0 - beyond, beyond)
        assert turned[:3] == pytest.approx(quantiles.interval(100.0, 0.0)[:3])
        assert turned.low < turned.high == 1


def test_a_mean_far_beyond_a_bound_has_an_interval_that_is_no_point() -> None:
    model = dc.NumberSums("x", (0, 10), ("mean", "sum"), missing=0)
    ends = np.array([[-30.0, 130.0], [100.0, 0.0]])
    output = tuple(int(each) for each in (ends * model.unit).ravel())
    rows = dc.infer(dc.Release(dc.GeometricSums(model, 100, 1), output, "x", simulated=True)).rows()
    for row in rows:
        assert row.mean == row.low == 0 < row.high
