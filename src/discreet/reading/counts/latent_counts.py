"""The true counts behind a noisy table, jointly: pairs of sums, and exact draws of whole tables.

Walking back through partial products of the one-dimensional series of `count_sums` gives exact joint draws.
"""

from collections.abc import Sequence

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.reading.counts.count_sums import CountSums
from discreet.reading.counts.pairs import Pairs

_TRIM_PAIRS = 1e-14
_MOST_PAIRS = 400_000  # more pairs of sums than this are replaced by exact draws
_DRAWN_PAIRS = 20_000


class LatentCounts(CountSums):
    """The joint posterior of counts with a known total, given the logarithm of each cell's own weight."""

    draws = None

    def log_weights(self, tables: Counts) -> Floats:
        """Return log prod_i f_i(k_i) for rows of counts."""
        return np.asarray(self._log_weight(np.arange(self._cells), tables).sum(axis=-1))

    def pair_of_sums(self, one: Counts, two: Counts) -> Pairs:
        """Return the possible pairs of sums of two disjoint groups of cells, and their probabilities.

        Where there are more than 400,000 pairs, 20,000 exact draws of them stand for all.
        """
        (sums_one, chances), (sums_two, others) = self.sum_of(one), self.sum_of(two)
        rest = np.setdiff1d(np.arange(self._cells), np.concatenate([one, two]))
        if not rest.size:
            return Pairs(sums_one, self.total - sums_one, chances, self.lost)
        kept_one, kept_two = (own > _TRIM_PAIRS * own.max() for own in (chances, others))
        left_out = self.lost + float(chances[~kept_one].sum() + others[~kept_two].sum())
        sums_one, sums_two = sums_one[kept_one], sums_two[kept_two]
        if len(sums_one) * len(sums_two) > _MOST_PAIRS:
            tables = self.draw(_DRAWN_PAIRS, np.random.default_rng(0))
            equal = np.full(_DRAWN_PAIRS, 1 / _DRAWN_PAIRS)
            return Pairs(tables[:, one].sum(axis=1), tables[:, two].sum(axis=1), equal, None, _DRAWN_PAIRS)
        laws = [self._law(self._spectrum(group)) for group in (one, two, rest)]
        steps_one, steps_two = (s - int(self.first[g].sum()) for s, g in ((sums_one, one), (sums_two, two)))
        weights = laws[0][steps_one[:, None] % self.length] * laws[1][steps_two % self.length]
        weights *= laws[2][(self._rest - steps_one[:, None] - steps_two) % self.length]
        rows, columns = np.nonzero(weights > _TRIM_PAIRS * weights.max())
        kept = weights[rows, columns]
        left_out += max(0.0, 1 - float(kept.sum() / weights.sum()))
        return Pairs(sums_one[rows], sums_two[columns], kept / kept.sum(), left_out)

    def draw(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw independent tables of counts from the joint posterior, exactly.

        Walking back from the last cell, k_i is drawn given what is left for cells 1..i: P(k_i) ~ f_i(k_i)
        law_(i-1)(left - k_i).
        """
        before: list[Floats] = [self._law(np.ones(self.length // 2 + 1, dtype=np.complex128))]
        running = np.ones(self.length // 2 + 1, dtype=np.complex128)
        for cell in range(self._cells - 1):
            running = running * self._spectrum(np.array([cell]))
            before.append(self._law(running))
        left = np.full(count, self._rest)
        drawn = np.empty((count, self._cells), dtype=np.int64)
        for cell in reversed(range(self._cells)):
            step = self._steps(cell, before[cell], left, generator) if cell else left  # the first cell takes the rest
            drawn[:, cell] = self.first[cell] + step
            left = left - step
        return drawn

    def _steps(self, cell: int, before: Floats, left: Counts, generator: np.random.Generator) -> Counts:
        """Draw one cell's step for each rest; equal rests share one table, a few million numbers at a time."""
        levels, inverse, repeats = np.unique(left, return_inverse=True, return_counts=True)
        order, ends = np.argsort(inverse, kind="stable"), np.cumsum(repeats)
        marks, steps = generator.random(len(left)), np.empty(len(left), dtype=np.int64)
        chunk = max(1, 4_000_000 // self._width)
        for start in range(0, len(levels), chunk):
            behind = (levels[start : start + chunk, None] - np.arange(self._width)) % self.length
            table = np.cumsum(self._weights[self._kinds[cell]] * before[behind], axis=1)
            for row, number in zip(table, range(start, len(levels)), strict=False):
                part = order[ends[number] - repeats[number] : ends[number]]
                steps[part] = np.searchsorted(row, marks[part] * row[-1])
        return steps


def alike(alpha: Floats, kinds: Sequence[Counts | None]) -> Counts | None:
    """Return a number for every cell, the same where the prior and all factors are; None if that is not known."""
    known = [each for each in kinds if each is not None]
    if len(known) < len(kinds):
        return None
    return np.unique(np.stack([alpha, *known], axis=1), axis=0, return_inverse=True)[1].ravel()
