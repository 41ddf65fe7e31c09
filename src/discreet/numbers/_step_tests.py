"""Tests at the edges of a table, at one of which a second step, chosen by the first, counted again.

The noise of the second number y is independent of the table, whichever edge it is about. So at the chosen edge a claim
by y alone is wrong with the probability that its own tail says, whatever the table was. Claims by the table may go
wrong in a share s of what may go wrong in all, claims by y in the rest, and both together in no more than all of it.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from discreet._core.arrays import Floats
from discreet.inference import Ratio
from discreet.noise import PrefixSumNoise
from discreet.numbers._edge_tests import BinomialSums, EdgeTests, Tails, share_interval

OF_TABLE = 0.8
"""s, the share of the error probability that goes to claims by the table."""


def laplace_cut(rate: float) -> PrefixSumNoise:
    """Return the distribution of one number with discrete Laplace noise."""
    half = int(30 / rate) + 2
    chances = np.tanh(rate / 2) * np.exp(-rate * np.abs(np.arange(-half, half + 1)))
    return PrefixSumNoise(np.asarray(chances))


@dataclass(eq=False)
class StepTests(EdgeTests):
    """The tests of a table, and that of the number y below one of its inner edges, 1, 2, ..."""

    table: EdgeTests
    size: int
    spread: float
    """The standard deviation of the table's noise below the edge."""
    edge: int
    noisy: int
    distribution: PrefixSumNoise

    def __post_init__(self) -> None:
        """Move the numbers below all edges towards y: as the noise of a bridge goes, most near the edge."""
        own, other = self.spread**2, self.distribution.sd**2
        miss = own / (own + other) * (self.noisy - self.table.below[self.edge - 1])
        edges = np.arange(1, len(self.table.below) + 1)
        parts = np.minimum(edges / self.edge, (len(edges) + 1 - edges) / (len(edges) + 1 - self.edge))
        self.below = self.table.below + miss * parts

    @property
    def total(self) -> float:
        return self.table.total

    def tails(self, share: Fraction, sampled: bool) -> Tails:
        low, high = (np.asarray(each, dtype=float) / OF_TABLE for each in self.table.tails(share, sampled))
        away = self.noisy - max(1, ceil(share * self.size))
        own = float(self.distribution.at_most(away)), float(self.distribution.at_least(away + 1))
        if sampled:
            own = BinomialSums(self.size, share, self.noisy, self.distribution.half).tails(
                self.distribution, self.noisy
            )
        for tail, found in zip((low, high), own, strict=True):
            tail[self.edge - 1] = min(tail[self.edge - 1], found / (1 - OF_TABLE))
        return low, high

    def share_below(self, edge: int, level: float, sampled: bool) -> Ratio:
        """Return the share below an edge: from y at its own, else from the table's cut."""
        if edge == self.edge:
            return share_interval(self.distribution, self.noisy, self.size, level, sampled)
        return self.table.share_below(edge, level, sampled)

    def share_of(self, cell: int, level: float, sampled: bool) -> Ratio:
        return self.table.share_of(cell, level, sampled)


def weights_of(below: Floats, noisy: int, distribution: PrefixSumNoise) -> Floats:
    """Return how likely y makes numbers of records below its edge."""
    found = distribution.at(noisy - np.rint(below)) + 1e-300
    return np.asarray(found / found.sum())
