"""Independent counts given their sum: the one sum over tables behind every exact posterior.

Cells have independent counts k_i with weights f_i, and their sum is known, or has a distribution h:

    P(k) ~ h(sum k) prod_i f_i(k_i),      S(t) = sum over k with sum k = t of prod_i f_i(k_i).

All weights are tilted by e^(lambda k), lambda chosen so that the mean of the sum is where h is (it cancels given the
sum). With F_i = sum_k f_i(k) e^(lambda k), p the distribution of the sum of the tilted cells and phi_i their Fourier
transforms on a circle of length L,

    S(t) = e^(-lambda t) prod_i F_i p(t),      p(t) = (1/L) sum_j e^(i theta_j t) prod_i phi_i(theta_j),

a cell's distribution given the sum is its weight times the distribution of all others, prod phi / phi_i, correlated
with h, and the mean of a function a of its count is a sum over frequencies of prod phi, once with the transform of
f_i a in place of phi_i.
Dividing by a small phi_i does no harm, as the same number is a factor of the product.

- Cells with the same weights are one row, taken to the power of how many there are.
- Where nothing lies outside and each of several totals is asked for, rows are convolved one after the other instead:
  all terms are positive, and totals far below the largest keep their digits (`_Sums`).
- Two cells of a known total need neither tilt nor transform: there is one number to sum over (`_Pair`).
- |prod phi| is at most the product over any cells. So of more than 64 rows the widest are transformed whole, J is the
  first frequency beyond which the product of their moduli, without the largest, sums to nothing, and all others are
  asked at J frequencies alone, by products of matrices; blocks of rows bound the memory.

What is left out is bounded (`error`), each part over the probability of the sum:

- windows: if out_i bounds sum f_i e^(lambda k) outside, at most sum_i out_i / F_i, as some count lies outside;
- folding: sums t + L and t - L, for every x > 0 at most e^(-x (t + L)) prod_i E e^(x k_i), and likewise below;
- frequencies from J on: (2/L) sum_(j >= J) of the product of moduli;
- rounding, to first order: 4e-16 for each transform and product.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.fft import next_fast_len

from discreet._core.arrays import Counts, Floats
from discreet.mathematics import TiltedStack, stack_tilted_to

Spectrum = NDArray[np.complex128]

MANY = 64
"""Of more rows only low frequencies are asked, where these are few."""
MOST_WAVES = 20_000_000
"""Frequencies times counts of a window: where there are more, whole transforms are taken."""
FOLDED = 44.0
"""Nats: what folds over on the circle is below e^-44 of the largest probability."""
_LEFT_OUT = 1e-17  # share of the largest probability that frequencies left out may hold
_ROUNDING = 4e-16  # rounding error of one transform or product, relative to the largest
_RATES = np.array([5.0, 9.0, -5.0, -9.0])  # x of Chernoff's bound, in standard deviations of the sum
_EDGE = 0.02  # share by which tilts stay away from those at which what lies outside is infinite
_MOST_EXPONENT = 300.0
_SHORT = 600  # a circle of this length costs less than finding out whether a shorter one would do
_BLOCK = 2_000_000  # numbers that are worked on together
_HELD = 128  # cells of which draws hold the distributions of what is before them
_HIDDEN = 1e-3  # a total of a probability this far below the largest is too far from the mean to be read
_HIDDEN_IN_ALL = 1e-7  # the same where the total has a distribution, whose largest weight may lie away from the sum
_TINY = 1e-150  # stands for a transform that is zero: products with it vanish, and may be divided by it
_FAINT = 1e-14  # sums of such a share of the likeliest are left out where sums of groups are listed side by side
_TRIM = 1e-17  # probabilities this far below the largest are dropped from the ends of distributions
_LEAST = 1e-290  # weights below are zero where sums are direct: products of two of them would be anyway
_STEEPEST = 50.0  # tilts of direct sums
_ENOUGH = 1e-12  # what windows of two cells may leave out before a better bound is looked for
_PAIRWISE = 5e-15  # rounding error of a sum of positive numbers, added by pairs
_UNIT = 1.2e-16  # rounding error of one sum or product


@dataclass(frozen=True, eq=False)
class TotalDistribution:
    """What is known of the sum: log weights h of low, low + 1, ...; a single one if the sum is known."""

    low: int
    log_weights: Floats

    @classmethod
    def known(cls, total: int) -> "TotalDistribution":
        """Return the distribution of a known total."""
        return cls(total, np.zeros(1))

    @classmethod
    def any_of(cls, low: int, high: int) -> "TotalDistribution":
        """Return equal weights for a range of totals."""
        return cls(low, np.zeros(high - low + 1))

    @property
    def totals(self) -> Counts:
        """Return the possible totals."""
        return self.low + np.arange(len(self.log_weights))


class Outside(Protocol):
    """Bounds on the weights outside the windows of all rows."""

    @property
    def tilts(self) -> tuple[Floats | float, Floats | float]:
        """Return the tilts of every table between which what lies outside is finite."""

    def log_outside(self, tilt: Floats) -> Floats:
        """Return for each table and row the log of a bound on sum f(k) e^(tilt (k - first)) over all k outside."""


class KnownSum:
    """Counts with weights `log_weights[b, i, s]` at first[b, i] + s in table b, -inf where there is none.

    Row i stands for `times[i]` cells. The mean of the sum is tilted to `centre`, if given, else to where the
    distribution of the total times that of the sum peaks, up to `near` standard deviations.
    `outside` bounds what windows leave out.

    >>> two = KnownSum(np.zeros((1, 3, 4)), np.zeros((1, 3), dtype=np.int64), TotalDistribution.known(4))
    >>> np.exp(two.log_mass).round(12), two.mean.round(12)
    (array([12.]), array([[1.33333333, 1.33333333, 1.33333333]]))
    """

    def __init__(
        self,
        log_weights: Floats,
        first: Counts,
        total: TotalDistribution,
        times: Counts | None = None,
        *,
        outside: Outside | None = None,
        centre: float | Floats | None = None,
        near: float = 0.01,
    ) -> None:
        tables, rows, self.width = log_weights.shape
        self.first, self.total, self._outside = first, total, outside
        self._powers = None if times is None or (times == 1).all() else times
        self.cells = rows if self._powers is None else int(self._powers.sum())
        self.longest = self.cells * (self.width - 1)  # the largest sum of steps
        base = first.sum(axis=-1) if self._powers is None else first @ self._powers
        self._base = np.full(tables, base) if first.ndim == 1 else base
        self._rest = total.low - self._base
        self._given = log_weights, centre, near

    @cached_property
    def times(self) -> Counts:
        """Return how many cells every row stands for."""
        return np.ones(self.cells, dtype=np.int64) if self._powers is None else self._powers

    @cached_property
    def tilted(self) -> TiltedStack:
        """Return all distributions tilted to the total, or to the centre."""
        logs, centre, near = self._given
        if not self._is_pair:
            del self._given  # the weights take their place
        limits, totals, absolute = self._limits, self.total.totals, 1e-9
        if self._is_direct:
            absolute, near = 0.5, 0.1  # any tilt will do that keeps what matters from underflow
        wanted = np.asarray(self._rest if centre is None else centre - self._base)
        if centre is None and len(totals) > 1:
            wanted = self._rest + int(self.total.log_weights.argmax())
        for _ in range(30):
            found = stack_tilted_to(logs, wanted, absolute=absolute, relative=near, times=self._powers, limits=limits)
            if centre is not None or len(totals) == 1:
                break
            spreads, steps = np.sqrt(found.variance), self._rest[:, None] + np.arange(len(totals))
            away = (steps - wanted[:, None]) / np.maximum(spreads, 0.3)[:, None]
            peaks = (self.total.log_weights - found.tilt[:, None] * steps - away**2 / 2).argmax(axis=1)
            if (np.abs(self._rest + peaks - wanted) <= 0.5 * spreads + 1).all():
                break
            wanted = self._rest + peaks
        if self._is_direct:  # formed anew: factors of the last steps would lose what is small
            weights = np.add(logs, found.tilt[0] * np.arange(self.width), out=found.weights)
            weights -= found.log_sums[..., None]
            np.exp(weights, out=weights)
        return found

    @cached_property
    def _is_direct(self) -> bool:
        """Return whether each of several totals is asked for, and nothing lies outside: then every digit is kept.

        Windows leave out a share of the largest sum; so may transforms, which are quicker where windows are wide.
        """
        alone = len(self._rest) == 1 and self._powers is None
        return self._outside is None and len(self.total.log_weights) > 1 and alone

    @property
    def _is_pair(self) -> bool:
        return self.cells == 2 and len(self.total.log_weights) == 1

    @cached_property
    def _pair(self) -> "_Pair | None":
        """Return the distribution of one of two cells, whose total is known: no transform, and no tilt, is needed."""
        return _Pair(self._given[0][:, 0], self._given[0][:, -1], self._rest) if self._is_pair else None

    @property
    def _limits(self) -> tuple[Floats, Floats] | None:
        """Return tilts between which what lies outside is finite; all are allowed where there are none."""
        if self._outside is None:
            return (np.array([-_STEEPEST]), np.array([_STEEPEST])) if self._is_direct else None
        low, high = (np.full(self._rest.shape, tilts, dtype=float) for tilts in self._outside.tilts)
        low += _EDGE * np.where(np.isfinite(low), np.abs(low), 0.0)
        high -= _EDGE * np.where(np.isfinite(high), np.abs(high), 0.0)
        return np.where(low < high, low, -np.inf), np.where(low < high, high, np.inf)

    @cached_property
    def _spreads(self) -> Floats:
        return np.sqrt(self.tilted.variance)

    @cached_property
    def _log_goal(self) -> tuple[Floats, Floats]:
        """Return log h(t) e^(-lambda t) for every total, at most 0, and what was taken off; -inf where t is out."""
        if len(self.total.log_weights) == 1:
            scale = self.total.log_weights[0] - self.tilted.tilt * self._rest
            return np.zeros((len(scale), 1)), scale
        steps = self._rest[:, None] + np.arange(len(self.total.log_weights))
        logs = self.total.log_weights - self.tilted.tilt[:, None] * steps
        logs = np.where((steps >= 0) & (steps <= self.longest), logs, -np.inf)
        scale = logs.max(axis=1)
        return logs - np.where(np.isfinite(scale), scale, 0.0)[:, None], scale

    # The circle

    @cached_property
    def _chernoff(self) -> tuple[Floats, Floats]:
        """Return rates x, and log E e^(x k) of the sum of steps k in every table."""
        rates = np.sign(_RATES) * np.minimum(
            np.abs(_RATES) / max(float(self._spreads.max()), 1e-9), _MOST_EXPONENT / self.width
        )
        logs = np.log(self.tilted.weights @ np.exp(np.arange(self.width)[:, None] * rates))
        return rates, logs.sum(axis=1) if self._powers is None else np.einsum("r,brx->bx", self.times, logs)

    def _folding(self, low: Floats | Counts, high: Floats | Counts) -> Floats:
        """Return logs of what is, for each rate (columns), at least P(k >= high + L) e^(x L), or P(k <= low - L)."""
        rates, logs = self._chernoff
        half = len(rates) // 2
        upper = logs[:, :half] - rates[:half] * np.asarray(low)[:, None]
        return np.concatenate([upper, logs[:, half:] - rates[half:] * np.asarray(high)[:, None]], axis=1)

    @cached_property
    def _circle(self) -> "_Circle":
        """Return a circle on which next to nothing folds onto the possible totals: enough for single cells."""
        length = self.longest + 1
        if length > _SHORT:
            spread = float(self._spreads.max())
            logs = self._folding(self._rest, self._rest + len(self.total.log_weights) - 1)
            ends = (FOLDED + np.log(self.width * (1 + 3 * spread)) + logs) / np.abs(self._chernoff[0])
            needed = max(float(side.min(axis=1).max()) for side in np.split(ends, 2, axis=1))
            length = min(length, max(self.width, len(self.total.log_weights), int(np.ceil(min(max(needed, 1.0), 1e9)))))
        return self._circle_of(length)

    @cached_property
    def _folded(self) -> Floats:
        """Return a bound on the probability of sums that fold onto the possible totals."""
        if self._circle.length > self.longest:
            return np.zeros(len(self._rest))
        logs = self._folding(self._rest, self._rest + len(self.total.log_weights) - 1)
        logs = logs - np.abs(self._chernoff[0]) * self._circle.length
        return np.asarray(sum(np.exp(side.min(axis=1)) for side in np.split(logs, 2, axis=1)))

    @cached_property
    def _wide(self) -> "_Circle":
        """Return a circle on which sums of some cells are distinguishable: |k - E k| < L/2 but for next to nothing.

        E e^(x (k - E k)) of some cells is at most that of all, so that one length serves all groups.
        """
        middle = self.means.sum(axis=1) if self._powers is None else self.means @ self.times
        ends = (FOLDED + np.log(1 + 3 * float(self._spreads.max())) + self._folding(middle, middle)) / np.abs(
            self._chernoff[0]
        )
        half = max(float(side.min(axis=1).max()) for side in np.split(ends, 2, axis=1))
        length = min(self.longest + 1, int(2 * half) + self.width + len(self.total.log_weights))
        return self._circle if length <= self._circle.length else self._circle_of(length)

    def _circle_of(self, length: int) -> "_Circle":
        return _Circle(self.tilted.weights, self._powers, int(next_fast_len(length, real=True)), self._spreads)

    def let_go(self) -> None:
        """Drop transforms of single rows, which are long: they are computed again if they are asked for."""
        for circle in (vars(self)[name] for name in ("_circle", "_wide") if name in vars(self)):
            for name in ("spectra", "_waves"):
                vars(circle).pop(name, None)

    @property
    def means(self) -> Floats:
        """Return the means of the steps of all rows under the tilt alone."""
        return self.tilted.means

    # What is asked of all tables at once

    @cached_property
    def _goal(self) -> Spectrum:
        """Return the transform of the goal, turned round: sum_t h(t) e^(-lambda t) e^(i theta t)."""
        circle, (logs, _) = self._circle, self._log_goal
        if logs.shape[1] == 1:
            return _turns(circle.length, circle.count, self._rest)
        placed = np.zeros((len(logs), circle.length))
        positions = (self._rest[:, None] + np.arange(logs.shape[1])) % circle.length
        np.put_along_axis(placed, positions, np.exp(logs), axis=1)
        return np.asarray(np.conj(np.fft.rfft(placed, circle.length, axis=1)[:, : circle.count]))

    @cached_property
    def _turned(self) -> Spectrum:
        """Return the product of all transforms times the goal; inner frequencies count twice."""
        return np.asarray(self._circle.product * self._goal * self._circle.doubled)

    @cached_property
    def scale(self) -> Floats:
        """Return the probability of the total, times the length."""
        return np.asarray(self._turned.real.sum(axis=1))

    @cached_property
    def mass(self) -> Floats:
        """Return the tilted probability of the total; zero or less where rounding destroyed it."""
        return self.scale / self._circle.length

    @cached_property
    def log_bound(self) -> Floats:
        """Return an upper bound on `log_mass` that needs no transform, as the probability of the total is at most 1."""
        logs = self.tilted.log_sums
        return np.asarray((logs.sum(axis=1) if self._powers is None else logs @ self.times) + self._log_goal[1])

    @property
    def log_mass(self) -> Floats:
        """Return log sum_t h(t) S(t) of every table, -inf where rounding destroyed it."""
        if self._pair is not None:
            return np.asarray(self._pair.log_mass + self.total.log_weights[0])
        possible = self.mass > 0
        return np.where(possible, np.log(np.where(possible, self.mass, 1.0)) + self.log_bound, -np.inf)

    def expect(self, values: Floats) -> Floats:
        """Return E[a_i(s_i)] for rows of values a_i(0), a_i(1), ... that have the mean 0 under the tilted weights."""
        if self.tilted.weights.shape[1] <= MANY:
            ratios = self._circle.transform(self.tilted.weights * values) / self._circle.spectra
            return np.asarray(np.matmul(ratios, self._turned[..., None])[..., 0].real / self.scale[:, None])
        found = np.empty(self.means.shape)
        for part, spectra in self._circle.parts():
            ratios = self._circle.transform(self.tilted.weights[:, part] * values[:, part]) / spectra
            found[:, part] = np.matmul(ratios, self._turned[..., None])[..., 0].real
        found /= self.scale[:, None]
        return found

    @property
    def mean(self) -> Floats:
        """Return the expected count of a cell of every row."""
        steps = np.arange(self.width)
        if self._pair is not None:
            return np.asarray(self.first + self.marginals @ steps)
        means = self.tilted.weights @ steps  # sums of positive numbers: a tiny mean keeps its digits
        return np.asarray(self.first + means + self.expect(steps - means[..., None]))

    def covariance_times(self, vector: Floats) -> Floats:
        """Return Cov[k] v, for tables all of whose rows are single cells: O(rows x length), without any matrix."""
        steps, circle = np.arange(self.width) - self.means[..., None], self._circle
        first = circle.transform(self.tilted.weights * steps) / circle.spectra
        second = circle.transform(self.tilted.weights * steps**2) / circle.spectra
        along = (vector[:, None] * first).sum(axis=1, keepdims=True)
        both = self._turned[:, None] * (first * along + vector[:, None] * (second - first**2))
        shift = (self._turned[:, None] * first).real.sum(axis=-1) / self.scale[:, None]
        return np.asarray(both.real.sum(axis=-1) / self.scale[:, None] - shift * (shift @ vector)[:, None])

    @cached_property
    def marginals(self) -> Floats:
        """Return P(k = first + s) of a cell of every row: (tables, rows, steps)."""
        if self._pair is not None:
            return self._pair.marginals[:, : self._given[0].shape[1]]
        found, goal = np.empty(self.tilted.weights.shape), (self._circle.product * self._goal)[:, None]
        for part, spectra in self._circle.parts():
            np.multiply(self.tilted.weights[:, part], self._distribution_of_others(goal, spectra), out=found[:, part])
        found /= np.maximum(found.sum(axis=-1, keepdims=True), 1e-300)
        return found

    def marginals_of(self, chosen: Counts) -> Floats:
        """Return the same of some rows of each table (tables, chosen), where there are few rows."""
        if self._pair is not None:
            return np.take_along_axis(self.marginals, chosen[..., None], axis=1)
        own = np.take_along_axis(self.tilted.weights, chosen[..., None], axis=1)
        spectra = np.take_along_axis(self._circle.spectra, chosen[..., None], axis=1)
        own *= self._distribution_of_others((self._circle.product * self._goal)[:, None], spectra)
        own /= np.maximum(own.sum(axis=-1, keepdims=True), 1e-300)
        return own

    def _distribution_of_others(self, goal: Spectrum, spectra: Spectrum) -> Floats:
        """Return what all others weigh if a row with these transforms has the count first + s, for every step s."""
        distributions = self._circle.distribution_before(goal / spectra)
        return np.maximum(distributions, 0.0, out=distributions)

    # Errors

    @cached_property
    def left_outside(self) -> Floats:
        """Return a bound on the tilted probability that some count lies outside its window."""
        if self._outside is None:
            return np.zeros(len(self._rest))
        logs = self._outside.log_outside(self.tilted.tilt) - self.tilted.log_sums
        return np.asarray(np.exp(np.minimum(logs, 0.0)) @ self.times.astype(float))

    @cached_property
    def lost(self) -> Floats:
        """Return what windows leave out, beside the probability of the total; infinite where that is not known.

        It is not where no tilt with a finite bound brings the mean near the total, so that rounding hides the latter.
        """
        if self._pair is not None:
            return self._lost_of_pair
        hidden = _HIDDEN if len(self.total.log_weights) == 1 else _HIDDEN_IN_ALL
        known = (self.left_outside < self.mass) & (self.mass * (1 + 4 * self._spreads) > hidden)
        return np.where(known, self.left_outside / np.where(known, self.mass, 1.0), np.inf)

    @property
    def _lost_of_pair(self) -> Floats:
        """Return what windows of two cells leave out: any tilt gives a bound, and no tilt often one that is enough."""
        if (limits := self._limits) is None:
            return np.zeros(len(self._rest))
        found = self._beside_pair(np.minimum(np.maximum(0.0, limits[0]), limits[1]))
        return found if (found <= _ENOUGH).all() else np.minimum(found, self._beside_pair(self.tilted.tilt))

    def _beside_pair(self, tilt: Floats) -> Floats:
        """Return out_1 max f_2 e^(lambda s) + out_2 max f_1 e^(lambda s), over e^(lambda t) S(t)."""
        assert self._outside is not None
        assert self._pair is not None
        logs = self._given[0]
        peaks = (logs + tilt[:, None, None] * np.arange(self.width) if tilt.any() else logs).max(axis=-1)
        outside = np.broadcast_to(self._outside.log_outside(tilt), peaks.shape)
        with np.errstate(invalid="ignore"):
            shares = outside + np.maximum(peaks, outside)[:, ::-1] - (tilt * self._rest + self._pair.log_mass)[:, None]
        shares = np.where(np.isnan(shares), np.inf, np.exp(np.minimum(shares, _MOST_EXPONENT)))
        return np.asarray(2 / logs.shape[1] * shares.sum(axis=1))

    @property
    def outside_share(self) -> float:
        """Return what windows leave out of the first table, beside about the largest probability of a sum."""
        return float(self.left_outside[0] * (1 + 4 * self._spreads[0]))

    @cached_property
    def _hidden(self) -> Floats:
        """Return a bound on the error of every probability of the sum: folding and frequencies left out."""
        return np.asarray(self._folded + self._circle.left_out)

    @property
    def error(self) -> Floats:
        """Return a bound on the share by which every probability may be off, all in all."""
        if self._pair is not None:
            return np.asarray(self.lost + _PAIRWISE)
        mass = np.maximum(self.mass, 1e-300)
        weights = np.exp(self._log_goal[0]).sum(axis=1)
        return np.asarray(self.lost + (self._hidden + self._circle.rounding[1]) * weights / mass)

    # What is asked of one table: its totals one by one, groups of cells, pairs of groups, draws

    @cached_property
    def _sums(self) -> "_Sums | None":
        """Return direct sums for every total."""
        if not self._is_direct:
            return None
        return _Sums(self.tilted.weights[0], int(self._rest[0]), len(self.total.log_weights))

    @cached_property
    def _chances(self) -> tuple[Floats, Floats]:
        """Return p(t) of every total, nowhere below what rounding hides, and a bound on its relative error."""
        steps = self._rest[0] + np.arange(len(self.total.log_weights))
        inside = (steps >= 0) & (steps <= self.longest)
        distribution = np.where(
            inside, self._circle.distribution(self._circle.product[0])[steps % self._circle.length], 0.0
        )
        floor = float(self._circle.rounding[0][0])
        chances = np.maximum(distribution, floor)
        lost = float(self.left_outside[0] + self._hidden[0]) + floor
        return chances, np.where(inside & (distribution > 2 * floor), lost / chances, 1.0)

    @property
    def errors(self) -> Floats:
        """Return for every total a bound on the relative error of S(t), 1 where it is not known at all."""
        return self._chances[1] if self._sums is None else self._sums.errors

    @property
    def log_sums(self) -> Floats:
        """Return log S(t) for every total, -inf where direct sums underflow."""
        steps = self._rest[0] + np.arange(len(self.total.log_weights))
        with np.errstate(divide="ignore"):
            logs = np.log(self._chances[0] if self._sums is None else self._sums.distribution)
        own = self.tilted.log_sums[0]
        logs += own.sum() if self._powers is None else own @ self._powers
        logs -= self.tilted.tilt[0] * steps
        return np.asarray(logs)

    @cached_property
    def means_given(self) -> Floats:
        """Return E[k_i | t] for each row and total (columns)."""
        if self._sums is not None:
            found = self._sums.means
            found += self.first[0][:, None]
            return found
        circle, found = self._circle, np.empty((len(self.times), len(self.total.log_weights)))
        steps, positions = np.arange(self.width), self._rest[0] + np.arange(found.shape[1])
        means = self.means[0][:, None]
        for part, spectra in circle.parts():
            away = self.tilted.weights[0, part] * (steps - means[part])
            ratios = circle.transform(away[None])[0] * (circle.product[0] / spectra[0])
            found[part] = circle.law_at(ratios, positions)
        found /= self._chances[0]
        return np.asarray(self.first[0][:, None] + np.clip(means + found, 0, self.width - 1))

    def _distribution_of(self, group: Counts) -> Floats:
        """Return the distribution of the sum of the steps of `group` cells of every row, on the wide circle."""
        return np.maximum(0.0, self._wide.distribution(self._wide.product_of(group)))

    def marginal(self, group: Counts, total: int | None = None) -> tuple[Counts, Floats]:
        """Return the possible sums of `group` cells of every row, and their probabilities given the total."""
        if total is None and len(self.total.log_weights) == 1 and np.array_equal(group, self.times):
            return np.array([self.total.low]), np.ones(1)
        if total is None and group.sum() == 1:
            row = int(group.argmax())
            return self._trimmed(self.first[0, row] + np.arange(self.width), self.marginals[0, row], _TRIM)
        circle, middle = self._wide, int(self.means[0] @ group)
        steps = middle - circle.length // 2 + np.arange(circle.length)
        own = (self.width - 1) * int(group.sum())
        low, high = self._rest[0], self._rest[0] + len(self.total.log_weights) - 1
        if total is not None:
            low = high = total - self._base[0]
        steps = steps[(steps >= max(0, low - (self.longest - own))) & (steps <= min(own, high))]
        weights = (
            self._distribution_of(group)[steps % circle.length]
            * self._rest_distribution(self.times - group, total)[-steps % circle.length]
        )
        return self._trimmed(int(self.first[0] @ group) + steps, weights, _TRIM)

    def _rest_distribution(self, others: Counts, total: int | None) -> Floats:
        """Return what other cells weigh if all but them have a sum of -s, at positions s of the wide circle."""
        distribution, length = self._distribution_of(others), self._wide.length
        if total is not None or len(self.total.log_weights) == 1:
            step = int(self._rest[0]) if total is None else total - int(self._base[0])
            return np.asarray(distribution[(step + np.arange(length)) % length])
        placed = np.zeros(length)
        placed[(self._rest[0] + np.arange(len(self.total.log_weights))) % length] = np.exp(self._log_goal[0][0])
        goal, own = np.fft.rfft(placed), np.fft.rfft(distribution)
        correlated = np.maximum(
            0.0, np.fft.irfft(own * np.conj(goal), length)
        )  # at s: sum_t goal(t) distribution(t + s)
        return np.asarray(correlated)

    def beside(self, group: Counts) -> "Beside":
        """Return P(sum of `group` cells, sum of all others), where the total is not known, in blocks of rows."""
        first, last = self._rest[0], self._rest[0] + len(self.total.log_weights) - 1
        found, least = [], []
        for own in (group, self.times - group):
            length, middle = self._wide.length, int(self.means[0] @ own)
            steps = middle - length // 2 + np.arange(length)
            steps = steps[(steps >= 0) & (steps <= min(last, (self.width - 1) * int(own.sum())))]
            chances = self._distribution_of(own)[steps % length]
            (kept,) = np.nonzero(chances > _FAINT * chances.max())
            found.append(chances[kept[0] : kept[-1] + 1])
            least.append(int(steps[kept[0]]))
        goal, beyond = np.exp(self._log_goal[0][0]), last - first

        def rows(start: int, end: int) -> Floats:
            totals = sum(least) - first + np.arange(start, end)[:, None] + np.arange(len(found[1]))
            inside = np.where((totals >= 0) & (totals <= beyond), goal[np.clip(totals, 0, beyond)], 0.0)
            return np.asarray(found[0][start:end, None] * found[1] * inside)

        bases = [int(self.first[0] @ own) + step for own, step in zip((group, self.times - group), least, strict=True)]
        return Beside(bases[0], bases[1], len(found[0]), len(found[1]), rows)

    def pair(
        self, one: Counts, two: Counts, sums: tuple[Counts, Counts], trim: float
    ) -> tuple[tuple[Counts, Counts, Floats], float]:
        """Return pairs of some sums of two groups with their probabilities, and the share of pairs that is trimmed.

        `one` and `two` say how many cells of each row a group has.
        """
        length = self._wide.length
        steps_one, steps_two = (own - int(self.first[0] @ group) for own, group in zip(sums, (one, two), strict=True))
        weights = (
            self._distribution_of(one)[steps_one[:, None] % length] * self._distribution_of(two)[steps_two % length]
        )
        weights *= self._rest_distribution(self.times - one - two, None)[(-steps_one[:, None] - steps_two) % length]
        rows, columns = np.nonzero(weights > trim * weights.max())
        kept = weights[rows, columns]
        trimmed = max(0.0, 1 - float(kept.sum() / weights.sum()))
        return (sums[0][rows], sums[1][columns], kept / kept.sum()), trimmed

    @staticmethod
    def _trimmed(counts: Counts, weights: Floats, trim: float) -> tuple[Counts, Floats]:
        """Return the same without ends that weigh nothing."""
        (kept,) = np.nonzero(weights > trim * weights.max())
        inner = slice(int(kept[0]), int(kept[-1]) + 1)
        return counts[inner], weights[inner] / weights[inner].sum()

    def draw(self, totals: Counts, generator: np.random.Generator, order: Counts | None = None) -> Counts:
        """Draw a table of counts for every total: the last cell first, P(s) ~ f(s) p_before(left - s).

        `order` says which row every cell (columns) belongs to.
        """
        rows = np.repeat(np.arange(len(self.times)), self.times) if order is None else order
        left = np.asarray(totals) - int(self._base[0])
        drawn = np.empty((len(left), len(rows)), dtype=np.int64)
        if self._pair is not None:
            drawn[:, 0] = self._pair.draw(int(rows[0]), len(left), generator)
            drawn[:, 1] = left - drawn[:, 0]
            drawn += self.first[0][rows]
            return drawn
        for cell, before in self._distributions_before(rows):
            drawn[:, cell] = drawn_steps(self.tilted.weights[0, rows[cell]], before, left, generator) if cell else left
            left = left - drawn[:, cell]
        drawn += self.first[0][rows]
        return drawn

    def _distributions_before(self, rows: Counts) -> Iterator[tuple[int, Floats]]:
        """Yield every cell, the last one first, and the distribution of the sum of all before it, in blocks."""
        if self._sums is not None and np.array_equal(rows, np.arange(self.cells)):
            yield from reversed(list(enumerate([np.ones(1), *self._sums.before[:-1]])))
            return
        circle, starts = self._wide, [np.ones(self._wide.length // 2 + 1, dtype=np.complex128)]
        for start in range(0, len(rows) - _HELD, _HELD):
            starts.append(starts[-1] * circle.whole(rows[start : start + _HELD]).prod(axis=0))
        for number, before in reversed(list(enumerate(starts))):
            cells = rows[number * _HELD : (number + 1) * _HELD]
            spectra = np.concatenate([before[None], circle.whole(cells[:-1])])
            distributions = np.maximum(
                0.0, np.fft.irfft(np.cumprod(spectra, axis=0, out=spectra), circle.length, axis=1)
            )
            for index in reversed(range(len(cells))):
                yield number * _HELD + index, distributions[index]


@dataclass(frozen=True, eq=False)
class Beside:
    """Weights of pairs (first + row, least_rest + column): a sum beside that of all others, some rows at a time."""

    first: int
    least_rest: int
    sums: int
    rests: int
    rows: Callable[[int, int], Floats]

    def blocks(self) -> Iterator[Floats]:
        """Yield all rows, in blocks that fit into memory."""
        size = max(1, _BLOCK // self.rests)
        for start in range(0, self.sums, size):
            yield self.rows(start, min(start + size, self.sums))

    @property
    def whole(self) -> Floats:
        """Return all probabilities."""
        weights = np.concatenate(list(self.blocks()))
        return np.asarray(weights / weights.sum())


def drawn_steps(weights: Floats, before: Floats, left: Counts, generator: np.random.Generator) -> Counts:
    """Draw one cell's step for each rest, P(s) ~ f(s) p_before(left - s).

    Equal rests share one table, a few million numbers at a time.
    """
    levels, inverse, repeats = np.unique(left, return_inverse=True, return_counts=True)
    marks, found = generator.random(len(left)), np.empty(len(left), dtype=np.int64)
    (steps,) = np.nonzero(weights)
    chunk = max(1, 2 * _BLOCK // len(steps))
    order, ends = np.argsort(inverse, kind="stable"), np.cumsum(repeats)
    for start in range(0, len(levels), chunk):
        behind = levels[start : start + chunk, None] - steps
        table = np.cumsum(weights[steps] * np.where(behind < 0, 0.0, before[behind % len(before)]), axis=1)
        own = order[ends[start] - repeats[start] : ends[start + len(table) - 1]]
        if len(own) * len(steps) <= _BLOCK:  # every draw looks at all of its row: quicker than one row after the other
            rows = table[inverse[own] - start]
            positions = (rows <= (marks[own] * rows[:, -1])[:, None]).sum(axis=1)
            found[own] = steps[np.minimum(positions, len(steps) - 1)]
            continue
        for row, number in zip(table, range(start, len(levels)), strict=False):
            part = order[ends[number] - repeats[number] : ends[number]]
            positions = np.searchsorted(row, marks[part] * row[-1], side="right")
            found[part] = steps[np.minimum(positions, len(steps) - 1)]
    return found


class _Circle:
    """Fourier transforms of rows of weights (tables, rows, steps) on a circle, at the frequencies that matter.

    `count` frequencies are kept; `left_out` bounds what the others add to any probability of a sum of all cells, or of
    all but one.
    """

    left_out: Floats | float = 0.0

    def __init__(self, weights: Floats, powers: Counts | None, length: int, spreads: Floats) -> None:
        self._weights, self._powers, self.length = weights, powers, length
        self.count, self._waved = length // 2 + 1, False
        if weights.shape[1] > MANY:
            pairs = zip(weights, spreads.tolist(), strict=True)
            kept = [self._kept(table, self._times, spread) for table, spread in pairs]
            count = max(number for number, _ in kept)
            if count * weights.shape[2] <= MOST_WAVES and count < self.count:
                self.count, self._waved = count, True
                self.left_out = np.array([left for _, left in kept])

    def _kept(self, weights: Floats, times: Counts, spread: float) -> tuple[int, float]:
        """Return how many frequencies matter to sums of `group` cells of each row, and what the others could add."""
        some, steps = max(MANY, int(times.sum()) // 40), np.arange(weights.shape[1])
        variances = weights @ steps**2 - (weights @ steps) ** 2
        order = np.argsort(-variances, kind="stable")
        order = order[times[order] > 0]
        widest = order[: int(np.searchsorted(np.cumsum(times[order]), some)) + 1]
        moduli = np.log(np.maximum(np.abs(np.fft.rfft(weights[widest], self.length, axis=1)), 1e-300))
        product = np.exp(np.minimum(0.0, times[widest] @ moduli - moduli.max(axis=0)))
        tails = 2 / self.length * np.cumsum(product[::-1])[::-1]
        kept = int(np.count_nonzero(tails > _LEFT_OUT / (2.6 * max(spread, 0.4))))
        return max(1, kept), float(tails[kept]) if kept < len(tails) else 0.0

    @cached_property
    def _times(self) -> Counts:
        return np.ones(self._weights.shape[1], dtype=np.int64) if self._powers is None else self._powers

    @cached_property
    def doubled(self) -> Floats:
        """Return how often each frequency counts."""
        return _doubled(self.length, self.count)

    @cached_property
    def _waves(self) -> tuple[Floats, Floats]:
        turns = self._angles(np.arange(self._weights.shape[2]))
        return np.cos(turns), np.sin(turns)

    def _angles(self, positions: Counts) -> Floats:
        """Return theta_j (columns) times positions (rows); whole turns are taken off before anything is rounded."""
        return np.asarray(2 * np.pi / self.length * (positions[:, None] * np.arange(self.count) % self.length))

    def transform(self, numbers: Floats) -> Spectrum:
        """Return the transforms of rows of numbers (last axis)."""
        if not self._waved:
            return np.asarray(np.fft.rfft(numbers, self.length, axis=-1))
        cosines, sines = self._waves
        found = np.empty((*numbers.shape[:-1], self.count), dtype=np.complex128)
        found.real = numbers @ cosines
        found.imag = numbers @ sines
        np.negative(found.imag, out=found.imag)
        return found

    @cached_property
    def spectra(self) -> Spectrum:
        """Return the transforms of all rows; zeros are replaced by a number that products do not see."""
        return self._of(slice(None))

    def _of(self, part: slice) -> Spectrum:
        found = self.transform(self._weights[:, part])
        if not found.all():
            found[found == 0] = _TINY
        return found

    def parts(self) -> Iterator[tuple[slice, Spectrum]]:
        """Yield all rows with their transforms, in blocks where these are not held."""
        rows = self._weights.shape[1]
        if rows <= MANY:
            yield slice(None), self.spectra
            return
        block = max(1, _BLOCK // self._weights.shape[2]) if self._waved else MANY
        for start in range(0, rows, block):
            part = slice(start, start + block)
            yield part, self.spectra[:, part] if self._waved else self._of(part)

    @cached_property
    def product(self) -> Spectrum:
        """Return the product of the transforms of all cells."""
        if self._waved or self._weights.shape[1] <= MANY:
            return self._prod(self.spectra, self._powers)
        found = np.ones((len(self._weights), self.count), dtype=np.complex128)
        for part, spectra in self.parts():
            found *= self._prod(spectra, None if self._powers is None else self._powers[part])
        return found

    @staticmethod
    def _prod(spectra: Spectrum, times: Counts | None) -> Spectrum:
        if times is not None:
            spectra = spectra.copy()
            (more,) = np.nonzero(times != 1)
            spectra[:, more] = np.power(spectra[:, more], times[more, None])
        return np.asarray(spectra.prod(axis=1))

    def whole(self, rows: Counts) -> Spectrum:
        """Return the transforms of some rows of the first table at all frequencies."""
        if self._weights.shape[1] <= MANY:
            return np.asarray(self.spectra[0, rows])
        return np.asarray(np.fft.rfft(self._weights[0, rows], self.length, axis=1))

    def product_of(self, group: Counts) -> Spectrum:
        """Return the transform of the sum of `group` cells of every row of the first table, as far as it matters."""
        (held,) = np.nonzero(group)
        if self._waved and group.sum() > MANY:
            if (group == self._times).all():
                return np.asarray(self.product[0])
            steps, weights = np.arange(self._weights.shape[2]), self._weights[0, held]
            spread = np.sqrt(group[held] @ (weights @ steps**2 - (weights @ steps) ** 2))
            if self._kept(self._weights[0], group, float(spread))[0] <= self.count:
                return np.asarray(self._prod(self.spectra[:, held], group[held])[0])
        found = np.ones(self.length // 2 + 1, dtype=np.complex128)
        for start in range(0, len(held), MANY):
            own = held[start : start + MANY]
            found *= self._prod(self.whole(own)[None], group[own])[0]
        return found

    def distribution(self, spectrum: Spectrum) -> Floats:
        """Return the distribution on the whole circle."""
        return np.asarray(np.fft.irfft(spectrum, self.length))

    def law_at(self, spectra: Spectrum, positions: Counts) -> Floats:
        """Return distributions (rows) at some positions."""
        if not self._waved:
            return np.asarray(np.fft.irfft(spectra, self.length, axis=-1)[..., positions % self.length])
        turns, scaled = self._angles(positions % self.length).T, spectra * (self.doubled / self.length)
        return np.asarray(scaled.real @ np.cos(turns) - scaled.imag @ np.sin(turns))

    def distribution_before(self, spectra: Spectrum) -> Floats:
        """Return distributions at minus the steps of a window; the transforms are overwritten."""
        if not self._waved:
            behind = -np.arange(self._weights.shape[2]) % self.length
            return np.asarray(np.fft.irfft(spectra, self.length, axis=-1)[..., behind])
        cosines, sines = self._waves
        spectra *= self.doubled / self.length
        found = spectra.real @ cosines.T
        found += spectra.imag @ sines.T
        return np.asarray(found)

    @cached_property
    def rounding(self) -> tuple[Floats, Floats]:
        """Return what rounding may add to any probability of a sum of all cells, and of all but one, to first order.

        The transform of every cell is off by d = 4e-16 and every product by d of itself, and so the product of all by
        d prod |phi| (1 + sum_i 1 / |phi_i|), and that of all but cell c by d prod |phi| / |phi_c| (1 + sum_(i != c)
        1 / |phi_i|), which is largest for the smallest |phi_c|.
        """
        tables = len(self._weights)
        least, shares = np.full((tables, self.count), np.inf), np.ones((tables, self.count))
        for part, spectra in self.parts():
            sizes = np.maximum(np.abs(spectra), _ROUNDING)
            least = np.minimum(least, sizes.min(axis=1))
            shares += np.einsum("r,brf->bf", self._times[part].astype(float), 1 / sizes)
        sizes = np.abs(self.product) * self.doubled * (_ROUNDING / self.length)
        return (sizes * shares).sum(axis=1), (sizes / least * (shares - 1 / least)).sum(axis=1)


class _Pair:
    """Two cells whose steps have a known sum r in each table: P(s, r - s) ~ f(s) g(r - s), one number to sum over."""

    def __init__(self, one: Floats, two: Floats, rests: Counts) -> None:
        self._width = one.shape[1]
        self._start = min(max(0, int(rests.min()) - self._width + 1), self._width - 1)
        end = max(self._start, min(self._width - 1, int(rests.max())))
        self._last = rests - self._start
        logs = _reversed(two, self._last, end - self._start + 1, -np.inf)
        logs += one[:, self._start : end + 1]
        peaks = logs.max(axis=1)
        peaks[np.isneginf(peaks)] = 0.0
        logs -= peaks[:, None]
        self._distribution = np.exp(logs, out=logs)
        sums = self._distribution.sum(axis=1)
        with np.errstate(divide="ignore"):
            self.log_mass = np.log(sums) + peaks
        self._distribution /= np.maximum(sums, 1e-300)[:, None]

    @cached_property
    def marginals(self) -> Floats:
        """Return the distributions of the steps of both: (tables, 2, steps)."""
        found = np.zeros((len(self._distribution), 2, self._width))
        found[:, 0, self._start : self._start + self._distribution.shape[1]] = self._distribution
        found[:, 1] = _reversed(self._distribution, self._last, self._width, 0.0)
        return found

    def draw(self, cell: int, count: int, generator: np.random.Generator) -> Counts:
        """Draw steps of one of the cells, in the first table."""
        edges = np.cumsum(self.marginals[0, cell])
        positions = np.searchsorted(edges, generator.random(count) * edges[-1], side="right")
        return np.asarray(np.minimum(positions, np.searchsorted(edges, edges[-1])))


def _reversed(values: Floats, last: Counts, length: int, fill: float) -> Floats:
    """Return values[b, last_b - t] for t = 0, 1, ... in every row b, and `fill` where there is none."""
    width = values.shape[1]
    if len(values) > 1:
        positions = last[:, None] - np.arange(length)
        inside = (positions >= 0) & (positions < width)
        return np.where(inside, np.take_along_axis(values, np.where(inside, positions, 0), axis=1), fill)
    found, end = np.full((1, length), fill), int(last[0])
    low, high = max(0, end - width + 1), min(length - 1, end)
    if low <= high:
        found[0, low : high + 1] = values[0, end - high : end - low + 1][::-1]
    return found


class _Sums:
    """Sums of single rows of steps for totals low, low + 1, ...: (f_1 * ... * f_K)(t), convolved one after the other.

    All terms are positive, so every value keeps its digits, however small it is beside the largest.
    """

    def __init__(self, weights: Floats, low: int, totals: int) -> None:
        weights[weights < _LEAST] = 0.0
        self._weights, self._low, self._totals = weights, low, totals
        self._length = max(1, low + totals)

    @property
    def errors(self) -> Floats:
        """Return a bound on the relative error at every total: rounding of as many terms as a row has, for each row."""
        rows, width = self._weights.shape
        return np.where(self.distribution > 0, rows * (width + 2) * _UNIT, 1.0)

    @cached_property
    def before(self) -> list[Floats]:
        """Return the distributions of the sums of the first 1, 2, ..., K rows, as far as there are totals."""
        sums = [np.zeros(self._length)]
        sums[0][: self._weights.shape[1]] = self._weights[0, : self._length]
        for weights in self._weights[1:]:
            sums.append(self._convolved(sums[-1], weights))
        return sums

    @cached_property
    def distribution(self) -> Floats:
        """Return the distribution of the sum of all rows at every total."""
        return self._at_totals(self.before[-1])

    @property
    def means(self) -> Floats:
        """Return E[s_i | t] for each row and total (columns); the first row has what the others leave."""
        found, after = np.empty((len(self._weights), self._totals)), np.ones(1)
        steps = np.arange(self._weights.shape[1])
        found[0] = self._low + np.arange(self._totals)
        with np.errstate(invalid="ignore", divide="ignore"):
            for row in range(len(found) - 1, 0, -1):
                weights, others = self._weights[row], self._convolved(self.before[row - 1], after)
                np.divide(self._at_totals(self._convolved(steps * weights, others)), self.distribution, out=found[row])
                found[row, self.distribution == 0] = 0.0
                found[0] -= found[row]
                after = self._convolved(after, weights)
        return found

    def _at_totals(self, sums: Floats) -> Floats:
        inside = sums[max(0, self._low) : max(0, self._low + self._totals)]
        below = min(max(0, -self._low), self._totals)
        return inside if len(inside) == self._totals else np.pad(inside, (below, self._totals - below - len(inside)))

    def _convolved(self, first: Floats, second: Floats) -> Floats:
        """Return the convolution up to the largest total, from the parts of both that are not zero."""
        result = np.zeros(self._length)
        one, two = np.flatnonzero(first), np.flatnonzero(second)
        if one.size and two.size:
            start = int(one[0] + two[0])
            part = np.convolve(first[one[0] : one[-1] + 1], second[two[0] : two[-1] + 1])
            part = part[: max(0, self._length - start)]
            result[start : start + len(part)] = part
        return result


@lru_cache(maxsize=64)
def _doubled(length: int, count: int) -> Floats:
    """Return how often each of the first frequencies counts in a sum over the circle: inner ones twice."""
    found = np.full(count, 2.0)
    found[0] = 1.0
    if length % 2 == 0 and count == length // 2 + 1:
        found[-1] = 1.0
    found.setflags(write=False)
    return found


def _turns(length: int, count: int, rests: Counts) -> Spectrum:
    """Return e^(2 pi i f t / L) for the first frequencies f and every t; a single row if all are the same."""
    first = int(rests[0])
    if (rests == first).all():
        return _turn(length, count, first % length)
    return np.asarray(np.exp(2j * np.pi / length * (rests[:, None] * np.arange(count) % length)))


@lru_cache(maxsize=64)
def _turn(length: int, count: int, rest: int) -> Spectrum:
    found = np.exp(2j * np.pi / length * (np.arange(count) * rest % length))[None]
    found.setflags(write=False)
    return np.asarray(found)
