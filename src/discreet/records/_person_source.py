"""A table of persons, made of a table of rows: one record for each person, by a declared rule.

A person has one value: the total, the largest, the smallest or the mean of the values in their rows. None of these
depends on the order of rows. A person without a value, or without rows, has a missing value. The group of a person is
the one that all their rows name; if they name several, or there are none, it is the level for outside values.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import SourceError
from discreet.records._batch_source import BatchSource
from discreet.records._columns import Column
from discreet.records._persons import IdPlan, IdRows, ids_in
from discreet.records._source import Batch
from discreet.records._statistics import Codes
from discreet.records._typed_arrays import banded

TOTAL, LARGEST, SMALLEST, MEAN = "total", "largest", "smallest", "mean"
ROWS = "rows"
"""Not a rule for one value: every row of a person counts."""


def _reduced(rows: IdRows, rule: str) -> Floats:
    """Return the value of each person in steps; rows are those of the persons that are kept."""
    starts = rows.firsts
    known = np.add.reduceat(rows.rows, starts)
    value = _RULES[rule](rows, starts, np.maximum(known, 1))
    return np.where(known > 0, value, np.nan)


_RULES: Mapping[str, Callable[[IdRows, NDArray[np.intp], Counts], Floats]] = {
    TOTAL: lambda rows, starts, _: np.add.reduceat(rows.sums, starts).astype(np.float64),
    LARGEST: lambda rows, starts, _: np.maximum.reduceat(rows.largest, starts).astype(np.float64),
    SMALLEST: lambda rows, starts, _: np.minimum.reduceat(rows.smallest, starts).astype(np.float64),
    MEAN: lambda rows, starts, known: np.add.reduceat(rows.sums, starts) / known,
}
RULES = tuple(_RULES)
"""The rules by which a person has one value."""


class PersonSource(BatchSource):
    """Persons in the rows of another source, of whom there are publicly `size`; without one, those who have an id."""

    def __init__(self, source: object, plan: IdPlan, size: int | None, rule: str) -> None:
        self._source, self._plan, self._size, self._rule = source, plan, size, rule

    def names(self) -> list[str]:
        return [name for name in self._plan.names if name != self._plan.ids]

    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Yield all persons at once."""
        rows = ids_in(self._source, self._plan).of_persons(self._size)
        persons = len(rows.firsts) if self._size is None else self._size
        values = np.full(persons, np.nan)
        (home,) = [column.home for column in self._plan.groups] or [0]
        cells = np.full(persons, home, dtype=np.int64)
        if len(starts := rows.firsts):
            values[: len(starts)] = _reduced(rows, self._rule) * self._plan.step
            first, last = np.minimum.reduceat(rows.cells, starts), np.maximum.reduceat(rows.cells, starts)
            cells[: len(starts)] = np.where(first == last, first, home)
        yield _Persons(self._plan, values, cells)


class _Persons(Batch):
    def __init__(self, plan: IdPlan, values: Floats, cells: Counts) -> None:
        self._plan, self._values, self._cells = plan, values, cells

    def __len__(self) -> int:
        return len(self._values)

    def codes(self, column: Column) -> Codes:
        return self._cells if column in self._plan.groups else banded(self._values, column)

    def numbers(self, name: str, dates: bool) -> Floats:
        return self._values

    def values(self, name: str, indices: NDArray[np.intp]) -> Sequence[object]:
        raise SourceError("A table of persons holds no raw values to inspect; inspect the table of rows instead.")
