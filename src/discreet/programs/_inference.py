"""The posterior of a program's parameters as weighted points, with how they were found and how well."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from math import inf

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.errors import ConvergenceWarning
from discreet.mathematics import MOST_SHAPE, ON_A_GRID, Grouped, WeightedPoints
from discreet.mathematics.distributions import WeightedDraws
from discreet.programs._model import DRAWS, MANY_DRAWS, MOST_DRAWS, ModelledTable, is_on_a_grid, points_of
from discreet.programs._program import Cells
from discreet.programs._target import Populations, ProgramTarget

CHAINED = 110_000.0
"""About how many likelihood values the chains of a Hamiltonian sampler take; a derivative counts as two."""


def needed(cells: Cells) -> float:
    """Return the least number of likelihood evaluations: three rounds of draws, or a grid."""
    if is_on_a_grid(cells):
        return 3_000.0
    return _sought(cells) + 3.0 * (MANY_DRAWS if cells.spreads else DRAWS)


def _sought(cells: Cells) -> float:
    """Return how many values the search for the mode takes, about."""
    return (500.0 if cells.spreads else 100.0) * cells.dimension


@dataclass(frozen=True, eq=False)
class ModelSolution:
    """Weighted points on the unconstrained scale, for one program or several populations.

    `chains` is the number of chains, one after another in `found`, if a sampler made them; weights are then equal.
    """

    model: ModelledTable
    target: ProgramTarget | Populations
    found: WeightedPoints
    how: str
    chains: int = 0

    @property
    def cells(self) -> Cells:
        """Return names, distributions and what is shown."""
        return self.target.cells

    @cached_property
    def values(self) -> Floats:
        """Return what is shown, one row for each point."""
        return self.cells.natural(self.found.points)

    @cached_property
    def grouped(self) -> Grouped:
        """Return the weights, by independent groups."""
        return Grouped(self.found.weights, self.chains) if self.chains else self.found.grouped

    def distribution(self, index: int) -> WeightedDraws:
        """Return the distribution of one quantity that is shown."""
        return self._distributions[index]

    @cached_property
    def _distributions(self) -> list[WeightedDraws]:
        if self.chains:
            return [WeightedDraws(column, self.grouped) for column in self.values.T]
        return self.found.distributions(self.cells.natural)

    @property
    def is_exact(self) -> bool:
        """Return whether a grid was read, without Monte Carlo error."""
        return self.found.found == ON_A_GRID

    @property
    def log_evidence(self) -> float:
        """Return log P(releases | program), NaN where chains were run."""
        return self.found.log_mass

    @property
    def method(self) -> str:
        """Say in words how it was read, and how well."""
        where = f"{self.how}; derivatives were taken numerically" if self._is_rough else self.how
        if self.is_exact:
            return f"read on a grid of its {self.cells.dimension} parameter{'s' * (self.cells.dimension > 1)}: {where}"
        worth = f"worth {self.effective_size:.0f} independent draws for the worst row"
        if self.chains:
            return f"read by {self.chains} chains of a Hamiltonian sampler, {worth} (R-hat {self.r_hat:.3f}): {where}"
        return (
            f"read by {len(self.found.weights)} independent draws around the mode, importance-weighted (Pareto k-hat "
            f"{self.found.shape:.2f}, trusted up to {MOST_SHAPE}), {worth}: {where}"
        )

    @property
    def _is_rough(self) -> bool:
        return self.target.is_rough and not self.is_exact

    @cached_property
    def effective_size(self) -> float:
        """Return how many independent draws these are worth, for means and for squares, in the worst row."""
        squares = np.square(self.values - self.grouped.mean(self.values))
        return min(self.grouped.effective_size(self.values), self.grouped.effective_size(squares))

    @property
    def r_hat(self) -> float:
        """Return how well chains agree; NaN without chains."""
        return self.grouped.r_hat(self.values) if self.chains > 1 else float("nan")

    def variance_error(self, index: int) -> float:
        """Return the Monte Carlo error of a row's variance, as a share of it."""
        centred = self.values[:, index] - float(self.grouped.mean(self.values[:, index]))
        squares = np.square(centred)
        return float(self.grouped.error(squares) / max(float(self.grouped.mean(squares)), 1e-300))


def solve_target(
    model: ModelledTable, target: ProgramTarget | Populations, how: str, seed: int = 0, allowed: float = inf
) -> ModelSolution:
    """Return the posterior of a program: on a grid of one or two parameters, else by weighted draws at the mode.

    Where these cannot be trusted, a Hamiltonian sampler is used if one is installed; otherwise there is a warning.
    `allowed` is how many likelihood values may be computed: any beyond the minimum go to further draws and chains.
    """
    cells = target.cells
    most = int(min(MOST_DRAWS, max(0.0, allowed - _sought(cells))))
    found = points_of(target, cells, most, seed)
    if found.found == ON_A_GRID or found.shape <= MOST_SHAPE:
        return ModelSolution(model, target, found, how)
    from discreet.programs import _hamiltonian as chains  # which loads a sampler that may not be installed

    if chains.is_installed() and allowed >= CHAINED:
        return chains.sample_by_chains(model, target, how, seed)
    more = f"Chains would take {CHAINED / max(allowed, 1):.0f} times the work that is allowed: give more patience"
    instead = more if chains.is_installed() else "Install discreet[nutpie] for a Hamiltonian sampler"
    warnings.warn(
        "The draws from this posterior cannot be trusted: their importance weights have a Pareto k-hat of "
        f"{found.shape:.2f}, above the limit of {MOST_SHAPE}. {instead}.",
        ConvergenceWarning,
        stacklevel=4,
    )
    return ModelSolution(model, target, found, how)
