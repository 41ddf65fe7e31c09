"""Families whose draws can be read: they say how their records come about, and what is drawn given a total."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from discreet._core.arrays import Counts, Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import whole
from discreet.mathematics.distributions import CertifiedDistribution, tails
from discreet.mechanism import Simulated
from discreet.programs.families._bounded_family import BoundedFamily, total_of
from discreet.tables import Categories


def home_of(outside: int | None, highest: int, name: object) -> int:
    """Return the count that missing values, and those that are no count up to the highest, are declared to be."""
    if outside is None:
        raise DeclarationError(
            f"Every record counts, so {name!r} must declare what a missing value, or one that is no count from 0 to "
            f"{highest}, counts as, and it does not. Nothing was published and nothing was charged. Declare one of "
            f"these counts, such as outside = {highest} in the question of a study or outside={highest} in Python."
        )
    if (home := whole(outside, "outside", least=0)) > highest:
        raise DeclarationError(f"outside must be a level from 0 to {highest}; got {home}.")
    return home


class ReadableFamily(BoundedFamily):
    """A family whose published draws can be used for inference: it defines how records arise and what is drawn.

    Its posterior depends on the records only through their number and their total.
    """

    strength: ClassVar[tuple[str, ...]] = ()
    """The fields that are multiplied where the prior is to be worth more records."""

    @property
    def missing_in_words(self) -> str:
        """Say which number the level of missing values stands for."""
        value = self.values[self.column.levels.index(self.column.outside)]
        return f"Missing values count as {float(value):g} in {self.column.name}."

    def stronger(self, times: Fraction) -> Self:
        """Return the family under a prior of the same mean that is worth `times` as many records."""
        if not self.strength:
            raise DeclarationError(
                f"A {type(self).__name__} does not define which of its fields make the prior stronger."
            )
        made: Callable[..., Any] = type(self)
        facts: Any = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        found: Self = made(**facts | {name: facts[name] * times for name in self.strength})
        return found

    def tables_too(self) -> dict[str, Categories]:
        """Return the noisy table of its levels by a suffix for names: it is read from that as well as from a draw."""
        return {" of the table": Categories(self.column)}

    def natural(self, parameter: arb) -> arb:
        """Return the natural parameter eta, where ln p(x | theta) = eta(theta) value(x) + h(x) - A(theta)."""
        raise DeclarationError(f"A {type(self).__name__} does not define what multiplies the value of a record.")

    @property
    def unreadable(self) -> None:
        """Return nothing: its draws can be read."""
        return

    @abstractmethod
    def level_probabilities(self, parameters: Floats) -> Floats:
        """Return P(level | parameter), one row for each parameter."""

    @abstractmethod
    def posterior_given_total(self, total: Fraction, size: int, power: Fraction = Fraction(1)) -> CertifiedDistribution:
        """Return the posterior given the sum of all that the records stand for."""

    @abstractmethod
    def draw_log_mass(self, totals: Floats, size: int, power: float, cell: tuple[ArrayLike, ArrayLike]) -> Floats:
        """Return log P(a draw falls into a cell | total), for each of several totals, or cells, broadcast."""

    def within_rate(self, middle: float, rate: float, unit: float) -> tuple[float, float]:
        """Return the ends of an interval around a parameter on which eta takes values `rate` apart; `unit` is tiny."""
        raise DeclarationError(f"A {type(self).__name__} does not define which parameters lie within a rate.")

    def posterior(self, counts: ArrayLike, power: Fraction = Fraction(1)) -> CertifiedDistribution:
        row = self.counts(counts)
        return self.posterior_given_total(total_of(self.values, row), int(row.sum()), power)

    def simulate(self, size: int, generator: np.random.Generator) -> Simulated:
        theta = float(self.posterior_given_total(Fraction(0), 0).guess(generator.random()))
        counts = generator.multinomial(size, self.level_probabilities(np.array([theta]))[0])
        return Simulated((theta,), counts)

    def exact(self, statistics: Counts, size: int, level: float) -> list[tuple[float, float]]:
        known = self.posterior(statistics)
        low, high = (known.guess(tail) for tail in tails(level))
        return [(known.guess(0.5), high - low)]
