"""Forms of questions: fields made from what models say of themselves, and keys that the parser of studies reads."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

import discreet as dc
from discreet._core.errors import DeclarationError
from discreet.study import Declarations, mechanism_form, query_forms
from discreet.study._forms import LIST, ONE, SEVERAL, TABLE
from discreet.study._models import asked_models

NUMBERS = "[columns.age]\nbounds = [0, 110]\nmissing = 40\n[columns.stay]\nbounds = [0, 60]\nmissing = 5\n"
WARDS = f"""
[data]
path = "wards.csv"
size = 400
[columns.ward]
levels = ["North", "South"]
[columns.fall]
levels = ["no", "yes"]
outside = "no"
[columns.beds]
levels = [0, 1, 2, 3]
outside = 0
{NUMBERS}[budget]
epsilon = "5"
delta = "1e-3"
ledger = "wards.db"
[questions.falls]
columns = ["ward", "fall"]
epsilon = "0.5"
"""
FILLED: Mapping[str, Mapping[str, Sequence[str]]] = {
    "categories": {"columns": ["ward", "fall"]},
    "number": {"column": ["age"], "ask": ["mean", "variance"], "by": ["ward"]},
    "regression": {"formula": ["stay ~ age + ward"], "prior": ["0.5"]},
    "naive-bayes": {"target": ["fall"], "features": ["ward"]},
    "network": {"edges": ["ward -> fall\nbeds -> fall"]},
    "logistic": {"formula": ["fall ~ ward"], "prior": ["Normal(0, 1)"]},
    "multinomial": {"formula": ["ward ~ fall"]},
    "log-linear": {"formula": ["~ ward + fall + ward:fall"]},
    "family": {"column": ["beds"], "family": ["poisson"], "priors": ["rate: Gamma(2, 1)"]},
    "binomial": {"column": ["beds"], "trials": ["3"], "outside": ["0"], "alpha": ["1/2"], "delta": ["1e-6"]},
    "poisson": {"column": ["beds"], "most": ["3"], "outside": ["3"], "delta": ["1e-6"]},
    "exponential": {"column": ["stay"], "high": ["60"], "bands": ["20"], "outside": ["60"], "delta": ["1e-6"]},
    "normal-mean": {
        "column": ["age"],
        "low": ["0"],
        "high": ["110"],
        "variance": ["400"],
        "outside": ["usual"],
        "delta": ["1e-6"],
    },
    "normal-precision": {"column": ["age"], "reach": ["60"], "mean": ["55"], "outside": ["55"], "delta": ["1e-6"]},
    "laplace-scale": {"column": ["age"], "reach": ["60"], "centre": ["55"], "outside": ["usual"], "delta": ["1e-6"]},
}
"""Every model, filled in as people would; families are published by draws, which need a delta."""


@pytest.fixture(scope="module")
def declarations(tmp_path_factory: pytest.TempPathFactory) -> Declarations:
    path = tmp_path_factory.mktemp("wards") / "study.toml"
    path.write_text(WARDS)
    return Declarations.from_document(dc.Study(path).public_document())


def test_every_model_that_studies_ask_for_has_a_form(declarations: Declarations) -> None:
    assert set(FILLED) <= set(declarations.forms)
    assert set(declarations.forms) <= set(asked_models())


@pytest.mark.parametrize("model", FILLED)
def test_what_is_filled_in_is_a_question_of_a_study(declarations: Declarations, model: str) -> None:
    form, filled = declarations.forms[model], FILLED[model]
    keys = form.keys(filled) | {"model": model, "label": "x", "epsilon": "1"}
    keys |= {"delta": filled["delta"][0]} if "delta" in filled else {}
    assert declarations.asked(keys).label == "x"
    again = {field.key: field.texts(keys[field.key]) for field in form.fields if field.key in keys}
    assert form.keys(again) == form.keys(filled)  # a prepared question is shown as it was filled in


def test_choices_are_the_columns_of_the_study_and_shapes_those_of_the_types(declarations: Declarations) -> None:
    fields = {form.name: {field.key: field for field in form.fields} for form in declarations.forms.values()}
    assert fields["categories"]["columns"].choices == ("ward", "fall", "beds")
    assert fields["number"]["column"].choices == ("age", "stay")
    shapes = {("categories", "columns"): SEVERAL, ("number", "by"): ONE, ("network", "edges"): LIST}
    shapes |= {("family", "priors"): TABLE, ("number", "ask"): SEVERAL}
    assert {place: fields[place[0]][place[1]].shape for place in shapes} == shapes
    assert "bif" not in fields["network"]  # it names a file
    assert "per_person" not in fields["number"]  # nobody's rows are put together here


def test_a_model_without_its_columns_has_no_form(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(WARDS.replace(NUMBERS, ""))
    forms = Declarations.from_document(dc.Study(path).public_document()).forms
    assert "number" not in forms
    assert "categories" in forms


def test_what_is_no_number_is_refused_by_the_parser_in_words(declarations: Declarations) -> None:
    form = declarations.forms["number"]
    keys = form.keys({"column": ["age"], "ask": ["quantiles"], "cells": ["many"]})
    with pytest.raises(DeclarationError, match="cells of the model 'number' must be a whole number; got 'many'"):
        declarations.asked(keys | {"model": "number", "label": "x", "epsilon": "1"})


def test_mechanisms_and_queries_have_forms_of_their_own() -> None:
    form = mechanism_form("PosteriorSampling.truncated")
    assert [field.key for field in form.fields] == ["least", "draws", "grid_bits"]
    assert mechanism_form("Nothing.of_that_kind").fields == ()
    filled = {"values": ["fall=no: 0\nfall=yes: 1"], "given": ["ward=North"]}
    keys = query_forms()["conditional-expectation"].keys(filled)
    assert keys == {"values": {"fall=no": 0.0, "fall=yes": 1.0}, "given": "ward=North"}


def test_a_question_from_elsewhere_names_no_column_that_is_not_declared(declarations: Declarations) -> None:
    keys = {"model": "poisson", "column": "salary"} | {
        "most": 9,
        "outside": 9,
        "epsilon": "1",
        "delta": "1e-6",
        "label": "x",
    }
    with pytest.raises(DeclarationError, match="declares no column 'salary'"):
        declarations.asked(keys)
