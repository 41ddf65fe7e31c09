"""One search for all calibrated numbers: what it returns fits, and its neighbour does not."""

from fractions import Fraction

import pytest

from discreet._core.exact import rounded_up
from discreet.privacy import crossing, last_fitting, raised_to_fit, scale_rounded_down


@pytest.mark.parametrize("threshold", ["0.1", "1/3", "0.7071", "0.999"])
def test_the_last_that_fits_is_found_from_either_side(threshold: str) -> None:
    edge, near = Fraction(threshold), Fraction(1, 10**6)
    above = last_fitting(lambda v: v >= edge, Fraction(1), Fraction(0), near)
    below = last_fitting(lambda v: v <= edge, Fraction(0), Fraction(1), near)
    assert edge <= above <= edge * (1 + 2 * near)
    assert edge * (1 - 2 * near) <= below <= edge


def test_the_search_ends_where_no_number_lies_between() -> None:
    asked: list[Fraction] = []

    def fits(value: Fraction) -> bool:
        asked.append(value)
        return value >= Fraction(3, 2)

    found = last_fitting(fits, Fraction(2), Fraction(1), Fraction(0), lambda a, b: rounded_up(float(a + b) / 2, 3))
    assert found == Fraction(3, 2)
    assert len(asked) < 20


def test_rounding_is_to_the_side_that_fits_and_then_checked() -> None:
    found = raised_to_fit(lambda v: v >= Fraction("1.000005"), 1.0000001, Fraction(1, 10**6))
    assert found >= Fraction("1.000005")
    assert raised_to_fit(lambda _: True, 1.23456701, Fraction(1)) == Fraction("1.23457")
    assert scale_rounded_down(0.805537999) == Fraction("0.805537")
    assert scale_rounded_down(0.5) < Fraction(1, 2)


def test_a_crossing_is_bracketed_from_either_side() -> None:
    for start in (0.01, 3.0, 100.0):
        assert crossing(lambda scale: scale - 3, start) == pytest.approx(3, rel=1e-8)
