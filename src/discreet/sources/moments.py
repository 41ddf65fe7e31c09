"""Sums of products of bounded numbers, made of whole numbers from the first step to the last.

Each record alone is turned into small whole numbers: a column of numbers becomes a in {-M, ..., M}, the place of its
value between its declared bounds; a declared level becomes M if the record has it, else 0. The last step is to clamp
the whole number, so whatever a record holds and however an engine rounds, |a| <= M. What is summed are products of two
such numbers. They are exact, so no sum depends on the order of the rows, and replacing one record moves each sum by at
most the range of its product.

A value that is missing, no number, or farther than 2^53 from zero is replaced by a declared constant.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from discreet.columns import LARGEST_WHOLE, Column, number_of
from discreet.errors import SourceError
from discreet.sources.frames import (
    FrameSource,
    _code,
    _in_silence,
    _number_texts,
    _rows,
    _value,
    _with_codes_of_objects,
)
from discreet.sources.lists import ListSource, length_of, require_columns
from discreet.sources.source import as_source

CONSTANT = -1
"""The place of the constant factor, which is M in every record."""

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]


@dataclass(frozen=True)
class Measure:
    """A column of numbers between public bounds; `missing` stands for what is no number."""

    column: str
    low: float
    high: float
    missing: float


@dataclass(frozen=True)
class Indicator:
    """Whether a record has one declared level of a column."""

    declared: Column
    place: int

    @property
    def column(self) -> str:
        """Return the name of the column."""
        return self.declared.name


@dataclass(frozen=True)
class MomentPlan:
    """Which products of which factors to sum: pairs of places in `factors`, or CONSTANT; `grid` is M."""

    factors: tuple[Measure | Indicator, ...]
    products: tuple[tuple[int, int], ...]
    grid: int

    @property
    def most_records(self) -> int:
        """Return how many records can be summed, and noise added, without leaving 64 bits."""
        return 2**61 // self.grid**2


def sum_moments(data: Any, plan: MomentPlan) -> tuple[Wholes, int]:
    """Return the sum of every product of the plan, and the number of records, in one pass over the data."""
    source = as_source(data)
    found: tuple[list[int], int] | None = None
    if isinstance(source, ListSource):
        found = _sums_of_lists(source, plan)
    elif isinstance(source, FrameSource):
        schema = source._schema
        require_columns({factor.column for factor in plan.factors}, schema)
        with _in_silence():
            found = _sums_of_frame(source, plan, schema)
    else:
        raise SourceError(f"A {type(source).__name__} cannot sum products. Give a frame, a file or lists.")
    if found is None:
        raise SourceError(
            "The engine that holds the data failed to sum them; its message is withheld because it may quote records. "
            "Nothing was summed."
        )
    sums, records = found
    if records > plan.most_records:
        raise SourceError(f"At most {plan.most_records} records can be summed with a grid of {plan.grid}.")
    return np.array(sums, dtype=np.int64), records


def whole_numbers(values: Floats, measure: Measure, grid: int) -> Wholes:
    """Return a = floor((v - low) 2M/(high - low) + 1/2) - M for clipped values v, clamped to {-M, ..., M} last."""
    usable = np.where(np.abs(values) <= LARGEST_WHOLE, values, measure.missing)  # not-a-number is not <= anything
    clipped = np.minimum(np.maximum(usable, measure.low), measure.high)
    with np.errstate(all="ignore"):
        places = np.floor((clipped - measure.low) * _scale(measure, grid) + 0.5) - grid
        lowered = np.where(places <= grid, places, grid)  # a place that is not-a-number goes here, as in `_between`
    return np.where(lowered >= -grid, lowered, -grid).astype(np.int64)


def _scale(measure: Measure, grid: int) -> float:
    with np.errstate(all="ignore"):
        return float(np.float64(2 * grid) / (measure.high - measure.low))


def _sums_of_lists(source: ListSource, plan: MomentPlan) -> tuple[list[int], int]:
    values = source._values
    require_columns({factor.column for factor in plan.factors}, values)
    length_of([values[factor.column] for factor in plan.factors])
    columns = [whole_column(values[factor.column], factor, plan.grid) for factor in plan.factors]
    records = len(columns[0])
    factors = [*columns, np.full(records, plan.grid, dtype=np.int64)]  # the last one is the constant, at place -1
    return [int(factors[i] @ factors[j]) for i, j in plan.products], records


def whole_column(values: Sequence[Any], factor: Measure | Indicator, grid: int) -> Wholes:
    """Return the whole number of every value of a list."""
    if isinstance(factor, Measure):
        return whole_numbers(np.array([_float_of(value) for value in values], dtype=np.float64), factor, grid)
    has = [factor.declared.code(value) == factor.place for value in values]
    return np.array(has, dtype=np.int64) * grid


def _float_of(value: Any) -> float:
    """Return a value as a float, not-a-number for what is no number; truth values are no numbers."""
    if isinstance(value, str):
        number = number_of(value)
        return math.nan if number is None else number
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real | Decimal):
        return math.nan
    exact: Any = value
    try:
        return float(exact) if -LARGEST_WHOLE <= exact <= LARGEST_WHOLE else math.nan
    except Exception:  # noqa: BLE001 - no record may end a count, and what it raises may quote it
        return math.nan


def _sums_of_frame(source: FrameSource, plan: MomentPlan, schema: dict[str, Any]) -> tuple[list[int], int]:
    """Turn every column into whole numbers and sum their products, all inside the engine."""
    *names, records = source._unused(len(plan.factors) + 1)
    frame, expressions = source._frame, []
    for factor, name in zip(plan.factors, names, strict=True):
        kind, grid = schema[factor.column], plan.grid
        if source._holds_objects(factor.column, kind):
            frame = _with_wholes_of_objects(frame, factor, name, grid)
        elif isinstance(factor, Measure):
            expressions.append(_measured(factor, kind, frame.implementation, grid).alias(name))
        else:
            has = _code(factor.declared, kind, frame.implementation) == factor.place
            wholes = nw.when(has).then(nw.lit(grid, nw.Int64)).otherwise(nw.lit(0, nw.Int64))
            expressions.append(wholes.alias(name))
    whole = frame.with_columns(*expressions).select(*names)
    sums = [_product(i, j, names, plan.grid).sum().alias(f"{records}_{k}") for k, (i, j) in enumerate(plan.products)]
    (row,) = _rows(whole.select(nw.len().alias(records), *sums))
    return [int(value or 0) for value in row[1:]], int(row[0])


def _product(first: int, second: int, names: list[str], grid: int) -> nw.Expr:
    if second == CONSTANT:
        return nw.col(names[first]) * grid
    return nw.col(names[first]) * nw.col(names[second])


def _measured(measure: Measure, kind: Any, engine: nw.Implementation, grid: int) -> nw.Expr:
    """Return the expression of `whole_numbers`: the same steps in the same order."""
    is_text = isinstance(kind, nw.String | nw.Categorical | nw.Enum)
    if not is_text and not kind.is_numeric():  # dates, truth values, lists: no numbers throughout
        value = nw.lit(measure.missing, nw.Float64)
    else:
        value = _value(measure.column, kind, engine)
        value = _number_texts(value) if is_text else value
        value = value if kind.is_integer() else value.cast(nw.Float64)  # whole numbers are compared as they are
        near = value <= LARGEST_WHOLE
        near = near if kind.is_unsigned_integer() else near & (value >= -LARGEST_WHOLE)
        near = near.fill_null(False) if engine.is_pandas_like() else near
        value = value.cast(nw.Float64)
        value = nw.when(near).then(value).otherwise(nw.lit(measure.missing, nw.Float64))
    clipped = _between(value, measure.low, measure.high)
    places = ((clipped - measure.low) * _scale(measure, grid) + 0.5).floor() - grid
    return _between(places, -grid, grid).cast(nw.Int64)


def _between(value: nw.Expr, low: float, high: float) -> nw.Expr:
    """Clamp by asking what lies within, not what lies beyond: not-a-number is `high` in every engine."""
    lowered = nw.when(value <= high).then(value).otherwise(nw.lit(high, nw.Float64))
    return nw.when(lowered >= low).then(lowered).otherwise(nw.lit(low, nw.Float64))


def _with_wholes_of_objects(frame: Any, factor: Measure | Indicator, name: str, grid: int) -> Any:
    """Map a column of Python objects, which are in memory already, one by one."""
    if isinstance(factor, Indicator):
        coded = _with_codes_of_objects(frame, factor.declared, name)
        return coded.with_columns((nw.col(name) == factor.place).cast(nw.Int64) * grid)
    wholes = whole_column(frame.get_column(factor.column).to_list(), factor, grid)
    return frame.with_columns(nw.new_series(name, wholes.tolist(), nw.Int64, backend=frame.implementation))
