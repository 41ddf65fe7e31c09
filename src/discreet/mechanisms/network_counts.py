"""What the mechanisms for networks share: a linear measurement of the counts, plus integer noise.

The output is z = A k + u, where k are the cells of the maximal families, A is a public matrix of whole numbers and the
law of u does not depend on k. One person replaced moves A k by a vector of a known shape; each mechanism says which
shape its noise has, and why that gives its guarantee.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, inf, nextafter, sqrt
from typing import Any

import numpy as np
from flint import arb, ctx, fmpz_poly
from numpy.typing import NDArray

from discreet.certificates import PrivacyLoss
from discreet.certificates.listing import window
from discreet.errors import DeclarationError, DocumentError
from discreet.exact import Exact, ball, exact, exact_text, positive, whole
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.noisy_counts import LEAST_EPSILON, MOST_EPSILON
from discreet.models.network import Network
from discreet.randomness import FiniteLaw, RandomBits, geometric

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
_FARTHEST = 10**6  # outputs this many reaches beyond the possible counts are not read: their probability is e^-1000000


@dataclass(frozen=True, init=False)
class NetworkCounts(ABC):
    """Noisy counts of a network: `model` is the network, `size` the public number of records."""

    model: Network
    size: int
    epsilon: Fraction

    def __init__(self, model: Network, size: int, epsilon: Exact) -> None:
        if not isinstance(model, Network):
            raise DeclarationError(f"{type(self).__name__} publishes counts of a Network; got {type(model).__name__}.")
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", within_bounds(positive(epsilon, "epsilon"), "epsilon"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, size={self.size}, epsilon={exact_text(self.epsilon)!r})"

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return the best guarantee that is proved or computed."""

    @abstractmethod
    def privacy_loss(self) -> PrivacyLoss:
        """Return a privacy loss that dominates that of every pair of neighbours, both ways."""

    @property
    @abstractmethod
    def rho(self) -> Fraction:
        """Return a zCDP parameter, never rounded down."""

    @property
    def length(self) -> int:
        """Return how many whole numbers an output has."""
        return self.model.cells

    @property
    @abstractmethod
    def reach(self) -> float:
        """Return how far the noise of one number reaches, for the width of windows."""

    def measured(self, counts: Counts) -> Counts:
        """Return A k, what would be published without noise, for one or many rows of counts."""
        return counts

    def worst_records(self) -> Counts | None:
        """Return two records, rows of numbers of levels, of which one replaces the other at the highest cost.

        None if that is any two records that differ in everything.
        """
        return None

    @property
    def tied(self) -> Sequence[slice]:
        """Return which runs of numbers of an output have a sum that is public."""
        return ()

    def outputs_for(self, counts: Counts, most: int) -> Counts | None:
        """Return outputs near these data sets, at most so many, until what lies beyond is about e^-40."""
        return window(self.measured(counts), ceil(45 * self.reach) + 2, most, self.tied)

    def twin_fields(self, model: Network) -> Iterator[dict[str, Any]]:
        """Give what a twin on another network has instead: shares belong to the tables of a network."""
        yield {"shares": None} if hasattr(self, "shares") and model != self.model else {}

    @abstractmethod
    def noise(self, rows: int, bits: RandomBits) -> Counts:
        """Draw rows of noise."""

    @abstractmethod
    def log_noise(self, noise: Counts) -> Floats:
        """Return the logarithm of the probability of rows of noise."""

    @abstractmethod
    def count_sd(self) -> float:
        """Return the standard deviation of the noise on a cell whose row total is known, for the noisiest table."""

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        """Draw an output for each row of made-up counts; secret statistics are refused, they go through `publish`."""
        table = self.model.counts(counts)
        if any((t.reshape(*table.shape[:-1], -1).sum(axis=-1) != self.size).any() for t in self.model.split(table)):
            raise DeclarationError(f"The counts of every family must sum to the public size {self.size}.")
        measured = self.measured(table)
        return measured + self.noise(int(np.prod(table.shape[:-1])), bits).reshape(measured.shape)

    def log_likelihood(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either."""
        return self.log_noise(np.asarray(output) - self.measured(np.asarray(counts)))

    def check_output(self, output: Counts) -> None:
        """Refuse an output that this mechanism cannot have given."""
        if output.shape != (self.length,):
            raise DocumentError(f"The output must have {self.length} numbers; it has {output.size}.")
        farthest = self.size + _FARTHEST * (1 + self.reach)
        if any(abs(int(value)) > farthest for value in output):
            raise DocumentError("The output holds counts beyond any that can be read.")

    def _check_totals(self, output: Counts) -> None:
        """Refuse tables that do not sum to the public size."""
        for family, table in zip(self.model.maximal_families, self.model.split(output), strict=True):
            if sum(int(value) for value in table.ravel()) != self.size:
                raise DocumentError(f"The table of {', '.join(map(repr, family))} must sum to the size {self.size}.")


def within_bounds(epsilon: Fraction, name: str) -> Fraction:
    """Return an epsilon for which noise can be drawn, or say what is allowed."""
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise DeclarationError(
            f"{name} must lie between {exact_text(LEAST_EPSILON)} and {exact_text(MOST_EPSILON)}; "
            f"got {exact_text(epsilon)}."
        )
    return epsilon


def upper_float(number: arb) -> float:
    """Return a float above everything that a ball holds."""
    return nextafter(float(number.upper()), inf)


def composed(first: PrivacyLoss, second: PrivacyLoss) -> PrivacyLoss:
    """Return the loss of two independent releases: the losses add. Probabilities are rounded up."""
    pairs = [
        (a + b, p * q * (1 + 1e-15))
        for a, p in zip(first.losses, first.probabilities, strict=True)
        for b, q in zip(second.losses, second.probabilities, strict=True)
    ]
    return PrivacyLoss(tuple(loss for loss, _ in pairs), tuple(chance for _, chance in pairs))


class RadiusLaw:
    """P(r) ~ N(r) e^(-rate r) on r = 0, 1, 2, ..., where N is a polynomial that counts lattice points within r.

    If N has degree M, sum_r N(r) x^r = h(x) / (1 - x)^(M+1) with a polynomial h of degree <= M and coefficients >= 0,
    found from N(0), ..., N(M) by differences. So r = j + M + 1 geometrics, with P(j) ~ h_j e^(-rate j): never cut off.
    A point that is then uniform within r has P(u) ~ e^(-rate |u|), because sum_{r >= |u|} e^(-rate r) ~ e^(-rate |u|).
    """

    def __init__(self, rate: Fraction, within: Sequence[int]) -> None:
        self.rate, self.degree = rate, len(within) - 1
        differences = fmpz_poly([1, -1]) ** (self.degree + 1)
        self.starts = [int(c) for c in (fmpz_poly(list(within)) * differences).coeffs()[: self.degree + 1]]
        if any(start < 0 for start in self.starts):
            raise ArithmeticError("the differences of a count of lattice points are never below zero")
        self._law = FiniteLaw(self._weights)

    def _weights(self) -> list[arb]:
        q = (-ball(self.rate)).exp()
        return [arb(start) * q**j for j, start in enumerate(self.starts)]

    def sample(self, count: int, bits: RandomBits) -> Counts:
        """Draw radii."""
        steps = geometric(self.rate, count * (self.degree + 1), bits).reshape(count, self.degree + 1)
        return np.asarray(self._law.sample(count, bits) + steps.sum(axis=1))

    @property
    def log_normaliser(self) -> float:
        """Return log sum_u e^(-rate |u|) = log h(q) - M log(1 - q), q = e^-rate."""
        with ctx.workprec(128):
            rest = (1 - (-ball(self.rate)).exp()).log()
            return float(sum(self._weights(), arb(0)).log() - self.degree * rest)

    def moments(self) -> tuple[float, float]:
        """Return the mean and the variance of the radius."""
        with ctx.workprec(128):
            weights, q = self._weights(), (-ball(self.rate)).exp()
            total = sum(weights, arb(0))
            mean = sum((w * j for j, w in enumerate(weights)), arb(0)) / total
            variance = sum((w * (j - mean) ** 2 for j, w in enumerate(weights)), arb(0)) / total
            more = self.degree + 1
            return float(mean + more * q / (1 - q)), float(variance + more * q / (1 - q) ** 2)


def histogram_variance(cells: int, epsilon: float) -> float:
    """Return the variance of the noise that a GeometricHistogram adds to one cell.

    4 q (m-1) / (1-q)^2 times the mean of sin^2 under a density ~ (1 + 2 sqrt(q) cos + q)^(m-1) on the circle; both are
    trigonometric polynomials, so a sum over m + 2 or more equal steps is exact.
    """
    q = np.exp(-epsilon)
    angles = 2 * np.pi * np.arange(cells + 3) / (cells + 3)
    with np.errstate(divide="ignore"):
        logs = (cells - 1) * np.log(1 + 2 * np.sqrt(q) * np.cos(angles) + q)
    weights = np.exp(logs - logs.max())
    return float(4 * q * (cells - 1) / np.expm1(-epsilon) ** 2 * (weights @ np.sin(angles) ** 2) / weights.sum())


def given_row_total(variance: float, cells: int, levels: int) -> float:
    """Return the standard deviation of u_x less the mean of its row, for exchangeable noise that sums to zero."""
    return sqrt(variance * (1 - 1 / levels) * (1 + 1 / (cells - 1)))


def default_mechanism(network: Network, size: int, epsilon: Exact, delta: Exact = 0) -> tuple[Mechanism, str]:
    """Return the mechanism that suits a network, and why in words. Only declarations are looked at, never records."""
    from discreet.mechanisms.family_gaussians import FamilyGaussians

    pure, why = _pure_default(network, size, epsilon)
    if exact(delta, "delta") == 0:
        return pure, why
    gaussian = FamilyGaussians(network, size, epsilon, delta)
    sds = f"{gaussian.count_sd():.3g} against {pure.count_sd():.3g} with {type(pure).__name__}"
    if gaussian.count_sd() < pure.count_sd():
        return gaussian, f"with the stated delta, Gaussian noise is smaller: standard deviation of a count {sds}"
    return pure, f"{why}; the stated delta is not needed, as Gaussian noise would be larger ({sds})"


def _pure_default(network: Network, size: int, epsilon: Exact) -> tuple[NetworkCounts, str]:
    from discreet.mechanisms.cube_counts import CubeCounts, cube_refusal
    from discreet.mechanisms.family_histograms import FamilyHistograms
    from discreet.mechanisms.joint_histograms import JointHistograms, joint_refusal

    if cube_refusal(network) is None:
        return CubeCounts(network, size, epsilon), "yes/no variables about the same people: their influence is a cube"
    cells = [int(np.prod(network.shape(family))) for family in network.maximal_families]
    if len(cells) > 1 and max(cells) <= 2 * min(cells) and joint_refusal(network) is None:
        return JointHistograms(network, size, epsilon), "the tables have similar sizes: one radius for all of them"
    return FamilyHistograms(network, size, epsilon), "each table with its own share: a small one need not suffer"
