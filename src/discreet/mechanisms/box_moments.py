"""BoxMoments: noise in the shape of one person's influence on the moments of a regression.

Replacing one record changes each of the D released numbers by at most G (`models.moments`), so a person's influence
lies in a cube, whose norm is max_j |u_j| / G. The output z = s + u has noise u on all of Z^D with

    P(u) = e^(-epsilon max_j |u_j| / G) / Z,   Z = sum_j h_j q^j / (1 - q)^D,   q = e^(-epsilon / G),

h the Eulerian numbers of type B. By the triangle inequality no output is more than e^epsilon times likelier under one
of two neighbours than under the other: pure epsilon-differential privacy. One radius serves all numbers, so their
standard deviation grows like D / sqrt(3), against D sqrt(2) for independent Laplace noise. Among other releases it
costs what one Laplace number costs, whatever D is: that is the law of its privacy loss (`noise.cube`).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats
from discreet.errors import DeclarationError
from discreet.exact import Exact, positive, whole
from discreet.mechanisms.additive import Additive, within_bounds
from discreet.mechanisms.moments import Moments
from discreet.models.linear_regression import LinearRegression
from discreet.noise import Cube
from discreet.noise.noise import simulated_noise

Wholes = NDArray[np.int64]
LEAST_RATE = Fraction(1, 2**44)
"""Noise of a smaller rate than this could leave 64 bits."""


@dataclass(frozen=True, init=False, repr=False)
class NoisyMoments(Additive[LinearRegression]):
    """Moments of a regression plus integer noise of a law that does not depend on them."""

    model: LinearRegression
    size: int
    epsilon: Fraction

    def __init__(self, model: LinearRegression, size: int, epsilon: Exact) -> None:
        name = type(self).__name__
        if not isinstance(model, LinearRegression):
            raise DeclarationError(f"{name} publishes the moments of a LinearRegression; got a {type(model).__name__}.")
        number = within_bounds(positive(epsilon, "epsilon"), "epsilon")
        records = whole(size, "size", most=model.most_records)
        if records <= model.dimension:
            raise DeclarationError(
                f"{name} needs more records than the model has coefficients ({model.dimension}); got {records}."
            )
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", records)
        object.__setattr__(self, "epsilon", number)

    @cached_property
    def quantities(self) -> Moments:
        return Moments(self.model)

    def checked(self, counts: ArrayLike) -> Wholes:
        return self.model.moments(counts)

    def log_kernel(self, noise: ArrayLike) -> Floats:
        """Return the log of the unnormalised probability of rows of noise; defined for all real numbers."""
        return self.noise.log_kernel(noise)

    @property
    def log_normaliser(self) -> float:
        """Return the log of the sum of the kernel over all whole numbers."""
        return self.noise.log_normaliser

    @property
    def scale(self) -> Floats:
        """Return the standard deviation of each number's noise."""
        return np.sqrt(self.noise.variance)

    def real_noise(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of real numbers with the kernel as density: for a reader's sampler, never for publishing."""
        return simulated_noise(self.noise, rows, generator)


@dataclass(frozen=True, init=False, repr=False)
class BoxMoments(NoisyMoments, kind="BoxMoments", version=2):
    """All moments of a regression, with noise in the shape of a cube: pure epsilon-DP under replacement of one record.

    >>> model = LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.2", missing="middle")
    >>> BoxMoments(model, size=1000, epsilon="0.5").guarantee.epsilon
    Fraction(1, 2)
    """

    reason = "noise of norm max|u|/G on moments of range G (triangle inequality)"

    def __init__(self, model: LinearRegression, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        check_rate(self.rate)

    @property
    def rate(self) -> Fraction:
        """Return epsilon / G, the privacy loss of one unit of the largest noise."""
        return self.epsilon / self.model.layout.reach

    @cached_property
    def noise(self) -> Cube:
        return Cube((self.rate,), self.quantities.blocks)


def check_rate(rate: Fraction) -> None:
    """Refuse noise so wide that sums could leave 64 bits."""
    if rate < LEAST_RATE:
        raise DeclarationError(
            "With this grid and this epsilon the noise would not fit into 64 bits. Choose a smaller grid."
        )
