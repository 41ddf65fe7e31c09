"""Metrics of a column in groups: the distance of values inside a group, and a declared one to other groups."""

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

from discreet._core.documents import Document
from discreet._core.errors import DeclarationError
from discreet._core.exact import exact, exact_text
from discreet._core.fields import Number, converted, frozen
from discreet.privacy._column_metrics import Line, Steps, beyond_names, declared_in
from discreet.privacy._metric import Metric
from discreet.records import Column, Level


@frozen(repr=False)
class InGroups(Metric, has_kind=False):
    """A metric of one column inside each group of `by`, with the distance `between` two groups; group by group."""

    measure: ClassVar[type[Steps] | type[Line]]

    inside: Steps | Line
    by: Column
    between: Number = converted(exact)

    def __post_init__(self) -> None:
        if not isinstance(self.by, Column) or self.by.name == self.inside.column or self.between <= 0:
            raise DeclarationError("Groups need a separate Column, with declared levels, and a distance above 0.")

    @property
    def groups(self) -> tuple[Level, ...]:
        """Return the levels of the column of groups."""
        return self.by.levels

    @abstractmethod
    def across(self, first: int, second: int) -> Fraction:
        """Return the distance of two cells of different groups."""

    @property
    def columns(self) -> tuple[str, ...]:
        return *self.inside.columns, self.by.name

    @property
    def position_count(self) -> int:
        return len(self.groups) * self.inside.position_count

    def distance(self, first: int, second: int) -> Fraction:
        """Return the distance inside a group, or across two."""
        (one, start), (two, end) = (divmod(index, self.inside.position_count) for index in (first, second))
        return self.inside.distance(start, end) if one == two else self.across(start, end)

    @property
    def nearest(self) -> Fraction:
        return min(self.inside.nearest, self.between)

    def position(self, value: Any) -> int:
        """Return the cell of a pair: a group, and a value."""
        group, number = value
        if group not in self.groups:
            raise DeclarationError(f"{group!r} is not one of the groups {', '.join(map(repr, self.groups))}.")
        return self.groups.index(group) * self.inside.position_count + self.inside.position(number)

    def facts(self) -> Document:
        """Return the facts of the metric inside, the column and levels of groups, and their distance.

        The column's whole declaration is written, unless it has no bands and all else counts as its first level.
        """
        groups = {"by": self.by.name, "groups": list(self.groups), "between": exact_text(self.between)}
        more = beyond_names(self.by, _of_names(self.by.name, self.groups))
        return {"inside": self.inside.facts(), **groups, **more}

    @classmethod
    def of_facts(cls, **facts: Any) -> "Metric":
        name, groups = facts.pop("by"), facts.pop("groups")
        by = declared_in(facts, lambda: _of_names(name, groups))
        return cls(cls.measure(**facts.pop("inside")), by, **facts)


def _of_names(name: str, groups: Sequence[Level]) -> Column:
    """Return the column of these levels whose first one all other values count as."""
    return Column(name, groups, groups[0] if groups else None)


class GroupSteps(InGroups):
    """Even steps of a column inside each group of `by`; all of another group is `between` away.

    >>> metric = GroupSteps(Steps("age", 0, 100, 50), Column("ward", ("A", "B"), outside="A"), 80)
    >>> metric.distance(metric.position(("A", 10)), metric.position(("A", 16)))
    Fraction(6, 1)
    >>> metric.distance(metric.position(("A", 10)), metric.position(("B", 16)))
    Fraction(80, 1)
    """

    measure = Steps

    def __post_init__(self) -> None:
        super().__post_init__()
        if 2 * self.between < self.inside.diameter:
            raise DeclarationError(
                "Groups must be at least half as far apart as the two bounds; otherwise this is not a metric."
            )

    def across(self, first: int, second: int) -> Fraction:
        return self.between

    @property
    def diameter(self) -> Fraction:
        return max(self.inside.diameter, self.between)

    @property
    def unit(self) -> str:
        """Return the unit of the column, and how far groups are apart."""
        return f"{self.inside.unit}; another {self.by.name} is {float(self.between):.4g} away"


class GroupLines(InGroups):
    """Cells in a row inside each group of `by`; to another group the way goes over the middle cells of both rows.

    >>> metric = GroupLines(Line("age", range(101)), Column("ward", ("A", "B"), outside="A"), 20)
    >>> metric.distance(metric.position(("A", 40)), metric.position(("B", 55)))
    Fraction(35, 1)
    """

    measure = Line
    inside: Line

    @property
    def _from_middle(self) -> tuple[Fraction, ...]:
        return tuple(
            self.inside.distance(index, self.inside.position_count // 2) for index in range(self.inside.position_count)
        )

    def across(self, first: int, second: int) -> Fraction:
        """Return both ways to the middle, and the distance between groups."""
        middle = self.inside.position_count // 2
        return self.inside.distance(first, middle) + self.between + self.inside.distance(middle, second)

    @property
    def diameter(self) -> Fraction:
        """Return the longest way across, or inside if that is longer."""
        return max(self.inside.diameter, 2 * max(self._from_middle) + self.between)

    @property
    def unit(self) -> str:
        """Return the unit of the column, and the way to another group."""
        middle = self.inside.positions[self.inside.position_count // 2]
        over = f"over {float(middle):.6g}, and {float(self.between):.4g} from there"
        return f"{self.inside.unit}; the way to another {self.by.name} goes {over}"
