"""BallDraw: publish one draw from the posterior of a regression whose coefficients are bounded.

In public units ||x|| <= 1, |y| <= 1 and ||w|| <= B. The log-likelihood ratio of two records, as a function of w, has
the range R = 4 B / sigma^2 for B <= 1 and (1 + B)^2 / sigma^2 for B >= 1, so one draw from the posterior with the
likelihood raised to the power t costs t R (Dimitrakakis, Nelson, Mitrokotsa and Rubinstein 2014 for the idea; the
constant is ours). The draw is a point of a grid: with w = sqrt(d) h g, g whole,

    P(g) ~ e^(-g'Pg/2 + v'g)  on  ||w|| <= B,   P = h^2 (t X'X d / sigma^2 + d L I),   v = h t X'y sqrt(d) / sigma^2,

L the prior's precision. P and v are fractions, so the distribution is sampled exactly with whole numbers. Restricting w
to a grid does not enlarge R. The running time depends on the secret; see docs/threat-model.md.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import frexp, isqrt, sqrt

import numpy as np
from numpy.typing import NDArray

from discreet._core.arrays import Floats
from discreet._core.errors import DeclarationError
from discreet._core.exact import Exact, exact_text, positive, whole
from discreet.mathematics.distributions import TruncatedGaussian
from discreet.mechanism import MOST_EPSILON, Cost, Draw, DrawnRows, Model, OutputSpace, Sized, require_prior
from discreet.noise.randomness import RandomBits, bernoulli_exponential, wide_laplace
from discreet.privacy import Guarantee, PrivacyLoss
from discreet.regression import LinearRegression, Wholes

_MOST_POINTS = 10**6
_MOST_STEPS = 2**30
_STEEPEST = 8  # of all d numbers together: their distances from the grid then cost at most a factor e^-1
Matrix = list[list[Fraction]]
Vector = list[Fraction]


def loss_range(norm_bound: Fraction, variance: Fraction) -> Fraction:
    """Return R, the record-level epsilon of one draw: 4 B / sigma^2 for B <= 1, else (1 + B)^2 / sigma^2."""
    return (4 * norm_bound if norm_bound <= 1 else (1 + norm_bound) ** 2) / variance


def published_bound(w: Floats, size: int, variance: float) -> float:
    """Return 2 L(w) as Zhang, Rubinstein and Dimitrakakis (2016), appendix D, print it. It is no guarantee.

    L(w) = n / (2 sigma^2) (1 + 2 ||w||_1 + d ||w||_2): it depends on the draw, has a factor n too many, and for one
    record grows too slowly in w. Kept to be compared with `loss_range`.
    """
    return float(size / variance * (1 + 2 * np.abs(w).sum() + len(w) * np.linalg.norm(w)))


@dataclass(frozen=True, init=False, repr=False)
class BallDraw(Sized[LinearRegression], kind="BallDraw", version=1):
    """One draw of regression coefficients from their tempered posterior: pure epsilon-DP.

    The draw lies on a grid with `steps` steps from zero to the norm bound. The likelihood is raised to the power min(1,
    epsilon / R). The model must declare a known noise variance and a `norm_bound`. Without an interval it serves as a
    baseline; noisy moments, such as ConeMoments, can be read as a posterior.
    """

    model: LinearRegression
    size: int
    epsilon: Fraction
    steps: int

    def __init__(self, model: LinearRegression, size: int, epsilon: Exact, steps: int = 2**16) -> None:
        if not isinstance(model, LinearRegression) or model.norm_bound is None or not isinstance(model.noise, Fraction):
            raise DeclarationError("BallDraw needs a LinearRegression with a norm_bound and a known noise variance.")
        require_prior(model, "BallDraw")
        if model.leaves_gaps_out:
            raise DeclarationError(
                "BallDraw counts every record: declare with `missing` what stands for a missing value of each column."
            )
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "size", whole(size, "size", most=model.most_records))
        object.__setattr__(self, "epsilon", positive(epsilon, "epsilon"))
        if self.epsilon > MOST_EPSILON:
            raise DeclarationError(f"epsilon must be at most {MOST_EPSILON}; got {exact_text(self.epsilon)}.")
        object.__setattr__(self, "steps", whole(steps, "steps", 1, _MOST_STEPS))
        if model.dimension * self.steepest > _STEEPEST:
            raise DeclarationError(self._too_coarse())

    @property
    def _bound(self) -> Fraction:
        assert self.model.norm_bound is not None
        return self.model.norm_bound

    @property
    def _variance(self) -> Fraction:
        assert isinstance(self.model.noise, Fraction)
        return self.model.noise**2

    @property
    def power(self) -> Fraction:
        """Return t, the power of the likelihood: min(1, epsilon / R)."""
        return min(Fraction(1), self.epsilon / loss_range(self._bound, self._variance))

    @property
    def spacing(self) -> Fraction:
        """Return h: w = sqrt(d) h g, with about `steps` steps from 0 to B."""
        return self._bound / (self.steps * (isqrt(self.model.dimension - 1) + 1))

    @property
    def squared_radius(self) -> Fraction:
        """Return the largest ||g||^2: B^2 / (d h^2)."""
        return self._bound**2 / (self.model.dimension * self.spacing**2)

    @property
    def steepest(self) -> Fraction:
        """Return an upper bound on a coordinate's curvature D_i (see `Proposal`) that holds for all records.

        D_i <= P_ii + kappa with P_ii <= h^2 (t n / sigma^2 + d L). By its choice kappa r^2 <= d + ||v|| r, r the
        radius of the ball, and ||v|| <= h t n sqrt(d) / sigma^2. Between two grid points a draw is kept with e^(-D_i/8)
        of its usual chance, so steep distributions on coarse grids would never be drawn.
        """
        h, d, pull = self.spacing, self.model.dimension, self.power * self.size / self._variance
        return h**2 * (pull + d * self.model.prior_precision + d**2 / self._bound**2 + pull * d / self._bound)

    def _too_coarse(self) -> str:
        enough = self.steps * (isqrt(int(self.model.dimension * self.steepest / _STEEPEST)) + 1)
        advice = (
            f"use {enough} steps"
            if enough <= _MOST_STEPS
            else "declare a larger noise variance or a smaller norm_bound"
        )
        return (
            f"A grid of {self.steps} steps is too coarse for {self.size} records with this noise and prior; {advice}."
        )

    @property
    def guarantee(self) -> Guarantee:
        """Return pure epsilon, or R if that is less."""
        least = min(self.epsilon, loss_range(self._bound, self._variance))
        return Guarantee(least, reason="one draw from a posterior whose likelihood ratios have range epsilon")

    @property
    def rho(self) -> Fraction:
        """Return epsilon^2 / 8: the loss lies in an interval of length epsilon (docs/mechanisms/ball-draw.md)."""
        return self.guarantee.epsilon**2 / 8

    def privacy_loss(self) -> PrivacyLoss:
        """Return the loss of randomised response, which dominates every pure epsilon."""
        return PrivacyLoss.worst_case(self.guarantee.epsilon)

    def quadratic(self, moments: Wholes) -> tuple[Matrix, Vector]:
        """Return P and v of the distribution P(g) ~ e^(-g'Pg/2 + v'g), exactly."""
        squares, products = self.model.layout.sums(moments, self.size)
        h, d = self.spacing, self.model.dimension
        share = self.power / (self._variance * self.model.grid**2)
        matrix = [[h**2 * share * value for value in row] for row in squares]
        return _with_ridge(matrix, d * self.model.prior_precision * h**2), [h * share * value for value in products]

    def sample(self, counts: Wholes, bits: RandomBits) -> Wholes:
        """Draw a grid point for each row of simulated moments; secret statistics go through `publish`."""
        moments = self.model.moments(counts)
        rows = [self._draw(row, bits) for row in moments.reshape(-1, moments.shape[-1])]
        shape = (*moments.shape[:-1], self.model.dimension)
        return np.array(rows, dtype=np.int64).reshape(shape)

    def _draw(self, moments: Wholes, bits: RandomBits) -> list[int]:
        matrix, shift = self.quadratic(moments)
        radius = self.squared_radius
        plain = TruncatedGaussian(np.array(matrix, dtype=float), np.array(shift, dtype=float), float(radius) ** 0.5)
        kappa = _short(plain.kappa)  # any kappa >= 0 gives the same distribution
        proposal = BallProposal.of(_with_ridge(matrix, kappa), shift)
        while True:
            point = proposal.draw(bits)
            if point is None or (room := radius - sum(g * g for g in point)) < 0:
                continue
            if happens(kappa * room / 2, bits):
                return point

    def log_prob(self, output: Wholes, counts: Wholes) -> Floats:
        """Return log P(output | moments) for rows of outputs and one row of moments, by listing every grid point."""
        points = self.outputs()
        matrix, shift = (np.array(part, dtype=float) for part in self.quadratic(self.model.moments(counts)))
        inside = np.square(np.asarray(output)).sum(axis=-1) <= float(self.squared_radius)
        total = np.logaddexp.reduce(_log_kernel(points, matrix, shift))
        return np.where(inside, _log_kernel(np.asarray(output), matrix, shift) - total, -np.inf)

    def outputs(self) -> Wholes:
        """Return every output there is, if they are few."""
        reach, d = isqrt(int(self.squared_radius)), self.model.dimension
        if (2 * reach + 1) ** d > _MOST_POINTS:
            raise DeclarationError(f"More than {_MOST_POINTS} grid points cannot be listed; use fewer steps.")
        points = np.array(list(product(range(-reach, reach + 1), repeat=d)), dtype=np.int64)
        return np.asarray(points[np.square(points).sum(axis=1) <= float(self.squared_radius)])

    def drawn_rows(self, output: Wholes) -> tuple[DrawnRows, ...]:
        """Return nothing: coefficients are drawn, not probabilities."""
        return ()

    def log_prob_of_totals(self, output: Wholes, totals: Floats) -> Floats:
        """Refuse: a regression has no single total."""
        raise DeclarationError("The distribution of drawn coefficients does not depend on a single total.")

    @property
    def likelihood_cost(self) -> Cost:
        """Return the cost of a sum over all points of the grid."""
        points = (2.0 * self.steps + 1) ** self.model.dimension
        refusal = None if points <= _MOST_POINTS else f"the grid has more than {_MOST_POINTS} points"
        return Cost(20 * points, points, refusal)

    @property
    def draws(self) -> int:
        """Return 1: one vector of coefficients is drawn."""
        return 1

    def first_draw(self, output: Wholes) -> Floats:
        """Return the drawn coefficients in public units."""
        return np.asarray(output, dtype=float) * (float(self.spacing) * sqrt(self.model.dimension))

    @property
    def space(self) -> OutputSpace:
        """Return the points of the grid within the ball."""
        return OutputSpace(self.model.dimension, self._why_impossible)

    def evidence(self, output: Wholes) -> Draw:
        return Draw(np.asarray(output), self)

    def outputs_for(self, counts: Wholes, most: int) -> Wholes | None:
        """Return all points of the grid, or None if there are more than `most`."""
        return self.outputs() if (2 * isqrt(int(self.squared_radius)) + 1) ** self.model.dimension <= most else None

    def small_instance_fields(self, model: Model) -> Iterator[Mapping[str, object]]:
        """Yield what a small instance may have instead: fewer steps, so that its grid can be listed."""
        for steps in (16, 32, 64, 128, 256):
            yield {"steps": min(steps, self.steps)}

    def _why_impossible(self, output: Wholes) -> str | None:
        outside = sum(int(g) ** 2 for g in output) > self.squared_radius
        return "The output lies outside the declared norm bound." if outside else None

    def coefficients(self, output: NDArray[np.int64]) -> dict[str, float]:
        """Return the drawn coefficients in the units of the table."""
        return self.model.by_name(self.first_draw(output))


def _log_kernel(points: Wholes, matrix: Floats, shift: Floats) -> Floats:
    return np.asarray(-0.5 * np.einsum("...i,ij,...j->...", points, matrix, points) + points @ shift)


def _with_ridge(matrix: Matrix, ridge: Fraction) -> Matrix:
    """Return the matrix with a number added to its diagonal."""
    return [[value + (ridge if i == j else 0) for j, value in enumerate(row)] for i, row in enumerate(matrix)]


def _short(number: float) -> Fraction:
    """Return a number near this one, with ten bits."""
    mantissa, exponent = frexp(number)
    return Fraction(round(mantissa * 1024)) * Fraction(2) ** (exponent - 10)


def happens(exponent: Fraction, bits: RandomBits) -> bool:
    """Draw an event of probability e^-exponent, exactly."""
    return bool(bernoulli_exponential(exponent, np.ones(1, dtype=np.int64), bits)[0])


@dataclass(frozen=True)
class BallProposal:
    """Exact draws of whole vectors with P(g) ~ e^(-(g - m)'P(g - m)/2), one number after the other.

    With P = U'DU (U unit upper triangular) the exponent is sum_i D_i (g_i - c_i)^2 / 2, where c_i depends on the later
    numbers only. Number i is a discrete Laplace step y of rate 1/t_i away from the whole number next to c_i, at a
    distance e <= 1/2 of it, and the vector goes on with probability e^-x,

        x = D_i (y - e)^2 / 2 - |y| / t_i + 1 / (2 D_i t_i^2) + 1 / (2 t_i) >= 0.

    One failure starts the whole vector again. No constant of these steps depends on the numbers drawn before, so the
    kept vectors have exactly the stated distribution.
    """

    pivots: Vector
    upper: Matrix
    mean: Vector

    @classmethod
    def of(cls, matrix: Matrix, shift: Vector) -> "BallProposal":
        """Factor the matrix exactly and solve for the mean."""
        d = len(shift)
        rest, pivots, upper = [row[:] for row in matrix], [], [[Fraction(0)] * d for _ in range(d)]
        for i in range(d):
            if rest[i][i] <= 0:
                raise DeclarationError("No set of records has these moments.")
            pivots.append(rest[i][i])
            upper[i][i:] = [rest[i][j] / rest[i][i] for j in range(i, d)]
            for j in range(i + 1, d):
                for k in range(j, d):
                    rest[j][k] = rest[k][j] = rest[j][k] - pivots[i] * upper[i][j] * upper[i][k]
        return cls(pivots, upper, _solved(pivots, upper, shift))

    def draw(self, bits: RandomBits) -> list[int] | None:
        """Return one vector, or None if it was not kept."""
        d = len(self.mean)
        point = [0] * d
        for i in reversed(range(d)):
            centre = self.mean[i] - sum(
                (self.upper[i][j] * (point[j] - self.mean[j]) for j in range(i + 1, d)), Fraction(0)
            )
            near = round(centre)
            width = max(1, isqrt(int(1 / self.pivots[i])))
            step = int(wide_laplace(Fraction(1, width), 1, bits)[0])
            if not happens(_excess(step, centre - near, self.pivots[i], width), bits):
                return None
            point[i] = near + step
        return point


def _excess(step: int, offset: Fraction, pivot: Fraction, width: int) -> Fraction:
    gain = 1 / (2 * pivot * width**2) + Fraction(1, 2 * width)
    return pivot * (step - offset) ** 2 / 2 - Fraction(abs(step), width) + gain


def _solved(pivots: Vector, upper: Matrix, shift: Vector) -> Vector:
    """Return m with U'DU m = v: forward, then backward."""
    d = len(shift)
    forward: Vector = []
    for i in range(d):
        forward.append(shift[i] - sum((upper[k][i] * forward[k] for k in range(i)), Fraction(0)))
    mean = [Fraction(0)] * d
    for i in reversed(range(d)):
        later = sum((upper[i][j] * mean[j] for j in range(i + 1, d)), Fraction(0))
        mean[i] = forward[i] / pivots[i] - later
    return mean
