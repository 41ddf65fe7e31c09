"""ConeMoments: noise in the shape of what one record can contribute to all moments of a regression together.

A record is v = (1, u_1, ..., u_p, y), every |v_i| <= 1, indicators coded +1 and -1, and what it contributes are entries
of vv', which lie in a convex body E much smaller than a box (`noise.moment_body`). By the cone theorem (`noise.cone`)

    z = s + round(M^2 R (A - B)),   R ~ Gamma(2 D + 1, rate epsilon),   A, B uniform in E,

is pure epsilon-differential privacy under replacement of one record: s + M^2 R (A - B) is by the theorem, s is whole,
and rounding comes after it. The theorem needs that *every* record lies in the body. Each value becomes a whole number
|a| <= M first, and these are multiplied: aa' is positive semidefinite to the last digit. Rounded products would not be.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product

import numpy as np

from discreet.arrays import Counts
from discreet.certificates import PrivacyLoss
from discreet.exact import Exact
from discreet.guarantees.zcdp import pure_rho
from discreet.mechanisms.box_moments import NoisyMoments, check_rate
from discreet.mechanisms.proof_assumption import ProofAssumption
from discreet.models.linear_regression import LinearRegression
from discreet.models.model import columns_of_levels
from discreet.noise.cone import Cone, Terms
from discreet.noise.moment_body import MomentBody
from discreet.records.moments import CONSTANT, Indicator

Form = tuple[tuple[int, Fraction], ...]
"""A factor as a sum of coordinates of v."""

_PROBES = 32  # records with values between the bounds whose products a referee looks at
_GOLDEN = (5**0.5 - 1) / 2  # multiples of it, modulo one, fall nowhere in particular


@dataclass(frozen=True, init=False, repr=False)
class ConeMoments(NoisyMoments, kind="ConeMoments", version=1):
    """Regression moments with noise shaped like one record's products: pure epsilon-DP under replacing one record.

    >>> model = LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.2", missing="middle")
    >>> ConeMoments(model, size=1000, epsilon="0.5").guarantee.epsilon
    Fraction(1, 2)
    """

    reason = "cone noise, R (A - B) with A and B uniform in a convex body that holds every record's products"

    def __init__(self, model: LinearRegression, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        check_rate(self.epsilon / self.model.layout.reach)

    @property
    def coding(self) -> "Coding":
        """Return how the released numbers are composed of products of coordinates."""
        return Coding(self.model)

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
        coding, square = self.coding, self.model.grid**2
        text = "lies in the body of the noise: positive semidefinite, within its bounds and cuts"
        return ProofAssumption(text, self._probes(), lambda row: coding.body.holds(coding.matrix(row), square))

    def _probes(self) -> Counts:
        """Return the contributions of records at their bounds and of some between them."""
        columns: dict[str, list[object]] = {}
        for place, bounds in enumerate(self.model.bounds, 1):
            shares = np.arange(1, _PROBES + 1) * _GOLDEN * place % 1
            columns[bounds.name] = (float(bounds.low) + shares * 2 * bounds.half).tolist()
        for column in columns_of_levels(self.model):
            columns[column.name] = [column.levels[k % len(column.levels)] for k in range(_PROBES)]
        records = [{name: [values[k]] for name, values in columns.items()} for k in range(_PROBES)]
        between = np.stack([self.model.rehearse(record) for record in records])
        return np.unique(np.concatenate([self.model.contributions(_PROBES)[0], between]), axis=0)


@dataclass(frozen=True)
class Coding:
    """The coordinates v of a record, the body of vv', and the released numbers as sums of its entries.

    With an intercept v_0 = 1 is the first of them and an indicator I is the coordinate 2 I - 1, so that its square is
    known; without one the coordinates are the factors themselves. The last is the target. Products of two levels of
    one column are known and not released, but they stay in the draw: a slice of E would have another sampler.
    """

    model: LinearRegression

    @property
    def is_signed(self) -> bool:
        """Tell whether there is a constant, by which indicators are coded +1 and -1."""
        return any(coordinate.factor is None for coordinate in self.model.layout.coordinates)

    @cached_property
    def body(self) -> MomentBody:
        """Return the body: the constant, signed indicators and a target whose square is not released are fixed."""
        layout = self.model.layout
        fixed = [self.is_signed and isinstance(factor, Indicator) for factor in layout.plan.factors]
        fixed[-1] = not layout.with_total
        return MomentBody((True, *fixed) if self.is_signed else tuple(fixed))

    def form(self, factor: int) -> Form:
        """Return a factor as a sum of coordinates: I = (1 + v) / 2 for a signed indicator."""
        if not self.is_signed:
            return ((factor, Fraction(1)),)
        if factor == CONSTANT:
            return ((0, Fraction(1)),)
        half = isinstance(self.model.layout.plan.factors[factor], Indicator)
        return ((0, Fraction(1, 2)), (factor + 1, Fraction(1, 2))) if half else ((factor + 1, Fraction(1)),)

    @cached_property
    def places(self) -> list[int]:
        """Return the factor of every coordinate: the constant, if there is one, then all in their order."""
        return [*([CONSTANT] if self.is_signed else []), *range(len(self.model.layout.plan.factors))]

    def terms(self) -> tuple[Terms, ...]:
        """Return every released number as a sum of entries of vv' that vary, times its weight and M^2.

        Where several products of factors are the same number in every record, it is the mean of all of them: any of
        these has the right value, and together they have less noise.
        """
        layout = self.model.layout
        alike: dict[tuple[int, int], list[tuple[int, int]]] = {number: [] for number in layout.products}
        for pair in combinations_with_replacement(self.places, 2):
            if (number := layout.product(*pair)) in alike:
                alike[number].append(pair)
        weights = zip(alike.values(), layout.weights.tolist(), strict=True)
        return tuple(self._terms(pairs, Fraction(weight * layout.grid**2, len(pairs))) for pairs, weight in weights)

    def _terms(self, pairs: list[tuple[int, int]], unit: Fraction) -> Terms:
        found: dict[tuple[int, int], Fraction] = {}
        for first, second in pairs:
            for (i, one), (j, two) in product(self.form(first), self.form(second)):
                if i != j or not self.body.fixed[i]:
                    place = max(i, j), min(i, j)
                    found[place] = found.get(place, Fraction(0)) + one * two * unit
        return tuple((i, j, factor) for (i, j), factor in sorted(found.items()))

    def matrix(self, contribution: Counts) -> list[list[Fraction]]:
        """Return M^2 vv' of one record, exactly, from what it contributes; squares that are not released are 0."""
        layout = self.model.layout
        rows = zip(layout.products, np.asarray(contribution).tolist(), layout.weights.tolist(), strict=True)
        values = {number: Fraction(value, weight) for number, value, weight in rows}
        forms = [self._coordinate(place) for place in self.places]
        return [[self._entry(values, one, two) for two in forms] for one in forms]

    def _coordinate(self, factor: int) -> Form:
        """Return a coordinate as a sum of factors and the constant: 2 I - 1 for a signed indicator."""
        is_indicator = factor != CONSTANT and isinstance(self.model.layout.plan.factors[factor], Indicator)
        if self.is_signed and is_indicator:
            return ((factor, Fraction(2)), (CONSTANT, Fraction(-1)))
        return ((factor, Fraction(1)),)

    def _entry(self, values: dict[tuple[int, int], Fraction], one: Form, two: Form) -> Fraction:
        return sum((a * b * self._value(values, i, j) for i, a in one for j, b in two), Fraction(0))

    def _value(self, values: dict[tuple[int, int], Fraction], first: int, second: int) -> Fraction:
        """Return the sum of a product of factors: released, or known."""
        if first == second == CONSTANT:
            return Fraction(self.model.grid**2)
        number = self.model.layout.product(first, second)
        return Fraction(0) if number is None else values.get(number, Fraction(0))
