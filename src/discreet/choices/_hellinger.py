"""Hellinger exponential mechanisms with global, smooth or reciprocal sensitivity, calibrated to the declared epsilon.

All choose a posterior Dirichlet(alpha + r) with P(r | k) ~ e^(-scale H(k, r) / S(k)). They differ in S. The scale is a
public field and is found if it is left out: the largest whose exact loss over all neighbours keeps epsilon and delta,
where these can be compared; beyond that the largest that is proved, by the bounds that stand with each. So what is
declared is what is charged, at every size. Whoever reads a scale, from a document or by hand, has it certified again.
The papers' own scales, which cost about half of epsilon, or up to 1.5 of it, are in `discreet_papers.as_published`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from flint import arb, ctx

from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, ball, positive, probability, rounded_down
from discreet.choices._hellinger_calibrated import CalibratedHellinger
from discreet.choices._hellinger_mechanism import HellingerMechanism
from discreet.choices._hellinger_sensitivity import (
    Decay,
    exponential,
    least_sensitivity_ball,
    proved_gamma,
    published_gamma,
    reciprocal,
)
from discreet.choices._hellinger_series import can_bound
from discreet.choices._pair_bound import rounded_up, smooth_bound
from discreet.mechanism import Model, Sized
from discreet.privacy import DIGITS, last_fitting
from discreet.tables import Categories

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


LIPSCHITZ = ("0.25", "0.5", "1", "2")
"""Values from which a ranking chooses the Lipschitz constant of a reciprocal sensitivity."""


@dataclass(frozen=True, init=False, repr=False)
class GlobalSensitivity(CalibratedHellinger):
    """Divide by the global sensitivity, which is the same for all tables: pure epsilon-DP."""

    delta: ClassVar[Fraction] = Fraction(0)  # type: ignore[misc]
    calibrated_to: ClassVar[tuple[str, ...]] = ("model", "size", "epsilon")
    scale: Fraction

    def __init__(self, model: Categories, size: int, epsilon: Exact, scale: Exact | None = None) -> None:
        super().__init__(model, size, epsilon)
        self._calibrate(scale)

    @property
    def decay(self) -> Decay:
        """Return no decay: the largest sensitivity counts everywhere."""
        return exponential(lambda: arb(0))


@dataclass(frozen=True, init=False, repr=False)
class HellingerGlobal(GlobalSensitivity, kind="HellingerGlobal", version=2):
    """Choose a posterior by the exponential mechanism with the global sensitivity: pure epsilon-DP.

    >>> coin = Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> HellingerGlobal(coin, size=10, epsilon=1).scale
    Fraction(805537, 1000000)
    """

    def proved_scale(self) -> tuple[Fraction, str]:
        """Return the larger of epsilon/2 (score and normaliser cost half each) and the scale that the series allows.

        The true epsilon is no less than the scale: two neighbours at distance GS lose that much by the score alone.
        """
        half, usual = self.epsilon / 2, "the exponential mechanism with the global sensitivity of its score"
        if not can_bound(self.size, len(self.model.cells)):
            return half, f"{usual}; about half of epsilon may be unused, as its normalisers were not bounded"
        best = max(half, self._series_scale)
        unused = float(100 * (1 - best / self.epsilon))
        return best, f"{usual}, its normalisers bounded by a series; at most {unused:.2g} % of epsilon may be unused"

    @cached_property
    def _series_scale(self) -> Fraction:
        def fits(scale: Fraction) -> bool:
            return self.series_epsilon(scale) <= self.epsilon

        def middle(low: Fraction, high: Fraction) -> Fraction:
            return rounded_down((low + high) / 2, 12)

        about = last_fitting(fits, self.epsilon / 4, self.epsilon, Fraction(1, 10**7), middle)
        found = rounded_down(about, DIGITS)
        return found if fits(found) else Fraction(0)


@dataclass(frozen=True, init=False, repr=False)
class HellingerReciprocal(CalibratedHellinger, kind="HellingerReciprocal", version=2):
    """Divide the score by a sensitivity whose reciprocal is Lipschitz: pure epsilon-DP.

    1/S(x) = min_x' 1/LS(x') + L d(x, x'). For c = t/S the loss is at most 2 t + t |1/S - 1/S'| <= t (2 + L), which
    gives the scale t = epsilon/(2 + L) where neighbours cannot be compared.
    """

    free_parameter = "lipschitz"
    delta: ClassVar[Fraction] = Fraction(0)  # type: ignore[misc]
    calibrated_to: ClassVar[tuple[str, ...]] = ("model", "size", "epsilon", "lipschitz")
    lipschitz: Fraction
    scale: Fraction

    def __init__(
        self,
        model: Categories,
        size: int,
        epsilon: Exact,
        lipschitz: Exact = 0.5,
        scale: Exact | None = None,
    ) -> None:
        super().__init__(model, size, epsilon)
        object.__setattr__(self, "lipschitz", positive(lipschitz, "lipschitz"))
        self._calibrate(scale)

    @classmethod
    def candidate_mechanisms(cls, model: Model, size: int, epsilon: Fraction, delta: Fraction) -> Iterator[Sized]:
        """Yield one for each of a few Lipschitz constants."""
        if isinstance(model, Categories):
            yield from (cls(model, size, epsilon, lipschitz) for lipschitz in LIPSCHITZ)

    @property
    def is_smooth(self) -> bool:
        """Return False: its normalisers are bounded by a different decay."""
        return False

    @property
    def decay(self) -> Decay:
        """Return 1/S growing by L a step."""
        return reciprocal(self.lipschitz)

    def proved_scale(self) -> tuple[Fraction, str]:
        """Return epsilon/(2 + L)."""
        reason = "scale 1/S with |1/S - 1/S'| <= L, exponent epsilon/((2 + L) S); the true loss may be about half of it"
        return self.epsilon / (2 + self.lipschitz), reason


@dataclass(frozen=True, init=False, repr=False)
class HellingerSmooth(SmoothSensitivity, CalibratedHellinger, kind="HellingerSmooth", version=2):
    """Divide by the papers' smooth sensitivity, gamma = ln(1 - epsilon/(2 ln(delta/(2|R|)))): (epsilon, delta)-DP.

    Where neighbours cannot be compared, two bounds hold for any scale t: (2 t + (e^gamma - 1) ln(|R|/delta), delta),
    and pure 2 t + (t/S_min)(1 - e^-gamma). The scale is the largest for which one of them is epsilon.
    """

    delta: Fraction
    scale: Fraction

    def __init__(self, model: Categories, size: int, epsilon: Exact, delta: Exact, scale: Exact | None = None) -> None:
        super().__init__(model, size, epsilon)
        self._set_delta(delta)
        self._calibrate(scale)

    def proved_scale(self) -> tuple[Fraction, str]:
        """Return the larger of the scales that the two bounds allow."""
        with ctx.workprec(_BITS):
            least = least_sensitivity_ball(self.model.concentration, self.size)
            tail = self.gamma().expm1() * (self.candidates / ball(self.delta)).log()
            outside = (ball(self.epsilon) - tail) / 2
            pure = ball(self.epsilon) / smooth_bound(arb(1), self.gamma(), least)
            scales = [rounded_down(float(each.lower()) * (1 - 1e-12), DIGITS) for each in (outside, pure)]
        reasons = (
            "smooth sensitivity: epsilon grows by (e^gamma - 1) ln(|R|/delta) outside a set of probability delta",
            "losses of neighbours are at most 2 min(c, c') H + |c - c'|",
        )
        best = scales.index(max(scales))
        return scales[best], f"{reasons[best]}; the true loss may be about half of it"


@dataclass(frozen=True, init=False, repr=False)
class HellingerSmoothProved(HellingerSmooth, kind="HellingerSmoothProved", version=2):
    """Divide by a smooth sensitivity chosen to suit the proof, e^gamma - 1 = epsilon/(3 ln(|R|/delta)).

    Where neighbours cannot be compared, the scale is epsilon/3: 2 t + (e^gamma - 1) ln(|R|/delta) = epsilon.
    """

    def gamma(self) -> arb:
        return proved_gamma(self.epsilon, self.delta, self.candidates)
