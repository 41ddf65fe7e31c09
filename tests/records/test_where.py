"""Some of the records, by declared levels: which conditions there are, and that only these records are counted."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet.records import conditions_on

WARD = dc.Column("ward", ("West", "East"), outside="other")
SEX = dc.Column("sex", ("f", "m"), outside="m")
AGE = dc.Column.banded("age", (0, 18, 65, 120), "no age", ("child", "adult", "old"))
FELL = dc.Categories("fell", levels=(True, False), outside=False)
RECORDS: dict[str, list[Any]] = {
    "ward": ["West", "East", "west", None, "West", "West", "North"],
    "sex": ["f", "f", "m", "f", None, "m", "f"],
    "age": [70, 17.99, 18, None, 65, 3, 200],
    "fell": [True, True, False, True, False, None, True],
    "stay": [1.0, 2.0, 3.0, 4.0, None, 6.0, 7.0],
}
BACKENDS: dict[str, Callable[[Path], Any]] = {
    "lists": lambda _: RECORDS,
    "pandas": lambda _: pd.DataFrame(RECORDS),
    "polars": lambda _: pl.DataFrame(RECORDS, strict=False),
    "arrow": lambda _: pa.table(RECORDS),
    "csv": lambda folder: written(folder),
}


def written(folder: Path) -> Any:
    pd.DataFrame(RECORDS).to_csv(folder / "d.csv", index=False)
    return dc.read(folder / "d.csv")


def chosen(where: dc.Where) -> dict[str, list[Any]]:
    """Return the records that meet the conditions, one by one: the slow twin."""
    rows = range(len(RECORDS["ward"]))
    kept = [
        row
        for row in rows
        if all(column.levels[column.code(RECORDS[column.name][row])] == level for column, level in where.conditions)
    ]
    return {name: [values[row] for row in kept] for name, values in RECORDS.items()}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "text", ["ward = West", "ward=other", "sex = m", "age = old", "age = no age and sex = f", "ward = West and sex = f"]
)
@pytest.mark.parametrize(
    "model",
    [
        FELL,
        dc.Categories([SEX, FELL.columns[0]]),
        dc.NumberSums("stay", (0, 8)),
        dc.NumberSums("stay", (0, 8), by=SEX),
        dc.NumberTable("stay", (0, 8), cells=4),
        dc.NumberQuantiles("stay", (0, 8), quantiles=("0.5",), steps=8),
    ],
    ids=lambda model: repr(model)[:40],
)
def test_only_records_that_meet_the_conditions_are_counted(tmp_path: Path, backend: str, text: str, model: Any) -> None:
    where = dc.Where(text, [WARD, SEX, AGE])
    counted = where.statistics(model, BACKENDS[backend](tmp_path))
    twin = model.statistics(chosen(where))
    assert counted.where == where
    assert np.array_equal(counted.open_for_publishing(), twin.open_for_publishing())
    assert counted.describes(model, len(chosen(where)["ward"]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must be a text"),
        ("ward", "must name a column and one of its levels"),
        ("ward > West", "Other comparisons"),
        ("wart = West", "declare it as .*Did you mean 'ward'"),
        ("ward = Wst", "does not have. Its levels are 'West', 'East', 'other'"),
        ("ward = West and ward = East", "twice"),
        ("ward = West or sex = f", "does not have"),
        ("age = 66", "does not have"),
    ],
)
def test_other_conditions_are_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(dc.DeclarationError, match=words):
        dc.Where(text, [WARD, SEX, AGE])


def test_conditions_have_one_form_and_survive_the_round_trip() -> None:
    where = dc.Where("ward=West  and  sex = f and age = old", [WARD, SEX, AGE])
    assert str(where) == "age = old and sex = f and ward = West"
    assert where == dc.Where("sex=f and age=old and ward=West", [AGE, WARD, SEX])
    assert dc.Where.from_document(where.document()) == where
    other = dc.Column.banded("age", (0, 18, 60, 120), "no age", ("child", "adult", "old"))
    assert where != dc.Where(str(where), [WARD, SEX, other])  # the same words, other records
    for wrong in (None, [], [1], [{"column": 1}], where.document()[::-1], [*where.document(), where.document()[0]]):
        with pytest.raises(dc.DocumentError):
            dc.Where.from_document(wrong)
    unknown = [{**where.document()[0], "level": "young"}]
    with pytest.raises(dc.DocumentError, match="no level"):
        dc.Where.from_document(unknown)


def test_a_column_divides_all_records() -> None:
    assert conditions_on(WARD) == ("ward = West", "ward = East", "ward = other")
    counted = [dc.Where(text, [WARD]).statistics(FELL, RECORDS).open_for_publishing() for text in conditions_on(WARD)]
    assert np.array_equal(np.sum(counted, axis=0), FELL.statistics(RECORDS).open_for_publishing())


def test_what_cannot_be_counted_in_part_is_refused_in_words() -> None:
    line = dc.LinearRegression("stay", ("age",), {"stay": (0, 8), "age": (0, 120)}, missing="middle")
    with pytest.raises(dc.SourceError, match=r"Only tables .* can be asked where ward = West"):
        dc.Where("ward = West", [WARD]).statistics(line, RECORDS)
    many = [dc.Column(f"c{n}", tuple(range(400)), outside=0) for n in range(4)]
    with pytest.raises(dc.SourceError, match="at most"):
        dc.Where("c0 = 1 and c1 = 1", many).statistics(dc.Categories(many[2:]), {})


def test_days_are_conditions_as_bands() -> None:
    joined = dc.Column.banded("joined", ("2025-01-01", "2026-01-01", "2026-12-31"), "earlier", ("2025", "2026"))
    data = {"joined": [datetime.date(2025, 5, 1), datetime.date(2026, 1, 1), None], "fell": [True, True, False]}
    counted = dc.Where("joined = 2026", [joined]).statistics(FELL, data)
    assert counted.open_for_publishing().tolist() == [1, 0]
