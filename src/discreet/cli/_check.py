"""What `check` shows the data holder: how the records fit the declarations. No noise protects any of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, nextafter
from typing import TypedDict

from discreet._core.errors import SourceError
from discreet.cli._screen import show_table
from discreet.numbers import BoundedNumber, Persons
from discreet.records import FIRST_DAY, LARGEST_WHOLE, LAST_DAY, Bounds, Column, Source, day_text, ids_in
from discreet.study import Question


class FitOfColumn(TypedDict):
    """How many records are at the level for outside values, the most frequent of these, and which levels are empty."""

    outside: int
    undeclared: Sequence[tuple[object, int]]
    empty_levels: list[str]


class FitOfNumbers(TypedDict):
    """How many values lie below and above the bounds, how many are not numbers, and the most frequent of these."""

    below: int
    above: int
    no_number: int
    undeclared: Sequence[tuple[object, int]]


@dataclass(frozen=True)
class FitOfSize:
    """Whether there are as many records, or persons, as declared: as facts by name, and in words."""

    fits: bool
    facts: Mapping[str, int]
    words: Sequence[str]


def check_quotes(source: object) -> None:
    """Refuse a file of delimited text with a quote that is never closed, and say where it opens."""
    where = source.open_quote() if hasattr(source, "open_quote") else None
    if where is not None:
        raise SourceError(
            f"{where} opens a quote that is never closed, so it is unclear where the records after it end. "
            "Publishing will be refused. Close the quote; if it is part of the data, enclose the field in quotes "
            "and double it."
        )


def fit_of_columns(source: Source, columns: Sequence[Column]) -> tuple[int, dict[str, FitOfColumn]]:
    """Return the number of records, and for each column what goes to the level for outside values."""
    tables = source.count_families([[column] for column in columns])
    found: dict[str, FitOfColumn] = {}
    for column, counts in zip(columns, tables, strict=True):
        found[column.name] = {
            "outside": int(counts[column.levels.index(column.outside)]),
            "undeclared": source.undeclared(column),
            "empty_levels": [str(level) for level, count in zip(column.levels, counts, strict=True) if count == 0],
        }
    return int(tables[0].sum()), found


def fit_of_numbers(source: Source, bounds: Sequence[Bounds]) -> tuple[int, dict[str, FitOfNumbers]]:
    """Return the number of records, and for each column how many values lie below, lie above, or are not numbers."""
    bands = [_around(each) for each in bounds]
    found: dict[str, FitOfNumbers] = {}
    records = 0
    for band, counts in zip(bands, source.count_families([[band] for band in bands]), strict=True):
        records, (below, _, above, nothing) = int(counts.sum()), counts
        found[band.name] = {
            "below": int(below),
            "above": int(above),
            "no_number": int(nothing),
            "undeclared": source.undeclared(band),
        }
    return records, found


def fit_of_size(source: Source, questions: Sequence[Question], records: int, size: int) -> FitOfSize:
    """Return whether there are as many records as declared; where persons are declared, no more ids than persons."""
    for question in questions:
        if isinstance(question.model, BoundedNumber) and question.model.persons is not None:
            return _fit_of_persons(source, question.model.persons, question.bounds[0], records)
    verdict = "as declared" if records == size else f"but {size} are declared: publishing will be refused"
    facts = {"records": records, "declared_size": size}
    return FitOfSize(records == size, facts, [f"{records} records, {verdict}."])


def _fit_of_persons(source: Source, persons: Persons, bounds: Bounds, records: int) -> FitOfSize:
    found = ids_in(source, persons.plan(bounds, None))
    is_nobody = (found.keys == 0).all(axis=1)
    ids, people = int((~is_nobody).sum()), len(found.keys)
    facts = {
        "records": records,
        "ids": ids,
        "declared_size": persons.size,
        "values_without_id": int(found.rows[is_nobody].sum()),
        "most_values_of_one_id": int(found.rows.max(initial=0)),
    }
    beyond = f"{persons.size - people} of them have no rows"
    if people > persons.size:
        beyond = f"{people - persons.size} will be left out; declare a size large enough for everybody"
    words = [
        f"{records} rows of {ids} ids; {persons.size} persons are declared, so {beyond}.",
        f"{facts['values_without_id']} values have no id and count as one person's; no id has more than "
        f"{facts['most_values_of_one_id']} values.",
    ]
    return FitOfSize(people <= persons.size, facts, words)


def _around(bounds: Bounds) -> Column:
    """Return bands below, within and above the bounds; a value at the upper bound is within."""
    low, high = float(bounds.low), nextafter(float(bounds.high), inf)
    if not bounds.dates:
        return Column.banded(bounds.name, (-LARGEST_WHOLE, low, high, LARGEST_WHOLE), "no number")
    ends = [day_text(day) for day in (FIRST_DAY, low, int(bounds.high) + 1, LAST_DAY)]
    return Column.banded(bounds.name, ends, "no number")


def show_fit_of_columns(columns: Sequence[Column], found: Mapping[str, FitOfColumn]) -> None:
    """Print what goes to the levels for outside values."""
    rows = [
        (
            column.name,
            str(column.outside),
            str(found[column.name]["outside"]),
            _undeclared(found[column.name]["undeclared"]),
            ", ".join(found[column.name]["empty_levels"]) or "-",
        )
        for column in columns
    ]
    heads = ("column", "level", "records there", "most frequent undeclared values", "levels without records")
    show_table("Undeclared and missing values, by the level they go to", heads, rows)


def show_fit_of_numbers(bounds: Sequence[Bounds], found: Mapping[str, FitOfNumbers]) -> None:
    """Print how many values are cut off at the bounds, and how many count as missing."""
    rows = []
    for each in bounds:
        counted = found[each.name]
        low, high, missing = (
            day_text(float(value)) if each.dates else f"{float(value):g}"
            for value in (each.low, each.high, each.missing)
        )
        counts = (str(counted["below"]), str(counted["above"]), str(counted["no_number"]))
        gap = "left out" if each.leaves_missing_out else missing
        rows.append((each.name, f"{low} to {high}", *counts, gap, _undeclared(counted["undeclared"])))
    heads = ("column", "bounds", "below", "above", "no number", "counts as", "most frequent of these")
    show_table("Numbers cut off at the bounds (clipped), and missing ones", heads, rows)


def _undeclared(found: Sequence[tuple[object, int]]) -> str:
    return ", ".join(f"{value!r} x {times}" for value, times in found) or "-"
