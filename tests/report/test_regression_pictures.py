"""A regression as a picture and as a statement: right numbers in right units, and text that is nothing but text."""

import numpy as np
import pytest

import discreet as dc
from discreet.regression import _reader_prior as regression
from discreet.report import charts
from discreet.report.statement._page import statement_html
from discreet.report.statement._statement import statement
from discreet.verification import verify

WARD = dc.Column("<i>ward</i>", ("A", "B|C"), outside="A")
MODEL = dc.LinearRegression(
    "days", ["age", WARD], {"age": (0, 80), "days": (0, 60)}, prior_precision="0.1", missing="middle"
)


@pytest.fixture(scope="module")
def posterior() -> dc.regression.RegressionPosterior:
    generator = np.random.default_rng(12)
    age, ward = generator.uniform(0, 80, 2000), generator.integers(2, size=2000)
    days = 10 + 0.25 * age + 3 * ward + generator.normal(0, 3, 2000)
    data = {"age": age.tolist(), WARD.name: [WARD.levels[w] for w in ward], "days": days.tolist()}
    release = dc.simulate(
        dc.regression.BoxMoments(MODEL, 2000, 20), MODEL.rehearse(data), dc.SeededBits(12), "days *by* age"
    )
    return regression.read_regression(release)


def test_rows_are_the_posterior_in_units(posterior: dc.regression.RegressionPosterior) -> None:
    rows = {row.quantity: row for row in posterior.rows(0.8)}
    assert list(rows) == ["intercept", "age", "<i>ward</i>=B|C"]
    assert (rows["age"].low, rows["age"].high) == tuple(posterior.interval("age", 0.8))
    assert rows["age"].mean == pytest.approx(0.25, abs=0.05)
    assert (rows["age"].unit, rows["intercept"].unit) == ("days per 1 of age", "days")
    assert MODEL.reaches == {"intercept": 1, "age": 80, "<i>ward</i>=B|C": 1}
    mean, low, high = rows["intercept"].texts
    assert float(low) < float(mean) < float(high)


def test_the_picture_shows_effects_from_bound_to_bound(posterior: dc.regression.RegressionPosterior) -> None:
    picture = charts.posterior_chart(posterior, 0.9)
    age, ward = picture["data"]["values"]
    assert age["mean"] == pytest.approx(80 * posterior.mean["age"])
    assert ward["mean"] == pytest.approx(posterior.mean["<i>ward</i>=B|C"])
    assert picture["title"]["text"][0].startswith("SIMULATED")
    assert age["text"].startswith(f"{posterior.mean['age']:.3f}"[:4])


def test_a_statement_names_bounds_and_units_and_lets_no_text_be_markup(
    posterior: dc.regression.RegressionPosterior,
) -> None:
    release = posterior.releases[0]
    text = statement(release, posterior, verify(release))
    assert "SIMULATED" in text
    assert "**age** (0 to 80; values beyond are clipped to these bounds, missing values count as 40)" in text
    assert "days per 1 of age" in text
    assert "has the standard deviation 1.83" in text  # 1 / sqrt(3 x 0.1)
    assert "**By proof alone:** everything that was not recomputed or compared" in text
    assert "the bounds, epsilon" in text
    assert "<i>" not in text
    assert "<i>" not in statement_html(text)
    table = [line for line in text.splitlines() if line.startswith("| age |")]
    assert len(table) == 1
    assert table[0].count("|") == 6


def test_draws_for_other_programs_have_one_column_for_each_coefficient(
    posterior: dc.regression.RegressionPosterior,
) -> None:
    pytest.importorskip("arviz_base", reason="ArviZ is an optional extra")
    tree = posterior.to_arviz(draws=50)["posterior"]
    assert tree["coefficient"].shape == (1, 50, 3)
    assert tree["noise_sd"].shape == (1, 50)


def test_two_coefficients_cannot_have_the_same_name() -> None:
    with pytest.raises(dc.DeclarationError, match="same name"):
        dc.LinearRegression("y", ["intercept"], {"intercept": (0, 1), "y": (0, 1)}, missing="middle")
