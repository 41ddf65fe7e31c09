"""The prior of counts under a Dirichlet prior of their probabilities: a factor for every cell, and one for the total.

    P(k) = n! Gamma(A) / Gamma(n + A)  prod_i P_a_i(k_i),    P_a(k) = Gamma(a + k) / (k! Gamma(a)),    A = sum_i a_i.

Whoever needs the prior of a cell, of a row or of a table takes it from here.
"""

import numpy as np
from scipy.special import gammaln

from discreet._core.arrays import Counts, Floats
from discreet.mathematics._digits import log_gamma_ratio


def log_prior(alpha: float | Floats, counts: Counts | Floats) -> Floats:
    """Return log P_a(k) = log Gamma(a + k) / (k! Gamma(a)), which is 0 throughout for a = 1."""
    if np.all(alpha == 1):
        return np.zeros(np.broadcast(alpha, counts).shape)
    return np.asarray(log_gamma_ratio(counts + 1.0, alpha - 1) - gammaln(alpha))


def log_prior_windows(alpha: Floats, first: Counts, width: int) -> Floats:
    """Return log P_a(k) at k = first, ..., first + width - 1 for each cell: one anchor, then sums of log1p.

    P_a(k + 1) / P_a(k) = (a + k) / (k + 1) = 1 + (a - 1) / (k + 1).

    >>> log_prior_windows(np.array([1.0, 2.0]), np.array([5, 0]), 3)
    array([[0.        , 0.        , 0.        ],
           [0.        , 0.69314718, 1.09861229]])
    """
    if (alpha == 1).all():
        return np.zeros((len(alpha), width))
    logs = np.log1p((alpha[:, None] - 1) / np.maximum(first[:, None] + np.arange(width), 1))
    logs[:, 0] = log_prior(alpha, first)
    return np.asarray(np.cumsum(logs, axis=1, out=logs))


def log_prior_constant(alpha: float | Floats, totals: int | Counts | Floats) -> Floats:
    """Return log t! Gamma(a) / Gamma(t + a) for some totals, which makes the prior weights of a total sum to one."""
    return np.asarray(gammaln(alpha) - log_gamma_ratio(totals + 1.0, alpha - 1))
