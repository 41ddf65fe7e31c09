"""How f records are split between a of s places and the others, as a function of one standard normal number.

The number T among the first a places is hypergeometric, free of any parameter. `whole` maps x to whole numbers: where
the deviation is small, by the quantile of T itself; else by rounding y = mu + sd (x + k (x^2 - 1) / 6), k the skewness
(Cornish and Fisher), with the weight P(t) / P(y rounds to t). `share` is the smooth stand-in mu + sd x.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, ndtr

from discreet.arrays import Floats

_SMALL = 4.0  # standard deviations up to which quantiles are looked up
_SPAN, _MORE = 7.0, 6.0  # the search begins so many deviations and counts below the mean: P < 1e-12


def share(x: Floats, places: Floats, here: Floats, records: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return mu + sd x within its bounds; a / s, f / s, and sd where the bounds leave it free."""
    total = np.maximum(places, 1e-9)
    part, load = here / total, records / total
    variance = records * part * (1 - part) * (places - records) / np.maximum(places - 1, 1e-9)
    sd = np.sqrt(np.maximum(variance, 0.0))
    free = records * part + sd * x
    found = np.clip(free, np.maximum(0.0, records + here - places), np.minimum(records, here))
    return found, part, load, sd * (found == free)


def whole(x: Floats, places: Floats, here: Floats, records: Floats) -> tuple[Floats, Floats]:
    """Return whole numbers with their log weights."""
    low = np.maximum(0.0, records + here - places)
    found, weights = low.copy(), np.zeros_like(low)
    open_ = np.minimum(records, here) > low
    if not open_.any():
        return found, weights
    s, a, f, z = places[open_], here[open_], records[open_], x[open_]
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
    chance, wide = ndtr(-np.abs(x)), int((f * own / s - start).max()) + 3
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
    skew = (s - 2 * a) * (s - 2 * f) / (s * s * sd)  # but for terms of 1 / s
    ends = np.maximum(0.0, f + a - s), np.minimum(f, a)
    return rounded(x, (f * a / s, sd, skew), ends, lambda t: _log_chances(t, s, a, f))


def rounded(
    x: Floats, moments: tuple[Floats, Floats, Floats], ends: tuple[Floats, Floats], log_law: Callable[[Floats], Floats]
) -> tuple[Floats, Floats]:
    """Return rounded numbers of a law with these moments (mean, deviation, skewness) and ends, with log weights."""
    (mean, sd, skew), (low, high) = moments, ends
    found = np.clip(np.rint(mean + sd * (x + skew * (x * x - 1) / 6)), low, high)
    first = np.where(found > low, _back((found - 0.5 - mean) / sd, skew), -np.inf)
    last = np.where(found < high, _back((found + 0.5 - mean) / sd, skew), np.inf)
    upper = found > mean  # from the nearer end, for digits
    mass = np.where(upper, ndtr(-first) - ndtr(-last), ndtr(last) - ndtr(first))
    return found, log_law(found) - np.log(np.maximum(mass, 1e-300))


def _back(y: Floats, skew: Floats) -> Floats:
    """Return x with x + k (x^2 - 1) / 6 = y; beyond the turning point the nearest there is."""
    c = y + skew / 6
    return np.asarray(2 * c / (1 + np.sqrt(np.maximum(1 + 2 / 3 * skew * c, 0.0))))
