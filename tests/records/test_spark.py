"""Spark counts and sums in one pass, agrees with the slow twin, and no row is copied on the way."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from conformance.backends import PLAIN, Engine, arrow
from conformance.contract import agree_on_every_record, keep_neighbours_apart_by_one_record
from conformance.counting import counts_of
from discreet.records import GroupPlan, Measure, as_source
from discreet.records._spark import SparkSource, summed

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
TYPES = {
    "text": "string",
    "whole": "bigint",
    "number": "double",
    "truth": "boolean",
    "decimal": "decimal(38,6)",
    "date": "date",
    "time": "timestamp_ntz",
    "zoned": "timestamp",
}


def engine(spark: Any, collation: str = "") -> Engine:
    """Return Spark as one more way to hold records; a collation may be declared for texts."""

    def make(values: list[Any], kind: str, _: Path) -> Any:
        frame = spark.createDataFrame(arrow(values, kind)).selectExpr(f"CAST(x AS {TYPES[kind]}) AS x", "id")
        return frame.selectExpr(f"x COLLATE {collation} AS x", "id") if collation else frame

    return Engine(PLAIN, make)


@pytest.mark.parametrize("kind", ["text", "number", "zoned"])  # all kinds in validation/
def test_spark_agrees_with_the_slow_twin_on_every_value(kind: str, spark: Any, tmp_path: Path) -> None:
    agree_on_every_record(engine(spark), kind, tmp_path, seed=20261116)


@pytest.mark.parametrize("collation", ["UTF8_LCASE", "UNICODE_CI_AI"])
def test_collations_of_spark_decide_nothing(collation: str, spark: Any, tmp_path: Path) -> None:
    agree_on_every_record(engine(spark, collation), "text", tmp_path, seed=1)


def test_neighbours_in_spark_differ_by_one_record(spark: Any, tmp_path: Path) -> None:
    keep_neighbours_apart_by_one_record(engine(spark), "text", tmp_path, seed=20261117, changes=1)


def test_many_tables_are_one_pass_and_no_row_is_copied(spark: Any, capsys: pytest.CaptureFixture[str]) -> None:
    frame = spark.range(100).selectExpr(*(f"CAST(id % {n + 2} AS int) AS v{n}" for n in range(12)))

    def nothing(batches: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
        yield from ()

    summed(frame, frame.columns, nothing).explain()
    plan = capsys.readouterr().out
    assert "Expand" not in plan
    assert len(re.findall(r"\bMapInArrow\b", plan)) == 1
    assert len(re.findall(r"\bRange\b", plan)) == 1
    columns = [dc.Column(f"v{n}", tuple(range(n + 2)), outside="?") for n in range(12)]
    tables = as_source(frame).count_families([[columns[0], column] for column in columns[1:]])
    plain = {f"v{n}": [number % (n + 2) for number in range(100)] for n in range(12)}
    for found, wanted in zip(
        tables, as_source(plain).count_families([[columns[0], c] for c in columns[1:]]), strict=True
    ):
        assert found.tolist() == wanted.tolist()
    pairs = dc.Synthesis(columns[:6]).tables  # all of them at once
    both = zip(as_source(frame).count_families(pairs), as_source(plain).count_families(pairs), strict=True)
    assert all(np.array_equal(found, wanted) for found, wanted in both)


def test_columns_of_other_types_are_outside_and_names_are_told_apart(spark: Any) -> None:
    frame = spark.range(3).selectExpr("array(id) AS x", "'a' AS X", "map(id, id) AS `a.b`", "binary('a') AS `c d`")
    for name, expected in (("x", [0, 0, 3]), ("X", [3, 0, 0]), ("a.b", [0, 0, 3]), ("c d", [0, 0, 3])):
        assert counts_of(dc.Column(name, ("a", "b"), outside="?"), frame) == expected
    with pytest.raises(dc.SourceError, match="no column 'y'"):
        counts_of(dc.Column("y", ("a", "b"), outside="?"), frame)


def test_an_empty_frame_counts_nothing(spark: Any) -> None:
    frame = spark.range(0).selectExpr("CAST(id AS string) AS x")
    assert counts_of(dc.Column("x", ("a", "b"), outside="?"), frame) == [0, 0, 0]


def test_check_shows_undeclared_values_of_a_spark_frame(spark: Any) -> None:
    frame = spark.createDataFrame([("a",), ("zz",), ("zz",), (None,)], "x string")
    assert as_source(frame).match([dc.Column("x", ("a", "b"), outside="?")])[0].values == [("zz", 2), ("(missing)", 1)]


def test_a_frame_of_spark_connect_is_a_frame_and_no_source() -> None:
    """It answers to every name of an attribute, so it must be known by the package that it comes from."""
    frames: Any = pytest.importorskip("pyspark.sql.connect.dataframe", reason="Spark Connect needs grpcio")
    base: Any = frames.DataFrame

    class Frame(base):  # type: ignore[misc]
        def __init__(self) -> None:
            pass

        @property
        def columns(self) -> list[str]:
            return ["x"]

    Frame.__module__ = frames.__name__
    assert isinstance(as_source(Frame()), SparkSource)


def test_spark_puts_the_rows_of_a_person_together(spark: Any) -> None:
    ids = ["a", "A", "a ", "a", None, "", "é", "e\u0301", "a", None]
    data: dict[str, list[Any]] = {
        "id": ids,
        "x": [1.0, 2.0, 3.0, 4.0, None, 6.0, 7.0, 8.0, 9.0, 5.0],
        "g": [*"YNYNYNYNNY"],
    }
    frame = spark.createDataFrame(list(zip(*data.values(), strict=True)), "id string, x double, g string")
    frame = frame.selectExpr("id COLLATE UTF8_LCASE AS id", "x", "g").repartition(3)
    group = dc.Column("g", ("Y", "N"), outside="Y")
    model = dc.NumberSums("x", (0, 20), by=group, persons=dc.Persons("id", 12, "total", (0, 5)))
    assert model.rehearse(frame).tolist() == model.rehearse(data).tolist()


def test_columns_are_derived_on_the_workers_as_in_lists(spark: Any) -> None:
    rows = [
        (80.5, 1.8, "1960-02-29", "I21"),
        (None, 0.0, None, None),
        (1e300, 1.7, "x", "i21"),
        (70.0, 1.75, "2001-01-01", "C50"),
    ]
    lists = {name: list(column) for name, column in zip("whbc", zip(*rows, strict=True), strict=True)}
    frame = spark.createDataFrame(rows, "w double, h double, b string, c string")
    derived = dc.Derived(
        {
            "bmi": "w / (h * h)",
            "age": "years(b, '2026-02-28')",
            "hit": "lookup(c, 'codes') = 'yes'",
            "none": "hit and w > 1",
        },
        {"codes": {"I21": "yes", "C50": "no"}},
    )
    families = [
        [dc.Column.banded("bmi", [0, 24, 100])],
        [dc.Column("age", (25, 65, 66)), dc.Column("hit", (True, False))],
    ]
    families += [[dc.Column("c", ("I21", "C50")), dc.Column("none", (True, False))]]
    there, here = (derived.source(each) for each in (frame, lists))
    for ours, plain in zip(there.count_families(families), here.count_families(families), strict=True):
        assert ours.tolist() == plain.tolist()
    plan = GroupPlan(Measure("bmi", 0, 100, 0), (families[1][1],), leaves_gaps_out=True)
    assert there.sum_groups(plan)[0].tolist() == here.sum_groups(plan)[0].tolist()
    (found,), (wanted,) = (each.match([families[0][0]]) for each in (there, here))
    assert found.counts.tolist() == wanted.counts.tolist()
    with pytest.raises(dc.SourceError, match="no column 'w'"):
        derived.source(frame.drop("w")).count_families(families)
