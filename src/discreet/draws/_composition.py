"""Several draws from one posterior: a privacy loss that dominates one draw, on a lattice, and sums of it.

A curve is evaluated, from above, at the multiples of one step, and chords are drawn through the points: the loss whose
curve that is has its values on the lattice. So sums of independent losses lie on the lattice too, and their
distribution is a power of a Fourier transform, without any rounding of losses. What a transform gets wrong is small
beside its largest values, not beside a delta of 1e-12. So the distribution is first tilted by e^(lambda L), which moves
the losses that matter into the middle, and tilted back afterwards:

    delta(e) <= M^q e^(-lambda e) [ sum_(l > e) Q_l e^(-lambda (l - e)) (1 - e^(e - l)) + error ],   M = E e^(lambda L),

Q the distribution of the sum of q tilted losses.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, log, log2, sqrt

import numpy as np

from discreet._core.arrays import Floats
from discreet.draws._loss import Curve, Curves
from discreet.privacy import PrivacyLoss

_POINTS = 160  # where a curve is evaluated before chords are drawn through it
_LAST = 500  # no curve is followed further
_STEEPEST = 300.0  # of lambda times a loss, so that e to its power is a float, and each power is right to 1e-13
_ROUNDING = 1 + 1e-9  # 1000 draws, each right to 1e-13, and the sums


@dataclass(frozen=True)
class LatticeLoss:
    """A privacy loss whose values are multiples of one step."""

    loss: PrivacyLoss
    step: Fraction


def dominating_loss(
    curve: Curve,
    negligible: float,
    epsilon: Fraction | None = None,
    several: Curves | None = None,
) -> LatticeLoss:
    """Return a loss that dominates a symmetric privacy curve, given by certified values.

    Chords are drawn through the curve up to where it is negligible. If an epsilon is named it is one of the points.
    `several` gives the curve at many points at once, where that is quicker than one by one.
    """
    farthest = max(_reach(curve, negligible), epsilon or Fraction(0))
    step = farthest / _POINTS if epsilon is None else epsilon / max(1, round(_POINTS * epsilon / farthest))
    points = [number * step for number in range(ceil(farthest / step) + 1)]
    heights = [curve(index) for index in points] if several is None else several(points)
    return LatticeLoss(PrivacyLoss.from_symmetric_curve(points, heights), step)


def _reach(curve: Curve, negligible: float) -> Fraction:
    """Return a point from which on a curve is negligible, at most a tenth further out than needed."""
    high = Fraction(1)
    while curve(high) > negligible and high < _LAST:
        high *= 2
    while curve(high / 2) <= negligible and high > Fraction(1, 2**40):
        high /= 2
    low = high / 2
    for _ in range(4):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) > negligible else (low, middle)
    return high


def composed_curve(single: LatticeLoss, times: int) -> Curve:
    """Return an upper bound on the privacy curve of `times` independent releases with a loss that dominates each."""
    if times == 1:
        return single.loss.delta_at
    sums = _LossSums(single, times)
    return lru_cache(maxsize=None)(sums.delta_at)


class _LossSums:
    """The sum of independent losses on one lattice, tilted in several ways."""

    def __init__(self, single: LatticeLoss, times: int) -> None:
        loss, self._times, self._step = single.loss, times, float(single.step)
        indices = np.array([ceil(value / single.step) for value in loss.losses])  # up, should one lie off the lattice
        self._first, self._chances = int(indices.min()), np.bincount(indices - indices.min(), loss.probabilities)
        self._values = (self._first + np.arange(len(self._chances))) * self._step
        self._length = 1 << ceil(log2(times * len(self._chances)))
        self._sums = (times * self._first + np.arange(self._length)) * self._step
        most = _STEEPEST / float(np.abs(self._values).max() or 1.0)
        self._tilts = np.concatenate([[0.0], most * 1.4 ** np.arange(-40.0, 1.0)])
        self._growths = np.array([log(float(self._chances @ np.exp(tilt * self._values))) for tilt in self._tilts])
        self._beyond, self._distributions = loss.beyond, dict[int, Floats]()

    def delta_at(self, epsilon: Fraction) -> float:
        """Return an upper bound on delta(epsilon), by the tilt whose Chernoff bound is the smallest."""
        allowed = float(epsilon)
        exponents = self._times * self._growths - self._tilts * allowed
        best = int(np.argmin(exponents))
        tilt = float(self._tilts[best])
        above = slice(int(np.searchsorted(self._sums, allowed)), None)
        gaps = self._sums[above] - allowed
        total = float(self._distribution(best)[above] @ (np.exp(-tilt * gaps) * -np.expm1(-gaps)))
        return min(
            1.0, exp(float(exponents[best])) * (total + self._error(tilt)) * _ROUNDING + self._times * self._beyond
        )

    def _distribution(self, number: int) -> Floats:
        """Return the distribution of the sum of losses tilted by e^(lambda L) / M."""
        if number not in self._distributions:
            tilted = self._chances * np.exp(self._tilts[number] * self._values - self._growths[number])
            power = np.fft.rfft(tilted, self._length) ** self._times
            self._distributions[number] = np.maximum(0.0, np.fft.irfft(power, self._length))
        return self._distributions[number]

    def _error(self, tilt: float) -> float:
        """Return what rounding of the transforms can add: 16 u N^(1/2) log2 N for each loss, u = 2^-53, in all.

        It is weighed by the largest value of e^(-lambda g) (1 - e^-g), (lambda / (1 + lambda))^lambda / (1 + lambda).
        """
        largest: float = (tilt / (1 + tilt)) ** tilt / (1 + tilt)
        return 16 * 2.0**-53 * sqrt(self._length) * log2(self._length) * self._times * largest
