"""Planted values must not appear in anything that a publishing run shows: messages, reprs, logs, warnings, exceptions.

The records hold a word and counts that occur nowhere else. Whatever is tried with them, right or wrong, must not sing.
"""

import logging
import traceback
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dc
from discreet.records._polars import PolarsSource

WORD = "canary-7f3a"
TIMES = 7919
RECORDS: dict[str, list[Any]] = {"x": [WORD] * TIMES + ["a"] * 6271, "y": list(range(TIMES + 6271))}
MODEL = dc.Categories("x", levels=("a", "b"), outside="a")
SONGS = (WORD, str(TIMES), str(6271), str(TIMES + 6271))


def sings(text: str) -> list[str]:
    return [song for song in SONGS if song in text]


def frames() -> dict[str, Any]:
    table = pa.table(RECORDS)
    return {
        "lists": RECORDS,
        "pandas": pd.DataFrame(RECORDS),
        "pandas objects": pd.DataFrame(RECORDS).astype(object),
        "polars": pl.DataFrame(RECORDS),
        "polars lazy": pl.LazyFrame(RECORDS),
        "pyarrow": table,
        "duckdb": duckdb.from_arrow(table),
    }


class Tantrum:
    """A frame whose engine fails with words that quote a record."""

    def __init__(self) -> None:
        self.columns = ["x"]

    def collect_schema(self) -> dict[str, Any]:
        return {"x": None}

    def select(self, *_: Any) -> None:
        raise ValueError(f"Conversion Error: could not cast '{WORD}' in line {TIMES}")


def attempts(data: Any, folder: Path) -> list[Callable[[], Any]]:
    secret = MODEL.statistics(data)
    ledger = dc.Ledger.create(folder / "l.db", epsilon="1")
    right = dc.GeometricHistogram(MODEL, size=TIMES + 6271, epsilon="0.5")
    wrong_size = dc.GeometricHistogram(MODEL, size=14, epsilon="0.5")
    other = dc.Categories("x", levels=("a", "c"), outside="a")
    return [
        lambda: repr(secret),
        lambda: repr(dc.Categories("x", levels=("a", "b"), outside="a").statistics(data)),
        lambda: dc.publish(wrong_size, secret, ledger=ledger, label="wrong size"),
        lambda: dc.publish(dc.GeometricHistogram(other, size=9, epsilon=1), secret, ledger=ledger, label="other"),
        lambda: dc.Categories("z", levels=("a", "b"), outside="a").statistics(data),
        lambda: dc.simulate(wrong_size, secret, dc.SeededBits(1)),
        lambda: right.sample(secret, dc.SeededBits(1)),  # type: ignore[arg-type]
        lambda: MODEL.posterior(secret),
        lambda: repr(ledger),
    ]


def outcome(attempt: Callable[[], Any]) -> tuple[str, bool]:
    """Return what an attempt shows, and whether its exception drags another one along."""
    try:
        return str(attempt()), False
    except dc.DiscreetError as problem:
        return "".join(traceback.format_exception(problem)), problem.__context__ is not None


@pytest.mark.parametrize("kind", list(frames()))
def test_nothing_that_is_shown_holds_a_planted_value(
    kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for number, attempt in enumerate(attempts(frames()[kind], tmp_path)):
            shown, chained = outcome(attempt)
            assert not sings(shown), f"attempt {number} shows {sings(shown)}"
            assert not chained, f"attempt {number} chains another exception"
    printed = capsys.readouterr()
    for text in (caplog.text, printed.out, printed.err, *(str(warning.message) for warning in seen)):
        assert not sings(text)


def test_an_engines_own_words_are_withheld() -> None:
    source = PolarsSource(cast(pl.DataFrame, Tantrum()))
    with pytest.raises(dc.SourceError) as failure:
        source.count_families([MODEL.columns])
    assert not sings("".join(traceback.format_exception(failure.value)))
    assert failure.value.__context__ is None


def test_a_record_outside_the_declared_levels_changes_nothing_that_is_seen(tmp_path: Path) -> None:
    """Leave out one level and watch: the run must look the same whether or not the odd record is there."""
    model = dc.Categories("x", levels=("a", "b"), outside="a")
    mechanism = dc.GeometricHistogram(model, size=3, epsilon="0.5")
    for number, values in enumerate(
        (["a", "b", "b"], [WORD, "b", "b"], [None, "b", "b"], [3.7, "b", "b"], [[1], "b", "b"])
    ):
        ledger = dc.Ledger.create(tmp_path / f"{number}.db", epsilon="1")
        release = dc.publish(mechanism, model.statistics({"x": values}), ledger=ledger, label="x")
        assert len(release.output) == 2
        assert sum(release.output) == 3


def test_the_release_itself_is_the_same_kind_of_thing_for_all_records(tmp_path: Path) -> None:
    ledger = dc.Ledger.create(tmp_path / "l.db", epsilon="10")
    mechanism = dc.GeometricHistogram(MODEL, size=4, epsilon="0.5")
    for values in (["a"] * 4, ["b"] * 4, [WORD] * 4):
        release = dc.publish(mechanism, MODEL.statistics({"x": values}), ledger=ledger, label="x")
        assert all(type(value) is int for value in release.output)
        assert not sings(replace(release, receipt=None).to_json())  # whose hash may hold any digits
        assert not np.shares_memory(release.counts, release.counts)
