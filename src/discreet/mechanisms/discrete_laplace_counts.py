"""DiscreteLaplaceCounts: independent two-sided geometric noise on every cell.

Replacing one record changes two cells by one each, so the l1 sensitivity is 2 and

    P(z | k) = prod_i tanh(epsilon/4) e^(-epsilon |z_i - k_i| / 2)

is pure epsilon-DP. This is algorithm 1 of Zhang, Rubinstein and Dimitrakakis (2016) on one table, with integer noise
and nothing cut off. The total is not kept, so it tells less than `GeometricHistogram` for the same epsilon.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from discreet.mechanisms.noisy_counts import NoisyCounts
from discreet.noise import Laplace


@dataclass(frozen=True, init=False, repr=False)
class DiscreteLaplaceCounts(NoisyCounts, kind="DiscreteLaplaceCounts", version=1):
    """Every count with its own noise of rate epsilon/2: pure epsilon-DP under replacement of one record."""

    reason = "discrete Laplace noise of scale 2/epsilon, l1 sensitivity 2"

    @cached_property
    def noise(self) -> Laplace:
        return Laplace((self.epsilon / 2,), self.quantities.blocks)

    @property
    def rho(self) -> Fraction:
        return self.privacy_loss().rho
