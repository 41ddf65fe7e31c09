"""Quantities known through weighted draws: as they are, or as mixtures of normal distributions, one for each draw.

A mixture sum_i w_i N(c_i, s_i^2) has the mean sum w c, the variance sum w s^2 + Var(c), and quantiles at which
F(x) = sum w Phi((x - c) / s) is a probability. Nothing is drawn for them a second time, so their Monte Carlo errors are
smaller than those of draws (Rao and Blackwell): sd(Phi) / density, by groups, for a quantile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import pi, sqrt

import numpy as np
from scipy.special import ndtr, ndtri

from discreet._core.arrays import Floats
from discreet.mathematics import Grouped
from discreet.mathematics.distributions._dirichlet import Interval, tails

_STEPS = 100


@dataclass(frozen=True, eq=False)
class WeightedDraws:
    """Values of draws with their weights."""

    values: Floats
    grouped: Grouped

    @cached_property
    def mean(self) -> float:
        """Return the mean."""
        return float(self.grouped.mean(self.values))

    @cached_property
    def sd(self) -> float:
        """Return the standard deviation."""
        return float(np.sqrt(self.grouped.variance(self.values)))

    @cached_property
    def standard_error(self) -> float:
        """Return the Monte Carlo error of the mean."""
        return float(self.grouped.error(self.values))

    @property
    def median(self) -> float:
        """Return the median."""
        return self.quantile(0.5)

    def quantile(self, probability: float) -> float:
        """Return the value below which this share of the weight lies."""
        order = np.argsort(self.values, kind="stable")
        weights = self.grouped.weights[order]
        return float(np.interp(probability, np.cumsum(weights) - weights / 2, self.values[order]))

    def interval(self, level: float = 0.9) -> Interval:
        """Return the equal-tailed interval of this probability."""
        low, high = (self.quantile(tail) for tail in tails(level))
        return Interval(low, high)

    def numerical_error(self, level: float) -> float | None:
        """Return nothing: draws have a Monte Carlo error."""
        return None

    def probability_above(self, threshold: float) -> float:
        """Return the weight above a threshold."""
        return float(self.grouped.mean((self.values > threshold).astype(float)))


@dataclass(frozen=True, eq=False)
class NormalMixture:
    """A mixture of normal distributions with these centres and standard deviations, one for each draw; or one point."""

    centres: Floats
    deviations: Floats
    grouped: Grouped

    def __repr__(self) -> str:
        return f"NormalMixture(mean={self.mean:.4g} +/- {self.standard_error:.1g}, 90 % interval {self.interval(0.9)})"

    @cached_property
    def mean(self) -> float:
        """Return the mean."""
        return float(self.grouped.mean(self.centres))

    @cached_property
    def sd(self) -> float:
        """Return the standard deviation."""
        return float(np.sqrt(self.grouped.mean(np.square(self.deviations)) + self.grouped.variance(self.centres)))

    @cached_property
    def standard_error(self) -> float:
        """Return the Monte Carlo error of the mean."""
        return float(self.grouped.error(self.centres))

    @property
    def median(self) -> float:
        """Return the median."""
        return self.quantile(0.5)

    def below(self, value: float) -> float:
        """Return the probability of being below a value; at a point that is known for certain, 1/2."""
        if self.sd == 0:
            return 0.5 * (1 + float(np.sign(value - self.mean)))
        return float(self.grouped.mean(ndtr((value - self.centres) / self.deviations)))

    def probability_above(self, threshold: float) -> float:
        """Return the probability of being above a threshold."""
        return 1 - self.below(threshold)

    def density(self, value: float) -> float:
        """Return the density at a value."""
        scaled = (value - self.centres) / self.deviations
        return float(self.grouped.mean(np.exp(-np.square(scaled) / 2) / (sqrt(2 * pi) * self.deviations)))

    def quantile(self, probability: float) -> float:
        """Return where `below` is this probability, by Newton's steps within a shrinking bracket."""
        if self.sd == 0:
            return self.mean
        ends = self.centres + np.array([[-1.0], [1.0]]) * (abs(float(ndtri(probability))) + 1) * self.deviations
        low, high = float(ends.min()), float(ends.max())
        index = self.mean + self.sd * float(ndtri(probability))
        for _ in range(_STEPS):
            index = index if low < index < high else (low + high) / 2
            excess = self.below(index) - probability
            low, high = (low, index) if excess > 0 else (index, high)
            slope = self.density(index)
            following = index - excess / slope if slope > 0 else (low + high) / 2
            if abs(following - index) <= 1e-9 * self.sd:
                break
            index = following
        return index

    def quantile_error(self, probability: float) -> float:
        """Return the Monte Carlo error of a quantile."""
        if self.sd == 0:
            return 0.0
        index = self.quantile(probability)
        shares = ndtr((index - self.centres) / self.deviations)
        return float(self.grouped.error(shares)) / self.density(index)

    def interval(self, level: float = 0.9) -> Interval:
        """Return the equal-tailed interval of this probability."""
        low, high = (self.quantile(tail) for tail in tails(level))
        return Interval(low, high)

    def interval_errors(self, level: float = 0.9) -> Sequence[float]:
        """Return the Monte Carlo errors of both ends of the interval."""
        return [self.quantile_error(tail) for tail in tails(level)]

    def known_width(self, level: float = 0.9) -> float:
        """Return the mean width of the intervals of the parts: what is left open if one knew which part it is."""
        low, high = tails(level)
        return float(self.grouped.mean(self.deviations)) * float(ndtri(high) - ndtri(low))
