"""Families whose draws can be read: they say how their records come about, and what is drawn given a total."""

from abc import abstractmethod
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts, Floats
from discreet.mathematics.distributions.dirichlet import tails
from discreet.models.bounded_family import BoundedFamily, Law, total_of
from discreet.models.model import MadeUp


class ReadableFamily(BoundedFamily):
    """A family whose draws a reader can take for what they are: it says how records come about, and what is drawn.

    Its posterior depends on the records through their number and their total alone.
    """

    @property
    def unreadable(self) -> None:
        """Return nothing: its draws can be read."""
        return

    @abstractmethod
    def level_probabilities(self, parameters: Floats) -> Floats:
        """Return P(level | parameter), one row for each parameter."""

    @abstractmethod
    def posterior_given_total(self, total: Fraction, size: int, power: Fraction = Fraction(1)) -> Law:
        """Return the posterior given the sum of all that the records stand for."""

    @abstractmethod
    def draw_log_mass(self, totals: Floats, size: int, power: float, cell: tuple[float, float]) -> Floats:
        """Return log P(a draw falls into a cell | total), for each of several totals."""

    def posterior(self, counts: ArrayLike, power: Fraction = Fraction(1)) -> Law:
        """Return the posterior of the parameter given one row of counts."""
        row = self.counts(counts)
        return self.posterior_given_total(total_of(self.values, row), int(row.sum()), power)

    def made_up(self, size: int, generator: np.random.Generator) -> MadeUp:
        """Draw a parameter from the prior, and counts of so many records from it."""
        theta = float(self.posterior_given_total(Fraction(0), 0).guess(generator.random()))
        counts = generator.multinomial(size, self.level_probabilities(np.array([theta]))[0])
        return MadeUp((theta,), counts)

    def known_rows(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        """Return the median and the width of the parameter's interval, from exact counts."""
        known = self.posterior(statistics)
        low, high = (known.guess(tail) for tail in tails(level))
        return [(known.guess(0.5), high - low)]
