"""Families whose parameter is a rate with a Gamma prior: each record adds a bounded number to what the rate multiplies.

If ln p(x | theta) = c ln theta - theta t(x) + h(x), the posterior of n records, its likelihood raised to `power`, is
Gamma(shape + power c n, rate + power sum t(x)). Three families are of this kind:

    waiting times, theta their rate                      t(x) = x                  c = 1      (lemma 3)
    Laplace errors, theta their inverse scale            t(x) = |x - centre|       c = 1      (lemma 4)
    normal errors, theta their precision                 t(x) = (x - mean)^2 / 2   c = 1/2    (lemma 6)

The lemmas are those of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014), here with records that are bounded.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from discreet._core.arrays import Floats
from discreet.mathematics.distributions import CertifiedGamma, gamma_log_mass
from discreet.programs.families._banded_family import BandedFamily

MOST_BANDS = 100_000


class GammaRate(BandedFamily):
    """A rate with a Gamma prior; see the module. A subclass says what records stand for, and how likely levels are."""

    strength: ClassVar[tuple[str, ...]] = ("shape", "rate")
    shape_of_record: ClassVar[Fraction] = Fraction(1)
    """c, by how much one record adds to the shape."""
    shape: Fraction
    rate: Fraction

    def posterior_given_total(self, total: Fraction, size: int, power: Fraction = Fraction(1)) -> CertifiedGamma:
        """Return Gamma(shape + power c n, rate + power total)."""
        return CertifiedGamma(self.shape + power * self.shape_of_record * size, self.rate + power * total)

    def draw_log_mass(self, totals: Floats, size: int, power: float, cell: tuple[ArrayLike, ArrayLike]) -> Floats:
        shape = float(self.shape) + power * float(self.shape_of_record) * size
        return gamma_log_mass(shape, float(self.rate) + power * totals, *cell)

    def natural(self, parameter: arb) -> arb:
        return -parameter

    def within_rate(self, middle: float, rate: float, unit: float) -> tuple[float, float]:
        """Return all rates up to `rate`, from the first cell of a grid on: the set of assumption 1."""
        return unit, unit + rate

    def neighbours(self, size: int, power: Fraction) -> Iterable[tuple[CertifiedGamma, CertifiedGamma]]:
        """Return the one pair whose rates have the largest ratio: all other records, and one of the two, at the least.

        Scaling the parameter changes nothing, so only the ratio of the rates counts, and the ratio of densities is
        monotone: the pair dominates all neighbours.
        """
        shape, least, most = self.shape + power * self.shape_of_record * size, min(self.values), max(self.values)
        rate = self.rate + power * size * least
        yield CertifiedGamma(shape, rate), CertifiedGamma(shape, rate + power * (most - least))


def band_edges(low: Fraction, high: Fraction, bands: int) -> list[Fraction]:
    """Return the edges of equal bands."""
    return [low + (high - low) * index / bands for index in range(bands + 1)]


def band_middles(low: Fraction, high: Fraction, bands: int) -> tuple[Fraction, ...]:
    """Return the middles of equal bands."""
    return tuple(low + (high - low) * (2 * index + 1) / (2 * bands) for index in range(bands))


def on_both_sides(nearest_first: Floats) -> Floats:
    """Return what bands on one side of a centre have, the nearest first, as bands on both sides of it have it."""
    return np.concatenate([nearest_first[..., ::-1], nearest_first], axis=-1)
