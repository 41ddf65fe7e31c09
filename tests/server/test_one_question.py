"""One question is charged once: by page, program, command line and study file, in whatever order and notation."""

from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli._main import main
from discreet.regression import ConeMoments
from discreet.release import canonical_mechanism
from serving import Served, ask, served, spent, state
from survey import STUDY

FREE = ("answered", "It was published before: nothing was charged.")
CROSSED = {"mechanism": "DiscreteLaplaceCounts", "label": "mine"}
ASK_IN_FORM = {"model": "categories", "mechanism": "DiscreteLaplaceCounts", "label": "from the page"}


def by_program(server: Served, columns: list[str], epsilon: object) -> tuple[str, str]:
    found = ask(server.program("analyst"), {"question": {"columns": columns, "epsilon": epsilon, **CROSSED}})
    server.publish_all()
    return state(server, found)


def by_page(server: Served, columns: list[str], epsilon: str) -> tuple[str, str]:
    browser = server.browser("analyst")
    form = {"guard": browser.guard, "epsilon": epsilon, "its.columns": columns, **ASK_IN_FORM}
    answer = browser.client.post("/ask", data=form)
    assert answer.status_code == 303, answer.text
    server.publish_all()
    return state(server, {"id": answer.headers["location"].rsplit("/", 1)[-1]})


def by_command(folder: Path) -> str:
    done = CliRunner().invoke(main, ["publish", str(folder / "study.toml"), "--ask", "crossed"])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_prepared_question_is_charged_once_whoever_asks_it_and_how(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        assert by_page(server, ["fall", "age"], "0.10") == ("answered", "")  # as a form sends ticked boxes
        assert spent(server) == Fraction(1, 10)
        for columns, epsilon in ((["age", "fall"], "0.1"), (["fall", "age"], 0.1), (["age", "fall"], "1/10")):
            assert by_program(server, columns, epsilon) == FREE
        assert by_page(server, ["age", "fall"], "1/10") == FREE
        release = dc.Study(tmp_path / "study.toml").publish("crossed")
        by_command(tmp_path)
        assert [column.name for column in release.model.columns] == ["fall", "age"]  # the first asker's
        assert release.label == "from the page"
        assert spent(server) == Fraction(1, 10)


def test_what_the_study_published_is_free_for_those_who_ask(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        by_command(tmp_path)
        release = dc.Study(tmp_path / "study.toml").publish("crossed")
        assert by_program(server, ["fall", "age"], "0.1") == FREE
        assert by_page(server, ["fall", "age"], "0.1") == FREE
        assert spent(server) == Fraction(1, 10)
        assert [column.name for column in release.model.columns] == ["age", "fall"]


def test_a_question_that_is_not_in_the_study_is_charged_once_too(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        assert by_program(server, ["smoking", "fall"], "0.25")[1] == ""
        assert by_program(server, ["fall", "smoking"], "1/4") == FREE
        assert by_program(server, ["fall", "age"], "0.25")[1] == ""
        assert spent(server) == Fraction(1, 2)


def test_a_name_on_record_for_another_question_is_still_refused(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        dc.Study(tmp_path / "study.toml").publish("crossed")
        (tmp_path / "study.toml").write_text(STUDY.replace("epsilon = 0.1", "epsilon = 0.2"))
        with pytest.raises(dc.PublishError, match=r"epsilon was '0.1' and is now '0.2'"):
            dc.Study(tmp_path / "study.toml").publish("crossed")
        assert spent(server) == Fraction(1, 10)


AB = {"a": dc.Column("a", (0, 1), outside=0), "b": dc.Column("b", (0, 1, 2), outside=0)}
THREE = AB | {"c": dc.Column("c", (0, 1), outside=0)}
BOUNDS = {"x": (0, 1), "y": (0, 2), "z": (-1, 1)}


def table(*names: str, prior: object = None) -> dc.Mechanism:
    return dc.GeometricHistogram(dc.Categories([AB[name] for name in names], prior=prior), 9, "1")  # type: ignore[arg-type]


def graph(*edges: str, shares: tuple[int, ...] | None = None, prior: object = None) -> dc.Mechanism:
    levels = dict.fromkeys("abc", (0, 1))
    model = dc.Network.from_edges(*edges, levels=levels, outside=0, prior=prior)  # type: ignore[arg-type]
    return dc.FamilyHistograms(model, 9, 1) if shares is None else dc.FamilyHistograms(model, 9, 1, shares=shares)


def line(*features: str, terms: tuple[tuple[str, ...], ...] = ()) -> dc.Mechanism:
    return ConeMoments(dc.LinearRegression("y", features, BOUNDS, terms=terms, missing="middle"), 20, 1)


def program(
    kind: type[dc.Logistic | dc.programs.Multinomial | dc.programs.LogLinear], formula: str, prior: str = ""
) -> dc.Mechanism:
    made = kind(formula, list(THREE.values()), **({"prior": prior} if prior else {}))
    return dc.GeometricHistogram(made.table, 9, "1")


SAME = {
    "columns": (table("a", "b"), table("b", "a")),
    "a prior": (table("a", "b", prior=(1, 2, 3, 4, 5, 6)), table("b", "a", prior=(1, 4, 2, 5, 3, 6))),
    "arrows": (graph("a -> b", "c -> b"), graph("c -> b", "a -> b")),
    "leaves": (graph("a -> b", "a -> c"), graph("a -> c", "a -> b")),
    "a graph's prior": (
        graph("a -> b", "c", prior={"a": 1, "b": 2, "c": 3}),  # shares of epsilon by size, as nobody chose them
        graph("c", "a -> b", prior={"c": 3, "b": 2, "a": 1}),
    ),
    "equal shares": (graph("a -> b", "c", shares=(1, 1)), graph("c", "a -> b", shares=(1, 1))),
    "features": (line("x", "z"), line("z", "x")),
    "products": (line("x", "z", terms=(("x", "z"),)), line("z", "x", terms=(("z", "x"),))),
    "a program's terms": (program(dc.Logistic, "c ~ a + b"), program(dc.Logistic, "c~b+ a")),
    "a program's products": (
        program(dc.programs.Multinomial, "b ~ a*c"),
        program(dc.programs.Multinomial, "b ~ c + a + c:a"),
    ),
    "an event": (program(dc.Logistic, "c=1 ~ a + b"), program(dc.Logistic, "c = 1 ~ b + a")),
    "varying intercepts": (program(dc.Logistic, "c ~ a + (1 | b)"), program(dc.Logistic, "c ~ (1 | b) + a")),
    "effects": (program(dc.programs.LogLinear, "~ a + b + c + a:b"), program(dc.programs.LogLinear, "~ c + b*a")),
}
OTHER = {
    "a prior": (table("a", "b", prior=(1, 2, 3, 4, 5, 6)), table("b", "a", prior=(1, 2, 3, 4, 5, 6))),
    "none declared": (table("a", "b"), table("b", "a", prior=1)),
    "arrows": (graph("a -> b", "c"), graph("b -> a", "c")),
    "shares": (graph("a -> b", "c", shares=(1, 2)), graph("c", "a -> b", shares=(1, 2))),
    "products": (line("x", "z"), line("z", "x", terms=(("z", "x"),))),
    "a program's products": (program(dc.Logistic, "c ~ a + b"), program(dc.Logistic, "c ~ a*b")),
    "an outcome": (program(dc.Logistic, "c ~ a + b"), program(dc.Logistic, "a ~ c + b")),
    "an event": (program(dc.Logistic, "c=1 ~ a + b"), program(dc.Logistic, "c=0 ~ b + a")),
    "varying intercepts": (program(dc.Logistic, "c ~ a + (1 | b)"), program(dc.Logistic, "c ~ a + b")),
    "a program's prior": (program(dc.Logistic, "c ~ a + b"), program(dc.Logistic, "c ~ a + b", "Normal(0, 1)")),
}


@pytest.mark.parametrize("name", SAME)
def test_the_canonical_form_does_not_depend_on_the_order(name: str) -> None:
    one, two = SAME[name]
    assert canonical_mechanism(one) == canonical_mechanism(two)


@pytest.mark.parametrize("name", OTHER)
def test_what_is_not_the_same_has_another_canonical_form(name: str) -> None:
    one, two = OTHER[name]
    assert canonical_mechanism(one) != canonical_mechanism(two)


FORMULA = """
[questions.falls]
model = "logistic"
formula = "fall ~ age + smoking"
mechanism = "GeometricHistogram"
epsilon = "0.1"
"""


def test_a_formula_with_permuted_terms_is_charged_once(tmp_path: Path) -> None:
    """The study asks for a formula; who asks for its terms in another order gets the same release, for nothing."""
    with served(tmp_path) as server:
        (tmp_path / "study.toml").write_text(STUDY + FORMULA)
        first = dc.Study(tmp_path / "study.toml").publish("falls")
        (tmp_path / "study.toml").write_text(STUDY + FORMULA.replace("age + smoking", "smoking + age"))
        again = dc.Study(tmp_path / "study.toml").publish("falls")
        assert again.to_json() == first.to_json()
        assert again.model.program.formula == "fall ~ age + smoking"  # the first asker's
        assert spent(server) == Fraction(1, 10)
