"""The noise-aware posterior of a table: the probability of each cell, exactly, with its interval.

theta | z is the mixture sum_k P(k | z) Dirichlet(alpha + k) over the true counts k. Hence the probability of each cell
is a mixture of Betas, and means and intervals are exact.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy.special import digamma, logsumexp

from discreet.arrays import Counts, Floats
from discreet.inference.posteriors.events import EventPosterior
from discreet.inference.posteriors.row import PROBABILITY, Row
from discreet.mathematics.distributions import BetaMixture, Dirichlet
from discreet.models import Categories, Cell
from discreet.reading.readings import TableReading
from discreet.records.columns import Level, level_text
from discreet.releases import Release


class TablePosterior(EventPosterior[Categories]):
    """What a reader knows about the probabilities of the cells, one by one, with the noise accounted for."""

    def __init__(
        self, model: Categories, releases: Sequence[Release[Categories]], readings: Sequence[TableReading]
    ) -> None:
        super().__init__(model, tuple(releases), releases[0].mechanism.size)
        self.readings = tuple(readings)
        self._shares = np.exp(self._log_evidences - logsumexp(self._log_evidences))

    def rows(self, level: float = 0.9) -> tuple[Row, ...]:
        """Return one row for each cell, with the event that it is as its name."""
        return tuple(
            Row(self.event_of(cell), "", *law.summary(level), PROBABILITY)
            for cell, law in zip(self.model.cells, self._marginals, strict=True)
        )

    def event_of(self, cell: Cell) -> str:
        """Return the text of a cell, such as 'ward=A, fall=yes'; of a single column only the level."""
        levels = [level_text(level) for level in levels_of(cell)]
        names = [column.name for column in self.model.columns]
        words = [f"{name}={known}" for name, known in zip(names, levels, strict=True)]
        return levels[0] if len(names) == 1 else ", ".join(words)

    @cached_property
    def _log_evidences(self) -> Floats:
        return np.array([reading.log_evidence for reading in self.readings])

    @cached_property
    def _marginals(self) -> tuple[BetaMixture, ...]:
        return tuple(self._sum(np.array([place])) for place in range(len(self.model.cells)))

    def _sum(self, places: Counts) -> BetaMixture:
        parts = []
        for share, reading in zip(self._shares, self.readings, strict=True):
            alpha = reading.model.concentration
            sums, weights = reading.counts.sum_of(places)
            inside, total = alpha[places].sum(), alpha.sum()
            parts.append((share * weights, inside + sums, total - inside + self.size - sums))
        return BetaMixture(*(np.concatenate(column) for column in zip(*parts, strict=True)))

    @cached_property
    def closest_dirichlet(self) -> Dirichlet:
        """Return the Dirichlet closest by Kullback-Leibler: the one with the same E[log theta]."""
        logs = np.zeros(len(self.model.cells))
        for share, reading in zip(self._shares, self.readings, strict=True):
            alpha, marginals = reading.model.concentration, reading.counts.marginals
            counts = reading.counts.first[:, None] + np.arange(marginals.shape[1])
            terms = (marginals * digamma(alpha[:, None] + counts)).sum(axis=1)
            logs += share * (terms - digamma(alpha.sum() + self.size))
        return Dirichlet.with_mean_logs(logs)

    @property
    def information(self) -> float:
        """Return about how many nats the release tells: KL(closest Dirichlet || prior)."""
        return self.closest_dirichlet.divergence_from(Dirichlet(self.model.prior))


def levels_of(cell: Cell) -> tuple[Level, ...]:
    """Return the level of each column in a cell."""
    return cell if isinstance(cell, tuple) else (cell,)
