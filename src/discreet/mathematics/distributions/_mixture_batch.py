"""Many mixtures of Betas at once: quantiles, densities and widths of all cells of a table in a few passes over arrays.

Row i is sum_j w_ij Beta(a_i + j, T_i - a_i - j), j = 0, 1, ...: what is known of a probability whose count is known up
to an offset. With t_j(x) = x^(a_j) (1 - x)^(b_j - 1) Gamma(T) / (Gamma(a_j + 1) Gamma(b_j)) one has
I_x(a_j + 1, b_j - 1) = I_x(a_j, b_j) - t_j, so summing by parts around a pivot p, with C_j = sum_(k <= j) w_k and
S_j = sum_(k > j) w_k,

    cdf = I_x(a_p, b_p) + sum_(j < p) C_j t_j - sum_(j >= p) S_j t_j,    density of logit x = (1 - x) sum_j w_j a_j t_j:

one incomplete Beta function a row instead of one a count. t_p is computed in Loader's form, which keeps its digits at
any number of records, all other t_j from their ratios to it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma, expit, log_expit, logit, ndtri

from discreet._core.arrays import Counts, Floats
from discreet.mathematics.distributions._beta_terms import beta_cdf, log_term
from discreet.mathematics.distributions._dirichlet import BetaMixture, tails
from discreet.mathematics.distributions._known_widths import known_widths
from discreet.mathematics.distributions._logit_search import FARTHEST, NEAR, logit_quantiles

_BLOCK = 1_000_000  # numbers of a part that are considered together
_SMALL_SHARE = 1e-14  # parts of a smaller share are left out
_FAINT = 2e-19  # terms at the ends of what is added up, at most
_SHOWN = 1e-9  # counts of smaller weights have no say in the width that exact counts would give


@dataclass(frozen=True, eq=False)
class BetaRows:
    """Rows of weights of Beta(start + j, total - start - j) for j = 0, 1, ...; the weights of a row sum to its share.

    Rows may be padded with zeros, also where no such Beta exists.
    """

    weights: Floats
    start: Floats
    total: Floats

    @classmethod
    def of(cls, weights: ArrayLike, start: ArrayLike, total: ArrayLike) -> "BetaRows":
        """Return rows whose totals may be one number for all."""
        table = np.asarray(weights, dtype=float)
        ends = (np.asarray(each, dtype=float) for each in (start, total))
        return cls(table, *(np.broadcast_to(each, table.shape[:1]) for each in ends))

    def rows(self, indices: Counts | slice) -> "BetaRows":
        """Return some rows."""
        return BetaRows(self.weights[indices], self.start[indices], self.total[indices])

    @cached_property
    def last(self) -> Counts:
        """Return where the last positive weight of each row stands."""
        return np.asarray(self.weights.shape[1] - 1 - np.argmax(self.weights[:, ::-1] > 0, axis=1))

    @property
    def turned(self) -> "BetaRows":
        """Return the distribution of one minus each proportion."""
        indices = self.last[:, None] - np.arange(self.weights.shape[1])
        weights = np.where(indices >= 0, np.take_along_axis(self.weights, np.maximum(indices, 0), axis=1), 0.0)
        return BetaRows(weights, self.total - self.start - self.last, self.total)

    @cached_property
    def _steps(self) -> Floats:
        return np.arange(self.weights.shape[1], dtype=float)

    @cached_property
    def share(self) -> Floats:
        """Return the sum of the weights of each row."""
        return np.asarray(self.weights.sum(axis=1))

    @cached_property
    def _pivot(self) -> Counts:
        """Return a count near the mean whose second parameter is above 1, or the last one where there is none."""
        middle = np.rint(self.weights @ self._steps / np.maximum(self.share, 1e-300)).astype(np.int64)
        below = np.ceil(self.total - self.start - 1).astype(np.int64) - 1  # the last j with b_j > 1
        return np.clip(middle, 0, np.maximum(0, np.minimum(self.last, below)))

    @cached_property
    def _log_ratios(self) -> Floats:
        """Return log t_j - log t_p at logit 0: sums of log (b_j - 1) / (a_j + 1) between the pivot and j."""
        before = self.start[:, None] + self._steps[:-1]
        rising = np.maximum(self.total[:, None] - before - 1, 1e-300) / (before + 1)  # floored where no weight follows
        sums = np.zeros_like(self.weights)
        np.cumsum(np.log(rising), axis=1, out=sums[:, 1:])
        sums -= np.take_along_axis(sums, self._pivot[:, None], axis=1)
        sums[self._steps > self.last[:, None]] = -np.inf
        return sums

    @cached_property
    def _sums(self) -> Floats:
        """Return C_j before the pivot and -S_j from it on."""
        running = np.cumsum(self.weights, axis=1)
        after = np.cumsum(self.weights[:, ::-1], axis=1)[:, ::-1] - self.weights
        return np.where(self._steps < self._pivot[:, None], running, -after)

    @cached_property
    def _slopes(self) -> Floats:
        return np.asarray(self.weights * (self.start[:, None] + self._steps))

    def _log_terms(self, at: Floats, rows: Counts) -> Floats:
        """Return log t_j at a logit of each of some rows; the exponent is formed whole, as its parts would overflow."""
        found = np.multiply.outer(at, self._steps)
        found += self._log_ratios[rows]
        pivot = self._pivot[rows]
        found += (log_term(self.start[rows] + pivot, self.total[rows], at) - pivot * at)[:, None]
        return found

    def cdf_and_density(self, at: Floats, rows: Counts, is_whole: bool = False) -> tuple[Floats, Floats]:
        """Return the cdf at a logit of each of some rows, and the density of the logit, both times the row's share.

        As a function of j, t_j is a peak at (T - 1) x; unless all shall be added up, those within e^-43 of it are.
        """
        found = None if is_whole else self._near(at, rows)
        if found is None:
            terms = np.exp(self._log_terms(at, rows))
            found = np.einsum("ij,ij->i", self._sums[rows], terms), np.einsum("ij,ij->i", self._slopes[rows], terms)
        a = (self.start + self._pivot)[rows]
        cdf = self.share[rows] * beta_cdf(a, self.total[rows] - a, expit(at)) + found[0]
        return cdf, expit(-at) * found[1]

    def _near(self, at: Floats, rows: Counts) -> tuple[Floats, Floats] | None:
        """Return sum_j C_j t_j and sum_j w_j a_j t_j near the peaks; nothing if that saves little, or is not enough."""
        x, width, total, pivot = expit(at), self.weights.shape[1], self.total[rows], self._pivot[rows]
        half = 10 * np.sqrt((total - 1).clip(0) * x * (1 - x)) + 50
        kept = int(2 * half.max()) + 1
        if kept > 0.6 * width:
            return None
        first = np.clip(((total - 1) * x - self.start[rows] - half).astype(np.int64), 0, width - kept)

        def cut(table: Floats) -> Floats:
            return np.asarray(sliding_window_view(table, kept, axis=1)[rows, first])

        terms = np.multiply.outer(at, np.arange(kept, dtype=float))
        terms += cut(self._log_ratios)
        terms += (log_term(self.start[rows] + pivot, total, at) + (first - pivot) * at)[:, None]
        np.exp(terms, out=terms)
        beyond = np.where(first > 0, terms[:, 0], 0) + np.where(first + kept < width, terms[:, -1], 0)
        if float(beyond.max()) > _FAINT:
            return None
        return np.einsum("ij,ij->i", cut(self._sums), terms), np.einsum("ij,ij->i", cut(self._slopes), terms)

    def log_density(self, at: Floats, rows: Counts) -> Floats:
        """Return the logarithm of the density of the proportion itself at a logit of each of some rows.

        What is near the peaks is enough where the rest, at most _FAINT T, is nothing beside it.
        """
        near = self._near(at, rows)
        far = np.arange(len(at)) if near is None else np.flatnonzero(near[1] < 1e13 * _FAINT * self.total[rows])
        with np.errstate(divide="ignore"):
            logs = np.zeros(len(at)) if near is None else np.log(near[1])
            if far.size:
                terms = self._log_terms(at[far], rows[far])
                most = terms.max(axis=1)
                terms = np.exp(terms - most[:, None])
                logs[far] = most + np.log(np.einsum("ij,ij->i", self._slopes[rows[far]], terms))
        return np.asarray(logs - log_expit(at))

    @cached_property
    def mean(self) -> Floats:
        """Return the mean of each row among its own weights."""
        return np.asarray((self.start + self.weights @ self._steps / self.share) / self.total)

    def moments(self, centre: Floats) -> tuple[Floats, Floats, Floats]:
        """Return sums over the weights of the Betas' means less a centre, of the square of that, and of variances."""
        apart = ((self.start - centre * self.total)[:, None] + self._steps) / self.total[:, None]
        first, second = (np.einsum("ij,ij->i", self.weights, power) for power in (apart, apart**2))
        squares = self.share * centre**2 + 2 * centre * first + second
        return first, second, (self.share * centre + first - squares) / (self.total + 1)

    @property
    def mean_log(self) -> Floats:
        """Return sums over the weights of E log x = digamma(a_j) - digamma(T), digamma by its sums of 1/a."""
        rising = np.cumsum(1 / (self.start[:, None] + self._steps[:-1]), axis=1)
        summed = self.share * (digamma(self.start) - digamma(self.total))
        return np.asarray(summed + np.einsum("ij,ij->i", self.weights[:, 1:], rising))


class MixtureBatch:
    """Rows of mixtures of Betas, each the sum of one row of every part: several priors have totals of their own.

    >>> uniform = MixtureBatch([BetaRows.of(np.ones((1, 1)), np.ones(1), 2.0)])
    >>> low, high = uniform.intervals(0.9)
    >>> round(float(low[0]), 15), round(float(high[0]), 15)
    (0.05, 0.95)
    """

    def __init__(self, parts: Sequence[BetaRows], classes: Counts | None = None) -> None:
        """Rows of one of the `classes` (whole numbers) are known to be alike: quantiles are searched once for each."""
        self.parts = tuple(part for part in parts if float(part.share.max()) >= _SMALL_SHARE)
        self.count, self._classes = len(parts[0].weights), classes

    def rows(self, indices: Counts) -> "MixtureBatch":
        """Return some rows."""
        classes = None if self._classes is None else self._classes[indices]
        return MixtureBatch([part.rows(indices) for part in self.parts], classes)

    @classmethod
    def joined(cls, batches: "Sequence[MixtureBatch]") -> "MixtureBatch | None":
        """Return the rows of several batches one after the other; None where rows are sums of different parts."""
        if any(len(batch.parts) != 1 for batch in batches):
            return None
        parts = [batch.parts[0] for batch in batches]
        width = max(part.weights.shape[1] for part in parts)
        weights = np.concatenate([np.pad(p.weights, ((0, 0), (0, width - p.weights.shape[1]))) for p in parts])
        start, total = (np.concatenate(each) for each in ([p.start for p in parts], [p.total for p in parts]))
        classes = None
        if all(batch._classes is not None for batch in batches):
            rows = np.cumsum([0, *(batch.count for batch in batches)])
            own = [np.unique(batch._classes, return_inverse=True)[1] for batch in batches if batch._classes is not None]
            classes = np.concatenate([first + each for first, each in zip(rows, own, strict=False)])
        return cls([BetaRows(weights, start, total)], classes)

    def row(self, index: int) -> BetaMixture:
        """Return one row as a mixture of its own, without what has no weight."""
        found = []
        for part in self.parts:
            kept = np.flatnonzero(part.weights[index] > 0)
            a = part.start[index] + kept
            found.append((part.weights[index, kept], a, part.total[index] - a))
        return BetaMixture(*(np.concatenate(column) for column in zip(*found, strict=True)))

    @cached_property
    def _moments(self) -> tuple[Floats, Floats, Floats]:
        return _moments_of(self.parts)

    @property
    def mean(self) -> Floats:
        """Return the expectations."""
        return self._moments[0]

    @property
    def variances(self) -> tuple[Floats, Floats]:
        """Return the variances in two parts that add up: within the Betas (sampling), and between them (privacy)."""
        _, between, within = self._moments
        return within, between

    @property
    def sd(self) -> Floats:
        """Return the standard deviations."""
        return np.asarray(np.sqrt(sum(self.variances)))

    @property
    def mean_log(self) -> Floats:
        """Return the expectations of the logarithms."""
        return np.asarray(sum(part.mean_log for part in self.parts))

    def cdf(self, x: Floats | float) -> Floats:
        """Return P(value <= x) for one x of each row."""
        with np.errstate(divide="ignore"):
            at = np.clip(logit(np.broadcast_to(np.asarray(x, dtype=float), self.count)), -FARTHEST, FARTHEST)
        return np.asarray(sum(part.cdf_and_density(at, np.arange(self.count))[0] for part in self.parts))

    def log_density(self, x: Floats, rows: Counts | None = None) -> Floats:
        """Return the logarithm of the density at one x in (0, 1) of each row, or of each of some rows."""
        of = np.arange(self.count) if rows is None else rows
        logs = [part.log_density(logit(np.asarray(x, dtype=float)), of) for part in self.parts]
        return np.asarray(np.logaddexp.reduce(logs))

    @property
    def densities_at_ends(self) -> tuple[Floats, Floats]:
        """Return the densities at 0 and at 1 of rows whose parameters are 1 or more: Beta(1, b) has b at 0."""
        zero, one = np.zeros(self.count), np.zeros(self.count)
        for part in self.parts:
            for density, a in ((zero, np.ones(self.count)), (one, part.total - 1)):  # the only Betas with one there
                steps = a - part.start
                rows = np.flatnonzero((steps >= 0) & (steps < part.weights.shape[1]) & (steps == np.rint(steps)))
                density[rows] += part.weights[rows, steps[rows].astype(np.int64)] * (part.total[rows] - 1)
        return zero, one

    def quantile(self, probability: float) -> Floats:
        """Return the x of each row with P(value <= x) = probability."""
        return np.asarray(expit(self.logit_quantiles([probability])[0][0]))

    @property
    def median(self) -> Floats:
        """Return the values below which half of the probability lies."""
        return self.quantile(0.5)

    def intervals(self, level: float = 0.9) -> tuple[Floats, Floats]:
        """Return both ends of the equal-tailed interval of each row."""
        low, high = expit(self.logit_quantiles(tails(level))[0])
        return low, high

    def logit_quantiles(self, probabilities: Sequence[float]) -> tuple[Floats, Counts]:
        """Return logits of quantiles (probabilities, rows), which keep their digits near 0 and 1, and steps taken.

        Where a quantile is above 1/2 the distribution is turned around.
        """
        if self._classes is not None:
            _, firsts, classes = np.unique(self._classes, return_index=True, return_inverse=True)
            if len(firsts) < self.count:
                once = MixtureBatch([part.rows(firsts) for part in self.parts]).logit_quantiles(probabilities)
                return once[0][:, classes], once[1][:, classes]
        shape = len(probabilities), self.count
        found, steps = np.empty(shape), np.zeros(shape, dtype=np.int64)
        width = max(part.weights.shape[1] for part in self.parts)
        block = max(1, _BLOCK // (width * len(probabilities)))
        for start in range(0, self.count, block):
            own = slice(start, start + block)
            parts = self.parts if self.count <= block else [part.rows(own) for part in self.parts]
            found[:, own], steps[:, own] = _logits(parts, np.array(probabilities))
        return found, steps

    def known_widths(self, level: float = 0.9) -> Floats:
        """Return the mean width of the interval that each Beta of a row alone would give: that of exact counts."""
        summed, shares = np.zeros(self.count), np.zeros(self.count)
        for part in self.parts:
            rows, steps = np.nonzero(part.weights > _SHOWN)
            weights = part.weights[rows, steps]
            widths = known_widths(part.start[rows] + steps, part.total[rows], level)
            summed += np.bincount(rows, weights * widths, self.count)
            shares += np.bincount(rows, weights, self.count)
        return np.asarray(summed / shares)

    def privacy_shares(self, level: float = 0.9) -> Floats:
        """Return the share of each interval's width that is due to privacy: what exact counts would save."""
        low, high = self.intervals(level)
        return np.asarray(np.maximum(0.0, 1 - self.known_widths(level) / np.maximum(high - low, 1e-300)))


def _moments_of(parts: Sequence[BetaRows]) -> tuple[Floats, Floats, Floats]:
    """Return the mean of each row, and its variance between and within the Betas; sums are taken about one centre."""
    centre = parts[0].mean
    sums = zip(*(part.moments(centre) for part in parts), strict=True)
    first, second, within = (np.asarray(sum(each)) for each in sums)
    return centre + first, np.maximum(0.0, second - first**2), within


def _logits(parts: Sequence[BetaRows], probabilities: Floats) -> tuple[Floats, Counts]:
    """Return the logits of several quantiles (probabilities, rows), and the steps taken, in one search for all."""
    above = _above_one_half(parts, probabilities)
    found, steps = np.empty(above.shape), np.zeros(above.shape, dtype=np.int64)
    if not above.all():
        numbers, rows = np.nonzero(~above)
        found[~above], steps[~above] = _low_logits(parts, probabilities[numbers], rows)
    if above.any():
        numbers, rows = np.nonzero(above)
        turned, classes = np.unique(rows, return_inverse=True)
        at, steps[above] = _low_logits(
            [part.rows(turned).turned for part in parts], 1 - probabilities[numbers], classes
        )
        found[above] = -at
    return found, steps


def _above_one_half(parts: Sequence[BetaRows], probabilities: Floats) -> NDArray[np.bool_]:
    """Tell which quantiles (probabilities, rows) are above 1/2; rows that Cantelli decides are ignored."""
    mean, between, within = _moments_of(parts)
    variance, apart = between + within, mean - 0.5
    beyond = variance / (variance + apart**2)  # what lies on the other side of 1/2, at most
    above = np.tile(apart > 0, (len(probabilities), 1))
    sought = probabilities[:, None]
    (open_,) = np.nonzero(np.where(above, beyond >= sought, beyond >= 1 - sought).any(axis=0))
    if open_.size:
        pairs = [part.cdf_and_density(np.zeros(len(open_)), open_)[0] for part in parts]
        above[:, open_] = np.asarray(sum(pairs)) < sought
    return above


def _low_logits(parts: Sequence[BetaRows], probability: Floats, rows: Counts) -> tuple[Floats, Counts]:
    """Return the logits of quantiles that are not near 1 of rows (one may stand there twice), and steps taken."""
    first, between, within = (each[rows] for each in _moments_of(parts))
    spread = np.minimum(4.0, np.sqrt(between + within) / (first * (1 - first)))
    is_far = float(probability.min()) < NEAR

    def cdf_and_density(at: Floats, indices: Counts) -> tuple[Floats, Floats]:
        pairs = [part.cdf_and_density(at, rows[indices], is_far) for part in parts]
        cdf, density = (np.asarray(sum(each)) for each in zip(*pairs, strict=True))
        return cdf, density

    return logit_quantiles(cdf_and_density, probability, logit(first) + ndtri(probability) * spread)
