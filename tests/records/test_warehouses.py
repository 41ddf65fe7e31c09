"""A warehouse through ibis: only DuckDB counts by itself, records of any other engine come in batches of Arrow."""

from pathlib import Path
from typing import Any

import ibis as ibis_package
import polars as pl
import pytest

from conformance.contract import agree_on_every_record, keep_neighbours_apart_by_one_record
from conformance.engines import PLAIN, Engine, arrow
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
