"""A path names one file: it is never a pattern, and the folders that it lies in say nothing about its records."""

import os
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

import discreet as dc
from conformance.counting import counts_of

STATE = dc.Column("s", ("a", "b"), outside="other")
KINDS = ("csv", "tsv", "csv.gz", "parquet", "arrow", "duckdb")
NAMES = ("g[1]", "g*", "g?", "[a-z]1", "{g1,g2}", "g1", "**", "file with 'quotes'", "g#1", "g%31", "~", "$HOME")


def write(path: Path, values: list[str]) -> Path:
    kind = path.name.partition(".")[2]
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame({"s": values})
    if kind.startswith(("csv", "tsv")):
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "arrow":
        pyarrow.feather.write_feather(pa.table({"s": values}), path)
    else:
        with duckdb.connect(path) as connection:
            connection.execute("CREATE TABLE records AS SELECT * FROM frame")
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_letters_that_are_patterns_elsewhere_are_letters_here(kind: str, name: str, tmp_path: Path) -> None:
    for other in {"g1", "g2", "h"} - {name}:
        write(tmp_path / f"{other}.{kind}", ["b", "b", "b"])
    path = write(tmp_path / f"{name}.{kind}", ["a", "b"])
    assert counts_of(STATE, dc.read(path)) == [1, 1, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_pattern_without_a_file_of_that_name_reads_nothing(kind: str, tmp_path: Path) -> None:
    write(tmp_path / f"g1.{kind}", ["b"])
    for pattern in ("g[1]", "g*", "g?"):
        with pytest.raises(dc.SourceError, match="no file"):
            dc.read(tmp_path / f"{pattern}.{kind}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("folder", ["s=b", "s=b/t=1", "[x]", "S=b"])
def test_a_folder_does_not_replace_a_column(kind: str, folder: str, tmp_path: Path) -> None:
    path = write(tmp_path / folder / f"records.{kind}", ["a", "a", "c"])
    assert counts_of(STATE, dc.read(path)) == [2, 0, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_does_not_add_a_column(kind: str, tmp_path: Path) -> None:
    path = write(tmp_path / "t=b" / f"records.{kind}", ["a", "a", "c"])
    declared: Any = dc.Column("t", ("a", "b"), outside="other")
    with pytest.raises(dc.SourceError, match="no column 't'"):
        counts_of(declared, dc.read(path))


def test_a_study_reads_the_file_that_it_names(tmp_path: Path) -> None:
    write(tmp_path / "g1.csv", ["b"] * 3)
    write(tmp_path / "g[1].csv", ["a"] * 3)
    (tmp_path / "study.toml").write_text(
        '[data]\npath = "g[1].csv"\nsize = 3\n[budget]\nepsilon = 60\nledger = "ledger.db"\npopulation = "us"\n'
        '[columns.s]\nlevels = ["a", "b"]\n[questions.state]\ncolumns = ["s"]\nepsilon = 60\n'
    )
    assert dc.Study(tmp_path / "study.toml").publish("state").counts.tolist() == [3, 0, 0]


@pytest.mark.skipif(os.sep == "\\", reason="a backslash is a folder here")
@pytest.mark.parametrize("kind", KINDS)
def test_a_backslash_is_a_letter_or_refused(kind: str, tmp_path: Path) -> None:
    """To DuckDB it is a folder, so that it opens somebody else's file."""
    write(tmp_path / "g" / f"1.{kind}", ["b", "b", "b"])
    own = write(tmp_path / f"own.{kind}", ["a", "b"]).rename(tmp_path / f"g\\1.{kind}")
    if kind in ("parquet", "duckdb"):
        with pytest.raises(dc.SourceError, match="contains a backslash"):
            dc.read(own)
    else:
        assert counts_of(STATE, dc.read(own)) == [1, 1, 0]
