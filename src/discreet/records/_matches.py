"""How records match what is declared of a column: for the data holder's eyes only."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet._core.arrays import Counts
from discreet.records._bands import day_text
from discreet.records._columns import Column

if TYPE_CHECKING:
    from discreet.records._source import Batch

MISSING = "(missing)"
"""What the data holder sees of a missing value."""


@dataclass(frozen=True)
class ColumnMatch:
    """How the values of a column match its declaration, for the data holder's eyes only.

    `counts` are the records at each level; `undeclared` is how many of those at the level for outside values are there
    because no level declares their value, or because it is missing; `values` are the most frequent of these.
    """

    counts: Counts
    undeclared: int
    values: Sequence[tuple[str, int]]

    def added(self, other: "ColumnMatch") -> "ColumnMatch":
        """Return the match of the records of both."""
        values = Counter(dict(self.values)) + Counter(dict(other.values))
        return ColumnMatch(self.counts + other.counts, self.undeclared + other.undeclared, ordered(values))

    def first(self, most: int) -> "ColumnMatch":
        """Return the same with at most this many values."""
        return ColumnMatch(self.counts, self.undeclared, list(self.values)[:most])


def undeclared_apart(column: Column) -> Column:
    """Return the same levels and a further, last one for undeclared and missing values alone."""
    mark = "(undeclared)"
    while mark in column.codes:
        mark += ")"
    if not column.edges:
        return Column(column.name, column.levels, mark)
    edges = [day_text(edge) for edge in column.edges] if column.dates else column.edges
    return Column.banded(column.name, edges, mark, column.band_names)


def match_of(column: Column, counts: Counts, values: Mapping[str, int]) -> ColumnMatch:
    """Return the match of a column, from counts in which undeclared values are apart."""
    own = np.zeros(len(column.levels), dtype=np.int64)
    own[: len(counts) - 1] = counts[:-1]
    own[column.home] += counts[-1]
    return ColumnMatch(own, int(counts[-1]), ordered(values))


def ordered(values: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return values and how often they occur, the most frequent first."""
    return sorted(values.items(), key=lambda each: (-each[1], each[0]))


def shown(value: object) -> str:
    """Return a value as the data holder may see it, whatever an odd object does when it is asked."""
    text = "(a value that cannot be shown)"
    with suppress(Exception):
        gap = value is None or type(value).__name__ in ("NAType", "NaTType") or value != value
        text = MISSING if gap else str(value)
    return text


def matches_in(batches: "Iterable[Batch]", columns: Sequence[Column]) -> list[ColumnMatch]:
    """Return the match of every column, in one pass over the records."""
    apart = [undeclared_apart(column) for column in columns]
    counts = [np.zeros(len(column.levels), dtype=np.int64) for column in apart]
    values: list[Counter[str]] = [Counter() for _ in apart]
    for batch in batches:
        for column, total, found in zip(apart, counts, values, strict=True):
            codes = batch.codes(column)
            total += np.bincount(codes, minlength=len(total))
            odd = np.flatnonzero(codes == column.home)
            if len(odd):
                found.update(batch.frequencies(column.name, odd))
    return [match_of(*each) for each in zip(columns, counts, values, strict=True)]
