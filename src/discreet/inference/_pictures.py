"""What a posterior provides for pictures: intervals that can share one axis, or the graph of a network."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from discreet.inference._row import PROBABILITY, Row, percent_text
from discreet.mechanism import Model, event_name
from discreet.records import Level


@dataclass(frozen=True)
class IntervalLine:
    """One interval of a picture: its name within its group, and the words beside it.

    An interval about which nothing is known is not drawn: only its name and its words are shown.
    """

    name: str
    mean: float
    low: float
    high: float
    group: str = ""
    text: str = ""
    drawn: bool = True


@dataclass(frozen=True)
class Intervals:
    """Intervals that are drawn below each other on one axis, or on one axis in each group if their units differ.

    `careless` are the intervals of a reader who ignores the noise, one for each line, for comparison. `reference` is a
    value that deserves a line of its own, with its name; `heading` stands above the words beside the intervals.
    """

    axis: str
    lines: tuple[IntervalLine, ...]
    careless: tuple[IntervalLine, ...] = ()
    reference: tuple[float, str] | None = None
    heading: str = ""
    unit: str | None = PROBABILITY
    """The unit of all of them, None if each group has its own axis."""


def intervals_of(rows: Sequence[Row], level: float) -> Intervals:
    """Return the rows to be drawn: on one axis, or on one per unit if there are several."""
    what = f"mean and {percent_text(level)} interval"
    units, quantities = {row.unit for row in rows}, {row.quantity for row in rows}
    only = rows[0].unit if len(units) == 1 else None
    alone = only is not None and len(quantities) == 1 and len(rows) > 1  # one quantity under many conditions
    lines = []
    for row in rows:
        mean, low, high = row.texts
        group = "" if alone else row.unit_text if only is None else f"given {row.given}" if row.given else ""
        name = row.given if alone else row.quantity
        lines.append(IntervalLine(name, row.mean, row.low, row.high, group, f"{mean}  ({low} to {high})"))
    axis = "" if only is None else "Probability" if only == PROBABILITY else rows[0].unit_text
    shown = ": ".join(filter(None, [f"{axis} of {rows[0].quantity}" if alone else axis, what]))
    return Intervals(shown, tuple(lines), unit=only)


@dataclass(frozen=True)
class Distribution:
    """The distribution of a number in every group: its edges, shares below them, and shares of cells.

    Each edge has the share below it, the interval for the records and that for the population; each cell has its share
    and the interval for the population.
    """

    column: str
    groups: tuple[tuple[str, tuple[float, ...], tuple[tuple[float, ...], ...], tuple[tuple[float, ...], ...]], ...]
    dates: bool = False
    densities: tuple[tuple[tuple[float, float], ...], ...] = ()
    """A smooth curve for each group, positions and heights in shares per unit: for the eye alone.

    None of whole numbers, which are atoms.
    """
    among: str = "these records"


@dataclass(frozen=True)
class TableEntry:
    """One level in one row of a network's table: P(variable = level | parents), the parents and their levels named."""

    variable: str
    level: Level
    parents: tuple[tuple[str, Level], ...]
    row: Row

    @classmethod
    def names(cls, variable: str, level: Level, parents: tuple[tuple[str, Level], ...]) -> tuple[str, str]:
        """Return the event and its condition in words, such as 'cancer=yes' and 'smoker=yes'."""
        return event_name(variable, level), ", ".join(event_name(name, known) for name, known in parents)


@dataclass(frozen=True)
class Graph:
    """A network and, if they are asked for, all entries of its tables in the order of the variables."""

    network: Model
    entries: Callable[[], tuple[TableEntry, ...]]
