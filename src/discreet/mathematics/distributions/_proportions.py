"""Proportions beyond their intervals: shortest intervals, draws and densities."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, logsumexp

from discreet._core.arrays import Floats

if TYPE_CHECKING:
    from discreet.mathematics.distributions._dirichlet import BetaMixture, Interval


class Proportion(ABC):
    """One proportion, a mixture of Betas; its distribution and its quantiles are given where it is defined."""

    weights: Floats
    a: Floats
    b: Floats

    @property
    @abstractmethod
    def mean(self) -> float:
        """Return the expectation."""

    @property
    @abstractmethod
    def sd(self) -> float:
        """Return the standard deviation."""

    @abstractmethod
    def cdf(self, x: ArrayLike) -> Floats:
        """Return P(value <= x)."""

    @abstractmethod
    def quantile(self, probability: ArrayLike) -> Floats:
        """Return the x with P(value <= x) = probability."""

    @abstractmethod
    def interval(self, level: float = 0.9) -> "Interval":
        """Return the equal-tailed interval of this probability."""

    def __repr__(self) -> str:
        return f"BetaMixture(mean={self.mean:.4g}, sd={self.sd:.4g}, 90 % interval {self.interval(0.9)})"

    @property
    def mean_log(self) -> float:
        """Return the expectation of the logarithm."""
        return float(self.weights @ (digamma(self.a) - digamma(self.a + self.b)))

    def highest_density(self, level: float = 0.9) -> "Interval":
        """Return the shortest interval of this probability."""
        from discreet.mathematics.distributions._dirichlet import (
            Interval,
            tails,  # which stand on what is here
        )

        first, last = self.quantile([1e-4, 1 - 1e-4])
        x = np.concatenate([[0.0], np.linspace(first, last, 200), [1.0]])
        below = np.maximum.accumulate(self.cdf(x))
        left = np.linspace(0, 2 * tails(level)[0], 401)
        widths = np.interp(left + level, below, x) - np.interp(left, below, x)
        # where the interval begins is found on a grid, as widths hardly change there; its two ends are exact
        best = float(left[int(widths.argmin())])
        low, high = self.quantile([best, min(1.0, best + level)])
        return Interval(float(low), float(high))

    def sample(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw independent values."""
        chosen = generator.choice(len(self.weights), size=count, p=self.weights / self.weights.sum())
        return generator.beta(self.a[chosen], self.b[chosen])


class Proportions:
    """Proportions that sum to one, a Dirichlet; what it is close to is said where it is defined."""

    concentration: tuple[float, ...]

    @property
    def mean(self) -> Floats:
        """Return the expectations."""
        shapes = np.array(self.concentration)
        return np.asarray(shapes / shapes.sum())

    def marginal(self, index: int) -> "BetaMixture":
        """Return the distribution of one probability."""
        from discreet.mathematics.distributions._dirichlet import BetaMixture  # which stands on what is here

        a = self.concentration[index]
        return BetaMixture(np.ones(1), np.array([a]), np.array([sum(self.concentration) - a]))

    def log_density(self, theta: Floats) -> Floats:
        """Return the logarithm of the density at probabilities that sum to 1 (last axis)."""
        shapes = np.array(self.concentration)
        constant = gammaln(shapes.sum()) - gammaln(shapes).sum()
        return np.asarray(constant + ((shapes - 1) * np.log(theta)).sum(axis=-1))

    def sample(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw independent vectors of probabilities."""
        return generator.dirichlet(self.concentration, size=count)


def log_dirichlet_rows(shapes: Floats, generator: np.random.Generator) -> Floats:
    """Draw logarithms of probabilities, one Dirichlet for each row; none vanishes, however small its shape is.

    A Gamma(a) number is a Gamma(a + 1) number times U^(1/a), and Gamma numbers divided by their sum are Dirichlet.
    """
    logs = np.log(generator.standard_gamma(shapes + 1)) - generator.standard_exponential(shapes.shape) / shapes
    return np.asarray(logs - logsumexp(logs, axis=-1, keepdims=True))
