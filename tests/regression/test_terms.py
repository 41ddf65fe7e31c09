"""Interactions and powers: whole numbers from each record alone, exact sums, and coefficients in the table's units."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

import discreet as dc
from discreet._core.documents import document_of
from discreet.records import CONSTANT, Indicator, Measure, Term
from discreet.regression import BoxMoments, LinearRegression, read_regression
from discreet.regression._formula import read_formula
from discreet.release._release import read_model

WARD = dc.Column("ward", ("A", "B", "C"), outside="A")
SEX = dc.Column("sex", ("f", "m"), outside="f")
BOUNDS = {"age": (20, 90), "dose": (-1, 3), "y": (0, 60)}
TERMS = [("age", "age"), ("age", "dose"), ("age", "ward"), ("age", "age", "ward"), ("ward", "sex"), ("dose", "dose")]


def model_of(**changes: Any) -> LinearRegression:
    declared: dict[str, Any] = {"terms": TERMS, "noise": "0.2"}
    return LinearRegression("y", ["age", "dose", WARD, SEX], BOUNDS, **{"missing": "middle"} | declared | changes)


def records(size: int, seed: int) -> dict[str, list[Any]]:
    generator = np.random.default_rng(seed)
    return {
        "age": generator.uniform(10, 100, size).tolist(),
        "dose": [None if value > 2.9 else value for value in generator.uniform(-1.5, 3, size)],
        "ward": [["A", "B", "C", "?"][place] for place in generator.integers(4, size=size)],
        "sex": [["f", "m"][place] for place in generator.integers(2, size=size)],
        "y": generator.uniform(0, 60, size).tolist(),
    }


def whole(record: dict[str, Any], factor: Any, grid: int) -> int:
    """Return the whole number of a factor in one record, step by step with Python's own numbers."""
    if factor is None:
        return grid
    if isinstance(factor, Indicator):
        value = record[factor.column] if record[factor.column] in factor.declared.levels else "A"
        return grid if value == factor.declared.levels[factor.code] else 0
    if isinstance(factor, Measure):
        value = factor.missing if record[factor.column] is None else record[factor.column]
        value = min(max(value, factor.low), factor.high)
        return max(
            -grid, min(grid, math.floor((value - factor.low) * (2 * grid / (factor.high - factor.low)) + 0.5) - grid)
        )
    assert isinstance(factor, Term)
    polynomial = 1.0
    for measure, power in factor.powers:
        polynomial *= float(chebyshev.chebval(whole(record, measure, grid) / grid, [0] * power + [1]))
    if any(whole(record, indicator, grid) == 0 for indicator in factor.indicators):
        return 0
    return max(-grid, min(grid, math.floor(polynomial * grid + 0.5)))


def test_names_and_coordinates_of_terms() -> None:
    assert model_of().names == (
        "intercept", "age", "dose", "ward=B", "ward=C", "sex=m", "age^2", "age:dose", "age:ward=B", "age:ward=C",
        "age^2:ward=B", "age^2:ward=C", "ward=B:sex=m", "ward=C:sex=m", "dose^2",
    )  # fmt: skip


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("grid", [2**15, 1000])
def test_moments_are_the_sums_of_products_of_each_records_whole_numbers(intercept: bool, grid: int) -> None:
    model, data = model_of(intercept=intercept, grid=grid), records(60, 1)
    layout = model.layout
    rows = []
    for place in range(60):
        record = {name: column[place] for name, column in data.items()}
        rows.append([whole(record, c.factor, grid) for c in layout.coordinates] + [whole(record, layout.target, grid)])
    table = np.array(rows)
    moments = layout.unpack(model.rehearse(data), 60)
    d = model.dimension
    assert moments.squares == pytest.approx(table[:, :d].T @ table[:, :d] / (d * grid**2), rel=1e-12, abs=1e-9)
    assert moments.products == pytest.approx(table[:, :d].T @ table[:, d] / (np.sqrt(d) * grid**2), rel=1e-12, abs=1e-9)
    assert model.design(data) == pytest.approx(table[:, :d] / (grid * np.sqrt(d)))
    assert model.rehearse(pl.DataFrame(data)).tolist() == model.rehearse(data).tolist()


def test_no_number_is_released_twice_and_known_ones_are_not_released() -> None:
    layout = model_of().layout
    data = [records(1, seed) for seed in range(400)]
    rows = np.array([model_of().rehearse(record) for record in data], dtype=float)
    assert len({tuple(column) for column in rows.T}) == len(layout.products)
    assert (rows.std(axis=0) > 0).all()
    assert all(first == second or second == CONSTANT or first < second for first, second in layout.products)


def test_no_record_moves_a_number_by_more_than_the_reach() -> None:
    model = model_of(grid=64)
    rows = np.array([model.rehearse(records(1, seed)) for seed in range(300)])
    assert np.ptp(rows, axis=0).max() <= model.layout.reach
    weights = model.layout.weights
    assert (rows[:, weights == 2] >= 0).all()
    corners, _ = model.contributions(500)
    assert np.ptp(corners, axis=0).max() <= model.layout.reach


def test_coefficients_in_units_are_those_of_the_plain_polynomial() -> None:
    model, generator = model_of(), np.random.default_rng(3)
    w = generator.normal(size=model.dimension)
    constant, *slopes = model.in_units(w)
    data: dict[str, list[Any]] = {"age": [33.0, 71.5], "dose": [0.5, 2.25], "ward": ["B", "C"], "sex": ["m", "f"]}
    line = 30 + 30 * model.design(data) @ w
    for place, found in enumerate(line):
        age, dose = data["age"][place], data["dose"][place]
        is_b, is_c, is_m = (
            float(data[name][place] == level) for name, level in (("ward", "B"), ("ward", "C"), ("sex", "m"))
        )
        plain = [
            age, dose, is_b, is_c, is_m, age**2, age * dose, age * is_b, age * is_c, age**2 * is_b, age**2 * is_c,
            is_b * is_m, is_c * is_m, dose**2,
        ]  # fmt: skip
        assert constant + np.dot(slopes, plain) == pytest.approx(found, abs=0.02)  # the grid of 65,536 steps


def test_reaches_are_the_widths_of_what_is_multiplied() -> None:
    reaches = model_of().reaches
    assert reaches["age"] == 70
    assert reaches["age^2"] == 90**2 - 20**2
    assert reaches["dose^2"] == 9
    assert reaches["age:dose"] == 90 * 3 + 90
    assert reaches["age:ward=B"] == 90
    assert reaches["ward=B:sex=m"] == 1


def test_typical_moments_are_those_of_many_evenly_spread_records() -> None:
    model, size, generator = model_of(), 200_000, np.random.default_rng(4)
    data = pl.DataFrame(
        {
            "age": generator.uniform(20, 90, size),
            "dose": generator.uniform(-1, 3, size),
            "ward": np.array(["A", "B", "C"])[generator.integers(3, size=size)],
            "sex": np.array(["f", "m"])[generator.integers(2, size=size)],
            "y": generator.uniform(0, 60, size),
        }
    )
    found, typical = model.rehearse(data) / size, model.layout.typical(size) / size
    assert found / model.grid**2 == pytest.approx(typical / model.grid**2, abs=0.012)


def test_a_curve_and_an_interaction_are_learnt_in_units() -> None:
    model = LinearRegression(
        "y",
        ["age", WARD],
        {"age": (20, 90), "y": (0, 60)},
        "0.1",
        terms=[("age", "age"), ("age", "ward")],
        missing="middle",
    )
    generator, size = np.random.default_rng(5), 20_000
    age, ward = generator.uniform(20, 90, size), generator.integers(3, size=size)
    y = 40 - 0.6 * age + 0.008 * age**2 + (0.1 * age + 2) * (ward == 1) + generator.normal(0, 2, size)
    data = pl.DataFrame({"age": age, "ward": np.array(["A", "B", "C"])[ward], "y": y})
    release = dc.simulate(BoxMoments(model, size, 20), model.rehearse(data), dc.SeededBits(5))
    posterior = read_regression(release)
    truth = {"intercept": 40, "age": -0.6, "ward=B": 2, "ward=C": 0, "age^2": 0.008, "age:ward=B": 0.1, "age:ward=C": 0}
    for name, value in truth.items():
        assert posterior.mean[name] == pytest.approx(value, abs=4 * posterior.sd[name])
    assert posterior.sd["age^2"] < 0.002
    (forecast,) = posterior.predict({"age": [50], "ward": ["B"]})
    assert forecast.mean == pytest.approx(40 - 30 + 20 + 7, abs=1)
    units = {row.quantity: row.unit for row in posterior.rows()}
    assert units["age^2"] == "y per 1 of age^2"
    assert ("age^2", "computed from the columns above, record by record") in posterior.text.columns


def test_an_intercept_alone_is_a_private_mean() -> None:
    model = LinearRegression("y", [], {"y": (0, 60)}, missing="middle")
    generator = np.random.default_rng(6)
    y = generator.normal(25, 5, 4000)
    release = dc.simulate(BoxMoments(model, 4000, 1), model.rehearse({"y": y.tolist()}), dc.SeededBits(6))
    posterior = dc.infer(release)
    assert posterior.mean["intercept"] == pytest.approx(25, abs=4 * posterior.sd["intercept"])
    assert posterior.noise.mean == pytest.approx(5, abs=0.5)
    (forecast,) = posterior.predict({"y": [0.0]})
    assert forecast.high - forecast.low == pytest.approx(2 * 1.645 * 5, rel=0.1)


def test_a_document_keeps_its_terms_and_is_silent_without_them() -> None:
    model = model_of()
    assert read_model(document_of(model)) == model
    assert "terms" not in str(document_of(model_of(terms=())))


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ([("age", "height")], "'height' is not one"),
        ([("ward", "ward")], "categorical column twice"),
        ([("age", "age"), ("age", "age")], "once"),
        ([("age", "age", "dose")], "needs the term age.2 as well"),
        ([("age",)], "2 to 4 columns"),
        ([("age",) * 5], "2 to 4 columns"),
        ("age:dose", "sequence of products"),
        (["age:dose"], "2 to 4 columns"),
    ],
)
def test_terms_that_cannot_be_are_refused(terms: Any, words: str) -> None:
    with pytest.raises(dc.DeclarationError, match=words):
        model_of(terms=terms)


@pytest.mark.parametrize(
    ("formula", "features", "terms"),
    [
        ("y ~ 1", [], []),
        ("y ~ 1 + a", ["a"], []),
        ("y~a*b", ["a", "b"], [("a", "b")]),
        ("y ~ a + b + b:a + a:b", ["a", "b"], [("b", "a")]),
        ("y ~ a*b*c", ["a", "b", "c"], [("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")]),
        ("y ~ a + I(a^2) + a^3", ["a"], [("a", "a"), ("a", "a", "a")]),
        ("y ~ `a:b` + `a b`:c + c + `a b`", ["a:b", "c", "a b"], [("a b", "c")]),
        ("y ~ x:z", ["x:z"], []),
    ],
)
def test_formulas_name_features_and_products(formula: str, features: list[str], terms: list[tuple[str, ...]]) -> None:
    found = read_formula(formula, {"x:z"})
    assert [name for (name, *more) in found.terms if not more] == features
    assert [term for term in found.terms if len(term) > 1] == terms
    assert (found.outcome, found.event, found.varying) == ("y", None, None)


@pytest.mark.parametrize(
    "formula",
    [
        "y",
        "y ~",
        "~",
        "y ~ a ~ b",
        "y ~ a +",
        "y ~ a:",
        "y ~ a^",
        "y ~ a^b",
        "y ~ log(a)",
        "f(y) ~ a",
        "y ~ a**2",
        "y ~ a=b",
        "y ~ a|b",
        "y ~ `a",
    ],
)
def test_formulas_that_cannot_be_read_are_refused_in_words(formula: str) -> None:
    with pytest.raises(dc.DeclarationError, match="A formula is written as"):
        read_formula(formula)


def squared(values: list[float]) -> NDArray[np.float64]:
    return np.asarray(2 * np.square(np.array(values)) - 1)


def test_a_square_goes_from_end_to_end_of_the_grid() -> None:
    model = LinearRegression(
        "y", ["x"], {"x": (-1, 1), "y": (-1, 1)}, noise="0.2", terms=[("x", "x")], grid=1000, missing="middle"
    )
    values = [-1.0, -0.5, 0.0, 0.25, 1.0]
    column = model.design({"x": values})[:, 2] * np.sqrt(3)
    assert column == pytest.approx(squared(values), abs=1e-3)
    assert Fraction(model.prior_precision) == 1
