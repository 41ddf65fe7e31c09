from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, exact_text
from discreet.privacy import left_text, spent_text


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("0.5", Fraction(1, 2)),
        (0.1, Fraction(1, 10)),
        (0.1 + 0.2, Fraction("0.30000000000000004")),
        (Decimal("0.3"), Fraction(3, 10)),
        ("1e-6", Fraction(1, 10**6)),
        ("1/3", Fraction(1, 3)),
        (2, Fraction(2)),
        (Fraction(7, 9), Fraction(7, 9)),
        (" 1 ", Fraction(1)),
    ],
)
def test_numbers_are_read_as_they_were_meant(written: Exact, meant: Fraction) -> None:
    assert exact(written) == meant


@pytest.mark.parametrize(
    "nonsense", ["", "abc", "nan", "inf", float("nan"), float("inf"), "1/0", "1e999999999", "9" * 99]
)
def test_what_is_no_number_is_refused(nonsense: Exact) -> None:
    with pytest.raises(DeclarationError):
        exact(nonsense, "epsilon")


@pytest.mark.parametrize("nonsense", [None, True, [1], b"1"])
def test_what_is_of_another_type_is_refused(nonsense: object) -> None:
    with pytest.raises(DeclarationError, match="epsilon must be a number"):
        exact(nonsense, "epsilon")  # type: ignore[arg-type]


@given(st.fractions(max_denominator=10**9) | st.decimals(-100, 100, places=9).map(Fraction))
def test_every_number_survives_the_way_through_its_text(number: Fraction) -> None:
    assert exact(exact_text(number)) == number


@given(st.fractions(min_value=-50, max_value=50, max_denominator=10**9))
def test_amounts_for_people_are_short_never_too_favourable_and_marked_where_they_are_rounded(number: Fraction) -> None:
    spent, *up = spent_text(number).split(" ", 1)
    left, *down = left_text(number).split(" ", 1)
    assert exact(left) <= number <= exact(spent)
    assert max(len(spent), len(left)) <= 14  # a sign, five digits and some zeros, or what is exact and short
    assert up == ([] if exact(spent) == number else ["(rounded up)"])
    assert down == ([] if exact(left) == number else ["(rounded down)"])
    assert exact(spent) - exact(left) <= abs(number) / 5_000


def test_a_long_decimal_is_rounded_too_and_a_short_fraction_is_not() -> None:
    assert spent_text(Fraction("0.12345678901234")) == "0.12346 (rounded up)"
    assert left_text(Fraction("0.12345678901234")) == "0.12345 (rounded down)"
    assert left_text(Fraction(2, 3)) == spent_text(Fraction(2, 3)) == "2/3"
    assert left_text(Fraction(-25409, 6656)) == "-3.8175 (rounded down)"
