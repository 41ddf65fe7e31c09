"""The noise-aware posterior of a regression given noisy moments.

A reader has z = (A, b) + noise. The true moments are unknown, and so

    p(A, b | z) ~ 1[A positive definite, within bounds] N(b; 0, A A / prior_precision + sigma^2 A) mech(z - (A, b)),
    w | A, b    ~ N((A + sigma^2 L I)^-1 b, sigma^2 (A + sigma^2 L I)^-1),     L the prior's precision,

with a flat prior for A. The first line is exact given A: it needs no approximation of the moments of the records. With
unknown noise sigma^2 is sampled too, and y'y - b'A^-1 b ~ sigma^2 chi-square(n - d). An ensemble, started at the
release, samples the moments.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from discreet.errors import DeclarationError, LittleInformationWarning
from discreet.inference.ensemble import Ensemble
from discreet.inference.posteriors.regression import RegressionPosterior
from discreet.mechanisms.ball_draw import BallDraw
from discreet.mechanisms.box_moments import NoisyMoments
from discreet.models.linear_regression import InverseGamma, LinearRegression
from discreet.models.moments import Moments
from discreet.releases import Release

Floats = NDArray[np.float64]
_WARM_UP, _STEPS, _ROUNDS = 100, 100, 5
_MOST_NUMBERS = 2**24  # of a chain, 128 MB; of longer ones every second, third, ... step is kept
_MOST_WORK = 25 * 10**7  # steps x walkers x dimension^2; about a minute
_GOOD_R_HAT, _GOOD_SIZE, _BAD_R_HAT = 1.02, 1000.0, 1.1


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
    releases: tuple[Release, ...]

    @property
    def size(self) -> int:
        """Return the public number of records."""
        return self.releases[0].mechanism.size

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
        for release in self.releases:
            logs[good] += mechanism_of(release).log_kernel(release.counts - released[good])
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
        """Draw states as if nothing but the first release were known: the proposal of the ensemble."""
        first = self.releases[0]
        moments = first.counts - mechanism_of(first).real_noise(count, generator)
        if self.is_noise_known:
            return moments
        shape, scale = self._residual_law(moments)
        return np.column_stack([moments, np.log(scale / generator.standard_gamma(shape, size=count))])

    def log_proposal(self, states: Floats) -> Floats:
        """Return the log density of `draw` up to a constant."""
        first = self.releases[0]
        released, variance = self.parts(states)
        logs = mechanism_of(first).log_kernel(first.counts - released)
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
        """Return possible states near the release.

        What is possible is convex, so a draw that is not is moved toward evenly spread records until it is.
        """
        states = self.draw(walkers, generator)
        typical = self.model.layout.typical(self.size)
        centre = typical if self.is_noise_known else np.append(typical, np.log(0.3))
        late = np.arange(walkers)
        while (late := late[np.isneginf(self.log_density(states[late]))]).size:
            states[late] = centre + generator.uniform(0.5, 0.9, size=(late.size, 1)) * (states[late] - centre)
        return states

    def coefficients(self, released: Floats, variance: Floats) -> tuple[Floats, Floats]:
        """Return the mean of w given the moments, and a root of its covariance."""
        spectrum = Spectrum.of(self.model.layout.unpack(released, self.size))
        ridge = np.asarray(variance)[..., None] * float(self.model.prior_precision)
        firm = np.maximum(spectrum.values, 0) + ridge
        turned = np.where(spectrum.values > 0, spectrum.turned, 0.0) / firm
        means = np.einsum("...ij,...j->...i", spectrum.vectors, turned)
        return means, spectrum.vectors * np.sqrt(np.asarray(variance)[..., None] / firm)[..., None, :]


@dataclass(frozen=True)
class _Noise:
    """The ensemble's independent proposal: the release with fresh noise taken away."""

    density: MomentDensity

    def draw(self, count: int, generator: np.random.Generator) -> Floats:
        return self.density.draw(count, generator)

    def log_density(self, states: Floats) -> Floats:
        return self.density.log_proposal(states)


def read_regression(*releases: Release, model: LinearRegression | None = None, seed: int = 0) -> RegressionPosterior:
    """Return the noise-aware posterior given one release of noisy moments, or several of the same records.

    `model` replaces the declared prior by the reader's own; its columns, bounds and grid must be the same. The ensemble
    runs until its R-hat is at most 1.02 and it is worth 1,000 draws, or to a fixed end; look at `r_hat` and
    `effective_size`. `seed` makes the reading repeatable; no secret is involved.
    """
    check_moments(releases)
    read = releases[0].model if model is None else model
    if not isinstance(read, LinearRegression) or read.layout != releases[0].model.layout:
        raise DeclarationError("The reader's model must have the columns, bounds and grid of the release.")
    density = MomentDensity(read, releases)
    generator = np.random.default_rng(seed)
    dimension = len(read.cells) + (0 if density.is_noise_known else 1)
    start = density.start(2 * max(32, dimension + 1), generator)
    ensemble = Ensemble(density.log_density, start, _Noise(density), generator)
    ensemble.run(_WARM_UP)
    for steps in _rounds(len(start), read.dimension):
        posterior = RegressionPosterior(density, ensemble.run(steps, -(-steps * start.size // _MOST_NUMBERS)))
        if posterior.r_hat <= _GOOD_R_HAT and posterior.effective_size >= _GOOD_SIZE:
            break
    if posterior.r_hat > _BAD_R_HAT:
        warnings.warn(
            f"The walkers that read {releases[0].label!r} do not agree (R-hat {posterior.r_hat:.2f}): its noise drowns "
            "the moments. Use more records, fewer features or a larger epsilon.",
            LittleInformationWarning,
            stacklevel=2,
        )
    return posterior


def _rounds(walkers: int, dimension: int) -> list[int]:
    """Return how many steps each round makes: twice those of the one before, while all stay within a fixed work."""
    steps = [_STEPS * 2**number for number in range(_ROUNDS)]
    work = np.cumsum(steps) * walkers * dimension**2
    return [step for step, done in zip(steps, work, strict=True) if done <= _MOST_WORK] or steps[:1]


def mechanism_of(release: Release) -> NoisyMoments:
    """Return the mechanism of a release that was checked to hold noisy moments."""
    mechanism: Any = release.mechanism
    assert isinstance(mechanism, NoisyMoments)
    return mechanism


def check_moments(releases: tuple[Release, ...]) -> None:
    """Refuse what cannot be read together: other mechanisms, other records, the same release twice."""
    if not releases or not all(isinstance(release, Release) for release in releases):
        raise DeclarationError("A regression is read from one or more releases of publish, simulate or from_json.")
    for release in releases:
        if isinstance(release.mechanism, BallDraw):
            raise DeclarationError(
                f"{release.label!r} is one draw of the coefficients by BallDraw. How far it lies from the truth cannot "
                "be told from it: that depends on all moments of the records, which it does not tell. It comes without "
                "an interval; `release.mechanism.coefficients(release.counts)` gives it in the units of the table."
            )
        if not isinstance(release.mechanism, NoisyMoments):
            raise DeclarationError(f"A release by {type(release.mechanism).__name__} has no noisy moments to read.")
    given = {(release.receipt, release.label, release.mechanism.size, release.output) for release in releases}
    if len(given) < len(releases):
        raise DeclarationError("The same release was given twice: it would be taken for two independent ones.")
    first = releases[0]
    for other in releases[1:]:
        same = (other.model, other.mechanism.size, other.simulated) == (
            first.model,
            first.mechanism.size,
            first.simulated,
        )
        if not same:
            raise DeclarationError(f"{first.label!r} and {other.label!r} do not publish moments of the same records.")
