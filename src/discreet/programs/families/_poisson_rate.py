"""Numbers of events: Poisson records with a Gamma prior on their rate.

With theta ~ Gamma(shape, rate) and counts x_1..x_n the posterior, its likelihood raised to `power`, is
Gamma(shape + power sum x, rate + power n). Records are clipped to 0..most, so one record moves the shape by at most
power * most, and that is all that the privacy of a draw depends on.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property, partial
from math import exp
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import ArrayLike
from scipy.special import gammaln, pdtrc, xlogy

from discreet._core.arrays import Floats
from discreet._core.exact import positive, whole
from discreet._core.fields import Converted, Number, Whole, computed, converted, frozen
from discreet.mathematics.distributions import CertifiedGamma, gamma_log_mass
from discreet.programs.families._readable_family import ReadableFamily, home_of
from discreet.records import Column

MOST_LEVELS = 100_000


@frozen()
class PoissonRate(ReadableFamily, kind="Poisson"):
    """The Poisson rate of a column of event counts, each clipped to 0..most.

    Values above `most`, missing values and anything else that is not a count go to the level `outside`, which must be
    declared, as every record counts: with `outside=most` large counts are clipped, and a missing value is one of them.

    >>> PoissonRate("falls", most=5, shape=2, rate=1, outside=5).posterior((3, 2, 1, 0, 0, 0))
    CertifiedGamma(shape=Fraction(6, 1), rate=Fraction(7, 1))
    """

    strength: ClassVar[tuple[str, ...]] = ("shape", "rate")
    name: str
    most: Whole = converted(partial(whole, most=MOST_LEVELS))
    shape: Number = converted(positive, default=1)
    rate: Number = converted(positive, default=1)
    outside: Converted[int | None, int] = computed(
        lambda made, given: home_of(given, made.most, made.name), default=None
    )

    def __post_init__(self) -> None:
        Column(self.name, tuple(range(self.most + 1)), self.outside)  # refuses a name that is none

    @cached_property
    def column(self) -> Column:
        """Return the column with the levels 0..most."""
        return Column(self.name, tuple(range(self.most + 1)), self.outside)

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """Return what each level stands for: itself."""
        return tuple(Fraction(number) for number in range(self.most + 1))

    def posterior_given_total(self, total: Fraction, size: int, power: Fraction = Fraction(1)) -> CertifiedGamma:
        """Return Gamma(shape + power total, rate + power n)."""
        largest = self.shape + power * size * self.most
        return CertifiedGamma(self.shape + power * total, self.rate + power * size, largest)

    def draw_log_mass(self, totals: Floats, size: int, power: float, cell: tuple[ArrayLike, ArrayLike]) -> Floats:
        return gamma_log_mass(float(self.shape) + power * totals, float(self.rate) + power * size, *cell)

    def natural(self, parameter: arb) -> arb:
        """Return ln theta, which multiplies what a record stands for."""
        return parameter.log()

    def within_rate(self, middle: float, rate: float, unit: float) -> tuple[float, float]:
        """Return middle e^(-rate/2) and middle e^(rate/2)."""
        return middle * exp(-rate / 2), middle * exp(rate / 2)

    def level_probabilities(self, parameters: Floats) -> Floats:
        """Return e^-theta theta^x / x! for x = 0..most; what is above `most` is added to the level `outside`."""
        rates = np.asarray(parameters, dtype=float)[:, None]
        counts = np.arange(self.most + 1)
        chances = np.asarray(np.exp(xlogy(counts, rates) - rates - gammaln(counts + 1)))
        chances[:, self.outside] += pdtrc(self.most, rates[:, 0])
        return chances

    def neighbours(self, size: int, power: Fraction) -> Iterable[tuple[CertifiedGamma, CertifiedGamma]]:
        """Return the one pair Gamma(shape) and Gamma(shape + power most), at a common rate.

        Adding an independent Gamma(power * rest) number turns it into the pair of any other records, and a smaller step
        lies between the two (the ratio of densities is monotone), so it dominates all neighbours.
        """
        rate = self.rate + power * size
        yield CertifiedGamma(self.shape, rate), CertifiedGamma(self.shape + power * self.most, rate)
