"""NumberQuantiles: a few quantiles of a bounded number, on a grid so fine that it is no limit.

The statistics are how many records lie at each of P places. Of a column of whole numbers every number between the
bounds is a place; else the bounds and evenly spaced numbers between them are, and a record lies at the nearest. Edges
run half-way between two places, or in front of a whole number; a quantile is read up to a few of these.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, betaincinv

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, whole
from discreet.mathematics.distributions import tails
from discreet.mechanism import Asked, Simulated, one_for_each
from discreet.numbers._bounded_number import BoundedNumber, exact_shares
from discreet.numbers._persons import Persons
from discreet.numbers._table_estimands import quantile_name
from discreet.numbers._table_model import USUAL, NumberTable
from discreet.records import Bounds, Column, GroupPlan, Measure, Statistics, count_places, measure_of

if TYPE_CHECKING:
    from discreet.numbers._quantiles_posterior import NumberQuantilesPosterior

MOST_STEPS = 2**20
"""The most steps between the bounds."""
USUAL_STEPS = 2**17
_MOST_CELLS = 2**21


@dataclass(frozen=True, init=False, repr=False)
class NumberQuantiles(BoundedNumber["NumberQuantilesPosterior"], kind="NumberQuantiles"):
    """Quantiles of a column with public bounds, overall or by the levels of another column.

    `steps` divide the distance between the bounds, a power of two; a column of whole numbers has its own. `missing` is
    a number that replaces missing values; by default, records without a value are left out of all shares.

    >>> NumberQuantiles("income", bounds=(0, 200_000), quantiles=("0.5",)).places
    131073
    >>> NumberQuantiles("age", bounds=(0, 100), is_whole=True).places
    101
    """

    bounds: Bounds
    quantiles: tuple[Fraction, ...]
    by: Column | None
    is_whole: bool
    leaves_gaps_out: bool
    steps: int
    persons: Persons | None = None

    def __init__(
        self,
        column: str,
        bounds: Sequence[Exact],
        quantiles: Sequence[Exact] = USUAL,
        by: Column | None = None,
        missing: Exact | None = None,
        is_whole: bool = False,
        steps: int | None = None,
        persons: Persons | None = None,
    ) -> None:
        keeps_whole = bool(is_whole) and (persons is None or persons.keeps_whole)
        shares = exact_shares(quantiles)
        self._declare(column, bounds, by, missing, persons, quantiles=shares, is_whole=keeps_whole)
        if self.bounds.dates:
            object.__setattr__(self, "is_whole", True)
        object.__setattr__(self, "steps", self._steps(steps))
        if not shares or self.places < 2 * len(shares) + 2:
            raise DeclarationError(
                f"{len(shares)} quantiles of {self.places} places are asked. There must be one or more, and at least "
                f"{2 * max(len(shares), 1) + 2} places for them; ask for a table of {self.column!r} instead."
            )
        if len(self.groups) * self.places > _MOST_CELLS:
            raise DeclarationError(
                f"The quantiles have {len(self.groups) * self.places} places in all groups; at most {_MOST_CELLS} are "
                "allowed. Ask for a table, or declare fewer steps."
            )

    def _steps(self, given: int | None) -> int:
        if self.is_whole:
            own = ceil(self.bounds.high) - floor(self.bounds.low)
            if own > MOST_STEPS or given not in (None, own):
                raise DeclarationError(
                    f"The whole numbers of {self.column!r} are {own} steps apart; at most {MOST_STEPS} are allowed, "
                    "and no other number of steps can be declared."
                )
            return own
        if given is None:
            return max(2**10, USUAL_STEPS >> (len(self.groups) - 1).bit_length())  # alike in all groups together
        if whole(given, "steps", 2, MOST_STEPS).bit_count() != 1:
            raise DeclarationError("steps, into which the distance between the bounds is divided, is a power of two.")
        return int(given)

    @classmethod
    def asked_as(cls) -> dict[str, Asked]:
        """Return nothing: studies ask for 'number', which makes one of these where it is suitable."""
        return {}

    def __repr__(self) -> str:
        ends = f"{self.shown(float(self.bounds.low))} to {self.shown(float(self.bounds.high))}"
        names = ", ".join(map(quantile_name, self.quantiles))
        by = "" if self.by is None else f", by {self.by.name}"
        of = self.words_about_persons and f", {self.words_about_persons}"
        return f"NumberQuantiles({self.column!r}, {ends}, {names}{by}, {self.missing_rule}{of})"

    @property
    def part_in_words(self) -> str:
        """Say how many places there are between the bounds."""
        return f"{self.places} places"

    @property
    def places(self) -> int:
        """Return P."""
        return self.steps + 1

    @property
    def length(self) -> int:
        """Return how many counts there are: of every place in every group, and of records without a value."""
        return len(self.groups) * self.places + self.leaves_gaps_out

    def edge_values(self, edges: ArrayLike) -> Floats:
        """Return where edges run: below the edge e lie the places 0, ..., e - 1; 0 and P are the bounds themselves."""
        at = np.asarray(edges, dtype=float)
        if self.is_whole:
            return np.asarray(floor(self.bounds.low) + at)
        return self.value_at(np.clip((at - 0.5) / self.steps, 0, 1))

    @cached_property
    def _plan(self) -> GroupPlan:
        own = measure_of(self.bounds)
        unit = self.steps
        if self.is_whole:  # an even number of steps of 1; what lies above the last place is counted there
            low, unit = floor(self.bounds.low), self.steps + self.steps % 2
            own = Measure(own.column, float(low), float(low + unit), own.missing, own.dates)
        return GroupPlan(own, () if self.by is None else (self.by,), self.leaves_gaps_out, unit)

    @property
    def counted(self) -> tuple[object, ...]:
        return self.bounds, self.by, self.leaves_gaps_out, self.is_whole, self.steps, self.persons

    def _counts(self, data: object) -> tuple[Counts, int]:
        found, records = count_places(self.source(data), self._plan)
        tables = found[:-1].reshape(len(self.groups), -1)
        own = tables[:, : self.places].copy()
        own[:, -1] += tables[:, self.places :].sum(axis=1)
        return np.append(own.ravel(), found[-1:] if self.leaves_gaps_out else []).astype(np.int64), records

    def statistics(self, data: object) -> Statistics:
        return Statistics(self, *self._counts(data))

    def rehearse(self, simulated: object) -> Counts:
        """Return the counts of simulated records as plain numbers, for `simulate`. Never give it real records."""
        return self._counts(simulated)[0]

    def contributions(self, most: int) -> tuple[Counts, bool]:
        return one_for_each(self.length, most)

    def parts(self) -> Iterator["NumberQuantiles"]:
        """Yield columns of few places: with groups and missing values as they are, and without."""
        few = self.quantiles[:1] if len(self.quantiles) == 1 else self.quantiles[:2]
        groups = None if self.by is None else Column("group", ("a", "b"), outside="a")
        for by, missing in dict.fromkeys([(groups, None if self.leaves_gaps_out else 0), (None, 0)]):
            yield NumberQuantiles("x", (0, 2 * len(few) + 1), few, by, missing, is_whole=True)

    @property
    def quantity_words(self) -> tuple[str, ...]:
        """Return the quantities of each group."""
        return tuple(self.quantity_name(quantile_name(each)) for each in self.quantiles)

    def main_rows(self, count: int) -> list[int]:
        """Return the rows about the population."""
        return list(range(1, count, 2))

    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        """Draw a population between the bounds for every group, a Beta distribution each, and records from it."""
        sizes = generator.multinomial(size, np.full(len(self.groups), 1 / len(self.groups)))
        truth, counts = list[float](), np.zeros((len(self.groups), self.places), dtype=np.int64)
        shares = np.array([float(each) for each in self.quantiles])
        for table, own in zip(counts, sizes.tolist(), strict=True):
            middle, strength = generator.uniform(0.15, 0.6), generator.uniform(3.0, 15.0)
            shape = middle * strength, (1 - middle) * strength
            drawn = generator.beta(*shape, size=own)
            table += np.bincount(self._places_of(drawn), minlength=self.places)
            values = self._values_of(self._places_of(betaincinv(*shape, shares)))
            ranks = np.maximum(1, np.ceil(shares * own - 1e-9)).astype(np.int64)
            records = self._values_of(np.searchsorted(np.cumsum(table), np.minimum(ranks, max(own, 1))))
            truth += [value for pair in zip(records.tolist(), values.tolist(), strict=True) for value in pair]
        return Simulated(tuple(truth), np.append(counts.ravel(), [0] * self.leaves_gaps_out).astype(np.int64))

    def _places_of(self, positions: Floats) -> Counts:
        """Return the places of positions between the bounds, from 0 to 1."""
        if self.is_whole:
            return np.asarray(np.floor(self.value_at(positions)) - floor(self.bounds.low)).astype(np.int64)
        return np.floor(positions * self.steps + 0.5).astype(np.int64)

    def _values_of(self, places: Counts) -> Floats:
        """Return the number at each of some places."""
        own = np.minimum(places, self.steps)
        return np.asarray(floor(self.bounds.low) + own) if self.is_whole else self.value_at(own / self.steps)

    def simulation_cost(self, size: int) -> tuple[float, float]:
        return 1e5 + 60.0 * size + 5.0 * self.length, float(self.length)

    def exact(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        """Return the quantiles of exact counts: none is uncertain among the records; sampling is in the population."""
        found, (low, high) = list[tuple[float, float]](), tails(level)
        for table in np.asarray(statistics)[: len(self.groups) * self.places].reshape(len(self.groups), -1):
            below = np.cumsum(table)
            total = max(1, int(below[-1]))
            for share in map(float, self.quantiles):
                rank = max(1, ceil(share * total - 1e-9))
                point = float(self._values_of(np.searchsorted(below, [rank]))[0])
                ranks = np.arange(total + 1)
                inside = bdtr(ranks.astype(float), total, share)
                first, last = int((inside < low).sum()), int((inside < high).sum()) + 1
                ends = self._values_of(np.searchsorted(below, [max(first, 1), min(last, total)]))
                found += [(point, 0.0), (point, float(ends[1] - ends[0]))]
        return found


LEAST_RANKS = 300
"""How many records times epsilon there must be beyond a quantile for places near it to be found well."""
LEAST_SHARED = 600
"""How many records times epsilon there must be for each of several quantiles."""
FEW_VALUES = 256


def why_table(model: NumberQuantiles | NumberTable, size: int, epsilon: Exact) -> str | None:
    """Return why a table of cells suits quantiles better than places that are chosen; None if it does not.

    Records, groups and epsilon decide, which are public: never data.

    >>> why_table(NumberQuantiles("income", bounds=(0, 200_000), quantiles=("0.5",)), size=1000, epsilon=1)
    >>> why_table(NumberQuantiles("income", bounds=(0, 200_000), quantiles=("0.5",)), size=100, epsilon=1)
    'a table is better where fewer than 300 records x epsilon lie beyond a quantile; here it is 50'
    """
    known = size * exact(epsilon, "epsilon") / len(model.groups)
    beyond = float(known * min(min(each, 1 - each) for each in model.quantiles))
    values = ceil(model.bounds.high) - floor(model.bounds.low) + 1
    if model.is_whole and values <= FEW_VALUES:
        return f"a table can have a cell for each of {values} whole numbers"
    if beyond < LEAST_RANKS:
        return (
            f"a table is better where fewer than {LEAST_RANKS} records x epsilon lie beyond a quantile; here it is "
            f"{beyond:,.4g}"
        )
    if (count := len(model.quantiles)) > 1 and known < LEAST_SHARED * count:
        return (
            f"a table is better where records x epsilon are fewer than {LEAST_SHARED} for each quantile; here it is "
            f"{float(known / count):,.4g}"
        )
    return None
