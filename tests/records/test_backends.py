"""No engine joins the library without joining the conformance suite."""

import importlib
import pkgutil
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dc
from conformance import twin
from conformance.backends import ENGINES
from conformance.values import CORPUS
from discreet import records
from discreet.records import as_source
from discreet.sklearn import _naive_bayes as naive_bayes
from discreet.sklearn._naive_bayes import PrivateNaiveBayes

ELSEWHERE = {
    "PostgresqlSource": "tests/records/test_postgresql.py",
    "DerivedSource": "tests/records/test_derived.py",
    "_Asked": "tests/records/test_derived.py",
    "SparkSource": "tests/records/test_spark.py",
    "_IbisSource": "tests/records/test_warehouses.py",
    "PersonSource": "tests/records/test_persons.py",
    "Selected": "tests/records/test_where.py",
}


def sources() -> set[str]:
    """Return the names of all classes of the room that count families and can be made."""
    found = set()
    for module in pkgutil.iter_modules(records.__path__):
        for name, each in vars(importlib.import_module(f"discreet.records.{module.name}")).items():
            counts = isinstance(each, type) and hasattr(each, "count_families")
            if counts and not getattr(each, "__abstractmethods__", None) and name != "Source":
                found.add(name)
    return found


def test_every_source_of_the_library_is_in_the_suite(tmp_path: Path) -> None:
    kinds = ("text", "raw text")
    texts = [
        (each, next(k for k in kinds if k in each.kinds)) for each in ENGINES.values() if set(kinds) & set(each.kinds)
    ]
    made = {type(as_source(each.make(["a", None], kind, tmp_path))).__name__ for each, kind in texts}
    several = dc.read([_csv(tmp_path / "a.csv"), _csv(tmp_path / "b.csv")])
    assert sources() <= made | {type(several).__name__} | set(ELSEWHERE)


def _csv(path: Path) -> Path:
    path.write_bytes(b"x\na\nb\n")
    return path


def test_every_ending_that_is_read_is_in_the_suite(tmp_path: Path) -> None:
    (tmp_path / "records.unknown").write_text("x\n")
    with pytest.raises(dc.SourceError) as refusal:
        dc.read(tmp_path / "records.unknown")
    endings = set(re.findall(r"(?<=\s)\.[a-z]+\b", str(refusal.value)))
    assert {".csv", ".tsv", ".parquet", ".arrow", ".duckdb"} <= endings
    alike = {".pq": "parquet", ".ipc": "arrow", ".ddb": "duckdb", ".db": "duckdb"}
    suite = {".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".duckdb"}
    assert endings - suite <= set(alike), "a new ending needs an engine in tests/conformance/backends.py"


def test_several_files_are_a_declared_list_each_counted_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"x,y\na,1\nb,2\n")
    (tmp_path / "b.csv").write_bytes(b"y,x\n1,a\n2,\xff\n")
    column = dc.Column("x", ("a", "b"), outside="?")
    (table,) = dc.read([tmp_path / "a.csv", tmp_path / "b.csv"]).count_families([[column]])
    assert table.tolist() == [2, 1, 1]


@pytest.mark.parametrize("other", ["the same path", "a hard link", "a symbolic link", "a longer path"])
def test_no_file_is_counted_twice_under_another_name(other: str, tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("x,y\na,1\n")
    if other == "a hard link":
        second.hardlink_to(first)
    elif other == "a symbolic link":
        second.symlink_to(first)
    else:
        second = first if other == "the same path" else tmp_path / ".." / tmp_path.name / "a.csv"
    with pytest.raises(dc.SourceError, match="contains the same file twice"):
        dc.read([first, second])


class Caught(Exception):  # noqa: N818 - no error: it carries what an estimator would publish
    """What an estimator was about to publish."""


@pytest.mark.parametrize("use", ["many levels", "bands", "days"])
@pytest.mark.parametrize("form", ["rows", "objects", "array"])
def test_an_estimator_counts_every_record_as_the_slow_twin(
    use: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The class is the number of the record, so that each record shows its own level."""

    def catch(_: Any, secret: Any, *__: Any) -> Any:
        raise Caught(secret.open_for_publishing())

    monkeypatch.setattr(naive_bayes, "published", catch)
    declared = twin.uses()[use]
    values = [v for v in CORPUS["text" if form == "array" else "mixed"] if v is not None and not isinstance(v, bool)]
    values = [value for value in values if str(value).lower() not in ("true", "false")]  # 1 and 0 to an estimator
    records: Any = [[value] for value in values]
    if form == "objects":
        records = np.empty((len(values), 1), dtype=object)
        records[:, 0] = values
    elif form == "array":
        values = [value.rstrip("\x00") for value in values]  # NumPy's texts end before the last letters that are zero
        records = np.array([[value] for value in values])
    column = dc.Column("feature 0", ("a", "b"), outside="?")
    object.__setattr__(declared.declared, "name", column.name)
    estimator = PrivateNaiveBayes(1, tuple(range(len(values))), [declared.declared])
    with pytest.raises(Caught) as caught:
        estimator.fit(records, list(range(len(values))))
    table = np.array(caught.value.args[0])[-len(values) * len(declared.declared.levels) :]
    table = table.reshape(-1, len(declared.declared.levels))
    assert table.argmax(axis=1)[: len(values)].tolist() == [declared.place(value) for value in values]
