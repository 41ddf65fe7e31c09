"""DiscreteLaplaceCounts: independent two-sided geometric noise on every cell.

Replacing one record changes two cells by one each, so the l1 sensitivity is 2 and

    P(z | k) = prod_i tanh(epsilon/4) e^(-epsilon |z_i - k_i| / 2)

is pure epsilon-DP. This is algorithm 1 of Zhang, Rubinstein and Dimitrakakis (2016) on one table, with integer noise
and nothing cut off. The total is not kept, so it tells less than `GeometricHistogram` for the same epsilon.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import log, tanh

from flint import ctx

from discreet.certificates import PrivacyLoss
from discreet.exact import ball
from discreet.guarantees.guarantee import Guarantee
from discreet.mechanisms.noisy_counts import Counts, LaplaceKernel
from discreet.randomness import RandomBits, discrete_laplace


@dataclass(frozen=True, init=False, repr=False)
class DiscreteLaplaceCounts(LaplaceKernel, kind="DiscreteLaplaceCounts"):
    """Every count with its own noise of rate epsilon/2: pure epsilon-DP under replacement of one record."""

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, by the l1 sensitivity."""
        return Guarantee(self.epsilon, reason="discrete Laplace noise of scale 2/epsilon, l1 sensitivity 2")

    @property
    def log_normaliser(self) -> float:
        """Return -m log tanh(epsilon/4)."""
        return -len(self.model.cells) * log(tanh(float(self.epsilon) / 4))

    def privacy_loss(self) -> PrivacyLoss:
        """Return the exact loss: two independent ones of +-epsilon/2, + with probability 1/(1 + e^(-epsilon/2))."""
        with ctx.workprec(128):
            down = 1 / (1 + (ball(self.epsilon) / 2).exp())
            up = 1 - down
            probabilities = tuple(float(p.upper()) for p in (up * up, 2 * up * down, down * down))
        return PrivacyLoss((self.epsilon, Fraction(0), -self.epsilon), probabilities)

    def noise(self, rows: int, bits: RandomBits) -> Counts:
        """Draw rows of independent noise."""
        cells = len(self.model.cells)
        return discrete_laplace(self.epsilon / 2, rows * cells, bits).reshape(rows, cells)
