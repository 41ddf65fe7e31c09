"""The same counts from every engine, and a total map from values to levels."""

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from conformance.counting import counts_of
from discreet.records import Column, as_source, text_of

RECORDS: dict[str, list[Any]] = {
    "text": ["a", "b", None, "zz", "a", ""],
    "whole": [0, 1, 2, 1, 0, 7],
    "number": [0.0, 1.0, None, 1.0, 2.5, float("nan")],
    "truth": [True, False, None, True, True, False],
}
COLUMNS = [
    Column("text", ("a", "b"), outside="other"),
    Column("whole", (0, 1), outside="more"),
    Column("number", ("0", "1"), outside="odd"),
    Column("truth", (False, True), outside="?"),
]
FAMILIES = [[column] for column in COLUMNS] + [COLUMNS[:2], COLUMNS[2:], COLUMNS]
FRAMES: dict[str, Any] = {
    "pandas": lambda: pd.DataFrame(RECORDS),
    "pandas objects": lambda: pd.DataFrame(RECORDS).astype(object),
    "pandas categories": lambda: pd.DataFrame(RECORDS).astype({"text": "category"}),
    "polars": lambda: pl.DataFrame(RECORDS, strict=False),
    "polars lazy": lambda: pl.LazyFrame(RECORDS, strict=False),
    "polars categories": lambda: pl.DataFrame(RECORDS, strict=False).with_columns(pl.col("text").cast(pl.Categorical)),
    "pyarrow": lambda: pa.table(RECORDS),
    "duckdb": lambda: duckdb.from_arrow(pa.table(RECORDS)),
}


def test_lists_are_counted_as_by_hand() -> None:
    tables = as_source(RECORDS).count_families(FAMILIES)
    assert [table.tolist() for table in tables[:4]] == [[2, 1, 3], [2, 2, 2], [1, 2, 3], [2, 3, 1]]
    assert tables[-1].shape == (3, 3, 3, 3)
    assert all(table.sum() == 6 for table in tables)


@pytest.mark.parametrize("kind", list(FRAMES))
def test_every_engine_gives_the_same_counts(kind: str) -> None:
    expected = as_source(RECORDS).count_families(FAMILIES)
    for found, wanted in zip(as_source(FRAMES[kind]()).count_families(FAMILIES), expected, strict=True):
        assert np.array_equal(found, wanted)


def test_one_odd_record_does_not_change_the_level_of_another() -> None:
    """A gap turns integers into floats and a word turns them into objects; the other records keep their level."""
    column = Column("x", (0, 1), outside="odd")
    for odd in (None, "word", 2.5, True):
        frame = pd.DataFrame({"x": [0, 1, 1, odd]})
        assert as_source(frame).count_families([[column]])[0].tolist()[:2] in ([1, 2], [1, 3])
    assert as_source(pd.DataFrame({"x": [0, 1, 1, None]})).count_families([[column]])[0].tolist() == [1, 2, 1]
    assert as_source(pd.DataFrame({"x": ["0", "1", "1", "word"]})).count_families([[column]])[0].tolist() == [1, 2, 1]


@pytest.mark.parametrize("column", ["dates", "nested", "binary"])
def test_columns_of_odd_types_are_outside_not_errors(column: str) -> None:
    table = pl.DataFrame({"dates": [datetime.date(2020, 1, 1), None], "nested": [[1, 2], None], "binary": [b"a", None]})
    counts = as_source(table).count_families([[Column(column, ("a", "b"), outside="o")]])[0]
    assert counts.sum() == 2
    assert counts[2] >= 1


@pytest.mark.parametrize("kind", list(FRAMES))
def test_levels_that_no_value_can_match_leave_all_records_outside(kind: str) -> None:
    columns = [Column(name, ("yes", "no"), outside="neither") for name in RECORDS]
    for table in as_source(FRAMES[kind]()).count_families([[column] for column in columns]):
        assert table.tolist() == [0, 0, 6]


def test_an_empty_frame_counts_nothing() -> None:
    assert (
        as_source(pl.DataFrame({"x": []}, schema={"x": pl.String}))
        .count_families([[Column("x", ("a", "b"), outside="a")]])[0]
        .sum()
        == 0
    )


def test_a_missing_column_is_named() -> None:
    for data in (RECORDS, pd.DataFrame(RECORDS)):
        with pytest.raises(dc.SourceError, match="no column 'smoking'"):
            dc.Categories("smoking", levels=("a", "b"), outside="a").statistics(data)


def test_a_table_read_without_its_header_does_not_show_its_first_record() -> None:
    frame = pd.DataFrame({"John Smith": ["Jane Doe"], "57": [31], "HIV positive": ["negative"]})
    for data in (frame, frame.to_dict("list")):
        with pytest.raises(dc.SourceError) as failure:
            dc.Categories("diagnosis", levels=("a", "b"), outside="a").statistics(data)
        assert not any(word in str(failure.value) for word in ("John", "57", "HIV"))


def test_no_value_of_any_kind_makes_counting_fail() -> None:
    odd = [
        10**5000,
        -(10**400),
        Fraction(10**400),
        Decimal("sNaN"),
        Decimal("1"),
        2**60 + 1,
        float(2**60),
        object(),
        b"a",
        1j,
    ]
    counts = as_source({"x": [*odd, "a"]}).count_families([[Column("x", ("a", 1), outside="odd")]])[0]
    assert counts.tolist() == [1, 1, 9]


@pytest.mark.parametrize("level", [2**53 + 1, -(2**60), str(2**60), 10**5000], ids=["2^53+1", "-2^60", "text", "long"])
def test_whole_numbers_that_floats_do_not_hold_are_no_levels(level: int | str) -> None:
    with pytest.raises(dc.DeclarationError, match="2\\^53"):
        Column("x", (0, level), outside=0)


def test_objects_are_looked_at_one_by_one_whatever_stands_first() -> None:
    """What kind of column a program takes it for, from its first hundred values, must not decide about the others."""
    model = Column("x", ("true", "false", "0.5"), outside="o")
    rest: list[Any] = [True, Decimal("0.50"), b"a", [1], datetime.date(2020, 1, 1)]
    ordinary = as_source(pd.DataFrame({"x": ["true"] * 150 + rest})).count_families([[model]])[0]
    odd_first = as_source(pd.DataFrame({"x": [7, *["true"] * 149, *rest]})).count_families([[model]])[0]
    assert ordinary.tolist() == [151, 0, 1, 3]
    assert odd_first.tolist() == [150, 0, 1, 4]


FAR = 2**63 + 5
EXTREMES: dict[str, Any] = {
    "large unsigned, pyarrow": lambda: pa.table({"x": pa.array([FAR, 1], pa.uint64())}),
    "large unsigned, polars": lambda: pl.DataFrame({"x": [FAR, 1]}, schema={"x": pl.UInt64}),
    "large unsigned, pandas": lambda: pd.DataFrame({"x": np.array([FAR, 1], dtype=np.uint64)}),
    "large signed, pyarrow": lambda: pa.table({"x": [-(2**63), 1]}),
    "large signed, polars": lambda: pl.DataFrame({"x": [2**63 - 1, 1]}),
    "large signed, duckdb": lambda: duckdb.sql("SELECT unnest([9223372036854775807, 1]) AS x"),
    "huge, duckdb": lambda: duckdb.sql("SELECT unnest([170141183460469231731687303715884105727, 1]) AS x"),
    "binary, pyarrow": lambda: pa.table({"x": [b"\xff", b"1"]}),
    "binary, polars": lambda: pl.DataFrame({"x": [b"\xff", b"1"]}),
    "dates, polars": lambda: pl.DataFrame({"x": [2**31 - 1, 1]}).with_columns(pl.col("x").cast(pl.Int32).cast(pl.Date)),
    "times, pandas": lambda: pd.DataFrame({"x": pd.to_datetime(["2020-01-01", "2020-01-02 10:00"], format="ISO8601")}),
    "times, duckdb": lambda: duckdb.sql("SELECT unnest([timestamp '290000-01-01', timestamp '2020-01-01']) AS x"),
    "decimals, pyarrow": lambda: pa.table({"x": [Decimal("1.00"), Decimal("99999999999999999999999999999999999.99")]}),
    "decimals, polars": lambda: pl.DataFrame({"x": [Decimal("1.00"), Decimal("-99.50")]}),
    "arrow in pandas": lambda: pa.table({"x": pa.array([FAR, 1], pa.uint64())}).to_pandas(types_mapper=pd.ArrowDtype),
    "nullable, pandas": lambda: pd.DataFrame({"x": pd.array([1, None], dtype="Int64")}),
    "infinite, polars": lambda: pl.DataFrame({"x": [float("inf"), 1.0]}),
}


@pytest.mark.parametrize("kind", list(EXTREMES))
@pytest.mark.parametrize("levels", [(1, 2), ("1", "0.5"), ("2020-01-01", "b")])
def test_no_value_of_any_engine_makes_counting_fail(kind: str, levels: tuple[Any, ...]) -> None:
    columns = [Column("x", levels, outside="odd"), Column.banded("x", (-5, 0, 1.5, 2**50))]
    for table in as_source(EXTREMES[kind]()).count_families([[column] for column in columns]):
        assert table.sum() == 2
        assert table.flat[-1] >= 1  # at least the odd one is outside


def test_columns_with_our_own_names_are_counted_right() -> None:
    frame = pd.DataFrame({"x": ["a", "b", "a"], "discreet_0": ["u", "v", "v"], "discreet_1": ["a", "a", "b"]}).astype(
        object
    )
    columns = [
        Column("x", ("a", "b"), outside="a"),
        Column("discreet_0", ("u", "v"), outside="u"),
        Column("discreet_1", ("a", "b"), outside="a"),
    ]
    for data in (frame, pl.from_pandas(frame), duckdb.from_arrow(pa.table(frame))):
        tables = as_source(data).count_families([columns[:2], columns[1:], columns[:1], columns[:1]])
        assert [table.tolist() for table in tables] == [[[1, 1], [0, 1]], [[1, 0], [1, 1]], [2, 1], [2, 1]]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "duckdb"])
@pytest.mark.parametrize("text", [True, False])
def test_a_thousand_levels_are_counted(kind: str, text: bool) -> None:
    values = [f"z{n % 1000}" if text else n % 1000 for n in range(3_000)]
    make = {
        "pandas": pd.DataFrame,
        "polars": pl.DataFrame,
        "pyarrow": pa.table,
        "duckdb": lambda d: duckdb.from_arrow(pa.table(d)),
    }
    column = Column("x", tuple(dict.fromkeys(values)), outside=values[0])
    assert (as_source(make[kind]({"x": values})).count_families([[column]])[0] == 3).all()


def test_columns_that_stand_twice_are_refused() -> None:
    with pytest.raises(dc.SourceError, match="column names all differ"):
        as_source(pd.DataFrame([[1, 2]], columns=["x", "x"]))


def test_anything_that_counts_families_is_a_source() -> None:
    class Mine:
        def count_families(self, families: Any) -> list[Any]:
            return [np.array([4, 5])]

    assert (
        repr(dc.Categories("x", levels=("a", "b"), outside="a").statistics(Mine())) == "Statistics(<2 secret values>)"
    )


@pytest.mark.parametrize("levels", [(0, False, 1), ("a", None), ("a", "b\x00"), ("a", "\ud800"), ("1", "1.0")])
def test_levels_that_collide_or_cannot_be_written_are_refused(levels: tuple[Any, ...]) -> None:
    with pytest.raises(dc.DeclarationError):
        Column("x", levels, outside=levels[0])


def test_the_home_of_outside_values_is_kept_as_it_was_declared() -> None:
    assert Column("x", (0, 1), outside=False).outside is not False


def test_truth_values_and_numbers_are_different_levels() -> None:
    assert Column("x", (False, True), outside=False) != Column("x", (0, 1), outside=0)
    assert Column("x", (0, 1), outside=0) == Column("x", (0, 1), outside=0)


@pytest.mark.parametrize("data", [3, None, [1, 2], np.zeros(3), {"x": ["a"], "y": []}])
def test_what_is_no_table_is_refused(data: object) -> None:
    with pytest.raises(dc.SourceError):
        dc.Categories(("x", "y"), levels={"x": ("a", "b"), "y": ("a", "b")}, outside="a").statistics(data)


@pytest.mark.parametrize(
    ("value", "text"),
    [("a", "a"), (1, "1"), (1.0, "1"), (1.5, "1.5"), (True, "true"), (np.bool_(False), "false"), (np.int64(3), "3"),
     (None, None), (float("nan"), None), (float("inf"), None), ([1], None), (np.float32(2), "2")],
)  # fmt: skip
def test_a_value_has_one_text_whatever_its_type(value: object, text: str | None) -> None:
    assert text_of(value) == text


def test_duckdb_is_never_asked_for_a_name_that_it_takes_for_another() -> None:
    """Its names do not differ by case: 'A' would count 'a', and a column of the user would be taken for one of ours."""
    connection = duckdb.connect()
    twins = connection.sql('SELECT 1 AS a, 2 AS "A" FROM range(3)')
    with pytest.raises(dc.SourceError, match="column names all differ"):
        dc.Categories("A", levels=(1, 2)).statistics(twins)
    capitals = connection.sql('SELECT 7 AS "DISCREET_0", 0.5 AS y FROM range(3)')
    assert counts_of(dc.Column.banded("y", (0, 1)), capitals) == [3, 0]


def test_names_of_columns_are_no_patterns_for_polars() -> None:
    frame = pl.DataFrame({"^x.*$": ["a", "a"], "x": ["b", "b"], "*": ["a", "b"]})
    for each in (frame, frame.lazy()):
        assert counts_of(dc.Column("^x.*$", ("a", "b")), each) == [2, 0, 0]
        assert counts_of(dc.Column("*", ("a", "b")), each) == [1, 1, 0]


UNUSUAL: dict[str, Callable[[], Any]] = {
    "a relation of DuckDB": lambda: duckdb.from_arrow(pa.table({"x": ["a", None, "q"]})),
    "a gap of pandas": lambda: pd.DataFrame({"x": pd.Series(["a", None, "q"], dtype="string[python]")}),
    "odd objects": lambda: {"x": ["a", pd.NA, "q", np.array([1, 2])]},
    "views of texts": lambda: pa.table({"x": pa.array(["a", None, "q"], pa.string_view())}),
    "runs": lambda: pa.table({"x": pa.RunEndEncodedArray.from_arrays([1, 2, 3], pa.array(["a", None, "q"]))}),
}


@pytest.mark.parametrize("kind", UNUSUAL)
def test_the_holder_is_shown_undeclared_values_of_every_source(kind: str) -> None:
    found = dict(as_source(UNUSUAL[kind]()).match([Column("x", ("a", "b"))])[0].values)
    assert found["q"] == 1
    assert found["(missing)"] == 1


def test_the_holder_is_shown_rare_strangers_behind_many_declared_values() -> None:
    values = [number for number in range(3_000) for _ in range(2)] + [-1]
    column = Column("x", tuple(range(3_000)), outside="other")
    assert as_source(duckdb.from_arrow(pa.table({"x": values}))).match([column])[0].values == [("-1", 1)]


def test_days_that_python_cannot_hold_hide_no_other_stranger() -> None:
    days = pa.array([2**31 - 1, 0], pa.int32()).view(pa.date32())
    found = as_source(pa.table({"x": days})).match([Column("x", ("a", "b"))])[0].values
    assert found == [("(date32[day])", 1), ("1970-01-01", 1)]
