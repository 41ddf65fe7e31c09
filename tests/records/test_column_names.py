"""Columns may have the names that a query uses for its own: the column that was asked for is the one that is read."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc

NAMES = ("v", "a", "b", "s", "id", "known", "records", "code_0", "value", "sum", "w", "weight")
ROWS = 40


def frame_of(number: str, group: str, other: str) -> dict[str, list[object]]:
    """Return a table in which every other column would give another answer."""
    numbers: list[object] = [place % 10 for place in range(ROWS)]
    groups: list[object] = ["x" if place % 4 else "y" for place in range(ROWS)]
    found: dict[str, list[object]] = {name: [77] * ROWS for name in (*NAMES, other)}
    return {**found, number: numbers, group: groups}


def sources(table: dict[str, list[object]]) -> list[object]:
    """Return the same table in every form that an engine reads."""
    arrow = pa.table(table)
    return [pd.DataFrame(table), pl.DataFrame(table), arrow, duckdb.from_arrow(arrow)]


@pytest.mark.parametrize("number", ["amount", *NAMES])
@pytest.mark.parametrize("group", ["ward", "v", "code_0", "a"])
def test_sums_and_tables_are_those_of_the_columns_asked_for(number: str, group: str) -> None:
    if number == group:
        return
    table = frame_of(number, group, "further")
    by = dc.Column(group, ["x", "y"], outside="x")
    plain = {"n": table[number], "g": table[group]}
    wanted = dc.NumberSums("n", bounds=(0, 9), by=dc.Column("g", ["x", "y"], outside="x")).rehearse(plain)
    cells = dc.NumberTable("n", bounds=(0, 9), cells=3, by=dc.Column("g", ["x", "y"], outside="x")).rehearse(plain)
    for source in sources(table):
        assert dc.NumberSums(number, bounds=(0, 9), by=by).rehearse(source).tolist() == wanted.tolist()
        assert dc.NumberTable(number, bounds=(0, 9), cells=3, by=by).rehearse(source).tolist() == cells.tolist()


@pytest.mark.parametrize("number", ["amount", *NAMES])
@pytest.mark.parametrize("other", ["person", "id", "s", "w", "v"])
def test_persons_weights_and_moments_are_those_of_the_columns_asked_for(number: str, other: str) -> None:
    if number == other:
        return
    table = frame_of(number, "ward", other) | {other: [1 + place % 7 for place in range(ROWS)]}
    plain = {"n": table[number], "o": table[other]}

    def models(one: str, two: str) -> list[dc.NumberSums | dc.WeightedSums | dc.LinearRegression]:
        return [
            dc.NumberSums(one, (0, 50), persons=dc.Persons(two, 7, "total", (0, 9))),
            dc.WeightedSums(one, (0, 9), weights=dc.Weights(two, 8, "fixed by design")),
            dc.LinearRegression(one, [two], {one: (0, 9), two: (0, 9)}, missing="middle"),
        ]

    wanted = [model.rehearse(plain).tolist() for model in models("n", "o")]
    for source in sources(table):
        assert [model.rehearse(source).tolist() for model in models(number, other)] == wanted
