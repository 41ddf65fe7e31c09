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
from functools import lru_cache
from math import ceil, exp, log, pi, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr

from discreet.certificates import PrivacyLoss
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact_text, positive, probability, rounded_up
from discreet.guarantees.guarantee import Evidence, Guarantee
from discreet.mechanisms.network_counts import Counts, Floats, NetworkCounts
from discreet.models.network import Network
from discreet.randomness import IntArray, RandomBits, discrete_gaussian

LEAST_VARIANCE, LARGEST_VARIANCE = Fraction(2), Fraction(10**16)
_TAIL = 80.0  # half the squared standard deviations of S beyond which its law is cut: e^-80 = 2e-35
_BLOCKS = 2**14  # at most so many values of the loss are told apart; each block takes its largest
_ROUNDING = 1e-9  # relative; the float functions here are good to 1e-11
_DIGITS = 6


@dataclass(frozen=True, init=False, repr=False)
class FamilyGaussians(NetworkCounts, kind="FamilyGaussians"):
    """Maximal family tables with discrete Gaussian noise: (epsilon, delta)-DP under replacement of one record.

    `variance` is calibrated if it is left out. A larger one may be given; one that is too small is refused.

    >>> net = Network.from_edges("a -> b", levels={"a": ("no", "yes"), "b": ("no", "yes")})
    >>> FamilyGaussians(net, size=100, epsilon=1, delta="1e-6").variance
    Fraction(89301, 2500)
    """

    delta: Fraction
    variance: Fraction
    calibrated: ClassVar[tuple[str, ...]] = ("variance",)

    def __init__(self, model: Network, size: int, epsilon: Exact, delta: Exact, variance: Exact | None = None) -> None:
        super().__init__(model, size, epsilon)
        small = probability(delta, "delta")
        if not Fraction(1, 10**15) <= small <= Fraction(1, 2):
            raise DeclarationError(f"Gaussian noise needs a delta from 1e-15 to 0.5; got {exact_text(small)}.")
        tables = len(model.maximal_families)
        chosen = (
            calibrated_variance(self.epsilon, small, tables) if variance is None else positive(variance, "variance")
        )
        if not LEAST_VARIANCE <= chosen <= LARGEST_VARIANCE:
            raise DeclarationError(
                f"The variance must lie between {exact_text(LEAST_VARIANCE)} and {exact_text(LARGEST_VARIANCE)}; "
                f"got {exact_text(chosen)}."
            )
        if (reached := reached_delta(chosen, tables, self.epsilon)) > small:
            raise DeclarationError(
                f"A variance of {exact_text(chosen)} gives delta = {reached:.6g} at epsilon = "
                f"{exact_text(self.epsilon)}, more than the {exact_text(small)} that is stated. Leave the variance out "
                "to have it calibrated."
            )
        object.__setattr__(self, "delta", small)
        object.__setattr__(self, "variance", chosen)

    def __repr__(self) -> str:
        numbers = f"delta={exact_text(self.delta)!r}, variance={exact_text(self.variance)!r}"
        return f"{super().__repr__()[:-1]}, {numbers})"

    @property
    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta), computed from the privacy loss."""
        reason = f"discrete Gaussian noise of variance {exact_text(self.variance)} on family tables: privacy loss"
        return Guarantee(self.epsilon, self.delta, evidence=Evidence.ENUMERATED, reason=reason)

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss of a record that changes in every family, rounded up."""
        tables = len(self.model.maximal_families)
        tops, chances, tail = _law(self.variance, tables)
        losses = tuple((int(top) + tables) / self.variance for top in tops)
        return PrivacyLoss(losses, tuple(chances.tolist()), tail)

    @property
    def rho(self) -> Fraction:
        """Return F / v, squared sensitivity 2 F over 2 v, rounded up."""
        return rounded_up(len(self.model.maximal_families) / self.variance, 9)

    @property
    def reach(self) -> float:
        """Return a quarter of the standard deviation: 45 of these lie beyond e^-60."""
        return sqrt(self.variance) / 4

    def noise(self, rows: int, bits: RandomBits) -> Counts:
        """Draw rows of independent noise."""
        return discrete_gaussian(self.variance, rows * self.length, bits).reshape(rows, self.length)

    def log_noise(self, noise: Counts) -> Floats:
        """Return sum over cells of -u^2 / (2 v) - log sqrt(2 pi v): for v >= 2 the normaliser to 1e-16."""
        v = float(self.variance)
        squares = np.square(np.asarray(noise, dtype=float)).sum(axis=-1)
        return np.asarray(squares * (-0.5 / v) - self.length * log(2 * pi * v) / 2)

    def count_sd(self) -> float:
        """Return the standard deviation of a cell given its row total, sqrt(v (1 - 1/levels))."""
        levels = max(self.model.shape(family)[-1] for family in self.model.maximal_families)
        return sqrt(float(self.variance) * (1 - 1 / levels))


@lru_cache(maxsize=64)
def _law(variance: Fraction, tables: int) -> tuple[IntArray, NDArray[np.float64], float]:
    """Return the largest S of each block, an upper bound on the block's probability, and one on all beyond the last.

    With w = N v: one value has at most e^(t - s^2/(2 w)) / sqrt(2 pi w), a block of several at most e^(t + 1/(8 w))
    times the normal probability of its values +- 1/2. S is sub-Gaussian of variance w, so beyond A lies <= e^(-A^2/2w).
    """
    spread = 2 * tables * float(variance)
    farthest = ceil(sqrt(2 * _TAIL * spread)) + 1
    width = -(-(2 * farthest + 1) // _BLOCKS)
    first = np.arange(-farthest, farthest + 1, width, dtype=np.int64)
    slack = 4.001 * (2 * tables - 1) * exp(-pi * pi * float(variance)) + _ROUNDING
    if width == 1:
        chances = np.exp(slack - first.astype(float) ** 2 / (2 * spread)) / sqrt(2 * pi * spread)
    else:
        low, high = (first - 0.5) / sqrt(spread), (first + width - 0.5) / sqrt(spread)
        mass = np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
        chances = mass * exp(slack + 1 / (8 * spread))
    tail = 2 * exp(-_TAIL)
    chances[0] += tail
    return first + width - 1, chances, tail


def reached_delta(variance: Fraction, tables: int, epsilon: Fraction) -> float:
    """Return delta(epsilon) of this noise on so many tables, sum of P (1 - e^(epsilon - loss)), rounded up."""
    tops, chances, tail = _law(variance, tables)
    excess = (tops + float(tables - epsilon * variance)) / float(variance)
    above = excess > 0
    return float(chances[above] @ -np.expm1(-excess[above]) * (1 + _ROUNDING) + tail)


@lru_cache(maxsize=256)
def calibrated_variance(epsilon: Fraction, delta: Fraction, tables: int) -> Fraction:
    """Return a variance of six digits at which delta(epsilon) is at most delta, and hardly more than is needed."""

    def suffices(variance: Fraction) -> bool:
        return reached_delta(variance, tables, epsilon) <= delta

    high = max(LEAST_VARIANCE, rounded_up(tables * _continuous_variance(float(epsilon), float(delta)), _DIGITS))
    while not suffices(high):
        high = rounded_up(float(high) * 1.01, _DIGITS)
        if high > LARGEST_VARIANCE:
            raise DeclarationError(
                f"epsilon = {exact_text(epsilon)} and delta = {exact_text(delta)} need noise of a variance above "
                f"{exact_text(LARGEST_VARIANCE)}; choose a larger epsilon."
            )
    low = max(LEAST_VARIANCE, high * Fraction(9, 10))
    if suffices(low):
        return rounded_up(float(low), _DIGITS) if suffices(rounded_up(float(low), _DIGITS)) else high
    while high - low > high / 10**_DIGITS:
        middle = rounded_up(float(low + high) / 2, _DIGITS)
        if middle >= high:
            break
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _continuous_variance(epsilon: float, delta: float) -> float:
    """Return v for one table of continuous noise: delta = Phi(a/2 - e/a) - e^e Phi(-a/2 - e/a), a^2 = 2/v."""
    low, high = 1e-8, 1e14
    for _ in range(120):
        middle = sqrt(low * high)
        shift = sqrt(2 / middle)
        reached = ndtr(shift / 2 - epsilon / shift) - exp(epsilon + log_ndtr(-shift / 2 - epsilon / shift))
        low, high = (middle, high) if reached > delta else (low, middle)
    return high
