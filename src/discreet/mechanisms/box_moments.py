"""BoxMoments: noise in the shape of one person's influence on the moments of a regression.

Replacing one record changes each of the D released numbers by at most G (`models.moments`), so a person's influence
lies in a cube, whose norm is max_j |u_j| / G. The output z = s + u has noise u on all of Z^D with

    P(u) = e^(-epsilon max_j |u_j| / G) / Z,   Z = sum_j h_j q^j / (1 - q)^D,   q = e^(-epsilon / G),

h the Eulerian numbers of type B. By the triangle inequality no output is more than e^epsilon times likelier under one
of two neighbours than under the other: pure epsilon-differential privacy. One radius serves all numbers, so their
standard deviation grows like D / sqrt(3), against D sqrt(2) for independent Laplace noise.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import ceil

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from discreet.certificates import PrivacyLoss
from discreet.certificates.listing import window
from discreet.errors import DeclarationError, DocumentError
from discreet.exact import Exact, ball, exact_text, positive, whole
from discreet.guarantees.guarantee import Guarantee
from discreet.models.linear_regression import LinearRegression
from discreet.randomness import FiniteLaw, IntArray, RandomBits, bernoulli_exponential, geometric, uniform_below

Floats = NDArray[np.float64]
Wholes = NDArray[np.int64]
LEAST_EPSILON, MOST_EPSILON = Fraction(1, 10**6), Fraction(10**4)
MOST_COORDINATES = 16
"""Moments of more are refused before they cost anything: no reader could sample them in reasonable time."""
LEAST_RATE = Fraction(1, 2**44)
"""Noise of a smaller rate than this could leave 64 bits."""
_FARTHEST = 10**6  # outputs with noise beyond this many mean sizes are not read: their probability is e^-1000000


@dataclass(frozen=True, init=False)
class NoisyMoments(ABC):
    """Moments of a regression plus integer noise of a law that does not depend on them."""

    model: LinearRegression
    size: int
    epsilon: Fraction

    def __init__(self, model: LinearRegression, size: int, epsilon: Exact) -> None:
        name = type(self).__name__
        if not isinstance(model, LinearRegression):
            raise DeclarationError(f"{name} publishes moments of a LinearRegression; got a {type(model).__name__}.")
        if model.dimension > MOST_COORDINATES:
            raise DeclarationError(
                f"{name} publishes moments of at most {MOST_COORDINATES} coordinates, which can be read within about a "
                f"minute; this model has {model.dimension}, the intercept and the levels included. Use fewer features."
            )
        number, records = positive(epsilon, "epsilon"), whole(size, "size", most=model.most_records)
        if not LEAST_EPSILON <= number <= MOST_EPSILON:
            raise DeclarationError(
                f"epsilon must lie between {exact_text(LEAST_EPSILON)} and {exact_text(MOST_EPSILON)}; "
                f"got {exact_text(number)}."
            )
        if records <= model.dimension:
            raise DeclarationError(
                f"{name} needs a size above the {model.dimension} coefficients of the model; got {records}."
            )
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", records)
        object.__setattr__(self, "epsilon", number)

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """Return the best guarantee that is proved or computed."""

    @property
    def rho(self) -> Fraction:
        """Return the zCDP parameter of pure epsilon: epsilon^2 / 2."""
        return self.epsilon**2 / 2

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss of randomised response, which dominates every pure epsilon."""
        return PrivacyLoss.worst_case(self.epsilon)

    @abstractmethod
    def noise(self, rows: int, bits: RandomBits) -> Wholes:
        """Draw rows of noise, one whole number for each released number."""

    @abstractmethod
    def log_kernel(self, noise: NDArray[np.generic]) -> Floats:
        """Return the log of the unnormalised probability of rows of noise; defined for all real numbers."""

    @property
    @abstractmethod
    def log_normaliser(self) -> float:
        """Return the log of the sum of the kernel over all whole numbers."""

    @property
    @abstractmethod
    def scale(self) -> Floats:
        """Return the standard deviation of each number's noise, about."""

    @abstractmethod
    def real_noise(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows of real numbers with the kernel as density: for a reader's sampler, never for publishing."""

    def sample(self, counts: Wholes, bits: RandomBits) -> Wholes:
        """Draw an output for each row of made-up moments; secret statistics are refused, they go through `publish`."""
        moments = self.model.moments(counts)
        rows = int(np.prod(moments.shape[:-1]))
        return moments + self.noise(rows, bits).reshape(moments.shape)

    def measured(self, counts: Wholes) -> Wholes:
        """Return what would be published without noise: the moments themselves."""
        return counts

    def outputs_for(self, counts: Wholes, most: int) -> Wholes | None:
        """Return outputs near these data sets, at most so many: a window, where the grid is coarse enough for one."""
        return window(counts, ceil(45 * float(self.scale.max())) + 2, most)

    def log_likelihood(self, output: Wholes, counts: NDArray[np.generic]) -> Floats:
        """Return log P(output | moments), for rows of either."""
        return self.log_kernel(np.asarray(output) - np.asarray(counts)) - self.log_normaliser

    def check_output(self, output: Wholes) -> None:
        """Refuse an output that this mechanism cannot have given."""
        wanted = len(self.model.cells)
        if output.shape != (wanted,):
            raise DocumentError(f"The output must have {wanted} numbers; it has {output.size}.")
        farthest = self.size * self.model.layout.reach + _FARTHEST * self.scale
        if any(abs(int(value)) > most for value, most in zip(output, farthest, strict=True)):
            raise DocumentError("The output holds moments beyond any that can be read.")


@dataclass(frozen=True, init=False)
class BoxMoments(NoisyMoments):
    """All moments with noise in the shape of a cube: pure epsilon-DP under replacement of one record.

    >>> model = LinearRegression("y", ["x"], {"x": (0, 1), "y": (0, 1)}, noise="0.2")
    >>> BoxMoments(model, size=1000, epsilon="0.5").guarantee.epsilon
    Fraction(1, 2)
    """

    def __init__(self, model: LinearRegression, size: int, epsilon: Exact) -> None:
        super().__init__(model, size, epsilon)
        check_rate(self.rate)

    @property
    def rate(self) -> Fraction:
        """Return epsilon / G, what one unit of the largest noise costs."""
        return self.epsilon / self.model.layout.reach

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, by the triangle inequality."""
        return Guarantee(self.epsilon, reason="noise of norm max|u|/G on moments of range G (triangle inequality)")

    @property
    def log_normaliser(self) -> float:
        """Return log Z."""
        cells = len(self.model.cells)
        with ctx.workprec(256):
            q = (-ball(self.rate)).exp()
            return float((sum(_start_weights(self.rate, cells), arb(0)) / (1 - q) ** cells).log())

    @property
    def scale(self) -> Floats:
        """Return sqrt((D + 1)(D + 2)/3) G / epsilon for every number."""
        cells = len(self.model.cells)
        return np.full(cells, np.sqrt((cells + 1) * (cells + 2) / 3) / float(self.rate))

    def log_kernel(self, noise: NDArray[np.generic]) -> Floats:
        """Return -epsilon max_j |u_j| / G."""
        return np.asarray(np.abs(np.asarray(noise, dtype=float)).max(axis=-1) * -float(self.rate))

    def noise(self, rows: int, bits: RandomBits) -> Wholes:
        """Draw rows from the cube law: the radius first, then uniform numbers up to it. Nothing is cut off.

        P(u) ~ sum over r >= max|u| of (1 - q) q^r, so given a radius r with P(r) ~ (2 r + 1)^D q^r the noise is uniform
        on {-r, ..., r}^D. And sum_r (2 r + 1)^D q^r = sum_j h_j q^j / (1 - q)^(D + 1): r is j plus D + 1 geometrics.
        """
        cells = len(self.model.cells)
        starts = _start_law(self.rate, cells).sample(rows, bits)
        radii = starts + wide_geometric(self.rate, rows * (cells + 1), bits).reshape(rows, cells + 1).sum(axis=1)
        drawn = [uniform_below(2 * int(radius) + 1, cells, bits) - int(radius) for radius in radii]
        return np.array(drawn, dtype=np.int64).reshape(rows, cells)

    def real_noise(self, rows: int, generator: np.random.Generator) -> Floats:
        """Draw rows with density ~ e^(-rate max|u|): a Gamma(D + 1) radius times uniform numbers."""
        cells = len(self.model.cells)
        radii = generator.standard_gamma(cells + 1, size=rows) / float(self.rate)
        return radii[:, None] * generator.uniform(-1, 1, size=(rows, cells))


def check_rate(rate: Fraction) -> None:
    """Refuse noise so wide that sums could leave 64 bits."""
    if rate < LEAST_RATE:
        raise DeclarationError("With this grid and this epsilon the noise would not fit into 64 bits; lower the grid.")


def wide_geometric(rate: Fraction, count: int, bits: RandomBits) -> IntArray:
    """Draw g >= 0 with P(g) = (1 - e^-rate) e^(-rate g), also where the rate is tiny.

    g = K a + b with K a power of two: a is geometric with rate K rate, and b in {0, ..., K - 1} has P(b) ~ e^(-rate b):
    a uniform number, kept with that probability. K rate < 1, so more than 63 % are kept.
    """
    width = 1 << max(0, (rate.denominator // rate.numerator).bit_length() - 1)
    high = geometric(rate * width, count, bits)
    low = np.zeros(count, dtype=np.int64)
    late = np.arange(count)
    while late.size:
        drawn = uniform_below(width, late.size, bits)
        kept = bernoulli_exponential(rate, drawn, bits)
        low[late[kept]] = drawn[kept]
        late = late[~kept]
    return high * width + low


def eulerian_numbers(order: int) -> list[int]:
    """Return the Eulerian numbers of type B: sum_r (2 r + 1)^D x^r = sum_j h_j x^j / (1 - x)^(D + 1).

    >>> eulerian_numbers(3)
    [1, 23, 23, 1]
    """
    row = [1]
    for n in range(1, order + 1):
        padded = [0, *row, 0]
        row = [(2 * (n - k) + 1) * padded[k] + (2 * k + 1) * padded[k + 1] for k in range(n + 1)]
    return row


@lru_cache(maxsize=16)
def _start_law(rate: Fraction, cells: int) -> FiniteLaw:
    return FiniteLaw(lambda: _start_weights(rate, cells))


def _start_weights(rate: Fraction, cells: int) -> list[arb]:
    """Return h_j q^j for j = 0, ..., D."""
    q = (-ball(rate)).exp()
    return [arb(number) * q**j for j, number in enumerate(_cached_numbers(cells))]


@lru_cache(maxsize=16)
def _cached_numbers(cells: int) -> tuple[int, ...]:
    return tuple(eulerian_numbers(cells))
