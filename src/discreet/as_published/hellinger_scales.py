"""The papers' own scales: e^(-epsilon H / (2 S)), S the global or the smooth sensitivity, with what they truly cost.

The papers write n + 1 for the number of candidates in gamma = ln(1 - epsilon / (2 ln(delta / (2 (n + 1))))), which is
right for two cells only; so it stands here. `guarantee` is what is computed or proved, `claim` what the papers say.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb

from discreet.certificates.hellinger_series import can_bound
from discreet.certificates.pair_bound import rounded_up
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.zcdp import pure_rho
from discreet.mechanisms.hellinger_first import FirstHellingerGlobal, FirstHellingerSmooth
from discreet.mechanisms.hellinger_law import HellingerMechanism
from discreet.mechanisms.hellinger_sensitivity import published_gamma
from discreet.mechanisms.mechanism import Mechanism
from discreet.models.model import Model


class TrueCharge(HellingerMechanism):
    """What a mechanism with a published scale truly costs, whatever is claimed."""

    @cached_property
    def rho(self) -> Fraction:
        """Return the zCDP parameter of the loss where that is computed, else that of the pure epsilon."""
        return self.privacy_loss().sharp_rho if self._enumerable else pure_rho(self.pure_epsilon)


@dataclass(frozen=True, init=False, repr=False)
class PublishedHellingerGlobal(TrueCharge, FirstHellingerGlobal, kind="PublishedHellingerGlobal", version=1):
    """P(r | k) ~ e^(-epsilon H(k, r) / (2 GS)): for many records it costs about half of epsilon."""

    @classmethod
    def competitors(cls, model: Model, size: int, epsilon: Fraction, delta: Fraction) -> Iterator[Mechanism]:
        """Yield nothing: `HellingerGlobal` uses all of epsilon."""
        return iter(())

    def proved_pure_epsilon(self) -> Fraction:
        """Return epsilon, or the bound from the series if that is smaller."""
        if not can_bound(self.size, self.length):
            return self.epsilon
        return min(self.epsilon, rounded_up(self.series_epsilon(self.epsilon / 2)))

    @property
    def guarantee(self) -> Guarantee:
        """Return the enumerated pure epsilon, or the proved one where there are too many tables."""
        found = super().guarantee
        if self._enumerable or self.pure_epsilon == self.epsilon:
            return found
        return Guarantee(self.pure_epsilon, reason=f"{found.reason}, its normalisers bounded by a series")


@dataclass(frozen=True, init=False, repr=False)
class PublishedHellingerSmooth(TrueCharge, FirstHellingerSmooth, kind="PublishedHellingerSmooth", version=1):
    """P(r | k) ~ e^(-epsilon H(k, r) / (2 S(k))), S smooth with n + 1 in gamma, whatever the number of cells."""

    @classmethod
    def competitors(cls, model: Model, size: int, epsilon: Fraction, delta: Fraction) -> Iterator[Mechanism]:
        """Yield nothing: `HellingerSmooth` uses all of epsilon."""
        return iter(())

    def gamma(self) -> arb:
        """Return an enclosure of the papers' smoothing parameter."""
        return published_gamma(self.epsilon, self.delta, self.size + 1)
