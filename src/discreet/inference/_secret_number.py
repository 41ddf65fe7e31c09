"""The true counts behind a noisy table whose number of records is secret too: the exact joint posterior of all of them.

With k | n multinomial, theta ~ Dirichlet(alpha), A = sum alpha, and n beforehand equally likely to be 0, 1, 2, ...,

    P(k | z) ~ h(sum k) prod_i f_i(k_i),      h(n) = n! Gamma(A) / Gamma(A + n) P(what was published of n alone | n),

so the cells are independent but for h: where n is known h is a single point (`LatentCounts`), here it is a
distribution. The numbers of records that matter are found by widening their range until the tails of P(n | z) beyond
it, which fall at least geometrically where weights are log-concave, weigh nothing.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError, DiscreetError
from discreet.inference._grouped_counts import Pairs
from discreet.inference._known_sum import Beside, KnownSum, TotalDistribution
from discreet.inference._latent_counts import LOST, SPARE, CellWeights
from discreet.inference._number_prior import SecretNumber
from discreet.inference._problem import MOST_NUMBERS
from discreet.inference._row import percent_text
from discreet.inference._windows import CellWindows
from discreet.mathematics.distributions import CountDistribution
from discreet.noise import MARGIN

LogNumber = Callable[[Counts], Floats]
"""Log h of arrays of numbers of records."""

NO_END = 2**53
"""Beyond any number of records."""
_MOST_WEIGHTS = SPARE * MOST_NUMBERS
_TRIM_PAIRS = 1e-14
_MOST_PAIRS = 400_000  # more pairs of sums than this are replaced by exact draws
_DRAWN_PAIRS = 20_000
_SPREADS, _NATS = 6.0, 10.0  # standard deviations of the sum of all cells that the range of n reaches to begin with
_STEEPEST, _HALVINGS = 50.0, 40  # of tilts
_NEAR = 5.0  # standard deviations within which cells may need no tilt
_ROUNDS = 60
_TAIL = 1e-13
_WIDEST = 8  # times by which windows are widened, at most
_TILTS = np.concatenate([-np.geomspace(20, 1e-5, 120), [0.0], np.geomspace(1e-5, 20, 120)])
_NEGLIGIBLE, _HIDDEN = 60.0, 25.0  # nats below the likeliest number that are left out, and that rounding may hide
CONTRADICTED = (
    "What is stated of the number of records contradicts this release: with such a number it would have a probability "
    "too small to compute. Nothing was read. Check number, or leave it out."
)
_TOLD = 0.5  # relative error from which on a probability is not known


class CountsOfSecretNumber:
    """The joint posterior of counts whose sum has the weights e^`log_number`, given each cell's own weight.

    `low` and `high` say where to look first, `reach` how fast weights fall off beyond. Cells of one of the `classes`
    (whole numbers) are known to have the same weights.
    """

    draws = None
    total = 0
    """Nothing is known of the sum beforehand; `number` says what is known now."""

    def __init__(
        self,
        weight: CellWeights,
        low: Counts,
        high: Counts,
        reach: float,
        log_number: LogNumber,
        classes: Counts | None = None,
        prior: SecretNumber | None = None,
    ) -> None:
        cells, self._prior = len(low), prior or SecretNumber()
        classes = np.arange(cells) if classes is None else classes
        _, own, self._classes, times = np.unique(classes, return_index=True, return_inverse=True, return_counts=True)
        class_weight, low, high = weight.of(own), np.maximum(low[own], 0), np.maximum(high[own], 0)
        margin, self._log_number = int(np.ceil(MARGIN * reach)) + 2, log_number
        most_margin = _WIDEST * margin
        while True:
            first, last = np.maximum(low - margin, 0), high + margin
            windows = CellWindows(class_weight.log_kernel, first, last, NO_END)
            if windows.width * cells > _MOST_WEIGHTS:
                raise DiscreetError(
                    f"Reading this needs {windows.width} x {cells} weights, more than {_MOST_WEIGHTS:.0e}, the most "
                    "that are allowed. For a single release that has a probability below 1e-20; several releases may "
                    "contradict each other. Nothing was read. Read them one by one."
                )
            self.known, self._beyond = self._within(windows, class_weight.alpha, times, reach)
            if float(self.known.lost[0]) <= LOST or margin > most_margin:
                break
            margin *= 2
        if not self._prior.is_open and float(self.known.lost[0]) > LOST:
            raise DeclarationError(CONTRADICTED)

    def _within(self, windows: CellWindows, alpha: Floats, times: Counts, reach: float) -> tuple[KnownSum, float]:
        """Return the counts on these windows, for a range of numbers of records, and what lies beyond the range."""
        logs = windows.log_weights(alpha)
        if not self._prior.is_open:
            return self._under_prior(windows, logs, alpha, times), 0.0
        middle, spread, centres = self._most_likely(windows, logs, alpha, times)
        tried = [self._around(middle, spread, centre, windows, logs, alpha, times, reach) for centre in centres]
        return min(tried, key=lambda each: float(each[0].error[0]) + each[1])

    def _under_prior(self, windows: CellWindows, logs: Floats, alpha: Floats, times: Counts) -> KnownSum:
        """Return the counts for all numbers that a reader's prior allows and that weigh anything.

        Which ones these are is seen from saddle points: with cells tilted by x to the mean sum n and the variance v,
        log S(n) is about K(x) - x n - log(2 pi v) / 2.
        """
        least, most = int(times @ windows.first), int(times @ windows.last)
        low = max(least, self._prior.least)
        high = most if self._prior.most is None else min(most, self._prior.most)
        if low > high:
            raise DeclarationError(CONTRADICTED)
        steps, means, heights = np.arange(windows.width), [], []
        for tilt in _TILTS:
            tilted = logs + tilt * steps
            peaks = tilted.max(axis=1, keepdims=True)
            weights = np.exp(tilted - peaks)
            masses = weights.sum(axis=1, keepdims=True)
            own = weights @ steps / masses[:, 0]
            spread = float(times @ (weights @ steps**2 / masses[:, 0] - own**2))
            means.append(float(times @ own))
            heights.append(
                float(times @ (peaks + np.log(masses))[:, 0]) - tilt * means[-1] - float(np.log(spread + 1)) / 2
            )
        numbers = np.arange(low, high + 1)
        rough = np.interp(numbers - least, means, heights) + self._log_number(numbers)
        if not np.isfinite(rough.max()):
            raise DeclarationError(CONTRADICTED)
        (kept,) = np.nonzero(rough > rough.max() - _NEGLIGIBLE)
        first, last, centre = low + int(kept[0]), low + int(kept[-1]), low + int(rough.argmax())
        known = self._between(first, last, windows, logs, alpha, times, centre)
        told = known.errors < _TOLD
        (dark,) = np.nonzero(~told)
        own_place = centre - first
        start = int(max(dark[dark < own_place], default=-1)) + 1
        end = int(min(dark[dark > own_place], default=len(told))) - 1
        inside = (numbers >= first + start) & (numbers <= first + end)
        if not told[own_place] or rough[~inside].max(initial=-np.inf) > rough.max() - _HIDDEN:
            raise DeclarationError(CONTRADICTED)
        return self._between(first + start, first + end, windows, logs, alpha, times, centre)

    def _around(
        self,
        middle: float,
        spread: float,
        centre: float,
        windows: CellWindows,
        logs: Floats,
        alpha: Floats,
        times: Counts,
        reach: float,
    ) -> tuple[KnownSum, float]:
        """Return the same for cells that are tilted to a centre."""
        least, most = int(times @ windows.first), int(times @ windows.last)
        half = int(_SPREADS * spread + _NATS * reach) + 1
        low, high = max(least, round(middle) - half), min(most, round(middle) + half)
        for _ in range(_ROUNDS):
            known = self._between(low, high, windows, logs, alpha, times, centre)
            told = known.errors < _TOLD  # elsewhere rounding hides the probability of a sum
            peak = int(self._chances(known, told).argmax())
            (dark,) = np.nonzero(~told)
            first, last = (
                int(max(dark[dark < peak], default=-1)) + 1,
                int(min(dark[dark > peak], default=len(told))) - 1,
            )
            if (first, last) != (0, len(told) - 1):
                known = self._between(low + first, low + last, windows, logs, alpha, times, centre)
            chances = self._chances(known)
            if len(chances) == 1 and least < most:
                raise DiscreetError(
                    "This release has so little noise that rounding hides all numbers of records but one. Nothing "
                    "was read."
                )
            falls = [
                low + first > least and _beyond(*chances[[0, 1]]),
                low + last < most and _beyond(*chances[[-1, -2]]),
            ]
            is_low, is_high = first == 0 and falls[0] > _TAIL, last == len(told) - 1 and falls[1] > _TAIL
            if not (is_low or is_high):
                return known, float(sum(falls))
            further = (half + 1) // 2
            low, high = max(least, low - further) if is_low else low, min(most, high + further) if is_high else high
        raise DiscreetError(
            "The number of records behind this release lies too far from the sum of its noisy counts to be read. "
            "Nothing "
            "was read. For a single release that has a probability below 1e-20."
        )

    def _between(
        self, low: int, high: int, windows: CellWindows, logs: Floats, alpha: Floats, times: Counts, centre: float
    ) -> KnownSum:
        """Return the counts for low, ..., high records."""
        total = TotalDistribution(low, self._log_number(np.arange(low, high + 1)))
        return KnownSum(logs[None], windows.first[None], total, times, outside=windows.beyond(alpha), centre=centre)

    def _most_likely(
        self, windows: CellWindows, logs: Floats, alpha: Floats, times: Counts
    ) -> tuple[float, float, list[float]]:
        """Return about where h(n) S(n) peaks, the spread of the sum of cells that are tilted there, and centres.

        If cells tilted by e^(x k) have the sum n on average, then log S falls by x a step there (a saddle point), so x
        is the slope of log h at n. It is found by halving. Where the mean without any tilt is near, it is tried as
        well: a tilt may make h rise where sums are rare.
        """
        steps, (low, high) = np.arange(windows.width), windows.beyond(alpha).tilts
        below, above = max(float(low), -_STEEPEST), min(float(high), _STEEPEST)
        least = int(times @ windows.first)

        def tilted(tilt: float) -> tuple[float, float]:
            logarithms = logs + tilt * steps
            weights = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
            weights /= weights.sum(axis=1, keepdims=True)
            means = weights @ steps
            return least + float(times @ means), float(np.sqrt(times @ (weights @ steps**2 - means**2)))

        middle, spread = free, _ = tilted(0.0)
        for _ in range(_HALVINGS):
            tilt = (below + above) / 2
            middle, spread = tilted(tilt)
            before, after = self._log_number(np.array([int(middle), int(middle) + 1]))
            below, above = (tilt, above) if after - before > tilt else (below, tilt)
        return middle, spread, [middle, free] if abs(free - middle) < _NEAR * spread else [middle]

    @staticmethod
    def _chances(known: KnownSum, told: NDArray[np.bool_] | None = None) -> Floats:
        logs = known.log_sums + known.total.log_weights
        if told is not None:
            logs = np.where(told, logs, -np.inf)
        found = np.exp(logs - logs.max())
        return np.asarray(found / found.sum())

    @property
    def lost(self) -> float:
        """Return a bound on the share by which probabilities are off: windows, folding and rounding together."""
        return float(self.known.error[0]) + self._beyond

    @property
    def log_sum(self) -> float:
        """Return log sum_k h(sum k) prod_i f_i(k_i)."""
        return float(self.known.log_mass[0])

    @cached_property
    def number(self) -> tuple[Counts, Floats]:
        """Return the possible numbers of records and their probabilities."""
        return self.known.total.totals, self._chances(self.known)

    @cached_property
    def mean_number(self) -> float:
        """Return the expected number of records."""
        numbers, chances = self.number
        return float(numbers @ chances)

    @property
    def first(self) -> Counts:
        """Return the first count of each cell's window."""
        return np.asarray(self.known.first[0][self._classes])

    @cached_property
    def marginals(self) -> Floats:
        """Return P(k_i = first_i + step | z) for every cell (rows) and step (columns)."""
        return np.asarray(self.known.marginals[0][self._classes])

    @property
    def classes(self) -> Counts:
        """Return the class of every cell; those of one class have the same distribution."""
        return self._classes

    def _group(self, indices: Counts) -> Counts:
        return np.bincount(self._classes[indices], minlength=len(self.known.times))

    def sum_of(self, indices: Counts) -> tuple[Counts, Floats]:
        """Return the possible sums of some cells' counts, and their probabilities."""
        if len(indices) == len(self._classes):
            return self.number
        return self.known.marginal(self._group(indices))

    def beside(self, indices: Counts) -> Beside:
        """Return the probabilities of the sum of some cells beside that of all others."""
        return self.known.beside(self._group(indices))

    def pair_of_sums(self, one: Counts, two: Counts) -> Pairs:
        """Return the possible pairs of sums of two disjoint groups of cells, and their probabilities.

        Where there are more than 400,000 pairs, 20,000 exact draws of them stand for all.
        """
        if len(one) + len(two) == len(self._classes):
            both = self.beside(one)
            weights = both.whole
            rows, columns = np.nonzero(weights > _TRIM_PAIRS * weights.max())
            return Pairs(both.first + rows, both.least_rest + columns, weights[rows, columns], self.lost)
        (sums_one, chances), (sums_two, others) = self.sum_of(one), self.sum_of(two)
        kept_one, kept_two = (own > _TRIM_PAIRS * own.max() for own in (chances, others))
        left_out = self.lost + float(chances[~kept_one].sum() + others[~kept_two].sum())
        sums_one, sums_two = sums_one[kept_one], sums_two[kept_two]
        if len(sums_one) * len(sums_two) > _MOST_PAIRS:
            tables = self.draw(_DRAWN_PAIRS, np.random.default_rng(0))
            equal = np.full(_DRAWN_PAIRS, 1 / _DRAWN_PAIRS)
            return Pairs(tables[:, one].sum(axis=1), tables[:, two].sum(axis=1), equal, None, _DRAWN_PAIRS)
        found, dropped = self.known.pair(self._group(one), self._group(two), (sums_one, sums_two), _TRIM_PAIRS)
        return Pairs(*found, left_out + dropped)

    def draw(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw independent tables of counts from the joint posterior, exactly: the number of records first."""
        numbers, chances = self.number
        totals = generator.choice(numbers, size=count, p=chances)
        return self.known.draw(totals, generator, self._classes)


def _beyond(last: float, before: float) -> float:
    """Return what a geometric tail beyond the last of some probabilities weighs; infinite if they rise there."""
    if last <= 0:
        return 0.0
    return float(last**2 / (before - last)) if last < before else np.inf


def number_facts(number: CountDistribution, level: float) -> dict[str, float]:
    """Return what is known of a secret number of records, by name."""
    low, high = number.interval(level)
    none = float(number.probabilities[0]) if number.first == 0 else 0.0
    return {"mean": number.mean, "low": low, "high": high, "probability_of_none": none}


def number_in_words(number: CountDistribution, about: int, who: str = "records", level: float = 0.9) -> str:
    """Say about how many records there are."""
    low, high = number.interval(level)
    return f"The number of {who} is secret: about {about:,}, {percent_text(level)} interval {low:,.0f} to {high:,.0f}."
