"""What solvers give back of a table of categories: its true counts under one prior, and the evidence for that prior."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet._core.arrays import Floats
from discreet.inference import CountsOfSecretNumber, GroupedCounts, LatentCounts, WeightedTables
from discreet.tables._model import Categories

EXACTLY = "read exactly"


@dataclass(frozen=True, eq=False)
class TableSolution:
    """The true counts of a table of categories under one prior, and the evidence for that prior."""

    model: Categories
    counts: LatentCounts | WeightedTables | GroupedCounts | CountsOfSecretNumber
    log_evidence: float
    """log P(releases | prior)."""
    method: str = EXACTLY
    mean_errors: tuple[float, ...] | None = None
    """The Monte Carlo errors of the expected probabilities of all cells, where tables were drawn."""

    @cached_property
    def mean_counts(self) -> Floats:
        """Return the expected true count of every cell."""
        return np.asarray(self.counts.first + self.counts.marginals @ np.arange(self.counts.marginals.shape[1]))
