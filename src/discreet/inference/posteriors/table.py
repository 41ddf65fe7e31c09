"""The noise-aware posterior of a table: the probability of each cell, exactly, with its interval.

theta | z is the mixture sum_k P(k | z) Dirichlet(alpha + k) over the true counts k. Hence the probability of each cell
is a mixture of Betas, and means and intervals are exact. Where no prior was declared the alphas are learnt, and every
question is read from its own noisy sums instead (`laws`); of two cells these are the table itself, each uniform.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from discreet.arrays import Counts, Floats
from discreet.inference.posteriors.events import EventPosterior
from discreet.inference.posteriors.laws import Laws, OwnLaws, count_law
from discreet.inference.posteriors.outweighed import outweighed_level
from discreet.inference.posteriors.row import PROBABILITY, Row
from discreet.mathematics.distributions import BetaMixture, CountDistribution, Dirichlet, Share
from discreet.mathematics.distributions.mixture_batch import MixtureBatch, Part
from discreet.mathematics.distributions.proportions import log_dirichlet_rows
from discreet.mathematics.distributions.summaries import summaries_of
from discreet.models import Categories, Cell
from discreet.reading import Case
from discreet.reading.own_sums import OwnSums
from discreet.reading.readings import TableReading
from discreet.records.columns import Level, level_text
from discreet.releases import Release


class JointLaws(Laws):
    """All cells are read together, under one prior or several of different strength, weighted by their evidence."""

    def __init__(self, readings: Sequence[TableReading], kind: type[BetaMixture] = BetaMixture) -> None:
        self.readings, self._kind = tuple(readings), kind
        self.log_evidences = np.array([reading.log_evidence for reading in readings])
        self.shares = np.exp(self.log_evidences - logsumexp(self.log_evidences))
        self.weighed = [pair for pair in zip(self.shares.tolist(), self.readings, strict=True) if pair[0] > 0]

    def share(self, places: Counts) -> BetaMixture:
        """Return the law of a group's probability."""
        parts = []
        for share, reading in self.weighed:
            alpha = reading.model.concentration
            sums, weights = reading.counts.sum_of(places)
            inside, total = alpha[places].sum(), alpha.sum()
            parts.append((share * weights, inside + sums, total - inside + reading.counts.total - sums))
        return self._kind(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    @property
    def are_opened(self) -> bool:
        """Tell whether these are shares that were uniform beforehand."""
        return self._kind is Share

    def cells(self, places: Sequence[int]) -> MixtureBatch:
        """Return the laws of single cells, one part for each prior."""
        chosen, parts = np.asarray(places, dtype=np.int64), []
        for share, reading in self.weighed:
            first, alpha = reading.counts.first[chosen], reading.model.concentration
            parts.append(Part.of(share * reading.counts.marginals[chosen], alpha[chosen] + first, _total(reading)))
        return MixtureBatch(parts)

    def between(self, one: Counts, two: Counts) -> BetaMixture:
        """Return the law of the share that one group has of two."""
        parts = []
        for share, reading in self.weighed:
            alpha = reading.model.concentration
            sums_one, sums_two, weights = reading.counts.pair_of_sums(one, two)
            parts.append((share * weights, alpha[one].sum() + sums_one, alpha[two].sum() + sums_two))
        return BetaMixture(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    def count(self, places: Counts) -> CountDistribution:
        """Return the law of the group's true count."""
        return count_law([(share, *reading.counts.sum_of(places)) for share, reading in self.weighed])

    def log_draws(self, groups: Sequence[Counts], count: int, seed: int | None) -> Floats:
        """Draw all cells, and add up groups."""
        logs = self.log_cells(count, seed)
        return np.stack([logsumexp(logs[:, group], axis=1) for group in groups], axis=1)

    def log_cells(self, count: int, seed: int | None) -> Floats:
        """Draw logarithms of probabilities, which do not vanish however small a prior parameter is."""
        generator = np.random.default_rng(seed)
        shares = np.array([share for share, _ in self.weighed])
        numbers = generator.multinomial(count, shares / shares.sum())
        parts = []
        for number, (_, reading) in zip(numbers, self.weighed, strict=True):
            if number:
                shapes = reading.model.concentration + reading.counts.draw(int(number), generator)
                parts.append(log_dirichlet_rows(shapes, generator))
        return np.asarray(generator.permutation(np.concatenate(parts)))


class TablePosterior(EventPosterior[Categories]):
    """What a reader knows about the probabilities of the cells, one by one, with the noise accounted for."""

    is_told_at_once = True

    def __init__(
        self,
        model: Categories,
        releases: Sequence[Release[Categories]],
        readings: Sequence[TableReading],
    ) -> None:
        super().__init__(model, tuple(releases), releases[0].mechanism.size)
        self.readings, self.joint = tuple(readings), JointLaws(readings)
        self.laws = self._default_laws()

    def _default_laws(self) -> Laws:
        """Return what answers questions: a prior that was declared is meant; else each is read from its own sums."""
        if self.model.is_prior_declared:
            return self.joint
        if self.is_uniform_pair:
            return JointLaws(self.readings, Share)
        return self.own_laws or self.joint

    @cached_property
    def own_laws(self) -> OwnLaws | None:
        """Return the laws of own sums, whatever the prior is; nothing where sums have none."""
        sums = OwnSums(Case.of(self.releases))
        return OwnLaws(sums, self.size) if sums.refusal is None else None

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row for each cell, with the event that it is as its name: means add up, intervals are its own."""
        return self._rows(range(len(self.model.cells)), self.cell_laws, level)

    def some_rows(self, places: Sequence[int], level: float = 0.9) -> tuple[Row, ...]:
        """Return the rows of some cells; no others are worked out."""
        return self._rows(places, self.laws.cells(places), level)

    def _rows(self, places: Sequence[int], laws: MixtureBatch, level: float) -> tuple[Row, ...]:
        names = [self.event_of(self.model.cells[place]) for place in places]
        found = summaries_of(laws, level, self.laws.are_opened)
        figures = zip(names, self.joint_means[list(places)].tolist(), found, strict=True)
        return tuple(Row(name, "", mean, *summary[1:], PROBABILITY) for name, mean, summary in figures)

    def event_of(self, cell: Cell) -> str:
        """Return the text of a cell, such as 'ward=A, fall=yes'; of a single column only the level."""
        levels = [level_text(level) for level in levels_of(cell)]
        names = [column.name for column in self.model.columns]
        words = [f"{name}={known}" for name, known in zip(names, levels, strict=True)]
        return levels[0] if len(names) == 1 else ", ".join(words)

    @cached_property
    def cell_laws(self) -> MixtureBatch:
        """Return the laws of all cells."""
        return self.laws.cells(range(len(self.model.cells)))

    @cached_property
    def joint_means(self) -> Floats:
        """Return the expected probability of every cell, all read together: they add up."""
        return np.asarray(
            sum(share * (r.model.concentration + r.mean_counts) / _total(r) for share, r in self.joint.weighed)
        )

    @cached_property
    def closest_dirichlet(self) -> Dirichlet:
        """Return the Dirichlet closest by Kullback-Leibler: the one with the same E[log theta]."""
        return Dirichlet.with_mean_logs(self.joint.cells(range(len(self.model.cells))).mean_log)

    @cached_property
    def mean_prior(self) -> Floats:
        """Return the prior's parameters: of several strengths the mean, weighted by their evidence."""
        return np.asarray(sum(share * reading.model.concentration for share, reading in self.joint.weighed))

    def doubts(self) -> tuple[Warning, ...]:
        """Return the level of a column that the prior outweighs, if all cells are read together and there is one."""
        if not self.model.is_prior_declared and self.joint.shares[-1] <= 0.5:  # the strongest prior is not believed
            return ()
        return () if self.is_uniform_pair else outweighed_level(self)

    @property
    def is_uniform_pair(self) -> bool:
        """Tell whether there are two cells, uniform beforehand: then the table is its own sums."""
        return len(self.model.cells) == 2 and set(self.model.prior) == {1.0}

    @property
    def information(self) -> float:
        """Return about how many nats the release tells: KL(closest Dirichlet || prior)."""
        return self.closest_dirichlet.divergence_from(Dirichlet(self.mean_prior))


def _total(reading: TableReading) -> float:
    """Return how many records and pretended ones there are together."""
    return float(reading.model.concentration.sum() + reading.counts.total)


def levels_of(cell: Cell) -> tuple[Level, ...]:
    """Return the level of each column in a cell."""
    return cell if isinstance(cell, tuple) else (cell,)
