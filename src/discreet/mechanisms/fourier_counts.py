"""FourierCounts: parity counts of a yes/no network with the least noise that the worst record change allows.

The number e_g of records with an even number of yes in block g gets discrete Laplace noise of rate r_g. A replaced
record whose variables change in the pattern z moves e_g by one if z meets g oddly, so

    max over z of sum_{g : |g and z| odd} r_g = epsilon

makes the mechanism pure epsilon-differentially private, and tight. The maximum is found exactly, by eliminating
variables. The number of records is public and needs no noise. Any positive whole shares may be declared: they are
scaled so that the maximum is epsilon. Left out, they nearly minimise the variance of all cells of all family tables.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.certificates import PrivacyLoss
from discreet.errors import DeclarationError
from discreet.exact import Exact, whole
from discreet.mechanisms.additive import within_bounds
from discreet.mechanisms.parity_counts import ParityCounts
from discreet.mechanisms.record_changes import parity_changes, pattern_records
from discreet.models.network import Network

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
    def unsaid(self) -> Collection[str]:
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
