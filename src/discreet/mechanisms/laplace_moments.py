"""LaplaceMoments: independent two-sided geometric noise on every moment, for comparison.

Replacing one record changes each of the D released numbers by at most G (`models.moments`), so their l1 sensitivity is
at most D G and

    P(z | s) = prod_j tanh(r/2) e^(-r |z_j - s_j|),   r = epsilon / (D G),

is pure epsilon-DP. `BoxMoments` has the same guarantee with noise that is sqrt(6) times smaller for many numbers.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from discreet.certificates import PrivacyLoss
from discreet.exact import Exact
from discreet.guarantees.zcdp import pure_rho
from discreet.mechanisms.box_moments import NoisyMoments, check_rate
from discreet.models.linear_regression import LinearRegression
from discreet.noise import Laplace


@dataclass(frozen=True, init=False, repr=False)
class LaplaceMoments(NoisyMoments, kind="LaplaceMoments", version=2):
    """Every regression moment with its own discrete Laplace noise: pure epsilon-DP under replacement of one record."""

    reason = "discrete Laplace noise of scale D G/epsilon, l1 sensitivity D G"

    def __init__(self, model: LinearRegression, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        check_rate(self.rate)

    @property
    def rate(self) -> Fraction:
        """Return epsilon / (D G), the privacy loss of one unit of noise."""
        return self.epsilon / (len(self.model.cells) * self.model.layout.reach)

    @cached_property
    def noise(self) -> Laplace:
        return Laplace((self.rate,), self.quantities.blocks)

    @property
    def rho(self) -> Fraction:
        """Return epsilon^2 / (2 D), as each of D numbers costs epsilon / D, or the rho of epsilon if that is less."""
        return min(self.epsilon**2 / (2 * self.quantities.length), pure_rho(self.epsilon))

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss of randomised response, which dominates every pure epsilon."""
        return PrivacyLoss.worst_case(self.epsilon)
