"""How many of N records have the first of several levels, as a function of one standard normal number.

With a probability that is Beta(a, b) and integrated out, that number T is Beta-binomial. `whole` maps x to whole
numbers; `share` is a smooth stand-in, T ~ N r with r the quantile of Beta(a, b) at Phi(x), for the slopes that a
sampler follows. For a = 1 the quantile of T itself has a closed form,

    P(T >= t) = g(N - t) / g(N),   g(m) = (m + 1) (m + 2) ... (m + b) = Gamma(m + 1 + b) / Gamma(m + 1),

and by symmetry for b = 1; then x standard normal gives T its distribution exactly. Else t = floor((N + 1) r), and the
weight P(t) / P(Beta(a, b) in [t, t + 1] / (N + 1)) makes up for the difference; but in rows that the prior outweighs
these weights would grow without bounds, and x stands for the count itself (`beta_binomial_count`).

In rows with fewer records than their prior is worth a probability hardly varies, and a count T varies as records do: T
is Beta-binomial, nearly binomial. So x is not taken for the probability, as in `sticks`, but for the count: where the
deviation is small, by the quantile of T itself; else by rounding mu + sd (x + k (x^2 - 1) / 6), k the skewness, with
the weight P(t) / P(this rounds to t), as in `couplings`. One step goes by P(t + 1) / P(t) = (N - t)(a + t) / ((t + 1)(b
+ N - t - 1)).

Rows may share one Beta distribution, or each have one; several are then computed at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincc, betainccinv, betaincinv, betaln, gammaln, log_ndtr, ndtr

from discreet._core.arrays import Floats
from discreet.inference._couplings import FAR, rounded
from discreet.mathematics import log_gamma_ratio

_SMALL = 4.0  # standard deviations up to which quantiles are looked up
_SPAN, _MORE = 8.0, 40.0  # the search begins this many deviations and counts from the mean


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
        index = np.flatnonzero(small & (totals > 0) & ((x > 0) == turned))
        if index.size:
            own = (b, a) if turned else (a, b)
            lower = _quantile(ndtr(-np.abs(x[index])), totals[index], *own)
            found[index] = totals[index] - lower if turned else lower
    if (large := ~small).any():
        n, deviation = totals[large], sd[large]
        skew = (b - a) * (a + b + 2 * n) / ((a + b) * (a + b + 2) * deviation)
        distribution = lambda t: log_chances(t, n, a, b)  # noqa: E731
        found[large], weights[large] = rounded(
            x[large], (mean[large], deviation, skew), (np.zeros_like(n), n), distribution
        )
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


_STEP = 1 / 64  # step of the grid on which Beta quantiles are tabulated
_PLAIN = 12  # up to this whole b, Gamma(m + 1 + b) / Gamma(m + 1) is multiplied out
_TINY = 1e-280
_OFF = 1e-6  # relative error of a probability above which an inverse has failed
_HALVINGS = 64


@dataclass(frozen=True)
class Stick:
    """The first part of Beta(a, b), as a function of a normal number."""

    a: float
    b: float

    def whole(self, totals: Floats, x: Floats) -> tuple[Floats, Floats | float]:
        """Return whole numbers between 0 and the totals, and their log weights."""
        if self.a == 1:
            return totals - _least(ndtr(-x), totals, self.b), 0.0
        if self.b == 1:
            return _least(ndtr(x), totals, self.a), 0.0
        strong = self._outweighs(totals)
        if strong.any():
            found, weights = np.empty_like(totals), np.empty_like(totals)
            for index, own in ((strong, self._whole_of_few), (~strong, self._whole_of_many)):
                found[index], weights[index] = own(totals[index], x[index])
            return found, weights
        return self._whole_of_many(totals, x)

    def _outweighs(self, totals: Floats) -> NDArray[np.bool_]:
        """Tell in which rows the prior is worth more than half as many records as there are."""
        return np.asarray(self.a + self.b > totals / 2)

    def _whole_of_few(self, totals: Floats, x: Floats) -> tuple[Floats, Floats]:
        return beta_binomial_count(x, totals, self.a, self.b)

    def _whole_of_many(self, totals: Floats, x: Floats) -> tuple[Floats, Floats]:
        logs, rests = self._table(x)
        low = np.floor((totals + 1) * np.exp(logs))
        high = totals - np.floor((totals + 1) * np.exp(rests))
        found = np.clip(np.where(logs < rests, low, high), 0, totals)
        return found, self._log_weights(found, totals)

    def share(self, x: Floats, totals: Floats) -> tuple[Floats, Floats]:
        """Return r and its derivative by x, T ~ N r."""
        if self.a == 1:
            rest, slope = _power(-x, self.b)
            return 1 - rest, slope
        if self.b == 1:
            return _power(x, self.a)
        logs, rests = self._table(x)
        r, density = np.exp(logs), (self.a - 1) * logs + (self.b - 1) * rests - betaln(self.a, self.b)
        slope = np.exp(np.minimum(-0.5 * x * x - 0.5 * np.log(2 * np.pi) - density, 40.0))
        if not (strong := self._outweighs(totals)).any():
            return r, slope
        records = np.maximum(totals, 1.0)
        sd = beta_binomial_spread(records, self.a, self.b)[1] / records
        few = np.clip(self.a / (self.a + self.b) + sd * x, 0.0, 1.0)
        return np.where(strong, few, r), np.where(strong, sd * ((few > 0) & (few < 1)), slope)

    def normal(self, share: Floats, totals: float) -> Floats:
        """Return x for a share of about this many records."""
        from scipy.special import ndtri

        if self.a != 1 and self.b != 1 and self._outweighs(np.array(totals)):
            mean, sd = beta_binomial_spread(np.array(max(totals, 1.0)), self.a, self.b)
            return np.asarray(np.clip((share * max(totals, 1.0) - mean) / sd, -4.0, 4.0))
        inside = np.clip(share, 1e-300, 1 - 1e-16)
        low, high = betainc(self.a, self.b, inside), betainc(self.b, self.a, 1 - inside)
        return np.clip(np.where(low < high, ndtri(low), -ndtri(high)), -FAR, FAR)

    def _log_weights(self, counts: Floats, totals: Floats) -> Floats:
        """Return log of P(t) over the mass of its bin, from the end that is nearer."""
        a, b, rest = self.a, self.b, totals - counts
        logs = gammaln(totals + 1) - gammaln(counts + 1) - gammaln(rest + 1)
        logs = logs + betaln(counts + a, rest + b) - betaln(a, b)
        ends = totals + 1
        from_below = betainc(a, b, (counts + 1) / ends) - betainc(a, b, counts / ends)
        from_above = betainc(b, a, (rest + 1) / ends) - betainc(b, a, rest / ends)
        return np.asarray(logs - np.log(np.maximum(np.where(counts < rest, from_below, from_above), 1e-300)))

    def _table(self, x: Floats) -> tuple[Floats, Floats]:
        """Return log r and log (1 - r)."""
        inside = np.clip(x, -FAR, FAR)
        return self._tables[0](inside), self._tables[1](inside)

    @cached_property
    def _tables(self) -> "tuple[_Interpolated, _Interpolated]":
        return _log_quantiles(self.a, self.b, 1), _log_quantiles(self.b, self.a, -1)


def _power(x: Floats, b: float) -> tuple[Floats, Floats]:
    """Return Phi(x)^(1/b) and phi(x) Phi(x)^(1/b) / (b Phi(x))."""
    logs = log_ndtr(x)
    found = np.exp(logs / b)
    return found, np.exp(-0.5 * x * x - 0.5 * np.log(2 * np.pi) - logs) * found / b


def _least(chances: Floats, totals: Floats, b: float) -> Floats:
    """Return the least m >= 0 with g(m) >= chance g(total)."""
    if b == 1:
        return np.asarray(np.clip(np.ceil(chances * (totals + 1)) - 1, 0, totals))
    if b == int(b) and b <= _PLAIN:
        return _searched(_rising(int(b)), chances, totals, b, is_log=False)
    return _searched(lambda m: log_gamma_ratio(m + 1, b), np.log(np.maximum(chances, _TINY)), totals, b, is_log=True)


def _searched(growth: Callable[[Floats], Floats], chances: Floats, totals: Floats, b: float, is_log: bool) -> Floats:
    wanted = growth(totals) + chances if is_log else growth(totals) * chances
    rough = np.exp(wanted / b) if is_log else wanted ** (1 / b)
    found = np.clip(np.ceil(rough - (b + 1) / 2), 0, totals)
    while (more := (growth(found) < wanted) & (found < totals)).any():
        found = found + more
    while (less := (found > 0) & (growth(np.maximum(found - 1, 0)) >= wanted)).any():
        found = found - less
    return np.asarray(found)


def _rising(b: int) -> Callable[[Floats], Floats]:
    def product(m: Floats) -> Floats:
        found = m + 1
        for i in range(2, b + 1):
            found = found * (m + i)
        return found

    return product


@dataclass(frozen=True, eq=False)
class _Interpolated:
    """A smooth function on an even grid, by cubics with given slopes (Hermite)."""

    values: Floats
    slopes: Floats

    def __call__(self, x: Floats) -> Floats:
        indices = np.minimum(((x + FAR) / _STEP).astype(np.intp), len(self.values) - 2)
        t = (x + FAR) / _STEP - indices
        y0, y1 = self.values[indices], self.values[indices + 1]
        s0, s1 = self.slopes[indices], self.slopes[indices + 1]
        return np.asarray(y0 + t * (s0 + t * (3 * (y1 - y0) - 2 * s0 - s1 + t * (2 * (y0 - y1) + s0 + s1))))


@lru_cache(maxsize=256)
def _log_quantiles(a: float, b: float, sign: int) -> _Interpolated:
    """Return log of the quantile of Beta(a, b) at Phi(sign x), as a function of x."""
    x = np.linspace(-FAR, FAR, int(2 * FAR / _STEP) + 1)
    below, above, logs = ndtr(sign * x), ndtr(-sign * x), log_ndtr(sign * x)
    lower = np.where(
        below < above, below <= betainc(a, b, 0.5), above >= betainc(b, a, 0.5)
    )  # the nearer end, for digits
    r, rest = np.full_like(x, 0.5), np.full_like(x, 0.5)
    r[lower] = _quantiles(a, b, below[lower], above[lower])
    rest[~lower] = _quantiles(b, a, above[~lower], below[~lower])
    tail = (logs + np.log(a) + betaln(a, b)) / a  # Beta's mass near zero is r^a / (a B(a, b))
    near = np.where(r > _TINY, np.log(np.maximum(r, _TINY)), np.minimum(tail, np.log(_TINY)))
    values = np.where(lower, near, np.log1p(-rest))
    rests = np.where(lower, np.log1p(-r), np.log(np.maximum(rest, _TINY)))
    density = a * values + (b - 1) * rests - betaln(a, b)  # times r
    slopes = sign * np.exp(-0.5 * x * x - 0.5 * np.log(2 * np.pi) - density)
    return _Interpolated(values, slopes * _STEP)


def _quantiles(a: float, b: float, below: Floats, above: Floats) -> Floats:
    """Return quantiles of Beta(a, b), at most 1/2, with these chances below and above; by halving if inverses fail."""
    from_below = below < above

    def off(r: Floats) -> Floats:
        return np.where(from_below, betainc(a, b, r) / below - 1, 1 - betaincc(a, b, r) / above)

    found = np.where(from_below, betaincinv(a, b, below), betainccinv(a, b, above))
    failed = (found > _TINY) & ~(np.abs(off(found)) < _OFF)
    if failed.any():
        low, high = np.full_like(found, np.log(_TINY)), np.full_like(found, np.log(0.5))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            is_short = off(np.exp(middle)) < 0
            low, high = np.where(is_short, middle, low), np.where(is_short, high, middle)
        found = np.where(failed, np.exp((low + high) / 2), found)
    return np.asarray(found)


@dataclass(frozen=True)
class RowSticks:
    """One stick for each row (the first axis) of totals and normal numbers."""

    rows: tuple[Stick, ...]

    def whole(self, totals: Floats, x: Floats) -> tuple[Floats, Floats | float]:
        """Return whole numbers between 0 and the totals, and their log weights."""
        found = [stick.whole(own, at) for stick, own, at in zip(self.rows, totals, x, strict=True)]
        weights = [np.broadcast_to(np.asarray(logs, dtype=float), counts.shape) for counts, logs in found]
        return np.stack([counts for counts, _ in found]), np.stack(weights)

    def share(self, x: Floats, totals: Floats) -> tuple[Floats, Floats]:
        """Return r and its derivative by x, T ~ N r."""
        found = [stick.share(at, own) for stick, at, own in zip(self.rows, x, totals, strict=True)]
        return np.stack([r for r, _ in found]), np.stack([slope for _, slope in found])

    def normal(self, share: Floats, totals: float) -> Floats:
        """Return x for a share of about this many records."""
        return np.stack([stick.normal(own, totals) for stick, own in zip(self.rows, share, strict=True)])


def stick_of(alpha: Sequence[Sequence[float]], level: int) -> Stick | RowSticks:
    """Return the stick of a level against all that follow, from the Dirichlet parameters of every row."""
    sticks = tuple(Stick(row[level], sum(row[level + 1 :])) for row in alpha)
    return sticks[0] if len(set(sticks)) == 1 else RowSticks(sticks)
