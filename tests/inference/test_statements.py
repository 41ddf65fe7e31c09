"""Statements about probabilities, as people write them."""

import pytest

import discreet as dc


def model_of(levels: int) -> dc.Categories:
    return dc.Categories("x", levels=tuple("abc"[:levels]), outside="a")


@pytest.mark.parametrize(
    "statement",
    [
        "current",
        "a >",
        "> b",
        "z > 0.3",
        "a > b > 0.1 and",
        "a = 0.3",
        "",
        "a > c=3",
        "2 * a > a",
        "-1 * a > 0.3",
        "0 * a < b",
        "a > nan",
        "a, b > 0.3",
    ],
)
def test_statements_that_cannot_be_read_are_refused(statement: str) -> None:
    posterior = dc.infer(
        dc.simulate(dc.GeometricHistogram(model_of(3), size=30, epsilon=1), (10, 10, 10), dc.SeededBits(1))
    )
    with pytest.raises(dc.DeclarationError):
        posterior.probability_that(statement)


def test_names_with_signs_and_numbers_are_understood() -> None:
    model = dc.Categories("age", levels=("<18", "18-64", ">64"), outside="<18")
    posterior = dc.infer(dc.simulate(dc.GeometricHistogram(model, size=100, epsilon=5), (20, 60, 20), dc.SeededBits(2)))
    assert posterior.probability_that(">64 > 0.5") < 0.01
    assert posterior.probability_that("18-64 > >64") > 0.99
    coin = dc.Categories("heads", levels=(0, 1), outside=0)
    posterior = dc.infer(dc.simulate(dc.GeometricHistogram(coin, size=100, epsilon=5), (20, 80), dc.SeededBits(2)))
    assert posterior.mean[1] > 0.7
    assert posterior.probability_that("heads=1 > 0.5") > 0.99
