"""Types that a program has and Python has not: nothing fails on them, and the holder sees what no level declares."""

from typing import Any

import duckdb
import ibis
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet.records import as_source
from discreet.records.moments import CONSTANT, Measure, MomentPlan

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
    shown = source.strangers(dc.Column("x", ("a", "b")))
    assert sum(number for _, number in shown) == 3
    if "2026" in value and "[" not in value:
        year = dc.Column.banded("x", ("2026-01-01", "2026-12-31"))
        assert source.strangers(year) == []
        assert source.strangers(dc.Column.banded("x", ("2025-01-01", "2025-12-31"))) == shown


@pytest.mark.parametrize("kind", [pl.Date, pl.Datetime("ms"), pl.Datetime("us", "Europe/Berlin")])
def test_days_that_python_cannot_hold_hide_no_other_stranger_in_polars(kind: Any) -> None:
    far = 2**31 - 1 if kind == pl.Date else 2**62
    series = pl.Series("x", [far, 0, None]).cast(pl.Int32 if kind == pl.Date else pl.Int64).cast(kind)
    shown = dict(as_source(series.to_frame()).strangers(dc.Column("x", ("a", "b"))))
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


def test_moments_in_nanoseconds_have_the_day_that_they_have_in_utc() -> None:
    ends = "'1969-12-31 23:59:59.999999999', '1970-01-01 00:00:00', '1970-01-01 23:59:59.999999999'"
    relation = duckdb.sql(f"SELECT (unnest([{ends}, '1970-01-02 00:00:00']) || '+00')::TIMESTAMPTZ_NS AS x")
    band = dc.Column.banded("x", ("1969-12-31", "1970-01-01", "1970-01-02"))
    assert as_source(relation).count_families([[band]])[0].tolist() == [1, 3, 0]
