"""Coefficients of a regression given its exact moments: what a reader without noise would know.

With A = X'X, b = X'y, r = y'y - b'A^-1 b, l the precision of the prior and f = (n - d)/2, as in `linear_regression`,

    w | sigma ~ N((A + sigma^2 l I)^-1 b, sigma^2 (A + sigma^2 l I)^-1),
    log p(sigma^2 | A, b, r) = -(a + 1 + f) log sigma^2 - (c + r/2) / sigma^2 - log |A + sigma^2 l I| / 2
                               - (b'A^-1 b - b'(A + sigma^2 l I)^-1 b) / (2 sigma^2) + const,

the first two terms from sigma^2 ~ InverseGamma(a, c) and r ~ sigma^2 chi-square(n - d), the others from b given A. So a
coefficient is a mixture of normal distributions over a grid of sigma^2; a known sigma is a grid of one point.
"""

import numpy as np
from scipy.special import logsumexp

from discreet._core.arrays import Floats
from discreet.mathematics import Grouped
from discreet.mathematics.distributions import NormalMixture
from discreet.regression._model import Regression
from discreet.regression._moments import Moments

_NODES, _REACH = 161, 10.0  # of the grid of log sigma^2, and how many standard deviations it reaches


def exact_coefficients(model: Regression, moments: Moments) -> list[NormalMixture]:
    """Return the distribution of every coefficient, in the units of the table."""
    values, vectors = np.linalg.eigh(moments.squares)
    turned, values = vectors.T @ moments.products, np.maximum(values, 0.0)
    variances, weights = _noise(model, values, turned, float(moments.total), float(moments.count))
    firm = values + variances[:, None] * float(model.prior_precision)
    centres = (turned / firm) @ vectors.T
    jacobian = model.in_units(np.eye(model.dimension)) - model.in_units(np.zeros(model.dimension))
    spread = np.einsum("ik,nk,jk->nij", vectors, variances[:, None] / firm, vectors)
    deviations = np.sqrt(np.einsum("ik,nij,jk->nk", jacobian, spread, jacobian, optimize=True))
    grouped = Grouped(weights, len(weights))
    shown = model.in_units(centres)
    return [NormalMixture(shown[:, each], deviations[:, each], grouped) for each in range(shown.shape[1])]


def _noise(model: Regression, values: Floats, turned: Floats, total: float, count: float) -> tuple[Floats, Floats]:
    """Return values of sigma^2 and their probabilities; `turned` is b in the directions of the eigenvalues of A."""
    if (prior := model.noise_prior) is None:
        return np.array([model.typical_variance]), np.ones(1)
    a, c, f = float(prior.shape), float(prior.scale), max(0.0, (count - model.dimension) / 2)
    explained = np.where(values > 0, np.square(turned) / np.where(values > 0, values, 1.0), 0.0)
    rest = max(0.0, total - float(explained.sum())) if f else 0.0
    guess = np.log((c + rest / 2) / (a + f))
    logs = guess + np.linspace(-_REACH, _REACH, _NODES) / np.sqrt(a + f)
    variances = np.exp(logs)
    firm = values + variances[:, None] * float(model.prior_precision)
    left = explained.sum() - (np.square(turned) / firm).sum(axis=1)
    heights = -(a + f) * logs - (c + (rest + left) / 2) / variances - np.log(firm).sum(axis=1) / 2
    return variances, np.exp(heights - logsumexp(heights))
