"""Waiting times: exponential records with a Gamma prior on their rate.

With theta ~ Gamma(shape, rate) the posterior of n waiting times, its likelihood raised to `power`, is
Gamma(shape + power n, rate + power sum x). Records are put into equal bands of a declared range and stand for the
middle of their band, so the sum is a function of counts and one record moves it by at most the declared range.
This is the family of lemma 3 of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014), with records that are bounded.
"""

from fractions import Fraction
from functools import cached_property, partial

import numpy as np

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact, exact_text, positive, whole
from discreet._core.fields import Converted, Number, Whole, computed, converted, frozen
from discreet.programs.families._banded_family import USUAL, Outside, outside_of
from discreet.programs.families._gamma_rate import MOST_BANDS, GammaRate, band_edges, band_middles
from discreet.records import Column


def _low(made: "ExponentialRate", given: Exact) -> Fraction:
    if not 0 <= (low := exact(given, "low")) < made.high:
        raise DeclarationError(f"low must be at least 0 and below high = {exact_text(made.high)}.")
    return low


def _outside(made: "ExponentialRate", given: Exact | None) -> Outside:
    return outside_of(given, made.low, made.high, made.name, "the highest", made.high)


@frozen()
class ExponentialRate(GammaRate, kind="Exponential"):
    """The rate of a column of waiting times from `low` to `high`, read in `bands` equal bands.

    Missing, non-numeric and out-of-range values are a level of their own that stands for `outside`, a number from `low`
    to `high`, which must be declared as every record counts; "usual" is `high`, so that long times are clipped.

    >>> model = ExponentialRate("wait", high=10, bands=5, outside="usual")
    >>> [str(value) for value in model.values]
    ['1', '3', '5', '7', '9', '10']
    """

    name: str
    high: Number = converted(positive)
    bands: Whole = converted(partial(whole, most=MOST_BANDS), default=100)
    shape: Number = converted(positive, default=1)
    rate: Number = converted(positive, default=1)
    low: Number = computed(_low, default=0)
    outside: Converted[Exact | None, Outside] = computed(_outside, default=None, left_out=USUAL)

    def __post_init__(self) -> None:
        self.column  # noqa: B018 - refuses a name that is none, and bands too narrow to be told apart

    @cached_property
    def column(self) -> Column:
        return Column.banded(self.name, [float(edge) for edge in band_edges(self.low, self.high, self.bands)])

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """Return the middle of every band, and `outside` or `high` for what lies in none."""
        home = self.high if self.outside == USUAL else self.outside
        return (*band_middles(self.low, self.high, self.bands), home)

    def level_probabilities(self, parameters: Floats) -> Floats:
        """Return e^(-theta a) - e^(-theta b) for each band from a to b, and what lies in none."""
        rates = np.asarray(parameters, dtype=float)[:, None]
        edges = np.array([float(edge) for edge in band_edges(self.low, self.high, self.bands)])
        inside = np.exp(-rates * edges[:-1]) * -np.expm1(-rates * np.diff(edges))
        outside = np.exp(-rates * edges[-1]) - np.expm1(-rates * edges[0])
        return np.concatenate([inside, outside], axis=1)
