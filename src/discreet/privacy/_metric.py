"""Metrics as data: how far apart two records are, and with them two data sets.

The distance of data sets is the sum of the distances of their records, in the order that makes it smallest: what it
costs to carry the units of one histogram to where the other has them. A metric is public, is written into a release,
and has a digest, by which ledgers distinguish metrics. It states all that decides in which cell a record is
(levels, bands, dates, cells, what is outside or missing): under another declaration of the same column, records at no
distance are distinguishable.

    Line      cells in a row at positions of a column     |x_i - x_j|
    Steps     the same, evenly between two bounds         |i - j| (high - low) / steps
    Tree      levels on a tree, joined by edges           length of the path
    GroupSteps, GroupLines   the same inside groups       and a way of its own to another group
    Sum       several columns at once                     the sum of their distances
    Records   records that differ, whatever they say      1
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from math import prod
from typing import Any, ClassVar, NamedTuple

from discreet._core.documents import Document, canonical_json
from discreet._core.errors import DeclarationError, DocumentError
from discreet._core.exact import Exact, exact, exact_text
from discreet._core.fields import Converted, converted, frozen
from discreet._core.kinds import KINDS
from discreet._core.on_demand import load_kind
from discreet.records import Column


class ColumnBins(NamedTuple):
    """How a record's number finds its cell: where cells begin, what stands for missing values, whether it is dates."""

    column: str
    starts: tuple[Fraction, ...]
    missing: Fraction | None
    dates: bool


class Metric(ABC):
    """A distance between records, whose possible positions are numbered from 0."""

    kinds: ClassVar[dict[str, type["Metric"]]] = {}
    """Every metric by the name under which it is written; each registers by itself."""

    def __init_subclass__(cls, has_kind: bool = True) -> None:
        """Register a metric, unless it only says what several of them share: no document may name that."""
        super().__init_subclass__()
        if has_kind:
            if cls.__name__ in KINDS["metric"] and not cls.__module__.startswith("discreet."):
                raise TypeError(f"{cls.__name__!r} is a metric of discreet itself; choose another name.")
            Metric.kinds[cls.__name__] = cls

    @property
    def parts(self) -> "tuple[Metric, ...]":
        """Return the metrics whose sum this is; a single metric returns itself."""
        return (self,)

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Return the columns that it is about."""

    @property
    def levels(self) -> Column | None:
        """Return the declared column whose levels are its cells, if they are levels: how a record finds its cell."""
        return None

    @property
    def numbers(self) -> ColumnBins | None:
        """Return the declared cells of numbers that are its cells, if it has any: how a record finds its cell."""
        return None

    @property
    @abstractmethod
    def position_count(self) -> int:
        """Return the number of positions; 0 if there are infinitely many."""

    @abstractmethod
    def distance(self, first: int, second: int) -> Fraction:
        """Return the distance between two positions."""

    @property
    @abstractmethod
    def diameter(self) -> Fraction:
        """Return the largest distance."""

    @property
    @abstractmethod
    def nearest(self) -> Fraction:
        """Return the smallest distance between two different positions."""

    @property
    @abstractmethod
    def unit(self) -> str:
        """Return what a distance of 1 means, in words."""

    @abstractmethod
    def facts(self) -> Document:
        """Return its public facts, as they are written down."""

    def document(self) -> Document:
        """Return the metric as a document: its kind and its public facts."""
        return {"kind": type(self).__name__, **self.facts()}

    @classmethod
    def of_facts(cls, **facts: Any) -> "Metric":
        """Return the metric that written facts describe."""
        make: Callable[..., Metric] = cls
        return make(**facts)

    @abstractmethod
    def position(self, value: Any) -> int:
        """Return the position of a value."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(1 is {self.unit}, at most {exact_text(self.diameter)} apart)"

    @property
    def digest(self) -> str:
        """Return a digest of the canonical text, by which ledgers tell metrics apart."""
        return sha256(canonical_json(self.document()).encode()).hexdigest()


@frozen(repr=False)
class Sum(Metric):
    """The sum of the distances in several columns. Positions are numbered like the cells of a crossed table.

    Releases about single columns, each with its own epsilon per unit, jointly guarantee the largest of these per unit
    of the sum: the losses of one record add up over all columns, and so do its distances.

    >>> from discreet.privacy import Line
    >>> both = Sum([Line("age", range(101)), Line("pay", range(0, 1000, 10))])
    >>> both.distance(both.position((35, 200)), both.position((38, 240)))
    Fraction(43, 1)
    """

    metrics: Converted[Sequence[Metric], tuple[Metric, ...]] = converted(lambda each, _: tuple(each))

    def __post_init__(self) -> None:
        if len(self.metrics) < 2 or any(each.parts != (each,) or not each.position_count for each in self.metrics):
            raise DeclarationError("A Sum needs at least two metrics, each on one column.")
        if len(set(self.columns)) < len(self.columns):
            raise DeclarationError("A Sum of metrics may use each column only once.")

    @property
    def parts(self) -> tuple[Metric, ...]:
        return self.metrics

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(column for each in self.metrics for column in each.columns)

    @property
    def position_count(self) -> int:
        return prod(each.position_count for each in self.metrics)

    def _split(self, index: int) -> list[int]:
        found = []
        for each in reversed(self.metrics):
            index, part = divmod(index, each.position_count)
            found.append(part)
        return found[::-1]

    def distance(self, first: int, second: int) -> Fraction:
        """Return the sum of the distances in all columns."""
        pairs = zip(self.metrics, self._split(first), self._split(second), strict=True)
        return sum((each.distance(one, two) for each, one, two in pairs), Fraction(0))

    @property
    def diameter(self) -> Fraction:
        return sum((each.diameter for each in self.metrics), Fraction(0))

    @property
    def nearest(self) -> Fraction:
        return min(each.nearest for each in self.metrics)

    @property
    def unit(self) -> str:
        return ", or ".join(each.unit for each in self.metrics)

    def position(self, value: Sequence[Exact]) -> int:
        """Return the cell of one value for each column, in their order."""
        found = 0
        for each, part in zip(self.metrics, value, strict=True):
            found = found * each.position_count + each.position(part)
        return found

    def facts(self) -> Document:
        return {"metrics": [each.document() for each in self.metrics]}

    @classmethod
    def of_facts(cls, **facts: Any) -> "Sum":
        return cls([read_metric(each) for each in facts.pop("metrics")], **facts)


@dataclass(frozen=True, repr=False)
class Records(Metric):
    """The discrete metric: different records are 1 apart. Epsilon per unit is then ordinary differential privacy."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return none: it is about whole records."""
        return ()

    @property
    def position_count(self) -> int:
        return 0

    def distance(self, first: int, second: int) -> Fraction:
        """Return 1 for records that differ."""
        return Fraction(first != second)

    @property
    def diameter(self) -> Fraction:
        """Return 1."""
        return Fraction(1)

    @property
    def nearest(self) -> Fraction:
        """Return 1."""
        return Fraction(1)

    @property
    def unit(self) -> str:
        return "record that differs"

    def position(self, value: Exact) -> int:
        return int(exact(value, "a record's number"))

    def facts(self) -> Document:
        return {}


def read_metric(document: object) -> Metric:
    """Return the metric that a document describes."""
    if not isinstance(document, dict):
        raise DocumentError("A metric must be written as its kind and its public facts.")
    facts = {name: value for name, value in document.items() if name != "kind"}
    kind = document.get("kind")
    if isinstance(kind, str) and kind not in Metric.kinds:
        load_kind("metric", kind)
    if not isinstance(kind, str) or kind not in Metric.kinds:
        known = ", ".join(sorted({*KINDS["metric"], *Metric.kinds}))
        raise DocumentError(f"The kind of a metric must be one of {known}; got {kind!r}.")
    try:
        found = Metric.kinds[kind].of_facts(**facts)
    except (DeclarationError, TypeError, KeyError) as problem:
        raise DocumentError(f"The metric cannot be read: {problem}") from None
    if found.document() != document:
        raise DocumentError("The metric is not written in its canonical form.")
    return found
