"""Intercepts that vary: the prior of their spread, normal ones and those of a t; and the guesses that plans use."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.integrate import quad
from scipy.stats import expon, halfnorm, t

import discreet as dc
from discreet._core.documents import document_of, read_document
from discreet._core.errors import DeclarationError
from discreet.cli._main import main
from discreet.programs import Program
from discreet.programs._model import _Known, points_of
from discreet.programs._priors import prior_of
from discreet.regression import read_formula

WARDS = dc.Column("ward", tuple("ABCDEFGH"), outside="A")
FALLS = dc.Column("falls", ("no", "yes"), outside="no")
AGE = dc.Column("age", ("young", "old"), outside="young")


@pytest.mark.parametrize(
    ("written", "density"),
    [
        ("StudentT(3, 1, 2)", lambda x: t.pdf(x, 3, 1, 2)),
        ("HalfStudentT(3, 2.5)", lambda x: 2 * t.pdf(x, 3, 0, 2.5)),
        ("HalfNormal(2.5)", lambda x: halfnorm.pdf(x, 0, 2.5)),
        ("Exponential(2)", lambda x: expon.pdf(x, 0, 0.5)),
    ],
)
def test_a_prior_has_the_density_of_its_name_and_the_slope_of_that(written: str, density: Any) -> None:
    prior, u = prior_of(written, "x"), np.linspace(-3, 2, 11)
    expected = density(prior.natural(u)) * prior.stretch(u)
    np.testing.assert_allclose(np.exp(prior.log_density(u)), expected, rtol=1e-12)
    change = prior.log_density(u + 1e-6) - prior.log_density(u - 1e-6)
    np.testing.assert_allclose(prior.slope(u), change / 2e-6, atol=1e-8)
    assert prior_of(repr(prior), "x") == prior
    drawn = prior.draw(20_000, np.random.default_rng(1))
    below = quad(lambda each: float(np.exp(prior.log_density(np.array([each]))[0])), -60, 0.3)[0]
    assert abs((drawn <= 0.3).mean() - below) <= 4 * np.sqrt(below * (1 - below) / 20_000)


def test_the_formula_of_t_intercepts_is_one_grammar() -> None:
    read = read_formula("falls ~ age + ( 1 | `odd, name` , t )")
    assert (read.varying, read.has_tails) == ("odd, name", True)
    assert read_formula(read.canonical) == read
    assert not read_formula("falls ~ (1 | `odd, name`)").has_tails
    with pytest.raises(DeclarationError, match=r"\(1 \| column, t\), with heavy tails; got '\(1 \| ward, cauchy\)'"):
        read_formula("falls ~ (1 | ward, cauchy)")


def last_ward(program: dc.Logistic, counts: Any) -> float:
    """Return the mean of the last ward's log odds, from exact counts."""
    bound = program.table.bound
    found = points_of(_Known(bound, np.asarray(counts, dtype=float)), bound)
    values = bound.natural(found.points)
    return float(found.grouped.mean(values[:, 0] + values[:, -1]))


def test_an_outlying_group_is_drawn_less_to_the_others_by_t_intercepts() -> None:
    counts = [41, 9] * 7 + [19, 31]  # log odds -1.5 but for the last ward's, .49
    normal = last_ward(dc.Logistic("falls ~ (1 | ward)", [WARDS, FALLS]), counts)
    tails = last_ward(dc.Logistic("falls ~ (1 | ward, t)", [WARDS, FALLS]), counts)
    narrow = last_ward(dc.Logistic("falls ~ (1 | ward)", [WARDS, FALLS], spread="HalfNormal(0.1)"), counts)
    assert narrow + 0.5 < normal < tails - 0.05 < np.log(31 / 19) - 0.05


def test_the_spread_s_prior_stands_in_documents_and_words_and_is_refused_where_nothing_varies() -> None:
    program = dc.Logistic("falls ~ (1 | ward, t)", [WARDS, FALLS], spread="Exponential(1)")
    assert read_document(json.loads(json.dumps(document_of(program))), Program.kinds) == program
    assert "Exponential(1), in units of which they have a t distribution" in program.in_words()
    usual = dc.Logistic("falls ~ (1 | ward)", [WARDS, FALLS])
    assert "the spread of varying intercepts HalfNormal(2.5)" in usual.in_words()
    assert dc.Logistic("falls ~ (1 | ward)", [WARDS, FALLS], spread="HalfNormal(2.5)") == usual
    assert "spread" not in repr(usual)
    with pytest.raises(DeclarationError, match="none do in 'falls ~ ward'"):
        dc.Logistic("falls ~ ward", spread="Exponential(1)")
    with pytest.raises(DeclarationError, match="must be a distribution for a positive parameter"):
        dc.Logistic("falls ~ (1 | ward)", spread="Normal(0, 1)")


STUDY = """\
[data]
path = "records.csv"
size = 400

[columns.ward]
levels = ["A", "B", "C"]
outside = "A"

[columns.age]
levels = ["young", "old"]
outside = "young"

[columns.falls]
levels = ["no", "yes"]
outside = "no"

[questions.risk]
model = "logistic"
formula = "falls ~ age + (1 | ward, t)"
spread = "HalfStudentT(3, 2.5)"
guessed_shares = { age = { young = 0.2, old = 0.8 }, ward = [0.5, 0.3, 0.2] }
epsilon = 1

[budget]
ledger = "ledger.sqlite"
epsilon = 1
"""


def test_a_study_declares_them_and_they_go_the_whole_road(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY, encoding="utf-8")
    rows = ["ward,age,falls"] + [
        f"{'ABC'[k % 3]},{('young', 'old')[k % 2]},{'yes' if k % 5 == 0 else 'no'}" for k in range(400)
    ]
    (tmp_path / "records.csv").write_text("\n".join(rows), encoding="utf-8")
    study = dc.Study(tmp_path / "study.toml")
    program = study.question("risk").model.program
    assert (program.spread, program.read.has_tails) == ("HalfStudentT(3, 2.5)", True)
    assert program.guessed_shares["age"].tolist() == [0.2, 0.8]
    release = study.publish("risk")
    assert "guessed" not in release.to_json()
    assert dc.verify(release).exact
    found = study.infer("risk")
    assert "spread of ward" in found.names
    runner = CliRunner()
    written = "falls ~ age + (1 | ward); spread = Exponential(1)"
    shown = runner.invoke(main, ["infer", str(study.release_path("risk")), "--model", written])
    assert shown.exit_code == 0, shown.output
    assert "spread of ward" in shown.output
    wrong = runner.invoke(
        main, ["infer", str(study.release_path("risk")), "--model", "falls ~ age; rate = Exponential(1)"]
    )
    assert wrong.exit_code != 0
    assert "The priors of a logistic regression are prior and spread; got 'rate'" in " ".join(wrong.output.split())


def test_a_plan_takes_the_guessed_shares_and_says_so() -> None:
    plain = dc.Logistic("falls ~ age + ward", [AGE, WARDS, FALLS], prior="Normal(0, 1)")
    even = plain.guessing({"age": [0.5, 0.5], "ward": [1 / 8] * 8})
    half = plain.guessing({"age": {"young": 0.9, "old": 0.1}})
    generator = np.random.default_rng(1)
    theta = np.zeros((2, plain.table.bound.dimension))
    np.testing.assert_allclose(even.table.chances(theta, generator), np.full((2, 32), 1 / 32))
    young = half.table.chances(theta, generator).reshape(2, 2, 16).sum(axis=2)
    np.testing.assert_allclose(young, [[0.9, 0.1]] * 2)
    assert len(set(half.table.chances(theta, generator)[0].round(9))) > 8  # wards are drawn
    found, known = (dc.accuracy(each.mechanism(500, 1), studies=4) for each in (plain, even))
    assert known.width < found.width
    assert "the shares of age and ward as guessed" in known.method
    assert "the shares of age and ward drawn evenly, as none are guessed" in found.method
    assert "the shares of age as guessed, those of ward drawn evenly" in half.table.studies_in_words()
    assert even.table == plain.table
    assert document_of(even.table) == document_of(plain.table)


@pytest.mark.parametrize(
    ("shares", "words"),
    [
        ({"falls": [0.5, 0.5]}, "given in this model; those that are: age, ward"),
        ({"age": [0.5, 0.4]}, "add up to 1: young, old; got"),
        ({"age": {"young": 1.0}}, "one for each of its levels"),
        ({"age": ["a", "b"]}, "one for each of its levels"),
        ({"age": [1.5, -0.5]}, "must be positive"),
    ],
)
def test_guesses_that_are_none_are_refused(shares: Any, words: str) -> None:
    with pytest.raises(DeclarationError, match=words):
        dc.Logistic("falls ~ age + ward", [AGE, WARDS, FALLS]).guessing(shares)
