"""Spread around a known mean: normal records with a Gamma prior on their precision, one over the variance.

The posterior, its likelihood raised to `power`, is Gamma(shape + power n/2, rate + power sum (x - mean)^2 / 2). Records
are put into equal bands on both sides of the mean, up to `reach` away from it, and stand for half the squared distance
of the middle of their band. Lemma 6 of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014) puts a prior on the
variance, where its assumption fails; with one on the precision it holds, and the posterior is known.
"""

from fractions import Fraction
from functools import cached_property, partial
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from discreet._core.arrays import Floats
from discreet._core.exact import Exact, exact, positive, whole
from discreet._core.fields import Converted, Number, Whole, computed, converted, frozen
from discreet.programs.families._banded_family import USUAL, Outside, outside_of
from discreet.programs.families._gamma_rate import MOST_BANDS, GammaRate, band_edges, band_middles, on_both_sides
from discreet.records import Column


def _outside(made: "NormalPrecision", given: Exact | None) -> Outside:
    low, high, half = made.mean - made.reach, made.mean + made.reach, made.reach / made.bands / 2
    return outside_of(given, low, high, made.name, "the outermost band", low + half, high - half)


@frozen()
class NormalPrecision(GammaRate, kind="NormalPrecision"):
    """The precision of a column of normal records with a known `mean`, in `bands` equal bands on each side, to `reach`.

    Missing, non-numeric and more distant values are a level of their own that stands for `outside`, a number up to
    `reach` away, which must be declared as every record counts; "usual" is to count like the outermost band.

    >>> [str(value) for value in NormalPrecision("error", reach=4, bands=2, outside="usual").values]
    ['9/2', '1/2', '1/2', '9/2', '9/2']
    """

    shape_of_record: ClassVar[Fraction] = Fraction(1, 2)
    name: str
    reach: Number = converted(positive)
    mean: Number = converted(exact, default=0)
    bands: Whole = converted(partial(whole, most=MOST_BANDS // 2), default=20)
    shape: Number = converted(positive, default=1)
    rate: Number = converted(positive, default=1)
    outside: Converted[Exact | None, Outside] = computed(_outside, default=None, left_out=USUAL)

    def __post_init__(self) -> None:
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
