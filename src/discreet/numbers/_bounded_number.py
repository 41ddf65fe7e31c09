"""Questions about one column of numbers: its bounds, its missing values, and the groups in which it is considered.

Bounds are public and declared; values beyond are clipped. By default a record without a value is left out: means and
quantiles are those of the records with one, how many these are being as secret as anything else. Only if somebody
declares a constant for it does a missing value count as that number. Every quantity is given twice: among these
records, where privacy alone leaves something open, and in the population that they come from, where sampling does so
too.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError, SecretError
from discreet._core.exact import Exact, exact, exact_text
from discreet.mechanism import Model, ReadAs, accepted, event_name
from discreet.numbers._persons import ONE_PERSON, THESE_PERSONS, Persons
from discreet.records import (
    Bounds,
    Column,
    IdPlan,
    Measure,
    Source,
    Statistics,
    all_missing_in_words,
    as_source,
    bounds_of,
    day_text,
    is_text,
    measure_of,
    missing_value_in_words,
)

RECORDS, POPULATION = "these records", "population"
"""The two rows of every quantity, in words."""

_POINTS = 512  # of a simulated population between the bounds


class BoundedNumber(Model[ReadAs]):
    """A bounded column of numbers, overall or by the levels of another column.

    With `leaves_gaps_out`, quantities are those of the records that have a value.
    """

    bounds: Bounds
    by: Column | None
    leaves_gaps_out: bool
    persons: Persons | None

    def _declare(
        self, column: str, bounds: Sequence[Exact], by: Column | None, missing: Exact | None,
        persons: Persons | None = None, **others: object,
    ) -> None:  # fmt: skip
        if not isinstance(column, str) or not column or not is_text(column):
            raise DeclarationError(
                "A question about a number needs the name of its column: a string that is not empty."
            )
        if by is not None and (not isinstance(by, Column) or by.name == column):
            raise DeclarationError("by must be a different Column, whose declared levels define the groups.")
        declared, leaves_out = bounds_of(column, bounds, missing), missing is None
        if persons is not None:
            declared, leaves_out = _of_persons(persons, declared, by, leaves_out)
        values = {"bounds": declared, "by": by, "leaves_gaps_out": leaves_out, "persons": persons} | others
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def restored(cls, **values: Any) -> Self:
        """Return what a document describes; it writes bounds, and what stands for a missing value, together."""
        own: Bounds = values.pop("bounds")
        out: bool = values.pop("leaves_gaps_out")
        ends = tuple(day_text(float(end)) if own.dates else end for end in (own.low, own.high))
        missing = day_text(float(own.missing)) if own.dates else own.missing
        make: Callable[..., Self] = cls
        found = make(own.name, ends, missing=None if out else missing, **values)
        if found.bounds != own:
            raise DeclarationError(
                f"The value used for missing entries of {own.name!r} is not the one that follows from its declaration."
            )
        return found

    @property
    def column(self) -> str:
        """Return the name of the column."""
        return self.bounds.name

    @cached_property
    def measure(self) -> Measure:
        """Return how the column is read."""
        return measure_of(self.bounds)

    @property
    def columns(self) -> tuple[Column | Bounds, ...]:
        """Return the column of the groups, if there are any, and the bounds of the numbers."""
        groups = () if self.by is None else (self.by,)
        return (*groups, *self._declared_bounds)

    @property
    def _declared_bounds(self) -> tuple[Bounds, ...]:
        """Return the bounds of the column in one row, and whether missing values are left out."""
        own = self.bounds if self.persons is None else self.persons.of_rows(self.bounds)
        return (replace(own, leaves_missing_out=self.leaves_gaps_out or own != self.bounds),)

    @property
    def missing_in_words(self) -> str:
        """Say what missing values count as, where a declared value stands for them; else None."""
        return all_missing_in_words(self._declared_bounds)

    @property
    def protects(self) -> str:  # type: ignore[override]
        """Return whom the guarantee protects: one person, where their rows are put together."""
        return "one record" if self.persons is None else ONE_PERSON

    @property
    def id_plan(self) -> IdPlan:
        """Return what is added up for each id, where records are persons."""
        assert self.persons is not None
        return self.persons.plan(self.bounds, None)

    @property
    def has_public_persons(self) -> bool:
        """Return whether a public number of persons is stated."""
        return self.persons is not None and self.persons.size is not None

    @property
    def has_secret_persons(self) -> bool:
        """Return whether records are persons whose number is secret."""
        return self.persons is not None and self.persons.size is None

    @property
    def quantity(self) -> str:
        """Return what is asked about in words: the column, or what it is of a person."""
        return self.column if self.persons is None else self.persons.words(self.column)

    @property
    def among(self) -> str:
        """Return the words of the row about those who are in the data."""
        return RECORDS if self.persons is None else THESE_PERSONS

    @property
    def words_about_persons(self) -> str:
        """Say whose rows are put together, and how."""
        if self.persons is None:
            return ""
        own = self.persons
        ends = "" if not own.row_bounds else f", each row cut off at {' and '.join(map(exact_text, own.row_bounds))}"
        return f"all rows of one {own.column} are one of {own.count_in_words}, whose {own.rule} counts{ends}"

    def source(self, data: object) -> Source:
        """Return the records of a frame or another source: its rows, or the persons whose rows they are."""
        return as_source(data) if self.persons is None else self.persons.source(data, self.bounds, self.by)

    @property
    def groups(self) -> tuple[str, ...]:
        """Return each group in words, such as 'ward=A'; one without words if there are none."""
        return ("",) if self.by is None else tuple(event_name(self.by.name, level) for level in self.by.levels)

    @property
    def width(self) -> float:
        """Return how far the bounds are apart."""
        return float(self.bounds.high - self.bounds.low)

    def value_at(self, position: ArrayLike) -> Floats:
        """Return the number at a position between the bounds, 0 at the lower and 1 at the upper one."""
        return np.asarray(float(self.bounds.low) + self.width * np.asarray(position, dtype=float))

    def shown(self, value: float) -> str:
        """Return a number of the column as text; of dates, the day."""
        return day_text(value) if self.bounds.dates else f"{value:,.10g}"

    @property
    def missing_rule(self) -> str:
        """Say what becomes of missing values."""
        if self.leaves_gaps_out:
            return f"{'records' if self.persons is None else 'persons'} without a value are left out"
        who = "missing values count" if self.persons is None else "a person without a value counts"
        return f"{who} as {missing_value_in_words(self.bounds)}"

    def numbers(self, values: ArrayLike, length: int, total: int | None = None) -> Counts:
        """Return simulated statistics as an array, after checking their shape. Secret statistics are refused."""
        if isinstance(values, Statistics):
            raise SecretError("These are secret statistics of real records; only discreet.publish may use them.")
        rows = np.asarray(values)
        if rows.shape[-1:] != (length,) or rows.dtype.kind not in "iu" or (rows < 0).any():
            raise DeclarationError(f"Statistics must be {length} whole numbers >= 0.")
        if total is not None and (rows.sum(axis=-1) != total).any():
            raise DeclarationError(f"The statistics must sum to {total}, because the number of records is public.")
        return rows.astype(np.int64)

    def simulated_groups(self, size: int, generator: np.random.Generator) -> tuple[Floats, Counts]:
        """Return a simulated population of every group on a grid of positions, and records drawn from it.

        Groups are alike in size, and a value is spread between the bounds as a Beta distribution.
        """
        edges = np.linspace(0, 1, _POINTS + 1)
        number = len(self.groups)
        shares = np.empty((number, _POINTS))
        for row in shares:
            middle, strength = generator.uniform(0.15, 0.6), generator.uniform(3.0, 15.0)
            row[:] = np.diff(betainc(middle * strength, (1 - middle) * strength, edges))
        records = generator.multinomial(size, (shares / shares.sum(axis=1, keepdims=True) / number).ravel())
        return shares, records.reshape(number, _POINTS)

    @property
    def simulated_positions(self) -> Floats:
        """Return the positions of a simulated population."""
        return (np.arange(_POINTS) + 0.5) / _POINTS

    def quantity_name(self, statistic: str) -> str:
        """Return the name of a quantity of the column, such as its mean."""
        return f"{statistic} of {self.quantity}"

    @staticmethod
    def row_name(name: str, of: str) -> str:
        """Return the name of a row: that of a quantity, and whether it is of the records or of the population."""
        return f"{name} ({of})"


def require_public_persons(kind: object, model: BoundedNumber[Any]) -> None:
    """Refuse persons whose number is secret, where the number of records is public."""
    if model.has_secret_persons:
        raise DeclarationError(
            f"{type(kind).__name__} takes the number of persons as public, and the model keeps it secret. Nothing was "
            "created. State size, the public number of persons, or use CubeSums, LaplaceSums or BlockTable."
        )


def require_secret_persons(kind: object, model: BoundedNumber[Any]) -> None:
    """Refuse a public number of persons, where the number of records is secret."""
    if model.has_public_persons:
        raise DeclarationError(
            f"{type(kind).__name__} keeps the number of persons secret, and the model states it. Nothing was created. "
            "Leave size out: persons would have to be cut off or filled up to it, which one more person changes."
        )


Numbers = TypeVar("Numbers", bound=BoundedNumber[Any])


def of_public_number(kind: type[Numbers], words: str) -> Callable[[object, Numbers], Numbers]:
    """Return the check that a model is of a kind, and that its persons are not of a secret number."""
    check = accepted(kind, words)

    def checked(mechanism: object, model: Numbers) -> Numbers:
        found = check(mechanism, model)
        require_public_persons(mechanism, found)
        return found

    return checked


def _of_persons(persons: Persons, bounds: Bounds, by: Column | None, leaves_out: bool) -> tuple[Bounds, bool]:
    """Return the bounds of a person's value, and whether persons without one are left out."""
    if not isinstance(persons, Persons) or persons.column in (bounds.name, None if by is None else by.name):
        raise DeclarationError("persons must be a Persons whose column of ids is not one of the columns asked about.")
    if not persons.is_total or not leaves_out:
        return bounds, leaves_out
    if bounds.dates:
        raise DeclarationError("Dates have no total. The value of a person may be the largest, smallest or mean.")
    return replace(bounds, missing=min(max(Fraction(0), bounds.low), bounds.high)), False


def asked_of(ask: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return what is asked, each once and in the order in which it is shown."""
    given = (ask,) if isinstance(ask, str) else tuple(ask)
    if not given or not set(given) <= set(known):
        wrong = sorted(map(repr, set(given) - set(known)))
        raise DeclarationError(f"ask names {', '.join(wrong) or 'nothing'}; it may name {', '.join(known)}.")
    return tuple(each for each in known if each in given)


def exact_shares(quantiles: Sequence[Exact]) -> tuple[Fraction, ...]:
    """Return declared quantiles as exact shares between 0 and 1, each once and rising."""
    found = sorted({exact(each, "a quantile") for each in quantiles})
    if any(not 0 < each < 1 for each in found):
        raise DeclarationError("Quantiles must be shares between 0 and 1, such as 0.5 for the median.")
    return tuple(found)
