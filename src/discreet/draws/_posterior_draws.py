"""What draws of rows of probabilities from a posterior share: their privacy cost, and what readers need to know.

The cost is the smallest epsilon that is proved for the power in use. The power of the likelihood is at most 1. If even
that costs less than the stated epsilon, or if a smaller power was chosen, the charge is what the draws cost, rounded
up, and not the stated epsilon.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import rounded_up
from discreet.draws._truncation import MOST_SUMMED_BITS
from discreet.mechanism import Cost, Draw, DrawnRows, Model, ModelT, Parameters, Sized, coarser
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
    def unsaid(self) -> Collection[str]:
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

    def twin_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
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
    def likelihood_cost(self) -> Cost:
        """Return about a millisecond for each stick; longer truncated rows need a sum over the whole grid."""
        tables = self.drawn_tables()
        sticks = self.draws * sum(rows * (len(alpha) - 1) for _, alpha, rows in tables) or self.draws
        bits = self.grid_bits * max((len(alpha) - 2 for _, alpha, _ in tables), default=0) if self.least else 0
        if bits > MOST_SUMMED_BITS:
            words = f"the likelihood of truncated draws is a sum over 2^{bits} cells of the grid"
            return Cost(0.0, refusal=f"{words}, and sums of at most 2^{MOST_SUMMED_BITS} are computed: use fewer bits")
        return Cost(_STICK * sticks + _SUMMED * sticks * 2.0**bits, sticks)
