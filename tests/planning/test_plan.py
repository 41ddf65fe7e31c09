"""The planner: one answer for every model, on the command line and on the server too."""

import json
import re
from importlib import import_module
from math import log, sqrt
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli._main import main
from discreet.draws import BallDraw
from discreet.inference import infer_many, why_unreadable
from discreet.mechanism import with_fields
from discreet.networks import Network
from discreet.networks._chains_solver import CountsSolver
from discreet.networks._moves_solver import MovesSolver
from discreet.planning import Accuracy, Simulations, accuracy, accuracy_curve, rehearsal, solve_for_width, studies_for
from discreet.planning._accuracy import require_quick
from discreet.regression import ConeMoments
from discreet.regression._exact import exact_coefficients
from discreet.server._work import width as served_width
from discreet.tables._joint_posterior import TablePosterior

MODULE = import_module("discreet.planning._accuracy")
COIN = dc.Categories("x", levels=("no", "yes"), outside="no")
WARD = dc.Column("ward", ("A", "B", "C"), outside="A")
LINE = dc.LinearRegression("y", ["x"], {"x": (0, 10), "y": (0, 10)}, missing="middle")
KNOWN_LINE = dc.LinearRegression("y", ["x"], {"x": (0, 10), "y": (0, 10)}, missing="middle", noise="0.3")
VISITS = dc.programs.Poisson(dc.Column("visits", tuple(range(7)), outside=6), rate="Gamma(4, 3)")
BAYES = Network.naive_bayes("c", ["a", "b"], levels=dict.fromkeys("abc", ("no", "yes")), outside="no")
CHAIN = Network.from_edges("a -> b", "b -> c", levels=dict.fromkeys("abc", ("no", "yes")), outside="no")
FAMILY = dc.PoissonRate("visits", most=6, shape=4, rate=3, outside=6)

EVERY: dict[str, Any] = {
    "table": dc.GeometricHistogram(dc.Categories(WARD), 200, "0.5"),
    "table under a prior": dc.GeometricHistogram(dc.Categories(WARD, prior=2), 200, "0.5"),
    "share": dc.GeometricHistogram(COIN, 100, 8),
    "choice": dc.choices.HellingerGlobal(COIN, 30, 3),
    "family": dc.PosteriorSampling.tempered(FAMILY, size=200, epsilon=2, delta="1e-4"),
    "sums": dc.GeometricSums(dc.NumberSums("age", (0, 100), ("mean", "sum", "variance"), WARD, missing=40), 500, 4),
    "quantiles": dc.TreeTable(dc.NumberTable("age", (0, 100), 16, quantiles=("0.5", "0.9"), missing=40), 500, 4),
    "distribution": dc.TreeTable(dc.NumberTable("age", (0, 100), 16, asks=("distribution",), missing=40), 500, 4),
    "line": ConeMoments(LINE, 500, 40),
    "line of known noise": dc.regression.BoxMoments(KNOWN_LINE, 500, 40),
    "naive Bayes": dc.FamilyHistograms(BAYES, 300, 4),
    "network": dc.FamilyHistograms(CHAIN, 300, 4),
    "program": dc.GeometricHistogram(VISITS.table, 200, 8),
}


@pytest.mark.parametrize("name", EVERY)
def test_privacy_never_seems_to_help_beyond_monte_carlo_error(name: str) -> None:
    found = accuracy(EVERY[name], studies=12)
    assert found.width >= found.exact_width - 3 * found.cost_error
    for row in found.rows:
        assert row.width >= row.exact_width - 3 * row.cost_error - 1e-9, row
        assert row.width >= 0
        assert row.error >= 0
    assert found.studies == 12
    json.dumps(found.document(), allow_nan=False)
    assert found.sentence in str(found)
    assert "<table>" in found._repr_html_()


@pytest.mark.parametrize("name", ["table", "sums", "quantiles", "line", "naive Bayes", "program"])
def test_little_noise_leaves_the_widths_of_exact_statistics(name: str) -> None:
    found = accuracy(with_fields(EVERY[name], epsilon=200), studies=8)
    assert found.width == pytest.approx(found.exact_width, rel=0.03, abs=4 * found.cost_error)


def test_the_expected_width_is_that_of_exact_summation() -> None:
    """For n = 20, epsilon = 0.5 the prior-predictive mean width is 0.444, and 0.277 without privacy (exact sums)."""
    found = accuracy(dc.GeometricHistogram(COIN, size=20, epsilon="0.5"), studies=300)
    assert found.width == pytest.approx(0.444, abs=4 * found.mc_error)
    assert found.exact_width == pytest.approx(0.277, abs=0.015)
    assert found.log_score is not None
    assert found.exact_log_score is not None
    assert found.log_score == pytest.approx(0.688, abs=0.15)
    assert found.log_score < found.exact_log_score


def test_exact_coefficients_of_known_noise_have_a_closed_form() -> None:
    """The twin: w | b ~ N(S b / sigma^2, S), S = (A / sigma^2 + l I)^-1, the slope scaled to its units."""
    made = KNOWN_LINE.simulate(400, np.random.default_rng(3))
    moments = KNOWN_LINE.layout.unpack(made.statistics.astype(float), 400)
    spread = np.linalg.inv(moments.squares / 0.09 + np.eye(2))
    mean = spread @ moments.products / 0.09
    scale = 5 / 5 / sqrt(2)  # half the target's range over half the feature's, and sqrt(d)
    (_, slope) = exact_coefficients(KNOWN_LINE, moments)
    assert slope.mean == pytest.approx(mean[1] * scale, rel=1e-9)
    assert slope.sd == pytest.approx(sqrt(spread[1, 1]) * scale, rel=1e-9)


def test_exact_coefficients_of_unknown_noise_are_those_of_a_long_sum_over_its_variance() -> None:
    """The twin: p(w, sigma^2 | moments) on a fine grid of sigma^2, b given A by its plain normal law."""
    size, made = 60, LINE.simulate(60, np.random.default_rng(5))
    moments = LINE.layout.unpack(made.statistics.astype(float), size)
    a, b, total = moments.squares, moments.products, float(moments.total)
    rest = total - b @ np.linalg.solve(a, b)
    variances, logs = np.geomspace(1e-4, 3, 4000), []
    for variance in variances:
        covariance = a @ a + variance * a
        normal = -0.5 * (np.linalg.slogdet(covariance)[1] + b @ np.linalg.solve(covariance, b))
        prior = -2 * log(variance) - 0.05 / variance
        logs.append(normal + prior + log(variance) - (size - 2) / 2 * log(variance) - rest / (2 * variance))
    weights = np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    firm = [np.linalg.inv(a + variance * np.eye(2)) for variance in variances]
    means = np.array([each @ b for each in firm])[:, 1] / sqrt(2)
    squares = np.array([v * each[1, 1] for v, each in zip(variances, firm, strict=True)]) / 2
    (_, slope) = exact_coefficients(LINE, moments)
    mean = float(weights @ means)
    assert slope.mean == pytest.approx(mean, rel=1e-6)
    assert slope.sd == pytest.approx(sqrt(weights @ squares + weights @ (means - mean) ** 2), rel=1e-5)


def test_made_up_noise_follows_its_prior_below_the_stated_limit() -> None:
    drawn = np.array([noise_of(seed) for seed in range(400)])
    assert drawn.max() <= 0.4
    assert (drawn > 0.1).mean() > 0.5
    wanted = 0.5 * np.exp(-0.05 / 0.16)  # P(sigma^2 > v) = 1 - e^(-.05 / v), of InverseGamma(1, .05), below .16
    median = sqrt(0.05 / -np.log(wanted))
    assert np.mean(drawn < median) == pytest.approx(0.5, abs=4 * 0.5 / sqrt(400))


def noise_of(seed: int) -> float:
    from discreet.regression._simulate import _noise

    return _noise(LINE, np.random.default_rng(seed))


def test_more_epsilon_means_narrower_intervals_down_to_those_without_privacy() -> None:
    curve = accuracy_curve([dc.GeometricHistogram(COIN, 200, each) for each in ("0.05", "0.2", "1", "20")], studies=40)
    widths = [point.width for point in curve.points]
    assert widths == sorted(widths, reverse=True)
    assert len({point.exact_width for point in curve.points}) == 1  # the same studies
    assert widths[-1] == pytest.approx(curve.points[-1].exact_width, rel=1e-3)
    assert curve.points[1] == accuracy(dc.GeometricHistogram(COIN, 200, "0.2"), studies=40)


def test_the_epsilon_for_a_width_gives_that_width() -> None:
    mechanism = dc.GeometricHistogram(COIN, size=500, epsilon=1)
    epsilon = solve_for_width(mechanism, 0.08)
    assert epsilon is not None
    reached = accuracy(dc.GeometricHistogram(COIN, size=500, epsilon=f"{epsilon:.6g}"), studies=30)
    assert reached.width == pytest.approx(0.08, rel=0.05)
    assert solve_for_width(mechanism, 0.001) is None


def test_the_size_for_a_width_gives_that_width_for_a_line_too() -> None:
    size = solve_for_width(dc.GeometricHistogram(COIN, size=100, epsilon=1), 0.05, vary="size")
    assert size is not None
    assert accuracy(dc.GeometricHistogram(COIN, size=int(size), epsilon=1), studies=30).width == pytest.approx(
        0.05, rel=0.05
    )
    line = ConeMoments(LINE, 500, 4)
    wide = accuracy(line).width
    needed = solve_for_width(line, wide / 2, vary="size")
    assert needed is not None
    assert 1_000 < needed < 5_000


@pytest.mark.parametrize("width", [0, 1, -1, float("nan")])
def test_widths_that_make_no_sense_are_refused(width: float) -> None:
    with pytest.raises(dc.DeclarationError):
        solve_for_width(dc.GeometricHistogram(COIN, size=100, epsilon=1), width)


def test_curves_and_searches_share_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is read twice, further studies are added to those that were read, and no figure depends on that."""
    numbers: list[int] = []

    def counted(releases: Any) -> Any:
        numbers.append(len(releases))
        return infer_many(releases)

    infer_many = MODULE.infer_many
    monkeypatch.setattr(MODULE, "infer_many", counted)
    mechanism = dc.GeometricHistogram(COIN, size=500, epsilon=1)
    simulations = Simulations()
    others = [with_fields(mechanism, epsilon=epsilon) for epsilon in ("0.1", "1")]
    curve = simulations.curve(others, 20)
    assert numbers == [20, 20]
    numbers.clear()
    epsilon, size = (simulations.solve_for_width(mechanism, 0.08, vary, 20) for vary in ("epsilon", "size"))
    shared = sum(numbers)
    numbers.clear()
    alone = [Simulations().solve_for_width(mechanism, 0.08, vary, 20) for vary in ("epsilon", "size")]
    assert shared <= sum(numbers) - 2 * 20  # neither begins with a reading of the mechanism itself
    assert (epsilon, size) == pytest.approx(tuple(alone), rel=0.05)
    numbers.clear()
    (more,) = simulations.curve(others[1:], 30).points
    assert numbers == [10]
    fresh = accuracy(mechanism, studies=30)
    assert (more.width, more.error) == pytest.approx((fresh.width, fresh.error), rel=1e-9)
    assert curve.points[1].width == pytest.approx(accuracy(mechanism, studies=20).width, rel=1e-9)


def test_networks_that_take_long_are_read_row_by_row_and_plans_say_so() -> None:
    columns = [dc.Column(name, (0, 1, 2), outside=0) for name in "abc"]
    graph = dc.FamilyHistograms(Network(columns, [(), (), ("a", "b")]), 500, "0.5")
    classes = Network.naive_bayes("c", ["a", "b"], levels=dict.fromkeys("abc", (0, 1)), outside=0)
    small, large = (dc.networks.JointHistograms(classes, size, 1) for size in (10, 1000))
    assert "read row by row, which approximates how a release will be read" in accuracy(graph, studies=2).method
    assert "read row by row" in accuracy(large, studies=2).method
    assert "read as a release will be" in accuracy(small, studies=2).method


@pytest.mark.parametrize("levels", [3, 9], ids=["all rows few levels", "strengths that exact inference would learn"])
def test_no_chain_runs_for_a_plan_of_tables_that_were_all_measured(
    monkeypatch: pytest.MonkeyPatch, levels: int
) -> None:
    def run(*_: object) -> None:
        raise AssertionError("chains ran for a plan")

    monkeypatch.setattr(MovesSolver, "solve", run)
    monkeypatch.setattr(CountsSolver, "solve", run)
    columns = [dc.Column(name, tuple(range(levels)), outside=0) for name in "ab"] + [dc.Column("c", (0, 1), outside=0)]
    for epsilon in ("0.1", "8"):  # through slopes, and by moving records
        mechanism = dc.FamilyHistograms(Network(columns, [(), (), ("a", "b")]), 500, epsilon)
        assert "read row by row" in accuracy(mechanism, studies=2).method


def test_search_ends_at_the_crossing_after_few_steps() -> None:
    for slope, root, start in ((0.5, 3.0, 1.0), (1.0, 0.02, 1.0), (0.2, 20.0, 0.5), (1.0, 1.0, 1.0)):
        asked: list[float] = []

        def excess(x: float, slope: float = slope, root: float = root, asked: list[float] = asked) -> float:
            asked.append(x)
            return slope * log(root / x) + 0.02 * log(root / x) ** 3

        found = MODULE._crossing(excess, 1e-4, 100.0, [start])
        assert root <= found <= 1.031 * root
        assert len(asked) <= 9


def test_search_begins_with_what_is_known() -> None:
    asked: list[float] = []

    def excess(x: float) -> float:
        asked.append(x)
        return 0.7 * log(3.0 / x)

    found = MODULE._crossing(excess, 1e-4, 100.0, [0.1, 10.0, 1.0, 4.0])
    assert 3.0 <= found <= 3.1
    assert len(asked) <= 5


def test_search_says_when_there_is_no_crossing() -> None:
    assert MODULE._crossing(lambda _: 1.0, 1e-4, 100.0, [1.0]) is None
    assert MODULE._crossing(lambda _: -1.0, 1e-4, 100.0, [1.0]) == 1e-4


def test_planning_is_repeatable_and_its_work_follows_from_public_facts() -> None:
    mechanism = dc.GeometricHistogram(COIN, size=50, epsilon=1)
    assert accuracy(mechanism, studies=5) == accuracy(mechanism, studies=5)
    assert accuracy(mechanism, studies=5) != accuracy(mechanism, studies=5, seed=2)
    large = dc.GeometricHistogram(dc.Categories("x", levels=tuple(range(2_000)), outside=0), 10_000, 1)
    assert 20 <= studies_for(mechanism) <= 60
    assert all(studies_for(EVERY[name]) >= 20 for name in ("table", "sums", "line", "naive Bayes", "network"))
    assert studies_for(large) < 10


def test_widths_of_naive_bayes_vary_by_seed_as_the_stated_error_says() -> None:
    found = [accuracy(EVERY["naive Bayes"], studies=10, seed=seed) for seed in range(1, 9)]
    mean = float(np.mean([each.width for each in found]))
    stated = float(np.mean([each.mc_error for each in found]))
    spread = float(np.std([each.width for each in found], ddof=1))
    assert 0.3 * stated < spread < 2 * stated  # of 8 seeds: chi-square of 7 degrees, .1 % beyond on both sides
    assert all(abs(each.width - mean) < 5 * stated for each in found)
    assert {"count_sd", "classified", "classified_exactly"} <= set(found[0].facts)


def test_what_nobody_could_read_is_refused_before_any_work() -> None:
    ball = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise=1, norm_bound=1, missing="middle")
    with pytest.raises(dc.DeclarationError, match="could not be read here"):
        accuracy(BallDraw(ball, 100, 1))
    with pytest.raises(dc.DeclarationError, match="Nothing was simulated"):
        accuracy(EVERY["line"], patience=1e-9)


def test_a_rehearsal_recovers_its_truth() -> None:
    posterior, truth = rehearsal(dc.regression.BoxMoments(LINE, 60_000, 5), "rehearsal", seed=6)
    for row, value in zip(posterior.rows(), truth, strict=True):
        assert abs(row.mean - value) < 5 * row.sd


STUDY = """
[data]
path = "x.csv"
size = 500
unit = "one row per person"
[columns.answer]
levels = ["no", "yes"]
outside = "no"
[columns.x]
bounds = [0, 10]
missing = 5
[columns.y]
bounds = [0, 10]
missing = 5
[budget]
epsilon = "20"
ledger = "x.db"
[questions.share]
columns = ["answer"]
epsilon = "1"
[questions.mean]
model = "number"
column = "x"
ask = ["mean"]
epsilon = "1"
[questions.line]
model = "regression"
formula = "y ~ x"
epsilon = "4"
"""


def planned(folder: Path, *words: str) -> Any:
    (folder / "study.toml").write_text(STUDY)
    done = CliRunner().invoke(main, ["plan", str(folder / "study.toml"), *words, "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


@pytest.mark.parametrize("name", ["share", "mean", "line"])
def test_python_the_command_line_and_the_server_tell_the_same_figures(tmp_path: Path, name: str) -> None:
    points = planned(tmp_path, "--ask", name)["points"]
    study = dc.Study(tmp_path / "study.toml")
    mechanism = study.question(name).mechanism
    found = accuracy(mechanism)
    (point,) = (each for each in points if each["epsilon"] == found.epsilon)
    assert point == json.loads(json.dumps(found.document()))
    every: dict[str, dict[str, object]] = {
        "share": {"columns": ["answer"]},
        "mean": {"model": "number", "column": "x", "ask": ["mean"]},
        "line": {"model": "regression", "formula": "y ~ x"},
    }
    asked = every[name] | {"epsilon": str(mechanism.guarantee.epsilon), "label": name}
    served = served_width(study.public_document(), {"question": asked})
    assert {key: served[key] for key in ("width", "exact_width", "mc_error", "studies")} == {
        key: point[key] for key in ("width", "exact_width", "mc_error", "studies")
    }


def test_a_plan_without_a_name_is_about_all_questions(tmp_path: Path) -> None:
    document = planned(tmp_path)
    assert [each["question"] for each in document["questions"]] == ["share", "mean", "line"]
    assert all(len(each["points"]) == 1 for each in document["questions"])
    words = CliRunner().invoke(main, ["plan", str(tmp_path / "study.toml")])
    assert words.exit_code == 0, words.output
    assert words.output.count("wide on average") == 3
    refused = CliRunner().invoke(main, ["plan", str(tmp_path / "study.toml"), "--width", "0.1"])
    assert refused.exit_code == 1
    assert "name it with --ask" in " ".join(refused.output.split())


def test_a_plan_shows_what_can_be_read_and_says_what_cannot(tmp_path: Path) -> None:
    text = STUDY.replace("500", "60000").split("[questions.share]")[0]
    (tmp_path / "study.toml").write_text(
        text
        + '[columns.ward]\nlevels = ["A", "B", "C", "D"]\noutside = "A"\n[questions.odds]\nmodel = "logistic"\n'
        + 'formula = "answer ~ ward"\nepsilon = "1"\n'
    )
    words = ["plan", str(tmp_path / "study.toml"), "--studies", "2", "--epsilon"]
    told = CliRunner().invoke(main, [*words, "0.001,1", "--json"])
    assert told.exit_code == 0, told.output
    document = json.loads(told.output)
    assert [point["epsilon"] for point in document["points"]] == [1.0]
    (refused,) = document["unreadable"]
    mechanism = dc.GeometricHistogram(dc.Study(tmp_path / "study.toml").questions["odds"].model, 60_000, "0.001")
    assert refused == {"epsilon": 0.001, "size": 60_000, "why": why_unreadable(mechanism)}
    none = CliRunner().invoke(main, [*words, "0.001"])
    assert none.exit_code == 1
    assert "None of these can be planned" in " ".join(none.output.split())


def test_only_computed_points_are_drawn(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    words = ["plan", str(tmp_path / "study.toml"), "--ask", "line", "--plot", str(tmp_path / "plan.json"), "--json"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    drawn = (tmp_path / "plan.json").read_text()
    assert "monotone" not in drawn
    assert not re.search(r'"type": ?"line"', drawn)
    computed = [point["epsilon"] for point in json.loads(done.output)["points"]]
    assert len(computed) > 2
    assert [row["epsilon"] for row in json.loads(drawn)["data"]["values"]] == computed


@pytest.mark.parametrize("name", ["table", "table under a prior", "share"])
def test_figures_of_all_studies_at_once_are_those_of_each(name: str) -> None:
    mechanism = EVERY[name]
    made = [mechanism.model.simulate(mechanism.size, np.random.default_rng([3, number])) for number in range(6)]
    posteriors = infer_many([dc.simulate(mechanism, each.statistics, dc.SeededBits(5)) for each in made])
    places = range(len(mechanism.model.cells))
    found = TablePosterior.planned(posteriors, made, places, 0.9)
    one_by_one = np.array([[(row.mean, row.high - row.low) for row in each.rows(0.9)] for each in posteriors])
    assert found[..., :2] == pytest.approx(one_by_one, rel=1e-9)
    for posterior, own, figures in zip(posteriors, made, found, strict=True):
        known = mechanism.model.posterior(own.statistics)
        for place, truth in enumerate(own.truth):
            share = cast(TablePosterior, posterior).own_distributions.share(np.array([place]))
            assert figures[place, 2] == pytest.approx(float(share.log_density(truth)), abs=1e-9)
            assert figures[place, 3] == pytest.approx(float(known.marginal(place).log_density(truth)), abs=1e-9)


def test_a_program_knows_its_table_and_its_mechanism() -> None:
    found = dc.suggest(VISITS, 200, 2)
    assert found.mechanism == dc.GeometricHistogram(VISITS.table, 200, 2)
    assert "visits" in found.reason
    assert VISITS.mechanism(200, 2) == found.mechanism


def test_accuracy_is_public() -> None:
    assert dc.accuracy is accuracy
    assert isinstance(dc.accuracy(EVERY["share"], studies=2), Accuracy)


def test_the_patience_that_a_refused_plan_names_is_enough() -> None:
    age, schooling = (dc.Column(name, tuple("abcdef"[:n]), outside="a") for name, n in (("age", 6), ("schooling", 4)))
    sex, income = dc.Column("sex", ("f", "m"), outside="f"), dc.Column("income", ("low", "high"), outside="low")
    model = dc.Logistic("income ~ age + sex + schooling", columns=[age, sex, schooling, income]).table
    for size in (32_561, 34_000, 37_000, 41_000):
        mechanism = dc.GeometricHistogram(model, size, "0.1")
        with pytest.raises(dc.DeclarationError, match="discreet rehearse") as refused:
            require_quick(mechanism, 1.0)
        named = re.search(r"A patience of ([0-9.]+) allows a plan \(--patience\)", str(refused.value))
        assert named is not None
        require_quick(mechanism, float(named[1]))
