"""Measurements: the mean of normal records with a known spread and a normal prior.

With mu ~ Normal(prior_mean, variance / prior_records), a prior worth `prior_records` records, the posterior of n
records, its likelihood raised to `power`, is Normal with precision (prior_records + power n) / variance. Records are
put into equal bands of a declared range and stand for the middle of their band. All neighbours have the same spread
and means at most power (high - low) / (prior_records + power n) apart: one draw is exactly Gaussian-private, with

    mu_GDP = power (largest - smallest value) / sqrt(variance (prior_records + power n)).
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property, partial
from math import sqrt
from typing import ClassVar

import numpy as np
from flint import arb
from numpy.typing import ArrayLike
from scipy.special import ndtr

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, ball, exact, exact_text, positive, whole
from discreet._core.fields import Converted, Number, Whole, computed, converted, frozen
from discreet.mathematics.distributions import CertifiedNormal, normal_log_mass
from discreet.programs.families._banded_family import USUAL, BandedFamily, Outside, outside_of
from discreet.programs.families._gamma_rate import MOST_BANDS, band_edges, band_middles
from discreet.records import Column


def _high(made: "NormalMean", given: Exact) -> Fraction:
    if made.low >= (high := exact(given, "high")):
        raise DeclarationError(f"low must be below high = {exact_text(high)}; got {exact_text(made.low)}.")
    return high


def _prior_mean(made: "NormalMean", given: Exact | None) -> Fraction:
    centre = (made.low + made.high) / 2 if given is None else exact(given, "prior_mean")
    if not made.low <= centre <= made.high:
        raise DeclarationError("prior_mean must lie between low and high.")
    return centre


def _outside(made: "NormalMean", given: Exact | None) -> Outside:
    return outside_of(given, made.low, made.high, made.name, "the prior mean", made.prior_mean)


@frozen()
class NormalMean(BandedFamily, kind="NormalMean"):
    """The mean of a column of measurements from `low` to `high` with a known variance, read in `bands` equal bands.

    Missing, non-numeric and out-of-range values are a level of their own that stands for `outside`, a number from `low`
    to `high`, which must be declared as every record counts; "usual" is the prior mean, itself by default the middle.

    >>> NormalMean("height", low=100, high=200, variance=100, bands=10, outside="usual").values[:2]
    (Fraction(105, 1), Fraction(115, 1))
    """

    strength: ClassVar[tuple[str, ...]] = ("prior_records",)
    name: str
    low: Number = converted(exact)
    high: Number = computed(_high)
    variance: Number = converted(positive)
    bands: Whole = converted(partial(whole, most=MOST_BANDS), default=100)
    prior_mean: Converted[Exact | None, Fraction] = computed(_prior_mean, default=None)
    prior_records: Number = converted(positive, default=1)
    outside: Converted[Exact | None, Outside] = computed(_outside, default=None, left_out=USUAL)

    def __post_init__(self) -> None:
        self.column  # noqa: B018 - refuses a name that is none, and bands too narrow to be told apart

    @cached_property
    def column(self) -> Column:
        return Column.banded(self.name, [float(edge) for edge in band_edges(self.low, self.high, self.bands)])

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """Return the middle of every band, and `outside` or the prior mean for what lies in none."""
        home = self.prior_mean if self.outside == USUAL else self.outside
        return (*band_middles(self.low, self.high, self.bands), home)

    def posterior_given_total(self, total: Fraction, size: int, power: Fraction = Fraction(1)) -> CertifiedNormal:
        """Return Normal((k0 m0 + power total) / (k0 + power n), variance / (k0 + power n))."""
        weight = self.prior_records + power * size
        return CertifiedNormal((self.prior_records * self.prior_mean + power * total) / weight, self.variance / weight)

    def draw_log_mass(self, totals: Floats, size: int, power: float, cell: tuple[ArrayLike, ArrayLike]) -> Floats:
        weight = float(self.prior_records) + power * size
        means = (float(self.prior_records * self.prior_mean) + power * totals) / weight
        return normal_log_mass(means, sqrt(float(self.variance) / weight), *cell)

    def natural(self, parameter: arb) -> arb:
        """Return mu / variance, which multiplies what a record stands for."""
        return parameter / ball(self.variance)

    def within_rate(self, middle: float, rate: float, unit: float) -> tuple[float, float]:
        """Return middle - rate variance / 2 and middle + rate variance / 2."""
        half = rate * float(self.variance) / 2
        return middle - half, middle + half

    def level_probabilities(self, parameters: Floats) -> Floats:
        """Return Phi((b - mu) / sigma) - Phi((a - mu) / sigma) for each band from a to b, and what lies in none."""
        edges = np.array([float(edge) for edge in band_edges(self.low, self.high, self.bands)])
        standard = (edges - np.asarray(parameters, dtype=float)[:, None]) / sqrt(self.variance)
        below = ndtr(standard)
        outside = below[:, :1] + ndtr(-standard[:, -1:])
        return np.concatenate([np.diff(below, axis=1), outside], axis=1)

    def neighbours(self, size: int, power: Fraction) -> Iterable[tuple[CertifiedNormal, CertifiedNormal]]:
        """Return two posteriors whose means are as far apart as one record can move them; all that counts is how far.

        A smaller step lies between the two, so the pair dominates all neighbours.
        """
        weight = self.prior_records + power * size
        step = power * (max(self.values) - min(self.values)) / weight
        yield CertifiedNormal(Fraction(0), self.variance / weight), CertifiedNormal(step, self.variance / weight)

    def gaussian_privacy(self, size: int, power: Fraction = Fraction(1)) -> float:
        """Return mu: one draw is as private as telling Normal(0, 1) from Normal(mu, 1)."""
        weight = self.prior_records + power * size
        step = power * (max(self.values) - min(self.values))
        return float(step) / sqrt(self.variance * weight)
