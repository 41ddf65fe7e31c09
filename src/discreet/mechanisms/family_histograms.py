"""FamilyHistograms: every maximal family table by its own GeometricHistogram, with a declared share of epsilon.

A replaced record moves at most one unit in each table, so table f costs epsilon_f and all of them sum_f epsilon_f =
epsilon: pure and tight. Families inside others are marginals and cost nothing. For tables of equal importance the
shares that minimise the total variance grow like (cells)^(1/3); any other whole numbers may be declared.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from math import gcd, lcm, prod

import numpy as np

from discreet.errors import DeclarationError
from discreet.exact import Exact, positive
from discreet.mechanisms.additive import within_bounds
from discreet.mechanisms.network_counts import NetworkCounts
from discreet.models.categories import MOST_CELLS
from discreet.models.network import Network
from discreet.noise import ZeroSumLaplace

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
    def unsaid(self) -> Collection[str]:
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
