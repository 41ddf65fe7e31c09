"""Bands of numbers and of days, names of bands, and what is asked when a name is misspelt."""

import datetime
from collections import Counter
from enum import IntEnum
from pathlib import Path
from threading import Thread
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet._core.errors import meant
from discreet.records import CONSTANT, Column, Measure, MomentPlan, as_source, level_text, text_of
from discreet.records._moments import whole_number
from discreet.records._statistics import clusters, count_codes, margins
from discreet.records._values import day_of, number_of

QUARTERS = Column.banded("day", ("2026-01-01", "2026-04-01", "2026-07-01"), names=("winter", "spring"))


@pytest.mark.parametrize(
    ("value", "level"),
    [
        (datetime.date(2026, 1, 1), "winter"),
        (datetime.datetime(2026, 3, 31, 23, 59), "winter"),
        (datetime.datetime(2026, 3, 31, 23, tzinfo=datetime.timezone(datetime.timedelta(hours=-3))), "spring"),
        (np.datetime64("2026-04-01T12"), "spring"),
        (pd.Timestamp("2026-07-01"), "spring"),
        ("2026-06-30", "spring"),
        ("2026-06-30 10:15", "spring"),
        ("2026-06-31", "other"),
        ("30.06.2026", "other"),
        (datetime.date(2025, 12, 31), "other"),
        (20500, "other"),
        (pd.NaT, "other"),
        (np.datetime64("NaT"), "other"),
        (None, "other"),
    ],
)
def test_days_fall_into_bands_of_days(value: object, level: str) -> None:
    assert QUARTERS.levels[QUARTERS.code(value)] == level


DAYS = [
    datetime.date(2026, 1, 5),
    datetime.date(2026, 5, 1),
    None,
    datetime.date(1999, 1, 1),
    datetime.date(2026, 6, 30),
]
HOLDERS: dict[str, Any] = {
    "lists": lambda: {"day": DAYS},
    "pandas": lambda: pd.DataFrame({"day": pd.to_datetime(pd.Series(DAYS))}),
    "pandas objects": lambda: pd.DataFrame({"day": pd.Series(DAYS, dtype=object)}),
    "polars": lambda: pl.DataFrame({"day": DAYS}),
    "pyarrow": lambda: pa.table({"day": DAYS}),
    "duckdb": lambda: duckdb.from_arrow(pa.table({"day": DAYS})),
    "texts": lambda: pl.DataFrame({"day": [None if day is None else day.isoformat() for day in DAYS]}),
}


@pytest.mark.parametrize("name", HOLDERS)
def test_every_engine_counts_and_sums_days_alike(name: str) -> None:
    source = as_source(HOLDERS[name]())
    assert source.count_families([[QUARTERS]])[0].tolist() == [1, 2, 2]
    measure = Measure("day", 20454.0, 20635.0, 20500.0, dates=True)
    plan = MomentPlan((measure,), ((0, 0), (0, CONSTANT)), 2**15)
    wholes = [whole_number(day, measure, 2**15) for day in DAYS]
    assert source.sum_moments(plan)[0].tolist() == [sum(a * a for a in wholes), sum(wholes) * 2**15]


def test_bands_of_days_and_their_names_survive_a_document() -> None:
    ages = Column.banded("age", (0, 18, 65), outside="minor", names=("minor", "adult"))
    model = dc.Categories([QUARTERS, ages])
    mechanism = dc.GeometricHistogram(model, size=6, epsilon=1)
    release = dc.simulate(mechanism, (1, 1, 1, 1, 1, 1), dc.SeededBits(1))
    assert dc.Release.from_json(release.to_json()).model == model
    assert eval(repr(QUARTERS)) == QUARTERS
    assert Column.banded("day", QUARTERS.edges, names=("winter", "spring")) != QUARTERS


def test_bounds_that_are_days_make_a_regression_on_days() -> None:
    bounds: dict[str, Any] = {"day": ("2026-01-01", "2026-12-31"), "cost": (0, 100)}
    model = dc.LinearRegression("cost", ["day"], bounds, noise="0.2", missing="middle")
    assert model.ranges["day"].dates
    assert not model.ranges["cost"].dates
    rows = {"day": DAYS, "cost": [1, 2, 3, 4, 5]}
    table = pa.table(rows)
    assert (model.rehearse(rows) == model.rehearse(table)).all()
    moments = dc.regression.BoxMoments(model, size=5, epsilon=1)
    release = dc.simulate(moments, model.rehearse(rows), dc.SeededBits(2))
    assert dc.Release.from_json(release.to_json()).model == model
    with pytest.raises(dc.DeclarationError, match="a bound of 'day'"):
        dc.LinearRegression("cost", ["day"], bounds | {"day": ("2026-01-01", 5)}, noise="0.2", missing="middle")


@pytest.mark.parametrize("names", [("a",), ("a", "b", "c"), "ab", ("a", 2), ("a", "a")])
def test_bands_need_one_name_each(names: Any) -> None:
    with pytest.raises(dc.DeclarationError):
        Column.banded("age", (0, 18, 65), names=names)


def test_a_study_declares_bands_of_days_and_a_list_of_files(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        """
[data]
path = ["one.csv", "two[1].csv"]
size = 3
[budget]
epsilon = 1
ledger = "ledger.db"
[columns.day]
bands = ["2026-01-01", "2026-04-01", "2026-07-01"]
names = ["winter", "spring"]
[questions.days]
columns = ["day"]
epsilon = 1
"""
    )
    (tmp_path / "one.csv").write_text("day\n2026-02-01\n2026-05-05\n")
    (tmp_path / "two[1].csv").write_text("x,day\n1,2026-06-01\n")
    (tmp_path / "two1.csv").write_text("x,day\n1,2026-01-01\n")
    study = dc.Study(tmp_path / "study.toml")
    assert study.source().count_families([[QUARTERS]])[0].tolist() == [1, 2, 0]
    assert study.publish("days").model.columns == (QUARTERS,)
    with pytest.raises(dc.DeclarationError, match=r"Did you mean 'days'\?"):
        study.question("dayz")


def test_a_file_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("x\na\n")
    with pytest.raises(dc.SourceError, match="twice"):
        dc.read([tmp_path / "one.csv", tmp_path / "." / "one.csv"])
    for nothing in ([], [3], 5):
        with pytest.raises(dc.SourceError, match="list of paths"):
            dc.read(nothing)  # type: ignore[arg-type]


def test_misspelt_names_are_answered_with_declared_ones() -> None:
    model = dc.Categories(
        ("ward", "fall"), {"ward": ("North", "South"), "fall": ("no", "yes")}, outside={"ward": "North", "fall": "no"}
    )
    with pytest.raises(dc.DeclarationError, match=r"Did you mean 'ward'\?"):
        model.cell_indices("wards=North")
    with pytest.raises(dc.DeclarationError, match=r"Did you mean 'North'\?"):
        model.cell_indices("ward=north")
    assert meant("zzz", ["ward"]) == ""


def test_what_lies_in_a_band_is_no_stranger_even_if_outside_values_go_there() -> None:
    column = Column.banded("age", (0, 18, 65), outside="0 to under 18")
    for data in ({"age": [3, 4, 70, "x", 20]}, pa.table({"age": ["3", "4", "70", "x", "20"]})):
        assert Counter(dict(as_source(data).match([column])[0].values)) == {"70": 1, "x": 1}


class Evil(str):
    """A text that raises whatever is asked of it."""

    def __hash__(self) -> int:
        raise KeyError("secret 42")

    def __eq__(self, other: object) -> bool:
        raise KeyError("secret 42")

    def __str__(self) -> str:
        raise KeyError("secret 42")


def test_odd_objects_mean_what_they_hold_or_nothing() -> None:
    column = Column("x", ("a", "b"), outside="other")
    assert as_source({"x": [Evil("a"), "b", object(), [1], {}, 10**5000]}).count_families([[column]])[0].tolist() == [
        1,
        1,
        4,
    ]
    assert text_of(2**53 - 1) == str(2**53 - 1)
    assert [text_of(value) for value in (2**53, 2**53 + 1, float(2**53))] == [None] * 3
    assert [number_of(value) for value in (2**53, True, datetime.date(2026, 1, 1))] == [None] * 3
    assert day_of("1970-01-02") == 1


def test_tables_counted_together_are_those_counted_alone() -> None:
    generator = np.random.default_rng(20261116)
    columns = [
        Column(name, range(size), outside=0) for name, size in zip("abcdefgh", (2, 3, 5, 7, 2, 11, 60, 3), strict=True)
    ]
    families = [[columns[i] for i in generator.permutation(8)[: 1 + k % 3]] for k in range(20)] + [
        columns[5:7],
        [columns[6]],
    ]
    codes = {column: generator.integers(len(column.levels), size=1000) for column in columns}
    for most in (1, 100, 2**13, 10**7):
        together = clusters(families, most)
        tables = margins(families, together, [count_codes(codes, cluster) for cluster in together])
        for family, table in zip(families, tables, strict=True):
            wanted = np.zeros([len(column.levels) for column in family], dtype=np.int64)
            np.add.at(wanted, tuple(codes[column] for column in family), 1)
            assert np.array_equal(table, wanted)


def test_sources_count_in_threads(tmp_path: Path) -> None:
    table = pa.table({"x": ["a", "b", "a"] * 5000})
    pl.from_arrow(table).write_parquet(tmp_path / "x.parquet")  # type: ignore[union-attr]
    column, found = Column("x", ("a", "b"), outside="other"), list[Any]()

    def work() -> None:
        for data in (table, dc.read(tmp_path / "x.parquet")):
            found.append(as_source(data).count_families([[column], [column]])[0].tolist())

    threads = [Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[10000, 5000, 0]] * 16


class Colour(IntEnum):
    RED = 1


class Shouted(str):
    def __str__(self) -> str:
        return "SHOUTED"


@pytest.mark.parametrize("level", ["a", "", "1.0", 0, -7, 2**53 - 1, True, False, Colour.RED, Shouted("b")])
def test_the_text_of_a_level_is_that_of_a_value_that_means_it(level: str | int) -> None:
    assert level_text(level) == text_of(level)


@pytest.mark.parametrize("level", [2**53, -(2**53), 10**400, "9007199254740992", " -9007199254740993"])
def test_whole_numbers_that_a_float_may_not_hold_are_no_levels(level: str | int) -> None:
    with pytest.raises(dc.DeclarationError, match=r"within 2\^53 - 1 of zero"):
        Column("x", ("a", level))


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2013-01-01T10:00:00Z", "2013-01-01"),
        ("2013-01-01 10:00:00+00:00", "2013-01-01"),
        ("2013-01-01 10:00:00+00", "2013-01-01"),
        ("2013-01-01T05:29+05:30", "2012-12-31"),
        ("2013-01-01T05:30+0530", "2013-01-01"),
        ("2013-01-01T16:00:00.123456789-0800", "2013-01-02"),
        ("2013-01-01T23:59:60Z", "2013-01-01"),
        ("2013-01-01T10:00:00z", None),
        ("2013-01-01T10:00:00 Z", None),
        ("2013-01-01T10:00+24:00", None),
        ("2013-01-01T24:00Z", None),
        ("2013-01-01Z", None),
        ("0001-01-01T00:00+00:01", None),
        ("9999-12-31T23:59-00:01", None),
    ],
)
def test_a_text_with_a_time_zone_has_its_day_in_utc(text: str, day: str | None) -> None:
    assert day_of(text) == (None if day is None else day_of(day))
