"""The true counts behind a release by draws of them: for likelihoods that are no product, of too many tables to list.

It answers the same questions as `LatentCounts`, each by the share of the draws.
"""

from functools import cached_property

import numpy as np

from discreet.arrays import Counts, Floats
from discreet.reading.counts.pairs import Pairs


class DrawnCounts:
    """Draws of the joint posterior of counts with a known total, one table in each row, with weights.

    They are worth `draws` independent ones: by default 1 / sum of squared weights; draws of chains are worth fewer.
    """

    lost = None
    """Nothing is left out of a sum, as none was computed."""

    def __init__(self, tables: Counts, weights: Floats, log_sum: float, draws: float | None = None) -> None:
        self.total, self.log_sum = int(tables[0].sum()), log_sum
        self._tables, self._weights = tables, weights / weights.sum()
        self.first = tables.min(axis=0)
        self.draws = float(1 / np.square(self._weights).sum()) if draws is None else draws

    @cached_property
    def marginals(self) -> Floats:
        """Return P(k_i = first_i + step | z) for every cell (rows) and step (columns)."""
        steps = self._tables - self.first
        return np.stack([np.bincount(own, self._weights, int(steps.max()) + 1) for own in steps.T])

    def sum_of(self, places: Counts) -> tuple[Counts, Floats]:
        """Return the sums of some cells' counts that were drawn, and their shares."""
        sums, where = np.unique(self._tables[:, places].sum(axis=1), return_inverse=True)
        return sums, np.asarray(np.bincount(where.ravel(), self._weights), dtype=float)

    def pair_of_sums(self, one: Counts, two: Counts) -> Pairs:
        """Return the pairs of sums of two disjoint groups of cells that were drawn, and their shares."""
        pairs = np.stack([self._tables[:, one].sum(axis=1), self._tables[:, two].sum(axis=1)], axis=1)
        kept, where = np.unique(pairs, axis=0, return_inverse=True)
        shares = np.asarray(np.bincount(where.ravel(), self._weights), dtype=float)
        return Pairs(kept[:, 0], kept[:, 1], shares, None, self.draws)

    def log_weights(self, tables: Counts) -> Floats:
        """Return the log share of each table among those that were drawn; -inf if it was not."""
        kept, where = np.unique(self._tables, axis=0, return_inverse=True)
        shares = dict(zip(map(bytes, kept), np.bincount(where.ravel(), self._weights), strict=True))
        with np.errstate(divide="ignore"):
            return np.log([shares.get(bytes(table), 0.0) for table in np.ascontiguousarray(tables, dtype=kept.dtype)])

    def draw(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw tables of those that were drawn."""
        return np.asarray(self._tables[generator.choice(len(self._tables), size=count, p=self._weights)])
