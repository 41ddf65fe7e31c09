"""Version 1 of GaussianMoments: discrete Gaussian noise, calibrated through zCDP. What older documents mean.

The squared distance of two records is taken as 9/2, and one more for y'y, so the noise is zCDP with rho = 9/(4 v), or
11/(4 v) (Canonne, Kamath and Steinke 2020), and from rho follows (epsilon, delta) by

    delta = inf over a > 1 of e^((a-1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from discreet.certificates import PrivacyLoss
from discreet.exact import exact_text
from discreet.guarantees.zcdp import zcdp_gives
from discreet.mechanisms.gaussian_moments import GaussianMoments
from discreet.mechanisms.moments import FirstMoments
from discreet.noise import Gaussian
from discreet.noise.concentrated import SLACK, variance_through_zcdp, worst_loss


@dataclass(frozen=True, init=False, repr=False)
class FirstGaussianMoments(GaussianMoments, kind="GaussianMoments", version=1):
    """Every moment with its own discrete Gaussian noise: (epsilon, delta)-DP and rho-zCDP."""

    @cached_property
    def quantities(self) -> FirstMoments:
        """Return the moments, with the distances of version 1."""
        return FirstMoments(self.model)

    def least_variance(self, delta: Fraction) -> Fraction:
        """Return the variance that suffices through zCDP."""
        return variance_through_zcdp(self.quantities.squared_distance, self.epsilon, delta)

    def suffices(self, variance: Fraction, delta: Fraction) -> bool:
        """Tell, certified, whether a variance suffices through zCDP."""
        return zcdp_gives(self.quantities.squared_distance / (2 * variance), self.epsilon, delta)

    @cached_property
    def noise(self) -> Gaussian:
        """Return independent discrete Gaussian noise, with a variance for each number."""
        return Gaussian(self.variances, (1,) * len(self.variances))

    @property
    def reason(self) -> str:
        """Name the variance."""
        return f"discrete Gaussian noise of variance {exact_text(self.variance)} in public units, through zCDP"

    def privacy_loss(self) -> PrivacyLoss:
        """Return a loss that dominates every (epsilon, delta): what version 1 is charged."""
        return worst_loss(self.epsilon, self.delta * SLACK)
