"""Spread around a known mean: normal records with a Gamma prior on their precision, one over the variance.

The posterior, its likelihood raised to `power`, is Gamma(shape + power n/2, rate + power sum (x - mean)^2 / 2). Records
are put into equal bands on both sides of the mean, up to `reach` away from it, and stand for half the squared distance
of the middle of their band. Lemma 6 of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014) puts a prior on the
variance, where its assumption fails; with one on the precision it holds, and the posterior is known.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from discreet.arrays import Floats
from discreet.exact import Exact, exact, positive, whole
from discreet.models.banded_family import USUAL, Outside, outside_of
from discreet.models.gamma_rate import MOST_BANDS, GammaRate, band_edges, band_middles, on_both_sides
from discreet.records.columns import Column

_FIELDS = ("name", "reach", "mean", "bands", "shape", "rate", "outside")


@dataclass(frozen=True, init=False)
class NormalPrecision(GammaRate, kind="NormalPrecision"):
    """The precision of a column of normal records with a known `mean`, in `bands` equal bands on each side, to `reach`.

    Missing, non-numeric and more distant values are a level of their own that stands for `outside`, a number up to
    `reach` away, which must be declared as every record counts; "usual" is to count like the outermost band.

    >>> [str(value) for value in NormalPrecision("error", reach=4, bands=2, outside="usual").values]
    ['9/2', '1/2', '1/2', '9/2', '9/2']
    """

    shape_of_record: ClassVar[Fraction] = Fraction(1, 2)
    name: str
    reach: Fraction
    mean: Fraction
    bands: int
    shape: Fraction
    rate: Fraction
    outside: Outside = USUAL

    def __init__(
        self,
        name: str,
        reach: Exact,
        mean: Exact = 0,
        bands: int = 20,
        shape: Exact = 1,
        rate: Exact = 1,
        outside: Exact | None = None,
    ) -> None:
        numbers = positive(reach, "reach"), exact(mean, "mean"), whole(bands, "bands", most=MOST_BANDS // 2)
        low, high, half = numbers[1] - numbers[0], numbers[1] + numbers[0], numbers[0] / numbers[2] / 2
        home = outside_of(outside, low, high, name, "the outermost band", low + half, high - half)
        values = (name, *numbers, positive(shape, "shape"), positive(rate, "rate"), home)
        for field, value in zip(_FIELDS, values, strict=True):
            object.__setattr__(self, field, value)
        self.column  # noqa: B018 - refuses a name that is none, and bands too narrow to be told apart

    @cached_property
    def column(self) -> Column:
        """Return the column of bands on both sides of the mean."""
        edges = band_edges(self.mean - self.reach, self.mean + self.reach, 2 * self.bands)
        return Column.banded(self.name, [float(edge) for edge in edges])

    @property
    def missing_in_words(self) -> str:
        """Say what missing values count as; usually the middle of an outermost band, as distances alone matter."""
        if self.outside != USUAL:
            return super().missing_in_words
        away = float(band_middles(Fraction(0), self.reach, self.bands)[-1])
        return f"Missing values count as {away:g} away from the mean in {self.name}."

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """Return half the squared distance of the middle of every band, and of `outside` or the outermost band."""
        halves = [away**2 / 2 for away in band_middles(Fraction(0), self.reach, self.bands)]
        home = halves[-1] if self.outside == USUAL else (self.outside - self.mean) ** 2 / 2
        return (*reversed(halves), *halves, home)

    def level_probabilities(self, parameters: Floats) -> Floats:
        """Return Phi(b sqrt(theta)) - Phi(a sqrt(theta)) for each band from a to b away, and what lies beyond."""
        roots = np.sqrt(np.asarray(parameters, dtype=float))[:, None]
        edges = np.array([float(edge) for edge in band_edges(Fraction(0), self.reach, self.bands)])
        beyond = ndtr(-roots * edges)
        inside = beyond[:, :-1] - beyond[:, 1:]
        return np.concatenate([on_both_sides(inside), 2 * beyond[:, -1:]], axis=1)
