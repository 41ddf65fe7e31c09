"""GroupPaths: a table of an ordered column by groups under a metric: a row of cells for each group, hung together.

Inside a group a record that moves from x_a to x_b is |x_a - x_b| away. To another group its way goes to the middle cell
of its row, from there to that of the other by a declared distance, and on: |x_a - x_m| + between + |x_m - x_b|. The
rows hang on a hub, so the distance is that of a tree, and noise in the shape of transport along it (`hung_paths`) has

    ln P(z | k) - ln P(z | k') <= epsilon_per_unit W(k, k')

for data sets at ANY distance W, by the triangle inequality, with equality at z = k. A distance that adds up values and
groups, |x_a - x_b| + between, is no tree, and no exact sampler of its noise is known; so this way is taken, and said.
For any change whatever it is epsilon = epsilon_per_unit times the longest way, which an ordinary ledger is charged.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts
from discreet.errors import DeclarationError
from discreet.exact import Exact, positive, whole
from discreet.fields import Checked, Converted, Number, Whole, computed, converted, frozen
from discreet.guarantees.column_metrics import Line
from discreet.guarantees.group_metrics import GroupLines
from discreet.mechanisms.additive import noise_epsilon
from discreet.mechanisms.tree_table import NumberCells
from discreet.mechanisms.under_metric import UnderMetric
from discreet.models.model import Model
from discreet.models.number_table import NumberTable
from discreet.noise import HungPaths


@dataclass(frozen=True)
class HungCells(NumberCells):
    """All cells of a table of numbers, group by group."""

    def changes(self) -> tuple[Counts, ...]:
        """Return a unit that moves between two ends of rows: every other way lies inside one of these."""
        own, both = self.model.count - 1, (0, self.model.count - 1)
        across = [(end, self.model.count + other) for end in both for other in both if end <= other]
        return tuple(self._moved(*ends) for ends in [(0, own), *across])


def _model(given: NumberTable, _: str) -> NumberTable:
    if not isinstance(given, NumberTable) or given.by is None:
        raise DeclarationError("GroupPaths publishes a NumberTable with groups (`by`); use PathTable for one without.")
    if given.leaves_gaps_out or given.persons is not None:
        raise DeclarationError(
            "Metric privacy needs a distance between any two records. Declare `missing`, the number that a gap counts "
            "as, and count records rather than persons."
        )
    return given


def _between(made: "GroupPaths", given: Exact | None) -> Fraction:
    return made.model.edges[-2] - made.model.edges[0] if given is None else positive(given, "between")


@frozen(repr=False)
class GroupPaths(UnderMetric[NumberTable], kind="GroupPaths", version=1):
    """A table of numbers by groups, with metric privacy: `epsilon` holds for any change, however large.

    `between` is the distance between two groups, measured at the middle of their rows; left out, it is the distance
    between the bounds.

    >>> from discreet.records.columns import Column
    >>> ward = Column("ward", ("A", "B"), outside="B")
    >>> ages = NumberTable("age", bounds=(0, 100), cells=101, is_whole=True, missing=40, by=ward)
    >>> table = GroupPaths.per_unit(ages, size=1000, epsilon_per_unit="0.1", between=20)
    >>> table.guarantee.epsilon, table.guarantee.metric.at(("A", 40), ("B", 55)).epsilon
    (Fraction(12, 1), Fraction(7, 2))
    """

    model: Checked[NumberTable] = converted(_model)
    size: Whole = converted(whole)
    epsilon: Number = converted(noise_epsilon)
    between: Converted[Exact | None, Fraction] = computed(_between, default=None)

    @classmethod
    def per_unit(
        cls, model: NumberTable, size: int, epsilon_per_unit: Exact, between: Exact | None = None
    ) -> "GroupPaths":
        """Return the mechanism with this epsilon for each unit of the column."""
        diameter = cls(model, size, 1, between).metric.diameter
        return cls(model, size, positive(epsilon_per_unit, "epsilon_per_unit") * diameter, between)

    @cached_property
    def metric(self) -> GroupLines:
        """Return the metric: the distance between cells, along their rows."""
        by = self.model.by
        assert by is not None
        inside = Line(self.model.column, self.model.edges[:-1], self.model.bounds.missing, self.model.bounds.dates)
        return GroupLines(inside, by, self.between)

    @property
    def epsilon_per_unit(self) -> Fraction:
        return self.epsilon / self.metric.diameter

    @property
    def reason(self) -> str:
        return "noise in the shape of transport along rows that hang together (triangle inequality, at any distance)"

    @cached_property
    def quantities(self) -> HungCells:
        return HungCells(self.model, (len(self.model.cells),))

    @cached_property
    def noise(self) -> HungPaths:
        """Return one rate for each step from a cell to the next, and half of that between groups for each row."""
        steps = np.diff(np.array(self.model.edges[:-1], dtype=object))
        rates = tuple(self.epsilon_per_unit * step for step in steps)
        return HungPaths(rates, self.epsilon_per_unit * self.between / 2, len(self.model.groups))

    def checked(self, counts: ArrayLike) -> Counts:
        """Return made-up counts as an array; they must add up to the public size."""
        return self.model.numbers(counts, len(self.model.cells), self.size)

    def twin_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Yield a twin with the same distance between groups."""
        yield {}
