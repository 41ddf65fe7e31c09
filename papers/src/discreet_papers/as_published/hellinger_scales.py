"""The papers' own scales: e^(-epsilon H / (2 S)), S the global or the smooth sensitivity, with what they truly cost.

The papers write n + 1 for the number of candidates in gamma = ln(1 - epsilon / (2 ln(delta / (2 (n + 1))))), which is
right for two cells only; so it stands here. `guarantee` is what is computed or proved, about half of epsilon where all
neighbours can be compared and often more than epsilon where they cannot; `claim` is what the papers say.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import arb, ctx

from discreet._core.exact import Exact, ball
from discreet.choices import HellingerMechanism
from discreet.choices._hellinger import SmoothSensitivity
from discreet.choices._hellinger_sensitivity import Decay, exponential, published_gamma
from discreet.choices._hellinger_series import can_bound
from discreet.choices._pair_bound import rounded_up
from discreet.mechanism import Model, Sized
from discreet.privacy import Evidence, Guarantee, pure_rho
from discreet.tables import Categories

_PROVED_BITS = 128


class PublishedScale(HellingerMechanism):
    """The papers' scale, t = epsilon/2, charged what it truly costs, whatever is claimed."""

    @classmethod
    def candidate_mechanisms(cls, model: Model, size: int, epsilon: Fraction, delta: Fraction) -> Iterator[Sized]:
        """Yield nothing: the calibrated mechanisms use all of epsilon."""
        return iter(())

    def strength(self) -> arb:
        """Return epsilon/2."""
        return ball(self.epsilon) / 2

    @cached_property
    def rho(self) -> Fraction:
        return self.privacy_loss().sharp_rho if self._enumerable else pure_rho(self.pure_epsilon)


@dataclass(frozen=True, init=False, repr=False)
class PublishedHellingerGlobal(PublishedScale, kind="PublishedHellingerGlobal", version=1):
    """P(r | k) ~ e^(-epsilon H(k, r) / (2 GS)): for many records it costs about half of epsilon.

    >>> coin = Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> PublishedHellingerGlobal(coin, size=100, epsilon="0.8").guarantee.epsilon < Fraction("0.43")
    True
    """

    @property
    def decay(self) -> Decay:
        """Return no decay: the largest sensitivity counts everywhere."""
        return exponential(lambda: arb(0))

    def proved_pure_epsilon(self) -> Fraction:
        """Return epsilon (score and normaliser cost half of it each), or the bound from the series if it is smaller."""
        if not can_bound(self.size, len(self.model.cells)):
            return self.epsilon
        return min(self.epsilon, rounded_up(self.series_epsilon(self.epsilon / 2)))

    @property
    def claim(self) -> Guarantee:
        return Guarantee(self.epsilon, evidence=Evidence.CLAIMED, reason="the exponential mechanism")

    @property
    def guarantee(self) -> Guarantee:
        """Return the enumerated pure epsilon, or the proved one where there are too many tables."""
        if self._enumerable:
            return Guarantee(self.pure_epsilon, evidence=Evidence.ENUMERATED, reason=self._comparison)
        usual = "the exponential mechanism with the global sensitivity of its score"
        if self.pure_epsilon == self.epsilon:
            return Guarantee(self.epsilon, reason=usual)
        return Guarantee(self.pure_epsilon, reason=f"{usual}, its normalisers bounded by a series")


@dataclass(frozen=True, init=False, repr=False)
class PublishedHellingerSmooth(PublishedScale, SmoothSensitivity, kind="PublishedHellingerSmooth", version=1):
    """P(r | k) ~ e^(-epsilon H(k, r) / (2 S(k))), S smooth with n + 1 in gamma, whatever the number of cells.

    The papers claim (epsilon, delta); their proof does not hold, though no violation is known. What is proved for it is
    (epsilon + (e^gamma - 1) ln(|R|/delta), delta), which is below (1.5 epsilon, delta) for two cells.
    """

    delta: Fraction

    def __init__(self, model: Categories, size: int, epsilon: Exact, delta: Exact) -> None:
        super().__init__(model, size, epsilon)
        self._set_delta(delta)

    def gamma(self) -> arb:
        return published_gamma(self.epsilon, self.delta, self.size + 1)

    def proved_epsilon(self) -> Fraction:
        """Return 2 t + (e^gamma - 1) ln(|R|/delta), with which delta is enough."""
        with ctx.workprec(_PROVED_BITS):
            tail = (self.candidates / ball(self.delta)).log()
            return rounded_up(2 * self.strength() + self.gamma().expm1() * tail)

    @property
    def claim(self) -> Guarantee:
        """Return (epsilon, delta)."""
        reason = "the Hellinger notes; the published proof does not bound the normalisers"
        return Guarantee(self.epsilon, self.delta, evidence=Evidence.CLAIMED, reason=reason)

    @property
    def guarantee(self) -> Guarantee:
        """Return the enumerated pure epsilon if it is no larger, else (epsilon, delta) if enumeration finds it so.

        Where neither holds or can be computed: what is proved.
        """
        if self._enumerable:
            if self.pure_epsilon <= self.epsilon:
                return Guarantee(self.pure_epsilon, evidence=Evidence.ENUMERATED, reason=self._comparison)
            if self.delta_at(self.epsilon) <= self.delta:
                reason = f"exact delta over all neighbouring tables of {self.size} records"
                return Guarantee(self.epsilon, self.delta, evidence=Evidence.ENUMERATED, reason=reason)
        return self._proved()

    def _proved(self) -> Guarantee:
        """Return the smaller of the two proved epsilons, the pure one without delta."""
        approximate = self.proved_epsilon()
        if self.pure_epsilon <= approximate:
            return Guarantee(self.pure_epsilon, reason="losses of neighbours are at most 2 min(c, c') H + |c - c'|")
        reason = "smooth sensitivity: epsilon grows by (e^gamma - 1) ln(|R|/delta) outside a set of probability delta"
        return Guarantee(approximate, self.delta, reason=reason)
