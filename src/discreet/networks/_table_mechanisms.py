"""What the mechanisms for networks share: a linear measurement of the counts, plus integer noise.

The output is z = A k + u, where k are the cells of the maximal families, A is a public matrix of whole numbers and the
distribution of u does not depend on k. Each mechanism says what it measures and with which noise.

FamilyHistograms: every maximal family table by its own GeometricHistogram, with a declared share of epsilon.

A replaced record moves at most one unit in each table, so table f costs epsilon_f and all of them sum_f epsilon_f =
epsilon: pure and tight. Families inside others are marginals and cost nothing. For tables of equal importance the
shares that minimise the total variance grow like (cells)^(1/3); any other whole numbers may be declared.

JointHistograms: one shared radius for the tables of all maximal families.

Replacing one record moves at most one unit in every table at once, so with d(u) = ||u||_1 / 2 on tables that sum to
zero the largest of the distances is at most 1, and

    P(u) ~ e^(-epsilon max_f d(u_f)),   every u_f of sum zero,

is pure epsilon-differentially private by the triangle inequality, and tight. All tables share one budget instead of
splitting it. That is good where they have similar sizes; a small table beside a large one gets the noise of the large.
The loss has three values, epsilon, 0 and -epsilon, with known probabilities (`noise.shared_radius`).

FamilyGaussians: discrete Gaussian noise on every cell of the maximal families.

A replaced record moves two cells by one in each of the F tables, so the squared l2 sensitivity is 2 F and noise with
P(u) ~ e^(-u^2 / (2 v)) in every cell is zCDP with rho = F / v (Bun and Steinke, 2016; Canonne, Kamath and Steinke, 2020
for the integers). The loss of the worst pair is (S + F) / v, where S is a sum of N = 2 F such numbers, and

    P(S = s) <= e^t e^(-s^2 / (2 N v)) / sqrt(2 pi N v),   t = 4.001 (N - 1) e^(-pi^2 v)   for v >= 2

(proved on the mechanism's page), so delta(epsilon) is known to many digits; the variance v is calibrated to it.
Squares add over tables where absolute values would, so this is the quietest choice for many tables, at a delta.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, reduce
from math import gcd, lcm, prod, sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact_text, positive, rounded_up, whole
from discreet.mechanism import Additive, Quantities, Sized, within_bounds
from discreet.networks._measured_tables import FamilyCounts
from discreet.networks._model import Network
from discreet.noise import Gaussian, RadiusDistribution, SharedRadiusLaplace, ZeroSumLaplace, delta_of_moves, preserved
from discreet.privacy import DIGITS, Evidence, Guarantee, continuous_variance, last_fitting
from discreet.tables import MOST_CELLS, gaussian_delta


@dataclass(frozen=True, init=False, repr=False)
class NetworkCounts(Additive[Network], Sized[Network]):
    """Noisy counts of a network: `model` is the network, `size` the public number of records."""

    model: Network
    size: int
    epsilon: Fraction

    def __init__(self, model: Network, size: int, epsilon: Exact) -> None:
        if not isinstance(model, Network):
            raise DeclarationError(
                f"{type(self).__name__} publishes the counts of a Network; got a {type(model).__name__}."
            )
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", within_bounds(positive(epsilon, "epsilon"), "epsilon"))

    @cached_property
    def quantities(self) -> Quantities:
        return FamilyCounts(self.model, self.model.maximal_families)

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated counts as an array; every family must add up to the public size."""
        table = self.model.counts(counts)
        if any((t.reshape(*table.shape[:-1], -1).sum(axis=-1) != self.size).any() for t in self.model.split(table)):
            raise DeclarationError(f"The counts of every family must add up to the public size {self.size}.")
        return table

    def log_noise(self, noise: Counts) -> Floats:
        """Return the logarithm of the probability of rows of noise."""
        return self.noise.log_prob(noise)

    def count_deviations(self) -> dict[str, float]:
        """Return standard deviations of the noise of counts, by name, for whoever plans a release."""
        return {"count_sd": self.count_sd()}

    def seen_noise(self) -> float:
        """Return the sum over tables of the variance of a cell's noise, each as a multiple of that by sampling.

        Evenly spread records vary by n / cells in a cell. So it is how much wider than by sampling alone readers will
        see the tables, each counted once, where noise is small.
        """
        found, first = 0.0, 0
        for cells in self.noise.blocks:
            found += float(self.noise.variance[first]) * cells / self.size
            first += cells
        return found

    def count_sd(self) -> float:
        """Return the standard deviation of the noise on a cell whose row total is known, for the noisiest table.

        It is that of u_x minus the mean of its row: noise that sums to zero is exchangeable, with negative covariance.
        """
        tables = self.quantities.tables or ()
        first, found = 0, []
        for names, cells, keeps in zip(tables, self.noise.blocks, preserved(self.noise.structure), strict=True):
            share = (1 - 1 / self.model.shape(names)[-1]) * (1 + 1 / (cells - 1) if keeps else 1)
            found.append(float(self.noise.variance[first]) * share)
            first += cells
        return sqrt(max(found))


_PARTS = 10_000  # finest parts of epsilon; with very many families, two for each


@dataclass(frozen=True, init=False, repr=False)
class FamilyHistograms(NetworkCounts, kind="FamilyHistograms", version=2):
    """A noisy histogram for each maximal family of a network: pure epsilon-DP under replacement of one record.

    A family is a variable with its parents. Family f gets the part shares[f] / sum(shares) of epsilon, in the order of
    the network's maximal families, and every table keeps its total.

    >>> net = Network.from_edges("a -> b", "c", levels=dict.fromkeys("abc", ("no", "yes")), outside="no")
    >>> FamilyHistograms(net, size=100, epsilon=1, shares=("2/3", "1/3")).shares
    (2, 1)
    """

    shares: tuple[int, ...]
    reason = "a GeometricHistogram for each maximal family; their epsilons add"

    def __init__(self, model: Network, size: int, epsilon: Exact, shares: Sequence[Exact] | None = None) -> None:
        super().__init__(model, size, epsilon)
        object.__setattr__(self, "shares", _default_shares(model) if shares is None else _whole_parts(shares, model))
        within_bounds(min(self.family_epsilons), "the smallest part of epsilon for a family")
        if (most := max(self.quantities.blocks)) > MOST_CELLS:
            raise DeclarationError(f"A table of {most} cells is too large; at most {MOST_CELLS} are allowed.")

    @property
    def derived_fields(self) -> Collection[str]:
        return ("shares",) if self.shares == _default_shares(self.model) else ()

    @property
    def family_epsilons(self) -> tuple[Fraction, ...]:
        """Return the part of epsilon for each maximal family; the parts add up to epsilon exactly."""
        unit = self.epsilon / sum(self.shares)
        return tuple(share * unit for share in self.shares)

    @cached_property
    def noise(self) -> ZeroSumLaplace:
        """Return Laplace noise that sums to zero in each table."""
        return ZeroSumLaplace(tuple(part / 2 for part in self.family_epsilons), self.quantities.blocks)


def _default_shares(model: Network) -> tuple[int, ...]:
    """Return whole parts ~ (cells)^(1/3)."""
    weights = np.array([float(prod(model.shape(family))) for family in model.maximal_families]) ** (1 / 3)
    unit = max(len(weights), _PARTS - len(weights))  # one part is kept back for each: a share is never 0
    parts = [1] * len(weights) if np.ptp(weights) == 0 else [max(1, int(w)) for w in weights / weights.sum() * unit]
    return _coprime(parts)


def _whole_parts(shares: Sequence[Exact], model: Network) -> tuple[int, ...]:
    """Return declared shares as whole numbers without a common factor."""
    if isinstance(shares, str) or not isinstance(shares, Sequence) or len(shares) != len(model.maximal_families):
        raise DeclarationError(
            f"shares must hold {len(model.maximal_families)} numbers, one for each maximal family of the network."
        )
    numbers = [positive(share, "a share") for share in shares]
    parts = _coprime([int(number * lcm(*(n.denominator for n in numbers))) for number in numbers])
    most = max(_PARTS, 2 * len(parts))
    if sum(parts) > most:
        raise DeclarationError(
            f"shares must be fractions over a common denominator of at most {most}; these need {sum(parts)}."
        )
    return parts


def _coprime(parts: list[int]) -> tuple[int, ...]:
    common = reduce(gcd, parts)
    return tuple(part // common for part in parts)


MOST_FREE_CELLS = 5000  # the distribution of the radius takes about the cube of this many steps


@dataclass(frozen=True, init=False, repr=False)
class JointHistograms(NetworkCounts, kind="JointHistograms", version=2):
    """All maximal family tables of a network, with one noise radius: pure epsilon-DP under replacement of one record.

    >>> chain = Network.from_edges("a -> b -> c", levels=dict.fromkeys("abc", ("no", "yes")), outside="no")
    >>> JointHistograms(chain, size=100, epsilon=1).space.length
    8
    """

    reason = "noise of norm max_f ||u_f||_1/2 on family tables (triangle inequality)"

    def __init__(self, model: Network, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        if (why := joint_refusal(model)) is not None:
            raise DeclarationError(f"JointHistograms cannot publish this network: {why}. Use FamilyHistograms.")

    @cached_property
    def noise(self) -> SharedRadiusLaplace:
        return SharedRadiusLaplace(self.epsilon, self.quantities.blocks)

    @property
    def tables(self) -> tuple[int, ...]:
        """Return the number of cells of each maximal family."""
        return self.quantities.blocks

    @property
    def radius(self) -> RadiusDistribution:
        """Return the distribution of the shared radius: P(r) ~ e^(-epsilon r) prod_f V_f(r)."""
        return self.noise.radius

    def cell_variance(self, cells: int) -> float:
        """Return the variance of a cell of a table of this many cells."""
        return self.noise.cell_variance(cells)


def joint_refusal(network: Network) -> str | None:
    """Return why JointHistograms does not fit a network, or None if it does."""
    free = network.cells - len(network.maximal_families)
    if free > MOST_FREE_CELLS:
        return f"its tables have {free} free cells, more than the {MOST_FREE_CELLS} allowed"
    return None


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
