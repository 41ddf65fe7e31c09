"""What a reader learns about the one parameter of a family from draws of its posterior.

`reading.families` says how: a sum over the total of the records, on a fine grid of the parameter.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.distributions import Interval
from discreet.distributions.interval import tails
from discreet.errors import DeclarationError
from discreet.exact import whole
from discreet.models.bounded_family import Law
from discreet.reading.families import FamilyReading
from discreet.releases import Release

Floats = NDArray[np.float64]


class FamilyPosterior:
    """What a reader knows about the parameter of a family, with the noise of the draws accounted for."""

    def __init__(self, reading: FamilyReading, releases: Sequence[Release]) -> None:
        self.reading, self.model, self.releases, self.prior = reading, reading.model, tuple(releases), reading.prior
        self.size, self.log_evidence = releases[0].mechanism.size, reading.log_evidence
        self._edges, self._middles, self._weights = reading.edges, reading.middles, reading.weights
        self._masses, self._mean_total = reading.log_masses, reading.mean_total

    def __repr__(self) -> str:
        return f"<posterior of the parameter of {self.model!r} given {self.releases[0].label!r}>"

    def __str__(self) -> str:
        low, high = self.interval(0.9)
        heads = f"{'parameter':<24}{'mean':>10}   90 % interval          due to privacy"
        name = f"{type(self.model).__name__} {self.model.column.name}"
        return f"{heads}\n{name:<24}{self.mean:>10.4g}   {low:.4g} to {high:.4g}{self.privacy_share(0.9):>17.0%}"

    @property
    def mean(self) -> float:
        """Return the expected parameter."""
        return float(self._weights @ self._middles)

    @property
    def sd(self) -> float:
        """Return the standard deviation of the parameter."""
        return float(np.sqrt(self._weights @ (self._middles - self.mean) ** 2))

    @cached_property
    def _cumulative(self) -> Floats:
        return np.asarray(np.append(0.0, np.cumsum(self._weights)) / self._weights.sum())

    def cdf(self, values: ArrayLike) -> Any:
        """Return P(parameter <= value)."""
        found = np.interp(np.asarray(values, dtype=float), self._edges, self._cumulative)
        return float(found) if found.ndim == 0 else found

    def quantile(self, probability: ArrayLike) -> Any:
        """Return the value below which the parameter lies with a probability."""
        asked = np.asarray(probability, dtype=float)
        if not ((asked >= 0) & (asked <= 1)).all():
            raise DeclarationError("A probability lies between 0 and 1.")
        found = np.interp(asked, self._cumulative, self._edges)
        return float(found) if found.ndim == 0 else found

    def interval(self, level: float = 0.9) -> Interval:
        """Return the equal-tailed interval of this probability: sampling and privacy together."""
        low, high = self.quantile(tails(level))
        return Interval(float(low), float(high))

    def density(self, values: ArrayLike) -> Any:
        """Return the density of the parameter, 0 where it is negligible."""
        heights = self._weights / np.diff(self._edges)
        found = np.interp(np.asarray(values, dtype=float), self._middles, heights, left=0.0, right=0.0)
        return float(found) if found.ndim == 0 else found

    def draws(self, count: int, seed: int = 0) -> Floats:
        """Return independent draws of the parameter from the reader's posterior."""
        generator = np.random.default_rng(seed)
        return np.asarray(self.quantile(generator.random(whole(count, "count", most=10**8))))

    @property
    def predictive_mean(self) -> float:
        """Return the expected value of one further record, as it would be counted: clipped, or in a band."""
        values = np.array([float(value) for value in self.model.values])
        return float(self._weights @ (self.model.level_probabilities(self._middles) @ values))

    @property
    def information(self) -> float:
        """Return what the draws told, in nats: the Kullback-Leibler divergence of the posterior from the prior."""
        kept = self._weights > 0
        return float(self._weights[kept] @ (np.log(self._weights[kept]) - self._masses[kept]))

    def privacy_share(self, level: float = 0.9) -> float:
        """Return the share of the interval's width that is due to privacy: what the exact total would save."""
        low, high = tails(level)
        known: Law = self.model.posterior_given_total(Fraction(self._mean_total).limit_denominator(10**6), self.size)
        return max(0.0, 1 - (known.guess(high) - known.guess(low)) / self.interval(level).width)
