"""The joint posterior of the tables of a network, however it was found, and what is known of it as finite sums."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats


@dataclass(frozen=True, eq=False)
class Split:
    """How many records are inside an event and how many are not, with the probability of each such pair."""

    chances: Floats
    inside: Floats
    outside: Floats
    lost: float = 0.0
    """The share of all pairs that is left out, at most."""
    is_merged: bool = False
    """Whether some of them stand for a range of neighbours."""


@dataclass(frozen=True, eq=False)
class McmcDiagnostics:
    """How well chains did: the worst nested R-hat and effective sizes, moves taken, and the error of every mean."""

    r_hat: float
    effective_size: float
    tail_effective_size: float
    accepted: float
    errors: Sequence[Floats]
    """Monte Carlo standard errors of `TableCounts.means`."""


class TableCounts(ABC):
    """The joint posterior of the tables of all variables: draws always, and finite sums where they are known."""

    log_evidence: float
    """Log P(releases | prior), NaN where it is not known."""

    @property
    def log_evidence_error(self) -> float:
        """Return the Monte Carlo standard error of the log evidence: 0 where it is a finite sum."""
        return 0.0

    @property
    @abstractmethod
    def method(self) -> str:
        """Say in words how the tables were found."""

    @abstractmethod
    def tables(self, count: int, generator: np.random.Generator) -> list[Counts]:
        """Draw true tables (draws, parent levels, levels) of every variable."""

    def by_chain(self, count: int) -> list[Counts] | None:
        """Return about this many draws of the tables (chains, draws, parent levels, levels), if chains made them."""
        return None

    def means(self) -> Sequence[Floats] | None:
        """Return the expected probabilities (parent levels, levels) of every variable: finite sums, or of all draws."""
        return None

    @property
    def diagnostics(self) -> McmcDiagnostics | None:
        """Return how well chains did, if the tables come from chains."""
        return None

    def split(self, index: int, row: int, inside: NDArray[np.bool_]) -> Split | None:
        """Return the distribution of the count inside some levels of one row of a table, if it is a finite sum."""
        return None

    def log_joint(self, codes: Counts) -> Floats | None:
        """Return log P(class, features) of further records for every class, if that is a finite sum."""
        return None
