"""Hellinger choices by a smooth sensitivity: what holds for them whatever their scale."""

from fractions import Fraction

from flint import arb, ctx

from discreet.certificates.pair_bound import rounded_up, smooth_bound
from discreet.errors import DeclarationError
from discreet.exact import Exact, probability
from discreet.mechanisms.hellinger_law import HellingerMechanism
from discreet.mechanisms.hellinger_sensitivity import Decay, exponential, least_sensitivity_ball, published_gamma

_BITS = 128


class SmoothSensitivity(HellingerMechanism):
    """S(x) = max_x' LS(x') e^(-gamma d(x, x')), with the papers' gamma if no other is given."""

    delta: Fraction

    def _set_delta(self, delta: Exact) -> None:
        object.__setattr__(self, "delta", probability(delta, "delta"))
        if self.delta == 0:
            raise DeclarationError(
                f"{type(self).__name__} needs a delta above 0. HellingerReciprocal does without one."
            )

    def gamma(self) -> arb:
        """Return an enclosure of the smoothing parameter."""
        return published_gamma(self.epsilon, self.delta, self.candidates)

    @property
    def decay(self) -> Decay:
        """Return S(x) = max_x' LS(x') e^(-gamma d(x, x'))."""
        return exponential(self.gamma)

    def proved_pure_epsilon(self) -> Fraction:
        """Return 2 t + (t/S_min)(1 - e^-gamma), by the bound for one pair."""
        with ctx.workprec(_BITS):
            least = least_sensitivity_ball(self.model.concentration, self.size)
            return rounded_up(smooth_bound(self.strength(), self.gamma(), least))
