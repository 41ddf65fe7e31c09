"""The true moments of a regression behind noise: their posterior density, and an ensemble that samples it.

A reader has z = (A, b) + noise. The true moments are unknown, and so

    p(A, b | z) ~ 1[A positive definite, within bounds] N(b; 0, A A / prior_precision + sigma^2 A) P(z - (A, b)),

with a flat prior for A and P the law of the noise. It is exact given A: it needs no approximation of the moments of the
records. With unknown noise sigma^2 is sampled too, and y'y - b'A^-1 b ~ sigma^2 chi-square(n - d).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from discreet.arrays import Floats
from discreet.mathematics.convergence import effective_size, split_r_hat
from discreet.mechanisms.quantities import Measurement
from discreet.models.linear_regression import InverseGamma, LinearRegression
from discreet.models.moments import Moments

_CHUNK = 4096  # states that are decomposed together


@dataclass(frozen=True)
class Spectrum:
    """X'X by its eigenvalues and eigenvectors, and X'y in their directions."""

    values: Floats
    vectors: Floats
    turned: Floats

    @classmethod
    def of(cls, moments: Moments) -> "Spectrum":
        """Decompose rows of moments."""
        values, vectors = np.linalg.eigh(moments.squares)
        return cls(values, vectors, np.einsum("...ji,...j->...i", vectors, moments.products))


def eliminated(squares: Floats, products: Floats) -> tuple[Floats, Floats]:
    """Return log |A| and b'A^-1 b for rows of (A, b), by elimination; both are infinite where A is not positive.

    A column after the other is taken out of [[A, b], [b', 0]]; the pivots are those of A, and -b'A^-1 b remains. All
    rows are worked on together, which is several times as fast as looking for their eigenvalues.
    """
    d = products.shape[-1]
    rest = np.concatenate([squares, products[..., None, :]], axis=-2)
    logs, explained = np.zeros(products.shape[:-1]), np.zeros(products.shape[:-1])
    positive = np.ones(products.shape[:-1], dtype=bool)
    for i in range(d):
        pivot = rest[..., i, i]
        positive = positive & (pivot > 0)
        pivot = np.where(positive, pivot, 1.0)
        column = np.where(positive[..., None], rest[..., i:, i] / pivot[..., None], 0.0)
        logs += np.log(pivot)
        explained += column[..., -1] ** 2 * pivot
        rest[..., i + 1 :, i + 1 :] -= column[..., 1:, None] * rest[..., i + 1 : d, i][..., None, :]
    return np.where(positive, logs, np.inf), np.where(positive, explained, np.inf)


@dataclass(frozen=True, eq=False)
class MomentDensity:
    """The posterior density of the true moments (and log sigma^2, if unknown), and the noise as a proposal."""

    model: LinearRegression
    size: int
    measured: tuple[Measurement, ...]

    @property
    def is_noise_known(self) -> bool:
        """Tell whether sigma is a declared number."""
        return not isinstance(self.model.noise, InverseGamma)

    def parts(self, states: Floats) -> tuple[Floats, Floats]:
        """Return the moments and sigma^2 of rows of states."""
        if not isinstance(self.model.noise, InverseGamma):
            return states, np.full(states.shape[:-1], float(self.model.noise) ** 2)
        return states[..., :-1], np.exp(states[..., -1])

    def log_density(self, states: Floats) -> Floats:
        """Return log p(A, b, sigma^2 | z) up to a constant."""
        released, variance = self.parts(states)
        moments = self.model.layout.unpack(released, self.size)
        log_size, explained = eliminated(moments.squares, moments.products)
        logs = np.where(self._possible(moments, explained), 0.0, -np.inf)
        good = np.isfinite(logs)
        chosen = Moments(moments.squares[good], moments.products[good], moments.total[good])
        logs[good] += self._log_prior(chosen, log_size[good], explained[good], variance[good])
        for measured in self.measured:
            logs[good] += measured.noise.log_kernel(measured.values - released[good])
        return logs

    def _possible(self, moments: Moments, explained: Floats) -> NDArray[np.bool_]:
        """Tell which moments records within the bounds could have: all of these facts are public."""
        diagonal = np.diagonal(moments.squares, axis1=-2, axis2=-1)
        within = (diagonal <= self.size / self.model.dimension * (1 + 1e-9)).all(axis=-1)
        total = np.full(diagonal.shape[:-1], float(self.size)) if self.is_noise_known else moments.total
        return np.asarray(within & (explained < total) & (total <= self.size))

    def _log_prior(self, moments: Moments, log_size: Floats, explained: Floats, variance: Floats) -> Floats:
        """Return log N(b; 0, A A / L + sigma^2 A), and for unknown noise the laws of the residual and of sigma^2.

        The covariance is A (A + sigma^2 L I) / L, its inverse (A^-1 - (A + sigma^2 L I)^-1) / sigma^2.
        """
        ridge = variance * float(self.model.prior_precision)
        firm = moments.squares + ridge[:, None, None] * np.eye(self.model.dimension)
        log_firm, shrunk = eliminated(firm, moments.products)
        logs = -0.5 * (log_size + log_firm + (explained - shrunk) / variance)
        if isinstance(self.model.noise, InverseGamma):
            freedom = (self.size - self.model.dimension) / 2
            rest = moments.total - explained
            logs += (freedom - 1) * np.log(rest) - rest / (2 * variance) - freedom * np.log(variance)
            shape, scale = float(self.model.noise.shape), float(self.model.noise.scale)
            logs += -shape * np.log(variance) - scale / variance  # in log sigma^2, whose Jacobian is sigma^2
        return np.asarray(logs)

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw states as if nothing but the first measurement were known: the proposal of the ensemble."""
        first = self.measured[0]
        moments = first.values - first.noise.simulate(count, generator)
        if self.is_noise_known:
            return moments
        shape, scale = self._residual_law(moments)
        return np.column_stack([moments, np.log(scale / generator.standard_gamma(shape, size=count))])

    def log_proposal(self, states: Floats) -> Floats:
        """Return the log density of `draw` up to a constant."""
        first = self.measured[0]
        released, variance = self.parts(states)
        logs = first.noise.log_kernel(first.values - released)
        if not self.is_noise_known:
            shape, scale = self._residual_law(released)
            logs = logs + shape * np.log(scale) - gammaln(shape) - shape * np.log(variance) - scale / variance
        return np.asarray(logs)

    def _residual_law(self, moments: Floats) -> tuple[float, Floats]:
        """Return an Inverse-Gamma law for sigma^2 near its conditional one, given the moments."""
        assert isinstance(self.model.noise, InverseGamma)
        unpacked = self.model.layout.unpack(moments, self.size)
        rest = unpacked.total - eliminated(unpacked.squares, unpacked.products)[1]
        usable = np.where(np.isfinite(rest), np.clip(rest, 0, self.size), 0.0)
        shape = float(self.model.noise.shape) + (self.size - self.model.dimension) / 2
        return shape, float(self.model.noise.scale) + usable / 2

    def start(self, walkers: int, generator: np.random.Generator) -> Floats:
        """Return possible states near what was measured.

        What is possible is convex, so a draw that is not is moved toward evenly spread records until it is.
        """
        states = self.draw(walkers, generator)
        typical = self.model.layout.typical(self.size)
        centre = typical if self.is_noise_known else np.append(typical, np.log(0.3))
        late = np.arange(walkers)
        while (late := late[np.isneginf(self.log_density(states[late]))]).size:
            states[late] = centre + generator.uniform(0.5, 0.9, size=(late.size, 1)) * (states[late] - centre)
        return states


@dataclass(frozen=True)
class FreshNoise:
    """The ensemble's independent proposal: what was measured, with fresh noise taken away."""

    density: MomentDensity

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        """Draw states."""
        return self.density.draw(count, generator)

    def log_density(self, states: Floats) -> Floats:
        """Return the log density of a draw, up to a constant."""
        return self.density.log_proposal(states)


@dataclass(frozen=True, eq=False)
class MomentReading:
    """The true moments as an ensemble found them: `chains` has the axes (steps, walkers, coordinates)."""

    density: MomentDensity
    chains: Floats
    method: str = "read by Markov chains over the moments"
    log_evidence: float = float("nan")

    @property
    def model(self) -> LinearRegression:
        """Return the model under which it was read."""
        return self.density.model

    @cached_property
    def states(self) -> Floats:
        """Return the states of all walkers, one row each."""
        return self.chains.reshape(-1, self.chains.shape[-1])

    @cached_property
    def centres(self) -> Floats:
        """Return E[w | moments] for every state of the chains: steps x walkers x coordinates."""
        parts = np.array_split(self.chains, -(-len(self.states) // _CHUNK))
        return np.concatenate([coefficients_given(self.density, *self.density.parts(part))[0] for part in parts])

    @cached_property
    def r_hat(self) -> float:
        """Return the largest R-hat of all coefficients; near 1 if the walkers agree."""
        return float(split_r_hat(self.centres.swapaxes(0, 1)).max())

    @cached_property
    def effective_size(self) -> float:
        """Return how many independent draws the chains are worth, for the worst coefficient."""
        return float(effective_size(self.centres.swapaxes(0, 1)).min())


def coefficients_given(density: MomentDensity, released: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """Return the mean of w given the moments, and a root of its covariance."""
    spectrum = Spectrum.of(density.model.layout.unpack(released, density.size))
    ridge = np.asarray(variance)[..., None] * float(density.model.prior_precision)
    firm = np.maximum(spectrum.values, 0) + ridge
    means = np.einsum("...ij,...j->...i", spectrum.vectors, np.where(spectrum.values > 0, spectrum.turned, 0.0) / firm)
    return means, spectrum.vectors * np.sqrt(np.asarray(variance)[..., None] / firm)[..., None, :]
