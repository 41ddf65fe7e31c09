"""The total of n bounded records, given the parameter of their family: what a draw from a posterior tells about.

The records stand for numbers on a lattice (whole numbers, middles of bands), so their total does too, and its law is
the n-fold convolution of the law of one record: exactly, by a Fourier transform of its n-th power, folded to a window
of 24 standard deviations and more. If that window is long and the skewness of the total at most a tenth, Edgeworth's
expansion to the order 1/n is used, whose error is of the order of the cubed skewness.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd, inf, lcm, log2

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.models.readable_family import ReadableFamily

LogKernel = Callable[[Floats], Floats]
Peak = Callable[[float, float], float]
"""Where a kernel times a normal law of this mean and standard deviation is largest, about."""

_LONGEST = 1 << 16
_DEVIATIONS = 24.0
_MOST_SKEWED = 0.1
_STANDARD = np.linspace(-9.0, 9.0, 801)
_LARGEST_LATTICE = 10_000_000
_NOTHING = 1e-30  # probabilities below this are left out
_NEAR = 4.0  # standard deviations within which the law of the total has its digits without a tilt
_STEEPEST = 600.0  # of the log of the tilt, from the least to the largest value


@dataclass(frozen=True, eq=False)
class Expectations:
    """log E g(total), and E[total g(total)] / E g(total)."""

    logs: Floats
    totals: Floats


class RecordTotals:
    """The law of the total of `size` records of a family, as a function of the family's parameter."""

    def __init__(self, model: ReadableFamily, size: int) -> None:
        self._model, self._size = model, size
        self._places, unit = _lattice(model)
        self._start, self._unit = float(min(model.values)) * size, float(unit)
        self._last = int(self._places.max()) * size

    @staticmethod
    def refusal(model: ReadableFamily) -> str | None:
        """Tell why totals of a family's records cannot be listed, or nothing if they can."""
        if _lattice(model)[0].max() <= _LARGEST_LATTICE:
            return None
        return "the values that the records stand for have no common unit that is not tiny"

    @property
    def ends(self) -> tuple[float, float]:
        """Return the least and the largest total."""
        return self._start, self._start + self._unit * self._last

    @property
    def longest(self) -> int:
        """Return the length of the longest transform that any parameter can need.

        The skewness of the total is at most (largest place) / spread, so beyond ten times that spread it is small.
        """
        return 1 << ceil(log2(min(self._last + 1, _DEVIATIONS * max(_LONGEST / _DEVIATIONS, self._widest) + 64)))

    @property
    def _widest(self) -> float:
        return float(self._places.max()) / _MOST_SKEWED

    def about(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the total; the latter at least half a unit."""
        mean, variance = self._cumulants(self._model.level_probabilities(parameters))[:2]
        return self._start + self._unit * mean, self._unit * np.sqrt(np.maximum(variance, 0.25))

    def log_expectations(self, parameters: Floats, log_kernel: LogKernel, peak: Peak | None = None) -> "Expectations":
        """Return what is expected of a function g of the total, given log g, at each parameter.

        `peak(mean, spread)` says about where g times the law of the total is largest. Where that is far from the mean
        the law is tilted there, so that sums keep their digits: E g = M^n E_tilted[g e^(-lambda total)].
        """
        chances = self._model.level_probabilities(parameters)
        found = np.array([self._expected(row, log_kernel, peak) for row in chances])
        return Expectations(found[:, 0], found[:, 1])

    def _cumulants(self, chances: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the first four cumulants of the total, in units of the lattice: n times those of one record."""
        mean = chances @ self._places
        gaps = self._places - mean[..., None]
        second, third, fourth = (np.sum(chances * gaps**order, axis=-1) for order in (2, 3, 4))
        return self._size * mean, self._size * second, self._size * third, self._size * (fourth - 3 * second**2)

    def _expected(self, chances: Floats, log_kernel: LogKernel, peak: Peak | None) -> tuple[float, float]:
        tilted, tilt, log_scale = self._tilted(chances, peak)
        mean, variance, third, fourth = (float(cumulant) for cumulant in self._cumulants(tilted))
        spread = np.sqrt(max(variance, 0.25))
        length = 1 << ceil(log2(min(self._last + 1, _DEVIATIONS * spread + 64)))
        if length <= _LONGEST or abs(third) > _MOST_SKEWED * spread**3:
            places, weights = self._transformed(tilted, mean, length)
        else:
            places, weights = _edgeworth(mean, spread, third / spread**3, fourth / spread**4)
        inside = (places >= 0) & (places <= self._last) & (weights > _NOTHING)
        places, weights = places[inside], weights[inside]
        totals = self._start + self._unit * places
        logs = log_kernel(totals) - tilt * (places - mean)
        top = float(logs.max(initial=-inf))
        if top == -inf:
            return -inf, 0.0
        products = weights * np.exp(logs - top)
        expected = max(float(products.sum()), 1e-300)
        return top + log_scale - tilt * mean + float(np.log(expected)), float(products @ totals) / expected

    def _tilted(self, chances: Floats, peak: Peak | None) -> tuple[Floats, float, float]:
        """Return the law of a record tilted to where it matters, the tilt, and n log M; as it is if that is near."""
        mean, variance = (float(cumulant) for cumulant in self._cumulants(chances)[:2])
        spread = np.sqrt(max(variance, 0.25))
        if peak is None:
            return chances, 0.0, 0.0
        place = (peak(self._start + self._unit * mean, self._unit * spread) - self._start) / self._unit
        if abs(place - mean) <= _NEAR * spread:
            return chances, 0.0, 0.0
        wanted = float(np.clip(place / self._size, 1e-9, self._places.max() * (1 - 1e-9)))
        with np.errstate(divide="ignore"):
            logs = np.log(chances)
        low, high = -_STEEPEST / self._places.max(), _STEEPEST / self._places.max()
        for _ in range(100):
            tilt = (low + high) / 2
            terms = logs + tilt * self._places
            tilted = np.exp(terms - terms.max())
            tilted /= tilted.sum()
            low, high = (tilt, high) if float(tilted @ self._places) < wanted else (low, tilt)
        return tilted, tilt, self._size * float(terms.max() + np.log(np.exp(terms - terms.max()).sum()))

    def _transformed(self, chances: Floats, mean: float, length: int) -> tuple[Floats, Floats]:
        """Return places of the lattice and their probabilities; what lies outside the window is folded into it."""
        folded = np.bincount(self._places % length, chances, length)
        law = np.maximum(0.0, np.fft.irfft(_power(np.fft.rfft(folded), self._size), length))
        start = 0 if length > self._last else round(mean) - length // 2
        return start + np.arange(float(length)), np.roll(law, -(start % length))


def _lattice(model: ReadableFamily) -> tuple[NDArray[np.int64], Fraction]:
    """Return the places of a family's values on a lattice that starts at the least, and its unit."""
    least = min(model.values)
    steps = [value - least for value in model.values]
    scale = lcm(*(step.denominator for step in steps))
    common = gcd(*(int(step * scale) for step in steps)) or 1
    return np.array([int(step * scale) // common for step in steps]), Fraction(common, scale)


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
