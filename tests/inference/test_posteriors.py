"""Every posterior keeps one protocol, and all that shows a posterior is written on that protocol alone."""

import csv
import json
import sys
import warnings
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import vl_convert

import discreet as dc
from discreet.inference import PROBABILITY, Posterior, ReportText, Row, text_table
from discreet.inference._row import decimals_of
from discreet.regression import _reader_prior as regression
from discreet.report import charts
from discreet.report._documents import document_of, write_csv
from discreet.report.statement._page import statement_html
from discreet.report.statement._statement import statement

NASTY = "<script>alert(1)</script> & <b>"
YES_NO = ("no", "yes")
FALLS = dc.Categories(
    ("ward", "fall"), levels={"ward": ("A", "B", NASTY), "fall": YES_NO}, outside={"ward": "A", "fall": YES_NO[0]}
)
SIGNS = dc.Network.naive_bayes(
    "cancer", ["smoker", NASTY], {"cancer": YES_NO, "smoker": YES_NO, NASTY: YES_NO}, outside=YES_NO[0]
)
CHAIN = dc.Network.from_edges("a -> b -> c", levels={"a": (0, 1), "b": (0, 1), "c": (0, 1, 2)}, outside=0)
LINE = dc.LinearRegression(
    "days", ["age", dc.Column("ward", ("A", NASTY), outside="A")], {"age": (0, 80), "days": (0, 60)}, missing="middle"
)


def table(epsilon: str = "0.5") -> dc.tables.CategoriesPosterior:
    mechanism = dc.GeometricHistogram(FALLS, size=300, epsilon=epsilon)
    found: dc.tables.CategoriesPosterior = dc.infer(
        dc.simulate(mechanism, [80, 20, 70, 30, 60, 40], dc.SeededBits(3), NASTY)
    )
    return found


def signs(epsilon: int = 2) -> dc.networks.NetworkPosterior:
    mechanism = dc.FamilyHistograms(SIGNS, 200, epsilon)
    counts = [100, 50, 20, 30, 90, 60, 25, 25]
    found: dc.networks.NetworkPosterior = dc.infer(dc.simulate(mechanism, counts, dc.SeededBits(5), NASTY))
    return found


def line(epsilon: int = 20) -> dc.regression.RegressionPosterior:
    generator = np.random.default_rng(12)
    age, ward = generator.uniform(0, 80, 1000), generator.integers(2, size=1000)
    days = 10 + 0.25 * age + 3 * ward + generator.normal(0, 6, 1000)
    data = {"age": age.tolist(), "ward": [("A", NASTY)[w] for w in ward], "days": days.tolist()}
    release = dc.simulate(dc.regression.BoxMoments(LINE, 1000, epsilon), LINE.rehearse(data), dc.SeededBits(12), NASTY)
    return regression.read_regression(release)


class Coin(Posterior[dc.Categories]):
    """A posterior that no file of the library knows: two quantities in two units, each Gaussian."""

    laws: Mapping[str, tuple[float, float, str]] = {"weight": (6.0, 0.5, "g"), NASTY: (20.0, 2.0, "mm of <i>")}

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        far = {0.9: 1.6449, 0.5: 0.6745}[level]
        return tuple(Row(n, "", m, m, m - far * s, m + far * s, s, None, u) for n, (m, s, u) in self.laws.items())

    def draws(self, count: int, seed: int | None = None) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
        generator = np.random.default_rng(seed)
        return {name: generator.normal(m, s, count) for name, (m, s, _) in self.laws.items()}

    dims = dict.fromkeys(laws, ())
    coords: Mapping[str, tuple[str, ...]] = {}
    method = "weighed <exactly>"
    information = None
    log_evidence = None

    @property
    def text(self) -> ReportText:
        columns = ((NASTY, f"is {NASTY}"),)
        return ReportText("a coin", f"how heavy is {NASTY}?", columns, "weights", NASTY, f"Prior {NASTY}.", True)


def coin() -> Coin:
    model = dc.Categories("coin", levels=("head", "tail"), outside="head")
    release = dc.simulate(dc.GeometricHistogram(model, 10, 1), [5, 5], dc.SeededBits(1), NASTY)
    return Coin(model, (release,), size=10)


@pytest.fixture(scope="module")
def posteriors() -> dict[str, Posterior[Any]]:
    draw = dc.PosteriorSampling(dc.PoissonRate(NASTY, most=3, shape=2, rate=2, outside=3), 200, 5, "0.5", power="0.05")
    chain = dc.FamilyHistograms(CHAIN, 60, 2)
    two = dc.Categories("x", levels=("a", "b"), outside="a")
    chosen = dc.choices.HellingerGlobal(two, 30, 60)
    drawn = dc.PosteriorSampling(two, 50, 2, "0.5")
    return {
        "table": table(),
        "naive Bayes": signs(),
        "tree": dc.infer(dc.simulate(chain, [15, 15, 10, 20, 9, 8, 8, 12, 12, 11], dc.SeededBits(6), NASTY)),
        "regression": line(),
        "family": dc.infer(dc.simulate(draw, [60, 90, 40, 10], dc.SeededBits(1), NASTY)),
        "pooled": table("2").pooled("fall=yes", "ward"),
        "a choice": dc.infer(dc.simulate(chosen, [12, 18], dc.SeededBits(2), NASTY)),
        "a draw": dc.infer(dc.simulate(drawn, [20, 30], dc.SeededBits(2), NASTY)),
        "a stranger": coin(),
    }


KINDS = [
    *("table", "naive Bayes", "tree", "regression", "family", "pooled", "a choice", "a draw", "a stranger"),
]


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_named_once_and_their_figures_fit_together(kind: str, posteriors: dict[str, Posterior[Any]]) -> None:
    posterior = posteriors[kind]
    rows, narrow = posterior.rows(0.9), posterior.rows(0.5)
    assert len({(row.quantity, row.given) for row in rows}) == len(rows)
    for row, inner in zip(rows, narrow, strict=True):
        assert row.low < inner.low < row.median < inner.high < row.high
        assert row.sd > 0
        assert row.share_due_to_privacy is None or 0 <= row.share_due_to_privacy < 1
        assert row.is_probability == (0 <= row.low < row.high <= 1 and row.unit == PROBABILITY)


@pytest.mark.parametrize("kind", KINDS)
def test_draws_have_the_axes_they_name_and_are_those_of_the_rows(
    kind: str, posteriors: dict[str, Posterior[Any]]
) -> None:
    """Means within five standard errors; 90 % intervals hold 90 % of 4,000 draws up to 3 points, over six errors."""
    posterior = posteriors[kind]
    drawn = posterior.draws(4_000, seed=11)
    assert set(drawn) == set(posterior.dims)
    for name, array in drawn.items():
        assert array.shape == (4_000, *(len(posterior.coords[axis]) for axis in posterior.dims[name]))
        np.testing.assert_array_equal(array, posterior.draws(4_000, seed=11)[name])
    columns = np.concatenate([array.reshape(4_000, -1) for array in drawn.values()], axis=1).T
    for row, values in zip(posterior.rows(0.9), columns, strict=False):  # a regression has its noise after the rows
        assert values.mean() == pytest.approx(row.mean, abs=5 * 1.5 * row.sd / np.sqrt(4_000))
        assert values.std() == pytest.approx(row.sd, rel=0.1)
        assert ((values > row.low) & (values < row.high)).mean() == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("kind", KINDS)
def test_every_way_of_showing_works_for_every_posterior(
    kind: str, posteriors: dict[str, Posterior[Any]], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    posterior, rows = posteriors[kind], posteriors[kind].rows(0.9)
    for picture in (charts.posterior_chart(posterior), charts.interval_chart(posterior)):
        vl_convert.vegalite_to_svg(picture, show_warnings=True)
        assert "WARN" not in "".join(capfd.readouterr())
    document = json.loads(json.dumps(document_of(posterior), allow_nan=False))
    assert [row["mean"] for row in document["rows"]] == [row.mean for row in rows]
    assert document["method"] == posterior.method
    write_csv(posterior, tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(encoding="utf-8-sig", newline="") as file:
        written = list(csv.DictReader(file))
    assert [(row["quantity"], row["given"], float(row["low"])) for row in written] == [
        (row.quantity, row.given, row.low) for row in rows
    ]
    text = statement(posterior.releases[0], posterior)
    assert all(row.texts[1] in str(posterior) for row in rows)
    for page in (statement_html(text), posterior._repr_html_()):
        assert "<script" not in page
        assert "<b>" not in page
        assert "<i>" not in page


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", None])
def test_every_posterior_becomes_a_frame(kind: str, backend: str | None, posteriors: dict[str, Posterior[Any]]) -> None:
    import narwhals

    pytest.importorskip("pandas" if backend is None else backend)
    frame = narwhals.from_native(posteriors[kind].to_frame(backend), eager_only=True)
    rows = posteriors[kind].rows()
    assert frame.columns == [
        "quantity",
        "given",
        *("mean", "median", "low", "high", "sd"),
        "share_due_to_privacy",
        "unit",
        "monte_carlo_error",
        "numerical_error",
        *(["records_low", "records_high"] if kind == "pooled" else []),
    ]
    assert frame["high"].to_list() == [row.high for row in rows]
    assert frame["unit"].to_list() == [row.unit for row in rows]
    unknown = sum(row.share_due_to_privacy is None for row in rows)
    assert frame["share_due_to_privacy"].null_count() == unknown
    exact = sum(row.monte_carlo_error is None for row in rows)
    assert frame["monte_carlo_error"].null_count() == exact


@pytest.mark.parametrize("kind", KINDS)
def test_every_posterior_goes_to_arviz_or_says_why_not(
    kind: str, posteriors: dict[str, Posterior[Any]], tmp_path: Path
) -> None:
    pytest.importorskip("arviz_base", reason="ArviZ is an optional extra")
    posterior = posteriors[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what other libraries warn of is not about us
        if any("/" in name for name in (*posterior.dims, *posterior.coords)):
            for write in (posterior.to_arviz, lambda: posterior.to_netcdf(tmp_path / "draws.nc", draws=20)):
                with pytest.raises(dc.DiscreetError, match="the name contains a slash"):
                    write()
            return
        tree = posterior.to_arviz(draws=20, seed=3)["posterior"]
        posterior.to_netcdf(tmp_path / "draws.nc", draws=20)
    assert (tmp_path / "draws.nc").stat().st_size > 0
    for name, array in posterior.draws(20, seed=3).items():
        np.testing.assert_array_equal(tree[name].values[0], array)
        assert tree[name].dims == ("chain", "draw", *posterior.dims[name])


@pytest.mark.parametrize("names", [("draw", "b"), ("a", "a_level")])
def test_names_that_a_tree_has_for_itself_are_refused_in_words(names: tuple[str, str]) -> None:
    network = dc.Network.from_edges(*names, levels=dict.fromkeys(names, YES_NO), outside=YES_NO[0])
    posterior = dc.infer(dc.simulate(dc.FamilyHistograms(network, 20, 5), [10, 10, 5, 15], dc.SeededBits(1)))
    with pytest.raises(dc.DiscreetError, match="one of its axes has that name"):
        posterior.to_arviz(draws=5)


def test_what_other_packages_are_needed_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    posterior = coin()
    with pytest.raises(dc.DeclarationError, match="'pyarrow'; got 'excel'"):
        posterior.to_frame("excel")
    monkeypatch.setattr("discreet.inference._row.find_spec", lambda name: None)
    with pytest.raises(dc.DiscreetError, match="none is installed: pip install polars"):
        posterior.to_frame()
    with pytest.raises(dc.DiscreetError, match="pip install polars"):
        posterior.to_frame("polars")
    monkeypatch.setitem(sys.modules, "arviz_base", None)
    with pytest.raises(dc.DiscreetError, match=r"discreet\[arviz\]"):
        posterior.to_arviz()


def test_a_release_that_nobody_has_read_is_refused_in_words() -> None:
    release: Any = coin().releases[0]
    with pytest.raises(dc.DeclarationError, match=r"as discreet.infer returns .* got a Release. Nothing was drawn"):
        charts.posterior_chart(release)
    with pytest.raises(dc.DeclarationError, match="No statement was written"):
        statement(release, release)


class Tags(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_notebooks_show_rows_as_text_and_simulations_as_such(posteriors: dict[str, Posterior[Any]]) -> None:
    shown: list[Any] = [
        *posteriors.values(),
        posteriors["table"].releases[0],
        dc.verify(posteriors["table"].releases[0]),
    ]
    for each in shown:
        page = Tags(each._repr_html_())
        assert page.tags <= {"div", "p", "strong", "table", "tr", "th", "td", "img"}
    page = Tags(posteriors["table"]._repr_html_())
    assert page.text.split()[0] == "SIMULATED,"
    assert NASTY in page.text
    for row in posteriors["table"].rows():
        assert row.quantity in page.text
        assert f"{row.low:.4f} to {row.high:.4f}" in page.text


def test_a_large_notebook_table_is_cut_and_says_so() -> None:
    model = dc.Categories("x", levels=tuple(range(70)), outside=0)
    release = dc.simulate(dc.GeometricHistogram(model, 700, 1), [10] * 70, dc.SeededBits(8))
    page = dc.infer(release)._repr_html_()
    assert "the first 60 of 70 rows" in page
    assert page.count("<tr>") == 61


def test_columns_that_would_be_empty_are_left_out_and_unknown_shares_are_dashes() -> None:
    known, unknown = table().rows()[0], Row("x", "", 1.0, 1.0, 0.0, 2.0, 0.5, None, "days")
    assert text_table([known], 0.9).headings == ("quantity", "mean", "90% interval", "due to privacy")
    both = text_table([known, unknown], 0.9, truth=[0.25, 3.0])
    assert both.headings == ("quantity", "unit", "truth", "mean", "90% interval", "due to privacy")
    assert both.lines[1] == ("x", "days", "3", "1", "0 to 2", "-")
    assert both.lines[0][2] == "0.2500"
    assert text_table([unknown], 0.9).headings == ("quantity", "unit", "mean", "90% interval")


@pytest.mark.parametrize(("width", "decimals"), [(250.0, 0), (2.5, 1), (0.025, 3), (0.0, 3), (float("inf"), 3)])
def test_decimals_show_two_digits_of_a_width(width: float, decimals: int) -> None:
    assert decimals_of(width) == decimals


def test_the_shares_due_to_privacy_are_those_of_the_exact_laws_of_a_network() -> None:
    """200 draws of the counts stand for all of them; their widths differ by about a fifth, so by 1.5 % on average."""
    posterior = signs()
    for row in posterior.rows(0.9):
        law = posterior.chance(row.quantity, row.given or None)
        assert law.share_due_to_privacy is not None
        assert row.share_due_to_privacy == pytest.approx(law.share_due_to_privacy, abs=0.06)


def test_shares_and_information_follow_epsilon(posteriors: dict[str, Posterior[Any]]) -> None:
    for weak, strong in ((table("0.1"), table("5")), (signs(1), signs(50)), (line(2), posteriors["regression"])):
        for one, two in zip(weak.rows(), strong.rows(), strict=True):
            assert one.share_due_to_privacy is not None
            assert two.share_due_to_privacy is not None
            assert one.share_due_to_privacy > two.share_due_to_privacy
        assert weak.information is not None
        assert strong.information is not None
        assert weak.information < strong.information


def test_the_shares_of_a_regression_are_what_exact_moments_would_save() -> None:
    """A slow twin: the widths that least squares gives from the records themselves."""
    posterior = line(2)
    generator = np.random.default_rng(12)
    age, ward = generator.uniform(0, 80, 1000), generator.integers(2, size=1000)
    days = 10 + 0.25 * age + 3 * ward + generator.normal(0, 6, 1000)
    design = np.column_stack([np.ones(1000), age, ward])
    rest = days - design @ np.linalg.lstsq(design, days, rcond=None)[0]
    deviations = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * (rest @ rest) / 997)
    for row, deviation in zip(posterior.rows(0.9), deviations, strict=True):
        assert row.share_due_to_privacy == pytest.approx(1 - 2 * 1.6449 * deviation / (row.high - row.low), abs=0.1)


def test_pooling_needs_counts_with_noise_of_their_own() -> None:
    wards = dc.Categories(("w", "x"), levels={"w": ("a", "b", "c"), "x": YES_NO}, outside={"w": "a", "x": YES_NO[0]})
    chosen = dc.simulate(dc.choices.HellingerGlobal(wards, 4, 2), [1, 0, 1, 0, 1, 1], dc.SeededBits(2), "chosen")
    drawn = dc.PosteriorSampling(wards, 4, 5, "0.5")
    for release in (chosen, dc.simulate(drawn, [1, 0, 1, 0, 1, 1], dc.SeededBits(2), "drawn")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", dc.LittleInformationWarning)
            posterior = dc.infer(release)
            assert [row.given for row in posterior.rates("x=yes", "w")] == ["w=a", "w=b", "w=c"]
        with pytest.raises(dc.DeclarationError, match=r"cannot be pooled.*posterior\.rates"):
            posterior.pooled("x=yes", "w")


def test_rates_are_conditional_probabilities_for_tables_and_networks() -> None:
    for posterior, event, by in ((table(), "fall=yes", "ward"), (signs(), "smoker=yes", "cancer")):
        for row in posterior.rates(event, by, 0.8):
            if NASTY not in row.given:
                law = posterior.conditional(event, row.given)
                assert (row.mean, row.low, row.high) == (law.mean, *law.interval(0.8))
    with pytest.raises(dc.DeclarationError, match="no column 'wing'"):
        table().rates("fall=yes", "wing")
    groups = charts.comparison_chart(signs(), "smoker=yes", "cancer")["data"]["values"]
    assert [row["cell"] for row in groups] == ["no", "yes"]


def test_units_that_differ_are_drawn_on_axes_of_their_own() -> None:
    picture = charts.interval_chart(coin())
    assert picture["resolve"]["scale"]["x"] == "independent"
    assert [row["group"] for row in picture["data"]["values"]] == ["g", "mm of <i>"]


@pytest.mark.parametrize("cells", [2, 12])
@pytest.mark.parametrize("prior", [1e-6, 1e-3])
def test_an_interval_that_is_one_float_wide_is_shown_too(prior: float, cells: int) -> None:
    """Both ends may be the same float under a tiny prior, and what is due to privacy is a share of the width."""
    levels = tuple(range(cells))
    model = dc.Categories("x", levels=levels, outside=0, prior=prior)
    counts = [7, *[0] * (cells - 1)]
    posterior = dc.infer(dc.simulate(dc.GeometricHistogram(model, 7, 50), counts, dc.SeededBits(7)))
    for row in posterior.rows():
        assert row.share_due_to_privacy is None or 0 <= row.share_due_to_privacy <= 1
    assert "0" in str(posterior)
