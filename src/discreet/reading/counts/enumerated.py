"""The true counts behind a release, table by table: for mechanisms whose likelihood is no product over cells.

P(k | z) ~ P(z | k) P(k) is computed for every table k of n counts, which is exact whatever the mechanism is, as long
as there are few enough tables. It answers the same questions as `LatentCounts`.
"""

from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from discreet.arrays import Counts, Floats
from discreet.certificates.posterior_distances import Tables
from discreet.reading.counts.pairs import Pairs

MOST_TABLES = 200_000
_MOST_RECORDS_OF_TWO_CELLS = 20_000
_TRIM = 1e-17  # probabilities this far below the largest are dropped from sums


def most_tables(cells: int) -> int:
    """Return the most tables that a reading goes through."""
    return _MOST_RECORDS_OF_TWO_CELLS + 1 if cells == 2 else MOST_TABLES


class EnumeratedCounts:
    """The joint posterior of counts with a known total, given the log weight of every table.

    `tables` are all tables in the order of `compositions`, and `log_weights` holds log P(z | k) P(k) for each.
    """

    lost = 0.0
    """The share of the sum over all tables that is left out."""
    draws = None

    def __init__(self, tables: Tables, log_weights: Floats) -> None:
        self.total = tables.size
        self._tables, self._logs = tables, np.asarray(log_weights)
        self._probabilities = np.exp(self._logs - logsumexp(self._logs))

    @property
    def first(self) -> Counts:
        """Return the first count of each cell, 0."""
        return np.zeros(len(self._tables.alpha), dtype=np.int64)

    @cached_property
    def log_sum(self) -> float:
        """Return log sum_k P(z | k) P(k), the evidence."""
        return float(logsumexp(self._logs))

    def log_weights(self, tables: Counts) -> Floats:
        """Return log P(z | k) P(k) for rows of counts."""
        return np.asarray(self._logs[self._tables.places(tables)])

    @cached_property
    def marginals(self) -> Floats:
        """Return P(k_i = count | z) for every cell (rows) and count 0, ..., n (columns)."""
        return np.stack([self._law(column, self.total + 1) for column in self._tables.all.T])

    def _law(self, values: Counts, length: int) -> Floats:
        """Return the probabilities of the values 0, ..., length - 1 of a function of the table."""
        return np.asarray(np.bincount(values, self._probabilities, length), dtype=float)

    def sum_of(self, places: Counts) -> tuple[Counts, Floats]:
        """Return the possible sums of some cells' counts, and their probabilities."""
        sums = self._tables.all[:, places].sum(axis=1)
        return _trimmed(np.arange(self.total + 1), self._law(sums, self.total + 1))

    def pair_of_sums(self, one: Counts, two: Counts) -> Pairs:
        """Return the possible pairs of sums of two disjoint groups of cells, and their probabilities."""
        base = self.total + 1
        codes = self._tables.all[:, one].sum(axis=1) * base + self._tables.all[:, two].sum(axis=1)
        kept, places = np.unique(codes, return_inverse=True)
        law = self._law(places.ravel(), len(kept))
        kept, weights = _trimmed(kept, law)
        return Pairs(kept // base, kept % base, weights, _TRIM * len(law))

    def draw(self, count: int, generator: np.random.Generator) -> Counts:
        """Draw independent tables of counts from the joint posterior."""
        edges = np.cumsum(self._probabilities)
        drawn = np.searchsorted(edges, generator.random(count) * edges[-1], side="right")
        return np.asarray(self._tables.all[np.minimum(drawn, len(edges) - 1)])


def _trimmed(values: Counts, weights: Floats) -> tuple[Counts, Floats]:
    kept = weights > _TRIM * weights.max()
    return values[kept], weights[kept] / weights[kept].sum()
