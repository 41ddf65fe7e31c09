"""Noisy moments of a regression: what their mechanisms share, and one class for each shape of noise.

Cone, box, Laplace and Gaussian noise hide how far one record moves sums of products.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import isqrt
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet._core.arrays import Counts, Floats, NumbersT
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact_text, positive, whole
from discreet.mechanism import Additive, ProofAssumption, Sized, Trial, TrialPart, columns_of_levels, within_bounds
from discreet.noise import Cone, Cube, Laplace, MomentBody, ProductGaussian, RoundedGaussian, Terms, simulated_noise
from discreet.privacy import SLACK, Guarantee, PrivacyLoss, curve_gives, curve_loss, curve_variance, pure_rho
from discreet.records import CONSTANT, Indicator
from discreet.regression._model import LinearRegression
from discreet.regression._moments import Moments, RegressionQuantities
from discreet.tables import gaussian_delta


@dataclass(frozen=True)
class MomentQuantities(RegressionQuantities):
    """The moments of a regression: sums of products, each moved by at most the layout's reach G by one record."""

    model: LinearRegression
    squared_distance: ClassVar[Fraction] = Fraction(9, 2)
    """The largest squared distance between the moments of two records, in `units`."""
    total_weight: ClassVar[Fraction] = Fraction(3, 2)
    """How often a squared change of y'y counts."""

    @property
    def blocks(self) -> tuple[int, ...]:
        return (len(self.model.cells),)

    def apply(self, counts: NumbersT) -> NumbersT:
        return np.asarray(counts)

    def transpose(self, values: NumbersT) -> NumbersT:
        return np.asarray(values)

    def changes(self) -> tuple[Counts, ...]:
        """Return a move of every number by G: no record moves one further."""
        return (np.full(self.length, self.per_record, dtype=np.int64),)

    @property
    def per_record(self) -> int:
        return self.model.layout.reach

    def moments(self, values: NDArray[np.generic], size: int) -> Moments:
        return self.model.layout.unpack(values, size)

    @cached_property
    def units(self) -> tuple[Fraction, ...]:
        """Return what a squared change of each number is divided by, so that X'X counts with its Frobenius norm.

        A squared change of y'y counts 3/2 times (`total_weight`), as much as it can without being noticed. So does one
        of the number of records that are not left out once: beside one that is, a record changes the others by 7/2.
        """
        d, layout, found = self.model.dimension, self.model.layout, []
        for (first, second), order, weight in zip(layout.products, layout.orders, layout.weights.tolist(), strict=True):
            is_count = first == second == CONSTANT
            unit = weight**2 * layout.grid**4 * (1 if is_count else (d**2, d, 1 / self.total_weight)[order])
            found.append(Fraction(unit) / (2 if order == 0 and first != second else 1))
        return tuple(found)

    def most(self, weights: Sequence[Fraction], blocks: Sequence[int], power: int) -> Fraction:
        """Return a bound on sum_i w_i |c_i|^power: by the range G of each, of squares by the Frobenius norm."""
        if power != 2:
            return super().most(weights, blocks, power)
        own = np.repeat(np.array(weights, dtype=object), blocks)
        largest: Fraction = max(weight * unit for weight, unit in zip(own, self.units, strict=True))
        return largest * self.squared_distance


Wholes = NDArray[np.int64]
LEAST_RATE = Fraction(1, 2**44)
"""Noise of a smaller rate than this could leave 64 bits."""


@dataclass(frozen=True, init=False, repr=False)
class NoisyMoments(Additive[LinearRegression], Sized[LinearRegression]):
    """Moments of a regression plus integer noise of a distribution that does not depend on them."""

    model: LinearRegression
    size: int
    epsilon: Fraction

    def __init__(self, model: LinearRegression, size: int, epsilon: Exact) -> None:
        name = type(self).__name__
        if not isinstance(model, LinearRegression):
            raise DeclarationError(f"{name} publishes the moments of a LinearRegression; got a {type(model).__name__}.")
        number = within_bounds(positive(epsilon, "epsilon"), "epsilon")
        records = whole(size, "size", most=model.most_records)
        if records <= model.dimension:
            raise DeclarationError(
                f"{name} needs more records than the model has coefficients ({model.dimension}); got {records}."
            )
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", records)
        object.__setattr__(self, "epsilon", number)

    @cached_property
    def quantities(self) -> MomentQuantities:
        return MomentQuantities(self.model)

    def checked(self, counts: ArrayLike) -> Wholes:
        return self.model.moments(counts)

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return the log of the unnormalised probability of rows of noise; defined for all real numbers."""
        return self.noise.log_kernel(noise)

    @property
    def log_normaliser(self) -> float:
        """Return the log of the sum of the kernel over all whole numbers."""
        return self.noise.log_normaliser

    @property
    def scale(self) -> Floats:
        """Return the standard deviation of each number's noise."""
        return np.sqrt(self.noise.variance)

    def real_noise(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of real numbers with the kernel as density: for a reader's sampler, never for publishing."""
        return simulated_noise(self.noise, rows, generator)


@dataclass(frozen=True, init=False, repr=False)
class BoxMoments(NoisyMoments, kind="BoxMoments", version=2):
    """All moments of a regression, with noise in the shape of a cube: pure epsilon-DP under replacement of one record.

    Replacing one record changes each of the D released numbers by at most G (`MomentLayout`), so a person's influence
    lies in a cube, whose norm is max_j |u_j| / G. The output z = s + u has noise u on all of Z^D with

        P(u) = e^(-epsilon max_j |u_j| / G) / Z,   Z = sum_j h_j q^j / (1 - q)^D,   q = e^(-epsilon / G),

    h the Eulerian numbers of type B. By the triangle inequality no output is more than e^epsilon times likelier under
    one of two neighbours than under the other: pure epsilon-differential privacy. One radius serves all numbers, so
    their standard deviation grows like D / sqrt(3), against D sqrt(2) for independent Laplace noise. Among other
    releases it costs what one Laplace number costs, whatever D is: that is the distribution of its privacy loss
    (`noise.cube`).

    >>> model = LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.2", missing="middle")
    >>> BoxMoments(model, size=1000, epsilon="0.5").guarantee.epsilon
    Fraction(1, 2)
    """

    reason = "noise of norm max|u|/G on moments of range G (triangle inequality)"

    def __init__(self, model: LinearRegression, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        check_rate(self.rate)

    @property
    def rate(self) -> Fraction:
        """Return epsilon / G, the privacy loss of one unit of the largest noise."""
        return self.epsilon / self.model.layout.reach

    @cached_property
    def noise(self) -> Cube:
        return Cube((self.rate,), self.quantities.blocks)


def check_rate(rate: Fraction) -> None:
    """Refuse noise so wide that sums could leave 64 bits."""
    if rate < LEAST_RATE:
        raise DeclarationError(
            "With this grid and this epsilon the noise would not fit into 64 bits. Choose a smaller grid."
        )


@dataclass(frozen=True, init=False, repr=False)
class LaplaceMoments(NoisyMoments, kind="LaplaceMoments", version=2):
    """Every regression moment with its own discrete Laplace noise: pure epsilon-DP under replacement of one record.

    Replacing one record changes each of the D released numbers by at most G (`MomentLayout`), so their l1 sensitivity
    is at most D G and

        P(z | s) = prod_j tanh(r/2) e^(-r |z_j - s_j|),   r = epsilon / (D G),

    is pure epsilon-DP. `BoxMoments` has the same guarantee with noise that is sqrt(6) times smaller for many numbers.
    """

    reason = "discrete Laplace noise of scale D G/epsilon, l1 sensitivity D G"

    def __init__(self, model: LinearRegression, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        check_rate(self.rate)

    @property
    def rate(self) -> Fraction:
        """Return epsilon / (D G), the privacy loss of one unit of noise."""
        return self.epsilon / (len(self.model.cells) * self.model.layout.reach)

    @cached_property
    def noise(self) -> Laplace:
        return Laplace((self.rate,), self.quantities.blocks)

    @property
    def rho(self) -> Fraction:
        """Return epsilon^2 / (2 D), as each of D numbers costs epsilon / D, or the rho of epsilon if that is less."""
        return min(self.epsilon**2 / (2 * self.quantities.length), pure_rho(self.epsilon))

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss of randomised response, which dominates every pure epsilon."""
        return PrivacyLoss.worst_case(self.epsilon)


@dataclass(frozen=True, init=False, repr=False)
class GaussianMoments(NoisyMoments, kind="GaussianMoments", version=2):
    """Every moment of a regression with its own Gaussian noise, rounded: (epsilon, delta)-DP and rho-zCDP.

    In public units ||x|| <= 1 and |y| <= 1. Give the diagonal of X'X and X'y the variance v, the rest of X'X v/2, so
    that X'X counts with its Frobenius norm, and y'y (if the noise of the model is unknown) 2v/3. For two records (x, y)
    and (x', y') the squared distance in these units is

        ||xx' - x'x''||_F^2 + ||x y - x' y'||^2 + 3/2 (y^2 - y'^2)^2 <= 9/2

    (`docs/mechanisms/gaussian-moments.md`), with or without y'y. What is published is the rounding of numbers with real
    Gaussian noise, so that the exact curve of a Gaussian holds (`privacy._gaussian_curve`), with m^2 = 9/(2 v), and
    zCDP with rho = m^2 / 2. The records are whole numbers before they are multiplied: no rounding is to be paid for.

    `variance` is that of the diagonal of X'X in public units. If it is left out, the smallest sufficient one is chosen;
    a smaller one is refused.
    """

    delta: Fraction
    variance: Fraction
    calibrated: ClassVar[tuple[str, ...]] = ("variance",)

    def __init__(
        self, model: LinearRegression, size: int, epsilon: Exact, delta: Exact, variance: Exact | None = None
    ) -> None:
        super().__init__(model, size, epsilon)
        small = gaussian_delta(delta)
        chosen = self.least_variance(small * SLACK) if variance is None else positive(variance, "variance")
        if not self.suffices(chosen, small * SLACK):
            raise DeclarationError(
                f"A variance of {exact_text(chosen)} is too small for epsilon = {exact_text(self.epsilon)} and delta "
                f"= {exact_text(small)}. Leave the variance out to have the smallest sufficient one chosen."
            )
        object.__setattr__(self, "delta", small)
        object.__setattr__(self, "variance", chosen)
        check_rate(Fraction(1, 1 + isqrt(int(max(self.variances)))))

    def least_variance(self, delta: Fraction) -> Fraction:
        """Return the smallest variance, to six digits, that gives the stated epsilon at this delta."""
        return curve_variance(self.quantities.squared_distance, self.epsilon, delta)

    def suffices(self, variance: Fraction, delta: Fraction) -> bool:
        """Return, with certainty, whether a variance gives the stated epsilon at this delta."""
        return curve_gives(self.quantities.squared_distance / variance, self.epsilon, delta)

    @cached_property
    def variances(self) -> tuple[Fraction, ...]:
        """Return the variance parameter of each number, in its own units."""
        return tuple(self.variance * unit for unit in self.quantities.units)

    @cached_property
    def noise(self) -> ProductGaussian:
        """Return independent Gaussian noise, rounded, with a variance for each number."""
        return RoundedGaussian(self.variances, (1,) * len(self.variances))

    @property
    def reason(self) -> str:
        return f"rounded Gaussian noise of variance {exact_text(self.variance)} in public units: exact Gaussian curve"

    @property
    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta), as stated."""
        return Guarantee(self.epsilon, self.delta, reason=self.reason)

    def privacy_loss(self) -> PrivacyLoss:
        """Return the privacy loss of the two records farthest apart, by the exact curve; all others cost less."""
        return curve_loss(self.quantities.squared_distance / self.variance, self.epsilon)


Form = tuple[tuple[int, Fraction], ...]
"""A factor as a sum of coordinates of v."""

_PROBES = 32  # records with values between the bounds whose products an enumeration compares
_GOLDEN = (5**0.5 - 1) / 2  # multiples of it, modulo one, fall nowhere in particular


@dataclass(frozen=True, init=False, repr=False)
class ConeMoments(NoisyMoments, kind="ConeMoments", version=1):
    """Regression moments with noise shaped like one record's products: pure epsilon-DP under replacing one record.

    A record is v = (1, u_1, ..., u_p, y), every |v_i| <= 1, indicators coded +1 and -1, and what it contributes are
    entries of vv', which lie in a convex body E much smaller than a box (`noise.moment_body`). By the cone theorem
    (`noise.cone`)

        z = s + round(M^2 R (A - B)),   R ~ Gamma(2 D + 1, rate epsilon),   A, B uniform in E,

    is pure epsilon-differential privacy under replacement of one record: s + M^2 R (A - B) is by the theorem, s is
    whole, and rounding comes after it. The theorem needs that *every* record lies in the body. Each value becomes a
    whole number |a| <= M first, and these are multiplied: aa' is positive semidefinite to the last digit. Rounded
    products would not be.

    >>> model = LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.2", missing="middle")
    >>> ConeMoments(model, size=1000, epsilon="0.5").guarantee.epsilon
    Fraction(1, 2)
    """

    reason = "cone noise, R (A - B) with A and B uniform in a convex body that holds every record's products"

    def __init__(self, model: LinearRegression, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        check_rate(self.epsilon / self.model.layout.reach)

    @property
    def coding(self) -> "RecordCoordinates":
        """Return how the released numbers are composed of products of coordinates."""
        return RecordCoordinates(self.model)

    @cached_property
    def noise(self) -> Cone:
        """Return cone noise in the units of the released numbers."""
        return Cone(self.epsilon, self.coding.body, self.coding.terms())

    @property
    def pure_epsilon(self) -> Fraction:
        """Return epsilon, by the cone theorem, which is proved for whole records and not for single numbers."""
        return self.epsilon

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss of randomised response, which dominates every pure epsilon."""
        return PrivacyLoss.worst_case(self.epsilon)

    def computed_loss(self) -> PrivacyLoss:
        """Return the same: the exact loss of cone noise is not known."""
        return self.privacy_loss()

    @property
    def rho(self) -> Fraction:
        """Return the zCDP parameter of any pure epsilon, epsilon tanh(epsilon / 2), rounded up."""
        return pure_rho(self.epsilon)

    def proof_assumption(self) -> ProofAssumption:
        """Return that every record lies in the body, to be checked at the bounds and at some points between them."""
        coding, square, noise = self.coding, self.model.grid**2, self.noise
        text = "lies in the body of the noise: positive semidefinite, within its bounds and cuts"
        probes, parts = self._probes(), (TrialPart(slice(None), self.noise, self.noise.epsilon),)
        trial = Trial(self, probes[0] * self.size, parts)

        def holds(row: Counts) -> bool:
            has_noise = all(terms or not value for value, terms in zip(row.tolist(), noise.terms, strict=True))
            return has_noise and coding.body.holds(coding.matrix(row), square)

        return ProofAssumption(text, probes, holds, trial)

    def _probes(self) -> Counts:
        """Return the contributions of records at their bounds and of some between them."""
        columns: dict[str, list[object]] = {}
        for index, bounds in enumerate(self.model.bounds, 1):
            shares = np.arange(1, _PROBES + 1) * _GOLDEN * index % 1
            columns[bounds.name] = (float(bounds.low) + shares * 2 * bounds.half).tolist()
        for column in columns_of_levels(self.model):
            columns[column.name] = [column.levels[k % len(column.levels)] for k in range(_PROBES)]
        records = [{name: [values[k]] for name, values in columns.items()} for k in range(_PROBES)]
        between = np.stack([self.model.rehearse(record) for record in records])
        return np.unique(np.concatenate([self.model.contributions(_PROBES)[0], between]), axis=0)


@dataclass(frozen=True)
class RecordCoordinates:
    """The coordinates v of a record, the body of vv', and the released numbers as sums of its entries.

    With an intercept v_0 = 1 is the first of them and an indicator I is the coordinate 2 I - 1, so that its square is
    known; without one the coordinates are the factors themselves, after v_0 = 1 where records are counted as some may
    be left out. The last is the target. Products of two levels of one column are known and not released, but they stay
    in the draw: a slice of E would have another sampler.
    """

    model: LinearRegression

    @property
    def is_signed(self) -> bool:
        """Return whether there is an intercept, by which indicators are coded +1 and -1."""
        return any(coordinate.factor is None for coordinate in self.model.layout.coordinates)

    @property
    def has_constant(self) -> bool:
        """Return whether the first coordinate is 1 in every record that is not left out."""
        return self.is_signed or self.model.layout.with_count

    @cached_property
    def body(self) -> MomentBody:
        """Return the body: the constant, signed indicators and a target whose square is not released are fixed.

        It holds 0 where records are left out.
        """
        layout = self.model.layout
        fixed = [self.is_signed and isinstance(factor, Indicator) for factor in layout.plan.factors]
        fixed[-1] = not layout.with_total
        return MomentBody((True, *fixed) if self.has_constant else tuple(fixed), layout.with_count)

    def form(self, factor: int) -> Form:
        """Return a factor as a sum of coordinates: I = (1 + v) / 2 for a signed indicator."""
        if factor == CONSTANT:
            return ((0, Fraction(1)),)
        if not self.is_signed:
            return ((factor + self.has_constant, Fraction(1)),)
        half = isinstance(self.model.layout.plan.factors[factor], Indicator)
        return ((0, Fraction(1, 2)), (factor + 1, Fraction(1, 2))) if half else ((factor + 1, Fraction(1)),)

    @cached_property
    def indices(self) -> list[int]:
        """Return the factor of every coordinate: the constant, if there is one, then all in their order."""
        return [*([CONSTANT] if self.has_constant else []), *range(len(self.model.layout.plan.factors))]

    def terms(self) -> tuple[Terms, ...]:
        """Return every released number as a sum of entries of vv' that vary, times its weight and M^2.

        Where several products of factors are the same number in every record, it is the mean of all of them: any of
        these has the right value, and together they have less noise.
        """
        layout = self.model.layout
        alike: dict[tuple[int, int], list[tuple[int, int]]] = {number: [] for number in layout.products}
        for pair in combinations_with_replacement(self.indices, 2):
            if (number := layout.product(*pair)) in alike and self._is_known(*pair):
                alike[number].append(pair)
        weights = zip(alike.values(), layout.weights.tolist(), strict=True)
        return tuple(self._terms(pairs, Fraction(weight * layout.grid**2, len(pairs))) for pairs, weight in weights)

    def _is_known(self, first: int, second: int) -> bool:
        """Return whether the sum of a product of factors is: without an intercept, no factor's own sum need be."""
        return self.is_signed or (first == CONSTANT) == (second == CONSTANT)

    def _terms(self, pairs: list[tuple[int, int]], unit: Fraction) -> Terms:
        found: dict[tuple[int, int], Fraction] = {}
        for first, second in pairs:
            for (i, one), (j, two) in product(self.form(first), self.form(second)):
                if i != j or not self.body.fixed[i] or self.body.holds_zero:
                    index = max(i, j), min(i, j)
                    found[index] = found.get(index, Fraction(0)) + one * two * unit
        return tuple((i, j, factor) for (i, j), factor in sorted(found.items()))

    def matrix(self, contribution: Counts) -> list[list[Fraction]]:
        """Return M^2 vv' of one record, exactly, from what it contributes; squares that are not released are 0.

        Without an intercept it is the mean of that of (1, v) and of (1, -v), as if both signs had been there.
        """
        layout = self.model.layout
        rows = zip(layout.products, np.asarray(contribution).tolist(), layout.weights.tolist(), strict=True)
        values = {number: Fraction(value, weight) for number, value, weight in rows}
        forms = [self._coordinate(index) for index in self.indices]
        return [[self._entry(values, one, two) for two in forms] for one in forms]

    def _coordinate(self, factor: int) -> Form:
        """Return a coordinate as a sum of factors and the constant: 2 I - 1 for a signed indicator."""
        is_indicator = factor != CONSTANT and isinstance(self.model.layout.plan.factors[factor], Indicator)
        if self.is_signed and is_indicator:
            return ((factor, Fraction(2)), (CONSTANT, Fraction(-1)))
        return ((factor, Fraction(1)),)

    def _entry(self, values: dict[tuple[int, int], Fraction], one: Form, two: Form) -> Fraction:
        pairs = [(a * b, i, j) for i, a in one for j, b in two if self._is_known(i, j)]
        return sum((factor * self._value(values, i, j) for factor, i, j in pairs), Fraction(0))

    def _value(self, values: dict[tuple[int, int], Fraction], first: int, second: int) -> Fraction:
        """Return the sum of a product of factors: released, or known."""
        number = self.model.layout.product(first, second)
        if number is None and first == second == CONSTANT:
            return Fraction(self.model.grid**2)
        return Fraction(0) if number is None else values.get(number, Fraction(0))
