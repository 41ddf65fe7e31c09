"""What a source of records is, and a batch of it: a backend says how the values of a column become codes or numbers."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet.records._columns import Column
from discreet.records._matches import ColumnMatch, shown
from discreet.records._moments import Base, Indicator, MomentPlan, Wholes
from discreet.records._statistics import Codes
from discreet.records._typed_arrays import Array

if TYPE_CHECKING:
    from discreet.records._grouped_sums import GroupPlan
    from discreet.records._persons import IdPlan, IdRows
    from discreet.records._weights import WeightPlan


class Source(Protocol):
    """Records that can be counted and summed. A source returns totals, never a row."""

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[Counts]:
        """Return one table of counts for each family of columns, its axes in the order of the columns."""

    def sum_moments(self, plan: MomentPlan) -> tuple[Wholes, int]:
        """Return the sum of every product of the plan, and the number of records."""

    def sum_groups(self, plan: "GroupPlan") -> tuple[Wholes, int]:
        """Return the sums of a number in every group, and the number of records."""

    def sum_weights(self, plan: "WeightPlan") -> tuple[Wholes, int]:
        """Return weighted sums of a number in every group, and the number of records."""

    def id_rows(self, plan: "IdPlan") -> "IdRows":
        """Return the totals of the rows of each id."""

    def names(self) -> list[str]:
        """Return the names of the columns, for the data holder; no record is read."""

    def match(self, columns: Sequence[Column], most: int = 5) -> list[ColumnMatch]:
        """Return how the records match each column, with its most frequent undeclared values: for the holder only."""


class Batch(ABC):
    """Some records of a source, column by column."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of records."""

    @abstractmethod
    def codes(self, column: Column) -> Codes:
        """Return the index of every record's level: whole numbers >= 0, one for each record, for any value."""

    @abstractmethod
    def numbers(self, name: str, dates: bool) -> Floats:
        """Return every record's number, or day; NaN for what is none."""

    @abstractmethod
    def values(self, name: str, indices: NDArray[np.intp]) -> Sequence[object]:
        """Return the values of some records as they are, for the data holder's eyes only."""

    def frequencies(self, name: str, indices: NDArray[np.intp]) -> Counter[str]:
        """Return how often each value of some records occurs, for the data holder's eyes only."""
        return Counter(map(shown, self.values(name, indices)))

    def raw(self, factor: Base) -> Array:
        """Return numbers for a measure, codes for an indicator."""
        if isinstance(factor, Indicator):
            return self.codes(factor.declared)
        return self.numbers(factor.column, factor.dates)
