"""Waiting times: exponential records with a Gamma prior on their rate.

With theta ~ Gamma(shape, rate) the posterior of n waiting times, its likelihood raised to `power`, is
Gamma(shape + power n, rate + power sum x). Records are put into equal bands of a declared range and stand for the
middle of their band, so the sum is a function of counts and one record moves it by at most the declared range.
This is the family of lemma 3 of Dimitrakakis, Nelson, Mitrokotsa and Rubinstein (2014), with records that are bounded.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Counts, Floats
from discreet.documents import DocumentedModel
from discreet.errors import DeclarationError
from discreet.exact import Exact, exact, exact_text, positive, whole
from discreet.models.bounded_family import GammaLaw, checked_counts, count_levels, gamma_log_mass, total_of
from discreet.models.statistics import Statistics
from discreet.records.columns import Column, Level

MOST_BANDS = 100_000


@dataclass(frozen=True, init=False)
class Exponential(DocumentedModel, kind="Exponential"):
    """The rate of a column of waiting times from `low` to `high`, read in `bands` equal bands.

    What is missing, no number, or outside the range is a level of its own that stands for `high`, so that long times
    are clipped.

    >>> model = Exponential("wait", high=10, bands=5)
    >>> [str(value) for value in model.values]
    ['1', '3', '5', '7', '9', '10']
    """

    name: str
    high: Fraction
    bands: int
    shape: Fraction
    rate: Fraction
    low: Fraction

    def __init__(
        self, name: str, high: Exact, bands: int = 100, shape: Exact = 1, rate: Exact = 1, low: Exact = 0
    ) -> None:
        first, last = exact(low, "low"), positive(high, "high")
        if not 0 <= first < last:
            raise DeclarationError(f"low must be at least 0 and below high = {exact_text(last)}.")
        number, numbers = whole(bands, "bands", most=MOST_BANDS), (positive(shape, "shape"), positive(rate, "rate"))
        values = (name, last, number, *numbers, first)
        for field, value in zip(("name", "high", "bands", "shape", "rate", "low"), values, strict=True):
            object.__setattr__(self, field, value)
        self.column  # noqa: B018 - refuses a name that is none, and bands too narrow to be told apart

    @cached_property
    def column(self) -> Column:
        """Return the column of bands."""
        return Column.banded(self.name, [float(edge) for edge in band_edges(self.low, self.high, self.bands)])

    @property
    def cells(self) -> tuple[Level, ...]:
        """Return the names of the bands, and of what lies in none."""
        return self.column.levels

    @cached_property
    def values(self) -> tuple[Fraction, ...]:
        """Return the middle of every band, and `high` for what lies in none."""
        return (*band_middles(self.low, self.high, self.bands), self.high)

    def statistics(self, data: object) -> Statistics:
        """Count the records of a frame or another source by band. The result is secret."""
        return count_levels(self, data)

    def counts(self, counts: ArrayLike) -> Counts:
        """Return made-up counts of the bands after checking them."""
        return checked_counts(self, counts)

    def posterior(self, counts: ArrayLike, power: Fraction = Fraction(1)) -> GammaLaw:
        """Return Gamma(shape + power n, rate + power sum x)."""
        row = self.counts(counts)
        return self.posterior_given_total(total_of(self.values, row), int(row.sum()), power)

    def posterior_given_total(self, total: Fraction, size: int, power: Fraction = Fraction(1)) -> GammaLaw:
        """Return Gamma(shape + power n, rate + power total)."""
        return GammaLaw(self.shape + power * size, self.rate + power * total)

    def draw_log_mass(self, totals: Floats, size: int, power: float, cell: tuple[float, float]) -> Floats:
        """Return log P(a draw falls into a cell | total), for each of several totals."""
        return gamma_log_mass(float(self.shape) + power * size, float(self.rate) + power * totals, *cell)

    def level_probabilities(self, parameters: Floats) -> Floats:
        """Return e^(-theta a) - e^(-theta b) for each band from a to b, and what lies in none."""
        rates = np.asarray(parameters, dtype=float)[:, None]
        edges = np.array([float(edge) for edge in band_edges(self.low, self.high, self.bands)])
        inside = np.exp(-rates * edges[:-1]) * -np.expm1(-rates * np.diff(edges))
        outside = np.exp(-rates * edges[-1]) - np.expm1(-rates * edges[0])
        return np.concatenate([inside, outside], axis=1)

    def neighbours(self, size: int, power: Fraction) -> Iterable[tuple[GammaLaw, GammaLaw]]:
        """Return the one pair whose rates have the largest ratio: all other records, and one of the two, at the least.

        Scaling the parameter changes nothing, so only the ratio of the rates counts, and the ratio of densities is
        monotone: the pair dominates all neighbours.
        """
        shape, least, most = self.shape + power * size, min(self.values), max(self.values)
        rate = self.rate + power * size * least
        yield GammaLaw(shape, rate), GammaLaw(shape, rate + power * (most - least))


def band_edges(low: Fraction, high: Fraction, bands: int) -> list[Fraction]:
    """Return the edges of equal bands."""
    return [low + (high - low) * place / bands for place in range(bands + 1)]


def band_middles(low: Fraction, high: Fraction, bands: int) -> tuple[Fraction, ...]:
    """Return the middles of equal bands."""
    return tuple(low + (high - low) * (2 * place + 1) / (2 * bands) for place in range(bands))
