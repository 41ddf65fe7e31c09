"""Divergences of two distributions, in numerically stable forms.

The affinity of two Dirichlets is BC(a, b) = B((a + b)/2) / sqrt(B(a) B(b)), so with
D(u, v) = lgamma((u + v)/2) - (lgamma u + lgamma v)/2  one has  ln BC = sum_i D(a_i, b_i) - D(sum a, sum b).
A difference of lgammas would lose all digits at large arguments (100 % relative error at 1e8), so D is computed from
D(u, v) = 1/2 sum_{k >= 0} ln(1 - h^2/(c + k)^2),  c = (u + v)/2, h = |v - u|/2: a few terms, then Stirling's remainder.
If totals differ the two parts of ln BC may cancel; such rows are computed with balls until the digits are there.
"""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact
from discreet.mathematics._digits import STIRLING
from discreet.mathematics.distributions import Dirichlet

Parameters: TypeAlias = Dirichlet | Sequence[float] | Floats
"""A Dirichlet distribution, or just its parameters."""

_SHIFT = 12  # above this argument eight terms of Stirling's series are exact to double precision
_SERIES_OF_LOG_R = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224)
_LARGE = 30  # from here on six terms of that series are exact to double precision
_SAME_TOTAL = 1e-14  # relative; so close, totals differ by the rounding of their sums only


def hellinger(first: Parameters, second: Parameters) -> float:
    """Return the Hellinger distance between two Dirichlet distributions, in [0, 1].

    H(a, b)^2 = 1 - BC(a, b).

    >>> round(hellinger((5, 5), (4, 6)), 15)
    0.233629480708875
    """
    return _hellinger_by_balls(*_pair(first, second))


def hellinger_rows(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return Hellinger distances between Dirichlets given by rows of parameters (last axis)."""
    a, b = np.broadcast_arrays(np.asarray(first, dtype=float), np.asarray(second, dtype=float))
    totals_a, totals_b = a.sum(axis=-1), b.sum(axis=-1)
    log_affinity = log_affinities(a, b).sum(axis=-1) - log_affinities(totals_a, totals_b)
    distances = np.asarray(np.sqrt(np.maximum(0.0, -np.expm1(log_affinity))))  # expm1: 1 - x near x = 1
    for index in np.argwhere(np.abs(totals_a - totals_b) > _SAME_TOTAL * totals_a):
        distances[tuple(index)] = _hellinger_by_balls(a[tuple(index)], b[tuple(index)])
    return distances


def kullback_leibler(first: Parameters, second: Parameters) -> float:
    """Return KL(first || second) = E_first[log density of first - log density of second].

    >>> round(kullback_leibler(Dirichlet((12, 17)), Dirichlet((14, 11))), 5)
    1.12336
    """
    a, b = _pair(first, second)
    return Dirichlet(a).divergence_from(Dirichlet(b))


def l1_distance(first: Parameters, second: Parameters) -> float:
    """Return sum_i |a_i - b_i| of the parameters of two Dirichlets.

    >>> l1_distance((5, 5), (4, 6))
    2.0
    """
    a, b = _pair(first, second)
    return float(np.abs(a - b).sum())


def hockey_stick(first: ArrayLike, second: ArrayLike, epsilon: Exact) -> float:
    """Return delta(epsilon) = sum_r max(0, P(r) - e^epsilon Q(r)) for probabilities P and Q of the same outcomes.

    >>> hockey_stick((0.75, 0.25), (0.25, 0.75), 0)
    0.5
    """
    p, q = _probabilities(first, second)
    return float(np.maximum(0.0, p - np.exp(float(exact(epsilon, "epsilon"))) * q).sum())


def total_variation(first: ArrayLike, second: ArrayLike) -> float:
    """Return sum_r |P(r) - Q(r)| / 2, the hockey stick at epsilon = 0, for probabilities of the same outcomes."""
    p, q = _probabilities(first, second)
    return float(np.abs(p - q).sum() / 2)


def log_affinities(u: ArrayLike, v: ArrayLike, difference: ArrayLike | None = None) -> Floats:
    """Return D(u, v) <= 0, number by number; for equal totals ln BC is the sum of these over the cells.

    Pass the `difference` v - u where it is known more exactly than u and v: for counts plus a prior that is not whole.
    """
    low, high = np.asarray(u, dtype=float), np.asarray(v, dtype=float)
    gap = np.abs(high - low if difference is None else np.asarray(difference, dtype=float))
    small = 0.5 * sum(_log_one_minus_square(low + k, high + k, gap) for k in range(_SHIFT))
    return np.asarray(small + _log_affinities_large(low + _SHIFT, high + _SHIFT, gap))


def log_r(t: Floats) -> Floats:
    """Return ln r(t) = D(t, t + 1) = ln Gamma(t + 1/2) - (ln Gamma(t) + ln Gamma(t + 1))/2 ~ -1/(8t) + 1/(192 t^3)...

    Dirichlets that differ by one record moved between cells i and j have affinity r(a_i) r(a_j), a without that record.
    Small arguments climb by ln r(t) = ln r(t + 1) + ln(t (t + 1) / (t + 1/2)^2)/2 to where the series is exact.
    """
    large = t >= _LARGE
    small = t[~large]
    shifted = np.where(large, t, t + _LARGE)
    found = np.asarray(sum(coefficient * shifted ** -(2 * j + 1.0) for j, coefficient in enumerate(_SERIES_OF_LOG_R)))
    if small.size:
        steps = np.log1p(-0.25 / (small[:, None] + np.arange(_LARGE) + 0.5) ** 2)
        first = np.where(small < 1, np.log(small * (small + 1) / (small + 0.5) ** 2), steps[:, 0])
        found[~large] += (steps[:, 1:].sum(axis=1) + first) / 2
    return found


def affinity_ball(first: Sequence[float] | Floats, second: Sequence[float] | Floats) -> arb:
    """Return an enclosure of BC(a, b) at the working precision of the ball arithmetic."""
    a, b = [arb(float(x)) for x in first], [arb(float(x)) for x in second]
    cells = sum((_log_affinity_ball(x, y) for x, y in zip(a, b, strict=True)), arb(0))
    return (cells - _log_affinity_ball(sum(a, arb(0)), sum(b, arb(0)))).exp()


def _log_affinity_ball(u: arb, v: arb) -> arb:
    return ((u + v) / 2).lgamma() - (u.lgamma() + v.lgamma()) / 2


def _hellinger_by_balls(a: Floats, b: Floats, precision: int = 192) -> float:
    """Return H to all digits of a float: the precision is doubled until they are certain."""
    if (a == b).all():
        return 0.0
    with ctx.workprec(precision):
        square = 1 - affinity_ball(a, b)
        if square > 0 and square.rel_accuracy_bits() >= 60:
            return float(square.sqrt().mid())
    return _hellinger_by_balls(a, b, 2 * precision)


def _pair(first: Parameters, second: Parameters) -> tuple[Floats, Floats]:
    one, two = (each if isinstance(each, Dirichlet) else Dirichlet(each) for each in (first, second))
    a, b = np.array(one.concentration), np.array(two.concentration)
    if len(a) != len(b):
        raise DeclarationError(
            f"Dirichlet distributions over {len(a)} and {len(b)} categories cannot be compared: the numbers must agree."
        )
    return a, b


def _probabilities(first: ArrayLike, second: ArrayLike) -> tuple[Floats, Floats]:
    p, q = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if p.shape != q.shape or not ((p >= 0).all() and (q >= 0).all()):
        raise DeclarationError("A divergence needs two lists of probabilities of 0 or more, for the same outcomes.")
    return p, q


def _log_one_minus_square(u: Floats, v: Floats, gap: Floats) -> Floats:
    """Return ln(1 - x^2) = ln(u v / c^2), x = gap/(u + v), by the form that cancels nothing."""
    x = gap / (u + v)
    near = np.log1p(-(np.minimum(x, 0.5) ** 2))
    return np.asarray(np.where(x < 0.5, near, np.log(u / (u + v)) + np.log(v / (u + v)) + np.log(4.0)))


def _log_affinities_large(u: Floats, v: Floats, gap: Floats) -> Floats:
    """Return D(u, v) for large arguments: -(c g(x) - ln(1 - x^2)/2)/2 + s(c) - (s(u) + s(v))/2, x = h/c.

    g(x) = ln(1 - x^2) + 2 x atanh x = sum_k x^(2k) / (k (2k - 1)), and s is the remainder of Stirling's formula.
    """
    centre = (u + v) / 2
    x = gap / (u + v)
    square, logs = x * x, _log_one_minus_square(u, v, gap)
    series = square * sum(square ** (k - 1) / (k * (2 * k - 1)) for k in range(1, 12))
    atanh = np.where(x < 0.1, np.arctanh(np.minimum(x, 0.1)), np.abs(np.log(v / u)) / 2)
    entropy = np.where(x < 0.1, series, logs + 2 * x * atanh)
    main = -0.5 * (centre * entropy - 0.5 * logs)
    return np.asarray(main + _stirling_difference(centre, logs, atanh))


def _stirling_difference(centre: Floats, logs: Floats, atanh: Floats) -> Floats:
    """Return s(c) - (s(u) + s(v))/2 without cancellation, s(z) = sum_j B_j z^-(2j + 1).

    c^-p - (u^-p + v^-p)/2 = -c^-p (e^A cosh B - 1), A = -(p/2) ln(1 - x^2), B = p atanh x, and
    e^A cosh B - 1 = expm1(A) + 2 e^A sinh(B/2)^2.
    """
    total = np.zeros_like(centre)
    for j, coefficient in enumerate(STIRLING):
        p = 2 * j + 1
        bracket = np.expm1(-p * logs / 2) + 2 * np.exp(-p * logs / 2) * np.sinh(p * atanh / 2) ** 2
        total = total - coefficient * centre ** (-p) * bracket
    return total
