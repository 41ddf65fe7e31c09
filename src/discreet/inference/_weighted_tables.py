"""The true counts behind a release as a list of tables with weights: every table that is possible, or draws of them.

P(k | z) ~ P(z | k) P(k), one weight for each table. Where all tables are listed this is exact whatever the mechanism
is; where they were drawn, weights are the shares of the draws. It answers the same questions as `LatentCounts`.
"""

from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats
from discreet.inference._grouped_counts import Pairs

MOST_TABLES = 200_000
_MOST_RECORDS_OF_TWO_CELLS = 20_000
_TRIM = 1e-17  # probabilities this far below the largest are dropped from sums


def most_tables(cells: int) -> int:
    """Return the largest number of tables that is enumerated."""
    return _MOST_RECORDS_OF_TWO_CELLS + 1 if cells == 2 else MOST_TABLES


class WeightedTables:
    """The joint posterior of counts with a known total: rows of tables, all of one total, and a weight of each.

    `log_sum` is the log evidence log sum_k P(z | k) P(k). `draws` says how many independent draws the tables are worth
    if they were drawn, else None, and `lost` which share of the sum over all tables is left out: nothing of a list of
    all, None of draws, as no sum was computed.

    >>> half = WeightedTables.listed(np.array([[0, 2], [1, 1], [2, 0]]), np.log([1.0, 2.0, 1.0]))
    >>> half.sum_of(np.array([0])), round(half.log_sum, 12)
    ((array([0, 1, 2]), array([0.25, 0.5 , 0.25])), 1.38629436112)
    """

    def __init__(
        self, tables: Counts, log_weights: Floats, log_sum: float | None = None, draws: float | None = None
    ) -> None:
        own = float(logsumexp(log_weights))
        self.total, self.log_sum, self.draws = int(tables[0].sum()), own if log_sum is None else log_sum, draws
        self._tables, self._logs, self._weights = tables, log_weights, np.exp(log_weights - own)
        self.lost = 0.0 if draws is None else None

    @classmethod
    def listed(cls, tables: Counts, log_weights: Floats) -> "WeightedTables":
        """Return all possible tables with log P(z | k) P(k) of each."""
        return cls(tables, log_weights)

    @classmethod
    def drawn(cls, tables: Counts, weights: Floats, log_sum: float, draws: float | None = None) -> "WeightedTables":
        """Return draws with weights: independent ones are worth 1 / sum of squared shares, those of chains fewer."""
        shares = weights / weights.sum()
        worth = float(1 / np.square(shares).sum()) if draws is None else draws
        with np.errstate(divide="ignore"):
            return cls(tables, np.log(shares), log_sum, worth)

    @cached_property
    def first(self) -> Counts:
        """Return the least count of each cell."""
        return np.array([own.min() for own in self._tables.T])

    @cached_property
    def marginals(self) -> Floats:
        """Return P(k_i = first_i + step | z) for every cell (rows) and step (columns)."""
        width = max(int(own.max() - first) for own, first in zip(self._tables.T, self.first, strict=True)) + 1
        pairs = zip(self._tables.T, self.first, strict=True)
        return np.stack([np.bincount(own - first, self._weights, width) for own, first in pairs])

    def _distribution(self, values: Counts) -> tuple[Counts, Floats]:
        """Return the values, rising, of a function of the table, and their probabilities."""
        low, high = int(values.min()), int(values.max())
        if high - low < len(values):  # counting is quicker than sorting
            found, chances = low + np.arange(high - low + 1), np.bincount(values - low, self._weights)
        else:
            found, where = np.unique(values, return_inverse=True)
            chances = np.bincount(where, self._weights)
        kept = chances > _TRIM * chances.max()
        return found[kept], chances[kept] / chances[kept].sum()

    def _sums(self, indices: Counts) -> Counts:
        return np.asarray(self._tables[:, indices].sum(axis=1))

    def sum_of(self, indices: Counts) -> tuple[Counts, Floats]:
        """Return the possible sums of some cells' counts, and their probabilities."""
        return self._distribution(self._sums(indices))

    def pair_of_sums(self, one: Counts, two: Counts) -> Pairs:
        """Return the possible pairs of sums of two disjoint groups of cells, and their probabilities."""
        first, second = self._sums(one), self._sums(two)
        least, base = int(second.min()), int(np.ptp(second)) + 1
        codes, chances = self._distribution((first - first.min()) * base + (second - least))
        lost = None if self.draws is not None else _TRIM * len(self._tables)
        return Pairs(int(first.min()) + codes // base, least + codes % base, chances, lost, self.draws)

    @cached_property
    def _known(self) -> dict[bytes, float]:
        kept, where = np.unique(np.ascontiguousarray(self._tables, dtype=np.int64), axis=0, return_inverse=True)
        logs = np.full(len(kept), -np.inf)
        np.logaddexp.at(logs, where.ravel(), self._logs)
        return dict(zip(map(bytes, kept), logs.tolist(), strict=True))

    def log_weights(self, tables: Counts) -> Floats:
        """Return log P(z | k) P(k) for rows of counts, of draws their log share; -inf if it is not among them."""
        rows = np.ascontiguousarray(tables, dtype=np.int64)
        return np.array([self._known.get(bytes(row), -np.inf) for row in rows])

    def draw(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw independent tables by their weights."""
        return np.asarray(self._tables[generator.choice(len(self._tables), size=count, p=self._weights)])
