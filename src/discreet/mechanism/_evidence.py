"""What a release is evidence of: measured numbers with noise, a choice among candidates, or a draw.

Everything after publishing speaks to the evidence, never to the mechanism that made it. All three give the likelihood
of counts; measurements (see `quantities`) say besides what was measured, with which noise, and so how to read it fast.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats
from discreet.mechanism._measurement import Cost, Measurement
from discreet.mechanism._model import Parameters


class HasLikelihood(Protocol):
    """P(output | counts), as every mechanism states it."""

    def log_prob(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either."""


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows of one table of probabilities, each drawn from Dirichlet(alpha + power * counts) by breaking a stick.

    `names` are the columns of the table, `sticks` the drawn cells of the grid, axes (draws, rows, sticks), and `count`
    is the number of rows. No probability is below `least`, if it is above zero.
    """

    names: tuple[str, ...]
    alpha: Floats
    power: float
    draws: int
    grid_bits: int
    least: float
    count: int
    sticks: Counts

    @property
    def units(self) -> Floats:
        """Return the middles of the drawn cells, from 0 to 1."""
        return np.asarray((self.sticks + 0.5) / 2.0**self.grid_bits, dtype=float)

    @property
    def probabilities(self) -> Floats:
        """Return the drawn probabilities, axes (draws, rows, levels)."""
        return broken_sticks(self.units)


def broken_sticks(sticks: Floats) -> Floats:
    """Return probabilities theta_i = v_i (1 - v_1) ... (1 - v_(i-1)) from sticks v, along the last axis."""
    ones = np.ones((*sticks.shape[:-1], 1))
    left = np.cumprod(np.concatenate([ones, 1 - sticks], axis=-1), axis=-1)
    return np.asarray(left * np.concatenate([sticks, ones], axis=-1))


class Drawer(HasLikelihood, Protocol):
    """A mechanism that publishes draws from a posterior."""

    @property
    def draws(self) -> int:
        """Return how many draws an output holds."""

    def first_draw(self, output: Counts) -> Parameters:
        """Return the parameters of the first draw that an output holds."""

    def drawn_rows(self, output: Counts) -> tuple[DrawnRows, ...]:
        """Return the rows of probabilities that an output holds; none if it holds something else."""

    def log_prob_of_totals(self, output: Counts, totals: Floats) -> Floats:
        """Return log P(output | total of the records' values), for a family with one parameter."""

    @property
    def likelihood_cost(self) -> Cost:
        """Return what the likelihood of one row of counts costs."""


@runtime_checkable
class HasForcedPrior(Protocol):
    """A mechanism whose draws privacy may force under another prior than the model's."""

    def forced_prior(self) -> str:
        """Say in words under which prior draws are made, if privacy demands one; else nothing."""


def forced_prior(mechanism: object) -> str:
    """Say in words under which prior a mechanism draws, if privacy demands another than the model's; else nothing."""
    return mechanism.forced_prior() if isinstance(mechanism, HasForcedPrior) else ""


class Normalised(Protocol):
    """P(candidate | counts) for many counts, whose normaliser is known roughly until it is refined."""

    def log_prob(self, candidate: Counts, tables: Counts) -> Floats:
        """Return log P(candidate | k) for rows of counts."""

    def shares(self, tables: Counts) -> Floats:
        """Return where it matters that it is refined, from 0 to 1, for rows of counts."""

    def refine(self, tables: Counts) -> None:
        """Work the normaliser out for some tables, and go by these."""

    def errors(self, tables: Counts) -> Floats:
        """Return by how much the log normaliser of some tables is too small."""


class Chooser(HasLikelihood, Protocol):
    """A mechanism that publishes one of several candidates, each with a probability that depends on the counts."""

    def listed_candidates(self) -> Counts:
        """Return all candidates as outputs, one in each row, or refuse in words if there are too many to list."""

    @property
    def likelihood_cost(self) -> Cost:
        """Return what the likelihood of one row of counts costs."""


@runtime_checkable
class SummedChooser(Protocol):
    """A choice among tables of counts that may be too many to list, where sums stand for the list."""

    @property
    def is_summed(self) -> bool:
        """Return whether candidates are too many to list, and likelihoods known for many counts."""

    def near_sums(self) -> Normalised | None:
        """Return what knows likelihoods for many counts roughly, where there is no other way; else nothing."""


@dataclass(frozen=True, eq=False)
class Choice:
    """A candidate that was chosen, by a distribution that is known given the counts."""

    candidate: Counts
    chooser: Chooser

    @property
    def cost(self) -> Cost:
        """Return what the likelihood of one row of counts costs."""
        return self.chooser.likelihood_cost

    @property
    def is_summed(self) -> bool:
        """Return whether candidates are tables of counts, too many to list, and likelihoods known for many counts."""
        return isinstance(self.chooser, SummedChooser) and self.chooser.is_summed

    def near_sums(self) -> Normalised | None:
        """Return what knows likelihoods for many counts roughly, where there is no other way; else nothing."""
        return self.chooser.near_sums() if isinstance(self.chooser, SummedChooser) else None

    def candidates(self) -> Counts:
        """Return all that could have been chosen, one in each row; refused in words if there are too many."""
        return self.chooser.listed_candidates()

    def log_weights(self, counts: ArrayLike) -> Floats:
        """Return log P(candidate | counts) of all candidates (columns) for one or many rows of counts."""
        rows = np.asarray(counts)
        return self.chooser.log_prob(self.candidates(), rows[..., None, :])

    def log_likelihood(self, counts: ArrayLike) -> Floats:
        """Return log P(this candidate | counts) for rows of counts."""
        return self.chooser.log_prob(self.candidate, np.asarray(counts))


@dataclass(frozen=True, eq=False)
class Draw:
    """A cell of a grid, drawn from a distribution that is known given the counts (a posterior)."""

    cell: Counts
    drawer: Drawer

    @property
    def cost(self) -> Cost:
        """Return what the likelihood of one row of counts costs."""
        return self.drawer.likelihood_cost

    @property
    def number(self) -> int:
        """Return how many draws were made."""
        return self.drawer.draws

    @property
    def parameters(self) -> Parameters:
        """Return the parameters of the first draw."""
        return self.drawer.first_draw(self.cell)

    @property
    def rows(self) -> tuple[DrawnRows, ...]:
        """Return the rows of probabilities that were drawn; none if something else was."""
        return self.drawer.drawn_rows(self.cell)

    def log_likelihood_of_totals(self, totals: Floats) -> Floats:
        """Return log P(cell | total of the records' values), for a family with one parameter."""
        return self.drawer.log_prob_of_totals(self.cell, totals)

    def log_likelihood(self, counts: ArrayLike) -> Floats:
        """Return log P(cell | counts) for rows of counts."""
        return self.drawer.log_prob(self.cell, np.asarray(counts))


Evidence = tuple[Measurement, ...] | Choice | Draw
