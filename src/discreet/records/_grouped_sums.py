"""Sums of a bounded number in groups of records, made of whole numbers from the first step to the last.

Each record alone becomes a whole number a in {0, ..., U}, the position of its value between its declared bounds,
clamped last; and its squared distance from the middle, b = floor((2 a - U)^2 / U + 1/2), which lies in {0, ..., U} as
well. A value that is missing, not a number, or 2^53 or more away from zero is either replaced by a declared constant,
or has no position: its record is then counted as one without a value, in no group.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from discreet._core.arrays import Counts
from discreet._core.errors import SourceError
from discreet.records._columns import Column
from discreet.records._moments import Measure, Wholes, whole_number, whole_numbers
from discreet.records._source import Batch, as_source
from discreet.records._statistics import Codes
from discreet.records._values import LARGEST_WHOLE

UNIT = 2**16
"""The default of U, the number of steps between the bounds and the most that one record adds; a power of two."""

_BLOCK = 2**15  # records whose whole numbers stay in the fastest memory


@dataclass(frozen=True)
class GroupPlan:
    """What is summed: the column of numbers, whether missing values are left out, and the columns that group.

    Where missing values are not left out, the measure's constant stands for them.
    """

    measure: Measure
    groups: tuple[Column, ...]
    leaves_gaps_out: bool
    unit: int = UNIT

    @property
    def names(self) -> list[str]:
        """Return the columns that are needed, each once."""
        return list(dict.fromkeys([self.measure.column, *(column.name for column in self.groups)]))

    @property
    def cells(self) -> int:
        """Return the number of groups."""
        return prod(len(column.levels) for column in self.groups)

    @property
    def most_records(self) -> int:
        """Return how many records can be summed so that floats hold every sum exactly."""
        return 2**53 // self.unit


def squared(positions: Wholes, unit: int = UNIT) -> Wholes:
    """Return b for positions a: the squared distance from the middle, in units of its largest value."""
    return ((2 * positions - unit) ** 2 + unit // 2) // unit


def place_of(value: object, measure: Measure) -> int:
    """Return the position of one value: the plain way, to check the others against."""
    return whole_number(value, measure, UNIT // 2) + UNIT // 2


def group_sums(batches: Iterable[Batch], plan: GroupPlan) -> tuple[Wholes, int]:
    """Return for every group the sums of a and b and the number of records with a value, and the number of records."""
    found, records = np.zeros((plan.cells, 3), dtype=np.int64), 0
    for batch in batches:
        records += len(batch)
        numbers = batch.numbers(plan.measure.column, plan.measure.dates)
        codes = {column: batch.codes(column) for column in plan.groups}
        for start in range(0, len(batch), _BLOCK):
            values = np.asarray(numbers[start : start + _BLOCK], dtype=np.float64)
            inside = {column: each[start : start + _BLOCK] for column, each in codes.items()}
            with np.errstate(invalid="ignore"):
                known = np.abs(values) <= LARGEST_WHOLE if plan.leaves_gaps_out else np.ones(len(values), dtype=bool)
            positions = whole_numbers(values, plan.measure, plan.unit // 2) + plan.unit // 2
            cells = _cells(inside, len(values))
            for column, weights in enumerate((positions, squared(positions, plan.unit), np.ones_like(positions))):
                sums = np.bincount(cells, weights * known, plan.cells)  # whole numbers below 2^53
                found[:, column] += sums.astype(np.int64)
    return found, records


def _cells(codes: dict[Column, Codes], records: int) -> Counts:
    """Return the number of the group of every record."""
    cells = np.zeros(records, dtype=np.int64)
    for column, code in codes.items():
        cells = cells * len(column.levels) + code
    return cells


def sum_groups(data: object, plan: GroupPlan) -> tuple[Wholes, int]:
    """Return the sums of every group, and the number of records, in one pass over the data."""
    source = as_source(data)
    if not hasattr(source, "sum_groups"):
        raise SourceError(f"A {type(source).__name__} cannot sum a column. Pass a frame, a file or lists.")
    found, records = source.sum_groups(plan)
    most = np.array([plan.most_records * plan.unit] * 2 + [plan.most_records])
    return np.minimum(found, most), records  # clamped: an error would tell how many there are, where that is secret


def place_counts(batches: Iterable[Batch], plan: GroupPlan) -> tuple[Wholes, int]:
    """Return how many records of every group lie at each position 0, ..., U, then how many have no value; and all."""
    found, records = np.zeros(plan.cells * (plan.unit + 1) + 1, dtype=np.int64), 0
    for batch in batches:
        records += len(batch)
        values = np.asarray(batch.numbers(plan.measure.column, plan.measure.dates), dtype=np.float64)
        with np.errstate(invalid="ignore"):
            known = np.abs(values) <= LARGEST_WHOLE if plan.leaves_gaps_out else np.ones(len(values), dtype=bool)
        positions = whole_numbers(values, plan.measure, plan.unit // 2) + plan.unit // 2
        cells = _cells({column: batch.codes(column) for column in plan.groups}, len(values)) * (plan.unit + 1)
        found += np.bincount(np.where(known, cells + positions, len(found) - 1), minlength=len(found))
    return found, records


def count_places(data: object, plan: GroupPlan) -> tuple[Wholes, int]:
    """Return how many records lie at each position, as `place_counts` does, in one pass over the data."""
    source = as_source(data)
    if not hasattr(source, "count_places"):
        raise SourceError(f"A {type(source).__name__} cannot count a column by places. Pass a frame, a file or lists.")
    found, records = source.count_places(plan)
    return found, records


def added(parts: Sequence[tuple[Wholes, int]]) -> tuple[Wholes, int]:
    """Return the sums of several tables."""
    return sum((sums for sums, _ in parts[1:]), parts[0][0]), sum(records for _, records in parts)
