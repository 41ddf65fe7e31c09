"""Noisy counts of a table of categories: what their mechanisms share, and one class for each sort of noise.

Noise is Laplace or Gaussian, and free or tied to a sum of zero, which keeps the public total: the four mechanisms.
Replacing one record moves one unit from one cell to another; each class says what its noise makes of that.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats, NumbersT
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact_text, positive, probability, rounded_up, whole
from discreet.mechanism import Additive, Part, Quantities, Sized, noise_epsilon, unit_moves
from discreet.noise import Gaussian, Laplace, ZeroSumGaussian, ZeroSumLaplace, log_terms, preserved
from discreet.privacy import LARGEST_VARIANCE, Evidence, Guarantee, PrivacyLoss, calibrated_variance
from discreet.tables._model import Categories


@dataclass(frozen=True)
class TableCells(Quantities):
    """All cells of a table of categories."""

    model: Categories

    @property
    def blocks(self) -> tuple[int, ...]:
        return (len(self.model.cells),)

    @property
    def parts(self) -> tuple[Part, ...] | None:
        shape = tuple(len(column.levels) for column in self.model.columns)
        names = tuple(column.name for column in self.model.columns)
        return (Part(names, (True,) * len(names), np.arange(self.length).reshape(shape)),)

    @property
    def single_cells(self) -> Counts:
        return np.arange(self.length)

    def apply(self, counts: NumbersT) -> NumbersT:
        return np.asarray(counts)

    def transpose(self, values: NumbersT) -> NumbersT:
        return np.asarray(values)

    @property
    def tables(self) -> tuple[tuple[str, ...], ...] | None:
        return (tuple(column.name for column in self.model.columns),)

    def changes(self) -> tuple[Counts, ...]:
        """Return one unit that moves from the last cell to the first; all others are alike if their noise is.

        Where it is not, a mechanism states quantities with one move for each pair of unlike cells.
        """
        return (unit_moves(self.blocks),)

    def additions(self) -> tuple[Counts, ...]:
        """Return one unit more in the first cell; all other cells are alike if their noise is."""
        return (np.eye(1, self.length, dtype=np.int64)[0],)


@dataclass(frozen=True, init=False, repr=False)
class NoisyCounts(Additive[Categories], Sized[Categories]):
    """A noisy table of counts: `model` declares the cells, `size` is the public number of records."""

    model: Categories
    size: int
    epsilon: Fraction

    def __init__(self, model: Categories, size: int, epsilon: Exact) -> None:
        if not isinstance(model, Categories):
            raise DeclarationError(f"{type(self).__name__} publishes counts of Categories; got {type(model).__name__}.")
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size"))
        object.__setattr__(self, "epsilon", noise_epsilon(epsilon, "epsilon"))

    @cached_property
    def quantities(self) -> Quantities:
        return TableCells(self.model)

    @cached_property
    def pure_epsilon(self) -> Fraction | float:
        self._require_alike()
        return super().pure_epsilon

    def computed_loss(self) -> PrivacyLoss:
        self._require_alike()
        return super().computed_loss()

    def _require_alike(self) -> None:
        """Refuse noise that differs between cells, unless quantities are stated whose changes know it."""
        if len(self.noise.blocks) > 1 and type(self.quantities) is TableCells:
            raise DeclarationError(
                f"{type(self).__name__} has noise that differs between cells, but its quantities list one move for all "
                "of them, from which its guarantee would be computed. State quantities whose changes() lists one move "
                "for each pair of unlike cells."
            )

    def checked(self, counts: ArrayLike) -> Counts:
        """Return simulated counts as an array; they must add up to the public size."""
        table = self.model.counts(counts)
        if (table.sum(axis=-1) != self.size).any():
            raise DeclarationError(f"The counts must add up to the public size {self.size}.")
        return table

    @property
    def keeps_total(self) -> bool:
        """Return whether every output adds up to the public size."""
        return preserved(self.noise.structure)[0]

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return log g(noise), cell by cell."""
        return log_terms(self.noise.structure, noise, 0)

    @property
    def log_normaliser(self) -> float:
        """Return log Z."""
        return self.noise.log_normaliser

    def outputs_near(self, margin: int) -> Counts:
        """Return all outputs whose counts lie between -margin and size + margin: enough to meet every sign of noise."""
        values = range(-margin, self.size + margin + 1)
        cells = len(self.model.cells)
        if not self.keeps_total:
            return np.array(list(product(values, repeat=cells)))
        free = np.array(list(product(values, repeat=cells - 1)))
        return np.column_stack([free, self.size - free.sum(axis=1)])


@dataclass(frozen=True, init=False, repr=False)
class GeometricHistogram(NoisyCounts, kind="GeometricHistogram", version=1):
    """A histogram with little noise that keeps its total: pure epsilon-DP under replacement of one record.

    Replacing one record moves one unit from one cell to another, so the influence of a person is the hull of all
    e_i - e_j, whose norm on sum-zero vectors is d(u) = ||u||_1 / 2. The output z has the public total, and

        P(z | k) = e^(-epsilon d(z - k)) / Z,   Z = sum_i C(m-1, i)^2 q^i / (1 - q)^(m-1),   q = e^-epsilon.

    Neighbours have d(k - k') = 1, so by the triangle inequality no output is more than e^epsilon times likelier under
    one than under the other: pure epsilon-differential privacy, and tight. With two levels it is two-sided geometric
    noise.

    >>> from discreet.tables import Categories
    >>> smoking = Categories("smoking", levels=("never", "former", "current"), outside="never")
    >>> GeometricHistogram(smoking, size=1200, epsilon="0.5").guarantee.epsilon
    Fraction(1, 2)
    """

    reason = "noise of norm ||u||_1/2 on a histogram of known size (triangle inequality)"

    @cached_property
    def noise(self) -> ZeroSumLaplace:
        """Return Laplace noise that sums to zero; moving one record costs two rates."""
        return ZeroSumLaplace((self.epsilon / 2,), self.quantities.blocks)

    @property
    def rho(self) -> Fraction:
        return self.privacy_loss().rho


LEAST_VARIANCE = Fraction(1, 1000)
"""The least variance of Gaussian noise that is supported."""


@dataclass(frozen=True, init=False, repr=False)
class GaussianKernel(NoisyCounts):
    """Counts whose noise has the kernel g(u) = e^(-u^2 / (2 v)), with v calibrated to (epsilon, delta).

    Replacing one record changes two cells by one, so the squared l2 sensitivity is 2 and both mechanisms are zCDP with
    rho = 1/v (Bun and Steinke 2016; Canonne, Kamath and Steinke 2020 for the integers). Their exact delta(epsilon) is
    known too (`privacy._gaussian_loss`), and the variance v is calibrated to it. Tails are lighter than Laplace's and
    many releases compose well; for a single histogram `GeometricHistogram` needs far less noise.

    `DiscreteGaussianHistogram` keeps the public total: its noise is conditioned to sum to zero. That costs no privacy
    and saves the share 1/m of the variance.

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
        if not LEAST_VARIANCE <= self.variance <= LARGEST_VARIANCE:
            raise DeclarationError(
                f"The variance must lie between {exact_text(LEAST_VARIANCE)} and {exact_text(LARGEST_VARIANCE)}; "
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

    >>> from discreet.tables import Categories
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


@dataclass(frozen=True, init=False, repr=False)
class DiscreteLaplaceCounts(NoisyCounts, kind="DiscreteLaplaceCounts", version=1):
    """Every count with its own noise of rate epsilon/2: pure epsilon-DP under replacement of one record.

    Replacing one record changes two cells by one each, so the l1 sensitivity is 2 and

        P(z | k) = prod_i tanh(epsilon/4) e^(-epsilon |z_i - k_i| / 2)

    is pure epsilon-DP. This is algorithm 1 of Zhang, Rubinstein and Dimitrakakis (2016) on one table, with integer
    noise and nothing cut off. The total is not kept, so it is less informative than `GeometricHistogram` for the same
    epsilon.
    """

    reason = "discrete Laplace noise of scale 2/epsilon, l1 sensitivity 2"

    @cached_property
    def noise(self) -> Laplace:
        return Laplace((self.epsilon / 2,), self.quantities.blocks)

    @property
    def rho(self) -> Fraction:
        return self.privacy_loss().rho
