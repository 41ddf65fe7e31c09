"""GaussianMoments: Gaussian noise on the moments, for many features or many releases.

In public units ||x|| <= 1 and |y| <= 1. Give the diagonal of X'X and X'y the variance v, the rest of X'X v/2, so that
X'X counts with its Frobenius norm, and y'y (if the noise of the model is unknown) 2v/3. For two records (x, y) and
(x', y') the squared distance in these units is

    ||xx' - x'x''||_F^2 + ||x y - x' y'||^2 + 3/2 (y^2 - y'^2)^2 <= 9/2

(`docs/mechanisms/gaussian-moments.md`), with or without y'y. What is published is the rounding of numbers with real
Gaussian noise, so that the exact curve of a Gaussian holds (`certificates.gaussian_curve`), with m^2 = 9/(2 v), and
zCDP with rho = m^2 / 2. The records are whole numbers before they are multiplied: no rounding is to be paid for.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import ClassVar

from discreet.certificates import PrivacyLoss
from discreet.certificates.gaussian_curve import curve_gives, curve_loss, curve_variance
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact_text, positive
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.box_moments import NoisyMoments, check_rate
from discreet.mechanisms.discrete_gaussian_counts import gaussian_delta
from discreet.models.linear_regression import LinearRegression
from discreet.noise.concentrated import SLACK
from discreet.noise.gaussian import ProductGaussian
from discreet.noise.rounded_gaussian import RoundedGaussian


@dataclass(frozen=True, init=False, repr=False)
class GaussianMoments(NoisyMoments, kind="GaussianMoments", version=2):
    """Every moment of a regression with its own Gaussian noise, rounded: (epsilon, delta)-DP and rho-zCDP.

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
        """Tell, with certainty, whether a variance gives the stated epsilon at this delta."""
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
