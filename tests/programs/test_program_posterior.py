"""Releases of tables read by programs: against slow sums, exact tables, and the road from a study to an interval."""

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.stats import beta, gamma, poisson

import discreet as dc
from discreet.cli._main import main
from discreet.inference import MOST_OPERATIONS, Problem
from discreet.mathematics import by_draws, on_a_grid, peak_of
from discreet.mathematics._densities import Peak
from discreet.mechanism import sized
from discreet.programs import ModelledTable, ModelPosterior
from discreet.programs import _infer as programs
from discreet.programs import _model as modelled_table
from discreet.programs._inference import needed, solve_target
from discreet.programs._likelihood import CellFunction
from discreet.programs._listed_likelihood import ListedLikelihood
from discreet.programs._solver import CellModelsSolver
from discreet.programs._target import PopulationLayout, Populations, ProgramTarget

VISITS = dc.Column("visits", tuple(range(7)), outside=6)
FALLS = dc.Column("falls", ("no", "yes"), outside="no")
WARD = dc.Column("ward", ("A", "B", "C"), outside="A")
AGE = dc.Column("age", ("young", "old"), outside="young")


def simulated(table: dc.Categories, counts: list[int], epsilon: float = 1, label: str = "made up") -> dc.Release:
    mechanism = dc.GeometricHistogram(table, sum(counts), epsilon)
    return dc.simulate(mechanism, counts, dc.SeededBits(sum(counts)), label)


def test_a_rate_is_read_as_a_slow_sum_over_rates_says() -> None:
    program = dc.programs.Poisson(VISITS, rate="Gamma(4, 3)")
    release = simulated(program.table, [50, 68, 47, 22, 9, 3, 1], epsilon=2)
    posterior: Any = dc.infer(release)
    assert isinstance(posterior, ModelPosterior)
    rates = np.linspace(0.8, 2.2, 141)
    levels = np.arange(6)[:, None]
    logs = np.concatenate([poisson.logpmf(levels, rates), np.asarray(poisson.logsf(5, rates))[None]]).T
    slow = release.likelihood(logs)[0] + gamma(4, scale=1 / 3).logpdf(rates)
    weights = np.exp(slow - slow.max())
    mean = float(weights @ rates / weights.sum())
    assert posterior.mean["rate"] == pytest.approx(mean, abs=1e-5)
    assert posterior.sd["rate"] == pytest.approx(np.sqrt(weights @ (rates - mean) ** 2 / weights.sum()), abs=1e-5)
    assert posterior.log_evidence == pytest.approx(float(np.log(weights.sum() * 0.01) + slow.max()), abs=1e-5)
    inside = np.cumsum(weights) / weights.sum()
    low, high = posterior.interval("rate")
    assert (low, high) == pytest.approx((np.interp(0.05, inside, rates), np.interp(0.95, inside, rates)), abs=0.01)
    assert "grid" in posterior.method


def test_the_family_of_draws_and_a_plain_table_are_read_alike() -> None:
    program = dc.programs.Poisson(VISITS, rate="Gamma(4, 3)")
    counts = [50, 68, 47, 22, 9, 3, 1]
    told: Any = dc.infer(simulated(program.table, counts, 2))
    plain = simulated(dc.Categories(VISITS), counts, 2)
    for model in (program, dc.PoissonRate("visits", most=6, shape=4, rate=3, outside=6)):
        (row,), (own,) = dc.infer(plain, model=model).rows(), told.rows()
        assert (row.mean, row.low, row.high) == pytest.approx((own.mean, own.low, own.high), abs=1e-6)
    assert len(dc.infer(simulated(program.table, counts, 2), prior=1).rows()) == 7  # as a table, without the program


def test_one_table_of_two_cells_is_the_beta_posterior_of_exact_counts() -> None:
    model = dc.CellModel(lambda given: np.log([1 - given["p"], given["p"]]), {"p": "Beta(2, 3)"})
    release = simulated(dc.Categories(FALLS), [70, 30], epsilon=10_000)
    posterior: Any = dc.infer(release, model=model)
    assert posterior.mean["p"] == pytest.approx(beta(32, 73).mean(), abs=1e-5)
    assert posterior.interval("p") == pytest.approx(beta(32, 73).interval(0.9), abs=1e-4)
    odds = posterior.of(lambda given: given["p"] / (1 - given["p"]))
    assert odds.mean == pytest.approx(32 / 72, abs=1e-3)
    (row,) = posterior.rows()
    assert row.share_due_to_privacy == pytest.approx(0, abs=1e-3)


def logistic() -> dc.Release:
    table = dc.Logistic("falls ~ ward + age", columns=[WARD, AGE, FALLS]).table
    return simulated(table, [150, 40, 120, 60, 130, 30, 90, 70, 140, 20, 100, 50], epsilon=2)


def test_a_regression_agrees_with_a_grid_of_its_own() -> None:
    table = dc.Logistic("falls ~ age", columns=[AGE, FALLS]).table
    release = simulated(table, [280, 60, 190, 110], epsilon=3)
    posterior: Any = dc.infer(release)
    target = posterior.solution.target
    drawn = by_draws(target, peak_of(target, [np.zeros(2)]), 600, 300, 1_200, np.random.default_rng(1))
    grid = on_a_grid(target, peak_of(target, [np.zeros(2)]))
    for place in range(2):
        mean, sd = float(grid.weights @ grid.points[:, place]), posterior.sd[posterior.names[place]]
        assert float(drawn.weights @ drawn.points[:, place]) == pytest.approx(mean, abs=6 * sd / np.sqrt(300))
    assert drawn.log_mass == pytest.approx(grid.log_mass, abs=0.2)
    assert drawn.shape < 0.7


class Tails:
    """A density of three numbers with heavy tails, and how often it was asked for."""

    def __init__(self) -> None:
        self.made = 0

    def values(self, theta: Any) -> Any:
        self.made += len(theta)
        return -np.log1p(np.square(theta)).sum(axis=1)

    def __call__(self, theta: Any) -> Any:
        return self.values(theta), -2 * theta / (1 + np.square(theta))


@pytest.mark.parametrize("width", [0.1, 2.0])
@pytest.mark.parametrize("most", [200, 500, 2_000])
def test_no_more_draws_are_made_than_are_allowed(width: float, most: int) -> None:
    target = Tails()
    by_draws(target, Peak(np.full(3, 0.5), width * np.eye(3)), 200, 1e9, most, np.random.default_rng(1))
    assert most / 2.5 <= target.made <= most


@pytest.mark.parametrize(("formula", "epsilon"), [("falls ~ ward + age", "0.001"), ("falls ~ (1 | ward)", "1")])
def test_a_reading_takes_no_more_values_than_its_work_says(
    formula: str, epsilon: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = [column for column in (WARD, AGE, FALLS) if column.name in formula]
    table = dc.Logistic(formula, columns=columns).table
    made: list[int] = []
    counts = np.random.default_rng(3).multinomial(60, np.full(len(table.cells), 1 / len(table.cells)))
    release = dc.simulate(dc.GeometricHistogram(table, 60, epsilon), counts, dc.SeededBits(3), "falls")
    values, both = ProgramTarget.values, ProgramTarget.__call__

    def counted_values(self: ProgramTarget, theta: Any) -> Any:
        made.append(len(theta))
        return values(self, theta)

    def counted_slopes(self: ProgramTarget, theta: Any) -> Any:
        made.append(2 * len(theta))
        return both(self, theta)

    monkeypatch.setattr(ProgramTarget, "values", counted_values)
    monkeypatch.setattr(ProgramTarget, "__call__", counted_slopes)
    monkeypatch.setattr("discreet.programs._hamiltonian.is_installed", lambda: True)  # and yet there is no time for it
    work = CellModelsSolver().cost(Problem.before(sized(release.mechanism))).operations
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dc.infer(release, patience=1.0001 * work / MOST_OPERATIONS)
    assert 1_500 <= sum(made) <= needed(table.bound)


def test_a_regression_is_written_read_and_shown() -> None:
    release = logistic()
    again = dc.Release.from_json(release.to_json())
    assert again == release
    posterior: Any = dc.infer(again)
    assert posterior.names == ("intercept", "ward=B", "ward=C", "age=old")
    assert posterior.mean["age=old"] == pytest.approx(0.9, abs=0.6)  # made up at odds ratios of 1.9 to 3.5
    rows = posterior.rows()
    assert all(row.monte_carlo_error is not None and row.monte_carlo_error < 0.2 * row.sd for row in rows)
    assert all(row.share_due_to_privacy is not None and 0 <= row.share_due_to_privacy < 0.6 for row in rows)
    assert "k-hat" in posterior.method
    assert posterior.information is not None
    assert posterior.information > 5
    assert "log odds" in str(posterior)
    assert set(posterior.prior_sensitivity()) == set(posterior.names)
    assert max(posterior.prior_sensitivity().values()) < 0.3
    assert posterior.draws(50, seed=1)["parameters"].shape == (50, 4)
    told = dc.verify(release)
    assert told.epsilon <= 2
    tree = posterior.to_arviz(draws=100)
    assert {"posterior", "log_likelihood", "posterior_predictive", "prior", "log_prior"} <= set(tree.children)


def test_a_stronger_prior_moves_what_the_release_hardly_tells() -> None:
    program = dc.programs.Poisson(VISITS, rate="Gamma(400, 100)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        posterior: Any = dc.infer(simulated(program.table, [4, 2, 1, 1, 0, 0, 0], epsilon=0.5))
    assert posterior.prior_sensitivity()["rate"] == pytest.approx(0, abs=0.5)
    weak: Any = dc.infer(simulated(program.table, [40, 20, 10, 5, 0, 0, 0], epsilon=2))
    assert weak.prior_sensitivity()["rate"] > 0.3
    assert "prior" in " ".join(weak.remarks())


def test_two_hospitals_share_a_rate_or_differ_around_a_common_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modelled_table, "MANY_DRAWS", 800)  # a third of the usual work
    monkeypatch.setattr(modelled_table, "WORTH", 50.0)
    fall = dc.Categories("fall", levels=(0, 1), outside=0)
    north = simulated(fall, [340, 60], epsilon=8, label="north")
    south = simulated(fall, [200, 100], epsilon=8, label="south")
    rate = dc.programs.Binomial(trials=1)
    shared: Any = dc.infer(populations={"north": north, "south": south}, model=rate)
    assert shared.mean["probability"] == pytest.approx(160 / 700, abs=0.03)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dc.ConvergenceWarning)  # so few draws may not be trusted
        together: Any = dc.infer(populations={"north": north, "south": south}, model=rate.varying("probability"))
    means = [together.mean[f"probability {which}"] for which in ("of north", "(common)", "of south")]
    assert means[0] < means[1] < means[2]
    assert 0.15 < means[0] < 0.17  # drawn a little towards the other
    assert 0.31 < means[2] < 1 / 3
    assert "different populations" in str(together)
    with pytest.raises(dc.DeclarationError, match="by name"):
        dc.infer(north, model=rate, populations={"south": south})
    with pytest.raises(dc.DeclarationError, match=r"Populations are read together by a model of what they share.*Each"):
        dc.infer(populations={"north": north, "south": south})


def test_a_misspelt_keyword_is_no_population() -> None:
    release = simulated(dc.Categories("fall", levels=(0, 1), outside=0), [340, 60], epsilon=8, label="falls")
    with pytest.raises(TypeError, match="unexpected keyword argument 'priors'"):
        dc.infer(release, priors=1)  # type: ignore[call-arg]


def test_varying_intercepts_of_known_counts_are_as_wide_as_a_reading_without_noise() -> None:
    """Shares due to privacy are ratios of both: they were about 0 where known counts were read by another proposal."""
    table = dc.Logistic("falls ~ (1 | ward)", columns=[WARD, FALLS], prior="Normal(0, 1)").table
    counts = np.array([90, 10, 40, 6, 150, 17])
    reading = solve_target(
        table, ProgramTarget(table.bound, CellFunction(table, ListedLikelihood.exact(counts))), "exact"
    )
    known = table.exact(counts, int(counts.sum()), 0.9)
    for place, (mean, width) in enumerate(known):
        low, high = reading.distribution(place).interval(0.9)
        assert (mean, width) == pytest.approx((reading.distribution(place).mean, high - low), abs=0.01)


def test_populations_that_take_too_much_work_are_refused_with_its_amount_and_patience_allows_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class ReadingBeginsError(Exception):
        pass

    def begin(*_: object, allowed: float) -> None:
        raise ReadingBeginsError(allowed)

    monkeypatch.setattr(programs, "solve_target", begin)
    table = dc.Categories(dc.Column("visits", tuple(range(12)), outside=0))
    mechanism = dc.GeometricHistogram(table, 10**6, "0.001")
    wide: Any = {name: dc.Release(mechanism, (83_000,) * 12, name, simulated=True) for name in ("north", "south")}
    works = []
    for model in (dc.programs.Poisson(), dc.programs.Poisson().varying("rate")):
        with pytest.raises(
            dc.DeclarationError, match=r"24 cells of 2 populations takes about .e\+1. operations"
        ) as told:
            dc.infer(model=model, populations=wide)
        assert "Nothing was read" in str(told.value)
        works.append(float(str(told.value).split("patience=")[1].split()[0]))
    with pytest.raises(ReadingBeginsError) as begun:
        dc.infer(model=model, patience=works[-1], populations=wide)
    cells = PopulationLayout(
        ModelledTable.with_program(table, model).bound, ("north", "south"), model.exchangeable
    ).cells
    assert begun.value.args[0] >= needed(cells)
    assert works[1] > 2 * works[0]  # four parameters and draws, not a grid of one
    with pytest.raises(dc.DeclarationError, match="patience must be above 0"):
        dc.infer(model=dc.programs.Poisson(), patience=0, populations=wide)


def test_what_varies_between_populations_is_a_parameter_and_its_derivative_is_that_of_differences() -> None:
    ages = dc.Categories([FALLS, WARD])
    given: Any = {
        name: simulated(ages, counts, epsilon=2, label=name)
        for name, counts in (("north", [50, 40, 30, 9, 8, 7]), ("south", [20, 30, 30, 9, 3, 7]))
    }
    with pytest.raises(dc.DeclarationError, match=r"'slope' cannot vary .* are intercept, ward=B, ward=C"):
        dc.infer(model=dc.programs.Logistic("falls ~ ward").varying("slope"), populations=given)
    table = ModelledTable.with_program(ages, dc.programs.Logistic("falls ~ ward").varying("intercept", "ward=C"))
    parts = {name: CellModelsSolver().target(replace(Problem.of([r]), model=table)) for name, r in given.items()}
    target = Populations(parts, table.program.exchangeable)
    theta = np.random.default_rng(813).normal(size=target.cells.dimension) / 2
    steps = 1e-5 * np.eye(len(theta))
    differences = (target.values(theta + steps) - target.values(theta - steps)) / 2e-5
    assert target(theta[None])[1][0] == pytest.approx(differences, abs=1e-4)
    assert [target.cells.names[place] for place in target.cells.spreads] == ["spread of intercept", "spread of ward=C"]


def test_spreads_of_a_program_itself_are_spreads_of_populations_too() -> None:
    varying = dc.programs.Logistic("falls ~ (1 | ward)")
    one = ModelledTable.with_program(dc.Categories([FALLS, WARD]), varying).bound
    layout = PopulationLayout(one, ("north", "south"), ("intercept",))
    names = [layout.cells.names[place] for place in layout.cells.spreads]
    assert names == ["spread of intercept", *(one.names[place] for place in one.spreads)]
    assert one.spreads


def test_two_releases_of_the_same_records_tell_more_than_one() -> None:
    program = dc.programs.Poisson(VISITS, rate="Gamma(4, 3)")
    counts = [50, 68, 47, 22, 9, 3, 1]
    one, two = simulated(program.table, counts, 0.2, "first"), simulated(dc.Categories(VISITS), counts, 0.5, "second")
    both: Any = dc.infer(one, two, model=program)
    assert both.sd["rate"] < dc.infer(one).sd["rate"]


def test_what_is_no_program_or_no_table_is_refused_in_words() -> None:
    release = simulated(dc.Categories(FALLS), [70, 30])
    with pytest.raises(dc.DeclarationError, match="got a int"):
        dc.infer(release, model=3)
    network = dc.Network.naive_bayes("a", ["b"], {"a": (0, 1), "b": (0, 1)}, outside={"a": 0, "b": 0})
    counts = dc.Release(dc.FamilyHistograms(network, 10, 1), (5, 5, 2, 3, 3, 2), "made up", simulated=True)
    with pytest.raises(dc.DeclarationError, match="one table of categories"):
        dc.infer(counts, model="b ~ a")
    wrong = dc.CellModel(lambda given: np.log([given["p"], given["p"]]), {"p": "Beta(1, 1)"})
    with pytest.raises(dc.DeclarationError, match="add up to"):
        dc.infer(release, model=wrong)


def test_exact_counts_are_one_table() -> None:
    value, expected = ListedLikelihood.exact(np.array([3, 2]))(np.log([0.5, 0.5]))
    assert float(value) == pytest.approx(np.log(10 / 32))
    assert expected == pytest.approx([3, 2])


STUDY = """
[data]
path = "records.csv"
size = 400

[columns.ward]
levels = ["A", "B"]
outside = "A"

[columns.falls]
levels = ["no", "yes"]
outside = "no"

[columns.days]
bands = [0, 1, 2, 4, 8, 16]

[budget]
ledger = "study.db"
epsilon = 20

[questions.risk]
model = "logistic"
formula = "falls ~ ward"
prior = "Normal(0, 1.5)"
epsilon = 8

[questions.stay]
model = "family"
family = "log-normal"
column = "days"
priors = { mean = "Normal(1, 1)", sd = "HalfNormal(1)" }
epsilon = 8
"""


def run(*words: str) -> str:
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_a_study_asks_for_programs_and_the_command_line_goes_the_whole_road(tmp_path: Path) -> None:
    generator = np.random.default_rng(2)
    wards, days = generator.integers(2, size=400), np.minimum(generator.lognormal(1, 0.7, 400), 15.9)
    falls = generator.random(400) < np.where(wards == 1, 0.5, 0.2)
    lines = [f"{'AB'[w]},{('no', 'yes')[int(f)]},{d:.3f}" for w, f, d in zip(wards, falls, days, strict=True)]
    (tmp_path / "records.csv").write_text("ward,falls,days\n" + "\n".join(lines) + "\n")
    study = tmp_path / "study.toml"
    study.write_text(STUDY)
    planned = json.loads(run("plan", str(study), "--ask", "stay", "--epsilon", "2", "--json"))
    assert planned["points"][0]["rows"][0]["quantity"] == "mean"
    for name in ("risk", "stay"):
        run("publish", str(study), "--ask", name, "--out", str(tmp_path / f"{name}.json"))
    run("verify", str(tmp_path / "risk.json"), "--ledger", str(tmp_path / "study.db"))
    found = json.loads(run("infer", str(tmp_path / "stay.json"), "--json"))
    assert [row["quantity"] for row in found["rows"]] == ["mean", "sd"]
    assert found["rows"][0]["mean"] == pytest.approx(1, abs=0.3)
    told = json.loads(run("infer", str(tmp_path / "risk.json"), "--model", "falls ~ ward", "--json"))
    assert told["rows"][1]["quantity"] == "ward=B"
    page = tmp_path / "page.md"
    assert "log odds" in run("infer", str(tmp_path / "risk.json"), "--statement", str(page))
    assert "Normal(0, 1.5)" in page.read_text()
    refused = CliRunner().invoke(main, ["infer", str(tmp_path / "risk.json"), "--model", "poisson", "--prior", "1"])
    assert refused.exit_code != 0
