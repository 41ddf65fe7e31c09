"""The utility bounds of Zhang, Rubinstein and Dimitrakakis (2016) for algorithm 1: as printed, and as they hold.

A network has |I| variables and m rows of probabilities (pairs of a variable i and a state j of its parents). Row (i, j)
has the prior Beta(alpha, beta) and the counts (da, db); algorithm 1 adds Laplace noise of scale b = 2 |I| / epsilon to
both and cuts them to [0, n], which gives Z. The loss is KL(Beta(alpha + da, beta + db) || Beta(alpha + Z)).
"""

from collections.abc import Sequence
from functools import lru_cache
from math import ceil, exp, expm1, log, log1p, sqrt

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import ArrayLike
from scipy.special import betaln, digamma, gammaln

from discreet._core.arrays import Floats

Pair = tuple[float, float]

_NODES = 100  # Gauss-Legendre nodes on each side of the true count


def noise_bound(variables: int, rows: int, epsilon: float, delta: float) -> float:
    """Return proposition 1's bound on the largest noise, (2 |I| / epsilon) ln(2 m / delta).

    >>> round(noise_bound(variables=17, rows=33, epsilon=1, delta=0.05), 3)
    244.303
    """
    return 2 * variables / epsilon * log(2 * rows / delta)


def noise_quantile(variables: int, rows: int, epsilon: float, delta: float) -> float:
    """Return the exact 1 - delta quantile of the largest of 2 m noises, -b ln(1 - (1 - delta)^(1 / 2m)).

    >>> round(noise_quantile(variables=17, rows=33, epsilon=1, delta=0.05), 3)
    243.448
    """
    return -2 * variables / epsilon * log(_tail(rows, delta))


def integer_noise_quantile(variables: int, rows: int, epsilon: float, delta: float) -> int:
    """Return the same quantile for the integer noise that the library draws: P(|U| > k) = 2 p^(k+1) / (1 + p)."""
    rate = epsilon / (2 * variables)
    return max(0, ceil(-log(_tail(rows, delta) * (1 + exp(-rate)) / 2) / rate - 1))


def noise_exceedance(variables: int, rows: int, epsilon: float, threshold: float) -> float:
    """Return P(largest of 2 m noises > threshold) = 1 - (1 - e^(-threshold / b))^(2m)."""
    return -expm1(2 * rows * log1p(-exp(-threshold * epsilon / (2 * variables))))


def published_truncated_mean(count: float, size: float, scale: float) -> float:
    """Return E[Z] as printed in appendix A.2: da + (b/2) e^(-da/b) + ((n - b)/2) e^((da - n)/b).

    >>> round(published_truncated_mean(45, 50, 10), 2)
    57.19
    """
    return count + scale / 2 * exp(-count / scale) + (size - scale) / 2 * exp((count - size) / scale)


def truncated_mean(count: float, size: float, scale: float) -> float:
    """Return E[Z] = da + (b/2) e^(-da/b) - (b/2) e^((da - n)/b): the integral of P(Z > z) holds the atom at n already.

    >>> round(truncated_mean(45, 50, 10), 4)
    42.0229
    """
    return count + scale / 2 * (exp(-count / scale) - exp((count - size) / scale))


def divergence(prior: Pair, counts: Pair, noisy_first: ArrayLike, noisy_second: ArrayLike) -> Floats:
    """Return KL(Beta(a, b) || Beta(a', b')), a = alpha + da, a' = alpha + Z1 and so on; arrays of Z are allowed.

    KL = ln B(a', b') - ln B(a, b) + (a - a') psi(a) + (b - b') psi(b) + (a' - a + b' - b) psi(a + b).
    """
    a, b = prior[0] + counts[0], prior[1] + counts[1]
    first, second = prior[0] + np.asarray(noisy_first, float), prior[1] + np.asarray(noisy_second, float)
    weights = (a - first) * (digamma(a) - digamma(a + b)) + (b - second) * (digamma(b) - digamma(a + b))
    return np.asarray(betaln(first, second) - betaln(a, b) + weights)


def published_divergence(prior: Pair, counts: Pair, noisy_first: ArrayLike, noisy_second: ArrayLike) -> Floats:
    """Return the function f_ij that the proofs of lemmas A.3 and A.4 work with in place of the divergence.

    f = ln Gamma(a) / Gamma(a') + (a - a') psi(a), and the same for b: the terms of a + b are missing, and the
    logarithms of the Gamma functions have the opposite sign.
    """
    total = np.zeros(np.broadcast(noisy_first, noisy_second).shape)
    for shape, count, noisy in zip(prior, counts, (noisy_first, noisy_second), strict=True):
        own, other = shape + count, shape + np.asarray(noisy, float)
        total = total + gammaln(own) - gammaln(other) + (own - other) * digamma(own)
    return np.asarray(total)


def published_divergence_bound(prior: Pair, counts: Pair, noisy_first: ArrayLike, noisy_second: ArrayLike) -> Floats:
    """Return the right side of lemma A.3: sum over both parts of da ln(alpha + da) - Z ln(alpha + da - 1)."""
    total = np.zeros(np.broadcast(noisy_first, noisy_second).shape)
    for shape, count, noisy in zip(prior, counts, (noisy_first, noisy_second), strict=True):
        total = total + count * log(shape + count) - np.asarray(noisy, float) * log(shape + count - 1)
    return np.asarray(total)


def published_last_step(shape: float, count: float) -> Pair:
    """Return both sides of the last step in the proof of lemma A.3, for one part; what depends on Z is the same.

    (alpha + 2 da) ln(alpha + da) - alpha ln alpha - da  <=  da ln(alpha + da).
    """
    total = shape + count
    return (shape + 2 * count) * log(total) - shape * log(shape) - count, count * log(total)


def published_ranges(prior: Pair, size: float) -> dict[str, float]:
    """Return the three constants c_ij that theorem 1, lemma A.4 and the proof of lemma A.4 print."""
    a, b, times = prior[0] + size + 1, prior[1] + size + 1, 2 * size + 1
    return {
        "theorem 1": times * log(a + b),
        "lemma A.4": times * (log(a) + b),
        "proof of lemma A.4": times * (log(a) + log(b)),
    }


def divergence_range(prior: Pair, counts: Pair, size: float) -> float:
    """Return the largest divergence over [0, n]^2, which is how far it can move when one row's noise changes.

    The divergence is convex in (a', b'), a logarithm of a Beta function and linear terms, so a corner is the largest.

    >>> round(divergence_range((2, 2), (50, 0), 50), 4)
    175.9407
    """
    first, second = np.array([0, 0, size, size]), np.array([0, size, 0, size])
    return float(divergence(prior, counts, first, second).max())


def published_deviation(ranges: Sequence[float], delta: float) -> float:
    """Return theorem 1's deviation as printed, sqrt(-(1/2) ln delta sum c)."""
    return sqrt(-0.5 * log(delta) * sum(ranges))


def deviation(ranges: Sequence[float], delta: float) -> float:
    """Return the deviation that McDiarmid's inequality gives, sqrt(-(1/2) ln delta sum c^2).

    P[KL >= E KL + deviation] <= delta, with c from `divergence_range`; the sum runs over all rows of the network.
    """
    return sqrt(-0.5 * log(delta) * sum(c * c for c in ranges))


def published_mean_bound(prior: Pair, counts: Pair, size: float) -> float:
    """Return theorem 1's bound on the mean of one row, n ln((alpha + da)(beta + db))."""
    return size * log((prior[0] + counts[0]) * (prior[1] + counts[1]))


def published_refined_bound(prior: Pair, size: float, scale: float) -> float:
    """Return theorem 1's refined bound for n >= b, ln[(alpha + n + 1)(beta + n + 1)] (n/2) e^(-n/b)."""
    return log((prior[0] + size + 1) * (prior[1] + size + 1)) * size / 2 * exp(-size / scale)


def truncated_noise(count: float, size: float, scale: float) -> tuple[Floats, Floats]:
    """Return points and probabilities of Z = count + Laplace noise, cut to [0, n]: two atoms, and quadrature between.

    >>> points, chances = truncated_noise(45, 50, 10)
    >>> round(float(chances.sum()), 12), round(float(points @ chances), 4)
    (1.0, 42.0229)
    """
    nodes, weights = leggauss(_NODES)
    points, chances = [0.0, size], [exp(-count / scale) / 2, exp((count - size) / scale) / 2]
    for low, high in ((0.0, count), (count, size)):
        places = (low + high) / 2 + (high - low) / 2 * nodes
        points.extend(places)
        chances.extend((high - low) / 2 * weights * np.exp(-np.abs(places - count) / scale) / (2 * scale))
    return np.array(points), np.array(chances)


@lru_cache(maxsize=256)  # many rows of a network are alike
def mean_divergence(prior: Pair, counts: Pair, size: float, scale: float) -> float:
    """Return E KL of one row, by quadrature."""
    (first, p), (second, q) = (truncated_noise(count, size, scale) for count in counts)
    return float(p @ divergence(prior, counts, first[:, None], second[None, :]) @ q)


def divergence_exceedance(prior: Pair, counts: Pair, size: float, scale: float, threshold: float) -> float:
    """Return P(KL >= threshold) of one row, by quadrature."""
    (first, p), (second, q) = (truncated_noise(count, size, scale) for count in counts)
    return float(p @ (divergence(prior, counts, first[:, None], second[None, :]) >= threshold) @ q)


def _tail(rows: int, delta: float) -> float:
    """Return 1 - (1 - delta)^(1 / 2m), the probability that may lie beyond in each of 2 m independent noises."""
    return -expm1(log1p(-delta) / (2 * rows))
