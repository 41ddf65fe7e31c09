"""An exponential of a distance as a mixture of products: e^(-c sqrt(1 - b)) = sum_k p_k b^k, all p_k > 0.

p is the discrete stable distribution of order 1/2: N is Poisson with the random mean c^2 / (2 Z^2), Z standard normal,
because E e^(-s (1 - b)) over that mean s is e^(-c sqrt(1 - b)). Differentiating twice gives

    p_0 = e^-c,   p_1 = (c/2) e^-c,   (k + 2)(k + 1) p_{k+2} = (k + 1)(k + 1/2) p_{k+1} + (c^2/4) p_k,

whose terms are positive, so nothing cancels. In closed form p_k = sqrt(2c/pi) (c/2)^k K_{k-1/2}(c) / k!, which for
large k is evaluated by Debye's expansion of the Bessel function. The recurrence also says that p falls slowly,
p_{k+1} >= p_k (1 - 3/(2 (k + 1))): what is known at a few k bounds all between them, and k p_k <= 1/2.
"""

from fractions import Fraction

import numpy as np

from discreet._core.arrays import Counts, Floats

LOG_ERROR = 2e-13  # of ln p_k, and 8 ulp of c beside it; tested against balls
_SMALL = 128  # below, by the recurrence; from here on, by Debye's expansion
_TERMS = 6
_STIRLING_AT_HALF = (1 / 24, -7 / 2880, 31 / 40320, -127 / 430080)  # -ln of Gamma(v + 1/2) e^v v^-v / sqrt(2 pi)
_STEPS = 1024  # beyond this k, p is known at every k/1024-th number


def _debye_polynomials(terms: int) -> list[list[float]]:
    """Return the coefficients of U_1, U_2, ..., U_j(t) = t^j (polynomial in t^2 of degree j), highest first.

    U_{j+1} = t^2 (1 - t^2) U_j'/2 + (1/8) integral_0^t (1 - 5 s^2) U_j(s) ds.
    """
    found, last = [], {0: Fraction(1)}
    for _ in range(terms):
        new: dict[int, Fraction] = {}
        for power, value in last.items():
            at_one = value * power / 2 + value / (8 * (power + 1))
            at_three = -value * power / 2 - 5 * value / (8 * (power + 3))
            new[power + 1] = new.get(power + 1, Fraction(0)) + at_one
            new[power + 3] = new.get(power + 3, Fraction(0)) + at_three
        last = new
        found.append([float(value) for _, value in sorted(last.items(), reverse=True)])
    return found


_DEBYE = _debye_polynomials(_TERMS)


def log_probabilities(scale: float, numbers: Counts) -> Floats:
    """Return ln p_k for rising numbers k, where e^(-c sqrt(1 - b)) = sum_k p_k b^k.

    >>> log_probabilities(2.0, np.array([0, 1])).tolist()
    [-2.0, -2.0]
    """
    few = int(np.searchsorted(numbers, _SMALL))
    large = _log_probabilities_large(scale, numbers[few:].astype(float))
    return np.concatenate([_log_probabilities_small(scale)[numbers[:few]], large])


def log_densities(scale: float, numbers: Floats) -> Floats:
    """Return ln p_k by its closed form for any real k from 128 on, between whole numbers too."""
    return _log_probabilities_large(scale, numbers)


def _log_probabilities_small(scale: float) -> Floats:
    """Return ln p_k for k = 0, ..., 127: ratios of neighbours by the recurrence."""
    square, ratio, ratios = scale * scale / 4, scale / 2, [1.0]
    for k in range(_SMALL - 1):
        ratios.append(ratio)
        ratio = ((k + 1) * (k + 0.5) + square / ratio) / ((k + 2) * (k + 1))
    return np.asarray(np.cumsum(np.log(ratios)) - scale)


def _log_probabilities_large(scale: float, k: Floats) -> Floats:
    """Return ln p_k by Debye's expansion.

    With v = k - 1/2, w = sqrt(v^2 + c^2) and d = w - v = c^2/(w + v),
    p_k = c / (2 k sqrt(pi w)) (1 + d/(2v))^v e^-d (1 + 1/(24 v) - ...) sum_j (-1)^j U_j(v/w) / v^j.
    """
    v = k - 0.5
    w = np.hypot(v, scale)
    d = scale * scale / (w + v)
    gamma = np.polyval(_STIRLING_AT_HALF[::-1], 1 / (v * v)) / v
    bessel = np.zeros_like(v)
    for u in reversed(_DEBYE):  # U_j(v/w)/v^j = polynomial((v/w)^2)/w^j
        bessel = (np.polyval(u, (v / w) ** 2) + bessel) / -w
    main = v * np.log1p(d / (2 * v)) - d
    return np.asarray(main + np.log(scale / (2 * k)) - 0.5 * np.log(np.pi * w) + gamma + np.log1p(bessel))


def chord_weights(scale: float, nodes: Counts) -> Floats:
    """Return ln O_j, rounded up, such that e^(-c sqrt(1 - b)) <= sum_j O_j b^(K_j) for 0 <= b <= 1.

    b^k is convex in k, so between two nodes it lies below its chord, and beyond the last node K below b^K. Sharing each
    p_k between the nodes beside it in this way gives O_j = E[hat_j(N)]. The nodes begin with 0 and rise.
    """
    first = _grid(nodes)
    last = np.append(first[1:], nodes[-1]) - 1
    at_first, long = log_probabilities(scale, first), np.flatnonzero(last > first)
    at_last = at_first.copy()
    at_last[long] = log_probabilities(scale, last[long])
    slack = 1.6 * (last - first) / np.maximum(first, 1)  # a number of the block has at most e^slack times the last's p
    count = np.log(last - first + 1.0)
    below = float(np.exp(at_first - slack + count).sum())
    tail = max(0.0, 1 - below) + 1e-9
    return _shared(nodes, (first + last) / 2, at_last + slack + count, tail)


def _grid(nodes: Counts) -> Counts:
    """Return where blocks of numbers begin: single ones up to 1024, then of length k/1024, each between two nodes."""
    if nodes[-1] <= _STEPS:
        return np.arange(nodes[-1])
    starts = [_STEPS]
    while starts[-1] < nodes[-1]:
        starts.append(starts[-1] + starts[-1] // _STEPS)
    return np.unique(np.concatenate([np.arange(_STEPS), starts[:-1], nodes[:-1]]))


def _shared(nodes: Counts, middles: Floats, logs: Floats, tail: float) -> Floats:
    """Share the mass of blocks between the nodes on either side; the mean of a linear share is that of the middle."""
    right = np.searchsorted(nodes, middles, side="right")
    share = (middles - nodes[right - 1]) / (nodes[right] - nodes[right - 1])
    starts = np.searchsorted(right, np.arange(1, len(nodes)))
    with np.errstate(divide="ignore"):
        to_left = np.logaddexp.reduceat(logs + np.log1p(-share), starts)
        to_right = np.logaddexp.reduceat(logs + np.log(share), starts)
    return np.asarray(np.logaddexp(np.append(to_left, np.log(tail)), np.append(-np.inf, to_right)))
