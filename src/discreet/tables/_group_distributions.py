"""Distributions of groups of cells: where the answers about a table come from, each group by itself or all together.

The posterior of a table needs nothing from its distributions beyond this interface, so every question is implemented
once and answered either from its own noisy sums or from one joint posterior.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from math import exp

import numpy as np
from scipy.special import logsumexp

from discreet._core.arrays import Counts, Floats
from discreet._core.exact import whole
from discreet.inference import LOST, PosteriorSample
from discreet.mathematics.distributions import (
    BetaMixture,
    BetaRows,
    CountDistribution,
    MixtureBatch,
    SampledShare,
    SampledShares,
    Share,
    Summary,
    batch_of,
    end_errors,
    ends_of,
    log_dirichlet_rows,
    summaries_of,
)
from discreet.tables._groupwise import GroupwiseInference
from discreet.tables._solution import TableSolution

_NATS = 35.0  # strengths whose evidence lies further below the best have no weight
_OFF = 3.0  # times the mass left out of a sum: it moves the distribution by as much, and the evidence


ShareDistribution = BetaMixture | SampledShare
"""What is known about a share: a mixture of Betas, or draws."""


class GroupDistributions(ABC):
    """What is known about groups of cells, each given by the indices of its cells."""

    @abstractmethod
    def share(self, indices: Counts) -> ShareDistribution:
        """Return the distribution of a group's probability."""

    are_opened = False
    """Whether intervals of shares, of rates in groups and of counts are extended to what is possible."""
    is_groupwise = False
    """Whether every question is answered from the noisy sums that it names."""
    weight_error: float | None = None
    """How far distributions of cells may be off in total variation, rounding aside; None if they were drawn."""

    chains = 1
    """How many chains its draws come from, one after the other."""

    @abstractmethod
    def cells(self, indices: Sequence[int]) -> MixtureBatch | SampledShares:
        """Return the distributions of single cells at once."""

    @abstractmethod
    def ends(self, indices: Sequence[int], level: float) -> tuple[Floats, Floats]:
        """Return both ends of the interval of each of some cells."""

    @abstractmethod
    def summaries(self, indices: Sequence[int], level: float) -> tuple[list[Summary], list[float | None]]:
        """Return `share.summary(level)` of each of some cells, and how far mean and ends may be off, None if drawn."""

    @abstractmethod
    def known_widths(self, indices: Sequence[int], level: float) -> Floats:
        """Return the mean width of each cell's interval if all counts were known."""

    @abstractmethod
    def variances(self, indices: Sequence[int]) -> tuple[Floats, Floats]:
        """Return each cell's variance if all counts were known, and what not knowing them adds."""

    @abstractmethod
    def between(self, one: Counts, two: Counts) -> ShareDistribution:
        """Return the distribution of theta_one / (theta_one + theta_two) for disjoint groups."""

    @abstractmethod
    def count(self, indices: Counts) -> CountDistribution:
        """Return the distribution of how many of the records behind the releases fall into a group."""

    @abstractmethod
    def log_draws(self, groups: Sequence[Counts], count: int, seed: int | None) -> Floats:
        """Draw logarithms of the probabilities of disjoint groups (columns), jointly."""


class MixedGroups(GroupDistributions):
    """Groups whose shares are mixtures of Betas: those of single cells are computed in one batch."""

    @abstractmethod
    def share(self, indices: Counts) -> BetaMixture: ...

    @abstractmethod
    def between(self, one: Counts, two: Counts) -> BetaMixture: ...

    def cells(self, indices: Sequence[int]) -> MixtureBatch:
        """Return the distributions of single cells as rows of one batch."""
        return self.several([np.array([index]) for index in indices])

    def several(self, groups: Sequence[Counts]) -> MixtureBatch:
        """Return the distributions of several groups as rows of one batch: all are counts out of one total."""
        found = batch_of([self.share(group) for group in groups])
        assert found is not None
        return found

    def ends(self, indices: Sequence[int], level: float) -> tuple[Floats, Floats]:
        return ends_of(self.cells(indices), level, self.are_opened)

    def summaries(self, indices: Sequence[int], level: float) -> tuple[list[Summary], list[float | None]]:
        batch = self.cells(indices)
        found = summaries_of(batch, level, self.are_opened)
        return found, end_errors(batch, self.weight_error, found)

    def known_widths(self, indices: Sequence[int], level: float) -> Floats:
        return self.cells(indices).known_widths(level)

    def variances(self, indices: Sequence[int]) -> tuple[Floats, Floats]:
        return self.cells(indices).variances


class JointDistributions(GroupDistributions):
    """All cells read together: their means add up, and they are drawn jointly."""

    @property
    @abstractmethod
    def means(self) -> Floats:
        """Return the expected probability of every cell."""

    @property
    @abstractmethod
    def mean_errors(self) -> Sequence[float | None]:
        """Return the Monte Carlo error of each mean, None where nothing was drawn."""

    @property
    @abstractmethod
    def method(self) -> str:
        """Say in words how the cells were read."""

    @abstractmethod
    def sample(self, count: int, seed: int | None) -> PosteriorSample:
        """Draw about this many vectors of probabilities, `theta`, and the counts of the records."""

    @property
    @abstractmethod
    def facts(self) -> dict[str, object]:
        """Return how well chains did, by name; nothing where there are none."""

    @abstractmethod
    def log_cells(self, count: int, seed: int | None) -> Floats:
        """Draw logarithms of the probabilities of all cells, which do not vanish however small they are."""

    def log_draws(self, groups: Sequence[Counts], count: int, seed: int | None) -> Floats:
        """Draw all cells, and add up groups."""
        logs = self.log_cells(count, seed)
        return np.stack([logsumexp(logs[:, group], axis=1) for group in groups], axis=1)


class JointPosterior(MixedGroups, JointDistributions):
    """All cells are read together, under one prior or several of different strength, weighted by their evidence.

    `mixture_type` is `Share` if intervals of shares are opened; `weighed` has the posterior probability of each
    strength with any weight, and its solution.
    """

    def __init__(self, solutions: Sequence[TableSolution], mixture_type: type[BetaMixture] = BetaMixture) -> None:
        self.log_evidences, self.mixture_type = (
            np.array([solution.log_evidence for solution in solutions]),
            mixture_type,
        )
        self.are_opened = mixture_type is Share
        self.probabilities = np.exp(self.log_evidences - logsumexp(self.log_evidences))
        believed = self.log_evidences > self.log_evidences.max() - _NATS
        self.solutions = tuple(solution for solution, kept in zip(solutions, believed, strict=True) if kept)
        self.shares = self.probabilities[believed]
        self.weighed = [pair for pair in zip(self.shares.tolist(), self.solutions, strict=True) if pair[0] > 0]
        left_out = [solution.counts.lost for solution in self.solutions if solution.mean_errors is None]
        known = [share for share in left_out if share is not None]
        is_summed = len(known) == len(self.solutions)  # and not drawn
        self.weight_error = _OFF * max(known) + exp(-_NATS) * len(solutions) if is_summed else None
        self.draws = min((drawn for each in self.solutions if (drawn := each.counts.draws) is not None), default=None)

    def share(self, indices: Counts) -> BetaMixture:
        parts = []
        for share, solution in self.weighed:
            alpha, (sums, weights) = solution.model.concentration, solution.counts.sum_of(indices)
            inside = alpha[indices].sum() + sums
            parts.append((share * weights, inside, alpha.sum() + solution.counts.total - inside))
        weights, a, b = (np.concatenate(column) for column in zip(*parts, strict=True))
        return self.mixture_type(weights, a, b, weight_error=self.weight_error, draws=self.draws)

    @property
    def means(self) -> Floats:
        return self.expected(lambda a, total: a / total)

    @property
    def mean_errors(self) -> Sequence[float | None]:
        own = self.solutions[0].mean_errors if len(self.solutions) == 1 else None
        return own or [None] * len(self.solutions[0].model.cells)

    @property
    def method(self) -> str:
        return self.weighed[0][1].method

    @property
    def facts(self) -> dict[str, object]:
        return {}

    def expected(self, of: Callable[[Floats, float], Floats]) -> Floats:
        """Return, for every cell, the expectation of a function of a Beta with parameters a, total - a."""
        found = np.zeros(len(self.solutions[0].model.cells))
        for share, solution in self.weighed:
            alpha, distributions = solution.model.concentration, solution.counts.marginals
            a = (alpha + solution.counts.first)[:, None] + np.arange(distributions.shape[1], dtype=float)
            found += share * np.einsum("ij,ij->i", distributions, of(a, float(alpha.sum() + solution.counts.total)))
        return found

    def cells(self, indices: Sequence[int]) -> MixtureBatch:
        chosen, parts = np.asarray(indices, dtype=np.int64), []
        for share, solution in self.weighed:
            first, alpha = solution.counts.first[chosen], solution.model.concentration
            total = float(alpha.sum() + solution.counts.total)
            parts.append(BetaRows.of(share * solution.counts.marginals[chosen], alpha[chosen] + first, total))
        return MixtureBatch(parts)

    def between(self, one: Counts, two: Counts) -> BetaMixture:
        parts, found = [], []
        for share, solution in self.weighed:
            alpha = solution.model.concentration
            pairs = solution.counts.pair_of_sums(one, two)
            parts.append((share * pairs.weights, alpha[one].sum() + pairs.first, alpha[two].sum() + pairs.second))
            found.append(pairs)
        weights, a, b = (np.concatenate(column) for column in zip(*parts, strict=True))
        lost, drawn = [each.lost for each in found], [each.draws for each in found if each.draws is not None]
        known = [each for each in lost if each is not None]
        off = None if self.weight_error is None or len(known) < len(lost) else self.weight_error + max(known)
        return self.mixture_type(weights, a, b, weight_error=off, draws=min(drawn, default=None))

    def count(self, indices: Counts) -> CountDistribution:
        """Return the distribution of the group's true count."""
        parts = [(share, *solution.counts.sum_of(indices)) for share, solution in self.weighed]
        return count_distribution(parts, int(self.weighed[0][1].counts.total) if self.are_opened else None)

    def log_cells(self, count: int, seed: int | None) -> Floats:
        return self.drawn(count, seed)[1]

    def sample(self, count: int, seed: int | None) -> PosteriorSample:
        """Draw counts and probabilities given them, independently."""
        counts, logs, indices = self.drawn(count, seed)
        return PosteriorSample({"theta": np.exp(logs)}, counts, 1, {"prior_place": indices})

    def drawn(self, count: int, seed: int | None) -> tuple[Counts, Floats, Counts]:
        """Draw counts, logarithms of probabilities given them, and the index of the prior that each draw belongs to."""
        generator = np.random.default_rng(seed)
        shares = np.array([share for share, _ in self.weighed])
        numbers = generator.multinomial(count, shares / shares.sum())
        counts, logs = [], []
        for number, (_, solution) in zip(numbers, self.weighed, strict=True):
            if number:
                counts.append(solution.counts.draw(int(number), generator))
                logs.append(log_dirichlet_rows(solution.model.concentration + counts[-1], generator))
        order = generator.permutation(count)
        indices = np.repeat(np.arange(len(numbers)), numbers)
        return np.concatenate(counts)[order], np.concatenate(logs)[order], indices[order]


class GroupwiseDistributions(MixedGroups):
    """Each question is answered from its own noisy sums: the groups it names and the rest, with a uniform prior."""

    are_opened = True  # since every share has a uniform prior
    is_groupwise = True
    weight_error = LOST

    def __init__(self, sums: GroupwiseInference, size: int) -> None:
        self._sums, self._size = sums, size

    def share(self, indices: Counts) -> Share:
        parts = self._sums.parts(indices)
        counts, weights = parts.counts.sum_of(parts.indices[0])
        known, draws = parts.counts.lost, parts.counts.draws
        return Share(weights, _one_more(counts), _one_more(self._size - counts), weight_error=known, draws=draws)

    def cells(self, indices: Sequence[int]) -> MixtureBatch:
        """Return the distributions of single cells, computed together where cells are alike."""
        if (found := self._sums.cells(np.asarray(indices, dtype=np.int64))) is None:
            return super().cells(indices)
        first, weights, classes = found
        return MixtureBatch([BetaRows.of(weights, 1.0 + first, self._size + 2.0)], classes)

    def between(self, one: Counts, two: Counts) -> Share:
        """Return the distribution of the share that one group has of two, from three sums."""
        parts = self._sums.parts(one, two)
        found = parts.counts.pair_of_sums(*parts.indices[:2])
        one_more = _one_more(found.first), _one_more(found.second)
        return Share(found.weights, *one_more, weight_error=found.lost, draws=found.draws)

    def count(self, indices: Counts) -> CountDistribution:
        """Return the distribution of the group's true count."""
        parts = self._sums.parts(indices)
        return count_distribution([(1.0, *parts.counts.sum_of(parts.indices[0]))], self._size)

    def log_draws(self, groups: Sequence[Counts], count: int, seed: int | None) -> Floats:
        """Draw the counts of the groups and of the rest, then their probabilities."""
        generator, parts = np.random.default_rng(seed), self._sums.parts(*groups)
        tables = parts.counts.draw(whole(count, "count"), generator)
        sums = np.stack([tables[:, own].sum(axis=1) for own in parts.indices], axis=1)
        return log_dirichlet_rows(1.0 + sums, generator)[:, : len(groups)]


def _one_more(counts: Counts) -> Floats:
    """Return the parameters of a Beta whose prior was uniform."""
    return np.asarray(1.0 + counts, dtype=float)


def count_distribution(
    distributions: Sequence[tuple[float, Counts, Floats]], most: float | None = None
) -> CountDistribution:
    """Return a mixture of distributions of counts, each with its share: the counts and their probabilities.

    If intervals are opened, `most` is the largest count that is possible.
    """
    first = min(int(counts[0]) for _, counts, _ in distributions)
    table = np.zeros(max(int(counts[-1]) for _, counts, _ in distributions) - first + 1)
    for share, counts, weights in distributions:
        table[counts - first] += share * weights
    return CountDistribution(first, table, most)
