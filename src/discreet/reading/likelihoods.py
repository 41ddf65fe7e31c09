"""How likely an output is given any counts, whatever kind of evidence it is, and what computing that costs."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Counts
from discreet.mechanisms.evidence import Evidence
from discreet.mechanisms.parts import Cost


class Likely(ABC):
    """An output whose likelihood is known."""

    @property
    @abstractmethod
    def evidence(self) -> Evidence:
        """Return what the output tells about the counts."""

    @property
    def costs(self) -> tuple[Cost, ...]:
        """Return what the likelihood of one row of counts costs, part by part."""
        parts = self.evidence if isinstance(self.evidence, tuple) else (self.evidence,)
        return tuple(part.cost for part in parts)

    @property
    def likelihood_refusal(self) -> str | None:
        """Tell why the likelihood cannot be computed numerically, or nothing if it can."""
        return next((cost.refusal for cost in self.costs if cost.refusal is not None), None)

    def log_likelihood(self, counts: Counts) -> NDArray[np.float64]:
        """Return log P(output | counts) for rows of counts."""
        parts = self.evidence if isinstance(self.evidence, tuple) else (self.evidence,)
        return np.asarray(sum(part.log_likelihood(counts) for part in parts))
