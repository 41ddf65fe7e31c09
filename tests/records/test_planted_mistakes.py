"""The conformance suite can say no: each kind of mistake that was made once, made again on purpose, turns it red."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest

import discreet as dc
from conformance.backends import ENGINES, Engine
from conformance.contract import agree_on_every_record, keep_neighbours_apart_by_one_record
from discreet.records import GroupPlan, MomentPlan, Wholes, as_source

Tables = list[Any]


class Mistaken:
    """A source of texts that does all else right, from the values that some reader has found."""

    def __init__(self, values: Sequence[Any], records: Sequence[Any]) -> None:
        self._plain = as_source({"x": list(values), "id": list(records)})

    def count_families(self, families: Sequence[Sequence[dc.Column]]) -> Tables:
        tables: Tables = self._plain.count_families(families)
        return tables

    def whole_rows(self, plan: MomentPlan) -> Wholes:
        return self._plain.whole_rows(plan)

    def sum_moments(self, plan: MomentPlan) -> tuple[Wholes, int]:
        found: tuple[Wholes, int] = self._plain.sum_moments(plan)
        return found

    def sum_groups(self, plan: GroupPlan) -> tuple[Wholes, int]:
        found: tuple[Wholes, int] = self._plain.sum_groups(plan)
        return found


def grouped_by_raw_text(values: list[Any], kind: str, folder: Path) -> Any:
    """Let the engine's own equality put texts together, and give a whole group the level of one of its spellings."""
    relation = ENGINES["DuckDB, NOCASE"].make(values, kind, folder)
    rows = relation.aggregate("any_value(x), list(id)", "x").fetchall()
    spelled = {number: text for text, numbers in rows for number in numbers}
    return Mistaken([spelled[number] for number in range(len(values))], range(len(values)))


def cast_without_looking(values: list[Any], kind: str, folder: Path) -> Any:
    """Cast texts to numbers as if every text were one."""

    class Casting(Mistaken):
        def sum_moments(self, plan: MomentPlan) -> tuple[Wholes, int]:
            pd.Series(values, dtype="string").astype("Float64")
            return super().sum_moments(plan)

    return Casting(values, range(len(values)))


def read_by_pattern(values: list[Any], kind: str, folder: Path) -> Any:
    """Hand the path to an engine that takes it for a pattern and reads columns from the names of folders."""
    ENGINES["Parquet"].make(values, kind, folder)
    path = folder / "x=city7" / "records[1]*.parquet"
    rows = duckdb.execute("SELECT x, id FROM read_parquet(?)", [str(path)]).fetchall()
    return Mistaken([text for text, _ in rows], [number for _, number in rows])


def split_at_every_line_end(values: list[Any], kind: str, folder: Path) -> Any:
    """Cut a text file wherever a line seems to end."""
    ENGINES["CSV, all quoted"].make(values, kind, folder)
    text = (folder / "x=city7" / "records[1]*.csv").read_bytes().decode("utf-8", "replace")
    rows = [re.split(r",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", line) for line in text.splitlines()[1:]]
    cut = [(row[0].strip('"').replace('""', '"'), row[1].strip('"') if len(row) > 1 else None) for row in rows]
    return Mistaken([first for first, _ in cut], [second for _, second in cut])


MISTAKES: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "raw texts are grouped under a collation": ("DuckDB, NOCASE", "text", grouped_by_raw_text),
    "casts fail on odd texts": ("pandas, string", "text", cast_without_looking),
    "paths are patterns": ("Parquet", "text", read_by_pattern),
    "fields move the ends of records": ("CSV, all quoted", "raw text", split_at_every_line_end),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_turns_the_suite_red(mistake: str, tmp_path: Path) -> None:
    name, kind, make = MISTAKES[mistake]
    sound = ENGINES[name]
    agree_on_every_record(sound, kind, _made(tmp_path / "sound"), seed=1)
    wrong = replace(sound, make=make)
    with pytest.raises((AssertionError, ValueError, TypeError, dc.SourceError)):
        agree_on_every_record(wrong, kind, _made(tmp_path / "wrong"), seed=1)
    assert any(_is_red(wrong, kind, _made(tmp_path / str(seed)), seed) for seed in range(60))  # neighbours alone do it


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _is_red(engine: Engine, kind: str, folder: Path, seed: int) -> bool:
    try:
        keep_neighbours_apart_by_one_record(engine, kind, folder, seed)
    except (AssertionError, ValueError, TypeError, dc.SourceError):
        return True
    return False


def test_a_source_that_is_right_stays_green(tmp_path: Path) -> None:
    right = Engine(("text",), lambda values, _, __: Mistaken(values, range(len(values))))
    agree_on_every_record(right, "text", tmp_path, seed=1)


def test_the_corpus_holds_what_broke_engines() -> None:
    from conformance.values import CORPUS

    wanted = {"", ".", "-", "1e", "5e-324", "12345678901234567890", "\x00", "a\rb", "a\r\nb", '"', "\ufeffa", "a\u0301"}
    assert wanted <= set(CORPUS["text"])
    assert {2**53 - 1, 2**53, 2**53 + 1} <= set(CORPUS["whole"])
    assert sum(np.isnan(value) for value in CORPUS["number"]) == 1
    assert any(isinstance(value, bytes) for value in CORPUS["raw text"])
    assert max(Counter(map(repr, CORPUS["text"])).values()) == 1
