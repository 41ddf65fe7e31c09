"""Programs: what formulas, families and priors say about cells, against SciPy's laws and plain sums."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

import discreet as dc
from discreet.programs import ModelledTable, Program, program_written
from discreet.programs._formula import formula_of_levels
from discreet.programs._priors import (
    PRIORS,
    BetaPrior,
    GammaPrior,
    HalfNormalPrior,
    LogNormalPrior,
    NormalPrior,
    ParameterPrior,
    prior_of,
)

AGE = dc.Column("age", ("young", "middle", "old"), outside="young")
WARD = dc.Column("ward", ("A", "B"), outside="A")
FALLS = dc.Column("falls", ("no", "yes"), outside="no")
DAYS = dc.Column.banded("days", (0, 1, 2, 4, 8, 16))
WHOLE = dc.Column("visits", tuple(range(6)), outside=5)


def chances(program: Program, column: dc.Column, *naturals: float) -> NDArray[np.float64]:
    """Return the probabilities of cells at given parameters, which are first put on the scale without ends."""
    cells = program.on((column,))
    theta = np.array([[law.without_ends(value) for law, value in zip(cells.priors, naturals, strict=True)]])
    assert cells.natural(theta)[0] == pytest.approx(naturals)
    return np.asarray(np.exp(cells.log_of(theta)[0]))


@pytest.mark.parametrize(
    ("program", "naturals", "law"),
    [
        (dc.programs.Normal(), (3.0, 2.0), stats.norm(3, 2)),
        (dc.programs.Normal(), (60.0, 2.0), stats.norm(60, 2)),
        (dc.programs.LogNormal(), (1.0, 0.7), stats.lognorm(0.7, scale=np.e)),
        (dc.programs.Exponential(), (0.4,), stats.expon(scale=2.5)),
        (dc.programs.Gamma(), (2.0, 3.0), stats.gamma(2, scale=1.5)),
    ],
)
def test_bands_of_numbers_have_the_mass_between_their_edges(
    program: Program, naturals: tuple[float, ...], law: stats.rv_continuous
) -> None:
    found = chances(program, DAYS, *naturals)
    wanted = np.diff(law.cdf(DAYS.edges)) if law.cdf(16) < 0.9 else -np.diff(law.sf(DAYS.edges))
    assert found[:-1] == pytest.approx(wanted, rel=1e-9, abs=1e-300)
    assert found[-1] == pytest.approx(law.cdf(0) + law.sf(16), rel=1e-9)
    assert found.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("program", "naturals", "law"),
    [
        (dc.programs.Poisson(), (1.4,), stats.poisson(1.4)),
        (dc.programs.NegativeBinomial(), (2.0, 3.0), stats.nbinom(3, 0.6)),
        (dc.programs.Binomial(trials=9), (0.3,), stats.binom(9, 0.3)),
        (dc.programs.Binomial(trials=3), (0.3,), stats.binom(3, 0.3)),
    ],
)
def test_levels_and_bands_of_whole_numbers_have_their_mass(
    program: Program, naturals: tuple[float, ...], law: stats.rv_discrete
) -> None:
    found = chances(program, WHOLE, *naturals)
    assert found[:5] == pytest.approx(law.pmf(range(5)), abs=1e-13)
    assert found[5] == pytest.approx(law.sf(4), abs=1e-13)  # the level `outside` takes what lies beyond
    banded = chances(program, DAYS, *naturals)
    wanted = [law.pmf(0), law.pmf(1), *(np.sum(law.pmf(range(*ends))) for ends in ((2, 4), (4, 8), (8, 17)))]
    assert banded == pytest.approx([*wanted, law.sf(16)], abs=1e-13)


def test_a_far_tail_keeps_its_digits() -> None:
    found = dc.programs.Normal().on((DAYS,)).log_of(np.array([[-30.0, 0.0]]))[0]
    assert found[3] == pytest.approx(float(stats.norm.logsf(34)), rel=1e-3)  # 4 to under 8, of a mean of -30


@pytest.mark.parametrize(
    "law", [NormalPrior(1, 2), LogNormalPrior(0.5, 1.5), HalfNormalPrior(2), GammaPrior(4, 3), BetaPrior(2, 3)]
)
def test_priors_integrate_to_one_and_have_the_stated_slope_and_draws(law: ParameterPrior) -> None:
    places = np.linspace(-40, 40, 80_001)
    density = np.exp(law.log_density(places))
    assert density.sum() * 1e-3 == pytest.approx(1, abs=1e-6)
    near = np.linspace(-1, 1, 5)
    slope = (law.log_density(near + 1e-5) - law.log_density(near - 1e-5)) / 2e-5
    assert law.slope(near) == pytest.approx(slope, abs=1e-6)
    stretch = (law.natural(near + 1e-5) - law.natural(near - 1e-5)) / 2e-5
    assert law.stretch(near) == pytest.approx(stretch, rel=1e-6)
    below = np.cumsum(density) * 1e-3
    drawn = np.interp(law.draw(2_000, np.random.default_rng(1)), places, below)
    assert stats.kstest(drawn, "uniform").pvalue > 1e-4
    assert prior_of(repr(law), "x") == law
    assert law.name() in PRIORS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Cauchy(0, 1)", "one of Normal"),
        ("Normal(0)", r"Normal\(mean, sd\)"),
        ("Normal(0, -1)", "above 0"),
        ("Normal(0, 1e999)", "above 0"),
        ("Gamma(1, 1)", "real parameter"),
        (7, "Normal"),
    ],
)
def test_what_is_no_law_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(dc.DeclarationError, match=words):
        prior_of(text, "a coefficient", "real")


def test_formulas_say_outcome_event_terms_and_varying_column() -> None:
    found = formula_of_levels("falls=yes ~ age*ward + (1 | hospital)")
    assert (found.outcome, found.event, found.varying) == ("falls", "yes", "hospital")
    assert found.terms == (("age",), ("ward",), ("age", "ward"))
    assert found.covariates == ("age", "ward", "hospital")
    assert formula_of_levels("y ~ blood pressure + 1").covariates == ("blood pressure",)


@pytest.mark.parametrize(
    "formula",
    [
        "falls",
        "a ~ b ~ c",
        "y ~ a:b",
        "y ~ a + (1 | b) + (1 | c)",
        "y ~ a*b:c",
        "y ~ log(a)",
        "y ~ a + a:a",
        "y ~ a + a^2",
        "y= ~ a",
        "=yes ~ a",
        "y ~ a=b",
        "y ~ `a",
        3,
    ],
)
def test_what_is_no_formula_is_refused_in_words(formula: str) -> None:
    with pytest.raises(dc.DeclarationError):
        dc.Logistic(formula)


def test_effects_are_those_of_levels_beside_the_first() -> None:
    cells = dc.Logistic("falls ~ age*ward").on((AGE, WARD, FALLS))
    assert cells.names == (
        "intercept", "age=middle", "age=old", "ward=B", "age=middle:ward=B", "age=old:ward=B",
    )  # fmt: skip
    theta = np.array([[0.1, 0.2, -0.3, 0.4, -0.5, 0.6]])
    table = np.exp(cells.log_of(theta)).reshape(3, 2, 2)
    log_odds = np.log(table[..., 1] / table[..., 0])
    assert log_odds == pytest.approx(np.array([[0.1, 0.5], [0.3, 0.2], [-0.2, 0.8]]))
    other = dc.Logistic("falls=no ~ age*ward").on((FALLS, WARD, AGE))  # another order of columns, the other level
    table = np.exp(other.log_of(theta)).reshape(2, 2, 3)
    assert pytest.approx(log_odds) == np.log(table[0] / table[1]).T


ALL = [
    (dc.Logistic("falls ~ age + ward"), (AGE, WARD, FALLS)),
    (dc.Logistic("falls ~ age + (1 | ward)"), (AGE, WARD, FALLS)),
    (dc.programs.Multinomial("age ~ ward"), (WARD, AGE)),
    (dc.programs.LogLinear("~ age*falls + ward"), (AGE, WARD, FALLS)),
    (dc.programs.Normal(), (DAYS,)),
    (dc.programs.Binomial(trials=5, probability="Beta(2, 2)"), (WHOLE,)),
    (
        dc.CellModel(
            lambda given: np.log([given["p"] ** 2, 1 - given["p"] ** 2]),
            {"p": "Beta(2, 2)"},
            jacobian=lambda given: [[2 / given["p"]], [-2 * given["p"] / (1 - given["p"] ** 2)]],
        ),
        (FALLS,),
    ),
]


@pytest.mark.parametrize(("program", "columns"), ALL, ids=[repr(program) for program, _ in ALL])
def test_pulled_back_counts_are_derivatives_of_the_log_probabilities(
    program: Program, columns: tuple[dc.Column, ...]
) -> None:
    cells = program.on(columns)
    generator = np.random.default_rng(5)
    theta = 0.5 * generator.standard_normal((3, cells.dimension))
    expected = generator.uniform(1, 5, cells.log_of(theta).shape)
    found = cells.pull_back(theta, expected)
    for place in range(cells.dimension):
        step = 1e-6 * (np.arange(cells.dimension) == place)
        slope = (expected * (cells.log_of(theta + step) - cells.log_of(theta - step))).sum(axis=1) / 2e-6
        assert found[:, place] == pytest.approx(slope, abs=1e-4, rel=1e-6)
    values, slopes = cells.log_prior(theta)
    assert values.shape == (3,)
    assert slopes.shape == theta.shape
    assert cells.natural(theta).shape == (3, len(cells.labels))


@pytest.mark.parametrize(
    ("program", "columns", "words"),
    [
        (dc.Logistic("falls ~ age"), (AGE, WARD, FALLS), "does not name"),
        (dc.Logistic("falls ~ age"), (WARD, FALLS), "names 'age'"),
        (dc.Logistic("age ~ ward"), (AGE, WARD), "Use a multinomial"),
        (dc.Logistic("falls=maybe ~ ward"), (WARD, FALLS), "the levels no, yes"),
        (dc.programs.Multinomial("age ~ (1 | ward)"), (AGE, WARD), "for Logistic"),
        (dc.programs.LogLinear("~ age"), (AGE, WARD), "the table has age, ward"),
        (dc.programs.Normal(), (AGE,), "needs bands"),
        (dc.programs.Poisson(), (AGE,), "whole numbers"),
        (dc.programs.Poisson(), (WHOLE, AGE), "describes one column"),
    ],
)
def test_a_table_that_does_not_fit_is_refused_in_words(
    program: Program, columns: tuple[dc.Column, ...], words: str
) -> None:
    with pytest.raises(dc.DeclarationError, match=words):
        ModelledTable(columns, program)


def test_a_program_without_levels_says_what_is_missing() -> None:
    with pytest.raises(dc.DeclarationError, match=r"columns=\[\.\.\.\]"):
        dc.Logistic("falls ~ age").table  # noqa: B018 - a property that refuses
    table = dc.Logistic("falls ~ age", columns=[FALLS, WARD, AGE]).table
    assert [column.name for column in table.columns] == ["age", "falls"]


def test_families_are_written_with_their_priors() -> None:
    found = program_written("normal; mean = Normal(1, 2); sd = HalfNormal(3)")
    assert found == dc.programs.Normal(mean="Normal(1, 2)", sd="HalfNormal(3)")
    assert program_written("binomial; trials = 7") == dc.programs.Binomial(trials=7)
    assert program_written("y ~ x") == "y ~ x"
    for wrong in ("norml", "normal; mean", "normal; centre = Normal(0, 1)", "binomial; trials = many"):
        with pytest.raises(dc.DeclarationError):
            program_written(wrong)
