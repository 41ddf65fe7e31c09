"""GaussianMoments: discrete Gaussian noise on the moments, for many features or many releases.

In public units ||x|| <= 1 and |y| <= 1. Give the diagonal of X'X, X'y and y'y the variance v and the rest of X'X v/2,
so that X'X counts with its Frobenius norm. For two records (x, y), (x', y') the squared distance in these units is

    ||xx' - x'x''||_F^2 + ||x y - x' y'||^2 <= 9/2,   and one more for y'y,

(`docs/mechanisms/gaussian-moments.md`), so the noise is zCDP with rho = 9/(4 v), or 11/(4 v). The records are whole
numbers before they are multiplied, so nothing is added for rounding. From rho follows (epsilon, delta) by

    delta = inf over a > 1 of e^((a-1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1)     (Canonne, Kamath and Steinke 2020).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import exp, isqrt, log, pi
from typing import ClassVar

import numpy as np
from flint import ctx
from numpy.typing import NDArray

from discreet.certificates import PrivacyLoss
from discreet.errors import DeclarationError
from discreet.exact import Exact, ball, exact_text, positive, probability
from discreet.guarantees.composition import zcdp_gives
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.box_moments import Floats, NoisyMoments, Wholes, check_rate
from discreet.mechanisms.laplace_moments import wide_laplace
from discreet.models.linear_regression import LinearRegression
from discreet.randomness import IntArray, Integers, RandomBits, bernoulli_exponential

SLACK = Fraction(10**9 - 1, 10**9)  # of delta: leaves room for the rounding of floats that read the guarantee


@dataclass(frozen=True, init=False)
class GaussianMoments(NoisyMoments, kind="GaussianMoments"):
    """Every moment with its own discrete Gaussian noise: (epsilon, delta)-DP and rho-zCDP.

    `variance` is that of the diagonal of X'X in public units. Left out, it is calibrated; a smaller one is refused.
    """

    delta: Fraction
    variance: Fraction
    calibrated: ClassVar[tuple[str, ...]] = ("variance",)

    def __init__(
        self, model: LinearRegression, size: int, epsilon: Exact, delta: Exact, variance: Exact | None = None
    ) -> None:
        super().__init__(model, size, epsilon)
        small = probability(delta, "delta")
        if not Fraction(1, 10**15) <= small <= Fraction(1, 2):
            raise DeclarationError(f"Gaussian noise needs a delta from 1e-15 to 0.5; got {exact_text(small)}.")
        squared = squared_sensitivity(model)
        chosen = (
            variance_through_zcdp(squared, self.epsilon, small * SLACK)
            if variance is None
            else positive(variance, "variance")
        )
        if not zcdp_gives(squared / (2 * chosen), self.epsilon, small * SLACK):
            raise DeclarationError(
                f"A variance of {exact_text(chosen)} is too small for epsilon = {exact_text(self.epsilon)} and delta = "
                f"{exact_text(small)}. Leave the variance out to have it calibrated."
            )
        object.__setattr__(self, "delta", small)
        object.__setattr__(self, "variance", chosen)
        check_rate(Fraction(1, 1 + isqrt(int(max(self.variances)))))

    @property
    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta), by way of zCDP."""
        reason = f"discrete Gaussian noise of variance {exact_text(self.variance)} in public units, through zCDP"
        return Guarantee(self.epsilon, self.delta, reason=reason)

    @property
    def rho(self) -> Fraction:
        """Return the zCDP parameter: squared sensitivity over twice the variance."""
        return squared_sensitivity(self.model) / (2 * self.variance)

    def privacy_loss(self) -> PrivacyLoss:
        """Return a loss that dominates every (epsilon, delta): randomised response, or all is lost with delta."""
        return worst_loss(self.epsilon, self.delta * SLACK)

    @cached_property
    def variances(self) -> tuple[Fraction, ...]:
        """Return the variance parameter of each number, in its own units."""
        d, layout = self.model.dimension, self.model.layout
        found = []
        for (first, second), order, weight in zip(layout.products, layout.orders, layout.weights.tolist(), strict=True):
            unit = weight**2 * layout.grid**4 * (d**2, d, 1)[order]
            found.append(self.variance * unit / (2 if order == 0 and first != second else 1))
        return tuple(found)

    @property
    def log_normaliser(self) -> float:
        """Return sum_j log sum_u e^(-u^2 / (2 v_j)); beyond a variance of 10 it is sqrt(2 pi v) to e^-197."""
        return sum(_log_sum(float(variance)) for variance in self.variances)

    @property
    def scale(self) -> Floats:
        """Return the standard deviations."""
        return np.sqrt([float(variance) for variance in self.variances])

    def log_kernel(self, noise: NDArray[np.generic]) -> Floats:
        """Return -sum_j u_j^2 / (2 v_j)."""
        return np.asarray(np.square(np.asarray(noise, dtype=float) / self.scale).sum(axis=-1) / -2)

    def noise(self, rows: int, bits: RandomBits) -> Wholes:
        """Draw rows of independent noise."""
        return np.column_stack([wide_gaussian(variance, rows, bits) for variance in self.variances])

    def real_noise(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of Gaussian numbers."""
        return generator.standard_normal((rows, len(self.variances))) * self.scale


def squared_sensitivity(model: LinearRegression) -> Fraction:
    """Return the largest squared distance between the moments of two records: 9/2, or 11/2 with y'y."""
    return Fraction(9, 2) + (1 if model.layout.with_total else 0)


def worst_loss(epsilon: Fraction, lost: Fraction) -> PrivacyLoss:
    """Return the loss that dominates every (epsilon, delta): randomised response, or all is lost."""
    with ctx.workprec(128):
        chances = [ball(1 - lost) / (1 + (sign * ball(epsilon)).exp()) for sign in (-1, 1)]
        uppers = tuple(float(chance.upper()) for chance in (*chances, ball(lost)))
    return PrivacyLoss((epsilon, -epsilon), uppers[:2], uppers[2])


def variance_through_zcdp(squared: Fraction, epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a variance, of six digits, that suffices and is hardly more than needed."""
    low, high = -20.0, 60.0  # of its logarithm
    while high - low > 1e-10:
        middle = (low + high) / 2
        enough = zcdp_gives(squared / (2 * Fraction(exp(middle))), epsilon, delta)
        low, high = (low, middle) if enough else (middle, high)
    variance = exp(high)
    digits = 10 ** (5 - int(np.floor(np.log10(variance)))) if variance < 1e5 else 1
    found = Fraction(int(variance * digits) + 1, digits)
    while not zcdp_gives(squared / (2 * found), epsilon, delta):
        found += Fraction(1, digits)
    return found


def _log_sum(variance: float) -> float:
    if variance > 10:
        return log(2 * pi * variance) / 2
    steps = np.arange(-60, 61)
    return float(np.log(np.exp(steps**2 / (-2 * variance)).sum()))


def wide_gaussian(variance: Fraction, count: int, bits: RandomBits) -> IntArray:
    """Draw integers u with P(u) ~ e^(-u^2 / (2 variance)), also where the variance is huge.

    Discrete Laplace numbers of rate 1/t, t = floor(sigma) + 1, are kept with probability e^(-x),
    x = (|u| - variance/t)^2 / (2 variance) = (|u| t b - a)^2 / (2 a b t^2) for a variance of a/b.
    """
    a, b = variance.numerator, variance.denominator
    t = isqrt(a // b) + 1
    rate = Fraction(1, 2 * a * b * t * t)
    drawn = np.zeros(count, dtype=np.int64)
    late = np.arange(count)
    while late.size:
        tried = wide_laplace(Fraction(1, t), late.size, bits)
        misses: Integers = np.abs(tried).astype(object) * (t * b) - a
        kept = bernoulli_exponential(rate, misses * misses, bits)
        drawn[late[kept]] = tried[kept]
        late = late[~kept]
    return drawn
