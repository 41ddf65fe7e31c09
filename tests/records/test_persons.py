"""Persons: every engine puts rows together as the slow way does, and one person moves one unit, whatever they do."""

import hashlib
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet.records import ListSource
from discreet.records._persons import id_text, keys_of

WARD = dc.Column("ward", ("A", "B", "C"), outside="A")
SIZE = 40
RULES = ("total", "largest", "smallest", "mean")
ODD = ("a", "A", "a ", " a", "a\0", "a\0b", "é", "e\u0301", "É", "ss", "ß", "i", "İ", "ı", "1", "01", "1.0", "nan")
"""Texts that some collation, normal form or number takes for one another."""

Data = dict[str, list[Any]]


def persons(rule: str, size: int = SIZE) -> dc.Persons:
    return dc.Persons("id", size, rule, (-1, 3) if rule == "total" else ())


def sums(rule: str, by: bool = False, missing: float | None = None, size: int = SIZE) -> dc.NumberSums:
    return dc.NumberSums("x", (-2, 5), by=WARD if by else None, missing=missing, persons=persons(rule, size))


def table(rule: str, size: int = SIZE) -> dc.NumberTable:
    return dc.NumberTable("x", (-2, 5), 7, by=WARD, is_whole=True, persons=persons(rule, size))


def made_up(seed: int, ids: int = 25, rows: int = 120) -> Data:
    generator = np.random.default_rng(seed)
    known = [*ODD, *(f"p{place}" for place in range(ids))]
    values: list[Any] = np.round(generator.normal(1, 2, size=rows), 3).tolist()
    for place in generator.integers(rows, size=6) if rows else ():
        values[place] = [None, math.nan, math.inf, 1e300, -(2.0**53), 2.0][generator.integers(6)]
    return {
        "id": [None if one < 0 else known[one] for one in generator.integers(-2, ids, size=rows)],
        "x": values,
        "ward": [["A", "B", "C", "Z", None][one] for one in generator.integers(5, size=rows)],
    }


def one_by_one(data: Data, model: dc.NumberSums) -> list[tuple[Fraction | None, int]]:
    """Return the value and the group of every person, by Python's own numbers: the slow and obvious way."""
    assert model.persons is not None
    rule, (low, high) = model.persons.rule, model.persons.row_bounds or (model.bounds.low, model.bounds.high)
    rows: dict[str | None, list[int]] = {}
    for place, own in enumerate(data["id"]):
        rows.setdefault(own or None, []).append(place)
    keys = {own: b"" if own is None else hashlib.sha256(own.encode()).digest()[:16] for own in rows}
    found: list[tuple[Fraction | None, int]] = []
    for own in sorted(rows, key=keys.__getitem__)[: model.persons.size]:
        numbers = [data["x"][place] for place in rows[own]]
        known = [Fraction(x) for x in numbers if x is not None and abs(x) < 2**53]
        steps = [Fraction(math.floor(min(max(x, low), high) * 2**18 + Fraction(1, 2)), 2**18) for x in known]
        groups = {WARD.code(data["ward"][place]) for place in rows[own]} if model.by else {0}
        value = None
        if steps:
            total = sum(steps, Fraction(0))
            value = {"total": total, "largest": max(steps), "smallest": min(steps), "mean": total / len(steps)}[rule]
        found.append((value, groups.pop() if len(groups) == 1 else WARD.home))
    return found + [(None, WARD.home if model.by else 0)] * ((model.persons.size or 0) - len(found))


def expected(data: Data, model: dc.NumberSums) -> list[int]:
    """Return the ends that these persons give."""
    ends = [[0] * (2 * len(model.groups)) for _ in range(2)]
    gaps, unit, bounds = 0, model.unit, model.bounds
    for value, group in one_by_one(data, model):
        if value is None and model.leaves_gaps_out:
            gaps += unit
            continue
        inside = min(max(bounds.missing if value is None else value, bounds.low), bounds.high)
        a = math.floor((inside - bounds.low) * unit / (bounds.high - bounds.low) + Fraction(1, 2))
        for half, part in zip(ends, (a, ((2 * a - unit) ** 2 + unit // 2) // unit), strict=True):
            half[2 * group] += part
            half[2 * group + 1] += unit - part
    return [*ends[0], gaps, *ends[1], gaps] if model.leaves_gaps_out else [*ends[0], *ends[1]]


def collated(data: Data) -> Any:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (id VARCHAR COLLATE NOCASE.NOACCENT, x DOUBLE, ward VARCHAR COLLATE NOCASE)")
    connection.executemany("INSERT INTO t VALUES (?, ?, ?)", list(zip(*data.values(), strict=True)))
    return connection.sql("FROM t")


ENGINES: dict[str, Callable[[Data], Any]] = {
    "lists": ListSource,
    "pandas": pd.DataFrame,
    "pandas objects": lambda data: pd.DataFrame(data).astype(object),
    "pandas categories": lambda data: pd.DataFrame(data).astype({"id": "category"}),
    "polars": pl.DataFrame,
    "polars categories": lambda data: pl.DataFrame(data).with_columns(pl.col("id").cast(pl.Categorical)),
    "pyarrow": pa.table,
    "pyarrow dictionaries": lambda data: pa.table(data | {"id": pa.array(data["id"]).dictionary_encode()}),
    "duckdb": lambda data: duckdb.from_arrow(pa.table(data)),
    "duckdb collated": collated,
}


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_puts_rows_together_as_the_slow_way_does(engine: str) -> None:
    data = made_up(20261117)
    frame = ENGINES[engine](data)
    for rule in RULES:
        for model in (sums(rule), sums(rule, by=True), sums(rule, missing=1), sums(rule, size=9)):
            assert model.rehearse(frame).tolist() == expected(data, model), (rule, model)


def test_files_and_lists_of_files_put_rows_together_alike(tmp_path: Path) -> None:
    data = made_up(3)
    data["id"] = [None if own is None else own.replace("\0", "0") for own in data["id"]]
    halves = [{name: column[rows] for name, column in data.items()} for rows in (slice(0, 50), slice(50, None))]
    for place, half in enumerate(halves):
        pl.DataFrame(half).write_csv(tmp_path / f"{place}.csv")
    pl.DataFrame(data).write_parquet(tmp_path / "x.parquet")
    model = sums("total", by=True)
    for source in (dc.read(tmp_path / "x.parquet"), dc.read([tmp_path / "0.csv", tmp_path / "1.csv"])):
        assert model.rehearse(source).tolist() == expected(data, model)


def test_one_person_moves_one_unit_whatever_happens_to_their_rows() -> None:
    """120 random pairs of neighbours, with fewer and with more ids than declared, through lists and DuckDB."""
    generator = np.random.default_rng(20261118)
    for number in range(120):
        data = made_up(number, ids=25, rows=int(generator.integers(5, 80)))
        frame = ENGINES["duckdb collated" if number % 8 == 0 else "lists"]
        size, rule = int(generator.choice([3, 12, 40])), RULES[number % 4]
        one = data["id"][generator.integers(len(data["id"]))]
        kept = [place for place, own in enumerate(data["id"]) if own != one]
        other = made_up(number + 10_000, rows=int(generator.integers(0, 30)))
        new = generator.choice(["somebody else", "a  "]) if number % 3 else one
        neighbour = {name: [column[place] for place in kept] + other[name] for name, column in data.items()}
        neighbour["id"] = [data["id"][place] for place in kept] + [new] * len(other["id"])
        if not neighbour["id"]:
            continue
        first, second = (sums(rule, by=True, size=size).rehearse(frame(each)) for each in (data, neighbour))
        for half in np.split(np.abs(first - second), 2):
            assert half.sum() <= 2 * 2**16
        cells = [table(rule, size).rehearse(frame(each)) for each in (data, neighbour)]
        assert np.abs(cells[0] - cells[1]).sum() <= 2


@pytest.mark.parametrize("engine", ENGINES)
def test_ids_are_told_apart_by_their_bytes(engine: str) -> None:
    data: Data = {"id": list(ODD), "x": [1.0] * len(ODD), "ward": ["A"] * len(ODD)}
    model = sums("largest", size=30)
    known = model.rehearse(ENGINES[engine](data))[:2].sum()
    assert known == len(ODD) * 2**16


def test_a_gap_that_turns_whole_numbers_into_floats_tells_no_persons_together() -> None:
    ids = [1, 2, 3, 2**53 + 1, 2**53 + 3, 2**60]
    texts = ["1", "2", "3", None, None, None]
    for values in (ids, [*ids, None], [float(one) for one in ids]):
        for frame in (pd.Series(values).tolist(), pl.Series(values, strict=False).to_list(), values):
            assert (keys_of(frame)[:6] == keys_of(texts)).all()
    whole = duckdb.sql(f"SELECT unnest({ids}::BIGINT[]) AS id, 1.0 AS x UNION ALL SELECT NULL, 2.0")
    wide = duckdb.sql("SELECT unnest(['1', '2', '3', '9007199254740993', NULL]::VARCHAR[])::DOUBLE AS id, 1.0 AS x")
    for source, count in ((whole, 4), (wide, 4)):
        assert sums("largest").rehearse(source)[:2].sum() == count * 2**16


class Odd:
    """Fails whatever is asked of it."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("secret")

    def __float__(self) -> float:
        raise RuntimeError("secret")

    __hash__ = None  # type: ignore[assignment]


def test_what_is_no_id_is_nobody_and_never_fails() -> None:
    nobody = [None, "", math.nan, 1.5, 2.0**53, b"a", [1], {}, Odd(), pd.NaT, object()]
    assert (keys_of(nobody) == 0).all()
    same = [7, 7.0, "7", np.int8(7), np.float32(7)]
    assert len({tuple(key) for key in keys_of(same).tolist()}) == 1
    one = UUID(int=7)
    assert id_text(one) == str(one)
    as_text = duckdb.sql(f"SELECT '{one}'::UUID AS id, 1.0 AS x UNION ALL SELECT '{UUID(int=8)}', 2.0")
    assert sums("largest").rehearse(as_text)[:2].sum() == 2 * 2**16


@pytest.mark.parametrize("ids", [0, 1, SIZE, 3 * SIZE])
def test_nothing_tells_how_many_ids_there_were(ids: int) -> None:
    data: Data = {"id": [f"p{n}" for n in range(ids)], "x": [1.0] * ids, "ward": ["A"] * ids}
    for model in (sums("total"), table("largest")):
        secret = model.statistics(data)
        assert secret.describes(model, SIZE)
        assert repr(secret) == repr(model.statistics(made_up(1)))
        assert model.rehearse(data).sum() == (SIZE if isinstance(model, dc.NumberTable) else 2 * SIZE * 2**16)


def test_dates_of_a_person() -> None:
    data = {"id": ["a", "a", "b", None], "x": ["2026-01-05", "2026-01-03", "2026-01-09", "no day"]}
    model = dc.NumberTable("x", ("2026-01-01", "2026-01-10"), 10, persons=dc.Persons("id", 3, "smallest"))
    assert np.flatnonzero(model.rehearse(data)).tolist() == [2, 8, 10]
    with pytest.raises(dc.DeclarationError, match="Dates have no total"):
        dc.NumberSums("x", ("2026-01-01", "2026-02-01"), persons=dc.Persons("id", 3, "total", (0, 1)))
