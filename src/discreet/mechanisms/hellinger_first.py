"""The Hellinger exponential mechanisms with the scales of their proofs: what documents of version 1 mean.

All choose a posterior Dirichlet(alpha + r) with P(r | k) ~ e^(-t H(k, r) / S(k)). They differ in S and t, and in what
is known about them. `guarantee` states the best that is proved or computed, which is about half of epsilon where all
neighbours can be compared, and up to 1.5 epsilon where they cannot; `claim` what the papers say. The mechanisms that
are made today (`hellinger`) are calibrated, so that they cost what they declare. `as_published` has the papers' own.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, ctx

from discreet.certificates.pair_bound import rounded_up
from discreet.exact import Exact, ball, positive
from discreet.guarantees.guarantee import Evidence, Guarantee
from discreet.mechanisms.hellinger_law import HellingerMechanism
from discreet.mechanisms.hellinger_one_scale import OneScale
from discreet.mechanisms.hellinger_sensitivity import (
    Decay,
    exponential,
    proved_gamma,
    reciprocal,
)
from discreet.mechanisms.hellinger_smooth import SmoothSensitivity
from discreet.mechanisms.mechanism import Mechanism
from discreet.models import Categories
from discreet.models.model import Model

LIPSCHITZ = ("0.25", "0.5", "1", "2")
"""Values from which a ranking chooses the Lipschitz constant of a reciprocal sensitivity."""
_PROVED_BITS = 128


@dataclass(frozen=True, init=False, repr=False)
class FirstHellingerGlobal(OneScale, kind="HellingerGlobal", version=1):
    """Divide by the global sensitivity: t = epsilon/2, pure epsilon-DP. The exponential mechanism as it is known.

    >>> coin = Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> FirstHellingerGlobal(coin, size=100, epsilon="0.8").guarantee.epsilon < Fraction("0.43")
    True
    """

    def strength(self) -> arb:
        """Return epsilon/2."""
        return ball(self.epsilon) / 2

    @property
    def decay(self) -> Decay:
        """Return no decay: the largest sensitivity counts everywhere."""
        return exponential(lambda: arb(0))

    def proved_pure_epsilon(self) -> Fraction:
        """Return epsilon: score and normaliser each change by a factor e^(epsilon/2) at most."""
        return self.epsilon

    @property
    def claim(self) -> Guarantee:
        """Return pure epsilon."""
        return Guarantee(self.epsilon, evidence=Evidence.CLAIMED, reason="the exponential mechanism")

    @property
    def guarantee(self) -> Guarantee:
        """Return the enumerated pure epsilon, or the stated one where there are too many tables."""
        if self._enumerable:
            return Guarantee(self.pure_epsilon, evidence=Evidence.ENUMERATED, reason=self._comparison)
        return Guarantee(self.epsilon, reason="the exponential mechanism with the global sensitivity of its score")


@dataclass(frozen=True, init=False, repr=False)
class FirstHellingerReciprocal(HellingerMechanism, kind="HellingerReciprocal", version=1):
    """Divide by the sensitivity whose reciprocal is Lipschitz: t = epsilon/(2 + L), pure epsilon-DP.

    1/S(x) = min_x' 1/LS(x') + L d(x, x'). For c = t/S the loss is at most 2 t + t |1/S - 1/S'| <= t (2 + L).
    """

    free_parameter = "lipschitz"
    lipschitz: Fraction

    def __init__(self, model: Categories, size: int, epsilon: Exact, lipschitz: Exact = 0.5) -> None:
        super().__init__(model, size, epsilon)
        object.__setattr__(self, "lipschitz", positive(lipschitz, "lipschitz"))

    @classmethod
    def competitors(cls, model: Model, size: int, epsilon: Fraction, delta: Fraction) -> Iterator[Mechanism]:
        """Yield one for each of a few Lipschitz constants."""
        if isinstance(model, Categories):
            yield from (cls(model, size, epsilon, lipschitz) for lipschitz in LIPSCHITZ)

    @property
    def is_smooth(self) -> bool:
        """Return False: what bounds its normalisers is another decay."""
        return False

    def strength(self) -> arb:
        """Return epsilon/(2 + L)."""
        return ball(self.epsilon / (2 + self.lipschitz))

    @property
    def decay(self) -> Decay:
        """Return 1/S growing by L a step."""
        return reciprocal(self.lipschitz)

    def proved_pure_epsilon(self) -> Fraction:
        """Return epsilon, by the bound for one pair."""
        return self.epsilon

    @property
    def claim(self) -> Guarantee:
        """Return pure epsilon; the notes leave this section empty, so the claim is ours."""
        return Guarantee(self.epsilon, evidence=Evidence.CLAIMED, reason="varying sensitivity, announced in the notes")

    @property
    def guarantee(self) -> Guarantee:
        """Return the enumerated pure epsilon, or the proved one where there are too many tables."""
        if self._enumerable:
            return Guarantee(self.pure_epsilon, evidence=Evidence.ENUMERATED, reason=self._comparison)
        return Guarantee(self.epsilon, reason="scale 1/S with |1/S - 1/S'| <= L, exponent epsilon/((2 + L) S)")


@dataclass(frozen=True, init=False, repr=False)
class FirstHellingerSmooth(SmoothSensitivity, kind="HellingerSmooth", version=1):
    """The papers' mechanism: t = epsilon/2 and smooth sensitivity, gamma = ln(1 - epsilon/(2 ln(delta/(2|R|)))).

    The papers claim (epsilon, delta); their proof does not hold, though no violation is known. What is proved for it is
    (epsilon + (e^gamma - 1) ln(|R|/delta), delta), which is below (1.5 epsilon, delta).
    """

    delta: Fraction

    def __init__(self, model: Categories, size: int, epsilon: Exact, delta: Exact) -> None:
        super().__init__(model, size, epsilon)
        self._set_delta(delta)

    def strength(self) -> arb:
        """Return epsilon/2."""
        return ball(self.epsilon) / 2

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


@dataclass(frozen=True, init=False, repr=False)
class FirstHellingerSmoothProved(FirstHellingerSmooth, kind="HellingerSmoothProved", version=1):
    """Smooth sensitivity with constants that make (epsilon, delta) true: t = epsilon/3, e^gamma - 1 = epsilon/(3 ln).

    ln = ln(|R|/delta); then 2 t + (e^gamma - 1) ln(|R|/delta) = epsilon.
    """

    def strength(self) -> arb:
        """Return epsilon/3."""
        return ball(self.epsilon) / 3

    def gamma(self) -> arb:
        """Return an enclosure of the smoothing parameter."""
        return proved_gamma(self.epsilon, self.delta, self.candidates)

    def proved_epsilon(self) -> Fraction:
        """Return epsilon itself: the two terms are 2/3 and 1/3 of it."""
        return self.epsilon

    @property
    def claim(self) -> Guarantee:
        """Return (epsilon, delta), the papers' aim."""
        return Guarantee(self.epsilon, self.delta, evidence=Evidence.CLAIMED, reason="the Hellinger notes' statement")
