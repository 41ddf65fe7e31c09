"""Regression in which a record far from the bulk counts less: weighted least squares.

Each record is v = (x, y, 1) in public units, on the grid. A mechanism learns a public linear map T and a squared radius
R^2 (`_weighted_mechanisms`), and from then on a record counts with the weight

    rho = min(1, R^2 / |T v|^2),

so that its influence is bounded. With sums over all records, what is learnt are the coefficients that minimise

    sum rho (y - x'w)^2.

A record without a value in a column that leaves gaps out has the weight 0. Where errors are spread symmetrically
around the line, it is the line of least squares; where the target is skewed or the line is not straight, it is not: it
describes the bulk of the records.

T and R^2 depend on what was published before, so statistics cannot be sums that are known in advance: they are the
whole numbers of all records, row by row, which several passes of one publication read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError, SecretError
from discreet._core.exact import Exact
from discreet.mechanism import Asked
from discreet.records import CONSTANT, Bounds, Column, Statistics, Wholes, whole_rows
from discreet.regression._formula import Names
from discreet.regression._model import LARGEST_GRID, Regression
from discreet.regression._moments import Moments
from discreet.regression._prior import InverseGamma

OPEN_NOISE = InverseGamma("1e-3", "1e-9")
"""A prior of the variance that is flat in its logarithm, down to the width of the grid: it favours no scale."""
IN_SHORT = "Weighted least squares: a record far from the bulk counts less."
_USUAL_DEVIATION = 0.2  # around the line, of half the target's range, in simulated studies where no prior says more


@dataclass(frozen=True, init=False)
class WeightedRegression(Regression, kind="WeightedRegression"):
    """Linear regression of one bounded column on others, in which a record far from the bulk counts less.

    The coefficients are those of weighted least squares, with the weight R^2 / distance^2 beyond a published distance R
    in a published metric, and 1 within it. Arguments are those of `LinearRegression`. `missing` may name numbers, or
    "middle", that stand for missing values; records without a value in any other column are left out. Without a `noise`
    nothing is assumed about the scale of the variance.

    >>> model = WeightedRegression("y", ["a", "b"], {"a": (0, 10), "b": (-1, 1), "y": (0, 100)})
    >>> model.missing_in_words
    'Weighted least squares: a record far from the bulk counts less. Records without a value of y, a, b are left out.'
    """

    document_types: ClassVar[Mapping[str, object]] = {"prior_precision": Fraction | None}

    target: str
    features: tuple[str | Column, ...]
    bounds: tuple[Bounds, ...]
    prior_precision: Fraction
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
        noise: Exact | InverseGamma = OPEN_NOISE,
        intercept: bool = True,
        missing: Mapping[str, Exact] | str | None = None,
        grid: int = LARGEST_GRID,
        terms: Sequence[Sequence[str]] = (),
    ) -> None:
        self._declare(target, features, bounds, prior_precision, noise, intercept, missing, grid, terms)

    @classmethod
    def asked_as(cls) -> dict[str, Asked]:
        """Return nothing: studies ask for 'regression', which makes one of these where it suits."""
        return {}

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the names of the released numbers: products of learnt coordinates, which have none of their own."""
        return tuple(f"product {i}, {j}" for i in range(1, self.coordinates + 1) for j in range(1, i + 1))

    @property
    def missing_in_words(self) -> str:
        """Say how records count, and what becomes of missing values."""
        return " ".join(filter(None, [IN_SHORT, super().missing_in_words]))

    @property
    def typical_variance(self) -> float:
        return _USUAL_DEVIATION**2 if self.noise == OPEN_NOISE else super().typical_variance

    @property
    def is_noise_open(self) -> bool:
        """Return whether nothing was declared about the variance around the line."""
        return self.noise == OPEN_NOISE

    def statistics(self, data: object) -> Statistics:
        """Return the whole numbers of all records: secret, and of one moment, however often they are read."""
        rows = whole_rows(data, self.layout.plan)
        return Statistics(self, rows.ravel(), len(rows))

    def rehearse(self, simulated: object) -> Wholes:
        return whole_rows(simulated, self.layout.plan).ravel()

    def together(self, parts: Sequence[Wholes]) -> Wholes:
        """Return all rows."""
        return np.concatenate(parts)

    def rows_of(self, values: ArrayLike, size: int) -> Counts:
        """Return simulated records, one or many sets of `size` rows, after checking them. Secrets are refused."""
        if isinstance(values, Statistics):
            raise SecretError("These are secret statistics of real records; only discreet.publish may use them.")
        found, m = np.asarray(values), self.coordinates
        if found.shape[-1:] != (size * m,) or found.dtype.kind not in "iu":
            raise DeclarationError(
                f"The statistics of a WeightedRegression are the whole numbers of {size} records, {m} of each."
            )
        if found.size and max(-int(found.min()), int(found.max())) > self.grid:
            raise DeclarationError(f"The whole numbers of a record lie between -{self.grid} and {self.grid}.")
        return found.astype(np.int64).reshape(*found.shape[:-1], size, m)

    def parts(self) -> Iterator["WeightedRegression"]:
        """Yield nothing: a learnt map is of many numbers, however few a record has."""
        return iter(())

    def neighbouring_pairs(self, size: int, generator: np.random.Generator) -> list[tuple[Counts, Counts]]:
        """Return data sets in which one record is replaced: all others alike, or drawn from all kinds of records."""
        kinds, _ = self.contributions(200)
        pairs = []
        for number in range(6):
            others = kinds[generator.integers(len(kinds), size=size) * (number > 0)]
            one, two = (int(index) for index in generator.choice(len(kinds), size=2, replace=False))
            pair = [np.concatenate([kinds[which][None], others[1:]]).ravel() for which in (one, two)]
            pairs.append((pair[0], pair[1]))
        return pairs

    def are_neighbours(self, size: int, first: Counts, second: Counts) -> bool:
        """Return whether both are records of this number, and all but one are the same."""
        sets = [np.asarray(each).reshape(-1, self.coordinates).tolist() for each in (first, second)]
        if any(len(each) != size for each in sets):
            return False
        left = [tuple(row) for row in sets[1]]
        gone = 0
        for row in map(tuple, sets[0]):
            if row in left:
                left.remove(row)
            else:
                gone += 1
        return gone <= 1

    def exact(self, statistics: Wholes, size: int, level: float) -> list[tuple[float, float]]:
        """Return the mean and the width of every coefficient of records that all count alike."""
        from discreet.regression._exact import exact_coefficients

        rows = np.asarray(statistics).reshape(size, self.coordinates) / self.grid
        distributions = exact_coefficients(self, self.moments_of_products(rows.T @ rows))
        return [(distribution.mean, distribution.interval(level).width) for distribution in distributions]

    def moments_of_products(self, products: Floats) -> Moments:
        """Return X'X, X'y, y'y and the number of records from sum vv', for one or many matrices in public units."""
        d, last = self.dimension, self.coordinates - 1
        numbered = iter(range(last))
        own = [last if c.factor is None else next(numbered) for c in self.layout.coordinates]
        target = last - 1
        squares = products[..., own, :][..., own] / d
        return Moments(
            squares, products[..., own, target] / np.sqrt(d), products[..., target, target], products[..., last, last]
        )

    def simulation_cost(self, size: int) -> tuple[float, float]:
        """Return the work of drawing all records and of reading them several times, and that all are held."""
        return 2e3 * size * (1 + len(self.features)), 2.0 * size * self.coordinates


assert CONSTANT == -1  # the constant is the last number of a row
