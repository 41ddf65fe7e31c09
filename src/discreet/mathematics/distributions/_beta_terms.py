"""One term of a Beta distribution to full precision, at any number of records: log-Gammas would lose digits."""

import numpy as np
from scipy.special import betainc, betaincc, expit, gammaln, log_expit

from discreet._core.arrays import Floats
from discreet.mathematics import STIRLING


def beta_cdf(a: Floats, b: Floats, x: Floats) -> Floats:
    """Return I_x(a, b) through the smaller of both tails, which keeps its digits."""
    found, above = np.empty_like(x), x > a / (a + b)
    found[above] = 1 - betaincc(a[above], b[above], x[above])
    found[~above] = betainc(a[~above], b[~above], x[~above])
    return found


def log_term(a: Floats, total: Floats, at: Floats) -> Floats:
    """Return log x^a (1 - x)^(b - 1) Gamma(T) / (Gamma(a + 1) Gamma(b)) at logits, b = T - a, by Loader's form.

    With N = T - 1 and c = b - 1 it is s(N) - s(a) - s(c) - D(a, N x) - D(c, N (1 - x)) + log(N / (2 pi a c)) / 2, s the
    remainder of Stirling's formula and D(k, m) = k log(k/m) + m - k. Where c <= 0 all of it is small, or the plain form
    is: then the ratio of Gammas is of numbers that differ by b - 1 alone.
    """
    log_x, log_rest = log_expit(at), log_expit(-at)
    n, c = total - 1, total - 1 - a
    loader = c > 0
    safe, whole = np.where(loader, c, 1.0), np.where(loader, n, a + 1.0)
    found = _remainder(whole) - _remainder(a) - _remainder(safe)
    found -= _deviance(a, whole, at, log_x) + _deviance(safe, whole, -at, log_rest)
    found += 0.5 * np.log(whole / (2 * np.pi * a * safe))
    if loader.all():
        return np.asarray(found)
    plain = a * log_x + c * log_rest + gammaln(total) - gammaln(a + 1) - gammaln(c + 1)
    return np.where(loader, found, plain)


def _remainder(z: Floats) -> Floats:
    """Return log z! - (z + 1/2) log z + z - log(2 pi)/2."""
    large = z >= 16
    far, near = np.where(large, z, 16.0), np.where(large, 16.0, z)
    series, square = np.zeros_like(far), far**-2
    for coefficient in reversed(STIRLING):
        series = series * square + coefficient
    series /= far
    return np.where(large, series, gammaln(near + 1) - (near + 0.5) * np.log(near) + near - 0.5 * np.log(2 * np.pi))


def _deviance(k: Floats, n: Floats, at: Floats, log_x: Floats) -> Floats:
    """Return D(k, n x) = k log(k / (n x)) + n x - k at a logit, by a series where both are nearly equal.

    With e = (n x - k)/k and v = e/(2 + e) it is k (e v - 2 v^3 (1/3 + v^2/5 + ...)).
    """
    mean = n * expit(at)
    apart = (mean - k) / k
    near = np.abs(apart) < 0.1
    e = np.where(near, apart, 0.0)
    v = e / (2 + e)
    tail, square = np.zeros_like(v), v * v
    for j in reversed(range(8)):
        tail = tail * square + 1 / (2 * j + 3)
    series = e * v - 2 * square * v * tail
    return np.where(near, k * series, k * (np.log(k / n) - log_x) + mean - k)
