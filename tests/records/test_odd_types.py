"""Types that a program has and Python has not: nothing fails on them, and the holder sees what no level declares."""

from collections.abc import Callable
from typing import Any

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet.records import CONSTANT, Measure, MomentPlan, as_source

DAYS = MomentPlan((Measure("x", 0, 10, 5, dates=True),), ((0, CONSTANT),), 1024)


@pytest.mark.parametrize(
    "value",
    [
        "'2026-01-31 00:00:00+00'::TIMESTAMPTZ", "'infinity'::TIMESTAMPTZ", "'2026-01-31 00:00:00+00'::TIMESTAMPTZ_NS",
        "'12:00:00+01'::TIMETZ", "['2026-01-31 00:00:00+00'::TIMESTAMPTZ]", "'infinity'::DATE", "[1]", "{'k': 1}",
        "MAP {'k': 1}", "'1'::BLOB", "uuid()", "INTERVAL 1 MONTH", "'101'::BIT", "union_value(k := 1)", "NULL",
    ],
)  # fmt: skip
def test_the_holder_is_shown_undeclared_values_of_every_type_of_duckdb(value: str) -> None:
    source = as_source(duckdb.sql(f"SELECT {value} AS x FROM range(3)"))
    shown = source.match([dc.Column("x", ("a", "b"))])[0].values
    assert sum(number for _, number in shown) == 3
    if "2026" in value and "[" not in value:
        year = dc.Column.banded("x", ("2026-01-01", "2026-12-31"))
        assert source.match([year])[0].values == []
        assert source.match([dc.Column.banded("x", ("2025-01-01", "2025-12-31"))])[0].values == shown


@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime("ms"), pl.Datetime("us", "Europe/Berlin")])
def test_days_that_python_cannot_hold_hide_no_other_stranger_in_polars(kind: Any) -> None:
    far = 2**31 - 1 if kind == pl.Date else 2**62
    series = pl.Series("x", [far, 0, None]).cast(pl.Int32 if kind == pl.Date else pl.Int64).cast(kind)
    shown = dict(as_source(series.to_frame()).match([dc.Column("x", ("a", "b"))])[0].values)
    assert len(shown) == 3
    assert any(text.startswith("1970-01-01") for text in shown)


def test_moments_that_duckdb_cannot_hold_are_refused_before_any_is_read() -> None:
    """DuckDB stops at a moment beyond its own, so that one record could stop the count: what decides is the type."""
    band = dc.Column.banded("x", ("2026-01-01", "2026-12-31"))
    for ticks in (0, 2**62):
        moments = pa.table({"x": pa.array([ticks], pa.int64()).view(pa.timestamp("s", "UTC"))})
        assert as_source(moments).count_families([[band]])[0].tolist() == [0, 1]
        with pytest.raises(dc.SourceError, match="Pass that frame itself"):
            as_source(duckdb.from_arrow(moments)).count_families([[band]])
        with pytest.raises(dc.SourceError, match="Pass that frame itself"):
            as_source(ibis.memtable(moments)).count_families([[band]])
        with pytest.raises(dc.SourceError, match="Pass that frame itself"):
            as_source(duckdb.from_arrow(moments)).sum_moments(DAYS)
        frame = moments.to_pandas()
        with pytest.raises(dc.SourceError, match="Pass that frame itself"):
            as_source(duckdb.from_df(frame)).count_families([[band]])


FAR = {
    "moments": pa.timestamp("s", "UTC"),
    "moments in milliseconds": pa.timestamp("ms", "Europe/Berlin"),
    "durations": pa.duration("s"),
    "lists": pa.list_(pa.timestamp("s", "UTC")),
}
ANY, BAND = dc.Column("x", ("a", "b")), dc.Column.banded("x", ("2026-01-01", "2026-12-31"))
WARD = dc.Column("ward", ("A", "B"))
USES: dict[str, Callable[[Any], object]] = {
    "category": dc.Categories(ANY).statistics,
    "one of two categories": dc.Categories([WARD, ANY]).statistics,
    "day": dc.Categories(BAND).statistics,
    "number": dc.NumberTable("x", (0, 10), 2).statistics,
    "sum": dc.NumberSums("x", (0, 10)).statistics,
    "group of days": dc.NumberSums("y", (0, 10), by=BAND).statistics,
    "group": dc.NumberSums("y", (0, 10), by=ANY).statistics,
    "group of weighted sums": dc.WeightedSums(
        "y", (0, 10), weights=dc.Weights("w", 2, "fixed by design"), by=BAND
    ).statistics,
    "weight": dc.WeightedSums("y", (0, 10), weights=dc.Weights("x", 2, "fixed by design")).statistics,
    "group of persons": dc.NumberSums("y", (0, 10), by=BAND, persons=dc.Persons("w", 2, "mean")).statistics,
    "id": dc.NumberSums("y", (0, 10), persons=dc.Persons("x", 2, "mean")).statistics,
    "feature": dc.LinearRegression("y", ["x"], {"x": (0, 10), "y": (0, 10)}, missing={"x": 0, "y": 0}).statistics,
    "undeclared": lambda data: as_source(data).match([ANY])[0].values,
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", FAR)
def test_what_duckdb_cannot_hold_of_a_frame_is_refused_whatever_it_is_used_as(kind: str, use: str) -> None:
    for ticks in (0, 10**18):
        held = pa.array([0, ticks], pa.int64())
        column = pa.ListArray.from_arrays([0, 1, 2], held.view(FAR["moments"])) if kind == "lists" else None
        others = {"ward": ["A", "B"], "y": [1.0, 2.0], "w": [1.0, 2.0]}
        frame = pa.table({"x": held.view(FAR[kind]) if column is None else column, **others})
        with pytest.raises(dc.SourceError, match=r"reads 'x', of the type .*Pass that frame itself"):
            USES[use](duckdb.from_arrow(frame))


@pytest.mark.parametrize("name", ["number", "truth", "day", "moment", "raw"])
def test_no_other_column_of_a_frame_is_read_than_those_that_are_asked_for(name: str) -> None:
    """Even if none of the levels can be in a column: else DuckDB would read the first one, and stop at a far moment."""
    kinds = {
        "number": pa.int64(),
        "truth": pa.bool_(),
        "day": pa.date32(),
        "moment": pa.timestamp("us"),
        "raw": pa.binary(),
    }
    own = [b"1", b"2"] if name == "raw" else [True, False] if name == "truth" else [1, 2]
    far = pa.array([0, 10**18], pa.int64()).view(pa.timestamp("s", "UTC"))
    frame = pa.table({"far": far, "x": pa.array(own, kinds[name])})
    for data in (duckdb.from_arrow(frame), duckdb.from_arrow(frame).project("x")):
        assert as_source(data).count_families([[ANY]])[0].tolist() == [0, 0, 2]
        assert as_source(data).count_families([[BAND]])[0].tolist() == [0, 2]


def test_a_relation_over_pandas_is_refused_because_types_are_guessed_from_records() -> None:
    for odd in (1, "z"):
        frame = pd.DataFrame({"x": pd.Series([1] * 7 + [odd] + [1] * 3_000, dtype=object)})
        with pytest.raises(dc.SourceError, match="guesses the types"):
            as_source(duckdb.from_df(frame)).count_families([[ANY]])
        assert as_source(frame).count_families([[ANY]])[0].sum() == 3_008


def test_moments_in_nanoseconds_have_the_day_that_they_have_in_utc() -> None:
    ends = "'1969-12-31 23:59:59.999999999', '1970-01-01 00:00:00', '1970-01-01 23:59:59.999999999'"
    relation = duckdb.sql(f"SELECT (unnest([{ends}, '1970-01-02 00:00:00']) || '+00')::TIMESTAMPTZ_NS AS x")
    band = dc.Column.banded("x", ("1969-12-31", "1970-01-01", "1970-01-02"))
    assert as_source(relation).count_families([[band]])[0].tolist() == [1, 3, 0]
