"""Fields that convert what is given: in order, once, and with the annotations and the documents of what is kept."""

import pickle
from collections.abc import Sequence
from copy import copy
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction
from inspect import signature
from typing import get_type_hints

import pytest

from discreet._core.documents import plain_fields
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, positive, probability
from discreet._core.fields import Converted, Number, OptionalNumber, computed, converted, frozen, optional


def _marks(given: Sequence[Exact], _: str) -> tuple[Fraction, ...]:
    return tuple(exact(each, "a mark") for each in given)


def _within(made: "Range", given: Exact | None) -> Fraction:
    middle = (made.low + made.high) / 2 if given is None else exact(given, "middle")
    if not made.low <= middle <= made.high:
        raise DeclarationError("The middle lies outside.")
    return middle


@frozen()
class Range:
    low: Number = converted(exact)
    high: Number = converted(exact, called="the upper end")
    middle: Converted[Exact | None, Fraction] = computed(_within, default=None)
    gap: OptionalNumber = converted(optional(positive), default=None, left_out=None)
    marks: Converted[Sequence[Exact], tuple[Fraction, ...]] = converted(_marks, default=())
    words: Converted[str, str] = converted(lambda given, _: str(given), default="", compare=False)

    def __post_init__(self) -> None:
        if self.low >= self.high:
            raise DeclarationError("The lower end must be below the upper one.")


class Short(Range):
    def __post_init__(self) -> None:
        super().__post_init__()
        if self.high - self.low > 1:
            raise DeclarationError("Too long.")


def test_what_is_given_is_converted_and_kept_in_the_instance() -> None:
    made = Range("0.1", 0.7, marks=["1/3", 2])
    assert (made.low, made.high, made.middle) == (Fraction(1, 10), Fraction(7, 10), Fraction(2, 5))
    assert (made.gap, made.marks, made.words) == (None, (Fraction(1, 3), Fraction(2)), "")
    assert set(vars(made)) == {field.name for field in fields(Range)}


@pytest.mark.parametrize(
    ("low", "high", "middle", "marks", "words"),
    [
        ("x", 1, None, (), "low must be a finite number"),
        (0, "x", None, (), "the upper end must be a finite number"),
        (0, 1, 2, (), "The middle lies outside"),
        (0, 1, None, ["y"], "a mark must be a finite number"),
        (1, 0, "1/2", (), "The middle lies outside"),
        (1, 1, None, (), "below the upper one"),
    ],
)
def test_each_value_is_refused_in_words_in_the_order_of_the_fields(
    low: Exact, high: Exact, middle: Exact | None, marks: Sequence[Exact], words: str
) -> None:
    with pytest.raises(DeclarationError, match=words):
        Range(low, high, middle, marks=marks)


def test_the_class_states_what_is_kept_and_the_constructor_what_may_be_given() -> None:
    assert get_type_hints(Range)["middle"] is Fraction
    asked = signature(Range).parameters
    assert asked["middle"].annotation == Exact | None
    assert asked["middle"].default is None
    assert asked["low"].default is asked["low"].empty
    assert signature(Short) == signature(Range)


def test_what_is_made_is_frozen_and_equal_by_what_is_kept() -> None:
    made = Range(0, "1", words="one")
    with pytest.raises(FrozenInstanceError):
        made.low = Fraction(1)  # type: ignore[misc]
    assert made == Range("0", 1.0, "0.5", words="other")
    assert hash(made) == hash(Range("0", 1.0, "0.5", words="other"))
    assert replace(made, high="2") == Range(0, 2, "0.5")
    assert copy(made) == pickle.loads(pickle.dumps(made)) == made
    assert repr(Range(0, 1)).startswith(
        "Range(low=Fraction(0, 1), high=Fraction(1, 1), middle=Fraction(1, 2), gap=None"
    )


def test_a_document_states_every_field_but_what_is_left_out() -> None:
    assert plain_fields(Range(0, 1)) == {"low": "0", "high": "1", "middle": "0.5", "marks": [], "words": ""}
    assert plain_fields(Range(0, 1, gap=2))["gap"] == "2"


def test_a_class_that_extends_another_adds_its_conditions() -> None:
    assert Short(0, "0.5").middle == Fraction(1, 4)
    with pytest.raises(DeclarationError, match="Too long"):
        Short(0, 2)
    with pytest.raises(DeclarationError, match="below the upper one"):
        Short(1, 1)


def test_a_field_that_is_none_of_these_is_an_ordinary_one() -> None:
    @frozen(repr=False)
    class Named:
        name: str
        share: Number = converted(probability, default=0)
        is_public: bool = True

    made = Named("a", is_public=False)
    assert (made.name, made.share, made.is_public) == ("a", Fraction(0), False)
    assert plain_fields(made) == {"name": "a", "share": "0", "is_public": False}
    assert plain_fields(Named("a")) == {"name": "a", "share": "0"}
    assert "Named object at" in repr(made)
