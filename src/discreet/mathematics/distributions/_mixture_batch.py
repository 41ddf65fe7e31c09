"""Many mixtures of Betas at once: quantiles, densities and widths of all cells of a table in a few passes over arrays.

Row i is sum_j w_ij Beta(a_i + j, T_i - a_i - j), j = 0, 1, ...: what is known of a probability whose count is known up
to an offset. With t_j(x) = x^(a_j) (1 - x)^(b_j - 1) Gamma(T) / (Gamma(a_j + 1) Gamma(b_j)) one has
I_x(a_j + 1, b_j - 1) = I_x(a_j, b_j) - t_j, so summing by parts around a pivot p, with C_j = sum_(k <= j) w_k and
S_j = sum_(k > j) w_k,

    cdf = I_x(a_p, b_p) + sum_(j < p) C_j t_j - sum_(j >= p) S_j t_j,    density of logit x = (1 - x) sum_j w_j a_j t_j:

one incomplete Beta function a row instead of one a count. t_p is computed in Loader's form, which keeps its digits at
any number of records, all other t_j from their ratios to it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaincc, betaincinv, digamma, expit, gammaln, log_expit, logit, ndtri

from discreet._core.arrays import Counts, Floats
from discreet.mathematics import STIRLING
from discreet.mathematics.distributions._dirichlet import (
    FARTHEST,
    NEAR,
    ROUNDED,
    BetaMixture,
    Share,
    logit_quantiles,
    reaches_end,
    tails,
)

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

    @property
    def width(self) -> int:
        """Return how many Betas a row has."""
        return int(self.weights.shape[1])

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

    @property
    def at_ends(self) -> tuple[Floats, Floats]:
        """Return the densities at 0 and at 1 of rows whose parameters are 1 or more: Beta(1, b) has b at 0."""
        zero, one = np.zeros(len(self.weights)), np.zeros(len(self.weights))
        for density, a in ((zero, np.ones(len(zero))), (one, self.total - 1)):  # the only Betas with one there
            steps = a - self.start
            rows = np.flatnonzero((steps >= 0) & (steps < self.width) & (steps == np.rint(steps)))
            density[rows] = self.weights[rows, steps[rows].astype(np.int64)] * (self.total[rows] - 1)
        return zero, one

    def components(self, index: int) -> tuple[Floats, Floats, Floats]:
        """Return weights and both parameters of the Betas of one row, without those of no weight."""
        kept = np.flatnonzero(self.weights[index] > 0)
        a = self.start[index] + kept
        return self.weights[index, kept], a, self.total[index] - a

    def known_widths(self, level: float) -> tuple[Floats, Floats]:
        """Return the sums of the widths that exact counts would give, and of the weights."""
        rows, steps = np.nonzero(self.weights > _SHOWN)
        weights, count = self.weights[rows, steps], len(self.weights)
        widths = known_widths(self.start[rows] + steps, self.total[rows], level)
        summed, shares = np.bincount(rows, weights * widths, count), np.bincount(rows, weights, count)
        return np.asarray(summed, dtype=float), np.asarray(shares, dtype=float)


class MixturePart(Protocol):
    """Rows of mixtures of Betas that are added up with those of other parts; see `BetaRows`."""

    @property
    def width(self) -> int:
        """Return how many Betas a row has."""

    @property
    def share(self) -> Floats:
        """Return the sum of the weights of each row."""

    @property
    def mean(self) -> Floats:
        """Return the mean of each row among its own weights."""

    @property
    def mean_log(self) -> Floats:
        """Return sums over the weights of E log x."""

    @property
    def at_ends(self) -> tuple[Floats, Floats]:
        """Return the densities at 0 and at 1."""

    @property
    def turned(self) -> "MixturePart":
        """Return the distribution of one minus each proportion."""

    def rows(self, indices: Counts | slice) -> "MixturePart":
        """Return some rows."""

    def components(self, index: int) -> tuple[Floats, Floats, Floats]:
        """Return weights and both parameters of the Betas of one row."""

    def moments(self, centre: Floats) -> tuple[Floats, Floats, Floats]:
        """Return sums over the weights of the Betas' means less a centre, of the square of that, and of variances."""

    def cdf_and_density(self, at: Floats, rows: Counts, is_whole: bool = False) -> tuple[Floats, Floats]:
        """Return the cdf at a logit of each of some rows, and the density of the logit, both times the row's share."""

    def log_density(self, at: Floats, rows: Counts) -> Floats:
        """Return the logarithm of the density of the proportion itself at a logit of each of some rows."""

    def known_widths(self, level: float) -> tuple[Floats, Floats]:
        """Return the sums of the widths that exact counts would give, and of the weights."""


class MixtureBatch:
    """Rows of mixtures of Betas, each the sum of one row of every part: several priors have totals of their own.

    >>> uniform = MixtureBatch([BetaRows.of(np.ones((1, 1)), np.ones(1), 2.0)])
    >>> low, high = uniform.intervals(0.9)
    >>> round(float(low[0]), 15), round(float(high[0]), 15)
    (0.05, 0.95)
    """

    def __init__(self, parts: Sequence[MixturePart], classes: Counts | None = None) -> None:
        """Rows of one of the `classes` (whole numbers) are known to be alike: quantiles are searched once for each."""
        self.parts = tuple(part for part in parts if float(part.share.max()) >= _SMALL_SHARE)
        self.count, self._classes = len(parts[0].share), classes

    def rows(self, indices: Counts) -> "MixtureBatch":
        """Return some rows."""
        classes = None if self._classes is None else self._classes[indices]
        return MixtureBatch([part.rows(indices) for part in self.parts], classes)

    @classmethod
    def joined(cls, batches: "Sequence[MixtureBatch]") -> "MixtureBatch | None":
        """Return the rows of several batches one after the other; None where rows are sums of different parts."""
        parts = [part for batch in batches for part in batch.parts if isinstance(part, BetaRows)]
        if any(len(batch.parts) != 1 for batch in batches) or len(parts) < len(batches):
            return None
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
        found = [part.components(index) for part in self.parts]
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
        zero, one = (np.asarray(sum(each)) for each in zip(*(part.at_ends for part in self.parts), strict=True))
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
        width = max(part.width for part in self.parts)
        block = max(1, _BLOCK // (width * len(probabilities)))
        for start in range(0, self.count, block):
            own = slice(start, start + block)
            parts = self.parts if self.count <= block else [part.rows(own) for part in self.parts]
            found[:, own], steps[:, own] = _logits(parts, np.array(probabilities))
        return found, steps

    def known_widths(self, level: float = 0.9) -> Floats:
        """Return the mean width of the interval that each Beta of a row alone would give: that of exact counts."""
        summed, shares = zip(*(part.known_widths(level) for part in self.parts), strict=True)
        return np.asarray(sum(summed) / sum(shares))

    def privacy_shares(self, level: float = 0.9) -> Floats:
        """Return the share of each interval's width that is due to privacy: what exact counts would save."""
        low, high = self.intervals(level)
        return np.asarray(np.maximum(0.0, 1 - self.known_widths(level) / np.maximum(high - low, 1e-300)))


def _moments_of(parts: Sequence[MixturePart]) -> tuple[Floats, Floats, Floats]:
    """Return the mean of each row, and its variance between and within the Betas; sums are taken about one centre."""
    centre = parts[0].mean
    sums = zip(*(part.moments(centre) for part in parts), strict=True)
    first, second, within = (np.asarray(sum(each)) for each in sums)
    return centre + first, np.maximum(0.0, second - first**2), within


def _logits(parts: Sequence[MixturePart], probabilities: Floats) -> tuple[Floats, Counts]:
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


def _above_one_half(parts: Sequence[MixturePart], probabilities: Floats) -> NDArray[np.bool_]:
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


def _low_logits(parts: Sequence[MixturePart], probability: Floats, rows: Counts) -> tuple[Floats, Counts]:
    """Return the logits of quantiles that are not near 1 of rows (one may stand there twice), and steps taken."""
    first, between, within = (each[rows] for each in _moments_of(parts))
    spread = np.minimum(4.0, np.sqrt(between + within) / (first * (1 - first)))
    is_far = float(probability.min()) < NEAR

    def cdf_and_density(at: Floats, indices: Counts) -> tuple[Floats, Floats]:
        pairs = [part.cdf_and_density(at, rows[indices], is_far) for part in parts]
        cdf, density = (np.asarray(sum(each)) for each in zip(*pairs, strict=True))
        return cdf, density

    return logit_quantiles(cdf_and_density, probability, logit(first) + ndtri(probability) * spread)


_ALIKE = 1e-9  # relative: totals that differ by less were rounded differently

Summary = tuple[float, float, float, float, float, float | None]


def batch_of(mixtures: Sequence[BetaMixture]) -> MixtureBatch | None:
    """Return distributions as rows of one batch, or None where their Betas are not counts behind totals.

    Each distribution may have parts, one after the other, of Beta(a, T - a) with a rising by whole numbers (several
    priors).
    """
    split = [_parts(mixture) for mixture in mixtures]
    if not mixtures or any(parts is None or len(parts) != len(split[0] or ()) for parts in split):
        return None
    return MixtureBatch(
        [_stacked([parts[number] for parts in split if parts]) for number in range(len(split[0] or ()))]
    )


def summaries(mixtures: Sequence[BetaMixture], level: float) -> list[Summary]:
    """Return `mixture.summary(level)` of each distribution: mean, median, both ends, sd, share due to privacy."""
    opened = {isinstance(mixture, Share) for mixture in mixtures}
    if len(opened) != 1 or (batch := batch_of(mixtures)) is None:
        return [mixture.summary(level) for mixture in mixtures]
    return summaries_of(batch, level, opened.pop())


def summaries_of(batch: MixtureBatch, level: float, opened: bool) -> list[Summary]:
    """Return the summary of each row; intervals of shares are `opened` to 0 or 1 where that cannot be excluded."""
    low, high = ends_of(batch, level, opened)
    shares = np.maximum(0.0, 1 - batch.known_widths(level) / np.maximum(high - low, 1e-300))
    columns = (batch.mean, batch.median, low, high, batch.sd, shares)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def end_errors(batch: MixtureBatch, weight_error: float | None, found: Sequence[Summary]) -> list[float | None]:
    """Return what `mixture.numerical_error(level)` says of each row, given its summary."""
    if weight_error is None:
        return [None] * len(found)
    ends = np.array([(low, high) for _, _, low, high, _, _ in found]).T
    inside = (ends > 0) & (ends < 1)
    heights = np.stack([batch.log_density(np.where(kept, own, 0.5)) for own, kept in zip(ends, inside, strict=True)])
    off = weight_error + ROUNDED
    with np.errstate(over="ignore"):
        moved = np.where(inside, off * np.exp(-heights), 0.0).max(axis=0)
    return [float(each) for each in np.clip(moved, off, 1.0)]


def ends_of(batch: MixtureBatch, level: float, opened: bool) -> tuple[Floats, Floats]:
    """Return both ends of the interval of each row, opened where `reaches_end`, or equal-tailed."""
    low, high = batch.intervals(level)
    if opened:
        for end, ends, at, probability in zip(
            (0.0, 1.0), (low, high), batch.densities_at_ends, (level, 1 - level), strict=True
        ):
            (near,) = np.nonzero(at >= 1 - level)
            if near.size:
                rows = batch.rows(near)
                ends[near[reaches_end(at[near], rows.log_density(rows.quantile(probability)), level)]] = end
    return low, high


def _parts(mixture: BetaMixture) -> list[tuple[Floats, Counts, float, float]] | None:
    """Return for each run of a mixture its weights, steps, first parameter and total; None if steps are not whole."""
    totals = mixture.a + mixture.b
    rising = np.diff(mixture.a)
    starts = np.flatnonzero((rising < 0.5) | (np.abs(np.diff(totals)) > _ALIKE * totals[1:])) + 1
    found = []
    for here in np.split(np.arange(len(mixture.a)), starts):
        steps = mixture.a[here] - mixture.a[here[0]]
        whole = np.rint(steps).astype(np.int64)
        if np.abs(steps - whole).max() > _ALIKE * mixture.a[here[-1]]:
            return None
        found.append((mixture.weights[here], whole, float(mixture.a[here[0]]), float(totals[here[0]])))
    return found


def _stacked(runs: Sequence[tuple[Floats, Counts, float, float]]) -> BetaRows:
    width = max(int(steps[-1]) for _, steps, _, _ in runs) + 1
    table = np.zeros((len(runs), width))
    for row, (weights, steps, _, _) in zip(table, runs, strict=True):
        row[steps] = weights
    return BetaRows.of(table, [start for _, _, start, _ in runs], [total for _, _, _, total in runs])


def beta_cdf(a: Floats, b: Floats, x: Floats) -> Floats:
    """Return I_x(a, b) through the smaller of both tails, which keeps its digits."""
    found, above = np.empty_like(x), x > a / (a + b)
    found[above] = 1 - betaincc(a[above], b[above], x[above])
    found[~above] = betainc(a[~above], b[~above], x[~above])
    return found


def log_term(a: Floats, total: Floats, at: Floats) -> Floats:
    """Return log x^a (1 - x)^(b - 1) Gamma(T) / (Gamma(a + 1) Gamma(b)) at logits, b = T - a, by Loader's form.

    With N = T - 1 and c = b - 1 it is s(N) - s(a) - s(c) - D(a, N x) - D(c, N (1 - x)) + log(N / (2 pi a c)) / 2, s the
    remainder of Stirling's formula and D(k, m) = k log(k/m) + m - k. Where c <= 0 all of it is small, or the plain form
    is: then the ratio of Gammas is of numbers that differ by b - 1 alone.
    """
    log_x, log_rest = log_expit(at), log_expit(-at)
    n, c = total - 1, total - 1 - a
    loader = c > 0
    safe, whole = np.where(loader, c, 1.0), np.where(loader, n, a + 1.0)
    found = _remainder(whole) - _remainder(a) - _remainder(safe)
    found -= _deviance(a, whole, at, log_x) + _deviance(safe, whole, -at, log_rest)
    found += 0.5 * np.log(whole / (2 * np.pi * a * safe))
    if loader.all():
        return np.asarray(found)
    plain = a * log_x + c * log_rest + gammaln(total) - gammaln(a + 1) - gammaln(c + 1)
    return np.where(loader, found, plain)


def _remainder(z: Floats) -> Floats:
    """Return log z! - (z + 1/2) log z + z - log(2 pi)/2."""
    large = z >= 16
    far, near = np.where(large, z, 16.0), np.where(large, 16.0, z)
    series, square = np.zeros_like(far), far**-2
    for coefficient in reversed(STIRLING):
        series = series * square + coefficient
    series /= far
    return np.where(large, series, gammaln(near + 1) - (near + 0.5) * np.log(near) + near - 0.5 * np.log(2 * np.pi))


def _deviance(k: Floats, n: Floats, at: Floats, log_x: Floats) -> Floats:
    """Return D(k, n x) = k log(k / (n x)) + n x - k at a logit, by a series where both are nearly equal.

    With e = (n x - k)/k and v = e/(2 + e) it is k (e v - 2 v^3 (1/3 + v^2/5 + ...)).
    """
    mean = n * expit(at)
    apart = (mean - k) / k
    near = np.abs(apart) < 0.1
    e = np.where(near, apart, 0.0)
    v = e / (2 + e)
    tail, square = np.zeros_like(v), v * v
    for j in reversed(range(8)):
        tail = tail * square + 1 / (2 * j + 3)
    series = e * v - 2 * square * v * tail
    return np.where(near, k * series, k * (np.log(k / n) - log_x) + mean - k)


_FEW = 2_000  # most different Betas that are computed one by one
_POINTS = 24
_GOOD = 1e-9  # relative
_HELD_OUT = np.array([-0.83, 0.07, 0.71])
_NODES = np.cos(np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)
_SIGNS = np.where(np.arange(_POINTS) % 2, -1.0, 1.0) * np.sin(np.pi * (np.arange(_POINTS) + 0.5) / _POINTS)


def known_widths(a: Floats, total: Floats, level: float) -> Floats:
    """Return the width of the equal-tailed interval of each of very many Betas: Beta(a, total - a), looked up.

    For one total a + b = T the width is a smooth function of log a. Where there are many different a, it is
    interpolated on panels [A, 2A] of a, or of b where that is less, through Chebyshev points; held-out points say
    whether a panel is good to 1e-9 of the width, and where it is not its Betas are asked one by one.
    """
    found = np.empty(len(a))
    for one in np.unique(total):
        here = np.flatnonzero(total == one)
        different, indices = np.unique(a[here], return_inverse=True)
        found[here] = _widths(different, float(one), level)[indices.ravel()]
    return found


def _widths(a: Floats, total: float, level: float) -> Floats:
    """Return the widths of different Betas of one total; those of a and of b are alike."""
    low, high = tails(level)

    def width(least: Floats) -> Floats:
        return np.asarray(betaincinv(least, total - least, high) - betaincinv(least, total - least, low))

    least = np.minimum(a, total - a)
    if len(a) <= _FEW:
        return width(least)
    found, panels = np.empty(len(a)), np.floor(np.log2(least))
    for panel in np.unique(panels):
        here = np.flatnonzero(panels == panel)
        found[here] = _on_panel(width, least[here], float(panel), total)
    return found


def _on_panel(width: Callable[[Floats], Floats], least: Floats, panel: float, total: float) -> Floats:
    """Return widths inside [2^panel, 2^(panel + 1)], cut where b would be the smaller one."""
    top = min(panel + 1, float(np.log2(total / 2)))
    if len(least) <= 2 * _POINTS or top <= panel:
        return width(least)

    def parameter(x: Floats) -> Floats:
        return np.asarray(2.0 ** (panel + (x + 1) / 2 * (top - panel)))

    values = width(parameter(_NODES))
    held = width(parameter(_HELD_OUT))
    if (np.abs(_barycentric(values, _HELD_OUT) - held) > _GOOD * held).any():
        return width(least)
    return _barycentric(values, np.clip(2 * (np.log2(least) - panel) / (top - panel) - 1, -1, 1))


def _barycentric(values: Floats, x: Floats) -> Floats:
    """Return the polynomial through values at the Chebyshev points, in its barycentric form."""
    apart = x[:, None] - _NODES
    exact = apart == 0
    terms = _SIGNS / np.where(exact, 1.0, apart)
    found = terms @ values / terms.sum(axis=1)
    rows, points = np.nonzero(exact)
    found[rows] = values[points]
    return np.asarray(found)
