"""What else records in batches can give: sums of products, and values that no level declares."""

from discreet.records.batches import CountedBatches, answered
from discreet.records.columns import Column
from discreet.records.grouped_sums import GroupPlan, group_sums
from discreet.records.moments import MomentPlan, Wholes, moments_of
from discreet.records.persons import IdPlan, IdRows, id_rows
from discreet.records.strangers import strangers_in
from discreet.records.weights import WeightPlan, weighted_sums


class BatchSource(CountedBatches):
    """Records in batches."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(<records>)"

    def sum_moments(self, plan: MomentPlan) -> tuple[Wholes, int]:
        """Return the sum of every product of the plan, and the number of records."""
        names = list(dict.fromkeys(factor.column for factor in plan.bases))
        self.require(names)
        return answered(lambda: moments_of(self.batches(names), plan), "sum them")

    def sum_groups(self, plan: GroupPlan) -> tuple[Wholes, int]:
        """Return the sums of a number in every group, and the number of records."""
        self.require(plan.names)
        return answered(lambda: group_sums(self.batches(plan.names), plan), "sum them")

    def id_rows(self, plan: IdPlan) -> IdRows:
        """Return what the rows of each id add up to."""
        self.require(plan.names)
        return answered(lambda: id_rows(self.batches(plan.names), plan), "add up the rows of each id")

    def sum_weights(self, plan: WeightPlan) -> tuple[Wholes, int]:
        """Return weighted sums of a number in every group, and the number of records."""
        self.require(plan.names)
        return answered(lambda: weighted_sums(self.batches(plan.names), plan), "sum them")

    def strangers(self, column: Column, most: int = 5) -> list[tuple[str, int]]:
        """Return the most frequent values that no level declares, and how often: for the data holder's eyes only."""
        self.require([column.name])
        return answered(lambda: strangers_in(self.batches([column.name]), column, most), "look for undeclared values")
