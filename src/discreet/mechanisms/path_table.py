"""PathTable: a table of an ordered column under a metric: values that are close look alike, those far apart need not.

Cells lie at positions x_i, a record that moves from x_a to x_b is |x_a - x_b| away. Noise in the shape of transport,

    P(u) = prod_i tanh(r_i/2) e^(-r_i |u_0 + ... + u_i|),   r_i = epsilon_per_unit (x_(i+1) - x_i),

has ln P(z | k) - ln P(z | k') <= epsilon_per_unit W(k, k') for data sets at ANY distance W, by the triangle inequality,
with equality at z = k: no smaller number holds. That is definition 2 of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein
(2014), with delta = 0. For any change of one record whatever it is epsilon = epsilon_per_unit times the diameter, which
is what an ordinary ledger is charged. It is another promise than an ordinary one, not a better one: at equal ordinary
epsilon a TreeTable has far less noise. It is for columns where precision is what harms, and a rough place is harmless.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts
from discreet.errors import DeclarationError
from discreet.exact import Exact, positive, whole
from discreet.fields import Checked, Number, Whole, computed, converted, frozen
from discreet.guarantees.column_metrics import Line
from discreet.mechanisms.additive import noise_epsilon
from discreet.mechanisms.mechanism import accepted
from discreet.mechanisms.tree_table import NumberCells
from discreet.mechanisms.under_metric import UnderMetric
from discreet.models.number_table import NumberTable
from discreet.noise import TreeLaplace


@dataclass(frozen=True)
class OrderedCells(NumberCells):
    """All cells of a table of numbers, in their order."""

    def changes(self) -> tuple[Counts, ...]:
        """Return a unit that moves from one end to the other: it crosses every edge that any other move crosses."""
        return (self._moved(0, self.length - 1),)


@frozen(repr=False)
class PathTable(UnderMetric[NumberTable], kind="PathTable", version=1):
    """A table of numbers with metric privacy: `epsilon` holds for any change, even from one bound to the other.

    >>> ages = NumberTable("age", bounds=(0, 100), cells=101, is_whole=True, missing=40)
    >>> table = PathTable.per_unit(ages, size=1000, epsilon_per_unit="0.1")
    >>> table.guarantee.epsilon, table.guarantee.metric.at(35, 38).epsilon
    (Fraction(10, 1), Fraction(3, 10))
    """

    model: Checked[NumberTable] = computed(accepted(NumberTable, "publishes the table of a NumberTable; got a"))
    size: Whole = converted(whole)
    epsilon: Number = converted(noise_epsilon)

    def __post_init__(self) -> None:
        if self.model.leaves_gaps_out or self.model.by is not None or self.model.persons is not None:
            raise DeclarationError(
                "Metric privacy needs a distance between any two records. Declare `missing`, the number that a gap "
                "counts as, and count records rather than persons. For a table with groups use GroupPaths, which "
                "declares how far apart they are."
            )

    @classmethod
    def per_unit(cls, model: NumberTable, size: int, epsilon_per_unit: Exact) -> "PathTable":
        """Return the mechanism with this epsilon for each unit of the column."""
        per_unit = positive(epsilon_per_unit, "epsilon_per_unit")
        return cls(model, size, per_unit * (model.edges[-2] - model.edges[0]))

    @property
    def metric(self) -> Line:
        """Return the metric: the distance between the values at which cells begin."""
        return Line(self.model.column, self.model.edges[:-1], self.model.bounds.missing, self.model.bounds.dates)

    @property
    def epsilon_per_unit(self) -> Fraction:
        return self.epsilon / self.metric.diameter

    @property
    def reason(self) -> str:
        return "noise in the shape of transport along the column (triangle inequality, at any distance)"

    @cached_property
    def quantities(self) -> OrderedCells:
        return OrderedCells(self.model, (self.model.count,))

    @cached_property
    def noise(self) -> TreeLaplace:
        """Return one rate for each step from a cell to the next."""
        steps = np.diff(np.array(self.model.edges[:-1], dtype=object))
        return TreeLaplace.path([self.epsilon_per_unit * step for step in steps])

    def checked(self, counts: ArrayLike) -> Counts:
        """Return made-up counts as an array; they must add up to the public size."""
        return self.model.numbers(counts, len(self.model.cells), self.size)
