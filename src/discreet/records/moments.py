"""Sums of products of bounded numbers, made of whole numbers from the first step to the last.

Each record alone is turned into small whole numbers: a column of numbers becomes a in {-M, ..., M}, the place of its
value between its declared bounds; a declared level becomes M if the record has it, else 0. The last step is to clamp
the whole number, so whatever a record holds and however an engine rounds, |a| <= M. What is summed are products of two
such numbers. They are exact, so no sum depends on the order of the rows, and replacing one record moves each sum by at
most the range of its product.

A value that is missing, no number, or 2^53 or more away from zero is replaced by a declared constant.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.errors import SourceError
from discreet.records.columns import Column
from discreet.records.values import LARGEST_WHOLE, day_of, number_of

CONSTANT = -1
"""The place of the constant factor, which is M in every record."""

Wholes = NDArray[np.int64]

_BLOCK = 2**15  # records whose whole numbers stay in the fastest memory


@dataclass(frozen=True)
class Measure:
    """A column of numbers, or of days if `dates`, between public bounds; `missing` stands for what is none."""

    column: str
    low: float
    high: float
    missing: float
    dates: bool = False


@dataclass(frozen=True)
class Indicator:
    """Whether a record has one declared level of a column."""

    declared: Column
    place: int

    @property
    def column(self) -> str:
        """Return the name of the column."""
        return self.declared.name


Factor = Measure | Indicator


@dataclass(frozen=True)
class MomentPlan:
    """Which products of which factors to sum: pairs of places in `factors`, or CONSTANT; `grid` is M."""

    factors: tuple[Factor, ...]
    products: tuple[tuple[int, int], ...]
    grid: int

    @property
    def most_records(self) -> int:
        """Return how many records can be summed, and noise added, without leaving 64 bits."""
        return 2**61 // self.grid**2


class Numbered(Protocol):
    """Some records, from which each factor's raw number can be had: not-a-number for gaps, or a level's code."""

    def __len__(self) -> int:
        """Return the number of records."""

    def raw(self, factor: Factor) -> NDArray[np.generic]:
        """Return numbers for a measure, codes for an indicator."""


def whole_numbers(values: Floats, measure: Measure, grid: int) -> Wholes:
    """Return a = floor((v - low) 2M/(high - low) + 1/2) - M for clipped values v, clamped to {-M, ..., M} last."""
    return _placed(values, measure, grid).astype(np.int64)


def _placed(values: Floats, measure: Measure, grid: int) -> Floats:
    with np.errstate(all="ignore"):
        scale = float(np.float64(2 * grid) / (measure.high - measure.low))
        near = np.abs(values) <= LARGEST_WHOLE  # not-a-number is not <= anything
        places = np.where(near, values, measure.missing)
        np.maximum(np.minimum(places, measure.high, out=places), measure.low, out=places)
        places -= measure.low
        places *= scale
        places += 0.5
        np.floor(places, out=places)
        places -= grid
        np.fmin(places, grid, out=places)  # a place that is not-a-number becomes the upper end
        return np.fmax(places, -grid, out=places)


def whole_number(value: object, factor: Factor, grid: int) -> int:
    """Return the whole number of one value: the plain way, for whoever wants to check the others."""
    if isinstance(factor, Indicator):
        return grid if factor.declared.code(value) == factor.place else 0
    number = day_of(value) if factor.dates else number_of(value)
    return int(whole_numbers(np.array([np.nan if number is None else number], dtype=float), factor, grid)[0])


def whole_column(values: Sequence[object], factor: Factor, grid: int) -> Wholes:
    """Return the whole number of every value of a list."""
    if isinstance(factor, Indicator):
        return np.array([factor.declared.code(value) == factor.place for value in values], dtype=np.int64) * grid
    return whole_numbers(numbers_of(values, factor.dates), factor, grid)


def numbers_of(values: Sequence[object], dates: bool) -> Floats:
    """Return the number, or the day, that each value of a list means; not-a-number for none."""
    meant = map(day_of if dates else number_of, values)
    return np.array([np.nan if number is None else number for number in meant], dtype=np.float64)


def moments_of(batches: Iterable[Numbered], plan: MomentPlan) -> tuple[Wholes, int]:
    """Return the sum of every product of the plan over all batches, and the number of records."""
    size = len(plan.factors) + 1
    total, records = np.zeros((size, size), dtype=np.int64), 0
    for batch in batches:
        records += len(batch)
        if records > plan.most_records:
            raise SourceError(f"At most {plan.most_records} records can be summed with a grid of {plan.grid}.")
        raw = [batch.raw(factor) for factor in plan.factors]
        for start in range(0, len(batch), _BLOCK):
            total += _squares([column[start : start + _BLOCK] for column in raw], plan)
    first, second = (np.array([pair[k] for pair in plan.products], dtype=np.intp) for k in (0, 1))
    return total[first, second], records


def _squares(raw: list[NDArray[np.generic]], plan: MomentPlan) -> Wholes:
    """Return the sums of all products in a block; floats hold them exactly as long as they stay below 2^53."""
    rows = np.empty((len(raw) + 1, len(raw[0])))
    for row, column, factor in zip(rows, raw, plan.factors, strict=False):
        if isinstance(factor, Measure):
            row[:] = _placed(np.asarray(column, dtype=np.float64), factor, plan.grid)
        else:
            np.multiply(column == factor.place, plan.grid, out=row)
    rows[-1] = plan.grid  # the constant, at place -1
    if plan.grid**2 * rows.shape[1] >= 2**53:
        wholes = rows.astype(np.int64)
        return wholes @ wholes.T
    return (rows @ rows.T).astype(np.int64)
