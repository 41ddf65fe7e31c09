"""Read draws from a posterior for what they are: noisy news about the counts behind them.

A published draw is not the posterior, and taking it for the truth, or for one of the reader's own draws, forgets how it
was made. What it says about the true counts k is its likelihood, so

    P(k | draws) ~ DirichletMultinomial(k) prod_draws P(cell of the draw | k),

and the reader's posterior is the mixture over k, as for noisy counts. With two cells all k are summed, with the exact
mass of the grid's cells. With more, the density of a Dirichlet draw is a product over cells but for the known total,
f_i(k) = Gamma(a_i + k) / k! prod_draws theta_i^(tau k) / Gamma(alpha_i + tau k), and the counts are read by the same
transform as noisy ones (see `LatentCounts`).

The middle of a cell stands for all of it but near zero and one: there cell j of a stick v ~ Beta(a, b) has the mass
((j + 1)^a - j^a) / (a (j + 1/2)^(a - 1)) times that of its middle, and likewise with b from the other end. That a is
the shape of one cell's count, so this is a factor of the product; b is one only for the last stick.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from discreet.errors import DeclarationError
from discreet.inference.categories import Reading
from discreet.inference.latent_counts import LatentCounts
from discreet.inference.posteriors.categories import CategoriesPosterior
from discreet.mechanisms.posterior_sampling import PosteriorSampling
from discreet.models import Categories
from discreet.releases import Release
from discreet.special import log_gamma_ratio

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

LEAST_GRID_BITS = 16
"""From here on the density in the middle of a grid cell, but for the ends, stands for its mass."""

_NEGLIGIBLE = 1e-6  # of the logarithm of a likelihood


def read_draws(*releases: Release, prior: Any = None) -> CategoriesPosterior:
    """Return the exact posterior of the probabilities given draws from a posterior of the same counts.

    `prior` replaces the declared prior by the reader's own; the prior that the draws were made with stays what it was.
    """
    if not releases or not all(isinstance(release, Release) for release in releases):
        raise DeclarationError("read_draws takes one or more releases of PosteriorSampling.")
    first = releases[0]
    if not all(isinstance(r.mechanism, PosteriorSampling) and isinstance(r.model, Categories) for r in releases):
        raise DeclarationError("read_draws reads draws by PosteriorSampling for Categories only.")
    published = [(release.receipt, release.label, release.output) for release in releases if release.receipt]
    if len(set(published)) < len(published):
        raise DeclarationError("The same release was given twice: it would be taken for two independent ones.")
    if any((r.model.columns, r.mechanism.size) != (first.model.columns, first.mechanism.size) for r in releases):
        raise DeclarationError("The releases do not draw from posteriors of the same counts.")
    model: Categories = first.model if prior is None else first.model.with_prior(prior)
    return CategoriesPosterior(model, releases, [reading_of_draws(releases, model)])


def reading_of_draws(releases: Sequence[Release], model: Categories) -> Reading:
    """Return the true counts behind releases of draws, under a prior."""
    alpha, size = model.concentration, releases[0].mechanism.size
    constant = float(gammaln(alpha.sum()) - log_gamma_ratio(np.array(size + 1.0), alpha.sum() - 1))
    if len(model.cells) == 2:
        return Reading(model, _two_cells(releases, alpha, size), constant)
    kernels = [_Kernel(release) for release in releases]

    def log_weight(places: Counts, counts: Counts) -> Floats:
        return _log_prior(alpha[places], counts) + sum(kernel(places, counts) for kernel in kernels)

    centre = np.clip(np.mean([kernel.theta.mean(axis=0) for kernel in kernels], axis=0) * size, 0, size)
    middle = centre.astype(np.int64)
    latent = LatentCounts(log_weight, middle, middle, np.sqrt(size) / 20 + 0.1, size)
    return Reading(model, latent, constant + sum(kernel.log_constant for kernel in kernels))


class _Kernel:
    """The likelihood of the draws of one release, as a product over cells."""

    def __init__(self, release: Release) -> None:
        mechanism: Any = release.mechanism
        if mechanism.grid_bits < LEAST_GRID_BITS or mechanism.least:
            raise DeclarationError(
                f"Draws of three or more cells are read from a grid of {LEAST_GRID_BITS} bits or more, not truncated."
            )
        self.theta = mechanism.parameters(release.counts)
        self._alpha, self._power, self._draws = mechanism.model.concentration, float(mechanism.power), mechanism.draws
        self._logs = np.log(self.theta).sum(axis=0)
        self._ends = StickEnds(release.counts.reshape(self._draws, -1), mechanism.grid_bits)
        self._ends.check(self._alpha, self._power * mechanism.size, release.label)
        total = self._alpha.sum() + self._power * mechanism.size
        jacobian = np.log1p(-np.cumsum(self.theta, axis=1)[:, :-2]).sum()  # from theta to sticks
        width = -self._draws * mechanism.sticks * mechanism.grid_bits * np.log(2.0)
        prior = float(((self._alpha - 1) * self._logs).sum())
        self.log_constant = float(self._draws * gammaln(total) + prior + jacobian + width)

    def __call__(self, places: Counts, counts: Counts) -> Floats:
        shapes = self._alpha[places] + self._power * counts
        product = self._power * counts * self._logs[places] - self._draws * gammaln(shapes)
        return np.asarray(product + self._ends.log_factors(places, shapes))


class StickEnds:
    """How far the mass of the cells of drawn sticks is from what their middles say; axes of cells (draws, sticks)."""

    def __init__(self, cells: Counts, grid_bits: int) -> None:
        ends = (1 << grid_bits) - 1 - cells
        self._near = np.concatenate([cells, ends[:, -1:]], axis=1)  # the last cell has what the last stick leaves
        self._ends = ends[:, :-1]

    def log_factors(self, places: Counts, shapes: Floats) -> Floats:
        """Return the sum over draws of the log factor of given cells (of the table) with given shapes."""
        return np.asarray(sum(_log_end_factor(near[places], shapes) for near in self._near))

    def check(self, alpha: Floats, added: float, label: str) -> None:
        """Refuse draws in which a stick before the last is so close to one that several counts share a factor."""
        rests = np.cumsum(alpha[::-1])[::-1][1:-1]
        worst = (abs(_log_end_factor(self._ends, rests + more)) for more in (0.0, added))
        if any((factor > _NEGLIGIBLE).any() for factor in worst):
            raise DeclarationError(
                f"{label!r} cannot be read: a draw of three or more probabilities lies at the end of the grid, where "
                "its likelihood is no product over cells. Publish with more grid_bits, or under a larger prior."
            )


def _log_end_factor(cells: Counts, shapes: Any) -> Floats:
    """Return log ((1 + h)^a - (1 - h)^a) / (2 h a), h = 1 / (2 j + 1): the mass of cell j over that of its middle."""
    half = 1 / (2.0 * cells + 1)
    with np.errstate(divide="ignore"):
        width = 2 * np.arctanh(half)
    return np.asarray(shapes * np.log1p(half) + np.log(-np.expm1(-shapes * width)) - np.log(2 * half * shapes))


def _two_cells(releases: Sequence[Release], alpha: Floats, size: int) -> LatentCounts:
    """Return the law of both counts: all that a draw says is written to the first cell, for every k."""
    tables = np.column_stack([np.arange(size + 1), size - np.arange(size + 1)])
    drawn = np.sum([r.mechanism.log_likelihood(r.counts, tables) for r in releases], axis=0)

    def log_weight(places: Counts, counts: Counts) -> Floats:
        places, counts = np.broadcast_arrays(places, counts)
        return np.where(places == 0, drawn[counts], 0.0) + _log_prior(alpha[places], counts)

    return LatentCounts(log_weight, np.zeros(2, dtype=np.int64), np.full(2, size), 1.0, size)


def _log_prior(alpha: Floats, counts: Counts) -> Floats:
    """Return log Gamma(a + k) / (k! Gamma(a))."""
    return np.asarray(log_gamma_ratio(counts + 1.0, alpha - 1) - gammaln(alpha))
