"""Tables of a secret number of records: what is known of shares, counts, and of the number of records itself.

Events split the cells into parts. Given the noisy sums of a part S and of the rest R, with the kernels G_S and G_R of
summed noise, theta_S uniform and the number of records n beforehand equally likely to be 0, 1, 2, ...,

    P(k_S, k_R | z) ~ G_S(z_S - k_S) G_R(z_R - k_R) h(k_S + k_R),      h(n) = g_T(z_T - n) / (n + 1),

and theta_S given both counts is Beta(1 + k_S, 1 + k_R). Without a noisy number of records z_T of its own, g_T is 1. The
count of an event is read from its own noisy sum, and n from that of all cells, both without a prior on shares: the sum
of what is read of single cells would be too large, because each of them is at least 0.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet.inference import (
    CONTRADICTED,
    Beside,
    CellWeights,
    CostEstimate,
    CountsOfSecretNumber,
    Feature,
    GroupedCounts,
    LogNumber,
    Observed,
    PosteriorSample,
    Problem,
    SecretNumber,
    Solver,
    alike,
    number_facts,
    number_in_words,
)
from discreet.mathematics import log_prior_constant
from discreet.mathematics.distributions import (
    BetaMixture,
    BetaTable,
    CountDistribution,
    Interval,
    MixtureBatch,
    RestNodes,
    Share,
    log_dirichlet_rows,
)
from discreet.mechanism import Measurement
from discreet.noise import MARGIN, Noise, TotalPreserving, log_terms, product_of
from discreet.tables._group_distributions import JointPosterior, MixedGroups, count_distribution
from discreet.tables._groupwise import collapsed_problem
from discreet.tables._model import Categories
from discreet.tables._posterior import CategoriesPosterior
from discreet.tables._secret_size_mechanisms import NumberOfRecords
from discreet.tables._solution import EXACTLY, TableSolution
from discreet.tables._solver import MeasuredCells

_NODES_OFF = 1e-5
"""About how far distributions are off where many rests are put together; a test compares with all of them."""
_FARTHEST = MARGIN / 2  # nats by which what is known of the number of records may contradict what was published
_TRIM = 1e-12  # what has such a share is left out
_TABLE = 64  # about the most nodes of a rest


@dataclass(frozen=True, eq=False)
class SecretSizeSolution(TableSolution):
    """The true counts of a table whose number of records is secret, under one prior, and the evidence for that prior.

    The evidence is known up to a constant that is the same for all priors of one release.
    """


class SecretSizeSolver(Solver):
    """Sums over all tables of all numbers of records by Fourier transforms."""

    models = (Categories,)
    handles = frozenset({Feature.SECRET_NUMBER, Feature.NUMBER_PRIOR})

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Refuse what is no noisy table of all cells, alone or with a noisy number of records."""
        if not isinstance(problem.number, int):
            known = [why for each in problem.observed if (why := secret_number_refusal(each)) is not None]
            return known[0] if known else None
        return "the number of records is public"

    def cost(self, problem: Problem) -> CostEstimate:
        """Return the size of the windows, their transforms, and each cell beside all others."""
        cells = len(problem.model.cells)
        width = max(2 * MARGIN * float(m.noise.decay_length.max()) + 5 for m in problem.measurements)
        length = width + 24 * np.sqrt(cells) * width / 90
        operations = cells * (100 * length * np.log2(length + 2) + 10 * width * length)
        what = f"inference for {cells} cells through windows of {width:.0f} counts, of a secret number of records"
        return CostEstimate(what, operations, cells * width * _TABLE / 2)

    def solve(self, problem: Problem) -> SecretSizeSolution:
        """Return the exact joint posterior of all counts."""
        alpha, cells = problem.model.concentration, len(problem.model.cells)
        tables = [MeasuredCells(each, cells, 0) for each in cell_measurements(problem)]

        def log_kernel(indices: Counts, counts: Counts) -> Floats:
            return np.asarray(sum(table(indices, counts) for table in tables))

        low, high = (reduce([table.low for table in tables], axis=0) for reduce in (np.min, np.max))
        reach = min(table.reach for table in tables)
        classes = alike(alpha, [table.classes for table in tables])
        weights = CellWeights(alpha, log_kernel)
        counts = CountsOfSecretNumber(weights, low, high, reach, log_number(problem), classes, prior_of_number(problem))
        constant = sum(table.log_constant for table in tables)
        return SecretSizeSolution(problem.model, counts, counts.log_sum + constant, EXACTLY)


def secret_number_refusal(observed: Observed) -> str | None:
    cells = [m for m in observed.measurements if not isinstance(m.of, NumberOfRecords)]
    if observed.draw is not None or len(cells) != 1 or observed.is_margin:
        return "only noisy counts of all cells are read together where the number of records is secret"
    if cells[0].of.single_cells is None or any(product_of(m.noise.structure) is None for m in observed.measurements):
        return "its noise does not factor over the cells of the table"
    if any(isinstance(m.noise.structure, TotalPreserving) for m in observed.measurements):
        return "its noise adds up to zero, so that it publishes the exact number of records, which should be secret"
    return None


def cell_measurements(problem: Problem) -> list[Measurement]:
    return [m for m in problem.measurements if not isinstance(m.of, NumberOfRecords)]


def _numbers(problem: Problem) -> list[Measurement]:
    return [m for m in problem.measurements if isinstance(m.of, NumberOfRecords)]


def log_number(problem: Problem) -> LogNumber:
    """Return log h(n) = log n! Gamma(A) / Gamma(A + n) + log P(z_T | n) + log pi(n), of arrays of numbers."""
    strength, published = float(problem.model.concentration.sum()), published_number(problem)
    prior = prior_of_number(problem)
    return lambda numbers: log_prior_constant(strength, numbers) + published(numbers) + prior.log_weights(numbers)


def prior_of_number(problem: Problem) -> SecretNumber:
    """Return what the reader knows beforehand of the number of records."""
    assert isinstance(problem.number, SecretNumber)
    return problem.number


def published_number(problem: Problem) -> LogNumber:
    """Return log P(what was published of the number of records alone | that number), of arrays of numbers."""
    noisy, own = _numbers(problem), np.zeros(1, dtype=np.int64)

    def log_weights(numbers: Counts) -> Floats:
        logs = [log_terms(each.noise.structure, each.values[0] - numbers, own) for each in noisy]
        return np.zeros(np.shape(numbers)) + sum(logs) - sum(each.noise.log_normaliser for each in noisy)

    return log_weights


class SecretJointPosterior(JointPosterior):
    """All cells read together, where the number of records is secret: shares are Beta(a + k, b + rest)."""

    def __init__(self, solutions: Sequence[TableSolution], mixture_type: type[BetaMixture] = BetaMixture) -> None:
        super().__init__(solutions, mixture_type)
        self.weight_error = None if self.weight_error is None else self.weight_error + _NODES_OFF

    def share(self, indices: Counts) -> BetaMixture:
        parts = []
        for share, solution in self.weighed:
            alpha = solution.model.concentration
            first, rest, weights = on_nodes(_of_secret_number(solution).beside(indices))
            own = float(alpha[indices].sum())
            table = BetaTable(share * weights[None], np.array([own + first]), (float(alpha.sum()) - own + rest)[None])
            parts.append(table.components(0))
        columns = (np.concatenate(column) for column in zip(*parts, strict=True))
        return self.mixture_type(*columns, weight_error=self.weight_error, draws=self.draws)

    def cells(self, indices: Sequence[int]) -> MixtureBatch:
        chosen, parts = np.asarray(indices, dtype=np.int64), []
        for share, solution in self.weighed:
            alpha = solution.model.concentration
            _, own, classes = np.unique(
                _of_secret_number(solution).classes[chosen], return_index=True, return_inverse=True
            )
            found = [on_nodes(_of_secret_number(solution).beside(chosen[[index]])) for index in own]
            starts = np.array([alpha[chosen[index]] + each[0] for index, each in zip(own, found, strict=True)])
            rests = [alpha.sum() - alpha[chosen[index]] + each[1] for index, each in zip(own, found, strict=True)]
            parts.append(_stacked([share * each[2] for each in found], starts, rests).rows(classes.ravel()))
        return MixtureBatch(parts)

    def expected(self, of: Callable[..., Floats]) -> Floats:
        found = np.zeros(len(self.solutions[0].model.cells))
        for share, solution in self.weighed:
            alpha, classes = solution.model.concentration, _of_secret_number(solution).classes
            _, own, back = np.unique(classes, return_index=True, return_inverse=True)
            means = []
            for index in own:
                first, rest, weights = on_nodes(_of_secret_number(solution).beside(np.array([index])))
                a = alpha[index] + first + np.arange(weights.shape[1], dtype=float)
                total = a + (alpha.sum() - alpha[index] + rest)[:, None]
                means.append(float((weights * of(a, total)).sum()))
            found += share * np.array(means)[back.ravel()]
        return found

    def count(self, indices: Counts) -> CountDistribution:
        parts = [(share, *solution.counts.sum_of(indices)) for share, solution in self.weighed]
        return count_distribution(parts, inf if self.are_opened else None)


class GroupedSecretCounts(GroupedCounts):
    """The joint distribution of the sums of counts over groups of cells, where the number of records is secret."""

    def __init__(self, counts: CountsOfSecretNumber, groups: Sequence[Counts]) -> None:
        super().__init__(counts, groups)
        self._all, self.classes = counts, np.arange(len(groups))

    def beside(self, indices: Counts) -> Beside:
        """Return the probabilities of the sum of some groups beside that of all others."""
        return self._all.beside(self._cells(indices))


def _of_secret_number(solution: TableSolution) -> CountsOfSecretNumber | GroupedSecretCounts:
    counts = solution.counts
    assert isinstance(counts, CountsOfSecretNumber | GroupedSecretCounts)
    return counts


def on_nodes(both: Beside) -> tuple[int, Floats, Floats]:
    """Return the least sum, the nodes of the rest, and the probabilities of (node, sum); what weighs nothing is cut."""
    beside = np.sum([block.sum(axis=0) for block in both.blocks()], axis=0)
    (kept,) = np.nonzero(beside > _TRIM * beside.max())
    inner = slice(int(kept[0]), int(kept[-1]) + 1)
    nodes = RestNodes(beside[inner], both.least_rest + inner.start)
    weights = np.concatenate([nodes.weights(block[:, inner]) for block in both.blocks()])
    weights /= weights.sum()
    (shown,) = np.nonzero(weights.sum(axis=1) > _TRIM)
    rows = slice(int(shown[0]), int(shown[-1]) + 1)
    return both.first + rows.start, nodes.rests, np.asarray(weights[rows].T)


def _stacked(weights: Sequence[Floats], starts: Floats, rests: Sequence[Floats]) -> BetaTable:
    """Return tables of (node, count) as rows of one, padded with weights of zero."""
    nodes, counts = (max(each.shape[axis] for each in weights) for axis in (0, 1))
    table, ends = np.zeros((len(weights), nodes, counts)), np.ones((len(weights), nodes))
    for row, (own, rest) in enumerate(zip(weights, rests, strict=True)):
        table[row, : own.shape[0], : own.shape[1]] = own
        ends[row, : len(rest)] = rest
    return BetaTable(table, np.asarray(starts, dtype=float), ends)


class SecretGroupwiseDistributions(MixedGroups):
    """Each question is answered from its own noisy sums, with a uniform prior, of a secret number of records."""

    are_opened = True
    is_groupwise = True
    weight_error = _NODES_OFF

    def __init__(self, problem: Problem[Categories]) -> None:
        self._problem = problem

    def _labels(self, *groups: Counts) -> Counts:
        labels = np.full(len(self._problem.model.cells), len(groups))
        for number, group in enumerate(groups):
            labels[group] = number
        return labels

    def _parts(self, *groups: Counts) -> CountsOfSecretNumber:
        """Return the counts of disjoint groups of cells, in this order, and after them those of all other cells."""
        labels = self._labels(*groups)
        parts = int(labels.max()) + 1
        model = Categories("part", levels=tuple(range(parts)), prior=1, outside=0) if parts > 1 else None
        problem = None if model is None else collapsed_problem(self._problem, model, labels)
        if problem is None:
            raise DeclarationError("The noise of these sums has no distribution in closed form here. Nothing was read.")
        found = SecretSizeSolver().solve(problem).counts
        assert isinstance(found, CountsOfSecretNumber)
        return found

    def _beside(self, labels: Counts) -> tuple[int, Floats, Floats]:
        """Return the least count of part 0, the nodes of the rest, and the probabilities of (node, count)."""
        model = Categories("part", levels=(0, 1), prior=1, outside=0)
        problem = collapsed_problem(self._problem, model, labels)
        if problem is None:
            raise DeclarationError("The noise of these sums has no distribution in closed form here. Nothing was read.")
        log_h, noisy, windows = log_number(problem), cell_measurements(problem), []
        for part in (0, 1):
            values = [int(each.values[part]) for each in noisy]
            reach = int(np.ceil(MARGIN * min(float(each.noise.decay_length[part]) for each in noisy))) + 2
            counts = np.arange(max(0, min(values) - reach), max(0, max(values)) + reach + 1)
            own = np.array([part])
            logs = sum(log_terms(each.noise.structure, each.values[part] - counts, own) for each in noisy)
            windows.append((counts, np.asarray(logs - np.max(logs))))
        (counts, own_logs), (rests, rest_logs) = windows
        logs_h = log_h(np.arange(int(counts[0] + rests[0]), int(counts[-1] + rests[-1]) + 1))
        if prior_of_number(problem).is_open:  # where both peak: h may be much larger elsewhere
            scale = float(logs_h[int(own_logs.argmax() + rest_logs.argmax())])
        else:
            best = [int((rest_logs + logs_h[k : k + len(rests)]).argmax()) for k in range(len(counts))]
            heights = own_logs + rest_logs[best] + logs_h[np.arange(len(counts)) + best]
            peak = int(heights.argmax())
            scale = float(heights[peak])
            if not own_logs[peak] + rest_logs[best[peak]] > -_FARTHEST:
                raise DeclarationError(CONTRADICTED)

        def rows(start: int, end: int) -> Floats:
            steps = np.arange(start, end)[:, None] + np.arange(len(rests))
            return np.asarray(np.exp(own_logs[start:end, None] + rest_logs + logs_h[steps] - scale))

        return on_nodes(Beside(int(counts[0]), int(rests[0]), len(counts), len(rests), rows))

    def share(self, indices: Counts) -> Share:
        weights, a, b = self._table([indices]).components(0)
        kept = weights > _TRIM * weights.max()
        return Share(weights[kept] / weights[kept].sum(), a[kept], b[kept], weight_error=self.weight_error)

    def cells(self, indices: Sequence[int]) -> MixtureBatch:
        """Return the distributions of single cells; cells with the same noisy counts are read once."""
        chosen = np.asarray(indices, dtype=np.int64)
        values = np.empty((len(self._problem.model.cells), len(cell_measurements(self._problem))), dtype=np.int64)
        for number, each in enumerate(cell_measurements(self._problem)):
            values[each.of.single_cells, number] = each.values
        _, own, classes = np.unique(values[chosen], axis=0, return_index=True, return_inverse=True)
        table = self._table([chosen[[index]] for index in own])
        return MixtureBatch([table.rows(classes.ravel())], classes.ravel())

    def several(self, groups: Sequence[Counts]) -> MixtureBatch:
        return MixtureBatch([self._table(groups)])

    def _table(self, groups: Sequence[Counts]) -> BetaTable:
        found = [self._beside(self._labels(group)) for group in groups]
        starts = np.array([1.0 + first for first, _, _ in found])
        return _stacked([weights for _, _, weights in found], starts, [1 + rest for _, rest, _ in found])

    def between(self, one: Counts, two: Counts) -> Share:
        """Return the distribution of the share that one group has of two, from three sums."""
        found = self._parts(one, two).pair_of_sums(np.array([0]), np.array([1]))
        a, b = (np.asarray(1.0 + counts, dtype=float) for counts in (found.first, found.second))
        return Share(found.weights, a, b, weight_error=found.lost, draws=found.draws)

    def count(self, indices: Counts) -> CountDistribution:
        """Return the distribution of the group's true count, from its own noisy sum alone: flat on 0, 1, 2, ..."""
        labels = self._labels(indices)
        noisy = [(each.values, each.noise) for each in (_numbers(self._problem) if labels.max() == 0 else ())]
        for each in cell_measurements(self._problem):
            own = labels[np.asarray(each.of.single_cells)]
            if (summed := each.noise.marginal(own.tolist())) is not None:
                noisy.append((each.values[own == 0].sum(keepdims=True), summed))
        prior = prior_of_number(self._problem)
        return _own_sum(noisy, prior if labels.max() == 0 else SecretNumber(0, prior.most))

    def number(self) -> CountDistribution:
        """Return the distribution of the number of records, from all that was published of it: flat on 0, 1, 2, ..."""
        return self.count(np.arange(len(self._problem.model.cells)))

    def log_draws(self, groups: Sequence[Counts], count: int, seed: int | None) -> Floats:
        """Draw the counts of the groups and of the rest, then their probabilities."""
        generator, parts = np.random.default_rng(seed), self._parts(*groups)
        tables = parts.draw(count, generator)
        return log_dirichlet_rows(np.asarray(1.0 + tables, dtype=float), generator)[:, : len(groups)]


def _own_sum(noisy: Sequence[tuple[Counts, Noise]], prior: SecretNumber) -> CountDistribution:
    """Return P(k | noisy values) for the first number of each noise, under what is known of it beforehand."""
    if not noisy:
        raise DeclarationError("The noise of this sum has no distribution in closed form here. Nothing was read.")
    reach = int(np.ceil(MARGIN * max(float(noise.decay_length[0]) for _, noise in noisy))) + 2
    values = [int(value[0]) for value, _ in noisy]
    counts = np.arange(max(0, min(values) - reach), max(0, max(values)) + reach + 1)
    own = np.zeros(1, dtype=np.int64)
    logs = np.asarray(sum(log_terms(noise.structure, value[0] - counts, own) for value, noise in noisy))
    alone, logs = logs - logs.max(), logs + prior.log_weights(counts)
    if not np.isfinite(logs.max()) or alone[logs.argmax()] < -_FARTHEST:
        raise DeclarationError(CONTRADICTED)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    (kept,) = np.nonzero(weights > _TRIM)
    inner = slice(int(kept[0]), int(kept[-1]) + 1)
    return CountDistribution(int(counts[kept[0]]), weights[inner] / weights[inner].sum(), inf)


class SecretSizePosterior(CategoriesPosterior, shows=SecretSizeSolution):
    """The posterior of cell probabilities of a secret number of records, and of that number.

    `size` is about how many records there are: the rounded mean of `number_of_records`.
    """

    about = "about "
    joint_type = SecretJointPosterior

    def _size(self) -> int:
        return round(self.number_of_records.mean)

    def grouped(self, counts: CountsOfSecretNumber, groups: Sequence[Counts]) -> GroupedCounts:
        return GroupedSecretCounts(counts, groups)

    @cached_property
    def groupwise_distributions(self) -> SecretGroupwiseDistributions:  # type: ignore[override]  # of the same groups
        """Return what single questions are answered from."""
        return SecretGroupwiseDistributions(Problem.of(self.releases))

    @property
    def number_of_records(self) -> CountDistribution:
        """Return the distribution of the number of records, whatever the prior of shares is."""
        return self.groupwise_distributions.number()

    def true_count(self, event: object) -> CountDistribution:
        """Return the distribution of how many records fall into an event, from its own noisy sum."""
        return self.groupwise_distributions.count(self.model.cell_indices(event))

    def group_sizes(self, by: str, level: float = 0.9) -> tuple[Interval, ...]:
        """Return an interval for the number of records in each level of a column, each from its own noisy sum."""
        column = next(each for each in self.columns if each.name == by)
        return tuple(self.groupwise_distributions.count(group).interval(level) for group in self._groups(column))

    def remarks(self, level: float = 0.9) -> tuple[str, ...]:
        """Say how many records there are, and how many exactly known ones would tell as much."""
        words = number_in_words(self.number_of_records, self.size, level=level)
        few = " So few records that what is assumed of their number beforehand counts." if self._are_few else ""
        return (words + few, *super().remarks(level))

    @property
    def _are_few(self) -> bool:
        return self.size * float(self.releases[0].mechanism.guarantee.epsilon) < _FEW

    def facts(self, level: float = 0.9) -> dict[str, object]:
        """Return the number of records besides."""
        return {**super().facts(level), "number_of_records": number_facts(self.number_of_records, level)}

    def replicate(self, sample: PosteriorSample, generator: np.random.Generator) -> Counts:
        theta = sample.parameters["theta"]
        hidden = np.full((len(theta), 1), self.size) if sample.hidden is None else np.asarray(sample.hidden)
        sizes = hidden.sum(axis=1).astype(np.int64)
        return np.stack([generator.multinomial(n, own / own.sum()) for n, own in zip(sizes, theta, strict=True)])

    def pooled(self, event: object, by: str, patience: float = 1.0) -> object:  # type: ignore[override]
        """Refuse what needs a public number of records."""
        raise DeclarationError(self._needs_number(f"Pooled rates by {by!r}"))

    def differ(self, event: object, by: str, patience: float = 1.0) -> object:  # type: ignore[override]
        """Refuse what needs a public number of records."""
        raise DeclarationError(self._needs_number(f"Whether rates differ by {by!r}"))

    def bayes_remap(self) -> object:  # type: ignore[override]
        """Refuse what needs a public number of records."""
        raise DeclarationError(self._needs_number("One Dirichlet with whole counts"))

    def _needs_number(self, what: str) -> str:
        return (
            f"{what} cannot be computed: {self.releases[0].label!r} keeps the number of records secret, and this "
            f"needs a "
            "public one. Nothing was computed. Ask for rates of each group, their differences and ratios instead."
        )


_FEW = 10  # number of records times epsilon, below which the prior of that number changes intervals
