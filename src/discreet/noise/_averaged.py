"""The noise of several releases of the same numbers, averaged: what is left once each is weighed by its precision.

z_j = k + u_j, j = 1, 2, ..., are averaged with public weights w_j that add up to 1, so that sum_j w_j z_j = k +
sum_j w_j u_j: the noise of the average does not depend on the records either. Weights are proportional to one over the
mean variance of each, which is the least noise that weights alike for all numbers can give.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet.noise._noise import Noise, Operations, simulated_noise


@dataclass(frozen=True)
class Averaged:
    """The noise of an average, known through draws of its parts."""

    parts: tuple[Noise, ...]

    @cached_property
    def weights(self) -> Floats:
        """Return one weight for each release; they add up to 1."""
        weights = np.array([1 / float(part.variance.mean()) for part in self.parts])
        return np.asarray(weights / weights.sum())

    @property
    def variance(self) -> Floats:
        """Return the variance of each number's noise."""
        pairs = zip(self.weights, self.parts, strict=True)
        return np.asarray(sum(weight**2 * part.variance for weight, part in pairs))

    @property
    def operations(self) -> Operations:
        """Return about what drawing one row takes."""
        return Operations(sum(part.operations.draw for part in self.parts))

    def of(self, values: Sequence[ArrayLike]) -> Floats:
        """Return the weighted average of what was published."""
        pairs = zip(self.weights, values, strict=True)
        return np.asarray(sum(weight * np.asarray(piece, dtype=float) for weight, piece in pairs))

    def simulate(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of noise, those of each release by itself."""
        return self.of([simulated_noise(part, rows, generator) for part in self.parts])

    def log_prob(self, noise: ArrayLike) -> Floats:
        """Refuse: several rows of noise have the same average."""
        raise DeclarationError("The noise in an average of several releases has no density in closed form.")
