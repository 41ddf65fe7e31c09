import mpmath
import numpy as np
import pytest

from discreet.mathematics import log_gamma_ratio


@pytest.mark.parametrize("x", [1.0, 2.5, 29.9, 30.0, 1e3, 1e6, 1e9, 1e12])
@pytest.mark.parametrize("shift", [-0.999, -0.5, 0.0, 1e-6, 1.0, 3.7, 250.0, 1e6])
def test_ratios_of_gamma_functions_keep_their_digits(x: float, shift: float) -> None:
    with mpmath.workdps(50):
        exact = mpmath.loggamma(mpmath.mpf(x) + mpmath.mpf(shift)) - mpmath.loggamma(mpmath.mpf(x))
    assert float(log_gamma_ratio(x, shift)) == pytest.approx(float(exact), rel=2e-13, abs=2e-13)


def test_rows_are_treated_one_by_one() -> None:
    x, shift = np.array([1.0, 50.0, 1e9]), np.array([0.5, -0.5, 2.0])
    assert log_gamma_ratio(x, shift) == pytest.approx(
        [float(log_gamma_ratio(a, b)) for a, b in zip(x, shift, strict=True)]
    )
