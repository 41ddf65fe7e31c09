"""Errors around a known centre: Laplace records with a Gamma prior on their inverse scale.

With density theta/2 e^(-theta |x - centre|) the posterior, its likelihood raised to `power`, is
Gamma(shape + power n, rate + power sum |x - centre|). Records are put into equal bands on both sides of the centre, up
to `reach` away from it, and stand for the distance of the middle of their band. This is the family of lemma 4 of
Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014), in the version with a conjugate prior.
"""

from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.exact import Exact, exact, positive, whole
from discreet._core.fields import Converted, Number, Whole, computed, converted, frozen
from discreet.programs.families._banded_family import USUAL, Outside, outside_of
from discreet.programs.families._gamma_rate import MOST_BANDS, GammaRate, band_edges, band_middles, on_both_sides
from discreet.records import Column


def _outside(made: "LaplaceScale", given: Exact | None) -> Outside:
    low, high = made.centre - made.reach, made.centre + made.reach
    return outside_of(given, low, high, made.name, "reach away", low, high)


@frozen()
class LaplaceScale(GammaRate, kind="LaplaceScale"):
    """The inverse scale of a column of errors around `centre`, read in `bands` equal bands on each side, up to `reach`.

    Missing, non-numeric and more distant values are a level of their own that stands for `outside`, a number up to
    `reach` away, which must be declared as every record counts; "usual" is `reach` away: large errors are clipped.

    >>> [str(value) for value in LaplaceScale("error", reach=4, bands=2, outside="usual").values]
    ['3', '1', '1', '3', '4']
    """

    name: str
    reach: Number = converted(positive)
    centre: Number = converted(exact, default=0)
    bands: Whole = converted(partial(whole, most=MOST_BANDS // 2), default=50)
    shape: Number = converted(positive, default=1)
    rate: Number = converted(positive, default=1)
    outside: Converted[Exact | None, Outside] = computed(_outside, default=None, left_out=USUAL)

    def __post_init__(self) -> None:
        self.column  # noqa: B018 - refuses a name that is none, and bands too narrow to be told apart

    @cached_property
    def column(self) -> Column:
        """Return the column of bands on both sides of the centre."""
        edges = band_edges(self.centre - self.reach, self.centre + self.reach, 2 * self.bands)
        return Column.banded(self.name, [float(edge) for edge in edges])

    @property
    def missing_in_words(self) -> str:
        """Say what missing values count as; usually `reach`, as distances alone matter."""
        if self.outside != USUAL:
            return super().missing_in_words
        return f"Missing values count as {float(self.reach):g} away from the centre in {self.name}."

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """Return how far the middle of every band is from the centre, and that of `outside` for others."""
        away = band_middles(Fraction(0), self.reach, self.bands)
        home = self.reach if self.outside == USUAL else abs(self.outside - self.centre)
        return (*reversed(away), *away, home)

    def level_probabilities(self, parameters: Floats) -> Floats:
        """Return (e^(-theta a) - e^(-theta b)) / 2 for each band from a to b away, and e^(-theta reach) beyond."""
        rates = np.asarray(parameters, dtype=float)[:, None]
        edges = np.array([float(edge) for edge in band_edges(Fraction(0), self.reach, self.bands)])
        inside = np.exp(-rates * edges[:-1]) * -np.expm1(-rates * np.diff(edges)) / 2
        return np.concatenate([on_both_sides(inside), np.exp(-rates * edges[-1])], axis=1)
