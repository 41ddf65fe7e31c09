"""Whose rows belong together: a declared column of ids, the public number of persons, and what one person's value is.

The guarantee then protects everything that the rows of one id say. A person's value is their total, or the largest, the
smallest or the mean of their values, each cut off at declared bounds. Which row comes first depends on how a table was
stored, and may depend on other persons, so there is no such rule.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet._core.errors import DeclarationError, meant
from discreet._core.exact import Exact, whole
from discreet.records import (
    MEAN,
    RULES,
    TOTAL,
    Bounds,
    Column,
    IdPlan,
    PersonSource,
    as_source,
    bounds_of,
    is_text,
    measure_of,
)

ONE_PERSON = "one person"
"""Whom a guarantee protects where rows are put together by their ids."""
THESE_PERSONS = "these persons"
MOST_PERSONS = 2**37

_ORDERED = ("first", "last", "any", "random", "latest", "earliest")


def id_column(name: str, _: str = "column") -> str:
    """Return the name of a column of ids, or say that it is none."""
    if not isinstance(name, str) or not name or not is_text(name):
        raise DeclarationError("unit_column must be the name of the column of ids: a string that is not empty.")
    return name


def number_of_persons(size: int | None, _: str = "size") -> int | None:
    """Return the public number of persons, or nothing where it is secret."""
    return None if size is None else whole(size, "the number of persons", most=MOST_PERSONS)


def counted_persons(size: int | None) -> str:
    """Say how many persons there are, or that this is secret.

    >>> counted_persons(5000), counted_persons(None)
    ('5,000 persons', 'a secret number of persons')
    """
    return "a secret number of persons" if size is None else f"{size:,} persons"


@dataclass(frozen=True, init=False)
class Persons:
    """The column of ids, the public number of persons, and the rule that gives each person one value.

    `size` is public and counts everybody who could have rows, whether they have any or not. Without it the number of
    persons is secret: those are counted who have rows, and rows without an id are left out. For totals, `row_bounds`
    are the bounds of a single row, and the bounds of the question are those of a person's total.

    >>> Persons("patient", size=5000, rule="largest").rule
    'largest'
    """

    column: str
    size: int | None = None
    rule: str = TOTAL
    row_bounds: tuple[Fraction, ...] = ()

    def __init__(
        self, column: str, size: int | None = None, rule: str = TOTAL, row_bounds: Sequence[Exact] = ()
    ) -> None:
        object.__setattr__(self, "column", id_column(column))
        if rule in _ORDERED:
            raise DeclarationError(
                f"The value of a person cannot be that of the {rule} row: which row that is depends on how the table "
                "is stored, which other people's rows may change, so there would be no guarantee. It may be "
                f"{_listed(RULES)}, which do not depend on the order."
            )
        if rule not in RULES:
            raise DeclarationError(
                f"The value of a person must be {_listed(RULES)}; got {rule!r}.{meant(str(rule), RULES)}"
            )
        if (rule == TOTAL) != bool(row_bounds):
            raise DeclarationError(
                "A total needs bounds for a single row, and bounds for all rows of a person together."
                if rule == TOTAL
                else f"Separate bounds for a single row are only for totals; the {rule} of rows has one pair of bounds."
            )
        ends = bounds_of(f"a row of {column}", row_bounds, None) if row_bounds else None
        if ends is not None and ends.dates:
            raise DeclarationError("Dates have no total. The value of a person may be the largest, smallest or mean.")
        object.__setattr__(self, "size", number_of_persons(size))
        object.__setattr__(self, "rule", rule)
        object.__setattr__(self, "row_bounds", () if ends is None else (ends.low, ends.high))

    @property
    def is_total(self) -> bool:
        """Return whether a person's value is a total: then that of nobody's rows is 0."""
        return self.rule == TOTAL

    @property
    def keeps_whole(self) -> bool:
        """Return whether whole numbers in rows make a whole number of a person."""
        return self.rule != MEAN

    def of_rows(self, bounds: Bounds) -> Bounds:
        """Return the bounds of one row, from those of a person's value."""
        if not self.row_bounds:
            return bounds
        low, high = self.row_bounds
        return Bounds(bounds.name, low, high, low)

    def plan(self, bounds: Bounds, by: Column | None) -> IdPlan:
        """Return what is added up for each id."""
        return IdPlan(self.column, measure_of(self.of_rows(bounds)), () if by is None else (by,))

    def source(self, data: object, bounds: Bounds, by: Column | None) -> PersonSource:
        """Return a table with one record for each person."""
        return PersonSource(as_source(data), self.plan(bounds, by), self.size, self.rule)

    @property
    def count_in_words(self) -> str:
        """Say of how many persons one is one."""
        return counted_persons(self.size)

    def words(self, column: str) -> str:
        """Return a person's value in words."""
        return f"{self.rule} {column} per {self.column}"


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
