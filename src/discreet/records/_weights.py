"""Weighted sums: every unit counts with its share, a record by its weight, a person by their rows.

A unit with the share k in [0, 1] and the position x in [0, 1] is divided into h = k x, l = k (1 - x) and the rest, 1 -
k, all in whole numbers that add up to U. The ratio of sums, H / (H + L), is the weighted mean position. How far it lies
from that of a population depends on sum (h - r k)^2, for which the squares h^2, 2 h l and l^2 are summed as well: they
are the parts of (h + l)^2, so that with the rest they add up to U too. A person may be divided among several groups.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import SourceError
from discreet.records._columns import Column
from discreet.records._moments import Indicator, Measure, MomentPlan, Numbered, Wholes
from discreet.records._persons import IdPlan, ids_in
from discreet.records._source import as_source
from discreet.records._values import LARGEST_WHOLE

SUMS = 5
"""What is summed in every group: h, l, h^2, 2 h l and l^2."""


@dataclass(frozen=True)
class WeightPlan:
    """What is summed: a column of numbers, a column of weights from 0 on, and the columns that make the groups."""

    measure: Measure
    weight: Measure
    groups: tuple[Column, ...]
    leaves_gaps_out: bool
    unit: int

    @property
    def names(self) -> list[str]:
        """Return the columns that are needed, each once."""
        columns = (self.measure.column, self.weight.column, *(column.name for column in self.groups))
        return list(dict.fromkeys(columns))

    @property
    def cells(self) -> int:
        """Return the number of groups."""
        return prod(len(column.levels) for column in self.groups)

    @property
    def factors(self) -> MomentPlan:
        """Return what is read of a record, as backends hand it out."""
        indicators = tuple(Indicator(column, 0) for column in self.groups)
        return MomentPlan((self.measure, self.weight, *indicators), (), 1)


def divided(known: Counts, positions: Floats) -> tuple[Counts, Counts]:
    """Return the whole numbers h and l that `known` is divided into, at positions between 0 and 1."""
    high = np.clip(np.floor(known * positions + 0.5).astype(np.int64), 0, known)
    return high, known - high


def parts_of(high: Counts, low: Counts, starts: NDArray[np.intp], unit: int) -> Counts:
    """Return for every row h, l and the parts of the square, rounded so that those of a person never exceed U.

    Of t_1, t_2, ... the whole numbers are floor(t_1 + ... + t_i) - floor(t_1 + ... + t_(i-1)).
    """
    squares = np.column_stack([high * high, 2 * high * low, low * low]).ravel()
    before = np.concatenate([[0], np.cumsum(squares)])
    base = np.repeat(before[3 * starts], 3 * np.diff(np.append(starts, len(high))))
    whole = (before[1:] - base) // unit - (before[:-1] - base) // unit
    return np.column_stack([high, low, whole.reshape(-1, 3)])


def _summed(parts: Counts, cells: Counts, number: int) -> Counts:
    found = np.zeros((number, SUMS), dtype=np.int64)
    np.add.at(found, cells, parts)
    return found


def weighted_sums(batches: Iterable[Numbered], plan: WeightPlan) -> tuple[Wholes, int]:
    """Return the sums of every group, and the number of records."""
    found, records = np.zeros((plan.cells, SUMS), dtype=np.int64), 0
    for batch in batches:
        records += len(batch)
        values, weights = (np.asarray(batch.raw(each), dtype=np.float64) for each in (plan.measure, plan.weight))
        cells = np.zeros(len(batch), dtype=np.int64)
        for column in plan.groups:
            cells = cells * len(column.levels) + np.asarray(batch.raw(Indicator(column, 0)))
        with np.errstate(all="ignore"):
            is_value, is_weight = np.abs(values) <= LARGEST_WHOLE, np.abs(weights) <= LARGEST_WHOLE
            shares = np.where(is_weight, np.clip(weights / plan.weight.high, 0, 1), 0.0)
            given = np.where(is_value, values, plan.measure.missing)
            positions = np.clip((given - plan.measure.low) / (plan.measure.high - plan.measure.low), 0, 1)
        counted = is_value if plan.leaves_gaps_out else np.ones(len(batch), dtype=bool)
        known = np.where(counted, np.floor(shares * plan.unit + 0.5), 0).astype(np.int64)
        parts = parts_of(*divided(known, positions), np.arange(len(batch)), plan.unit)
        found += _summed(parts, cells, plan.cells)
    return found, records


def sum_weights(data: object, plan: WeightPlan) -> tuple[Wholes, int]:
    """Return the sums of every group, and the number of records, in one pass over the data."""
    source = as_source(data)
    if not hasattr(source, "sum_weights"):
        raise SourceError(f"A {type(source).__name__} cannot sum weighted values. Pass a frame, a file or lists.")
    found: tuple[Wholes, int] = source.sum_weights(plan)
    return found


def sum_rows(data: object, plan: IdPlan, size: int | None, most: int, unit: int) -> tuple[Wholes, int]:
    """Return the sums of every group where a person counts with the share r / max(r, most) of r rows with a value.

    Beside them stands the number of persons: the public one, or where there is none that of those with an id. The rows
    of those who have more than `most` count for less, each alike, and the order of rows does not matter.
    """
    rows = ids_in(as_source(data), plan).of_persons(size)
    starts = rows.firsts
    cells = prod(len(column.levels) for column in plan.groups)
    persons = len(starts) if size is None else size
    if not len(starts):
        return np.zeros((cells, SUMS), dtype=np.int64), persons
    lengths = np.diff(np.append(starts, len(rows.rows)))
    before = np.concatenate([[0], np.cumsum(rows.rows)])
    base = np.repeat(before[starts], lengths)
    whole = np.repeat(np.maximum(np.add.reduceat(rows.rows, starts), most), lengths)
    known = unit * (before[1:] - base) // whole - unit * (before[:-1] - base) // whole
    low, high = plan.measure.low, plan.measure.high
    positions = np.clip((rows.sums / np.maximum(rows.rows, 1) * plan.step - low) / (high - low), 0, 1)
    return _summed(parts_of(*divided(known, positions), starts, unit), rows.cells, cells), persons
