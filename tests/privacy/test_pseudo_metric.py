"""Privacy under a pseudo-metric: definition 2 of 2014, and what it says about groups."""

from fractions import Fraction

import numpy as np
import pytest

import discreet as dc
from discreet.privacy import MetricGuarantee


def test_groups_are_read_off_a_pure_guarantee() -> None:
    group = MetricGuarantee.of_records(dc.Guarantee("0.5")).group(4)
    assert (group.epsilon, group.delta) == (Fraction(2), Fraction(0))


def test_both_above_zero_do_not_scale() -> None:
    with pytest.raises(dc.DeclarationError, match="for_rows"):
        MetricGuarantee.of_records(dc.Guarantee("0.5", "1e-6"))


def test_remark_one_fails_when_both_are_above_zero() -> None:
    """Two steps of (ln 2, 0.1): the event may grow from 0 to 0.1 to 0.3, which is more than twice 0.1."""
    first, second, third = np.array([0.0, 1.0]), np.array([0.1, 0.9]), np.array([0.3, 0.7])
    promise = MetricGuarantee(Fraction(np.log(2)), "0.1")
    assert promise.holds(first, second, 1)
    assert promise.holds(second, third, 1)
    assert not promise.holds(first, third, 2)


def test_geometric_noise_keeps_its_promise_at_every_distance() -> None:
    model = dc.Categories("x", levels=("a", "b"), outside="a")
    mechanism = dc.GeometricHistogram(model, size=6, epsilon="0.5")
    promise = MetricGuarantee.of_records(mechanism.guarantee)
    outputs = mechanism.outputs_near(30)
    laws = [np.exp(mechanism.log_prob(outputs, np.array([k, 6 - k]))) for k in range(7)]
    for k in range(7):
        for other in range(7):
            assert promise.holds(laws[k], laws[other], abs(k - other))
    assert not MetricGuarantee("0.49").holds(laws[0], laws[3], 3)


def test_a_metric_of_its_own() -> None:
    """Laplace noise on a year of birth: epsilon for each year of difference."""
    years, scale = np.arange(-200, 201), 4.0
    laws = {birth: np.exp(-np.abs(years - birth) / scale) for birth in (0, 3)}
    laws = {birth: law / law.sum() for birth, law in laws.items()}
    assert MetricGuarantee("0.2501", metric="|x - y| in years").holds(laws[0], laws[3], 3)
    assert not MetricGuarantee("0.24", metric="|x - y| in years").holds(laws[0], laws[3], 3)
    with pytest.raises(dc.DeclarationError, match="not records"):
        MetricGuarantee("0.25", metric="|x - y| in years").group(2)


def test_total_variation_scales_too() -> None:
    assert MetricGuarantee(0, "0.1").at("2.5").delta == Fraction(1, 4)
    assert MetricGuarantee(0, "0.1").holds([0.5, 0.5], [0.7, 0.3], 2)


def test_nonsense_is_refused() -> None:
    with pytest.raises(dc.DeclarationError):
        MetricGuarantee(-1)
    with pytest.raises(dc.DeclarationError):
        MetricGuarantee(1, metric=" ")
    with pytest.raises(dc.DeclarationError):
        MetricGuarantee(0, "0.5").at(2)
