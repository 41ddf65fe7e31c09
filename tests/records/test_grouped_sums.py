"""Sums in groups are the same whole numbers from every engine, and one record moves them by what one record may."""

import math
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet.records import UNIT, GroupPlan, ListSource, Measure, squared, sum_groups
from discreet.records._grouped_sums import place_of

WARD, SEX = dc.Column("ward", ("A", "B", "C"), outside="A"), dc.Column("sex", ("f", "m"), outside="?")
AGE = Measure("x", -1.5, 2.0, 0.25)
PLANS = {
    "all": GroupPlan(AGE, (), True),
    "by ward": GroupPlan(AGE, (WARD,), True),
    "by both": GroupPlan(AGE, (WARD, SEX), True),
    "gaps are a constant": GroupPlan(AGE, (WARD,), False),
    "from zero": GroupPlan(Measure("x", 0.0, 2.0, 0.25), (SEX,), True),
}


def records(size: int = 700) -> dict[str, list[Any]]:
    generator = np.random.default_rng(20261122)
    data: dict[str, list[Any]] = {
        "x": generator.normal(size=size).tolist(),
        "ward": [["A", "B", "C", "Z", None][place] for place in generator.integers(5, size=size)],
        "sex": [["f", "m", "x", None][place] for place in generator.integers(4, size=size)],
    }
    data["x"][3:9] = [math.nan, math.inf, None, 1e300, -math.inf, 2.0**53]
    return data


def one_by_one(data: dict[str, list[Any]], plan: GroupPlan) -> list[list[int]]:
    """Sum record by record with Python's own numbers: the slow and obvious way."""
    measure = plan.measure
    found = [[0, 0, 0] for _ in range(plan.cells)]
    for place, x in enumerate(data["x"]):
        cell = 0
        for column in plan.groups:
            cell = cell * len(column.levels) + column.code(data[column.name][place])
        is_number = x is not None and abs(x) < 2**53
        if not is_number and plan.leaves_gaps_out:
            continue
        value = min(max(x if is_number else measure.missing, measure.low), measure.high)
        a = max(0, min(UNIT, math.floor((value - measure.low) * (UNIT / (measure.high - measure.low)) + 0.5)))
        for kind, part in enumerate((a, ((2 * a - UNIT) ** 2 + UNIT // 2) // UNIT, 1)):
            found[cell][kind] += part
    return found


def frames(folder: Path) -> dict[str, Any]:
    data, table = records(), pa.table(records())
    pl.DataFrame(data).write_csv(folder / "x.csv")
    pl.DataFrame(data).write_parquet(folder / "x.parquet")
    (folder / "half").mkdir()
    for half, rows in enumerate((slice(0, 300), slice(300, None))):
        pl.DataFrame({name: column[rows] for name, column in data.items()}).write_csv(folder / "half" / f"{half}.csv")
    return {
        "lists": ListSource(data),
        "pandas": pd.DataFrame(data),
        "pandas objects": pd.DataFrame(data).astype(object),
        "polars": pl.DataFrame(data),
        "polars lazy": pl.LazyFrame(data),
        "pyarrow": table,
        "duckdb": duckdb.from_arrow(table),
        "duckdb texts": duckdb.from_arrow(table).project("x::VARCHAR AS x, ward, sex"),
        "CSV": dc.read(folder / "x.csv"),
        "Parquet": dc.read(folder / "x.parquet"),
        "two files": dc.read([folder / "half" / "0.csv", folder / "half" / "1.csv"]),
    }


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_every_engine_gives_the_sums_of_the_slow_way(plan: GroupPlan, tmp_path: Path) -> None:
    wanted = one_by_one(records(), plan)
    for name, data in frames(tmp_path).items():
        found, size = sum_groups(data, plan)
        assert found.tolist() == wanted, name
        assert size == 700, name
        assert found.dtype == np.int64, name


@pytest.mark.parametrize("value", [None, "a", True, -9.0, 9, "0.5", 1e-320, -0.0])
def test_a_value_has_its_place_by_itself(value: Any) -> None:
    found, _ = sum_groups({"x": [value]}, PLANS["gaps are a constant"].__class__(AGE, (), False))
    assert found[0, 0] == place_of(value, AGE)
    assert 0 <= found[0, 0] <= UNIT


def test_squares_lie_within_the_same_unit_and_are_whole() -> None:
    places = np.arange(UNIT + 1)
    found = squared(places)
    assert (found.min(), found.max()) == (0, UNIT)
    assert np.abs(found - (2 * places - UNIT) ** 2 / UNIT).max() <= 0.5


def test_a_missing_column_is_named_and_no_value_is_shown() -> None:
    with pytest.raises(dc.SourceError, match="'x'") as refusal:
        sum_groups({"y": [77.125], "ward": ["A"]}, PLANS["by ward"])
    assert "77" not in str(refusal.value)
