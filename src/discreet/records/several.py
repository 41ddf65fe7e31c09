"""Several tables of the same columns, counted one after the other as if they were one."""

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.arrays import Counts
from discreet.errors import SourceError
from discreet.records.columns import Column
from discreet.records.grouped_sums import GroupPlan, added
from discreet.records.moments import MomentPlan, Wholes
from discreet.records.persons import IdPlan, IdRows, ids_in
from discreet.records.weights import WeightPlan, sum_weights

if TYPE_CHECKING:
    from discreet.records.source import Source


class SeveralSource:
    """Records in a declared list of files, each with its own names of columns."""

    def __init__(self, sources: Sequence["Source"]) -> None:
        self._sources = tuple(sources)

    def __repr__(self) -> str:
        return f"SeveralSource(<{len(self._sources)} tables>)"

    def names(self) -> list[str]:
        """Return the names of the columns that all tables have."""
        first, *others = (source.names() for source in self._sources)
        return [name for name in first if all(name in names for names in others)]

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[Counts]:
        """Return one table of counts for each family of columns."""
        counted = [source.count_families(families) for source in self._sources]
        return [sum(tables[1:], tables[0]) for tables in zip(*counted, strict=True)]

    def sum_moments(self, plan: MomentPlan) -> tuple[Wholes, int]:
        """Return the sum of every product of the plan, and the number of records."""
        parts = [source.sum_moments(plan) for source in self._sources]
        records = sum(size for _, size in parts)
        if records > plan.most_records:
            raise SourceError(f"At most {plan.most_records} records can be summed with a grid of {plan.grid}.")
        return sum((sums for sums, _ in parts[1:]), parts[0][0]), records

    def sum_groups(self, plan: GroupPlan) -> tuple[Wholes, int]:
        """Return the sums of a number in every group, and the number of records."""
        return added([source.sum_groups(plan) for source in self._sources])

    def sum_weights(self, plan: WeightPlan) -> tuple[Wholes, int]:
        """Return weighted sums of a number in every group, and the number of records."""
        return added([sum_weights(source, plan) for source in self._sources])

    def id_rows(self, plan: IdPlan) -> IdRows:
        """Return what the rows of each id add up to; a person may have rows in several tables."""
        return IdRows.together([ids_in(source, plan) for source in self._sources])

    def open_quote(self) -> str | None:
        """Say in which record of a file of text a quote is never closed, if there is one: for the data holder only."""
        found = (source.open_quote() for source in self._sources if hasattr(source, "open_quote"))
        return next((where for where in found if where is not None), None)

    def strangers(self, column: Column, most: int = 5) -> list[tuple[str, int]]:
        """Return the most frequent values that no level declares; rare ones of each table may be left out."""
        found: Counter[str] = Counter()
        for source in self._sources:
            found.update(dict(source.strangers(column, 100 * most)))
        return found.most_common(most)
