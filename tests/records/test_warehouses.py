"""A warehouse through ibis: only DuckDB counts by itself, records of any other engine come in batches of Arrow."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import ibis as ibis_package
import polars as pl
import pytest

import discreet as dc
from conformance.backends import PLAIN, Engine, arrow
from conformance.contract import agree_on_every_record, keep_neighbours_apart_by_one_record
from discreet.records import as_source

ibis: Any = ibis_package


def make(values: list[Any], kind: str, _: Path) -> Any:
    return ibis.polars.connect({"records": pl.from_arrow(arrow(values, kind))}).table("records")


WAREHOUSE = Engine(PLAIN, make)


@pytest.mark.parametrize("kind", PLAIN)
def test_a_warehouse_agrees_with_the_slow_twin(kind: str, tmp_path: Path) -> None:
    agree_on_every_record(WAREHOUSE, kind, tmp_path, seed=3)


def test_neighbours_in_a_warehouse_differ_by_one_record(tmp_path: Path) -> None:
    keep_neighbours_apart_by_one_record(WAREHOUSE, "text", tmp_path, seed=4)


def test_a_warehouse_is_known_by_its_engine(tmp_path: Path) -> None:
    assert type(as_source(make(["a"], "text", tmp_path))).__name__ == "_IbisSource"
    assert type(as_source(ibis.memtable(arrow(["a"], "text")))).__name__ != "_IbisSource"


@pytest.mark.parametrize("odd", [1, "abc", 1.5, b"z", None])
def test_a_table_whose_columns_have_no_types_is_refused_whatever_it_holds(odd: Any, tmp_path: Path) -> None:
    """SQLite keeps a text in a column of whole numbers; fetching that column fails for one such record."""
    with closing(sqlite3.connect(tmp_path / "records.db")) as connection, connection:
        connection.execute("CREATE TABLE records (x INTEGER)")
        connection.executemany("INSERT INTO records VALUES (?)", [(1,), (2,), (odd,)])
    table = ibis.sqlite.connect(tmp_path / "records.db").table("records")
    with pytest.raises(dc.SourceError, match="SQLite allows values of any type"):
        dc.Categories("x", levels=(1, 2)).statistics(table)
    table.get_backend().disconnect()
