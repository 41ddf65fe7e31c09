"""FamilyGaussians: discrete Gaussian noise on every cell of the maximal families.

A replaced record moves two cells by one in each of the F tables, so the squared l2 sensitivity is 2 F and noise with
P(u) ~ e^(-u^2 / (2 v)) in every cell is zCDP with rho = F / v (Bun and Steinke, 2016; Canonne, Kamath and Steinke, 2020
for the integers). The loss of the worst pair is (S + F) / v, where S is a sum of N = 2 F such numbers, and

    P(S = s) <= e^t e^(-s^2 / (2 N v)) / sqrt(2 pi N v),   t = 4.001 (N - 1) e^(-pi^2 v)   for v >= 2

(proved on the mechanism's page), so delta(epsilon) is known to many digits; the variance v is calibrated to it.
Squares add over tables where absolute values would, so this is the quietest choice for many tables, at a delta.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

from discreet.certificates.calibration import DIGITS, continuous_variance, last_fitting
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact_text, positive, rounded_up
from discreet.guarantees.guarantee import Evidence, Guarantee
from discreet.mechanisms.discrete_gaussian_counts import gaussian_delta
from discreet.mechanisms.network_counts import NetworkCounts
from discreet.models.network import Network
from discreet.noise import Gaussian
from discreet.noise.gaussian import delta_of_moves

LEAST_VARIANCE, LARGEST_VARIANCE = Fraction(2), Fraction(10**16)


@dataclass(frozen=True, init=False, repr=False)
class FamilyGaussians(NetworkCounts, kind="FamilyGaussians", version=1):
    """The family tables of a network with discrete Gaussian noise: (epsilon, delta)-DP under replacement of one record.

    A family is a variable with its parents; tables of maximal families contain all others. If `variance` is left out,
    the smallest sufficient one is chosen. A larger one may be given; one that is too small is refused.

    >>> net = Network.from_edges("a -> b", levels={"a": ("no", "yes"), "b": ("no", "yes")}, outside="no")
    >>> FamilyGaussians(net, size=100, epsilon=1, delta="1e-6").variance
    Fraction(89301, 2500)
    """

    delta: Fraction
    variance: Fraction
    calibrated: ClassVar[tuple[str, ...]] = ("variance",)

    def __init__(self, model: Network, size: int, epsilon: Exact, delta: Exact, variance: Exact | None = None) -> None:
        super().__init__(model, size, epsilon)
        small = gaussian_delta(delta)
        tables = len(model.maximal_families)
        chosen = (
            calibrated_variance(self.epsilon, small, tables) if variance is None else positive(variance, "variance")
        )
        if not LEAST_VARIANCE <= chosen <= LARGEST_VARIANCE:
            raise DeclarationError(
                f"The variance must lie between {exact_text(LEAST_VARIANCE)} and {exact_text(LARGEST_VARIANCE)}; "
                f"got {exact_text(chosen)}."
            )
        if (reached := delta_of_moves(chosen, 2 * tables, self.epsilon)) > small:
            raise DeclarationError(
                f"A variance of {exact_text(chosen)} gives delta = {reached:.6g} at epsilon = "
                f"{exact_text(self.epsilon)}, more than the stated {exact_text(small)}. Leave the variance out to "
                "have the smallest sufficient one chosen."
            )
        object.__setattr__(self, "delta", small)
        object.__setattr__(self, "variance", chosen)

    @property
    def reason(self) -> str:
        return f"discrete Gaussian noise of variance {exact_text(self.variance)} on family tables: privacy loss"

    @property
    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta), computed from the privacy loss."""
        return Guarantee(self.epsilon, self.delta, evidence=Evidence.ENUMERATED, reason=self.reason)

    @cached_property
    def noise(self) -> Gaussian:
        """Return independent Gaussian noise of one variance."""
        blocks = self.quantities.blocks
        return Gaussian((self.variance,) * len(blocks), blocks)

    @property
    def rho(self) -> Fraction:
        """Return F / v, squared sensitivity 2 F over 2 v, rounded up."""
        return rounded_up(super().rho, 9)


@lru_cache(maxsize=256)
def calibrated_variance(epsilon: Fraction, delta: Fraction, tables: int) -> Fraction:
    """Return a variance of six digits at which delta(epsilon) is at most delta, and hardly more than is needed."""

    def suffices(variance: Fraction) -> bool:
        return delta_of_moves(variance, 2 * tables, epsilon) <= delta

    high = max(LEAST_VARIANCE, rounded_up(tables * continuous_variance(float(epsilon), float(delta), 1e14), DIGITS))
    while not suffices(high):
        high = rounded_up(float(high) * 1.01, DIGITS)
        if high > LARGEST_VARIANCE:
            raise DeclarationError(
                f"epsilon = {exact_text(epsilon)} and delta = {exact_text(delta)} need noise with a variance above "
                f"{exact_text(LARGEST_VARIANCE)}, the largest that is supported. Choose a larger epsilon."
            )
    low = max(LEAST_VARIANCE, high * Fraction(9, 10))
    if suffices(low):
        return rounded_up(float(low), DIGITS) if suffices(rounded_up(float(low), DIGITS)) else high
    return last_fitting(suffices, high, low, Fraction(1, 10**DIGITS), lambda a, b: rounded_up(float(a + b) / 2, DIGITS))
