"""Mixtures of Beta distributions: what a reader knows about one proportion.

If the count k behind a proportion is known with probability w_k, the proportion follows sum_k w_k Beta(a_k, b_k).
Everything here is exact up to rounding; nothing is simulated.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, betaln, digamma, expit, logit

from discreet.arrays import Floats
from discreet.mathematics.distributions.interval import Interval, tails

_STEPS = 100  # enough for halving alone
_FARTHEST = 700.0  # logits beyond are 0 or 1 in double precision


@dataclass(frozen=True, eq=False)
class BetaMixture:
    """The distribution sum_k weights_k Beta(a_k, b_k) on [0, 1].

    >>> uniform = BetaMixture(np.array([1.0]), np.array([1.0]), np.array([1.0]))
    >>> uniform.mean, str(uniform.interval(0.9))
    (0.5, '0.05 to 0.95')
    """

    weights: Floats
    a: Floats
    b: Floats

    def __repr__(self) -> str:
        return f"BetaMixture(mean={self.mean:.4g}, sd={self.sd:.4g}, 90 % interval {self.interval(0.9)})"

    @property
    def mean(self) -> float:
        """Return the expectation."""
        return float(self.weights @ (self.a / (self.a + self.b)))

    @property
    def variances(self) -> tuple[float, float]:
        """Return the variance in two parts that add up: within the components, and between them.

        For a proportion read through noise the first part is what sampling leaves open, the second what privacy adds.
        """
        total = self.a + self.b
        means = self.a / total
        within = self.weights @ (means * (1 - means) / (total + 1))
        between = self.weights @ (means - self.mean) ** 2
        return float(within), float(between)

    @property
    def sd(self) -> float:
        """Return the standard deviation."""
        return float(np.sqrt(sum(self.variances)))

    @property
    def mean_log(self) -> float:
        """Return the expectation of the logarithm."""
        return float(self.weights @ (digamma(self.a) - digamma(self.a + self.b)))

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(value <= x)."""
        return np.asarray(betainc(self.a, self.b, np.clip(np.asarray(x, dtype=float), 0, 1)[..., None]) @ self.weights)

    @cached_property
    def _log_constants(self) -> Floats:
        return np.asarray(betaln(self.a, self.b))

    def _like_one_beta(self, probability: Floats) -> Floats:
        """Return quantiles of the one Beta with the same mean and variance: exact for one component, close for more."""
        mean, variance = self.mean, sum(self.variances)
        total = mean * (1 - mean) / variance - 1 if variance > 0 else np.inf
        if not 0 < total < 1e15:
            return np.full_like(probability, mean)
        return np.asarray(betaincinv(mean * total, (1 - mean) * total, probability))

    def log_density(self, x: ArrayLike) -> Floats:
        """Return the logarithm of the density at x in (0, 1)."""
        x = np.asarray(x, dtype=float)[..., None]
        terms = (self.a - 1) * np.log(x) + (self.b - 1) * np.log1p(-x) - self._log_constants
        if len(self.weights) == 1:
            return np.asarray(terms[..., 0])
        most = terms.max(axis=-1)
        return np.asarray(most + np.log(np.exp(terms - most[..., None]) @ self.weights))

    def quantile(self, probability: ArrayLike) -> Floats:
        """Return the x with P(value <= x) = probability."""
        wanted = np.asarray(probability, dtype=float)
        return np.where(wanted <= 0, 0.0, np.where(wanted >= 1, 1.0, expit(self.logit_quantile(wanted))))

    def logit_quantile(self, probability: ArrayLike) -> Floats:
        """Return the logit of a quantile, which keeps its digits near 0 and, by turning the law around, near 1."""
        wanted = np.asarray(probability, dtype=float)
        above = wanted > float(self.cdf(0.5))
        turned = BetaMixture(self.weights, self.b, self.a)
        low = self._low_logit_quantile(np.where(above, 0.5, wanted)) if not above.all() else 0.0
        high = -turned._low_logit_quantile(np.where(above, 1 - wanted, 0.5)) if above.any() else 0.0
        return np.where(above, high, low)

    def _low_logit_quantile(self, wanted: Floats) -> Floats:
        """Return the logit of a quantile that is not near 1.

        Newton's method on the logit of x, where quantiles of all sizes are alike, started from one similar Beta;
        halving where it would leave the bracket.
        """
        target = np.atleast_1d(wanted)
        low, high = np.full_like(target, -_FARTHEST), np.full_like(target, _FARTHEST)
        with np.errstate(divide="ignore"):
            at = np.clip(np.nan_to_num(logit(self._like_one_beta(np.clip(target, 0, 1)))), -_FARTHEST, _FARTHEST)
        for _ in range(_STEPS):
            x = expit(at)
            miss = self.cdf(x) - target
            low, high = np.where(miss < 0, at, low), np.where(miss >= 0, at, high)
            with np.errstate(all="ignore"):
                newton = at - miss * np.exp(-self.log_density(x) - np.log(x) - np.log1p(-x))
            following = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
            done = np.abs(following - at) <= 1e-13 * np.maximum(1, np.abs(at))
            at = following
            if done.all():
                break
        return np.asarray(at.reshape(wanted.shape))

    @property
    def median(self) -> float:
        """Return the value below which half of the probability lies."""
        return float(self.quantile(0.5))

    def interval(self, level: float = 0.9) -> Interval:
        """Return the equal-tailed interval of this probability."""
        low, high = self.quantile(tails(level))
        return Interval(float(low), float(high))

    def highest_density(self, level: float = 0.9) -> Interval:
        """Return the shortest interval of this probability."""
        first, last = self.quantile([1e-4, 1 - 1e-4])
        x = np.concatenate([[0.0], np.linspace(first, last, 200), [1.0]])
        below = np.maximum.accumulate(self.cdf(x))
        left = np.linspace(0, 2 * tails(level)[0], 401)
        widths = np.interp(left + level, below, x) - np.interp(left, below, x)
        # where the interval begins is found on a grid, as widths hardly change there; its two ends are exact
        best = float(left[int(widths.argmin())])
        low, high = self.quantile([best, min(1.0, best + level)])
        return Interval(float(low), float(high))

    def width_if_counts_were_known(self, level: float = 0.9) -> float:
        """Return the mean width of the interval that each component alone would give."""
        keep = self.weights > 1e-9
        low, high = (betaincinv(self.a[keep], self.b[keep], tail) for tail in tails(level))
        return float(self.weights[keep] @ (high - low) / self.weights[keep].sum())

    def share_between(self, level: float = 0.9) -> float:
        """Return the share of the interval's width that comes from not knowing the component."""
        return max(0.0, 1 - self.width_if_counts_were_known(level) / self.interval(level).width)

    def sample(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw independent values."""
        chosen = generator.choice(len(self.weights), size=count, p=self.weights / self.weights.sum())
        return generator.beta(self.a[chosen], self.b[chosen])
