"""The noise-aware posterior of a table: the probability of each cell, exactly, with its interval.

theta | z is the mixture sum_k P(k | z) Dirichlet(alpha + k) over the true counts k, so each cell is a mixture of Betas.
Where no prior was declared, `laws` answers every question from its own noisy sums; of two cells these are the table.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from math import exp

import numpy as np
from scipy.special import betaln, digamma, logsumexp

from discreet.arrays import Counts, Floats
from discreet.inference.posteriors.events import EventPosterior
from discreet.inference.posteriors.laws import JointAnswers, Laws
from discreet.inference.posteriors.outweighed import outweighed_level
from discreet.inference.posteriors.posterior import Posterior
from discreet.inference.posteriors.row import PROBABILITY, Row
from discreet.mathematics.distributions import BetaMixture, Dirichlet, Share
from discreet.mathematics.distributions.dirichlet import ROUNDED, tails
from discreet.mathematics.distributions.mixture_batch import MixtureBatch
from discreet.mathematics.distributions.summaries import end_errors, ends_of, summaries_of
from discreet.mechanisms import sized
from discreet.models import Categories, Cell
from discreet.models.events import event_name
from discreet.models.model import Simulated
from discreet.reading.readings import TableReading
from discreet.records.columns import Level, level_text
from discreet.releases import Release

_FEW = 1  # more cells than this are summed all at once, which takes a fraction of the time
_NATS = 35.0  # strengths whose evidence lies further below the best have no weight
_OFF = 3.0  # times the share left out of a sum: it moves that reading's law by as much, and its evidence among several


class JointLaws(JointAnswers):
    """All cells are read together, under one prior or several of different strength, weighted by their evidence."""

    def __init__(self, readings: Sequence[TableReading], kind: type[BetaMixture] = BetaMixture) -> None:
        self.log_evidences, self.kind = np.array([reading.log_evidence for reading in readings]), kind
        self.are_opened = kind is Share
        self.probabilities = np.exp(self.log_evidences - logsumexp(self.log_evidences))
        believed = self.log_evidences > self.log_evidences.max() - _NATS
        self.readings = tuple(reading for reading, kept in zip(readings, believed, strict=True) if kept)
        self.shares = self.probabilities[believed]
        self.weighed = [pair for pair in zip(self.shares.tolist(), self.readings, strict=True) if pair[0] > 0]
        left_out = [reading.counts.lost for reading in self.readings if reading.mean_errors is None]
        known = [share for share in left_out if share is not None]
        is_summed = len(known) == len(self.readings)  # and not drawn
        self.weight_error = _OFF * max(known) + exp(-_NATS) * len(readings) if is_summed else None
        self.draws = min((drawn for each in self.readings if (drawn := each.counts.draws) is not None), default=None)

    def share(self, places: Counts) -> BetaMixture:
        parts = []
        for share, reading in self.weighed:
            alpha, (sums, weights) = reading.model.concentration, reading.counts.sum_of(places)
            inside = alpha[places].sum() + sums
            parts.append((share * weights, inside, alpha.sum() + reading.counts.total - inside))
        weights, a, b = (np.concatenate(column) for column in zip(*parts, strict=True))
        return self.kind(weights, a, b, weight_error=self.weight_error, draws=self.draws)

    def expected(self, of: Callable[[Floats, float], Floats]) -> Floats:
        """Return, for every cell, the expectation of a function of a Beta with parameters a, total - a."""
        found = np.zeros(len(self.readings[0].model.cells))
        for share, reading in self.weighed:
            alpha, laws = reading.model.concentration, reading.counts.marginals
            a = (alpha + reading.counts.first)[:, None] + np.arange(laws.shape[1], dtype=float)
            found += share * np.einsum("ij,ij->i", laws, of(a, float(alpha.sum() + reading.counts.total)))
        return found


class TablePosterior(EventPosterior[Categories]):
    """What a reader knows about the probabilities of the cells, one by one, with the noise accounted for."""

    def __init__(
        self, model: Categories, releases: Sequence[Release[Categories]], readings: Sequence[TableReading]
    ) -> None:
        super().__init__(model, tuple(releases), sized(releases[0].mechanism).size)
        self._known_rows: dict[tuple[float, float], tuple[Row, ...]] = {}
        self.joint = JointLaws(readings)
        self.readings = self.joint.readings
        self.is_uniform_pair = len(model.cells) == 2 and set(model.prior) == {1.0}  # the table is its own sums
        plain = self.joint if model.is_prior_declared else JointLaws(readings, Share) if self.is_uniform_pair else None
        self.laws: Laws = plain or self.own_laws or self.joint

    @property
    @abstractmethod
    def own_laws(self) -> Laws | None:
        """Return the distributions from own sums, whatever the prior; nothing where sums have none."""

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row for each cell, named by its event: means add up to 1, and each interval is the cell's own."""
        if (outside := tails(level)) not in self._known_rows:  # tables, pictures and statements ask for the same
            self._known_rows[outside] = self.some_rows(range(len(self.model.cells)), level)
        return self._known_rows[outside]

    def some_rows(self, places: Sequence[int], level: float = 0.9) -> tuple[Row, ...]:
        """Return the rows of some cells; no others are computed."""
        names = [self.event_of(self.model.cells[place]) for place in places]
        if len(names) > _FEW:
            batch = self.laws.cells(places)
            found = summaries_of(batch, level, self.laws.are_opened)
            off = end_errors(batch, self.laws.weight_error, found)
        else:
            shares = [self.laws.share(np.array([place])) for place in places]
            found, off = [share.summary(level) for share in shares], [share.numerical_error(level) for share in shares]
        errors = (len(self.readings) == 1 and self.readings[0].mean_errors) or [None] * len(self.model.cells)
        off = [None if self.joint.weight_error is None or each is None else max(each, self._mean_off) for each in off]
        means = self.joint_means[list(places)].tolist()
        figures = zip(names, means, found, [errors[p] for p in places], off, strict=True)
        return tuple(Row(name, "", mean, *own[1:], PROBABILITY, drawn, by) for name, mean, own, drawn, by in figures)

    @classmethod
    def planned(
        cls, posteriors: Sequence[Posterior], made: Sequence[Simulated], places: Sequence[int], level: float
    ) -> Floats:
        """Return these figures of some cells; the intervals of all studies are found in one search."""
        tables = [each for each in posteriors if isinstance(each, TablePosterior)]
        truth = np.clip([each.truth for each in made], 1e-12, 1 - 1e-12)[:, list(places)]
        means, widths, scores = (np.empty(truth.shape) for _ in range(3))
        laws = [table.laws.cells(places) for table in tables]
        joined = MixtureBatch.joined(laws)
        batches = [(slice(number, number + 1), own) for number, own in enumerate(laws)]
        for own, batch in batches if joined is None else [(slice(None), joined)]:
            low, high = ends_of(batch, level, tables[0].laws.are_opened)
            widths[own] = (high - low).reshape(-1, len(places))
            scores[own] = batch.log_density(truth[own].ravel()).reshape(-1, len(places))
        for number, table in enumerate(tables):
            means[number] = table.joint_means[list(places)]
        shapes = tables[0].model.concentration + np.array([each.statistics for each in made])
        a, b = shapes[:, list(places)], shapes.sum(axis=1, keepdims=True) - shapes[:, list(places)]
        exact = (a - 1) * np.log(truth) + (b - 1) * np.log1p(-truth) - betaln(a, b)
        return np.stack([means, widths, scores, exact], axis=-1)

    @property
    def _mean_off(self) -> float:
        """Return how far means may be off: they lie between 0 and 1."""
        return ROUNDED + (self.joint.weight_error or 0.0)

    def event_of(self, cell: Cell) -> str:
        """Return the text of a cell, such as 'ward=A, fall=yes'; for a single column, only the level."""
        names, levels = [column.name for column in self.model.columns], levels_of(cell)
        words = [event_name(name, known) for name, known in zip(names, levels, strict=True)]
        return level_text(levels[0]) if len(names) == 1 else ", ".join(words)

    @cached_property
    def joint_means(self) -> Floats:
        """Return the expected probability of every cell, all read together: they add up."""
        return self.joint.expected(lambda a, total: a / total)

    @cached_property
    def closest_dirichlet(self) -> Dirichlet:
        """Return the Dirichlet closest by Kullback-Leibler: the one with the same E[log theta]."""
        return Dirichlet.with_mean_logs(self.joint.expected(lambda a, total: digamma(a) - digamma(total)))

    @property
    def mean_prior(self) -> Floats:
        """Return the prior's parameters: of several strengths the mean, weighted by their evidence."""
        return np.asarray(sum(share * reading.model.concentration for share, reading in self.joint.weighed))

    @property
    def information(self) -> float:
        """Return about how many nats the release tells: KL(closest Dirichlet || prior)."""
        return self.closest_dirichlet.divergence_from(Dirichlet(self.mean_prior))

    def doubts(self) -> tuple[Warning, ...]:
        """Return the level of a column that the prior outweighs, if any; of a learnt prior, the strongest counts."""
        is_meant = self.model.is_prior_declared or float(self.joint.probabilities[-1]) > 0.5
        return outweighed_level(self) if is_meant and not (self.is_uniform_pair or self.own_records) else ()


def levels_of(cell: Cell) -> tuple[Level, ...]:
    """Return the level of each column in a cell."""
    return cell if isinstance(cell, tuple) else (cell,)
