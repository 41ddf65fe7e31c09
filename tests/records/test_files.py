"""The same counts from every kind of file and engine; words that help and show nothing when a file is wrong."""

import gzip
import traceback
from pathlib import Path
from typing import Any

import duckdb
import ibis as ibis_package
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest

import discreet as dc
from discreet.records import Column, as_source

memtable: Any = ibis_package.memtable
RECORDS: dict[str, list[Any]] = {
    "text": ["a", "b", None, "zz", "a", "c, d"],
    "whole": [0, 1, 2, 1, 0, 7],
    "number": [0.0, 17.9, None, 18.0, 120.0, -3.5],
    "truth": [True, False, None, True, True, False],
    "digits": ["3", "18", "120", "1e1", "x", None],
}
COLUMNS = [
    Column("text", ("a", "b", "c, d"), outside="other"),
    Column("whole", (0, 1), outside="more"),
    Column.banded("number", (0, 18, 65, 120)),
    Column("truth", (False, True), outside="?"),
    Column.banded("digits", (0, 10, 18.5, 120)),
]
FAMILIES = [[column] for column in COLUMNS] + [COLUMNS[:2], COLUMNS[1:4]]
EXPECTED = [[2, 1, 1, 2], [2, 2, 2], [2, 1, 1, 2], [2, 3, 1], [1, 2, 1, 2]]


def write(kind: str, folder: Path) -> Any:
    """Write or make the same records as a file or frame of some kind."""
    frame, table = pd.DataFrame(RECORDS), pa.table(RECORDS)
    path = folder / f"records.{kind}"
    if kind in ("csv", "csv.gz"):
        frame.to_csv(path, index=False)
    elif kind == "tsv":
        frame.to_csv(path, index=False, sep="\t")
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind in ("arrow", "feather"):
        pyarrow.feather.write_feather(table, path)
    elif kind == "duckdb":
        with duckdb.connect(path) as connection:
            connection.execute("CREATE TABLE survey AS SELECT * FROM frame")
    return path


FILES = ("csv", "csv.gz", "tsv", "parquet", "arrow", "feather", "duckdb")


@pytest.mark.parametrize("kind", FILES)
def test_every_kind_of_file_gives_the_same_counts(kind: str, tmp_path: Path) -> None:
    tables = dc.read(write(kind, tmp_path)).count_families(FAMILIES)
    assert [table.tolist() for table in tables[:5]] == EXPECTED
    for found, wanted in zip(tables, as_source(RECORDS).count_families(FAMILIES), strict=True):
        assert np.array_equal(found, wanted)


@pytest.mark.parametrize("kind", ["pandas", "polars", "polars lazy", "pyarrow", "duckdb", "ibis"])
def test_every_engine_gives_the_same_counts_as_the_files(kind: str) -> None:
    frames: dict[str, Any] = {
        "pandas": lambda: pd.DataFrame(RECORDS),
        "polars": lambda: pl.DataFrame(RECORDS, strict=False),
        "polars lazy": lambda: pl.LazyFrame(RECORDS, strict=False),
        "pyarrow": lambda: pa.table(RECORDS),
        "duckdb": lambda: duckdb.from_arrow(pa.table(RECORDS)),
        "ibis": lambda: memtable(pa.table(RECORDS)),
    }
    tables = as_source(frames[kind]()).count_families(FAMILIES)
    assert [table.tolist() for table in tables[:5]] == EXPECTED


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_spark_gives_the_same_counts(spark: Any) -> None:
    rows = list(zip(*RECORDS.values(), strict=True))
    frame = spark.createDataFrame(rows, "text string, whole int, number double, truth boolean, digits string")
    tables = as_source(frame).count_families(FAMILIES)
    assert [table.tolist() for table in tables[:5]] == EXPECTED
    for found, wanted in zip(tables, as_source(RECORDS).count_families(FAMILIES), strict=True):
        assert np.array_equal(found, wanted)
    model = dc.Categories("text", levels=("a", "b"), outside="other")
    assert repr(model.statistics(frame)) == "Statistics(<3 secret values>)"


def test_csv_files_are_read_as_text_record_by_record(tmp_path: Path) -> None:
    """No type is guessed: whatever one record holds, '01' and '1' stay what they are in the others."""
    column = Column("code", ("01", "1"), outside="odd")
    for odd in ("x", "3.5", "", "true", "2020-01-01"):
        path = tmp_path / "codes.csv"
        path.write_text(f"code,other\n01,a\n1,b\n01,c\n{odd},d\n")
        assert dc.read(path).count_families([[column]])[0].tolist() == [2, 1, 1]


def test_ragged_and_quoted_lines_stop_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ragged.csv"
    path.write_text('x,y\na,1\nb\n"a",2,3,4\n"multi\nline",5\n')
    assert dc.read(path).count_families([[Column("x", ("a", "b"), outside="o")]])[0].tolist() == [2, 1, 1]


def test_a_separator_can_be_declared(tmp_path: Path) -> None:
    path = tmp_path / "semi.csv"
    path.write_text("x;y\na;1\nb;2\n")
    assert dc.read(path, separator=";").count_families([[Column("x", ("a", "b"), outside="a")]])[0].tolist() == [1, 1]


SECRETS = ("John Smith", "HIV positive", "57")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("headerless.csv", b"John Smith,57,HIV positive\nJane Doe,31,negative\n"),
        ("twice.csv", b"HIV positive,HIV positive\na,b\n"),
        ("empty.csv", b""),
        ("blank.csv", b"John Smith,,57\n"),
        ("binary.parquet", b"John Smith 57 HIV positive"),
        ("binary.arrow", b"John Smith 57 HIV positive"),
        ("binary.duckdb", b"John Smith 57 HIV positive" * 500),
        ("latin.csv", "diagnosé,x\nJohn Smith,57\n".encode("latin-1")),
        ("zipped.csv.gz", b"John Smith"),
        ("zipped2.csv.gz", gzip.compress(b"John Smith,57\n")),
        ("unknown.xyz", b"John Smith"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_files_that_cannot_be_read_are_refused_without_showing_a_record(
    name: str, content: bytes, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(dc.SourceError) as failure:
        dc.Categories("diagnosis", levels=("a", "b"), outside="a").statistics(dc.read(path))
    words = "".join(traceback.format_exception(failure.value))
    assert not any(secret in str(failure.value) for secret in SECRETS)
    assert "During handling" not in words
    assert failure.value.__context__ is None


def test_a_missing_file_and_a_missing_table_are_named(tmp_path: Path) -> None:
    with pytest.raises(dc.SourceError, match="no file"):
        dc.read(tmp_path / "none.csv")
    path = tmp_path / "two.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE one AS SELECT 'a' AS x")
        connection.execute('CREATE TABLE "two ""quoted" AS SELECT \'a\' AS x')
    with pytest.raises(dc.SourceError, match="'one'"):
        dc.read(path)
    assert dc.read(path, table="one").names() == ["x"]
    assert dc.read(path, table='two "quoted').names() == ["x"]


def test_numbers_with_many_digits_fall_into_the_same_bands_everywhere(tmp_path: Path) -> None:
    values = [*(np.random.default_rng(1).random(500) * 100).tolist(), 1e15, 9_007_199_254_740_991.0, 1e-7]
    column = Column.banded("x", (0, 50, 100, 2**53))
    pd.DataFrame({"x": values}).to_csv(tmp_path / "x.csv", index=False)
    tables = [
        as_source(data).count_families([[column]])[0].tolist() for data in ({"x": values}, pl.DataFrame({"x": values}))
    ]
    tables.append(dc.read(tmp_path / "x.csv").count_families([[column]])[0].tolist())
    assert tables[0] == tables[1] == tables[2]
    assert tables[0][-1] == 0


def test_bands_are_declared_with_rising_edges() -> None:
    assert Column.banded("age", (0, 18, 65)).levels == ("0 to under 18", "18 to 65", "other")
    nonsense: list[Any] = [(), (1,), (2, 1), (0, 0), (0, float("nan")), (0, float("inf")), ("a", "b"), (True, 2)]
    for edges in nonsense:
        with pytest.raises(dc.DeclarationError, match="edges"):
            Column.banded("age", edges)


def test_banded_columns_survive_the_way_through_a_release() -> None:
    model = dc.Categories([Column.banded("age", (0, 18.5, 65)), Column("x", ("a", "b"), outside="a")])
    release = dc.simulate(dc.GeometricHistogram(model, size=9, epsilon=1), (1, 2, 3, 1, 1, 1), dc.SeededBits(1))
    assert dc.Release.from_json(release.to_json()) == release
    assert "Column.banded" in repr(model)
    assert release.model.cell_indices("age=18.5 to 65").tolist() == [2, 3]


def test_a_file_that_cannot_be_opened_is_not_said_to_have_a_bad_header(tmp_path: Path) -> None:
    (tmp_path / "x.csv.gz").write_bytes(b"a,b\n1,2\n")
    with pytest.raises(dc.SourceError, match="is not a readable file of its kind"):
        dc.read(tmp_path / "x.csv.gz")
    with pytest.raises(dc.SourceError, match="There is no file"):
        dc.read(tmp_path / f"{'x' * 300}.csv")
