"""The Dirichlet distribution, and mixtures of Betas with their intervals: what a reader knows about proportions.

If the count k behind a proportion is known with probability w_k, the proportion follows sum_k w_k Beta(a_k, b_k).
Everything here is exact up to rounding; nothing is simulated. Quantiles are searched on the logit, where those of all
sizes are alike.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincinv, betaln, digamma, expit, gammaln, logit, logsumexp, ndtri, zeta

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.mathematics import root

ROUNDED = 1e-12
"""What rounding may add to a probability: of weights, of incomplete Beta functions, of the search for a quantile."""
_TIED = 1e-9
"""Log densities that differ by less are taken for equal: a flat distribution holds both ends, however it is rounded."""


class Interval(NamedTuple):
    """A range that holds a stated share of a distribution.

    >>> Interval(0.25, 0.5).width
    0.25
    """

    low: float
    high: float

    @property
    def width(self) -> float:
        """Return how far apart the two ends are."""
        return self.high - self.low

    def __str__(self) -> str:
        return f"{self.low:.4g} to {self.high:.4g}"


LEAST_LEVEL, MOST_LEVEL = 1e-6, 1 - 1e-9
"""Levels of intervals: sums are right to about 1e-12, so these ends, or tails, are still right to a few digits."""


def tails(level: float) -> tuple[float, float]:
    """Return the two probabilities that an equal-tailed interval leaves at either side."""
    if not isinstance(level, int | float) or not LEAST_LEVEL <= level <= MOST_LEVEL:
        raise DeclarationError(
            "The level of an interval must lie between 0 and 1, such as 0.9, at least 1e-6 away from 0 and 1e-9 from "
            f"1; got {level!r}. Nothing was computed."
        )
    return (1 - level) / 2, (1 + level) / 2


@dataclass(frozen=True, eq=False, repr=False)
class BetaMixture:
    """The distribution sum_k weights_k Beta(a_k, b_k) on [0, 1].

    >>> uniform = BetaMixture(np.array([1.0]), np.array([1.0]), np.array([1.0]))
    >>> uniform.mean, str(uniform.interval(0.9))
    (0.5, '0.05 to 0.95')
    """

    weights: Floats
    a: Floats
    b: Floats
    weight_error: float | None = field(default=None, kw_only=True)
    """How far the weights may be from the true ones, in total variation, rounding aside; None if they were drawn."""
    draws: float | None = field(default=None, kw_only=True)
    """How many independent draws the weights are worth, None if they were not drawn."""

    def __repr__(self) -> str:
        return f"BetaMixture(mean={self.mean:.4g}, sd={self.sd:.4g}, 90 % interval {self.interval(0.9)})"

    @property
    def mean(self) -> float:
        """Return the expectation."""
        return float(self.weights @ (self.a / (self.a + self.b)))

    @property
    def variances(self) -> tuple[float, float]:
        """Return the variance in two parts that add up: within the components, and between them.

        For a proportion read through noise, the first part is due to sampling and the second to privacy.
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
        """Return the logit of a quantile, which keeps its digits near 0 and, by symmetry, near 1."""
        wanted = np.asarray(probability, dtype=float)
        above = wanted > float(self.cdf(0.5))
        turned = BetaMixture(self.weights, self.b, self.a)
        low = self._low_logit_quantile(np.where(above, 0.5, wanted)) if not above.all() else 0.0
        high = -turned._low_logit_quantile(np.where(above, 1 - wanted, 0.5)) if above.any() else 0.0
        return np.where(above, high, low)

    def _low_logit_quantile(self, wanted: Floats) -> Floats:
        """Return the logit of a quantile that is not near 1, searched from that of one similar Beta."""
        sought = np.clip(np.ravel(wanted), 0, 1)
        with np.errstate(divide="ignore"):
            start = np.nan_to_num(logit(self._like_one_beta(sought)))

        def cdf_and_density(at: Floats, _: Counts) -> tuple[Floats, Floats]:
            x = expit(at)
            with np.errstate(all="ignore"):
                return self.cdf(x), np.exp(self.log_density(x) + np.log(x) + np.log1p(-x))

        return logit_quantiles(cdf_and_density, sought, start)[0].reshape(np.shape(wanted))

    @property
    def median(self) -> float:
        """Return the value below which half of the probability lies."""
        return float(self.quantile(0.5))

    @property
    def mean_log(self) -> float:
        """Return the expectation of the logarithm."""
        return float(self.weights @ (digamma(self.a) - digamma(self.a + self.b)))

    def interval(self, level: float = 0.9) -> Interval:
        """Return the interval of this probability: equal-tailed, and where a share is opened, extended to 0 or 1."""
        return self._ends(self.quantile, level)

    def interval_of_draws(self, drawn: Floats, level: float = 0.9) -> Interval:
        """Return the same from draws of this distribution, much faster where it has many parts."""
        return self._ends(lambda at: np.asarray(np.quantile(drawn, np.asarray(at, dtype=float))), level)

    def _ends(self, quantile: Callable[[ArrayLike], Floats], level: float) -> Interval:
        (low, high), (zero, one) = quantile(tails(level)), self._opened(quantile, level)
        return Interval(0.0 if zero else float(low), 1.0 if one else float(high))

    def opened(self, level: float = 0.9) -> tuple[bool, bool]:
        """Return whether the interval is extended to 0, and whether to 1: only those of a `Share` are."""
        return self._opened(self.quantile, level)

    def _opened(self, quantile: Callable[[ArrayLike], Floats], level: float) -> tuple[bool, bool]:
        return False, False

    def numerical_error(self, level: float = 0.9) -> float | None:
        """Return how far the mean and both ends of the interval may be off, None if weights were drawn.

        If d bounds the error of the weights in total variation, with rounding, then the mean and all probabilities are
        within d, and an end x within d / density(x), to first order. d is certified where `weight_error` is, but for
        rounding, which is taken as 1e-12. Whether an interval of a `Share` is opened to 0 or 1 is decided besides.
        """
        if self.weight_error is None:
            return None
        off, ends = self.weight_error + ROUNDED, np.array([end for end in self.interval(level) if 0 < end < 1])
        with np.errstate(over="ignore"):
            return min(1.0, max(off, off * float(np.exp(-self.log_density(ends)).max(initial=0.0))))

    @property
    def worth(self) -> float | None:
        """Return how many independent draws the distribution is worth, None if nothing was drawn."""
        return self.draws

    def hits(self, records: int) -> Floats:
        """Return the probability of each number of hits among further records: a mixture of Beta-binomials."""
        hits, keep = np.arange(records + 1), self.weights > 1e-15
        ways = gammaln(records + 1.0) - gammaln(hits + 1.0) - gammaln(records - hits + 1.0)
        found = np.zeros(records + 1)
        for weight, a, b in zip(self.weights[keep], self.a[keep], self.b[keep], strict=True):
            found += weight * np.exp(ways + betaln(a + hits, b + records - hits) - betaln(a, b))
        return np.asarray(found / found.sum())

    @property
    def monte_carlo_error(self) -> float | None:
        """Return the standard error of the mean, sqrt(variance between the components / draws); None without draws."""
        return None if self.draws is None else float(np.sqrt(self.variances[1] / self.draws))

    def width_if_counts_were_known(self, level: float = 0.9) -> float:
        """Return the mean width of the interval that each component alone would give."""
        keep = self.weights > 1e-9
        low, high = (betaincinv(self.a[keep], self.b[keep], tail) for tail in tails(level))
        return float(self.weights[keep] @ (high - low) / self.weights[keep].sum())

    def _share_of(self, interval: Interval, level: float) -> float:
        """Return the share of an interval's width that comes from not knowing the component."""
        if not interval.width > 0:  # both ends are the same float
            return 0.0
        return max(0.0, 1 - self.width_if_counts_were_known(level) / interval.width)

    def summary(self, level: float) -> tuple[float, float, float, float, float, float | None]:
        """Return mean, median, both ends of the interval, standard deviation, and the share that is due to privacy."""
        interval = self.interval(level)
        return self.mean, self.median, *interval, self.sd, self._share_of(interval, level)

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

    def sample(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw independent values."""
        chosen = generator.choice(len(self.weights), size=count, p=self.weights / self.weights.sum())
        return generator.beta(self.a[chosen], self.b[chosen])


class MergedMixture(BetaMixture):
    """A mixture some of whose components stand for a range of neighbours, which come one after the other."""

    def numerical_error(self, level: float = 0.9) -> float | None:
        """Return by how much the mean and both ends change if ranges are twice as long: an estimate, not a bound."""
        known = super().numerical_error(level)
        starts = np.arange(0, len(self.weights), 2)
        weights = np.add.reduceat(self.weights, starts)
        kept = weights > 0
        a, b = (np.add.reduceat(self.weights * own, starts)[kept] / weights[kept] for own in (self.a, self.b))
        longer = BetaMixture(weights[kept], a, b)
        ends = np.abs(np.subtract((self.mean, *self.interval(level)), (longer.mean, *longer.interval(level))))
        return None if known is None else known + float(ends.max())


def reaches_end(density: Floats | float, log_density: Floats, level: float) -> NDArray[np.bool_]:
    """Return whether the shortest interval of this level reaches 0, so that 0 cannot be excluded; or, turned around, 1.

    `density` is that at 0, and `log_density` the logarithm of that at q with P(value <= q) = level. With one peak, the
    shortest interval begins at 0 if it is no higher at q than at 0. Then it is nowhere above that beyond q, so it is at
    least 1 - level at 0: where it is less, q need not be known. This is the one rule by which shares and rates are
    opened, and with them ratios, differences and counts; `draws_reach_ends` asks the same of draws. Equal-tailed
    intervals never hold 0, and miss tiny shares.
    """
    with np.errstate(divide="ignore"):
        return np.asarray((density >= 1 - level) & (log_density <= np.log(density) + _TIED))


class Share(BetaMixture):
    """A share, or a rate in a group, with a uniform prior; its interval is opened to 0, or 1, where `reaches_end`.

    >>> str(Share(np.ones(1), np.ones(1), np.array([11.0])).interval(0.9))  # none of ten
    '0 to 0.2384'
    """

    def _opened(self, quantile: Callable[[ArrayLike], Floats], level: float) -> tuple[bool, bool]:
        at_zero = float(self.weights[self.a == 1] @ self.b[self.a == 1])  # the density of Beta(1, b) is b at 0
        at_one = float(self.weights[self.b == 1] @ self.a[self.b == 1])
        return self._reaches(at_zero, quantile, level, level), self._reaches(at_one, quantile, 1 - level, level)

    def _reaches(self, density: float, quantile: Callable[[ArrayLike], Floats], beyond: float, level: float) -> bool:
        return density >= 1 - level and bool(reaches_end(density, self.log_density(quantile(beyond)), level))


@dataclass(frozen=True, init=False)
class Dirichlet:
    """Probabilities of m categories with density ~ prod_i theta_i^(concentration_i - 1).

    >>> Dirichlet((5, 5)).mean
    array([0.5, 0.5])
    """

    concentration: tuple[float, ...]

    def __init__(self, concentration: Sequence[float] | Floats) -> None:
        values = tuple(float(value) for value in concentration)
        if len(values) < 2 or not all(np.isfinite(value) and value > 0 for value in values):
            raise DeclarationError("A Dirichlet distribution needs two or more parameters, all finite and above 0.")
        object.__setattr__(self, "concentration", values)

    @property
    def mean(self) -> Floats:
        """Return the expectations."""
        shapes = np.array(self.concentration)
        return np.asarray(shapes / shapes.sum())

    @property
    def _array(self) -> Floats:
        return np.array(self.concentration)

    def divergence_from(self, other: "Dirichlet") -> float:
        """Return the Kullback-Leibler divergence KL(self || other) = E_self[log density of self - that of other]."""
        a, b = self._array, other._array
        constants = gammaln(a.sum()) - gammaln(a).sum() - gammaln(b.sum()) + gammaln(b).sum()
        return float(max(0.0, constants + (a - b) @ (digamma(a) - digamma(a.sum()))))

    @classmethod
    def with_mean_logs(cls, mean_logs: Floats) -> "Dirichlet":
        """Return the Dirichlet with given E[log theta_i]: the Kullback-Leibler projection of any distribution.

        Solves digamma(b_i) - digamma(sum b) = mean_logs_i through the one unknown sum b.
        """
        total = _total_for(mean_logs)
        return cls(_inverse_digamma(mean_logs + digamma(total)))

    def marginal(self, index: int) -> BetaMixture:
        """Return the distribution of one probability."""
        a = self.concentration[index]
        return BetaMixture(np.ones(1), np.array([a]), np.array([sum(self.concentration) - a]))

    def log_density(self, theta: Floats) -> Floats:
        """Return the logarithm of the density at probabilities that sum to 1 (last axis)."""
        shapes = np.array(self.concentration)
        constant = gammaln(shapes.sum()) - gammaln(shapes).sum()
        return np.asarray(constant + ((shapes - 1) * np.log(theta)).sum(axis=-1))

    def sample(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw independent vectors of probabilities."""
        return generator.dirichlet(self.concentration, size=count)


def log_dirichlet_rows(shapes: Floats, generator: np.random.Generator) -> Floats:
    """Draw logarithms of probabilities, one Dirichlet for each row; none vanishes, however small its shape is.

    A Gamma(a) number is a Gamma(a + 1) number times U^(1/a), and Gamma numbers divided by their sum are Dirichlet.
    """
    logs = np.log(generator.standard_gamma(shapes + 1)) - generator.standard_exponential(shapes.shape) / shapes
    return np.asarray(logs - logsumexp(logs, axis=-1, keepdims=True))


def _total_for(mean_logs: Floats) -> float:
    """Find s with sum_i digamma^-1(mean_logs_i + digamma(s)) = s; the left side grows more slowly than the right."""

    def excess(log_total: float) -> float:
        total = np.exp(log_total)
        return float(_inverse_digamma(mean_logs + digamma(total)).sum() / total - 1)

    return float(np.exp(root(excess, np.log(1e-8), np.log(1e15), absolute=1e-14)))


def _inverse_digamma(y: Floats) -> Floats:
    """Return x with digamma(x) = y by Newton's method (Minka, 2000, appendix C)."""
    x = np.where(y >= -2.22, np.exp(np.minimum(y, 50.0)) + 0.5, -1 / (y - digamma(1.0)))
    for _ in range(6):
        x = x - (digamma(x) - y) / zeta(2, x)  # zeta(2, x) is the derivative of digamma
    return np.asarray(x)


class HasOpenedInterval(Protocol):
    """A distribution of a proportion whose interval may be extended to 0 and to 1."""

    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(value <= x)."""

    def logit_quantile(self, probability: ArrayLike) -> Floats:
        """Return the logit of a quantile."""

    def interval(self, level: float = 0.9) -> Interval:
        """Return the interval of this probability."""

    def opened(self, level: float = 0.9) -> tuple[bool, bool]:
        """Return whether it is extended to 0, and whether to 1."""


@dataclass(frozen=True, eq=False)
class Odds:
    """The ratio of two proportions, s / (1 - s), through the share s that the first has of both.

    Quantiles are exact; a mean need not exist.
    """

    share: HasOpenedInterval

    def __repr__(self) -> str:
        return f"Odds(median={self.median:.4g}, 90 % interval {self.interval(0.9)})"

    def quantile(self, probability: ArrayLike) -> NDArray[np.float64]:
        """Return quantiles: the logarithm of the odds is the logit of the share."""
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(self.share.logit_quantile(probability)))

    @property
    def median(self) -> float:
        """Return the value below which half of the probability lies."""
        return float(self.quantile(0.5))

    def interval(self, level: float = 0.9) -> Interval:
        """Return the equal-tailed interval of this probability, opened where that of the share is."""
        (low, high), (zero, one) = self.quantile(tails(level)), self.share.opened(level)
        return Interval(0.0 if zero else float(low), np.inf if one else float(high))

    def probability_above(self, threshold: float) -> float:
        """Return P(ratio > threshold)."""
        return float(1 - self.share.cdf(threshold / (1 + threshold))) if threshold > 0 else 1.0


FARTHEST = 700.0
"""Logits beyond are 0 or 1 in double precision."""
NEAR = 1e-6
"""From this far on in probability, or this share of a small one, Newton's steps are plain."""
_MOST_STEPS = 100  # enough for halving alone


def logit_quantiles(
    cdf_and_density: Callable[[Floats, Counts], tuple[Floats, Floats]], probability: Floats, start: Floats
) -> tuple[Floats, Counts]:
    """Return the logits of quantiles that are not near 1, and the steps taken, from where to start.

    `cdf_and_density(logits, indices)` gives the cdf and the density of the logit for some of the places of
    `probability`. Steps are those of Newton's method on the normal scores of the cdf, which are nearly linear in the
    logit, and near the root plain ones; halving where a step would leave the bracket. A place is judged before its
    bracket is considered: at the root the step is 0, and the bracket ends there.
    """
    at = np.clip(start, -FARTHEST, FARTHEST)
    low, high = np.full_like(at, -FARTHEST), np.full_like(at, FARTHEST)
    enough = np.where(probability >= 1e-8, 8e-16, 4e-16 * probability)
    active, taken = np.arange(len(at)), np.zeros(len(at), dtype=np.int64)
    for _ in range(_MOST_STEPS):
        here, sought = at[active], probability[active]
        cdf, density = cdf_and_density(here, active)
        taken[active] += 1
        miss = cdf - sought
        step = _step(cdf, density, sought)
        following = here - step
        least = 1e-13 * np.maximum(1, np.abs(here))
        done = (np.abs(step) <= least) | (np.abs(miss) <= enough[active])
        if done.all():
            at[active] = np.where(np.isfinite(following), following, here)
            break
        low[active] = np.where(miss < 0, here, low[active])
        high[active] = np.where(miss >= 0, here, high[active])
        stuck = high[active] - low[active] <= least
        outside = ~((following > low[active]) & (following < high[active])) & ~done
        stays = (stuck & ~done) | (done & ~np.isfinite(following))
        at[active] = np.where(stays, here, np.where(outside, (low[active] + high[active]) / 2, following))
        active = active[~(done | stuck)]
        if not active.size:
            break
    return at, taken


def _step(cdf: Floats, density: Floats, probability: Floats) -> Floats:
    """Return (z(F) - z(p)) phi(z(F)) / f far from the root, (F - p) / f near it."""
    miss = cdf - probability
    is_near = np.abs(miss) <= np.minimum(NEAR, probability)
    with np.errstate(all="ignore"):
        if is_near.all():
            return np.asarray(miss / density)
        scores = ndtri(np.clip(cdf, 1e-300, 1 - 1e-16))
        far = (scores - ndtri(probability)) * np.exp(-0.5 * scores**2) / np.sqrt(2 * np.pi)
        return np.asarray(np.where(is_near, miss, far) / density)
