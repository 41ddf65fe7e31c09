"""Moments are the same whole numbers from every engine and in any order, and no record can move them too far."""

import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet.records import CONSTANT, Indicator, ListSource, Measure, MomentPlan, Term, as_source
from discreet.records._moments import whole_number, whole_numbers
from discreet.regression import sum_moments

WARD = dc.Column("ward", ("A", "B", "C"), outside="A")
FACTORS = (Measure("x", -1.5, 2.0, 0.25), Measure("y", 0.0, 10.0, 5.0), Indicator(WARD, 1), Indicator(WARD, 2))
PRODUCTS = ((0, 0), (0, 1), (0, 2), (2, 2), (0, CONSTANT), (1, 1), (1, 3), (2, 3))
PLAN = MomentPlan(FACTORS, PRODUCTS, 2**15)
GRID = PLAN.grid


def records(size: int = 500) -> dict[str, list[Any]]:
    generator = np.random.default_rng(20261115)
    data: dict[str, list[Any]] = {
        "x": generator.normal(size=size).tolist(),
        "y": generator.integers(-3, 15, size=size).tolist(),
        "ward": [["A", "B", "C", "Z", None][place] for place in generator.integers(5, size=size)],
    }
    data["x"][3:8] = [math.nan, math.inf, None, 1e300, -math.inf]
    return data


def frames() -> dict[str, Any]:
    data, table = records(), pa.table(records())
    texts = {name: [None if value is None else str(value) for value in column] for name, column in data.items()}
    return {
        "pandas": pd.DataFrame(data),
        "pandas objects": pd.DataFrame(data).astype(object),
        "polars": pl.DataFrame(data),
        "polars lazy": pl.LazyFrame(data),
        "pyarrow": table,
        "duckdb": duckdb.from_arrow(table),
        "texts": pl.DataFrame(texts),
        "source": as_source(pl.DataFrame(data)),
        "list source": ListSource(data),
    }


def test_interactions_and_powers_are_the_same_whole_numbers_from_every_engine() -> None:
    measured = Term(((FACTORS[0], 2), (FACTORS[1], 1)), ())
    crossed = Term(((FACTORS[0], 3),), (FACTORS[2],))
    factors = (measured, crossed, FACTORS[1])
    plan = MomentPlan(factors, ((0, 0), (0, 1), (1, 1), (0, CONSTANT), (1, CONSTANT), (1, 2)), 2**15)
    sums = [0] * len(plan.products)
    data = records()
    for x, y, ward in zip(data["x"], data["y"], data["ward"], strict=True):
        u, v = (whole_number(value, FACTORS[k], GRID) / GRID for k, value in ((0, x), (1, y)))
        wholes = [
            math.floor((2 * u**2 - 1) * v * GRID + 0.5),
            math.floor((4 * u**3 - 3 * u) * GRID + 0.5) if ward == "B" else 0,
            round(v * GRID),
            GRID,
        ]
        sums = [
            total + wholes[first] * wholes[second] for total, (first, second) in zip(sums, plan.products, strict=True)
        ]
    for name, frame in frames().items():
        found, size = sum_moments(frame, plan)
        assert (name, found.tolist(), size) == (name, sums, 500)


def one_by_one(data: dict[str, list[Any]]) -> list[int]:
    """Sum record by record with Python's own numbers: the slow and obvious way."""
    sums = [0] * len(PRODUCTS)
    for x, y, ward in zip(data["x"], data["y"], data["ward"], strict=True):
        factors = []
        for value, measure in ((x, FACTORS[0]), (y, FACTORS[1])):
            assert isinstance(measure, Measure)
            usable = measure.missing if value is None or not abs(value) <= 2**53 else float(value)
            clipped = min(max(usable, measure.low), measure.high)
            place = math.floor((clipped - measure.low) * (2 * GRID / (measure.high - measure.low)) + 0.5) - GRID
            factors.append(min(max(place, -GRID), GRID))
        factors += [GRID * (ward == "B"), GRID * (ward == "C"), GRID]
        sums = [total + factors[i] * factors[j] for total, (i, j) in zip(sums, PRODUCTS, strict=True)]
    return sums


@pytest.mark.parametrize("name", frames())
def test_every_engine_gives_the_sums_of_the_slow_way(name: str) -> None:
    sums, size = sum_moments(frames()[name], PLAN)
    assert sums.tolist() == one_by_one(records())
    assert size == 500
    assert sums.dtype == np.int64


KINDS: dict[str, Any] = {
    "pandas integers with gaps": pd.DataFrame({"x": pd.array([1, None, 9, 30], dtype="Int64")}),
    "pandas floats with gaps": pd.DataFrame({"x": pd.array([1.0, None, 9.0, 30.0], dtype="Float64")}),
    "pandas categories": pd.DataFrame({"x": pd.Series([1, None, 9, 30]).astype("category")}),
    "pandas on arrow": pd.DataFrame({"x": pd.array([1, None, 9, 30], dtype="int64[pyarrow]")}),
    "short floats": pl.DataFrame({"x": pl.Series([1, None, 9, 30], dtype=pl.Float32)}),
    "unsigned integers": pl.DataFrame({"x": pl.Series([1, None, 9, 30], dtype=pl.UInt64)}),
    "decimals": pl.DataFrame({"x": pl.Series([Decimal(1), None, Decimal(9), Decimal(30)])}),
    "categories": pl.DataFrame({"x": pl.Series(["1", None, "9", "30"], dtype=pl.Categorical)}),
    "huge integers": duckdb.sql("SELECT * FROM (VALUES (1::HUGEINT), (NULL), (9), (30)) t(x)"),
    "short integers": pa.table({"x": pa.array([1, None, 9, 30], pa.int8())}),
}


@pytest.mark.parametrize("name", KINDS)
def test_the_type_in_which_a_program_keeps_numbers_does_not_matter(name: str) -> None:
    plan = MomentPlan((Measure("x", 0.0, 10.0, 2.5),), ((0, 0), (0, CONSTANT)), 1024)
    assert (sum_moments(KINDS[name], plan)[0] == sum_moments({"x": [1, None, 9, 30]}, plan)[0]).all()


def test_a_csv_file_gives_the_same_sums(tmp_path: Path) -> None:
    path = tmp_path / "records.csv"
    pl.DataFrame(records()).write_csv(path)
    assert sum_moments(dc.read(path), PLAN)[0].tolist() == one_by_one(records())


def test_the_order_of_rows_does_not_matter() -> None:
    frame = pl.DataFrame(records())
    shuffled = frame.sample(fraction=1, shuffle=True, seed=3)
    assert (sum_moments(frame, PLAN)[0] == sum_moments(shuffled, PLAN)[0]).all()
    assert (sum_moments(frame, PLAN)[0] == sum_moments(duckdb.from_arrow(shuffled.to_arrow()), PLAN)[0]).all()


HOSTILE = [0.0, -0.0, 1e308, -1e308, 5e-324, math.nan, math.inf, -math.inf, None, 2.0**53, 2.0**53 + 2, 1e16, 2, -1.5]


@pytest.mark.parametrize("engine", ["lists", "pandas", "polars", "duckdb"])
def test_no_value_moves_a_sum_beyond_its_range(engine: str) -> None:
    plan = MomentPlan((Measure("x", -1.5, 2.0, 0.25),), ((0, 0), (0, CONSTANT)), 2**15)
    for value in HOSTILE:
        data = {"x": [value]}
        table = pa.table({"x": pa.array([value], pa.float64())})
        made = {"lists": data, "pandas": table.to_pandas(), "polars": pl.from_arrow(table)}
        sums = sum_moments(made.get(engine, duckdb.from_arrow(table)), plan)[0].tolist()
        assert 0 <= sums[0] <= GRID**2
        assert -(GRID**2) <= sums[1] <= GRID**2
        assert sums == sum_moments(data, plan)[0].tolist()


@pytest.mark.parametrize("value", ["text", "", "1e400", True, object(), Decimal("NaN"), 10**400, [1], b"1", 1 + 2j])
def test_what_is_no_number_is_the_declared_constant(value: Any) -> None:
    plan = MomentPlan((Measure("x", 0.0, 1.0, 0.75),), ((0, CONSTANT),), 1024)
    assert sum_moments({"x": [value]}, plan)[0].tolist() == [512 * 1024]
    frame = pd.DataFrame({"x": pd.Series([value], dtype=object)})
    assert sum_moments(frame, plan)[0].tolist() == [512 * 1024]


def test_columns_that_hold_no_numbers_at_all_are_the_declared_constant() -> None:
    plan = MomentPlan((Measure("x", 0.0, 1.0, 0.75),), ((0, CONSTANT),), 1024)
    for column in (pa.array([True, False]), pa.array([1, 2], pa.timestamp("s")), pa.array([[1], [2]])):
        assert sum_moments(pa.table({"x": column}), plan)[0].tolist() == [2 * 512 * 1024]


def test_an_empty_table_has_no_moments_and_no_records() -> None:
    nobody: dict[str, list[Any]] = {"x": [], "y": [], "ward": []}
    for data in (nobody, pl.DataFrame(schema={"x": pl.Float64, "y": pl.Int64, "ward": pl.String})):
        sums, size = sum_moments(data, PLAN)
        assert (size, set(sums.tolist())) == (0, {0})


def test_the_grid_ends_at_the_bounds_and_is_even() -> None:
    measure = Measure("x", -2.0, 6.0, 0.0)
    values = np.array([-9.0, -2.0, 2.0, 6.0, 9.0, np.nan])
    assert whole_numbers(values, measure, 100).tolist() == [-100, -100, 0, 100, 100, -50]


def test_a_missing_column_and_uneven_lists_are_refused_without_names() -> None:
    with pytest.raises(dc.SourceError, match="no column 'x'"):
        sum_moments({"secret name": [1.0], "y": [1], "ward": ["A"]}, PLAN)
    with pytest.raises(dc.SourceError, match="lengths differ") as caught:
        sum_moments({"x": [77.125], "y": [1, 2], "ward": ["A"]}, PLAN)
    assert "77" not in str(caught.value)


def test_more_records_than_fit_are_refused() -> None:
    plan = MomentPlan((Measure("x", 0.0, 1.0, 0.5),), ((0, 0),), 2**30)
    assert plan.most_records == 2
    with pytest.raises(dc.SourceError, match="At most 2 records"):
        sum_moments({"x": [1.0, 1.0, 1.0]}, plan)


class Tantrum:
    """An engine that fails with words that quote a record."""

    columns = ("x", "y", "ward")

    def count_families(self) -> None:
        raise ValueError("could not cast 'canary'")


def test_a_source_that_cannot_sum_is_refused_without_its_words() -> None:
    with pytest.raises(dc.SourceError, match="cannot sum products") as caught:
        sum_moments(Tantrum(), PLAN)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("width", [1e-303, 1e-305, 5e-324])
def test_even_a_scale_beyond_floats_keeps_every_whole_number_in_its_place(width: float) -> None:
    """No model has such bounds; the clamp comes last and must hold without them: 0 times infinity is not a number."""
    plan = MomentPlan((Measure("x", 0.0, width, 0.0),), ((0, CONSTANT),), GRID)
    for value in (0.0, width / 2, 1.0):
        data = {"x": [value]}
        found = [sum_moments(frame, plan)[0][0] for frame in (data, pd.DataFrame(data), pl.DataFrame(data))]
        found.append(sum_moments(duckdb.from_arrow(pa.table(data)), plan)[0][0])
        assert set(found) <= {-(GRID**2), GRID**2} or width / 2 == value
        assert len(set(found)) == 1
        assert abs(found[0]) <= GRID**2


def test_backends_agree_about_last_newlines_and_whole_numbers_beyond_floats() -> None:
    plan = MomentPlan((Measure("x", 0.0, 10.0, 2.0),), ((0, CONSTANT),), GRID)
    missing = int(sum_moments({"x": [None]}, plan)[0][0])
    for value in ("5\n", "5\r", 2**53 + 1, -(2**53) - 1, 2**63 - 1):
        data = {"x": [value]}
        string = pd.DataFrame(data).astype("string") if isinstance(value, str) else pd.DataFrame(data)
        table = duckdb.from_arrow(pa.table(data))
        for frame in (data, pd.DataFrame(data), string, pl.DataFrame(data), pa.table(data), table):
            assert sum_moments(frame, plan)[0][0] == missing
    unsigned = pl.DataFrame({"x": [2**64 - 1]}, schema={"x": pl.UInt64})
    for frame in (unsigned, pd.DataFrame({"x": np.array([2**64 - 1], dtype=np.uint64)})):
        assert sum_moments(frame, plan)[0][0] == missing


def test_no_record_can_end_a_count_or_be_quoted() -> None:
    class Evil(float):
        def __float__(self) -> float:
            raise KeyError("secret 42")

        def __le__(self, other: object) -> bool:
            raise KeyError("secret 42")

    plan = MomentPlan((Measure("x", 0.0, 10.0, 2.0),), ((0, CONSTANT),), GRID)
    assert sum_moments({"x": [Evil(3)]}, plan)[0].tolist() == sum_moments({"x": [None]}, plan)[0].tolist()
    for values in (5, "12", iter([1, 2]), None):
        with pytest.raises(dc.SourceError, match="must be a list with one value"):
            sum_moments({"x": values}, plan)
        with pytest.raises(dc.SourceError, match="must be a list with one value"):
            dc.Categories("x", levels=("1", "2"), outside="1").statistics({"x": values})
