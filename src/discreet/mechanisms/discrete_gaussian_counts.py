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
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.certificates import PrivacyLoss
from discreet.certificates.gaussian_loss import (
    LARGEST_VARIANCE,
    calibrated_variance,
    gaussian_loss,
    log_sum_of_gaussians,
)
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact_text, positive, probability, rounded_up
from discreet.guarantees.guarantee import Evidence, Guarantee
from discreet.mechanisms.noisy_counts import Counts, NoisyCounts, balanced
from discreet.models import Categories
from discreet.randomness import RandomBits, bernoulli_exponential, discrete_gaussian

_LEAST_VARIANCE = Fraction(1, 1000)


@dataclass(frozen=True, init=False, repr=False)
class GaussianKernel(NoisyCounts):
    """Counts whose noise has the kernel g(u) = e^(-u^2 / (2 v)), with v calibrated to (epsilon, delta).

    A larger `variance` than is needed may be given; a smaller one is refused.
    """

    delta: Fraction
    variance: Fraction
    calibrated: ClassVar[tuple[str, ...]] = ("variance",)

    def __init__(
        self, model: Categories, size: int, epsilon: Exact, delta: Exact, variance: Exact | None = None
    ) -> None:
        super().__init__(model, size, epsilon)
        small = probability(delta, "delta")
        if not Fraction(1, 10**15) <= small <= Fraction(1, 2):
            raise DeclarationError(f"Gaussian noise needs a delta from 1e-15 to 0.5; got {exact_text(small)}.")
        cells = len(model.cells)
        if variance is None:
            chosen = calibrated_variance(self.epsilon, small, cells, self.keeps_total)
        else:
            chosen = positive(variance, "variance")
            _check_variance(chosen)
            reached = gaussian_loss(chosen, cells, self.keeps_total).delta_at(self.epsilon)
            if Fraction(reached) > small:
                raise DeclarationError(
                    f"A variance of {exact_text(chosen)} gives delta = {reached:.6g} at epsilon = "
                    f"{exact_text(self.epsilon)}, more than the {exact_text(small)} that is stated. Leave the variance "
                    "out to have it calibrated."
                )
        _check_variance(chosen)
        object.__setattr__(self, "delta", small)
        object.__setattr__(self, "variance", chosen)

    def __repr__(self) -> str:
        numbers = f"size={self.size}, epsilon={exact_text(self.epsilon)!r}, delta={exact_text(self.delta)!r}"
        return f"{type(self).__name__}({self.model!r}, {numbers}, variance={exact_text(self.variance)!r})"

    @property
    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta), computed from the exact privacy loss."""
        reason = f"discrete Gaussian noise of variance {exact_text(self.variance)}: exact privacy loss"
        return Guarantee(self.epsilon, self.delta, evidence=Evidence.ENUMERATED, reason=reason)

    @property
    def rho(self) -> Fraction:
        """Return the zCDP parameter, squared sensitivity 2 over 2 v, rounded up."""
        return rounded_up(1 / self.variance, 9)

    def privacy_loss(self) -> PrivacyLoss:
        """Return the exact loss, the same for all neighbours."""
        return gaussian_loss(self.variance, len(self.model.cells), self.keeps_total)

    @property
    def log_normaliser(self) -> float:
        """Return log sum_u e^(-|u|^2 / (2 v)) over all noise that can occur."""
        return log_sum_of_gaussians(self.variance, len(self.model.cells), self.keeps_total)

    @property
    def reach(self) -> float:
        """Return a quarter of the standard deviation: 45 of these lie beyond e^-60."""
        return sqrt(self.variance) / 4

    def log_kernel(self, noise: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return -u^2 / (2 v)."""
        return np.asarray(np.square(noise.astype(float)) * (-0.5 / float(self.variance)))


@dataclass(frozen=True, init=False, repr=False)
class DiscreteGaussianCounts(GaussianKernel, kind="DiscreteGaussianCounts"):
    """Every count with its own discrete Gaussian noise: (epsilon, delta)-DP and 1/v-zCDP.

    >>> from discreet.models import Categories
    >>> coin = Categories("answer", levels=("no", "yes"))
    >>> DiscreteGaussianCounts(coin, size=100, epsilon="1", delta="1e-6").variance
    Fraction(357203, 10000)
    """

    def noise(self, rows: int, bits: RandomBits) -> Counts:
        """Draw rows of independent noise."""
        cells = len(self.model.cells)
        return discrete_gaussian(self.variance, rows * cells, bits).reshape(rows, cells)


@dataclass(frozen=True, init=False, repr=False)
class DiscreteGaussianHistogram(GaussianKernel, kind="DiscreteGaussianHistogram"):
    """A histogram with discrete Gaussian noise that sums to zero: (epsilon, delta)-DP, 1/v-zCDP, total kept."""

    @property
    def keeps_total(self) -> bool:
        """Tell that every output sums to the public size."""
        return True

    def noise(self, rows: int, bits: RandomBits) -> Counts:
        """Draw rows of noise that sum to zero; about one row in sqrt(m) is kept."""
        rate = 1 / (2 * self.variance)
        return balanced(
            rows,
            len(self.model.cells),
            lambda count: discrete_gaussian(self.variance, count, bits),
            lambda last: bernoulli_exponential(rate, last * last, bits),
        )


def _check_variance(variance: Fraction) -> None:
    if not _LEAST_VARIANCE <= variance <= LARGEST_VARIANCE:
        raise DeclarationError(
            f"The variance must lie between {exact_text(_LEAST_VARIANCE)} and {exact_text(LARGEST_VARIANCE)}; "
            f"got {exact_text(variance)}."
        )
