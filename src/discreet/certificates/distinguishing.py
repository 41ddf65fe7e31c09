"""How many draws from a posterior it takes to tell two neighbouring data sets apart.

Theorem 3 of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014) says that data at distance
rho >= 3 ln(1/delta) / (4 L n) can be told apart after n draws. Its inequalities run the other way: that is a condition
without which its own method fails, not one under which any method works. What holds is a lower bound: whoever decides
between two data sets with both errors at most delta needs

    n >= (1 - 2 delta) ln((1 - delta) / delta) / KL(posterior || neighbouring posterior)

draws. For by data processing n KL is at least the divergence of the two decisions, which is that of two coins with
chances 1 - delta and delta.
"""

from collections.abc import Sequence
from math import ceil, log

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma

from discreet.arrays import Floats
from discreet.errors import DeclarationError
from discreet.mathematics.digits import log_gamma_ratio


def neighbour_divergence(alpha: ArrayLike, beta: ArrayLike, power: float = 1.0) -> float:
    """Return the larger Kullback-Leibler divergence of Beta(s, t + tau) and Beta(s + tau, t), s = alpha, t = beta.

    KL = [ln Gamma(s + tau)/Gamma(s) - tau psi(s)] - [ln Gamma(t + tau)/Gamma(t) - tau psi(t + tau)], and the same with
    s and t exchanged. Neighbouring Dirichlet posteriors that differ in two cells have the same divergence.
    """
    s, t, tau = np.asarray(alpha, dtype=float), np.asarray(beta, dtype=float), float(power)
    return float(np.max([_divergence(s, t, tau), _divergence(t, s, tau)]))


def _divergence(s: Floats, t: Floats, tau: float) -> Floats:
    return np.asarray(log_gamma_ratio(s, tau) - tau * digamma(s) - log_gamma_ratio(t, tau) + tau * digamma(t + tau))


def largest_divergence(prior: Sequence[float], size: int, power: float = 1.0) -> float:
    """Return the largest divergence between neighbouring posteriors of `size` records.

    For two cells all counts are compared; for more, the two smallest priors with empty cells are the worst, as a
    divergence can only shrink when a draw is coarsened.
    """
    first, second = sorted(float(value) for value in prior)[:2]
    if len(prior) > 2:
        return neighbour_divergence(first, second, power)
    counts = np.arange(size)
    return neighbour_divergence(first + counts * power, second + (size - 1 - counts) * power, power)


def draws_needed(divergence: float, error: float) -> int:
    """Return how many draws, at least, give both errors of the best test at most `error`.

    >>> draws_needed(2.0e-6, 0.05)
    1324998
    """
    if not 0 < error < 0.5 or divergence <= 0:
        raise DeclarationError("The error must lie between 0 and 1/2, and the divergence must be above 0.")
    return ceil((1 - 2 * error) * log((1 - error) / error) / divergence)


def published_distance(constant: float, draws: int, error: float) -> float:
    """Return 3 ln(1/delta) / (4 L n), the distance from which theorem 3 claims that data sets can be told apart."""
    return 3 * log(1 / error) / (4 * constant * draws)
