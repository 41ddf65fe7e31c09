"""Weighted means and totals of a bounded number: records count by a weight, or persons by their rows.

A unit with the share k of the largest weight and a value at the position x adds k x to the high end of its group,
k (1 - x) to the low end and 1 - k to the rest. So it is one unit that is divided among ends, as in `number_sums`, and

    mean = low + (high - low) T_high / (T_high + T_low)

is the weighted mean (a ratio, Hajek's), and W (low T_low + high T_high) the weighted total, W being the largest weight.
The second half has the parts of the square of k, from which readers learn how far a sample of such units may lie from
its population. A person with r rows counts with the share r / max(r, W).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import ndtri

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact
from discreet.mathematics.distributions import tails
from discreet.mechanism import Asked, Simulated
from discreet.numbers._bounded_number import RECORDS, asked_of
from discreet.numbers._persons import ONE_PERSON, THESE_PERSONS, Persons
from discreet.numbers._sums_model import MEAN, SUM, NumberSums
from discreet.numbers._weights import FIXED, PersonRows, Weights
from discreet.records import (
    SUMS,
    UNIT,
    Bounds,
    Column,
    IdPlan,
    Measure,
    Statistics,
    WeightPlan,
    divided,
    measure_of,
    parts_of,
    sum_rows,
    sum_weights,
)

_LEVELS = 8  # shares of simulated units


@dataclass(frozen=True, init=False, repr=False)
class WeightedSums(NumberSums, kind="WeightedSums"):
    """The weighted mean or total of a column with public bounds, overall or by the levels of another column.

    Either `weights` or `rows` determines how much each unit counts.

    >>> WeightedSums("pay", (0, 100), weights=Weights("w", 50, "fixed by design")).quantity_name("mean")
    'mean of pay weighted by w'
    """

    weights: Weights | None = None
    rows: PersonRows | None = None

    def __init__(
        self,
        column: str,
        bounds: Sequence[Exact],
        asks: Sequence[str] = (MEAN,),
        by: Column | None = None,
        missing: Exact | None = None,
        unit: int = UNIT,
        weights: Weights | None = None,
        rows: PersonRows | None = None,
        persons: Persons | None = None,
    ) -> None:
        if persons is not None or (weights is None) == (rows is None):
            raise DeclarationError("Weighted sums need either weights or the rows of persons, not both.")
        super().__init__(column, bounds, asked_of(asks, (MEAN, SUM)), by, missing, unit)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "rows", rows)
        used = (column, None if by is None else by.name)
        if self._weighed.column in used:
            raise DeclarationError(f"{self._weighed.column!r} is asked about: it cannot say how units count.")
        if rows is not None and missing is not None:
            raise DeclarationError(
                f"Only rows with a value count, so nothing stands for missing values of {column!r}: leave missing out."
            )

    @property
    def _weighed(self) -> Weights | PersonRows:
        found = self.weights if self.rows is None else self.rows
        assert found is not None
        return found

    @classmethod
    def asked_as(cls) -> dict[str, Asked]:
        """Return nothing: studies ask for 'number', which makes one of these where it is needed."""
        return {}

    def __repr__(self) -> str:
        ends = f"{self.shown(float(self.bounds.low))} to {self.shown(float(self.bounds.high))}"
        by = "" if self.by is None else f", by {self.by.name}"
        return f"WeightedSums({self.column!r}, {ends}, {' and '.join(self.asks)}{by}, {self._weighed.words})"

    @property
    def _declared_bounds(self) -> tuple[Bounds, ...]:
        own = super()._declared_bounds
        return own if self.weights is None else (*own, self.weights.bounds)

    @property
    def largest(self) -> float:
        """Return W, the largest weight."""
        return float(self._weighed.most)

    @property
    def protects(self) -> str:  # type: ignore[override]
        return "one record" if self.rows is None else ONE_PERSON

    @property
    def id_plan(self) -> IdPlan:
        assert self.rows is not None
        return IdPlan(self.rows.column, measure_of(self.bounds), () if self.by is None else (self.by,))

    @property
    def has_public_persons(self) -> bool:
        return self.rows is not None and self.rows.size is not None

    @property
    def has_secret_persons(self) -> bool:
        return self.rows is not None and self.rows.size is None

    @property
    def among(self) -> str:
        return RECORDS if self.rows is None else THESE_PERSONS

    @property
    def quantity(self) -> str:
        if self.weights is not None:
            return f"{self.column} weighted by {self.weights.column}"
        most = "" if self.rows is None else f", persons with more than {self.rows.most} rows weighted down"
        return f"{self.column} per row{most}"

    @property
    def missing_rule(self) -> str:
        """Say how units count, and what becomes of missing values."""
        words = "rows without a value are left out" if self.rows is not None else super().missing_rule
        return f"{words}; {self._weighed.words}"

    def size_in_words(self, count: float, is_public: bool) -> str:
        """Return the total weight of a group, or how many rows count in it."""
        return f"about {count:,.0f} rows" if self.weights is None else f"a weight of about {count:,.0f}"

    @property
    def ends(self) -> int:
        """Return the number of ends among which a unit is divided; the rest of its weight has a separate one."""
        return 2 * len(self.groups) + 1

    @property
    def square_ends(self) -> int:
        return 3 * len(self.groups) + 1

    @property
    def squares_share(self) -> Fraction:
        """Return a quarter: V comes from three noisy parts, and intervals of a population are narrowest with that."""
        return Fraction(1, 4)

    @property
    def cells(self) -> tuple[str, ...]:
        named = [(("high", "low"), "rest"), (("high high", "high low", "low low"), "rest of squares")]
        return tuple(
            name for ends, rest in named for name in (*(f"{e} {g}".strip() for g in self.groups for e in ends), rest)
        )

    def _laid_out(self, sums: Counts, size: int) -> Counts:
        """Return both halves of the statistics, from the sums of every group."""
        halves = [sums[:, :2].ravel(), sums[:, 2:].ravel()]
        rest = [self.unit * size - int(half.sum()) for half in halves]
        return np.concatenate([halves[0], rest[:1], halves[1], rest[1:]]).astype(np.int64)

    def _found(self, data: object) -> tuple[Counts, int]:
        if self.rows is not None:
            return sum_rows(data, self.id_plan, self.rows.size, self.rows.most, self.unit)
        groups = () if self.by is None else (self.by,)
        assert self.weights is not None
        weight = Measure(self.weights.column, 0.0, self.largest, 0.0)
        return sum_weights(data, WeightPlan(self.measure, weight, groups, self.leaves_gaps_out, self.unit))

    def statistics(self, data: object) -> Statistics:
        sums, size = self._found(data)
        return Statistics(self, self._laid_out(sums, size), size)

    def rehearse(self, simulated: object) -> Counts:
        return self._laid_out(*self._found(simulated))

    def checked(self, values: Any, size: int) -> Counts:
        rows = self.numbers(values, self.ends + self.square_ends)
        for half in (rows[..., : self.ends], rows[..., self.ends :]):
            if (half.sum(axis=-1) != size * self.unit).any():
                raise DeclarationError(f"Both halves of the sums add up to {size} units of {self.unit} each.")
        return rows

    def contributions(self, most: int) -> tuple[Counts, bool]:
        """Return what a unit can add: with all or half of its share, at a bound or between them, in each group."""
        few = self.unit <= 4 and len(self.groups) == 1
        steps = range(self.unit + 1) if few else (0, self.unit // 2, self.unit)
        pairs = np.array([(high, low) for high in steps for low in steps if high + low <= self.unit])
        parts = parts_of(pairs[:, 0], pairs[:, 1], np.arange(len(pairs)), self.unit)
        rows = []
        for group in range(min(len(self.groups), max(1, most // len(parts)))):
            for part in parts:
                sums = np.zeros((len(self.groups), SUMS), dtype=np.int64)
                sums[group] = part
                rows.append(self._laid_out(sums, 1))
        return np.array(rows[-most:]), few and len(parts) <= most

    def parts(self) -> Iterator["WeightedSums"]:
        """Yield a column in the fewest steps: in two groups if there are groups, and without."""
        weights = Weights("w", 1, FIXED)
        if self.by is not None:
            groups = Column("group", ("a", "b"), outside="a")
            yield WeightedSums("x", (0, 1), self.asks, groups, unit=2, weights=weights)
        yield WeightedSums("x", (0, 1), self.asks, unit=2, weights=weights)

    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        distributions, records = self.simulated_groups(size, generator)
        shares = (np.arange(_LEVELS) + 1) / _LEVELS
        chosen = generator.multinomial(records, np.full(_LEVELS, 1 / _LEVELS))
        known = np.floor(shares * self.unit + 0.5).astype(np.int64)
        grid = np.repeat(self.simulated_positions, _LEVELS), np.tile(known, len(self.simulated_positions))
        parts = parts_of(*divided(grid[1], grid[0]), np.arange(len(grid[0])), self.unit)
        sums = chosen.reshape(len(records), -1) @ parts
        values, truth = self.value_at(self.simulated_positions), []
        for distribution, own in zip(distributions, chosen @ shares, strict=True):
            means = [
                float(own @ values) / max(float(own.sum()), 1e-300),
                float(distribution @ values / distribution.sum()),
            ]
            per_unit = float(shares.mean()) / len(distributions) * size * self.largest
            rows = {MEAN: means, SUM: [float(own @ values) * self.largest, means[1] * per_unit]}
            truth += [value for ask in self.asks for value in rows[ask]]
        return Simulated(tuple(truth), self._laid_out(sums, size))

    def exact(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        first, second = self.pairs(np.asarray(statistics, dtype=float))
        z, low, high, found = 2 * float(ndtri(tails(level)[1])), float(self.bounds.low), float(self.bounds.high), []
        for (top, bottom), squares in zip(first, second, strict=True):
            count = max(top + bottom, 1e-9)
            position, total = top / count, self.largest * (low * bottom + high * top)
            wide = z * np.sqrt(max(self.residuals(squares, position), 0.0)) / count * self.width
            spread = self.largest**2 * float(squares @ (high**2, high * low, low**2)) - total**2 / size
            rows = {MEAN: [(float(self.value_at(position)), 0.0), (float(self.value_at(position)), wide)]}
            rows[SUM] = [(total, 0.0), (total, z * np.sqrt(max(spread, 0.0)))]
            found += [(float(value), float(width)) for ask in self.asks for value, width in rows[ask]]
        return found

    @staticmethod
    def residual_weights(ratio: float) -> Floats:
        """Return what sums of the parts of squares are multiplied by to give sum (h - r k)^2."""
        return np.array([(1 - ratio) ** 2, -ratio * (1 - ratio), ratio**2])

    def residuals(self, squares: Floats, ratio: float) -> Any:
        """Return sum (h - r k)^2 = (1 - r)^2 HH - r (1 - r) HL + r^2 LL, for sums of the parts of squares."""
        return squares @ self.residual_weights(ratio)

    def pairs(self, values: Floats) -> tuple[Floats, Floats]:
        first, second = np.split(np.asarray(values, dtype=float) / self.unit, [self.ends])
        return first[:-1].reshape(-1, 2), second[:-1].reshape(-1, 3)
