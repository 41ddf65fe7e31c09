"""The true counts behind a noisy table: the exact posterior of each, of their sums, pairs of sums, and whole tables.

For noise that is a product over cells, P(k | z) ~ prod_i f_i(k_i) on {k : sum k = n}, with f_i(k) = Gamma(a_i + k) /
(k! Gamma(a_i)) g(z_i - k): the cells are independent but for the known total (`KnownSum`). Each cell keeps a window of
counts, widened until what lies outside all windows is a negligible share. Cells of one class (the same noisy counts,
prior and noise) have the same weights, and each class is computed once.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DiscreetError
from discreet.inference._grouped_counts import Pairs
from discreet.inference._known_sum import KnownSum, TotalDistribution
from discreet.inference._pair_counts import trimmed
from discreet.inference._problem import MOST_NUMBERS
from discreet.inference._windows import CellWindows, LogKernel
from discreet.mathematics import log_prior
from discreet.noise import MARGIN

LOST = 1e-12
"""Windows are widened until no more than this share of the sum over all tables lies outside."""
SPARE = 4.0
"""How many times the weights allowed before a charge may be held later, because windows may have to be widened."""
_MOST_WEIGHTS = SPARE * MOST_NUMBERS
_MARGIN_OF_PAIRS = 36.0  # nats: few counts lie outside the windows of two cells
_TRIM_PAIRS = 1e-14
_MOST_PAIRS = 400_000  # more pairs of sums than this are replaced by exact draws
_DRAWN_PAIRS = 20_000


class CellWeights(NamedTuple):
    """The weight of a cell's count: its prior, Gamma(a + k) / (k! Gamma(a)), times its kernel, log-concave in k."""

    alpha: Floats
    log_kernel: LogKernel

    def __call__(self, indices: Counts, counts: Counts) -> Floats:
        """Return log f_i(k) for arrays of cells and counts."""
        return np.asarray(log_prior(self.alpha[indices], counts) + self.log_kernel(indices, counts))

    def of(self, indices: Counts) -> "CellWeights":
        """Return the weights of some cells."""
        return CellWeights(self.alpha[indices], lambda own, counts: self.log_kernel(indices[own], counts))


class LatentCounts:
    """The joint posterior of counts with a known total, given each cell's own weight.

    `low` and `high` say where to look first, `reach` how fast weights fall off beyond. Cells of one of the `classes`
    (whole numbers) are known to have the same weights.
    """

    def __init__(
        self, weight: CellWeights, low: Counts, high: Counts, reach: float, total: int, classes: Counts | None = None
    ) -> None:
        self.total, self._cells, self._weight = total, len(low), weight
        own = self._classes = np.arange(len(low))
        times = np.ones(len(low), dtype=np.int64)
        if classes is not None and len(low) > 2:
            _, own, self._classes, times = np.unique(
                classes, return_index=True, return_inverse=True, return_counts=True
            )
        class_weight = weight.of(own)
        low, high = np.clip(low[own], 0, total), np.clip(high[own], 0, total)  # else far below 0: a single count
        margin, lost = int(np.ceil((_MARGIN_OF_PAIRS if len(low) == 2 else MARGIN) * reach)) + 2, np.inf
        while True:
            first, last = np.maximum(low - margin, 0), np.minimum(high + margin, total)
            found = self._within(class_weight, np.minimum(first, last), np.maximum(first, last), times)
            lost = np.inf if found is None else float(found.lost[0])
            if found is not None and (lost <= LOST or ((first == 0).all() and (last == total).all())):
                break
            missing = np.log(lost / LOST) + 2 if lost < 1e-6 else np.inf
            margin += min(margin, int(np.ceil(missing * reach)) + 1) if missing < np.inf else margin
        self.known = found

    def _within(self, weight: CellWeights, first: Counts, last: Counts, times: Counts) -> KnownSum | None:
        """Return the counts on these windows; None if the known total does not lie among their sums."""
        windows = CellWindows(weight.log_kernel, first, last, self.total)
        if windows.width * self._cells > _MOST_WEIGHTS:
            raise DiscreetError(
                f"Reading this needs {windows.width} x {self._cells} weights, more than {_MOST_WEIGHTS:.0e}, the most "
                "that are allowed. For a single release that has a probability below 1e-20; several releases may "
                "contradict each other. Nothing was read. Read them one by one."
            )
        whole = (first == 0) & (last == self.total)
        if not (int(times @ first) < self.total < int(times @ last)) and not whole.all():
            return None
        logs = windows.log_weights(weight.alpha)[None]
        distribution = TotalDistribution.known(self.total)
        return KnownSum(logs, first[None], distribution, times, outside=windows.beyond(weight.alpha))

    @property
    def lost(self) -> float:
        """Return a bound on the share by which probabilities are off: windows, folding and rounding together."""
        return float(self.known.error[0])

    @property
    def log_sum(self) -> float:
        """Return log sum_k prod_i f_i(k_i) over all counts with the known total."""
        return float(self.known.log_mass[0])

    @cached_property
    def _shown(self) -> tuple[Counts, Floats]:
        """Return first counts and marginals; each of two cells falls as fast as both, so that its window is shorter."""
        first, found = self.known.first[0], self.known.marginals[0]
        if self._cells == 2:
            return trimmed(first, found)
        is_sorted = len(found) == self._cells and (self._classes[1:] > self._classes[:-1]).all()
        return first[self._classes], found if is_sorted else found[self._classes]

    @property
    def first(self) -> Counts:
        """Return the first count of each cell's window."""
        return self._shown[0]

    @property
    def marginals(self) -> Floats:
        """Return P(k_i = first_i + step | z) for every cell (rows) and step (columns)."""
        return self._shown[1]

    draws = None

    def log_weights(self, tables: Counts) -> Floats:
        """Return log prod_i f_i(k_i) for rows of counts."""
        return np.asarray(self._weight(np.arange(self._cells), tables).sum(axis=-1))

    def _group(self, indices: Counts) -> Counts:
        return np.bincount(self._classes[indices], minlength=len(self.known.times))

    def sum_of(self, indices: Counts) -> tuple[Counts, Floats]:
        """Return the possible sums of some cells' counts, and their probabilities."""
        return self.known.marginal(self._group(indices))

    def pair_of_sums(self, one: Counts, two: Counts) -> Pairs:
        """Return the possible pairs of sums of two disjoint groups of cells, and their probabilities.

        Where there are more than 400,000 pairs, 20,000 exact draws of them stand for all.
        """
        (sums_one, chances), (sums_two, others) = self.sum_of(one), self.sum_of(two)
        if len(one) + len(two) == self._cells:
            return Pairs(sums_one, self.total - sums_one, chances, self.lost)
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
        """Draw independent tables of counts from the joint posterior, exactly."""
        return self.known.draw(np.full(count, self.total), generator, self._classes)


def alike(alpha: Floats, classes: Sequence[Counts | None]) -> Counts | None:
    """Return a number for every cell, the same where the prior and all factors are; None if that is not known."""
    known = [each for each in classes if each is not None]
    if len(known) < len(classes):
        return None
    return np.unique(np.stack([alpha, *known], axis=1), axis=0, return_inverse=True)[1].ravel()
