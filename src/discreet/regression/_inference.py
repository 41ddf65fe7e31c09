"""The true moments of a regression as weighted draws, and the normal coefficients given each."""

from dataclasses import dataclass
from functools import cached_property
from math import isnan

import numpy as np

from discreet._core.arrays import Floats
from discreet.mathematics import MOST_SHAPE, Grouped
from discreet.mathematics.distributions import NormalMixture, WeightedDraws
from discreet.regression._likelihood import coefficients_given, with_own
from discreet.regression._model import Regression
from discreet.regression._moments import RegressionQuantities

_CHUNK = 4096  # states processed together


@dataclass(frozen=True, eq=False)
class MomentSolution:
    """Draws of the true moments (`released`) and of sigma^2 (`variance`) with their weights, and how they were found.

    `pareto_shape` is that of the weights of draws of the noise; it is NaN where particles were tempered.
    """

    model: Regression
    of: RegressionQuantities
    size: int
    released: Floats
    variance: Floats
    grouped: Grouped
    log_evidence: float
    log_evidence_error: float
    pareto_shape: float

    @property
    def method(self) -> str:
        """Say in words how it was read, and how well."""
        worth = f"worth {self.effective_size:.0f} independent draws"
        if isnan(self.pareto_shape):
            return (
                f"read by particles in the coordinates of its noise, tempered on {self.grouped.groups} islands (nested "
                f"R-hat {self.r_hat:.3f}; 1 is perfect), {worth}"
            )
        return (
            f"read by {len(self.variance)} draws of its noise, weighted by the moments that they leave (Pareto k-hat "
            f"{self.pareto_shape:.2f}, trusted up to {MOST_SHAPE}), {worth}"
        )

    @cached_property
    def _given(self) -> tuple[Floats, Floats, Floats]:
        """Return E[w | moments], and centres and standard deviations of the coefficients in the units of the table."""
        jacobian = self.model.in_units(np.eye(self.model.dimension)) - self.model.in_units(
            np.zeros(self.model.dimension)
        )
        means, deviations = [], []
        for start in range(0, len(self.released), _CHUNK):
            here = slice(start, start + _CHUNK)
            released, variance = self.released[here], self.variance[here]
            moments = with_own(self.model, self.of.moments(released, self.size))
            ridge = variance * float(self.model.prior_precision)
            inverse = np.linalg.inv(moments.squares + ridge[:, None, None] * np.eye(self.model.dimension))
            means.append(np.einsum("nij,nj->ni", inverse, moments.products))
            spread = np.einsum("ik,nij,jk->nk", jacobian, inverse, jacobian, optimize=True)
            deviations.append(np.sqrt(variance[:, None] * spread))
        found = np.concatenate(means)
        return found, self.model.in_units(found), np.concatenate(deviations)

    @property
    def centres(self) -> Floats:
        """Return E[w | moments] in public units, for every draw."""
        return self._given[0]

    def coefficient(self, index: int) -> NormalMixture:
        """Return the distribution of a coefficient, in the units of the table."""
        _, centres, deviations = self._given
        return NormalMixture(centres[:, index], deviations[:, index], self.grouped)

    @cached_property
    def counted(self) -> WeightedDraws:
        """Return the distribution of the number of records that are not left out; of all weights, if they have any."""
        return WeightedDraws(self.of.moments(self.released, self.size).count, self.grouped)

    @cached_property
    def noise(self) -> WeightedDraws:
        """Return the distribution of sigma, in the units of the target."""
        return WeightedDraws(np.sqrt(self.variance) * self.model.ranges[self.model.target].half, self.grouped)

    @cached_property
    def _watched(self) -> Floats:
        """Return what diagnostics look at: the centres of all coefficients, and log sigma."""
        return np.column_stack([self._given[1], np.log(self.variance) / 2])

    @cached_property
    def r_hat(self) -> float:
        """Return the largest R-hat of all coefficients and of sigma; near 1 if independent groups of draws agree."""
        return self.grouped.r_hat(self._watched)

    @cached_property
    def effective_size(self) -> float:
        """Return how many independent draws these are worth, for the worst of all coefficients and sigma."""
        return min(self.grouped.effective_size(self._watched), self.grouped.bulk_size(self._watched))

    @cached_property
    def tail_size(self) -> float:
        """Return how many independent draws these are worth for the ends of intervals, in the worst case."""
        return self.grouped.tail_size(self._watched)

    def draw(self, count: int, generator: np.random.Generator) -> tuple[Floats, Floats]:
        """Draw w in public units and sigma^2: the moments by their weights, then w given them."""
        return self.states(count, generator)[1:]

    def states(self, count: int, generator: np.random.Generator) -> tuple[Floats, Floats, Floats]:
        """Draw moments, then w in public units, and sigma^2."""
        indices = self.grouped.chosen(count, generator)
        variance, released = self.variance[indices], self.released[indices]
        means, roots = coefficients_given(self.model, self.of.moments(released, self.size), variance)
        steps = generator.standard_normal(means.shape)
        return released, means + np.einsum("...ij,...j->...i", roots, steps), variance
