"""Keys of a question become what they make: of the types that are declared there, and frozen."""

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from inspect import signature
from pathlib import Path
from typing import Any

import msgspec
import pytest

import discreet as dc
from discreet._core.exact import Exact
from discreet.study import Maker
from discreet.study._file import DeclaredBudget, DeclaredColumn, DeclaredData, DeclaredLookup, DeclaredQuestion
from discreet.study._models import asked_models
from study_keys import page_with


def make(
    fixed: str,
    share: Fraction,
    names: tuple[str, ...],
    rate: float = 1.0,
    *more: object,
    weights: Sequence[Exact] | Mapping[str, float] | None = None,
    strict: bool = False,
    **others: object,
) -> dict[str, Any]:
    assert not more
    assert not others
    return {"fixed": fixed, "share": share, "names": names, "rate": rate, "weights": weights, "strict": strict}


MAKER = Maker("the model 'made'", make, {"fixed": "study"}, called={"names": "columns"})
GIVEN: dict[str, object] = {"share": "1/3", "columns": ["a", "b"]}


def test_keys_are_the_named_parameters_that_are_not_given_in_any_case() -> None:
    assert list(MAKER.keys) == ["share", "columns", "rate", "weights", "strict"]
    assert list(Maker("m", make, {}, among=frozenset({"rate"})).keys) == ["rate"]


def test_lists_become_tuples_and_texts_exact_numbers_where_these_are_declared() -> None:
    made = MAKER.made(GIVEN | {"rate": 2, "weights": {"a": 1, "b": 0.5}, "strict": True})
    assert made["share"] == Fraction(1, 3)
    assert made["names"] == ("a", "b")
    assert made["fixed"] == "study"
    assert made["rate"] == 2
    assert made["weights"] == {"a": 1, "b": 0.5}
    assert made["strict"] is True
    assert MAKER.made(GIVEN | {"weights": ["1/2", 1]})["weights"] == ("1/2", 1)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("share", True, "share of the model 'made' must be a number, or text for an exact one; got True"),
        ("share", "a third", "a third"),
        ("columns", "a", "columns of the model 'made' must be a list in which each entry is a text; got 'a'"),
        ("columns", ["a", 1], "a list in which each entry is a text"),
        ("rate", "1", "rate of the model 'made' must be a number; got '1'"),
        ("rate", True, "must be a number; got True"),
        ("strict", 1, "true or false; got 1"),
        ("weights", {"a": "b"}, "a list in which each entry is a number, or text"),
        ("fixed", "x", "'fixed' is not a key of the model 'made', which takes share, columns, rate, weights, strict"),
        ("names", ["a"], "'names' is not a key"),
        ("more", 1, "'more' is not a key"),
        ("column", "a", "Did you mean 'columns'?"),
    ],
)
def test_values_of_other_types_and_unknown_keys_are_refused_in_words(key: str, value: object, words: str) -> None:
    with pytest.raises(dc.DeclarationError) as refusal:
        MAKER.made(GIVEN | {key: value})
    assert words in str(refusal.value)


def test_what_is_missing_is_named_as_it_is_written() -> None:
    with pytest.raises(dc.DeclarationError, match="needs share and columns"):
        MAKER.made({})


def test_every_key_of_a_model_stands_in_the_tables_of_the_page_on_studies() -> None:
    """Mechanisms' keys stand on the pages of mechanisms; parameters of families in the table of families."""
    page = (Path(__file__).parents[2] / "docs/studies.md").read_text("utf-8")
    cells = [line.split("|")[1] for line in page.splitlines() if line.startswith("| ")]
    named = {key for cell in cells for key in re.findall(r"`([a-z_]+)`", cell)}
    rows = " ".join(line for line in page.splitlines() if line.startswith("| "))
    for model, asked in asked_models().items():
        keys = {asked.called.get(name, name) for name in signature(asked.make).parameters} - {"declared"}
        assert f'`"{model}"`' in page, model
        assert {key for key in keys if key not in named and f"`{key}`" not in rows} == set(), model
    for table in (DeclaredData, DeclaredColumn, DeclaredBudget, DeclaredQuestion):
        assert set(table.__struct_fields__) - {"further"} <= named


STUDIES = Path(__file__).parents[2] / "docs" / "studies.md"


def test_the_page_of_studies_lists_the_keys_of_every_registered_model() -> None:
    text = STUDIES.read_text("utf-8")
    assert page_with(text) == text, "run `python docs/site/study_keys.py`"


@pytest.mark.parametrize(
    ("heading", "declared"),
    [
        ("[data]", DeclaredData),
        ("[columns.NAME]", DeclaredColumn),
        ("[lookups.NAME]", DeclaredLookup),
        ("[budget]", DeclaredBudget),
        ("[questions.NAME]", DeclaredQuestion),
    ],
)
def test_the_page_of_studies_lists_the_keys_of_every_part(heading: str, declared: type[msgspec.Struct]) -> None:
    part = STUDIES.read_text("utf-8").split(f"\n### {heading}\n")[1].split("\n#")[0]
    listed = set(re.findall(r"`([a-z_]+)`", "".join(re.findall(r"^\| (`[^|]+) \|", part, re.MULTILINE))))
    assert set(declared.__struct_fields__) - {"further"} <= listed
