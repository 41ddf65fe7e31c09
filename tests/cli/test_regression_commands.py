"""Regressions by the command line: the whole road from a formula to coefficients, and what is refused."""

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

import discreet as dc
from discreet.cli._main import main

STUDY = """
[data]
path = "pay.csv"
size = 600
unit = "one row per person"
[columns.income]
bounds = [0, 6000]
missing = 2000
[columns.age]
bounds = [18, 80]
missing = "middle"
bands = [18, 40, 80]
[columns.education]
levels = ["school", "college"]
outside = "school"
[budget]
epsilon = "200"
delta = "1e-6"
ledger = "study.db"
[questions.pay]
model = "regression"
formula = "income ~ age + education"
epsilon = "50"
label = "Pay"
[questions.ages]
columns = ["age", "education"]
epsilon = "1"
"""
CANARY = "canary-71d0"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(8)
    age, education = generator.uniform(18, 80, 600), generator.integers(2, size=600)
    income = 900 + 25 * age + 700 * education + generator.normal(0, 300, 600)
    rows = [f"{y:.2f},{a:.1f},{('school', 'college')[e]}" for y, a, e in zip(income, age, education, strict=True)]
    rows[0], rows[1], rows[2] = f"{CANARY},30,school", "2500,,college", "99999,200,school"
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "pay.csv").write_text("income,age,education\n" + "\n".join(rows) + "\n")
    return tmp_path


def run(*words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(words))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    assert "unforeseen" not in result.output
    return result


def as_json(*words: str, code: int = 0) -> Any:
    return json.loads(run(*words, "--json", code=code).stdout)


def asked(text: str, folder: Path) -> dc.Study:
    (folder / "other.toml").write_text(text)
    return dc.Study(folder / "other.toml")


@pytest.mark.usefixtures("short_runs")
def test_the_whole_road_from_a_formula_to_a_picture(folder: Path) -> None:
    assert "600 records, as declared" in run("check", "study.toml").output
    published = run("publish", "study.toml", "--ask", "pay").output
    assert "Mechanism: ConeMoments, chosen because its intervals for effects will be the narrowest" in published
    assert CANARY not in published
    words = ("infer", "pay.release.json", "--plot", "pay.json", "--csv", "pay.out.csv", "--statement", "pay.html")
    shown = run(*words).output
    assert "income per 1 of age" in shown
    assert "Pareto k-hat" in " ".join(shown.split())
    assert "Monte Carlo errors of at most" in " ".join(shown.split())
    found = as_json("infer", "pay.release.json")
    slopes = {row["quantity"]: row for row in found["rows"]}
    assert found["log_evidence_error"] < 1
    assert found["monte_carlo_errors"]["age"]["mean"] < 0.1 * slopes["age"]["sd"]
    assert slopes["age"]["low"] < slopes["age"]["mean"] < slopes["age"]["high"]
    assert slopes["age"]["mean"] == pytest.approx(25, abs=8)
    assert slopes["education=college"]["unit"] == "income, college instead of school"
    with (folder / "pay.out.csv").open(encoding="utf-8-sig") as file:
        assert [row["quantity"] for row in csv.DictReader(file)] == ["intercept", "age", "education=college"]
    picture = json.loads((folder / "pay.json").read_text())
    assert [row["cell"] for row in picture["data"]["values"]] == ["age (18 to 80)", "education=college"]
    firm = as_json("infer", "pay.release.json", "--prior", '{"precision": 1e6, "noise": {"shape": 2, "scale": 0.1}}')
    assert abs({row["quantity"]: row for row in firm["rows"]}["age"]["mean"]) < 1
    refused = run("infer", "pay.release.json", "--prior", '{"a": 1}', code=1).output
    assert "A reader's prior for a regression" in " ".join(refused.split())
    account = (folder / "pay.html").read_text()
    assert "income, college instead of school" in account
    assert "missing values count as 2000" in account
    assert "The guarantee holds" in run("verify", "pay.release.json", "--ledger", "study.db").output


@pytest.mark.usefixtures("short_runs")
@pytest.mark.parametrize(
    ("formula", "names"),
    [
        ("income ~ 1", ["intercept"]),
        ("income ~ age*education", ["intercept", "age", "education=college", "age:education=college"]),
        ("income ~ age + I(age^2)", ["intercept", "age", "age^2"]),
    ],
)
def test_the_whole_road_of_products_powers_and_an_intercept_alone(folder: Path, formula: str, names: list[str]) -> None:
    (folder / "study.toml").write_text(STUDY.replace("income ~ age + education", formula))
    assert "600 records, as declared" in run("check", "study.toml").output
    planned = as_json("plan", "study.toml", "--ask", "pay", "--studies", "2")
    assert [each["quantity"] for each in planned["points"][0]["rows"]] == names
    run("rehearse", "study.toml", "--ask", "pay")
    run("publish", "study.toml", "--ask", "pay")
    words = ("infer", "pay.release.json", "--plot", "pay.json", "--csv", "pay.out.csv", "--statement", "pay.html")
    assert names[-1] in run(*words).output
    found = as_json("infer", "pay.release.json")
    assert [row["quantity"] for row in found["rows"]] == names
    assert all(row["low"] < row["mean"] < row["high"] for row in found["rows"])
    with (folder / "pay.out.csv").open(encoding="utf-8-sig") as file:
        assert [row["quantity"] for row in csv.DictReader(file)] == names
    assert "The guarantee holds" in run("verify", "pay.release.json", "--ledger", "study.db").output
    assert names[-1] in (folder / "pay.html").read_text()


def test_check_tells_the_holder_what_is_cut_off(folder: Path) -> None:
    found = as_json("check", "study.toml")
    assert found["records"] == 600
    income, age = found["numbers"]["income"], found["numbers"]["age"]
    assert (income["below"], income["above"], income["no_number"]) == (0, 1, 1)
    assert (age["below"], age["above"], age["no_number"]) == (0, 1, 1)
    assert income["undeclared"] == [[CANARY, 1]] or CANARY in str(income["undeclared"])
    assert "no number" in run("check", "study.toml").output


def test_a_plan_tells_widths_and_touches_no_data(folder: Path) -> None:
    (folder / "pay.csv").unlink()
    found = as_json(
        "plan", "study.toml", "--ask", "pay", "--epsilon", "0.5,5", "--sizes", "6000", "--plot", "plan.json"
    )
    widths = [point["width"] for point in found["points"]]
    assert widths[0] > widths[1]
    assert all(point["width"] > point["exact_width"] - 3 * point["cost_error"] for point in found["points"])
    assert [each["quantity"] for each in found["points"][0]["rows"]] == ["intercept", "age", "education=college"]
    assert (folder / "plan.json").exists()
    shown = run("plan", "study.toml", "--ask", "pay", "--epsilon", "0.5", "--studies", "2").output
    assert "when a feature goes from bound to bound" in " ".join(shown.split())


def test_a_rehearsal_shows_the_made_up_truth() -> None:
    found = as_json("rehearse", "study.toml", "--ask", "pay", "--seed", "3")
    assert found["simulated"]
    for row in found["rows"]:
        assert abs(row["truth"] - row["mean"]) < 6 * row["sd"]
    assert "truth" in run("rehearse", "study.toml", "--ask", "pay").output


def test_a_batch_publishes_tables_and_regressions_together(folder: Path) -> None:
    found = as_json("publish", "study.toml", "--batch")
    assert found["mechanisms"] == {"pay": "ConeMoments", "ages": "GeometricHistogram"}
    assert as_json("publish", "study.toml", "--batch")["already_published"]


@pytest.mark.parametrize("words", [("--event", "age=1"), ("--bif", "x.bif")])
def test_questions_about_probabilities_are_refused(words: tuple[str, str]) -> None:
    run("publish", "study.toml", "--ask", "pay")
    assert f"{words[0]} is not available for a regression" in run("infer", "pay.release.json", *words, code=1).stderr


def test_the_study_is_the_model_written_down(folder: Path) -> None:
    question = dc.Study("study.toml").question("pay")
    education = dc.Column("education", ("school", "college"), outside="school")
    bounds = {"income": (0, 6000), "age": (18, 80)}
    by_hand = dc.LinearRegression("income", ["age", education], bounds, missing={"income": 2000, "age": 49})
    assert question.mechanism == dc.regression.ConeMoments(by_hand, size=600, epsilon=50)
    known = asked(STUDY.replace('epsilon = "50"', 'epsilon = "50"\nnoise = "300"\nprior = 2'), folder)
    assert (known.question("pay").model.noise, known.question("pay").model.prior_precision) == (Fraction(1, 10), 2)


def test_a_delta_lets_the_study_choose_gaussian_noise_where_it_is_smaller(folder: Path) -> None:
    many = "\n".join(f"[columns.x{i}]\nbounds = [0, 1]\nmissing = 0" for i in range(14))
    formula = "income ~ age + education + " + " + ".join(f"x{i}" for i in range(14))
    text = STUDY.replace("[columns.income]", f"{many}\n[columns.income]").replace("income ~ age + education", formula)
    text = text.replace("size = 600", "size = 60000")
    wide = asked(text.replace('epsilon = "50"', 'epsilon = "1"\ndelta = "1e-6"'), folder).question("pay")
    assert type(wide.mechanism).__name__ == "GaussianMoments"
    assert "will be the narrowest" in wide.reason
    assert "with ConeMoments" in wide.reason
    few = asked(STUDY.replace('epsilon = "50"', 'epsilon = "1"\ndelta = "1e-9"'), folder).question("pay")
    assert type(few.mechanism).__name__ == "ConeMoments"
    assert "with GaussianMoments" in few.reason
    assert "the stated delta is not needed" in few.reason


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('formula = "income ~ age + education"', 'formula = "income = age"', "A formula is written as"),
        ('formula = "income ~ age + education"', 'formula = "income ~ age ~ education"', "A formula is written as"),
        ('formula = "income ~ age + education"', 'formula = "income ~ age +"', "A formula is written as"),
        ('formula = "income ~ age + education"', 'formula = "~ age"', "A formula is written as"),
        ('formula = "income ~ age + education"', 'formula = "income=5 ~ age"', "A formula is written as"),
        ('formula = "income ~ age + education"', 'formula = "income ~ age + (1 | education)"', "A formula is written"),
        ('formula = "income ~ age + education"', 'formula = "income ~ height"', "names 'height'; declare it"),
        ('formula = "income ~ age + education"', 'formula = "education ~ age"', "target 'education' needs bounds"),
        ('formula = "income ~ age + education"', 'formula = "income ~ age * height"', "names 'height'; declare it"),
        ('formula = "income ~ age + education"', 'formula = "income ~ age:education"', "but not 'age' itself"),
        ('formula = "income ~ age + education"', 'formula = "income ~ age^2"', "but not 'age' itself"),
        ('formula = "income ~ age + education"', 'formula = "income ~ age + age^3"', "needs the term age^2"),
        (
            'formula = "income ~ age + education"',
            'formula = "income ~ education*education"',
            "categorical column twice",
        ),
        ('formula = "income ~ age + education"', 'formula = "income ~ age^x"', "'age^x' is none of these"),
        ('formula = "income ~ age + education"', 'formula = "income ~ log(age)"', "are not supported"),
        ('formula = "income ~ age + education"', 'formula = "log(income) ~ age"', "are not supported"),
        ('formula = "income ~ age + education"', 'formula = "income ~ age - 1"', "are not supported"),
        ('formula = "income ~ age + education"', 'formula = "income ~ 0 + age"', "are not supported"),
        ('formula = "income ~ age + education"', 'formula = "income ~ ."', "are not supported"),
        ('formula = "income ~ age + education"', "", "needs formula"),
        ('formula = "income ~ age + education"', 'columns = ["age"]', "does not belong to the model 'regression'"),
        ("bounds = [0, 6000]", "bounds = [0, inf]", "a bound of 'income'"),
        ("bounds = [0, 6000]", "bounds = [5, 5]", "must rise"),
        ("bounds = [0, 6000]", "bounds = [5]", "must be two numbers"),
        ("bounds = [0, 6000]\nmissing = 2000", "missing = 3", "missing is for columns with bounds"),
        ('bounds = [18, 80]\nmissing = "middle"\n', "", "'age' has bands; a regression needs its bounds"),
        ('levels = ["school", "college"]', 'levels = ["school", "college"]\nbounds = [0, 1]', "either categorical"),
        ('epsilon = "50"', 'epsilon = "50"\nprior = [1, 2]', "one number, the precision"),
        ('epsilon = "50"', 'epsilon = "50"\nmechanism = "GeometricHistogram"', "BoxMoments, ConeMoments, GaussianMom"),
        ('epsilon = "50"', 'epsilon = "50"\nmechanism = "BallDraw"', "a norm_bound and a known noise"),
        ("size = 600", "size = 3", "needs more records than the model has coefficients (3)"),
        ('columns = ["age", "education"]', 'columns = ["income"]', "with levels or bands"),
    ],
)
def test_declarations_that_make_no_sense_are_refused(old: str, new: str, words: str, folder: Path) -> None:
    with pytest.raises(dc.DeclarationError) as problem:
        asked(STUDY.replace(old, new), folder)
    assert words in str(problem.value)


def test_odd_names_stand_between_backquotes(folder: Path) -> None:
    text = STUDY.replace("[columns.age]", '[columns."age + years"]').replace("~ age +", "~ `age + years` +")
    text = text.replace('columns = ["age", "education"]', 'columns = ["education"]')
    assert asked(text, folder).question("pay").model.names == ("intercept", "age + years", "education=college")
