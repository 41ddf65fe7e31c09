"""What is suggested is never refused by `publish`: for every kind of question that a study can ask."""

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import discreet as dc
from discreet._core.errors import DeclarationError
from discreet.inference import why_unreadable
from discreet.planning import chosen_mechanism
from discreet.study._models import asked_models

COLUMNS = """
[columns]
binary1 = { levels = ["no", "yes"], outside = "no" }
binary2 = { levels = ["no", "yes"], outside = "no" }
binary3 = { levels = ["no", "yes"], outside = "no" }
binary4 = { levels = ["no", "yes"], outside = "no" }
twelve = { bands = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] }
twenty = { bands = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20] }
count = { levels = [0, 1, 2, 3, 4, 5, 6], outside = 6 }
x = { bounds = [0, 100], missing = 50 }
y = { bounds = [0, 10], missing = 5 }
z = { bounds = [0, 1], missing = 0 }
"""
QUESTIONS = {
    "categories": ['columns = ["count"]', 'columns = ["twelve", "twenty", "count", "binary1"]'],
    "network": [
        'edges = ["binary1 -> count"]',
        'edges = ["twelve -> count", "twenty -> count"]',
        'edges = ["binary1 -> binary4", "binary2 -> binary4", "binary3 -> binary4"]',
    ],
    "naive-bayes": [
        'target = "binary1"\nfeatures = ["binary2", "binary3"]',
        'target = "count"\nfeatures = ["twelve", "twenty"]',
    ],
    "number": [
        'column = "x"\nask = ["mean"]',
        'column = "x"\nquantiles = [0.5]\nby = "twenty"',
        'column = "x"\nask = ["distribution"]\ncells = 1000',
    ],
    "regression": ['formula = "y ~ x + binary1"', 'formula = "y ~ x + x^2 + x:z + z + count"'],
    "logistic": [
        'formula = "binary1 ~ count + binary2"',
        'formula = "binary1 ~ count + binary2 + binary3 + binary4"',
        'formula = "binary1 ~ twelve*twenty + (1 | count)"',
    ],
    "multinomial": ['formula = "count ~ binary1"', 'formula = "count ~ twelve + twenty"'],
    "log-linear": ['formula = "~ count + binary1"', 'formula = "~ twelve*twenty + count"'],
    "synthesis": ['columns = ["binary1", "binary2", "count"]', 'columns = ["twelve", "twenty", "count", "binary1"]'],
    "family": ['family = "poisson"\ncolumn = "count"', 'family = "log-normal"\ncolumn = "twenty"'],
    "poisson": ['column = "count"\nmost = 6\noutside = 6'],
    "binomial": ['column = "count"\ntrials = 6\noutside = 6'],
    "exponential": ['column = "z"\nhigh = 6\noutside = 6'],
    "laplace-scale": ['column = "z"\nreach = 6\noutside = 6'],
    "normal-mean": ['column = "z"\nlow = 0\nhigh = 6\nvariance = 4\noutside = 6'],
    "normal-precision": ['column = "z"\nreach = 6\noutside = 6'],
}
GUARANTEES = [(200, "0.01", "0"), (200, "2", "0"), (30_000, "0.1", "0"), (30_000, "1", "1e-6")]


def test_every_kind_of_question_is_asked_here() -> None:
    assert set(QUESTIONS) == set(asked_models())


def tried(make: Callable[[], Any]) -> tuple[Any, str]:
    """Return what is made and no words, or nothing and the words of its refusal."""
    try:
        return make(), ""
    except DeclarationError as problem:
        return None, str(problem)


@pytest.mark.parametrize("model", QUESTIONS)
def test_what_is_suggested_is_not_refused_by_publish(model: str, tmp_path: Path) -> None:
    """Where the mechanism that suits cannot be read, `suggest` refuses; a study says so, and `publish` refuses too."""
    suggested = 0
    for keys, (size, epsilon, delta) in product(QUESTIONS[model], GUARANTEES):
        head = f'[data]\npath = "r.csv"\nsize = {size}\n[budget]\nledger = "l"\nepsilon = 9\ndelta = "1e-3"\n{COLUMNS}'
        stated = f'epsilon = "{epsilon}"\n' + (f'delta = "{delta}"\n' if delta != "0" else "")
        (tmp_path / "s.toml").write_text(f'{head}[questions.q]\nmodel = "{model}"\n{keys}\n{stated}', "utf-8")
        question, no_question = tried(lambda: dc.Study(tmp_path / "s.toml").question("q"))
        if no_question:
            words = ("No mechanism was found", "needs a delta above 0")
            assert any(each in no_question for each in words), no_question
            continue
        declared = getattr(question.model, "program", question.model)
        found, refused = tried(lambda: dc.suggest(declared, size, epsilon, delta))  # noqa: B023 - called at once
        if refused:
            assert question.refusal is not None, refused
            assert "Nothing was suggested" in refused
            assert chosen_mechanism(declared, size, epsilon, delta).mechanism == question.mechanism
            continue
        suggested += 1
        assert why_unreadable(found.mechanism) is None
        assert question.refusal is None
        assert found.mechanism == question.mechanism
    assert suggested


def test_nine_coefficients_and_96_cells_are_suggested_and_read_at_a_tenth() -> None:
    """By windows that miss the truth with a probability of 1e-6, since draws have an error of their own."""
    columns = [
        dc.Column("age", tuple(range(6)), outside=0), dc.Column("ward", tuple(range(4)), outside=0),
        dc.Column("sex", ("F", "M"), outside="F"), dc.Column("falls", ("no", "yes"), outside="no"),
    ]  # fmt: skip
    program = dc.Logistic("falls ~ age + ward", columns=[columns[0], columns[1], columns[3]])
    assert program.table.bound.dimension == 9
    program = dc.Logistic("falls ~ age + ward + sex", columns=columns)
    assert (program.table.bound.dimension, len(program.table.cells)) == (10, 96)
    found = dc.suggest(program, 30_000, "0.1")
    assert why_unreadable(found.mechanism) is None
    with pytest.raises(DeclarationError, match="`publish` refuses it"):
        dc.suggest(program, 30_000, "0.01")
