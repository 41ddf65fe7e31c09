"""One record may change the type in which a program keeps a whole column; it must not change what the others mean."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from conformance.counting import assert_one_record_moved, counts_of, moments_of
from discreet.sklearn import _bayesian_ridge as bayesian_ridge
from discreet.sklearn._bayesian_ridge import PrivateBayesianRidge
from discreet.sklearn._naive_bayes import PrivateNaiveBayes

FAR = 2**53


@pytest.mark.parametrize("level", [FAR, -FAR, str(FAR), FAR + 1])
def test_whole_numbers_that_two_integers_share_as_floats_are_no_levels(level: int | str) -> None:
    """2^53 is what 2^53 + 1 becomes as a float, so neither may be told from the other."""
    with pytest.raises(dc.DeclarationError, match="2\\^53"):
        dc.Column("x", (0, level), outside=0)
    assert dc.Column("x", (0, FAR - 1, 1 - FAR), outside="other").levels[1] == FAR - 1


def test_no_band_holds_whole_numbers_that_floats_confuse() -> None:
    values = [FAR - 1, FAR, FAR + 1, 1 - FAR, -FAR, -FAR - 1]
    for data in ({"x": values}, pd.DataFrame({"x": values}), pd.DataFrame({"x": np.array(values, dtype=float)})):
        assert counts_of(dc.Column.banded("x", (1 - FAR, 0, FAR - 1)), data) == [1, 1, 4]


@pytest.mark.parametrize("far", [FAR - 1, FAR, FAR + 1, FAR + 2, -FAR - 1, 1 - FAR])
def test_a_gap_turns_integers_into_floats_and_moves_no_other_record(far: int) -> None:
    columns = [
        dc.Column("x", (0, FAR - 1, 1 - FAR), outside="other"),
        dc.Column.banded("x", (1 - FAR, 0, FAR - 1)),
    ]
    model = dc.LinearRegression("y", ["x"], {"x": (-1, 1), "y": (0, 1)}, missing="middle")
    plain, gap = (pd.DataFrame({"x": [far] * 99 + [odd], "y": [0.5] * 100}) for odd in (0, None))
    assert plain["x"].dtype != gap["x"].dtype
    for column in columns:
        assert_one_record_moved(counts_of(column, plain), counts_of(column, gap))
    moved = np.subtract(moments_of(model, plain), moments_of(model, gap))
    assert (abs(moved) <= model.layout.reach).all()


ARRAYS: dict[str, tuple[list[Any], tuple[Any, ...], list[Any]]] = {
    "truth values": ([True, False], ("True", "False"), ["x", 2, 0.5, None, "a longer text", 1j, b"z"]),
    "numbers": ([1, 0], (1, 0), ["x", 0.5, None, 1j, b"z", np.timedelta64(1, "D"), 2**70, True]),
    "texts": (["a", "b"], ("a", "b"), [1, None, b"z", 1j, "a longer text", np.datetime64("2026-01-01")]),
    "bytes": ([b"a", b"b"], ("a", "b"), ["x", 1, None]),
    "fractions": ([0.1, 0.7], ("0.1", "0.7"), ["x", None, 1j, 2**70, np.float32(3)]),
    "short fractions": ([np.float32(0.1), np.float32(0.7)], ("0.1", "0.7"), ["x", None, 1.5, 2**70]),
    "long whole numbers": ([2**60 + 1, 2**60], ("1", "0"), ["x", 0.5, None, 2**70]),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_array_whose_type_one_record_decides_is_refused_or_means_the_same(name: str) -> None:
    """At epsilon 400 the noise is zero, but for one run in e^100: what is published are the counts."""
    (first, second), levels, odd = ARRAYS[name]
    values = [first] * 6 + [second] * 3
    classes = [0, 1, 0] * 3
    before = _published(np.array([[value] for value in values]), classes, levels)
    assert before is not None or name not in ("numbers", "texts", "truth values", "fractions")
    for other in odd:
        array = np.array([[value] for value in [*values[:-1], other]])
        after = _published(array, classes, levels)
        if before is None or after is None:
            continue
        assert (abs(np.subtract(after, before)) <= 2).all(), (other, array.dtype)


def _published(array: Any, classes: list[int], levels: tuple[Any, ...]) -> Any:
    """Return the released numbers, or None if the type of the array is refused in words that quote no value."""
    try:
        model = PrivateNaiveBayes(400, (0, 1), [dc.Column("feature 0", levels, outside="?")]).fit(array, classes)
    except (TypeError, dc.SourceError) as refusal:
        words = str(refusal)
    else:
        return model.release_.output
    assert "type" in words
    assert str(array.ravel()[0]) not in words
    return None


@pytest.mark.parametrize("odd", ["x", 1j, b"z", None])
def test_a_ridge_moves_by_one_record_or_refuses_the_array(odd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def catch(mechanism: Any, secret: Any, *_: Any) -> Any:
        seen.append(secret.open_for_publishing())
        raise Caught(mechanism.model.layout.reach)

    monkeypatch.setattr(bayesian_ridge, "published", catch)
    values = [0.25, 0.5, 0.75] * 20
    for last in (0.5, odd):
        with pytest.raises((Caught, TypeError)) as caught:
            PrivateBayesianRidge(1, (0, 1), (0, 1), missing="middle").fit(
                np.array([[v] for v in [*values, last]]), [0.5] * 61
            )
    if len(seen) == 2:
        assert (np.abs(np.subtract(*seen)) <= caught.value.args[0]).all()
    else:
        assert "type" in str(caught.value)


class Caught(Exception):  # noqa: N818 - no error: it stops an estimator before it publishes
    """What an estimator was about to do."""


class Odd:
    """A number whose every method complains, and quotes itself."""

    def __getattr__(self, _: str) -> Any:
        raise RuntimeError("Mrs Smith")

    def __float__(self) -> float:
        raise RuntimeError("Mrs Smith")

    def _complain(self, *_: Any) -> Any:
        raise RuntimeError("Mrs Smith")

    __eq__ = __hash__ = __str__ = __repr__ = __le__ = __lt__ = __ge__ = __gt__ = __bool__ = __int__ = _complain


class OddFraction(Fraction):
    """A real number that cannot be turned into a float."""

    def __float__(self) -> float:
        raise RuntimeError("Mrs Smith")


class OddText(str):
    """A text that fails when it is looked up."""

    __slots__ = ()

    def __hash__(self) -> int:
        raise RuntimeError("Mrs Smith")

    def __str__(self) -> str:
        raise RuntimeError("Mrs Smith")


class OddDecimal(Decimal):
    """A decimal that fails when it is compared."""

    def __abs__(self) -> Decimal:
        raise RuntimeError("Mrs Smith")

    def __float__(self) -> float:
        raise RuntimeError("Mrs Smith")


OBJECTS: dict[str, Callable[[], Any]] = {
    "anything": Odd,
    "fraction": lambda: OddFraction(1, 2),
    "text": lambda: OddText("a"),
    "decimal": lambda: OddDecimal("1"),
    "signalling": lambda: Decimal("sNaN"),
    "array": lambda: np.array([1, 2]),
    "huge": lambda: 10**5000,
}


@pytest.mark.parametrize("name", OBJECTS)
@pytest.mark.parametrize("make", [dict, pd.DataFrame], ids=["lists", "pandas"])
def test_odd_objects_are_undeclared_and_say_nothing(name: str, make: Any) -> None:
    values = ["a", "b", OBJECTS[name]()]
    column = make({"x": pd.Series(values, dtype=object) if make is pd.DataFrame else values, "y": [1, 0, 1]})
    model = dc.LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, missing="middle")
    levels = counts_of(dc.Column("x", ("a", "b"), outside="other"), column)
    bands = counts_of(dc.Column.banded("x", (0, 1, 2)), column)
    moments_of(model, column)
    assert levels[:2] in ([1, 1], [2, 1])
    assert sum(levels) == sum(bands) == 3


def test_arrow_tables_are_counted_from_many_threads_at_once() -> None:
    tables = [pa.table({"x": ["a"] * number + ["b"] * 20_000}) for number in range(24)]
    column = dc.Column("x", ("a", "b"), outside="other")
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda table: counts_of(column, table), tables))
    assert found == [[number, 20_000, 0] for number in range(24)]


def test_gaps_are_a_level_of_their_own_unless_it_is_declared() -> None:
    """With 40 % missing, level a must not read as three in five where one in three of the known are a."""
    model = dc.Categories("x", levels=("a", "b", "c"))
    assert model.cells == ("a", "b", "c", "other")
    values = ["a", "b", "c"] * 20 + [None] * 40
    assert moments_of(model, {"x": values}) == [20, 20, 20, 40]
    declared = dc.Categories("x", levels=("a", "b", "c"), outside="a")
    assert declared.cells == ("a", "b", "c")
    assert moments_of(declared, {"x": values}) == [60, 20, 20]


def test_check_does_not_call_values_inside_a_band_undeclared(tmp_path: Path) -> None:
    """When `outside` names a band, what lies in that band is declared all the same."""
    pd.DataFrame({"age": [5, 17, 30, 400]}).to_csv(tmp_path / "records.csv", index=False)
    column = dc.Column.banded("age", (0, 18, 65), outside="0 to under 18")
    assert counts_of(column, dc.read(tmp_path / "records.csv")) == [3, 1]
    assert dc.read(tmp_path / "records.csv").match([column])[0].values == [("400", 1)]


def test_dates_fall_into_declared_bands() -> None:
    edges: list[Any] = ["2026-01-01", "2026-07-01", "2027-01-01"]
    days = ["2026-01-01", "2026-06-30", "2026-07-01", "2025-12-31", None]
    column = dc.Column.banded("day", edges)
    frames: list[Any] = [
        {"day": days},
        pd.DataFrame({"day": pd.to_datetime(days)}),
        pa.table({"day": pa.array(pd.to_datetime(days).date, pa.date32())}),
    ]
    for frame in frames:
        assert counts_of(column, frame) == [2, 1, 2]


@pytest.mark.parametrize("value", [1, 0, 0.5, np.int8(1), np.float32(0.5), 1 + 0j, np.complex64(1)])
@pytest.mark.parametrize("odd", [1j, 1 + 0j, complex("nan"), None, "x"])
def test_one_complex_number_moves_no_other_record(value: Any, odd: Any) -> None:
    """For one of them, pandas turns a column of numbers into complex ones."""
    for column in (dc.Column("x", (0, 1, "0.5"), outside="other"), dc.Column.banded("x", (0, 0.3, 1, 2))):
        for made in (pd.DataFrame, lambda data: pd.DataFrame(data).astype("category")):
            before, after = (counts_of(column, made({"x": [*[value] * 9, last]})) for last in (value, odd))
            assert before == counts_of(column, {"x": [value] * 10})
            assert_one_record_moved(before, after)


WHOLE_TYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@pytest.mark.parametrize("form", ["DuckDB", "Parquet", "Arrow", "pandas", "polars"])
@pytest.mark.parametrize("kind", WHOLE_TYPES)
def test_no_whole_number_is_too_large_for_its_type(kind: str, form: str, tmp_path: Path) -> None:
    """The last number of a narrow type less the first declared one does not fit into that type."""
    ends = np.iinfo(kind)
    low, high = max(int(ends.min), -20_000), min(int(ends.max), 20_000)
    values = [low, low + 1, 0, 1, high - 1, high, int(ends.min), int(ends.max)]
    frame = pd.DataFrame({"x": np.array(values, dtype=kind)})
    made: dict[str, Callable[[], Any]] = {
        "DuckDB": lambda: duckdb.from_arrow(pa.table(frame)),
        "Parquet": lambda: frame.to_parquet(tmp_path / "x.parquet") or dc.read(tmp_path / "x.parquet"),
        "Arrow": lambda: pa.table(frame),
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
    }
    data = made[form]()
    for levels in ((low, high), (low + 1, high - 1), (low + 1, 0, high - 1), tuple(range(120)), (0, 1)):
        column = dc.Column("x", levels, outside="other")
        assert counts_of(column, data) == counts_of(column, {"x": values})


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_mapping_takes_no_array_in_which_one_record_changes_the_others(name: str) -> None:
    (first, second), levels, odd = ARRAYS[name]
    values = [first] * 6 + [second] * 3
    column = dc.Column("x", (*levels, "true", "false"), outside="?")
    before = _counted(column, np.array(values))
    for other in odd:
        after = _counted(column, np.array([*values[:-1], other]))
        if before is not None and after is not None:
            assert_one_record_moved(before, after)


def _counted(column: dc.Column, array: Any) -> list[int] | None:
    try:
        return counts_of(column, {"x": array})
    except dc.SourceError as refusal:
        words = str(refusal)
    assert str(array.dtype) in words
    assert repr(array[0]) not in words
    return None
