"""Kullback-Leibler divergences of neighbouring posteriors: Betas and Dirichlets, Gammas, normals."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from discreet.arrays import Floats
from discreet.errors import DeclarationError
from discreet.mathematics.digits import log_gamma_ratio
from discreet.mathematics.distributions.certified import CertifiedDistribution, CertifiedGamma, CertifiedNormal

_MANY = 100_000  # up to this many counts, all are compared; beyond, those near both ends


def neighbour_divergence(alpha: ArrayLike, beta: ArrayLike, power: float = 1.0) -> float:
    """Return the larger Kullback-Leibler divergence of Beta(s, t + tau) and Beta(s + tau, t), s = alpha, t = beta.

    KL = [ln Gamma(s + tau)/Gamma(s) - tau psi(s)] - [ln Gamma(t + tau)/Gamma(t) - tau psi(t + tau)], and the same with
    s and t exchanged. Neighbouring Dirichlet posteriors that differ in two cells have the same divergence.
    """
    s, t, tau = np.asarray(alpha, dtype=float), np.asarray(beta, dtype=float), float(power)
    return float(np.max([_divergence(s, t, tau), _divergence(t, s, tau)]))


def _divergence(s: Floats, t: Floats, tau: float) -> Floats:
    return np.asarray(log_gamma_ratio(s, tau) - tau * digamma(s) - log_gamma_ratio(t, tau) + tau * digamma(t + tau))


def largest_divergence(prior: Sequence[float], size: int, power: float = 1.0, tries: int = 1) -> float:
    """Return the largest divergence between neighbouring posteriors of `size` records.

    For two cells all counts are compared, where a record may hold several `tries`; for more, the two smallest priors
    with empty cells are the worst, as a divergence can only shrink when a draw is coarsened.
    """
    first, second = sorted(float(value) for value in prior)[:2]
    if len(prior) > 2:
        return neighbour_divergence(first, second, power)
    rest = (size - 1) * tries
    counts = np.arange(rest + 1) if rest < _MANY else np.unique(np.geomspace(1, rest + 1, _MANY).astype(np.int64)) - 1
    counts = np.unique([*counts, *(rest - counts)])
    return neighbour_divergence(first + counts * power, second + (rest - counts) * power, tries * power)


def law_divergence(one: CertifiedDistribution, two: CertifiedDistribution) -> float:
    """Return the larger Kullback-Leibler divergence, both ways, of two Gamma laws, or two normal laws of one variance.

    Gamma: (a - c) psi(a) - ln Gamma(a)/Gamma(c) + c ln(b/d) + a (d - b) / b for shapes a, c and rates b, d. Normal:
    half the squared distance of the means, in standard deviations.
    """
    if isinstance(one, CertifiedNormal) and isinstance(two, CertifiedNormal) and one.variance == two.variance:
        return float((one.mean - two.mean) ** 2 / one.variance) / 2
    if not (isinstance(one, CertifiedGamma) and isinstance(two, CertifiedGamma)):
        raise DeclarationError(
            "The divergence is known for two Gamma distributions, or two normal distributions with the same variance."
        )
    return max(_gamma_divergence(one, two), _gamma_divergence(two, one))


def _gamma_divergence(one: CertifiedGamma, two: CertifiedGamma) -> float:
    a, c = float(one.shape), float(two.shape)
    shapes = float(log_gamma_ratio(np.asarray(a), c - a)) if c >= a else -float(log_gamma_ratio(np.asarray(c), a - c))
    gap = float((two.rate - one.rate) / one.rate)
    return float((a - c) * digamma(a) + shapes - c * np.log1p(gap) + a * gap)
