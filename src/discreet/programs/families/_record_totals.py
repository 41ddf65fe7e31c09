"""The total of n bounded records, given the parameter of their family: the statistic behind a draw from a posterior.

The records stand for numbers on a lattice (whole numbers, middles of bands), so their total does too, and its
distribution is the n-fold convolution of the distribution of one record: exactly, by a Fourier transform of its n-th
power, folded to a window of 24 standard deviations and more. If that window is long and the skewness of the total at
most a tenth, Edgeworth's expansion to the order 1/n is used, whose error is of the order of the cubed skewness.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd, inf, lcm, log2, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Floats
from discreet.programs.families._readable_family import ReadableFamily

LogKernel = Callable[[Floats], Floats]
Slope = Callable[[Floats], Floats]
"""How the log of a kernel changes with the total, at some totals; it falls from left to right (log-concave)."""

_LONGEST = 1 << 16
_DEVIATIONS = 24.0
_MOST_SKEWED = 0.1
_STANDARD = np.linspace(-9.0, 9.0, 801)
_LARGEST_LATTICE = 10_000_000
_NOTHING = 1e-15  # relative to the largest: smaller probabilities are left out, as a transform rounds them
_STEEPEST = 600.0  # range of the log tilt, from the least to the largest value
_TILT = 0.01  # accuracy of a tilt, in units of one over the largest possible standard deviation of the total
_AT_ONCE = 1 << 20  # probabilities of levels that are held at once


@dataclass(frozen=True, eq=False)
class Expectations:
    """log E g(total), and E[total g(total)] / E g(total)."""

    logs: Floats
    totals: Floats


class RecordTotals:
    """The distribution of the total of `size` records of a family, as a function of the family's parameter."""

    def __init__(self, model: ReadableFamily, size: int) -> None:
        self._model, self._size = model, size
        self._lattice_points, unit = _lattice(model)
        self._start, self._unit = float(min(model.values)) * size, float(unit)
        self._last = int(self._lattice_points.max()) * size

    @staticmethod
    def refusal(model: ReadableFamily) -> str | None:
        """Return why totals of a family's records cannot be listed, or None if they can."""
        if _lattice(model)[0].max() <= _LARGEST_LATTICE:
            return None
        return "the numbers that the levels represent have no common unit of a usable size"

    @property
    def ends(self) -> tuple[float, float]:
        """Return the least and the largest total."""
        return self._start, self._start + self._unit * self._last

    @property
    def longest(self) -> int:
        """Return the length of the longest transform that any parameter can need.

        The skewness of the total is at most (largest lattice point) / spread, so beyond ten times that spread it is
        small.
        """
        return 1 << ceil(log2(min(self._last + 1, _DEVIATIONS * max(_LONGEST / _DEVIATIONS, self._widest) + 64)))

    @property
    def _widest(self) -> float:
        return float(self._lattice_points.max()) / _MOST_SKEWED

    def about(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the total; the latter at least half a unit."""
        mean, variance = self._cumulants(self._model.level_probabilities(parameters))[:2]
        return self._start + self._unit * mean, self._unit * np.sqrt(np.maximum(variance, 0.25))

    def expansion_errors(self, parameters: Floats) -> Floats:
        """Return about the relative error of expectations: the cubed skewness where an expansion is used, else 0."""
        _, variance, third, _ = self._cumulants(self._model.level_probabilities(parameters))
        spread = np.sqrt(np.maximum(variance, 0.25))
        skewness, length = np.abs(third) / spread**3, np.minimum(self._last + 1, _DEVIATIONS * spread + 64)
        return np.where((2 * length > _LONGEST) & (skewness <= _MOST_SKEWED), skewness**3, 0.0)

    def log_expectations(self, parameters: Floats, log_kernel: LogKernel, slope: Slope | None = None) -> "Expectations":
        """Return what is expected of a function g of the total, given log g, at each parameter.

        With the slope of log g, which must fall, the distribution of the total is tilted to the saddle point, where its
        mean m has (log g)'(m) = lambda. As g e^(-lambda total) is largest there, sums keep their digits however far
        that is from where the total would be: E g = M^n E_tilted[g e^(-lambda total)].
        """
        pieces = min(len(parameters), 1 + len(parameters) * len(self._lattice_points) // _AT_ONCE)
        parts = [self._all_expected(part, log_kernel, slope) for part in np.array_split(parameters, pieces)]
        found = np.concatenate(parts)
        return Expectations(found[:, 0], found[:, 1])

    def _all_expected(self, parameters: Floats, log_kernel: LogKernel, slope: Slope | None) -> Floats:
        chances = self._model.level_probabilities(parameters)
        tilts = np.zeros(len(chances)) if slope is None else self._saddle_points(chances, slope)
        tilted, log_scales = self._tilted(chances, tilts)
        rows = zip(tilted, tilts.tolist(), log_scales.tolist(), strict=True)
        return np.array([self._expected(row, tilt, log_scale, log_kernel) for row, tilt, log_scale in rows])

    def _cumulants(self, chances: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the first four cumulants of the total, in units of the lattice: n times those of one record."""
        mean = chances @ self._lattice_points
        gaps = self._lattice_points - mean[..., None]
        second, third, fourth = (np.sum(chances * gaps**order, axis=-1) for order in (2, 3, 4))
        return self._size * mean, self._size * second, self._size * third, self._size * (fourth - 3 * second**2)

    def _expected(self, tilted: Floats, tilt: float, log_scale: float, log_kernel: LogKernel) -> tuple[float, float]:
        mean, variance, third, fourth = (float(cumulant) for cumulant in self._cumulants(tilted))
        spread = np.sqrt(max(variance, 0.25))
        length = 1 << ceil(log2(min(self._last + 1, _DEVIATIONS * spread + 64)))
        if length <= _LONGEST or abs(third) > _MOST_SKEWED * spread**3:
            indices, weights = self._transformed(tilted, mean, length)
        else:
            indices, weights = _edgeworth(mean, spread, third / spread**3, fourth / spread**4)
        inside = (indices >= 0) & (indices <= self._last) & (weights > _NOTHING * weights.max())
        indices, weights = indices[inside], weights[inside]
        totals = self._start + self._unit * indices
        logs = log_kernel(totals) - tilt * (indices - mean)
        top = float(logs.max(initial=-inf))
        if top == -inf:
            return -inf, 0.0
        products = weights * np.exp(logs - top)
        expected = max(float(products.sum()), 1e-300)
        return top + log_scale - tilt * mean + float(np.log(expected)), float(products @ totals) / expected

    def _saddle_points(self, chances: Floats, slope: Slope) -> Floats:
        """Return for each distribution of a record (rows) the tilt lambda with (log g)'(mean total) = lambda.

        The mean rises with lambda and the slope falls with the mean, so halving finds the one place where they meet.
        """
        low = np.full(len(chances), -_STEEPEST / max(1.0, float(self._lattice_points.max())))
        high = -low
        for _ in range(ceil(log2(_STEEPEST * sqrt(self._size) / _TILT))):
            middle = (low + high) / 2
            means = self._size * (self._tilted(chances, middle)[0] @ self._lattice_points)
            is_low = self._unit * slope(self._start + self._unit * means) > middle
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        return np.asarray((low + high) / 2)

    def _tilted(self, chances: Floats, tilts: Floats) -> tuple[Floats, Floats]:
        """Return distributions of a record (rows), tilted by e^(lambda x) / M at lattice point x, and n log M."""
        with np.errstate(divide="ignore"):
            terms = np.log(chances) + tilts[:, None] * self._lattice_points
        tops = terms.max(axis=1, keepdims=True)
        weights = np.exp(terms - tops)
        sums = weights.sum(axis=1, keepdims=True)
        return weights / sums, self._size * (tops + np.log(sums))[:, 0]

    def _transformed(self, chances: Floats, mean: float, length: int) -> tuple[Floats, Floats]:
        """Return lattice points and their probabilities; what lies outside the window is folded into it."""
        folded = np.bincount(self._lattice_points % length, chances, length)
        distribution = np.maximum(0.0, np.fft.irfft(_power(np.fft.rfft(folded), self._size), length))
        start = 0 if length > self._last else round(mean) - length // 2
        return start + np.arange(float(length)), np.roll(distribution, -(start % length))


def _lattice(model: ReadableFamily) -> tuple[NDArray[np.int64], Fraction]:
    """Return the points of a family's values on a lattice that starts at the least, and its unit."""
    values = model.values
    scale = lcm(*(value.denominator for value in values))
    whole = [value.numerator * (scale // value.denominator) for value in values]
    least = min(whole)
    common = gcd(*(number - least for number in whole)) or 1
    return np.array([(number - least) // common for number in whole]), Fraction(common, scale)


def _power(numbers: NDArray[np.complex128], exponent: int) -> NDArray[np.complex128]:
    """Return a whole power by squaring, which is many times faster than the power of a complex number."""
    found, square = np.ones_like(numbers), numbers
    while exponent:
        found = found * square if exponent & 1 else found
        square, exponent = square * square, exponent >> 1
    return found


def _edgeworth(mean: float, spread: float, skewness: float, kurtosis: float) -> tuple[Floats, Floats]:
    """Return lattice points and weights of a nearly normal total.

    phi(z) [1 + g (z^3 - 3z)/6 + k (z^4 - 6z^2 + 3)/24 + g^2 (z^6 - 15z^4 + 45z^2 - 15)/72].
    """
    z = _STANDARD
    third, fourth = z**3 - 3 * z, z**4 - 6 * z**2 + 3
    sixth = z**6 - 15 * z**4 + 45 * z**2 - 15
    shape = 1 + skewness * third / 6 + kurtosis * fourth / 24 + skewness**2 * sixth / 72
    weights = np.exp(-(z**2) / 2) * np.maximum(0.0, shape)
    return mean + spread * z, weights / weights.sum()
