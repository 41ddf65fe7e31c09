"""How far apart two Dirichlet distributions are, in forms that keep their digits.

The affinity of two Dirichlets is BC(a, b) = B((a + b)/2) / sqrt(B(a) B(b)), so with
D(u, v) = lgamma((u + v)/2) - (lgamma u + lgamma v)/2  one has  ln BC = sum_i D(a_i, b_i) - D(sum a, sum b).
A difference of lgammas would lose all digits at large arguments (100 % relative error at 1e8), so D is computed from
D(u, v) = 1/2 sum_{k >= 0} ln(1 - h^2/(c + k)^2),  c = (u + v)/2, h = |v - u|/2: a few terms, then Stirling's remainder.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, gammaln

from discreet.distributions import Dirichlet
from discreet.errors import DeclarationError
from discreet.special import STIRLING

Floats = NDArray[np.float64]
_SHIFT = 12  # above this argument eight terms of Stirling's series are exact to double precision


def hellinger(first: Dirichlet, second: Dirichlet) -> float:
    """Return the Hellinger distance between two Dirichlet distributions, in [0, 1].

    H(a, b)^2 = 1 - BC(a, b).

    >>> round(hellinger(Dirichlet((5, 5)), Dirichlet((4, 6))), 15)
    0.233629480708875
    """
    a, b = _pair(first, second)
    return float(hellinger_rows(a, b))


def hellinger_rows(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return Hellinger distances between Dirichlets given by rows of parameters (last axis)."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    log_affinity = _log_ratio(a, b).sum(axis=-1) - _log_ratio(a.sum(axis=-1), b.sum(axis=-1))
    return np.asarray(np.sqrt(np.maximum(0.0, -np.expm1(log_affinity))))  # expm1: 1 - x near x = 1


def kullback_leibler(first: Dirichlet, second: Dirichlet) -> float:
    """Return KL(first || second) = E_first[log density of first - log density of second].

    >>> round(kullback_leibler(Dirichlet((12, 17)), Dirichlet((14, 11))), 5)
    1.12336
    """
    a, b = _pair(first, second)
    constants = gammaln(a.sum()) - gammaln(a).sum() - gammaln(b.sum()) + gammaln(b).sum()
    return float(max(0.0, constants + (a - b) @ (digamma(a) - digamma(a.sum()))))


def _pair(first: Dirichlet, second: Dirichlet) -> tuple[Floats, Floats]:
    a, b = np.array(first.concentration), np.array(second.concentration)
    if len(a) != len(b):
        raise DeclarationError(f"Two Dirichlets on {len(a)} and {len(b)} categories cannot be compared.")
    return a, b


def _log_ratio(u: Floats, v: Floats) -> Floats:
    """Return D(u, v) <= 0."""
    centre, half = (u + v) / 2, np.abs(v - u) / 2
    small = 0.5 * sum(_log_one_minus_square(half / (centre + k)) for k in range(_SHIFT))
    return np.asarray(small + _log_ratio_large(u + _SHIFT, v + _SHIFT))


def _log_one_minus_square(x: Floats) -> Floats:
    return np.log1p(-x) + np.log1p(x)


def _log_ratio_large(u: Floats, v: Floats) -> Floats:
    """Return D(u, v) for large arguments: -(c g(x) - ln(1 - x^2)/2)/2 + s(c) - (s(u) + s(v))/2, x = h/c.

    g(x) = ln(1 - x^2) + 2 x atanh x = sum_k x^(2k) / (k (2k - 1)), and s is the remainder of Stirling's formula.
    """
    centre = (u + v) / 2
    x = np.abs(v - u) / (u + v)
    square = x * x
    series = square * sum(square ** (k - 1) / (k * (2 * k - 1)) for k in range(1, 12))
    with np.errstate(invalid="ignore", divide="ignore"):
        closed = _log_one_minus_square(x) + 2 * x * np.arctanh(x)
    entropy = np.where(x < 0.1, series, closed)
    main = -0.5 * (centre * entropy - 0.5 * _log_one_minus_square(x))
    return np.asarray(main + _stirling_difference(u, v))


def _stirling_difference(u: Floats, v: Floats) -> Floats:
    """Return s(c) - (s(u) + s(v))/2 without cancellation, s(z) = sum_j B_j z^-(2j + 1).

    c^-p - (u^-p + v^-p)/2 = c^-p (1 - ((1 - x)^-p + (1 + x)^-p)/2), and the bracket is -x^2 times a positive sum.
    """
    centre = (u + v) / 2
    x = np.abs(v - u) / (u + v)
    total = np.zeros_like(centre)
    for j, coefficient in enumerate(STIRLING):
        p = 2 * j + 1
        exponent_low, exponent_high = -p * np.log1p(-x), -p * np.log1p(x)
        bracket = -0.5 * (np.expm1(exponent_low) + np.expm1(exponent_high))
        total = total + coefficient * centre ** (-p) * bracket
    return total
