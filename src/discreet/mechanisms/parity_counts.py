"""What the Fourier mechanisms share: numbers of records with an even number of yes, with Laplace noise.

For a block g of yes/no variables (a set inside a family) let c_g = sum over records of (-1)^(number of yes in g), its
Fourier coefficient. Then e_g = (n + c_g) / 2 is the number of records with an even number of yes in g: a count, which
one replaced record moves by one or not at all. Each is published with its own discrete Laplace noise, and the tables of
all families follow from them, always without contradiction between tables.
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Counts, Floats
from discreet.certificates import PrivacyLoss
from discreet.errors import DeclarationError
from discreet.exact import Exact
from discreet.mechanisms.coefficients import Parities
from discreet.mechanisms.contrasts import ContrastBasis, contrast_basis
from discreet.mechanisms.network_counts import NetworkCounts
from discreet.mechanisms.unit_moves import unit_moves_rho
from discreet.models.network import Network
from discreet.noise import Laplace


@dataclass(frozen=True, init=False, repr=False)
class ParityCounts(NetworkCounts):
    """Noisy numbers of records with an even number of yes, one for each block."""

    def __init__(self, model: Network, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        if (odd := next((column for column in model.variables if len(column.levels) != 2), None)) is not None:
            raise DeclarationError(
                f"{type(self).__name__} works for yes/no variables only; {odd.name!r} has {len(odd.levels)} levels."
            )

    @property
    def basis(self) -> ContrastBasis:
        """Return the blocks, in the order in which they are published."""
        return contrast_basis(self.model)

    @property
    @abstractmethod
    def rates(self) -> tuple[Fraction, ...]:
        """Return the rate of the noise of each published number."""

    @abstractmethod
    def totals(self, output: Counts) -> Floats:
        """Return the number of records as the tables state it."""

    @cached_property
    def quantities(self) -> Parities:
        """Return the numbers of records with an even number of yes."""
        return Parities(self.model)

    @cached_property
    def noise(self) -> Laplace:
        """Return independent Laplace noise, with a rate for each number."""
        return Laplace(self.rates, (1,) * len(self.rates))

    @property
    def rho(self) -> Fraction:
        return unit_moves_rho(self.quantities, self.noise)

    def computed_loss(self) -> PrivacyLoss:
        """Return the exact loss if all rates are equal: the pattern that moves most numbers dominates all others."""
        if len(set(self.rates)) > 1:
            return super().computed_loss()
        moved = int(Fraction(self.pure_epsilon) / self.rates[0])
        return self.noise.privacy_loss(np.arange(self.quantities.length) < moved).curve

    def coefficients(self, output: Counts) -> Counts:
        """Return the noisy c_g = 2 e_g - n of all blocks but the empty one."""
        return 2 * np.asarray(output)[..., -len(self.basis.blocks) :] - self.size

    def tables(self, output: Counts) -> dict[str, NDArray[np.float64]]:
        """Return the table (parents..., variable) of each variable: h(v) = 2^-|S| sum_{g in S} (-1)^(v.g) c_g.

        All numbers are multiples of a power of 1/2, so that marginals of different tables are equal to the last bit.
        """
        return self.basis.tables(self.coefficients(output), self.totals(output))

    def block_variances(self) -> Floats:
        """Return the variance of c_g over 2^|g| for each block: c_g is twice a published number, but for a constant."""
        own = self.noise.variance[-len(self.basis.blocks) :]
        return np.asarray(4 * own / 2.0 ** np.array([len(block) for block in self.basis.blocks]))

    def count_sd(self) -> float:
        variances = self.block_variances().tolist()
        families = self.model.families
        return sqrt(max(self.basis.cell_variance(family, variances, through=family[-1]) for family in families))
