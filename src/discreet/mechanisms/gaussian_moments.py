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
from math import isqrt
from typing import ClassVar

from discreet.certificates import PrivacyLoss
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact_text, positive
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.zcdp import zcdp_gives
from discreet.mechanisms.box_moments import NoisyMoments, check_rate
from discreet.mechanisms.discrete_gaussian_counts import gaussian_delta
from discreet.models.linear_regression import LinearRegression
from discreet.noise import Gaussian
from discreet.noise.concentrated import SLACK, variance_through_zcdp, worst_loss


@dataclass(frozen=True, init=False, repr=False)
class GaussianMoments(NoisyMoments, kind="GaussianMoments", version=1):
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
        small, squared = gaussian_delta(delta), self.quantities.squared_distance
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

    @cached_property
    def variances(self) -> tuple[Fraction, ...]:
        """Return the variance parameter of each number, in its own units."""
        return tuple(self.variance * unit for unit in self.quantities.units)

    @cached_property
    def noise(self) -> Gaussian:
        """Return independent Gaussian noise, with a variance for each number."""
        return Gaussian(self.variances, (1,) * len(self.variances))

    @property
    def reason(self) -> str:
        """Name the variance."""
        return f"discrete Gaussian noise of variance {exact_text(self.variance)} in public units, through zCDP"

    @property
    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta), by way of zCDP."""
        return Guarantee(self.epsilon, self.delta, reason=self.reason)

    def privacy_loss(self) -> PrivacyLoss:
        """Return a loss that dominates every (epsilon, delta): what version 1 is charged."""
        return worst_loss(self.epsilon, self.delta * SLACK)
