"""Distributions of one real number whose probabilities are enclosed by balls: Beta, Gamma, normal.

Their parameters are exact numbers, so that draws and guarantees need not trust any floating-point function.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import sqrt
from typing import Protocol

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, betaln, gammainc, gammaincc, gammaincinv, gammaln, ndtr, ndtri

from discreet._core.arrays import Floats
from discreet._core.exact import ball

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_PRECISE = 40  # steps of a continued fraction or series that no distribution can do without
_CANCELLED = 1e-4  # cells with a smaller share of their tail are integrated instead of subtracted


class CertifiedDistribution(Protocol):
    """The distribution of one real parameter: certified probabilities, and floats for the digits of readers."""

    @property
    def support(self) -> tuple[int | None, int | None]:
        """Return the ends of the support, None for an infinite one."""

    def below(self, x: arb) -> arb:
        """Return P(value <= x) for x inside the support, enclosed."""

    def above(self, x: arb) -> arb:
        """Return P(value > x) for x inside the support, enclosed with all digits where it is small."""

    def log_density(self, x: arb) -> arb:
        """Return the logarithm of the density at x, enclosed."""

    def guess(self, probability: float) -> float:
        """Return about the quantile of a probability; nothing but speed depends on it."""

    def log_mass(self, low: ArrayLike, high: ArrayLike) -> Floats:
        """Return log P(low < value <= high), to about twelve digits."""


@dataclass(frozen=True)
class CertifiedBeta:
    """Beta(a, b) on (0, 1): density ~ x^(a - 1) (1 - x)^(b - 1).

    `largest` is a public bound of a + b: how long probabilities take to work out follows from it, not from a and b.
    Left out, it is a + b.

    >>> print(CertifiedBeta(Fraction(1), Fraction(2)).below(arb("0.5")).str(10, radius=False))
    0.7500000000
    """

    a: Fraction
    b: Fraction
    largest: Fraction | None = field(default=None, compare=False, repr=False)

    @property
    def support(self) -> tuple[int | None, int | None]:
        """Return (0, 1)."""
        return 0, 1

    def below(self, x: arb) -> arb:
        """Return the regularised incomplete Beta function I_x(a, b), through the smaller tail."""
        return self._lower_tail(x) if self._is_low(x) else 1 - self._upper_tail(x)

    def above(self, x: arb) -> arb:
        """Return I_(1-x)(b, a), through the smaller tail."""
        return 1 - self._lower_tail(x) if self._is_low(x) else self._upper_tail(x)

    def _is_low(self, x: arb) -> bool:
        """Tell on which side of the middle x lies; both sides take the same steps."""
        return bool(x < ball((self.a + 1) / (self.a + self.b + 2)))

    def _lower_tail(self, x: arb) -> arb:
        return incomplete_beta(self.a, self.b, x, self.largest)

    def _upper_tail(self, x: arb) -> arb:
        return incomplete_beta(self.b, self.a, 1 - x, self.largest)

    def log_density(self, x: arb) -> arb:
        """Return (a - 1) ln x + (b - 1) ln(1 - x) - ln B(a, b)."""
        a, b = ball(self.a), ball(self.b)
        return (a - 1) * x.log() + (b - 1) * (-x).log1p() - a.lgamma() - b.lgamma() + (a + b).lgamma()

    def guess(self, probability: float) -> float:
        """Return about the quantile of a probability."""
        return float(betaincinv(float(self.a), float(self.b), probability))

    def log_mass(self, low: ArrayLike, high: ArrayLike) -> Floats:
        """Return log P(low < value <= high)."""
        return beta_log_mass(float(self.a), float(self.b), low, high)


def beta_log_mass(a: ArrayLike, b: ArrayLike, low: ArrayLike, high: ArrayLike) -> Floats:
    """Return log P(low < value <= high) of Beta distributions, element by element."""
    one, two, start, end = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (a, b, low, high)))
    first, second = one[..., None], two[..., None]
    return _log_mass(
        lambda x: np.asarray(betainc(one, two, x), dtype=float),
        lambda x: np.asarray(betainc(two, one, 1 - x), dtype=float),
        lambda x: (first - 1) * np.log(x) + (second - 1) * np.log1p(-x) - betaln(first, second),
        (start, end),
    )


def incomplete_beta(a: Fraction, b: Fraction, x: arb, largest: Fraction | None = None) -> arb:
    """Return I_x(a, b), enclosed, for x up to about (a + 1) / (a + b + 2), in steps that `largest` alone decides.

    I_x(a, b) = x^a (1 - x)^b / (a B(a, b) t_0), Gauss's continued fraction t_(k-1) = 1 + d_k / t_k with
    d_2m = m (b - m) x / ((a + 2m - 1)(a + 2m)), d_(2m+1) = -(a + m)(a + b + m) x / ((a + 2m)(a + 2m + 1)).
    Each t_k is a ratio of hypergeometric series of positive terms, of which the terms of t_2m have ratios between
    m / (a + 2m) and 1; so t_2m lies between these. Going back from both ends encloses t_0, as long as all steps stay
    positive: 1 + d / t is monotone there.
    """
    first, second = ball(a), ball(b)
    steps = _steps(a + b if largest is None else largest)
    low, high = ball(Fraction(steps) / (a + 2 * steps)), arb(1)
    for m in range(steps, 0, -1):
        even = m * (second - m) * x / ((first + (2 * m - 1)) * (first + 2 * m))
        odd = -(first + (m - 1)) * (first + second + (m - 1)) * x / ((first + (2 * m - 2)) * (first + (2 * m - 1)))
        low, high = 1 + even / low, 1 + even / high
        low, high = 1 + odd / low, 1 + odd / high
        if not (low > 0 and high > 0):
            return arb(0).union(arb(1))
    power = first * x.log() + second * (-x).log1p()
    factor = (power - (first + 1).lgamma() - second.lgamma() + (first + second).lgamma()).exp()
    return factor / low.union(high)


def _steps(largest: Fraction) -> int:
    """Return how many steps reach the working precision for parameters up to a public bound."""
    return _PRECISE + int((float(largest) * ctx.prec**2) ** (1 / 3) / 3)


@dataclass(frozen=True)
class CertifiedGamma:
    """Gamma(shape, rate) on (0, infinity): density ~ x^(shape - 1) e^(-rate x).

    `largest` is a public bound of the shape: how long `below` takes follows from it. Left out, it is the shape.
    """

    shape: Fraction
    rate: Fraction
    largest: Fraction | None = field(default=None, compare=False, repr=False)

    @property
    def support(self) -> tuple[int | None, int | None]:
        """Return (0, infinity)."""
        return 0, None

    def below(self, x: arb) -> arb:
        """Return P(s, y) = y^s e^-y / Gamma(s + 1) sum_k y^k / ((s + 1) ... (s + k)), y = rate x.

        The number of terms follows from `largest`; 1 - Q(s, y) is for y so far out that hardly any draw gets there.
        """
        shape, scaled = ball(self.shape), ball(self.rate) * x
        terms = self._terms
        if not scaled < shape + terms // 2:
            return 1 - scaled.gamma_upper(shape, regularized=1)
        return _lower_gamma(shape, scaled, terms)

    def above(self, x: arb) -> arb:
        """Return the regularised upper incomplete Gamma function Q(s, y), or 1 - P(s, y), through the smaller tail."""
        shape, scaled = ball(self.shape), ball(self.rate) * x
        return 1 - self.below(x) if scaled < shape else scaled.gamma_upper(shape, regularized=1)

    @property
    def _terms(self) -> int:
        """Return how many terms reach the working precision within ten standard deviations or so of the mean."""
        largest = float(self.shape if self.largest is None else self.largest)
        return 3 * ctx.prec + int((6 * largest * ctx.prec) ** 0.5)

    def log_density(self, x: arb) -> arb:
        """Return s ln rate + (s - 1) ln x - rate x - ln Gamma(s)."""
        shape, rate = ball(self.shape), ball(self.rate)
        return shape * rate.log() + (shape - 1) * x.log() - rate * x - shape.lgamma()

    def guess(self, probability: float) -> float:
        """Return about the quantile of a probability."""
        return float(gammaincinv(float(self.shape), probability)) / float(self.rate)

    def log_mass(self, low: ArrayLike, high: ArrayLike) -> Floats:
        """Return log P(low < value <= high)."""
        return gamma_log_mass(float(self.shape), float(self.rate), low, high)


def gamma_log_mass(shape: ArrayLike, rate: ArrayLike, low: ArrayLike, high: ArrayLike) -> Floats:
    """Return log P(low < value <= high) of Gamma distributions, element by element."""
    s, r, start, end = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (shape, rate, low, high)))
    wide, fast = s[..., None], r[..., None]
    return _log_mass(
        lambda x: gammainc(s, r * x),
        lambda x: gammaincc(s, r * x),
        lambda x: wide * np.log(fast) + (wide - 1) * np.log(x) - fast * x - gammaln(wide),
        (start, end),
    )


def _lower_gamma(shape: arb, x: arb, terms: int) -> arb:
    """Return P(s, x) by a series of positive terms; what is left out is less than a geometric series."""
    term, total = arb(1), arb(1)
    for index in range(1, terms + 1):
        term = term * x / (shape + index)
        total += term
    ratio = x / (shape + terms + 1)
    series = total + (term * ratio / (1 - ratio)).union(arb(0))
    return (shape * x.log() - x - (shape + 1).lgamma()).exp() * series


@dataclass(frozen=True)
class CertifiedNormal:
    """Normal(mean, variance) on the whole line."""

    mean: Fraction
    variance: Fraction

    @property
    def support(self) -> tuple[int | None, int | None]:
        """Return the whole line."""
        return None, None

    def _standardised(self, x: arb) -> arb:
        return (x - ball(self.mean)) / ball(self.variance).sqrt()

    def below(self, x: arb) -> arb:
        """Return erfc(-z / sqrt 2) / 2, z = (x - mean) / sd."""
        return (-self._standardised(x) / arb(2).sqrt()).erfc() / 2

    def above(self, x: arb) -> arb:
        """Return erfc(z / sqrt 2) / 2."""
        return (self._standardised(x) / arb(2).sqrt()).erfc() / 2

    def log_density(self, x: arb) -> arb:
        """Return -z^2 / 2 - ln(2 pi variance) / 2."""
        return -(self._standardised(x) ** 2) / 2 - (2 * arb.pi() * ball(self.variance)).log() / 2

    def guess(self, probability: float) -> float:
        """Return about the quantile of a probability."""
        return float(self.mean) + float(ndtri(probability)) * sqrt(self.variance)

    def log_mass(self, low: ArrayLike, high: ArrayLike) -> Floats:
        """Return log P(low < value <= high)."""
        return normal_log_mass(float(self.mean), sqrt(self.variance), low, high)


Curve = Callable[[Floats], Floats]


def normal_log_mass(mean: ArrayLike, sd: ArrayLike, low: ArrayLike, high: ArrayLike) -> Floats:
    """Return log P(low < value <= high) of normal distributions, element by element."""
    m, d, start, end = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in (mean, sd, low, high)))
    return _log_mass(
        lambda x: ndtr((x - m) / d),
        lambda x: ndtr((m - x) / d),
        lambda x: -(((x - m[..., None]) / d[..., None]) ** 2) / 2 - np.log(d[..., None]) - np.log(2 * np.pi) / 2,
        (start, end),
    )


def _log_mass(below: Curve, above: Curve, log_density: Curve, cell: tuple[Floats, Floats]) -> Floats:
    """Subtract tails where that keeps digits; elsewhere the density is smooth over the cell, and is integrated."""
    low, high = np.broadcast_arrays(*cell)
    with np.errstate(all="ignore"):
        left, right = below(high), above(low)
        tail = np.minimum(left, right)
        plain = np.where(left <= right, left - below(low), right - above(high))
        half = (high - low)[..., None] / 2
        logs = log_density(low[..., None] + half * (1 + _NODES))
        peak = logs.max(axis=-1)
        smooth = peak + np.log(np.exp(logs - peak[..., None]) @ _WEIGHTS * half[..., 0])
        return np.asarray(np.where((plain > _CANCELLED * tail) & (tail > 0), np.log(plain), smooth))
