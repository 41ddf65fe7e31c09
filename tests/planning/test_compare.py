"""The ranking of mechanisms under one guarantee, for every model: on the same simulated studies."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.choices import HellingerCalibrated
from discreet.cli._main import main
from discreet.planning import Ranking, compare
from discreet.report.charts._drawing import render
from discreet.report.charts._planning import ranking_chart

COIN, DIE = (dc.Categories("x", levels=levels, outside=levels[0]) for levels in (("no", "yes"), ("a", "b", "c")))


@pytest.fixture(scope="module")
def pure() -> Ranking:
    return compare(COIN, 20, 1, studies=30)


@pytest.fixture(scope="module")
def approximate() -> Ranking:
    return compare(COIN, 12, 1, "1e-6", studies=20)


def test_tables_are_ranked_by_log_score_and_the_geometric_histogram_comes_first(
    pure: Ranking, approximate: Ranking
) -> None:
    for ranking in (pure, approximate):
        scores = [entry.accuracy.log_score or 0.0 for entry in ranking.entries]
        assert scores == sorted(scores, reverse=True)
        best = ranking.named("GeometricHistogram").accuracy
        assert best.log_score is not None
        assert best.log_score_error is not None
        assert best.log_score >= scores[0] - best.log_score_error
        exact = {entry.accuracy.exact_width for entry in ranking.entries}
        assert len(exact) == 1  # all were simulated on the same studies


def test_every_mechanism_keeps_the_guarantee_and_may_be_published(pure: Ranking, approximate: Ranking) -> None:
    for ranking in (pure, approximate):
        for entry in ranking.entries:
            guarantee = entry.mechanism.guarantee
            assert guarantee.epsilon <= ranking.epsilon == 1
            assert guarantee.delta <= ranking.delta
            assert guarantee.evidence is not dc.privacy.Evidence.CLAIMED
    assert {"DiscreteGaussianHistogram", "HellingerSmooth"} <= {entry.name for entry in approximate.entries}


def test_a_free_parameter_is_named(pure: Ranking) -> None:
    (chosen,) = (entry for entry in pure.entries if isinstance(entry.mechanism, HellingerCalibrated))
    assert chosen.name.startswith("HellingerCalibrated(smoothing=")


def test_three_cells_say_what_is_left_out() -> None:
    ranking = compare(DIE, 4, "0.7", studies=8)
    assert "PosteriorSampling" in ranking.left_out
    assert "Left out: PosteriorSampling" in str(ranking)


def test_a_ranking_is_a_document_and_a_picture(pure: Ranking) -> None:
    document = json.loads(json.dumps(pure.document(), allow_nan=False))
    assert document["entries"][0]["name"] == pure.best.name
    assert document["epsilon"] == "1"
    chart = ranking_chart(pure)
    assert [row["figure"] for row in chart["data"]["values"]] == [entry.accuracy.log_score for entry in pure.entries]
    json.dumps(chart, allow_nan=False)
    assert "+-" in str(pure)


def test_names_and_arguments_are_checked(pure: Ranking) -> None:
    with pytest.raises(dc.DeclarationError, match="'x' is not in this ranking"):
        pure.named("x")
    for epsilon, delta in (("0", "0"), ("1", "1")):
        with pytest.raises(dc.DeclarationError):
            compare(COIN, 5, epsilon, delta)
    with pytest.raises(dc.DeclarationError, match="Categories"):
        compare("a model", 5, 1)  # type: ignore[arg-type]


def test_pictures_are_drawn(pure: Ranking, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    render(ranking_chart(pure), tmp_path / "ranking.svg")
    assert "GeometricHistogram" in (tmp_path / "ranking.svg").read_text()


@pytest.mark.parametrize(
    ("model", "first", "second"),
    [
        (dc.NumberTable("age", (0, 100), 16, missing=40, quantiles=("0.5",)), "TreeTable", "PathTable"),
        (dc.NumberSums("age", (0, 100), missing=40), "GeometricSums", "MetricSums"),
    ],
)
def test_numbers_are_ranked_by_width_and_what_is_promised_besides_is_told(
    model: dc.NumberTable | dc.NumberSums, first: str, second: str
) -> None:
    ranking = compare(model, 300, 1, studies=4)
    one, two = (ranking.named(name).accuracy for name in (first, second))
    assert one.rows[0].width <= two.rows[0].width * (1 + 1e-9)  # of sums both have the same noise
    widths = [entry.accuracy.width for entry in ranking.entries]
    assert widths == sorted(widths)
    assert all(entry.mechanism.guarantee.epsilon == 1 for entry in ranking.entries)
    assert "per 1 of age" in str(ranking)
    assert "4 simulated studies" in str(ranking)
    assert ranking_chart(ranking)["layer"]


def test_what_cannot_publish_is_left_out_in_words() -> None:
    ranking = compare(dc.NumberTable("age", (0, 100), 16, quantiles=("0.5",)), 300, 1, studies=2)
    assert "missing" in ranking.left_out["PathTable"]


def test_a_regression_is_ranked_too() -> None:
    line = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, missing="middle")
    ranking = compare(line, 500, 2, studies=4)
    assert {"ConeMoments", "BoxMoments"} <= {entry.name for entry in ranking.entries}


def test_a_family_is_ranked_by_draw_and_by_table() -> None:
    ranking = compare(dc.PoissonRate("visits", most=6, shape=4, rate=3, outside=6), 200, 2, "1e-4", studies=4)
    table = ranking.named("GeometricHistogram of the table").accuracy
    (draw,) = (entry.accuracy for entry in ranking.entries if entry.name.startswith("PosteriorSampling("))
    assert 1.5 < draw.width / table.width < 5  # .221 against .082 as standard deviations
    assert draw.exact_width == pytest.approx(table.exact_width, rel=1e-9)


STUDY = """
[data]
path = "x.csv"
size = 500
[budget]
epsilon = "5"
ledger = "x.db"
[columns.age]
bounds = [0, 100]
missing = 40
[questions.q]
model = "number"
column = "age"
epsilon = "1"
ask = ["mean"]
"""


def test_plan_compares_numbers(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    done = CliRunner().invoke(
        main, ["plan", str(tmp_path / "study.toml"), "--compare", "--plot", str(tmp_path / "r.json")]
    )
    assert done.exit_code == 0, done.output
    assert "MetricSums" in done.output
    assert (tmp_path / "r.json").exists()
