"""What draws of rows of probabilities from a posterior share: their privacy cost, and what readers need to know.

The cost is the smallest epsilon that is proved for the power in use. The power of the likelihood is at most 1. If even
that costs less than the stated epsilon, or if a smaller power was chosen, the charge is what the draws cost, rounded
up, and not the stated epsilon.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, cast

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import rounded_up
from discreet.draws._truncation import MOST_SUMMED_BITS, Truncation
from discreet.mathematics.distributions import CertifiedBeta, CertifiedDistribution
from discreet.mechanism import (
    Cost,
    Draw,
    DrawnRows,
    GridDistribution,
    Model,
    ModelT,
    OutputSpace,
    Parameters,
    Sized,
    coarser,
)
from discreet.noise.randomness import RandomBits
from discreet.privacy import Guarantee, pure_rho
from discreet.programs.families import ReadableFamily

_STICK = 5e5  # operations of the certified mass of one cell of the grid
_SUMMED = 3000.0  # operations for each cell over which a truncated row is summed


class PosteriorDraws(Sized[ModelT]):
    """Draws rows of probabilities from Dirichlet(alpha + power * counts), by stick-breaking in each row.

    The guarantee of `draws` draws is pure if probabilities have a `least`, else it has a delta.
    """

    most_tables: ClassVar[int] = 40
    why_private: ClassVar[str]
    """Why the guarantee of draws that are not truncated holds."""
    epsilon: Fraction
    delta: Fraction
    power: Fraction
    draws: int
    grid_bits: int
    least: Fraction
    strength: Fraction | None

    @property
    @abstractmethod
    def loss_range(self) -> Fraction:
        """Return q tau R, the cost of truncated draws, rounded up."""

    @property
    @abstractmethod
    def least_epsilon(self) -> Fraction:
        """Return the least certified epsilon at the stated delta, of draws that are not truncated."""

    @property
    def gaussian_rho(self) -> Fraction | None:
        """Return the zCDP parameter if the draws follow normal distributions of one variance; else None."""
        return None

    @property
    def cost(self) -> Fraction:
        """Return the epsilon that is charged: the stated one, or less if the draws do not use all of it."""
        return min(self.epsilon, rounded_up(self.loss_range, 6)) if self.least else self.least_epsilon

    @property
    def guarantee(self) -> Guarantee:
        """Return what the draws cost at the stated delta."""
        why = "bounded likelihood ratio of a truncated posterior" if self.least else self.why_private
        return Guarantee(self.cost, self.delta, reason=f"{why}, {self.draws} drawn")

    @property
    def rho(self) -> Fraction:
        """Return the zCDP cost: q (R/q)^2 / 8 for pure draws of bounded range, q mu^2 / 2 for normal draws.

        For all others it is the rho of epsilon, up to delta: (epsilon, delta)-DP is pure except on an event of
        probability delta (Kairouz, Oh and Viswanath, 2015).
        """
        if not self.least:
            return self.gaussian_rho or pure_rho(self.cost)
        each = self.cost / self.draws
        return self.draws * min(each**2 / 8, pure_rho(each))

    def rho_delta(self) -> Fraction:
        """Return delta for draws that are neither truncated nor normal; for these rho holds without one."""
        return self.delta if not self.least and self.gaussian_rho is None else Fraction(0)

    @property
    @abstractmethod
    def drawn_under(self) -> ModelT:
        """Return the model under the prior that draws are made from, which need not be the reader's."""

    @property
    def derived_fields(self) -> Collection[str]:
        """Return the strength of the prior, unless privacy demanded one."""
        return ("strength",) if self.strength is None else ()

    def forced_prior(self) -> str:
        """Say how strong the prior is that privacy demands."""
        if self.strength is None:
            return ""
        number = f"{float(self.strength):.6g}"
        return (
            f"a prior of {number} everywhere" if self.drawn_tables() else f"the model's prior, {number} times as strong"
        )

    @abstractmethod
    def drawn_tables(self) -> Sequence[tuple[tuple[str, ...], Floats, int]]:
        """Return for each drawn table its columns, the prior of a row, and the number of rows; may be empty."""

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Yield the alternatives for a small instance: coarser grids."""
        return coarser(self.grid_bits, self.draws)

    @abstractmethod
    def first_draw(self, output: Counts) -> Parameters:
        """Return the parameters of the first draw that an output holds."""

    def evidence(self, output: Counts) -> Draw:
        """Return the cells of the grid that were drawn."""
        return Draw(np.asarray(output), self)

    def drawn_rows(self, output: Counts) -> tuple[DrawnRows, ...]:
        """Return the rows of each table that is drawn."""
        tables = self.drawn_tables()
        lengths = [rows * (len(alpha) - 1) for _, alpha, rows in tables]
        parts = np.split(np.asarray(output).reshape(-1, max(1, sum(lengths))), np.cumsum(lengths)[:-1], axis=1)
        facts = (float(self.power), self.draws, self.grid_bits, float(self.least))
        return tuple(
            DrawnRows(names, alpha, *facts, count=rows, sticks=part.reshape(-1, rows, len(alpha) - 1))
            for (names, alpha, rows), part in zip(tables, parts, strict=False)
        )

    def log_prob_of_totals(self, output: Counts, totals: Floats) -> Floats:
        """Return log P(output | total of the records' values): all that a family's posterior depends on."""
        if not isinstance(family := self.drawn_under, ReadableFamily):
            raise DeclarationError("The distribution of drawn probabilities does not depend on a single total.")
        unit, logs = 2.0**-self.grid_bits, np.zeros(len(totals))
        for cell in output.tolist():
            ends = cell * unit, (cell + 1) * unit
            logs += family.draw_log_mass(totals, self.size, float(self.power), ends)
        return logs

    @property
    @abstractmethod
    def row_sticks(self) -> tuple[int, ...]:
        """Return how many sticks each row of a draw has, in the order of the output."""

    @abstractmethod
    def _checked(self, counts: Counts) -> Counts:
        """Return simulated counts; refuse secret ones, and those that do not add up to the public size."""

    @abstractmethod
    def _rows_of(self, tables: Counts) -> Iterator[tuple[int, Counts]]:
        """Yield for each row of a draw the number of its table and its counts, axes (tables, levels)."""

    @abstractmethod
    def _row_distributions(self, number: int, counts: Sequence[int]) -> tuple[CertifiedDistribution, ...]:
        """Return the distributions of the sticks of a row with these counts."""

    @abstractmethod
    def _why_impossible(self, output: Counts) -> str | None:
        """Return why an output cannot be one of these draws; None if it can."""

    @property
    def draw_length(self) -> int:
        """Return how many whole numbers one draw has."""
        return sum(self.row_sticks)

    @property
    def space(self) -> OutputSpace:
        """Return cells of the grid; of truncated draws those whose probabilities are at least the declared one."""
        return OutputSpace(self.draws * self.draw_length, self._why_impossible)

    def _truncation(self, levels: int) -> Truncation:
        return Truncation(levels, self.least, self.grid_bits)

    def _by_row(self, outputs: Counts) -> list[Counts]:
        """Return the sticks of each row, axes (..., sticks)."""
        return np.split(outputs, np.cumsum(self.row_sticks)[:-1], axis=-1)

    def sample(self, counts: Counts, bits: RandomBits) -> Counts:
        table = self._checked(counts)
        rows, indices = np.unique(table.reshape(-1, table.shape[-1]), axis=0, return_inverse=True)
        drawn = np.empty((len(indices.ravel()), self.space.length), dtype=np.int64)
        for number, row in enumerate(rows):
            same = np.flatnonzero(indices.ravel() == number)
            given = [self._row_distributions(of, counted[0].tolist()) for of, counted in self._rows_of(row[None])]
            parts = [self._draw(distributions, len(same) * self.draws, bits) for distributions in given]
            drawn[same] = np.concatenate(parts, axis=1).reshape(len(same), -1)
        return drawn.reshape(*table.shape[:-1], -1)

    def _draw(self, distributions: tuple[CertifiedDistribution, ...], count: int, bits: RandomBits) -> Counts:
        if self.least:
            sticks = cast("tuple[CertifiedBeta, ...]", distributions)  # only rows of probabilities are truncated
            return self._truncation(len(sticks) + 1).sample(sticks, count, bits)
        return np.column_stack(
            [GridDistribution(distribution, self.grid_bits).sample(count, bits) for distribution in distributions]
        )

    def log_prob(self, output: Counts, counts: Counts) -> Floats:
        """Return log P(output | counts), for rows of either: a sum over draws, rows and sticks of masses of cells."""
        outputs, tables = np.asarray(output), np.asarray(counts)
        shape = np.broadcast_shapes(outputs.shape[:-1], tables.shape[:-1])
        outputs = np.broadcast_to(outputs, (*shape, outputs.shape[-1])).reshape(-1, self.draws, self.draw_length)
        tables = np.broadcast_to(tables, (*shape, tables.shape[-1])).reshape(-1, tables.shape[-1])
        logs = np.zeros(len(tables))
        for sticks, (number, counted) in zip(self._by_row(outputs), self._rows_of(tables), strict=True):
            kinds, indices = np.unique(counted, axis=0, return_inverse=True)  # far fewer than tables
            for kind, row in enumerate(kinds.tolist()):
                same = np.flatnonzero(indices.ravel() == kind)
                logs[same] += self._log_masses(sticks[same], self._row_distributions(number, row)).sum(axis=1)
        return logs.reshape(shape)

    def _log_masses(self, sticks: Counts, distributions: tuple[CertifiedDistribution, ...]) -> Floats:
        unit = 2.0**-self.grid_bits
        parts = [
            distribution.log_mass(sticks[..., i] * unit, (sticks[..., i] + 1) * unit)
            for i, distribution in enumerate(distributions)
        ]
        logs = np.asarray(sum(parts))
        if not self.least:
            return logs
        truncation = self._truncation(len(distributions) + 1)
        return np.where(truncation.holds(sticks), logs - truncation.log_normaliser(distributions), -np.inf)

    @property
    def likelihood_cost(self) -> Cost:
        """Return about a millisecond for each stick; longer truncated rows need a sum over the whole grid."""
        tables = self.drawn_tables()
        sticks = self.draws * sum(rows * (len(alpha) - 1) for _, alpha, rows in tables) or self.draws
        bits = self.grid_bits * max((len(alpha) - 2 for _, alpha, _ in tables), default=0) if self.least else 0
        if bits > MOST_SUMMED_BITS:
            words = f"the likelihood of truncated draws is a sum over 2^{bits} cells of the grid"
            return Cost(0.0, refusal=f"{words}, and sums of at most 2^{MOST_SUMMED_BITS} are computed: use fewer bits")
        return Cost(_STICK * sticks + _SUMMED * sticks * 2.0**bits, sticks)
