"""Rows with fewer records than their prior is worth: how many have the first of two levels, from a normal number.

There a probability hardly varies, and a count T varies as records do: T is Beta-binomial, nearly binomial. So x is not
taken for the probability, as in `sticks`, but for the count: where the deviation is small, by the quantile of T itself;
else by rounding mu + sd (x + k (x^2 - 1) / 6), k the skewness, with the weight P(t) / P(this rounds to t), as in
`couplings`. One step goes by P(t + 1) / P(t) = (N - t)(a + t) / ((t + 1)(b + N - t - 1)).
"""

import numpy as np
from scipy.special import betaln, gammaln, ndtr

from discreet.arrays import Floats
from discreet.reading.counts.couplings import rounded

_SMALL = 4.0  # standard deviations up to which quantiles are looked up
_SPAN, _MORE = 8.0, 40.0  # the search begins so many deviations and counts from the mean


def beta_binomial_spread(totals: Floats, a: float, b: float) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of T."""
    part = a / (a + b)
    variance = totals * part * (1 - part) * ((a + b + totals) / (a + b + 1))
    return totals * part, np.sqrt(variance)


def beta_binomial_count(x: Floats, totals: Floats, a: float, b: float) -> tuple[Floats, Floats]:
    """Return whole numbers between 0 and the totals with their log weights, from flat arrays."""
    mean, sd = beta_binomial_spread(totals, a, b)
    found, weights = np.zeros_like(totals), np.zeros_like(totals)
    small = sd <= _SMALL
    for turned in (False, True):  # from the nearer end, for digits
        place = np.flatnonzero(small & (totals > 0) & ((x > 0) == turned))
        if place.size:
            own = (b, a) if turned else (a, b)
            lower = _quantile(ndtr(-np.abs(x[place])), totals[place], *own)
            found[place] = totals[place] - lower if turned else lower
    if (large := ~small).any():
        n, deviation = totals[large], sd[large]
        skew = (b - a) * (a + b + 2 * n) / ((a + b) * (a + b + 2) * deviation)
        law = lambda t: log_chances(t, n, a, b)  # noqa: E731
        found[large], weights[large] = rounded(x[large], (mean[large], deviation, skew), (np.zeros_like(n), n), law)
    return found, weights


def _quantile(chances: Floats, totals: Floats, a: float, b: float) -> Floats:
    """Return the least t with P(T <= t) >= chance, chance at most 1/2."""
    mean, sd = beta_binomial_spread(totals, a, b)
    start = np.maximum(np.floor(mean - _SPAN * sd - _MORE), 0.0)
    wide = int((mean + 2 * sd - start).max()) + 3  # medians are below
    t = start + np.arange(wide)[:, None]
    left = np.maximum(totals - t, 0.0)
    ratios = left * (a + t) / ((t + 1) * np.maximum(b + left - 1, 1e-300))
    terms = np.concatenate([np.ones((1, len(totals))), ratios[:-1]]).cumprod(axis=0)
    below = np.exp(log_chances(start, totals, a, b)) * terms.cumsum(axis=0)
    return np.asarray(np.minimum(start + (below < chances).sum(axis=0), totals))


def log_chances(t: Floats, totals: Floats, a: float, b: float) -> Floats:
    """Return the log of the Beta-binomial probability."""
    ways = gammaln(totals + 1) - gammaln(t + 1) - gammaln(totals - t + 1)
    return np.asarray(ways + betaln(t + a, totals - t + b) - betaln(a, b))
