"""What solvers give back of a network: its true tables under one prior, and the evidence for that prior."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Counts, Floats
from discreet.inference import Parents, TableCounts
from discreet.mathematics.distributions import BetaMixture, MergedMixture
from discreet.networks._model import Network

Tables = dict[str, Floats]


@dataclass(frozen=True, eq=False)
class NetworkSolution:
    """The true tables of a network under one prior, and the evidence for that prior."""

    model: Network
    counts: TableCounts
    log_weight: float | None = None
    """Log of the prior probability that this solution stands for, among solutions under other priors; None if equal."""

    @property
    def log_evidence(self) -> float:
        """Return log P(releases | prior), NaN where it is not known."""
        return self.counts.log_evidence

    @property
    def method(self) -> str:
        """Say in words how the release was read."""
        return self.counts.method

    def draw(self, count: int, generator: np.random.Generator) -> dict[str, Counts]:
        """Draw true tables (draws, parent levels, levels) of every variable."""
        names = [variable.name for variable in self.model.variables]
        return dict(zip(names, self.counts.tables(count, generator), strict=True))

    def row_distribution(self, name: str, row: int, inside: NDArray[np.bool_]) -> BetaMixture | None:
        """Return the distribution of P(variable inside | row of its table) if it is a finite sum (naive Bayes)."""
        index = [variable.name for variable in self.model.variables].index(name)
        if (split := self.counts.split(index, row, inside)) is None:
            return None
        alpha = self.model.row_priors[index][row]
        shapes = alpha[inside].sum() + split.inside, alpha[~inside].sum() + split.outside
        mixture = MergedMixture if split.is_merged else BetaMixture
        return mixture(split.chances, *shapes, weight_error=split.lost)

    def shapes(self, count: int, generator: np.random.Generator) -> Tables:
        """Draw Dirichlet parameters of every row of every variable, prior and true counts together."""
        drawn = self.draw(count, generator)
        pairs = zip(self.model.variables, self.model.row_priors, strict=True)
        return {variable.name: prior + drawn[variable.name] for variable, prior in pairs}


def graph_of(model: Network) -> tuple[tuple[int, ...], Parents]:
    """Return the numbers of levels of all variables, and the indices of their parents."""
    names = [variable.name for variable in model.variables]
    parents = tuple(tuple(names.index(name) for name in above) for above in model.parents)
    return tuple(len(variable.levels) for variable in model.variables), parents
