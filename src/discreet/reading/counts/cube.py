"""One class of a naive Bayes release by cube noise: what its signed counts say, given the class count.

The release is z_i = s_i + U_i with s_i = 2 k_i - n_y and P(U) ~ e^(-rate max|U_i|). Noise of that shape is uniform on
a cube whose half-width rho is random: P(U) ~ sum_(rho >= max|U|) q^rho, q = e^-rate. Given n_y and rho the features
are independent, and all that z says is that each k_i lies in an interval:

    P(z | n_y) ~ sum_rho q^rho prod_i P(ceil((z_i + n_y - rho)/2) <= k_i <= floor((z_i + n_y + rho)/2)),

where k_i is Beta-binomial: sums of its law from either end give every interval. Radii are left out only where a proved
bound shows that they carry less than e^-41 of the sum: an interval of radius rho holds at most rho + 1 counts.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Counts, Floats
from discreet.errors import DiscreetError
from discreet.reading.counts.row_counts import groups, log_prior_constant, log_prior_factors
from discreet.reading.counts.states import States, blocks, represented

Bools = NDArray[np.bool_]

_NEGLIGIBLE = 41.0
FARTHEST = 60.0
"""Multiples of the mean radius that no noise exceeds with a probability above e^-50."""
_COUNT_BLOCKS, _RADIUS_BLOCKS = 128, 32  # states of one class, where there are more than one can sum over


@dataclass(frozen=True, eq=False)
class Radii:
    """The radii that matter for one class count, their log weights, and the logarithm of what they sum to."""

    radii: Counts
    log_weights: Floats
    log_sum: float


class CubeClass:
    """The features of one class, read through cube noise of this rate; `alpha` has two numbers for each feature."""

    def __init__(self, noisy: Counts, rate: float, alpha: Floats, size: int) -> None:
        self.noisy, self.rate, self.size = noisy, rate, size
        farthest = int(np.abs(noisy).max())
        if farthest > size + FARTHEST * (len(noisy) + 1) / rate:
            raise DiscreetError(
                f"The release lies up to {farthest} from zero: farther than {size} records and its noise get with a "
                "probability above 1e-20. Nothing was read; check that the document is what was published."
            )
        self.alpha = alpha
        kinds, kind = np.unique(alpha, axis=0, return_inverse=True)
        self._features = [np.flatnonzero(kind.ravel() == number) for number in range(len(kinds))]
        self._logs = np.log(np.arange(1.0, size + farthest + 2))
        self._factors = [log_prior_factors(kind, size) for kind in kinds]
        self._constants = [log_prior_constant(kind, size) for kind in kinds]

    @property
    def levels(self) -> tuple[int, ...]:
        """Return how many levels each feature has."""
        return (2,) * len(self.noisy)

    @property
    def steepness(self) -> float:
        """Return by how much log P(z | n_y) changes at most from one n_y to the next.

        One more record moves every signed count by one, so the log likelihood by at most the rate.
        """
        return self.rate

    def log_weights(self, counts: Counts) -> Floats:
        """Return log sum_k P(k | n_y) e^(-rate max|z - s|) for each of some class counts: log P(z | n_y) but for Z."""
        return np.array([self._radii(int(count)).log_sum for count in counts])

    def _laws(self, count: int) -> list[Floats]:
        """Return the Beta-binomial law of a count among `count` records, for each kind of prior."""
        return [
            np.exp(f[1, : count + 1] + f[0, count::-1] + c[count])
            for f, c in zip(self._factors, self._constants, strict=True)
        ]

    def _radii(self, count: int) -> Radii:
        """Return the radii that matter: those within some factors e of the best by the bound, and more if need be."""
        laws = self._laws(count)
        sums = [from_both_ends(law) for law in laws]
        first = max(0, int(np.abs(self.noisy).max()) - count)
        bound = self._bounds(count, laws)[first:]
        width = _NEGLIGIBLE + 5
        while True:
            near = np.flatnonzero(bound >= bound.max() - width)
            start, stop = int(near[0]), int(near[-1]) + 1
            radii = first + np.arange(start, stop)
            logs = self._log_products(count, sums, radii) - self.rate * radii
            logs[-1] += self._log_tail(count, int(radii[-1]))
            total = log_sum(logs)
            dropped = np.append(bound[:start], bound[stop:])
            missing = float(dropped.max() + np.log(len(dropped))) if dropped.size else -np.inf
            if missing <= total - _NEGLIGIBLE:
                return Radii(radii, logs, total + float(np.log(-np.expm1(-self.rate))))
            width = 2 * width if total == -np.inf else width + missing - total + _NEGLIGIBLE + 1

    def _log_tail(self, count: int, last: int) -> float:
        """Return what the last radius stands for: all later ones too if its intervals hold every count already."""
        holds_all = last >= int(np.abs(self.noisy).max()) + count
        return -float(np.log(-np.expm1(-self.rate))) if holds_all else 0.0

    def _bounds(self, count: int, laws: list[Floats]) -> Floats:
        """Return an upper bound of each radius's log weight: an interval holds at most rho + 1 counts.

        The last radius is the first whose intervals hold every count; it stands for all beyond.
        """
        last = int(np.abs(self.noisy).max()) + count
        bound = -self.rate * np.arange(last + 1)
        for features, law in zip(self._features, laws, strict=True):
            bound += len(features) * np.minimum(0.0, self._logs[: last + 1] + np.log(law.max()))
        bound[-1] += self._log_tail(count, last)
        return np.asarray(bound)

    def _log_products(self, count: int, sums: list[Floats], radii: Counts) -> Floats:
        """Return log prod_i P(k_i in its interval) for consecutive radii.

        An interval grows with every second radius only: at even or at odd ones, by the parity of z_i + n_y. So each
        feature is summed over every second radius, and the two groups are put together in the end.
        """
        logs = np.zeros(len(radii))
        for features, (left, right) in zip(self._features, sums, strict=True):
            middle = self.noisy[features] + count
            odd = (middle - radii[0]) % 2
            median = int(np.searchsorted(left, 0.5))
            for parity in (0, 1):
                twice = np.arange(radii[0] - parity, radii[-1] + 1, 2)
                for side, sign in ((left, 1.0), (right, -1.0)):  # the end that is nearer, where no digits cancel
                    here = middle[(odd == parity) & ((middle // 2 < median) == (sign > 0))]
                    if here.size:
                        low = np.clip((here - twice[:, None]) >> 1, 0, count + 1)
                        high = np.clip(((here + twice[:, None]) >> 1) + 1, low, count + 1)
                        with np.errstate(divide="ignore"):
                            found = np.log(sign * (side[high] - side[low])).sum(axis=1)
                        logs += np.repeat(found, 2)[parity : parity + len(radii)]
        return logs

    def _intervals(self, count: int, radii: Counts) -> tuple[Counts, Counts]:
        """Return the first count of each interval (rows: radii, columns: features), and the first one beyond it."""
        middle = self.noisy + count
        low = np.clip(-((radii[:, None] - middle) // 2), 0, count + 1)
        return low, np.clip((middle + radii[:, None]) // 2 + 1, low, count + 1)

    def states(self, chances: Floats) -> States:
        """Return the states (n_y, rho) with their probabilities, and every level's expected probability in each.

        Where more than 128 class counts are likely, the middle of each of 128 ranges stands for its range, with the
        exact probability of all of it; radii are summed exactly, within up to 32 ranges.
        """
        counts, shares = represented(chances, _COUNT_BLOCKS)
        parts = [self._states_of(int(count), float(share)) for count, share in zip(counts, shares, strict=True)]
        weights, totals, yes = (np.concatenate(column) for column in zip(*parts, strict=True))
        return States(weights, totals, list(np.moveaxis(np.stack([1 - yes, yes], axis=2), 1, 0)))

    def _states_of(self, count: int, share: float) -> tuple[Floats, Floats, Floats]:
        """Return the blocks of radii of one class count: probability, class count, P(yes) of every feature."""
        found = self._radii(count)
        chance = np.exp(found.log_weights - log_sum(found.log_weights))
        kept = chance > 1e-15
        low, high = self._intervals(count, found.radii[kept])
        means = self._means(count, low, high)
        starts = blocks(chance[kept], _RADIUS_BLOCKS)
        weights = np.add.reduceat(chance[kept], starts)
        moments = np.add.reduceat(chance[kept][:, None] * means, starts) / weights[:, None]
        yes = (self.alpha[:, 1] + moments) / (self.alpha.sum(axis=1) + count)
        return share * weights / weights.sum(), np.full(len(weights), float(count)), yes

    def _means(self, count: int, low: Counts, high: Counts) -> Floats:
        """Return E[k_i] within each interval."""
        means = np.empty(low.shape)
        for features, law in zip(self._features, self._laws(count), strict=True):
            a, b = low[:, features], high[:, features]
            sums, moments = from_both_ends(law), from_both_ends(law * np.arange(count + 1))
            nearer = sums[0][b] <= sums[1][a]
            up, down = ((m[0][b] - m[0][a], m[1][a] - m[1][b]) for m in (moments, sums))
            means[:, features] = np.where(nearer, up[0], up[1]) / np.where(nearer, down[0], down[1])
        return means

    def laws_inside(self, feature: int, inside: Bools, counts: Counts) -> list[Floats]:
        """Return for each class count the law of how many of its records are inside: those that say yes, or no."""
        yes = [self._law_of_yes(feature, int(count)) for count in counts]
        return yes if inside[1] else [law[::-1] for law in yes]

    def _law_of_yes(self, feature: int, count: int) -> Floats:
        """Return P(k_i | z, n_y) ~ P(k_i) sum_rho w_rho / P(interval_i of rho), over radii whose interval holds k_i.

        These are all radii from |z_i - s_i| on: sums from one end, in which no digits cancel.
        """
        found, kind = self._radii(count), next(n for n, places in enumerate(self._features) if feature in places)
        law = self._laws(count)[kind]
        first_radius = np.abs(self.noisy[feature] + count - 2 * np.arange(count + 1))
        within = np.cumsum(np.bincount(first_radius, law, minlength=int(found.radii[-1]) + 1))[found.radii]
        weights = np.exp(found.log_weights - log_sum(found.log_weights))
        shares = np.divide(weights, within, out=np.zeros_like(weights), where=weights > 0)
        later = np.append(np.cumsum(shares[::-1])[::-1], 0.0)
        return np.asarray(law * later[np.clip(first_radius - found.radii[0], 0, len(shares))])

    def draw(self, totals: Counts, generator: np.random.Generator) -> list[Counts]:
        """Draw the counts of every feature (one array with a column for each level), one row for each class count."""
        yes = np.empty((len(totals), len(self.noisy)), dtype=np.int64)
        for count, places in groups(totals):
            found = self._radii(count)
            weights = np.exp(found.log_weights - log_sum(found.log_weights))
            radii = found.radii[generator.choice(len(weights), size=len(places), p=weights / weights.sum())]
            yes[places] = self._draw_between(count, *self._intervals(count, radii), generator)
        return [np.column_stack([totals - column, column]) for column in yes.T]

    def _draw_between(self, count: int, low: Counts, high: Counts, generator: np.random.Generator) -> Counts:
        """Draw a count from each interval by inverting the sums, again from the nearer end."""
        marks, drawn = generator.random(low.shape), np.empty(low.shape, dtype=np.int64)
        for features, law in zip(self._features, self._laws(count), strict=True):
            left, right = from_both_ends(law)
            a, b, u = low[:, features], high[:, features], marks[:, features]
            up = np.searchsorted(left, left[a] + u * (left[b] - left[a]), side="right") - 1
            down = count + 1 - np.searchsorted(right[::-1], right[b] + u * (right[a] - right[b]), side="right")
            drawn[:, features] = np.clip(np.where(left[b] <= right[a], up, down), a, b - 1)
        return drawn


def log_sum(logs: Floats) -> float:
    """Return log sum exp."""
    peak = float(logs.max()) if logs.size else -np.inf
    return peak + float(np.log(np.exp(logs - peak).sum())) if peak > -np.inf else -np.inf


def from_both_ends(law: Floats) -> Floats:
    """Return sums of all terms before each place, and of all from it on."""
    zero = np.zeros(1)
    before = np.concatenate([zero, np.cumsum(law)])
    return np.stack([before, np.concatenate([np.cumsum(law[::-1])[::-1], zero])])
