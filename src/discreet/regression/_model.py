"""Bayesian linear regression on records with public bounds.

In the public units of `regression._moments`, where ||x|| <= 1 and |y| <= 1,

    y = x'w + e,   e ~ N(0, sigma^2),   w ~ N(0, I / prior_precision),

so the moments A = X'X, b = X'y (and s = y'y) are sufficient. Given A the other moments have a likelihood in closed form
with w integrated out, which is what a reader of noisy moments needs:

    sigma known:    b | A ~ N(0, A A / prior_precision + sigma^2 A)
    sigma unknown:  the same given sigma^2 ~ InverseGamma(shape, scale), and
                    (s - b'A^-1 b) / sigma^2 | A, b ~ chi-square with n - d degrees of freedom.

(Zhang, Rubinstein and Dimitrakakis 2016, section 5.2, have the case of known sigma.) Coefficients are reported in the
units of the table.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammainccinv

from discreet._core.arrays import Floats
from discreet._core.documents import Document, document_of, plain_values
from discreet._core.errors import DeclarationError, SecretError
from discreet._core.exact import Exact, positive, whole
from discreet.mechanism import (
    Asked,
    Key,
    Model,
    Parameters,
    Simulated,
    all_or_some,
)
from discreet.records import (
    MIDDLE,
    Bounds,
    Column,
    Statistics,
    Wholes,
    all_missing_in_words,
    bounds_of,
    columns_of_frame,
    day_text,
    is_text,
    length_of,
    measure_of,
    whole_column,
)
from discreet.regression._formula import Names
from discreet.regression._moments import MomentLayout, Moments, sum_moments
from discreet.regression._prior import InverseGamma as InverseGamma
from discreet.regression._prior import ReaderPrior
from discreet.regression._terms import checked_terms, coordinates_of, expansion, reach_of

if TYPE_CHECKING:
    from discreet.mechanism import Informed
    from discreet.regression._posterior import RegressionPosterior

MOST_COORDINATES = 40
MOST_LEVELS = 20
LARGEST_GRID = 2**15


class Regression(Model["RegressionPosterior"]):
    """What every regression of one bounded column on others declares, and how its coefficients are reported."""

    document_types: ClassVar[Mapping[str, object]] = {"prior_precision": Fraction | None}

    target: str
    features: tuple[str | Column, ...]
    bounds: tuple[Bounds, ...]
    prior_precision: Fraction
    noise: Fraction | InverseGamma
    intercept: bool
    grid: int
    terms: tuple[Names, ...]

    def _declare(
        self,
        target: str,
        features: Sequence[str | Column],
        bounds: Mapping[str, Sequence[Exact]],
        prior_precision: Exact | None,
        noise: Exact | InverseGamma,
        intercept: bool,
        missing: Mapping[str, Exact] | str | None,
        grid: int,
        terms: Sequence[Sequence[str]],
        *,
        leaves_gaps_out: bool,
    ) -> None:
        """Check and keep what a constructor is given.

        Where `leaves_gaps_out`, columns of which `missing` says nothing leave records without a value out; else every
        column of numbers must be named there.
        """
        if isinstance(features, str) or not isinstance(features, Sequence):
            raise DeclarationError("features must be a sequence of columns, such as ['age', 'weight'].")
        columns = tuple(features)
        numbers = _columns_of_numbers(target, columns)
        known = noise if isinstance(noise, InverseGamma) else positive(noise, "noise")
        values = {
            "target": target,
            "features": columns,
            "bounds": _bounds(numbers, bounds, missing, leaves_gaps_out),
            "prior_precision": positive(1 if prior_precision is None else prior_precision, "prior_precision"),
            "noise": known,
            "intercept": bool(intercept),
            "grid": whole(grid, "grid", 8, LARGEST_GRID),
            "terms": checked_terms(terms, columns),
            "is_prior_declared": prior_precision is not None,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        if not 1 <= self.dimension <= MOST_COORDINATES:
            raise DeclarationError(
                f"These features have {self.dimension} coefficients; 1 to {MOST_COORDINATES} are allowed."
            )
        if len(set(self.names)) < len(self.names):
            raise DeclarationError(f"Two coefficients would have the same name: {', '.join(self.names)}.")

    @classmethod
    def restored(cls, **values: Any) -> Self:
        """Return what a document describes; it writes each column's bounds and missing value together."""
        ranges: tuple[Bounds, ...] = values.pop("bounds")
        bounds = {r.name: tuple(day_text(float(b)) if r.dates else b for b in (r.low, r.high)) for r in ranges}
        missing = {r.name: r.missing for r in ranges if not r.leaves_missing_out}
        make: Callable[..., Self] = cls
        return make(bounds=bounds, missing=missing, **values)

    def canonical_document(self) -> Document:
        """Return the regression with features, bounds and products in the order of their names."""
        features = sorted(self.features, key=lambda each: each if isinstance(each, str) else each.name)
        bounds = sorted(self.bounds, key=lambda each: each.name)
        terms = sorted(tuple(sorted(term)) for term in self.terms)
        return document_of(self) | plain_values({"features": features, "bounds": bounds, "terms": terms})

    def document_values(self) -> dict[str, object]:
        """Return the precision of the prior as it is declared: None if it is not."""
        return {} if self.is_prior_declared else {"prior_precision": None}

    @cached_property
    def ranges(self) -> dict[str, Bounds]:
        """Return the public range of every column of numbers, by name."""
        return {bounds.name: bounds for bounds in self.bounds}

    @cached_property
    def layout(self) -> MomentLayout:
        """Return which moments are released, and how they are read."""
        coordinates = coordinates_of(self.features, self.terms, self.ranges, self.intercept)
        target = measure_of(self.ranges[self.target])
        return MomentLayout(coordinates, target, self.noise_prior is not None, self.grid)

    @property
    def noise_prior(self) -> InverseGamma | None:
        """Return the prior of the variance around the line; None if the variance is known."""
        return self.noise if isinstance(self.noise, InverseGamma) else None

    @property
    def typical_variance(self) -> float:
        """Return the variance around the line in public units, or the median of its prior."""
        if isinstance(self.noise, InverseGamma):
            return float(float(self.noise.scale) / gammainccinv(float(self.noise.shape), 0.5))
        return float(self.noise) ** 2

    @property
    def is_noise_open(self) -> bool:
        """Return whether nothing is assumed about the scale of the variance around the line."""
        return False

    @property
    def columns(self) -> tuple[Column | Bounds, ...]:
        """Return features with levels, then the bounds of all numbers."""
        return (*(feature for feature in self.features if isinstance(feature, Column)), *self.bounds)

    @property
    def missing_in_words(self) -> str:
        """Say what missing numbers count as, and which records are left out."""
        out = [each.name for each in self.bounds if each.leaves_missing_out]
        left = f"Records without a value of {', '.join(out)} are left out." if out else ""
        return " ".join(filter(None, [left, all_missing_in_words(self.bounds)]))

    @property
    def reaches(self) -> dict[str, float]:
        """Return by how much the feature of each coefficient can vary: from bound to bound, or 1 for a level."""
        found = {each.name: reach_of(each.factor, self.ranges) for each in self.layout.coordinates}
        return {name: found.get(name, 1.0) for name in self.names}

    @property
    def row_scales(self) -> tuple[float, ...]:
        """Return the reach of every coefficient: times that, it is an effect in units of the target."""
        return tuple(self.reaches.values())

    @property
    def scaled_unit(self) -> str:
        """Return the target, with what an effect is."""
        return f"{self.target}, when a feature goes from bound to bound"

    @property
    def dimension(self) -> int:
        """Return the number d of coordinates of x, the intercept and the indicators of levels included."""
        return self.layout.dimension

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the coefficients, the intercept first."""
        own = tuple(coordinate.name for coordinate in self.layout.coordinates)
        return own if self.intercept else ("intercept", *own)

    def changed(self, **values: object) -> Self:
        """Return a copy with other values of some fields, which are not checked again."""
        made = copy(self)
        made.__dict__.clear()
        for each in fields(cast(Any, self)):
            object.__setattr__(made, each.name, values.get(each.name, getattr(self, each.name)))
        return made

    def with_prior(self, prior: object) -> Self:
        """Return the same model under a reader's prior: a precision, or a mapping of `precision` and `noise`.

        None says that no prior is declared, which is read as a precision of 1.
        """
        if prior is None:
            return self.changed(prior_precision=Fraction(1), is_prior_declared=False)
        target = self.ranges[self.target]
        given = ReaderPrior.of(prior, self.noise, (target.high - target.low) / 2)
        precision = self.prior_precision if given.precision is None else given.precision
        noise = self.noise if given.noise is None else given.noise
        return self.changed(prior_precision=precision, noise=noise, is_prior_declared=True)

    @property
    @abstractmethod
    def cells(self) -> tuple[str, ...]:
        """Return the names of the released numbers."""

    @abstractmethod
    def rehearse(self, simulated: object) -> Wholes:
        """Return the statistics of simulated records as plain numbers, for `simulate`. Never give it real records."""

    @abstractmethod
    def together(self, parts: Sequence[Wholes]) -> Wholes:
        """Return the statistics of several sets of simulated records taken together."""

    @property
    def own(self) -> tuple[Moments, int] | None:
        """Return the moments and the number of a reader's own records, if there are any: see `InformedRegression`."""
        return None

    def contributions(self, most: int) -> tuple[Wholes, bool]:
        """Return what a record with numbers at their bounds or middles adds to the statistics, at most this many rows.

        These are never all records, but products are largest at bounds.
        """
        columns: dict[str, list[object]] = {b.name: [float(b.low), b.middle, float(b.high)] for b in self.bounds}
        columns |= {column.name: list(column.levels) for column in self.features if isinstance(column, Column)}
        records, _ = all_or_some([len(values) for values in columns.values()], most)
        named = [{n: [columns[n][index]] for n, index in zip(columns, record, strict=True)} for record in records]
        return np.unique(np.stack([self.rehearse(record) for record in named]), axis=0), False

    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        """Draw coefficients from the prior, and moments of records with evenly spread features."""
        from discreet.regression._simulate import simulated_line

        return simulated_line(self, size, generator)

    def simulation_cost(self, size: int) -> tuple[float, float]:
        """Return the work of records that are drawn some at a time, each with all features."""
        return 2e3 * size * (1 + len(self.features)), 1e6

    def main_rows(self, count: int) -> Sequence[int]:
        """Return the effects of the features, if there are any, without the intercept."""
        return range(1, count) if count > 1 else range(count)

    def by_name(self, parameters: Parameters) -> dict[str, float]:
        """Return the coefficients in the units of the table."""
        return dict(zip(self.names, self.in_units(np.asarray(parameters)).tolist(), strict=True))

    def even_parameters(self) -> Floats:
        """Return coefficients of zero."""
        return np.zeros(self.dimension)

    @cached_property
    def _expansion(self) -> Floats:
        return expansion(self.layout.coordinates, self.ranges)

    def in_units(self, w: NDArray[np.float64]) -> Floats:
        """Return coefficients in the units of the table, the intercept first, for rows of w in public units.

        y = m_y + h_y sum_j w_j f_j / sqrt(d), m the middle and h half the width of the bounds; f_j = (v_j - m_j)/h_j
        for a number, and a polynomial in the columns for a term.
        """
        target = self.ranges[self.target]
        found = np.asarray(w, dtype=float) @ self._expansion * (target.half / np.sqrt(self.dimension))
        found[..., 0] += target.middle
        return np.asarray(found)

    def design(self, rows: Mapping[str, Sequence[object]] | object) -> Floats:
        """Return x in public units for rows (by column, or a frame), clipped and put on the grid as the records are."""
        rows = rows if isinstance(rows, Mapping) else columns_of_frame(rows)
        wanted = {f.name if isinstance(f, Column) else f for f in self.features}
        if wanted - set(rows):
            raise DeclarationError(f"The rows have no column {', '.join(map(repr, sorted(wanted - set(rows))))}.")
        size = length_of([rows[name] for name in wanted or rows])
        factors = [coordinate.factor for coordinate in self.layout.coordinates]
        columns = [
            np.full(size, self.grid) if factor is None else whole_column(rows, factor, self.grid) for factor in factors
        ]
        return np.asarray(np.column_stack(columns) / (self.grid * np.sqrt(self.dimension)))


@dataclass(frozen=True, init=False)
class LinearRegression(Regression, kind="LinearRegression"):
    """Bayesian linear regression of one bounded column on others.

    `features` are names of numeric columns, or a `Column` with declared levels. `bounds` gives each numeric column its
    public range, which never comes from the data; values outside are clipped. `missing` gives, by name, the number that
    replaces a missing value of each of them, or "middle" for the middle of its range; "middle" alone says so for all.
    It must be declared, because every record counts and a missing value becomes that number. Bounds that are dates,
    such as ('2026-01-01', '2026-12-31'), declare a column of dates, whose numbers are days from 1970-01-01.
    `prior_precision`, `norm_bound` and `noise` are in public units: each coordinate in [-1, 1]/sqrt(d), the target in
    [-1, 1]. `noise` is the standard deviation sigma if it is known, or an InverseGamma prior for the variance.
    `norm_bound` B limits ||w||; only `BallDraw` needs it, and only there is the prior truncated at B. A
    `prior_precision` of None means that none is declared, which is read as 1. Without an `intercept` the line goes
    through the middle of all bounds, which is the origin only if they are symmetric around zero. `grid` is the number M
    of steps from 0 to a bound. `terms` are products of features, by name: ('a', 'a') is a square, ('a', 'b') an
    interaction; all parts of a product must be included too.

    >>> bounds = {"a": (0, 10), "b": (-1, 1), "y": (0, 100)}
    >>> model = LinearRegression("y", ["a", "b"], bounds, noise="0.2", missing={"a": 2, "b": 0, "y": 50})
    >>> model.names
    ('intercept', 'a', 'b')
    """

    document_types: ClassVar[Mapping[str, object]] = {"prior_precision": Fraction | None}

    target: str
    features: tuple[str | Column, ...]
    bounds: tuple[Bounds, ...]
    prior_precision: Fraction
    norm_bound: Fraction | None
    noise: Fraction | InverseGamma
    intercept: bool
    grid: int
    terms: tuple[Names, ...] = ()
    is_prior_declared: bool = field(default=True, init=False)

    def __init__(
        self,
        target: str,
        features: Sequence[str | Column],
        bounds: Mapping[str, Sequence[Exact]],
        prior_precision: Exact | None = 1,
        norm_bound: Exact | None = None,
        noise: Exact | InverseGamma = InverseGamma(1, "0.05"),  # noqa: B008 - frozen
        intercept: bool = True,
        missing: Mapping[str, Exact] | str | None = None,
        grid: int = LARGEST_GRID,
        terms: Sequence[Sequence[str]] = (),
    ) -> None:
        self._declare(
            target, features, bounds, prior_precision, noise, intercept, missing, grid, terms, leaves_gaps_out=False
        )
        limit = None if norm_bound is None else positive(norm_bound, "norm_bound")
        object.__setattr__(self, "norm_bound", limit)

    @classmethod
    def asked_as(cls) -> dict[str, Asked]:
        """Return the one name, with a formula for its key; the mechanism, or the rule, decides how records count."""
        from discreet.regression._study_keys import asked_regression

        about = "How a number depends on other columns: the coefficients of a linear regression."
        keys = {"formula": Key("Formula", example="stay ~ age + ward")}
        return {"regression": Asked(asked_regression, title="Linear regression", about=about, keys=keys)}

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the names of the released numbers."""
        return self.layout.names

    @property
    def most_records(self) -> int:
        """Return how many records fit into 64 bits on this grid."""
        return self.layout.plan.most_records

    def statistics(self, data: object) -> Statistics:
        sums, records = sum_moments(data, self.layout.plan)
        return Statistics(self, sums * self.layout.weights, records)

    def rehearse(self, simulated: object) -> Wholes:
        """Return the moments of simulated records as plain numbers, for `simulate`. Never give it real records."""
        sums, _ = sum_moments(simulated, self.layout.plan)
        return sums * self.layout.weights

    def together(self, parts: Sequence[Wholes]) -> Wholes:
        """Return the sum."""
        return np.asarray(np.sum(parts, axis=0), dtype=np.int64)

    def parts(self) -> Iterator["LinearRegression"]:
        """Yield the regression on one feature without an intercept, on the coarsest grid: bounds and their middle."""
        first = min(self.features, key=lambda feature: isinstance(feature, Column), default=None)
        if first is None:
            return
        kept = Column(first.name, first.levels[:2], first.levels[0]) if isinstance(first, Column) else first
        names = [self.target, kept] if isinstance(kept, str) else [self.target]
        yield self.changed(
            features=(kept,), bounds=tuple(self.ranges[n] for n in names), intercept=False, grid=1, terms=()
        )

    def informed_by(self, own: object) -> "Informed":
        """Return the regression with the moments of own records in its prior."""
        from discreet.regression._own_records import informed_regression

        return informed_regression(self, own)

    @property
    def counted(self) -> MomentLayout:
        return self.layout

    @property
    def part_in_words(self) -> str:
        """Say what a part is: see `parts`."""
        return "one feature alone, on the coarsest grid"

    def exact(self, statistics: Wholes, size: int, level: float) -> list[tuple[float, float]]:
        """Return the mean and the width of every coefficient given exact moments, sigma being known or not."""
        from discreet.regression._exact import exact_coefficients

        distributions = exact_coefficients(self, self.layout.unpack(statistics.astype(float), size), size)
        return [(distribution.mean, distribution.interval(level).width) for distribution in distributions]

    def moments(self, values: ArrayLike) -> Wholes:
        """Return simulated moments as an array, after checking their shape. Secret statistics are refused."""
        if isinstance(values, Statistics):
            raise SecretError("These are secret statistics of real records; only discreet.publish may use them.")
        rows = np.asarray(values)
        if rows.shape[-1:] != (len(self.cells),) or rows.dtype.kind not in "iu":
            raise DeclarationError(f"Moments must be whole numbers, one for each of the {len(self.cells)} products.")
        return rows.astype(np.int64)


def _columns_of_numbers(target: str, features: tuple[str | Column, ...]) -> list[str]:
    """Return the names that need bounds, after checking all names."""
    names = [feature.name if isinstance(feature, Column) else feature for feature in (target, *features)]
    if isinstance(target, Column) or not all(isinstance(name, str) and name and is_text(name) for name in names):
        raise DeclarationError("The target and the features must be names of columns; a feature may also be a Column.")
    if len(set(names)) < len(names):
        raise DeclarationError(f"Each column may appear once, as the target or as a feature; got {names}.")
    for feature in features:
        if isinstance(feature, Column) and (feature.edges or len(feature.levels) > MOST_LEVELS):
            raise DeclarationError(
                f"{feature.name!r} must be a column of at most {MOST_LEVELS} levels; for numbers, give bounds "
                "instead of bands."
            )
    return [target, *(feature for feature in features if isinstance(feature, str))]


def _bounds(
    names: list[str],
    bounds: Mapping[str, Sequence[Exact]],
    missing: Mapping[str, Exact] | str | None,
    leaves_gaps_out: bool,
) -> tuple[Bounds, ...]:
    if not isinstance(bounds, Mapping) or set(bounds) != set(names):
        given = sorted(map(str, bounds)) if isinstance(bounds, Mapping) else type(bounds).__name__
        raise DeclarationError(f"bounds must give (low, high) for each of the columns {sorted(names)}; got {given}.")
    gaps = dict.fromkeys(names, MIDDLE) if missing == MIDDLE else {} if missing is None else missing
    if not isinstance(gaps, Mapping) or not set(gaps) <= set(names):
        raise DeclarationError(f"missing may only name the columns {sorted(names)}.")
    lacking = [name for name in names if gaps.get(name) is None]
    if lacking and not leaves_gaps_out:
        raise DeclarationError(
            "In a regression every record counts, so each column of numbers must declare what a missing value counts "
            f"as, and {' and '.join(map(repr, lacking))} {'does' if len(lacking) == 1 else 'do'} not. Nothing was "
            "published and nothing was charged. Declare a number between the bounds, such as missing = 2.5 in "
            f"[columns.{lacking[0]}] of a study or missing={{{lacking[0]!r}: 2.5, ...}} in Python, or missing = "
            "'middle' for the middle of the bounds: where many values are missing, coefficients then describe a "
            "mixture of values and that number. Or leave records with gaps out: mechanism = 'BallMoments' in a "
            "study, WeightedRegression in Python, whose line is that of weighted least squares."
        )
    found = [bounds_of(name, bounds[name], gaps.get(name)) for name in names]
    return tuple(replace(each, leaves_missing_out=each.name in lacking) for each in found)
