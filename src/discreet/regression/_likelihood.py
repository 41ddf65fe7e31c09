"""The true moments of a regression behind noise: which are possible, and how likely each is under the model.

A reader has z = (A, b) + u with noise u of a public distribution. So the true moments are z - u, and with a flat prior
for A

    p(u | z) ~ P(u) 1[z - u possible] L(z - u),    L(A, b) = N(b; 0, A A / l + sigma^2 A),

l the precision of the prior. It is exact given A: it needs no approximation of the moments of the records. With unknown
noise y'y is released too, r = y'y - b'A^-1 b ~ sigma^2 chi-square(n - d) is a further factor. sigma^2 has the prior
InverseGamma(a, c) and is drawn from InverseGamma(a + (n - d)/2, c + q/2), by one more normal number, and weighed: q =
y'y - b'(A + s l I)^-1 b is about what the coefficients' posterior mean leaves over, s a first guess of sigma^2. Noise
is made of standard normal numbers (`structure.Generator`), so no density of it is needed but for further releases of
the same records.

A reader's own records (`InformedRegression`) add their moments to A, b and y'y wherever the coefficients are concerned,
so L is then the chance of b given A and own records, and sigma^2 has one degree of freedom more for each of them.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, log, pi

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammainccinv, gammaincinv, gammaln, ndtr

from discreet._core.arrays import Floats
from discreet.mechanism import Measurement
from discreet.noise import Generator, generator_of, has_density
from discreet.regression._model import Regression
from discreet.regression._moments import Moments, RegressionQuantities

_CHUNK = 512  # rows processed together: matrices of some ten columns then stay in the cache
_FARTHEST = 30.0  # normal numbers farther out have a probability that floats cannot distinguish from 0
_ROOM = 1 + 1e-9  # sums are whole numbers, their scaled values floats


def eliminated(squares: Floats, products: Floats) -> tuple[Floats, Floats]:
    """Return log |A| and b'A^-1 b for rows of (A, b), by elimination; both are infinite where A is not positive.

    Columns of [[A, b], [b', 0]] are eliminated one after another; the pivots are those of A, and -b'A^-1 b remains. All
    rows are processed together, each entry of the matrix as one run of memory, which is much faster than computing
    their eigenvalues.
    """
    d = products.shape[-1]
    rest = np.moveaxis(np.concatenate([squares, products[..., None, :]], axis=-2), (-2, -1), (0, 1)).copy()
    logs, explained = np.zeros(products.shape[:-1]), np.zeros(products.shape[:-1])
    positive = np.ones(products.shape[:-1], dtype=bool)
    for i in range(d):
        positive = positive & (rest[i, i] > 0)
        pivot = np.where(positive, rest[i, i], 1.0)
        column = np.where(positive, rest[i:, i] / pivot, 0.0)
        logs += np.log(pivot)
        explained += column[-1] ** 2 * pivot
        rest[i + 1 :, i + 1 :] -= column[1:, None] * rest[i + 1 : d, i]
    return np.where(positive, logs, np.inf), np.where(positive, explained, np.inf)


@dataclass(frozen=True, eq=False)
class MomentTarget:
    """The true moments as a function of standard normal numbers: how far from possible they are, and how likely.

    One measurement is read through its generator; the others, of the same records, through their densities.
    """

    model: Regression
    size: int
    measured: tuple[Measurement, ...]

    @cached_property
    def generated(self) -> Measurement:
        """Return the measurement whose noise is made of normal numbers: one without a density, or the least noisy."""
        return min(
            self.measured,
            key=lambda each: (has_density(each.noise.structure), float(np.log(each.noise.variance).sum())),
        )

    @cached_property
    def generator(self) -> Generator:
        """Return how that noise is made."""
        made = generator_of(self.generated.noise.structure)
        assert made is not None  # the solver refuses other noise
        return made

    @cached_property
    def weighed(self) -> tuple[Measurement, ...]:
        """Return the other measurements."""
        return tuple(each for each in self.measured if each is not self.generated)

    @property
    def of(self) -> RegressionQuantities:
        """Return what is measured, from which moments follow."""
        of = self.generated.of
        assert isinstance(of, RegressionQuantities)  # the solver reads nothing else
        return of

    @property
    def normals(self) -> int:
        """Return how many normal numbers a state has: those of the noise, and one for sigma if it is unknown."""
        return self.generator.normals + (self.model.noise_prior is not None)

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw rows of normal numbers that the noise allows."""
        noise = self.generator.draw_normals(count, generator)
        return np.concatenate([noise, generator.standard_normal((count, self.normals - noise.shape[1]))], axis=1)

    def evaluate(self, normals: Floats, deepest: float = inf) -> tuple[Floats, Floats]:
        """Return how far from possible the moments of every row are, 0 if they are possible, and log L, else -inf.

        What is known to be farther than `deepest` is infinitely far, without an eigenvalue.
        """
        parts = [self._evaluate(normals[start : start + _CHUNK], deepest) for start in range(0, len(normals), _CHUNK)]
        return np.concatenate([far for far, _ in parts]), np.concatenate([logs for _, logs in parts])

    def states(self, normals: Floats) -> tuple[Floats, Floats]:
        """Return the released moments and sigma^2 of rows whose moments are possible."""
        released = self._released(normals)
        moments = self.of.moments(released, self.size)
        explained = eliminated(moments.squares, moments.products)[1]
        return released, self._variance(moments, explained, normals)[0]

    def _released(self, normals: Floats) -> Floats:
        made = self.generator
        return np.asarray(self.generated.values - made.from_normals(normals[:, : made.normals]))

    def _evaluate(self, normals: Floats, deepest: float) -> tuple[Floats, Floats]:
        """Evaluate the rows that the noise allows; no others can ever be reached."""
        released = self._released(normals)
        allowed = np.isfinite(released).all(axis=1)
        far, logs = np.full(len(normals), np.inf), np.full(len(normals), -np.inf)
        if allowed.any():
            far[allowed], logs[allowed] = self._judged(normals[allowed], released[allowed], deepest)
        return far, logs

    def _judged(self, normals: Floats, released: Floats, deepest: float) -> tuple[Floats, Floats]:
        moments = self.of.moments(released, self.size)
        moments = replace(moments, total=np.where(np.isnan(moments.total), moments.count, moments.total))
        total = moments.total
        log_size, explained = eliminated(moments.squares, moments.products)
        largest = np.diagonal(moments.squares, axis1=-2, axis2=-1).max(axis=-1) * self.model.dimension
        excess = np.maximum(largest, total) - moments.count * _ROOM
        possible = (excess <= 0) & (explained < total) & (moments.count > self.model.dimension)
        far, logs = np.where(possible, 0.0, np.inf), np.full(len(normals), -np.inf)
        near = ~possible & (excess <= deepest) if deepest > 0 else np.zeros_like(possible)
        if deepest < inf and near.any():
            near[near] = self._is_above(moments.where(near), -deepest)
        if near.any():
            far[near] = np.maximum(np.maximum(excess[near], self._negative(moments.where(near))), 1e-12)
        if possible.any():
            logs[possible] = self._log_likelihood(
                moments.where(possible), log_size[possible], explained[possible], normals[possible], released[possible]
            )
        return far, logs

    def _is_above(self, moments: Moments, bound: float) -> NDArray[np.bool_]:
        """Return where all eigenvalues of the same matrix as in `_negative` are above a bound, by elimination."""
        d = self.model.dimension
        explained = eliminated(moments.squares * d - bound * np.eye(d), moments.products * np.sqrt(d))[1]
        return np.asarray(explained < moments.total - bound)

    def _negative(self, moments: Moments) -> Floats:
        """Return how far below 0 the least eigenvalue of [[X'X, X'y], [y'X, y'y]] is, coordinates in [-1, 1]."""
        d = self.model.dimension
        whole = np.empty((len(moments.squares), d + 1, d + 1))
        whole[:, :d, :d] = moments.squares * d
        whole[:, :d, d] = whole[:, d, :d] = moments.products * np.sqrt(d)
        whole[:, d, d] = moments.total
        return np.asarray(-np.linalg.eigvalsh(whole)[:, 0])

    def _variance(self, moments: Moments, explained: Floats, normals: Floats) -> tuple[Floats, Floats]:
        """Return sigma^2 and how it is weighed: log p(sigma^2) p(r | sigma^2), less the log density of drawing it.

        It is the declared one, or the Inverse-Gamma number with the rank of the last normal number.
        """
        if (prior := self.model.noise_prior) is None:
            return np.full(len(normals), self.model.typical_variance), np.zeros(len(normals))
        a, c, f = float(prior.shape), float(prior.scale), (moments.count - self.model.dimension) / 2
        more = 0.0 if self.model.own is None else self.model.own[1] / 2
        total = with_own(self.model, moments).total
        rest, shape = moments.total - explained, a + f + more
        guess = (c + (total - explained) / 2) / shape
        scale = c + (total - eliminated(self._firm(moments, guess), self._products(moments))[1]) / 2
        rank = np.clip(normals[:, -1], -_FARTHEST, _FARTHEST)
        tail = ndtr(-np.abs(rank))  # the smaller one, which keeps its digits
        variance = scale / np.where(rank > 0, gammaincinv(shape, tail), gammainccinv(shape, tail))
        logs = (f - 1) * np.log(rest) - f * log(2) - gammaln(f) + a * log(c) - gammaln(a)
        logs -= (c + (total - explained) / 2) / variance + more * log(2 * pi)
        return variance, np.asarray(logs - shape * np.log(scale) + gammaln(shape) + scale / variance)

    def _firm(self, moments: Moments, variance: Floats) -> Floats:
        """Return A + sigma^2 l I, own records included."""
        ridge = variance * float(self.model.prior_precision)
        return np.asarray(with_own(self.model, moments).squares + ridge[:, None, None] * np.eye(self.model.dimension))

    def _products(self, moments: Moments) -> Floats:
        return with_own(self.model, moments).products

    def _log_likelihood(
        self, moments: Moments, log_size: Floats, explained: Floats, normals: Floats, released: Floats
    ) -> Floats:
        """Return log L of rows of possible moments, and the log probabilities of the other measurements.

        The covariance A (A + sigma^2 l I) / l has the inverse (A^-1 - (A + sigma^2 l I)^-1) / sigma^2.
        """
        d, precision = self.model.dimension, float(self.model.prior_precision)
        variance, logs = self._variance(moments, explained, normals)
        log_firm, shrunk = eliminated(self._firm(moments, variance), self._products(moments))
        logs += d / 2 * log(precision / (2 * pi)) - 0.5 * (log_size + log_firm + (explained - shrunk) / variance)
        for other in self.weighed:
            logs = logs + other.noise.log_prob(other.values - released)
        return np.asarray(logs)


def with_own(model: Regression, moments: Moments) -> Moments:
    """Return moments with those of a reader's own records added."""
    if model.own is None:
        return moments
    own, _ = model.own
    squares, products = moments.squares + own.squares, moments.products + own.products
    return Moments(squares, products, moments.total + own.total, moments.count)


def coefficients_given(model: Regression, known: Moments, variance: Floats) -> tuple[Floats, NDArray[np.float64]]:
    """Return the mean of w given the moments, and a root of its covariance; where X'X is not positive, the prior's."""
    moments = with_own(model, known)
    values, vectors = np.linalg.eigh(moments.squares)
    turned = np.einsum("...ji,...j->...i", vectors, moments.products)
    ridge = np.asarray(variance)[..., None] * float(model.prior_precision)
    firm = np.maximum(values, 0) + ridge
    means = np.einsum("...ij,...j->...i", vectors, np.where(values > 0, turned, 0.0) / firm)
    return means, vectors * np.sqrt(np.asarray(variance)[..., None] / firm)[..., None, :]
