"""Discrete Gaussian noise on counts: P(z | k) ~ e^(-|z - k|^2 / (2 v)) on the integers.

Replacing one record changes two cells by one, so the squared l2 sensitivity is 2 and both mechanisms are zCDP with
rho = 1/v (Bun and Steinke 2016; Canonne, Kamath and Steinke 2020 for the integers). Their exact delta(epsilon) is known
too (`certificates.gaussian_loss`), and the variance v is calibrated to it. Tails are lighter than Laplace's and many
releases compose well; for a single histogram `GeometricHistogram` needs far less noise.

`DiscreteGaussianHistogram` keeps the public total: its noise is conditioned to sum to zero. That costs no privacy and
saves the share 1/m of the variance.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from discreet.certificates.gaussian_loss import LARGEST_VARIANCE, calibrated_variance
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact_text, positive, probability, rounded_up
from discreet.guarantees.guarantee import Evidence, Guarantee
from discreet.mechanisms.noisy_counts import NoisyCounts
from discreet.models import Categories
from discreet.noise import Gaussian, ZeroSumGaussian

_LEAST_VARIANCE = Fraction(1, 1000)


@dataclass(frozen=True, init=False, repr=False)
class GaussianKernel(NoisyCounts):
    """Counts whose noise has the kernel g(u) = e^(-u^2 / (2 v)), with v calibrated to (epsilon, delta).

    A larger `variance` than is needed may be given; a smaller one is refused.
    """

    delta: Fraction
    variance: Fraction
    calibrated: ClassVar[tuple[str, ...]] = ("variance",)
    balanced: ClassVar[bool]

    def __init__(
        self, model: Categories, size: int, epsilon: Exact, delta: Exact, variance: Exact | None = None
    ) -> None:
        super().__init__(model, size, epsilon)
        object.__setattr__(self, "delta", gaussian_delta(delta))
        if variance is None:
            chosen = calibrated_variance(self.epsilon, self.delta, len(model.cells), self.balanced)
        else:
            chosen = positive(variance, "variance")
        object.__setattr__(self, "variance", chosen)
        if not _LEAST_VARIANCE <= self.variance <= LARGEST_VARIANCE:
            raise DeclarationError(
                f"The variance must lie between {exact_text(_LEAST_VARIANCE)} and {exact_text(LARGEST_VARIANCE)}; "
                f"got {exact_text(self.variance)}."
            )
        if variance is not None and Fraction(reached := self.privacy_loss().delta_at(self.epsilon)) > self.delta:
            raise DeclarationError(
                f"A variance of {exact_text(self.variance)} gives delta = {reached:.6g} at epsilon = "
                f"{exact_text(self.epsilon)}, more than the stated {exact_text(self.delta)}. Leave the variance out "
                "to have the smallest sufficient one chosen."
            )

    @property
    def reason(self) -> str:
        return f"discrete Gaussian noise of variance {exact_text(self.variance)}: exact privacy loss"

    @property
    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta), computed from the exact privacy loss."""
        return Guarantee(self.epsilon, self.delta, evidence=Evidence.ENUMERATED, reason=self.reason)

    @property
    def rho(self) -> Fraction:
        """Return the zCDP parameter, squared sensitivity 2 over 2 v, rounded up."""
        return rounded_up(super().rho, 9)


@dataclass(frozen=True, init=False, repr=False)
class DiscreteGaussianCounts(GaussianKernel, kind="DiscreteGaussianCounts", version=1):
    """Every count with its own discrete Gaussian noise of variance v: (epsilon, delta)-DP and 1/v-zCDP.

    >>> from discreet.models import Categories
    >>> coin = Categories("answer", levels=("no", "yes"), outside="no")
    >>> DiscreteGaussianCounts(coin, size=100, epsilon="1", delta="1e-6").variance
    Fraction(357203, 10000)
    """

    balanced = False

    @cached_property
    def noise(self) -> Gaussian:
        return Gaussian((self.variance,), self.quantities.blocks)


@dataclass(frozen=True, init=False, repr=False)
class DiscreteGaussianHistogram(GaussianKernel, kind="DiscreteGaussianHistogram", version=1):
    """A histogram with discrete Gaussian noise that sums to zero: (epsilon, delta)-DP, 1/v-zCDP, total kept."""

    balanced = True

    @cached_property
    def noise(self) -> ZeroSumGaussian:
        return ZeroSumGaussian((self.variance,), self.quantities.blocks)


def gaussian_delta(delta: Exact) -> Fraction:
    """Return a delta that Gaussian noise can be calibrated to, or say what is allowed."""
    small = probability(delta, "delta")
    if not Fraction(1, 10**15) <= small <= Fraction(1, 2):
        raise DeclarationError(f"Gaussian noise needs a delta between 1e-15 and 0.5; got {exact_text(small)}.")
    return small
