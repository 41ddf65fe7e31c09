"""HellingerLocal: the Hellinger exponential mechanism divided by the local sensitivity, which nothing proves private.

P(r | k) ~ e^(-epsilon H(k, r) / (2 LS(k))). Kept to be examined and compared with; it never publishes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import arb, ctx

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import ball
from discreet.choices import HellingerMechanism
from discreet.choices._hellinger_sensitivity import (
    Decay,
    global_sensitivity_ball,
    least_sensitivity_ball,
    line_local_sensitivities,
    local_sensitivity,
    local_sensitivity_ball,
)
from discreet.choices._pair_bound import rounded_up, varying_bound
from discreet.mechanism import Model, Sized
from discreet.privacy import Evidence, Guarantee

_PROVED_BITS = 128


@dataclass(frozen=True, init=False, repr=False)
class HellingerLocal(HellingerMechanism, kind="HellingerLocal", version=1):
    """Divide by the local sensitivity, t = epsilon/2. For comparison only: it has no guarantee.

    The scale itself reveals something about the data, because LS may jump between neighbours. With three cells or a
    tiny prior the loss exceeds epsilon, and it grows without bound as the prior shrinks.
    """

    @classmethod
    def candidate_mechanisms(cls, model: Model, size: int, epsilon: Fraction, delta: Fraction) -> Iterator[Sized]:
        """Yield nothing: its guarantee is only claimed."""
        return iter(())

    @property
    def is_smooth(self) -> bool:
        """Return False: the sensitivity may jump between neighbours."""
        return False

    def strength(self) -> arb:
        """Return epsilon/2."""
        return ball(self.epsilon) / 2

    @property
    def decay(self) -> Decay:
        """Refuse: only the table itself counts, so there is no decay."""
        raise DeclarationError("The local sensitivity has no decay.")

    def sensitivity_ball(self, table: Counts) -> arb:
        """Return an enclosure of LS(k)."""
        return local_sensitivity_ball(self.model.concentration, table)

    def _sensitivity(self, table: Counts) -> float:
        return local_sensitivity(self.model.concentration, table)

    def _line_sensitivities(self) -> Floats:
        return np.asarray(line_local_sensitivities(self.model.concentration, self.size))

    def proved_pure_epsilon(self) -> Fraction:
        """Return 2 t + t/LS_min - t/GS, by the bound for one pair."""
        with ctx.workprec(_PROVED_BITS):
            alpha = self.model.concentration
            least, most = least_sensitivity_ball(alpha, self.size), global_sensitivity_ball(alpha, self.size)
            return rounded_up(varying_bound(self.strength(), least, most))

    @property
    def claim(self) -> Guarantee:
        return Guarantee(self.epsilon, evidence=Evidence.CLAIMED, reason="nominal; the papers call it non-private")

    @property
    def guarantee(self) -> Guarantee:
        """Return the nominal epsilon as a claim, so that nothing is published by it."""
        reason = "the local sensitivity depends on the data, and the loss exceeds epsilon for many priors and sizes"
        return Guarantee(self.epsilon, evidence=Evidence.CLAIMED, reason=reason)
