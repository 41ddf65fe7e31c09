"""The total of n bounded records, given the parameter of their family: what a draw from a posterior tells about.

The records stand for numbers on a lattice (whole numbers, middles of bands), so their total does too, and its law is
the n-fold convolution of the law of one record: exactly, by a Fourier transform of its n-th power, folded to a window
of 24 standard deviations and more. If that window is too long, the total is a sum of so many terms that Edgeworth's
expansion to the order 1/n is used. Its error is of the order of the cubed skewness of the total; where that is above
one tenth the expansion is called rough, and whoever uses it must look.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd, inf, lcm, log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DeclarationError

Floats = NDArray[np.float64]
LogKernel = Callable[[Floats], Floats]

_LONGEST = 1 << 16
_DEVIATIONS = 24.0
_MOST_SKEWED = 0.1
_STANDARD = np.linspace(-9.0, 9.0, 801)
_LARGEST_LATTICE = 10_000_000
_NOTHING = 1e-30  # probabilities below this are left out


@dataclass(frozen=True, eq=False)
class Expectations:
    """log E g(total), E[total g(total)] / E g(total), and whether an expansion that they rest on is rough."""

    logs: Floats
    totals: Floats
    rough: NDArray[np.bool_]


class RecordTotals:
    """The law of the total of `size` records of a family, as a function of the family's parameter."""

    def __init__(self, model: Any, size: int) -> None:
        self._model, self._size = model, size
        least = min(model.values)
        steps = [value - least for value in model.values]
        scale = lcm(*(step.denominator for step in steps))
        common = gcd(*(int(step * scale) for step in steps)) or 1
        self._places = np.array([int(step * scale) // common for step in steps])
        if self._places.max() > _LARGEST_LATTICE:
            raise DeclarationError("The values that the records stand for have no common unit that is not tiny.")
        self._start, self._unit = float(least) * size, float(Fraction(common, scale))
        self._last = int(self._places.max()) * size

    @property
    def ends(self) -> tuple[float, float]:
        """Return the least and the largest total."""
        return self._start, self._start + self._unit * self._last

    def about(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the total; the latter at least half a unit."""
        mean, variance = self._cumulants(self._model.level_probabilities(parameters))[:2]
        return self._start + self._unit * mean, self._unit * np.sqrt(np.maximum(variance, 0.25))

    def log_expectations(self, parameters: Floats, log_kernel: LogKernel) -> "Expectations":
        """Return what is expected of a function g of the total, given log g, at each parameter."""
        chances = self._model.level_probabilities(parameters)
        found = np.array([self._expected(row, log_kernel) for row in chances])
        return Expectations(found[:, 0], found[:, 1], found[:, 2] > 0)

    def _cumulants(self, chances: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the first four cumulants of the total, in units of the lattice: n times those of one record."""
        mean = chances @ self._places
        gaps = self._places - mean[..., None]
        second, third, fourth = (np.sum(chances * gaps**order, axis=-1) for order in (2, 3, 4))
        return self._size * mean, self._size * second, self._size * third, self._size * (fourth - 3 * second**2)

    def _expected(self, chances: Floats, log_kernel: LogKernel) -> tuple[float, float, bool]:
        mean, variance, third, fourth = (float(cumulant) for cumulant in self._cumulants(chances))
        spread = np.sqrt(max(variance, 0.25))
        length = 1 << ceil(log2(min(self._last + 1, _DEVIATIONS * spread + 64)))
        rough = length > _LONGEST and abs(third) > _MOST_SKEWED * spread**3
        if length <= _LONGEST:
            places, weights = self._transformed(chances, mean, length)
        else:
            places, weights = _edgeworth(mean, spread, third / spread**3, fourth / spread**4)
        inside = (places >= 0) & (places <= self._last) & (weights > _NOTHING)
        totals, weights = self._start + self._unit * places[inside], weights[inside]
        logs = log_kernel(totals)
        peak = float(logs.max(initial=-inf))
        if peak == -inf:
            return -inf, 0.0, rough
        products = weights * np.exp(logs - peak)
        expected = max(float(products.sum()), 1e-300)
        return peak + float(np.log(expected)), float(products @ totals) / expected, rough

    def _transformed(self, chances: Floats, mean: float, length: int) -> tuple[Floats, Floats]:
        """Return places of the lattice and their probabilities; what lies outside the window is folded into it."""
        folded = np.bincount(self._places % length, chances, length)
        law = np.maximum(0.0, np.fft.irfft(_power(np.fft.rfft(folded), self._size), length))
        start = 0 if length > self._last else round(mean) - length // 2
        return start + np.arange(float(length)), np.roll(law, -(start % length))


def _power(numbers: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    """Return a whole power by squaring, which is many times faster than the power of a complex number."""
    found, square = np.ones_like(numbers), numbers
    while exponent:
        found = found * square if exponent & 1 else found
        square, exponent = square * square, exponent >> 1
    return found


def _edgeworth(mean: float, spread: float, skewness: float, kurtosis: float) -> tuple[Floats, Floats]:
    """Return places and weights of a nearly normal total.

    phi(z) [1 + g (z^3 - 3z)/6 + k (z^4 - 6z^2 + 3)/24 + g^2 (z^6 - 15z^4 + 45z^2 - 15)/72].
    """
    z = _STANDARD
    third, fourth = z**3 - 3 * z, z**4 - 6 * z**2 + 3
    sixth = z**6 - 15 * z**4 + 45 * z**2 - 15
    shape = 1 + skewness * third / 6 + kurtosis * fourth / 24 + skewness**2 * sixth / 72
    weights = np.exp(-(z**2) / 2) * np.maximum(0.0, shape)
    return mean + spread * z, weights / weights.sum()
