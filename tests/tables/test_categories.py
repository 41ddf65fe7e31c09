from typing import Any

import numpy as np
import pytest

import discreet as dc
from discreet.mathematics.distributions._dirichlet import Dirichlet
from discreet.privacy import compositions


def test_levels_priors_and_cells_are_as_declared() -> None:
    model = dc.Categories(
        ("ward", "fall"),
        levels={"ward": ("A", "B"), "fall": ("no", "yes")},
        prior=0.5,
        outside={"ward": "A", "fall": "no"},
    )
    assert model.cells == (("A", "no"), ("A", "yes"), ("B", "no"), ("B", "yes"))
    assert model.prior == (0.5,) * 4
    named = dc.Categories("x", levels=("a", "b"), prior={"b": 2, "a": 1}, outside="a")
    assert named.prior == (1.0, 2.0)
    assert dc.Categories("x", levels=("a", "b"), prior=np.array([1.0, 2.0]), outside="a") == named  # type: ignore[arg-type]


def test_the_home_of_undeclared_values_is_always_a_level() -> None:
    assert dc.Categories("x", levels=("a", "b"), outside="a").columns[0].outside == "a"
    assert dc.Categories("x", levels=("a", "other")).columns[0].outside == "other"
    assert dc.Categories("x", levels=("a", "b"), outside="gap").cells == ("a", "b", "gap")
    assert "outside='a'" in repr(dc.Categories("x", levels=("a", "b"), outside="a"))


@pytest.mark.parametrize(
    "arguments",
    [
        {"columns": "x", "levels": ("a",), "outside": "a"},
        {"columns": "x", "levels": ()},
        {"columns": "x", "levels": ("a", "a")},
        {"columns": "x", "levels": (1, "1")},
        {"columns": "x", "levels": "ab"},
        {"columns": "x", "levels": (1.5, 2.5)},
        {"columns": "", "levels": ("a", "b")},
        {"columns": (), "levels": {}},
        {"columns": ("x", "x"), "levels": {"x": ("a", "b")}},
        {"columns": ("x", "y"), "levels": {"x": ("a", "b")}},
        {"columns": ("x", "y"), "levels": ("a", "b")},
        {"columns": "x", "levels": {"y": ("a", "b")}},
        {"columns": "x", "levels": ("a", "b"), "outside": {"y": "a"}},
        {"columns": "x", "levels": ("a", "b"), "prior": 0},
        {"columns": "x", "levels": ("a", "b"), "prior": -1},
        {"columns": "x", "levels": ("a", "b"), "prior": float("nan")},
        {"columns": "x", "levels": ("a", "b"), "prior": float("inf")},
        {"columns": "x", "levels": ("a", "b"), "prior": (1, 1, 1, 1)},
        {"columns": "x", "levels": ("a", "b"), "prior": "strong"},
        {"columns": "x", "levels": ("a", "b"), "prior": {"a": 1}},
        {"columns": tuple("abcdef"), "levels": {c: tuple(range(11)) for c in "abcdef"}},
    ],
)
def test_declarations_that_make_no_sense_are_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(dc.DeclarationError):
        dc.Categories(**arguments)


def test_the_law_of_counts_sums_to_one() -> None:
    model = dc.Categories("x", levels=("a", "b", "c"), prior=(0.3, 1, 4), outside="a")
    tables = np.array(list(compositions(9, 3)))
    assert np.exp(model.log_evidence(tables)).sum() == pytest.approx(1, abs=1e-13)


def test_the_posterior_of_known_counts_is_conjugate() -> None:
    model = dc.Categories("x", levels=("a", "b"), prior=(1, 2), outside="a")
    assert model.posterior((3, 4)) == Dirichlet((4, 6))


EVENTS: list[tuple[Any, list[int]]] = [
    ("ward=A", [0, 1]),
    ("fall=yes", [1, 3]),
    (("A", "yes"), [1]),
    ([("A", "no"), ("B", "no")], [0, 2]),
    ("ward=B, fall=no", [2]),
]


@pytest.mark.parametrize(("event", "places"), EVENTS)
def test_events_name_cells(event: Any, places: list[int]) -> None:
    model = dc.Categories(
        ("ward", "fall"), levels={"ward": ("A", "B"), "fall": ("no", "yes")}, outside={"ward": "A", "fall": "no"}
    )
    assert model.cell_indices(event).tolist() == places


@pytest.mark.parametrize(
    "event", ["ward=C", "wing=A", "A", ("A",), [], [("A", "maybe")], 3, "ward=A, fall", "ward=A, ward=B"]
)
def test_events_that_are_nowhere_are_refused(event: Any) -> None:
    model = dc.Categories(
        ("ward", "fall"), levels={"ward": ("A", "B"), "fall": ("no", "yes")}, outside={"ward": "A", "fall": "no"}
    )
    with pytest.raises(dc.DeclarationError, match="no cell"):
        model.cell_indices(event)
