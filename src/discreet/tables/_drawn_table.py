"""What chains say about groups of cells: shares, counts and rates from their draws, and further draws.

Of every draw the counts k and the odds rho of all cells are kept, and one vector of shares. Given these, the rate of a
cell is rho Gamma(k + 1), so further shares cost no further sweeps; and what intervals would be if all counts were known
is that of a Gamma number over the sum of all rates, for a group of cells of the one with the same mean and variance.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, logsumexp

from discreet._core.arrays import Counts, Floats
from discreet.inference import PosteriorSample
from discreet.mathematics.distributions import CountDistribution, SampledShare, SampledShares, Summary, tails
from discreet.tables._crossed_solver import CrossedSolution
from discreet.tables._group_distributions import JointDistributions, count_distribution

NumberT = TypeVar("NumberT", np.float64, np.int64)


class DrawnTable(JointDistributions):
    """Groups of cells of a table that was read by chains; by default each cell is a group of its own."""

    are_opened = True

    def __init__(self, solution: CrossedSolution, groups: Sequence[Counts] | None = None) -> None:
        self.solution, self._groups = solution, None if groups is None else tuple(groups)
        self.chains = solution.counts.shape[0]

    def merged(self, groups: Sequence[Counts]) -> "DrawnTable":
        """Return the same of groups of these groups."""
        own = self._groups
        return DrawnTable(self.solution, groups if own is None else [self._cells(group) for group in groups])

    def _cells(self, indices: Counts) -> Counts:
        own = self._groups
        return np.asarray(indices) if own is None else np.concatenate([own[int(index)] for index in indices])

    def _summed(self, values: NDArray[NumberT]) -> NDArray[NumberT]:
        """Return sums over the cells of each group, of draws in turn (draws, groups), from (chains, draws, cells)."""
        in_turn = values.transpose(1, 0, 2).reshape(-1, values.shape[2])
        if self._groups is None:
            return in_turn
        return np.stack([in_turn[:, group].sum(axis=1, dtype=values.dtype) for group in self._groups], axis=1)

    @cached_property
    def _shares(self) -> Floats:
        return self._summed(self.solution.shares)

    @cached_property
    def _counts(self) -> Counts:
        return self._summed(self.solution.counts)

    @cached_property
    def _moments(self) -> tuple[Floats, Floats]:
        """Return mean and variance of each share given counts and odds (draws, groups)."""
        odds = np.exp(self.solution.log_odds)
        means = (self.solution.counts + 1.0) * odds
        total = means.sum(axis=2, keepdims=True)
        return self._summed(means / total), self._summed(means * odds / total**2)

    @property
    def means(self) -> Floats:
        return np.asarray(self._shares.mean(axis=0))

    @property
    def mean_errors(self) -> Sequence[float | None]:
        drawn = self._shares.reshape(-1, self.chains, self._shares.shape[1])
        return [float(error) for error in drawn.mean(axis=0).std(axis=0, ddof=1) / np.sqrt(self.chains)]

    @property
    def method(self) -> str:
        return self.solution.method

    @property
    def facts(self) -> dict[str, object]:
        found = self.solution.agreement
        return {"r_hat": found.r_hat, "effective_size": found.bulk, "tail_effective_size": found.tail}

    def share(self, indices: Counts) -> SampledShare:
        return SampledShare(self._shares[:, indices].sum(axis=1), chains=self.chains)

    def between(self, one: Counts, two: Counts) -> SampledShare:
        first, second = (self._shares[:, own].sum(axis=1) for own in (one, two))
        return SampledShare(first / (first + second), chains=self.chains)

    def count(self, indices: Counts) -> CountDistribution:
        values, times = np.unique(self._counts[:, indices].sum(axis=1), return_counts=True)
        return count_distribution([(1.0, values, times / times.sum())], self.solution.prior.size)

    def cells(self, indices: Sequence[int]) -> SampledShares:
        return SampledShares(self._shares[:, list(indices)], self.chains)

    def ends(self, indices: Sequence[int], level: float) -> tuple[Floats, Floats]:
        return self.cells(indices).ends(level)

    def summaries(self, indices: Sequence[int], level: float) -> tuple[list[Summary], list[float | None]]:
        batch = self.cells(indices)
        low, high = batch.ends(level)
        private = np.maximum(0.0, 1 - self.known_widths(indices, level) / np.maximum(high - low, 1e-300))
        columns = (self.means[list(indices)], batch.median, low, high, batch.sd, private)
        return list(zip(*(column.tolist() for column in columns), strict=True)), [None] * len(low)

    def known_widths(self, indices: Sequence[int], level: float) -> Floats:
        means, variances = (own[:, list(indices)] for own in self._moments)
        shapes = np.round(means**2 / variances, 6)
        different, where = np.unique(shapes, return_inverse=True)
        low, high = (gammaincinv(different, tail) for tail in tails(level))
        return np.asarray(((high - low)[where.reshape(shapes.shape)] * variances / means).mean(axis=0))

    def variances(self, indices: Sequence[int]) -> tuple[Floats, Floats]:
        means, variances = (own[:, list(indices)] for own in self._moments)
        return variances.mean(axis=0), means.var(axis=0)

    def log_cells(self, count: int, seed: int | None) -> Floats:
        """Draw logarithms of shares: from draws of all chains in turn, none twice before all of its chain were once."""
        generator = np.random.default_rng(seed)
        chains, draws, _ = self.solution.counts.shape
        order = np.stack([generator.permutation(draws) for _ in range(chains)])
        turns = np.arange(count)
        return self._log_shares(generator.permutation(chains)[turns % chains], order, turns // chains, generator)

    def _log_shares(self, chain: Counts, order: Counts, turn: Counts, generator: np.random.Generator) -> Floats:
        place = order[chain, turn % order.shape[1]]
        counts, log_odds = (own[chain, place] for own in (self.solution.counts, self.solution.log_odds))
        logs = np.log(generator.standard_gamma(counts + 1.0)) + log_odds
        logs -= logsumexp(logs, axis=1, keepdims=True)
        if self._groups is None:
            return np.asarray(logs)
        return np.stack([logsumexp(logs[:, group], axis=1) for group in self._groups], axis=1)

    def sample(self, count: int, seed: int | None) -> PosteriorSample:
        """Draw about this many, the same number from each chain, in the order in which it went through them."""
        generator = np.random.default_rng(seed)
        chains, draws, _ = self.solution.counts.shape
        each = max(1, count // chains)
        places = np.arange(draws) if each >= draws else np.linspace(0, draws - 1, each).round().astype(np.int64)
        chain, turn = np.repeat(np.arange(chains), each), np.tile(np.arange(each), chains)
        order = np.broadcast_to(places, (chains, len(places)))
        logs = self._log_shares(chain, order, turn, generator)
        counts = self._counts.reshape(draws, chains, -1)[order[chain, turn % len(places)], chain]
        return PosteriorSample({"theta": np.exp(logs)}, counts, chains)

    def prior_sample(self, count: int, generator: np.random.Generator) -> PosteriorSample:
        """Draw shares from the prior."""
        rates = self.solution.prior.rates(count, generator)
        shares = rates / rates.sum(axis=1, keepdims=True)
        if self._groups is not None:
            shares = np.stack([shares[:, group].sum(axis=1) for group in self._groups], axis=1)
        return PosteriorSample({"theta": shares})
