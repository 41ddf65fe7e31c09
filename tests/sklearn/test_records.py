"""One record never changes what the others mean to an estimator, whatever it holds and however the table comes."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet._core.errors import DeclarationError
from discreet.records import Column
from discreet.records._values import number_of
from discreet.sklearn._bayesian_ridge import PrivateBayesianRidge
from discreet.sklearn._naive_bayes import PrivateNaiveBayes
from discreet.sklearn._records import as_levels, as_numbers, labelled

ODD = ["?", None, float("nan"), float("inf"), True, 2**70, 1j, b"x", "1e400", (1, 2), object()]
ROWS = [[True, 0.5], [False, 0.25], [True, 1.0], [False, 0.0]]


def features(records: Any) -> list[list[Any]]:
    table, _ = labelled(PrivateNaiveBayes(), records, [0] * len(ROWS))
    return [as_numbers(column) for column in table]


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: type(odd).__name__ + str(odd)[:4])
@pytest.mark.parametrize("place", [0, 1])
def test_rows_of_python_values_keep_their_meaning(odd: Any, place: int) -> None:
    changed = [list(row) for row in ROWS]
    changed[1][place] = odd
    for make in (list, lambda rows: pd.DataFrame(rows), lambda rows: np.array([np.array(r, object) for r in rows])):
        before, after = features(make(ROWS)), features(make(changed))
        for one, two in zip(before, after, strict=True):
            assert [x for i, x in enumerate(one) if i != 1] == [x for i, x in enumerate(two) if i != 1]


@pytest.mark.parametrize("odd", ["?", None, 2.5])
def test_truth_values_mean_the_same_in_every_table(odd: Any) -> None:
    truths = [True, False, True, odd]
    tables: list[Any] = [
        pd.DataFrame({"a": truths}),
        pd.DataFrame({"a": truths}, dtype=object),
        pl.DataFrame({"a": truths}, strict=False),
        [[value] for value in truths],
        np.array([[value] for value in truths]),  # the array has one type for all: float, text or object
    ]
    for table in tables:
        (column,) = features(table)
        assert [float(value) for value in column[:3]] == [1, 0, 1]
        assert as_levels(column[:3], (0, 1)) == column[:3]
        assert as_levels(column[:3], (True, False)) == [True, False, True]


@pytest.mark.parametrize("small", [1e-100, -2.5e-308, 5e-324, 1e-5, -0.0])
def test_a_small_number_is_the_same_in_an_array_that_one_record_turned_into_texts(small: float) -> None:
    numbers, texts = np.array([[small], [0.5]]), np.array([[small], ["refused"]])
    assert texts.dtype.kind == "U"
    (before,), (after,) = ([number_of(value) for value in table.ravel().tolist()][:1] for table in (numbers, texts))
    assert before == after == small
    column = Column.banded("feature 0", (-1, 0, 1))
    assert [column.code(value) for value in (small, str(small))] == [column.code(small)] * 2


def test_a_released_sum_moves_by_no_more_than_noise_if_one_record_is_odd() -> None:
    generator = np.random.default_rng(1)
    frame = pd.DataFrame({"smoker": generator.random(2000) < 0.5, "age": generator.random(2000)})
    odd = frame.astype({"age": object})
    odd.loc[7, "age"] = "refused"
    y = generator.random(2000)
    one, two = (
        PrivateBayesianRidge(1000, (0, 1), (0, 1), missing="middle").fit(table, y).release_ for table in (frame, odd)
    )
    most = 1.2 * one.mechanism.model.layout.reach  # of one record, and a little for the noise at this epsilon
    assert np.abs(np.array(one.output, dtype=float) - np.array(two.output, dtype=float)).max() < most


@pytest.mark.parametrize("odd", ["?", 1j, None])
def test_the_classifier_is_as_good_with_one_odd_record(odd: Any) -> None:
    generator = np.random.default_rng(2)
    y = generator.integers(0, 2, 1000)
    rows: list[list[Any]] = [[bool(label), bool(label)] for label in y]
    rows[3] = [odd, True]
    fitted = PrivateNaiveBayes(5).fit(rows, y.tolist())
    assert fitted.score([[True, True], [False, False]], [1, 0]) == 1


@pytest.mark.parametrize("records", [[0.123, 0.456], np.array([0.123, 0.456]), [[0.123], [0.456, 1]]])
def test_errors_of_shape_show_no_value(records: Any) -> None:
    with pytest.raises(ValueError, match="Expected 2D array") as problem:
        PrivateNaiveBayes().fit(records, [0, 1])
    assert "0.123" not in str(problem.value)
    assert "0.456" not in str(problem.value)


@pytest.mark.parametrize("bounds", [(None, (0, 1)), ("01", (0, 1)), ([(0, 1), 3], (0, 1)), ((0, 1), 3)])
def test_bounds_that_are_none_are_refused_in_words(bounds: tuple[Any, Any]) -> None:
    estimator = PrivateBayesianRidge(1, *bounds, missing="middle")
    with pytest.raises(DeclarationError):
        estimator.fit(np.random.default_rng(1).random((20, 2)), np.zeros(20))


@pytest.mark.parametrize(
    ("ordinary", "odd"),
    [([1.0, 0.0, 1.0], 2j), ([1, 0, 1], np.timedelta64(3, "D")), ([1, 0, 1], b"x"), ([b"1", b"0"], b"x")],
    ids=["complex", "duration", "bytes among numbers", "bytes"],
)
def test_an_array_of_a_type_that_one_record_decides_is_refused(ordinary: list[Any], odd: Any) -> None:
    """No reading of such an array is right: as bytes b'1' is no text, and 1 beside b'x' becomes b'1'."""
    table = np.array([[value] for value in [*ordinary, odd]])
    with pytest.raises(TypeError, match="type"):
        labelled(PrivateNaiveBayes(), table, [0] * len(table))


def test_short_floats_are_refused_and_long_ones_taken() -> None:
    short = np.array([[0.1], [0.5]], dtype=np.float32)
    with pytest.raises(TypeError, match="float32"):
        labelled(PrivateNaiveBayes(), short, [0, 0])
    assert labelled(PrivateNaiveBayes(), short.astype(float), [0, 0])[0] == [[0.10000000149011612, 0.5]]
