"""What the Fourier mechanisms share: numbers of records with an even number of yes, with Laplace noise.

For a block g of yes/no variables (a set inside a family) let c_g = sum over records of (-1)^(number of yes in g), its
Fourier coefficient. Then e_g = (n + c_g) / 2 is the number of records with an even number of yes in g: a count, which
one replaced record moves by one or not at all. Each is published with its own discrete Laplace noise, and the tables of
all families follow from them, always without contradiction between tables.
"""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import log, sqrt, tanh

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DeclarationError
from discreet.exact import Exact
from discreet.mechanisms.contrasts import ContrastBasis, contrast_basis
from discreet.mechanisms.network_counts import Counts, Floats, NetworkCounts
from discreet.models.network import Network
from discreet.randomness import RandomBits, discrete_laplace


@dataclass(frozen=True, init=False, repr=False)
class ParityCounts(NetworkCounts):
    """Noisy numbers of records with an even number of yes, one for each block."""

    def __init__(self, model: Network, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        if (odd := next((column for column in model.variables if len(column.levels) != 2), None)) is not None:
            raise DeclarationError(
                f"{type(self).__name__} is for yes/no variables; {odd.name!r} has {len(odd.levels)} levels."
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

    @property
    def length(self) -> int:
        """Return how many numbers are published."""
        return len(self.rates)

    @property
    def reach(self) -> float:
        """Return how many units of noise in the noisiest number cost a factor e."""
        return float(1 / min(self.rates))

    def measured(self, counts: Counts) -> Counts:
        """Return e_g = (n + c_g) / 2 of every block: a sum of cells of one table, so that this map is linear."""
        return np.asarray((self.basis.sizes(counts) + self.basis.contrasts(counts)) // 2)

    def coefficients(self, output: Counts) -> Counts:
        """Return the noisy c_g = 2 e_g - n of all blocks but the empty one."""
        return 2 * np.asarray(output)[..., -len(self.basis.blocks) :] - self.size

    def tables(self, output: Counts) -> dict[str, NDArray[np.float64]]:
        """Return the table (parents..., variable) of each variable: h(v) = 2^-|S| sum_{g in S} (-1)^(v.g) c_g.

        All numbers are multiples of a power of 1/2, so that marginals of different tables are equal to the last bit.
        """
        return self.basis.tables(self.coefficients(output), self.totals(output))

    def noise(self, rows: int, bits: RandomBits) -> Counts:
        """Draw rows of independent noise, numbers of one rate together."""
        drawn = np.zeros((rows, self.length), dtype=np.int64)
        for rate in sorted(set(self.rates)):
            places = [place for place, each in enumerate(self.rates) if each == rate]
            drawn[:, places] = discrete_laplace(rate, rows * len(places), bits).reshape(rows, len(places))
        return drawn

    def log_noise(self, noise: Counts) -> Floats:
        """Return sum over blocks of log tanh(r/2) - r |u|."""
        rates = np.array([float(rate) for rate in self.rates])
        return np.asarray(np.abs(noise) @ -rates + sum(log(tanh(rate / 2)) for rate in rates))

    def block_variances(self) -> Floats:
        """Return the variance of c_g over 2^|g| for each block, 8 p / (1 - p)^2 / 2^|g| with p = e^-rate."""
        rates = np.array([float(rate) for rate in self.rates[-len(self.basis.blocks) :]])
        spread = 8 * np.exp(-rates) / np.expm1(-rates) ** 2
        return np.asarray(spread / 2.0 ** np.array([len(block) for block in self.basis.blocks]))

    def count_sd(self) -> float:
        """Return the standard deviation of a cell given its row total, for the noisiest table."""
        variances = self.block_variances().tolist()
        families = self.model.families
        return sqrt(max(self.basis.cell_variance(family, variances, through=family[-1]) for family in families))
