"""Sums of products of bounded numbers, made of whole numbers from the first step to the last.

Each record alone is turned into small whole numbers: a column of numbers becomes a in {-M, ..., M}, the position of its
value between its declared bounds; a declared level becomes M if the record has it, else 0. The last step is to clamp
the whole number, so whatever a record holds and however a backend rounds, |a| <= M. What is summed are products of two
such numbers. They are exact, so no sum depends on the order of the rows, and replacing one record moves each sum by at
most the range of its product.

A value that is missing, not a number, or 2^53 or more away from zero is replaced by a declared constant. An interaction
or a power of columns becomes a whole number of its own in the same way, from the whole numbers of its columns, before
it is multiplied with anything.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Floats
from discreet._core.errors import SourceError
from discreet.records._columns import Column
from discreet.records._values import LARGEST_WHOLE, day_of, number_of

CONSTANT = -1
"""The index of the constant factor, which is M in every record."""

Wholes = NDArray[np.int64]

_BLOCK = 2**15  # records whose whole numbers stay in the fastest memory


@dataclass(frozen=True)
class Measure:
    """A column of numbers, or of days if `dates`, between public bounds; `missing` replaces anything else.

    If it `leaves_gaps_out`, a record without a value is left out of all products instead: its numbers are all 0.
    """

    column: str
    low: float
    high: float
    missing: float
    dates: bool = False
    leaves_gaps_out: bool = False


@dataclass(frozen=True)
class Indicator:
    """Whether a record has one declared level of a column."""

    declared: Column
    code: int

    @property
    def column(self) -> str:
        """Return the name of the column."""
        return self.declared.name


Base = Measure | Indicator


@dataclass(frozen=True)
class Term:
    """A column that is made of others, by each record alone: M T_k(a/M) ... rounded, times indicators, clamped last.

    T_k is the Chebyshev polynomial of the power k of a column of numbers: T_1(u) = u, T_2(u) = 2 u^2 - 1, T_(k+1)(u) =
    2 u T_k(u) - T_(k-1)(u). From -1 to 1 it goes as far as a column can.
    """

    powers: tuple[tuple[Measure, int], ...]
    indicators: tuple[Indicator, ...]


Factor = Measure | Indicator | Term


def bases_of(factor: Factor) -> tuple[Base, ...]:
    """Return the columns that a factor is made of."""
    if isinstance(factor, Term):
        return (*(measure for measure, _ in factor.powers), *factor.indicators)
    return (factor,)


@dataclass(frozen=True)
class MomentPlan:
    """Which products of which factors to sum: pairs of indices into `factors`, or CONSTANT; `grid` is M."""

    factors: tuple[Factor, ...]
    products: tuple[tuple[int, int], ...]
    grid: int

    @property
    def bases(self) -> tuple[Base, ...]:
        """Return every column that is read, once."""
        return tuple(dict.fromkeys(base for factor in self.factors for base in bases_of(factor)))

    @property
    def most_records(self) -> int:
        """Return how many records can be summed, and noise added, without leaving 64 bits."""
        return 2**61 // self.grid**2


class Numbered(Protocol):
    """Some records that give each factor's raw number: NaN for missing values, or a level's code."""

    def __len__(self) -> int:
        """Return the number of records."""

    def raw(self, factor: Base) -> NDArray[np.generic]:
        """Return numbers for a measure, codes for an indicator."""


def whole_numbers(values: Floats, measure: Measure, grid: int) -> Wholes:
    """Return a = floor((v - low) 2M/(high - low) + 1/2) - M for clipped values v, clamped to {-M, ..., M} last."""
    return _placed(values, measure, grid).astype(np.int64)


def _placed(values: Floats, measure: Measure, grid: int) -> Floats:
    with np.errstate(all="ignore"):
        scale = float(np.float64(2 * grid) / (measure.high - measure.low))
        near = np.abs(values) <= LARGEST_WHOLE  # NaN is not <= anything
        positions = np.where(near, values, measure.missing)
        np.maximum(np.minimum(positions, measure.high, out=positions), measure.low, out=positions)
        positions -= measure.low
        positions *= scale
        positions += 0.5
        np.floor(positions, out=positions)
        positions -= grid
        np.fmin(positions, grid, out=positions)  # a position that is NaN becomes the upper end
        return np.fmax(positions, -grid, out=positions)


def whole_number(value: object, factor: Base, grid: int) -> int:
    """Return the whole number of one value: the plain way, to check the others against."""
    if isinstance(factor, Indicator):
        return grid if factor.declared.code(value) == factor.code else 0
    number = day_of(value) if factor.dates else number_of(value)
    return int(whole_numbers(np.array([np.nan if number is None else number], dtype=float), factor, grid)[0])


def whole_column(rows: Mapping[str, Sequence[object]], factor: Factor, grid: int) -> Wholes:
    """Return the whole number of a factor in every one of some rows, given by column."""
    if isinstance(factor, Term):
        return _combined({b: whole_column(rows, b, grid) for b in bases_of(factor)}, factor, grid).astype(np.int64)
    values = rows[factor.column]
    if isinstance(factor, Indicator):
        return np.array([factor.declared.code(value) == factor.code for value in values], dtype=np.int64) * grid
    return whole_numbers(numbers_of(values, factor.dates), factor, grid)


def _combined(wholes: Mapping[Base, NDArray[np.generic]], term: Term, grid: int) -> Floats:
    """Return a term from the whole numbers of its columns."""
    (first, *_) = wholes.values()
    product = np.ones(len(first))
    for measure, power in term.powers:
        product *= chebyshev(np.asarray(wholes[measure], dtype=np.float64) / grid, power)
    placed = np.floor(product * grid + 0.5)
    for indicator in term.indicators:
        placed *= np.asarray(wholes[indicator]) == grid
    return np.fmax(np.fmin(placed, grid, out=placed), -grid, out=placed)


def chebyshev(values: Floats, power: int) -> Floats:
    """Return T_k of numbers in [-1, 1], by its recursion."""
    before, now = np.ones_like(values), values
    for _ in range(power - 1):
        before, now = now, 2 * values * now - before
    return now


def numbers_of(values: Sequence[object], dates: bool) -> Floats:
    """Return the number, or the day, that each value of a list means; NaN for none."""
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
        raw = {base: batch.raw(base) for base in plan.bases}
        for start in range(0, len(batch), _BLOCK):
            total += _squares({base: column[start : start + _BLOCK] for base, column in raw.items()}, plan)
    first, second = (np.array([pair[k] for pair in plan.products], dtype=np.intp) for k in (0, 1))
    return total[first, second], records


def whole_rows_of(batches: Iterable[Numbered], plan: MomentPlan) -> Wholes:
    """Return the whole numbers of every record, a row for each, the constant last: a snapshot for several passes."""
    found = [np.zeros((0, len(plan.factors) + 1), dtype=np.int64)]
    for batch in batches:
        if len(batch):
            found.append(_rows({base: batch.raw(base) for base in plan.bases}, plan).T.astype(np.int64))
    return np.concatenate(found)


def _squares(raw: Mapping[Base, NDArray[np.generic]], plan: MomentPlan) -> Wholes:
    """Return the sums of all products in a block; floats hold them exactly as long as they stay below 2^53."""
    rows = _rows(raw, plan)
    if plan.grid**2 * rows.shape[1] >= 2**53:
        exact = rows.astype(np.int64)
        return exact @ exact.T
    return (rows @ rows.T).astype(np.int64)


def _rows(raw: Mapping[Base, NDArray[np.generic]], plan: MomentPlan) -> Floats:
    """Return the whole numbers of all factors (rows) in every record of a block, the constant last.

    They are all 0 in a record that is left out.
    """
    wholes = {base: _whole(column, base, plan.grid) for base, column in raw.items()}
    (first, *_) = wholes.values()
    rows = np.empty((len(plan.factors) + 1, len(first)))
    for row, factor in zip(rows, plan.factors, strict=False):
        row[:] = _combined(wholes, factor, plan.grid) if isinstance(factor, Term) else wholes[factor]
    rows[-1] = plan.grid  # the constant, at index -1
    for base, column in raw.items():
        if isinstance(base, Measure) and base.leaves_gaps_out:
            with np.errstate(invalid="ignore"):
                rows *= np.abs(np.asarray(column, dtype=np.float64)) <= LARGEST_WHOLE  # NaN is not <= anything
    return rows


def _whole(column: NDArray[np.generic], base: Base, grid: int) -> Floats:
    """Return the whole numbers of a column that a backend handed out, as floats."""
    if isinstance(base, Measure):
        return _placed(np.asarray(column, dtype=np.float64), base, grid)
    return np.asarray(np.multiply(column == base.code, grid, dtype=np.float64))
