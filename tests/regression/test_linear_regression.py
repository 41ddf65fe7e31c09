"""A regression has public bounds; its moments are exact, and coefficients come back in the user's units."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dc
from discreet.regression import InverseGamma, LinearRegression

WARD = dc.Column("ward", ("A", "B", "C"), outside="A")
BOUNDS = {"age": (0, 120), "dose": (-1, 3), "y": (0, 200)}


def model_of(**changes: Any) -> LinearRegression:
    fields: dict[str, Any] = {"target": "y", "features": ["age", "dose", WARD], "bounds": BOUNDS, "noise": "0.2"}
    return LinearRegression(**{"missing": "middle"} | fields | changes)


def records(size: int) -> dict[str, list[Any]]:
    generator = np.random.default_rng(4)
    age, dose = generator.uniform(0, 120, size), generator.uniform(-1, 3, size)
    ward = generator.integers(3, size=size)
    y = 30 + 0.5 * age + 12 * dose + np.array([0, 7, -4])[ward] + generator.normal(0, 3, size)
    return {"age": age.tolist(), "dose": dose.tolist(), "ward": ["ABC"[place] for place in ward], "y": y.tolist()}


def solved(model: LinearRegression, data: dict[str, list[Any]]) -> NDArray[np.float64]:
    moments = model.layout.unpack(model.rehearse(data), len(data["y"]))
    return model.in_units(np.asarray(np.linalg.solve(moments.squares, moments.products), dtype=np.float64))


def test_least_squares_of_the_moments_is_least_squares_of_the_records() -> None:
    data = records(2000)
    ward = np.array(data["ward"])
    columns = [np.ones(2000), data["age"], data["dose"], ward == "B", ward == "C"]
    direct = np.linalg.lstsq(np.column_stack(columns).astype(float), np.array(data["y"]), rcond=None)[0]
    assert solved(model_of(), data) == pytest.approx(direct, rel=2e-3)  # the grid has 2^15 steps to a bound
    assert model_of().names == ("intercept", "age", "dose", "ward=B", "ward=C")


def test_the_released_products_are_those_that_can_vary_each_once() -> None:
    assert model_of(features=["age", WARD], bounds={"age": (0, 1), "y": (0, 1)}).cells == (
        *("age", "ward=B * ward=B", "ward=C * ward=C", "age * age", "age * ward=B", "age * ward=C"),
        *("y", "age * y", "ward=B * y", "ward=C * y"),
    )
    assert model_of(noise=InverseGamma(1, 1)).cells[-1] == "y * y"


def test_moments_unpacked_are_sums_over_the_design() -> None:
    data, model = records(300), model_of(noise=InverseGamma(1, 1))
    design = model.design(data)
    moments = model.layout.unpack(model.rehearse(data), 300)
    assert moments.squares == pytest.approx(design.T @ design, rel=1e-12)
    assert np.linalg.norm(design, axis=1).max() <= 1
    squares, products = model.layout.sums(model.rehearse(data), 300)
    scale = model.dimension * model.grid**2
    assert np.array(squares, dtype=float) / scale == pytest.approx(moments.squares, rel=1e-12)
    assert np.array(products, dtype=float) / (scale / np.sqrt(model.dimension)) == pytest.approx(moments.products)


def test_squares_on_the_grid_are_positive_semidefinite_even_for_collinear_and_constant_columns() -> None:
    model = model_of(features=["age", "dose"], bounds=BOUNDS)
    line = {"age": [30.0 * k for k in range(5)], "dose": [float(k) - 1 for k in range(5)], "y": [1.0] * 5}
    for data in (line, line | {"dose": [2.0] * 5}):
        squares, _ = model.layout.sums(model.rehearse(data), 5)
        assert np.linalg.eigvalsh(np.array(squares, dtype=float))[0] >= -1e-3  # of numbers near 2^30


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("noise", ["0.2", InverseGamma(1, 1)])
def test_replacing_a_record_moves_no_number_by_more_than_the_reach(intercept: bool, noise: Any) -> None:
    model = model_of(intercept=intercept, noise=noise)
    corners: dict[str, list[Any]] = {
        "age": [0, 120, 60, 0, 120],
        "dose": [-1, 3, -1, 3, 1],
        "ward": list("ABCBZ"),
        "y": [0, 200, 0, 200, 100],
    }
    rows = [model.rehearse({name: [column[k]] for name, column in corners.items()}) for k in range(5)]
    gaps = np.abs(np.subtract.outer(np.array(rows), np.array(rows)).diagonal(axis1=1, axis2=3))
    assert gaps.max() == model.layout.reach


def test_statistics_are_secret_and_know_their_model_and_size() -> None:
    model, data = model_of(), records(20)
    secret = model.statistics(data)
    assert repr(secret) == f"Statistics(<{len(model.cells)} secret values>)"
    assert secret.describes(model_of(), 20)
    assert not secret.describes(model_of(grid=1024), 20)
    with pytest.raises(dc.SecretError):
        model.moments(secret)


def test_nothing_changes_when_rows_are_reordered_or_values_are_missing() -> None:
    data = records(50)
    data["age"][3], data["dose"][4], data["y"][5], data["ward"][6] = None, float("nan"), float("inf"), "nowhere"
    order = np.random.default_rng(1).permutation(50)
    mixed = {name: [column[k] for k in order] for name, column in data.items()}
    assert (model_of().rehearse(data) == model_of().rehearse(mixed)).all()
    filled = data | {"age": [60 if v is None else v for v in data["age"]]}
    assert (model_of().rehearse(data) == model_of().rehearse(filled)).all()
    assert (
        model_of(missing=dict.fromkeys(model_of().ranges, "middle") | {"age": 0}).rehearse(data)
        != model_of().rehearse(data)
    ).any()


def test_coefficients_without_intercept_pass_through_the_middle_of_the_bounds() -> None:
    model = model_of(features=["age"], bounds={"age": (0, 120), "y": (0, 200)}, intercept=False)
    intercept, slope = model.in_units(np.array([0.6]))
    assert (slope, intercept + 60 * slope) == (pytest.approx(1.0), pytest.approx(100.0))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"bounds": {"age": (0, 120), "dose": (-1, 3)}}, "bounds must give"),
        ({"bounds": BOUNDS | {"age": (0, float("inf"))}}, "finite"),
        ({"bounds": BOUNDS | {"age": (float("nan"), 1)}}, "finite"),
        ({"bounds": BOUNDS | {"age": (3, 3)}}, "leave it out"),
        ({"bounds": BOUNDS | {"age": (5, 3)}}, "must rise"),
        ({"bounds": BOUNDS | {"age": (0, Fraction(1, 10**305))}}, "a billionth of their size apart"),
        ({"bounds": BOUNDS | {"age": (0, Fraction(1, 10**390))}}, "a billionth of their size apart"),
        ({"bounds": BOUNDS | {"age": (0, 2**60)}}, "within 2\\^52"),
        ({"bounds": BOUNDS | {"age": (0,)}}, "two numbers"),
        ({"bounds": BOUNDS | {"age": "01"}}, "two numbers"),
        ({"features": "age"}, "sequence"),
        ({"features": ["age", "age"]}, "once"),
        ({"features": ["age", "y"]}, "once"),
        ({"features": [7]}, "names of columns"),
        ({"features": [], "bounds": {"y": (0, 1)}, "intercept": False}, "0 coefficients"),
        ({"features": [dc.Column.banded("age", (0, 1, 2))], "bounds": {"y": (0, 1)}}, "bounds instead of bands"),
        ({"noise": 0}, "noise must be above 0"),
        ({"prior_precision": -1}, "prior_precision"),
        ({"norm_bound": 0}, "norm_bound"),
        ({"grid": 2**16}, "grid must be from 8 to 32768"),
        ({"missing": {"age": 121, "dose": 0, "y": 0}}, "within its bounds"),
        ({"missing": {"weight": 1}}, "missing may only name"),
    ],
)
def test_nonsense_is_refused_with_words(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(dc.DeclarationError, match=words):
        model_of(**changes)


def test_made_up_moments_must_be_whole_numbers_of_the_right_length() -> None:
    model = model_of()
    for values in ([1, 2], [0.5] * len(model.cells)):
        with pytest.raises(dc.DeclarationError, match="whole numbers"):
            model.moments(values)


def test_a_declaration_is_compared_by_value() -> None:
    assert model_of() == model_of(noise=Fraction(1, 5))
    assert hash(model_of()) == hash(model_of(noise=Fraction(1, 5)))
    assert model_of() != model_of(missing=dict.fromkeys(model_of().ranges, "middle") | {"age": 0})
    with pytest.raises(dc.DeclarationError, match="shape"):
        InverseGamma(0, 1)
    with pytest.raises(dc.DeclarationError, match="no column 'age'"):
        model_of().design({"dose": [1], "ward": ["A"]})


@pytest.mark.parametrize("given", [("1e50", 1), (1, "1e50"), ("1e-50", 1), (1, "1e-50")])
def test_a_prior_of_the_noise_beyond_any_records_is_refused(given: tuple[Any, Any]) -> None:
    with pytest.raises(dc.DeclarationError, match="between 1e-9 and 1e9"):
        InverseGamma(*given)


@pytest.mark.parametrize("missing", [None, {}, {"a": 1}, {"a": 1, "y": None}])
def test_records_with_gaps_are_left_out_unless_something_stands_for_them(missing: Any) -> None:
    model = LinearRegression("y", ["a"], {"a": (0, 10), "y": (0, 100)}, missing=missing)
    out = "y" if missing and "a" in missing else "y, a"
    assert model.missing_in_words.startswith(f"Records without a value of {out} are left out.")
    assert model.layout.with_count


@pytest.mark.parametrize("kind", ["ConeMoments", "BoxMoments", "GaussianMoments", "LaplaceMoments"])
def test_complete_cases_are_read_and_said(kind: str) -> None:
    """Targets are missing where features are large: nothing stands for them, and the slope is not pulled down."""
    generator = np.random.default_rng(12)
    a = generator.uniform(0, 10, 20_000)
    y = 20 + 6 * a + generator.normal(0, 5, 20_000)
    gone = generator.random(20_000) < 0.02 * a**1.5
    made_up = {"a": a.tolist(), "y": [None if g else v for v, g in zip(y.tolist(), gone.tolist(), strict=True)]}
    model = LinearRegression("y", ["a"], {"a": (0, 10), "y": (0, 100)})
    more = {"delta": "1e-6"} if kind == "GaussianMoments" else {}
    mechanism = dc.Mechanism.registered()[kind](model, 20_000, 2, **more)  # type: ignore[call-arg]
    posterior = dc.infer(dc.simulate(mechanism, model.rehearse(made_up), dc.SeededBits(5)))
    low, high = posterior.interval("a", 0.99)
    assert low < 6 < high < low + 0.5
    counted = posterior.solution.counted.interval(0.999)
    assert counted[0] <= 20_000 - gone.sum() <= counted[1] + 1
    for text in (str(posterior), posterior.intervals().axis, posterior.text.estimation):
        assert "Records without a value of y, a are left out." in text
    assert any("of 20,000 records have a value in every column" in each for each in posterior.remarks())
    assert 0 < posterior.facts()["records_with_all_values"]["mean"] <= 20_000


def test_a_draw_counts_every_record() -> None:
    model = LinearRegression("y", ["a"], {"a": (0, 10), "y": (0, 100)}, noise="0.2", norm_bound=1)
    with pytest.raises(dc.DeclarationError, match="BallDraw counts every record"):
        dc.draws.BallDraw(model, 100, 1)


def test_own_records_with_gaps_are_left_out_as_well() -> None:
    model = LinearRegression("y", ["a"], {"a": (0, 10), "y": (0, 100)})
    release = dc.simulate(dc.regression.ConeMoments(model, 400, 4), model.rehearse(
        {"a": [1.0, 9.0] * 200, "y": [10.0, 50.0] * 200}), dc.SeededBits(2))  # fmt: skip
    plain = dc.infer(release, own={"a": [2.0, 7.0, 5.0], "y": [15.0, 40.0, 30.0]})
    gaps = dc.infer(release, own={"a": [2.0, 7.0, None, 5.0, 3.0], "y": [15.0, 40.0, 30.0, 30.0, None]})
    assert plain.mean == gaps.mean


def test_the_middle_can_be_declared_and_readings_say_what_gaps_count_as() -> None:
    bounds: dict[str, Any] = {"a": (0, 10), "day": ("2026-01-01", "2026-01-03"), "y": (0, 100)}
    model = LinearRegression("y", ["a", "day"], bounds, missing={"a": 2, "day": "middle", "y": "middle"})
    assert [each.missing for each in model.bounds] == [50, 2, 20455]
    words = "Missing values count as 50 in y, 2 in a, 2026-01-02 in day."
    made_up = {"y": [10, 20, None, 40] * 50, "a": [1, 2, 3, None] * 50, "day": ["2026-01-01", None] * 100}
    mechanism = dc.regression.BoxMoments(model, 200, 50)
    posterior = dc.infer(dc.simulate(mechanism, model.rehearse(made_up), dc.SeededBits(3)))
    assert words in str(posterior)
    assert words in posterior.intervals().axis
    assert "missing values count as 2" in dict(posterior.text.columns)["a"]
