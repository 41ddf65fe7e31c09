"""HellingerCalibrated: as strong as the exact privacy curve allows, and not as a proof allows.

P(r | k) ~ e^(-scale H(k, r) / S(k)) with smooth sensitivity S(x) = max_x' LS(x') e^(-smoothing d(x, x')). Any smoothing
is allowed: all pairs of neighbours are compared, and the scale is the largest found whose delta(epsilon) is at most
delta. Where there are too many to compare, it is the largest that the bound of `pair_bound` proves: far smaller, and
pure. The scale is a public field. Whoever reads it, from a document or by hand, has it
certified again before anything is done with it.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from flint import arb, ctx

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, ball, exact, exact_text, positive, probability
from discreet.choices._adjacent_pairs import AdjacentPairs, can_compare, compare_neighbours, compare_pairs
from discreet.choices._hellinger_mechanism import HellingerMechanism
from discreet.choices._hellinger_sensitivity import RELATIVE_ERROR, Decay, exponential, least_sensitivity_ball
from discreet.choices._pair_bound import smooth_bound
from discreet.mechanism import Model, Sized
from discreet.privacy import Evidence, Guarantee, crossing, pure_rho, scale_rounded_down
from discreet.tables import Categories

SMOOTHINGS = ("0", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "100")
"""Values from which a ranking chooses the smoothing; 100 means local sensitivity."""
_ACTIVE = 16  # pairs on which the scale is sought before all are compared
_ROUNDS = 6
_BITS = 128


class CalibratedHellinger(HellingerMechanism):
    """P(r | k) ~ e^(-scale H(k, r) / S(k)), which costs what it declares.

    The scale is held against epsilon and delta by comparing all neighbours, or by a proof beyond that.
    """

    calibrated: ClassVar[tuple[str, ...]] = ("scale",)
    calibrated_to: ClassVar[tuple[str, ...]] = ("model", "size", "epsilon", "delta", "lipschitz")
    delta: Fraction
    scale: Fraction

    def _calibrate(self, given: Exact | None) -> None:
        """Find the scale, or hold a given one against the guarantee."""
        if given is None:
            found = largest_scale(self) if self._enumerable else self.proved_scale()[0]
        else:
            found = positive(given, "scale")
        object.__setattr__(self, "scale", found)
        if given is not None and not self._keeps_guarantee():
            raise DeclarationError(
                f"A scale of {exact_text(self.scale)} does not give epsilon = {exact_text(self.epsilon)} with delta = "
                f"{exact_text(self.delta)}. Leave the scale out to have the largest sufficient one chosen."
            )

    @abstractmethod
    def proved_scale(self) -> tuple[Fraction, str]:
        """Return a scale that keeps epsilon and delta at any size, and why."""

    def _keeps_guarantee(self) -> bool:
        return self.fits(self.compared(self.scale)) if self._enumerable else self.scale <= self.proved_scale()[0]

    @property
    def claim(self) -> Guarantee:
        return Guarantee(self.epsilon, self.delta, evidence=Evidence.CLAIMED, reason="as declared")

    @property
    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta) as declared: enumerated where all neighbours can be compared, else proved."""
        if self._enumerable:
            return Guarantee(self.epsilon, self.delta, evidence=Evidence.ENUMERATED, reason=self._comparison)
        return Guarantee(self.epsilon, self.delta, reason=self.proved_scale()[1])

    def proved_pure_epsilon(self) -> Fraction:
        """Return epsilon: the scale was held against it."""
        return self.epsilon

    def strength(self) -> arb:
        return ball(self.scale)

    def compared(self, scale: Fraction) -> AdjacentPairs:
        """Compare all neighbours under a scale, at a float no larger than epsilon."""
        every = float(scale) / self.sensitivities(self.tables.all)

        def scales(tables: Counts) -> Floats:
            return np.asarray(every[self.tables.indices(tables)])

        at = (float(self.epsilon) * (1 - 1e-15),)
        return compare_neighbours(self.model.concentration, self.size, scales, RELATIVE_ERROR, at)

    def compared_few(self, pairs: Counts, error: float) -> Callable[[float], AdjacentPairs]:
        """Return a function of the scale that compares these pairs alone, with a given error of ln P/Q."""

        def unit_scales(tables: Counts) -> Floats:
            return np.asarray(1 / self.sensitivities(tables))

        alpha, at = self.model.concentration, (float(self.epsilon),)
        return compare_pairs(alpha, pairs[:, 0], pairs[:, 1], unit_scales, error, at)

    @cached_property
    def rho(self) -> Fraction:
        return self.privacy_loss().sharp_rho if self._enumerable else pure_rho(self.pure_epsilon)

    def fits(self, found: AdjacentPairs) -> bool:
        """Return whether a comparison of neighbours stays within epsilon and delta."""
        if self.delta:
            return Fraction(found.delta(0)) <= self.delta
        return Fraction(found.epsilon) <= self.epsilon


@dataclass(frozen=True, init=False, repr=False)
class HellingerCalibrated(CalibratedHellinger, kind="HellingerCalibrated", version=2):
    """The largest scale whose exact delta(epsilon) over all neighbours is at most delta; delta = 0 is pure.

    >>> coin = Categories("coin", levels=("heads", "tails"), outside="heads")
    >>> HellingerCalibrated(coin, size=10, epsilon=1, delta=0, smoothing=0).scale
    Fraction(805537, 1000000)
    """

    calibrated_to: ClassVar[tuple[str, ...]] = ("model", "size", "epsilon", "delta", "smoothing")
    free_parameter = "smoothing"
    delta: Fraction
    smoothing: Fraction
    scale: Fraction

    def __init__(
        self,
        model: Categories,
        size: int,
        epsilon: Exact,
        delta: Exact = 0,
        smoothing: Exact = "0.05",
        scale: Exact | None = None,
    ) -> None:
        super().__init__(model, size, epsilon)
        object.__setattr__(self, "delta", probability(delta, "delta"))
        object.__setattr__(self, "smoothing", _at_least_zero(smoothing))
        self._calibrate(scale)

    @classmethod
    def candidate_mechanisms(cls, model: Model, size: int, epsilon: Fraction, delta: Fraction) -> Iterator[Sized]:
        """Yield one for each of a few smoothings, where neighbours can be compared."""
        if isinstance(model, Categories) and can_compare(size, len(model.cells)):
            yield from (cls(model, size, epsilon, delta, smoothing) for smoothing in SMOOTHINGS)

    @property
    def decay(self) -> Decay:
        """Return S(x) = max_x' LS(x') e^(-smoothing d(x, x')); the global sensitivity if smoothing is 0."""
        return exponential(lambda: ball(self.smoothing))

    def proved_scale(self) -> tuple[Fraction, str]:
        """Return a scale that keeps epsilon without comparing neighbours: by 2 t + (t/S_min)(1 - e^-smoothing)."""
        with ctx.workprec(_BITS):
            least = least_sensitivity_ball(self.model.concentration, self.size)
            found = ball(self.epsilon) / smooth_bound(arb(1), ball(self.smoothing), least)
            reason = "losses of neighbours are at most 2 min(c, c') H + |c - c'|; the true loss may be about half of it"
            return scale_rounded_down(float(found.lower())), reason

    def proved_pure_epsilon(self) -> Fraction:
        """Return the stated epsilon if it is pure, or proved; else twice the largest scale, as H <= 1."""
        if not self.delta or not self._enumerable:
            return self.epsilon
        return exact(f"{2.001 * float(self.scales(self.tables.all).max()):.6g}", "epsilon")

    @property
    def claim(self) -> Guarantee:
        """Return what is computed: no paper claims more."""
        return Guarantee(self.epsilon, self.delta, evidence=Evidence.CLAIMED, reason="calibrated by enumeration")

    @property
    def guarantee(self) -> Guarantee:
        """Return (epsilon, delta), certified for this scale by comparison; beyond that pure epsilon, by proof."""
        return super().guarantee if self._enumerable else Guarantee(self.epsilon, reason=self.proved_scale()[1])


def _at_least_zero(smoothing: Exact) -> Fraction:
    number = exact(smoothing, "smoothing")
    if not 0 <= number <= 100:
        raise DeclarationError(f"smoothing must lie between 0 and 100; got {exact_text(number)}.")
    return number


def largest_scale(mechanism: CalibratedHellinger) -> Fraction:
    """Find the scale on the worst few pairs, compare all pairs there, and add the worst ones until all agree."""
    scale, active = mechanism.epsilon, np.zeros((0, 2, len(mechanism.model.cells)), dtype=np.int64)
    found = mechanism.compared(scale)
    for _ in range(_ROUNDS):
        active = np.concatenate([active, _worst(found)])
        scale = scale_rounded_down(crossing(_excess(mechanism, active, found.error), float(scale)))
        found = mechanism.compared(scale)
        if mechanism.fits(found):
            return scale
    while not mechanism.fits(found):  # pairs that change places all the time: give some of the scale away
        scale = scale_rounded_down(float(scale) * 0.99)
        found = mechanism.compared(scale)
    return scale


def _worst(found: AdjacentPairs) -> Counts:
    """Return the pairs of largest delta, and among equal ones of largest loss."""
    order = np.lexsort((found.losses, found.deltas[0]))[::-1][:_ACTIVE]
    return np.stack([found.first[order], found.second[order]], axis=1)


def _excess(mechanism: CalibratedHellinger, active: Counts, error: float) -> Callable[[float], float]:
    """Return how far these pairs are above what is allowed, as a function of the scale."""
    compare, epsilon, delta = mechanism.compared_few(active, 1.1 * error), mechanism.epsilon, mechanism.delta

    def excess(scale: float) -> float:
        found = compare(scale)
        return found.delta(0) - float(delta) if delta else found.epsilon - float(epsilon)

    return excess
