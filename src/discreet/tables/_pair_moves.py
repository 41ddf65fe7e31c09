"""Moves of a table whose total is known: the counts of pairs of cells are drawn anew given their sums.

A cell's count has the weight rho^k g(z - k), with the geometric odds rho of its prior and the noise g. Given that
k_i + k_j = s,

    P(k_i = k) ~ (rho_i / rho_j)^k g(z_i - k) g(z_j - s + k),    k = 0, ..., s.

For Laplace noise of rate h, g(u) = e^(-h |u|), the logarithm is linear between the breaks z_i and s - z_j: three
geometric pieces (five for two releases), whose sum is known and which are drawn exactly. For Gaussian noise it is a
normal density at whole numbers, and a rounded normal number is proposed. Either way a proposal comes with a weight, its
unnormalised probability over that of proposing it, and is taken by Metropolis's rule; for Laplace noise every weight is
the sum itself, so that counts alone are always taken, and what the odds are may be proposed together with the counts.

The pairs of a random perfect matching are independent given their sums, so half of all counts are drawn at once. The
total never changes, and every table can be reached, since units move between any two cells.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from discreet._core.arrays import Counts, Floats

_FLAT = 1e-12  # slopes below this are 0 to all digits of the sums


class CellPairs(ABC):
    """Pairs of cells with known sums of their counts."""

    @abstractmethod
    def proposed(self, log_odds: Floats, generator: np.random.Generator) -> tuple[Counts, Floats]:
        """Propose the first count of each pair under log rho_i / rho_j; return it with the log of its weight."""

    @abstractmethod
    def log_weights(self, log_odds: Floats, counts: Counts) -> Floats:
        """Return the log of the weight that these first counts would have if they were proposed."""


class CellNoise(ABC):
    """The noisy counts of all cells, and their noise: independent, or given that it adds up to the total's."""

    @abstractmethod
    def pairs(self, first: Counts, second: Counts, sums: Counts) -> CellPairs:
        """Return pairs of cells, given by their indices."""

    @property
    @abstractmethod
    def middle(self) -> Floats:
        """Return the noisy counts, averaged over releases."""

    @property
    @abstractmethod
    def deviation(self) -> float:
        """Return about the standard deviation of their noise."""


@dataclass(frozen=True, eq=False)
class LaplaceCells(CellNoise):
    """Two-sided geometric noise of one or more releases: noisy counts (releases, cells), and a rate for each."""

    noisy: Counts
    rates: Floats

    def pairs(self, first: Counts, second: Counts, sums: Counts) -> CellPairs:
        breaks = [own[first] for own in self.noisy] + [sums - own[second] for own in self.noisy]
        return _LaplacePairs(breaks, np.concatenate([self.rates, self.rates]), sums)

    @property
    def middle(self) -> Floats:
        return np.asarray(self.rates**2 @ self.noisy / np.square(self.rates).sum())

    @property
    def deviation(self) -> float:
        return float(np.sqrt(2 / np.square(self.rates).sum()))


@dataclass(eq=False)
class _LaplacePairs(CellPairs):
    breaks: Sequence[Counts]
    rates: Floats
    sums: Counts

    @cached_property
    def _pieces(self) -> tuple[Counts, Floats, Floats, Floats]:
        """Return where pieces begin (pieces, ...), how long they are, and the noise's part of levels and slopes."""
        inside = [np.clip(each, 0, self.sums) for each in self.breaks]
        rising = np.sort(np.stack(inside), axis=0)
        starts = np.concatenate([np.zeros_like(self.sums)[None], rising])
        lengths = np.diff(starts, axis=0, append=self.sums[None] + 1).astype(float)
        levels, slopes = np.zeros(starts.shape), np.zeros(starts.shape)
        for each, rate in zip(self.breaks, self.rates, strict=True):
            levels -= rate * np.abs(starts - each)
            slopes -= np.where(starts >= each, rate, -rate)
        return starts, lengths, levels, slopes

    def _sums(self, log_odds: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return log sums over all counts, the running sums of pieces, their slopes, and 1 - e^(-|slope| length)."""
        starts, lengths, levels, slopes = self._pieces
        slopes = slopes + log_odds
        steep = np.abs(slopes)
        shares = -np.expm1(-steep * lengths)
        flat = steep < _FLAT
        ends = np.where(flat, lengths, shares / np.where(flat, 1.0, -np.expm1(-steep)))
        with np.errstate(divide="ignore"):
            logs = levels + starts * log_odds + np.maximum(slopes, 0.0) * (lengths - 1) + np.log(ends)
        most = logs.max(axis=0)
        running = np.cumsum(np.exp(logs - most), axis=0)
        return most + np.log(running[-1]), running, slopes, shares

    def proposed(self, log_odds: Floats, generator: np.random.Generator) -> tuple[Counts, Floats]:
        logs, running, slopes, shares = self._sums(log_odds)
        piece = (running < running[-1] * generator.random(self.sums.shape)).sum(axis=0)[None]
        start, length, slope, share = (
            np.take_along_axis(each, piece, axis=0)[0] for each in (*self._pieces[:2], slopes, shares)
        )
        uniform, steep = generator.random(self.sums.shape), np.abs(slope)
        with np.errstate(divide="ignore"):
            steps = np.where(steep < _FLAT, uniform * length, -np.log1p(-uniform * share) / np.maximum(steep, _FLAT))
        steps = np.minimum(np.floor(steps), length - 1)
        return np.asarray(start + np.where(slope > 0, length - 1 - steps, steps).astype(np.int64)), logs

    def log_weights(self, log_odds: Floats, counts: Counts) -> Floats:
        return self._sums(log_odds)[0]


@dataclass(frozen=True, eq=False)
class GaussianCells(CellNoise):
    """Discrete Gaussian noise: noisy counts, of several releases their mean, and the variance of its noise."""

    noisy: Floats
    variance: float

    def pairs(self, first: Counts, second: Counts, sums: Counts) -> CellPairs:
        return _GaussianPairs(self.noisy[first], self.noisy[second], self.variance, sums)

    @property
    def middle(self) -> Floats:
        return self.noisy

    @property
    def deviation(self) -> float:
        return float(np.sqrt(self.variance))


@dataclass(eq=False)
class _GaussianPairs(CellPairs):
    """With v = sigma^2: the weight of k is e^(a k - ((z_i - k)^2 + (z_j - s + k)^2) / 2v), a normal density in k.

    Its middle is (z_i + s - z_j + v a) / 2 and its variance v / 2.
    """

    first: Floats
    second: Floats
    variance: float
    sums: Counts

    def _middle(self, log_odds: Floats) -> Floats:
        return np.asarray((self.first + self.sums - self.second + self.variance * log_odds) / 2)

    def proposed(self, log_odds: Floats, generator: np.random.Generator) -> tuple[Counts, Floats]:
        middle, spread = self._middle(log_odds), np.sqrt(self.variance / 2)
        turned = middle < -0.5  # what is kept of the normal distribution is then its upper tail
        low, high = (-0.5 - middle) / spread, (self.sums + 0.5 - middle) / spread
        low, high = np.where(turned, -high, low), np.where(turned, -low, high)
        least, most = log_ndtr(low), log_ndtr(high)
        uniform = generator.random(self.sums.shape)
        scores = ndtri_exp(most + np.log(uniform + (1 - uniform) * np.exp(least - most)))
        values = np.rint(middle + spread * np.where(turned, -scores, scores))
        counts = np.clip(values, 0, self.sums).astype(np.int64)
        return counts, self.log_weights(log_odds, counts)

    def log_weights(self, log_odds: Floats, counts: Counts) -> Floats:
        middle, spread = self._middle(log_odds), np.sqrt(self.variance / 2)
        off = np.square(self.first - counts) + np.square(self.second - self.sums + counts)
        ends = (-0.5 - middle) / spread, (self.sums + 0.5 - middle) / spread
        own = (counts - 0.5 - middle) / spread, (counts + 0.5 - middle) / spread
        return np.asarray(log_odds * counts - off / (2 * self.variance) + _log_between(*ends) - _log_between(*own))


def _log_between(low: Floats, high: Floats) -> Floats:
    """Return log P(low < x < high) of a standard normal number, which keeps its digits in both tails."""
    turned = low > 0
    least, most = (log_ndtr(np.where(turned, -high, low)), log_ndtr(np.where(turned, -low, high)))
    return np.asarray(most + np.log(-np.expm1(least - most)))
