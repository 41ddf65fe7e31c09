"""How f records are split between a of s cells and the others, as a function of one standard normal number.

The number T among the first a slots is hypergeometric, free of any parameter. `whole` maps x to whole numbers: where
the deviation is small, by the quantile of T itself; else by rounding y = mu + sd (x + k (x^2 - 1) / 6), k the skewness
(Cornish and Fisher), with the weight P(t) / P(y rounds to t). `share` is the smooth stand-in: y itself, or mu + sd x
where the deviation is small.

Variables that the graph calls independent may depend on each other in the records, and among many records x is then far
out: 20 where the correlation is .1 among 40,000. So y goes on in a straight line beyond 8.5, which keeps it rising, and
the masses of the normal distribution are computed as logarithms. Quantiles end at 8.5: there a deviation is four
records at most, and noise gives way before the graph does.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, log_ndtr, ndtr

from discreet._core.arrays import Floats

FAR = 8.5
"""Beyond, a normal number has a probability of 2e-17: sticks and quantiles end there, and couplings are straight."""

_SMALL = 4.0  # standard deviations up to which quantiles are looked up
_SPAN, _MORE = 7.0, 6.0  # the search begins this many deviations and counts below the mean: P < 1e-12


def share(x: Floats, slots: Floats, here: Floats, records: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return y within its bounds; a / s, f / s, and the slope of y by x where the bounds leave it free."""
    total = np.maximum(slots, 1e-9)
    part, load = here / total, records / total
    variance = records * part * (1 - part) * (slots - records) / np.maximum(slots - 1, 1e-9)
    sd = np.sqrt(np.maximum(variance, 0.0))
    skew = np.where(sd > _SMALL, _skewness(total, here, records, np.maximum(sd, _SMALL)), 0.0)
    inside = np.clip(x, -FAR, FAR)
    free = records * part + sd * _bent(x, skew)
    found = np.clip(free, np.maximum(0.0, records + here - slots), np.minimum(records, here))
    return found, part, load, sd * (1 + skew * inside / 3) * (found == free)


def whole(x: Floats, slots: Floats, here: Floats, records: Floats) -> tuple[Floats, Floats]:
    """Return whole numbers with their log weights."""
    low = np.maximum(0.0, records + here - slots)
    found, weights = low.copy(), np.zeros_like(low)
    open_ = np.minimum(records, here) > low
    if not open_.any():
        return found, weights
    s, a, f, z = slots[open_], here[open_], records[open_], x[open_]
    part = a / s
    sd = np.sqrt(f * part * (1 - part) * (s - f) / np.maximum(s - 1, 1))
    own, own_weights = np.zeros_like(s), np.zeros_like(s)
    if (small := sd <= _SMALL).any():
        own[small] = _quantile(z[small], s[small], a[small], f[small], sd[small])
    if (large := ~small).any():
        own[large], own_weights[large] = _rounded(z[large], s[large], a[large], f[large], sd[large])
    found[open_], weights[open_] = own, own_weights
    return found, weights


def _quantile(x: Floats, s: Floats, a: Floats, f: Floats, sd: Floats) -> Floats:
    """Return the least t with P(T <= t) >= Phi(x); from the upper end where x is positive, by T -> f - T."""
    turned = x > 0
    own = np.where(turned, s - a, a)
    low, high = np.maximum(0.0, f + own - s), np.minimum(f, own)
    start = np.clip(np.floor(f * own / s - _SPAN * sd - _MORE), low, high)
    chance, wide = ndtr(-np.minimum(np.abs(x), FAR)), int((f * own / s - start).max()) + 3
    logs = _log_chances(start, s, own, f)
    t = start + np.arange(wide)[:, None]
    ratios = np.maximum(own - t, 0) * np.maximum(f - t, 0) / ((t + 1) * np.maximum(s - own - f + t + 1, 1))
    terms = np.concatenate([np.ones((1, len(s))), ratios[:-1]]).cumprod(axis=0)
    below = np.exp(logs) * terms.cumsum(axis=0)
    found = np.minimum(start + (below < chance).sum(axis=0), high)
    return np.asarray(np.where(turned, f - found, found))


def _log_chances(t: Floats, s: Floats, a: Floats, f: Floats) -> Floats:
    """Return log C(a, t) C(s - a, f - t) / C(s, f)."""
    return np.asarray(
        gammaln(a + 1) - gammaln(t + 1) - gammaln(a - t + 1)
        + gammaln(s - a + 1) - gammaln(f - t + 1) - gammaln(s - a - f + t + 1)
        - gammaln(s + 1) + gammaln(f + 1) + gammaln(s - f + 1)
    )  # fmt: skip


def _rounded(x: Floats, s: Floats, a: Floats, f: Floats, sd: Floats) -> tuple[Floats, Floats]:
    skew = _skewness(s, a, f, sd)
    ends = np.maximum(0.0, f + a - s), np.minimum(f, a)
    return rounded(x, (f * a / s, sd, skew), ends, lambda t: _log_chances(t, s, a, f))


def rounded(
    x: Floats, moments: tuple[Floats, Floats, Floats], ends: tuple[Floats, Floats], log_prob: Callable[[Floats], Floats]
) -> tuple[Floats, Floats]:
    """Return rounded numbers with these moments (mean, deviation, skewness) and ends, with log weights."""
    (mean, sd, skew), (low, high) = moments, ends
    found = np.clip(np.rint(mean + sd * _bent(x, skew)), low, high)
    first = np.where(found > low, _straight((found - 0.5 - mean) / sd, skew), -np.inf)
    last = np.where(found < high, _straight((found + 0.5 - mean) / sd, skew), np.inf)
    upper = found > mean  # from the nearer end, for digits
    return found, log_prob(found) - _log_mass(np.where(upper, -last, first), np.where(upper, -first, last))


def _skewness(s: Floats, a: Floats, f: Floats, sd: Floats) -> Floats:
    return np.asarray((s - 2 * a) * (s - 2 * f) / (s * s * sd))  # but for terms of 1 / s


def _bent(x: Floats, skew: Floats) -> Floats:
    """Return x + k (x^2 - 1) / 6, from 8.5 on in a straight line; it rises where |k| < .35, so above 3 records."""
    inside = np.clip(x, -FAR, FAR)
    return np.asarray(inside + skew * (inside * inside - 1) / 6 + (x - inside) * (1 + skew * inside / 3))


def _straight(y: Floats, skew: Floats) -> Floats:
    """Return x with `_bent(x, k)` = y."""
    c = y + skew / 6
    x = 2 * c / (1 + np.sqrt(np.maximum(1 + 2 / 3 * skew * c, 0.0)))
    end = np.copysign(FAR, c)
    slope, over = 1 + skew * end / 3, c - end - skew * FAR * FAR / 6
    is_beyond = (slope > 0) & (over * end > 0)
    return np.asarray(np.where(is_beyond, end + over / np.where(is_beyond, slope, 1.0), x))


def normal(first: Floats, slots: Floats, here: Floats, records: Floats) -> tuple[Floats, Floats]:
    """Return x that puts about this many among the first slots, and the deviation there in records."""
    middle, _, _, sd = share(np.zeros_like(first), slots, here, records)
    wide = np.maximum(sd, _SMALL)
    skew = np.where(sd > _SMALL, _skewness(np.maximum(slots, 1e-9), here, records, wide), 0.0)
    mean = middle + sd * skew / 6
    return _straight((first - mean) / np.maximum(sd, 1e-9), skew), sd


def _log_mass(first: Floats, last: Floats) -> Floats:
    """Return log(Phi(last) - Phi(first)), with all digits where `first` is negative."""
    below, upto = log_ndtr(first), log_ndtr(last)
    return np.asarray(upto + np.log(np.maximum(-np.expm1(below - upto), 1e-300)))
