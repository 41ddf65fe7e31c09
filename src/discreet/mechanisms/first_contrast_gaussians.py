"""Version 1 of ContrastGaussians: discrete Gaussian noise, calibrated through zCDP. What older documents mean.

The cost of a replaced record is the same rho (Canonne, Kamath and Steinke 2020); (epsilon, delta) follow from rho-zCDP.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from discreet.certificates import PrivacyLoss
from discreet.exact import exact_text
from discreet.guarantees.zcdp import zcdp_gives
from discreet.mechanisms.contrast_gaussians import ContrastGaussians
from discreet.mechanisms.family_gaussians import LEAST_VARIANCE
from discreet.noise import Gaussian
from discreet.noise.concentrated import SLACK, variance_through_zcdp, worst_loss


@dataclass(frozen=True, init=False, repr=False)
class FirstContrastGaussians(ContrastGaussians, kind="ContrastGaussians", version=1):
    """Contrasts with discrete Gaussian noise, block by block: (epsilon, delta)-DP and zCDP with rho = 1 / variance."""

    least_of_all: ClassVar[Fraction] = LEAST_VARIANCE

    def least_variance(self, delta: Fraction) -> Fraction:
        """Return the variance that suffices through zCDP."""
        return variance_through_zcdp(Fraction(2), self.epsilon, delta)

    def suffices(self, variance: Fraction, delta: Fraction) -> bool:
        """Tell, certified, whether a variance suffices through zCDP."""
        return zcdp_gives(1 / variance, self.epsilon, delta)

    @cached_property
    def noise(self) -> Gaussian:
        """Return independent discrete Gaussian noise, with a variance for each contrast."""
        return Gaussian(self.variances, (1,) * len(self.variances))

    @property
    def reason(self) -> str:
        """Name the zCDP parameter."""
        return f"discrete Gaussian noise on contrasts, rho = {exact_text(self.rho)}, through zCDP"

    def privacy_loss(self) -> PrivacyLoss:
        """Return a loss that dominates every (epsilon, delta): what version 1 is charged."""
        return worst_loss(self.epsilon, self.delta * SLACK)
