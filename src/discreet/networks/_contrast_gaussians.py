"""ContrastGaussians: Gaussian noise on the integer contrasts of a network with any numbers of levels.

Every contrast t_ga of block g gets real Gaussian noise of variance v_ga = v_g |h_a|^2, and is rounded. Replacing a
record whose variables change in the pattern z moves all of them by m standard deviations, m^2 = 2 rho, where rho is

    sum_g sum_a (change of t_ga)^2 / (2 v_ga) = sum_g D_g(z) / v_g,
    D_g(z) = prod_{i in g} (1 - 1/K_i) - prod_{i in g} ([i agrees] - 1/K_i),

because the contrasts of a variable, with the constant, are an orthogonal basis. The largest sum over all patterns is
found exactly, by eliminating variables, and v_g is scaled so that it is rho. From m follows (epsilon, delta) by the
exact curve of a Gaussian (`privacy._gaussian_curve`), as rounding what is noisy costs nothing. The
tables that a reader makes of the contrasts agree with each other and with the public number of records.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import sqrt
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact_text, positive, rounded_up
from discreet.networks._coefficients import Contrasts
from discreet.networks._contrasts import ContrastBasis, contrast_basis
from discreet.networks._fourier_counts import declared_shares
from discreet.networks._model import Network
from discreet.networks._record_changes import contrast_changes, pattern_records
from discreet.networks._table_mechanisms import LARGEST_VARIANCE, NetworkCounts
from discreet.noise import ProductGaussian, RoundedGaussian
from discreet.privacy import SLACK, Guarantee, PrivacyLoss, curve_gives, curve_loss, curve_variance
from discreet.tables import gaussian_delta

LEAST_VARIANCE = Fraction(1, 100)
"""The least variance of a contrast; below, rounding would be all the noise there is."""


@dataclass(frozen=True, init=False, repr=False)
class ContrastGaussians(NetworkCounts, kind="ContrastGaussians", version=2):
    """Contrasts with rounded Gaussian noise, block by block: (epsilon, delta)-DP and zCDP with rho = 1 / variance.

    Block g has v_g = variance * (largest sum of shares * D that one record moves) / shares[g]. If `shares` is left out,
    shares are chosen that nearly minimise the total variance over all cells of all family tables; if `variance` is left
    out, the smallest sufficient one is chosen.

    >>> net = Network.from_edges("a -> b", levels={"a": (0, 1, 2), "b": ("no", "yes")}, outside={"a": 0, "b": "no"})
    >>> mechanism = ContrastGaussians(net, size=100, epsilon=1, delta="1e-6")
    >>> mechanism.space.length, mechanism.basis.blocks
    (5, (('a',), ('b',), ('a', 'b')))
    """

    delta: Fraction
    shares: tuple[int, ...]
    variance: Fraction
    calibrated: ClassVar[tuple[str, ...]] = ("variance",)

    def __init__(
        self,
        model: Network,
        size: int,
        epsilon: Exact,
        delta: Exact,
        shares: Sequence[int] | None = None,
        variance: Exact | None = None,
    ) -> None:
        super().__init__(model, size, epsilon)
        small = gaussian_delta(delta)
        chosen = best_gaussian_shares(model) if shares is None else declared_shares(shares, self.basis.blocks)
        allowed = small * SLACK
        wanted = self.least_variance(allowed) if variance is None else positive(variance, "variance")
        if not self.suffices(wanted, allowed):
            raise DeclarationError(
                f"A variance of {exact_text(wanted)} is too small for epsilon = {exact_text(self.epsilon)} and delta "
                f"= {exact_text(small)}. Leave the variance out to have the smallest sufficient one chosen."
            )
        for name, value in (("delta", small), ("shares", chosen), ("variance", wanted)):
            object.__setattr__(self, name, value)
        if not LEAST_VARIANCE <= min(self.variances) <= max(self.variances) <= LARGEST_VARIANCE:
            raise DeclarationError(
                f"The variances of all contrasts must lie between {exact_text(LEAST_VARIANCE)} and "
                f"{exact_text(LARGEST_VARIANCE)}. Choose another epsilon or delta, or other shares."
            )

    def least_variance(self, delta: Fraction) -> Fraction:
        """Return 1 / rho for the largest rho (squared distance 2) that gives the stated epsilon at this delta."""
        return curve_variance(Fraction(2), self.epsilon, delta)

    def suffices(self, variance: Fraction, delta: Fraction) -> bool:
        """Tell, with certainty, whether a variance gives the stated epsilon at this delta."""
        return curve_gives(2 / variance, self.epsilon, delta)

    @property
    def derived_fields(self) -> Collection[str]:
        return ("shares",) if self.shares == best_gaussian_shares(self.model) else ()

    @property
    def basis(self) -> ContrastBasis:
        """Return the blocks, in the order in which their contrasts are published."""
        return contrast_basis(self.model)

    @cached_property
    def block_parameters(self) -> tuple[Fraction, ...]:
        """Return v_g of each block."""
        worst = contrast_changes(self.model).worst(self.shares)[0]
        return tuple(self.variance * worst / share for share in self.shares)

    @cached_property
    def quantities(self) -> Contrasts:
        return Contrasts(self.model)

    @cached_property
    def variances(self) -> tuple[Fraction, ...]:
        """Return v_ga = v_g prod_i a_i (a_i + 1) of each contrast."""
        own = np.repeat(np.array(self.block_parameters, dtype=object), self.quantities.blocks)
        return tuple(v * length for v, length in zip(own, self.quantities.squared_lengths, strict=True))

    @cached_property
    def noise(self) -> ProductGaussian:
        """Return independent Gaussian noise, rounded, with a variance for each contrast."""
        return RoundedGaussian(self.variances, (1,) * len(self.variances))

    @property
    def reason(self) -> str:
        return f"rounded Gaussian noise on contrasts, rho = {exact_text(self.rho)}: exact Gaussian curve"

    @property
    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta), as stated."""
        return Guarantee(self.epsilon, self.delta, reason=self.reason)

    def privacy_loss(self) -> PrivacyLoss:
        """Return the privacy loss of the worst pattern of change, by the exact curve; all other patterns cost less."""
        return curve_loss(2 / self.variance, self.epsilon)

    @cached_property
    def rho(self) -> Fraction:
        """Return the zCDP parameter, 1 / variance, rounded up."""
        return rounded_up(super().rho, 9)

    def worst_records(self) -> Counts:
        """Return two records that differ in the worst pattern of variables, which is found exactly."""
        _, pattern = contrast_changes(self.model).worst(self.shares)
        return pattern_records(self.model, pattern)

    def tables(self, output: Counts) -> dict[str, NDArray[np.float64]]:
        """Return the table (parents..., variable) of each variable; their marginals agree."""
        return self.basis.tables(np.asarray(output), float(self.size))

    def block_variances(self) -> Floats:
        """Return v_g of each block."""
        return np.array([float(own) for own in self.block_parameters])

    def count_sd(self) -> float:
        variances = self.block_variances().tolist()
        families = self.model.families
        return sqrt(max(self.basis.cell_variance(family, variances, through=family[-1]) for family in families))


@lru_cache(maxsize=16)
def best_gaussian_shares(network: Network) -> tuple[int, ...]:
    """Return shares that nearly minimise the variance of all cells of all family tables, sum_g a_g v_g."""
    changes = contrast_changes(network)
    return changes.best_weights(changes.basis.cost(), power=1)
