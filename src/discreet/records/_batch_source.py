"""Records in batches: counted, summed, and searched for values that no level declares, the same way for every backend.

A backend only has to say how a batch of one column becomes codes or numbers.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet._core.arrays import Counts
from discreet.records._columns import Column
from discreet.records._grouped_sums import GroupPlan, group_sums, place_counts
from discreet.records._matches import ColumnMatch, matches_in
from discreet.records._moments import MomentPlan, Wholes, moments_of, whole_rows_of
from discreet.records._persons import IdPlan, IdRows, id_rows
from discreet.records._source import Batch, Source, answered, require_columns
from discreet.records._statistics import clusters, count_codes, margins
from discreet.records._weights import WeightPlan, weighted_sums

if TYPE_CHECKING:
    from discreet.records._derived import Derived
    from discreet.records._expressions import Raw


class BatchSource(ABC):
    """Records in batches."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<records>)"

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of the columns, for the data holder; no record is read."""

    @abstractmethod
    def batches(self, names: Sequence[str]) -> Iterator[Batch]:
        """Yield all records, with at least these columns."""

    def stored(self, raws: "Sequence[Raw]", also: Sequence[str]) -> Iterator[Batch]:
        """Yield all records with what derived columns are made of, and with further columns as they are."""
        return self.batches(
            list(dict.fromkeys([*(raw.name if isinstance(raw, Column) else raw[0] for raw in raws), *also]))
        )

    def with_derived(self, derived: "Derived") -> Source:
        """Return the same records with derived columns beside the stored ones."""
        from discreet.records._derived import DerivedSource  # it builds on this module

        return DerivedSource(self, derived)

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[Counts]:
        """Return one table of counts for each family of columns, its axes in the order of the columns."""
        columns = list(dict.fromkeys(column for family in families for column in family))
        self.require([column.name for column in columns])
        return answered(lambda: self._count(families, columns), "count them")

    def _count(self, families: Sequence[Sequence[Column]], columns: list[Column]) -> list[Counts]:
        together = clusters(families)
        tables = [np.zeros(int(np.prod(cluster.shape)), dtype=np.int64) for cluster in together]
        for batch in self.batches(list(dict.fromkeys(column.name for column in columns))):
            codes = {column: batch.codes(column) for column in columns}
            for cluster, table in zip(together, tables, strict=True):
                table += count_codes(codes, cluster)
        return margins(families, together, tables)

    def require(self, names: Sequence[str]) -> None:
        """Refuse if a declared column is missing."""
        require_columns(set(names), answered(self.names, "say which columns there are"))

    def sum_moments(self, plan: MomentPlan) -> tuple[Wholes, int]:
        """Return the sum of every product of the plan, and the number of records."""
        names = list(dict.fromkeys(factor.column for factor in plan.bases))
        self.require(names)
        return answered(lambda: moments_of(self.batches(names), plan), "sum them")

    def whole_rows(self, plan: MomentPlan) -> Wholes:
        """Return the whole numbers of every record, the constant last."""
        names = list(dict.fromkeys(factor.column for factor in plan.bases))
        self.require(names)
        return answered(lambda: whole_rows_of(self.batches(names), plan), "read them")

    def sum_groups(self, plan: GroupPlan) -> tuple[Wholes, int]:
        """Return the sums of a number in every group, and the number of records."""
        self.require(plan.names)
        return answered(lambda: group_sums(self.batches(plan.names), plan), "sum them")

    def count_places(self, plan: GroupPlan) -> tuple[Wholes, int]:
        """Return how many records of every group lie at each position, then how many have no value; and all."""
        self.require(plan.names)
        return answered(lambda: place_counts(self.batches(plan.names), plan), "count them")

    def id_rows(self, plan: IdPlan) -> IdRows:
        """Return what the rows of each id add up to."""
        self.require(plan.names)
        return answered(lambda: id_rows(self.batches(plan.names), plan), "add up the rows of each id")

    def sum_weights(self, plan: WeightPlan) -> tuple[Wholes, int]:
        """Return weighted sums of a number in every group, and the number of records."""
        self.require(plan.names)
        return answered(lambda: weighted_sums(self.batches(plan.names), plan), "sum them")

    def match(self, columns: Sequence[Column], most: int = 5) -> list[ColumnMatch]:
        """Return how the records match each column, in one pass: for the data holder's eyes only."""
        names = list(dict.fromkeys(column.name for column in columns))
        self.require(names)
        found = answered(lambda: matches_in(self.batches(names), columns), "compare them with what is declared")
        return [match.first(most) for match in found]
