"""Some of the records: those that have one declared level or band of each of a few declared columns.

Whether a record is one of them is decided by that record alone, and for every record: what is undeclared or missing has
the level named `outside`, like any other. How many records there are is as secret as what they say. They are counted as
part of a table of all records, of which the one slice is kept, so that the work is the same whoever is in it.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING, NoReturn, Protocol

import numpy as np

from discreet._core.arrays import Counts
from discreet._core.documents import Document, plain_fields
from discreet._core.errors import DeclarationError, DocumentError, SourceError, meant
from discreet.records._columns import Column, Level, level_text
from discreet.records._matches import ColumnMatch
from discreet.records._moments import Wholes
from discreet.records._source import Source, as_source
from discreet.records._statistics import Statistics

if TYPE_CHECKING:
    from discreet.records._grouped_sums import GroupPlan

_MOST_NUMBERS = 2**26  # of a table of all records: half a gigabyte
_EXAMPLE = "such as where = 'ward = West and sex = female'"


class _Counted(Protocol):
    def statistics(self, data: object) -> Statistics:
        """Return what is counted of the records."""


@dataclass(frozen=True, init=False)
class Where:
    """The records that have a declared level of each of some columns: 'ward = West', or 'ward = West and age = 65+'.

    >>> ward = Column("ward", ("West", "East"), outside="West")
    >>> west = Where("ward=West", [ward])
    >>> str(west)
    'ward = West'
    """

    conditions: tuple[tuple[Column, Level], ...]

    def __init__(self, text: str, columns: Iterable[Column]) -> None:
        known = {column.name: column for column in columns}
        if not isinstance(text, str) or not text.strip():
            raise DeclarationError(f"where must be a text of conditions, {_EXAMPLE}; got {text!r}.")
        found = [_condition(part, known) for part in re.split(r"\s+and\s+", text.strip())]
        object.__setattr__(self, "conditions", _in_order(found))

    @classmethod
    def of(cls, conditions: Iterable[tuple[Column, Level]]) -> "Where":
        """Return the records that meet these conditions."""
        made = object.__new__(cls)
        object.__setattr__(made, "conditions", _in_order(list(conditions)))
        return made

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns of the conditions."""
        return tuple(column for column, _ in self.conditions)

    def __str__(self) -> str:
        return " and ".join(condition_text(*each) for each in self.conditions)

    def document(self) -> list[Document]:
        """Return the conditions as they are written down, with the columns that say what their levels mean."""
        return [{"column": plain_fields(column), "level": level} for column, level in self.conditions]

    @classmethod
    def from_document(cls, written: object) -> "Where":
        """Return what a document says, in its one form."""
        found = []
        for each in written if isinstance(written, list) and written else [None]:
            if not isinstance(each, Mapping) or set(each) != {"column", "level"}:
                raise DocumentError("Conditions must be a list in which each has a column and a level.")
            column, level = Column.from_document(each["column"]), each["level"]
            if (level, type(level)) not in [(known, type(known)) for known in column.levels]:
                raise DocumentError(f"{column.name!r} has no level {level!r}.")
            found.append((column, level))
        try:
            made = cls.of(found)
        except DeclarationError as problem:
            raise DocumentError(str(problem)) from None
        if made.document() != written:
            raise DocumentError("The conditions are not written in their canonical form.")
        return made

    def source(self, data: object) -> Source:
        """Return these records as a source of their own."""
        return Selected(as_source(data), self)

    def statistics(self, model: _Counted, data: object) -> Statistics:
        """Count what a model needs of these records alone. The result is secret, and says whom it is about."""
        found = model.statistics(self.source(data))
        found.where = self
        return found


def condition_text(column: Column, level: Level) -> str:
    """Return a condition as text, which also names a group of a ledger.

    >>> condition_text(Column("fell", (True, False), outside=False), True)
    'fell = true'
    """
    return f"{column.name} = {level_text(level)}"


def _condition(text: str, known: Mapping[str, Column]) -> tuple[Column, Level]:
    name, equals, level = (part.strip() for part in text.partition("="))
    if not equals or not name or not level:
        raise DeclarationError(
            f"where has the condition {text!r}; each must name a column and one of its levels, {_EXAMPLE}. Other "
            "comparisons, 'or' and 'not' are not possible: declare bands or levels that say what you mean."
        )
    if name not in known:
        raise DeclarationError(
            f"where names the column {name!r}; declare it as [columns.NAME], with levels or bands.{meant(name, known)}"
        )
    levels = {level_text(each): each for each in known[name].levels}
    if level not in levels:
        raise DeclarationError(
            f"where names the level {level!r}, which {name!r} does not have. Its levels are "
            f"{', '.join(map(repr, levels))}.{meant(level, levels)}"
        )
    return known[name], levels[level]


def _in_order(conditions: Sequence[tuple[Column, Level]]) -> tuple[tuple[Column, Level], ...]:
    names = [column.name for column, _ in conditions]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DeclarationError(
            f"where names {twice!r} twice: a record has one level of a column. Name each column once."
        )
    return tuple(sorted(conditions, key=lambda each: each[0].name))


@dataclass(frozen=True)
class Selected:
    """Some records of a source."""

    all: Source
    where: Where

    def count_families(self, families: Sequence[Sequence[Column]]) -> list[Counts]:
        """Return the tables of these records, each as a slice of one over the columns of the conditions as well."""
        wide = [self._with_conditions(family) for family in families]
        tables = self.all.count_families(wide)
        return [self._slice(table, own, len(family)) for table, own, family in zip(tables, wide, families, strict=True)]

    def _with_conditions(self, family: Sequence[Column], each: int = 1) -> tuple[Column, ...]:
        """Return the columns that are counted together; refuse too many cells, of which each has so many numbers."""
        wide = tuple(dict.fromkeys((*family, *self.where.columns)))
        if (numbers := each * prod(len(column.levels) for column in wide)) > _MOST_NUMBERS:
            raise SourceError(
                f"Counting {', '.join(column.name for column in wide)} together takes {numbers:,} numbers; at most "
                f"{_MOST_NUMBERS:,} are counted where there are conditions. Nothing was counted and nothing was "
                "charged. Ask about fewer columns, or with fewer conditions."
            )
        return wide

    def _slice(self, table: Counts, columns: Sequence[Column], own: int) -> Counts:
        """Return the table over the first columns, of the records that meet the conditions; all others are 0.

        A last axis without a column is kept.
        """
        levels = dict(self.where.conditions)
        places = [column.levels.index(levels[column]) if column in levels else None for column in columns]
        kept = tuple(slice(None) if place is None else slice(place, place + 1) for place in places)
        found = np.zeros_like(table)
        found[kept] = table[kept]
        return np.ascontiguousarray(found.sum(axis=tuple(range(own, len(columns)))))

    def sum_groups(self, plan: "GroupPlan") -> tuple[Wholes, int]:
        """Return the sums of these records in every group, and their number."""
        wide = self._with_conditions(plan.groups)
        sums, _ = self.all.sum_groups(replace(plan, groups=wide))
        table = sums.reshape(*(len(column.levels) for column in wide), sums.shape[1])
        return self._slice(table, wide, len(plan.groups)).reshape(-1, sums.shape[1]), self._number()

    def count_places(self, plan: "GroupPlan") -> tuple[Wholes, int]:
        """Return how many of these records of every group lie at each position, how many have no value; and all."""
        wide = self._with_conditions(plan.groups, plan.unit + 1)
        found, _ = self.all.count_places(replace(plan, groups=wide))
        table = found[:-1].reshape(*(len(column.levels) for column in wide), plan.unit + 1)
        known, number = self._slice(table, wide, len(plan.groups)).ravel(), self._number()
        return np.append(known, number - known.sum()), number

    def _number(self) -> int:
        (table,) = self.count_families([self.where.columns])
        return int(table.sum())

    def _refused(self, *_: object) -> NoReturn:
        """Refuse what is not counted in part."""
        raise SourceError(
            f"Only tables of columns with levels, and sums and quantiles of a number, can be asked where {self.where}. "
            "Nothing was counted and nothing was charged."
        )

    sum_moments = whole_rows = sum_weights = id_rows = stored = with_derived = _refused

    def names(self) -> list[str]:
        """Return the names of the columns."""
        return self.all.names()

    def match(self, columns: Sequence[Column], most: int = 5) -> list[ColumnMatch]:
        """Return how all records match the columns, for the data holder only."""
        return self.all.match(columns, most)


def conditions_on(column: Column) -> tuple[str, ...]:
    """Return the conditions that a column can have, as text: the groups of a ledger that it divides."""
    return tuple(condition_text(column, level) for level in column.levels)
