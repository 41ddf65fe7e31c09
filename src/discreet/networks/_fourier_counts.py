"""FourierCounts: parity counts of a yes/no network with the least noise that the worst record change allows.

The number e_g of records with an even number of yes in block g gets discrete Laplace noise of rate r_g. A replaced
record whose variables change in the pattern z moves e_g by one if z meets g oddly, so

    max over z of sum_{g : |g and z| odd} r_g = epsilon

makes the mechanism pure epsilon-differentially private, and tight. The maximum is found exactly, by eliminating
variables. The number of records is public and needs no noise. Any positive whole shares may be declared: they are
scaled so that the maximum is epsilon. Left out, they nearly minimise the variance of all cells of all family tables.

Independent discrete Laplace numbers that one record moves by one at most: what they cost together, exactly.

A number with noise P(u) ~ e^(-r |u|) that moves by one has a loss of r or -r and no other, the likelier one with
probability 1 / (1 + e^-r): the loss of randomised response, rho = r tanh(r / 2). Independent numbers add, so

    rho = max over all changes c of sum_i r_i tanh(r_i / 2) |c_i|,   c_i in {-1, 0, 1}, so that |c_i| = c_i^2.

What the Fourier mechanisms share: numbers of records with an even number of yes, with Laplace noise.

For a block g of yes/no variables (a set inside a family) let c_g = sum over records of (-1)^(number of yes in g), its
Fourier coefficient. Then e_g = (n + c_g) / 2 is the number of records with an even number of yes in g: a count, which
one replaced record moves by one or not at all. Each is published with its own discrete Laplace noise, and the tables of
all families follow from them, always without contradiction between tables.
"""

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, whole
from discreet.mechanism import Quantities, within_bounds
from discreet.networks._coefficients import Parities
from discreet.networks._contrasts import ContrastBasis, contrast_basis
from discreet.networks._model import Network
from discreet.networks._record_changes import parity_changes, pattern_records
from discreet.networks._table_mechanisms import NetworkCounts
from discreet.noise import Laplace, epsilon_weights
from discreet.privacy import PrivacyLoss, pure_rho


def unit_moves_rho(quantities: Quantities, noise: Laplace) -> Fraction:
    """Return the largest sum of r tanh(r / 2) over the numbers that one record moves, rounded up."""
    rates = epsilon_weights(noise.structure) or ()
    return quantities.most(tuple(pure_rho(rate) for rate in rates), noise.blocks, 2)


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


_LARGEST_SHARE = 10**9


@dataclass(frozen=True, init=False, repr=False)
class FourierCounts(ParityCounts, kind="FourierCounts", version=2):
    """Noisy parity counts (Fourier coefficients) of yes/no tables: pure epsilon-DP under replacement of one record.

    There is one count for each block, in the order of `basis.blocks`; the tables rebuilt from them are consistent, and
    the total is kept. Block g has the rate epsilon * shares[g] / (largest sum of shares that one record moves). Equal
    shares give every coefficient the same noise.

    >>> net = Network.from_edges("a -> b", levels={"a": ("no", "yes"), "b": ("no", "yes")}, outside="no")
    >>> FourierCounts(net, size=100, epsilon=1, shares=(1, 1, 2)).rates
    (Fraction(1, 3), Fraction(1, 3), Fraction(2, 3))
    """

    shares: tuple[int, ...]

    def __init__(self, model: Network, size: int, epsilon: Exact, shares: Sequence[int] | None = None) -> None:
        super().__init__(model, size, epsilon)
        chosen = best_shares(model) if shares is None else declared_shares(shares, self.basis.blocks)
        object.__setattr__(self, "shares", chosen)
        within_bounds(min(self.rates), "the smallest rate of a block")

    @property
    def derived_fields(self) -> Collection[str]:
        return ("shares",) if self.shares == best_shares(self.model) else ()

    @cached_property
    def rates(self) -> tuple[Fraction, ...]:
        unit = self.epsilon / parity_changes(self.model).worst(self.shares)[0]
        return tuple(share * unit for share in self.shares)

    @property
    def reason(self) -> str:
        number = self.quantities.length
        return f"discrete Laplace noise on {number} parity counts, scaled to the worst change of one record"

    def privacy_loss(self) -> PrivacyLoss:
        """Return the exact privacy loss if all rates are equal, else that of the worst mechanism with this epsilon.

        For few variables `computed_loss` knows less.
        """
        return PrivacyLoss.worst_case(self.epsilon) if len(set(self.shares)) > 1 else self.computed_loss()

    def worst_records(self) -> Counts:
        """Return two records that differ in the worst pattern of variables, which is found exactly."""
        _, pattern = parity_changes(self.model).worst(self.shares)
        return pattern_records(self.model, pattern)

    def totals(self, output: Counts) -> Floats:
        return np.full(np.asarray(output).shape[:-1], float(self.size))


def declared_shares(shares: Sequence[int], blocks: Sequence[tuple[str, ...]]) -> tuple[int, ...]:
    """Return declared shares, one whole number above zero for each block, or say what is wrong with them."""
    if not isinstance(shares, Sequence) or len(shares) != len(blocks):
        raise DeclarationError(f"shares must hold one number for each of the {len(blocks)} blocks.")
    return tuple(whole(share, "A share", most=_LARGEST_SHARE) for share in shares)


@lru_cache(maxsize=16)
def best_shares(network: Network) -> tuple[int, ...]:
    """Return shares that nearly minimise the variance of all cells of all family tables, sum_g a_g / r_g^2."""
    changes = parity_changes(network)
    halves = 2.0 ** np.array([-len(block) for block in changes.basis.blocks])
    return changes.best_weights(changes.basis.cost() * halves, power=2)
