"""Hellinger choices with the scale that a proof gives, at any size and without a search: for tests of their laws.

What is published is calibrated (`discreet.choices._hellinger`), or the papers' own (`as_published`); these are in no
document.
"""

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from discreet._core.exact import Exact, ball, positive
from discreet.choices import HellingerMechanism
from discreet.choices._hellinger_sensitivity import Decay, proved_gamma, published_gamma, reciprocal
from discreet.privacy import Evidence, Guarantee
from discreet.tables import Categories
from discreet_papers.as_published import PublishedHellingerGlobal as HellingerGlobal
from discreet_papers.as_published import PublishedHellingerSmooth

__all__ = ["HellingerGlobal", "HellingerReciprocal", "HellingerSmooth", "HellingerSmoothProved"]


@dataclass(frozen=True, init=False, repr=False)
class HellingerReciprocal(HellingerMechanism):
    """Divide by the sensitivity whose reciprocal is Lipschitz: t = epsilon/(2 + L), pure epsilon-DP."""

    lipschitz: Fraction

    def __init__(self, model: Categories, size: int, epsilon: Exact, lipschitz: Exact = 0.5) -> None:
        super().__init__(model, size, epsilon)
        object.__setattr__(self, "lipschitz", positive(lipschitz, "lipschitz"))

    @property
    def is_smooth(self) -> bool:
        return False

    def strength(self) -> arb:
        return ball(self.epsilon / (2 + self.lipschitz))

    @property
    def decay(self) -> Decay:
        return reciprocal(self.lipschitz)

    def proved_pure_epsilon(self) -> Fraction:
        return self.epsilon

    @property
    def claim(self) -> Guarantee:
        return Guarantee(self.epsilon, evidence=Evidence.CLAIMED, reason="varying sensitivity")

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, reason="scale 1/S with |1/S - 1/S'| <= L, exponent epsilon/((2 + L) S)")


class HellingerSmooth(PublishedHellingerSmooth):
    """The papers' t = epsilon/2 and smooth sensitivity, with the true number of candidates in gamma."""

    def gamma(self) -> arb:
        return published_gamma(self.epsilon, self.delta, self.candidates)


class HellingerSmoothProved(HellingerSmooth):
    """Constants that make (epsilon, delta) true: t = epsilon/3, e^gamma - 1 = epsilon/(3 ln(|R|/delta))."""

    def strength(self) -> arb:
        return ball(self.epsilon) / 3

    def gamma(self) -> arb:
        return proved_gamma(self.epsilon, self.delta, self.candidates)

    def proved_epsilon(self) -> Fraction:
        return self.epsilon
