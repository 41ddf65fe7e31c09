"""Means, sums and spreads of a bounded number, overall or by group, from sums that every record shares in alike.

A record with a value at the position x in [0, 1] between the bounds adds x to the high end of its group and 1 - x to
the low end; one without a value adds 1 to a separate end. So every record is one unit that is divided among ends,
and all ends together add up to the public number of records. The mean is read from the two ends of a group,

    mean = low + (high - low) T_high / (T_high + T_low),

and how many records of a group have a value, T_high + T_low, comes along. The same is done with the squared distance
from the middle, from which the spread is read. All of it is made of whole numbers: a record is `unit` of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, whole
from discreet.mathematics.distributions import tails
from discreet.mechanism import Asked, Simulated
from discreet.numbers._bounded_number import BoundedNumber, asked_of
from discreet.numbers._persons import Persons
from discreet.records import UNIT, Bounds, Column, GroupPlan, Statistics, squared, sum_groups

if TYPE_CHECKING:
    from discreet.numbers._sums_posterior import NumberSumsPosterior

MEAN, SUM, VARIANCE, DEVIATION = "mean", "sum", "variance", "standard deviation"
ASKED = (MEAN, SUM, VARIANCE, DEVIATION)
MOST_GROUPS = 10_000


@dataclass(frozen=True, init=False, repr=False)
class NumberSums(BoundedNumber["NumberSumsPosterior"], kind="NumberSums"):
    """The mean, the sum or the spread of a column with public bounds, overall or by the levels of another column.

    `missing` is a number that replaces missing values; by default, records without a value are left out.

    >>> NumberSums("age", bounds=(0, 100), by=Column("ward", ("A", "B"), outside="A")).groups
    ('ward=A', 'ward=B')
    """

    bounds: Bounds
    asks: tuple[str, ...]
    by: Column | None
    leaves_gaps_out: bool
    unit: int
    persons: Persons | None = None

    def __init__(
        self,
        column: str,
        bounds: Sequence[Exact],
        asks: Sequence[str] = (MEAN,),
        by: Column | None = None,
        missing: Exact | None = None,
        unit: int = UNIT,
        persons: Persons | None = None,
    ) -> None:
        if whole(unit, "unit", 2, UNIT).bit_count() != 1:
            raise DeclarationError("unit, the number of steps that a record is divided into, must be a power of two.")
        self._declare(column, bounds, by, missing, persons, asks=asked_of(asks, ASKED), unit=int(unit))
        if self.bounds.dates and SUM in self.asks:
            raise DeclarationError(f"Dates have no sum; ask for the mean or the variance of {self.column!r}.")
        if len(self.groups) > MOST_GROUPS:
            raise DeclarationError(
                f"{self.column!r} is asked for in {len(self.groups)} groups; at most {MOST_GROUPS} are allowed."
            )

    @classmethod
    def asked_as(cls) -> dict[str, Asked]:
        """Return the one name by which studies ask about a column of numbers."""
        from discreet.numbers._study_keys import ABOUT, KEYS, asked_number

        return {"number": Asked(asked_number, title="Mean, sum, quantiles of a number", about=ABOUT, keys=KEYS)}

    def __repr__(self) -> str:
        ends = f"{self.shown(float(self.bounds.low))} to {self.shown(float(self.bounds.high))}"
        by = "" if self.by is None else f", by {self.by.name}"
        of = self.words_about_persons and f", {self.words_about_persons}"
        return f"NumberSums({self.column!r}, {ends}, {' and '.join(self.asks)}{by}, {self.missing_rule}{of})"

    @property
    def part_in_words(self) -> str:
        """Say how many groups there are, and in how many steps."""
        return f"{len(self.groups)} group{'s' * (len(self.groups) > 1)} in {self.unit} steps"

    @property
    def ends(self) -> int:
        """Return the number of ends among which a record's unit is divided."""
        return 2 * len(self.groups) + self.leaves_gaps_out

    @property
    def square_ends(self) -> int:
        """Return the number of ends among which the square of a record is divided."""
        return self.ends

    @property
    def asks_for_spread(self) -> bool:
        """Return whether the variance is asked, or its square root, the standard deviation."""
        return not {VARIANCE, DEVIATION}.isdisjoint(self.asks)

    @property
    def squares_share(self) -> Fraction:
        """Return which share of epsilon squares have by default.

        Half if a spread is asked; a fifth without groups and missing values, where it costs the positions nothing;
        otherwise it is taken from positions, and 3/20 gives about the narrowest intervals of a population.
        """
        if self.asks_for_spread:
            return Fraction(1, 2)
        return Fraction(3, 20) if self.ends > 2 else Fraction(1, 5)

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the names of all sums: of positions, then of squared distances from the middle."""
        gap = ("no value",) if self.leaves_gaps_out else ()
        names = [tuple(f"{end} {g}".strip() for g in self.groups for end in ends) + gap for ends in _ENDS]
        return (*names[0], *names[1])

    def main_rows(self, count: int) -> range:
        """Return the rows about the population of what is asked first: others have other units."""
        return range(1, count, 2 * len(self.asks))

    def _plan(self) -> GroupPlan:
        return GroupPlan(self.measure, () if self.by is None else (self.by,), self.leaves_gaps_out, self.unit)

    def _ends(self, sums: Counts, records: int) -> Counts:
        """Return the numbers of every end, from sums of positions and of squares and the number with a value."""
        positions, squares, known = sums.T
        gap = [self.unit * (records - int(known.sum()))] if self.leaves_gaps_out else []
        pairs = [np.column_stack([own, self.unit * known - own]).ravel() for own in (positions, squares)]
        return np.concatenate([pairs[0], gap, pairs[1], gap]).astype(np.int64)

    @property
    def counted(self) -> tuple[object, ...]:
        return self.bounds, self.by, self.leaves_gaps_out, self.unit, self.persons

    def statistics(self, data: object) -> Statistics:
        sums, records = sum_groups(self.source(data), self._plan())
        return Statistics(self, self._ends(sums, records), records)

    def rehearse(self, simulated: object) -> Counts:
        """Return the sums of simulated records as plain numbers, for `simulate`. Never give it real records."""
        return self._ends(*sum_groups(self.source(simulated), self._plan()))

    def checked(self, values: ArrayLike, size: int) -> Counts:
        """Return simulated sums as an array, after checking that each half adds up."""
        rows = self.numbers(values, 2 * self.ends)
        if (rows.reshape(*rows.shape[:-1], 2, self.ends).sum(axis=-1) != size * self.unit).any():
            raise DeclarationError(f"The two halves of the sums must add up to {size} records of {self.unit} each.")
        return rows

    def at_indices(self, positions: Counts) -> Counts:
        """Return what a record with a value at each of these positions adds; positions are numbered group by group."""
        groups, own = np.divmod(positions, self.unit + 1)
        rows = np.zeros((len(positions), len(self.groups), 3), dtype=np.int64)
        rows[np.arange(len(positions)), groups] = np.column_stack([own, squared(own, self.unit), np.ones_like(own)])
        return np.array([self._ends(row, 1) for row in rows])

    def contributions(self, most: int) -> tuple[Counts, bool]:
        """Return what a record can add: with a value at a bound or in the middle, in each group, or without one."""
        few = self.unit <= 4 and len(self.groups) * (self.unit + 1) + 1 <= most
        positions = np.arange(self.unit + 1) if few else np.array([0, self.unit // 2, self.unit])
        rows = []
        for group in range(min(len(self.groups), max(1, most // len(positions)))):
            for position in positions:
                sums = np.zeros((len(self.groups), 3), dtype=np.int64)
                sums[group] = position, squared(position, self.unit), 1
                rows.append(self._ends(sums, 1))
        if self.leaves_gaps_out:
            rows.append(self._ends(np.zeros((len(self.groups), 3), dtype=np.int64), 1))
        return np.array(rows[-most:]), few

    def parts(self) -> Iterator["NumberSums"]:
        """Yield a column in the fewest steps: in two groups if there are any, with and without missing values."""
        if self.by is not None:
            yield NumberSums("x", (0, 1), self.asks, Column("group", ("a", "b"), outside="a"), missing=0, unit=2)
        if self.leaves_gaps_out:
            yield NumberSums("x", (0, 1), self.asks, unit=2)
        yield NumberSums("x", (0, 1), self.asks, missing=0, unit=2)

    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        """Draw a population between the bounds for every group, and records from it."""
        shares, records = self.simulated_groups(size, generator)
        positions = np.round(self.simulated_positions * self.unit).astype(np.int64)
        parts = np.column_stack([positions, squared(positions, self.unit), np.ones_like(positions)])
        truth = []
        for own, counts in zip(shares, records, strict=True):
            distributions, values = (
                (counts / max(1, counts.sum()), own / own.sum()),
                self.value_at(positions / self.unit),
            )
            means = [float(distribution @ values) for distribution in distributions]
            spreads = [
                float(distribution @ (values - mean) ** 2)
                for distribution, mean in zip(distributions, means, strict=True)
            ]
            known = {MEAN: means, VARIANCE: spreads, DEVIATION: [sqrt(each) for each in spreads]}
            known |= {SUM: [means[0] * int(counts.sum()), means[1] * size / len(shares)]}
            truth += [value for ask in self.asks for value in known[ask]]
        return Simulated(tuple(truth), self._ends(records @ parts, size))

    def exact(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        """Return the mean and the width of the interval that exact sums give: none among the records."""
        found = []
        positions, squares = (half[: 2 * len(self.groups)].reshape(-1, 2) for half in np.split(statistics, 2))
        for own, far in zip(positions / self.unit, squares / self.unit, strict=True):
            count = max(1.0, float(own.sum()))
            position, distance = float(own[0]) / count, float(far[0]) / count
            spread = max(0.0, distance - (2 * position - 1) ** 2) / 4 * self.width**2
            mean, t = float(self.value_at(position)), 2 * float(stdtrit(max(1.0, count - 1), tails(level)[1]))
            wide = t * np.sqrt(spread / count)
            total = mean * count
            far_off = t * np.sqrt(max(0.0, count * (spread + mean**2) - total**2 / size))
            rows = {MEAN: [(mean, 0.0), (mean, wide)], SUM: [(total, 0.0), (total, far_off)]}
            rows[VARIANCE] = [(spread, 0.0), (spread, t * spread * np.sqrt(2 / count))]
            rows[DEVIATION] = [(sqrt(spread), 0.0), (sqrt(spread), t * sqrt(spread / (2 * count)))]
            found += [(float(value), float(width)) for ask in self.asks for value, width in rows[ask]]
        return found

    def size_in_words(self, count: float, is_public: bool) -> str:
        """Return how many a group has: that is published with noise, or public."""
        about = "" if is_public else "about "
        return f"{about}{count:,.0f} {self.among.removeprefix('these ')}"

    def pairs(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the high and low ends of every group, and the far and near ones, in records."""
        halves = np.split(np.asarray(values, dtype=float) / self.unit, 2)
        first, second = (half[: 2 * len(self.groups)].reshape(-1, 2) for half in halves)
        return first, second


_ENDS = (("high", "low"), ("far", "near"))
